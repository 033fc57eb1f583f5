-- Figures for people: units, columns, colours.

local core = require "cprof.core"

local format = {}

local units = {
  { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "µs" },
}

---A time with three digits and its unit: 0ns, 876ns, 1.23ms, 45.0s, 1234s.
---@param ns integer
---@return string
function format.time(ns)
  for _, unit in ipairs(units) do
    local value = ns / unit[1]
    -- what would round up to 1000 of a unit is 1 of the next
    if value >= 0.9995 or unit[2] == "µs" and ns >= 1000 then
      local digits = value < 9.995 and 2 or value < 99.95 and 1 or 0
      return ("%." .. digits .. "f%s"):format(value, unit[2])
    end
  end
  return ("%dns"):format(ns)
end

---A count with its thousands apart: 1,234,567.
---@param n integer
---@return string
function format.count(n)
  local s = ("%d"):format(n):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (s:gsub("^(%-?),", "%1"))
end

---A share in percent with one decimal.
---@param part number
---@param whole number
---@return string
function format.percent(part, whole)
  if whole == 0 then return "0.0" end
  return ("%.1f"):format(part / whole * 100)
end

---The columns that a string takes on a terminal.
---@param s string
---@return integer
function format.width(s)
  local escaped = s:gsub("\27%[[%d;]*m", "")
  return utf8.len(escaped) or #escaped
end

---@param s string
---@param width integer
---@return string
function format.left(s, width)
  return s .. (" "):rep(width - format.width(s))
end

---@param s string
---@param width integer
---@return string
function format.right(s, width)
  return (" "):rep(width - format.width(s)) .. s
end

local function characters(s)
  local out = {}
  if utf8.len(s) then
    for _, c in utf8.codes(s) do out[#out + 1] = utf8.char(c) end
  else
    for i = 1, #s do out[i] = s:sub(i, i) end
  end
  return out
end

---Cuts what is too long in the middle, for both ends of a path matter.
---@param s string
---@param width integer
---@return string
function format.cut(s, width)
  if format.width(s) <= width then return s end
  if width < 1 then return "" end
  local all = characters(s)
  local head = (width - 1) // 3
  local tail = width - 1 - head
  return table.concat(all, "", 1, head) .. "…" ..
    table.concat(all, "", #all - tail + 1, #all)
end

---Cuts what is too long at the end.
---@param s string
---@param width integer
---@return string
function format.cutend(s, width)
  if format.width(s) <= width then return s end
  if width < 1 then return "" end
  return table.concat(characters(s), "", 1, width - 1) .. "…"
end

---Cuts a path in the middle, between folders: /usr/…/ai/path.lua:12.
---@param s string
---@param width integer
---@return string
function format.cutpath(s, width)
  if format.width(s) <= width then return s end
  local head, rest = s:match "^(/?[^/]*/)(.*)$"
  while rest do
    rest = rest:match "^[^/]*/(.*)$"
    if not rest then break end
    local shorter = head .. "…/" .. rest
    if format.width(shorter) <= width then return shorter end
    shorter = "…/" .. rest
    if not rest:find("/", 1, true) and format.width(shorter) <= width then
      return shorter
    end
  end
  return format.cut(s, width)
end

---Control characters would spoil the lines of a report.
---@param s string
---@return string
function format.plain(s)
  return (s:gsub("%c", function(c) return ("\\%d"):format(c:byte()) end))
end

local codes = { bold = "1", dim = "2", red = "31", yellow = "33" }

---@alias cprof.Paint fun(style: string?, s: string): string

---@param on boolean
---@return cprof.Paint
function format.paint(on)
  return function(style, s)
    if not on or not style then return s end
    return ("\27[%sm%s\27[0m"):format(codes[style], s)
  end
end

---Are colours wanted? `auto`: on a terminal, unless NO_COLOR says no.
---@param choice "auto"|"always"|"never"
---@return boolean
function format.wants_color(choice)
  if choice ~= "auto" then return choice == "always" end
  local no = os.getenv "NO_COLOR"
  return core.columns() ~= nil and (no == nil or no == "")
end

---The columns of the terminal, or what is fine without one.
---@return integer
function format.columns()
  return core.columns() or 100
end

---The style of a share: what is hot stands out.
---@param part number
---@param whole number
---@return string?
function format.heat(part, whole)
  local share = whole > 0 and part / whole or 0
  if share >= 0.2 then return "red" end
  if share >= 0.05 then return "yellow" end
end

---@class cprof.Column
---@field title string
---@field left? boolean   aligned to the left
---@field least? integer  may be cut to this when lines get too long
---@field cut? fun(s: string, width: integer): string  how; in the middle

---Lines of a table, all columns aligned. A cell is a string, or a table
---{ text, style }.
---@param columns cprof.Column[]
---@param rows table[]
---@param width integer  math.huge: no limit
---@param paint cprof.Paint
---@return string[]
function format.table(columns, rows, width, paint)
  local widths, total = {}, 0
  for i, column in ipairs(columns) do
    widths[i] = format.width(column.title)
    for _, row in ipairs(rows) do
      local cell = row[i]
      local n = format.width(type(cell) == "table" and cell[1] or cell)
      if n > widths[i] then widths[i] = n end
    end
    total = total + widths[i] + 2
  end
  -- what is too wide is taken from the columns that allow it, last first
  local over = total - 2 - width
  for i = #columns, 1, -1 do
    local least = columns[i].least
    if least and over > 0 and widths[i] > least then
      local less = math.min(over, widths[i] - least)
      widths[i] = widths[i] - less
      over = over - less
    end
  end
  local function line(cells, head)
    local out = {}
    for i, column in ipairs(columns) do
      local cell, style = cells[i], head and "bold" or nil
      if type(cell) == "table" then cell, style = cell[1], cell[2] end
      cell = (column.cut or format.cut)(cell, widths[i])
      local pad = column.left and format.left or format.right
      out[i] = paint(style, pad(cell, widths[i]))
    end
    return (table.concat(out, "  "):gsub("%s+$", ""))
  end
  local titles = {}
  for i, column in ipairs(columns) do titles[i] = column.title end
  local lines = { line(titles, true) }
  for _, row in ipairs(rows) do lines[#lines + 1] = line(row) end
  return lines
end

return format
