-- Base64, also of texts that come in parts.

local alphabet <const> = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" ..
  "abcdefghijklmnopqrstuvwxyz0123456789+/"

-- two characters for twelve bits
local pair = {}
for i = 0, 63 do
  for j = 0, 63 do
    pair[i << 6 | j] = alphabet:sub(i + 1, i + 1) .. alphabet:sub(j + 1, j + 1)
  end
end

-- bytes that are encoded at once: a multiple of three
local block <const> = 3 * 1024

-- Encodes a string, with "=" at the end if its length is not a multiple of
-- three.
local function encoded(s)
  local out, n = {}, 0
  for i = 1, #s - 2, 3 do
    local a, b, c = s:byte(i, i + 2)
    out[n + 1] = pair[a << 4 | b >> 4]
    out[n + 2] = pair[(b & 15) << 8 | c]
    n = n + 2
  end
  local left = #s % 3
  if left > 0 then
    local a, b = s:byte(#s - left + 1, #s)
    out[n + 1] = pair[a << 4 | (b or 0) >> 4]
    local last = pair[((b or 0) & 15) << 8]
    out[n + 2] = (b and last:sub(1, 1) or "=") .. "="
  end
  return table.concat(out)
end

local base64 = {}

---A function that writes bytes as Base64 to `out`.
---@param out fun(s: string)
---@return fun(s?: string)  nil: there are no more bytes
function base64.writer(out)
  local rest = ""
  return function(s)
    if not s then return out(encoded(rest)) end
    s = rest .. s
    local whole = #s - #s % 3
    for i = 1, whole, block do
      out(encoded(s:sub(i, math.min(i + block - 1, whole))))
    end
    rest = s:sub(whole + 1)
  end
end

---@param s string
---@return string
function base64.encode(s) return encoded(s) end

return base64
