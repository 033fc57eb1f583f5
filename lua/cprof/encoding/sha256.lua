-- SHA-256, for the page's policy, which names the scripts and styles that may
-- run by their hashes.

-- The first 32 bits after the binary point.
local function fraction(root)
  return math.floor((root - math.floor(root)) * 2.0 ^ 32)
end

-- fractions of the square roots of the first 8 primes, and of the cube roots
-- of the first 64
local start, constants = {}, {}
do
  local n = 2
  while #constants < 64 do
    local prime = true
    for d = 2, math.floor(n ^ 0.5) do prime = prime and n % d ~= 0 end
    if prime then
      if #start < 8 then start[#start + 1] = fraction(n ^ 0.5) end
      constants[#constants + 1] = fraction(n ^ (1 / 3))
    end
    n = n + 1
  end
end

-- Adds a block to the hash `h`; `w` is the block, extended to 64 words.
local function add_block(h, w)
  local a, b, c, d, e, f, g, k = table.unpack(h)
  for i = 1, 64 do
    -- with a word in both halves of 64 bits, a shift rotates the lower half
    local ee, aa = e | e << 32, a | a << 32
    local s1 = (ee >> 6 ~ ee >> 11 ~ ee >> 25) & 0xffffffff
    local t1 = k + s1 + (e & f ~ ~e & g) + constants[i] + w[i]
    local s0 = (aa >> 2 ~ aa >> 13 ~ aa >> 22) & 0xffffffff
    local t2 = s0 + (a & b ~ a & c ~ b & c)
    k, g, f, e = g, f, e, d + t1 & 0xffffffff
    d, c, b, a = c, b, a, t1 + t2 & 0xffffffff
  end
  for i, x in ipairs { a, b, c, d, e, f, g, k } do
    h[i] = h[i] + x & 0xffffffff
  end
end

---The hash of a string, as 32 bytes.
---@param s string
---@return string
return function(s)
  local h = table.move(start, 1, 8, 1, {})
  local bits = #s * 8
  s = s .. "\x80" .. ("\0"):rep((55 - #s) % 64) .. (">I8"):pack(bits)
  for at = 1, #s, 64 do
    local w = { (">I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4"):unpack(s, at) }
    for i = 17, 64 do
      local x, y = w[i - 15], w[i - 2]
      local xx, yy = x | x << 32, y | y << 32
      local s0 = (xx >> 7 ~ xx >> 18) & 0xffffffff ~ x >> 3
      local s1 = (yy >> 17 ~ yy >> 19) & 0xffffffff ~ y >> 10
      w[i] = w[i - 16] + s0 + w[i - 7] + s1 & 0xffffffff
    end
    add_block(h, w)
  end
  return (">I4I4I4I4I4I4I4I4"):pack(table.unpack(h))
end
