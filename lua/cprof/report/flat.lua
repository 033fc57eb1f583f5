-- Modes "total" and "self": one line for each function.

local format = require "cprof.format"
local name = require "cprof.name"
local select = require "cprof.report.select"

local columns = {
  { title = "total" }, { title = "%" }, { title = "self" }, { title = "%" },
  { title = "calls" },
  { title = "function", left = true, least = 20 },
  { title = "defined", left = true, least = 18, cut = format.cutpath },
}

---@param view cprof.View
---@return string[]
return function(view)
  local by = view.options.mode
  local rows = select.functions(view.profile)
  select.sort(rows, view.options.sort or by)
  local shown, hidden, hidden_ns = select.rows(view, rows, by .. "_ns")
  local cells = {}
  for i, row in ipairs(shown) do
    local total, own = row.total_ns, row.self_ns
    cells[i] = {
      format.time(total),
      { format.percent(total, view.whole), format.heat(total, view.whole) },
      select.time(row),
      { format.percent(own, view.whole), format.heat(own, view.whole) },
      format.count(row.calls),
      format.plain(row.func.name),
      { format.plain(name.where(row.func)), "dim" },
    }
  end
  local lines = format.table(columns, cells, view.width, view.paint)
  lines[#lines + 1] = select.rest(view, hidden, hidden_ns, "function")
  return lines
end
