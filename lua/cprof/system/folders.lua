-- Folders that only this user can use, for recordings without a name and for
-- messages between programs and the command.

local core = require "cprof.core"
local internal = require "cprof.sandbox.internal"

internal.add()

local folders = {}

local format, sub, getenv = string.format, string.sub, os.getenv
local concat = table.concat

-- The folder that an environment variable names; nil: none.
local function named(variable)
  local value = getenv(variable)
  return value and sub(value, 1, 1) == "/" and value or nil
end

-- Where a folder may be; the first one that can be made is used. Under sudo,
-- XDG_RUNTIME_DIR may be another user's folder: whoever can write there could
-- replace ours by a link at any moment.
local function places()
  if not core.signals then
    local own = getenv "LOCALAPPDATA"
    return { own and own ~= "" and own .. "/cprof" or nil }
  end
  local runtime = named "XDG_RUNTIME_DIR"
  local out = { runtime and core.isown(runtime) and runtime .. "/cprof" or nil }
  out[#out + 1] = format("%s/cprof-%d", named "TMPDIR" or "/tmp", core.user())
  return out
end

---The folder of this user; or nil, and the reason why there is none.
---@return string? path
---@return string? why
function folders.own()
  local reasons = {}
  for i, path in ipairs(places()) do
    local made, why = core.makefolder(path)
    if made and core.isprivate(path) then return path end
    reasons[i] = made and path .. " is not a folder that only you can use " ..
      "(chmod 700 makes it one)" or
      format("the folder %s cannot be made: %s", path, why)
  end
  return nil, reasons[1] and concat(reasons, ", and ") or
    "LOCALAPPDATA is not the path of a folder"
end

---Why recordings without a name are not kept; nil: they are.
---@return string?
function folders.missing()
  local _, why = folders.own()
  return why and format("recordings without a name are not kept, as %s; " ..
    "record with -o FILE, or name the FILE to read", why)
end

---All existing folders that `own` may have returned in some process of this
---user, which may have another environment. None on Windows, where no program
---listens.
---@return string[]
function folders.all()
  local out, seen = {}, {}
  local list = core.signals and places() or {}
  list[#list + 1] = format("/run/user/%d/cprof", core.user())
  list[#list + 1] = format("/tmp/cprof-%d", core.user())
  for _, path in ipairs(list) do
    if core.signals and not seen[path] and core.isprivate(path) then
      out[#out + 1], seen[path] = path, true
    end
  end
  return out
end

return folders
