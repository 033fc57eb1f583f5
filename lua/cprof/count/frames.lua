-- The frames of a profile, from one call of `frame` to the next, with
-- averages, history and percentiles.
--
-- Only what is being recorded has a history, with the functions of the last
-- frames. All profiles, also those from files, have what src/count/loops.h
-- keeps: how many frames there were, a histogram of their times, the times of
-- the last frames, and the call-tree nodes of the slowest.

local core = require "cprof.core"
local durations = require "cprof.count.durations"
local methods = require "cprof.sandbox.methods"
local options = require "cprof.text.options"
local order = require "cprof.text.order"
local rows = require "cprof.count.rows"

local frames = {}

---@class cprof.FrameRow   a function in one frame
---@field func cprof.Function
---@field calls number     a fraction in averages
---@field self_ns integer
---@field total_ns integer  recursion counted once
---@field allocs? integer  with `memory`: its own allocations; not in averages
---@field bytes? integer
---@field heat? number     0..1: how much self time changes, in averages
---@field total_heat? number  0..1: how much total time changes

---@class cprof.Frame
---@field number integer   from 1
---@field start_ns? integer  since recording began; nil: not known, in sums
---    of profiles
---@field ns integer
---@field overhead_ns integer  the profiler's own time, of ns
---@field own_ns integer    ns without overhead, as far as it was known when the
---    frame ended: frames are compared by it
---@field allocs? integer   with `memory`: allocations in it
---@field bytes? integer
---@field gc_steps? integer  with `gc`: steps of the collector in it
---@field gc_ns? integer
---@field full boolean     whether all its nodes are kept
---@field rows cprof.FrameRow[]

---@class cprof.Percentiles
---@field p50 integer
---@field p90 integer
---@field p99 integer
---@field max integer

---@class cprof.FramesSummary
---@field recorded integer
---@field slow integer      frames over budget
---@field times cprof.Percentiles

---@class cprof.FrameTime
---@field number integer
---@field start_ns integer
---@field ns integer
---@field own_ns integer  without overhead

---@class cprof.Frames
---@field name? string      as given to `frame`
---@field ended integer     calls of `frame`
---@field recorded integer  frames that went to history
---@field counted integer   frames that count in averages
---@field kept integer      frames in history now; of a file, those with times
---@field slow integer      frames over budget, not counting overhead
---@field slow_kept integer  slow frames that are kept now
---@field budget_ns integer  a longer frame is slow; 0: no budget
local Frames = {}
Frames.__index = Frames

-- bytes of a frame's times, as the core gives them
local mark <const>, mark_size <const> = "=I8I8I8I8", 32

