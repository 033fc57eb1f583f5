-- Mode "callgraph": each function between its callers and its callees. The line
-- of a caller says what the function took in that caller's calls; the line of a
-- callee, what the callee took in the function's calls. The callers' lines add
-- up to the function's own line, and so do the callees' with its self figure.

local bound = require "cprof.count.bound"
local columns = require "cprof.report.columns"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local name = require "cprof.source.name"
local select = require "cprof.report.select"
local tables = require "cprof.text.tables"

local list <const> = {
  columns.of { "total", rank = 2 }, columns.of { "total %" },
  columns.of { "self", rank = 4 }, columns.of { "calls", rank = 3 },
  columns.of { "function", code = false }, columns.of { "from line", rank = 5 },
  columns.of { "defined", code = false, rank = 1 },
}

-- the most callers, and the most callees, shown for each function
local most <const> = 8

local indent <const> = "    "

-- Adds callers or callees. Those that have nothing of the measure are only
-- counted, unless it is time.
local function add(entries, neighbours, what, timed)
  local count = 0
  while count < most and neighbours[count + 1] and
        (timed or neighbours[count + 1].total > 0) do
    count = count + 1
  end
  for i = 1, count do
    local e = neighbours[i]
    entries[#entries + 1] = columns.entry(e, { func = e.row.func,
      label = indent .. name.called(format.plain(e.row.func.name),
        e.metamethod) })
  end
  local more = #neighbours - count
  if more > 0 then
    entries[#entries + 1] = {
      text = indent .. "… " .. format.plural(more, "more " .. what) }
  end
end

---@param view cprof.ReportView
return function(view)
  local page = view.page
  local rows, edges = graph.functions(view.profile)
  local callers, callees = graph.around(edges, bound.most(view.profile))
  select.sort(rows, view.options.sort or "total")
  local shown, rest = select.rows(view, rows, "total")
  local entries, last, timed = {}, {}, page.measure:timed()
  for _, row in ipairs(shown) do
    add(entries, callers(row), "caller", timed)
    entries[#entries + 1] = columns.entry(row, { style = "bold" })
    add(entries, callees(row), "callee", timed)
    last[#entries] = true
  end
  local out = {}
  for i, line in ipairs(tables.lines(list, columns.rows(page, list, entries),
    page.width, page.paint)) do
    out[#out + 1] = line
    if last[i - 1] and i <= #entries then out[#out + 1] = "" end
  end
  page:verbatim(out)
  page:rest(rest)
  page:explain()
end
