-- Formats figures and texts for people: units, widths, colours.

local core = require "cprof.core"

local format = {}

-- A figure with three digits in the largest unit in which it is 1 or more; in
-- the smallest unit, if it is `least` or more. Where rounding would give 1000,
-- it is 1 of the next larger unit. nil: it is too small. `units`: the largest
-- comes first.
local function scaled(n, units, least)
  for i, unit in ipairs(units) do
    local value = n / unit[1]
    if value >= 0.9995 or i == #units and n >= least then
      local digits = value < 9.995 and 2 or value < 99.95 and 1 or 0
      return ("%." .. digits .. "f%s"):format(value, unit[2])
    end
  end
end

local times <const> = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" } }
local sizes <const> = { { 1 << 30, " GB" }, { 1 << 20, " MB" },
                        { 1 << 10, " KB" } }
local counts <const> = { { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" },
                         { 1e3, "k" } }

---A time with three digits and its unit: 0ns, 876ns, 1.23ms, 45.0s, 1234s.
---@param ns integer
---@return string
function format.time(ns)
  return scaled(ns, times, 1000) or ("%dns"):format(ns)
end

---Bytes with three digits and their unit, a power of 1024: 0 B, 876 B,
---1.23 KB, 45.0 MB.
---@param bytes integer
---@return string
function format.bytes(bytes)
  return scaled(bytes, sizes, 1000) or ("%d B"):format(bytes)
end

---A count in few columns: 1,234,567 or 12.3M.
---@param n number
---@param from integer  the least count that is written with three digits
---@return string
function format.short(n, from)
  n = math.floor(n + 0.5)
  return n < from and format.count(n) or scaled(n, counts, from)
end

---A count with separators between thousands: 1,234,567.
---@param n integer
---@return string
function format.count(n)
  local s = ("%d"):format(n):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (s:gsub("^(%-?),", "%1"))
end

---A count of things: "1 call", "1,234 calls".
---@param n integer
---@param one string    the singular
---@param many? string  the plural, if that is not `one` with an "s"
---@return string
function format.plural(n, one, many)
  return format.count(n) .. " " .. (n == 1 and one or many or one .. "s")
end

---A number of calls; "" if calls were not counted.
---@param n integer?
---@return string
function format.calls(n) return n and format.count(n) or "" end

---A share in percent; of nothing, it is 0.
---@param part number
---@param whole number
---@return number
function format.share(part, whole)
  return whole == 0 and 0 or part / whole * 100
end

---A share in percent, with one decimal.
---@param part number
---@param whole number
---@return string
function format.percent(part, whole)
  return ("%.1f"):format(format.share(part, whole))
end

-- characters that do not take one column: first, last, columns
local ranges <const> = {
  { 0x0300, 0x036f, 0 },    -- combining marks
  { 0x0483, 0x0489, 0 }, { 0x0591, 0x05bd, 0 }, { 0x0610, 0x061a, 0 },
  { 0x064b, 0x065f, 0 }, { 0x0e31, 0x0e31, 0 }, { 0x0e34, 0x0e3a, 0 },
  { 0x0e47, 0x0e4e, 0 },
  { 0x1100, 0x115f, 2 },    -- Hangul
  { 0x1ab0, 0x1aff, 0 }, { 0x1dc0, 0x1dff, 0 },
  { 0x200b, 0x200f, 0 }, { 0x20d0, 0x20ff, 0 },
  { 0x2e80, 0x303e, 2 },    -- radicals, punctuation
  { 0x3041, 0x3098, 2 }, { 0x3099, 0x309a, 0 }, { 0x309b, 0x4dbf, 2 },
  { 0x4e00, 0xa4cf, 2 },    -- ideographs
  { 0xa960, 0xa97f, 2 }, { 0xac00, 0xd7a3, 2 }, { 0xf900, 0xfaff, 2 },
  { 0xfe00, 0xfe0f, 0 }, { 0xfe20, 0xfe2f, 0 }, { 0xfe30, 0xfe6f, 2 },
  { 0xff00, 0xff60, 2 }, { 0xffe0, 0xffe6, 2 },
  { 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 },
  { 0x1f900, 0x1f9ff, 2 },  -- pictures
  { 0x20000, 0x3fffd, 2 },
}

local function columns_of(code)
  if code < ranges[1][1] then return 1 end
  for _, range in ipairs(ranges) do
    if code <= range[2] then return code < range[1] and 1 or range[3] end
  end
  return 1
end

---The width of a string on a terminal, in columns.
---@param s string
---@return integer
function format.width(s)
  if not s:find "[\27\x80-\xFF]" then return #s end
  local text = s:gsub("\27%[[%d;]*m", ""):gsub("\27%]8;;[^\27]*\27\\", "")
  local length = utf8.len(text)
  if not length or length == #text then return #text end
  local sum = 0
  for _, code in utf8.codes(text) do sum = sum + columns_of(code) end
  return sum
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

-- combining marks stay with their character
local function characters(s)
  local out = {}
  if utf8.len(s) then
    for _, c in utf8.codes(s) do
      local at = #out + (columns_of(c) > 0 and 1 or 0)
      out[math.max(at, 1)] = (out[at] or "") .. utf8.char(c)
    end
  else
    for i = 1, #s do out[i] = s:sub(i, i) end
  end
  return out
end

-- the longest beginning of a list of characters that fits into a width
local function head_of(all, width)
  local n = 0
  while all[n + 1] and format.width(all[n + 1]) <= width do
    n = n + 1
    width = width - format.width(all[n])
  end
  return table.concat(all, "", 1, n)
end

-- the longest end of a list of characters that fits into a width
local function tail_of(all, width)
  local first = #all + 1
  while all[first - 1] and format.width(all[first - 1]) <= width do
    first = first - 1
    width = width - format.width(all[first])
  end
  return table.concat(all, "", first)
end

-- The most bytes that one column of the screen shows: those of a character and
-- its combining marks. So only the ends of a long string need be looked at.
local column_bytes <const> = 16

-- The beginning and the end of a string, without what is between them, which
-- is certainly cut; both have room for `width` columns.
local function ends_of(s, width)
  local size = column_bytes * width
  if #s <= 2 * size then return s end
  local first, last = size, #s - size + 1
  while first > 1 and s:find("^[\x80-\xBF]", first + 1) do first = first - 1 end
  while last < #s and s:find("^[\x80-\xBF]", last) do last = last + 1 end
  return s:sub(1, first) .. s:sub(last)
end

-- The longest end of a string after a separator, one of a set of characters,
-- that has at most `width` columns; nil: even the shortest has more.
local function end_behind(s, set, width)
  local from = math.max(#s - column_bytes * (width + 1), 0) + 1
  local best
  local places = {}
  for at in s:sub(from):gmatch("()[" .. set .. "]") do
    places[#places + 1] = from + at
  end
  for i = #places, 1, -1 do
    local rest = s:sub(places[i])
    if format.width(rest) > width then break end
    best = rest
  end
  return best
end

-- Cuts a string that is too long: `head` columns at its beginning stay, and as
-- much of its end as there is room for.
local function clip(s, width, head)
  if format.width(s) <= width then return s end
  if width < 1 then return "" end
  local all = characters(ends_of(s, width))
  local first = head_of(all, head)
  return first .. "…" .. (head < width - 1 and
    tail_of(all, width - 1 - format.width(first)) or "")
end

---Cuts a string in the middle if it is too long: both ends of a path matter.
---@param s string
---@param width integer
---@return string
function format.cut(s, width) return clip(s, width, (width - 1) // 3) end

---Cuts a string at the end if it is too long.
---@param s string
---@param width integer
---@return string
function format.cutend(s, width) return clip(s, width, width - 1) end

---Cuts a string at the beginning if it is too long.
---@param s string
---@param width integer
---@return string
function format.cutstart(s, width) return clip(s, width, 0) end

---Cuts a path in the middle, between folders: /usr/…/ai/path.lua:12. If even
---the file's name is too long, its end stays.
---@param s string
---@param width integer
---@return string
function format.cutpath(s, width)
  if format.width(s) <= width then return s end
  local head, rest = s:match "^(/?[^/]*/)(.*)$"
  if not rest then return format.cut(s, width) end
  local behind = end_behind(rest, "/", width - format.width(head) - 2)
  if behind then return head .. "…/" .. behind end
  local file = rest:match "^.*/(.*)$"
  if file and format.width(file) + 2 <= width then return "…/" .. file end
  return format.cutstart(s, width)
end

---Cuts the name of a function: a path as a path, a module's name at the
---beginning, a text at the end, other names in the middle.
---@param s string
---@param width integer
---@return string
function format.cutname(s, width)
  if format.width(s) <= width then return s end
  local indent, rest = s:match "^( *)(.*)$"
  width = width - #indent
  if rest:find "^%[" then return indent .. format.cutend(rest, width) end
  if rest:find("/", 1, true) then
    return indent .. format.cutpath(rest, width)
  end
  local behind = end_behind(rest, ".:", width - 1)
  if behind then return indent .. "…" .. behind end
  return indent .. format.cut(rest:match "^.*[.:](.*)$" or rest, width)
end

format.arrow = " → "

---Cuts a chain of calls between two calls: main → … → parser.parse. The last
---calls matter most.
---@param s string
---@param width integer
---@return string
function format.cutchain(s, width)
  if format.width(s) <= width then return s end
  local indent, names = s:match "^ *", {}
  for name in (s:sub(#indent + 1) .. format.arrow):gmatch "(.-) → " do
    names[#names + 1] = name
  end
  local dots = "…" .. format.arrow
  for first = 2, 1, -1 do
    local head = indent .. (first == 2 and names[1] .. format.arrow or "") ..
      dots
    local room, from = width - format.width(head) + 3, #names + 1
    while from > first + 1 do
      room = room - 3 - format.width(names[from - 1])
      if room < 0 then break end
      from = from - 1
    end
    if from <= #names then
      return head .. table.concat(names, format.arrow, from)
    end
  end
  return format.cutindent(indent .. names[#names], width)
end

---Cuts the indentation first, then the text.
---@param s string
---@param width integer
---@return string
function format.cutindent(s, width)
  local over = format.width(s) - width
  if over <= 0 then return s end
  local indent, rest = s:match "^( *)(.*)$"
  if #indent > over then return indent:sub(over + 2) .. "…" .. rest end
  return format.cutstart(rest, width)
end

---Wraps a text into lines; all but the first are indented.
---@param s string
---@param width integer
---@return string[]
function format.wrap(s, width)
  local out, line = {}, nil
  -- a figure keeps its unit: 12 %, 512 KB
  s = s:gsub("(%d) (%%)", "%1\0%2"):gsub("(%d) ([KMGT]?B%f[%W])", "%1\0%2")
  for part in s:gmatch "%S+" do
    local word = part:gsub("\0", " ")
    local longer = line and line .. " " .. word or word
    if line and format.width(longer) > width then
      out[#out + 1], longer = line, "  " .. word
    end
    line = longer
  end
  out[#out + 1] = line
  return out
end

---Escapes control characters, which would break the lines of a report.
---@param s string
---@return string
function format.plain(s)
  return (s:gsub("%c", function(c) return ("\\%d"):format(c:byte()) end))
end

---Which part of a recording a profile is, and why it was written, one string
---each: its range of time, its labels, and the reason.
---@param meta table
---@return string[]
function format.part(meta)
  local out = {}
  for _, told in ipairs { { "range", meta.range }, { "label", meta.labels },
    { "reason", meta.reason } } do
    out[#out + 1] = told[2] and ("%s: %s"):format(told[1],
      format.plain(told[2]))
  end
  return out
end

---The program that was profiled, on one line.
---@param meta cprof.Meta
---@return string
function format.program(meta)
  return format.plain(meta.program or "(embedded)")
end

local codes = { bold = "1", dim = "2", never = "4;31", native = "30;45" }

-- shades of heat from cold to hot, for terminals with 256 colours and with 16
local ramps = {
  many = { "38;5;102", "38;5;137", "38;5;136", "38;5;172", "38;5;208",
    "38;5;202", "38;5;196", "1;38;5;196" },
  few = { "34", "36", "32", "33", "93", "35", "31", "1;31" },
}
local shades <const> = 8

-- backgrounds of boxes beside each other, on which black is easy to read
local boxes = {
  many = { "30;48;5;250", "30;48;5;222", "30;48;5;117", "30;48;5;150",
    "30;48;5;216", "30;48;5;183", "30;48;5;186" },
  few = { "30;47", "30;43", "30;46", "30;42", "30;103", "30;106", "30;102" },
}

---How many styles boxes have: "box1" and so on.
format.boxes = #boxes.many

local function ramp()
  local term = (os.getenv "TERM" or "") .. (os.getenv "COLORTERM" or "")
  for _, word in ipairs { "256color", "truecolor", "24bit", "direct" } do
    if term:find(word, 1, true) then return ramps.many, boxes.many end
  end
  return ramps.few, boxes.few
end

---@alias cprof.Paint fun(style: string?, s: string): string

---@param on boolean
---@return cprof.Paint
function format.paint(on)
  if not on then return function(_, s) return s end end
  local colors = setmetatable({}, { __index = codes })
  local heat, grounds = ramp()
  for i, code in ipairs(heat) do colors["heat" .. i] = code end
  for i, code in ipairs(grounds) do colors["box" .. i] = code end
  return function(style, s)
    if not style then return s end
    return ("\27[%sm%s\27[0m"):format(colors[style], s)
  end
end

---Are colours wanted? `auto`: on a terminal, unless NO_COLOR is set.
---@param choice "auto"|"always"|"never"
---@param file? integer  an open file; default: standard output
---@return boolean
function format.wants_color(choice, file)
  if choice ~= "auto" then return choice == "always" end
  local no = os.getenv "NO_COLOR"
  return core.columns(file or 1) ~= nil and (no == nil or no == "")
end

-- the minimum width of tables
local narrowest <const> = 40

---The width of the output: COLUMNS from the environment, or the terminal's.
---Without either, there is no limit: math.huge.
---@param file? integer  an open file; default: standard output
---@return integer
function format.columns(file)
  local told = math.tointeger(tonumber(os.getenv "COLUMNS"))
  local columns = told and told > 0 and told or core.columns(file or 1)
  return columns and math.max(columns, narrowest) or math.huge
end

---The rows of the terminal; nil: there is no terminal.
---@return integer?
function format.rows()
  return (select(2, core.columns()))
end

---The style of a figure, relative to the greatest one. Each shade begins at
---half of the next hotter one; figures below all shades have no style.
---@param part number
---@param greatest number
---@return string?
function format.heat(part, greatest)
  if part <= 0 or greatest <= 0 then return nil end
  local halvings = math.ceil(math.log(greatest / part, 2) - 1e-9)
  local shade = shades - math.max(halvings - 1, 0)
  return shade > 0 and "heat" .. shade or nil
end

---A text that leads to an address where terminals know links (OSC 8).
---@param text string
---@param address string
---@return string
function format.linked(text, address)
  return ("\27]8;;%s\27\\%s\27]8;;\27\\"):format(address, text)
end

return format
