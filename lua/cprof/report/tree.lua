-- Mode "tree": the call tree, with callees indented under their caller.

local format = require "cprof.text.format"
local folded = require "cprof.report.folded"
local name = require "cprof.source.name"
local order = require "cprof.text.order"
local select = require "cprof.report.select"

local columns = {
  { title = "total", rank = 1 }, { title = "total %" },
  { title = "self", rank = 3 }, { title = "calls", optional = true, rank = 2 },
  { title = "function", left = true, least = 30, cut = format.cutindent },
  { title = "from line", optional = true, rank = 4 },
  { title = "defined", left = true, least = 14, cut = format.cutpath,
    yields = true },
}

local deepest <const> = 12 -- levels that are indented by two columns

local orders = {
  self = order("-self_ns", "func.title", "id"),
  calls = order(function(node) return -select.often(node) end, "func.title",
    "id"),
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

local function cell(view, line, indent, hottest)
  local node, page = line.node, view.page
  local style = not line.matched and "dim" or nil
  return {
    { page:time(node.total_ns, node.total_most_ns), style },
    { page:share(node.total_ns),
      style or format.heat(node.self_ns, hottest) },
    { page:time(node.self_ns, node.self_most_ns), style },
    { format.calls(node.calls), style },
    { (" "):rep(indent * line.level) .. node.label, style },
    node.call_line > 0 and tostring(node.call_line) or "",
    { format.plain(name.where(node.func)), "dim" },
  }
end

---@param view cprof.View
return function(view)
  local base = view.options.root
  local tree = folded.new(view.profile, base)
  local root, above = 1, 0
  if not base then root, above = tree:trunk() end
  local lines = collect(view, tree, root)
  local hottest, level = 0, 0
  local left_ns = base and tree:node(1).total_ns or view.whole
  for _, line in ipairs(lines) do
    hottest = math.max(hottest, line.node.self_ns)
    level = math.max(level, line.level)
    left_ns = left_ns - line.node.self_ns
  end
  local cells = {}
  for i, line in ipairs(lines) do
    cells[i] = cell(view, line, level > deepest and 1 or 2, hottest)
  end
  view.page:listing(columns, cells)
  view.page:rest(select.rest(view, tree.count - above - #lines, left_ns,
    "node"))
  view.page:explain()
end
