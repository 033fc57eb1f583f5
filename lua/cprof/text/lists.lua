-- Lists of keys, and lists by a key.

local lists = {}

---The keys of a table, in order.
---@param t table<string, any>
---@return string[]
function lists.keys(t)
  local out = {}
  for key in pairs(t) do out[#out + 1] = key end
  table.sort(out)
  return out
end

---Adds a value to the list of a key.
---@generic K, V
---@param by table<K, V[]>
---@param key K
---@param value V
function lists.add(by, key, value)
  local list = by[key]
  if not list then
    list = {}
    by[key] = list
  end
  list[#list + 1] = value
end

return lists
