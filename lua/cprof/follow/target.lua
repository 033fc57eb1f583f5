-- Finds the file that a command is to follow. Its user names a file or the
-- ID of a process; without a name, it is the last recording.

local core = require "cprof.core"
local cprof = require "cprof"
local folders = require "cprof.system.folders"
local process = require "cprof.system.process"
local recordings = require "cprof.system.recordings"

local target = {}

---The argument FILE of the commands that follow a recording.
target.argument = { "FILE?", "A profile that is being recorded, or the " ..
  "ID of a process. On Linux, a process that does not record itself is " ..
  "sampled from outside. Without FILE: the last recording." }

---Options for programs that are sampled from outside.
target.sampling = {
  { "--rate N", "Sampling from outside: take N samples a second. " ..
    "(default: 1000)",
    type = "integer", min = 1, max = 10000 },
  { "--seconds N", "Sampling from outside: stop sampling after N seconds; " ..
    "what was sampled stays in view. (default: when the program or the " ..
    "command ends)", type = "number", above = 0,
    max = 1e8 },
  { "--no-stop", "Sampling from outside: never stop a thread, not even " ..
    "for a moment, so that only waiting is seen." },
}

local function last(fail)
  return recordings.last() or fail(folders.missing() or
    "nothing was recorded yet: name a FILE, or a program after --")
end

-- The file that a process records into; nil: it records into none now.
local function of_process(pid)
  local path = process.mapped(pid)
  if path == nil or not core.owner(pid) then
    -- the system does not tell, or the process has ended
    path = process.recording(pid)
    path = path and (not core.owner(pid) or core.islive(path)) and path
  end
  return path or nil
end

-- What samples a process from outside. Calls `fail` if that cannot be.
local function from_outside(pid, parsed, fail, listens)
  if not core.owner(pid) then fail(("there is no process %d"):format(pid)) end
  local outside = require "cprof.remote.outside"
  local found, why = outside.open(pid, { rate = parsed.rate or 1000,
    seconds = parsed.seconds or math.huge, clock = "wall",
    stop = not parsed.no_stop })
  if found then return found end
  local advice = listens(pid) and ("; it listens: cprof attach %d records it")
    :format(pid) or ""
  fail(("process %d does not record into a file, and cannot be sampled from " ..
    "outside: %s%s"):format(pid, why, advice))
end

-- options of sampling from outside
local only_outside = { "rate", "seconds", "no_stop" }

local function check_options(parsed, fail)
  for _, name in ipairs(only_outside) do
    if parsed[name] then
      fail(("--%s needs the ID of a process that does not record " ..
        "itself: only such a process is sampled from outside"):format(
        (name:gsub("_", "-"))))
    end
  end
end

-- The path of a file that exists, or that a process records into; or nil.
local function path_of(word, fail)
  if not word then return last(fail) end
  local file = io.open(word, "rb")
  if not file then
    local pid = math.tointeger(tonumber(word))
    if not pid or pid < 1 then
      fail(word .. ": No such file or directory")
    end
    return of_process(pid)
  end
  file:close()
  if core.special(word) then fail(word .. ": not a regular file") end
  return word
end

---What the words of a command name: a file, or a program that does not record
---itself and is sampled from outside. Calls `fail` if there is none, or if
---the file is neither a profile nor written by a program that runs.
---@param parsed table  `file`: nil: the last recording; and `target.sampling`
---@param fail fun(message: string)
---@param listens fun(pid: integer): boolean  does a process wait for cprof
---    attach?
---@return string? path
---@return cprof.Outside? outside
function target.find(parsed, fail, listens)
  local path = path_of(parsed.file, fail)
  if not path then
    return nil, from_outside(math.tointeger(tonumber(parsed.file)), parsed,
      fail, listens)
  end
  check_options(parsed, fail)
  local profile, why = cprof.load(path)
  if not profile and not core.islive(path) then fail(why) end
  return path
end

---Calls `fail` if both a file and a program are named, if -- is the last word,
---or if the program after it is to be sampled from outside.
---@param parsed table  `file`, `program`
---@param fail fun(message: string)
function target.check(parsed, fail)
  if parsed.program and parsed.file then
    fail(("name a FILE ('%s') or a program after --, not both"):format(
      parsed.file))
  elseif parsed.program and #parsed.program == 0 then
    fail "name a script, -e code or -m module after --"
  elseif parsed.program then check_options(parsed, fail)
  end
end

return target
