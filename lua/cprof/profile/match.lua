-- Which function of one profile is which of another, though the program
-- was edited in between: lines were added above it, it was moved, renamed
-- or changed, or its file was moved. A line alone never decides.

local name = require "cprof.source.name"

local match = {}

---What a function is known by.
---@class cprof.Identity
---@field kind string
---@field name string
---@field source string
---@field place string?
---@field line integer
---@field last_line integer
---@field fingerprint string  of its code; "" where that says nothing

---How a pair was found: by name and source, by equal code, by order among
---those of one name, by the place between others that were found.
---@alias cprof.MatchedBy "name"|"code"|"order"|"place"

-- how a sum of profiles names an older text of a source
local older <const> = " %(older text ?%d*%)$"

---The place of a function, whichever text of its source is meant.
---@param f { source: string, place: string? }
---@return string
function match.place(f)
  return ((f.place or name.place(f.source)):gsub(older, ""))
end

---The source in which a sum of profiles keeps what belongs to an older
---text. It is no file.
---@param place string
---@param n integer  1: the first one
---@return string
function match.older(place, n)
  return ("=%s (older text%s)"):format(place, n > 1 and " " .. n or "")
end

---A function's name, without a line or an address that may be in it; and
---whether it has a name of its own at all.
---@param f { kind: string, name: string }
---@return string plain, boolean named
function match.name(f)
  local plain, places
  if f.kind == "C" then
    plain, places = f.name:gsub("%+0x%x+$", "+")
    if places == 0 then
      plain, places = plain:gsub("^%(C function %d+%)$", "(C function)")
    end
    return plain, places == 0
  end
  -- one of several of its name on one line
  plain = f.name:gsub(" <fn:[%d:]+>$", "")
  plain, places = plain:gsub("<fn:[%d:]+>", "<fn>")
  return plain, places == 0
end


