-- Precompiled code of Lua 5.4, as far as specs must know its form.

local undump = {}

---The code of a chunk without what depends on lines: the instructions, the
---constants and the nesting, but neither line tables nor lines of
---definitions.
---@param chunk function
---@return string
function undump.code(chunk)
  local s, out = string.dump(chunk, true), {}
  local at, kept = 33, 1  -- after the header

  local function varint()
    local n = 0
    repeat
      local b = s:byte(at)
      n, at = n << 7 | b & 0x7f, at + 1
    until b & 0x80 ~= 0
    return n
  end

  local function text()
    local size = varint()
    if size > 0 then at = at + size - 1 end
  end

  local function each(read)
    for _ = 1, varint() do read() end
  end

  local function skip(size)
    return function() at = at + size end
  end

  local constants = { [0x03] = skip(8), [0x13] = skip(8), [0x04] = text,
                      [0x14] = text }

  local function constant()
    local kind = s:byte(at)
    at = at + 1
    local read = constants[kind]
    if read then read() end
  end

  local function prototype()
    text()
    out[#out + 1] = s:sub(kept, at - 1)
    varint()  -- the lines of the definition
    varint()
    kept = at
    at = at + 3
    each(skip(4))
    each(constant)
    each(skip(3))
    each(prototype)
    each(skip(1))
    each(function() varint() varint() end)
    each(function() text() varint() varint() end)
    each(text)
  end

  prototype()
  assert(at == #s + 1, "not the form of Lua 5.4")
  out[#out + 1] = s:sub(kept)
  return table.concat(out)
end

return undump
