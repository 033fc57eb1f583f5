-- Mode "file": functions under the file that defines them, with a
-- subtotal for each file and a grand total.

local format = require "cprof.text.format"
local select = require "cprof.report.select"

local columns = {
  { title = "self", rank = 1 }, { title = "self %" },
  { title = "total", rank = 4 }, { title = "total %", rank = 3 },
  { title = "calls", optional = true, rank = 2 },
  { title = "file and functions", left = true, least = 30, code = true },
  { title = "line" },
}

local function file(f)
  if f.kind == "C" then return "[C]" end
  if f.kind ~= "Lua" and f.kind ~= "main" then return "(zones)" end
  return f.place
end

local function cell(view, row, label, line, style)
  local page = view.page
  return {
    { page:time(row.self_ns, row.self_most_ns), style },
    { page:share(row.self_ns),
      style or format.heat(row.self_ns, view.hottest) },
    { page:time(row.total_ns, row.total_most_ns), style },
    { page:share(row.total_ns), style },
    { format.calls(row.calls), style },
    { format.plain(label), style },
    line,
  }
end

-- the rows of each file, and the hottest row of all
local function members_of(view, rows)
  local members = {}
  view.hottest = 0
  for _, row in ipairs(rows) do
    local key = file(row.func)
    members[key] = members[key] or {}
    table.insert(members[key], row)
    view.hottest = math.max(view.hottest, row.self_ns)
  end
  return members
end

---@param view cprof.View
return function(view)
  local by = view.options.sort or "self"
  local functions = select.functions(view.profile)
  select.sort(functions, by)
  local shown, hidden, hidden_ns = select.rows(view, functions, "self")
  local members = members_of(view, shown)
  local files = view.profile:sums(file)
  select.sort(files, by == "name" and "self" or by)
  local cells = {}
  local all = { self_ns = 0, calls = 0, total_ns = view.whole }
  for _, sub in ipairs(files) do
    all.self_ns = all.self_ns + sub.self_ns
    all.calls = sub.calls and all.calls + sub.calls
    if members[sub.title] then
      cells[#cells + 1] = cell(view, sub, sub.title, "", "bold")
      for _, row in ipairs(members[sub.title]) do
        local line = row.func.line > 0 and tostring(row.func.line) or ""
        cells[#cells + 1] = cell(view, row, "  " .. row.func.name, line)
      end
    end
  end
  cells[#cells + 1] = cell(view, all, "total", "", "bold")
  view.page:table(columns, cells)
  view.page:rest(select.rest(view, hidden, hidden_ns, "function"))
  view.page:explain()
end
