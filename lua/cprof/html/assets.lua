-- The files that the page is made of, which stand beside this one. A host
-- that has cprof inside has this module as a table of their texts instead:
-- see src/host/embed.lua.

local _, path = ...
local folder = path and path:match "^(.*[/\\])[^/\\]*$" or ""

local assets = {}

---The text of a file of the page. Raises an error where it is missing.
---@param name string
---@return string
function assets.read(name)
  local file, why = io.open(folder .. name, "rb")
  if not file then
    error(("html: cannot read %s: a file of cprof's page is missing from " ..
      "this installation"):format(why), 0)
  end
  local text = file:read "a"
  file:close()
  return text
end

return assets
