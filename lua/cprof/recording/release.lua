-- Faults of releases of Lua that a recording may meet.

local release = {}

-- Releases whose own tests fail under a line hook that does nothing. true: the
-- hook also crashes functions without debug information. The recorder turns it
-- off while these run, but not in finalizers, for which there is no event.
local line_hooks <const> = {
  ["5.4.0"] = true, ["5.4.1"] = true, ["5.4.2"] = false, ["5.4.3"] = false,
}

---Warns of faults that a release has in mode `"line"`.
---@param number string  the release, such as "5.4.0"
---@return string? warning  nil: it has none
---@return boolean? crashes  whether it may crash
function release.line_fault(number)
  local crashes = line_hooks[number]
  if crashes == nil then return nil end
  return ("line hooks of Lua %s have faults that Lua 5.4.4 does not have: " ..
    "they can make a correct program fail%s"):format(number, crashes and
    "; finalizers without debug information crash it" or ""), crashes
end

return release
