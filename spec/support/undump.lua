-- Precompiled code of Lua 5.4 and 5.5, as far as specs must know its form.

local undump = {}

local later <const> = _VERSION ~= "Lua 5.4"

-- bytes before the main function
local header <const> = later and 12 + 5 + 5 + 9 + 9 + 1 or 15 + 8 + 8 + 1

---The code of a chunk without what depends on lines: the instructions, the
---constants and the nesting, but neither line tables nor lines of
---definitions.
---@param chunk function
---@return string
function undump.code(chunk)
  local s, out = string.dump(chunk, true), {}
  local at, kept = header + 1, 1

  -- 7 bits a byte; the eighth bit marks the last byte or, in 5.5, all others
  local function varint()
    local n, last = 0, later and 0 or 0x80
    repeat
      local b = s:byte(at)
      n, at = n << 7 | b & 0x7f, at + 1
    until b & 0x80 == last
    return n
  end

  -- what is from `kept` to `at` belongs to the code, but for what is skipped
  local function skip(read)
    out[#out + 1] = s:sub(kept, at - 1)
    read()
    kept = at
  end

  local function bytes(size)
    return function() at = at + size end
  end

  -- in 5.5, 0 stands for a string that was there before, and the zero at the
  -- end is there, too
  local function text()
    local size = varint()
    if size == 0 and later then varint()
    elseif size > 0 then at = at + size - (later and 0 or 1)
    end
  end

  local function each(read)
    for _ = 1, varint() do read() end
  end

  local function lines()
    varint()
    varint()
  end

  -- code begins at a multiple of its size
  local function align()
    if later then at = (at + 2 & ~3) + 1 end
  end

  local constants = { [0x03] = later and varint or bytes(8),
                      [0x13] = bytes(8), [0x04] = text, [0x14] = text }

  local function constant()
    local kind = s:byte(at)
    at = at + 1
    local read = constants[kind]
    if read then read() end
  end

  local function prototype()
    if not later then text() end
    skip(lines)
    at = at + 3
    local n = varint()
    skip(align)
    at = at + 4 * n
    each(constant)
    each(bytes(3))
    each(prototype)
    if later then text() end
    each(bytes(1))
    each(lines)
    each(function() text() lines() end)
    each(text)
  end

  prototype()
  assert(at == #s + 1, "not the form of Lua 5.4 or 5.5")
  out[#out + 1] = s:sub(kept)
  return table.concat(out)
end

return undump
