-- The samples of a thread in Firefox's profiler: by the time axis, each where
-- it was taken; or, without one, those of call-tree nodes one after the other.
-- A sample lasts from its time to that of the next one.

local axes = require "cprof.profile.axis"
local core = require "cprof.core"
local nodes_of = require "cprof.profile.nodes"
local profile = require "cprof.profile"
local range = require "cprof.profile.range"
local spread = require "cprof.export.spread"

local samples = {}

---@class cprof.Paths          the nodes of a recording in an export
---@field of cprof.Profile     the recording
---@field origin? cprof.Origin  if the export is of a range of it
---@field node table<integer, integer>  its node -> that of the export

---For each node of the recording, the node of the export that stands for it.
---nil: the export has other paths.
---@param p cprof.Profile      what is exported
---@param whole cprof.Profile  before nodes were added up
---@return cprof.Paths?
function samples.paths(p, whole)
  if p.reshaped then return nil end
  local origin = range.origin(whole)
  local of, index, all = origin and origin.of or whole, {}, {}
  for i = 1, #p.functions do
    local id = p.origin[i]
    index[i] = not id and 0 or origin and origin.functions[id] or id
    if id then all[index[i]] = index[i] end
  end
  local nodes = nodes_of(p, of, index, all, origin ~= nil)
  if not nodes then return nil end
  -- numbers are those of a walk in depth
  local ids, out = {}, {}
  for node in core.walk(p.nodes) do ids[#ids + 1] = node end
  for node, number in pairs(nodes) do out[node] = ids[number + 1] end
  return { of = of, origin = origin, node = out }
end

-- The most samples of a file. Beyond them, those of a stretch of time that have
-- one stack are added up.
samples.most = 300000

---@class cprof.Samples
---@field start number[]    of each sample, in the unit of the measure; the
---    last one is where the one before it ends
---@field stack (integer|false)[]  false: nothing of the program ran
---@field amount number[]   in the unit of the measure
---@field ran number[]      ns in which the CPU computed before it, since the
---    sample before
---@field waits { [1]: number, [2]: number, [3]: integer }[]  from, to, stack
---@field lost { [1]: number, [2]: number, [3]: boolean }[]  from, to, whether
---    others had the processor; else recording paused
---@field slot number       ns within which samples were added up; 0: none were
---@field mean? number      ns between samples that were asked for

local function new(slot)
  return { start = {}, stack = {}, amount = {}, ran = { 0 }, waits = {},
    lost = {}, slot = slot }
end

local function add(s, start, stack, amount, ran)
  local n = #s.start + 1
  s.start[n], s.stack[n], s.amount[n] = start, stack, amount
  s.ran[n + 1] = ran
end

-- adds the end of the last sample, as no more samples come
local function close(s, at)
  local n = #s.start + 1
  s.start[n], s.stack[n], s.amount[n] = at, false, 0
  return s
end

---No samples.
---@return cprof.Samples
function samples.none() return close(new(0), 0) end

-- {======================================================
-- Without times
-- =======================================================

---The nodes of a profile, one after the other, each with its lines.
---@param p cprof.Profile
---@param stacks cprof.Stacks
---@return cprof.Samples
function samples.of_nodes(p, stacks)
  local out, at, share_of = new(0), 0, spread.new(p)
  local function put(node, line, n)
    if n > 0 then
      add(out, at, stacks:stack(node, line), n, 0)
      at = at + n
    end
  end
  for node, _, func, _, _, own in core.walk(p.nodes) do
    local lines, shares, left
    if p.functions[func].kind ~= "zone" then
      lines, shares, left = share_of(func, own)
    end
    for i, line in ipairs(lines or {}) do
      put(node, line, shares and shares[i] or 0)
    end
    put(node, 0, left or own)
  end
  return close(out, at)
end

-- }======================================================


-- {======================================================
-- By the time axis
-- =======================================================

-- The line that has the largest part; 0: none is known.
local function largest(lines)
  local best, most = 0, 0
  for line, part in pairs(lines or {}) do
    if part > most or part == most and line < best then
      best, most = line, part
    end
  end
  return best
end

-- The stack of each place; false: it is not part of the profile.
local function of_places(p, paths, axis, stacks)
  local places, out = core.axis_places(axis), {}
  local overhead = core.overhead(paths.of.nodes)
  local lines_of = axes.lines(paths.of, 1000000)
  for i = 1, #places, 2 do
    local id = places[i] ~= overhead and paths.node[places[i]]
    -- nodes that were added up have no function of the recording, so no line
    local func = id and p.origin[select(2, core.node(p.nodes, id))]
    local _, own = core.node(paths.of.nodes, places[i])
    out[i // 2 + 1] = id and
      stacks:stack(id, func and largest(lines_of(own, places[i + 1])) or 0) or
      false
  end
  return out
end

-- ns of the shortest time within which events are added up
local least_slot <const> = 256

-- Adds up samples that come one after the other, or within `slot` ns, and have
-- one stack. `gaps`: nothing is known of the time between samples. nil: there
-- are more than `most`.
local function gather(each, out, at, most, gaps)
  local slot, cell, last = out.slot, nil, nil
  local group, groups = {}, {}
  local function flush()
    for _, g in ipairs(groups) do
      add(out, at, g.stack, g.amount, g.ran)
      at = math.min(at + g.took, last)
    end
    at = last or at
    group, groups = {}, {}
  end
  for from, to, stack, waits, ns in each do
    local key = (stack or -1) * 2 + (waits and 1 or 0)
    local now = slot > 0 and to // slot or key
    local gap = gaps and slot == 0 and last and from - last >= 1
    if now ~= cell or gap then
      flush()
      if gap then add(out, at, false, 0, 0) end
      if #out.start > most then return nil end
      cell, at = now, math.max(at, from)
    end
    local g = group[key]
    if not g then
      g = { stack = stack, amount = 0, ran = 0, took = 0 }
      group[key], groups[#groups + 1] = g, g
    end
    g.amount, g.took = g.amount + ns, g.took + (to - from)
    if not waits then g.ran = g.ran + ns end
    last = to
  end
  flush()
  return #out.start <= most and close(out, at) or nil
end

-- `axes.spans` of an exact recording, whose events are one after the other.
local function exact(axis)
  local next_one = axes.each(axis)
  return function()
    local ends, ns, place, waits = next_one()
    return ends and ends - ns, ends, ns, place, waits
  end
end

-- Returns a function for the samples of a range: from, to, stack, whether it
-- waits, ns without overhead; whether nothing was recorded, as others had the
-- processor (true) or recording paused (false).
local function each_of(of, axis, stack_of, from, to, factor)
  local next_one = of.samples and axes.spans(axis) or exact(axis)
  return function()
    local a, b, ns, place, waits = next_one()
    while a and (b <= from or a >= to) do
      a, b, ns, place, waits = next_one()
    end
    if not a then return nil end
    local whole = b - a
    a, b = math.max(a, from), math.min(b, to)
    if place == 0 then return a, b, false, true, 0, waits end
    local stack = stack_of[place]
    if whole > 0 then ns = ns * (b - a) / whole end
    return a, b, stack, waits, stack and ns * factor or 0
  end
end

-- The factor that takes overhead out of the ns of samples, so that they add up
-- to the profile's time, if no sample was lost.
local function factor_of(p, of, from, each)
  local sum = 0
  if from == 0 then
    for _, _, _, _, ns in each do sum = sum + ns end
  end
  return sum > 0 and p.measure.whole / sum or 1 - axes.overhead(of.nodes)
end

-- the times in which the thread waited, or nothing was recorded
local function stretches(out, each)
  local wait, lost
  local function go_on(list, current, a, b, what)
    if not current or current[3] ~= what then
      current = { a, b, what }
      list[#list + 1] = current
    end
    current[2] = b
    return current
  end
  for a, b, stack, waits, _, others in each do
    if a < b then
      lost = others ~= nil and go_on(out.lost, lost, a, b, others) or nil
      wait = stack and waits and go_on(out.waits, wait, a, b, stack) or nil
    end
  end
end

---When the thread waited, and in which node; and when nothing was recorded.
---@param known cprof.CallsOf
---@return cprof.Samples  without samples
function samples.stretches(known)
  local axis = profile.axis(known.of)
  local places, node_of, out = core.axis_places(axis), {}, new(0)
  for i = 1, #places, 2 do node_of[i // 2 + 1] = places[i] end
  stretches(out, each_of(known.of, axis, node_of, known.from, known.to, 1))
  return out
end

---The samples of a recording by its time axis; nil: it has none.
---@param p cprof.Profile     what is shown
---@param paths cprof.Paths
---@param stacks cprof.Stacks  of `p`
---@return cprof.Samples?
function samples.by_time(p, paths, stacks)
  local axis, origin = profile.axis(paths.of), paths.origin
  if not axis or axes.sliced(axis) or p.recorded then return nil end
  local stack_of = of_places(p, paths, axis, stacks)
  local from = origin and origin.from or core.axis_begins(axis)
  local to = origin and origin.to or math.huge
  local factor = factor_of(p, paths.of, origin and 0 or from,
    each_of(paths.of, axis, stack_of, from, to, 1))
  local function each()
    return each_of(paths.of, axis, stack_of, from, to, factor)
  end
  local _, mean = core.axis_scale(axis)
  local out = gather(each(), new(0), from, samples.most, paths.of.samples)
  local slot = math.max(mean * 2, least_slot)
  while not out do
    -- even the longest slot may have more stacks than `samples.most`
    local most = slot < paths.of.meta.wall_ns and samples.most or math.huge
    out, slot = gather(each(), new(slot), from, most), slot * 2
  end
  out.mean = mean > 0 and mean or nil
  stretches(out, each())
  return out
end

-- }======================================================

return samples
