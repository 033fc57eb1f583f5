-- Mode "summary": what fits the screen. Functions by self time, then the
-- hottest path.

local columns = require "cprof.report.columns"
local flat = require "cprof.report.flat"
local folded = require "cprof.report.folded"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local hotpath = require "cprof.report.hotpath"
local select = require "cprof.report.select"

local list <const> = {
  columns.of { "total", rank = 2 }, columns.of { "total %" },
  columns.of { "self", rank = 3 },
  columns.of { "self %", rank = 1, heat = true },
  columns.of { "function", title = "hottest path", cut = format.cutchain },
}

-- the rows without a terminal, and the fewest useful rows
local usual <const>, fewest <const> = 40, 3

-- the lines around the rows of both tables, and the terminal's prompt; those
-- around the second table alone
local around <const>, second <const> = 9, 3

local function path(view, tree, above, lines)
  local page, nodes, left = view.page, above, view.whole
  for _, line in ipairs(lines) do
    nodes, left = nodes + line.nodes, left - line.self
    line.label = ("  "):rep(line.level) ..
      table.concat(line.names, format.arrow)
  end
  columns.heat(lines, "self")
  page:gap()
  page:listing(list, columns.rows(page, list, lines))
  page:rest(select.rest(view, tree.count - nodes, left, "node"))
end

-- the number of rows that functions need
local function wanted(view)
  local rows, n = graph.functions(view.profile), 0
  local least = select.least(view) * view.whole / 100
  for _, row in ipairs(rows) do
    if row.self_most >= least then n = n + 1 end
  end
  return n
end

---@param view cprof.ReportView
return function(view)
  local o, page = view.options, view.page
  local height = o.height or format.rows() or usual
  local free = height - page:height() - around
  if o.filter or free < 2 * fewest then
    flat.show(view, "self", o.limit, math.max(free + second, 1))
  else
    local half = math.min(free - free // 2, wanted(view))
    local tree = folded.new(view.profile)
    local root, above = tree:trunk()
    local lines = hotpath.lines(tree, root, view.whole, free - half)
    flat.show(view, "self", o.limit, free - #lines)
    if #lines > 0 then path(view, tree, above, lines) end
  end
  page:explain()
end
