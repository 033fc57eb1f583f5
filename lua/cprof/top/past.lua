-- The loads that top keeps, with their counters. Those of the last seconds are
-- close together; others are farther apart the older they are. So memory is
-- bounded, however long top runs.

local fields = require "cprof.profile.meta"

local past = {}

---@class cprof.TopPast
---@field points cprof.TopPoint[]  oldest first; the last is the newest
local Past = {}
Past.__index = Past

-- how many loads are kept: at most, and at least
local most_points <const>, least_points <const> = 200, 6

-- bytes that all loads may take; of these, a node takes 80, what it allocated
-- 40, and a figure of a line 16
local most_bytes <const> = 64 << 20

---@return cprof.TopPast
function past.new() return setmetatable({ points = {} }, Past) end

-- how many loads such as this one are kept
local function room(profile)
  local bytes = #profile.nodes * (profile.meta.memory and 120 or 80) +
    #profile.counted * 16
  return math.max(least_points, math.min(most_points,
    most_bytes // math.max(bytes, 1)))
end

-- the counters of a profile, of which `past.profile` makes a profile again
local function counters(profile)
  local meta = {}
  for _, key in ipairs(fields.all "grows") do meta[key] = profile.meta[key] end
  return { nodes = profile.nodes, counted = profile.counted, meta = meta,
    samples = profile.samples, time_samples = profile.time_samples,
    wait_samples = profile.wait_samples }
end

-- a copy of a table that has the fields of another one where it has none
local function over(t, other)
  local out = {}
  for key, value in pairs(t) do out[key] = value end
  return setmetatable(out, { __index = other })
end

---The profile as it was at a load, with the functions of a later one.
---@param point cprof.TopPoint
---@param later cprof.Profile
---@return cprof.Profile
function past.profile(point, later)
  if point.profile == later then return later end
  local out = over(point.profile, later)
  out.meta = over(out.meta, later.meta)
  return out
end

-- the index of the first load at a time or later; nil: there is none
local function index_from(points, at)
  for i = #points, 1, -1 do
    if points[i].at < at then return points[i + 1] and i + 1 end
  end
  return points[1] and 1
end

-- removes some of the loads before the one at `index`, until `left` are left
local function thin(points, index, left)
  local now = points[#points].at
  while index - 1 > left do
    local found, least = 2, math.huge
    for i = 2, index - 1 do
      local gap = (points[i + 1].at - points[i - 1].at) /
        math.max(now - points[i].at, 1e-9)
      if gap < least then found, least = i, gap end
    end
    table.remove(points, found)
    index = index - 1
  end
end

---Adds a load. Half of all that are kept are of the last seconds.
---@param point cprof.TopPoint
---@param seconds number
function Past:add(point, seconds)
  local points, half = self.points, room(point.profile) // 2
  local last = points[#points]
  if last then
    last.profile, last.self = counters(last.profile), nil
    local before = points[#points - 1]
    if before and last.at - before.at < seconds / (half - 1) * 0.99 then
      points[#points] = nil
    end
  end
  points[#points + 1] = point
  thin(points, index_from(points, point.at - seconds) or 1, half)
end

---@return cprof.TopPoint?
function Past:now() return self.points[#self.points] end

-- the loads around a time: the last before it, and the first then or later;
-- where there is only one of them, it is both
local function around(points, at)
  local i = index_from(points, at)
  return points[i and math.max(i - 1, 1) or #points], points[i or #points]
end

---The last load at a time or before it; without one, the first.
---@param at number
---@return cprof.TopPoint?
function Past:before(at)
  local before, after = around(self.points, at)
  return after and after.at <= at and after or before
end

---The loads nearest to two times; nil: there is only one load.
---@param from number
---@param to number
---@return cprof.TopPoint? first, cprof.TopPoint? last
function Past:between(from, to)
  local points, nearest = self.points, {}
  for i, point in ipairs(points) do
    for k, at in ipairs { from, to } do
      local best = nearest[k]
      if not best or math.abs(point.at - at) <
         math.abs(points[best].at - at) then nearest[k] = i end
    end
  end
  local first, last = nearest[1], nearest[2]
  if first == last then
    first = math.max(first - 1, 1)
    last = math.max(last, first + 1)
  end
  return points[last] and points[first], points[last]
end

-- The value of a figure at a time between two loads, interpolated. The figure
-- only grows.
local function at_time(self, at, figure)
  local before, after = around(self.points, at)
  local from, to = figure(before), figure(after)
  if after.at <= before.at then return from end
  return from + (to - from) * (at - before.at) / (after.at - before.at)
end

---How much a figure has grown, per second, in each of some equal parts of the
---time up to now; 0: nothing is known of that time.
---@param count integer
---@param seconds number  of a part
---@param figure fun(point: cprof.TopPoint): number
---@return number[]  oldest first
function Past:growth(count, seconds, figure)
  local out, first, now = {}, self.points[1].at, self:now().at
  local before
  for i = 0, count do
    local at = now - (count - i) * seconds
    -- the part in which top began to look is cut short
    local known = at_time(self, math.max(at, first), figure)
    if before then
      local lasted = math.min(at - first, seconds)
      out[i] = lasted > 0 and math.max(known - before, 0) / lasted or 0
    end
    before = known
  end
  return out
end

return past
