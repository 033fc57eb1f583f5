-- cprof show: everything about one function.

local allocations = require "cprof.count.allocations"
local annotate = require "cprof.annotate"
local bound = require "cprof.count.bound"
local columns = require "cprof.report.columns"
local durations = require "cprof.report.durations"
local find = require "cprof.report.find"
local format = require "cprof.text.format"
local functions = require "cprof.annotate.functions"
local graph = require "cprof.count.graph"
local input = require "cprof.command.input"
local labelled = require "cprof.command.labelled"
local listing = require "cprof.annotate.listing"
local name = require "cprof.source.name"
local recorded = require "cprof.count.lines"
local page = require "cprof.report.page"
local period = require "cprof.command.period"
local range = require "cprof.profile.range"
local explained = require "cprof.count.rows"
local slow = require "cprof.report.slow"
local tasks = require "cprof.report.tasks"
local within = require "cprof.count.within"

local show = {
  name = "show",
  summary = "Print a function's callers, callees, lines, and durations.",
  usage = "cprof show [options] [FILE] FUNCTION",
  example = "cprof show run.cprof parser.parse",
  options = {
    input.file(),
    { "FUNCTION?", "Its name or title, as reports show it." },
    { "--limit N", "Show at most N callers and N callees.", type = "integer",
      min = 1, default = 12 },
    period.options, labelled.option, input.page, input.links,
  },
}

local columns_shown <const> = {
  columns.of { "total", rank = 2 }, columns.of { "total %", heat = true },
  columns.of { "calls", rank = 3 }, columns.of { "function" },
  columns.of { "from line", rank = 4 }, columns.of { "defined", rank = 1 },
}

-- prints a table of callers or callees
local function neighbours(view, title, list, what)
  if #list == 0 then return end
  local on, shown, left = view.page, {}, 0
  for i, e in ipairs(list) do
    if i <= view.limit then
      e.func, shown[i] = e.row.func, e
    else
      left = left + e.total
    end
  end
  columns.heat(shown, "total", view.row.total)
  on:gap()
  on:subtitle(title)
  on:table(columns_shown, columns.rows(on, columns_shown, shown))
  if #list > #shown then
    on:rest(("… %s, %s %%"):format(
      format.plural(#list - #shown, "more " .. what),
      format.percent(left, view.whole)))
  end
end

-- only parts of at least 1/500 of a function's time are named
local least <const> = 500

local function head(view)
  local row, on = view.row, view.page
  local given, rest = row.func.name, row.title:sub(#row.func.name + 1)
  if given .. rest ~= row.title then given, rest = row.title, ""
  else given = name.called(given, row.metamethod)
  end
  given, rest = format.plain(given), format.plain(rest)
  if format.width(given .. rest) <= on.width then given = given .. rest end
  on:title("", given)
  if given:sub(-#rest) ~= rest then on:line(rest) end
  for _, line in ipairs(format.part(view.profile.meta)) do on:line(line) end
  on:line(("%s total (%s %%), %s self (%s %%)%s%s"):format(
    on:time(row.total, row.total_most), on:share(row.total, row.total_most),
    on:time(row.self, row.self_most), on:share(row.self, row.self_most),
    row.calls and ", " .. on:called(row.calls) or "",
    row.max_depth > 1 and (", %s deep"):format(
      bound.depth(row.max_depth, view.profile.meta)) or ""))
  if row.total_wait > 0 then
    on:line(("waiting: %s of the total, %s of self"):format(
      on:time(row.total_wait), on:time(row.self_wait)))
  end
  local origin = range.origin(view.profile)
  local parts, frames = within.of(origin and origin.of or view.profile,
    row.title)
  local advice, sum = within.advice(parts), 0
  for _, part in ipairs(parts) do sum = sum + part.ns end
  local left = sum
  for i, part in ipairs(parts) do
    if part.ns * least < sum then
      for k = #parts, i, -1 do parts[k] = nil end
      parts[i] = ("others %s %%"):format(format.percent(left, sum))
      break
    end
    left = left - part.ns
    parts[i] = ("%s %s %%"):format(format.plain(part.what),
      format.percent(part.ns, sum))
  end
  if #parts > 0 then
    on:line(("%s%s: %s (%s)"):format(frames and
      "self time with the C functions below it" or
      (origin or row.self_wait > 0) and "self time without waiting" or
      "self time", origin and " in the whole recording" or "", on:time(sum),
      table.concat(parts, ", ")))
    if advice then on:note("%s", advice) end
  end
  local allocated = allocations.sentence(view.profile, row.title)
  if allocated then on:line(allocated) end
  local what = explained.explain(row.func.name)
  if what then on:line(what) end
  if row.durations then durations.show(on, row.durations) end
end

-- the callees and the function itself, sorted by time
local function with_itself(row, callees)
  if #callees == 0 or #callees == 1 and callees[1].row == row then
    return {}
  end
  local out, own = {}, { row = row, label = "(itself)", place = "",
    total = row.self, total_most = row.self_most }
  for _, entry in ipairs(callees) do
    if own and own.total >= entry.total then
      out[#out + 1], own = own, nil
    end
    if entry.row ~= row then out[#out + 1] = entry end
  end
  out[#out + 1] = own
  return out
end

-- number of slowest calls, and of tasks, that are shown
local few <const> = 3

local function slowest(view)
  local calls = slow.calls { view.row }
  if #calls == 0 then return end
  view.page:gap()
  view.page:subtitle "slowest calls"
  slow.show(view.page, view.profile, calls, few)
end

-- what coroutines did that ran the function
local function coroutines(view)
  local p, on = view.profile, view.page
  local list = tasks.of_function(p, view.row)
  if #list == 0 then return end
  if p.meta.tasks then tasks.show(on, p, list, few)
  else tasks.sampled(on, p, list, few) end
end

local function lines(view)
  local f, p = view.row.func, view.profile
  if f.kind ~= "Lua" and f.kind ~= "main" then return end
  view.page:gap()
  if not recorded.recorded(p) then
    view.page:line(p.meta.labels and recorded.all_labels or
      "no lines were recorded; record them with cprof run " ..
      (p.meta.joined and "--both --lines" or "--lines"))
  elseif f.source == "=?" then
    view.page:line "its code is stripped: it has no lines"
  elseif not functions.has_lines(p, view.row) then
    view.page:line "no lines of this source were recorded"
  else
    local listed = annotate.view(p, {
      expressions = annotate.has_expressions(p) },
      view.page)
    listed.unfolded = f.kind == "Lua"
    local block = functions.block(listed, view.row)
    block.title, block.place, block.facts = nil, nil, nil
    listing.show(view.page, { block })
    view.page:explain()
  end
end

function show.call(parsed, fail)
  local file, wanted = input.pair("show", parsed.file, "FUNCTION",
    parsed["function"], fail)
  if not wanted then
    fail "missing argument 'FUNCTION'; see cprof show --help"
  end
  local profile = labelled.of(period.of(input.load(file, fail), parsed, fail),
    parsed, fail)
  local rows, edges = graph.functions(profile)
  local row, why = find(rows, wanted)
  if not row then fail(why) end
  local callers, callees = graph.around(edges, bound.most(profile))
  local view = {
    profile = profile, row = row, whole = profile.measure.whole,
    limit = parsed.limit, page = page.new(parsed, profile),
  }
  head(view)
  slowest(view)
  coroutines(view)
  neighbours(view, "called by", callers(row), "caller")
  neighbours(view, "calls", with_itself(row, callees(row)), "callee")
  view.page:explain()
  lines(view)
  input.print(view.page:text(), fail)
end

return show
