-- A heatmap: when the program was busy. Time goes down a column, and on from
-- column to column.

local cells = require "cprof.profile.cells"
local columns = require "cprof.report.columns"
local format = require "cprof.text.format"
local order = require "cprof.text.order"
local range = require "cprof.profile.range"

local heatmap = {}

-- columns of a row's label; columns of the picture if the output has no width
local margin <const>, usual <const> = 8, 100

-- Cells by their share: idle, up to an eighth, up to two, and so on.
local ramp <const> = ".:-=+*#%@"

-- a cell is at most this many columns wide, where there is room
local widest <const> = 4

-- the character of a cell, and its style
local function shade(cell, letter)
  if letter then return letter, "bold" end
  if cell.ns <= 0 then return " " end
  local level = math.ceil(cell.shown * 8 - 1e-9)
  local style = level > 0 and "heat" .. level or "dim"
  return ramp:sub(level + 1, level + 1), style
end

-- a length of time that is a round number
local function short(ns)
  return ns < 1e9 and ("%gms"):format(ns / 1e6) or range.time(ns)
end

-- the most stretches among which causes are looked for
local looked <const> = 40

---@class cprof.Cause     stretches that the same function caused
---@field [integer] cprof.Stretch  in order of time
---@field letter string
---@field func? cprof.Function
---@field share number    of CPU time, on average
---@field lost number     as in cprof.Stretch, on average
---@field part? number    as in cprof.Stretch, on average
---@field usual? number

-- the average of a field over stretches, by how long they are
local function mean(list, field)
  local sum, ns = 0, 0
  for _, s in ipairs(list) do
    if not s[field] then return nil end
    sum, ns = sum + s[field] * (s.to - s.from), ns + s.to - s.from
  end
  return sum / math.max(ns, 1)
end

