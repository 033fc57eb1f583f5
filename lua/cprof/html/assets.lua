-- The files that the page is made of, which stand beside this one. A host
-- that has cprof inside has this module as a table of their texts instead:
-- see src/host/embed.lua.

local core = require "cprof.core"

local _, path = ...
local folder = path and path:match "^(.*[/\\])[^/\\]*$" or ""

local assets = {}

---Keeps the texts of the files, so that `read` works even if they are removed.
function assets.keep()
  for _, name in ipairs(core.filenames(folder) or {}) do
    local file = folder .. name
    local text = not name:find "%.lua$" and core.readfile(file)
    if text then core.keep_text(file, "", text) end
  end
end

---The text of a file of the page. Raises an error where it is missing.
---@param name string
---@return string
function assets.read(name)
  local kept = core.kept_text(folder .. name)
  if kept then return kept end
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
