local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local profiler = require "cprof"

-- Chunks give a list of functions. Each of them is called another power of
-- two times, so that the calls of a function in the profile tell which of
-- them it stands for. 'same' has the number of a definition for each; nil:
-- each is one of its own.
local shapes = {
  ["a nested one"] = {
    "local a = function() return function() return 1 end end " ..
    "return { a, a() }" },
  ["a local one that is nested"] = {
    "local function outer() return function() return 1 end end " ..
    "return { outer, outer() }" },
  ["three levels"] = {
    "local a = function() return function() return function() " ..
    "return 1 end end end return { a, a(), a()() }",
    same = { 1, 2, 3 } },
  ["equal ones"] = {
    "return { function() return 1 end, function() return 1 end, " ..
    "function() return 1 end }" },
  ["empty ones"] = { "return { function() end, function() end }" },
  ["equal ones that are nested"] = {
    "local a, b = function() return function() end end, " ..
    "function() return function() end end return { a, b, a(), b() }" },
  ["equal ones in others that differ"] = {
    "local a, b = function() return function() end end, " ..
    "function(x) return function() end, x end return { a, b, a(), (b()) }" },
  ["equal ones at two levels"] = {
    "local a = function() return function() end, function() return " ..
    "function() end end end local b, c = a() return { a, b, c, c() }" },
  ["with other upvalues"] = {
    "local x, y = 1, 2 return { function() return x end, " ..
    "function() return y end, function() return x, y end }" },
  ["with other constants"] = {
    "return { function() return 1 end, function() return 2 end, " ..
    "function() return 'x' end, function() return 1.0 end }" },
  ["vararg ones"] = {
    "local a = function(...) return function(...) return ... end end " ..
    "return { a, a(), function(...) return ... end, " ..
    "function(x) return x end }" },
  ["with other parameters"] = {
    "return { function() end, function(a) end, function(a, b) end, " ..
    "function(...) end }" },
  ["many closures of one"] = {
    "local t = {} for i = 1, 3 do t[i] = function() return i end end " ..
    "t[4] = function() return t end return t", same = { 1, 1, 1, 2 } },
  ["closures that one made"] = {
    "local function make(n) return function() return n end end " ..
    "return { make, make(1), make(2) }", same = { 1, 2, 2 } },
  ["closures of equal ones"] = {
    "local f = function(n) return function() return n end end " ..
    "local g = function(n) return function() return n end end " ..
    "return { f(1), f(2), g(1), g(2) }", same = { 1, 1, 2, 2 } },
  ["that end on other lines"] = {
    "local a = function() return function() return 1 end\nend " ..
    "return { a, a(), function() return 1 end, function()\nend }" },
  ["methods"] = {
    "local t = {} function t.a() end function t:b() end function t.c(self) " ..
    "end return { t.a, t.b, t.c }" },
  ["in arguments"] = {
    "local t = {} local function add(f) t[#t + 1] = f end " ..
    "add(function() end) add(function() return 1 end) " ..
    "add(function() return function() end end) t[4] = t[3]() t[5] = add " ..
    "return t" },
  ["on two lines each"] = {
    "local a, b = function()\nreturn 1 end, function()\nreturn 1 end\n" ..
    "local c, d = function()\nreturn 1 end, function()\nreturn 1 end\n" ..
    "return { a, b, c, d }" },
}

local path = os.tmpname()

-- ways to load a text, by the name that its chunk has
local loads = {
  file = function(text)
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    return assert(loadfile(path)), "@" .. path
  end,
  text = function(text) return assert(load(text)), text end,
  name = function(text) return assert(load(text, "=one line")), "=one line"
  end,
  stripped = function(text)
    return assert(load(string.dump(assert(load(text)), true))), "=?"
  end,
}

teardown(function() os.remove(path) end)

