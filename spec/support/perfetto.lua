-- Reads a trace of Perfetto's packets: { tracks, slices, counters, about, whole
-- }. The names of tracks are by their number. A slice is { name, from, to,
-- track, category, args, depth }; a counter { track, at, value }. `about` has
-- the args of events without duration; `whole` tells whether no packet was cut.

local message = require "message"

local each = message.each

-- the fields of a message that come once, by name
local function record(s, names)
  local out = {}
  each(s or "", function(field, value)
    if names[field] then out[names[field]] = value end
  end)
  return out
end

local packet_fields <const> = { [8] = "at", [10] = "sequence", [11] = "event",
  [12] = "interned", [13] = "flags", [59] = "defaults", [60] = "track" }
local event_fields <const> = { [9] = "type", [10] = "name", [11] = "track",
  [3] = "category", [30] = "value" }

-- adds the names that a packet brings, by kind and number
local function intern(names, s)
  each(s or "", function(field, value)
    local entry = record(value, { "id", "name" })
    assert(utf8.len(entry.name))
    assert(not names[field][entry.id], "the number is taken")
    names[field][entry.id] = entry.name
  end)
end

local function args_of(names, s)
  local out = {}
  each(s, function(field, value)
    if field ~= 4 then return end
    local a = record(value, { "name", [4] = "n", [6] = "text" })
    out[assert(names[3][a.name])] = a.n or a.text
  end)
  return out
end

local function track_of(s)
  local t = record(s, { "id", "name", "process", "thread", "above",
    [8] = "counter" })
  local inner = t.process and record(t.process, { [6] = "name" }) or
    t.thread and record(t.thread, { [5] = "name" }) or t
  return t.id, inner.name
end

---@param s string  the beginning of a file, at least of its first packet
---@param goes_on? boolean  may slices have no end?
return function(s, goes_on)
  local names = { {}, {}, {} }
  local out = { tracks = {}, slices = {}, counters = {}, about = {},
    whole = true }
  local open, default, last = {}, nil, {}
  local function event(at, fields)
    local e = record(fields, event_fields)
    local track = e.track or default
    assert(out.tracks[track], "no such track")
    open[track] = open[track] or {}
    local list = open[track]
    assert(at >= (last[track] or 0) or track > 1, "back in time")
    last[track] = at
    if e.type == 1 then
      local slice = { name = assert(names[2][e.name]), from = at,
        track = track, category = assert(names[1][e.category]),
        args = args_of(names, fields), depth = #list + 1 }
      out.slices[#out.slices + 1], list[#list + 1] = slice, slice
    elseif e.type == 2 then
      assert(#list > 0, "no slice ends here")
      list[#list].to = at
      list[#list] = nil
    elseif e.type == 3 then
      for key, value in pairs(args_of(names, fields)) do
        out.about[key] = value
      end
    else
      assert(e.type == 4)
      table.insert(out.counters, { track, at, e.value })
    end
  end
  local at = 1
  while at <= #s do
    assert(s:byte(at) == 1 << 3 | 2)
    local ok, size, from = pcall(message.varint, s, at + 1)
    if not ok or from + size - 1 > #s then
      out.whole = false
      break
    end
    local p = record(s:sub(from, from + size - 1), packet_fields)
    assert(p.sequence == 1 and p.flags == (at == 1 and 1 or 2))
    if p.defaults then
      default = record(record(p.defaults, { [11] = "of" }).of,
        { [11] = "track" }).track
    end
    intern(names, p.interned)
    if p.track then
      local id, name = track_of(p.track)
      out.tracks[id] = name
    end
    if p.event then event(p.at, p.event) end
    at = from + size
  end
  for _, list in pairs(open) do
    assert(#list == 0 or goes_on or not out.whole, "a slice has no end")
  end
  return out
end
