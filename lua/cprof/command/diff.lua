-- cprof diff: how functions changed from one profile to another.

local compare = require "cprof.profile.compare"
local format = require "cprof.text.format"
local input = require "cprof.command.input"
local match = require "cprof.profile.match"
local measured = require "cprof.count.measured"
local name = require "cprof.source.name"
local nearest = require "cprof.text.nearest"
local measures = require "cprof.count.measure"
local order = require "cprof.text.order"
local page = require "cprof.report.page"
local patterns = require "cprof.text.patterns"
local range = require "cprof.command.range"
local select = require "cprof.report.select"

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
}

local orders = { "self", "total", "calls", "name", "alloc", "allocs", "live" }

local measure_names = { "wall", "cpu", "wait", "alloc", "allocs", "live" }

function diff.define(parser)
  parser:argument("BEFORE", "A profile, or a folder with profiles. Without " ..
    "it: the recording before the last one."):target "before":args "?"
  parser:argument("AFTER", "Another profile or folder. Without it: the " ..
    "last recording."):target "after":args "?"
  parser:option("--measure", "Compare wall time; the part of it that is CPU " ..
    "time or waiting time; bytes allocated; allocations; or bytes in use. " ..
    "(default: cpu, which other programs disturb least; wall if the CPU " ..
    "time is not known)"):choices(measure_names)
  parser:option("--sort", "Sort by the change of this figure; alloc, " ..
    "allocs, live: by that measure.")
    :choices(orders):default "self"
  parser:option("--limit", "Show at most N functions."):argname "N"
    :convert(input.integer("--limit", 1)):default "30"
  input.filter(parser)
  range.define(parser)
  input.page(parser)
end


