-- What is wrong with releases of Lua, as far as a recording meets it.

local release = {}

-- Those whose own tests fail under a line hook that does nothing. In the
-- first two, the hook also crashes functions without debug information: it
-- is off while these run, but in finalizers, which no event tells.
local line_hooks <const> = {
  ["5.4.0"] = true, ["5.4.1"] = true, ["5.4.2"] = false, ["5.4.3"] = false,
}

---What to expect in mode `"line"`.
---@param number string  "5.4.0"
---@return string?  nil: nothing bad
---@return boolean? crashes
function release.line_fault(number)
  local crashes = line_hooks[number]
  if crashes == nil then return nil end
  return ("line hooks of Lua %s have faults that Lua 5.4.4 does not have: a " ..
    "program may fail that does not otherwise%s"):format(number, crashes and
    "; finalizers without debug information crash it" or ""), crashes
end

return release
