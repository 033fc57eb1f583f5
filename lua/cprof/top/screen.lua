-- The screen as data: each line is a list of runs, which are text with a style.

local format = require "cprof.text.format"

local screen = {}

---@alias cprof.Run { [1]: string, [2]: string? }  text and style

---@class cprof.ScreenLine  its runs, left to right
---@field [integer] cprof.Run
---@field width integer   columns that its runs take
---@field room integer    columns of the screen
---@field style? string   of the whole line, up to the edge
local Line = {}
Line.__index = Line

---@class cprof.Screen
---@field width integer
---@field height integer
---@field lines cprof.ScreenLine[]
local Screen = {}
Screen.__index = Screen

---@param width integer
---@param height integer
---@return cprof.Screen
function screen.new(width, height)
  local self = { width = width, height = height, lines = {} }
  for i = 1, height do
    self.lines[i] = setmetatable({ width = 0, room = width }, Line)
  end
  return setmetatable(self, Screen)
end

---Adds a run on the right, as far as it fits.
---@param text string  without control characters
---@param style? string
---@return cprof.ScreenLine
function Line:add(text, style)
  local left = self.room - self.width
  if format.width(text) > left then text = format.cutend(text, left) end
  if text ~= "" then
    self[#self + 1] = { text, style }
    self.width = self.width + format.width(text)
  end
  return self
end

---Adds spaces up to a column, counted from 0.
---@param column integer
---@return cprof.ScreenLine
function Line:to(column)
  return self:add((" "):rep(math.min(column, self.room) - self.width))
end

---Adds text at the right edge, if there is room for it.
---@param text string
---@param style? string
function Line:right(text, style)
  local at = self.room - format.width(text)
  if at > self.width then self:to(at):add(text, style) end
end

---The text without styles.
---@return string
function Line:text()
  local out = {}
  for i, run in ipairs(self) do out[i] = run[1] end
  return table.concat(out)
end

---The runs of the line. A style of the whole line replaces theirs, and reaches
---up to the edge.
---@return cprof.Run[]
function Line:runs()
  local out = {}
  for i, run in ipairs(self) do
    -- the cursor is one bar
    out[i] = { run[1], self.style or run[2] }
  end
  if self.style and self.width < self.room then
    out[#out + 1] = { (" "):rep(self.room - self.width), self.style }
  end
  return out
end

---The whole screen as text, for output that is not a terminal.
---@return string
function Screen:text()
  local out = {}
  for i, line in ipairs(self.lines) do
    out[i] = line:text():gsub("%s+$", "")
  end
  return (table.concat(out, "\n"):gsub("\n+$", "")) .. "\n"
end

return screen
