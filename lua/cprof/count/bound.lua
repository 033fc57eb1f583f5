-- How sure figures are: overhead is known to within a quarter. Where more
-- than four times of what is left was taken out, the estimate is rough, and
-- only a bound is known. Estimates rank and add up; bounds are printed. The
-- depth of a recursion that folded later has a bound, too.

local format = require "cprof.text.format"

local bound = {}

---What a time is at most; its estimate, where that is known well.
---@param ns integer   the estimate
---@param raw integer  that time with overhead
---@param most? integer  a time that has this one in it
---@return integer
function bound.of(ns, raw, most)
  local cost = raw - ns
  if ns * 4 >= cost then return ns end
  local at_most = ns + (cost + 3) // 4
  if most and at_most > most then at_most = math.max(most, ns) end
  return at_most
end

---What no time of a profile is above: that of the program. nil: that is not
---known, since overhead was estimated at more than was measured.
---@param profile cprof.Profile
---@return integer?
function bound.most(profile)
  local all = profile.program_ns
  return (profile.meta.clamped_ns or 0) <= all and all or nil
end

---Gives a row what its times are at most.
---@generic T: { self_ns: integer, self_raw_ns: integer, total_ns: integer,
---  total_raw_ns: integer }
---@param row T
---@param most? integer  see bound.of
---@return T
function bound.set(row, most)
  row.total_most_ns = bound.of(row.total_ns, row.total_raw_ns, most)
  -- the total of an inner call is that of the outer one
  if row.total_raw_ns >= row.self_raw_ns then most = row.total_most_ns end
  row.self_most_ns = bound.of(row.self_ns, row.self_raw_ns, most)
  return row
end

---What is said of the depth of a recursion: 12, ≥52,973.
---@param depth integer
---@param meta cprof.Meta
---@return string
function bound.depth(depth, meta)
  local least = meta.truncated > 0 or meta.folded and meta.fold_at > 0
  return (least and "≥" or "") .. format.count(depth)
end

return bound
