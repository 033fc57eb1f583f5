-- The self time of nodes by line. Lines are counted by function, not by node:
-- the nodes of a function, and of its zones, share the time of each line in
-- proportion to their self times. Both nodes and lines keep their sums.

local lines = require "cprof.count.lines"

local spread = {}

-- by function: its lines, what is left of each, and of all together
local function lines_of(p)
  local of, counted, self = {}, p.counted, lines.place "self"
  for at, func, line in lines.each(counted) do
    local n = counted[at + self]
    if n > 0 then
      local own = of[func] or { line = {}, left = {}, all = 0 }
      of[func] = own
      table.insert(own.line, line)
      table.insert(own.left, n)
      own.all = own.all + n
    end
  end
  return of
end

-- Divides `ns` among the lines of a function. Returns the share of each line,
-- and what no line gets. The running sum is rounded, not each share, so shares
-- add up to `ns`. No share exceeds what is left of its line.
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

---Divides `n` samples in proportion to times; the results add up to `n`. The
---samples of a line are estimated so, since only its time is recorded.
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

---Is the time that is on no line small enough to be a rounding error? In
---sampled profiles, the lines of a function should have all its time.
---@param left integer  the figure that is on no line
---@param all integer   the whole figure of the node or row
---@return boolean
function spread.rounded(left, all)
  return left > 0 and left < all and (left <= 16 or left * 10000 <= all)
end

---Returns a function that divides the self time `ns` of a node by line: lines,
---their shares, and the time that is on no line; nil: the lines are not known.
---`func` is the node's function or, for a zone, the function that opened it.
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
