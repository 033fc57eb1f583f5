-- Suggestions for an unknown name: the nearest known names.

local format = require "cprof.text.format"
local order = require "cprof.text.order"

local nearest = {}

local longest <const> = 100 -- of names that are compared letter by letter

-- the edit distance between two words
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

-- How far a name is from `wanted`. The place in a title is not compared. The
-- folders of a path, and its ending, are compared only if `wanted` has some.
local function far(wanted, name)
  local first = name:match "^(.-) %(" or name
  if first:find(wanted, 1, true) then return #first - #wanted end
  if not wanted:find("/", 1, true) then first = first:match "[^/]*$" end
  if not wanted:find(".", 2, true) then first = first:gsub("%.lua$", "") end
  if #wanted > longest or #first > longest then return math.huge end
  return 1000 + distance(wanted, first)
end

---Sorts names, nearest first.
---@param wanted string
---@param names string[]
---@return string[]
function nearest.sort(wanted, names)
  local key, distances, out = wanted:lower(), {}, {}
  for i, name in ipairs(names) do
    distances[name] = distances[name] or far(key, name:lower())
    out[i] = name
  end
  table.sort(out, order(function(name) return distances[name] end,
    function(name) return name end))
  return out
end

-- the first names as text, and how many more there are
local function shown(names, most)
  local out = {}
  for i, name in ipairs(names) do
    if i > most then
      out[i] = ("and %s more"):format(format.count(#names - most))
      break
    end
    out[i] = format.plain(name)
  end
  return table.concat(out, ", ")
end

---Is any of the names near to the wanted one?
---@param wanted string
---@param names string[]
---@return boolean
function nearest.any(wanted, names)
  local key = wanted:lower()
  for _, name in ipairs(names) do
    if far(key, name:lower()) <= 1000 + #key // 2 then return true end
  end
  return false
end

---The end of a message: "; there are: a, b, and 7 more".
---@param wanted string
---@param names string[]
---@param most? integer
---@return string
function nearest.list(wanted, names, most)
  if #names == 0 then return "; there are none" end
  most = most or 5
  return "; there are: " .. shown(nearest.sort(wanted, names), most)
end

---The end of a message: the nearest names or, if none is near, the first
---ones. `names` has the most important ones first.
---@param wanted string
---@param names string[]
---@param what string    what the first names are: "the hottest"
---@return string
function nearest.list_or_first(wanted, names, what)
  if #names == 0 or nearest.any(wanted, names) then
    return nearest.list(wanted, names)
  end
  return ("; %s are: %s"):format(what, shown(names, 5))
end

---Finds a file by its name or the end of its path; nil and why: there is none,
---or more than one.
---@generic T: { source: string, place: string }
---@param list T[]
---@param wanted string
---@return T?, string?
function nearest.file(list, wanted)
  local places, ends, found = {}, {}, nil
  for i, file in ipairs(list) do
    if file.source == wanted or file.place == wanted or
       file.source == "@" .. wanted then
      return file
    end
    places[i] = file.place
    if file.place:sub(-#wanted - 1) == "/" .. wanted then
      ends[#ends + 1], found = file.place, file
    end
  end
  if #ends == 1 then return found end
  if #ends > 1 then
    table.sort(ends)
    return nil, ("several paths end in %q: %s"):format(wanted,
      table.concat(ends, ", "))
  end
  return nil, ("no lines of %q were recorded%s"):format(wanted,
    nearest.list(wanted, places, 10))
end

return nearest
