-- Adds up profiles: of many runs, or of many machines, even if the program was
-- edited in between.

local allocations = require "cprof.count.allocations"
local compare = require "cprof.profile.compare"
local core = require "cprof.core"
local durations = require "cprof.count.durations"
local fields = require "cprof.profile.meta"
local instructions = require "cprof.count.instructions"
local joined = require "cprof.profile.joined"
local lines = require "cprof.count.lines"
local order = require "cprof.text.order"
local profile = require "cprof.profile"
local frames = require "cprof.count.frames"
local spots = require "cprof.count.spots"
local tasks = require "cprof.count.tasks"

local merge = {}

-- fields of meta that are added up
local summed <const> = fields.all "sum"

-- a sum of estimates is as coarse as the coarsest of them
local intervals <const> = { "live_interval", "memory_interval" }

-- the number of runs that a profile adds up
local function runs(meta) return meta.runs or 1 end

-- Why the times contain overhead, and those of how many runs; nil: they do not.
local function uncompensated(profiles, all)
  local count, why = 0, nil
  for _, p in ipairs(profiles) do
    if p.meta.uncompensated then
      count, why = count + runs(p.meta), why or p.meta.uncompensated
    end
  end
  if count == 0 or count == all then return why end
  return ("%s, in %d of %d runs"):format(why, count, all)
end

-- The number of samples that the times are from, nil unless all profiles have
-- them; and a note if calls and times are of different runs.
local function joined_of(profiles)
  local samples, any = 0, nil
  for _, p in ipairs(profiles) do
    samples = samples and p.meta.samples and samples + p.meta.samples
    any = any or p.meta.joined
  end
  return samples or nil, any and #profiles > 1 and
    "calls and times are from different runs" or any
end

-- What a sample of the sum is worth, in thousandths: a sample of one profile
-- may stand for more time than one of another. `of` returns the number of a
-- profile's samples, what they are worth, and the ns that they stand for. nil:
-- 1000, as all stand for equal times.
local function worth_of(profiles, of)
  local whole, square, all = 0, 0, 0
  for _, p in ipairs(profiles) do
    local n, worth, ns = of(p)
    if n > 0 then
      whole, all = whole + ns, all + n
      square = square + ns * ns / (n * (worth or 1000) / 1000)
    end
  end
  local worth = whole > 0 and whole * whole / square / all * 1000 or 1000
  return worth < 999.5 and math.max(math.floor(worth + 0.5), 1) or nil
end

-- what samples of running, and of waiting, are worth; nil: not all profiles
-- have samples
local function worths_of(profiles)
  for _, p in ipairs(profiles) do
    if not p.time_samples then return end
  end
  return worth_of(profiles, function(p)
    return p.time_samples - (p.wait_samples or 0), p.meta.worth_running,
      p.measure.whole - (p.meta.waiting_ns or 0)
  end), worth_of(profiles, function(p)
    return p.wait_samples or 0, p.meta.worth_waiting, p.meta.waiting_ns or 0
  end)
end

-- The options of the sum. One that differs gets a note as its value.
local function options_of(profiles)
  local out, seen = {}, {}
  for _, p in ipairs(profiles) do
    for key in pairs(p.meta.options or {}) do seen[key] = true end
  end
  for key in pairs(seen) do
    local first = profiles[1].meta.options or {}
    out[key] = first[key] or "default"
    for _, p in ipairs(profiles) do
      if (p.meta.options or {})[key] ~= first[key] then
        out[key] = "(different in some runs)"
      end
    end
  end
  return next(out) and out or nil
end

