-- A terminal by way of curses, where the library lcurses is installed: for
-- terminals that do not know the usual sequences. Keys and signals are as
-- without it.

local ansi = require "cprof.top.ansi"
local core = require "cprof.core"
local terminal = require "cprof.system.terminal"

local curses = {}

local Curses = setmetatable({}, { __index = ansi.methods })
Curses.__index = Curses

-- heat, from cold to hot, where there are 256 colours and where there are
-- fewer
local many <const> = { 102, 137, 136, 172, 208, 202, 196, 196 }
local few <const> = { 4, 6, 2, 3, 3, 5, 1, 1 }

-- style -> colour; and what else
local colors = { good = 2, bad = 1, key = 6, graph = 6 }
local others = { bold = "A_BOLD", dim = "A_DIM", cursor = "A_REVERSE",
  head = "A_REVERSE", tab = "A_REVERSE", key = "A_BOLD", bad = "A_BOLD",
  good = "A_BOLD", heat8 = "A_BOLD" }

local function attributes(lib, color)
  local out, pair = {}, 0
  local function add(style, foreground)
    pair = pair + 1
    lib.init_pair(pair, foreground, -1)
    out[style] = lib.color_pair(pair)
  end
  if color and lib.has_colors() then
    lib.start_color()
    lib.use_default_colors()
    for style, foreground in pairs(colors) do add(style, foreground) end
    for i, foreground in ipairs(lib.colors() >= 256 and many or few) do
      add("heat" .. i, foreground)
    end
  end
  for style, name in pairs(others) do
    if not color or not style:find "^heat" or out[style] then
      out[style] = (out[style] or 0) | lib[name]
    end
  end
  return out
end

local function begin(self)
  local lib = self.lib
  self.screen = lib.initscr()
  lib.raw(true)
  lib.echo(false)
  lib.curs_set(0)
  self.screen:leaveok(true)
  self.attributes = attributes(lib, self.color)
end

---@param color boolean
---@return cprof.TopDriver? driver
---@return string? why
function curses.open(color)
  local found, lib = pcall(require, "curses")
  if not found or not lib.initscr then
    return nil, "the library lcurses is not installed for " .. _VERSION
  end
  os.setlocale("", "ctype")
  local ok, why = core.console_open(ansi.leave)
  if not ok then return nil, why end
  local self = setmetatable({ lib = lib, color = color, rest = "" }, Curses)
  begin(self)
  return self
end

function Curses:show(screen)
  local lib, on = self.lib, self.screen
  if screen.width ~= self.width or screen.height ~= self.height then
    self.width, self.height = screen.width, screen.height
    if lib.resizeterm then lib.resizeterm(screen.height, screen.width) end
    on:clear()
  end
  for i, line in ipairs(screen.lines) do
    on:move(i - 1, 0)
    on:attrset(lib.A_NORMAL)
    on:clrtoeol()
    for _, run in ipairs(line:runs()) do
      on:attrset(self.attributes[run[2]] or lib.A_NORMAL)
      on:addstr(terminal.encode(run[1]))
    end
  end
  on:refresh()
end

function Curses:forget() self.width = nil end

function Curses:close()
  self.lib.endwin()
  core.console_close()
end

function Curses:suspend()
  self:close()
  core.console_suspend()
  core.console_open(ansi.leave)
  begin(self)
  self:forget()
end

return curses
