-- Profiles that commands read, and text that they print.

local core = require "cprof.core"
local cprof = require "cprof"
local format = require "cprof.text.format"
local patterns = require "cprof.text.patterns"
local recordings = require "cprof.system.recordings"
local terminal = require "cprof.system.terminal"

local input = {}

-- bytes that are loaded in no time
local short <const> = 32000000

-- bytes of standard input that are read at once
local block_size <const> = 65536

local function size(path)
  local file = not core.special(path) and io.open(path, "rb")
  if not file then return 0 end
  local bytes = file:seek "end" or 0
  file:close()
  return bytes
end

---Does it take a while to read these files?
---@param paths string[]
---@return boolean
function input.long(paths)
  local bytes = 0
  for _, path in ipairs(paths) do bytes = bytes + size(path) end
  return bytes > short
end

local function load(path, named, fail)
  local progress = terminal.progress("loading " .. named,
    input.long { path })
  local profile, why = cprof.load(path)
  progress()
  if not profile then
    if core.filenames(path) then
      fail(named .. ": a folder; name a file in it, or give the folder to " ..
        "report, diff or merge")
    end
    -- a message begins with the path
    fail(why:sub(1, #path) == path and named .. why:sub(#path + 1) or why)
  end
  return profile
end

-- a file with what standard input has
local function spool(fail)
  if core.columns(0) then
    fail "standard input is a terminal: name a file, or pipe a profile in"
  end
  local path = os.tmpname()
  local file, why = io.open(path, "wb")
  if not file then fail(why) end
  repeat
    local block, message = io.stdin:read(block_size)
    why = message or block and select(2, file:write(block))
    if type(why) == "string" then
      file:close()
      os.remove(path)
      fail("standard input: " .. why)
    end
  until not block
  file:close()
  return path
end

-- what was recorded, and what to do where there is none
local recorded = {
  last = { "the last recording", "nothing was recorded yet: record with " ..
    "cprof run, or name a FILE" },
  previous = { "the previous recording", "there is no recording before the " ..
    "last one: record again, or name BEFORE and AFTER" },
}

-- fails where the recording was removed or moved since
local function check_there(path, what, fail)
  local file, why = io.open(path, "rb")
  if not file then
    fail(("%s cannot be read: %s; record again, or name a file"):format(what,
      why))
  end
  file:close()
end

-- when a recording began; with the date, unless that is today
local function time_of(meta)
  local day = os.date("%Y-%m-%d", meta.started_at)
  return (day == os.date "%Y-%m-%d" and "" or day .. " ") ..
    os.date("%H:%M:%S", meta.started_at)
end

-- The recording and what to call it. Prints a note if the recording is of
-- another folder, or if the output does not name the program.
local function recall(which, fail, headed)
  local path, elsewhere = recordings[which]()
  local what, advice = table.unpack(recorded[which])
  if not path then fail(advice) end
  check_there(path, what, fail)
  local profile = load(path, what, fail)
  local named = ("%s, of %s"):format(what,
    format.program(profile.meta))
  if elsewhere or not headed then
    terminal.say(("note: this is %s, begun at %s%s\n"):format(named,
      time_of(profile.meta), elsewhere and (" in %s; there is none of this " ..
      "folder or terminal"):format(format.plain(elsewhere)) or ""))
  end
  return profile, named
end

---The profile in a file, and what to call it.
---@param path string?  "-": on standard input; nil: what was recorded
---@param fail fun(message: string)
---@param which? "last"|"previous"  of those; the last one
---@param headed? boolean  does the output name the program?
---@return cprof.Profile
---@return string
function input.load(path, fail, which, headed)
  if not path then return recall(which or "last", fail, headed) end
  if path ~= "-" then return load(path, path, fail), path end
  local copy = spool(fail)
  local profile = load(copy, "standard input", function(message)
    os.remove(copy)
    fail(message)
  end)
  os.remove(copy)
  return profile, "standard input"
end

-- options of `start`, and those of `cprof run` that mean the same
local recorded_by = {
  ['mode = "line"'] = "--lines", ['mode = "count"'] = "--coverage",
  ["memory = true"] = "--memory", ['memory = "live"'] = "--memory=live",
}

---A message of the library as the command says it: with its own options.
---@param message string
---@return string
function input.worded(message)
  message = message:gsub("start { ([^}]*) }", function(option)
    local own = recorded_by[option]
    return own and "cprof run " .. own
  end)
  return (message:gsub("option '([%w_]+)'", function(name)
    return "option '--" .. name:gsub("_", "-") .. "'"
  end))
end

---Calls a method of a profile; what is wrong with its options is said as
---it is of those of the command.
---@param fail fun(message: string)
---@return any
function input.ask(fail, profile, method, ...)
  local ok, result = pcall(profile[method], profile, ...)
  if ok then return result end
  local message = type(result) == "string" and
    result:match("^" .. method .. ": (.*)$") or
    tostring(result):match("^[^\n]-:%d+: " .. method .. ": (.*)$")
  if not message then error(result, 0) end
  fail(input.worded(message))
end

---@param text string
---@param fail fun(message: string)
function input.print(text, fail)
  local ok, why = io.stdout:write(terminal.encode(text))
  if ok then ok, why = io.stdout:flush() end
  if not ok then fail("cannot write standard output: " .. why) end
end

---An option's value as an integer from `least`.
---@param name string
---@param least integer
---@param most? integer
---@return fun(s: string): integer?, string?
function input.integer(name, least, most)
  return function(s)
    local n = math.tointeger(tonumber(s))
    if n and n >= least and n <= (most or n) then return n end
    return nil, ("option '%s' must be an integer from %d%s, got '%s'"):format(
      name, least, most and (" to %d"):format(most) or "", s)
  end
end

---@param name string
---@param most number
---@param what? string  default: "positive number"
---@return fun(s: string): number?, string?
function input.positive(name, most, what)
  return function(s)
    local n = tonumber(s)
    if n and n > 0 and n < most then return n end
    return nil, ("option '%s' must be a %s, got '%s'"):format(name,
      what or "positive number", s)
  end
end

---@param name string
---@return fun(s: string): number?, string?
function input.percent(name)
  return function(s)
    local n = tonumber(s)
    if n and n >= 0 and n <= 100 then return n end
    return nil, ("option '%s' must be a number from 0 to 100, got '%s'")
      :format(name, s)
  end
end

---@param name string
---@return fun(s: string): string?, string?
function input.pattern(name)
  return function(s)
    local pattern, why = patterns.new(s)
    if pattern then return s end
    return nil, ("option '%s' must be a text, or a Lua pattern between " ..
      "slashes, got '%s': %s"):format(name, s, why)
  end
end

---Declares --filter.
function input.filter(parser)
  parser:option("--filter", "Only functions with PATTERN in their title " ..
    "or path; between slashes, it is a Lua pattern: /^parse/.")
    :argname "PATTERN":convert(input.pattern "--filter")
end

---Declares the profile that is read.
function input.profile(parser, what)
  parser:argument("FILE", (what or "A profile") .. "; -: standard input. " ..
    "Without it: what was recorded last."):target "file":args "?"
end

---Is this word, where a FILE may be left out, one?
---@param word string
---@return boolean
function input.is_profile(word)
  if word == "-" or word:find "%.cprof$" or core.special(word) then
    return true
  end
  local file = io.open(word, "rb")
  local start = file and file:read(6)
  if file then file:close() end
  return start == "\x89CPROF"
end

---Fails if FILE was given after the argument that has to follow it.
---@param command string
---@param file? string
---@param name string    of the other argument
---@param value? string
---@param fail fun(message: string)
function input.ordered(command, file, name, value, fail)
  if value and input.is_profile(value) and not input.is_profile(file) then
    fail(("FILE comes before %s: cprof %s %s %s"):format(name, command,
      terminal.quote(value), terminal.quote(file)))
  end
end

---Declares --format, --width and --color.
---@param parser table
function input.page(parser)
  parser:option("--format", "markdown: to paste into an issue, uncut.")
    :choices { "text", "markdown" }:default "text"
  input.looks(parser)
end

---Declares --width and --color.
function input.looks(parser)
  parser:option("--width", "Characters per line. (default: " ..
    "COLUMNS, or the terminal's width; without a terminal, no limit)")
    :argname "N"
    :convert(input.integer("--width", 40))
  parser:option("--color", "auto, always, never; auto heeds NO_COLOR.")
    :choices { "auto", "always", "never" }:default "auto"
end

return input