-- {======================================================
-- Entries: a function before and after, or one of them
-- =======================================================

local nothing = { calls = 0, self_ns = 0, total_ns = 0, self_most_ns = 0,
                  total_most_ns = 0 }

---@class cprof.Difference
---@field before cprof.Row   or `nothing`
---@field after cprof.Row    or `nothing`
---@field func cprof.Function  the newer one
---@field points number      change of its share of the time
---@field points_off number  margin of error of points; 0: exact
---@field ns_off number       margin of error of the change of its self time
---@field total_off number    margin of error of the change of its total time

local function rows_of(profile)
  local rows, functions = {}, {}
  for _, row in ipairs((select.functions(profile))) do
    if row.func.kind ~= "root" then
      rows[#rows + 1], functions[#functions + 1] = row, row.func
    end
  end
  return rows, functions
end

-- The margins of error of a change, in points and in ns; 0 without samples.
local function error_of(view, entry, figure)
  local points, ns = 0, 0
  for side, measure in pairs(view.measures) do
    local off = measure:off(entry[side][figure]) or 0
    points, ns = points + off ^ 2, ns + (off * measure.whole) ^ 2
  end
  return 100 * points ^ 0.5, ns ^ 0.5
end

local function entries_of(view, before, after)
  local from, olds = rows_of(before)
  local to, news = rows_of(after)
  local pairs_of = match.functions(olds, news)
  local out, found = {}, {}
  local function add(a, b)
    local entry = { before = a, after = b,
      func = b ~= nothing and b.func or a.func,
      points = format.share(b.self_ns, after.program_ns) -
        format.share(a.self_ns, before.program_ns) }
    local _
    entry.points_off, entry.ns_off = error_of(view, entry, "self_ns")
    _, entry.total_off = error_of(view, entry, "total_ns")
    out[#out + 1] = entry
  end
  for i, row in ipairs(from) do
    local j = pairs_of[i]
    add(row, j and to[j] or nothing)
    if j then found[j] = true end
  end
  for j, row in ipairs(to) do
    if not found[j] then add(nothing, row) end
  end
  return out
end

local calls_of <const> = select.often

local function change(entry, field)
  if field == "calls" then
    return calls_of(entry.after) - calls_of(entry.before)
  end
  return entry.after[field] - entry.before[field]
end

-- is the change within the margins of error?
local function within(entry)
  return math.abs(entry.points) <= entry.points_off and
    math.abs(change(entry, "self_ns")) <= entry.ns_off and
    entry.points_off > 0
end

local function sort(entries, by)
  local field = by == "calls" and "calls" or by .. "_ns"
  table.sort(entries, order(
    function(entry) return by == "self" and within(entry) and 1 or 0 end,
    function(entry)
      return by == "name" and 0 or -math.abs(change(entry, field))
    end, "func.title",
    function(entry) return entry.before == nothing and 0 or 1 end))
end

local function differs(view, entry)
  return entry.before == nothing or entry.after == nothing or
    view.counted and change(entry, "calls") ~= 0 or
    change(entry, "self_ns") ~= 0 or
    math.abs(change(entry, "total_ns")) > entry.total_off
end

local function passes(entry, filter)
  for _, row in ipairs { entry.before, entry.after } do
    if row ~= nothing and select.passes(row, filter) then return true end
  end
  return false
end

-- fails if no function of either profile passes the filter
local function check_filter(entries, filter, fail)
  local titles = {}
  for i, entry in ipairs(entries) do
    if passes(entry, filter) then return end
    titles[i] = entry.func.title
  end
  fail(("no function matches --filter '%s'%s"):format(filter.text,
    nearest.list(filter:word(), titles)))
end

-- }======================================================


-- {======================================================
-- The table
-- =======================================================

-- If there is no room, columns with a rank are left out, the highest first. The
-- column after one of them then has the title `alone`. Names are cut to `least`
-- to keep columns, and to `tight` when no ranked column is left; then no name
-- is longer than `most`.
local columns = {
  { title = "calls", rank = 1 }, { title = "now", alone = "calls now" },
  { title = "total", rank = 3 }, { title = "now", rank = 3 },
  { title = "self", rank = 2 }, { title = "now", alone = "self now" },
  { title = "change" }, { title = "points" },
  { title = "function", left = true, least = 18, tight = 11, most = 20,
    firm = true, code = true },
  { title = "defined", left = true, least = 16, tight = 10,
    cut = format.cutpath, firm = true, code = true },
  { title = "status", left = true, least = 12, tight = 8, firm = true },
}

local COUNTED <const> = 2  -- the number of columns about calls

-- the columns for samples, and those for profiles without common counts
local of_samples = table.move(columns, 1, #columns, 1, {})
of_samples[1] = { title = "samples", rank = 1 }
of_samples[2] = { title = "now", alone = "samples now" }
local of_times = table.move(columns, COUNTED + 1, #columns, 1, {})

local function columns_of(view)
  if not view.counted then return of_times end
  return view.counted == "samples" and of_samples or columns
end

local function sign(n, text)
  return (n > 0 and "+" or n < 0 and "-" or "") .. text
end

local function signed(on, ns)
  return ns == 0 and "0" or sign(ns, on:time(math.abs(ns)))
end

-- a change in percent or percentage points, with its sign
local function points(n)
  local text = ("%.1f"):format(math.abs(n))
  return text == "0.0" and text or sign(n, text)
end

local unsure_note <const> = "~ within the margin of error: may not have changed"

-- marks a change that is within its margin of error
local function mark(view, n, off, text)
  if math.abs(n) > off or text:find "^0" then return text end
  view.page:footnote(unsure_note)
  return "~" .. text
end

local function uncertain(entry)
  return entry.points_off > 0 and (" ±%.1f"):format(entry.points_off) or ""
end

-- "added", "removed", or the name and place that the function had before
local function status(entry)
  local perhaps = within(entry) and "?" or ""
  if entry.before == nothing then return "added" .. perhaps end
  if entry.after == nothing then return "removed" .. perhaps end
  local old, new = entry.before.func, entry.after.func
  if new.kind == "C" or old.title == new.title then return "" end
  local named = new.kind ~= "main" and match.name(old) ~= match.name(new)
  local out = named and "was " .. old.name or "was"
  local place = match.place(old)
  if place ~= match.place(new) then
    out = ("%s at %s"):format(out, place)
    if new.kind == "Lua" then out = ("%s:%d"):format(out, old.line) end
  elseif new.kind == "Lua" and old.line ~= new.line then
    out = ("%s at line %d"):format(out, old.line)
  end
  return out ~= "was" and out or ""
end

local function cells(view, entry)
  local before, after, on = entry.before, entry.after, view.page
  local function figure(side, text)
    return side == nothing and "-" or text
  end
  local ns, now = change(entry, "self_ns"), status(entry)
  local unsure = within(entry)
  local out = {
    figure(before, format.count(calls_of(before))),
    { figure(after, format.count(calls_of(after))),
      calls_of(before) ~= calls_of(after) and not unsure and "bold" or nil },
    figure(before, on:time(before.total_ns, before.total_most_ns)),
    figure(after, on:time(after.total_ns, after.total_most_ns)),
    figure(before, on:time(before.self_ns, before.self_most_ns)),
    figure(after, on:time(after.self_ns, after.self_most_ns)),
    { mark(view, ns, entry.ns_off, signed(on, ns)),
      unsure and "dim" or format.heat(math.abs(ns), view.whole) },
    mark(view, entry.points, entry.points_off, points(entry.points)) ..
      uncertain(entry),
    format.plain(entry.func.name),
    { format.plain(name.where(entry.func)), "dim" },
    { format.plain(now), (before == nothing or after == nothing) and
      not unsure and "bold" or "dim" },
  }
  return view.counted and out or table.move(out, COUNTED + 1, #out, 1, {})
end

-- the columns of `all` below a rank, and their cells
local function without(all, rank, rows)
  local kept, shown, picked = {}, {}, {}
  for i, column in ipairs(all) do
    if (column.rank or 0) < rank then
      kept[#kept + 1] = i
      local alone = column.alone and all[i - 1].rank >= rank
      shown[#kept] = setmetatable({
        title = alone and column.alone or nil, rank = false,
        least = rank == 1 and column.tight or nil,
      }, { __index = column })
    end
  end
  for r, row in ipairs(rows) do
    picked[r] = {}
    for k, i in ipairs(kept) do
      local most = rank == 1 and all[i].most
      picked[r][k] = most and format.cut(row[i], most) or row[i]
    end
  end
  return shown, picked
end

local function widest(lines)
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, format.width(line))
  end
  return width
end

-- the lines of the table, with as many columns as there is room for
local function fitting(view, rows)
  local on, all = view.page, columns_of(view)
  local lines = format.table(all, rows, math.huge, on.paint)
  for rank = 3, 1, -1 do
    if widest(lines) <= on.width then break end
    local kept, picked = without(all, rank, rows)
    lines = format.table(kept, picked, on.width, on.paint)
  end
  return lines
end

local function table_of(view, entries, parsed)
  local rows, more, more_ns = {}, 0, 0
  for _, entry in ipairs(entries) do
    if differs(view, entry) and passes(entry, parsed.filter) then
      if #rows < parsed.limit then
        rows[#rows + 1] = cells(view, entry)
      else
        more, more_ns = more + 1, more_ns + change(entry, "self_ns")
      end
    end
  end
  local on = view.page
  if #rows == 0 then return on:line "no function differs" end
  if on.markdown then on:table(columns_of(view), rows)
  else on:verbatim(fitting(view, rows)) end
  if more > 0 then
    on:rest(("… %s, %s self"):format(
      format.plural(more, "more function"), signed(view.page, more_ns)))
  end
  on:explain()
end

-- }======================================================


-- {======================================================
-- The lines above the table
-- =======================================================

-- the whole of a profile in words, by measure or mode; default: wall time
local amounts = {
  count = function(p)
    return format.count(p.meta.instructions) .. " instructions"
  end,
  cpu = function(p)
    return ("%s wall, %s CPU"):format(format.time(p.meta.wall_ns),
      format.time(p.program_ns))
  end,
  wait = function(p)
    return ("%s wall, %s waiting"):format(format.time(p.meta.wall_ns),
      format.time(p.program_ns))
  end,
  bytes = function(p) return format.bytes(p.program_ns) .. " allocated" end,
  allocs = function(p) return format.count(p.program_ns) .. " allocations" end,
  live = function(p) return format.bytes(p.program_ns) .. " in use" end,
}

-- A line about a profile. It has no path if that is the last recording or the
-- one before.
local function head(view, side, path, profile)
  local meta = profile.meta
  local amount = amounts[meta.measure or meta.mode]
  local n = profile.samples or select.calls(profile)
  local facts = (", %s, %s, mode %s, clock %s"):format(
    amount and amount(profile) or format.time(meta.wall_ns) .. " wall",
    format.plural(n, profile.samples and "sample" or "call"), meta.mode,
    meta.clock)
  local what = side .. (path and path .. ": " or "") ..
    format.program(meta)
  view.page:line(what .. facts)
end

local function counted(entries, side)
  local n = 0
  for _, entry in ipairs(entries) do
    if entry[side] == nothing and not within(entry) then n = n + 1 end
  end
  return n
end

-- a line about the change of the whole
local function whole(view, before, after, entries)
  local ns, was_ns = after.program_ns - before.program_ns, before.program_ns
  local calls = view.counted == "calls" and
    select.calls(after) - select.calls(before)
  local counts = calls and (", %s calls"):format(sign(calls,
    format.count(math.abs(calls)))) or ""
  local function differ(side, how)
    local n = counted(entries, side)
    return n == 0 and "" or (", %s %s"):format(
      format.plural(n, "function"), how)
  end
  view.page:line(("change: %s%s%s%s%s"):format(signed(view.page, ns),
    was_ns > 0 and (" (%s %%)"):format(points(format.share(ns, was_ns))) or
    "", counts, differ("before", "added"), differ("after", "removed")))
end

-- the share of the time in which other programs may have the processor: more
-- disturbs caches
local busy <const> = 0.05

-- percent by which CPU times change on a busy machine, see spec/accuracy
local disturbed <const> = 5

-- the share of the time when other programs had the processor; nil: not known
local function preempted(meta)
  return meta.waiting_ns and not meta.preempted_unknown and
    format.share(meta.preempted_ns, meta.wall_ns - meta.paused_ns) or nil
end

local function noise(before, after)
  if not measured.times(before) then return nil end
  local was, is = preempted(before), preempted(after)
  if math.max(was or 0, is or 0) < 100 * busy then return nil end
  local function told(share, when)
    return share and ("%.0f %% of the time %s"):format(share, when) or
      ("an unknown time %s"):format(when)
  end
  return ("other programs had the processor for %s and %s: changes of " ..
    "less than %d %% may come from that"):format(told(was, "before"),
    told(is, "after"), disturbed)
end

local function notes(view, before, after)
  local list = compare.notes(before.meta, after.meta, "be compared")
  local two = compare.programs(before.meta, after.meta)
  if two then table.insert(list, 1, two) end
  local function check(path, profile)
    local why = compare.inexact(profile.meta)
    if why then
      list[#list + 1] = ("the counts of %s are not exact: %s"):format(path,
        why)
    end
  end
  check(view.before, before)
  check(view.after, after)
  list[#list + 1] = noise(before.meta, after.meta)
  for _, note in ipairs(list) do view.page:note(note) end
end

-- }======================================================


-- what a profile lacks for a measure, and how to record it
local missing = {
  bytes = "has no allocations: record it with cprof run --memory",
  live = "has no live blocks: record it with cprof run --memory=live",
  cpu = "does not tell waiting from computing, as modes call and line do",
}
missing.allocs, missing.wait = missing.bytes, missing.cpu

local function of_measure(profile, named, option, fail)
  local row = measured.row(option)
  if not row then return profile end
  if row.unknown(profile.meta) then
    fail(("%s %s"):format(named, profile.meta.memory and missing[row.name] or
      row.name == "live" and missing.bytes or missing[row.name]))
  end
  return measured.profile(profile, row.name)
end

-- the measure to compare, by its name in --measure
local function measure_of(parsed, before, after)
  if measured.row(parsed.sort) then return parsed.sort end
  if parsed.measure then return parsed.measure end
  local known = before.meta.waiting_ns and after.meta.waiting_ns
  return known and "cpu" or "wall"
end

-- Loads both profiles. With one folder, --since divides it into recordings that
-- began before that time, and later ones.
local function load_both(parsed, fail)
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
  return before, older, after, newer
end

-- the counts that both profiles have: "calls", "samples", or nil
local function counted_of(before, after)
  if before.samples and after.samples then
    -- samples of allocations are not calls
    return measured.times(before.meta) and "samples" or nil
  end
  return not (before.samples or after.samples) and "calls" or nil
end

function diff.call(parsed, fail)
  local before, older, after, newer = load_both(parsed, fail)
  if measures.of(before).unit ~= measures.of(after).unit then
    fail(("instructions and times cannot be compared: %s has mode %s, %s " ..
      "has mode %s"):format(older, before.meta.mode, newer, after.meta.mode))
  end
  local measure = measure_of(parsed, before, after)
  if measured.row(parsed.sort) then parsed.sort = "self" end
  before = of_measure(before, older, measure, fail)
  after = of_measure(after, newer, measure, fail)
  local view = {
    before = older, after = newer,
    page = page.new({ format = parsed.format, width = parsed.width,
                      color = parsed.color }, before),
    whole = math.max(before.program_ns, after.program_ns),
    measures = { before = measures.of(before), after = measures.of(after) },
    counted = counted_of(before, after),
  }
  if parsed.sort == "calls" and not view.counted then
    fail(("--sort calls needs calls, or samples, in both profiles: %s has " ..
      "mode %s, %s has mode %s"):format(older, before.meta.mode, newer,
      after.meta.mode))
  end
  local entries = entries_of(view, before, after)
  parsed.filter = parsed.filter and patterns.new(parsed.filter)
  if parsed.filter then check_filter(entries, parsed.filter, fail) end
  if view.page.markdown then view.page:title "cprof diff" end
  head(view, "before: ", parsed.before, before)
  head(view, "after:  ", parsed.after, after)
  if not view.counted and measured.times(before.meta) then
    view.page:line "compared: self and total times"
  end
  whole(view, before, after, entries)
  notes(view, before, after)
  view.page:gap()
  sort(entries, parsed.sort)
  table_of(view, entries, parsed)
  input.print(view.page:text(), fail)
end

return diff
