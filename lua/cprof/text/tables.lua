-- Tables whose columns fit a width.

local format = require "cprof.text.format"

local tables = {}

---@class cprof.Column
---@field title string
---@field left? boolean   aligned to the left
---@field least? integer  may be cut to this when lines get too long
---@field tight? integer  may be cut to this when nothing else makes lines short
---    enough; default: 8
---@field alone? string   the title if the column before it is left out
---@field cut? fun(s: string, width: integer): string  how to cut; default: in
---    the middle
---@field optional? boolean  left out where all of its cells are empty
---@field first_out? boolean  narrowed, then left out, before other columns are
---    cut
---@field rank? integer      left out before other columns are cut to less than
---    their `least`; the column with the highest rank first
---@field spare? boolean  left out when nothing else makes lines short enough
---@field names? boolean   whether it has names: lines below rows begin there
---@field code? boolean   a name or a place, which Markdown shows as code

local function text_of(cell)
  if type(cell) == "table" then return cell[1], cell[2], cell[3] end
  return cell, nil, nil
end

---The indices of the columns to show: optional columns need a filled cell.
---@param columns cprof.Column[]
---@param rows table[]
---@return integer[]
function tables.used(columns, rows)
  local out = {}
  for i, column in ipairs(columns) do
    local used = not column.optional
    for _, row in ipairs(rows) do
      if used then break end
      local s = text_of(row[i])
      used = s ~= "" and s ~= "-"
    end
    if used then out[#out + 1] = i end
  end
  return out
end

-- the minimum width of a column when there is hardly any room
local stub <const> = 8

-- the titles of the used columns
local function titles_of(columns, used)
  local titles, last = {}, 0
  for _, i in ipairs(used) do
    titles[i] = last ~= i - 1 and columns[i].alone or columns[i].title
    last = i
  end
  return titles
end

-- the uncut widths of these columns, and by how much their sum is too wide
local function natural(columns, rows, used, width)
  local widths, over = {}, -2 - width
  local titles = titles_of(columns, used)
  for _, i in ipairs(used) do
    widths[i] = format.width(titles[i])
    for _, row in ipairs(rows) do
      local n = format.width((text_of(row[i])))
      if n > widths[i] then widths[i] = n end
    end
    over = over + widths[i] + 2
  end
  return widths, over
end

-- Removes the columns of the highest rank; false: no column has a rank.
local function leave_out(columns, used)
  local highest = 0
  for _, i in ipairs(used) do
    highest = math.max(highest, columns[i].rank or 0)
  end
  for k = #used, 1, -1 do
    if highest > 0 and columns[used[k]].rank == highest then
      table.remove(used, k)
    end
  end
  return highest > 0
end

-- Removes the first column that can be spared; false: there is none.
local function spare(columns, used)
  for k, i in ipairs(used) do
    if columns[i].spare then return table.remove(used, k) end
  end
  return false
end

-- Makes columns fit the width, last column first: those with `first_out` are
-- narrowed, then removed; others are narrowed to their `least`; columns with a
-- rank are removed, highest first; then others are narrowed to a stub; at last,
-- columns that can be spared are removed.
local function fit(columns, rows, used, width)
  local widths, over = natural(columns, rows, used, width)
  local function narrow(least_of)
    for k = #used, 1, -1 do
      local i = used[k]
      local least = least_of(columns[i])
      if least and over > 0 and widths[i] > least then
        local less = math.min(over, widths[i] - least)
        widths[i], over = widths[i] - less, over - less
      end
    end
  end
  narrow(function(column) return column.first_out and column.least end)
  for k = #used, 1, -1 do
    if over > 0 and columns[used[k]].first_out then
      over = over - widths[used[k]] - 2
      table.remove(used, k)
    end
  end
  narrow(function(column) return column.least end)
  if over > 0 and leave_out(columns, used) then
    return fit(columns, rows, used, width)  -- the others have more room now
  end
  narrow(function(column) return column.least and (column.tight or stub) end)
  if over > 0 and spare(columns, used) then
    return fit(columns, rows, used, width)
  end
  return widths
end

-- the cell's text in its column; the text alone leads to the address
local function padded(pad, cell, width, address)
  local out = pad(cell, width)
  if not address then return out end
  local from, to = out:find(cell, 1, true)
  return out:sub(1, from - 1) .. format.linked(cell, address) .. out:sub(to + 1)
end

-- the least columns for a line below a row
local narrow <const> = 30

---Lines of a table, all columns aligned. A cell is a string, or a table
---{ text, style, address of a link }. A row may have a line of text below it.
---@param columns cprof.Column[]
---@param rows table[]
---@param width integer  math.huge: no limit
---@param paint cprof.Paint
---@return string[]
function tables.lines(columns, rows, width, paint)
  local used = tables.used(columns, rows)
  local widths = fit(columns, rows, used, width)
  local function line(cells, head)
    local out = {}
    for _, i in ipairs(used) do
      local column = columns[i]
      local cell, style, address = text_of(cells[i])
      cell = (column.cut or format.cut)(cell, widths[i])
      local pad = column.left and format.left or format.right
      out[#out + 1] = paint(head and "bold" or style,
        padded(pad, cell, widths[i], address))
    end
    -- "%s+$" would try each space of a wide row
    return table.concat(out, "  "):match "^.*%S" or ""
  end
  local lines = { line(titles_of(columns, used), true) }
  local indent = 0
  for _, i in ipairs(used) do
    if columns[i].names then break end
    indent = indent + widths[i] + 2
  end
  if width - indent < narrow then indent = 2 end
  for _, row in ipairs(rows) do
    lines[#lines + 1] = line(row)
    if row.below then
      -- a long line begins further left, rather than being cut
      local room = width - format.width(row.below)
      local at = math.max(math.min(indent, room), 2)
      lines[#lines + 1] = paint("dim", (" "):rep(at) ..
        format.cutend(row.below, width - at))
    end
  end
  return lines
end

return tables
