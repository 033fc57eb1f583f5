-- Finds the function that a name means.

local format = require "cprof.text.format"
local nearest = require "cprof.text.nearest"
local order = require "cprof.text.order"

local most_titles <const> = 8

-- the rows that pass; nil if none does
local function all(rows, passes)
  local out = {}
  for _, row in ipairs(rows) do
    if passes(row) then out[#out + 1] = row end
  end
  return #out > 0 and out or nil
end

local function titles(rows)
  local out = {}
  for i, row in ipairs(rows) do
    if i > most_titles then
      out[i] = ("and %d more"):format(#rows - most_titles)
      break
    end
    out[i] = format.plain(row.title)
  end
  return table.concat(out, ", ")
end

---The row with this title or name, or else the only row with this text in its
---title; nil and a message: there is none, or more than one.
---@param rows cprof.Row[]
---@param wanted string
---@return cprof.Row?
---@return string?
return function(rows, wanted)
  local found = all(rows, function(row) return row.title == wanted end) or
    all(rows, function(row) return row.func.name == wanted end)
  if found and #found > 1 then
    return nil, ("several functions are named '%s': %s"):format(wanted,
      titles(found))
  elseif found then
    return found[1]
  end
  local lower = wanted:lower()
  found = all(rows, function(row)
    return row.func.kind ~= "root" and
      row.title:lower():find(lower, 1, true) ~= nil
  end)
  if found and #found == 1 then return found[1] end
  found = found or rows
  local sorted, names = table.move(found, 1, #found, 1, {}), {}
  table.sort(sorted, order("-self", "title"))
  for i, row in ipairs(sorted) do names[i] = row.title end
  return nil, ("no function '%s' was recorded%s"):format(wanted,
    nearest.list_or_first(wanted, names, "the hottest"))
end
