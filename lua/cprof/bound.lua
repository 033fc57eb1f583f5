-- How sure figures are: overhead is known to within a quarter. Where more
-- than four times of what is left was taken out, only a bound is known. So
-- it is with the depth of recursion that folded later.

local format = require "cprof.format"

local bound = {}

---What is said of a time: itself, or what it is at most.
---@param ns integer
---@param raw integer  the same with overhead
---@param most? integer  a time that has this one in it
---@return integer ns, boolean bounded
function bound.of(ns, raw, most)
  local cost = raw - ns
  if ns * 4 >= cost then return ns, false end
  local at_most = ns + (cost + 3) // 4
  if most and at_most > most then at_most = math.max(most, ns) end
  return at_most, true
end

---What no time of a profile is above: that of the program. nil: that is not
---known, since overhead was estimated at more than was measured.
---@param profile cprof.Profile
---@return integer?
function bound.most(profile)
  local all = profile.program_ns
  return (profile.meta.clamped_ns or 0) <= all and all or nil
end

---Gives a row what is said of its times.
---@param row { self_ns: integer, self_raw_ns: integer, total_ns: integer,
---  total_raw_ns: integer }
---@param most? integer  see bound.of
function bound.set(row, most)
  row.total_most, row.total_bounded = bound.of(row.total_ns,
    row.total_raw_ns, most)
  -- the total of an inner call is that of the outer one
  if row.total_raw_ns >= row.self_raw_ns then most = row.total_most end
  row.self_most, row.self_bounded = bound.of(row.self_ns, row.self_raw_ns,
    most)
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