-- The causes of stretches, at most `limit`, in order of time; and how many more
-- there are.
local function causes_of(stretches, limit)
  local all, by = {}, {}
  for _, s in ipairs(stretches) do
    local key = s.func and s.func.title or s
    if not by[key] then
      by[key] = { func = s.func, usual = s.usual }
      all[#all + 1] = by[key]
    end
    table.insert(by[key], s)
  end
  local out = table.move(all, 1, math.min(#all, limit), 1, {})
  for _, cause in ipairs(out) do
    table.sort(cause, order "from")
    for _, field in ipairs { "share", "lost", "part" } do
      cause[field] = mean(cause, field)
    end
  end
  table.sort(out, function(a, b) return a[1].from < b[1].from end)
  for i, cause in ipairs(out) do cause.letter = string.char(64 + i) end
  return out, #all - #out
end

-- by cell: the letter of its stretch
local function letters_of(causes)
  local out = {}
  for _, cause in ipairs(causes) do
    for _, s in ipairs(cause) do
      for k = s.first, s.cell do out[k] = cause.letter end
    end
  end
  return out
end

-- A line with the times of columns, for cells that are `wide`.
local function scale(grid, wide)
  local out, column = (" "):rep(margin), grid.ns * grid.rows
  for i = 0, grid.columns - 1 do
    local label = range.time(grid.from + i * column)
    local at = margin + i * wide
    if at == margin or #out + 2 <= at and i % 5 == 0 then
      out = out .. (" "):rep(at - #out) .. label
    end
  end
  return out
end

-- One row of cells, each `wide`, in as few styles as possible.
local function row(page, grid, r, wide, letters)
  local out, text, style = {}, "", nil
  local function flush()
    out[#out + 1] = page.paint(style, text)
    text = ""
  end
  for column = 0, grid.columns - 1 do
    local i = column * grid.rows + r
    local c, its = shade(grid[i], letters[i])
    if its ~= style then flush() end
    text, style = text .. c:rep(wide), its
  end
  flush()
  return table.concat(out)
end

local function picture(page, grid, causes)
  local room = math.min(page.width, 1000) - margin
  if page.width == math.huge then room = usual - margin end
  local wide = math.max(math.min(room // grid.columns, widest), 1)
  local letters, lines = letters_of(causes), { scale(grid, wide) }
  for r = 1, grid.rows do
    local label = (r - 1) % 5 == 0 and short((r - 1) * grid.ns) or ""
    lines[#lines + 1] = (" "):rep(margin - 1 - #label) .. label ..
      " " .. row(page, grid, r, wide, letters)
  end
  for i, line in ipairs(lines) do lines[i] = line:gsub(" +$", "") end
  page:verbatim(lines)
end

local function percent(x) return ("%.0f %%"):format(x * 100) end

-- the most times of a cause that are listed, besides the first
local listed <const> = 4

-- when a cause came again
local function again(cause)
  local out = {}
  for i = 2, math.min(#cause, listed + 1) do
    out[i - 1] = range.ends(cause[i].from, cause[i].to)
  end
  local more = #cause - 1 - #out
  return table.concat(out, ", ") ..
    (more > 0 and (" and %d more"):format(more) or "")
end

-- when a cause came first
local function first_ends(s) return range.ends(s[1].from, s[1].to) end

-- preempted time is shown if it has at least this share
local notable <const> = 0.01

local function table_of(causes, of_function, of_label)
  local list = {
    { title = "", cell = function(_, s) return s.letter end },
    { title = "from", cell = function(_, s) return (first_ends(s)) end },
    { title = "to", cell = function(_, s) return select(2, first_ends(s)) end },
    { title = of_function and "time" or "CPU",
      cell = function(_, s) return percent(s.share) end },
  }
  for _, s in ipairs(causes) do
    if s.lost >= notable and not list[5] then
      list[5] = { title = "preempted", rank = 5, optional = true,
        cell = function(_, one) return percent(one.lost) end }
    end
  end
  if of_function or of_label then return list end
  return table.move({
    { title = "of stretch", rank = 4, optional = true, cell = function(_, s)
      return s.part and percent(s.part) or ""
    end },
    { title = "of recording", rank = 2, optional = true, cell = function(_, s)
      return s.usual and percent(s.usual) or ""
    end },
    columns.of { "function", cell = function(_, s)
      return s.func and format.plain(s.func.name) or ""
    end },
    columns.of { "defined", rank = 1, cell = function(on, s)
      return s.func and columns.of { "defined" }.cell(on, s) or ""
    end },
    { title = "again from", left = true, optional = true, rank = 3,
      cell = function(_, s) return again(s) end },
  }, 1, 5, #list + 1, list)
end

-- Says for how long other programs had the processor, if that is notable.
local function preempted(page, grid)
  local ns, lost = 0, 0
  for _, cell in ipairs(grid) do
    ns, lost = ns + cell.ns + cell.lost, lost + cell.lost
  end
  if lost < notable * ns then return end
  page:line(("other programs had the processor for %s of this time (%s)")
    :format(percent(lost / ns), format.time(lost // 1 | 0)))
end

-- A stretch that the collector may have caused has at least this share of CPU
-- time, not counting when other programs had the processor.
local computes <const> = 0.5

---A note on stretches that the garbage collector may have caused. nil: no
---stretch has much CPU time in a function, or the collector was recorded, too,
---or the profile is of samples.
---@param p cprof.Profile
---@param list { func?: cprof.Function, share: number, lost: number }[]
---@return string?
function heatmap.collector(p, list)
  if p.samples or p.meta.gc then return nil end
  for _, s in ipairs(list) do
    if s.func and s.share >= computes * (1 - s.lost) then
      return "recorded without --gc: the garbage collector's time counts " ..
        "for the function that it interrupts"
    end
  end
end

---Adds a heatmap to a page.
---@param page cprof.Page
---@param p cprof.Profile  that has a time axis
---@param from integer     ns
---@param to integer       ns
---@param limit integer    of stretches to list
---@param row_of? cprof.Row  only what this function, and what it calls, took
---@param label? { told: string, nodes: boolean[] }  only what was recorded
---    under this label, in these nodes
---@return cprof.Stretch?    the one that stands out most
function heatmap.show(page, p, from, to, limit, row_of, label)
  local of
  if row_of then
    of = {}
    for i, f in ipairs(p.functions) do of[i] = f.title == row_of.title end
  end
  local width = page.width < math.huge and page.width or usual
  local grid = cells.of(p, from, to, width - margin, of, label and label.nodes)
  local stretches, left = cells.stretches(p, grid, looked,
    of ~= nil or label ~= nil)
  local causes, more = causes_of(stretches, math.min(limit, 26))
  page:line(("each column is %s, each cell %s"):format(
    short(grid.ns * grid.rows), short(grid.ns)))
  page:line(("%s%s: %s none, %s little, %s all of the cell; blank: not " ..
    "recorded, or other programs had the processor throughout"):format(
    row_of and "the time of " .. format.plain(row_of.func.name) or "CPU time",
    label and " under " .. format.plain(label.told) or "",
    ramp:sub(1, 1), ramp:sub(2, 2), ramp:sub(-1)))
  preempted(page, grid)
  page:gap()
  picture(page, grid, causes)
  page:gap()
  if #causes == 0 then page:line "nothing stands out"
  else
    local list = table_of(causes, row_of ~= nil, label ~= nil)
    page:table(list, columns.rows(page, list, causes))
    more = more + left
    if more > 0 then page:rest(("… %d more"):format(more)) end
    local note = heatmap.collector(p, causes)
    if note then page:note(note) end
  end
  return stretches[1]
end

return heatmap
