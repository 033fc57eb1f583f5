-- Profiles that commands read, and text that they print.

local core = require "cprof.core"
local cprof = require "cprof"
local format = require "cprof.text.format"
local options = require "cprof.text.options"
local page = require "cprof.report.page"
local recordings = require "cprof.system.recordings"
local report = require "cprof.sandbox.later" "cprof.report"
local starting = require "cprof.recording.start"
local terminal = require "cprof.system.terminal"

local input = {}

-- bytes that load fast, without a progress display
local short <const> = 32000000

-- bytes per read of standard input
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
    -- if a message begins with the path, the given name replaces that
    fail(why:sub(1, #path) == path and named .. why:sub(#path + 1) or why)
  end
  return profile
end

-- copies standard input to a temporary file
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

-- names of recordings, and advice if there is none
local recorded = {
  last = { "the last recording", "nothing was recorded yet: record with " ..
    "cprof run, or name a FILE" },
  previous = { "the previous recording", "there is no recording before the " ..
    "last one: record again, or name BEFORE and AFTER" },
}

-- fails if the recording has been removed or moved
local function check_there(path, what, fail)
  local file, why = io.open(path, "rb")
  if not file then
    fail(("%s cannot be read: %s; record again, or name a file"):format(what,
      why))
  end
  file:close()
end

-- when a recording began, with the date unless that is today
local function time_of(meta)
  local day = os.date("%Y-%m-%d", meta.started_at)
  return (day == os.date "%Y-%m-%d" and "" or day .. " ") ..
    os.date("%H:%M:%S", meta.started_at)
end

-- The recording and its name for messages. Prints a note if the recording is
-- from another folder, or if the output does not name the program.
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
      time_of(profile.meta), elsewhere and (" in %s; there is none from " ..
      "this folder or terminal"):format(format.plain(elsewhere)) or ""))
  end
  return profile, named
end

---The profile in a file, and its name for messages.
---@param path string?  "-": standard input; nil: a recording
---@param fail fun(message: string)
---@param which? "last"|"previous"  recording; default: the last one
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

-- options of `start` -> the options of `cprof run` that mean the same
local recorded_by = {
  ['mode = "line"'] = "--lines", ['mode = "count"'] = "--coverage",
  ["memory = true"] = "--memory", ['memory = "live"'] = "--memory=live",
}

---A message of the library with the command's options in place of its own.
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

---Calls a method of a profile. Errors in its options become errors in the
---command's options.
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

---Returns a function that reads the value of an option.
---@param flag string
---@param spec cprof.OptionSpec
---@return fun(word: string): any, string?
function input.value(flag, spec)
  return function(word)
    local value, must = options.read(spec, word)
    return value, must and ("option '%s' must be %s, got '%s'"):format(flag,
      must, word)
  end
end

---Returns a function that reads an integer from `min` to `max`.
---@param flag string
---@param min integer
---@param max? integer
---@return fun(word: string): integer?, string?
function input.integer(flag, min, max)
  return input.value(flag, { type = "integer", min = min, max = max })
end

---@param flag string
---@return fun(word: string): number?, string?
function input.percent(flag)
  return input.value(flag, { type = "number", min = 0, max = 100 })
end

---@param flag string
---@return fun(word: string): string?, string?
function input.pattern(flag)
  return input.value(flag, { type = "pattern" })
end

local rate = input.value("--sample", starting.options.rate)

---Reads the optional rate of --sample.
---@param word string
---@return integer|string?, string?
function input.rate(word)
  if word == "" then return word end
  return rate(word)
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

---Declares an option of a library function with its values, its default and
---its check.
---@param parser table
---@param specs table<string, cprof.OptionSpec>  of the function
---@param name string
---@param help string
---@param argname? string  default: "N"
---@return table option
function input.option(parser, specs, name, help, argname)
  local spec, flag = specs[name], "--" .. name:gsub("_", "-")
  if spec.type == "boolean" then return parser:flag(flag, help) end
  local option = parser:option(flag, help, spec.default and
    tostring(spec.default))
  if spec.values then return option:choices(spec.values) end
  return option:argname(argname or "N"):convert(input.value(flag, spec))
end

---The command's options for a library function.
---@param specs table<string, cprof.OptionSpec>  of the function
---@param parsed table
---@return table
function input.given(specs, parsed)
  local out = {}
  for name in pairs(specs) do out[name] = parsed[name] end
  return out
end

---Declares --filter.
function input.filter(parser)
  input.option(parser, report.options, "filter", "Show only functions with " ..
    "PATTERN in their title or path; between slashes, it is a Lua pattern: " ..
    "/^parse/.", "PATTERN")
end

---Declares the argument FILE, a profile to read.
function input.profile(parser, what)
  parser:argument("FILE", (what or "A profile") .. "; -: standard input. " ..
    "Without it: the last recording."):target "file":args "?"
end

---Is this word a FILE, where FILE is optional?
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

---Fails if FILE comes after the argument that must follow it.
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
  input.option(parser, page.options, "format",
    "markdown: to paste into an issue, uncut.")
  input.looks(parser)
end

---Declares --width and --color.
function input.looks(parser)
  parser:option("--width", "Characters per line. (default: " ..
    "COLUMNS, or the terminal's width; without a terminal, no limit)")
    :argname "N":convert(input.integer("--width", 40))
  input.option(parser, page.options, "color",
    "auto, always, never; auto heeds NO_COLOR.")
end

return input
