-- What the Lua that runs the specs does otherwise than others, or has not:
-- the one place that says so. Specs ask for the reason, and skip or expect
-- what is so there.

local interpreter = require "interpreter"

local releases = {}

-- "5.4.0" as a number
local function number(release)
  local major, minor, patch = release:match "^(%d+)%.(%d+)%.(%d+)$"
  return major * 10000 + minor * 100 + patch
end

local here <const> = number(interpreter.release)

---Is it this release or an earlier one?
---@param release string
---@return boolean
function releases.until_(release) return here <= number(release) end

---Does a __close that fails when its function returns run once more where
---the error is caught?
---@return boolean
function releases.closes_twice() return releases.until_ "5.4.2" end

---LuaSocket; the Lua that was built from sources has no C modules.
---@return string?  nil: it is there
function releases.without_sockets()
  if pcall(require, "socket") then return nil end
  return "this Lua has no LuaSocket"
end

return releases
