-- Mode "frames": the time of frames, and what the slowest frames spent more
-- time on than others.

local core = require "cprof.core"
local format = require "cprof.text.format"
local order = require "cprof.text.order"
local select = require "cprof.report.select"

local shown = {}

-- Cuts a text `name +time, name +time` after a time, and adds `, …`. If even
-- the first entry is too long, cuts its name.
local function cut(s, width)
  if format.width(s) <= width then return s end
  local out
  for part in (s .. ", "):gmatch "(.- %+%S+), " do
    local longer = out and out .. ", " .. part or part
    if format.width(longer) + 3 > width then break end
    out = longer
  end
  if out then return out .. ", …" end
  local name, more = s:match "^(.-)( %+%S+), "
  if not name then name, more = s:match "^(.*)( %+%S+)$" end
  if not name then return format.cut(s, width) end
  local by = name:find(format.arrow, 1, true) and format.cutchain or
    format.cutname
  return by(name, width - format.width(more)) .. more
end

local columns = {
  { title = "frame" }, { title = "at", optional = true, rank = 3 },
  { title = "time" },
  { title = "gc", optional = true, rank = 1 },
  { title = "steps", optional = true, rank = 4 },
  { title = "alloc", optional = true, rank = 2 },
  { title = "more than usual, self time", left = true, least = 30,
    optional = true, cut = cut },
}

-- the most functions shown for a frame
local told = 3

-- the time of a frame without overhead
local function time(frame) return frame.own_ns end

-- The node of a function that has most of its self time in a frame. `touched`:
-- the frame's nodes, each as five numbers: node, calls, ns of self, ...
local function hottest(nodes, touched, func)
  local found, most
  for i = 1, #touched, 5 do
    local node, ns = touched[i], touched[i + 2]
    local _, id = core.node(nodes, node)
    if id == func.id and
       (not found or ns > most or ns == most and node < found) then
      found, most = node, ns
    end
  end
  return found
end

-- The functions of a frame, by id: their total in the average frame, divided by
-- their total in this one.
local function usual_shares(average, frame)
  local out = {}
  for _, row in ipairs(frame.rows) do
    local usual = average[row.func]
    out[row.func.id] = (usual and usual.total_ns or 0) /
      math.max(row.total_ns, 1)
  end
  return out
end

-- The caller that explains why a frame took longer, as text before the name of
-- the function: one whose total is unusually large. A function that runs in
-- each frame explains nothing. "": the function itself is the most unusual.
-- `share`: see `usual_shares`.
local function cause(p, share, touched, func)
  local nodes = p.nodes
  local node = hottest(nodes, touched, func)
  local least, found, distance = share[func.id] / 2, nil, 0
  local at, steps = node and core.node(nodes, node) or 0, 1
  while at > 0 do
    local above, id = core.node(nodes, at)
    if share[id] and share[id] <= least then
      least, found, distance = share[id], id, steps
    end
    at, steps = above, steps + 1
  end
  if not found then return "" end
  return format.plain(p.functions[found].name) .. format.arrow ..
    (distance > 1 and "…" .. format.arrow or "")
end

---@param average table<cprof.Function, cprof.FrameRow>
---@param frame cprof.Frame
---@param p cprof.Profile
---@param touched? integer[]  see `hottest`
---@param filter fun(row: table): boolean
local function unusual(average, frame, p, touched, filter)
  local more, share = {}, touched and usual_shares(average, frame)
  for _, row in ipairs(frame.rows) do
    local usual = average[row.func]
    local extra = row.self_ns - (usual and usual.self_ns or 0)
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
      local func = more[i].func
      out[#out + 1] = ("%s%s +%s"):format(
        share and cause(p, share, touched, func) or "",
        format.plain(func.name), format.time(more[i].extra))
    end
  end
  return table.concat(out, ", ")
end

