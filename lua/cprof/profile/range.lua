-- A profile with only what was recorded in a range of time, by the time axis.

local core = require "cprof.core"
local format = require "cprof.text.format"
local lines = require "cprof.count.lines"
local methods = require "cprof.sandbox.methods"
local profile = require "cprof.profile"
local sampled = require "cprof.count.sampled"
local tasks = require "cprof.count.tasks"

local range = {}

local second <const> = 1e9

-- what each range is a part of: see range.origin
local origins = setmetatable({}, { __mode = "k" })

-- fields of meta that are not known of a part of a recording
local unknown <const> = { "events", "timer", "signals", "interrupted",
  "memory_interval", "memory_samples", "live_interval", "peak_bytes",
  "garbage_bytes", "live",
  "since_last_event_ns", "since_last_event_waiting_ns", "axis_begins_ns" }

---Why a profile has no time axis; nil: it has one.
---@param p cprof.Profile
---@return string?
function range.missing(p)
  if profile.axis(p) then return nil end
  local meta = p.meta
  if meta.range then return "a range of time cannot be divided further"
  elseif meta.axis_lost then
    return "no time axis: there were too many call-tree nodes, or there was " ..
      "too little memory"
  elseif meta.mode == "count" or meta.mode == "trace" then
    return ('no time axis: mode "%s" does not record one; modes "call", ' ..
      '"line" and "sample" do'):format(meta.mode)
  elseif meta.runs then
    return "no time axis: a sum of recordings has none"
  elseif meta.outside_dropped then
    return "no time axis: samples that are read from outside a program are " ..
      "added up at once, without their times; cprof run --sample keeps " ..
      "them, and so does cprof attach if the program was started with " ..
      "lua5.4 -l cprof.auto"
  end
  return "no time axis was recorded"
end

---The first and the last moment of the time axis, in ns since the recording
---began.
---@param p cprof.Profile
---@return integer from
---@return integer to
function range.bounds(p)
  return core.axis_begins(profile.axis(p)), p.meta.wall_ns
end

---A time as users write it, exact to a microsecond: 1.25s.
---@param ns number
---@return string
function range.time(ns)
  local s = ("%.6f"):format(ns / second):gsub("0+$", ""):gsub("%.$", "")
  return s .. "s"
end

