-- The columns of figures beside functions, in all views whose lines are
-- functions. Their widths are fixed, so nothing jumps on a refresh.

local format = require "cprof.text.format"
local name = require "cprof.source.name"
local terminal = require "cprof.system.terminal"

local columns = {}

---@class cprof.TopEntry    a function in a line
---@field func cprof.Function
---@field name string
---@field indent integer
---@field mark "+"|"-"|" "  +: can be opened; -: is open
---@field of table          record with its figures
---@field zone cprof.ViewZone
---@field own? boolean      whether its call graph is shown

---Formats a count in at most nine columns: 1,234,567 or 12.3M.
---@param n number
---@param short? boolean  in at most five columns
---@return string
function columns.count(n, short)
  return format.short(n, short and 10000 or 10000000)
end

---@class cprof.TopColumn
---@field title string
---@field width integer|fun(screen: integer): integer
---@field uncertain? integer  width if times are from samples
---@field sampled? string|false  title where there are samples in place of
---    calls; false: not shown
---@field sort? string      the order in which its title is marked
---@field from? integer     the least width of a screen that shows it
---@field rank? integer     left out rather than to leave names little room, the
---    highest first, unless functions are sorted by it
---@field left? boolean     whether it is aligned to the left
---@field cell fun(e: cprof.TopEntry, m: cprof.TopModel): string, string?
---    text and style

---Formats a figure; "-" for 0.
---@param n integer
---@param most integer  upper bound
---@param m cprof.TopModel
---@return string
function columns.amount(n, most, m)
  if most == 0 then return "-" end
  -- in at most seven columns
  local unit = m.now.measure.unit
  if unit ~= "ns" and unit ~= "bytes" then return format.short(n, 1000000) end
  return (m.now.measure:amount(n, most))
end

---Formats a figure as a share of the period's; "-" for 0.
---@param n integer
---@param most integer  upper bound
---@param m cprof.TopModel
---@return string
function columns.share(n, most, m)
  return most == 0 and "-" or m.now.measure:share(n, most)
end

local function field(kind, show)
  local most = kind .. "_most"
  return function(e, m)
    return show(e.of[kind], e.of[most], m),
      format.heat(e.of[kind], m.now.measure.whole)
  end
end

local bars = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }
local ascii_bars = { ".", ".", ":", "-", "=", "+", "#", "#" }

