-- The frames of a profile, for the page: their times, what each function
-- took of them, and their trees where these were kept.

local order = require "cprof.text.order"
local pack = require "cprof.html.pack"

local framed = {}

-- by row of the page: row, calls, self, total; and of each of these rows,
-- allocations and bytes, where they were counted
local function rows_of(frame, index)
  local out, at = {}, {}
  local allocs, bytes = frame.allocs and {}, frame.allocs and {}
  for _, row in ipairs(frame.rows) do
    local number = index[row.func.id]
    local i = at[number]
    if not i then
      i = #out + 1
      at[number], out[i], out[i + 1], out[i + 2], out[i + 3] = i, number, 0,
        0, 0
    end
    out[i + 1], out[i + 2] = out[i + 1] + row.calls, out[i + 2] + row.self_ns
    out[i + 3] = math.max(out[i + 3], row.total_ns)
    if allocs then
      local j = i // 4 + 1
      allocs[j] = (allocs[j] or 0) + row.allocs
      bytes[j] = (bytes[j] or 0) + row.bytes
    end
  end
  return out, allocs, bytes
end

local function without(p, rows)
  local out = {}
  for _, row in ipairs(rows) do
    if row.func.id ~= p.overhead then out[#out + 1] = row end
  end
  return out
end

---@param p cprof.Profile
---@param index table<integer, integer>  function -> its row
---@param trees table[]                  those of frames are appended
---@return table
function framed.of(p, index, trees)
  local frames, seen, list = p.frames, {}, {}
  local function add(back, slow)
    local f = frames:at(back, slow)
    if not f or seen[f.number] then return end
    seen[f.number] = true
    f.rows = without(p, f.rows)
    local nodes = f.full and frames:nodes(back, slow)
    if nodes then trees[#trees + 1] = pack.tree(nodes, index) end
    local rows, allocs, bytes = rows_of(f, index)
    list[#list + 1] = { n = f.number, start = f.start_ns,
      ns = f.ns - f.overhead_ns, rows = rows, allocs = allocs, bytes = bytes,
      steps = f.gc_steps, collected = f.gc_ns,
      tree = nodes and #trees - 1 or nil }
  end
  for back = 0, frames.kept - 1 do add(back, false) end
  for back = 0, frames.slow_kept - 1 do add(back, true) end
  table.sort(list, order "n")
  return { budget = frames.budget_ns, ended = frames.ended,
    recorded = frames.recorded, slow = frames.slow, kept = frames.kept,
    percentiles = frames:percentiles(), list = list }
end

return framed
