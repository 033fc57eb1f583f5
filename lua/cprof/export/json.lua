-- The whole profile as JSON, version 2:
--
--   format      "cprof"
--   version     2; changes when something is renamed, removed, or means
--               something else. New keys may come without that.
--   comments    a list of strings, for people: what was recorded, and what
--               of it is left out, folded or added up
--   program_ns  time without profiler overhead and pauses; self times of
--               functions, and of nodes, add up to it
--   meta        as profile.meta
--   functions   as profile.functions, in order of id, which is from 1,
--               without fingerprints and layouts
--   node_fields names of the fields of a node
--   nodes       in order of id, which is from 1: [parent, func, call_line,
--               calls, self_ns, total_ns, self_raw_ns, self_wait_ns,
--               total_wait_ns]; the root's parent is 0. Profiler overhead has
--               a node and a function, with no time.
--               If allocations were counted, self_allocs and self_bytes
--               follow; if live blocks were, live_blocks and live_bytes.
--   line_fields names of the fields of a line
--   lines       by source, in mode "line": [line, hits, self_ns, calls,
--               total_ns, active, self_raw_ns, self_most_ns,
--               total_most_ns, self_wait_ns, total_wait_ns], only of lines
--               that have any of these. If allocations were counted, allocs
--               and bytes follow; if live blocks were, live_bytes.
--
-- If durations of calls were counted, functions have timed_calls, max_ns,
-- p50_ns, p90_ns, p99_ns, durations: [from ns, to ns, calls], ..., and
-- slowest: the longest calls, with took_ns, cpu_ns, wait_ns, preempted_ns,
-- overhead_ns, wall_ns, ended_ns, node, coroutine, frame
--
--   labels      if labels were recorded: as profile.labels; functions that
--               are labels have labels: their keys and values
--   tasks       if tasks were counted, or sampled: as profile.tasks
--
-- Times are estimates, which add up. self_most_ns and total_most_ns are upper
-- bounds of them. A bound exceeds the estimate if most of the measured time is
-- profiler overhead; reports then print the bound, as <12ms.
--
--   heap        with allocations: [ns since the start, bytes] over time
--
-- Mode "count" has no times: `instructions` is in place of program_ns and
-- self_ns, and total_instructions in place of total_ns. It also has
--
--   expression_fields, branch_fields  names of the fields of an expression, of
--               a branch
--   sources     by source: its expressions and branches; {} if only its lines
--               are known
--
-- Mode "sample" has samples in place of calls: "samples" is their number,
-- and nodes are [parent, func, call_line, self_samples, self_ns, total_ns,
-- total_samples]. Where machine instructions tell it, functions have within:
-- what their own time without waiting was spent in, with what, ns, and unknown
-- where `what` says why it is not known.
--
-- A byte that is not valid UTF-8 is written as \ddd, as in a string of Lua.

local core = require "cprof.core"
local encode = require "cprof.export.encode"
local escape = require "cprof.encoding.escape"
local fields = require "cprof.export.fields"
local json = require "cprof.encoding.json"
local lists = require "cprof.text.lists"
local within = require "cprof.count.within"

local whole = {}

-- the fields of expressions and branches, in mode "count"
local expression_fields <const> = { "line", "column", "last_line",
  "last_column", "count" }
local branch_fields <const> = { "kind", "line", "column", "reached", "way",
  "count", "other_way", "other_count" }

local encoded, record

