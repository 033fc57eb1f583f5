-- The calls of a recording, one by one, from its time axis: in recordings with
-- option `keep_last`, it has each event; in mode "sample", it has what each
-- sample found. Coroutines are below the function that resumes them. A resumed
-- coroutine enters its functions again.

local axes = require "cprof.profile.axis"
local core = require "cprof.core"
local name = require "cprof.source.name"
local order = require "cprof.text.order"
local profile = require "cprof.profile"
local range = require "cprof.profile.range"
local rows = require "cprof.count.rows"

local calls = {}

---@class cprof.CallsOf
---@field of cprof.Profile  the recording
---@field from number       ns since it began
---@field to number

---Where the calls of a profile are; nil: they are not known.
---@param p cprof.Profile
---@param most? integer  samples stand for calls if there are at most so many:
---    a call then lasts as long as samples, one after the other, found it, and
---    these stand for
---@return cprof.CallsOf?
function calls.of(p, most)
  local origin = range.origin(p)
  local of = origin and origin.of or p
  local axis = profile.axis(of)
  if not axis or axes.sliced(axis) then return nil end
  if of.samples and
     select(2, core.axis_column(axis, "passed")) > (most or 0) then
    return nil
  end
  -- samples that came close together may end late
  local ends = of.samples and of.meta.wall_ns or math.huge
  return { of = of, from = origin and origin.from or 0,
    to = math.min(origin and origin.to or ends, ends) }
end

