-- The slowest calls: when they ended, and their call paths.

local columns = require "cprof.report.columns"
local core = require "cprof.core"
local format = require "cprof.text.format"
local order = require "cprof.text.order"

local slow = {}

-- a call is slow if it took longer than this factor times the median
local factor <const> = 2

local by_excess <const> = order("-excess_ns", "-took_ns", "row.title",
  "ended_ns")

-- The names of the callers, from the first function that is not the host's.
local function path_of(p, id)
  local names, parent = {}, (core.node(p.nodes, id))
  while parent > 0 do
    local above, func = core.node(p.nodes, parent)
    local f = p.functions[func]
    parent = above
    if f.kind ~= "root" and f.name ~= "(host)" then
      table.insert(names, 1, format.plain(f.name))
    end
  end
  return table.concat(names, format.arrow)
end

-- Is node `id` the node `above`, or below it?
local function within(p, id, above)
  while id > above do id = core.node(p.nodes, id) end
  return id == above
end

-- a call explains its caller's duration if it took this share of it
local most_of <const> = 0.8

-- Is `inner` a call within `outer`, which took most of its time?
local function explains(p, inner, outer)
  return inner ~= outer and inner.node and outer.node and
    inner.node ~= outer.node and inner.ended_ns <= outer.ended_ns and
    inner.ended_ns >= outer.ended_ns - outer.took_ns and
    inner.took_ns >= most_of * outer.took_ns and
    within(p, inner.node, outer.node)
end

local function explained(p, calls, outer)
  for _, inner in ipairs(calls) do
    if explains(p, inner, outer) then return true end
  end
  return false
end

---The first calls of a list, without those that were slow only because a call
---that they made was slow.
---@param p cprof.Profile
---@param calls table[]  see slow.calls
---@param limit integer
---@return table[]
function slow.causes(p, calls, limit)
  local out = {}
  for _, outer in ipairs(calls) do
    if #out == limit then break end
    if not explained(p, calls, outer) then out[#out + 1] = outer end
  end
  return out
end

---The slow calls of rows: those that took much longer than the median call of
---their function, the ones that exceed it most first.
---@param rows cprof.Row[]
---@param known? table<string, cprof.Durations>  by title, if not of the rows
---@return table[]
function slow.calls(rows, known)
  local out = {}
  for _, row in ipairs(rows) do
    local d = known and known[row.title] or row.durations
    for _, c in ipairs(d and d.calls > 1 and d.slowest or {}) do
      if c.took_ns > factor * d.p50_ns then
        out[#out + 1] = setmetatable({ row = row,
          excess_ns = c.took_ns - d.p50_ns, usual_ns = d.p50_ns,
          ended_ns = c.ended_ns or 0 }, { __index = c })
      end
    end
  end
  table.sort(out, by_excess)
  return out
end

local function figure(title, field, rank)
  return { title = title, rank = rank, cell = function(_, e)
    return format.time(e[field])
  end }
end

---A column with a part of the time of slow calls or slices.
---@param title string
---@param field string    of cprof.SlowCall
---@param rank integer
---@param least number    shown from this share of the call's time on
---@return cprof.EntryColumn
function slow.part(title, field, rank, least)
  return { title = title, optional = true, rank = rank, cell = function(_, e)
    local ns = e[field] or 0
    return ns > 0 and ns >= least * e.took_ns and format.time(ns) or ""
  end }
end

-- A column with a figure of all calls, also where it is 0. It is blank where it
-- is not known.
local function always(title, field, rank)
  return { title = title, optional = true, rank = rank, cell = function(_, e)
    return e[field] and format.time(e[field]) or ""
  end }
end

local waiting <const> = always("waiting", "wait_ns", 6)

-- a call was disturbed if preemption, or overhead, was this share of its time
-- or more
local disturbed <const> = 0.1

local list <const> = {
  { title = "took", cell = function(_, e)
    return (e.least and ">" or "") .. format.time(e.took_ns)
  end }, always("CPU", "cpu_ns", 5), waiting,
  slow.part("preempted", "preempted_ns", 7, disturbed),
  slow.part("overhead", "overhead_ns", 8, disturbed),
  figure("median", "usual_ns", 4),
  { title = "ended at", optional = true, rank = 3, cell = function(_, e)
    return e.node and format.time(e.ended_ns) or ""
  end },
  { title = "coroutine", optional = true, rank = 2, cell = function(_, e)
    return (e.coroutine or 1) > 1 and tostring(e.coroutine) or ""
  end },
  { title = "frame", optional = true, rank = 3, cell = function(_, e)
    return e.frame and format.count(e.frame) or ""
  end },
  columns.of { "function" },
  { title = "called by", left = true, least = 30, rank = 1, optional = true,
    cut = format.cutchain, code = true, cell = function(on, e)
      return e.node and path_of(on.profile, e.node) or ""
    end },
}

---Prints a table of slow calls, of which the first ones are shown.
---@param page cprof.Page
---@param p cprof.Profile
---@param calls table[]   see slow.calls
---@param limit integer
function slow.show(page, p, calls, limit)
  local shown, waited, own = {}, false, {}
  for i = 1, math.min(#calls, limit) do
    shown[i] = calls[i]
    shown[i].func = calls[i].row.func
    waited = waited or (calls[i].wait_ns or 0) > 0
  end
  for _, column in ipairs(list) do
    if column ~= waiting or waited then own[#own + 1] = column end
  end
  page:table(own, columns.rows({ profile = p }, own, shown))
end

return slow
