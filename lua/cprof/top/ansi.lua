-- Draws screens on a terminal, with escape sequences that all terminals
-- know. Only lines that have changed are written.

local core = require "cprof.core"
local format = require "cprof.text.format"
local keys = require "cprof.top.keys"
local terminal = require "cprof.system.terminal"

local ansi = {}

---@class cprof.TopDriver
---@field size fun(self): integer, integer  columns and rows
---@field show fun(self, screen: cprof.Screen)
---@field keys fun(self, seconds: number): string[]?  waits for keys for this
---    time at most; nil: the terminal is gone
---@field close fun(self)
---@field suspend fun(self)
---@field forget fun(self)  makes the next `show` write all lines

local Ansi = {}
Ansi.__index = Ansi

-- enter: to the alternate screen, without cursor and wrapping, with the mouse
-- and where it is dragged; leave: back
local enter <const> = "\27[?1049h\27[?25l\27[?7l\27[?1002h\27[?1006h\27[2J"
local leave <const> =
  "\27[?1006l\27[?1002l\27[0m\27[?7h\27[?25h\27[?1049l"

local plain = { bold = "1", dim = "2", cursor = "7", head = "7", tab = "7",
  key = "1", good = "1", bad = "1" }
local colors = { good = "32", bad = "1;31", key = "1;36", graph = "36",
  head = "30;46", tab = "30;46", cursor = "7" }

local function painter(color)
  local heat = format.paint(color)
  return function(style, text)
    if not style then return text end
    if style:find "^heat" then return heat(style, text) end
    local code = color and colors[style] or plain[style]
    return code and ("\27[%sm%s\27[0m"):format(code, text) or text
  end
end

---@param color boolean
---@return cprof.TopDriver? driver
---@return string? why
function ansi.open(color)
  local ok, why = core.console_open(leave)
  if not ok then return nil, why end
  core.console_write(enter)
  return setmetatable({ paint = painter(color), shown = {}, rest = "" },
    Ansi)
end

function Ansi.size()
  local columns, rows = core.columns()
  return columns or 80, rows or 24
end

function Ansi:show(screen)
  local out = { "\27[?2026h" }  -- draw all at once, if supported
  if screen.width ~= self.width or screen.height ~= self.height then
    self.shown, self.width, self.height = {}, screen.width, screen.height
    out[#out + 1] = "\27[2J"
  end
  for i, line in ipairs(screen.lines) do
    local runs = {}
    for k, run in ipairs(line:runs()) do
      runs[k] = self.paint(run[2], terminal.encode(run[1]))
    end
    local text = table.concat(runs)
    if text ~= self.shown[i] then
      self.shown[i] = text
      -- after a full line, this would erase its last column
      local rest = line.width < line.room and not line.style and "\27[K"
      out[#out + 1] = ("\27[%d;1H%s%s"):format(i, text, rest or "")
    end
  end
  out[#out + 1] = "\27[?2026l"
  if #out > 2 then core.console_write(table.concat(out)) end
end

function Ansi:keys(seconds)
  local bytes = core.console_keys(seconds)
  if not bytes then return nil end
  local list
  list, self.rest = keys.decode(self.rest .. bytes)
  return list
end

function Ansi:forget() self.shown, self.width = {}, nil end

function Ansi.close() core.console_close() end

function Ansi:suspend()
  core.console_close()
  core.console_suspend()
  core.console_open(leave)
  core.console_write(enter)
  self:forget()
end

return ansi
