-- The time of nodes by line. Lines are counted by function: its nodes, and
-- those of its zones, share the time of each line by their own times, so
-- that both nodes and lines keep their sums.

local lines = require "cprof.count.lines"

local spread = {}

-- by function: its lines, what is left of their times, and of all of them
local function lines_of(p)
  local of = {}
  for func, line, _, ns in lines.each(p.counted) do
    if ns > 0 then
      local own = of[func]
      if not own then
        own = { line = {}, left = {}, all = 0 }
        of[func] = own
      end
      table.insert(own.line, line)
      table.insert(own.left, ns)
      own.all = own.all + ns
    end
  end
  return of
end

-- A running sum is rounded, so that shares add up to 'ns'; none exceeds
-- what is left of its line.
local function share(own, ns)
  local out, upto, given = {}, 0, 0
  local part = ns / own.all
  for i, left in ipairs(own.left) do
    upto = upto + left
    local n = ns >= own.all and left or
      math.min(math.floor(upto * part + 0.5) - given, left, ns - given)
    out[i], given = n, given + n
    own.left[i] = left - n
  end
  own.all = own.all - given
  return out, ns - given
end

---How many of `n` samples go with each of several times: in proportion, and
---adding up to `n`. Counters of instructions have times only.
---@param n integer
---@param times integer[]
---@return integer[]
function spread.samples(n, times)
  local all, upto, given, out = 0, 0, 0, {}
  for _, ns in ipairs(times) do all = all + ns end
  for i, ns in ipairs(times) do
    upto = upto + ns
    out[i] = (all > 0 and math.floor(n * (upto / all) + 0.5) or n) - given
    given = given + out[i]
  end
  return out
end

---Is what is left of samples' times, when their lines have theirs, no more
---than what was rounded?
---@param left integer
---@param all integer
---@return boolean
function spread.rounded(left, all)
  return left > 0 and left < all and (left <= 16 or left * 10000 <= all)
end

---A function that gives the lines of a node of `func`, or of zones that
---`func` has opened, with their shares of its own time `ns`: lines, times,
---and what is on no line. nil: the lines of `func` are not known.
---@param p cprof.Profile
---@return fun(func: integer, ns: integer): integer[]?, integer[]?, integer?
function spread.new(p)
  local of = lines_of(p)
  return function(func, ns)
    local own = of[func]
    if not own then return nil end
    if ns == 0 or own.all == 0 then return own.line, {}, ns end
    return own.line, share(own, ns)
  end
end

return spread
