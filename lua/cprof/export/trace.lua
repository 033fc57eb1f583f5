-- What the formats for trace viewers show. If calls are known one by one, each
-- is a slice, from the call to its return, and events whose time is known are
-- on tracks of their own. Of samples with times, a slice is the
-- time that samples of one call, one after the other, stand for. If no times
-- are known, the call tree becomes nested slices. Each is as long as all calls
-- of its node together, so its place does not say when the calls happened.
-- Nodes without time are left out: readers could not tell which slice they are
-- in.

local calls = require "cprof.profile.calls"
local core = require "cprof.core"
local markers = require "cprof.export.markers"
local samples = require "cprof.export.samples"

local trace = {}

---@class cprof.Slice       all calls of a call-tree node
---@field func cprof.Function
---@field ns integer
---@field calls integer     or samples
---@field self_ns integer
---@field call_line integer  0: not known

---@class cprof.SliceWriter
---@field track fun(number: integer, name: string)  comes before its events
---@field enter fun(f: cprof.Function, at: integer, slice: cprof.Slice?)  on
---    the first track; the slice is nil for a single call
---@field leave fun(f: cprof.Function, at: integer, slice: cprof.Slice?)
---@field event fun(track: integer, m: cprof.Marker, caller: cprof.Function?)
---    in which function it happened, if that is known
---@field heap fun(at: integer, bytes: integer)

---The name of a track on which calls are added up.
---@param p cprof.Profile
---@return string
function trace.title(p)
  return p.samples and "all samples, added up" or "all calls, added up"
end

---The figures of an event: names and integers.
---@param m cprof.Marker
---@return { [1]: string, [2]: integer }[]
function trace.figures(m)
  local out = {}
  for _, kind in ipairs(markers.kinds) do
    for _, field in ipairs(kind[1] == m.kind and kind[3] or {}) do
      local key, n = field[1], m.data[field[1]]
      if n then
        out[#out + 1] = { field[3] == "duration" and key .. "_ns" or key,
          n // 1 | 0 }
      end
    end
  end
  return out
end

-- The names of tracks: one for each kind of events, and for frames, one for
-- each of their names.
local titles <const> = { frame = "frames", ["slow call"] = "slow calls",
  collection = "collections", wait = "waits" }

local function title(m)
  local kind = titles[m.kind] or m.kind
  if m.kind == "frame" and m.name ~= "frame" then
    return kind .. ": " .. m.name
  end
  return kind
end

-- Does an event fit on a track? `ends` has the ends of events that began before
-- it: each must have ended by then, or end no earlier than the event does.
local function fits(ends, m)
  while #ends > 0 and ends[#ends] <= m.from do ends[#ends] = nil end
  return #ends == 0 or m.to <= ends[#ends]
end

-- Returns a function that gives the number of the track for an event. Events
-- that overlap without nesting are on several tracks of one name.
local function tracks(to)
  local known, count = {}, 1
  return function(m)
    local of = title(m)
    known[of] = known[of] or {}
    for _, track in ipairs(known[of]) do
      if fits(track.ends, m) then
        table.insert(track.ends, m.to)
        return track.number
      end
    end
    count = count + 1
    to.track(count, of)
    table.insert(known[of], { number = count, ends = { m.to } })
    return count
  end
end

-- the events whose time is known, and the size of the heap
local function events(known, to)
  local of, track_of = known.of, tracks(to)
  for _, m in ipairs(markers.of(of, samples.stretches(known),
      function(node) return node end, function() return 0 end, known.from,
      known.to)) do
    m.from, m.to = m.from // 1 | 0, m.to // 1 | 0
    local func = m.stack and select(2, core.node(of.nodes, m.stack))
    to.event(track_of(m), m, func and of.functions[func])
  end
  for _, point in ipairs(of.heap or {}) do
    if point.ns >= known.from and point.ns <= known.to then
      to.heap(point.ns, point.bytes)
    end
  end
end

local function each_call(known, to)
  local functions = known.of.functions
  calls.each(known, function(func, at)
    to.enter(functions[func], at // 1 | 0)
  end, function(func, at)
    to.leave(functions[func], at // 1 | 0)
  end)
end

-- the call tree
local function each_node(p, to)
  local path, ends, depths, size, at = {}, {}, {}, 0, 0
  local function leave(depth)
    while size > 0 and depths[size] >= depth do
      local slice = path[size]
      to.leave(slice.func, ends[size], slice)
      size = size - 1
    end
  end
  for _, depth, func, line, count, self_ns, total_ns, raw in
      core.walk(p.nodes) do
    -- the root's slice has its self time only, so that it contains no others
    leave(math.max(depth, 1))
    local ns = depth > 0 and total_ns or self_ns
    if ns > 0 then
      local f = p.functions[func]
      local slice = { func = f, ns = ns, calls = p.samples and raw or count,
        self_ns = self_ns, call_line = line }
      to.enter(f, at, slice)
      size = size + 1
      path[size], ends[size], depths[size] = slice, at + ns,
        math.max(depth, 1)
    end
    at = at + self_ns
  end
  leave(0)
end

-- the most samples that become slices; more of them would make large files
local most_samples <const> = 100000

---The calls, where each is a slice; nil: all calls of a node are one slice.
---@param whole cprof.Profile  before nodes were added up
---@param reshaped? boolean    does its tree have other paths now?
---@return cprof.CallsOf?
function trace.calls(whole, reshaped)
  return calls.of(whole, not reshaped and most_samples or nil)
end

---Tells a writer of all slices, in the order of time, and of all events.
---@param p cprof.Profile
---@param whole cprof.Profile  before nodes were added up
---@param to cprof.SliceWriter
function trace.each(p, whole, to)
  local known = trace.calls(whole, p.reshaped)
  if known then
    to.track(1, known.of.samples and "Lua, by samples" or "Lua")
    events(known, to)
    each_call(known, to)
  else
    to.track(1, trace.title(p))
    each_node(p, to)
  end
end

return trace
