-- Programs whose profiles must be equal, whether Lua's structures are read or
-- only its public functions are used. lua both_ways.lua NAME prints one.

local profiler = require "cprof"

local function leaf(x) return x end

local programs = {}

function programs.tail_calls()
  local function last(n) return leaf(n) end
  local function down(n)
    if n == 0 then return last(n) end
    return down(n - 1)
  end
  local function others(...) return select("#", ...) end
  for i = 1, 20 do down(i) last(others(i, i)) end
end

local before = coroutine.wrap(function()
  while true do leaf() coroutine.yield() end
end)
local outer = coroutine.create(function(...)
  leaf(...)
  local inner = coroutine.wrap(function() leaf() coroutine.yield(leaf()) end)
  inner()
  coroutine.yield()
  inner()
end)

function programs.coroutines()
  for _ = 1, 10 do before() end
  coroutine.resume(outer, 1)
  before(1, 2)
  coroutine.resume(outer)
  for i = 1, 50 do
    local co = coroutine.create(function(n)
      for _ = 1, n do coroutine.yield(leaf(n)) end
      if n % 5 == 0 then error "stop" end
    end)
    while coroutine.resume(co, i % 7) do end
    if i % 10 == 0 then collectgarbage() end
  end
  local co = coroutine.create(function()
    local o <close> = setmetatable({}, { __close = leaf })
    coroutine.yield(o)
  end)
  coroutine.resume(co)
  coroutine.close(co)
end

function programs.errors()
  local function deep(n)
    local o <close> = setmetatable({}, { __close = leaf })
    if n == 0 then error(o) end
    return (deep(n - 1))
  end
  for i = 1, 20 do
    pcall(deep, i % 4)
    xpcall(deep, function(e) return leaf(e) end, 2)
    pcall(pcall, error)
    pcall(string.rep, "x", -1, {})
    leaf(i)
  end
end

function programs.metamethods()
  local object = setmetatable({}, {
    __index = function(_, k) return leaf(k) end,
    __newindex = function(t, k, v) rawset(t, k, leaf(v)) end,
    __add = function(a) return a end, __call = leaf,
    __lt = function() return true end, __len = function() return leaf(3) end,
    __concat = function() return "" end,
  })
  for i = 1, 20 do
    object[i + 100] = object[i]
    table.pack(object + object, object(i), object < object, #object,
      object .. "")
    for _ in pairs(object) do leaf() end
  end
end

function programs.varargs()
  local function count(...) return select("#", ...) end
  local function pass(...) return count(...), (leaf(...)) end
  for i = 1, 20 do
    pass(table.unpack({ 1, 2, 3, 4, 5 }, 1, i % 6))
    pass(count())
  end
end

-- closures, chunks and their names are collected, and addresses come back
function programs.garbage()
  for i = 1, 3000 do
    local f = function() return i end
    f()
    load(("return function() return %d end"):format(i % 7), "=garbage")()()
    load("return function() end", ("="):rep(60) .. i % 3)()()
    if i % 50 == 0 then collectgarbage(i % 100 == 0 and "collect" or "step") end
  end
  collectgarbage "generational"
  for i = 1, 3000 do
    local name = i % 2 == 0 and "=one" or "=two"
    load(("local a, b = function() return %d end, function() end a() b() b()")
      :format(i % 5), name)()
    local f = function() return i end
    f()
  end
  collectgarbage "incremental"
end

-- functions without a main function, at the addresses of collected ones
function programs.dumped()
  local text = "local f = function() return %s end return f"
  local values = ("x, "):rep(30)
  local f = string.dump(load(text:format(values .. "1"))(), true)
  local g = string.dump(load(text:format(values .. "2"))(), true)
  for i = 1, 600 do
    if i % 3 == 0 then
      local first = load(f)
      first()
    else
      local second = load(g)
      second()
    end
    if i % 4 == 0 then collectgarbage() end
  end
end

-- A script as hosts load it: nobody has seen its main function, and its text is
-- in no file. Functions with its name and lines come and go in memory.
local left, right = load([[
  local a, b = function() return 1 end, function() return 2 end
  return a, b]], "=script")()

function programs.script()
  local f, g = string.dump(left), string.dump(right)
  for i = 1, 300 do
    if i % 3 == 0 then
      local first = load(f)
      for _ = 1, 5 do first() end
    else
      local second = load(g)
      for _ = 1, 5 do second() end
    end
    left() right()
    if i % 2 == 0 then collectgarbage() end
  end
end

-- one text, loaded again and again, whose functions change places
function programs.places()
  local text = "local a, b = function() return 1 end, function() return 2 end"
  for i = 1, 3000 do
    load(text .. " a() b() b()", "=places")()
    if i % 3 == 0 then collectgarbage() end
    if i % 5 == 0 then load(text, "=other")() end
  end
end

function programs.reloaded()
  local text = "local a, b = function() end, function() return 1 end " ..
    "local function c() a() end return function() a() b() b() c() end"
  local first = load(text, "=reloaded")
  local f = first()
  f()
  local second = load(text, "=reloaded")
  local g = second()
  for _ = 1, 10 do f() g() first()() end
  local other = load("\n" .. text, "=reloaded")
  for _ = 1, 10 do other()() f() g() first()() second()() end
end

function programs.one_line()
  local a, b = function() end, function() end
  local c, d = function() leaf() end, function(x) return x end
  for i = 1, 20 do a() b() c() c() d(i) end
  local min = load "local a,b=function()end,function(...)return ...end \z
    local function c(x)return b(x),a()end for i=1,20 do c(i)a()b(i)end"
  for _ = 1, 5 do min() end
  local stripped = load(string.dump(min, true), "=?")
  for i = 1, 5 do stripped() if i == 3 then collectgarbage() end end
end

-- Code that is loaded while nothing is recorded may have the address of freed
-- code. Code of another size is known to be another function.
function programs.paused()
  for i = 1, 200 do
    load(("local a, b = function() return %d end, function() end a() b()")
      :format(i % 3), "=paused")()
    profiler.pause()
    collectgarbage()
    local f, g = load(("return function() return 1, %d end, \z
      function(x) return x, x, x end"):format(i % 4), "=paused")()
    profiler.resume()
    f() g() g()
  end
end

-- Functions of chunks that nobody has seen are told apart by their
-- addresses: which is which differs from run to run, but not their sums.
local unseen = { dumped = "=?", paused = "=paused", script = "=script" }

local function functions(p)
  local calls, lines = {}, {}
  for _, f in ipairs(p.functions) do
    local key = ("%s %s:%d-%d"):format(f.name, f.source:gsub("^.*/", ""),
      f.line, f.last_line)
    if f.source ~= unseen[arg[1]] then key = key .. (" %d:"):format(f.id) end
    calls[key] = (calls[key] or 0) + f.calls
  end
  for key, n in pairs(calls) do lines[#lines + 1] = ("%s %d"):format(key, n) end
  table.sort(lines)
  return lines
end

local function nodes(p)
  local lines = {}
  for _, n in ipairs(p.nodes) do
    local f = p.functions[n.func]
    lines[n.id] = ("%d in %d: %s:%d %d"):format(n.id, n.parent, f.name,
      f.line, n.calls)
  end
  return lines
end

local name, options = arg[1], { mode = arg[2], recursion = arg[3] }
profiler.start(options)
programs[name]()
profiler.stop()
local p = profiler.snapshot()
io.stderr:write(p.meta.internals, "\n")
assert(p.meta.unmatched == 0)
if not unseen[name] then print(table.concat(nodes(p), "\n")) end
print(table.concat(functions(p), "\n"))