---Returns a function for what a frame spent more self time on than the average
---frame, with the caller that explains it: `draw → blit +3.2ms, …`.
---@param frames cprof.Frames
---@param p cprof.Profile
---@param passes? fun(row: table): boolean  is a function listed? nil: all are
---@return fun(frame: cprof.Frame): string
function shown.teller(frames, p, passes)
  local average, touched = {}, {}
  for _, row in ipairs(frames:averages "all") do average[row.func] = row end
  for _, worst in ipairs(frames.worst) do
    touched[worst.number] = #worst.nodes > 0 and worst.nodes or nil
  end
  return function(frame)
    return unusual(average, frame, p, touched[frame.number], function(row)
      return row.func.id ~= p.overhead and (not passes or passes(row))
    end)
  end
end

local loop_columns = {
  { title = "frames of", left = true, least = 8 }, { title = "frames" },
  { title = "p50" }, { title = "p90", rank = 1 }, { title = "p99" },
  { title = "max" }, { title = "over budget", optional = true, rank = 2 },
}

-- the name of a loop
local function named(frames)
  return frames.name and format.plain(frames.name) or "(no name)"
end

-- The summaries of all frames or of those in the view's range of time, and
-- words that say which frames these are. Where the times of frames in the range
-- are not kept any more, the summaries are those of all frames.
local function summaries(list, view)
  local out = {}
  for i, frames in ipairs(list) do
    out[i] = frames:summary(view.lists)
    if not out[i] then
      return (summaries(list, {})), "in the whole recording, as the times " ..
        "of some frames of this range are not kept"
    end
  end
  return out, view.period
end

---A row for each name that frames have.
---@param view cprof.FramesView
---@param list cprof.Frames[]
local function loops(view, list)
  local cells, page = {}, view.page
  local all, which = summaries(list, view)
  for i, frames in ipairs(list) do
    local p, any = all[i].times, all[i].recorded > 0
    local function cell(ns) return any and format.time(ns) or "-" end
    cells[i] = { named(frames), format.count(all[i].recorded),
      cell(p.p50), cell(p.p90), cell(p.p99), cell(p.max),
      frames.budget_ns > 0 and format.count(all[i].slow) or "" }
  end
  if which then page:line(which .. ":") end
  page:table(loop_columns, cells)
end

---Lines about the number of frames and the distribution of their times.
---@param frames cprof.Frames
---@param of cprof.FramesSummary
---@return string[]
local function summary(frames, of)
  local p = of.times
  local slow = frames.budget_ns > 0 and
    (", %s over the budget of %s"):format(of.slow > 0 and
      format.count(of.slow) or "none", format.time(frames.budget_ns)) or
    ""
  return {
    format.plural(of.recorded, "frame") .. slow,
    ("median %s, p90 %s, p99 %s, max %s"):format(format.time(p.p50),
      format.time(p.p90), format.time(p.p99), format.time(p.max)),
  }
end

local slower <const> = order("-own_ns", "number")

-- how many frames are shown if none is slower than the others
local some <const> = 3

