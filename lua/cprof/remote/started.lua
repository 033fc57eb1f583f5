-- How the program of a core file was started: the words of its command line,
-- and the folder. The system puts these on the stack, below the vector of
-- numbers for the program's loader, of which the core file has a copy.

local started = {}

-- the key of a number in that vector: the address of the program's path, which
-- is after all words
local path <const> = 31

-- bytes at the end of a stack that may have words; bytes of an address
local most <const>, word <const> = 1 << 23, 8

-- The numbers of the vector up to its end, as they are in memory, and the
-- address of the program's path; nil: there is none.
local function numbers(vector)
  local found
  for at = 1, #vector - 15, 16 do
    local key, value = ("<i8i8"):unpack(vector, at)
    if key == path then found = value end
    if key == 0 then return vector:sub(1, at + 15), found end
  end
end

-- The text at the end of the segment that has an address, and the address where
-- the text begins.
local function stack_of(file, segments, address)
  for i = 1, #segments, 3 do
    local from, to, offset = table.unpack(segments, i, i + 2)
    if address >= from and address < to then
      local size = math.min(to - from, most)
      file:seek("set", offset + (to - from) - size)
      return file:read(size) or "", to - size
    end
  end
end

-- Addresses before a place in the text, in their order, up to a 0 or to their
-- own number; and the place where they begin.
local function before(text, at)
  local out, count = {}, 0
  while at > word do
    local value = ("<i8"):unpack(text, at - word)
    if value == 0 or value == count then break end
    count, at = count + 1, at - word
    out[count] = value
  end
  for i = 1, count // 2 do
    out[i], out[count + 1 - i] = out[count + 1 - i], out[i]
  end
  return out, at
end

local function texts(text, from, addresses)
  local out = {}
  for i, address in ipairs(addresses) do
    local at = address - from + 1
    local stop = at >= 1 and text:find("\0", at, true)
    if not stop then return {} end
    out[i] = text:sub(at, stop - 1)
  end
  return out
end

---@param file file*          the core file
---@param segments integer[]  from, to, and where in the file, of each
---@param vector string       the numbers for the loader
---@return string? command    nil: not known
---@return string? folder     where it was started, as its environment says
function started.of(file, segments, vector)
  local whole, address = numbers(vector)
  local text, from = stack_of(file, segments, address or 0)
  local at = text and text:find(whole, 1, true)
  if not at then return nil end
  local variables, first = before(text, at - word)
  local words = texts(text, from, (before(text, first - word)))
  local folder
  for _, variable in ipairs(texts(text, from, variables)) do
    folder = folder or variable:match "^PWD=(/.*)$"
  end
  local command = table.concat(words, " ")
  return command ~= "" and command or nil, folder
end

return started
