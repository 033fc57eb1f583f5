-- The report of a comparison: how functions changed from one profile to
-- another.

local compare = require "cprof.profile.compare"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local match = require "cprof.profile.match"
local name = require "cprof.source.name"
local nearest = require "cprof.text.nearest"
local order = require "cprof.text.order"
local select = require "cprof.report.select"

local diff = {}

---@class cprof.Comparison
---@field before string       what is compared, in words
---@field after string
---@field page cprof.Page
---@field whole number        that of the profile where it is larger
---@field measures { before: cprof.Measure, after: cprof.Measure }
---@field counted? "calls"|"samples"  the counts that both profiles have
---@field ranges boolean      are two ranges of time compared?

-- {======================================================
-- Entries: a function before and after, or one of them
-- =======================================================

local nothing <const> = { count = 0, self = 0, total = 0, self_most = 0,
                          total_most = 0 }

---@class cprof.Difference
---@field before cprof.Row   or `nothing`
---@field after cprof.Row    or `nothing`
---@field func cprof.Function  the newer one
---@field self number        change of self
---@field total number
---@field count number
---@field points number      change of the share of self
---@field points_off number  margin of error of points; 0: exact
---@field total_points number  change of the share of total
---@field total_points_off number
---@field self_off number    margin of error of the change of self
---@field total_off number   margin of error of the change of total

local function rows_of(profile)
  local rows, functions = {}, {}
  for _, row in ipairs((graph.functions(profile))) do
    if row.func.kind ~= "root" then
      rows[#rows + 1], functions[#functions + 1] = row, row.func
    end
  end
  return rows, functions
end

-- The margins of error of a change, in points and as a figure; 0 without
-- samples.
local function error_of(view, entry, figure)
  local points, own = 0, 0
  for side, measure in pairs(view.measures) do
    local off = measure:off(entry[side][figure]) or 0
    points, own = points + off ^ 2, own + (off * measure.whole) ^ 2
  end
  return 100 * points ^ 0.5, own ^ 0.5
end

local function entry_of(view, a, b)
  local before, after = view.measures.before, view.measures.after
  local entry = { before = a, after = b,
    func = b ~= nothing and b.func or a.func, self = b.self - a.self,
    total = b.total - a.total, count = b.count - a.count,
    points = format.share(b.self, after.whole) -
      format.share(a.self, before.whole),
    total_points = format.share(b.total, after.whole) -
      format.share(a.total, before.whole) }
  entry.points_off, entry.self_off = error_of(view, entry, "self")
  entry.total_points_off, entry.total_off = error_of(view, entry, "total")
  return entry
end

---Entries for the functions of both profiles, matched.
---@param view cprof.Comparison
---@param before cprof.Profile
---@param after cprof.Profile
---@return cprof.Difference[]
function diff.entries(view, before, after)
  local from, olds = rows_of(before)
  local to, news = rows_of(after)
  local pairs_of = match.functions(olds, news)
  local out, found = {}, {}
  for i, row in ipairs(from) do
    local j = pairs_of[i]
    out[#out + 1] = entry_of(view, row, j and to[j] or nothing)
    if j then found[j] = true end
  end
  for j, row in ipairs(to) do
    if not found[j] then out[#out + 1] = entry_of(view, nothing, row) end
  end
  return out
end

-- is the change within the margins of error?
local function within(entry)
  return math.abs(entry.points) <= entry.points_off and
    math.abs(entry.self) <= entry.self_off and entry.points_off > 0
end

-- The larger change of the two shares, of those that are beyond their margins
-- of error. A range may be longer than the other, so times are not compared.
local function shift(entry)
  local out = 0
  for _, figure in ipairs { "points", "total_points" } do
    local change = math.abs(entry[figure])
    if change > entry[figure .. "_off"] then out = math.max(out, change) end
  end
  return out
end

local function sort(entries, by)
  local field = by == "calls" and "count" or by or "points"
  table.sort(entries, order(
    function(entry)
      if not by then return -shift(entry) end
      return by == "self" and within(entry) and 1 or 0
    end,
    function(entry)
      return by == "name" and 0 or -math.abs(entry[field])
    end, "func.title",
    function(entry) return entry.before == nothing and 0 or 1 end))
end

local function differs(view, entry)
  return entry.before == nothing or entry.after == nothing or
    view.counted and entry.count ~= 0 or entry.self ~= 0 or
    math.abs(entry.total) > entry.total_off
end

local function passes(entry, filter)
  for _, row in ipairs { entry.before, entry.after } do
    if row ~= nothing and select.passes(row, filter) then return true end
  end
  return false
end

---Fails if no function of either profile passes the filter.
---@param entries cprof.Difference[]
---@param filter cprof.Pattern
---@param fail fun(message: string)
function diff.check_filter(entries, filter, fail)
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

local name_column <const> = { title = "function", left = true, least = 18,
  tight = 18, code = true, cut = format.cutname }
local place_column <const> = { title = "defined", left = true, least = 16,
  tight = 10, spare = true, cut = format.cutpath, code = true }

local columns <const> = {
  { title = "calls", rank = 1 },
  { title = "now", alone = "calls now", spare = true },
  { title = "total", rank = 3 }, { title = "now", rank = 3 },
  { title = "self", rank = 2 },
  { title = "now", alone = "self now", spare = true },
  { title = "change" }, { title = "points", spare = true },
  name_column, place_column,
  { title = "status", left = true, optional = true, least = 12, tight = 8 },
}

-- the columns of a comparison of ranges (--range), which shows shares
local of_ranges <const> = {
  { title = "total %", rank = 2 }, { title = "now", rank = 2 },
  { title = "change", alone = "total change" },
  { title = "self %", rank = 1 }, { title = "now", rank = 1 },
  { title = "change", alone = "self change" },
  name_column, place_column,
}

local COUNTED <const> = 2  -- the number of columns about calls

-- The columns that both profiles have figures for: calls, samples, or neither.
local function columns_of(view)
  if view.ranges then return of_ranges end
  if view.counted == "calls" then return columns end
  local out = table.move(columns, 1, #columns, 1, {})
  if not view.counted then return table.move(out, COUNTED + 1, #out, 1, {}) end
  out[1] = { title = "samples", rank = 1 }
  out[2] = { title = "now", alone = "samples now", spare = true }
  return out
end

local function sign(n, text)
  return (n > 0 and "+" or n < 0 and "-" or "") .. text
end

local function signed(on, n)
  return n == 0 and "0" or sign(n, on:time(math.abs(n)))
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

local function uncertain(off)
  return off > 0 and (" ±%.1f"):format(off) or ""
end

-- a change of a share, with its margin of error
local function change_of_share(view, entry, figure)
  local n, off = entry[figure], entry[figure .. "_off"]
  return mark(view, n, off, points(n)) .. uncertain(off)
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

local function cell(side, text, style)
  return { side == nothing and "-" or text, style }
end

-- the cells of a row of ranges, up to the function's name
local function shares(view, entry)
  local out = {}
  for _, of in ipairs { { "total", "total_points" }, { "self", "points" } } do
    local field, figure = of[1], of[2]
    for _, which in ipairs { "before", "after" } do
      local side = entry[which]
      out[#out + 1] = cell(side, format.percent(side[field],
        view.measures[which].whole))
    end
    local change = math.abs(entry[figure])
    out[#out + 1] = { change_of_share(view, entry, figure),
      change <= entry[figure .. "_off"] and "dim" or format.heat(change, 100) }
  end
  return out
end

-- the cells of `columns` to the left of the function's name
local function figures(view, entry)
  local before, after, on = entry.before, entry.after, view.page
  local unsure = within(entry)
  local out = {}
  if view.counted then
    out[1] = cell(before, format.count(before.count))
    out[2] = cell(after, format.count(after.count),
      entry.count ~= 0 and not unsure and "bold" or nil)
  end
  for _, kind in ipairs { "total", "self" } do
    for _, side in ipairs { before, after } do
      out[#out + 1] = cell(side, on:time(side[kind], side[kind .. "_most"]))
    end
  end
  out[#out + 1] = { mark(view, entry.self, entry.self_off,
    signed(on, entry.self)), unsure and "dim" or
    format.heat(math.abs(entry.self), view.whole) }
  out[#out + 1] = { change_of_share(view, entry, "points") }
  return out
end

local function cells(view, entry)
  local out = (view.ranges and shares or figures)(view, entry)
  local one = entry.before == nothing or entry.after == nothing
  out[#out + 1] = { format.plain(entry.func.name) }
  out[#out + 1] = { format.plain(name.where(entry.func)), "dim" }
  if not view.ranges then
    out[#out + 1] = { format.plain(status(entry)),
      one and not within(entry) and "bold" or "dim" }
  end
  return out
end

local function table_of(view, entries, parsed)
  local rows, more, left = {}, 0, 0
  for _, entry in ipairs(entries) do
    if differs(view, entry) and passes(entry, parsed.filter) then
      if #rows < parsed.limit then
        rows[#rows + 1] = cells(view, entry)
      else
        more, left = more + 1, left + entry.self
      end
    end
  end
  local on = view.page
  if #rows == 0 then return on:line "no function differs" end
  on:table(columns_of(view), rows)
  if more > 0 then
    local self = view.ranges and "" or
      (", %s self"):format(signed(view.page, left))
    on:rest(("… %s%s"):format(format.plural(more, "more function"), self))
  end
  on:explain()
end

-- }======================================================


-- {======================================================
-- Durations of calls
-- =======================================================

-- steps of histograms are up to 10 % wide: a change has to be larger
local least_change <const> = 1.25

local percentiles <const> = { "p50_ns", "p99_ns", "max_ns" }

local of_durations <const> = {
  { title = "median", spare = true }, { title = "now", spare = true },
  { title = "p99" }, { title = "now" }, { title = "max", rank = 1 },
  { title = "now", rank = 1 },
  { title = "function", left = true, least = 18, code = true,
    cut = format.cutname },
  { title = "defined", left = true, least = 16, cut = format.cutpath,
    code = true, rank = 2 },
}

local function changed(a, b)
  return math.max(a, b) > least_change * math.max(math.min(a, b), 1)
end

-- how much the 99th percentile changed, where it or the median changed notably;
-- nil: neither did, or they are not known
local function change_of(entry)
  local a, b = entry.before.durations, entry.after.durations
  if not a or not b or a.calls + b.calls <= 2 then return nil end
  return (changed(a.p50_ns, b.p50_ns) or changed(a.p99_ns, b.p99_ns)) and
    math.abs(b.p99_ns - a.p99_ns) or nil
end

-- A table of functions whose calls take longer now, or less long.
local function durations_of(view, entries, parsed)
  local list, rows = {}, {}
  for _, entry in ipairs(entries) do
    entry.longer = change_of(entry)
    if entry.longer and passes(entry, parsed.filter) then
      list[#list + 1] = entry
    end
  end
  table.sort(list, order("-longer", "func.title"))
  for i = 1, math.min(#list, parsed.limit) do
    local row, entry = {}, list[i]
    for _, field in ipairs(percentiles) do
      for _, side in ipairs { entry.before, entry.after } do
        row[#row + 1] = { format.time(side.durations[field]) }
      end
    end
    row[#row + 1] = { format.plain(entry.func.name) }
    row[#row + 1] = { format.plain(name.where(entry.func)), "dim" }
    rows[i] = row
  end
  if #rows == 0 then return end
  view.page:gap()
  view.page:subtitle "durations of calls"
  view.page:table(of_durations, rows)
end

-- }======================================================


-- {======================================================
-- The lines above the table
-- =======================================================

-- the whole of a profile in words
local function amount(p)
  local m = p.measure
  local own = m:amount(m.whole) .. " " .. m.noun
  if not m:timed() then return own end
  local wall = format.time(p.meta.wall_ns) .. " wall"
  return m.name == "time" and wall or wall .. ", " .. own
end

-- A line about a profile. It has no path if that is the last recording or the
-- one before.
local function head(view, side, path, profile)
  local meta = profile.meta
  local n = profile.samples or select.calls(profile)
  view.page:line(("%s%s%s, %s, %s, mode %s, clock %s%s"):format(side,
    path and path .. ": " or "", format.program(meta), amount(profile),
    format.plural(n, profile.samples and "sample" or "call"), meta.mode,
    meta.clock, meta.labels and ", label " .. format.plain(meta.labels) or
    ""))
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
  if view.ranges then
    return view.page:line("compared: shares of " .. view.measures.after.is)
  end
  local was = view.measures.before.whole
  local n = view.measures.after.whole - was
  local calls = view.counted == "calls" and
    select.calls(after) - select.calls(before)
  local counts = calls and (", %s calls"):format(sign(calls,
    format.count(math.abs(calls)))) or ""
  local function differ(side, how)
    local number = counted(entries, side)
    return number == 0 and "" or (", %s %s"):format(
      format.plural(number, "function"), how)
  end
  view.page:line(("change: %s%s%s%s%s"):format(signed(view.page, n),
    was > 0 and (" (%s %%)"):format(points(format.share(n, was))) or "",
    counts, differ("before", "added"), differ("after", "removed")))
end

-- What a comparison of CPU time does not show; nil: the waiting changed less.
local function waited(view, before, after)
  local was, is = before.meta.waiting_ns, after.meta.waiting_ns
  local m = view.measures
  if m.after.name ~= "cpu" or not was or not is then return nil end
  local change = is - was
  if math.abs(change) <= math.abs(m.after.whole - m.before.whole) or
     math.abs(change) * 20 <= after.meta.wall_ns then
    return nil
  end
  return ("this compares CPU time; waiting changed more, by %s: " ..
    "--measure=wait or --measure=wall shows that"):format(
    sign(change, format.time(math.abs(change))))
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
  local was, is = preempted(before), preempted(after)
  if math.max(was or 0, is or 0) < 100 * busy then return nil end
  local function told(share, when)
    return share and ("%.0f %% of the time %s"):format(share, when) or
      ("an unknown time %s"):format(when)
  end
  return ("other programs had the processor for %s and %s: changes of " ..
    "less than %d %% may be noise"):format(told(was, "before"),
    told(is, "after"), disturbed)
end

local function notes(view, before, after, same)
  local list = compare.notes(before.meta, after.meta, "be compared")
  list[#list + 1] = same
  local two = compare.programs(before.meta, after.meta)
  if two then table.insert(list, 1, two) end
  for _, side in ipairs { { view.before, before }, { view.after, after } } do
    local why = compare.inexact(side[2].meta)
    if why then
      list[#list + 1] = ("the counts of %s are not exact: %s"):format(
        side[1], why)
    end
  end
  if before.measure:timed() then
    list[#list + 1] = noise(before.meta, after.meta)
    list[#list + 1] = not view.ranges and waited(view, before, after) or nil
  end
  for _, note in ipairs(list) do view.page:note(note) end
end

-- }======================================================

---Adds the report to the page.
---@param view cprof.Comparison
---@param before cprof.Profile
---@param after cprof.Profile
---@param entries cprof.Difference[]
---@param parsed table        the command's options
function diff.write(view, before, after, entries, parsed)
  if view.page.markdown then view.page:title "cprof diff" end
  head(view, "before: ", parsed.before, before)
  head(view, "after:  ", parsed.after, after)
  if not view.ranges and not view.counted and before.measure:timed() then
    view.page:line "compared: self and total times"
  end
  whole(view, before, after, entries)
  notes(view, before, after, parsed.same)
  view.page:gap()
  sort(entries, parsed.sort or not view.ranges and "self" or nil)
  table_of(view, entries, parsed)
  durations_of(view, entries, parsed)
end

return diff
