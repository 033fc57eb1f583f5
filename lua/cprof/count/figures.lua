-- The names of figures. Within cprof, they are those of the profile's measure,
-- whatever that is: `self`, `total`, `count`. Programs get names that say what
-- a figure is: `self_ns`, `total_instructions`, `calls`.

local figures = {}

local samples <const> = { count = "self_samples",
  total_count = "total_samples", total_in_count = "total_in_samples" }

-- the name for programs; nil: they do not get the figure
local function name_of(key, p)
  local m = p.measure
  local figure, more = key:match "^(%l+)_?([%l_]*)$"
  if key == "count" or p.samples and samples[key] then
    return p.samples and samples[key] or "calls"
  elseif figure ~= "self" and figure ~= "total" then
    return key
  elseif m:timed() then
    return key .. "_ns"
  elseif more == "" then
    return figure == "self" and m.own or m.all
  elseif more == "in" or more == "out" then
    return key .. "_" .. m.name
  end
end

-- by profile: name within cprof -> name for programs
local known = setmetatable({}, { __mode = "k" })

---A copy of a row, an edge or a line with the names for programs.
---@param t table
---@param p cprof.Profile
---@return table
function figures.published(t, p)
  local names, out = known[p] or {}, {}
  known[p] = names
  for key, value in pairs(t) do
    if names[key] == nil then names[key] = name_of(key, p) or false end
    if names[key] then out[names[key]] = value end
  end
  return out
end

local measured <const> = { "count", "self", "self_raw", "self_most",
  "self_wait", "total", "total_most", "total_wait" }
local estimated <const> = { "count", "total_count", "self", "self_wait",
  "total", "total_wait" }

---The figures of a function, under the names for programs.
---@param row cprof.Row  of the function alone
---@param p cprof.Profile
---@return table<string, integer>
function figures.of_function(row, p)
  local out = {}
  for _, key in ipairs(p.samples and estimated or measured) do
    out[key] = row[key]
  end
  return figures.published(out, p)
end

return figures
