-- Mode "file": functions under the file that defines them, with a
-- subtotal for each file and a grand total.

local format = require "cprof.format"
local name = require "cprof.name"
local select = require "cprof.report.select"

local columns = {
  { title = "self" }, { title = "%" }, { title = "total" },
  { title = "calls" },
  { title = "file and functions", left = true, least = 30 },
  { title = "line" },
}

local function file(f)
  if f.kind == "C" then return "[C]" end
  if f.kind ~= "Lua" and f.kind ~= "main" then return "(zones)" end
  return name.place(f.source)
end

local function cell(view, row, label, line, style)
  return {
    { row.self_raw_ns and select.time(row) or format.time(row.self_ns),
      style },
    { format.percent(row.self_ns, view.whole),
      format.heat(row.self_ns, view.whole) or style },
    { format.time(row.total_ns), style },
    { format.count(row.calls), style },
    { format.plain(label), style },
    line,
  }
end

---@param view cprof.View
---@return string[]
return function(view)
  local by = view.options.sort or "self"
  local functions = select.functions(view.profile)
  select.sort(functions, by)
  local shown, hidden, hidden_ns = select.rows(view, functions, "self_ns")
  local members = {}
  for _, row in ipairs(shown) do
    local key = file(row.func)
    members[key] = members[key] or {}
    table.insert(members[key], row)
  end
  local files = view.profile:sums(file)
  select.sort(files, by == "name" and "self" or by)
  local cells = {}
  local all = { self_ns = 0, calls = 0, total_ns = view.whole }
  for _, sub in ipairs(files) do
    all.self_ns = all.self_ns + sub.self_ns
    all.calls = all.calls + sub.calls
    if members[sub.title] then
      cells[#cells + 1] = cell(view, sub, sub.title, "", "bold")
      for _, row in ipairs(members[sub.title]) do
        local line = row.func.line > 0 and tostring(row.func.line) or ""
        cells[#cells + 1] = cell(view, row, "  " .. row.func.name, line)
      end
    end
  end
  cells[#cells + 1] = cell(view, all, "total", "", "bold")
  local lines = format.table(columns, cells, view.width, view.paint)
  lines[#lines + 1] = select.rest(view, hidden, hidden_ns, "function")
  return lines
end
