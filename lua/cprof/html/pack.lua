-- Trees as bytes: each column on its own, so that it compresses well. A
-- figure takes seven bits of each byte, the lowest first; the highest bit
-- says that more follow. Nodes stand in the order of a walk, callers before
-- callees, and say how many levels each is above the deepest place that it
-- could have.

local core = require "cprof.core"

local pack = {}

local char = string.char

local short = {}
for i = 0, 127 do short[i] = char(i) end
local middle = {}
for i = 128, 16383 do middle[i] = char(i & 127 | 128, i >> 7) end

local function long(n)
  local out = ""
  while n > 127 do
    out = out .. char(n & 127 | 128)
    n = n >> 7
  end
  return out .. char(n)
end

---A figure as bytes.
---@param n integer  from 0
---@return string
function pack.figure(n) return short[n] or middle[n] or long(n) end

-- bytes that are joined at once
local many <const> = 8192

---A column: a function that adds a figure, and one that gives its bytes.
---@return fun(figure: integer) put
---@return fun(): string get
function pack.column()
  local parts, buffer, n = {}, {}, 0
  local function flush()
    parts[#parts + 1] = table.concat(buffer, "", 1, n)
    n = 0
  end
  return function(figure)
    n = n + 1
    buffer[n] = short[figure] or middle[figure] or long(figure)
    if n == many then flush() end
  end, function()
    flush()
    return table.concat(parts)
  end
end

---The columns of a tree: levels, functions, calls or samples, self.
---@param nodes cprof.Node[]
---@param index table<integer, integer>  function -> its number in the page
---@param samples? boolean  are these in the place of calls?
---@return { n: integer, columns: string[] }
function pack.tree(nodes, index, samples)
  local put, get = {}, {}
  for i = 1, 4 do put[i], get[i] = pack.column() end
  local levels, functions, calls, selves = table.unpack(put)
  local n, last = 0, -1
  for _, depth, func, _, count, self_ns, _, raw in core.walk(nodes) do
    levels(last + 1 - depth)
    functions(index[func])
    calls(samples and raw or count)
    -- an estimate of overhead never takes more than there is
    selves(self_ns > 0 and self_ns or 0)
    n, last = n + 1, depth
  end
  for i = 1, 4 do put[i] = get[i]() end
  return { n = n, columns = put }
end

return pack
