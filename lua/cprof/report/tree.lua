-- Mode "tree": the stack states, callees indented under their caller.

local format = require "cprof.format"
local name = require "cprof.name"
local select = require "cprof.report.select"

local columns = {
  { title = "total" }, { title = "%" }, { title = "self" },
  { title = "calls" },
  { title = "function", left = true, least = 20 },
  { title = "defined", left = true, least = 18, cut = format.cutpath },
}

local deepest = 24 -- levels of indentation

-- children of each node that is worth a line, by id, and how many it has
local function children(view)
  local least = view.options.min_percent * view.whole / 100
  local of, count = {}, {}
  for _, node in ipairs(view.profile.nodes) do
    local parent = node.parent
    count[parent] = (count[parent] or 0) + 1
    if node.total_ns >= least and parent ~= 0 and
       node.func ~= view.profile.overhead then
      local list = of[parent]
      if not list then
        list = {}
        of[parent] = list
      end
      list[#list + 1] = node
    end
  end
  return of, count
end

-- where the tree begins to be one: what ran before the start and only led
-- there is of no interest
local function trunk(of, count)
  local id = 1
  while count[id] == 1 and of[id] and of[id][1].calls == 0 do
    id = of[id][1].id
  end
  return id
end

local orders = {
  total = function(a, b) return a.total_ns > b.total_ns end,
  self = function(a, b) return a.self_ns > b.self_ns end,
  calls = function(a, b) return a.calls > b.calls end,
  name = function() return false end,
}

local function sorted(view, list)
  local functions = view.profile.functions
  local before = orders[view.options.sort or "total"]
  table.sort(list, function(a, b)
    if before(a, b) then return true end
    if before(b, a) then return false end
    local ta, tb = functions[a.func].title, functions[b.func].title
    if ta ~= tb then return ta < tb end
    return a.id < b.id
  end)
  return list
end

local function cell(view, node, depth)
  local func = view.profile.functions[node.func]
  local indent = ("  "):rep(math.min(depth, deepest))
  if depth > deepest then indent = indent .. ("[%d] "):format(depth) end
  local where = name.where(func)
  if node.call_line > 0 then where = where .. " called in line " ..
    node.call_line end
  return {
    format.time(node.total_ns),
    { format.percent(node.total_ns, view.whole),
      format.heat(node.self_ns, view.whole) },
    select.time(node),
    format.count(node.calls),
    indent .. format.plain(func.name),
    { format.plain(where), "dim" },
  }
end

---@param view cprof.View
---@return string[]
return function(view)
  local of, count = children(view)
  local cells, self_ns = {}, 0
  local functions = view.profile.functions
  -- a stack of its own: a tree can be deeper than Lua's
  local todo = {}
  local function push(parent, depth)
    local list = of[parent]
    if not list then return end
    sorted(view, list)
    for i = #list, 1, -1 do todo[#todo + 1] = { list[i], depth } end
  end
  push(trunk(of, count), 0)
  while #todo > 0 and #cells < view.options.limit do
    local node, depth = table.unpack(table.remove(todo))
    local row = { title = functions[node.func].title,
                  func = functions[node.func] }
    if select.passes(row, view.options.filter) then
      cells[#cells + 1] = cell(view, node, depth)
      self_ns = self_ns + node.self_ns
    end
    push(node.id, depth + 1)
  end
  local lines = format.table(columns, cells, view.width, view.paint)
  local nodes = #view.profile.nodes - 2  -- the root, and overhead
  lines[#lines + 1] = select.rest(view, nodes - #cells,
    view.whole - self_ns, "node")
  return lines
end
