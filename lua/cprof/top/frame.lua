-- The lines above and below a view: the program, its state and figures, the
-- views, messages and keys.

local columns = require "cprof.top.columns"
local format = require "cprof.text.format"
local select = require "cprof.report.select"

local frame = {}

-- lines above and below the view
frame.above = 4
local below <const> = 2

-- the least height of a screen that always has the line of the past
local tall <const> = 16

---The line of the past; nil: it is not shown.
---@param m cprof.TopModel
---@return integer?
function frame.past(m)
  local shown = not m.plain and m.history:lasted() > 0 and
    (m.height >= tall or m.history.range and m.height > frame.above + below)
  return shown and m.height - below or nil
end

---How many lines of the view fit on the screen.
---@param m cprof.TopModel
---@return integer
function frame.body(m)
  local under = m.plain and 0 or below + (frame.past(m) and 1 or 0)
  return math.max(m.height - frame.above - under, 0)
end

---Is it a view without a cursor?
---@param m cprof.TopModel
---@return boolean
function frame.still(m)
  return m.plain or m.view.name == "help" or m.view.name == "output"
end

local function seconds(s)
  if s < 60 then return ("%.1fs"):format(s) end
  s = math.floor(s)
  if s < 3600 then return ("%d:%02d"):format(s // 60, s % 60) end
  return ("%d:%02d:%02d"):format(s // 3600, s // 60 % 60, s % 60)
end

local styles = { running = "good", ended = "dim", killed = "bad",
                 waiting = "dim" }

-- ns without events from which the screen says so
local quiet <const> = 3000000000

local function state(m)
  local status = m.status
  local meta = m.now and m.now.now.profile.meta
  local text = status.text or status.state
  if status.state == "running" and meta and meta.live and
     (meta.since_last_event_ns or 0) > quiet then
    text = text .. (meta.mode == "sample" and ", no sample for " or
      ", no event for ") ..
      seconds(meta.since_last_event_ns / 1e9)
  end
  -- with labels, this is only the time that the program ran under them
  local wall = meta and not meta.labels and meta.wall_ns
  if wall then
    text = text .. ", " .. seconds(wall / 1e9)
  elseif meta and meta.live then  -- mode "count" has no time
    text = text .. ", " .. seconds(math.max(os.time() - meta.started_at, 0))
  end
  return text, styles[status.state]
end

-- a script's name says more than the folder of its interpreter
local function fitting(command, room)
  if format.width(command) > room then
    command = command:gsub("^%S*/", "")
  end
  return format.cutend(command, room)
end

local function title(m, line)
  local text, style = state(m)
  local meta = m.now and m.now.now.profile.meta
  local what = format.plain(meta and meta.program or m.title or "")
  line:add("cprof top: ", "bold")
  text = format.cutend(text, line.room - line.width - 1)
  line:add(fitting(what, line.room - line.width - format.width(text) - 2),
    "bold")
  line:right(text, style)
end

-- shares of the wall time, as the page has them
local function overhead(meta)
  local wall = meta.overhead_ns and meta.wall_ns or 0
  if wall <= 0 then return nil end
  return ("overhead %s %%"):format(format.percent(meta.overhead_ns, wall))
end

local function waiting(meta)
  local wall = meta.waiting_ns and meta.wall_ns or 0
  if wall <= 0 or meta.waiting_ns * 100 < wall then return nil end
  return ("waiting %s %%"):format(format.percent(meta.waiting_ns, wall))
end

-- of all frames since the start
local function frames(profile)
  local of = profile.frames
  if not of or of.recorded == 0 then return nil end
  local p = of:percentiles()
  return ("%s: p99 %s, max %s"):format(of.name and
    "frames of " .. format.plain(of.name) or "frames", format.time(p.p99),
    format.time(p.max))
end

local function plural(n, what)
  return ("%s %s%s"):format(columns.count(n), what, n == 1 and "" or "s")
end

-- which range of the past is shown, and how long before the newest load it was
local function range(m, line)
  local of, now = m.history.range, m.now.now
  local function clock(at)
    return os.date("%H:%M:%S", math.floor(now.clock - (now.at - at) + 0.5))
  end
  line:add(("%s to %s, %s %s"):format(clock(of.first.at), clock(of.last.at),
    seconds(now.at - of.last.at), m.status.state == "running" and "ago" or
    "before the end"), "bold")
  local counted = "  " .. plural(of.last.count - of.first.count,
    m.sampled and "sample" or "call")
  if format.width(counted) <= line.room - line.width then line:add(counted) end
end

local function facts(m, line)
  local now = m.now and m.now.now
  if not now then return line:add(m.waiting or "", "dim") end
  if m.history.range then return range(m, line) end
  local meta, rate = now.profile.meta, m.history:rate()
  local live = m.status.state == "running"
  local out = { plural(now.count, m.sampled and "sample" or "call") ..
    (live and (" (%s/s)"):format(rate and columns.count(rate, true) or "-") or
      ""),
    overhead(meta) or plural(meta.instructions or 0, "instruction"),
    plural(select.distinct(now.profile), "function"),
    plural(#now.profile.nodes, "node"), "mode " .. meta.mode,
    ("pid %d"):format(meta.pid or 0) }
  -- texts that may be empty
  for _, text in ipairs { waiting(meta) or "", frames(now.profile) or "" } do
    if text ~= "" then table.insert(out, 3, text) end
  end
  for i, text in ipairs(out) do
    if line.width + 2 + format.width(text) > line.room then return end
    line:add((i > 1 and "  " or "") .. text)
  end
end

local function period(m)
  local history, of = m.history, m.now
  if not of then return "" end
  local lasted = of.seconds and seconds(of.seconds)
  if history.period == "start" then return "since the start" end
  if history.period == "mark" then
    return "since the mark, " .. (lasted or "")
  end
  if history.period == "range" then
    return (lasted and lasted .. " " or "") .. "in the past"
  end
  return "last " .. (lasted or "")
end

---The view whose tab is at a column of the screen; nil: there is none.
---@param m cprof.TopModel
---@param x integer  1: the left edge
---@return cprof.TopView?
function frame.tab(m, x)
  for _, view in ipairs(m:views()) do
    x = x - format.width(view.title) - 2
    if x <= 0 then return view end
  end
end

local function tabs(m, line)
  for _, view in ipairs(m:views()) do
    line:add((" %s "):format(view.title), view == m.view and "tab" or nil)
  end
  local row = m.history.measure
  local parts = { m.paused and "PAUSED" or "",
    m.filter and m.view.name == "functions" and
      "only " .. format.plain(m.filter) or "",
    m.labels and "under " .. format.plain(m.labels) or "",
    row.option ~= "wall" and row.is or "",
    period(m), m.plain and "" or ("every %g s"):format(m.interval) }
  local text
  -- if the line is too short, leaves out parts from the end
  for n = #parts, 1, -1 do
    text = table.concat(parts, "  ", 1, n):gsub("^ +", ""):gsub(" +$", "")
      :gsub("   +", "  ")
    if line.width + format.width(text) < line.room then break end
  end
  line:right(text, m.paused and "bad" or m.history.range and "bold" or nil)
end

-- the least width of a screen whose line of the past says what it is about
local titled <const> = 60

-- how many bars the past has, the seconds of each, and how many columns of the
-- screen are before the first one
local function bars(m)
  local from = m.width >= titled and 21 or 12
  local count = math.max(m.width - from - 5, 1)
  return count, math.max(m.history:lasted() / count, m.interval), from
end

---The times from which and to which a bar of the past goes.
---@param m cprof.TopModel
---@param x integer  its column of the screen; beside the bars: the nearest
---@return number from
---@return number to
function frame.times(m, x)
  local count, step, from = bars(m)
  local bar = math.max(1, math.min(x - from, count))
  local to = m.history:now().at - (count - bar) * step
  return to - step, to
end

-- The line of the past: bars for what the program did from one time to the
-- next. Those of the range that is shown are marked.
local function past(m, line)
  local count, step = bars(m)
  local what, course = m.history:course(count, step)
  local of, now = m.history.range, m.history:now().at
  if m.width >= titled then line:add(format.left(what, 9), "dim") end
  line:add(format.right(seconds(count * step) .. " ago", 11), "dim"):add " "
  for i, share in ipairs(course) do
    local to = now - (count - i) * step
    local inside = of and to > of.first.at + step / 100 and
      to - step < of.last.at - step / 100
    line:add(columns.sparkline({ share }, 1), inside and "cursor" or "graph")
  end
  line:add(" now", "dim")
end

-- keys and what they do, the most useful first
local hints = {
  { "Esc", function(m) return m.history.range and "Now" or nil end },
  { "{ }", function(m) return m.history.range and "Past" or nil end },
  { "[ ]", function(m) return m.history.range and "Seconds" or nil end },
  { "?", "Help" }, { "q", "Quit" }, { "Tab", "View" },
  { "Enter", function(m) return m.view.into end },
  { "Bksp", function(m) return #m.trail > 0 and "Back" or nil end },
  { "/", "Search" },
  { "&", function(m) return m.view.sorts and "Filter" or nil end },
  { "s", function(m) return m.view.sorts and "Sort" or nil end },
  { "o", function(m) return m.view.zone and "Source" or nil end },
  { "w", "Period" },
  { "{ }", function(m)
    return frame.past(m) and not m.history.range and "Past" or nil
  end },
  { "[ ]", function(m) return not m.history.range and "Seconds" or nil end },
  { "m", function(m)
    local meta = m.now and m.now.now.profile.meta
    return meta and (meta.waiting_ns or meta.memory) and "Measure" or nil
  end },
  { "r", "Mark" },
  { "Space", function(m) return m.paused and "Resume" or "Pause" end },
  { "t", function(m) return m.view.name ~= "tree" and "Tree" or nil end },
  { "c", function(m) return m.view.zone and "Callers" or nil end },
  { "e", function(m)
    return m.view.name == "tree" and "Hottest path" or nil
  end },
  { "+ -", "Pace" },
}

local function keys(m, line)
  for _, hint in ipairs(hints) do
    local text = hint[2]
    if type(text) == "function" then text = text(m) end
    local width = text and #hint[1] + 1 + #text or 0
    if text and line.width + width <= line.room then
      line:add(hint[1], "key"):add(" " .. text)
      if line.width + 2 <= line.room then line:add "  " end
    end
  end
end

local function message(m, line)
  if m.question then return line:add(m.question.text, "bad") end
  if m.prompt then
    return line:add(m.prompts .. m.prompt, "bold"):add("_", "dim")
  end
  if m.message or m.note then return line:add(m.message or m.note, "bold") end
  local output = m.output and m.view.name ~= "output" and m.output()
  local last = output and output[#output]
  if last then
    line:add("output: ", "dim")
      :add(format.plain((last:gsub("\27%[[%d;?]*%a", ""))), "dim")
  end
end

---Draws all lines but those of the view.
---@param m cprof.TopModel
---@param on cprof.Screen
function frame.draw(m, on)
  local lines = on.lines
  title(m, lines[1])
  if on.height < frame.above + below + 1 then return end
  facts(m, lines[2])
  tabs(m, lines[3])
  if m.now or m.view.name == "help" then m.view.head(m, lines[4]) end
  if m.plain then return end
  if frame.past(m) and m.now then past(m, lines[frame.past(m)]) end
  message(m, lines[on.height - 1])
  keys(m, lines[on.height])
end

return frame
