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
  local level = math.ceil(cell.share * 8 - 1e-9)
  local style = level > 0 and "heat" .. level or "dim"
  return ramp:sub(level + 1, level + 1), style
end

-- a length of time that is a round number
local function short(ns)
  return ns < 1e9 and ("%gms"):format(ns / 1e6) or range.told(ns)
end

-- by cell: the letter of its stretch
local function letters_of(stretches)
  local out = {}
  for i, s in ipairs(stretches) do
    s.letter = string.char(64 + i)
    for k = s.first, s.cell do out[k] = s.letter end
  end
  return out
end

-- A line with the times of columns, for cells that are `wide`.
local function scale(grid, wide)
  local out, column = (" "):rep(margin), grid.ns * grid.rows
  for i = 0, grid.columns - 1 do
    local label = range.told(grid.from + i * column)
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

local function picture(page, grid, stretches)
  local room = math.min(page.width, 1000) - margin
  if page.width == math.huge then room = usual - margin end
  local wide = math.max(math.min(room // grid.columns, widest), 1)
  local letters, lines = letters_of(stretches), { scale(grid, wide) }
  for r = 1, grid.rows do
    local label = (r - 1) % 5 == 0 and short((r - 1) * grid.ns) or ""
    lines[#lines + 1] = (" "):rep(margin - 1 - #label) .. label ..
      " " .. row(page, grid, r, wide, letters)
  end
  for i, line in ipairs(lines) do lines[i] = line:gsub(" +$", "") end
  page:verbatim(lines)
end

local function percent(x) return ("%.0f %%"):format(x * 100) end

local function table_of(of_function, of_label)
  local list = {
    { title = "", cell = function(_, s) return s.letter end },
    { title = "from", cell = function(_, s) return range.told(s.from) end },
    { title = "to", cell = function(_, s) return range.told(s.to) end },
    { title = of_function and "time" or "CPU",
      cell = function(_, s) return percent(s.share) end },
  }
  if of_function or of_label then return list end
  return table.move({
    { title = "of stretch", rank = 3, optional = true, cell = function(_, s)
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
  }, 1, 4, #list + 1, list)
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
  local stretches, more = cells.stretches(p, grid, math.min(limit, 26),
    of ~= nil or label ~= nil)
  local most = stretches[1]
  table.sort(stretches, order "from")
  page:line(("each column is %s, each cell %s; %s%s: %s none, %s little, %s " ..
    "all of the cell; blank: not recorded, or other programs had the " ..
    "processor"):format(
    short(grid.ns * grid.rows), short(grid.ns),
    row_of and "the time of " .. format.plain(row_of.func.name) or "CPU time",
    label and " under " .. format.plain(label.told) or "",
    ramp:sub(1, 1), ramp:sub(2, 2), ramp:sub(-1)))
  page:gap()
  picture(page, grid, stretches)
  page:gap()
  if #stretches == 0 then page:line "nothing stands out"
  else
    local list = table_of(row_of ~= nil, label ~= nil)
    page:table(list, columns.rows(page, list, stretches))
    if more > 0 then page:rest(("… %d more"):format(more)) end
  end
  return most
end

return heatmap
