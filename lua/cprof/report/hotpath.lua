-- The hottest path: the nodes of the call tree that took the most time, in a
-- few lines. A caller that does little but call one callee shares its line.

local bound = require "cprof.count.bound"

local hotpath = {}

-- shares of the program's time: nodes with a total below `small` are cut;
-- nodes with a self time from `own` do not share a line with their callee
local small <const>, own <const> = 0.02, 0.05

-- share of its caller's time that a callee needs to share the line
local nearly_all <const> = 0.8

-- removes and returns the candidate with the most time
local function take(frontier)
  local at = 1
  for i, node in ipairs(frontier) do
    if node.total > frontier[at].total then at = i end
  end
  return table.remove(frontier, at)
end

-- does the first callee share the node's line, if it is the only one?
local function joins(node)
  local first = node.callees[1]
  return first and not node.apart and
    first.total >= node.total * nearly_all
end

-- adds a callee; returns the number of lines that this adds
local function add(node, callee)
  local joined = #node.callees == 1 and joins(node)
  table.insert(node.callees, callee)
  if #node.callees == 1 then return joins(node) and 0 or 1 end
  return joined and 2 or 1
end

-- the tree of the nodes that fit into `most` lines
local function grow(tree, id, whole, most)
  local start = { callees = {}, apart = true }
  local frontier, lines = {}, 0
  local function extend(node, from)
    for _, callee in ipairs(tree:children(from, whole * small)) do
      callee.callees, callee.caller = {}, node
      callee.apart = callee.self >= whole * own
      frontier[#frontier + 1] = callee
    end
  end
  extend(start, id)
  while #frontier > 0 do
    local node = take(frontier)
    lines = lines + add(node.caller, node)
    if lines > most then
      table.remove(node.caller.callees)
      break
    end
    extend(node, node.id)
  end
  return start.callees
end

-- appends the line of a node and of the callees that share it, then the lines
-- below
local function join(node, level, out, most)
  local line = { level = level, names = {}, nodes = 0, self = 0,
    self_raw = 0, total = node.total,
    total_raw = node.total_raw }
  while node do
    line.names[#line.names + 1] = node.label
    line.nodes = line.nodes + 1
    line.self = line.self + node.self
    line.self_raw = line.self_raw + node.self_raw
    line.last = node
    node = #node.callees == 1 and joins(node) and node.callees[1] or nil
  end
  out[#out + 1] = bound.set(line, most)
  for _, callee in ipairs(line.last.callees) do
    join(callee, level + 1, out, most)
  end
end

---@class cprof.HotLine
---@field level integer
---@field names string[]  labels of the nodes that share the line
---@field nodes integer   their number
---@field self integer   their sum
---@field total integer  of the first one

---@param tree cprof.Folded
---@param id integer     where it begins
---@param whole integer  the time that is 100 %
---@param most integer   lines
---@return cprof.HotLine[]
function hotpath.lines(tree, id, whole, most)
  local out = {}
  for _, node in ipairs(grow(tree, id, whole, most)) do
    join(node, 0, out, tree.most)
  end
  return out
end

return hotpath
