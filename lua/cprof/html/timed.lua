-- How long calls took, for the page: the figures of functions, and the slowest
-- calls, as `cprof show` and `cprof slow` print them.

local durations = require "cprof.report.durations"
local slow = require "cprof.report.slow"

local timed = {}

-- calls in the list of the slowest of all
local limit <const> = 50

---The fields of a slow call in the page: a list has a column for each. -1: not
---known.
timed.fields = { "took", "cpu", "wait", "preempted", "overhead", "usual",
  "ended", "coroutine", "frame", "node" }

---@param call cprof.SlowCall
---@param usual integer  ns of the median call
---@param node? integer  the page's number of its node
---@return integer[]
function timed.call(call, usual, node)
  return { call.took_ns, call.cpu_ns or -1, call.wait_ns or -1,
    call.preempted_ns, call.overhead_ns, usual,
    call.node and call.ended_ns or -1, call.coroutine or -1,
    call.frame or -1, node or -1 }
end

local function flat(steps)
  local out = {}
  for _, row in ipairs(durations.rows(steps)) do
    if row[3] > 0 then table.move(row, 1, 3, #out + 1, out) end
  end
  return out
end

---@param rows cprof.Row[]
---@param p cprof.Profile
---@param nodes? table<integer, integer>  node -> its number in the page
---@return table?
function timed.of(rows, p, nodes)
  if not p.meta.distribution then return nil end
  local functions = { f = {}, calls = {}, p50 = {}, p90 = {}, p99 = {},
    max = {}, steps = {} }
  local number = {}
  for i, row in ipairs(rows) do
    local d = row.durations
    number[row.title] = i - 1
    if d then
      local n = #functions.f + 1
      functions.f[n], functions.calls[n] = i - 1, d.calls
      functions.p50[n], functions.p90[n] = d.p50_ns, d.p90_ns
      functions.p99[n], functions.max[n] = d.p99_ns, d.max_ns
      functions.steps[n] = flat(d.steps)
    end
  end
  local calls, list, at = slow.calls(rows), { f = {} }, {}
  for _, field in ipairs(timed.fields) do list[field] = {} end
  for i, c in ipairs(calls) do
    at[c], list.f[i] = i - 1, number[c.row.title]
    local values = timed.call(c, c.usual_ns, nodes and nodes[c.node])
    for k, field in ipairs(timed.fields) do list[field][i] = values[k] end
  end
  local causes = slow.causes(p, calls, limit)
  for i, c in ipairs(causes) do causes[i] = at[c] end
  return { functions = functions, calls = list, causes = causes }
end

return timed
