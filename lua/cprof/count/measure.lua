-- What the figures of a profile measure, and how figures and shares are
-- written. A time of which only an upper bound is known is written as that:
-- `<12ms`. Its share is that of the estimate, so that shares add up.

local format = require "cprof.text.format"
local measured = require "cprof.count.measured"
local sampled = require "cprof.count.sampled"

local measure = {}

---@class cprof.Measure
---@field unit "ns"|"instructions"|"count"|"bytes"
---@field samples? integer  from which shares are estimated; nil: exact shares
---@field whole integer     100 %
local Measure = {}
Measure.__index = Measure

-- A sample of what is in use stands for the interval, or for a larger block.
local function samples_of(p)
  local meta, row = p.meta, measured.of(p.meta)
  if not row and p.wait_samples then
    return sampled.both(p.time_samples, p.wait_samples,
      (meta.waiting_ns or 0) / math.max(p.program_ns, 1))
  end
  if not row or row.unit == "ns" then return p.time_samples end
  if row.name == "bytes" then return p.samples end
  local known = row.unit ~= "bytes" or (meta.live_interval or 1) == 1
  return not known and math.max(p.program_ns // meta.live_interval, 1) or nil
end

---@param unit string
---@param whole integer
---@param samples? integer
---@return cprof.Measure
function measure.new(unit, whole, samples)
  return setmetatable({ unit = unit, whole = whole, samples = samples },
    Measure)
end

---The recorded time with overhead, but without pauses and without the time
---when other programs had the processor.
---@param meta cprof.Meta
---@return integer ns
function measure.recorded(meta)
  return meta.wall_ns - meta.paused_ns - meta.preempted_ns
end

---The measure of a profile.
---@param p cprof.Profile
---@return cprof.Measure
function measure.of(p)
  local row = measured.of(p.meta)
  local unit = p.meta.mode == "count" and "instructions" or "ns"
  return measure.new(row and row.unit or unit, p.program_ns, samples_of(p))
end

local writers = { ns = format.time, bytes = format.bytes }

---A figure as text, and whether that is a bound.
---@param n integer     the estimate
---@param most? integer its upper bound; nil: the estimate is good
---@return string text, boolean bounded
function Measure:amount(n, most)
  local write = writers[self.unit] or format.count
  if self.unit ~= "ns" or not most or most <= n then return write(n), false end
  return "<" .. write(most), true
end

---The margin of error of a share, at 95 %; nil: the share is exact.
---@param n integer
---@param whole? integer  100 %
---@return number?  0 to 1
function Measure:off(n, whole)
  return self.samples and
    sampled.interval(n / math.max(whole or self.whole, 1), self.samples)
end

---A share in percent, with its margin of error if it comes from samples; "-"
---if there are too few of them.
---@param n integer  the estimate
---@return string
function Measure:share(n)
  if self.samples and self.samples < sampled.few then return "-" end
  local off, text = self:off(n), format.percent(n, self.whole)
  return off and ("%s ±%.1f"):format(text, 100 * off) or text
end

return measure
