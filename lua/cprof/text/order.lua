-- Orders of lists, for table.sort: `order("-ns", "func.title")` has the largest
-- `ns` first; what has the same `ns` is in the order of titles.

local function reader(key)
  if type(key) == "function" then return key, false end
  local down, first, second = key:match "^(-?)([%w_]+)%.?([%w_]*)$"
  if second == "" then
    return function(item) return item[first] end, down == "-"
  end
  return function(item) return item[first][second] end, down == "-"
end

---@param ... string|fun(item: any): any  fields, "-" before those with the
---    largest first; or functions that give what decides
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
