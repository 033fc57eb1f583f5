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

-- Returns a function for those of a list whose field has a value, in their
-- order.
local function finder(field)
  -- list of functions -> value -> its functions in that list
  local by = setmetatable({}, { __mode = "k" })
  return function(functions, value)
    local all = by[functions]
    if not all then
      all = {}
      by[functions] = all
      for _, f in ipairs(functions) do
        if f[field] then lists.add(all, f[field], f) end
      end
    end
    return all[value] or {}
  end
end

---The functions of a source, in their order.
---@type fun(functions: cprof.Function[], source: string): cprof.Function[]
group.of_source = finder "source"

---The functions with a title, in their order.
---@type fun(functions: cprof.Function[], title: string): cprof.Function[]
group.of_title = finder "title"

---@param f cprof.Function
---@return cprof.Function
function group.itself(f) return f end

---The title of a function.
---@param f cprof.Function
---@return string
function group.title(f) return f.title end

return group