-- how many decimals show a time in ns, written in seconds, with three digits
local function decimals(ns)
  return math.max(0, math.min(2 - math.log(ns / second, 10) // 1 | 0, 6))
end

---The ends of a range for people to read, with equally many decimals: as many
---as the ends have, but at most milliseconds or, for a range so short that this
---is too coarse, three digits of its length. With `whole`, also the length of
---the recording, in the same way.
---@param from number    ns
---@param to number      ns
---@param whole? number  ns
---@return string from
---@return string to
---@return string whole  "" without one
function range.ends(from, to, whole)
  local n = 0
  for _, ns in ipairs { from, to } do
    n = math.max(n, #(range.time(ns):match "%.(%d+)" or ""))
  end
  n = math.min(n, math.max(3, decimals(math.max(to - from, 1))))
  n = whole and math.max(n, math.min(3, decimals(math.max(whole, 1)))) or n
  local function told(ns) return (("%%.%dfs"):format(n)):format(ns / second) end
  return told(from), told(to), whole and told(whole) or ""
end

-- How exact a range is, in exact modes.
local function resolution(p)
  local _, _, _, slice = core.axis_scale(profile.axis(p))
  return slice > 0 and (", resolution %s"):format(format.time(slice)) or ""
end

local function meta_of(p, from, to)
  local out = {}
  for key, value in pairs(p.meta) do out[key] = value end
  for _, key in ipairs(unknown) do out[key] = nil end
  for _, key in ipairs { "clock_backwards", "clock_backwards_ns",
    "clock_jumps", "clock_jumps_ns" } do
    out[key] = 0
  end
  out.memory, out.distribution, out.tasks = false, false, false
  out.wall_ns = to - from
  if out.mode ~= "sample" then out.clamped_ns = 0 end
  out.range_from_ns = from
  out.range = ("%s to %s of %s"):format(range.ends(from, to,
    p.meta.wall_ns)) .. resolution(p)
  return out
end

---The message about a range that ends before it begins, in ns.
---@param from number
---@param to number
---@return string
function range.backwards(from, to)
  return ("the range must end after it begins, got %s to %s"):format(
    range.time(from), range.time(to))
end

---The message about a range that begins after the recording's end, in ns.
---@param from number
---@param last number  when the recording ended
---@return string
function range.beyond(from, last)
  return ("%s is not within the recording, which took %s"):format(
    range.time(from), format.time(last))
end

---A range as two times in ns; nil and a message: there is no such range.
---@param p cprof.Profile
---@param from? integer  ns; nil: from the beginning
---@param to? integer    ns; nil: until the end
---@return integer? from
---@return integer|string to
function range.limits(p, from, to)
  local why = range.missing(p)
  if why then return nil, why end
  local first, last = range.bounds(p)
  if (from or first) < first and first > 0 then
    return nil, ("the time axis begins at %s: earlier samples were dropped")
      :format(range.time(first))
  end
  from, to = from or first, math.min(to or last, last)
  if from >= last then
    return nil, range.beyond(from, last)
  elseif from >= to then
    return nil, range.backwards(from, to)
  end
  return from, to
end

-- { value -> its place }
local function inverse(list)
  local out = {}
  for i, value in ipairs(list) do out[value] = i end
  return out
end

-- Adds the streaks of samples to the tasks of `q`, a range of `p`; `map` has
-- the function of `p` for each of its functions.
local function add_streaks(p, q, map, from, to)
  local numbers = inverse(map)
  local _, bodies = profile.sampled(p)
  tasks.streaks(q.tasks, profile.axis(p), p.nodes, bodies, from, to,
    tasks.nodes(q.nodes, p.nodes, numbers, {}), numbers)
end

-- The profile of a range that `limits` has returned; `last`: it ends with the
-- recording, and is to have a time axis of its own.
local function divided(p, from, to, last)
  local each = {}
  for i, f in ipairs(p.functions) do each[i] = f.counters or false end
  local nodes, map, counters, paused, preempted, overhead, waiting, axis,
    counted = core.range(profile.axis(p), p.nodes, from, to, p.meta.wall_ns,
      each, last, p.counted)
  local meta = meta_of(p, from, to)
  meta.paused_ns, meta.preempted_ns, meta.overhead_ns = paused, preempted,
    overhead
  meta.waiting_ns = meta.waiting_ns and waiting
  if p.samples and not axis then
    sampled.weigh(meta, profile.axis(p), from,
      to < p.meta.wall_ns and to or math.huge)
  end
  local q = profile.new(function(f) return f.name, f.title end, nodes,
    profile.records(p, map, counters), meta, lines.of(counted, inverse(map)),
    profile.sources(p), axis)
  if q.tasks and not axis then add_streaks(p, q, map, from, to) end
  origins[q] = { of = p, from = from, to = to, functions = map }
  return q
end

---@class cprof.Origin
---@field of cprof.Profile    the recording, which has a time axis
---@field from integer        ns since it began
---@field to integer
---@field functions table<integer, integer>  function of the range -> its own

---What a range is a part of; nil: it is not a range.
---@param p cprof.Profile
---@return cprof.Origin?
function range.origin(p) return origins[p] end

---The profile of a range; nil and a message: there is no such range.
---@param p cprof.Profile
---@param from? integer  ns; nil: from the beginning
---@param to? integer    ns; nil: until the end
---@return cprof.Profile?, string?
function range.profile(p, from, to)
  local first, until_ns = range.limits(p, from, to)
  if not first then return nil, until_ns --[[@as string]] end
  return divided(p, first, until_ns --[[@as integer]])
end

---The profile of the last part of a recording, with a time axis of its own.
---nil and a message: there is no time axis, or nothing after `from`.
---@param p cprof.Profile
---@param from integer  ns; not before the time axis begins
---@return cprof.Profile?, string?
function range.last(p, from)
  local first, last = range.limits(p, from)
  if not first then return nil, last --[[@as string]] end
  local q = divided(p, first, last --[[@as integer]], true)
  q.meta.started_at = p.meta.started_at + (first // second | 0)
  return q
end

-- an argument in seconds as ns
local function nanoseconds(name, value)
  if value == nil then return nil end
  if type(value) ~= "number" or value ~= value or value < 0 then
    error(("range: '%s' must be seconds since the recording began, got %s")
      :format(name, type(value) == "number" and value or type(value)), 3)
  end
  return (math.min(value, 1e9) * second + 0.5) // 1 | 0
end

---The profile of a range of time, in seconds since the recording began. nil and
---a message: there is no such range.
---@param from? number  nil: from the beginning
---@param to? number    nil: until the end
---@return cprof.Profile?, string?
function profile.methods:range(from, to)
  local _ <close> = methods.shield()
  from, to = nanoseconds("from", from), nanoseconds("to", to)
  if from and to and from >= to then
    error(("range: 'to' must be after 'from', got %s to %s"):format(
      range.time(from), range.time(to)), 2)
  end
  return range.profile(self, from, to)
end

return range
