-- Finds the file that a command is to follow. Its user names a file or the
-- number of a process; without a name, it is the last recording.

local core = require "cprof.core"
local cprof = require "cprof"
local process = require "cprof.system.process"
local recordings = require "cprof.system.recordings"

local target = {}

---The argument FILE of the commands that follow a recording.
target.argument = { "FILE?", "A profile that is being recorded, or the " ..
  "number of the process. Without it: the last recording." }

local function last(fail)
  return recordings.last() or
    fail "nothing was recorded yet: name a FILE, or a program after --"
end

local function of_process(word, fail)
  local pid = math.tointeger(tonumber(word))
  if not pid then fail(word .. ": No such file or directory") end
  return process.recording(pid) or
    fail(("process %d does not record into a file: start it with cprof run")
      :format(pid))
end

local function find(word, fail)
  if not word then return last(fail) end
  local file = io.open(word, "rb")
  if not file then return of_process(word, fail) end
  file:close()
  if core.special(word) then fail(word .. ": not a regular file") end
  return word
end

---The file that a word names. Calls `fail` if there is none, or if the file is
---neither a profile nor written by a program that runs.
---@param word? string  nil: the last recording
---@param fail fun(message: string)
---@return string path
function target.path(word, fail)
  local path = find(word, fail)
  local profile, why = cprof.load(path)
  if not profile and not core.islive(path) then fail(why) end
  return path
end

---Calls `fail` if both a file and a program are named, or if -- is the last
---word.
---@param parsed table  `file`, `program`
---@param fail fun(message: string)
function target.check(parsed, fail)
  if parsed.program and parsed.file then
    fail(("name a FILE ('%s') or a program after --, not both"):format(
      parsed.file))
  elseif parsed.program and #parsed.program == 0 then
    fail "name a script, -e code or -m module after --"
  end
end

return target
