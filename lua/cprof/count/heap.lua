-- The size of the heap over time.

local core = require "cprof.core"

local heap = {}

---@class cprof.HeapPoint
---@field ns integer     since recording began
---@field bytes integer

---The recorded points, as a string for a file; nil: there are none. Also
---returns how much of the heap is probably garbage; nil: not known.
---@return string?
---@return integer? garbage  bytes
function heap.recorded()
  local list, garbage = core.heap()
  return #list > 0 and table.concat(list, " ") or nil, garbage
end

---Points, as a string for a file.
---@param points cprof.HeapPoint[]?
---@return string?
function heap.text(points)
  local list = {}
  for i, p in ipairs(points or {}) do
    list[i] = ("%d %d"):format(p.ns, p.bytes)
  end
  return #list > 0 and table.concat(list, " ") or nil
end

-- a limit of ns and bytes that no program reaches; below it, sums and products
-- do not overflow
local bound <const> = 1 << 53

---The valid points in such a string.
---@param text string?
---@param wall integer?  ns that were recorded, by a clock that may differ a bit
---@return cprof.HeapPoint[]?
function heap.points(text, wall)
  local out, last = {}, -1
  for ns, bytes in (text or ""):gmatch "%f[%d](%d+) (%d+)" do
    local point = { ns = math.tointeger(tonumber(ns)),
                    bytes = math.tointeger(tonumber(bytes)) }
    if point.ns and wall and point.ns > wall then point.ns = wall end
    if point.ns and point.bytes and point.ns > last and point.ns < bound and
       point.bytes < bound then
      out[#out + 1], last = point, point.ns
    end
  end
  return #out > 0 and out or nil
end

local bars <const> = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }

---The points as a line of bars. Each bar is the maximum of its part of the
---time; gaps repeat the last value.
---@param points cprof.HeapPoint[]
---@param width integer  most bars
---@return string bars, integer least, integer most  bytes
function heap.sparkline(points, width)
  local least, most = math.maxinteger, 0
  local last, cells = points[#points].ns + 1, {}
  for _, p in ipairs(points) do
    least, most = math.min(least, p.bytes), math.max(most, p.bytes)
    local i = p.ns * width // last + 1
    cells[i] = math.max(cells[i] or 0, p.bytes)
  end
  local out, value = {}, points[1].bytes
  for i = 1, width do
    value = cells[i] or value
    out[i] = bars[most == 0 and 1 or
      math.max(1, math.ceil(value / most * #bars))]
  end
  return table.concat(out), least, most
end

return heap
