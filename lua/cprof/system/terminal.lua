-- Where the command writes: how wide it is, whether it has colours, and
-- what characters it can show.

local core = require "cprof.core"
local later = require "cprof.sandbox.later"

local format = later "cprof.text.format"

local terminal = {}

-- an open file, as the core numbers them
local numbers = { [io.stdout] = 1, [io.stderr] = 2 }
local stderr = io.stderr

local function locale_is_utf8()
  for _, variable in ipairs { "LC_ALL", "LC_CTYPE", "LANG" } do
    local value = os.getenv(variable)
    if value and value ~= "" then
      return value:lower():find "utf%-?8" ~= nil
    end
  end
  return false
end

terminal.ascii = not locale_is_utf8()

---What the user asks for comes before the locale.
---@param ascii boolean?
function terminal.choose(ascii) terminal.ascii = terminal.ascii or ascii end

local instead = { ["…"] = "*", ["µ"] = "u", ["×"] = "x", ["←"] = "<",
                  ["→"] = ">", ["≥"] = ">" }

---What can be shown of a text: columns stay where they are.
---@param text string
---@return string
function terminal.encode(text)
  if not terminal.ascii then return text end
  -- at the beginning of a note, not where something was cut
  text = text:gsub("… (%d)", "... %1"):gsub("…%]", "...]")
  if not utf8.len(text) then return (text:gsub("[\x80-\xff]", "?")) end
  return (text:gsub("[\xc2-\xf4][\x80-\xbf]*", function(c)
    return instead[c] or "?"
  end))
end

---@param file file*
---@return integer? columns  nil: it is no terminal
function terminal.columns(file)
  return core.columns(numbers[file] or -1)
end

---The columns that a report may have there.
---@param file file*
---@return integer  math.huge: as many as it takes
function terminal.width(file) return format.columns(numbers[file]) end

---@param file file*
---@return integer? rows  nil: it is no terminal
function terminal.rows(file)
  return core.rows(numbers[file] or -1)
end

---@param file file*
---@param choice "auto"|"always"|"never"
---@return "always"|"never"
function terminal.color(file, choice)
  if choice ~= "auto" then return choice end
  local no = os.getenv "NO_COLOR"
  local yes = terminal.columns(file) and (no == nil or no == "")
  return yes and "always" or "never"
end

---Says something on standard error. When nobody can read it, so be it.
---@param text string
function terminal.say(text)
  pcall(stderr.write, stderr, terminal.encode(text))
end

---A word as a shell has to be given it.
---@param word string
---@return string
function terminal.quote(word)
  if word:find "^[%w_@%%+=:,./-]+$" then return word end
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- what lasts no longer than this is over before it can be read
local patience <const> = 0.3

---Shows how far something has come, where there is a terminal.
---@param what string
---@param long? boolean  it is known to take long
---@return fun(done: string?)  with nothing: it is over, the line is clear
function terminal.progress(what, long)
  if not terminal.columns(stderr) then return function() end end
  local since, shown = os.clock(), long
  if long then terminal.say("\r\27[K" .. what) end
  return function(done)
    if done and os.clock() - since < (shown and 0.1 or patience) then
      return
    end
    since = os.clock()
    if done then
      shown = true
      terminal.say(("\r\27[K%s %s"):format(what, done))
    elseif shown then
      terminal.say "\r\27[K"
    end
  end
end

return terminal
