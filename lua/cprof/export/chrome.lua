-- Trace events. A single call is an event of its beginning and one of its end,
-- as mode "trace" writes them; other slices are complete events. Each track is
-- a thread of the format.

local encode = require "cprof.export.encode"
local trace = require "cprof.export.trace"
local text = require "cprof.encoding.quote"

local chrome = { calls = trace.calls }

---@param f cprof.Function
---@return cprof.FormatSize
function chrome.size(f) return { node = #text(f.title) + 130 } end

-- ns as µs
local function stamp(ns)
  return ("%d.%03d"):format(ns // 1000, ns % 1000)
end

local function metadata(what, track, name)
  return ('{"name":"%s","ph":"M","pid":1,"tid":%d,"args":{"name":%s}}')
    :format(what, track, text(name))
end

-- Returns a function that returns what `make` does for a function of the
-- profile, and calls `make` only once for each.
local function once(make)
  local known = {}
  return function(f)
    known[f] = known[f] or make(f)
    return known[f]
  end
end

local function call_event(phase)
  local head = once(function(f)
    return (',\n{"name":%s,"ph":"%s","ts":'):format(text(f.title), phase)
  end)
  return function(f, at)
    return head(f) .. stamp(at) .. ',"pid":1,"tid":1}'
  end
end

local tail <const> =
  '%s%s,"dur":%s,"args":{"%s":%d,"self_ns":%d%s}}'

-- Returns a function that gives the event of a slice. The events of one
-- function begin alike, up to the time.
local function slice_event(p)
  local head = once(function(f)
    return (',\n{"name":%s,"cat":"%s","ph":"X","pid":1,"tid":1,"ts":')
      :format(text(f.title), f.kind)
  end)
  return function(f, at, slice)
    local line = slice.call_line
    return tail:format(head(f), stamp(at), stamp(slice.ns),
      p.samples and "samples" or "calls", slice.calls, slice.self_ns,
      line > 0 and ',"call_line":' .. line or "")
  end
end

local function marker_event(track, m, caller)
  local args = { caller and '"function":' .. text(caller.title) }
  for _, figure in ipairs(trace.figures(m)) do
    args[#args + 1] = ('"%s":%d'):format(figure[1], figure[2])
  end
  return (',\n{"name":%s,"cat":"%s","ph":"X","pid":1,"tid":%d,"ts":%s,' ..
    '"dur":%s,"args":{%s}}'):format(text(m.name), m.kind, track,
    stamp(m.from), stamp(m.to - m.from), table.concat(args, ","))
end

-- The writer of slices as trace events to `out`: see trace.write.
local function writer(p, out)
  local begins, ends = call_event "B", call_event "E"
  local whole = slice_event(p)
  local to = {}
  function to.track(number, name)
    out(",\n" .. metadata("thread_name", number, name))
  end
  function to.enter(f, at, slice)
    out(slice and whole(f, at, slice) or begins(f, at))
  end
  function to.leave(f, at, slice)
    if not slice then out(ends(f, at)) end
  end
  function to.event(...) out(marker_event(...)) end
  function to.heap(at, bytes)
    out((',\n{"name":"heap","ph":"C","pid":1,"ts":%s,"args":{"bytes":%d}}')
      :format(stamp(at), bytes))
  end
  return to
end

---@param p cprof.Profile
---@param out fun(s: string)
---@param whole cprof.Profile  before nodes were added up
function chrome.write(p, out, whole)
  -- Perfetto takes "displayTimeUnit":"ns" as the unit of the times, which are
  -- in µs
  out(('{"otherData":{"exporter":%s,"clock":"%s","comments":%s},\n')
    :format(text("cprof@" .. p.meta.cprof_version), p.meta.clock,
    text(table.concat(encode.comments(p), "; "))))
  out '"traceEvents":[\n'
  out(metadata("process_name", 1, encode.program(p)))
  trace.each(p, whole, writer(p, out))
  out "\n]}\n"
end

return chrome
