-- The branches of a source: how often each test went either way.

local instructions = require "cprof.count.instructions"
local order = require "cprof.text.order"
local tests = require "cprof.coverage.tests"

local branches = {}

---@class cprof.Branch
---@field kind string           "if", "elseif", "while", "until", "and", "or",
---    "comparison"
---@field line integer          position of its token
---@field column integer
---@field ways { name: string, count: integer, never: string }[]  two of them
---@field reached boolean       whether it was evaluated at all

-- the tests of a prototype that can be reached and whose kind is known
local function tests_of(p, tell)
  local out, live = {}, instructions.reachable(p.code)
  for i = 1, #p.code do
    local to = live[i] and instructions.is_test(p.code[i]) and
      instructions.target(p.code, i)
    if to and to ~= i + 2 then
      -- i + 1 is the test's jump
      local kind, token, reversed = tell(p.code, i, p.token[i],
        p.token[i + 2])
      out[#out + 1] = { at = i, to = to, kind = kind, token = token,
                        place = p.token[i], reversed = reversed }
    end
  end
  return out
end

-- The earlier tests of a prototype by the target of their jumps: their places,
-- which ascend, and the sums of their jumps up to each.
local Earlier = {}
Earlier.__index = Earlier

function Earlier:add(test, jumped)
  local list = self[test.to] or { places = {}, sums = { [0] = 0 } }
  self[test.to] = list
  local n = #list.places + 1
  list.places[n], list.sums[n] = test.place, list.sums[n - 1] + jumped
end

-- the number of places up to `last`
local function count_to(places, last)
  local low, high = 0, #places
  while low < high do
    local middle = (low + high + 1) // 2
    if places[middle] <= last then low = middle else high = middle - 1 end
  end
  return low
end

-- how often tests with a place between two others jumped to `to`
function Earlier:jumps(to, first, last)
  local list = self[to]
  if not list then return 0 end
  local sums, places = list.sums, list.places
  local high, low = count_to(places, last - 1), count_to(places, first)
  return high > low and sums[high] - sums[low] or 0
end

-- How often a test went each way. An earlier part of the condition that
-- decides it jumps to the target of the whole, and counts as well.
local function decided(p, own, test, earlier, begins)
  local stayed, jumped = own.stayed[test.at], own.jumped[test.at]
  if test.kind == "comparison" then return stayed, jumped end
  local first, last = test.token, math.huge
  if begins[test.token] then first, last = begins[test.token], test.token end
  local behind = test.at + 2
  local next_one = instructions.destination(p.code, behind)
  jumped = jumped + earlier:jumps(test.to, first, last)
  for _, to in ipairs { behind, next_one ~= behind and next_one or nil } do
    if to ~= test.to then
      stayed = stayed + earlier:jumps(to, first, last)
    end
  end
  return stayed, jumped
end

---@param map cprof.TokenMap
---@param counted table<cprof.MappedPrototype, cprof.Sums>
---@return cprof.Branch[]
function branches.of(map, counted)
  local out, tell = {}, tests.teller(map.tokens)
  local begins = tests.begins(map.tokens)
  for _, p in ipairs(map.prototypes) do
    local earlier = setmetatable({}, Earlier)
    for _, test in ipairs(tests_of(p, tell)) do
      local kind = tests.kinds[test.kind]
      local stayed, jumped = decided(p, counted[p], test, earlier, begins)
      earlier:add(test, counted[p].jumped[test.at])
      if test.reversed then stayed, jumped = jumped, stayed end
      out[#out + 1] = { kind = test.kind, order = #out,
        line = map.tokens.line[test.token],
        column = map.tokens.column[test.token],
        reached = jumped + stayed > 0, ways = {
          { name = kind.stayed, count = stayed, never = kind.never.stayed },
          { name = kind.jumped, count = jumped, never = kind.never.jumped },
        } }
    end
  end
  table.sort(out, order("line", "column", "order"))
  for _, branch in ipairs(out) do branch.order = nil end
  return out
end

return branches
