-- Trace events: the tree as nested slices. Times are sums, so that slices
-- are as long as all calls of their state together, one after the other;
-- when they happened is not told.

local core = require "cprof.core"
local encode = require "cprof.export.encode"
local json = require "cprof.json"

local chrome = {}

local function text(s) return json.quotestring(encode.utf8(s)) end

-- ns as µs
local function stamp(ns)
  return ("%d.%03d"):format(ns // 1000, ns % 1000)
end

local function metadata(what, name)
  return ('{"name":"%s","ph":"M","pid":1,"tid":1,"args":{"name":%s}}')
    :format(what, name)
end

-- what is the same each time that a function begins
local function heads(p)
  local out = {}
  for i, f in ipairs(p.functions) do
    out[i] = ('{"name":%s,"cat":"%s","ph":"B","pid":1,"tid":1,"ts":')
      :format(text(f.title), f.kind)
  end
  return out
end

local begin <const> =
  ',\n%s%s,"args":{"calls":%d,"self_ns":%d,"total_ns":%d,"call_line":%d}}'
local finish <const> = ',\n{"ph":"E","pid":1,"tid":1,"ts":%s}'

local function slices(p, out)
  local head = heads(p)
  -- by depth: where the slice ends, and where its next callee begins
  local ends, next_at, top = {}, {}, 0
  local first = p.nodes[1].self_ns > 0 and 0 or 1
  local function close(depth)
    for d = top, math.max(depth, first), -1 do
      out(finish:format(stamp(ends[d])))
    end
  end
  for _, depth, func, line, calls, self_ns, total_ns in core.walk(p.nodes) do
    if depth > 0 then close(depth) end
    local at = depth > 0 and next_at[depth - 1] or 0
    if depth > 0 then next_at[depth - 1] = at + total_ns end
    next_at[depth], ends[depth], top = at, at + total_ns, depth
    if depth >= first then
      out(begin:format(head[func], stamp(at), calls, self_ns, total_ns,
        line))
    end
  end
  close(0)
end

---@param p cprof.Profile
---@param out fun(s: string)
function chrome.write(p, out)
  out '{"displayTimeUnit":"ns",'
  out(('"otherData":{"exporter":"cprof@%s","clock":"%s"},\n'):format(
    p.meta.cprof_version, p.meta.clock))
  out '"traceEvents":[\n'
  out(metadata("process_name", text(encode.program(p))) .. ",\n")
  out(metadata("thread_name", '"all calls, added up"'))
  slices(p, out)
  out "\n]}\n"
end

return chrome
