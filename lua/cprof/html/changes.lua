-- A profile before another one, for the page: what each function of both had
-- then.

local bound = require "cprof.count.bound"
local compare = require "cprof.profile.compare"
local escape = require "cprof.encoding.escape"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local match = require "cprof.profile.match"
local pack = require "cprof.html.pack"

local changes = {}

local function functions_of(rows)
  local out = {}
  for i, row in ipairs(rows) do out[i] = row.func end
  return out
end

-- Pairs each of `olds` with a row of `rows`. Appends rows for those that are
-- gone.
local function pair(olds, rows)
  local to = match.functions(functions_of(olds), functions_of(rows))
  local gone = {}
  for i, row in ipairs(olds) do
    if not to[i] then
      rows[#rows + 1] = graph.empty(row.func)
      to[i] = #rows
      gone[#gone + 1] = #rows - 1
    end
  end
  return to, gone
end

---@param before cprof.Profile  what is shown of it
---@param after cprof.Profile
---@param rows cprof.Row[]      those of `after`: what is gone is appended
---@param trees table[]         that of `before` is appended
---@return table
function changes.of(before, after, rows, trees)
  local olds = graph.functions(before)
  local to, gone = pair(olds, rows)
  local out = { whole = before.measure.whole, most = bound.most(before),
    gone = gone, notes = {}, was = {},
    program = escape.utf8(format.program(before.meta)),
    samples = before.measure.samples,
    sampled = before.samples ~= nil, has = {}, calls = {}, self = {},
    total = {}, cost = {}, totalCost = {} }
  for i = 1, #rows do
    out.has[i], out.calls[i], out.self[i], out.total[i] = 0, 0, 0, 0
    out.cost[i], out.totalCost[i], out.was[i] = 0, 0, ""
  end
  local index, of = {}, {}
  for i, row in ipairs(olds) do
    local j = to[i]
    out.has[j], out.calls[j] = 1, row.count
    out.self[j], out.total[j] = row.self, row.total
    out.cost[j] = row.self_raw - row.self
    out.totalCost[j] = row.total_raw - row.total
    if rows[j].func.name ~= row.func.name then
      out.was[j] = escape.utf8(row.func.name)
    end
    of[row.title] = j - 1
  end
  for i, f in ipairs(before.functions) do index[i] = of[f.title] or 0 end
  trees[#trees + 1] = pack.tree(before.nodes, index, before.samples ~= nil)
  out.tree = #trees - 1
  for _, note in ipairs(compare.notes(before.meta, after.meta,
    "be compared")) do
    out.notes[#out.notes + 1] = escape.utf8(note)
  end
  return out
end

return changes
