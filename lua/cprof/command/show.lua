-- cprof show: everything about one function.

local allocations = require "cprof.count.allocations"
local annotate = require "cprof.annotate"
local around = require "cprof.report.around"
local bound = require "cprof.count.bound"
local find = require "cprof.report.find"
local format = require "cprof.text.format"
local functions = require "cprof.annotate.functions"
local input = require "cprof.command.input"
local listing = require "cprof.annotate.listing"
local name = require "cprof.source.name"
local recorded = require "cprof.count.lines"
local page = require "cprof.report.page"
local select_rows = require "cprof.report.select"
local explained = require "cprof.count.rows"

local show = {
  name = "show",
  summary = "Print a function's callers, callees and lines.",
  usage = "cprof show [options] [FILE] FUNCTION",
  example = "cprof show run.cprof parser.parse",
}

function show.define(parser)
  input.profile(parser)
  parser:argument("FUNCTION", "Its name or title, as reports show it.")
    :target "function":args "?"
  parser:option("--limit", "Show at most N callers and N callees.")
    :argname "N":convert(input.integer("--limit", 1)):default "12"
  input.page(parser)
end

local columns = {
  { title = "total", rank = 2 }, { title = "total %" },
  { title = "calls", optional = true, rank = 3 },
  { title = "function", left = true, least = 30, cut = format.cutname,
    code = true },
  { title = "from line", optional = true, rank = 4 },
  { title = "defined", left = true, least = 18, cut = format.cutpath,
    code = true, rank = 1 },
}

local function neighbour(view, entry)
  local on, f = view.page, entry.row.func
  local time, share = "-", "-"
  -- the time of a recursive call counts in the outermost call
  if not entry.recursive then
    time = on:time(entry.total_ns, entry.total_most_ns)
    share = on:share(entry.total_ns)
  end
  return {
    time, { share, format.heat(entry.total_ns, view.row.total_ns) },
    entry.label and "" or format.calls(entry.calls),
    name.called(format.plain(entry.label or f.name), entry.metamethod),
    entry.line > 0 and tostring(entry.line) or "",
    { entry.label and "" or format.plain(name.where(f)), "dim" },
  }
end

-- prints a table of callers or callees
local function neighbours(view, title, list, what)
  if #list == 0 then return end
  local limit, rows, left_ns = view.limit, {}, 0
  for i, entry in ipairs(list) do
    if i <= limit then rows[i] = neighbour(view, entry)
    else left_ns = left_ns + entry.total_ns end
  end
  view.page:gap()
  view.page:subtitle(title)
  view.page:table(columns, rows)
  if #list > limit then
    view.page:rest(("… %s, %s %%"):format(
      format.plural(#list - limit, "more " .. what),
      format.percent(left_ns, view.whole)))
  end
end

local function head(view)
  local row, on = view.row, view.page
  local given, rest = row.func.name, row.title:sub(#row.func.name + 1)
  on:title("", format.plain(given .. rest ~= row.title and row.title or
    name.called(given, row.metamethod) .. rest))
  on:line(("%s total (%s %%), %s self (%s %%)%s%s"):format(
    on:time(row.total_ns, row.total_most_ns), on:share(row.total_ns),
    on:time(row.self_ns, row.self_most_ns), on:share(row.self_ns),
    row.calls and ", " .. format.plural(row.calls, "call") or "",
    row.max_depth > 1 and (", %s deep"):format(
      bound.depth(row.max_depth, view.profile.meta)) or ""))
  if (row.total_wait_ns or 0) > 0 then
    on:line(("waiting: %s of the total, %s of self"):format(
      on:time(row.total_wait_ns), on:time(row.self_wait_ns)))
  end
  local allocated = allocations.sentence(view.profile, row.title)
  if allocated then on:line(allocated) end
  local what = explained.explain(row.func.name)
  if what then on:line(what) end
end

-- the callees and the function itself, sorted by time
local function with_itself(row, callees)
  if #callees == 0 or #callees == 1 and callees[1].row == row then
    return {}
  end
  local out, own = {}, { row = row, label = "(itself)", line = 0, calls = 0,
    total_ns = row.self_ns, total_most_ns = row.self_most_ns }
  for _, entry in ipairs(callees) do
    if own and own.total_ns >= entry.total_ns then
      out[#out + 1], own = own, nil
    end
    if entry.row ~= row then out[#out + 1] = entry end
  end
  out[#out + 1] = own
  return out
end

local function lines(view)
  local f, p = view.row.func, view.profile
  if f.kind ~= "Lua" and f.kind ~= "main" then return end
  view.page:gap()
  if not recorded.recorded(p) then
    view.page:line("no lines were recorded; record them with cprof run " ..
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
  input.ordered("show", parsed.file, "FUNCTION", parsed["function"], fail)
  local file, wanted = parsed.file, parsed["function"]
  if not wanted then
    if not file or input.is_profile(file) then
      fail "missing argument 'FUNCTION'; see cprof show --help"
    end
    file, wanted = nil, file
  end
  local profile = input.load(file, fail)
  local row, why = find(select_rows.functions(profile), wanted)
  if not row then fail(why) end
  local callers, callees = around.new(profile)
  local view = {
    profile = profile, row = row, whole = profile.program_ns,
    limit = parsed.limit,
    page = page.new({ format = parsed.format, width = parsed.width,
                      color = parsed.color }, profile),
  }
  head(view)
  neighbours(view, "called by", callers(row), "caller")
  neighbours(view, "calls", with_itself(row, callees(row)), "callee")
  view.page:explain()
  lines(view)
  input.print(view.page:text(), fail)
end

return show
