-- The recording of a process: the file that it records into.

local core = require "cprof.core"
local recordings = require "cprof.system.recordings"

local process = {}

local function is_profile(path)
  local file = not core.special(path) and io.open(path, "rb")
  local start = file and file:read(6)
  if file then file:close() end
  return start == "\x89CPROF"
end

---The file in whose pages a process counts; false: there is none now; nil:
---the system does not tell.
---@param pid integer
---@return string|false|nil path
function process.mapped(pid)
  local maps = core.readfile(("/proc/%d/maps"):format(pid))
  if not maps then return nil end
  local seen
  for line in maps:gmatch "[^\n]+" do
    local path = line:match "^%S+ %S+ %S+ %S+ %d+ +(/.*)$"
    if path and path ~= seen and is_profile(path) then return path end
    seen = path
  end
  return false
end

---The file that a process records into, or has recorded into last; nil:
---none is known.
---@param pid integer
---@return string? path
function process.recording(pid)
  local path = process.mapped(pid)
  if path then return path end
  -- another one may have ended since
  for _, entry in ipairs(recordings.all()) do
    local told = core.recorded(entry.path)
    if told and told:match "^%d+" == tostring(pid) then return entry.path end
  end
end

return process
