-- Mode "tree": the call tree, with callees indented under their caller.

local columns = require "cprof.report.columns"
local format = require "cprof.text.format"
local folded = require "cprof.report.folded"
local order = require "cprof.text.order"
local select = require "cprof.report.select"

local shown_columns <const> = {
  columns.of { "total", rank = 1 }, columns.of { "total %", heat = true },
  columns.of { "self", rank = 3 }, columns.of { "calls", rank = 2 },
  columns.of { "function", cut = format.cutindent },
  columns.of { "from line", rank = 4 },
  columns.of { "defined", least = 14, first_out = true },
}

local deepest <const> = 12 -- levels that are indented by two columns

local orders <const> = {
  self = order("-self", "func.title", "id"),
  calls = order("-count", "func.title", "id"),
  name = order("func.title", "id"),
}

-- nodes are already sorted by total time
local function sort(nodes, by)
  if orders[by] then table.sort(nodes, orders[by]) end
end

-- The lines of the tree, as { node, level, matched }.
local function collect(view, tree, root)
  local o = view.options
  local limit, depth = o.limit or 30, o.depth or math.huge
  local least = select.least(view) * view.whole / 100
  local matched, kept
  if o.filter then
    matched, kept = tree:filtered(function(f)
      return select.passes({ title = f.title, func = f }, o.filter)
    end)
  end
  -- not a recursion: a tree can be deeper than Lua's stack
  local todo, out = {}, {}
  local function push(id, level)
    local list = level < depth and tree:children(id, least) or {}
    sort(list, o.sort or "total")
    for i = #list, 1, -1 do
      if not kept or kept[list[i].id] then
        todo[#todo + 1] = { node = list[i], level = level }
      end
    end
  end
  push(root, 0)
  while #todo > 0 and #out < limit do
    local line = table.remove(todo)
    line.matched = not matched or matched[line.node.id]
    out[#out + 1] = line
    push(line.node.id, line.level + 1)
  end
  return out
end

---@param view cprof.ReportView
return function(view)
  local base, page = view.options.root, view.page
  local tree = folded.new(view.profile, base)
  local root, above = 1, 0
  if not base then root, above = tree:trunk() end
  local lines = collect(view, tree, root)
  local level, entries = 0, {}
  local left = base and tree:node(1).total or view.whole
  for i, line in ipairs(lines) do
    entries[i], left = line.node, left - line.node.self
    level = math.max(level, line.level)
  end
  columns.heat(entries, "self")
  for i, e in ipairs(entries) do
    e.label = (" "):rep((level > deepest and 1 or 2) * lines[i].level) ..
      e.label
    e.style = not lines[i].matched and "dim" or nil
  end
  page:listing(shown_columns, columns.rows(page, shown_columns, entries))
  page:rest(select.rest(view, tree.count - above - #lines, left, "node"))
  page:explain()
end
