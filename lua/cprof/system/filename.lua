-- File names: fills in the time and a number, and makes them absolute.

local core = require "cprof.core"

local filename = {}

-- the name with %t replaced by the time, in UTC, and %n by a number
local function filled(path, number)
  local date = os.date
  return (string.gsub(path, "%%([tn])", function(what)
    return what == "t" and date("!%Y%m%dT%H%M%SZ") or
      string.format("%d", number)
  end))
end

---The name with %p replaced by this process.
---@param path string
---@return string
function filename.of_process(path)
  return (string.gsub(path, "%%p", tostring(core.process())))
end

---The name with %t replaced by the time, in UTC, and %n by a number that no
---other file has. An empty file of this name is created, so that no other
---process takes the number. %p, the process, is not replaced: the child of a
---fork has its own.
---@param path string
---@param here? string  the folder that it is relative to; nil: the current one
---@return string
function filename.expand(path, here)
  if not string.find(path, "%%n") then return filled(path) end
  local out
  repeat
    out = filled(path, core.number())
  until core.claim(filename.absolute(filename.of_process(out), here))
  return out
end

---Removes the empty file of a name that `expand` has filled in, as nothing
---could be written into it.
---@param pattern string  what `expand` has got
---@param path string
function filename.drop(pattern, path)
  if string.find(pattern, "%%n") then os.remove(path) end
end

-- patterns of what absolute paths begin with
local roots = package.config:sub(1, 1) == "\\" and
  { "^[/\\]", "^%a:[/\\]" } or { "^/" }

---@param path string
---@return boolean
function filename.is_absolute(path)
  for _, root in next, roots do
    if string.find(path, root) then return true end
  end
  return false
end

---The file of a source, as `debug.getinfo` names it: "@file", or a path without
---that, which hosts such as lighttpd give. Code of Lua never begins with "/".
---@param source string
---@return string?  nil: it is code, or only a name
function filename.of_source(source)
  local first = string.sub(source, 1, 1)
  if first == "@" then return string.sub(source, 2) end
  return first == "/" and not string.find(source, "[\r\n]") and source or nil
end

---@param path string
---@param here string?  the folder that it is relative to; nil: not known
---@return string  `path` if it is absolute, or `here` is nil
function filename.absolute(path, here)
  if filename.is_absolute(path) or not here then return path end
  return here .. "/" .. path
end

return filename
