-- Finds the file that a process records into.

local core = require "cprof.core"
local files = require "cprof.system.files"
local recordings = require "cprof.system.recordings"

local process = {}

---The interpreter of this process, and its options, up to the name of the
---script; and the interpreter as the user named it.
---@return string[]
---@return string
function process.interpreter()
  local first, out = 0, {}
  while arg[first - 1] do first = first - 1 end
  for i = first, 0 do out[#out + 1] = arg[i] end
  out[1] = core.executable() or out[1]
  return out, arg[first]
end

---The recording that a process has mapped into its memory, thus records into
---now. false: there is none; nil: the system does not tell.
---@param pid integer
---@return string|false|nil path
function process.mapped(pid)
  local maps = core.readfile(("/proc/%d/maps"):format(pid))
  if not maps then return nil end
  local seen
  for line in maps:gmatch "[^\n]+" do
    local path = line:match "^%S+ %S+ %S+ %S+ %d+ +(/.*)$"
    if path and path ~= seen and files.is_profile(path) then return path end
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
  -- the last recording in this list may be another process's
  for _, entry in ipairs(recordings.all()) do
    local told = core.recorded(entry.path)
    if told and told:match "^%d+" == tostring(pid) then return entry.path end
  end
end

return process
