-- The .cpuprofile format of V8: call-tree nodes, and samples of them. The
-- samples of a node follow one another and last as long as its self time. In
-- mode "line", positionTicks has the time on each line, in ticks of 1 ns.
--
-- Readers of the format differ:
-- - VS Code uses node ids as indexes, in the order of a breadth-first walk.
-- - VS Code takes the time of a sample from the delta before its own, others
--   take it from the delta after its own. Therefore a node has three samples,
--   and its time is the delta of the one in the middle.
-- - DevTools takes times from hitCount, so this is in ns.
-- - speedscope leaves out the root, so the root's self time belongs to a node
--   "(program)".

local core = require "cprof.core"
local encode = require "cprof.export.encode"
local escape = require "cprof.encoding.escape"
local json = require "cprof.encoding.json"
local name = require "cprof.source.name"
local spread = require "cprof.export.spread"
local text = require "cprof.encoding.quote"

local cpuprofile = {}

-- stands for the node "(program)" in lists of nodes
local PROGRAM <const> = 0

---@param f cprof.Function
---@param count integer
---@return cprof.FormatSize
function cpuprofile.size(f, count)
  return { node = #text(f.name) + #text(name.file(f) or "") + 220 +
    25 * count }
end

local function url_of(f)
  local file = name.file(f)
  if not file or file:sub(1, 1) ~= "/" then return file or "" end
  return "file://" .. escape.url(file, "/")
end

-- Returns the nodes in breadth-first order, { id -> node }, and { id -> the
-- largest id of a callee of this node or one before it }. The callees of a
-- node have consecutive ids.
local function breadth_first(p)
  local first, next_of = {}, {}
  for node = #p.nodes, 2, -1 do
    local parent, func = core.node(p.nodes, node)
    if func ~= p.overhead then
      next_of[node], first[parent] = first[parent], node
    end
  end
  local order, last = { 1 }, {}
  local at = 1
  while order[at] do
    local child = first[order[at]]
    while child do
      order[#order + 1] = child
      child = next_of[child]
    end
    if at == 1 and p.nodes[1].self_ns > 0 then order[#order + 1] = PROGRAM end
    last[at] = #order
    at = at + 1
  end
  return order, last
end

-- by node: the function whose lines it is on; for a zone, the one that opened
-- it
local function owners(p, order)
  local of = {}
  for _, node in ipairs(order) do
    if node ~= PROGRAM then
      local parent, func = core.node(p.nodes, node)
      local zone = p.functions[func].kind == "zone" and parent > 0
      of[node] = zone and of[parent] or func
    end
  end
  return of
end

local frame <const> = '"callFrame":{"functionName":%s,"scriptId":"%d",' ..
  '"url":%s,"lineNumber":%d,"columnNumber":%d}'

-- Returns a function for the call frame of a function, as JSON. A zone has one
-- call frame for each `owner`, the function that opened it.
local function frames(p)
  local rows, known, scripts, count = {}, {}, {}, 0
  for i, f in ipairs(p.functions) do rows[i] = { func = f, title = f.title } end
  encode.label(rows, url_of)
  return function(func, owner)
    local f, key = p.functions[owner], func << 32 | owner
    if known[key] then return known[key] end
    local url = url_of(f)
    if url ~= "" and not scripts[url] then
      count = count + 1
      scripts[url] = count
    end
    -- readers would show an empty name as "(anonymous)"
    local label = rows[func].label ~= "" and rows[func].label or '""'
    -- V8 counts lines from 0; -1: not in a script
    known[key] = frame:format(text(label), scripts[url] or 0,
      text(url), url ~= "" and name.first_line(f) - 1 or -1,
      url ~= "" and 0 or -1)
    return known[key]
  end
end

local function ticks(numbers, shares)
  local out = {}
  for i, line in ipairs(numbers) do
    if (shares[i] or 0) > 0 then
      out[#out + 1] = ('{"line":%d,"ticks":%d}'):format(line, shares[i])
    end
  end
  return ',"positionTicks":[' .. table.concat(out, ",") .. "]"
end

local program <const> = '"callFrame":{"functionName":"(program)",' ..
  '"scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}'

local function nodes(p, out, order, last)
  local owner, frame_of = owners(p, order), frames(p)
  local lines_of = spread.new(p)
  for id, node in ipairs(order) do
    local head, self_ns, more = program, p.nodes[1].self_ns, ""
    if node ~= PROGRAM then
      local _, func, _, _, ns = core.node(p.nodes, node)
      self_ns, head = node > 1 and ns or 0, frame_of(func, owner[node])
      local numbers, shares = lines_of(owner[node], self_ns)
      if numbers then more = ticks(numbers, shares) end
    end
    local from = id > 1 and last[id - 1] + 1 or 2
    local children = {}
    for child = from, last[id] do children[#children + 1] = child end
    out(('%s{"id":%d,%s,"hitCount":%d,"children":[%s]%s}'):format(
      id > 1 and ",\n" or "\n", id, head, self_ns,
      table.concat(children, ","), more))
  end
end

-- Calls f(id, ns) for each node with self time, callers before callees.
local function each_sample(p, id_of, f)
  for node, _, _, _, _, self_ns in core.walk(p.nodes) do
    if self_ns > 0 then f(id_of[node == 1 and PROGRAM or node], self_ns) end
  end
end

---@param p cprof.Profile
---@param out fun(s: string)
function cpuprofile.write(p, out)
  local order, last = breadth_first(p)
  local id_of = {}
  for id, node in ipairs(order) do id_of[node] = id end
  out('{"comments":' .. json.encode(encode.comments(p)) .. ',\n"nodes":[')
  nodes(p, out, order, last)
  -- times are in µs
  out(('\n],\n"startTime":0,"endTime":%d.%03d,\n"samples":[\n'):format(
    p.measure.whole // 1000, p.measure.whole % 1000))
  each_sample(p, id_of, function(id)
    out(("%d,%d,%d,\n"):format(id, id, id))
  end)
  out '1],\n"timeDeltas":[\n'
  each_sample(p, id_of, function(_, ns)
    out(("0,%d.%03d,0,\n"):format(ns // 1000, ns % 1000))
  end)
  out "0]}\n"
end

return cpuprofile
