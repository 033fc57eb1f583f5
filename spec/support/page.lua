-- Reads a page of cprof html: its parts, and its data.

local json = require "dkjson"

local page = {}

local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" ..
  "0123456789+/"
local value = {}
for i = 1, 64 do value[alphabet:byte(i)] = i - 1 end

---The bytes that Base64 stands for.
function page.bytes(s)
  local out = {}
  for a, b, c, d in s:gmatch "(.)(.)(.)(.)" do
    local n = value[a:byte()] << 18 | value[b:byte()] << 12 |
      (value[c:byte()] or 0) << 6 | (value[d:byte()] or 0)
    local three = string.char(n >> 16, n >> 8 & 255, n & 255)
    out[#out + 1] = d ~= "=" and three or c ~= "=" and three:sub(1, 2) or
      three:sub(1, 1)
  end
  return table.concat(out)
end

---The figures of a column, as the page packs them.
function page.column(s, n)
  local out, at = {}, 1
  for i = 1, n do
    local figure, shift = 0, 0
    repeat
      local byte = s:byte(at)
      figure, shift, at = figure | (byte & 127) << shift, shift + 7, at + 1
    until byte < 128
    out[i] = figure
  end
  assert(at == #s + 1, "a column has all of its bytes")
  return out
end

-- the columns of any tree; those of the header's measures follow
local usual = { "levels", "func", "calls", "self", "cost", "line" }

-- names: of columns, where these are not those of a tree
local function tree(s, at, sizes, measures, names)
  local out = { n = sizes[1] }
  for i = 1, #sizes - 1 do
    local name = (names or usual)[i] or measures[i - #usual]
    out[name] = page.column(s:sub(at, at + sizes[i + 1] - 1), sizes[1])
    at = at + sizes[i + 1]
  end
  return out, at
end

---The header and the trees of a page.
function page.data(text)
  local encoding, data = text:match
    '<script[^>]- data%-encoding="(%l+)"%s*>(.-)</script'
  local s = page.bytes(data)
  if encoding == "gzip" then s = require "zlib".inflate()(s) end
  local size = ("<I4"):unpack(s)
  local header = json.decode(s:sub(5, 4 + size))
  local trees, at = {}, 5 + size
  for i, sizes in ipairs(header.trees) do
    trees[i], at = tree(s, at, sizes, header.measures, header.axis and
      header.axis.columns[tostring(i - 1)])
  end
  assert(at == #s + 1, "the trees are all that follows")
  return header, trees
end

return page