-- Frames that took longer than the 90th percentile or were over budget; if
-- there are none, the slowest ones. `lists`: of these; nil: of all.
local function slowest(frames, lists)
  local list, others, seen = {}, {}, {}
  local usual = frames:percentiles().p90
  local budget = frames.budget_ns
  local function add(frame, slow)
    if seen[frame.number] or lists and not lists(frame) then return end
    slow = slow or time(frame) > usual or budget > 0 and time(frame) > budget
    local to = slow and list or others
    to[#to + 1], seen[frame.number] = frame, true
  end
  for back = 0, frames.slow_kept - 1 do add(frames:at(back, true), true) end
  for i = 1, #frames.worst do add((frames:slowest(i))) end
  for back = 0, frames.kept - 1 do add(frames:at(back)) end
  table.sort(others, slower)
  if #list == 0 then
    table.move(others, 1, some, 1, list)
  end
  table.sort(list, slower)
  return list
end

local function why_none(p)
  if p.meta.mode == "count" then
    return "mode count records no times"
  end
  return "the program does not call cprof.frame"
end

---@class cprof.FramesView
---@field page cprof.Page
---@field profile cprof.Profile
---@field options { filter?: any, limit?: integer }
---@field lists? fun(frame: cprof.Frame): boolean  nil: all
---@field period? string  the range of time that has these, in words

---@param view cprof.FramesView
---@param frames cprof.Frames
---@param limit integer  rows of frames
---@param head? string   what frames these are
local function one(view, frames, limit, head)
  local page, list = view.page, slowest(frames, view.lists)
  local more = shown.teller(frames, view.profile, function(row)
    return select.passes(row, view.options.filter)
  end)
  local cells = {}
  for i = 1, math.min(#list, limit) do
    local frame = list[i]
    cells[i] = {
      format.count(frame.number),
      frame.start_ns and format.time(frame.start_ns) or "",
      { format.time(time(frame)), format.heat(time(frame), time(list[1])) },
      frame.gc_ns and format.time(frame.gc_ns) or "",
      frame.gc_steps and format.count(frame.gc_steps) or "",
      frame.bytes and format.bytes(frame.bytes) or "",
      more(frame),
    }
  end
  local known = frames:summary(view.lists)
  if view.lists and #cells == 0 then
    page:line(("%sno frame%s ran %s"):format(head and head .. ": " or "",
      known and "" or " that was kept", view.period))
    return
  end
  local all, which = summaries({ frames }, view)
  if head or which then
    page:line(table.concat({ head or which, head and which }, ", ") .. ":")
  end
  for _, line in ipairs(summary(frames, all[1])) do page:line(line) end
  page:gap()
  page:table(columns, cells)
  if known and known.recorded > #cells then
    page:rest(("… %s"):format(format.plural(known.recorded - #cells,
      "faster frame")))
  end
end

-- Time in which other programs had the processor is in no frame, except in mode
-- sample. Frames of a range have no such note, as that time is known only for
-- the whole recording.
local function excluded(view)
  local page, p = view.page, view.profile
  if view.lists or p.meta.mode == "sample" or
     (p.meta.preempted_ns or 0) == 0 then
    return
  end
  page:gap()
  page:note("other programs had the processor for %s, which is not in the " ..
    "times of frames: a loop that waits for a display or timer seems faster " ..
    "than it was",
    format.time(p.meta.preempted_ns))
end

-- rows of frames for each name, where there are several
local few <const> = 5

local function show(view, list)
  local page = view.page
  if #list == 1 then
    one(view, list[1], view.options.limit or 30,
      list[1].name and "frames of " .. named(list[1]))
    return
  end
  loops(view, list)
  for _, frames in ipairs(list) do
    page:gap()
    one(view, frames, view.options.limit or few,
      "frames of " .. named(frames))
  end
end

---Prints how long frames took, by name, and the slowest ones.
---@param view cprof.FramesView
---@param list cprof.Frames[]
function shown.show(view, list)
  show(view, list)
  excluded(view)
end

---The frames of a profile by name, without names that have none yet.
---@param profile cprof.Profile
---@return cprof.Frames[]
function shown.list(profile)
  local out = {}
  for _, frames in ipairs(profile.loops or {}) do
    if frames.recorded > 0 then out[#out + 1] = frames end
  end
  return out
end

---Prints a line about frames, if there are any.
---@param page cprof.Page
---@param profile cprof.Profile
function shown.line(page, profile)
  for i, frames in ipairs(shown.list(profile)) do
    if i == 1 then page:gap() end
    page:line((frames.name and "frames of %s: %s" or "%s%s"):format(
      frames.name and named(frames) or "",
      table.concat(summary(frames, frames:summary()), ", ")))
  end
end

---@param view cprof.ReportView
function shown.report(view)
  local list = shown.list(view.profile)
  if #list == 0 then
    view.page:line("no frames: " .. why_none(view.profile))
  else
    shown.show(view, list)
  end
end

return shown
