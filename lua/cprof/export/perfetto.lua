-- Perfetto's trace packets (perfetto_trace.proto). Each packet has all that it
-- needs but what packets before it have, so the beginning of a file is a file.
-- Names are interned: the first packet that refers to a name brings it along.

local encode = require "cprof.export.encode"
local escape = require "cprof.encoding.escape"
local protobuf = require "cprof.encoding.protobuf"
local trace = require "cprof.export.trace"

local perfetto = {}

local number, bytes = protobuf.number, protobuf.bytes

---@param f cprof.Function
---@return cprof.FormatSize
function perfetto.size(f) return { node = 85, once = #f.title + 30 } end

-- TracePacket: all are of one sequence. The first one says so, and that events
-- are on the first track if they name no other.
local packets <const>, track_of <const> = 1, 11
local sequence <const> = number(10, 1) .. number(13, 2)
local first <const> = number(10, 1) .. number(13, 1) ..
  bytes(59, bytes(11, number(track_of, 1)))

-- TrackEvent.type
local begins <const>, ends <const>, happens <const>, counts <const> =
  number(9, 1), number(9, 2), number(9, 3), number(9, 4)

-- uuids of tracks that are not those of slices and events
local process <const>, heap <const> = 1 << 20, 1 << 20 | 1

-- DebugAnnotation.uint_value, string_value
local uint <const>, string_value <const> = 3, 6

-- InternedData: categories, names of events, names of annotations
local interned <const> = { category = 1, name = 2, annotation = 3 }

-- Returns a function that puts a packet of `out`, and one for the number of a
-- name of a kind, which is new from 1 on; the next packet has it.
local function packing(out)
  local new, ids, count = {}, {}, 0
  local function id(kind, s)
    local known = ids[kind] or {}
    ids[kind] = known
    if not known[s] then
      count = count + 1
      known[s] = count
      new[#new + 1] = bytes(interned[kind], number(1, count) ..
        bytes(2, escape.utf8(s)))
    end
    return known[s]
  end
  local function put(fields)
    if #new > 0 then
      fields = bytes(12, table.concat(new)) .. fields
      new = {}
    end
    out(bytes(packets, fields))
  end
  return put, id
end

-- TrackDescriptor of the process.
local function of_process(p)
  local name = encode.program(p)
  return first .. bytes(60, number(1, process) .. bytes(3,
    number(1, p.meta.pid or 1) .. bytes(2, name) .. bytes(6, name)))
end

-- TrackDescriptor of a track for slices: the first one is that of the thread.
local function of_track(p, track, name)
  local pid = number(1, p.meta.pid or 1)
  return sequence .. bytes(60, number(1, track) .. number(5, process) ..
    (track == 1 and
      bytes(4, pid .. number(2, p.meta.pid or 1) .. bytes(5, name)) or
      bytes(2, name)))
end

-- TrackDescriptor of the counter: its unit is bytes.
local of_heap <const> = sequence .. bytes(60, number(1, heap) ..
  number(5, process) .. bytes(2, "heap") .. bytes(8, number(3, 3)))

-- What writes slices to `out`.
local function writer(p, out)
  local put, id = packing(out)
  local to, heads, counted = {}, {}, false
  local function event(at, fields)
    put(number(8, at) .. sequence .. bytes(11, fields))
  end
  local function head(category, name)
    return begins .. number(3, id("category", category)) ..
      number(10, id("name", name))
  end
  local function figure(name, n)
    return bytes(4, number(1, id("annotation", name)) .. number(uint, n))
  end
  local function words(name, s)
    return bytes(4, number(1, id("annotation", name)) ..
      bytes(string_value, escape.utf8(s)))
  end
  -- what there is to say of the recording
  local function about()
    local fields = { happens, number(10, id("name", "recording")),
      number(track_of, process) }
    for i, comment in ipairs(encode.comments(p)) do
      fields[i + 3] = words(("comment %d"):format(i), comment)
    end
    event(0, table.concat(fields))
  end
  put(of_process(p))
  about()
  function to.track(track, name) put(of_track(p, track, name)) end
  function to.enter(f, at, slice)
    heads[f] = heads[f] or head(f.kind, f.title)
    event(at, heads[f] .. (slice and
      figure(p.samples and "samples" or "calls", slice.calls) ..
      figure("self_ns", slice.self_ns) ..
      (slice.call_line > 0 and figure("call_line", slice.call_line) or "") or
      ""))
  end
  function to.leave(_, at) event(at, ends) end
  function to.event(track, m, caller)
    local on = number(track_of, track)
    local fields = { head(m.kind, m.name), on,
      caller and words("function", caller.title) }
    for _, of in ipairs(trace.figures(m)) do
      fields[#fields + 1] = figure(of[1], of[2])
    end
    event(m.from, table.concat(fields))
    event(m.to, ends .. on)
  end
  function to.heap(at, n)
    if not counted then put(of_heap) end
    counted = true
    event(at, counts .. number(track_of, heap) .. number(30, n))
  end
  return to
end

---@param p cprof.Profile
---@param out fun(s: string)
---@param whole cprof.Profile  before nodes were added up
function perfetto.write(p, out, whole)
  trace.each(p, whole, writer(p, out))
end

return perfetto
