-- Exact counts with the times of another run of the same program.

local compare = require "cprof.profile.compare"
local core = require "cprof.core"
local durations = require "cprof.count.durations"
local fields = require "cprof.profile.meta"
local format = require "cprof.text.format"
local joined = require "cprof.profile.joined"
local lines = require "cprof.count.lines"
local profile = require "cprof.profile"
local frames = require "cprof.count.frames"
local spots = require "cprof.count.spots"
local tasks = require "cprof.count.tasks"

local join = {}

-- the figures of lines that are from the profile with the counts, and from the
-- one with the times
local hits <const> = { hits = true }
local spent <const> = { self = true, self_raw = true, self_wait = true }

-- A share as text: not "0.0" if it is above 0, nor "100.0" if it is below 100.
local function percent(n, whole)
  local text = format.percent(n, whole)
  if text == "100.0" and n < whole then return "99.9" end
  if text == "0.0" and n > 0 then return "0.1" end
  return text
end

-- Says how much of the time was found in which way: by the nodes' call paths
-- (`node`), by functions alone (`moved`), or not at all (`none`).
local function match_note(counts, times, node, moved, none)
  local whole = node + moved + none
  if whole == 0 or times.time_samples == 0 then
    return ("calls are from a run in mode %s; the run in mode %s has no " ..
      "times"):format(counts.meta.mode, times.meta.mode)
  end
  return ("calls are from a run in mode %s, times from a run in mode %s; " ..
    "%s %% of the time was matched by call path, %s %% by function, " ..
    "%s %% is in functions that the first run did not call"):format(
    counts.meta.mode, times.meta.mode, percent(node, whole),
    percent(moved, whole), percent(none, whole))
end

-- The meta of the joined profile; `told` is its note.
local function meta_of(counts, times, told)
  local out = { joined = told, samples = times.time_samples }
  for _, field in ipairs(fields.fields) do
    local from = field.from == "times" and times or
      field.from == "counts" and counts
    if from then out[field[1]] = from.meta[field[1]] end
  end
  -- only in mode "call" is the overhead within calls known
  out.distribution = out.distribution and counts.meta.mode == "call"
  out.mode = lines.recorded(counts) and lines.recorded(times) and "line" or
    "call"
  return out
end

---Notes on what does not agree in two profiles, a line each; modes and times
---need not agree.
---@param counts cprof.Profile
---@param times cprof.Profile
---@return string[]
function join.notes(counts, times)
  local list = compare.notes(counts.meta, times.meta, "be joined",
    function(setting) return not setting.option end)
  list[#list + 1] = compare.programs(counts.meta, times.meta)
  return list
end

-- If less than this share of the time is found, the profiles are taken to be
-- of different programs.
local least_found <const> = 0.5

-- Why the profiles are probably not of one program; nil: they may be.
local function doubt(counts, times, found_ns, none)
  local whole = found_ns + none
  if whole == 0 or found_ns >= least_found * whole then return nil end
  local function program(p)
    return format.program(p.meta)
  end
  return ("only %s %% of the time of %s is in functions that %s called in " ..
    "the other run"):format(percent(found_ns, whole), program(times),
    program(counts))
end

-- Why two profiles cannot be joined; nil: they can.
local function obstacle(counts, times)
  if times.meta.mode == "count" then
    return "the second profile has mode count, and no times"
  elseif counts.meta.mode == "sample" then
    return "the first profile has mode sample, and no calls"
  end
end

---Joins the calls of one profile with the times of another. Returns nil and a
---message if they cannot be joined.
---@param counts cprof.Profile
---@param times cprof.Profile
---@return cprof.Profile? joined
---@return string? why  they cannot be joined, or the result is doubtful
function join.profiles(counts, times)
  local why = obstacle(counts, times)
  if why then return nil, why end
  local all = joined.new()
  local counted, counted_shift = all:add(counts)
  local timed, timed_shift = all:add(times)
  local zones = {}
  for i, f in ipairs(all.functions) do
    f.histogram = durations.detached(f.histogram)
    zones[i] = f.kind == "zone"
  end
  spots.sum({ times }, { timed }, all.functions)
  local nodes, node, moved, none = core.join(counts.nodes, counted,
    counted_shift, times.nodes, timed, timed_shift,
    zones, #all.functions)
  local meta = meta_of(counts, times, match_note(counts, times, node, moved,
    none))
  local of_lines = meta.mode == "line" and lines.sums {
    { counted = counts.counted, map = counted, shift = counted_shift,
      only = hits },
    { counted = times.counted, map = timed, shift = timed_shift,
      only = spent },
  } or {}
  local of_tasks = profile.tasks(counts)
  return profile.new(function(f) return f.name, f.title end, nodes,
    all.functions, meta, of_lines, all.sources, nil,
    of_tasks and tasks.sum({ { tasks = of_tasks, nodes = counts.nodes,
      map = counted, shift = counted_shift } }, nodes),
    frames.sum { { loops = profile.loops(times) } }),
    doubt(counts, times, node + moved, none)
end

return join
