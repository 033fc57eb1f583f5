-- Exact counts with the times of another run of the same program.

local compare = require "cprof.profile.compare"
local core = require "cprof.core"
local format = require "cprof.text.format"
local joined = require "cprof.profile.joined"
local lines = require "cprof.count.lines"
local profile = require "cprof.profile"

local join = {}

-- the hits of one, the times of the other
local function lines_of(counts, times, maps, shifts)
  local add, list = lines.sums(maps, shifts)
  for func, line, hits in lines.each(counts.counted) do
    add(1, func, line, hits, 0, 0)
  end
  for func, line, _, ns, raw, _, _, _, wait in lines.each(times.counted) do
    add(2, func, line, 0, ns, raw, 0, 0, 0, wait)
  end
  return list()
end

-- what is known of the times is the second one's
local from_times = { "clock", "internals", "wall_ns", "paused_ns",
  "preempted_ns", "waiting_ns",
  "overhead_ns", "clamped_ns", "uncompensated", "costs_ns",
  "clock_backwards", "clock_backwards_ns", "clock_jumps", "clock_jumps_ns",
  "started_at", "rate", "interrupted" }
local from_counts = { "pid", "program", "folder", "lua_version", "lua_release",
  "cprof_version", "events", "unmatched", "truncated", "folded", "fold_at",
  "hook_lost", "ended", "options" }

-- a share as it is told: never 0 or 100 % when it is not
local function percent(n, whole)
  local text = format.percent(n, whole)
  if text == "100.0" and n < whole then return "99.9" end
  if text == "0.0" and n > 0 then return "0.1" end
  return text
end

local function found(counts, times, node, moved, none)
  local whole = node + moved + none
  if whole == 0 or times.time_samples == 0 then
    return ("calls are those of a run in mode %s; the one in mode %s has " ..
      "no times"):format(counts.meta.mode, times.meta.mode)
  end
  return ("calls are those of a run in mode %s, times of one in mode %s; " ..
    "%s %% of the time was found by its call path, %s %% by its function, " ..
    "%s %% is in functions that the first run did not call"):format(
    counts.meta.mode, times.meta.mode, percent(node, whole),
    percent(moved, whole), percent(none, whole))
end

local function meta_of(counts, times, told)
  local out = { joined = told, samples = times.time_samples }
  for _, key in ipairs(from_times) do out[key] = times.meta[key] end
  for _, key in ipairs(from_counts) do out[key] = counts.meta[key] end
  out.mode = lines.recorded(counts) and lines.recorded(times) and "line" or
    "call"
  return out
end

---Lines that say what does not agree, but for modes and times.
---@param counts cprof.Profile
---@param times cprof.Profile
---@return string[]
function join.notes(counts, times)
  local list = compare.notes(counts.meta, times.meta, "be joined",
    function(way) return not way.option end)
  list[#list + 1] = compare.programs(counts.meta, times.meta)
  return list
end

-- the share of the time, below which the programs are taken for two
local least <const> = 0.5

-- why they hardly are of one program
local function strangers(counts, times, found_ns, none)
  local whole = found_ns + none
  if whole == 0 or found_ns >= least * whole then return nil end
  local function program(p)
    return format.program(p.meta)
  end
  return ("only %s %% of the time of %s is in functions that %s called in " ..
    "the other run"):format(percent(found_ns, whole), program(times),
    program(counts))
end

-- why they cannot be joined
local function differ(counts, times)
  if times.meta.mode == "count" then
    return "the second profile has mode count, and no times"
  elseif counts.meta.mode == "sample" then
    return "the first profile has mode sample, and no calls"
  end
end

---The calls of one profile with the times of another. Gives nil and a
---message where there can be none.
---@param counts cprof.Profile
---@param times cprof.Profile
---@return cprof.Profile?
---@return string?  why there is none, or why it should be doubted
function join.profiles(counts, times)
  local why = differ(counts, times)
  if why then return nil, why end
  local all = joined.new()
  local counted, counted_shift = all:add(counts)
  local timed, timed_shift = all:add(times)
  local nodes, node, moved, none = core.join(counts.nodes, counted,
    counted_shift, times.nodes, timed, timed_shift)
  local meta = meta_of(counts, times, found(counts, times, node, moved,
    none))
  local of_lines = meta.mode == "line" and lines_of(counts, times,
    { counted, timed }, { counted_shift, timed_shift }) or {}
  return profile.new(function(f) return f.name, f.title end, nodes,
    all.functions, meta, of_lines, all.sources),
    strangers(counts, times, node + moved, none)
end

return join