---A graph of shares, a bar for each.
---@param series number[]
---@param scale number  the share of a full bar
---@return string
function columns.sparkline(series, scale)
  local out, from = {}, terminal.ascii and ascii_bars or bars
  for i, value in ipairs(series) do
    local height = value / scale * #from
    out[i] = height < 0.05 and " " or
      from[math.min(math.floor(height) + 1, #from)]
  end
  return table.concat(out)
end

local function spark_width(screen)
  return screen < 100 and 8 or screen < 160 and 16 or 30
end

---@type cprof.TopColumn[]
columns.list = {
  { title = "self", width = 8, sort = "self",
    cell = field("self", columns.amount) },
  { title = "self %", width = 7, rank = 3, uncertain = 11,
    cell = field("self", columns.share) },
  { title = "total", width = 8, rank = 4, sort = "total",
    cell = field("total", columns.amount) },
  { title = "total %", width = 7, rank = 6, uncertain = 11,
    cell = field("total", columns.share) },
  { title = "calls", sampled = "samples", width = 9, rank = 5,
    sort = "calls",
    cell = function(e)
      return e.of.count > 0 and columns.count(e.of.count) or "-"
    end },
  { title = "calls/s", sampled = false, width = 7, from = 100,
    cell = function(e, m)
      local seconds = m.now.seconds
      if e.of.calls == 0 or not seconds or seconds <= 0 then return "-" end
      local rate = e.of.calls / seconds
      return rate < 0.5 and "<1" or columns.count(rate, true)
    end },
  { title = "lately", width = spark_width, rank = 7, left = true,
    cell = function(e, m)
      return columns.sparkline(m.history:series(e.func.title,
        spark_width(m.width)), m.history:scale())
    end },
}

---@type string[]  the orders of functions
columns.orders = { "self", "total", "calls", "name" }

local gap <const> = 1

-- the least room for names; columns are left out for it
local least <const> = 18

local function width_of(column, m)
  if column.uncertain and m.now and m.now.measure.samples then
    return column.uncertain
  end
  local width = column.width
  return type(width) == "function" and width(m.width) or width
end

-- the index of the column to leave out next; nil: none
local function least_needed(list, m)
  local at
  for i, column in ipairs(list) do
    local rank = column.sort ~= m.sort and column.rank
    if rank and (not at or rank > list[at].rank) then at = i end
  end
  return at
end

-- The title of a column where there are samples in place of calls; false: it
-- is not shown. Samples are counted by wall time only: with other measures,
-- there are the amounts of these in their place.
local function sampled_title(column, m)
  if column.sampled and m.now and m.now.measure.name ~= "time" then
    return false
  end
  return column.sampled == nil and column.title or column.sampled
end

-- the columns that fit beside names, and are not hidden
local function shown_columns(m)
  local out, taken = {}, 1
  for _, column in ipairs(columns.list) do
    if m.width >= (column.from or 0) and not m.hidden[column.title] and
       not (m.sampled and not sampled_title(column, m)) then
      out[#out + 1] = column
      taken = taken + width_of(column, m) + gap
    end
  end
  while m.width - taken < least do
    local at = least_needed(out, m)
    if not at then break end
    taken = taken - width_of(table.remove(out, at), m) - gap
  end
  return out
end

-- the room for the name, and for where it is defined; 0: not shown
local function rooms(line, screen)
  local room = line.room - line.width - 1
  local place = screen >= 110 and math.min(room * 2 // 5, 60) or 0
  return room - place, place
end

---The title of a column, which says whether self is a time.
---@param title string
---@param m cprof.TopModel
---@return string
function columns.titled(title, m)
  local timed = not m.now or m.now.measure:timed()
  return timed and title or (title:gsub("^self", m.now.measure.column))
end

---Draws the line of titles.
---@param line cprof.ScreenLine
---@param m cprof.TopModel
---@param sorted? string  the order whose title is marked
function columns.head(line, m, sorted)
  local mark = terminal.ascii and "*" or "▼"
  line.style = "head"
  for _, column in ipairs(shown_columns(m)) do
    local width, title = width_of(column, m), column.title
    if m.sampled then title = sampled_title(column, m) or title end
    local named = columns.titled(title, m)
    if format.width(named) <= width then title = named end
    if sorted and column.sort == sorted then title = mark .. title end
    line:add(column.left and " " .. format.left(title, width) or
      format.right(title, width + gap - (line.width == 0 and gap or 0)))
  end
  local first, place = rooms(line, m.width)
  line:add(" " .. format.left((sorted == "name" and mark or "") ..
    "function", first))
  if place > 0 then line:add "defined" end
end

---The column of figures at a place of the screen; nil: there is none.
---@param m cprof.TopModel
---@param x integer  1: the left edge
---@return cprof.TopColumn?
function columns.at(m, x)
  local taken = 0
  for _, column in ipairs(shown_columns(m)) do
    taken = taken + width_of(column, m) + (taken > 0 and gap or 0)
    if x <= taken then return column end
  end
end

---By how many levels the tree is shifted to the left, so that the cursor's
---line has room for the name.
---@param m cprof.TopModel
---@param indent integer  levels of the cursor's line
---@return integer
function columns.shift(m, indent)
  local taken = 1
  for _, column in ipairs(shown_columns(m)) do
    taken = taken + width_of(column, m) + gap
  end
  return math.max(indent - math.max(m.width - taken, 0) // 6, 0)
end

local function name_of(e, m, width)
  local shift = m.shift or 0
  local head = e.indent >= shift and ("  "):rep(e.indent - shift) or
    terminal.ascii and "<" or "‹"
  if e.mark then head = head .. e.mark .. " " end
  return head .. format.cutname(format.plain(e.name),
    math.max(width - format.width(head), 0))
end

---Draws the line of a function.
---@param line cprof.ScreenLine
---@param m cprof.TopModel
---@param e cprof.TopEntry
function columns.draw(line, m, e)
  for _, column in ipairs(shown_columns(m)) do
    local width = width_of(column, m)
    local text, style = column.cell(e, m)
    if column.left then
      line:add(" ")
      line:add(format.left(text, width), style or "graph")
    else
      line:add(format.right(text, width + gap - (line.width == 0 and gap or
        0)), style)
    end
  end
  local first, place = rooms(line, m.width)
  line:add(" ")
  line:add(format.left(name_of(e, m, first - 1), first),
    e.own and "bold" or nil)
  if place > 0 then
    line:add(format.cutpath(format.plain(name.where(e.func)), place), "dim")
  end
end

return columns
