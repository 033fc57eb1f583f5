-- Trace events. If the calls are known one by one, they are events of their
-- beginning and their end, as mode "trace" writes them. If not, the call tree
-- becomes nested slices, which are complete events. A slice is as long as all
-- calls of its node together, so its place does not say when the calls
-- happened. Nodes without time are left out: readers could not tell which slice
-- they are in.

local of_calls = require "cprof.profile.calls"
local core = require "cprof.core"
local encode = require "cprof.export.encode"
local text = require "cprof.encoding.quote"

local chrome = {}

---@param f cprof.Function
---@return cprof.FormatSize
function chrome.size(f) return { node = #text(f.title) + 130 } end

-- ns as µs
local function stamp(ns)
  return ("%d.%03d"):format(ns // 1000, ns % 1000)
end

local function metadata(what, name)
  return ('{"name":"%s","ph":"M","pid":1,"tid":1,"args":{"name":%s}}')
    :format(what, name)
end

-- by function: the start of its slices' events, which are alike up to the time
local function heads(p)
  local out = {}
  for i, f in ipairs(p.functions) do
    out[i] = (',\n{"name":%s,"cat":"%s","ph":"X","pid":1,"tid":1,"ts":')
      :format(text(f.title), f.kind)
  end
  return out
end

-- writes the calls one by one; `known`: where they are
local function each_call(known, out)
  local begin, finish = {}, {}
  for i, f in ipairs(known.of.functions) do
    begin[i] = (',\n{"name":%s,"ph":"B","ts":'):format(text(f.title))
    finish[i] = (',\n{"name":%s,"ph":"E","ts":'):format(text(f.title))
  end
  local function put(events)
    return function(func, at)
      out(events[func] .. stamp(at // 1 | 0) .. ',"pid":1,"tid":1}')
    end
  end
  of_calls.each(known, put(begin), put(finish))
end

local tail <const> =
  '%s%s,"dur":%s,"args":{"%s":%d,"self_ns":%d%s}}'

local function slices(p, out)
  local head, at = heads(p), 0
  for _, depth, func, line, calls, self_ns, total_ns, raw in
      core.walk(p.nodes) do
    -- the root's slice has its self time only, so that it contains no others
    local ns = depth > 0 and total_ns or self_ns
    if ns > 0 then
      out(tail:format(head[func], stamp(at), stamp(ns),
        p.samples and "samples" or "calls", p.samples and raw or calls,
        self_ns,
        line > 0 and ',"call_line":' .. line or ""))
    end
    at = at + self_ns
  end
end

---@param p cprof.Profile
---@param out fun(s: string)
---@param whole cprof.Profile  before nodes were added up
function chrome.write(p, out, whole)
  local known = of_calls.of(whole)
  out '{"displayTimeUnit":"ns",'
  out(('"otherData":{"exporter":%s,"clock":"%s","comments":%s},\n')
    :format(text("cprof@" .. p.meta.cprof_version), p.meta.clock,
    text(table.concat(encode.comments(p), "; "))))
  out '"traceEvents":[\n'
  out(metadata("process_name", text(encode.program(p))) .. ",\n")
  if known then
    out(metadata("thread_name", '"Lua"'))
    each_call(known, out)
  else
    out(metadata("thread_name", '"all calls, added up"'))
    slices(p, out)
  end
  out "\n]}\n"
end

return chrome
