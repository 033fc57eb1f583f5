-- Groups of functions, such as those with one title.

local lists = require "cprof.text.lists"

local group = {}

---@class cprof.Groups
---@field of integer[]         function -> number of its group
---@field keys any[]           by group
---@field first cprof.Function[]  by group
---@field ids table<any, integer>  key -> group

---Groups functions by a key.
---@param functions cprof.Function[]
---@param key_of fun(f: cprof.Function): any
---@param apart? integer  a function that is in a group of its own
---@return cprof.Groups
function group.by(functions, key_of, apart)
  local ids, of, keys, first = {}, {}, {}, {}
  for i, f in ipairs(functions) do
    -- no key is equal to this table
    local key = i == apart and ids or key_of(f)
    if not ids[key] then
      keys[#keys + 1], first[#first + 1] = key, f
      ids[key] = #keys
    end
    of[i] = ids[key]
  end
  return { of = of, keys = keys, first = first, ids = ids }
end

-- list of functions -> source -> its functions in that list
local by_source = setmetatable({}, { __mode = "k" })

---The functions of a source, in their order.
---@param functions cprof.Function[]
---@param source string
---@return cprof.Function[]
function group.of_source(functions, source)
  local all = by_source[functions]
  if not all then
    all = {}
    by_source[functions] = all
    for _, f in ipairs(functions) do
      if f.source then lists.add(all, f.source, f) end
    end
  end
  return all[source] or {}
end

---@param f cprof.Function
---@return cprof.Function
function group.itself(f) return f end

---The title of a function.
---@param f cprof.Function
---@return string
function group.title(f) return f.title end

return group
