-- The frames of a profile, from one call of `frame` to the next, with
-- averages, history and percentiles.

local methods = require "cprof.sandbox.methods"
local options = require "cprof.text.options"
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
---@field start_ns integer since recording began, without pauses
---@field ns integer
---@field overhead_ns integer  the profiler's own time, of ns
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

---@class cprof.Frames
---@field ended integer     calls of `frame`
---@field recorded integer  frames that went to history
---@field counted integer   frames that count in averages
---@field kept integer      frames in history now
---@field slow integer      frames over budget, not counting overhead
---@field slow_kept integer  slow frames that are kept now
---@field budget_ns integer  a longer frame is slow; 0: no budget
local Frames = {}
Frames.__index = Frames

---The frames of a profile; nil when `frame` was never called.
---@param p cprof.Profile
---@param history userdata?
---@return cprof.Frames?
function frames.new(p, history)
  if not history then return nil end
  local self = history:info()
  self.profile, self.history = p, history
  return setmetatable(self, Frames)
end

-- function, calls, self time, total time, allocations, bytes
local WIDTH <const> = 6

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
  if not p.meta.gc then
    f.gc_steps = nil
    return
  end
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

-- the profiler's own time in a frame of the history
local function overhead_of(self, frame)
  return figure_of(frame.rows, self.profile.overhead, offsets.self_ns)
end

local function check_back(who, back)
  local n = options.integer(back)
  if not n or n < 0 then
    error(("frames:%s: must be an integer from 0, got %s"):format(who,
      options.shown(back)), 3)
  end
end

---A frame of the history, or of the slow frames. nil: it is not kept.
---@param back integer   0: the last one, 1: the one before it, ...
---@param slow? boolean
---@return cprof.Frame?
function Frames:at(back, slow)
  local _ <close> = methods.borrow()
  check_back("at", back)
  local f = self.history:frame(back, slow)
  if not f then return nil end
  f.overhead_ns = overhead_of(self, f)
  f.rows = rows_of(self.profile, f.rows)
  add_memory(self.profile, f)
  return f
end

local figures = { all = 0, 1, 2 }

local function check_average(who, average)
  local figure = figures[average]
  if not figure then
    error(('frames:%s: must be "all", 1 or 2, got %s'):format(who,
      options.shown(average)), 3)
  end
  return figure
end

---Averages per frame, for all functions: "all" is over all frames; 1 and 2 are
---moving averages, which follow nine tenths of a change in 0.8 and 2.5
---seconds. The first three frames are in none of them.
---@param average "all"|1|2
---@return cprof.FrameRow[]
function Frames:averages(average)
  local _ <close> = methods.borrow()
  local flat = self.history:averages(check_average("averages", average))
  local out = {}
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
  local _ <close> = methods.borrow()
  check_back("nodes", back)
  return self.history:nodes(back, slow or false, self.profile.nodes)
end

---Average stack states; their calls are in thousandths.
---@param average "all"|1|2
---@return cprof.Node[]
function Frames:average_nodes(average)
  local _ <close> = methods.borrow()
  return self.history:average_nodes(check_average("average_nodes", average),
    self.profile.nodes)
end

---The frames that are kept, oldest first: their numbers and times, and the
---figures of groups of functions in them. `sums` has the groups that occur.
---@param of table<integer, any>  id of a function -> its group; nil: none
---@return { numbers: integer[], ns: integer[], sums: table<any, { self:
---  integer[], total: integer[], calls: integer[] }> }
function Frames:series(of)
  local _ <close> = methods.borrow()
  local out = { numbers = {}, ns = {}, sums = {} }
  for i = 1, self.kept do
    local f = self.history:frame(self.kept - i, false)
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

---Percentiles over the frames that are kept: of the frames' times without
---overhead, or of a function's times, by default self time.
---@param func? cprof.Function
---@param field? "self_ns"|"total_ns"
---@return cprof.Percentiles
function Frames:percentiles(func, field)
  local _ <close> = methods.borrow()
  local offset = offsets[field or "self_ns"]
  if func and (type(func) ~= "table" or
     self.profile.functions[func.id] ~= func) then
    error("frames:percentiles: must be a function of this profile", 2)
  elseif not offset then
    error(('frames:percentiles: must be "self_ns" or "total_ns", got %s')
      :format(options.shown(field)), 2)
  end
  local values = {}
  for back = 0, self.kept - 1 do
    local f = self.history:frame(back, false)
    values[#values + 1] = func and figure_of(f.rows, func.id, offset) or
      f.ns - overhead_of(self, f)
  end
  return percentiles(values)
end

return frames
