-- Which function is meant by a name that a person has typed.

local format = require "cprof.format"

local find = {}

-- rows that the name can mean: those that have it; else, which have it
-- somewhere
local function matching(rows, wanted)
  local function all(passes)
    local out = {}
    for _, row in ipairs(rows) do
      if row.func.kind ~= "root" and passes(row) then out[#out + 1] = row end
    end
    return #out > 0 and out or nil
  end
  local lower = wanted:lower()
  return all(function(row) return row.title == wanted end) or
    all(function(row) return row.func.name == wanted end) or
    {}, all(function(row) return row.title:lower():find(lower, 1, true) end)
      or {}
end

-- how many letters must change to make one word of the other
local function distance(a, b)
  local above = {}
  for j = 0, #b do above[j] = j end
  for i = 1, #a do
    local row = { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j) and 0 or 1
      row[j] = math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + same)
    end
    above = row
  end
  return above[#b]
end

local function similar(rows, wanted)
  local out = {}
  for _, row in ipairs(rows) do
    local given = row.func.name
    if #given < 100 and #wanted < 100 and row.func.kind ~= "root" then
      local far = distance(given:lower(), wanted:lower())
      if far <= (#wanted + 1) // 2 then
        out[#out + 1] = { row = row, far = far }
      end
    end
  end
  table.sort(out, function(a, b)
    if a.far ~= b.far then return a.far < b.far end
    return a.row.title < b.row.title
  end)
  local best = {}
  for i = 1, math.min(#out, 3) do best[i] = out[i].row end
  return best
end

local function titles(rows)
  local out = {}
  for i, row in ipairs(rows) do
    if i > 8 then
      out[i] = ("and %d more"):format(#rows - 8)
      break
    end
    out[i] = format.plain(row.title)
  end
  return table.concat(out, ", ")
end

---The row of the function that a name or title means. nil, and what there
---is instead, when it means none or several.
---@param rows cprof.Row[]
---@param wanted string
---@return cprof.Row?, string?
function find.row(rows, wanted)
  local exact, near = matching(rows, wanted)
  if #exact == 1 then return exact[1] end
  if #exact > 1 then
    return nil, ("'%s' is the name of several: %s"):format(wanted,
      titles(exact))
  elseif #near == 1 then
    return near[1]
  end
  if #near == 0 then near = similar(rows, wanted) end
  return nil, ("no function '%s' was recorded%s"):format(wanted,
    #near > 0 and "; there are: " .. titles(near) or "")
end

return find
