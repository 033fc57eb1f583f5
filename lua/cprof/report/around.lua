-- The callers and callees of functions.

local bound = require "cprof.count.bound"
local order = require "cprof.text.order"
local select = require "cprof.report.select"

local around = {}

---@class cprof.Neighbour   a caller or callee
---@field row cprof.Row
---@field line integer      that the calls are from; 0: not recorded
---@field metamethod? string  of a callee: the metamethod that it was called as
---@field calls integer
---@field self_ns integer
---@field self_raw_ns integer
---@field total_ns integer  the callee's total for calls by this caller
---@field total_raw_ns integer
---@field recursive boolean is its time counted in an outer call?

local before = order("-total_ns", "-calls", "row.title", "line")

local function add(to, of, edge, row, way, most)
  local entry = bound.set({ row = row, line = edge.line, calls = edge.calls,
    metamethod = way == "out" and edge.metamethod or nil,
    self_ns = edge.self_ns, self_raw_ns = edge.self_raw_ns,
    total_ns = edge["total_" .. way .. "_ns"],
    total_raw_ns = edge["total_" .. way .. "_raw_ns"] }, most)
  entry.recursive = entry.total_raw_ns == 0 and entry.self_raw_ns > 0
  to[of] = to[of] or {}
  table.insert(to[of], entry)
end

---Returns two functions: the callers and the callees of a row, by time.
---@param profile cprof.Profile
---@return fun(row: cprof.Row): cprof.Neighbour[]
---@return fun(row: cprof.Row): cprof.Neighbour[]
function around.new(profile)
  local _, edges = select.functions(profile)
  local callers, callees, most = {}, {}, bound.most(profile)
  for _, edge in ipairs(edges) do
    add(callers, edge.callee, edge, edge.caller, "in", most)
    add(callees, edge.caller, edge, edge.callee, "out", most)
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

return around
