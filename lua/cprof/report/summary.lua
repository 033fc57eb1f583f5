-- Mode "summary": what fits the screen. Functions by self time, then the
-- hottest path.

local flat = require "cprof.report.flat"
local folded = require "cprof.report.folded"
local format = require "cprof.text.format"
local hotpath = require "cprof.report.hotpath"
local select = require "cprof.report.select"

local columns = {
  { title = "total", rank = 2 }, { title = "total %" },
  { title = "self", rank = 3 }, { title = "self %", rank = 1 },
  { title = "hottest path", left = true, least = 30, cut = format.cutchain },
}

-- the rows without a terminal, and the fewest useful rows
local usual <const>, fewest <const> = 40, 3

-- the lines around the rows of both tables, and the terminal's prompt
local around <const> = 9

local function path(view, tree, above, lines)
  local page, hottest = view.page, 0
  local nodes, left_ns, cells = above, view.whole, {}
  for _, line in ipairs(lines) do
    hottest = math.max(hottest, line.self_ns)
  end
  for i, line in ipairs(lines) do
    nodes, left_ns = nodes + line.nodes, left_ns - line.self_ns
    cells[i] = {
      page:time(line.total_ns, line.total_most_ns),
      page:share(line.total_ns),
      page:time(line.self_ns, line.self_most_ns),
      { page:share(line.self_ns), format.heat(line.self_ns, hottest) },
      ("  "):rep(line.level) .. table.concat(line.names, format.arrow),
    }
  end
  page:gap()
  page:listing(columns, cells)
  page:rest(select.rest(view, tree.count - nodes, left_ns, "node"))
end

-- the number of rows that functions need
local function wanted(view)
  local rows, n = select.functions(view.profile), 0
  local least = select.least(view) * view.whole / 100
  for _, row in ipairs(rows) do
    if row.self_most_ns >= least then n = n + 1 end
  end
  return n
end

---@param view cprof.View
return function(view)
  local o, page = view.options, view.page
  local height = o.height or format.rows() or usual
  local free = math.max(height - page:height() - around, 2 * fewest)
  if o.filter then
    flat.show(view, "self", o.limit or free)
  else
    local half = math.min(free - free // 2, wanted(view))
    local tree = folded.new(view.profile)
    local root, above = tree:trunk()
    local lines = hotpath.lines(tree, root, view.whole, free - half)
    flat.show(view, "self", o.limit or free - #lines)
    if #lines > 0 then path(view, tree, above, lines) end
  end
  page:explain()
end
