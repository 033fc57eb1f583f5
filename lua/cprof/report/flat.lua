-- Modes "total" and "self": one line for each function.

local allocations = require "cprof.allocations"
local format = require "cprof.format"
local name = require "cprof.name"
local select = require "cprof.report.select"

local flat = {}

-- by what rows are sorted comes first
local others = { self = "total", total = "self" }

local function columns(by)
  local other = others[by]
  return {
    { title = by }, { title = by .. " %" },
    { title = other }, { title = other .. " %" },
    { title = "waiting", optional = true },
    { title = "alloc", optional = true },
    { title = "allocs", optional = true },
    { title = "calls", optional = true },
    { title = "function", left = true, least = 24, cut = format.cutname,
      code = true },
    { title = "defined", left = true, least = 14, cut = format.cutpath,
      code = true },
  }
end

-- gives what a row has allocated itself, beside times
local function allocations_of(view)
  local meta, by = view.profile.meta, {}
  if not meta.memory or meta.measure then return function() return "" end end
  for _, what in ipairs { "bytes", "allocs" } do
    by[what] = {}
    local of = allocations.measured(view.profile, what)
    for _, row in ipairs(select.functions(of)) do
      by[what][row.title] = row.self_ns
    end
  end
  return function(row, what)
    local n = by[what][row.title] or 0
    if n == 0 then return "-" end
    return what == "bytes" and format.bytes(n) or format.count(n)
  end
end

-- Of the time in the first column, what the row waited; nothing where that
-- is little.
local function waiting(view, row, by)
  local ns = row[by .. "_wait_ns"] or 0
  return ns * 100 > view.profile.program_ns and format.time(ns) or ""
end

---@param view cprof.View
---@param by "self"|"total"
---@param rows cprof.Row[]  that are shown
local function cells_of(view, by, rows)
  local page, hottest = view.page, 0
  for _, row in ipairs(rows) do
    hottest = math.max(hottest, row[by .. "_ns"])
  end
  local function figures(row, which)
    local ns = row[which .. "_ns"]
    return page:time(ns, row[which .. "_most_ns"]), page:share(ns)
  end
  local allocated = allocations_of(view)
  local cells = {}
  for i, row in ipairs(rows) do
    local time, share = figures(row, by)
    local other, other_share = figures(row, others[by])
    cells[i] = {
      time, { share, format.heat(row[by .. "_ns"], hottest) },
      other, other_share, waiting(view, row, by), allocated(row, "bytes"), allocated(row, "allocs"),
      format.calls(row.calls),
      format.plain(row.func.name),
      { format.plain(name.where(row.func)), "dim" },
    }
  end
  return cells
end

---@param view cprof.View
---@param by "self"|"total"  what min_percent is about, and the usual order
---@param limit? integer
function flat.show(view, by, limit)
  local rows = select.functions(view.profile)
  select.sort(rows, view.options.sort or by)
  local shown, hidden, hidden_ns = select.rows(view, rows, by, limit)
  view.page:table(columns(by), cells_of(view, by, shown))
  view.page:rest(select.rest(view, hidden, hidden_ns, "function"))
end

---@param view cprof.View
function flat.mode(view)
  flat.show(view, view.options.mode)
  view.page:explain()
end

return flat
