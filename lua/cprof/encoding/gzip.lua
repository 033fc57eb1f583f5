-- gzip, by the library lua-zlib. If that is missing, nothing is compressed.

local gzip = {}

-- 15: the largest window; 16: the format is gzip
local window <const> = 15 + 16

-- Is it lua-zlib? Other libraries have this name, too.
local function usable(zlib)
  local ok, bytes = pcall(function()
    return zlib.deflate(6, window)("", "finish")
  end)
  return ok and type(bytes) == "string" and bytes:sub(1, 2) == "\x1f\x8b"
end

local found, zlib = pcall(require, "zlib")
gzip.available = found and usable(zlib)

---A function that writes bytes to `out`, compressed if gzip is available.
---@param out fun(s: string)
---@return fun(s?: string)  nil: there are no more bytes
function gzip.writer(out)
  if not gzip.available then
    return function(s) if s then out(s) end end
  end
  local deflate = zlib.deflate(6, window)
  return function(s)
    local bytes = s and deflate(s) or not s and deflate("", "finish")
    if bytes ~= "" then out(bytes) end
  end
end

local function crc_table()
  local out = {}
  for i = 0, 255 do
    local n = i
    for _ = 1, 8 do
      n = n & 1 == 1 and 0xEDB88320 ~ n >> 1 or n >> 1
    end
    out[i] = n
  end
  return out
end

-- most bytes in a block that is not compressed
local block <const> = 65535

---The checksum of bytes that gzip, and others, use.
---@param s string
---@return integer
function gzip.sum(s)
  local known, crc = crc_table(), 0xFFFFFFFF
  for i = 1, #s do crc = known[(crc ~ s:byte(i)) & 255] ~ crc >> 8 end
  return crc ~ 0xFFFFFFFF
end

---Bytes in the gzip format, not compressed. Needs no library.
---@param s string
---@return string
function gzip.stored(s)
  local out = { "\x1f\x8b\8\0\0\0\0\0\0\xff" }
  for at = 1, math.max(#s, 1), block do
    local part = s:sub(at, at + block - 1)
    local last = at + block > #s and 1 or 0
    out[#out + 1] = string.pack("<BI2I2", last, #part, ~#part & 0xFFFF)
    out[#out + 1] = part
  end
  out[#out + 1] = string.pack("<I4I4", gzip.sum(s), #s & 0xFFFFFFFF)
  return table.concat(out)
end

return gzip
