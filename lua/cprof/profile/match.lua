-- Finds out which function of one profile is which of another, even if the
-- program was edited in between: lines were added above a function, it was
-- moved, renamed or changed, or its file was moved. A line number alone never
-- decides.

local lists = require "cprof.text.lists"
local name = require "cprof.source.name"

local match = {}

---What identifies a function.
---@class cprof.Identity
---@field kind string
---@field name string
---@field source string
---@field place string?
---@field line integer
---@field last_line integer
---@field fingerprint string  of its code; "" where that says nothing

---How a pair of functions was found: by name and source; by equal code; by
---order among those of one name; by its place between others that were found.
---@alias cprof.MatchedBy "name"|"code"|"order"|"place"

-- a pattern: how a sum of profiles names an older text of a source
local older <const> = " %(older text ?%d*%)$"

---The place of a function. All texts of its source have the same place.
---@param f { source: string, place: string? }
---@return string
function match.place(f)
  return ((f.place or name.place(f.source)):gsub(older, ""))
end

---The name of a source that a sum of profiles has for an older text. It is no
---file's.
---@param place string
---@param n integer  number of the older text, from 1
---@return string
function match.older(place, n)
  return ("=%s (older text%s)"):format(place, n > 1 and " " .. n or "")
end

---A function's name, without a line or an address that may be in it.
---`named`: does it have a name of its own, without any of these?
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
  -- this marks one of several functions with a name on one line
  plain = f.name:gsub(" <fn:[%d:]+>$", "")
  plain, places = plain:gsub("<fn:[%d:]+>", "<fn>")
  return plain, places == 0
end


-- {======================================================
-- Items: the functions of both sides
-- =======================================================

---@class cprof.Item
---@field f cprof.Identity
---@field at integer       index in its list
---@field name string      see match.name
---@field named boolean    see match.name
---@field place string?    nil: neither a Lua function nor a main chunk
---@field source string?   like `place`, but equal on both sides for one file
---@field around cprof.Item?  the function that it is defined in
---@field above cprof.Item?  the nearest function above it that has a pair
---@field pair cprof.Item?  its function on the other side
---@field by cprof.MatchedBy?  how the pair was found

-- Orders functions by lines, and a function before those defined in it.
local function by_line(x, y)
  if x.f.line ~= y.f.line then return x.f.line < y.f.line end
  if x.f.last_line ~= y.f.last_line then
    return x.f.last_line > y.f.last_line
  end
  return x.at < y.at
end

-- Is `item`, which does not begin before `outer`, defined in `outer`?
local function holds(outer, item)
  return outer.f.kind == "main" or outer.f.last_line > item.f.line or
    outer.f.last_line == item.f.line and outer.f.line < item.f.line
end

-- Lists of Lua functions by place, in the order of their lines. Sets the
-- function around each.
local function places_of(items)
  local of = {}
  for _, item in ipairs(items) do
    if item.place then
      lists.add(of, item.place, item)
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

-- A side: the items of a list of functions, and the items by place.
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
-- Sources: a file that was moved is paired with itself
-- =======================================================

-- The name of a file, without its folder. As many folders have an init.lua,
-- the folder is part of that name. Code that is not in a file has its place.
local function file_name(place)
  if place:find "^%[string " then return place end
  return place:match "[^/]*/init%.lua$" or place:match "[^/]*$"
end

-- The number of names at their ends that two paths share.
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

-- The one of `others` that has most in common with `place`; nil: none, or
-- several have equally much.
local function closest(place, others, common)
  local best, most = nil, 0
  for _, other in ipairs(others) do
    local n = common(place, other)
    if n > most then best, most = other, n
    elseif n == most then best = nil end
  end
  return best
end

-- The places of a side whose sources the other side does not have.
local function unshared_places(side, other)
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

-- Takes two places for one source if each has most in common with the other.
-- Returns whether there were any such places.
local function join_places(a, b, common)
  local from, to = unshared_places(a, b), unshared_places(b, a)
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

-- How much two paths of one file name have in common.
local function by_path(x, y)
  return file_name(x) == file_name(y) and shared(x, y) or 0
end

-- A function that counts the pairs of functions that two places have.
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
-- Keys: functions of both sides with equal keys may be pairs. A key of nil or
-- false: the function gets no pair in this step.
-- =======================================================

local keys = {}

local function joined(...) return table.concat({ ... }, "\0") end

-- the kind, the source and the name, of functions with a name of their own
function keys.name(item)
  if item.f.kind == "main" then return joined("main", item.source) end
  return item.named and joined(item.f.kind, item.source or "", item.name)
end

-- the last part of the name alone: M.f and module.f may be one function
function keys.last_name(item)
  local last = item.named and item.place and item.name:match "[%w_:]+$"
  return last and joined(item.f.kind, item.source, last)
end

-- the code, whatever the source
function keys.code(item)
  local code = item.f.fingerprint or ""
  return code ~= "" and joined(item.f.kind, code)
end

-- the code and the source
function keys.code_here(item)
  local code = keys.code(item)
  return code and joined(code, item.source)
end

-- A number that both functions of a pair have. `left`: is the item on the
-- first side?
local function number(item, left)
  return left and item.at or item.pair.at
end

-- the name, and the function around it, which must have a pair if there is
-- one; functions without a name of their own have an empty one
function keys.inside(item, left)
  if not item.place then return joined(item.f.kind, item.name) end
  local around = item.around
  if around and not around.pair then return nil end
  return joined(item.f.kind, item.source, item.named and item.name or "",
    around and number(around, left) or "")
end

-- the name and the source, where functions around it may be missing
function keys.anywhere(item)
  return joined(item.f.kind, item.source or "", item.name)
end

-- of functions without a name: the nearest function above that has a pair
function keys.gap(item, left)
  return not item.named and item.above and
    joined(item.f.kind, item.source, number(item.above, left))
end

-- }======================================================


