-- Names of files: with the time, a number or the process in them, and whole.

local core = require "cprof.core"

local filename = {}

---The name with what stands in the place of %t (the time, UTC) and %n (a
---number that no other file of this process has had). %p, the process, stays:
---the child of a fork has its own.
---@param path string
---@return string
function filename.expand(path)
  local gsub, date = string.gsub, os.date
  local number
  return (gsub(path, "%%([tn])", function(what)
    if what == "t" then return date("!%Y%m%dT%H%M%SZ") end
    number = number or core.number()
    return string.format("%d", number)
  end))
end

-- what paths begin with that lead from anywhere to the same file
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

---@param path string
---@param here string?  the folder that it is in; nil: not known
---@return string
function filename.absolute(path, here)
  if filename.is_absolute(path) or not here then return path end
  return here .. "/" .. path
end

return filename
