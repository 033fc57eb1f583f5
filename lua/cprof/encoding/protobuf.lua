-- Fields of Protocol Buffers: each is a string, and a message is its fields,
-- one after the other.

local protobuf = {}

local char = string.char

---A number, 7 bits in a byte, the lowest ones first.
---@param n integer
---@return string
local function varint(n)
  if n & ~0x7F == 0 then return char(n) end
  if n & ~0x3FFF == 0 then return char(n & 0x7F | 0x80, n >> 7) end
  return char(n & 0x7F | 0x80, n >> 7 & 0x7F | 0x80) .. varint(n >> 14)
end
protobuf.varint = varint

---A field with a number.
---@param field integer
---@param n integer
---@return string
function protobuf.number(field, n)
  return varint(field << 3) .. varint(n)
end

---A field with a text, or with a message.
---@param field integer
---@param s string
---@return string
function protobuf.bytes(field, s)
  return varint(field << 3 | 2) .. varint(#s) .. s
end

return protobuf