-- {======================================================
-- Steps
-- =======================================================

-- The functions without a pair, grouped by key: a list of pairs of lists, with
-- the functions of either side.
local function unpaired(a, b, key)
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

-- Makes two functions a pair.
local function pair(x, y, by)
  x.pair, y.pair, x.by = y, x, by
end

-- Pairs functions that are the only ones of their sides with a key.
local function pair_unique(a, b, key, by)
  for _, group in ipairs(unpaired(a, b, key)) do
    local xs, ys = group[1], group[2]
    if #xs == 1 and #ys == 1 then pair(xs[1], ys[1], by) end
  end
end

local other_code <const> = 1 << 30 -- a distance greater than that of any lines

-- How far two functions with one key are from each other: in lines, counted
-- from the functions around them if these are a pair, and by their code.
local function distance(x, y)
  local from, to = x.f.line, y.f.line
  if x.around and x.around.pair and x.around.pair == y.around then
    from, to = from - x.around.f.line, to - y.around.f.line
  end
  local code = keys.code(x)
  return math.abs(from - to) +
    (code and code == keys.code(y) and 0 or other_code)
end

-- limits the time that `align` takes
local most_cells <const> = 1000000

-- Pairs all of `xs`, in order, with some of `ys`, which are as many or
-- more, so that the sum of distances is least. Where this would take too long,
-- pairs them with the first ones. Calls `found` for each pair.
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

-- Pairs functions with equal keys, by order and nearest lines. Returns whether
-- there were any.
local function pair_in_order(a, b, key, by)
  local any = false
  for _, group in ipairs(unpaired(a, b, key)) do
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

-- Pairs functions inside those that have a pair, at every depth.
local function pair_nested(a, b, key)
  while pair_in_order(a, b, key, "order") do end
end

-- Sets `above` in all items.
local function set_above(side)
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
---@param some? boolean  `before` may lack functions around those that it has
---@return table<integer, integer> to  index in `before` -> in `after`
---@return table<integer, cprof.MatchedBy> by  index in `before` -> how the
---    pair was found
---@return table<string, string> places  place in `after` -> in `before`
function match.functions(before, after, some)
  local a, b = items_of(before), items_of(after)
  local inside = some and keys.anywhere or keys.inside
  while join_places(a, b, by_path) do end
  pair_unique(a, b, keys.name, "name")
  pair_unique(a, b, keys.code_here, "code")
  pair_unique(a, b, keys.code, "code")
  if join_places(a, b, by_functions(a)) then
    pair_unique(a, b, keys.name, "name")
  end
  pair_unique(a, b, keys.last_name, "name")
  pair_nested(a, b, inside)
  pair_in_order(a, b, keys.name, "order")
  pair_nested(a, b, inside)
  set_above(a)
  set_above(b)
  pair_in_order(a, b, keys.gap, "place")
  pair_nested(a, b, inside)
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
