-- What the recorder is measured on. Each workload is a function without
-- arguments that does the same work whenever it is called.

local workloads = {}

local function add(name, run, more)
  local workload = { name = name, run = run }
  for key, value in pairs(more or {}) do workload[key] = value end
  workloads[#workloads + 1] = workload
end

local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

add("recursion", function() fib(23) end)

local function one() end
local function two() end
local function three() end

add("flat calls", function()
  for _ = 1, 30000 do one() two() three() end
end)

-- so many that some share a place in a cache of the recorder
local many = {}
for i = 1, 64 do
  many[i] = load(("return function(x) return x + %d end"):format(i))()
end

add("64 functions by turns", function()
  for _ = 1, 1400 do
    for i = 1, #many do many[i](i) end
  end
end)

-- A script as hosts load it: its text is in no file, and its main function has
-- run before recording begins.
local loaded = load([[
  local function one() end
  local function two() end
  local function three() end
  return function()
    for _ = 1, 30000 do one() two() three() end
  end
]], "=script of a host")()

add("text in no file", loaded)

local Account = {}
Account.__index = Account
function Account:deposit(v) self.balance = self.balance + v end
function Account:get() return self.balance end
local account = setmetatable({ balance = 0 }, Account)

add("methods", function()
  for i = 1, 40000 do account:deposit(i) account:get() end
end)

local function last(n) return n end
local function second(n) return last(n) end
local function first(n) return second(n) end

add("tail calls", function()
  for i = 1, 20000 do first(i) end
end)

add("C string functions", function()
  local text = "the quick brown fox"
  for i = 1, 15000 do
    text:sub(1, 5) text:byte(i % 19 + 1) text:upper() text:find("fox", 1, true)
    text:rep(2)
  end
end)

add("closures", function()
  for i = 1, 60000 do
    local f = function() return i end
    f()
  end
end)

add("closures on a line", function()
  for i = 1, 1200 do
    local f, g = function() return i end, function() return -i end
    for _ = 1, 25 do f() g() end
  end
end)

add("coroutine switches", function()
  local co = coroutine.wrap(function()
    for i = 1, 40000 do coroutine.yield(i) end
  end)
  for _ = 1, 40000 do co() end
end)

local function bad() error("bad", 0) end

add("errors in pcall", function()
  for _ = 1, 20000 do pcall(bad) end
end)

local function deep(n)
  if n > 0 then return 1 + deep(n - 1) end
  return 0
end

add("deep recursion", function()
  for _ = 1, 10 do deep(15000) end
end, { depth = 15000 })

-- A recursive descent over a text without end: which rule follows which
-- is drawn from a generator of its own, so that it is the same each time.
local function descent()
  local seed, left = 42, 2400000
  local function draw(n)
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return (seed >> 16) % n
  end
  local expression, term, factor, unary, call, index, list, primary, block
  local function go(depth)
    left = left - 1
    return left > 0 and depth < 22
  end
  function expression(d)
    if not go(d) then return end
    term(d + 1)
    if draw(2) == 0 then term(d + 1) end
  end
  function term(d)
    if not go(d) then return end
    factor(d + 1)
    if draw(3) == 0 then factor(d + 1) end
  end
  function factor(d)
    if not go(d) then return end
    if draw(3) == 0 then unary(d + 1) else primary(d + 1) end
  end
  function unary(d)
    if not go(d) then return end
    if draw(2) == 0 then factor(d + 1) else call(d + 1) end
  end
  function call(d)
    if not go(d) then return end
    primary(d + 1)
    list(d + 1)
  end
  function index(d)
    if not go(d) then return end
    primary(d + 1)
    expression(d + 1)
  end
  function list(d)
    if not go(d) then return end
    for _ = 1, draw(3) do expression(d + 1) end
  end
  function primary(d)
    if not go(d) then return end
    local which = draw(6)
    if which == 0 then expression(d + 1)
    elseif which == 1 then call(d + 1)
    elseif which == 2 then index(d + 1)
    elseif which == 3 then block(d + 1) end
  end
  function block(d)
    if not go(d) then return end
    for _ = 1, draw(4) do expression(d + 1) end
  end
  while left > 0 do block(0) end
end

add("400,000 states", descent,
  { rounds = 9, options = { recursion = "full" } })
add("400,000 states, folded", descent,
  { rounds = 9, options = { recursion = "fold" } })

-- A real program: luacheck over the sources of Penlight.
local function lint()
  local luacheck = require "luacheck"
  local found = assert(package.searchpath("pl.utils", package.path))
  local list = io.popen(("ls %s*.lua"):format(found:match "^(.*/)"))
  local files = {}
  for path in list:lines() do files[#files + 1] = path end
  list:close()
  luacheck(files)
end

add("luacheck over Penlight", lint,
  { rounds = 9, real = true,
    some = { "luacheck/core_utils", "luacheck/utils" } })

-- A real program: ldoc, the whole command, makes pages about the sources of
-- Penlight. It reads them with a lexer and a parser of its own.
-- luacheck: push ignore 121 122
local function document()
  local sources = package.searchpath("pl.utils", package.path):match "^(.*)/"
  local before, print_before, exit, stderr = arg, print, os.exit, io.stderr
  local left = {}
  local function quiet() end
  os.exit = function() error(left, 0) end
  io.stderr = { write = quiet }
  print = quiet
  arg = { [0] = "ldoc", "--quiet", "--dir",
          (os.getenv "CPROF_BUILD" or "build") .. "/ldoc", sources }
  local ok, e = pcall(assert(loadfile "/usr/bin/ldoc"), table.unpack(arg))
  os.exit, io.stderr, print, arg = exit, stderr, print_before, before
  if not ok and e ~= left then error(e, 0) end
end
-- luacheck: pop

add("ldoc over Penlight", document, { rounds = 9, real = true })

-- What mode "line" is measured on: a loop without calls, and workloads from
-- above.
workloads.lines = {
  { name = "arithmetic loop", run = function()
    local x = 0
    for i = 1, 400000 do
      x = x + i
      x = x % 1000003
    end
    return x
  end },
}
for _, w in ipairs(workloads) do
  local folded = w.options and w.options.recursion == "fold"
  if not folded then table.insert(workloads.lines, w) end
end

return workloads