-- The times of the last frames, oldest first.
local function times_of(marks)
  local out = {}
  for at = 1, #marks, mark_size do
    local number, start, ns, own = mark:unpack(marks, at)
    out[#out + 1] = { number = number, start_ns = start, ns = ns, own_ns = own }
  end
  table.sort(out, order "number")
  return out
end

-- The figures without a history, where a frame is kept if its times are.
local function info_of(loop, times)
  local slow = 0
  for _, f in ipairs(loop.worst) do
    if loop.budget_ns > 0 and f.own_ns > loop.budget_ns then slow = slow + 1 end
  end
  return { ended = loop.frames, recorded = loop.frames, counted = 0,
    kept = #times, slow = loop.slow, slow_kept = slow,
    budget_ns = loop.budget_ns }
end

local function one(p, loop, history)
  local times = times_of(loop.marks)
  local self = history and history:info() or info_of(loop, times)
  self.name = loop.name ~= "" and loop.name or nil
  self.profile, self.history, self.loop, self.last = p, history, loop, times
  self.worst = table.move(loop.worst, 1, #loop.worst, 1, {})
  table.sort(self.worst, order("-own_ns", "number"))
  return setmetatable(self, Frames)
end

---The frames of a profile by name, in the order in which these were first
---used; nil when `frame` was never called.
---@param p cprof.Profile
---@param loops table[]?      as the core gives them
---@param histories userdata[]?
---@return cprof.Frames[]?
function frames.all(p, loops, histories)
  if not loops then return nil end
  local out = {}
  for i, loop in ipairs(loops) do
    out[i] = one(p, loop, histories and histories[i])
  end
  return out
end

---The frames without a name; if all have names, those of the first name.
---@param all cprof.Frames[]?
---@return cprof.Frames?
function frames.main(all)
  for _, of_name in ipairs(all or {}) do
    if not of_name.name then return of_name end
  end
  return all and all[1]
end

-- function, calls, self time, total time, allocations, bytes
local WIDTH <const> = 6

-- node, calls, self time, allocations, bytes
local NODE_WIDTH <const> = 5

-- Is a node below another one of the same function?
local function is_inner(nodes, node)
  local func, parent = nodes[node].func, nodes[node].parent
  while parent and parent > 0 do
    if nodes[parent].func == func then return true end
    parent = nodes[parent].parent
  end
  return false
end

-- The functions of a frame that has nodes, as a history gives them.
local function summed(p, frame)
  local flat, out, at = frame.nodes, {}, {}
  local nodes = core.frame_nodes(p.nodes, flat)
  for i = 1, #flat, NODE_WIDTH do
    local node = flat[i]
    local is = nodes[node]
    local k = at[is.func]
    if not k then
      k = #out + 1
      at[is.func], out[k] = k, is.func
      for j = 1, WIDTH - 1 do out[k + j] = 0 end
    end
    out[k + 1], out[k + 2] = out[k + 1] + flat[i + 1], out[k + 2] + flat[i + 2]
    if not is_inner(nodes, node) then out[k + 3] = out[k + 3] + is.total_ns end
    out[k + 4], out[k + 5] = out[k + 4] + flat[i + 3], out[k + 5] + flat[i + 4]
  end
  return out
end

-- One of the slowest frames, in the form that a history returns. A sum of
-- profiles has no times of last frames; when its frames began is not known.
local function from_worst(self, f)
  local p = self.profile
  return { number = f.number, start_ns = #self.last > 0 and f.start_ns or nil,
    ns = f.ns, gc_steps = f.gc_steps, full = #f.nodes > 0, rows = summed(p, f),
    own_ns = f.own_ns, nodes = f.nodes }
end

-- the frame over budget that `back` later ones follow
local function over_budget(self, back)
  local list = {}
  for i = 1, self.slow_kept do list[i] = self.worst[i] end
  table.sort(list, order "-number")
  return list[back + 1]
end

-- A frame in the form that a history returns. nil: it is not kept.
local function frame_at(self, back, slow)
  if self.history then return self.history:frame(back, slow or false) end
  if slow then
    local f = over_budget(self, back)
    return f and from_worst(self, f)
  end
  local f = self.last[#self.last - back]
  if not f then return nil end
  for _, worst in ipairs(self.worst) do
    if worst.number == f.number then return from_worst(self, worst) end
  end
  return { number = f.number, start_ns = f.start_ns, ns = f.ns, full = false,
    rows = {}, own_ns = f.own_ns }
end

local function rows_of(p, flat)
  local out = {}
  for i = 1, #flat, WIDTH do
    out[#out + 1] = { func = p.functions[flat[i]], calls = flat[i + 1],
      self_ns = flat[i + 2], total_ns = flat[i + 3],
      allocs = p.meta.memory and flat[i + 4] or nil,
      bytes = p.meta.memory and flat[i + 5] or nil }
  end
  return out
end

-- sets a frame's allocations and the collector's time in it
local function add_memory(p, f)
  if p.meta.memory then
    f.allocs, f.bytes = 0, 0
    for _, row in ipairs(f.rows) do
      f.allocs, f.bytes = f.allocs + row.allocs, f.bytes + row.bytes
    end
  end
  if not p.meta.gc then return end
  f.gc_ns = 0
  for _, row in ipairs(f.rows) do
    if rows.collector(row.func) then f.gc_ns = f.gc_ns + row.self_ns end
  end
end

-- a figure of a function in a flat row list of the history
local function figure_of(flat, id, offset)
  for i = 1, #flat, WIDTH do
    if flat[i] == id then return flat[i + offset] end
  end
  return 0
end

-- offsets of a function's figures after its id
local offsets = { self_ns = 2, total_ns = 3 }

-- the profiler's own time in a frame
local function overhead_of(self, frame)
  if frame.own_ns and #frame.rows == 0 then return frame.ns - frame.own_ns end
  return figure_of(frame.rows, self.profile.overhead, offsets.self_ns)
end

-- A frame's time without overhead, if its times are kept.
local function own_of(self, number)
  if not self.own then
    self.own = {}
    for _, f in ipairs(self.last) do self.own[f.number] = f.own_ns end
  end
  return self.own[number]
end

-- A frame with the names of its fields.
local function described(self, f)
  f.overhead_ns = overhead_of(self, f)
  f.rows = rows_of(self.profile, f.rows)
  f.own_ns = f.own_ns or own_of(self, f.number) or f.ns - f.overhead_ns
  f.nodes = nil
  if not self.profile.meta.gc then f.gc_steps = nil end
  if #f.rows > 0 then add_memory(self.profile, f) end
  return f
end

local function check_back(who, back)
  local n = options.integer(back)
  if not n or n < 0 then
    error(("frames:%s: the number must be an integer of at least 0, got %s")
      :format(who, options.shown(back)), 3)
  end
end

---A frame of the history, or of the slow frames. nil: it is not kept.
---@param back integer   0: the last one, 1: the one before it, ...
---@param slow? boolean
---@return cprof.Frame?
function Frames:at(back, slow)
  local _ <close> = methods.shield()
  check_back("at", back)
  local f = frame_at(self, back, slow)
  return f and described(self, f)
end

---The nth of the slowest frames, with its functions and nodes, from 1 on; nil:
---no more are kept.
---@param n integer
---@return cprof.Frame?
---@return cprof.Node[]? nodes  its stack states; nil: they are not known
function Frames:slowest(n)
  local _ <close> = methods.shield()
  check_back("slowest", n)
  local f = self.worst[n]
  if not f then return nil end
  local nodes = #f.nodes > 0 and core.frame_nodes(self.profile.nodes, f.nodes)
  return described(self, from_worst(self, f)), nodes or nil
end

---The times of the last frames, oldest first. Only some of these frames have
---functions.
---@return cprof.FrameTime[]
function Frames:times() return self.last end

local figures = { all = 0, 1, 2 }

local function check_average(who, average)
  local figure = figures[average]
  if not figure then
    error(('frames:%s: the argument must be "all", 1 or 2, got %s')
      :format(who, options.shown(average)), 3)
  end
  return figure
end

-- Averages for a profile from a file: each function's figures of the whole
-- recording, divided by the number of frames.
local function means(self)
  local out, n = {}, math.max(self.recorded, 1)
  for i, f in ipairs(self.profile.functions) do
    out[i] = { func = f, calls = (f.calls or 0) / n,
      self_ns = (f.self_ns or 0) // n, total_ns = (f.total_ns or 0) // n }
  end
  return out
end

---Averages per frame, for all functions: "all" is over all frames; 1 and 2 are
---moving averages, which follow nine tenths of a change in 0.8 and 2.5
---seconds. The first three frames are in none of them.
---@param average "all"|1|2
---@return cprof.FrameRow[]
function Frames:averages(average)
  local _ <close> = methods.shield()
  local which, out = check_average("averages", average), {}
  if not self.history then return means(self) end
  local flat = self.history:averages(which)
  for i = 1, #flat, 6 do
    out[#out + 1] = { func = self.profile.functions[flat[i]],
      calls = flat[i + 1] / 1000, self_ns = flat[i + 2],
      total_ns = flat[i + 3], heat = flat[i + 4], total_heat = flat[i + 5] }
  end
  return out
end

---The stack states of a frame, as the nodes of a profile. nil: they are
---not kept.
---@param back integer
---@param slow? boolean
---@return cprof.Node[]?
function Frames:nodes(back, slow)
  local _ <close> = methods.shield()
  check_back("nodes", back)
  if self.history then
    return self.history:nodes(back, slow or false, self.profile.nodes)
  end
  local f = frame_at(self, back, slow)
  return f and f.full and core.frame_nodes(self.profile.nodes, f.nodes) or nil
end

---Average stack states; their calls are in thousandths.
---@param average "all"|1|2
---@return cprof.Node[]?  nil: a file has none
function Frames:average_nodes(average)
  local _ <close> = methods.shield()
  local which = check_average("average_nodes", average)
  return self.history and self.history:average_nodes(which, self.profile.nodes)
end

---The frames that are kept, oldest first: their numbers and times, and the
---figures of groups of functions in them. `sums` has the groups that occur.
---@param of table<integer, any>  id of a function -> its group; nil: none
---@return { numbers: integer[], ns: integer[], sums: table<any, { self:
---  integer[], total: integer[], calls: integer[] }> }
function Frames:series(of)
  local _ <close> = methods.shield()
  local out = { numbers = {}, ns = {}, sums = {} }
  for i = 1, self.kept do
    local f = frame_at(self, self.kept - i)
    out.numbers[i], out.ns[i] = f.number, f.ns
    for at = 1, #f.rows, WIDTH do
      local key = of[f.rows[at]]
      local sum = key and (out.sums[key] or self:zeros())
      if sum then
        out.sums[key] = sum
        sum.calls[i] = sum.calls[i] + f.rows[at + 1]
        sum.self[i] = sum.self[i] + f.rows[at + 2]
        sum.total[i] = sum.total[i] + f.rows[at + 3]
      end
    end
  end
  return out
end

---Series with 0 for each frame that is kept.
---@return { self: integer[], total: integer[], calls: integer[] }
function Frames:zeros()
  local out = { self = {}, total = {}, calls = {} }
  for _, list in pairs(out) do
    for i = 1, self.kept do list[i] = 0 end
  end
  return out
end

local function percentiles(values)
  table.sort(values)
  local n = #values
  local function at(share)
    return n == 0 and 0 or values[math.max(1, math.ceil(n * share))]
  end
  return { p50 = at(0.5), p90 = at(0.9), p99 = at(0.99), max = at(1) }
end

-- Percentiles of the times of all frames: exact if all of these are kept, else
-- from the histogram.
local function of_all(self)
  if #self.last ~= self.loop.frames then
    local d = durations.scaled(self.loop.histogram, 1)
    return { p50 = d.p50_ns, p90 = d.p90_ns, p99 = d.p99_ns, max = d.max_ns }
  end
  local values = {}
  for i, f in ipairs(self.last) do values[i] = f.own_ns end
  return percentiles(values)
end

---Percentiles of the times of all frames, without overhead: exact if all times
---are kept, else within 5 %. With `func`: percentiles of its times, by default
---self times, in the frames that are kept.
---@param func? cprof.Function
---@param field? "self_ns"|"total_ns"
---@return cprof.Percentiles?  nil: a file has no functions by frame
function Frames:percentiles(func, field)
  local _ <close> = methods.shield()
  local offset = offsets[field or "self_ns"]
  if func and (type(func) ~= "table" or
     self.profile.functions[func.id] ~= func) then
    error("frames:percentiles: the function must be one of this profile", 2)
  elseif not offset then
    error(('frames:percentiles: the field must be "self_ns" or ' ..
      '"total_ns", got %s'):format(options.shown(field)), 2)
  end
  if not func then return of_all(self) end
  if not self.history then return nil end
  local values = {}
  for back = 0, self.kept - 1 do
    values[#values + 1] = figure_of(frame_at(self, back).rows, func.id, offset)
  end
  return percentiles(values)
end

---How many frames there were, and how long they took. nil: the times of some
---frames that may pass are not kept.
---@param passes? fun(frame: cprof.FrameTime): boolean  nil: all do
---@return cprof.FramesSummary?
function Frames:summary(passes)
  if not passes then
    return { recorded = self.recorded, slow = self.slow, times = of_all(self) }
  end
  local first, values, slow = self.last[1], {}, 0
  -- do those pass whose times are not kept any more?
  if not first or #self.last < self.loop.frames and
     passes { start_ns = 0, ns = first.start_ns } then
    return nil
  end
  for _, frame in ipairs(self.last) do
    if passes(frame) then
      values[#values + 1] = frame.own_ns
      if self.budget_ns > 0 and frame.own_ns > self.budget_ns then
        slow = slow + 1
      end
    end
  end
  return { recorded = #values, slow = slow, times = percentiles(values) }
end

-- A record for a sum: without the times of last frames, and without starts,
-- which have a meaning in one run only.
local function detached(loop, nodes)
  local out = { name = loop.name, frames = loop.frames, slow = loop.slow,
    budget_ns = loop.budget_ns, marks = "", worst = {},
    histogram = durations.detached(loop.histogram) }
  for i, f in ipairs(loop.worst) do
    local list = {}
    for k = 1, #f.nodes, NODE_WIDTH do
      list[k] = nodes and nodes[f.nodes[k]]
      if not list[k] then
        list = {}
        break
      end
      table.move(f.nodes, k + 1, k + NODE_WIDTH - 1, k + 1, list)
    end
    out.worst[i] = { number = f.number, start_ns = 0, ns = f.ns,
      own_ns = f.own_ns, gc_steps = f.gc_steps, nodes = list }
  end
  return out
end

-- how many of the slowest frames of a loop are kept
local worst_most <const> = 16

local function add(to, from)
  to.frames, to.slow = to.frames + from.frames, to.slow + from.slow
  to.budget_ns = to.budget_ns == from.budget_ns and to.budget_ns or 0
  to.histogram = durations.add(to.histogram, from.histogram)
  table.move(from.worst, 1, #from.worst, #to.worst + 1, to.worst)
  table.sort(to.worst, order("-own_ns", "number"))
  for i = #to.worst, worst_most + 1, -1 do to.worst[i] = nil end
end

-- the most names that a file may have
local loops_most <const> = 64

---@class cprof.FramesPart     the frames of one of several profiles
---@field loops table[]?        as the core gives them
---@field nodes? table<integer, integer>  its nodes in the sum; nil: not known

---Adds up the frames of several profiles by name, for the core.
---@param parts cprof.FramesPart[]
---@return table[]?  nil: there are none
function frames.sum(parts)
  local out, by_name = {}, {}
  for _, part in ipairs(parts) do
    for _, loop in ipairs(part.loops or {}) do
      local record = detached(loop, part.nodes)
      if by_name[loop.name] then add(by_name[loop.name], record)
      elseif #out < loops_most then
        out[#out + 1], by_name[loop.name] = record, record
      end
    end
  end
  return #out > 0 and out or nil
end

return frames