-- The meta of the sum.
local function meta_of(profiles)
  local first = profiles[1].meta
  local out = { runs = 0, hook_lost = false, folded = false, fold_at = 0 }
  for _, key in ipairs(fields.all "shared") do out[key] = first[key] end
  for _, p in ipairs(profiles) do
    local meta = p.meta
    out.runs = out.runs + runs(meta)
    for _, key in ipairs(summed) do
      if meta[key] then out[key] = (out[key] or 0) + meta[key] end
    end
    out.started_at = math.min(out.started_at or math.maxinteger,
      meta.started_at)
    out.hook_lost = out.hook_lost or meta.hook_lost
    out.folded = out.folded or meta.folded
    if meta.folded then out.fold_at = math.max(out.fold_at, meta.fold_at) end
    out.preempted_unknown = out.preempted_unknown or meta.preempted_unknown
    out.gc = out.gc and meta.gc
    for _, key in ipairs(intervals) do
      out[key] = out[key] and math.max(out[key], meta[key] or 0)
    end
    out.gc_longest_ns = math.max(out.gc_longest_ns or 0,
      meta.gc_longest_ns or 0)
    out.allocator_lost = out.allocator_lost or meta.allocator_lost
    out.timer = meta.timer == first.timer and out.timer or nil
    out.ended = out.ended or meta.ended
    if meta.program ~= first.program then out.program = "several programs" end
  end
  if not out.folded then out.fold_at = first.fold_at end
  out.uncompensated = uncompensated(profiles, out.runs)
  out.options = options_of(profiles)
  out.samples, out.joined = joined_of(profiles)
  out.worth_running, out.worth_waiting = worths_of(profiles)
  if #profiles == 1 then out.costs_ns = first.costs_ns end
  return out
end

-- Adds up the counters of instructions, by function. `profiles` has the newest
-- first, so its code and lines are kept.
local function add_counters(profiles, maps, functions)
  local sums, allocated = {}, {}
  for i, p in ipairs(profiles) do
    for id, f in ipairs(p.functions) do
      local to = maps[i][id]
      if f.counters and not sums[to] then
        sums[to], allocated[to] = f.counters, f.allocated_at
      elseif f.counters then
        local sum, same = instructions.add(sums[to], f.counters)
        sums[to] = sum
        if same and f.allocated_at then
          allocated[to] = instructions.add_allocated(allocated[to],
            f.allocated_at)
        end
      end
    end
  end
  for id, counters in pairs(sums) do
    functions[id].counters, functions[id].allocated_at = counters,
      allocated[id]
  end
end

-- Adds up what functions have allocated, by kind.
local function add_allocated(profiles, maps, functions)
  local sums = {}
  for i, p in ipairs(profiles) do
    for id, f in ipairs(p.functions) do
      local to = maps[i][id]
      sums[to] = allocations.add(sums[to], f.allocated)
    end
  end
  for id, allocated in pairs(sums) do functions[id].allocated = allocated end
end

-- Adds up how long calls of functions took.
local function add_durations(profiles, maps, functions)
  local sums = {}
  for i, p in ipairs(profiles) do
    for id, f in ipairs(p.functions) do
      local to = maps[i][id]
      sums[to] = durations.add(sums[to], durations.detached(f.histogram))
    end
  end
  for id, histogram in pairs(sums) do functions[id].histogram = histogram end
end

-- What coroutines did in all profiles; nil: that was not counted.
local function tasks_of(profiles, maps, shifts, sum)
  local parts = {}
  for i, p in ipairs(profiles) do
    parts[i] = { tasks = profile.tasks(p), nodes = p.nodes, map = maps[i],
      shift = shifts[i] }
    if not parts[i].tasks then return nil end
  end
  return tasks.sum(parts, sum)
end

-- The frames of all profiles, by name.
local function loops_of(profiles, maps, shifts, sum)
  local parts, some = {}, false
  for i, p in ipairs(profiles) do
    parts[i] = { loops = profile.loops(p) }
    some = some or parts[i].loops
  end
  if not some then return nil end
  for i, p in ipairs(profiles) do
    parts[i].nodes = tasks.nodes(sum, p.nodes, maps[i], shifts[i])
  end
  return frames.sum(parts)
end

-- The profiles, newest first: the sum has the newest lines of functions.
local function newest_first(profiles)
  local numbers, out = {}, {}
  for i in ipairs(profiles) do numbers[i] = i end
  table.sort(numbers, order(function(i)
    return -profiles[i].meta.started_at
  end, function(i) return -i end))
  for i, k in ipairs(numbers) do out[i] = profiles[k] end
  return out
