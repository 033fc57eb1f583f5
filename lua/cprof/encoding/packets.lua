-- Perfetto's trace packets (perfetto_trace.proto). A packet refers only to
-- itself and to packets before it, so the beginning of a file can be read
-- alone. Names are interned: the first packet that refers to a name brings it
-- along.

local escape = require "cprof.encoding.escape"
local protobuf = require "cprof.encoding.protobuf"

local packets = {}

-- Nothing here calls a method of a string: traces are written within the hook,
-- and the program may have changed these methods.
local number, bytes = protobuf.number, protobuf.bytes

-- TracePacket: all are of one sequence. The first one says so, and that events
-- are on track 1 if they name no other.
local sequence <const> = number(10, 1) .. number(13, 2)
local first <const> = number(10, 1) .. number(13, 1) ..
  bytes(59, bytes(11, number(11, 1)))

-- TrackEvent.type
local begins <const>, ends <const>, happens <const>, counts <const> =
  number(9, 1), number(9, 2), number(9, 3), number(9, 4)

-- uuids of tracks: that of the process, and the one to which the number of a
-- counter is added; the uuid of a track of slices is its number
local process <const>, counters <const> = 1 << 40, 1 << 41

-- InternedData: categories, names of events, names of annotations
local interned <const> = { category = 1, name = 2, annotation = 3 }

---@class cprof.Packets
---@field private out fun(s: string)
---@field private pid integer
---@field private ids table<string, table<string, integer>>
---@field private names integer  that have a number
---@field private new string[]   names that the next packet brings
local Packets = {}

-- Puts a packet.
local function put(self, fields)
  if #self.new > 0 then
    fields = bytes(12, table.concat(self.new)) .. fields
    self.new = {}
  end
  self.out(bytes(1, fields))
end

-- the number of a name
local function id(self, kind, s)
  local known = self.ids[kind]
  if not known[s] then
    self.names = self.names + 1
    known[s] = self.names
    self.new[#self.new + 1] = bytes(interned[kind], number(1, self.names) ..
      bytes(2, escape.utf8(s)))
  end
  return known[s]
end

local function event(self, at, fields)
  put(self, number(8, at) .. sequence .. bytes(11, fields))
end

local function on(track)
  return track > 1 and number(11, track) or ""
end

---Describes a track, whose events may follow.
---@param self cprof.Packets
---@param track integer  from 1 on
---@param name string
---@param thread? integer  the id of its thread; nil: it belongs to no thread
function Packets.track(self, track, name, thread)
  name = escape.utf8(name)
  put(self, sequence .. bytes(60, number(1, track) ..
    number(5, process) .. (thread and bytes(4, number(1, self.pid) ..
    number(2, thread) .. bytes(5, name)) or bytes(2, name))))
end

---Describes a counter of bytes.
---@param self cprof.Packets
---@param counter integer  from 1 on
---@param name string
function Packets.counter(self, counter, name)
  put(self, sequence .. bytes(60, number(1, counters + counter) ..
    number(5, process) .. bytes(2, name) .. bytes(8, number(3, 3))))
end

---The beginning of a slice, for `enter`.
---@param self cprof.Packets
---@param category string
---@param name string
---@return string
function Packets.head(self, category, name)
  return begins .. number(3, id(self, "category", category)) ..
    number(10, id(self, "name", name))
end

---A figure, or a text, of an event.
---@param self cprof.Packets
---@param name string
---@param value integer|string
---@return string
function Packets.annotation(self, name, value)
  return bytes(4, number(1, id(self, "annotation", name)) ..
    (type(value) == "string" and bytes(6, escape.utf8(value)) or
    number(4, value --[[@as integer]])))
end

---A slice begins.
---@param self cprof.Packets
---@param track integer
---@param at integer   ns
---@param fields string  from `head`, and from `annotation`
function Packets.enter(self, track, at, fields)
  event(self, at, fields .. on(track))
end

---The slice of a track that began last, and has not ended, ends.
---@param self cprof.Packets
---@param track integer
---@param at integer  ns
function Packets.leave(self, track, at)
  event(self, at, ends .. on(track))
end

---Something happens to the process.
---@param self cprof.Packets
---@param at integer  ns
---@param name string
---@param fields string  from `annotation`
function Packets.happen(self, at, name, fields)
  event(self, at, happens .. number(10, id(self, "name", name)) ..
    number(11, process) .. fields)
end

---A counter has this value from now on.
---@param self cprof.Packets
---@param counter integer
---@param at integer  ns
---@param value integer
function Packets.count(self, counter, at, value)
  event(self, at, counts .. number(11, counters + counter) ..
    number(30, value))
end

---Packets of a trace of one process.
---@param out fun(s: string)
---@param pid integer
---@param name string  of the process
---@return cprof.Packets
function packets.new(out, pid, name)
  local self = { out = out, pid = pid, names = 0, new = {},
    ids = { category = {}, name = {}, annotation = {} } }
  for key, f in pairs(Packets) do self[key] = f end
  name = escape.utf8(name)
  put(self, first .. bytes(60, number(1, process) .. bytes(3,
    number(1, pid) .. bytes(2, name) .. bytes(6, name))))
  return self
end

return packets
