-- Profiles that commands read, and text that they print.

local core = require "cprof.core"
local cprof = require "cprof"
local files = require "cprof.system.files"
local folders = require "cprof.system.folders"
local later = require "cprof.sandbox.later"
local range = require "cprof.profile.range"
local recordings = require "cprof.system.recordings"
local terminal = require "cprof.system.terminal"

local format = later "cprof.text.format"
local output = later "cprof.export.output"
local page = later "cprof.report.page"

local input = {}

-- bytes that load fast, without a progress display
local short <const> = 32000000

-- bytes per read of standard input
local block_size <const> = 65536

---Does it take a while to read these files?
---@param paths string[]
---@return boolean
function input.long(paths)
  local bytes = 0
  for _, path in ipairs(paths) do bytes = bytes + files.size(path) end
  return bytes > short
end

local function load(path, named, fail)
  local progress = terminal.progress("loading " .. named,
    input.long { path })
  local profile, why = cprof.load(path)
  progress()
  if not profile then
    if core.filenames(path) then
      fail(named .. " is a folder: name a file in it, or give the folder to " ..
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
  if not path then fail(folders.missing() or advice) end
  check_there(path, what, fail)
  local profile = load(path, what, fail)
  local program = format.program(profile.meta)
  if elsewhere or not headed then
    terminal.say(("note: this is %s, of %s, begun at %s%s\n"):format(what,
      program, time_of(profile.meta), elsewhere and (" in %s; there is none " ..
      "from this folder or terminal"):format(format.plain(elsewhere)) or ""))
  end
  return profile, ("%s (%s)"):format(what, program)
end

---The profile in a file, and its name for messages.
---@param path string?  "-": standard input; nil: a recording
---@param fail fun(message: string)
---@param which? "last"|"previous"  recording; default: the last one
---@param headed? boolean  whether the output names the program
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

---A message of the library, with the names of the command's options.
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

---Fails if the file is a profile or a Lua source, so that a slip cannot replace
---what cprof reads.
---@param path string  of -o
---@param fail fun(message: string)
function input.protect(path, fail)
  local what = files.is_profile(path) and "a profile" or
    path:find "%.lua$" and files.start(path, 1) and "a Lua source"
  if what then
    fail(("-o %s exists and is %s: name another file"):format(
      terminal.quote(path), what))
  end
end

-- the number of the error of a path that leads to no file
local none <const> = 2

---Fails if a file cannot be written, or a new one made. Does not change it.
---@param path string
---@param fail fun(message: string)
function input.writable(path, fail)
  -- opening and closing a pipe here would end it for its reader
  if core.special(path) then return end
  local file, why, code = io.open(path, "r+b")
  if not file and code == none then
    -- a link to no file would be taken for a file that was made here
    local beside = output.aside(path)
    file, why = io.open(beside, "wb")
    if file then
      file:close()
      os.remove(beside)
      return
    end
    why = path .. why:sub(#beside + 1)
  end
  if not file then fail("cannot write " .. why) end
  file:close()
end

---What to add to an error: a command that shows when something took long. ""
---if the profile has no time axis.
---@param p cprof.Profile
---@param file? string  that the command is to read
---@return string
function input.or_heatmap(p, file)
  if range.missing(p) then return "" end
  return ("; cprof heatmap%s shows when the program was busy or stalled")
    :format(file and file ~= "-" and " " .. terminal.quote(file) or "")
end

---Fails if the library for JSON, which an option needs, is missing.
---@param option string
---@param fail fun(message: string)
function input.needs_json(option, fail)
  if pcall(require, "dkjson") then return end
  local _, missing = pcall(require, "cprof.encoding.json")
  fail(("%s: %s"):format(option, missing))
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

---The option --filter.
---@type cprof.CommandOption
input.filter = { "--filter PATTERN", "Show only functions with PATTERN in " ..
  "their title or path; between slashes, it is a Lua pattern: /^parse/.",
  type = "pattern" }

---The argument FILE, a profile to read.
---@param what? string
---@return cprof.CommandOption
function input.file(what)
  return { "FILE?", (what or "A profile") .. "; -: standard input. Without " ..
    "it: the last recording." }
end

---The options --width and --color.
---@type cprof.CommandOption[]
input.looks = {
  { "--width N", "Characters per line. (default: COLUMNS, or the terminal's " ..
    "width; without a terminal, no limit)", type = "integer", min = 40 },
  { "--color", "auto, always, never; auto heeds NO_COLOR.",
    of = page.options },
}

---Places in reports as links.
---@type cprof.CommandOption
input.links = { "--hyperlinks", "auto, always, never: make source locations " ..
  "links to their files; auto: on terminals that are known to open links.",
  of = page.options }

---The options --format, --width and --color.
---@type (cprof.CommandOption|cprof.CommandOption[])[]
input.page = {
  { "--format", "markdown: to paste into an issue, uncut.",
    of = page.options },
  input.looks,
}

---Is this word a FILE, where FILE is optional?
---@param word string
---@return boolean
function input.is_profile(word)
  return word == "-" or word:find "%.cprof$" ~= nil or core.special(word) or
    files.is_profile(word)
end

---FILE and the argument after it, either of which may be left out. Fails if
---they are in the other order.
---@param command string
---@param file? string
---@param name string    of the other argument
---@param other? string
---@param fail fun(message: string)
---@return string? file
---@return string? other
function input.pair(command, file, name, other, fail)
  if not other and file and not input.is_profile(file) then
    return nil, file
  elseif other and input.is_profile(other) and not input.is_profile(file) then
    fail(("FILE comes before %s: cprof %s %s %s"):format(name, command,
      terminal.quote(other), terminal.quote(file)))
  end
  return file, other
end

return input
