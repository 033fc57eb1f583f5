-- cprof diff: how functions changed from one profile to another.

local core = require "cprof.core"
local input = require "cprof.command.input"
local labelled = require "cprof.command.labelled"
local measures = require "cprof.count.measure"
local page = require "cprof.report.page"
local patterns = require "cprof.text.patterns"
local period = require "cprof.command.period"
local range = require "cprof.command.range"
local ranges = require "cprof.profile.range"
local recordings = require "cprof.system.recordings"
local report = require "cprof.report.diff"

local diff = {
  name = "diff",
  summary = "Print what changed from one profile to another.",
  description = "Print what changed from one profile to another, even if " ..
    "the program was edited: functions are matched by name and file, else " ..
    "by equal code, else by their order. Names and places are those of " ..
    "AFTER; functions that had others in BEFORE are marked. A folder of " ..
    "recordings stands for their sum. With one folder, --since compares " ..
    "the recordings from before that time with the later ones.",
  example = "cprof diff before.cprof after.cprof",
  options = {
    { "BEFORE?", "A profile, or a folder with profiles. Without it: the " ..
      "recording before the last one." },
    { "AFTER?", "Another profile or folder. Without it: the last recording." },
    { "--measure", ("Compare %s. (default: cpu, which other programs " ..
      "disturb least; wall if the CPU time is not known)"):format(
      measures.words()), type = "string", values = measures.options() },
    { "--sort", "Sort by the change of this figure; a measure means its " ..
      "self figure. (default: self; with --range, the larger change of the " ..
      "shares of self and total)", type = "string",
      values = measures.options("self", "total", "calls", "name") },
    { "--limit N", "Show at most N functions.", type = "integer", min = 1,
      default = 30 },
    { "--range FROM..TO", "Compare this range of time (2m..2m10s since the " ..
      "recording began) with that of --against. Needs one profile, " ..
      "recorded in mode call, line or sample.",
      read = period.both, must = period.must_both },
    { "--against FROM..TO", "The range to compare with. (default: the whole " ..
      "recording)", read = period.both, must = period.must_both },
    labelled.option, input.filter, range.options, input.page,
  },
}

-- the measure to compare, by its name in --measure
local function measure_of(parsed, before, after)
  if measures.row(parsed.sort) then return parsed.sort end
  local known = before.meta.waiting_ns and after.meta.waiting_ns
  return parsed.measure or known and "cpu" or "wall"
end

local function of_measure(profile, named, option, fail)
  local unknown = measures.unknown(profile, option)
  if unknown then
    fail(("%s is a profile %s"):format(named, input.worded(unknown)))
  end
  return measures.profile(profile, measures.row(option))
end

-- Loads both profiles. With one folder, --since divides it into recordings that
-- began before that time, and later ones.
local function load_profiles(parsed, fail)
  local function load(word, which, span)
    local words = { word }
    if range.single(words, span) then
      return input.load(word, fail, which, true)
    end
    return range.load(words, span, fail)
  end
  local since = parsed.since
  if (since or parsed["until"]) and not parsed.before then
    fail "--since and --until need profiles, or a folder"
  end
  local before_span = parsed
  if parsed.before and not parsed.after and since then
    parsed.after, before_span = parsed.before, { ["until"] = since }
  end
  local before, older = load(parsed.before, "previous", before_span)
  local after, newer = load(parsed.after, nil, parsed)
  local one = core.recorded(parsed.before or recordings.previous())
  if one and one == core.recorded(parsed.after or recordings.last()) then
    parsed.same = "this compares a recording with itself: " ..
      (parsed.after and "name another file" or "name AFTER, or record again")
  end
  return before, older, after, newer
end

-- two ranges of one profile, as BEFORE and AFTER
local function load_ranges(parsed, fail)
  if parsed.after or parsed.since or parsed["until"] then
    fail "--range and --against need one profile"
  elseif not parsed.range then
    fail "--against needs --range, which is compared with it"
  end
  local recording, named = input.load(parsed.before, fail, nil, true)
  local function part(of)
    if not of then return recording, "whole recording" end
    local p = period.cut(recording, of[1], of[2], fail)
    local origin = ranges.origin(p) --[[@as cprof.Origin]]
    return p, ("%s to %s"):format(ranges.ends(origin.from, origin.to,
      recording.meta.wall_ns))
  end
  local before, older = part(parsed.against)
  local after, newer = part(parsed.range)
  parsed.before, parsed.after = older, newer
  return before, named .. ", " .. older, after, named .. ", " .. newer
end

local function load_both(parsed, fail)
  if parsed.range or parsed.against then return load_ranges(parsed, fail) end
  return load_profiles(parsed, fail)
end

-- the counts that both profiles have: "calls", "samples", or nil
local function counted_of(before, after)
  if before.samples and after.samples then
    -- with another measure than time, samples are not counted
    return before.measure.name == "time" and "samples" or nil
  end
  return not (before.samples or after.samples) and "calls" or nil
end

function diff.call(parsed, fail)
  local before, older, after, newer = load_both(parsed, fail)
  before = labelled.of(before, parsed, function(why)
    fail(("%s: %s"):format(older, why))
  end)
  after = labelled.of(after, parsed, function(why)
    fail(("%s: %s"):format(newer, why))
  end)
  local function unfit(why)
    fail(("%s: %s has mode %s, %s has mode %s"):format(why, older,
      before.meta.mode, newer, after.meta.mode))
  end
  if before.measure.unit ~= after.measure.unit then
    unfit "instructions and times cannot be compared"
  end
  local option = measure_of(parsed, before, after)
  if measures.row(parsed.sort) then parsed.sort = "self" end
  before = of_measure(before, older, option, fail)
  after = of_measure(after, newer, option, fail)
  local view = {
    before = older, after = newer, page = page.new(parsed, before),
    whole = math.max(before.measure.whole, after.measure.whole),
    measures = { before = before.measure, after = after.measure },
    counted = counted_of(before, after), ranges = parsed.range ~= nil,
  }
  if parsed.sort == "calls" and not view.counted then
    unfit "--sort calls needs calls, or samples, in both profiles"
  end
  local entries = report.entries(view, before, after)
  parsed.filter = parsed.filter and patterns.new(parsed.filter)
  if parsed.filter then
    report.check_filter(entries, parsed.filter, fail)
  end
  report.write(view, before, after, entries, parsed)
  input.print(view.page:text(), fail)
end

return diff
