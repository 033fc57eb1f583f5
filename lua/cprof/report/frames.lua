-- Mode "frames": the time of frames, and what the slowest frames spent more
-- time on than others.

local format = require "cprof.text.format"
local order = require "cprof.text.order"
local select = require "cprof.report.select"

local columns = {
  { title = "frame" }, { title = "at", rank = 3 }, { title = "time" },
  { title = "gc", optional = true, rank = 1 },
  { title = "steps", optional = true, rank = 4 },
  { title = "alloc", optional = true, rank = 2 },
  { title = "more than usual, self time", left = true, least = 30 },
}

-- the most functions shown for a frame
local told = 3

-- the time of a frame without overhead
local function time(frame) return frame.ns - frame.overhead_ns end

---@param average table<cprof.Function, integer>
---@param frame cprof.Frame
---@param filter fun(row: table): boolean
local function unusual(average, frame, filter)
  local more = {}
  for _, row in ipairs(frame.rows) do
    local extra = row.self_ns - (average[row.func] or 0)
    if extra > 0 and
       filter { title = row.func.title, func = row.func } then
      more[#more + 1] = { func = row.func, extra = extra }
    end
  end
  table.sort(more, order("-extra", "func.title"))
  local out = {}
  for i = 1, math.min(#more, told) do
    -- differences that are small within the frame are left out
    if more[i].extra * 20 >= time(frame) then
      out[#out + 1] = ("%s +%s"):format(format.plain(more[i].func.name),
        format.time(more[i].extra))
    end
  end
  return table.concat(out, ", ")
end

---Lines about the number of frames and the distribution of their times.
---@param frames cprof.Frames
---@return string[]
local function summary(frames)
  local p = frames:percentiles()
  local some = frames.kept < frames.recorded and
    format.count(frames.kept)
  local kept = some and (", the last %s kept"):format(some) or ""
  local slow = frames.budget_ns > 0 and
    (", %s over the budget of %s"):format(frames.slow > 0 and
      format.count(frames.slow) or "none", format.time(frames.budget_ns)) or
    ""
  return {
    format.plural(frames.recorded, "frame") .. kept .. slow,
    ("%smedian %s, p90 %s, p99 %s, max %s"):format(
      some and ("of the last %s, "):format(some) or "", format.time(p.p50),
      format.time(p.p90), format.time(p.p99), format.time(p.max)),
  }
end

local function slower(a, b)
  if time(a) ~= time(b) then return time(a) > time(b) end
  return a.number < b.number
end

-- how many frames are shown if none is slower than the others
local some <const> = 3

-- Frames that took longer than the 90th percentile or were over budget; if
-- there are none, the slowest ones. Also returns how many kept frames are left.
local function slowest(frames)
  local list, others, seen = {}, {}, {}
  local usual = frames:percentiles().p90
  for back = 0, frames.slow_kept - 1 do
    local frame = frames:at(back, true)
    list[#list + 1], seen[frame.number] = frame, true
  end
  for back = 0, frames.kept - 1 do
    local frame = frames:at(back)
    if not seen[frame.number] then
      local to = time(frame) > usual and list or others
      to[#to + 1] = frame
    end
  end
  table.sort(others, slower)
  if #list == 0 then
    table.move(others, 1, some, 1, list)
    table.move(others, some + 1, #others + some, 1)
  end
  table.sort(list, slower)
  return list, #others
end

local function why_none(p)
  local mode = p.meta.mode
  if mode == "count" or mode == "sample" then
    return ("they need times, which mode %s does not have"):format(mode)
  end
  return "the program does not call cprof.frame, or this is a file or a " ..
    "sum, which do not keep them"
end

---@param view cprof.ReportView
return function(view)
  local frames, page = view.profile.frames, view.page
  if not frames or frames.recorded == 0 then
    page:line("no frames: " .. why_none(view.profile))
    return
  end
  local average = {}
  for _, row in ipairs(frames:averages "all") do
    average[row.func] = row.self_ns
  end
  local list, others = slowest(frames)
  local function passes(row)
    return row.func.id ~= view.profile.overhead and
      select.passes(row, view.options.filter)
  end
  local cells = {}
  for i = 1, math.min(#list, view.options.limit or 30) do
    local frame = list[i]
    cells[i] = {
      format.count(frame.number), format.time(frame.start_ns),
      { format.time(time(frame)), format.heat(time(frame), time(list[1])) },
      frame.gc_ns and format.time(frame.gc_ns) or "",
      frame.gc_steps and format.count(frame.gc_steps) or "",
      frame.bytes and format.bytes(frame.bytes) or "",
      unusual(average, frame, passes),
    }
  end
  for _, line in ipairs(summary(frames)) do page:line(line) end
  page:gap()
  page:table(columns, cells)
  others = others + #list - #cells
  if others > 0 then
    page:rest(("… %s"):format(format.plural(others, "faster frame")))
  end
end