-- {======================================================
-- Items: the functions of both sides
-- =======================================================

---@class cprof.Item
---@field f cprof.Identity
---@field at integer       in its list
---@field name string      see match.name
---@field named boolean
---@field place string?    of Lua functions and main chunks
---@field source string?   equal on both sides for one file
---@field around cprof.Item?  the function that it is defined in
---@field pair cprof.Item?

local function by_line(x, y)
  if x.f.line ~= y.f.line then return x.f.line < y.f.line end
  if x.f.last_line ~= y.f.last_line then
    return x.f.last_line > y.f.last_line
  end
  return x.at < y.at
end

local function holds(outer, item)
  return outer.f.kind == "main" or outer.f.last_line > item.f.line or
    outer.f.last_line == item.f.line and outer.f.line < item.f.line
end

-- Lua functions by place, in order of lines; those that are open at a line
-- are a stack
local function places_of(items)
  local of = {}
  for _, item in ipairs(items) do
    if item.place then
      of[item.place] = of[item.place] or {}
      table.insert(of[item.place], item)
    end
  end
  for _, list in pairs(of) do
    table.sort(list, by_line)
    local open = {}
    for _, item in ipairs(list) do
      while open[1] and not holds(open[#open], item) do open[#open] = nil end
      item.around = open[#open]
      open[#open + 1] = item
    end
  end
  return of
end

local function items_of(list)
  local items = {}
  for i, f in ipairs(list) do
    local item = { f = f, at = i }
    item.name, item.named = match.name(f)
    if f.kind == "Lua" or f.kind == "main" then
      item.place = f.place or name.place(f.source)
      item.source = match.place(f)
    end
    items[i] = item
  end
  return { items = items, places = places_of(items) }
end

-- }======================================================


-- {======================================================
-- Sources: a file that was moved is still the same
-- =======================================================

-- any folder may have an init.lua; code is no file
local function file_name(place)
  if place:find "^%[string " then return place end
  return place:match "[^/]*/init%.lua$" or place:match "[^/]*$"
end

-- how many names two paths share at their ends
local function shared(a, b)
  local n = 0
  repeat
    local last = a:match "[^/]*$"
    if last ~= b:match "[^/]*$" then break end
    n = n + 1
    a, b = a:sub(1, -#last - 2), b:sub(1, -#last - 2)
  until a == "" or b == ""
  return n
end

-- the one of `others` that has most in common; nil: none, or several
local function closest(place, others, common)
  local best, most = nil, 0
  for _, other in ipairs(others) do
    local n = common(place, other)
    if n > most then best, most = other, n
    elseif n == most then best = nil end
  end
  return best
end

-- the places of a side that are none of the other's
local function single(side, other)
  local known, out = {}, {}
  for _, item in ipairs(other.items) do
    if item.source then known[item.source] = true end
  end
  for place, list in pairs(side.places) do
    if not known[list[1].source] then out[#out + 1] = place end
  end
  table.sort(out)
  return out
end

-- Takes for one what has most in common, seen from either side. Was there
-- any such place?
local function join_places(a, b, common)
  local from, to = single(a, b), single(b, a)
  local function back(x, y) return common(y, x) end
  local any = false
  for _, place in ipairs(from) do
    local other = closest(place, to, common)
    if other and closest(other, from, back) == place then
      for _, item in ipairs(b.places[other]) do item.source = place end
      any = true
    end
  end
  return any
end

local function by_path(x, y)
  return file_name(x) == file_name(y) and shared(x, y) or 0
end

-- how many functions of the one are the other's
local function by_functions(a)
  local counts = {}
  for place, list in pairs(a.places) do
    for _, item in ipairs(list) do
      if item.pair then
        local key = place .. "\0" .. item.pair.place
        counts[key] = (counts[key] or 0) + 1
      end
    end
  end
  return function(x, y) return counts[x .. "\0" .. y] or 0 end
end

-- }======================================================


-- {======================================================
-- Keys: what is equal on both sides, step by step; nil: not in this step
-- =======================================================

local keys = {}

local function joined(...) return table.concat({ ... }, "\0") end

function keys.name(item)
  if item.f.kind == "main" then return joined("main", item.source) end
  return item.named and joined(item.f.kind, item.source or "", item.name)
end

-- a function of a module is called by whatever way leads to it
function keys.last_name(item)
  local last = item.named and item.place and item.name:match "[%w_:]+$"
  return last and joined(item.f.kind, item.source, last)
end

function keys.code(item)
  local code = item.f.fingerprint or ""
  return code ~= "" and joined(item.f.kind, code)
end

function keys.code_here(item)
  local code = keys.code(item)
  return code and joined(code, item.source)
end

-- the number of a pair that was found
local function number(item, left)
  return left and item.at or item.pair.at
end

-- name and the function around it, when that was found; what has no name
-- may be called by that
function keys.inside(item, left)
  if not item.place then return joined(item.f.kind, item.name) end
  local around = item.around
  if around and not around.pair then return nil end
  return joined(item.f.kind, item.source, item.named and item.name or "",
    around and number(around, left) or "")
end

-- name and source, where the function around it is not known
function keys.anywhere(item)
  return joined(item.f.kind, item.source or "", item.name)
end

-- what has no name, and the function above it that was found
function keys.gap(item, left)
  return not item.named and item.above and
    joined(item.f.kind, item.source, number(item.above, left))
end

-- }======================================================


-- {======================================================
-- Steps
-- =======================================================

-- what is left of both sides, by key: { key, items, items }, ...
local function left(a, b, key)
  local of, out = {}, {}
  for which, side in ipairs { a, b } do
    for _, item in ipairs(side.items) do
      local k = not item.pair and key(item, side == a)
      if k then
        if not of[k] then
          of[k] = { {}, {} }
          out[#out + 1] = of[k]
        end
        table.insert(of[k][which], item)
      end
    end
  end
  return out
end

local function pair(x, y, by)
  x.pair, y.pair, x.by = y, x, by
end

-- those that are the only ones
local function unique(a, b, key, by)
  for _, group in ipairs(left(a, b, key)) do
    local xs, ys = group[1], group[2]
    if #xs == 1 and #ys == 1 then pair(xs[1], ys[1], by) end
  end
end

local other_code <const> = 1 << 30 -- is further away than any line

-- how little two functions of one name have in common
local function distance(x, y)
  local from, to = x.f.line, y.f.line
  if x.around and x.around.pair and x.around.pair == y.around then
    from, to = from - x.around.f.line, to - y.around.f.line
  end
  local code = keys.code(x)
  return math.abs(from - to) +
    (code and code == keys.code(y) and 0 or other_code)
end

local most_cells <const> = 1000000

-- Pairs all of `xs`, in order, with some of `ys`, which are as many or
-- more, so that the sum of distances is least.
local function align(xs, ys, found)
  local n, more = #xs, #ys - #xs
  if n * more > most_cells then more = 0 end
  -- least[k]: with k of `ys` left out so far
  local least, taken = {}, {}
  for k = 0, more do least[k] = 0 end
  for i = 1, n do
    local row, took = {}, {}
    for k = 0, more do
      row[k] = least[k] + distance(xs[i], ys[i + k])
      took[k] = true
      if k > 0 and row[k - 1] <= row[k] then
        row[k], took[k] = row[k - 1], false
      end
    end
    least, taken[i] = row, took
  end
  local k = more
  for i = n, 1, -1 do
    while not taken[i][k] do k = k - 1 end
    found(xs[i], ys[i + k])
  end
end

-- those with the same key, by order and nearest lines. Were there any?
local function ordered(a, b, key, by)
  local any = false
  for _, group in ipairs(left(a, b, key)) do
    local xs, ys = group[1], group[2]
    table.sort(xs, by_line)
    table.sort(ys, by_line)
    any = any or #xs > 0 and #ys > 0
    if #xs <= #ys then
      align(xs, ys, function(x, y) pair(x, y, by) end)
    else
      align(ys, xs, function(y, x) pair(x, y, by) end)
    end
  end
  return any
end

-- a function that was found may have others in it
local function nested(a, b, key)
  while ordered(a, b, key, "order") do end
end

local function find_gaps(side)
  for _, list in pairs(side.places) do
    local above
    for _, item in ipairs(list) do
      item.above = above
      if item.pair then above = item end
    end
  end
end

---Pairs the functions of two lists, one to one.
---@param before cprof.Identity[]
---@param after cprof.Identity[]
---@param some? boolean  `before` has only some, and not those around them
---@return table<integer, integer> to  index in `before` -> in `after`
---@return table<integer, cprof.MatchedBy> by  how that was found
---@return table<string, string> places  of `after` -> of `before`
function match.functions(before, after, some)
  local a, b = items_of(before), items_of(after)
  local inside = some and keys.anywhere or keys.inside
  while join_places(a, b, by_path) do end
  unique(a, b, keys.name, "name")
  unique(a, b, keys.code_here, "code")
  unique(a, b, keys.code, "code")
  if join_places(a, b, by_functions(a)) then
    unique(a, b, keys.name, "name")
  end
  unique(a, b, keys.last_name, "name")
  nested(a, b, inside)
  ordered(a, b, keys.name, "order")
  nested(a, b, inside)
  find_gaps(a)
  find_gaps(b)
  ordered(a, b, keys.gap, "place")
  nested(a, b, inside)
  local to, by = {}, {}
  for i, item in ipairs(a.items) do
    if item.pair then to[i], by[i] = item.pair.at, item.by end
  end
  local places = {}
  for _, item in ipairs(b.items) do
    if item.source then places[match.place(item.f)] = item.source end
  end
  return to, by, places
end

-- }======================================================

return match
