-- How sure figures are: overhead is known to within a quarter. Where more
-- than four times of what is left was taken out, only a bound is known. So
-- it is with the depth of recursion that folded later.

local format = require "cprof.format"

local bound = {}

---What is said of a time: itself, or what it is at most.
---@param ns integer
---@param raw integer  the same with overhead
---@return integer ns, boolean bounded
function bound.of(ns, raw)
  local cost = raw - ns
  if ns * 4 >= cost then return ns, false end
  return ns + (cost + 3) // 4, true
end

---Gives a row what is said of its times.
---@param row { self_ns: integer, self_raw_ns: integer, total_ns: integer,
---  total_raw_ns: integer }
function bound.set(row)
  row.self_most, row.self_bounded = bound.of(row.self_ns, row.self_raw_ns)
  row.total_most, row.total_bounded = bound.of(row.total_ns,
    row.total_raw_ns)
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
