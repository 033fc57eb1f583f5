-- Trees as bytes: each column on its own, so that it compresses well. A figure
-- takes seven bits of each byte, the lowest first; the highest bit says that
-- more follow. Nodes are in the order of a walk, callers before callees. Each
-- tells how many levels it is above the deepest place that it could have.

local core = require "cprof.core"

local pack = {}

local char = string.char

local short = {}
for i = 0, 127 do short[i] = char(i) end
local middle = {}  -- figures of two bytes that were encoded before

local function long(figure)
  local out, n = "", figure
  while n > 127 do
    out = out .. char(n & 127 | 128)
    n = n >> 7
  end
  out = out .. char(n)
  if figure < 16384 then middle[figure] = out end
  return out
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

---Columns of figures as bytes.
---@param columns integer[][]
---@return { n: integer, columns: string[] }
function pack.columns(columns)
  local out = { n = #columns[1], columns = {} }
  for i, figures in ipairs(columns) do
    local put, get = pack.column()
    for _, figure in ipairs(figures) do put(figure) end
    out.columns[i] = get()
  end
  return out
end

-- columns of any tree
local usual <const> = 6

-- a function that puts a node's other measures in the columns after these;
-- estimates may be below 0
local function others(nodes, measures, put)
  local peak
  for _, row in ipairs(measures) do
    peak = peak or row.figure == "peak" and core.measured(nodes, "peak")
  end
  return function(id, figures)
    if peak then figures.peak = select(5, core.node(peak, id)) end
    for i, row in ipairs(measures) do
      put[usual + i](math.max(figures[row.figure], 0))
    end
  end
end

---The columns of a tree: levels, functions, calls or samples, self, the
---overhead taken out of self, line of the call, and those of memory.
---@param nodes cprof.Node[]
---@param index table<integer, integer>  function -> its number in the page
---@param samples? boolean  whether samples take the place of calls
---@param measures? cprof.Measure[]  besides the profile's own
---@return { n: integer, columns: string[] }
function pack.tree(nodes, index, samples, measures)
  local put, get = {}, {}
  for i = 1, usual + (measures and #measures or 0) do
    put[i], get[i] = pack.column()
  end
  local levels, functions, calls, selves, costs, lines = table.unpack(put)
  local put_others = measures and measures[1] and others(nodes, measures, put)
  local n, last = 0, -1
  for id, depth, func, line, count, own, _, raw, allocs, bytes, _, live,
    wait in core.walk(nodes) do
    levels(last + 1 - depth)
    functions(index[func])
    calls(samples and raw or count)
    -- an estimate of overhead never takes more than there is
    selves(own > 0 and own or 0)
    costs(not samples and raw > own and raw - own or 0)
    lines(line)
    if put_others then
      put_others(id, { cpu = own - wait, wait = wait, bytes = bytes,
        allocs = allocs, live = live })
    end
    n, last = n + 1, depth
  end
  for i = 1, #put do put[i] = get[i]() end
  return { n = n, columns = put }
end

return pack
