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
--   line_fields names of what a line is a list of
--   lines       by source, in mode "line": [line, hits, self_ns, calls,
--               total_ns, active, self_raw_ns], only of lines that have
--               any of these
--
-- In mode "sample", samples stand in the place of calls: there is "samples",
-- their number, and nodes are [parent, func, call_line, self_samples,
-- self_ns, total_ns, total_samples].
--
-- Bytes that are not valid UTF-8 are \ddd in strings, as in Lua.

local core = require "cprof.core"
local encode = require "cprof.export.encode"
local json = require "cprof.json"

local whole = {}

local function_fields = { "id", "name", "title", "kind", "source", "line",
  "last_line", "calls", "self_samples", "total_samples", "self_ns",
  "self_raw_ns", "total_ns",
  "max_depth" }
local node_fields = { "parent", "func", "call_line", "calls", "self_ns",
  "total_ns", "self_raw_ns" }
local sampled_fields = { "parent", "func", "call_line", "self_samples",
  "self_ns", "total_ns", "total_samples" }
local line_fields = { "line", "hits", "self_ns", "calls", "total_ns",
  "active", "self_raw_ns" }

local function sorted(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local record

local function encoded(value)
  if type(value) == "table" then return record(value, sorted(value)) end
  return json.encode(type(value) == "string" and encode.utf8(value) or value)
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
  return { node = 40, once = #record(f, function_fields) + 60 }
end

local function nodes(p, out)
  for i = 1, #p.nodes do
    local parent, func, line, calls, self_ns, total_ns, raw, total_raw =
      core.node(p.nodes, i)
    if p.samples then calls, raw = raw, total_raw end
    out(("%s[%d,%d,%d,%d,%d,%d,%d]"):format(i > 1 and ",\n" or "\n", parent,
      func, line, calls, self_ns, total_ns, raw))
  end
end

local function lines(list, out)
  local separator = "\n"
  for n, line in ipairs(list) do
    if line.active or line.hits > 0 or line.calls > 0 or
       line.self_ns > 0 then
      out(("%s[%d,%d,%d,%d,%d,%s,%d]"):format(separator, n, line.hits,
        line.self_ns, line.calls, line.total_ns, line.active,
        line.self_raw_ns))
      separator = ",\n"
    end
  end
end

---@param p cprof.Profile
---@param out fun(s: string)
function whole.write(p, out)
  out '{"format":"cprof","version":2,\n"comments":'
  out(json.encode(encode.comments(p)))
  out((',\n"program_ns":%d,%s\n"meta":'):format(p.program_ns,
    p.samples and ('\n"samples":%d,'):format(p.samples) or ""))
  out(record(p.meta, sorted(p.meta)))
  out ',\n"functions":['
  for i, f in ipairs(p.functions) do
    out((i > 1 and ",\n" or "\n") .. record(f, function_fields))
  end
  out('\n],\n"node_fields":' .. json.encode(p.samples and
    sampled_fields or node_fields) .. ',\n"nodes":[')
  nodes(p, out)
  out('\n],\n"line_fields":' .. json.encode(line_fields) .. ',\n"lines":{')
  for i, source in ipairs(sorted(p.lines)) do
    out((i > 1 and ",\n" or "\n") .. encoded(source) .. ":[")
    lines(p.lines[source], out)
    out "\n]"
  end
  out "\n}}\n"
end

return whole
