-- Reads messages of Protocol Buffers.

local message = {}

---A number, and where what follows it begins.
---@param s string
---@param at integer
function message.varint(s, at)
  local n, shift = 0, 0
  while true do
    local byte = s:byte(at)
    n, at, shift = n | (byte & 0x7F) << shift, at + 1, shift + 7
    if byte < 0x80 then return n, at end
  end
end

---Calls f(field, value) for each field of a message.
---@param s string
---@param f fun(field: integer, value: integer|string)
function message.each(s, f)
  local at = 1
  while at <= #s do
    local key, value
    key, at = message.varint(s, at)
    value, at = message.varint(s, at)
    if key & 7 == 2 then
      value, at = s:sub(at, at + value - 1), at + value
    else
      assert(key & 7 == 0, "no such wire type here")
    end
    f(key >> 3, value)
  end
end

return message
