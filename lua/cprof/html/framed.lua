-- The frames of a profile, for the page: their times, what each function
-- took of them, and their trees where these were kept.

local order = require "cprof.text.order"
local pack = require "cprof.html.pack"
local shown = require "cprof.report.frames"

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

-- what an average frame has: for each function its row, calls and self time
local function usual_of(frames, p, index)
  local out = {}
  for _, row in ipairs(without(p, frames:averages "all")) do
    local number = index[row.func.id]
    if number and (row.calls > 0 or row.self_ns > 0) then
      table.move({ number, row.calls, row.self_ns }, 1, 3, #out + 1, out)
    end
  end
  return out
end

-- the most frames that have times alone: of a page, and of each message to a
-- live one
local page_times <const>, live_times <const> = 4096, 1024

local function of_loop(p, frames, index, trees)
  local seen, list, more = {}, {}, shown.teller(frames, p)
  local function add(f, nodes)
    if not f or seen[f.number] then return end
    seen[f.number] = true
    f.rows = without(p, f.rows)
    nodes = trees and nodes
    if nodes then trees[#trees + 1] = pack.tree(nodes, index) end
    local rows, allocs, bytes = rows_of(f, index)
    list[#list + 1] = { n = f.number, start = f.start_ns,
      ns = f.ns - f.overhead_ns, rows = rows, allocs = allocs, bytes = bytes,
      more = more(f), steps = f.gc_steps, collected = f.gc_ns,
      tree = nodes and #trees - 1 or nil }
  end
  local function kept(back, slow)
    local f = frames:at(back, slow)
    add(f, f and f.full and not seen[f.number] and
      frames:nodes(back, slow) or nil)
  end
  for i = 1, #frames.worst do add(frames:slowest(i)) end
  for back = 0, frames.history and frames.kept - 1 or -1 do
    kept(back, false)
  end
  for back = 0, frames.slow_kept - 1 do kept(back, true) end
  local last, most = frames:times(), trees and page_times or live_times
  for i = math.max(1, #last - most + 1), #last do
    local f = last[i]
    if not seen[f.number] then
      list[#list + 1] = { n = f.number, start = f.start_ns, ns = f.own_ns,
        rows = {} }
    end
  end
  table.sort(list, order "n")
  return { name = frames.name, budget = frames.budget_ns,
    ended = frames.ended, recorded = frames.recorded, slow = frames.slow,
    kept = frames.kept, percentiles = frames:percentiles(),
    usual = usual_of(frames, p, index), list = list }
end

---The data of `p.frames`, with the frames of all other names as `others`.
---@param p cprof.Profile
---@param index table<integer, integer>  function -> its row
---@param trees? table[]  those of frames are appended; nil: of a live page,
---    which has none
---@return table
function framed.of(p, index, trees)
  local out, others = of_loop(p, p.frames, index, trees), {}
  for _, frames in ipairs(p.loops) do
    if frames ~= p.frames and frames.recorded > 0 then
      others[#others + 1] = of_loop(p, frames, index, trees)
    end
  end
  out.others = #others > 0 and others or nil
  return out
end

return framed
