-- Programs of different kinds, as people write them: each is a function
-- without arguments that does the same work whenever it is called.

local programs = {}

local function add(name, run)
  programs[#programs + 1] = { name = name, run = run }
end

local seed = 1

local function draw(n)
  seed = (seed * 1103515245 + 12345) & 0x7fffffff
  return (seed >> 16) % n + 1
end

local function words(n)
  seed = 1
  local out = {}
  for i = 1, n do
    local letters = {}
    for k = 1, 2 + draw(8) do letters[k] = string.char(96 + draw(26)) end
    out[i] = table.concat(letters)
  end
  return out
end

-- garbage, and recursion over a structure

local function tree(depth)
  if depth == 0 then return { left = false, right = false } end
  return { left = tree(depth - 1), right = tree(depth - 1) }
end

local function count(node)
  if not node.left then return 1 end
  return 1 + count(node.left) + count(node.right)
end

add("binary trees", function()
  for _ = 1, 8 do count(tree(11)) end
end)

-- loops that call now and then

local function safe(columns, row, column)
  for i = 1, row - 1 do
    local other = columns[i]
    if other == column or other - i == column - row or
       other + i == column + row then
      return false
    end
  end
  return true
end

local function place(columns, row, n)
  if row > n then return 1 end
  local found = 0
  for column = 1, n do
    if safe(columns, row, column) then
      columns[row] = column
      found = found + place(columns, row + 1, n)
    end
  end
  return found
end

add("eight queens", function() place({}, 1, 8) end)

-- C that calls Lua

add("sort with a comparison", function()
  local list = words(3000)
  table.sort(list, function(a, b)
    if #a ~= #b then return #a < #b end
    return a < b
  end)
end)

local text = table.concat(words(8000), " ")

add("gsub with a function", function()
  local seen = {}
  text:gsub("%a+", function(word)
    seen[word] = (seen[word] or 0) + 1
    return word:sub(1, 1):upper() .. word:sub(2)
  end)
end)

-- text

add("JSON", function()
  local json = require "dkjson"
  seed = 1
  local list = {}
  for i = 1, 250 do
    list[i] = { id = i, name = "name " .. i, tags = words(4),
                at = { x = draw(1000) / 8, y = draw(1000) } }
  end
  local decoded = json.decode(json.encode(list))
  return #decoded
end)

add("word lengths by pattern", function()
  local lengths = {}
  for word in text:gmatch "%a+" do
    local n = #word
    lengths[n] = lengths[n] or { count = 0, first = word }
    lengths[n].count = lengths[n].count + 1
  end
  local out = {}
  for n, row in pairs(lengths) do
    out[#out + 1] = ("%2d %6d %s"):format(n, row.count, row.first)
  end
  table.sort(out)
  return table.concat(out, "\n")
end)

-- objects with operators

local Vector = {}
Vector.__index = Vector

local function vector(x, y, z)
  return setmetatable({ x = x, y = y, z = z }, Vector)
end

function Vector.__add(a, b) return vector(a.x + b.x, a.y + b.y, a.z + b.z) end
function Vector.__sub(a, b) return vector(a.x - b.x, a.y - b.y, a.z - b.z) end
function Vector.__mul(a, k) return vector(a.x * k, a.y * k, a.z * k) end
function Vector:norm() return self.x ^ 2 + self.y ^ 2 + self.z ^ 2 end

local function step(bodies, dt)
  for i, a in ipairs(bodies) do
    for j = i + 1, #bodies do
      local b = bodies[j]
      local d = b.at - a.at
      local force = d * (dt / (d:norm() + 0.01) ^ 1.5)
      a.speed = a.speed + force * b.mass
      b.speed = b.speed - force * a.mass
    end
  end
  for _, a in ipairs(bodies) do a.at = a.at + a.speed * dt end
end

add("bodies with vectors", function()
  local bodies = {}
  for i = 1, 8 do
    bodies[i] = { at = vector(i, i * i % 5, 8 - i), speed = vector(0, 0, 0),
                  mass = i / 8 }
  end
  for _ = 1, 60 do step(bodies, 0.01) end
end)

-- closures

local function map(list, f)
  local out = {}
  for i, v in ipairs(list) do out[i] = f(v) end
  return out
end

local function filter(list, f)
  local out = {}
  for _, v in ipairs(list) do if f(v) then out[#out + 1] = v end end
  return out
end

local function fold(list, f, x)
  for _, v in ipairs(list) do x = f(x, v) end
  return x
end

add("map, filter, fold", function()
  local list = {}
  for i = 1, 300 do list[i] = i end
  for k = 1, 30 do
    local scaled = map(list, function(v) return v * k end)
    local odd = filter(scaled, function(v) return v % 2 == 1 end)
    fold(odd, function(x, v) return (x + v) % 1000003 end, 0)
  end
end)

-- coroutines

local function lines_of(s)
  return coroutine.wrap(function()
    for line in s:gmatch "[^\n]+" do coroutine.yield(line) end
  end)
end

local function fields_of(source)
  return coroutine.wrap(function()
    for line in source do
      local fields = {}
      for field in line:gmatch "[^,]+" do fields[#fields + 1] = field end
      coroutine.yield(fields)
    end
  end)
end

local sheet
do
  local rows = {}
  for i = 1, 1500 do
    rows[i] = table.concat({ i, i * 7 % 100, "row " .. i, i % 13 }, ",")
  end
  sheet = table.concat(rows, "\n")
end

add("coroutines over a table of text", function()
  local sum = 0
  for fields in fields_of(lines_of(sheet)) do
    sum = sum + tonumber(fields[2]) * tonumber(fields[4])
  end
  return sum
end)

-- errors

local function check(record)
  for _, key in ipairs { "id", "name", "size" } do
    if record[key] == nil then
      error({ code = "missing", key = key, id = record.id })
    end
  end
  if record.size < 0 then error(("size of %d"):format(record.id)) end
  return record.size
end

add("records that are checked", function()
  local bad, sum = 0, 0
  for i = 1, 4000 do
    local record = { id = i, name = "record " .. i }
    if i % 5 ~= 0 then record.size = i % 11 - 1 end
    local ok, size = pcall(check, record)
    if ok then sum = sum + size else bad = bad + 1 end
  end
  return bad, sum
end)

-- an interpreter

local evaluate
local nodes = {
  number = function(node) return node.value end,
  name = function(node, scope) return scope[node.value] end,
  ["+"] = function(node, scope)
    return evaluate(node[1], scope) + evaluate(node[2], scope)
  end,
  ["*"] = function(node, scope)
    return evaluate(node[1], scope) * evaluate(node[2], scope) % 65521
  end,
}

function evaluate(node, scope) return nodes[node.kind](node, scope) end

local function expression(depth)
  if depth == 0 then
    if draw(2) == 1 then return { kind = "number", value = draw(100) } end
    return { kind = "name", value = "x" .. draw(3) }
  end
  return { kind = draw(2) == 1 and "+" or "*", expression(depth - 1),
           expression(depth - draw(depth)) }
end

local formula
do
  seed = 1
  formula = expression(11)
end

add("an interpreter of formulas", function()
  for i = 1, 20 do
    evaluate(formula, { x1 = i, x2 = i * i, x3 = 7 })
  end
end)

-- numbers

add("Mandelbrot set", function()
  local inside = 0
  local function escapes(cx, cy)
    local x, y = 0.0, 0.0
    for _ = 1, 60 do
      x, y = x * x - y * y + cx, 2 * x * y + cy
      if x * x + y * y > 4 then return true end
    end
  end
  for row = 1, 60 do
    for column = 1, 90 do
      if not escapes(column / 30 - 2, row / 30 - 1) then
        inside = inside + 1
      end
    end
  end
  return inside
end)

for _, w in ipairs(require "workloads") do
  if w.real then programs[#programs + 1] = w end
end

return programs
