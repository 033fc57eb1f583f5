-- Mode "callgraph": each function between its callers and its callees. A
-- caller has the function's time for that caller's calls, a callee its time
-- for the function's calls. Both add up to the function's own line.

local around = require "cprof.report.around"
local format = require "cprof.text.format"
local name = require "cprof.source.name"
local select = require "cprof.report.select"

local columns = {
  { title = "total", rank = 2 }, { title = "total %" },
  { title = "self", rank = 4 }, { title = "calls", optional = true, rank = 3 },
  { title = "function", left = true, least = 30, cut = format.cutname },
  { title = "from line", optional = true, rank = 5 },
  { title = "defined", left = true, least = 18, cut = format.cutpath,
    rank = 1 },
}

-- the most callers, and the most callees, shown for each function
local most <const> = 8

local indent <const> = "    "

local function cell(view, figures, func, label, style)
  local page = view.page
  local line = figures.line or 0
  local total, share = "-", "-"
  if not figures.recursive then
    total = page:time(figures.total_ns, figures.total_most_ns)
    share = page:share(figures.total_ns)
  end
  return {
    { total, style }, { share, style },
    { page:time(figures.self_ns, figures.self_most_ns), style },
    { format.calls(figures.calls), style },
    { label .. name.called(format.plain(func.name), figures.metamethod),
      style },
    line > 0 and tostring(line) or "",
    { format.plain(name.where(func)), "dim" },
  }
end

local function side(view, cells, list, what)
  for i = 1, math.min(#list, most) do
    cells[#cells + 1] = cell(view, list[i], list[i].row.func, indent)
  end
  local more = #list - most
  if more > 0 then
    cells[#cells + 1] = { "", "", "", "",
      { indent .. "… " .. format.plural(more, "more " .. what), "dim" },
      "", "" }
  end
end

---@param view cprof.View
return function(view)
  local rows = select.functions(view.profile)
  local callers, callees = around.new(view.profile)
  select.sort(rows, view.options.sort or "total")
  local shown, hidden, hidden_ns = select.rows(view, rows, "total")
  local cells, last = {}, {}
  for _, row in ipairs(shown) do
    side(view, cells, callers(row), "caller")
    cells[#cells + 1] = cell(view, row, row.func, "", "bold")
    side(view, cells, callees(row), "callee")
    last[#cells] = true
  end
  local out = {}
  for i, line in ipairs(format.table(columns, cells, view.page.width,
    view.page.paint)) do
    out[#out + 1] = line
    if last[i - 1] and i <= #cells then out[#out + 1] = "" end
  end
  view.page:verbatim(out)
  view.page:rest(select.rest(view, hidden, hidden_ns, "function"))
  view.page:explain()
end
