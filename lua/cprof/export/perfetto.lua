-- Perfetto's trace packets: see encoding/packets.lua.

local encode = require "cprof.export.encode"
local packets = require "cprof.encoding.packets"
local trace = require "cprof.export.trace"

local perfetto = { calls = trace.calls }

---@param f cprof.Function
---@return cprof.FormatSize
function perfetto.size(f) return { node = 85, once = #f.title + 30 } end

-- an event with facts about the recording
local function about(p, w)
  local fields = {}
  for i, comment in ipairs(encode.comments(p)) do
    fields[i] = w:annotation(("comment %d"):format(i), comment)
  end
  w:happen(0, "recording", table.concat(fields))
end

-- The writer of slices as packets: see trace.write.
local function writer(p, w)
  local to, heads, counted = {}, {}, false
  function to.track(track, name)
    w:track(track, name, track == 1 and (p.meta.pid or 1) or nil)
  end
  function to.enter(f, at, slice)
    heads[f] = heads[f] or w:head(f.kind, f.title)
    w:enter(1, at, heads[f] .. (slice and
      w:annotation(p.samples and "samples" or "calls", slice.calls) ..
      w:annotation("self_ns", slice.self_ns) ..
      (slice.call_line > 0 and w:annotation("call_line", slice.call_line) or
      "") or ""))
  end
  function to.leave(_, at) w:leave(1, at) end
  function to.event(track, m, caller)
    local fields = { w:head(m.kind, m.name),
      caller and w:annotation("function", caller.title) }
    for _, figure in ipairs(trace.figures(m)) do
      fields[#fields + 1] = w:annotation(figure[1], figure[2])
    end
    w:enter(track, m.from, table.concat(fields))
    w:leave(track, m.to)
  end
  function to.heap(at, bytes)
    if not counted then w:counter(1, "heap") end
    counted = true
    w:count(1, at, bytes)
  end
  return to
end

---@param p cprof.Profile
---@param out fun(s: string)
---@param whole cprof.Profile  before nodes were added up
function perfetto.write(p, out, whole)
  local w = packets.new(out, p.meta.pid or 1, encode.program(p))
  about(p, w)
  trace.each(p, whole, writer(p, w))
end

return perfetto