-- A value as JSON. json.encode does not get integers and strings: it asks for
-- the locale each time.
function encoded(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if type(value) == "string" then
    return json.quotestring(escape.utf8(value))
  elseif type(value) == "table" and value[1] ~= nil then
    local out = {}
    for i, item in ipairs(value) do out[i] = encoded(item) end
    return "[" .. table.concat(out, ",") .. "]"
  elseif type(value) == "table" then
    return record(value, lists.keys(value))
  end
  return json.encode(value)
end

function record(t, names)
  local out = {}
  for _, field in ipairs(names) do
    if t[field] ~= nil then
      out[#out + 1] = ('"%s":%s'):format(field, encoded(t[field]))
    end
  end
  return "{" .. table.concat(out, ",") .. "}"
end

---@param f cprof.Function
---@return cprof.FormatSize
function whole.size(f)
  return { node = 46, once = #record(f, lists.keys(f)) + 60 }
end

-- indexes of the first allocation figure, and of the first waiting time, in
-- the results of core.node
local ALLOCATED <const>, WAITED <const> = 10, 14

local function nodes(p, out, names, own)
  local form = "%s[" .. ("%d,"):rep(#names):sub(1, -2) .. "]"
  for i = 1, #p.nodes do
    local figures = table.pack(core.node(p.nodes, i))
    if p.samples then figures[4], figures[7] = figures[7], figures[8]
    elseif p.measure:timed() then
      figures[8], figures[9] = figures[WAITED], figures[WAITED + 1]
    end
    table.move(figures, ALLOCATED, WAITED - 1, own + 1)
    out(form:format(i > 1 and ",\n" or "\n", table.unpack(figures, 1,
      #names)))
  end
end

-- Writes the lines of a source that have code or figures.
local function lines(p, source, out, names)
  local separator, rest = "\n", table.move(names, 2, #names, 1, {})
  for n, line in ipairs(p.lines[source]) do
    if line.active or line.hits > 0 or (line.calls or 0) > 0 or
       (line.self_ns or 0) > 0 or (line.allocs or 0) > 0 then
      local figures = { n }
      for i, field in ipairs(rest) do
        figures[i + 1] = tostring(line[field])
      end
      out(separator .. "[" .. table.concat(figures, ",") .. "]")
      separator = ",\n"
    end
  end
end

-- Writes the rest of an object with a field for each source; write(source)
-- writes the value of that field.
local function by_source(p, out, write)
  local separator = "\n"
  for _, source in ipairs(lists.keys(p.lines)) do
    out(separator .. encoded(source) .. ":")
    write(source)
    separator = ",\n"
  end
  out "\n}"
end

-- the fields of a task that are lists
local task_lists <const> = { "durations", "slowest", "pauses", "streaks" }

-- Writes what coroutines did.
local function tasks(list, out)
  out ',\n"tasks":['
  for i, task in ipairs(list) do
    local names, parts = {}, {}
    for _, key in ipairs(lists.keys(task)) do
      if type(task[key]) ~= "table" then names[#names + 1] = key end
    end
    for _, key in ipairs(task_lists) do
      if task[key] then
        parts[#parts + 1] = (',"%s":%s'):format(key,
          #task[key] > 0 and encoded(task[key]) or "[]")
      end
    end
    out(("%s%s%s}"):format(i > 1 and ",\n" or "\n",
      record(task, names):sub(1, -2), table.concat(parts)))
  end
  out "\n]"
end

local function expressions(list, out)
  for i, e in ipairs(list) do
    out(("%s[%d,%d,%d,%d,%d]"):format(i > 1 and ",\n" or "\n", e.line,
      e.column, e.last_line, e.last_column, e.count))
  end
end

local function branches(list, out)
  for i, b in ipairs(list) do
    local one, other = b.ways[1], b.ways[2]
    out(('%s["%s",%d,%d,%s,"%s",%d,"%s",%d]'):format(i > 1 and ",\n" or "\n",
      b.kind, b.line, b.column, b.reached, one.name, one.count, other.name,
      other.count))
  end
end

-- Writes the expressions and branches of the sources, in mode "count".
local function parts(p, out)
  out(',\n"expression_fields":' .. json.encode(expression_fields))
  out(',\n"branch_fields":' .. json.encode(branch_fields))
  out ',\n"sources":{'
  by_source(p, out, function(source)
    if not p.expressions[source] then
      out "{}"
      return
    end
    out '{"expressions":['
    expressions(p.expressions[source], out)
    out '],\n"branches":['
    branches(p.branches[source], out)
    out "]}"
  end)
end

---@param p cprof.Profile
---@param out fun(s: string)
function whole.write(p, out)
  local counts = p.measure.name == "instructions"
  out '{"format":"cprof","version":2,\n"comments":'
  out(json.encode(encode.comments(p)))
  out((',\n"%s":%d,'):format(counts and "instructions" or "program_ns",
    p.measure.whole))
  if p.samples then out(('\n"samples":%d,'):format(p.samples)) end
  out '\n"meta":'
  out(record(p.meta, lists.keys(p.meta)))
  out ',\n"functions":['
  local of_functions, of_nodes, of_lines = fields.of(p, "functions"),
    fields.of(p, "nodes"), fields.of(p, "lines")
  if p.meta.distribution then
    table.move({ "durations", "slowest" }, 1, 2, #of_functions + 1,
      of_functions)
  end
  if p.meta.memory then of_functions[#of_functions + 1] = "allocated" end
  of_functions[#of_functions + 1] = p.time_samples and "within" or nil
  of_functions[#of_functions + 1] = p.labels and "labels" or nil
  for i, f in ipairs(p.functions) do
    local made = within.itself(p, f.title)
    for _, part in ipairs(made) do part.what = escape.utf8(part.what) end
    out((i > 1 and ",\n" or "\n") .. record(setmetatable({
      within = made[1] and made or nil }, { __index = f }), of_functions))
  end
  out('\n],\n"node_fields":' .. json.encode(of_nodes) .. ',\n"nodes":[')
  nodes(p, out, of_nodes, select(2, fields.of(p, "nodes")))
  out('\n],\n"line_fields":' .. json.encode(of_lines) .. ',\n"lines":{')
  by_source(p, out, function(source)
    out "["
    lines(p, source, out, of_lines)
    out "\n]"
  end)
  if counts then parts(p, out) end
  if p.labels then out(',\n"labels":' .. encoded(p.labels)) end
  if p.tasks then tasks(p.tasks, out) end
  if p.heap then
    out ',\n"heap":['
    for i, at in ipairs(p.heap) do
      out(("%s[%d,%d]"):format(i > 1 and "," or "", at.ns, at.bytes))
    end
    out "]"
  end
  out "}\n"
end

return whole
