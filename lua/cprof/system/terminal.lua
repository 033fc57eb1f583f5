-- What is known of the terminal to which the command writes: its size, whether
-- it has colours, and which characters it can show.

local core = require "cprof.core"
local later = require "cprof.sandbox.later"

local format = later "cprof.text.format"

local terminal = {}

-- the descriptors of open files, by which the core knows them
local numbers = { [io.stdout] = 1, [io.stderr] = 2 }
local stderr = io.stderr

-- Does the locale use UTF-8? The first of these variables that is set decides.
local function locale_is_utf8()
  for _, variable in ipairs { "LC_ALL", "LC_CTYPE", "LANG" } do
    local value = os.getenv(variable)
    if value and value ~= "" then
      return value:lower():find "utf%-?8" ~= nil
    end
  end
  return false
end

---Is everything written in ASCII?
terminal.ascii = not locale_is_utf8()

---Writes everything in ASCII if the user asks for that, whatever the locale.
---@param ascii boolean?
function terminal.choose(ascii) terminal.ascii = terminal.ascii or ascii end

-- ASCII characters in place of others; one that is not here becomes "?"
local instead = { ["…"] = "*", ["µ"] = "u", ["×"] = "x", ["←"] = "<",
                  ["→"] = ">", ["≥"] = ">", ["±"] = "~", ["│"] = "|" }

---The text in characters that can be shown. Columns stay aligned.
---@param text string
---@return string
function terminal.encode(text)
  if not terminal.ascii then return text end
  -- these are parts of notes, which have no columns, not cuts in a table
  text = text:gsub("… (%d)", "... %1"):gsub("…%]", "...]")
  if not utf8.len(text) then return (text:gsub("[\x80-\xff]", "?")) end
  return (text:gsub("[\xc2-\xf4][\x80-\xbf]*", function(c)
    return instead[c] or "?"
  end))
end

---@param file file*
---@return integer? columns  nil: it is not a terminal
function terminal.columns(file)
  return (core.columns(numbers[file] or -1))
end

---The columns that a report may have in a file.
---@param file file*
---@return integer  math.huge: no limit
function terminal.width(file) return format.columns(numbers[file]) end

---@param file file*
---@return integer? rows  nil: it is not a terminal
function terminal.rows(file)
  return (select(2, core.columns(numbers[file] or -1)))
end

---Resolves "auto": colours on a terminal, unless NO_COLOR is set.
---@param file file*
---@param choice "auto"|"always"|"never"
---@return "always"|"never"
function terminal.color(file, choice)
  return format.wants_color(choice, numbers[file]) and "always" or "never"
end

---Writes a text to standard error. Ignores that this may fail.
---@param text string
function terminal.say(text)
  pcall(stderr.write, stderr, terminal.encode(text))
end

---A word in quotes for a shell, if it needs them.
---@param word string
---@return string
function terminal.quote(word)
  if word:find "^[%w_@%%+=:,./-]+$" then return word end
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- progress is not shown in the first seconds of a task, which may end before
-- the user can read it
local patience <const> = 0.3

---Shows the progress of a task on standard error, if that is a terminal.
---@param what string
---@param long? boolean  true: it is known to take long, so `what` is shown at
---    once
---@return fun(done: string?)  shows what is done; nil: the task is over, and
---    the line is cleared
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
