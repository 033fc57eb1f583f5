-- The prototypes of a chunk, as `string.dump` of Lua 5.4 writes them.

local byte, unpack = string.byte, string.unpack

local undump = {}

---@class cprof.Prototype
---@field line integer       where it is defined; 0: the main function
---@field last_line integer
---@field code integer[]
---@field lines integer[]    of each instruction; empty: stripped

-- a byte of the line table that stands for an absolute line
local absolute <const> = -0x80

-- what comes before the code of the main function
local header <const> = #"\27Lua" + 2 + #"\x19\x93\r\n\x1a\n" + 3 + 8 + 8 + 1

---The prototypes in the order of the text; nil where the form is another.
---@param chunk function
---@return cprof.Prototype[]?
function undump.prototypes(chunk)
  local s, out = string.dump(chunk), {}
  if s:sub(1, 6) ~= "\27Lua\x54\0" or s:sub(13, 15) ~= "\4\8\8" then
    return nil
  end
  local at = header + 1

  local function varint()
    local n = 0
    repeat
      local b = byte(s, at)
      n, at = n << 7 | b & 0x7f, at + 1
    until b & 0x80 ~= 0
    return n
  end

  local function text()
    local size = varint()
    if size > 0 then at = at + size - 1 end
  end

  local function constants()
    for _ = 1, varint() do
      local kind = byte(s, at)
      at = at + 1
      if kind == 0x03 or kind == 0x13 then at = at + 8
      elseif kind == 0x04 or kind == 0x14 then text()
      end
    end
  end

  local prototype

  local function line_table(p)
    local n = varint()
    local deltas = at
    at = at + n
    local lines, line = {}, p.line
    local known = {}
    for _ = 1, varint() do
      local i = varint()
      known[i] = varint()
    end
    for i = 0, n - 1 do
      local delta = unpack("b", s, deltas + i)
      line = delta == absolute and known[i] or line + delta
      lines[i + 1] = line
    end
    p.lines = lines
  end

  function prototype()
    local p = { code = {} }
    out[#out + 1] = p
    text()
    p.line, p.last_line = varint(), varint()
    at = at + 3
    for i = 1, varint() do
      p.code[i] = unpack("=I4", s, at)
      at = at + 4
    end
    constants()
    local upvalues = varint()
    at = at + 3 * upvalues
    for _ = 1, varint() do prototype() end
    line_table(p)
    for _ = 1, varint() do text() varint() varint() end
    for _ = 1, varint() do text() end
  end

  prototype()
  return at == #s + 1 and out or nil
end

return undump
