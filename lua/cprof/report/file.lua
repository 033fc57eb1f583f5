-- Mode "file": functions under the file that defines them, with a
-- subtotal for each file and a grand total.

local columns = require "cprof.report.columns"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local lists = require "cprof.text.lists"
local name = require "cprof.source.name"
local select = require "cprof.report.select"

local list <const> = {
  columns.of { "self", rank = 1 }, columns.of { "self %", heat = true },
  columns.of { "total", rank = 4 }, columns.of { "total %", rank = 3 },
  columns.of { "calls", rank = 2 },
  columns.of { "function", title = "file and functions",
    cut = format.cut },
  columns.of { "from line", title = "line", optional = false },
}

local function file(f)
  if f.kind == "C" then return ("[%s]"):format(name.module(f) or "C") end
  if f.kind ~= "Lua" and f.kind ~= "main" then return "(zones)" end
  return f.place
end

---@param view cprof.ReportView
return function(view)
  local by = view.options.sort or "self"
  local functions = graph.functions(view.profile)
  select.sort(functions, by)
  local shown, rest = select.rows(view, functions, "self")
  columns.heat(shown, "self")
  local members = {}
  for _, row in ipairs(shown) do lists.add(members, file(row.func), row) end
  local files = graph.of(view.profile, file)
  select.sort(files, (by == "name" or by == "max") and "self" or by)
  local all, entries = { self = 0, calls = 0, total = view.whole,
    label = "total", style = "bold" }, {}
  for _, sub in ipairs(files) do
    all.self = all.self + sub.self
    all.calls = sub.calls and all.calls + sub.calls
    if members[sub.title] then
      entries[#entries + 1] = columns.entry(sub, { style = "bold",
        label = format.plain(sub.title) })
      for _, row in ipairs(members[sub.title]) do
        entries[#entries + 1] = columns.entry(row, { line = row.func.line,
          label = "  " .. format.plain(row.func.name) })
      end
    end
  end
  entries[#entries + 1] = all
  view.page:table(list, columns.rows(view.page, list, entries))
  view.page:rest(rest)
  view.page:explain()
end