end

-- Does a profile have counters of instructions?
local function counted(p) return p.meta.mode == "count" or p.samples end

-- Why `p` cannot be added to the first profile; nil: it can.
local function obstacle(p, first)
  local meta, to = p.meta, first.meta
  if meta.mode ~= to.mode then
    return ("mode %s and mode %s cannot be added up"):format(to.mode,
      meta.mode)
  elseif counted(p) and meta.lua_version ~= to.lua_version then
    return ("instructions of %s and of %s cannot be added up"):format(
      to.lua_version, meta.lua_version)
  elseif meta.distribution ~= to.distribution then
    return "profiles with and without durations of calls cannot be added up"
  elseif meta.tasks ~= to.tasks then
    return "profiles with and without tasks cannot be added up"
  elseif meta.memory ~= to.memory then
    return "profiles with and without allocations cannot be added up"
  elseif (meta.live_interval == nil) ~= (to.live_interval == nil) then
    return "profiles with and without live blocks cannot be added up"
  elseif (meta.waiting_ns == nil) ~= (to.waiting_ns == nil) then
    return "profiles with and without waiting times cannot be added up"
  elseif compare.clock(meta) ~= compare.clock(to) then
    return ("clock %s and clock %s cannot be added up"):format(to.clock,
      meta.clock)
  end
end

-- the maximum of a figure of a whole profile, see src/profile/possible.h
local most <const> = math.maxinteger // 2

-- The largest of a profile's sums, each of which is of one kind of figure.
local function largest(p)
  local out = core.largest(p.nodes)
  for _, field in ipairs { "hits", "allocs", "bytes", "live_bytes" } do
    local sum, at_field = 0, lines.place(field)
    for at in lines.each(p.counted) do
      sum = sum + math.abs(p.counted[at + at_field])
    end
    out = math.max(out, sum)
  end
  local counts, moves = 0, 0
  for _, f in ipairs(p.functions) do
    if f.counters then
      local count, move, most_skips = instructions.sums(f.counters)
      counts, moves = counts + count, moves + move
      out = math.max(out, counts, moves, most_skips)
    end
  end
  for _, key in ipairs(summed) do out = math.max(out, p.meta[key] or 0) end
  local kinds = p.meta.memory and allocations.sum(p).kinds or {}
  for _, kind in pairs(kinds) do
    out = math.max(out, kind.allocs, kind.bytes)
  end
  return out
end

-- The index of the first profile with which a sum could exceed `most`; nil:
-- there is none.
local function first_beyond(profiles)
  local left = most
  for i, p in ipairs(profiles) do
    left = left - largest(p)
    if left < 0 then return i end
  end
end

---Adds up profiles. If that cannot be done, returns nil, a message, and the
---index of the profile that cannot be added to those before it.
---@param profiles cprof.Profile[]
---@return cprof.Profile? sum
---@return string? why
---@return integer? which
function merge.sum(profiles)
  for i, p in ipairs(profiles) do
    local why = obstacle(p, profiles[1])
    if why then return nil, why, i end
  end
  local which = first_beyond(profiles)
  if which then
    return nil, ("the sums of their figures would exceed %d"):format(
      most), which
  end
  local all, nodes, maps, shifts, parts = joined.new(), {}, {}, {}, {}
  local sorted = newest_first(profiles)
  for i, p in ipairs(sorted) do
    nodes[i], maps[i], shifts[i] = p.nodes, all:add(p)
    parts[i] = { counted = p.counted, map = maps[i], shift = shifts[i] }
  end
  add_counters(sorted, maps, all.functions)
  add_allocated(sorted, maps, all.functions)
  add_durations(sorted, maps, all.functions)
  spots.sum(sorted, maps, all.functions)
  local meta = meta_of(profiles)
  meta.folder = all.folder
  local sum = core.merge(nodes, maps, shifts)
  return profile.new(function(f) return f.name, f.title end, sum,
    all.functions, meta, lines.sums(parts), all.sources, nil,
    tasks_of(sorted, maps, shifts, sum), loops_of(sorted, maps, shifts, sum))
end

return merge