-- The nodes that run, from the root's callees on; `at` has the place of each.
-- The last argument of `enter` is false where a resumed coroutine goes on with
-- a call that began earlier.
local function new_path(nodes, enter, leave)
  local path, at, parent_of, func_of = {}, {}, {}, {}
  local function known(node)
    if not func_of[node] then
      parent_of[node], func_of[node] = core.node(nodes, node)
    end
  end
  local self, new = {}, {}
  local function cut(size, now, ends)
    for i = #path, size + 1, -1 do
      leave(func_of[path[i]], now, path[i], ends)
      at[path[i]], path[i] = nil, nil
    end
  end
  -- `node` runs from `now` on; `called`: it was called just then
  function self.go(node, called, now)
    local size, top = 0, node
    if called then
      known(node)
      size, new[1], top = 1, node, parent_of[node]
    end
    while top > 1 and not at[top] do
      known(top)
      size = size + 1
      new[size], top = top, parent_of[top]
    end
    cut(at[top] or 0, now)
    for i = size, 1, -1 do
      path[#path + 1] = new[i]
      at[new[i]] = #path
      enter(func_of[new[i]], now, new[i], called and i == 1)
    end
  end
  function self.finish(now) cut(0, now, true) end
  return self
end

-- The calls that samples found. In gaps between samples, and where nothing was
-- recorded, no function runs.
local function of_samples(known, enter, leave)
  local axis, nodes = profile.axis(known.of), known.of.nodes
  local own = core.overhead(nodes)
  local places, path = core.axis_places(axis), new_path(nodes, enter, leave)
  local last = known.from
  for begins, ends, _, place in axes.spans(axis) do
    local from, to = math.max(begins, known.from), math.min(ends, known.to)
    if from < to then
      if place == 0 or from - last >= 1 then path.finish(last) end
      local node = place > 0 and places[place * 2 - 1]
      if node and node ~= own then path.go(node, false, from) end
      last = to
    end
  end
  path.finish(last)
end

---Tells of all calls: `enter` and `leave` get a function of the recording, and
---the time in ns since it began. What runs at the beginning is entered there,
---and what runs at the end is left there.
---@param known cprof.CallsOf
---@param enter fun(func: integer, at: number, node: integer, began?: boolean)
---    `began`, not of samples: the call began then, and not earlier
---@param leave fun(func: integer, at: number, node: integer, runs?: boolean)
---    `runs`, not of samples: the call had not ended then
---@param passed? fun(ns: number, node: integer|false, waits: boolean)  not of
---    samples: called after each event. false: nothing was recorded, as others
---    had the processor, if `waits`, or recording paused
function calls.each(known, enter, leave, passed)
  if known.of.samples then return of_samples(known, enter, leave) end
  local axis, nodes = profile.axis(known.of), known.of.nodes
  local own = core.overhead(nodes)
  local places, path = core.axis_places(axis), new_path(nodes, enter, leave)
  local last, first = core.axis_begins(axis), true
  for ends, ns, place, waits, count in axes.each(axis) do
    local from = first and math.max(ends - ns, last) or last
    if ends > known.from and from < known.to then
      local node = place > 0 and places[place * 2 - 1]
      if node and node ~= own then
        path.go(node, count > 0, math.max(from, known.from))
      end
      first = false
      if passed then passed(ns, node, waits) end
    end
    last = ends
  end
  path.finish(math.min(last, known.to))
end

-- how many of the slowest calls of a function are kept, as in a histogram
local most_slow <const> = 8

-- The overhead of an event, in ns. The axis has the overhead of events in the
-- time of what ran; the time of the recorder itself is apart.
local function overhead_of(p)
  local own, axis, apart = core.overhead(p.nodes), profile.axis(p), 0
  local places = core.axis_places(axis)
  for _, ns, place in axes.each(axis) do
    if place > 0 and places[place * 2 - 1] == own then apart = apart + ns end
  end
  local _, _, _, _, overhead = core.node(p.nodes, own)
  return math.max(overhead - apart, 0) /
    math.max(select(2, core.axis_column(axis, "passed")), 1)
end

local longest_first <const> = order("-took_ns", "ended_ns", "node")

-- Cuts a list of calls to the slowest, and sorts it.
local function slowest_of(list)
  table.sort(list, longest_first)
  for i = #list, most_slow + 1, -1 do list[i] = nil end
  return list
end

-- Adds a call to the slowest of its function. `whole`: it began and ended.
local function keep(to, call, whole)
  local list = to.slowest
  list[#list + 1], call.least = call, not whole
  if #list == 2 * most_slow then
    to.shortest = slowest_of(list)[most_slow].took_ns
  end
end

-- A call in the form of a histogram's. It began at `a` and ended at `b`.
local function call_of(node, took, a, b)
  local wait = (b.waited - a.waited) // 1 | 0
  return { took_ns = took, wait_ns = wait, cpu_ns = took - wait,
    preempted_ns = (b.preempted - a.preempted) // 1 | 0,
    overhead_ns = math.max((b.worked - a.worked) // 1 | 0, took) - took,
    wall_ns = b.now - a.now, ended_ns = b.now // 1 | 0, node = node }
end

-- Calls as `each` tells of them, by the title of their function: `times` of
-- those that began and ended, and the `slowest`; and which functions yield.
local function gather(p, known, event_ns)
  local own, functions = core.overhead(p.nodes), p.functions
  local yields, of, active, begins = {}, {}, {}, nil
  -- what has passed so far, and what had passed when nodes were entered
  local sum, at = { events = 0, worked = 0, waited = 0, preempted = 0 }, {}
  calls.each(known, function(func, now, node, began)
    local f, a = functions[func], at[node] or {}
    for key, value in pairs(sum) do a[key] = value end
    at[node], a.now, a.began, begins = a, now, began, begins or now
    active[f.title] = (active[f.title] or 0) + 1
    if not began and now > begins and f.name ~= name.host and
        not rows.collector(f) then
      yields[f.title] = true
    end
  end, function(func, now, node, runs)
    local title, a = functions[func].title, at[node]
    active[title] = active[title] - 1
    if active[title] > 0 then return end
    local to = of[title] or { times = {}, slowest = {}, shortest = -1 }
    local took = math.max(sum.worked - a.worked -
      (sum.events - a.events) * event_ns, sum.waited - a.waited) // 1 | 0
    of[title], sum.now = to, now
    local whole = a.began and not runs
    if whole then to.times[#to.times + 1] = took end
    if took > to.shortest then keep(to, call_of(node, took, a, sum), whole) end
  end, function(ns, node, waits)
    sum.events = sum.events + 1
    if not node then sum.preempted = sum.preempted + (waits and ns or 0)
    elseif node ~= own then
      sum.worked = sum.worked + ns
      sum.waited = sum.waited + (waits and ns or 0)
    end
  end)
  return of, yields
end

---The durations of calls in a profile whose calls are known one by one, with
---option `keep_last`, by the titles of functions; nil: they are not known.
---Calls that were suspended meanwhile are not known. `least` of a call: it
---began earlier, or had not ended; so it took longer.
---@param p cprof.Profile
---@return table<string, cprof.Durations>?
---@return boolean yields  are there functions whose calls were suspended?
function calls.durations(p)
  local known = calls.of(p)
  if not known or known.of ~= p then return nil, false end
  local of, yields = gather(p, known, overhead_of(p))
  for title, d in pairs(of) do
    table.sort(d.times)
    slowest_of(d.slowest)
    d.calls, d.p50_ns = #d.times, d.times[(#d.times + 1) // 2]
    if yields[title] then of[title] = nil end
  end
  return of, next(yields) ~= nil
end

return calls
