-- Comparison functions for table.sort: `order("-ns", "func.title")` sorts by
-- `ns`, largest first; items with the same `ns` are sorted by title.

local function reader(key)
  if type(key) == "function" then return key, false end
  local down, first, second = key:match "^(-?)([%w_]+)%.?([%w_]*)$"
  if second == "" then
    return function(item) return item[first] end, down == "-"
  end
  return function(item) return item[first][second] end, down == "-"
end

---@param ... string|fun(item: any): any  fields, with "-" for largest first; or
---    functions that return the value to compare
---@return fun(a: any, b: any): boolean
return function(...)
  local get, down = {}, {}
  for i, key in ipairs { ... } do get[i], down[i] = reader(key) end
  return function(a, b)
    for i = 1, #get do
      local x, y = get[i](a), get[i](b)
      if x ~= y then
        if down[i] then return x > y end
        return x < y
      end
    end
    return false
  end
end