local function permutations(n)
  local out, order = {}, {}
  local function extend(used)
    if #order == n then out[#out + 1] = table.move(order, 1, n, 1, {}) end
    for i = 1, n do
      if not used[i] then
        used[i], order[#order + 1] = true, i
        extend(used)
        used[i], order[#order] = nil, nil
      end
    end
  end
  extend {}
  return out
end

-- Calls the functions 1, 2, 4, 8, ... times in all: first some of them in this
-- order, then each as often as is left.
local function call(fs, order)
  local left = {}
  for i = 1, #fs do left[i] = 1 << i - 1 end
  for _, i in ipairs(order) do
    if left[i] > 0 then fs[i]() end
    left[i] = left[i] - 1
  end
  for i, f in ipairs(fs) do
    for _ = 1, left[i] do f() end
  end
end

-- the numbers of what each function of a profile stands for
local function groups(p, source, n)
  local out = {}
  for _, fn in ipairs(p.functions) do
    if fn.source == source and fn.kind == "Lua" and fn.calls > 0 then
      local of = {}
      for i = 1, n do
        if fn.calls & 1 << i - 1 ~= 0 then of[#of + 1] = i end
      end
      out[#out + 1] = of
    end
  end
  return out
end

local function of_definition(same)
  local of = {}
  for i, d in ipairs(same) do
    of[d] = of[d] or {}
    table.insert(of[d], i)
  end
  return of
end

local function each(n)
  local out = {}
  for i = 1, n do out[i] = i end
  return out
end

local function sorted(list)
  local out = {}
  for i, of in ipairs(list) do out[i] = table.concat(of, "+") end
  table.sort(out)
  return table.concat(out, " ")
end

-- all orders of n items or, where these are many, some of them
local function orders(n)
  local all, some = permutations(n), {}
  local step = helper.slow and #all or n < 4 and 1 or #all // 3
  for i = 1, #all, step do some[#some + 1] = all[i] end
  return some
end

local function try(options, load_before)
  for name, shape in pairs(shapes) do
    for how, get in pairs(loads) do
      local n = #get(shape[1])()
      local same = shape.same or each(n)
      for _, order in ipairs(orders(n)) do
        local chunk, source = get(shape[1])
        local fs = load_before and chunk()
        profiler.start(options)
        fs = fs or chunk()
        profiler.reset()
        call(fs, order)
        profiler.stop()
        local p = profiler.snapshot()
        local got = sorted(groups(p, source, n))
        assert.equal(sorted(of_definition(same)), got,
          ("%s, loaded by %s, called in the order %s"):format(name, how,
            table.concat(order, " ")))
        helper.check(p)
      end
    end
  end
end

-- The chunk is loaded twice, and the functions of both are called. Those of
-- one definition may be one function then, or two.
local function try_twice(first_before, collect)
  for name, shape in pairs(shapes) do
    for how, get in pairs(loads) do
      local n = #get(shape[1])()
      local same = shape.same or each(n)
      for _, order in ipairs(orders(n)) do
        local source = select(2, get(shape[1]))
        local fs = first_before and get(shape[1])()
        profiler.start { compensate = false }
        fs = fs or get(shape[1])()
        profiler.reset()
        local half = { table.unpack(order, 1, n // 2) }
        for _, i in ipairs(half) do fs[i]() end
        if collect then collectgarbage() end
        local again = get(shape[1])()
        profiler.reset()
        table.move(again, 1, n, n + 1, fs)
        for _, i in ipairs(order) do
          table.insert(half, 1, i)
          half[#half + 1] = n + i
        end
        call(fs, half)
        profiler.stop()
        local p = profiler.snapshot()
        local what = ("%s, loaded by %s, called in the order %s"):format(name,
          how, table.concat(order, " "))
        local group = {}
        for g, of in ipairs(groups(p, source, 2 * n)) do
          for _, i in ipairs(of) do
            group[i] = g
            assert.equal(same[(of[1] - 1) % n + 1], same[(i - 1) % n + 1],
              what)
          end
        end
        for i = 1, 2 * n do
          for k = i + 1, i <= n and n or 2 * n do
            if same[(i - 1) % n + 1] == same[(k - 1) % n + 1] then
              assert.equal(group[i], group[k], what)
            end
          end
        end
      end
    end
  end
end

describe("definitions on one line", function()
  after_each(function() profiler.stop() end)

  local fast = { compensate = false }

  it("are told apart when their chunk was loaded before", function()
    try(fast, true)
  end)

  it("are told apart when their chunk is seen", function()
    try(fast, false)
  end)

  it("are told apart when their chunk is loaded again", function()
    try_twice(true, true)
    try_twice(false, false)
  end)

  it("are told apart where lines are counted", function()
    try({ compensate = false, mode = "line" }, true)
  end)
end)
