-- The JSON library. If it is missing, the error says how to install it.

local found, json = pcall(require, "dkjson")
if not found then
  if not tostring(json):find("module 'dkjson' not found", 1, true) then
    error(json, 0)
  end
  error("JSON needs the library dkjson, which is missing: install " ..
    "Debian's lua-dkjson or the rock dkjson", 0)
end

return json
