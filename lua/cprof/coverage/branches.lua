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
---@field reached boolean       was it evaluated at all?

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

-- is the earlier test `other` a part of the condition of `test`?
local function is_part(map, other, test)
  if test.kind == "comparison" then return false
  elseif test.kind == "and" or test.kind == "or" then
    return other.place < test.token and
      tests.left_of(map.tokens, other.place, test.token)
  end
  return other.place > test.token
end

-- How often a test went each way. An earlier part of the condition that
-- decides it jumps to the target of the whole, and counts as well.
local function decided(map, p, own, list, n)
  local test = list[n]
  local next_one = instructions.destination(p.code, test.at + 2)
  local stayed, jumped = own.stayed[test.at], own.jumped[test.at]
  for k = n - 1, 1, -1 do
    local other = list[k]
    local jumps = other.to == test.to
    local stays = not jumps and
      (other.to == test.at + 2 or other.to == next_one)
    if (stays or jumps) and is_part(map, other, test) then
      if stays then stayed = stayed + own.jumped[other.at]
      else jumped = jumped + own.jumped[other.at]
      end
    end
  end
  return stayed, jumped
end

---@param map cprof.TokenMap
---@param counted table<cprof.MappedPrototype, cprof.Sums>
---@return cprof.Branch[]
function branches.of(map, counted)
  local out, tell = {}, tests.teller(map.tokens)
  for _, p in ipairs(map.prototypes) do
    local list = tests_of(p, tell)
    for n, test in ipairs(list) do
      local kind = tests.kinds[test.kind]
      local stayed, jumped = decided(map, p, counted[p], list, n)
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
