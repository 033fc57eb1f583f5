-- Reads the prototypes of a chunk from what `string.dump` writes in Lua 5.4 and
-- 5.5.

local byte, unpack = string.byte, string.unpack

local undump = {}

---@class cprof.Prototype
---@field line integer       where it is defined; 0: the main function
---@field last_line integer
---@field code integer[]
---@field lines integer[]    of each instruction; empty: stripped

-- a byte of the line table that stands for an absolute line
local absolute <const> = -0x80

---@class cprof.Dump
---@field s string
---@field at integer
---@field out cprof.Prototype[]
---@field later boolean      whether it is the format of Lua 5.5
local Dump = {}
Dump.__index = Dump

---@return integer
function Dump:byte()
  self.at = self.at + 1
  return byte(self.s, self.at - 1)
end

-- The eighth bit marks the last group in 5.4, and all other groups in 5.5.
function Dump:varint()
  local n, last = 0, self.later and 0 or 0x80
  repeat
    local b = self:byte()
    n = n << 7 | b & 0x7f
  until b & 0x80 == last
  return n
end

-- In 5.5, the size 0 stands for a string that came before, and strings include
-- their final zero.
function Dump:text()
  local size = self:varint()
  if self.later then
    if size == 0 then self:varint() else self.at = self.at + size end
  elseif size > 0 then self.at = self.at + size - 1 end
end

function Dump:align()
  if self.later then self.at = (self.at + 2 & ~3) + 1 end
end

function Dump:constants()
  for _ = 1, self:varint() do
    local kind = self:byte()
    if kind == 0x03 and self.later then self:varint()
    elseif kind == 0x03 or kind == 0x13 then self.at = self.at + 8
    elseif kind == 0x04 or kind == 0x14 then self:text()
    end
  end
end

-- absolute lines, by instruction from 0
function Dump:known()
  local known, n = {}, self:varint()
  if n > 0 then self:align() end
  for _ = 1, n do
    if self.later then
      local i, line = unpack("=i4i4", self.s, self.at)
      known[i] = line
      self.at = self.at + 8
    else
      local i = self:varint()
      known[i] = self:varint()
    end
  end
  return known
end

function Dump:line_table(p)
  local n = self:varint()
  local deltas, line = self.at, p.line
  self.at = self.at + n
  local known, lines = self:known(), {}
  for i = 0, n - 1 do
    local delta = unpack("b", self.s, deltas + i)
    line = delta == absolute and known[i] or line + delta
    lines[i + 1] = line
  end
  p.lines = lines
end

function Dump:prototype()
  local p = { code = {} }
  self.out[#self.out + 1] = p
  if not self.later then self:text() end
  p.line, p.last_line = self:varint(), self:varint()
  self.at = self.at + 3
  local n = self:varint()
  self:align()
  for i = 1, n do
    p.code[i] = unpack("=I4", self.s, self.at)
    self.at = self.at + 4
  end
  self:constants()
  local upvalues = self:varint()
  self.at = self.at + 3 * upvalues
  for _ = 1, self:varint() do self:prototype() end
  if self.later then self:text() end
  self:line_table(p)
  for _ = 1, self:varint() do
    self:text()
    self:varint()
    self:varint()
  end
  for _ = 1, self:varint() do self:text() end
end

local data <const> = "\x19\x93\r\n\x1a\n"

-- The first bytes of dumps, and the number of bytes before the main function:
-- the header and the number of upvalues.
local forms <const> = {
  { start = "\27Lua\x54\0" .. data .. "\4\8\8", size = 15 + 8 + 8 + 1,
    later = false },
  { start = "\27Lua\x55\0" .. data .. "\4", later = true,
    size = 12 + 1 + 4 + 1 + 4 + 1 + 8 + 1 + 8 + 1 },
}

---The prototypes in the order of the text; nil: the format is not known.
---@param chunk function
---@return cprof.Prototype[]?
function undump.prototypes(chunk)
  local s = string.dump(chunk)
  for _, form in ipairs(forms) do
    if s:sub(1, #form.start) == form.start then
      local dump = setmetatable({ s = s, at = form.size + 1, out = {},
                                  later = form.later }, Dump)
      dump:prototype()
      return dump.at == #s + 1 and dump.out or nil
    end
  end
  return nil
end

return undump
