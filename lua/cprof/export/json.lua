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
--               With allocations, self_allocs and self_bytes follow.
--   line_fields names of what a line is a list of
--   lines       by source, in mode "line": [line, hits, self_ns, calls,
--               total_ns, active, self_raw_ns], only of lines that have
--               any of these. With allocations, allocs and bytes follow.
--
-- Bytes that are not valid UTF-8 are \ddd in strings, as in Lua.

local core = require "cprof.core"
local encode = require "cprof.export.encode"
local json = require "cprof.json"

local whole = {}

local function_fields = { "id", "name", "title", "kind", "source", "line",
  "last_line", "calls", "self_ns", "self_raw_ns", "total_ns",
  "max_depth", "self_allocs", "self_bytes", "total_allocs", "total_bytes",
  "allocated" }
local node_fields = { "parent", "func", "call_line", "calls", "self_ns",
  "total_ns", "self_raw_ns" }
local line_fields = { "line", "hits", "self_ns", "calls", "total_ns",
  "active", "self_raw_ns" }

-- a list, and what follows it
local function fields(list, more)
  local out = table.move(list, 1, #list, 1, {})
  return table.move(more or {}, 1, #(more or {}), #out + 1, out)
end

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
  local row <const> = "%s[%d,%d,%d,%d,%d,%d,%d"
  for i = 1, #p.nodes do
    local figures = table.pack(core.node(p.nodes, i))
    out(row:format(i > 1 and ",\n" or "\n", table.unpack(figures, 1, 7)))
    out(p.meta.memory and (",%d,%d]"):format(figures[10], figures[11]) or "]")
  end
end

local function lines(list, out, memory)
  local separator = "\n"
  for n, line in ipairs(list) do
    if line.active or line.hits > 0 or line.calls > 0 then
      out(("%s[%d,%d,%d,%d,%d,%s,%d"):format(separator, n, line.hits,
        line.self_ns, line.calls, line.total_ns, line.active,
        line.self_raw_ns))
      out(memory and (",%d,%d]"):format(line.allocs, line.bytes) or "]")
      separator = ",\n"
    end
  end
end

---@param p cprof.Profile
---@param out fun(s: string)
function whole.write(p, out)
  out '{"format":"cprof","version":2,\n"comments":'
  out(json.encode(encode.comments(p)))
  out((',\n"program_ns":%d,\n"meta":'):format(p.program_ns))
  out(record(p.meta, sorted(p.meta)))
  out ',\n"functions":['
  for i, f in ipairs(p.functions) do
    out((i > 1 and ",\n" or "\n") .. record(f, function_fields))
  end
  local memory = p.meta.memory
  out('\n],\n"node_fields":' .. json.encode(fields(node_fields, memory and
    { "self_allocs", "self_bytes" })) .. ',\n"nodes":[')
  nodes(p, out)
  out('\n],\n"line_fields":' .. json.encode(fields(line_fields,
    memory and { "allocs", "bytes" })) .. ',\n"lines":{')
  for i, source in ipairs(sorted(p.lines)) do
    out((i > 1 and ",\n" or "\n") .. encoded(source) .. ":[")
    lines(p.lines[source], out, memory)
    out "\n]"
  end
  out "\n}}\n"
end

return whole
