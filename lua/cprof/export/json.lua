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
--   node_fields names of what a node is a list of
--   nodes       in order of id, which is from 1: [parent, func, call_line,
--               calls, self_ns, total_ns, self_raw_ns]; the root's parent
--               is 0. Profiler overhead has a node and a function, with no
--               time.
--               With allocations, self_allocs and self_bytes follow;
--               where what is in use is known, live_blocks and live_bytes.
--   line_fields names of what a line is a list of
--   lines       by source, in mode "line": [line, hits, self_ns, calls,
--               total_ns, active, self_raw_ns, self_most_ns,
--               total_most_ns, self_wait_ns, total_wait_ns], only of lines
--               that have any of these. With
--               allocations, allocs and bytes follow; where what is in use
--               is known, live_bytes.
--
-- Times are estimates, which add up. self_most_ns and total_most_ns are what
-- they are at most: more than the estimate where most of what was measured
-- is profiler overhead, which reports print as a bound, <12ms.
--
--   heap        with allocations: [ns since the start, bytes] over time
--
-- Mode "count" has no times: `instructions` is in the place of program_ns
-- and of self_ns, total_instructions in that of total_ns. It has also
--
--   expression_fields, branch_fields  names of what these are lists of
--   sources     by source where more than lines are known: expressions,
--               branches
--
-- In mode "sample", samples stand in the place of calls: there is "samples",
-- their number, and nodes are [parent, func, call_line, self_samples,
-- self_ns, total_ns, total_samples].
--
-- Bytes that are not valid UTF-8 are \ddd in strings, as in Lua.

local core = require "cprof.core"
local encode = require "cprof.export.encode"
local escape = require "cprof.encoding.escape"
local json = require "cprof.encoding.json"

local whole = {}

local function_fields = { "id", "name", "title", "kind", "source", "line",
  "last_line", "calls", "self_ns", "self_raw_ns", "total_ns",
  "max_depth", "self_most_ns", "total_most_ns", "self_wait_ns",
  "total_wait_ns" }
local node_fields = { "parent", "func", "call_line", "calls", "self_ns",
  "total_ns", "self_raw_ns", "self_wait_ns", "total_wait_ns" }
local line_fields = { "line", "hits", "self_ns", "calls", "total_ns",
  "active", "self_raw_ns", "self_most_ns", "total_most_ns", "self_wait_ns",
  "total_wait_ns" }

-- the fields of a profile without times
local counted = {
  functions = { "id", "name", "title", "kind", "source", "line", "last_line",
    "calls", "instructions", "total_instructions", "max_depth" },
  nodes = { "parent", "func", "call_line", "calls", "instructions",
    "total_instructions" },
  lines = { "line", "hits", "instructions", "active" },
  expressions = { "line", "column", "last_line", "last_column", "count" },
  branches = { "kind", "line", "column", "reached", "way", "count",
    "other_way", "other_count" },
}

-- the fields of a profile of samples
local sampled = {
  functions = { "id", "name", "title", "kind", "source", "line", "last_line",
    "self_samples", "total_samples", "self_ns", "total_ns" },
  nodes = { "parent", "func", "call_line", "self_samples", "self_ns",
    "total_ns", "total_samples" },
  lines = { "line", "hits", "self_ns", "calls", "total_ns", "active",
    "self_raw_ns" },
}

-- what follows of allocations
local allocated = {
  functions = { "self_allocs", "self_bytes", "total_allocs", "total_bytes",
                "allocated" },
  nodes = { "self_allocs", "self_bytes" },
  lines = { "allocs", "bytes" },
}

-- and of what is in use
local live = {
  functions = { "live_bytes", "total_live_bytes", "live_blocks",
                "total_live_blocks", "peak_bytes", "total_peak_bytes" },
  nodes = { "live_blocks", "live_bytes" },
  lines = { "live_bytes" },
}

local function append(list, more)
  return table.move(more, 1, #more, #list + 1, list)
end

-- the names of all figures of functions, nodes or lines
local function fields_of(p, what)
  local own = encode.counts(p) and counted or p.samples and sampled or
    { functions = function_fields, nodes = node_fields, lines = line_fields }
  local out = append({}, own[what])
  if p.meta.memory then append(out, allocated[what]) end
  if p.meta.live_interval then append(out, live[what]) end
  return out
end

local function sorted(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local record

-- json.encode asks for the locale each time
local function encoded(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if type(value) == "string" then
    return json.quotestring(escape.utf8(value))
  elseif type(value) == "table" then
    return record(value, sorted(value))
  end
  return json.encode(value)
end

function record(t, fields)
  local out = {}
  for _, field in ipairs(fields) do
    if t[field] ~= nil then
      out[#out + 1] = ('"%s":%s'):format(field, encoded(t[field]))
    end
  end
  return "{" .. table.concat(out, ",") .. "}"
end

---@param f cprof.Function
---@return cprof.FormatSize
function whole.size(f)
  return { node = 46, once = #record(f, function_fields) + 60 }
end

-- where core.node has what was allocated, and how long nodes waited
local ALLOCATED <const>, WAITED <const> = 10, 14

local function nodes(p, out, fields)
  local form = "%s[" .. ("%d,"):rep(#fields):sub(1, -2) .. "]"
  local own = encode.counts(p) and #counted.nodes or p.samples and
    #sampled.nodes or #node_fields
  for i = 1, #p.nodes do
    local figures = table.pack(core.node(p.nodes, i))
    if p.samples then figures[4], figures[7] = figures[7], figures[8]
    elseif own == #node_fields then
      figures[8], figures[9] = figures[WAITED], figures[WAITED + 1]
    end
    table.move(figures, ALLOCATED, WAITED - 1, own + 1)
    out(form:format(i > 1 and ",\n" or "\n", table.unpack(figures, 1,
      #fields)))
  end
end

-- lines by the names of their figures
local function lines(p, source, out, fields)
  local separator, rest = "\n", table.move(fields, 2, #fields, 1, {})
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

-- an object of lists of rows, by source
local function by_source(p, out, write)
  local separator = "\n"
  for _, source in ipairs(sorted(p.lines)) do
    out(separator .. encoded(source) .. ":")
    write(source)
    separator = ",\n"
  end
  out "\n}"
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

-- what is known of the sources of mode "count" beside their lines
local function parts(p, out)
  out(',\n"expression_fields":' .. json.encode(counted.expressions))
  out(',\n"branch_fields":' .. json.encode(counted.branches))
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
  local counts = encode.counts(p)
  out '{"format":"cprof","version":2,\n"comments":'
  out(json.encode(encode.comments(p)))
  out((',\n"%s":%d,'):format(counts and "instructions" or "program_ns",
    p.program_ns))
  if p.samples then out(('\n"samples":%d,'):format(p.samples)) end
  out '\n"meta":'
  out(record(p.meta, sorted(p.meta)))
  out ',\n"functions":['
  local of_functions, of_nodes, of_lines = fields_of(p, "functions"),
    fields_of(p, "nodes"), fields_of(p, "lines")
  for i, f in ipairs(p.functions) do
    out((i > 1 and ",\n" or "\n") .. record(f, of_functions))
  end
  out('\n],\n"node_fields":' .. json.encode(of_nodes) .. ',\n"nodes":[')
  nodes(p, out, of_nodes)
  out('\n],\n"line_fields":' .. json.encode(of_lines) .. ',\n"lines":{')
  by_source(p, out, function(source)
    out "["
    lines(p, source, out, of_lines)
    out "\n]"
  end)
  if counts then parts(p, out) end
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
