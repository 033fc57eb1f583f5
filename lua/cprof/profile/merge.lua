-- Sums of profiles: of many runs, or of many machines, also of a program
-- that was edited in between.

local allocations = require "cprof.count.allocations"
local compare = require "cprof.profile.compare"
local core = require "cprof.core"
local instructions = require "cprof.count.instructions"
local joined = require "cprof.profile.joined"
local lines = require "cprof.count.lines"
local profile = require "cprof.profile"

local merge = {}

-- those that were counted in all, those of a function together
local function lines_of(profiles, maps, shifts)
  local add, list = lines.sums(maps, shifts)
  for i, p in ipairs(profiles) do
    for func, line, hits, ns, raw, allocs, bytes, live, wait in
      lines.each(p.counted) do
      add(i, func, line, hits, ns, raw, allocs, bytes, live, wait)
    end
  end
  return list()
end

local summed = { "wall_ns", "paused_ns", "preempted_ns", "waiting_ns",
  "overhead_ns", "clamped_ns",
  "instructions", "events", "unmatched", "truncated", "clock_backwards",
  "clock_backwards_ns", "clock_jumps", "clock_jumps_ns", "gc_steps",
  "gc_cycles", "peak_bytes", "memory_samples",
  "interrupted" }

local function runs(meta) return meta.runs or 1 end

-- why overhead is in the times, and of how many runs
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

-- samples that all times are from, and that calls are of other runs
local function joined_of(profiles)
  local samples, any = 0, nil
  for _, p in ipairs(profiles) do
    samples = samples and p.meta.samples and samples + p.meta.samples
    any = any or p.meta.joined
  end
  return samples or nil, any and #profiles > 1 and
    "calls are those of other runs than times" or any
end

-- those that all have, and what is not the same
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
        out[key] = "not the same in all runs"
      end
    end
  end
  return next(out) and out or nil
end

local function meta_of(profiles)
  local first = profiles[1].meta
  local out = { runs = 0, pid = first.pid, hook_lost = false, folded = false,
    fold_at = first.fold_at }
  for _, key in ipairs { "mode", "clock", "internals", "memory", "gc",
    "live_interval", "memory_interval", "program",
    "lua_version", "lua_release", "cprof_version" } do
    out[key] = first[key]
  end
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
    out.gc = out.gc and meta.gc
    out.gc_longest_ns = math.max(out.gc_longest_ns or 0,
      meta.gc_longest_ns or 0)
    out.allocator_lost = out.allocator_lost or meta.allocator_lost
    out.fold_at = math.min(out.fold_at, meta.fold_at)
    out.ended = out.ended or meta.ended
    if meta.program ~= first.program then out.program = "several programs" end
  end
  out.uncompensated = uncompensated(profiles, out.runs)
  out.options = options_of(profiles)
  out.samples, out.joined = joined_of(profiles)
  if #profiles == 1 then out.costs_ns = first.costs_ns end
  return out
end

-- those of functions that have been counted; the newest say the lines
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

-- what was allocated in functions, by kind
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

-- the newest first: what it says of lines is what holds
local function newest_first(profiles)
  local order, out = {}, {}
  for i in ipairs(profiles) do order[i] = i end
  table.sort(order, function(a, b)
    local x, y = profiles[a].meta.started_at, profiles[b].meta.started_at
    if x ~= y then return x > y end
    return a > b
  end)
  for i, k in ipairs(order) do out[i] = profiles[k] end
  return out
end

-- Does it know single instructions?
local function counted(p) return p.meta.mode == "count" or p.samples end

-- why two cannot be added up
local function differ(p, first)
  local meta, to = p.meta, first.meta
  if meta.mode ~= to.mode then
    return ("mode %s and mode %s cannot be added up"):format(to.mode,
      meta.mode)
  elseif counted(p) and meta.lua_version ~= to.lua_version then
    return ("instructions of %s and of %s cannot be added up"):format(
      to.lua_version, meta.lua_version)
  elseif meta.memory ~= to.memory then
    return "profiles with and without allocations cannot be added up"
  elseif (meta.live_interval == nil) ~= (to.live_interval == nil) then
    return "profiles with and without live blocks cannot be added up"
  elseif compare.clock(meta) ~= compare.clock(to) then
    return ("clock %s and clock %s cannot be added up"):format(to.clock,
      meta.clock)
  end
end

-- the maximum of a figure of a whole profile: see src/profile/profile.h
local most <const> = math.maxinteger // 2

-- the largest of a profile's sums; each sum is of one kind of figure
local function largest(p)
  local lines_hits, lines_allocs, lines_bytes, lines_live = 0, 0, 0, 0
  for _, _, hits, _, _, allocs, bytes, live in lines.each(p.counted) do
    lines_hits, lines_allocs = lines_hits + hits, lines_allocs + allocs
    lines_bytes = lines_bytes + bytes
    lines_live = lines_live + math.abs(live)
  end
  local out = math.max(core.largest(p.nodes), lines_hits, lines_allocs,
    lines_bytes, lines_live)
  for _, key in ipairs(summed) do out = math.max(out, p.meta[key] or 0) end
  local kinds = p.meta.memory and allocations.sum(p).kinds or {}
  for _, kind in pairs(kinds) do
    out = math.max(out, kind.allocs, kind.bytes)
  end
  return out
end

-- The first profile with which a sum could exceed `most`; nil: none.
local function beyond(profiles)
  local left = most
  for i, p in ipairs(profiles) do
    left = left - largest(p)
    if left < 0 then return i end
  end
end

---The sum of profiles. Where there can be none, gives nil, a message, and
---which profile cannot be added to the first one.
---@param profiles cprof.Profile[]
---@return cprof.Profile? sum
---@return string? why
---@return integer? which
function merge.sum(profiles)
  for i, p in ipairs(profiles) do
    local why = differ(p, profiles[1])
    if why then return nil, why, i end
  end
  local which = beyond(profiles)
  if which then
    return nil, ("the sums of their figures would exceed %d"):format(
      most), which
  end
  local all, nodes, maps, shifts = joined.new(), {}, {}, {}
  local sorted = newest_first(profiles)
  for i, p in ipairs(sorted) do
    nodes[i], maps[i], shifts[i] = p.nodes, all:add(p)
  end
  add_counters(sorted, maps, all.functions)
  add_allocated(sorted, maps, all.functions)
  local meta = meta_of(profiles)
  meta.folder = all.folder
  return profile.new(function(f) return f.name, f.title end,
    core.merge(nodes, maps, shifts), all.functions, meta,
    lines_of(sorted, maps, shifts), all.sources)
end

return merge
