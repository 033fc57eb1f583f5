-- first: "driven" replaces functions that cprof looks up when it is loaded
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"
local profiler = require "cprof"
local releases = require "releases"

local direct = core.internals() == "direct"

-- The program: functions that call each other at random, with errors, tail
-- calls, recursion, to-be-closed variables, and coroutines that yield, in a
-- coroutine of its own. At every n-th place, it calls look(threads): the
-- coroutines that wait for each other, of which the last one runs.
local function program(seed, n, look)
  local act
  local places, calls = 0, 0
  local threads, kept = {}, {}

  local function random(most)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return (seed >> 8) % most + 1
  end
  local function place()
    places = places + 1
    if places % n == 0 then look(threads) end
    return 1
  end

  local function plain(d) if random(2) == 1 then place() end act(d) place() end
  local function tail(d) return act(d) end
  local function late(d) if random(2) == 1 then place() end return act(d) end
  local function caught(d) local ok = pcall(plain, d) place() return ok end
  local function fails(d) act(d) if random(3) == 1 then error "no" end end
  local function deep(k, d)
    if k == 0 then act(d) return 0 end
    return 1 + deep(k - 1, d)
  end
  local function recursion(d) deep(random(30), d) place() end
  local closing = setmetatable({}, { __close = function() place() end })
  local function closes(d)
    local _ <close> = closing
    act(d)
    if random(5) == 1 then error "no" end
  end
  local function resume(co, ...)
    threads[#threads + 1] = co
    local ok = coroutine.resume(co, ...)
    threads[#threads] = nil
    return ok
  end
  local function again(d)
    while true do
      act(d)
      coroutine.yield()
      place()
    end
  end
  local function switch(d)
    if #threads > 8 then return end
    local k = random(4)
    if not kept[k] or coroutine.status(kept[k]) == "dead" then
      kept[k] = coroutine.create(again)
    end
    if coroutine.status(kept[k]) == "suspended" then resume(kept[k], d) end
    place()
  end
  local function yield()
    if #threads > 1 then coroutine.yield() end
    return place()
  end

  local all = { plain, tail, late, caught, fails, recursion, switch, yield }
  -- Lua 5.4.0 crashes in debug.getinfo while an error closes a variable
  if releases.levels > 10000 then all[#all + 1] = closes end
  function act(d)
    calls = calls + 1
    if calls > 300 then return end
    if random(100) == 1 then collectgarbage() end
    if d == 0 then return place() end
    for _ = 1, random(3) - 1 do all[random(#all)](d - 1) end
    return all[random(#all)](d - 1)
  end
  local function main()
    for _ = 1, 6 do
      calls = 0
      pcall(act, 12)
    end
  end

  local root = coroutine.create(main)
  assert.is_true(resume(root))
  return debug.getinfo(main, "S").linedefined
end

-- A coroutine that goes on in one deep call, wherever it is resumed from: by
-- this function or that one, in another coroutine, or at another depth.
local function wanderer(look)
  local threads = {}
  local function resume(co)
    threads[#threads + 1] = co
    assert(coroutine.resume(co))
    threads[#threads] = nil
  end
  local function deep(k)
    if k > 0 then deep(k - 1) end
    while true do look(threads) coroutine.yield() end
  end
  local co = coroutine.create(function() deep(5) end)
  local between = coroutine.create(function()
    while true do resume(co) coroutine.yield() end
  end)
  local function this() resume(co) end
  local function that() resume(co) end
  local function either(x) resume(x) end
  local function nest(k)
    threads[2] = co
    return k > 0 and nest(k - 1), coroutine.resume(co)  -- both on one line
  end
  local function main()
    for _ = 1, 3 do this() that() end
    for _ = 1, 3 do either(co) either(between) end
    for _ = 1, 3 do nest(3) threads[2] = nil end
  end
  resume(coroutine.create(main))
  return debug.getinfo(main, "S").linedefined
end

-- a level as text: the line where its function is defined, and that of its
-- call; "" for a C function
local function level(defined, line)
  if defined < 0 then return "" end
  return ("%d:%d "):format(defined, math.max(0, line or 0))
end

-- The functions of a thread as text, from this level on; of the running one if
-- `thread` is nil.
local function functions(thread, from)
  local out = ""
  local function info(k, what)
    if thread then return debug.getinfo(thread, k, what) end
    return debug.getinfo(k + 2, what)
  end
  local f = info(from, "S")
  while f do
    local caller = info(from + 1, "l")
    out = level(f.linedefined, caller and caller.currentline) .. out
    from = from + 1
    f = info(from, "S")
  end
  return out
end

-- The number of samples by stack, of functions that are defined in line `line`.
-- Stacks begin with the function in line `main`, which has one call path.
local function stacks(p, line, main)
  local out, below = {}, nil
  for _, node in ipairs(p.nodes) do
    if (node.self_samples or 0) > 0 and
      p.functions[node.func].line == line then
      local key, at = "", node
      while p.functions[at.func].line ~= main do
        key = level(p.functions[at.func].line, at.call_line) .. key
        at = p.nodes[at.parent]
      end
      key = level(main, at.call_line) .. key
      out[key] = (out[key] or 0) + node.self_samples
      below = below or at.parent
      assert.equal(below, at.parent)
    end
  end
  return out
end

-- a stack as text, without the lines of calls
local function functions_only(key)
  return (key:gsub(":%d+", ""))
end

local function sum_up(all, change)
  local out = {}
  for each, n in pairs(all) do
    local key = change(each)
    out[key] = (out[key] or 0) + n
  end
  return out
end

describe("the stack of a sample", function()
  after_each(function() profiler.stop() end)

  local wanted

  local function look(threads)
    if not wanted then
      local _ = {}  -- a sample comes here
      return
    end
    local key = functions(nil, 1)
    for k = #threads - 1, 1, -1 do key = functions(threads[k], 0) .. key end
    wanted[key] = (wanted[key] or 0) + 1
  end

  local line <const> = debug.getinfo(look, "S").linedefined

  -- The stacks of a program's samples, and what they must be.
  local function both(run, options)
    local main
    wanted = {}
    run(look)
    local all = wanted
    wanted = nil
    local p = driven.sample(function() main = run(look) end, options)
    assert.is_truthy(next(all))
    return all, stacks(p, line, main)
  end

  local function without_c(run)
    local all, found = both(run, { c_functions = false })
    assert.same(sum_up(all, functions_only), sum_up(found, functions_only))
  end

  -- the program from this number on
  local function from(seed, n)
    return function(f) return program(seed, n, f) end
  end

  it("is that of the program, however much has changed since the last one",
    function()
      if not direct then return end
      for n, seed in ipairs { 7, 11, 13, 17, 19, 23 } do
        assert.same(both(from(seed, n * n)))
      end
    end)

  it("is that of the program where C functions are left out", function()
    if not direct then return end
    for n = 1, 20 do without_c(from(n, 5 + n % 13)) end
  end)

  it("has no zone that a callee has closed", function()
    if not direct then return end
    local function deep(n)
      if n > 0 then return 1 + deep(n - 1) end
      local zone = profiler.zone "open"
      local function work(leave)
        local t = {}
        if leave then getmetatable(zone).__close(zone) end
        t = { t }
        return #t
      end
      return work(false) + work(true) + work(false)
    end
    local p = driven.sample(function() deep(9) end)
    assert.equal(3, helper.named(p, "open").total_samples)
  end)

  it("has no zone in C that a callee has closed", function()
    if not direct then return end
    local function make() for _ = 1, 3 do local _ = {} end end
    local p = driven.sample(function() host.enters(make, make) end)
    assert.equal(6, helper.find(p, make).total_samples)
    assert.equal(3, helper.named(p, "left").total_samples)
  end)

  it("has the caller's line where an excluded function replaces a call",
    function()
      if not direct then return end
      local function excluded()
        for _ = 1, 6 do local _ = {} end
        return 1
      end
      local function replaced()
        local t = {}
        return #t + excluded()
      end
      local function tail()
        local t = {}
        if #t == 0 then return excluded() end
      end
      local function body() return replaced() + tail() end
      local p = driven.sample(function()
        coroutine.resume(coroutine.create(body))
      end, { exclude = { "excluded" }, c_functions = false })
      local f = helper.find(p, body)
      assert.equal(14, f.total_samples)
      assert.equal(6e6, p.lines[f.source][f.line].self_ns)
    end)

  it("tells from where a coroutine was resumed", function()
    if not direct then return end
    assert.same(both(wanderer))
    without_c(wanderer)
  end)
end)
