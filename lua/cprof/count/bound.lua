-- How certain figures are. Overhead is known to within a quarter. If a quarter
-- of a time's overhead is more than what is left of the time without it, the
-- estimate is rough, and only an upper bound is known. Sorting and sums use
-- estimates; reports print bounds. If recursion was folded after a while, its
-- depth has a lower bound.

local format = require "cprof.text.format"

local bound = {}

---The upper bound of a time, or its estimate if that is good enough.
---@param ns integer   the estimate
---@param raw integer  that time with overhead
---@param most? integer  a time that includes this one
---@return integer
function bound.of(ns, raw, most)
  local cost = raw - ns
  if ns * 4 >= cost then return ns end
  local at_most = ns + (cost + 3) // 4
  if most and at_most > most then at_most = math.max(most, ns) end
  return at_most
end

---The upper bound of all times of a profile: the time of the program itself.
---nil: not known, since the overhead estimate exceeds the measured time.
---@param profile cprof.Profile
---@return integer?
function bound.most(profile)
  local all, meta = profile.measure.whole, profile.meta
  if (meta.clamped_ns or 0) > all then return nil end
  return bound.of(all, all + (meta.overhead_ns or 0))
end

---Sets the upper bounds of a row's figures.
---@generic T: { self: integer, self_raw: integer, total: integer,
---  total_raw: integer }
---@param row T
---@param most? integer  see bound.of
---@return T
function bound.set(row, most)
  row.total_most = bound.of(row.total, row.total_raw, most)
  -- the total of a recursive call counts in the outer call
  if row.total_raw >= row.self_raw then most = row.total_most end
  row.self_most = bound.of(row.self, row.self_raw, most)
  return row
end

---The depth of a recursion as text: 12, ≥52,973.
---@param depth integer
---@param meta cprof.Meta
---@return string
function bound.depth(depth, meta)
  local least = meta.truncated > 0 or meta.folded and meta.fold_at > 0
  return (least and "≥" or "") .. format.count(depth)
end

return bound
