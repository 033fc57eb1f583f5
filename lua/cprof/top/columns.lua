-- The columns of figures beside functions, the same in each view that has
-- functions in its lines. They keep their widths, so that nothing jumps
-- from one refresh to the next.

local format = require "cprof.text.format"
local name = require "cprof.source.name"
local terminal = require "cprof.system.terminal"

local columns = {}

---@class cprof.TopEntry    a function in a line
---@field func cprof.Function
---@field name string
---@field indent integer
---@field mark "+"|"-"|" "  +: there is more behind it; -: it is open
---@field of table          that has the figures
---@field zone cprof.ViewZone
---@field own? boolean      the function whose call graph it is

local suffixes <const> = { { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" },
  { 1e3, "k" } }

---A count in at most nine columns: 1,234,567 or 12.3M.
---@param n number
---@param short? boolean  in at most five
---@return string
function columns.count(n, short)
  n = math.floor(n + 0.5)
  if n < (short and 10000 or 10000000) then return format.count(n) end
  for _, suffix in ipairs(suffixes) do
    if n >= suffix[1] * 0.9995 then
      local value = n / suffix[1]
      local digits = value < 9.995 and 2 or value < 99.95 and 1 or 0
      return ("%." .. digits .. "f%s"):format(value, suffix[2])
    end
  end
end

---@class cprof.TopColumn
---@field title string
---@field width integer|fun(screen: integer): integer
---@field uncertain? integer  instead, where times are from samples
---@field sampled? string   title in mode "sample"; false: not shown there
---@field sort? string      what it is sorted by where it is chosen
---@field from? integer     columns of a screen from which on it is shown
---@field cell fun(e: cprof.TopEntry, m: cprof.TopModel): string, string?

---A time as it is written, or what is in its place; "-" where there is none.
---@param ns integer
---@param most integer?  what it is at most
---@param m cprof.TopModel
---@return string
function columns.time(ns, most, m)
  if (most or ns) == 0 then return "-" end
  if m.counts then return columns.count(ns) end
  return (m.now.measure:amount(ns, most))
end

---A share of the period's time.
---@param ns integer
---@param most integer?
---@param m cprof.TopModel
---@return string
function columns.share(ns, most, m)
  return (most or ns) == 0 and "-" or m.now.measure:share(ns)
end

local function field(kind, show)
  local ns, most = kind .. "_ns", kind .. "_most_ns"
  return function(e, m)
    return show(e.of[ns], e.of[most], m), format.heat(e.of[ns], m.now.whole)
  end
end

local bars = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }
local ascii_bars = { ".", ".", ":", "-", "=", "+", "#", "#" }

---A graph of shares.
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

---Calls of what has figures, or samples of it alone.
---@param of table
---@return integer
function columns.counted(of) return of.calls or of.self_samples or 0 end

---@type cprof.TopColumn[]
columns.list = {
  { title = "self", width = 8, sort = "self",
    cell = field("self", columns.time) },
  { title = "self %", width = 7, uncertain = 11,
    cell = field("self", columns.share) },
  { title = "total", width = 8, sort = "total",
    cell = field("total", columns.time) },
  { title = "total %", width = 7, uncertain = 11,
    cell = field("total", columns.share) },
  { title = "calls", sampled = "samples", width = 9, sort = "calls",
    cell = function(e)
      local n = columns.counted(e.of)
      return n > 0 and columns.count(n) or "-"
    end },
  { title = "calls/s", sampled = false, width = 7, from = 100,
    cell = function(e, m)
      local seconds = m.now.seconds
      if e.of.calls == 0 or not seconds or seconds <= 0 then return "-" end
      local rate = e.of.calls / seconds
      return rate < 0.5 and "<1" or columns.count(rate, true)
    end },
  { title = "lately", width = spark_width, left = true,
    cell = function(e, m)
      return columns.sparkline(m.history:series(e.func.title,
        spark_width(m.width)), m.history:scale())
    end },
}

---@type string[]  what functions are sorted by
columns.orders = { "self", "total", "calls", "name" }

local gap <const> = 1

local function shown(m)
  local out = {}
  for _, column in ipairs(columns.list) do
    if m.width >= (column.from or 0) and
       not (m.sampled and column.sampled == false) then
      out[#out + 1] = column
    end
  end
  return out
end

local function width_of(column, m)
  if column.uncertain and m.now and m.now.measure.samples then
    return column.uncertain
  end
  local width = column.width
  return type(width) == "function" and width(m.width) or width
end

-- columns for the name, and for where it is defined; 0: not shown
local function rooms(line, screen)
  local room = line.room - line.width - 1
  local place = screen >= 110 and math.min(room * 2 // 5, 60) or 0
  return room - place, place
end

---The line of titles; that of the order is marked.
---@param line cprof.ScreenLine
---@param m cprof.TopModel
---@param sorted? string
function columns.head(line, m, sorted)
  local mark = terminal.ascii and "*" or "▼"
  line.style = "head"
  for _, column in ipairs(shown(m)) do
    local width, title = width_of(column, m), column.title
    if m.sampled then title = column.sampled or title end
    if m.counts and title:find "^self" then
      title = title:gsub("^self", "instr")
    end
    if sorted and column.sort == sorted then title = mark .. title end
    line:add(column.left and " " .. format.left(title, width) or
      format.right(title, width + gap - (line.width == 0 and gap or 0)))
  end
  local first, place = rooms(line, m.width)
  line:add(" " .. format.left((sorted == "name" and mark or "") ..
    "function", first))
  if place > 0 then line:add "defined" end
end

---How many levels of a tree are left of the screen's edge, when a line of
---so many is looked at: they must leave room for the name.
---@param m cprof.TopModel
---@param indent integer
---@return integer
function columns.shift(m, indent)
  local taken = 1
  for _, column in ipairs(shown(m)) do
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

---The line of a function.
---@param line cprof.ScreenLine
---@param m cprof.TopModel
---@param e cprof.TopEntry
function columns.draw(line, m, e)
  for _, column in ipairs(shown(m)) do
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
