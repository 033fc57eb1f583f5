-- The call graph: the figures of groups of functions, and of the calls between
-- them. All reports, views and pages of functions read it.

local bound = require "cprof.count.bound"
local core = require "cprof.core"
local durations = require "cprof.sandbox.later" "cprof.count.durations"
local group = require "cprof.count.group"
local lists = require "cprof.text.lists"
local order = require "cprof.text.order"

local graph = {}

---@class cprof.Row            figures of a group of functions
---@field title string
---@field func cprof.Function  the first of the group
---@field count integer        how often it was called, or sampled
---@field calls? integer       nil: there are samples in place of calls
---@field total_count? integer  samples, with those of callees
---@field self integer         of the profile's measure
---@field self_raw integer     self with overhead
---@field total integer        with callees; recursion counted once
---@field total_raw integer
---@field self_wait integer    the part of self that is waiting
---@field total_wait integer
---@field self_most integer    upper bound of self, see bound
---@field total_most integer
---@field max_depth integer
---@field metamethod? string   what it was called as, see cprof.Node
---@field durations? cprof.Durations  of a function's calls

---@class cprof.Edge           the calls from one row to another
---@field caller cprof.Row
---@field callee cprof.Row
---@field count integer
---@field calls? integer
---@field self integer         self of the callee, called by this caller
---@field self_raw integer
---@field self_wait integer
---@field total_in integer     total of the callee; adds up over its callers
---@field total_out integer    total for the caller; adds up over its callees
---@field total_in_raw integer
---@field total_out_raw integer
---@field total_in_wait integer
---@field total_in_count? integer  samples that add up as total_in does
---@field line integer         of the calls, where edges are divided by line
---@field metamethod? string   what the callee was called as, see cprof.Node
---@field calls_in integer     calls that add up as total_in does, where edges
---    are divided by line

---@class cprof.Neighbour      a caller or callee
---@field row cprof.Row
---@field line integer         that the calls are from; 0: not known
---@field metamethod? string   of a callee: what it was called as
---@field count integer
---@field calls? integer
---@field self integer
---@field self_raw integer
---@field self_most integer
---@field total integer        the callee's total for calls by this caller
---@field total_raw integer
---@field total_most integer
---@field recursive boolean    whether an outer call's total includes its own

-- In sampled profiles, the core has samples where others have figures with
-- overhead, and calls that mean nothing.
local function set_counts(rows, edges, sampled)
  for _, row in ipairs(rows) do
    row.count = row.calls
    if sampled then
      row.count, row.total_count = row.self_raw, row.total_raw
      row.self_raw, row.total_raw, row.calls = row.self, row.total, nil
    end
  end
  for _, edge in ipairs(edges) do
    edge.count = edge.calls
    if sampled then
      edge.count, edge.total_in_count = edge.self_raw, edge.total_in_raw
      edge.self_raw, edge.calls = edge.self, nil
      edge.total_in_raw, edge.total_out_raw = edge.total_in, edge.total_out
    end
  end
end

---Adds up the figures of groups. Bounds are set by `graph.finish`.
---@param nodes userdata
---@param groups cprof.Groups
---@param sampled boolean
---@param spread? boolean   whether each level of recursion has a row
---@param by_line? boolean  whether each calling line has an edge
---@return cprof.Row[] rows
---@return cprof.Edge[] edges
---@return integer[]? levels  where spread: group and level of each row
function graph.sums(nodes, groups, sampled, spread, by_line)
  local rows, edges, levels = core.sum(nodes, groups.of, #groups.keys,
    spread or false, by_line)
  set_counts(rows, edges, sampled)
  for i, row in ipairs(rows) do
    local id = levels and levels[i * 2 - 1] or i
    row.title, row.func = groups.keys[id], groups.first[id]
  end
  return rows, edges, levels
end

---A row without figures.
---@param f cprof.Function
---@return cprof.Row
function graph.empty(f)
  return { title = f.title, func = f, count = 0, total_count = 0, self = 0,
           self_raw = 0, total = 0, total_raw = 0, max_depth = 0 }
end

---Sets the bounds of rows, and replaces the numbers of rows in edges by these.
---@param rows cprof.Row[]
---@param edges cprof.Edge[]
---@param most? integer  see bound.most
function graph.finish(rows, edges, most)
  for _, row in ipairs(rows) do bound.set(row, most) end
  for _, edge in ipairs(edges) do
    edge.caller, edge.callee = rows[edge.caller], rows[edge.callee]
  end
end

---The groups of a profile without its overhead, so that the root's total is
---100 %.
---@param p cprof.Profile
---@param key_of fun(f: cprof.Function): any
---@param by_line? boolean
---@return cprof.Row[] rows
---@return cprof.Edge[] edges
function graph.of(p, key_of, by_line)
  local groups = group.by(p.functions, key_of, p.overhead)
  local rows, edges = graph.sums(p.nodes, groups, p.samples ~= nil, false,
    by_line)
  local overhead, left = groups.of[p.overhead], {}
  local root, own = rows[groups.of[p.nodes[1].func]], rows[overhead]
  root.total, root.total_raw = root.total - own.total,
    root.total_raw - own.total_raw
  for _, edge in ipairs(edges) do
    if edge.callee ~= overhead then left[#left + 1] = edge end
  end
  graph.finish(rows, left, bound.most(p))
  table.remove(rows, overhead)
  return rows, left
end

-- is it an empty row for the time since the last sample?
local function vacant(row)
  return row.func.kind == "internal" and row.total == 0 and
    row.total_count == 0
end

-- the graph of each profile by titles, which takes a while
local known = setmetatable({}, { __mode = "k" })

---The functions of a profile, which are told apart by titles, and the calls
---between them, by line. The caller may change the list of rows.
---@param p cprof.Profile
---@param all? boolean  also rows that are empty now but may get figures later
---@return cprof.Row[]
---@return cprof.Edge[]
function graph.functions(p, all)
  if not known[p] then
    known[p] = table.pack(graph.of(p, group.title, true))
    if p.meta.distribution then
      local times = p.recorded and (graph.functions(p.recorded, true))
      durations.rows(p, known[p][1], times)
    end
  end
  local out = {}
  for _, row in ipairs(known[p][1]) do
    if all or not vacant(row) then out[#out + 1] = row end
  end
  return out, known[p][2]
end

local function neighbour(edge, row, side, most)
  local out = bound.set({ row = row, line = edge.line, count = edge.count,
    calls = edge.calls, metamethod = side == "out" and edge.metamethod or nil,
    self = edge.self, self_raw = edge.self_raw,
    total = edge["total_" .. side],
    total_raw = edge["total_" .. side .. "_raw"] }, most)
  out.recursive = out.total_raw == 0 and out.self_raw > 0
  return out
end

local before = order("-total", "-count", "row.title", "line")

---The callers and the callees of rows, those with the largest total first.
---@param edges cprof.Edge[]
---@param most? integer  see bound.most
---@return fun(row: cprof.Row): cprof.Neighbour[] callers
---@return fun(row: cprof.Row): cprof.Neighbour[] callees
function graph.around(edges, most)
  local callers, callees = {}, {}
  for _, edge in ipairs(edges) do
    lists.add(callers, edge.callee, neighbour(edge, edge.caller, "in", most))
    lists.add(callees, edge.caller, neighbour(edge, edge.callee, "out", most))
  end
  local function sorted(of)
    return function(row)
      local list = of[row] or {}
      table.sort(list, before)
      return list
    end
  end
  return sorted(callers), sorted(callees)
end

return graph
