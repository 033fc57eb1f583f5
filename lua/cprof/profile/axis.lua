-- The samples of a recording, one after the other, by its time axis.

local core = require "cprof.core"
local instructions = require "cprof.count.instructions"
local sampled = require "cprof.count.sampled"

local axes = {}

---The profiler's share of the time of a recording.
---@param nodes userdata
---@return number
function axes.overhead(nodes)
  local _, _, _, _, _, total = core.node(nodes, 1)
  local _, _, _, _, own = core.node(nodes, (core.overhead(nodes)))
  return total > 0 and own / total or 0
end

---The function whose instructions a place with this node is about: that of the
---node or, if it is a zone, the one that opened it.
---@param p cprof.Profile
---@param node integer
---@return integer
function axes.owner(p, node)
  local parent, func = core.node(p.nodes, node)
  while p.functions[func].kind == "zone" do
    parent, func = core.node(p.nodes, parent)
  end
  return func
end

---Returns a function for the lines that a sample of a place is about, by the
---function of its node and the place's instruction: { line -> part of `unit` };
---nil: they are not known.
---@param p cprof.Profile
---@param unit integer
---@return fun(func: integer, at: integer): table<integer, integer>?
function axes.lines(p, unit)
  local read, direct = {}, p.meta.internals == "direct"
  return function(func, at)
    local f = p.functions[func]
    if at == 0 or not f.counters then return nil end
    read[func] = read[func] or instructions.read(f.counters,
      p.meta.lua_version)
    return sampled.parts(read[func], direct, (at - 1) // 2, at % 2 == 1, unit)
  end
end

---Does an axis have slices, each of many calls? If not, it has each sample or,
---of an exact recording with option `keep_last`, each event.
---@param axis userdata
---@return boolean
function axes.sliced(axis)
  return select(4, core.axis_scale(axis)) > 0
end

-- Returns a function for the numbers of a column, one after the other; nil at
-- the end.
local function numbers(bytes)
  local at, byte = 1, string.byte
  return function()
    local b = byte(bytes, at)
    if not b then return nil end
    local n, shift = b & 0x7F, 7
    at = at + 1
    while b >= 0x80 do
      b = byte(bytes, at)
      n, shift, at = n | (b & 0x7F) << shift, shift + 7, at + 1
    end
    return n
  end
end

---Returns a function for the samples of a time axis, in the order of time: when
---the sample was taken, the ns before that it stands for, its place (0: pauses,
---or, if `waits`, others had the processor), whether the thread waited, and as
---how many samples it counts; of an exact recording, how many calls began with
---it. Figures are in ns and have fractions.
---@param axis userdata
---@return fun(): number?, number, integer, boolean, integer
function axes.each(axis)
  local step, mean, unit = core.axis_scale(axis)
  local passed = numbers((core.axis_column(axis, "passed")))
  local place = numbers((core.axis_column(axis, "place")))
  local above = numbers((core.axis_column(axis, "above")))
  local samples = numbers((core.axis_column(axis, "samples")))
  local at = 0
  return function()
    local more = passed()
    if not more then return nil, 0, 0, false, 0 end
    at = at + more
    local where, n = place(), above()
    n = n & 1 == 0 and n >> 1 or -(n + 1 >> 1)
    return at * step, mean + n * unit, where >> 1, where & 1 == 1, samples()
  end
end

-- by how many of them samples may end late, where they came close together
local most_late <const> = 5

-- by which factors waits, and other samples, may become longer
local longest_wait <const>, longest <const> = 1.25, 2

-- Samples that came close together, all late, keep this part of their length.
local shortest <const> = 0.1

-- Divides `room` ns among samples that were taken at its end: `n` of work,
-- waits, and what was not recorded, each with the sum of its ns. Returns
-- factors for the ns of the three.
local function divided(room, work, n, waits, lost)
  local gone = math.min(lost, math.max(room, 0))
  local without = lost > 0 and gone / lost or 1
  room = room - gone
  if waits > 0 then
    local f = math.max((room - work) / waits, 0)
    return 1, math.min(f, longest_wait), without
  elseif work <= 0 then
    return 1, 1, without
  end
  local late = most_late * work / n
  local ns = math.min(math.max(room, work), room + late, longest * work)
  return math.max(ns / work, shortest), 1, without
end

---Returns a function for the samples of a time axis of mode "sample", each with
---the time in which it is shown: from, to, and what `axes.each` has, without
---the end. These times do not overlap. A sample tells how much time it stands
---for, but not exactly when that was; the sample of a wait may come long after
---the wait has ended. So what several samples that were taken at one time stand
---for is put before that time, one after the other. If this is more or less
---than the time since the samples before, waits become shorter or longer, as
---their length is known least exactly; without waits, samples begin later or
---become longer. A wait becomes longer by a quarter at most, other samples by
---what they stand for. So there may be gaps.
---@param axis userdata
---@return fun(): number?, number, number, integer, boolean, integer
function axes.spans(axis)
  local next_one = axes.each(axis)
  local list, i, size, at = {}, 0, 0, core.axis_begins(axis)
  local ends, ns, place, waits, count = next_one()
  local work, waited, lost
  local function gather()
    local to, works, waiting, gone, n = ends, 0, 0, 0, 0
    i, size = 0, 0
    repeat
      ns = math.max(ns, 0)
      if place == 0 then gone = gone + ns
      elseif waits then waiting = waiting + ns
      else works, n = works + ns, n + 1 end
      size = size + 1
      list[size] = { ns, place, waits, count }
      ends, ns, place, waits, count = next_one()
    until ends ~= to
    work, waited, lost = divided(to - at, works, n, waiting, gone)
    at = math.max(at, to - work * works - waited * waiting - lost * gone)
  end
  return function()
    if i == size then
      if not ends then return nil, 0, 0, 0, false, 0 end
      gather()
    end
    i = i + 1
    local s, from = list[i], at
    at = from + s[1] * (s[2] == 0 and lost or s[3] and waited or work)
    return from, at, s[1], s[2], s[3], s[4]
  end
end

return axes
