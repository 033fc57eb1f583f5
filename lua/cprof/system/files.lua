-- Regular files: what one begins with, and how large it is.

local core = require "cprof.core"

local files = {}

---Opens a file to read it; nil: it cannot be read, or is a device or a pipe,
---which would lose bytes, or never has any.
---@param path string
---@return file*?
function files.open(path)
  return not core.special(path) and io.open(path, "rb") or nil
end

---The first bytes of a file; nil: it cannot be read, or is a device or a pipe,
---which would lose them.
---@param path string
---@param count integer
---@return string?
function files.start(path, count)
  local file = files.open(path)
  local start = file and (file:read(count) or "")
  if file then file:close() end
  return start or nil
end

---Is it a profile?
---@param path string
---@return boolean
function files.is_profile(path) return files.start(path, 6) == "\x89CPROF" end

---Is it a script in Lua?
---@param path string
---@return boolean
function files.is_script(path)
  return path:find "%.lua$" ~= nil and files.start(path, 1) ~= nil and
    not files.is_profile(path)
end

---The bytes of a file; 0: it cannot be read, or is a device or a pipe.
---@param path string
---@return integer
function files.size(path)
  local file = files.open(path)
  local bytes = file and file:seek "end" or 0
  if file then file:close() end
  return bytes
end

return files
