local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"

local function three() end
local function two() three() three() end
local function one() two() end

describe("recording", function()
  after_each(function() profiler.stop() end)

  it("builds the tree of who called whom", function()
    local function work() one() one() two() end
    local tree, p = helper.shape(work)
    assert.equal(helper.dedent [[
      one 2
        two 2
          three 4
      two 1
        three 2]], tree)
    assert.equal("work", helper.find(p, work).name)
    helper.check(p)
  end)

  it("counts calls and self and total time per function", function()
    local function spin(n)
      local x = 0
      for i = 1, n do x = x + i end
      return x
    end
    local function work() spin(20000) spin(20000) end
    local p = helper.record(work)
    local f, w = helper.find(p, spin), helper.find(p, work)
    assert.equal(2, f.calls)
    assert.equal(1, w.calls)
    assert.is_true(f.self_ns > 0)
    assert.equal(f.self_ns, f.total_ns)
    assert.equal(w.total_ns, w.self_ns + f.total_ns)
    helper.check(p)
  end)

  it("measures every way out of a function", function()
    local function empty() end
    local function bare() return end
    local function early(x) if x then return 1 end return 2 end
    local function raises() error "x" end
    local function work()
      empty() bare() early(true) early(false) pcall(raises)
    end
    local tree = helper.shape(work)
    assert.equal(helper.dedent [[
      empty 1
      bare 1
      early 2
      pcall 1
        raises 1
          error 1]], tree)
  end)

  it("gives the same counts and tree in every run", function()
    local function fib(n) if n < 2 then return n end
      return fib(n - 1) + fib(n - 2) end
    local function work()
      fib(10)
      local t = {}
      for i = 1, 50 do t[i] = (i * 7919) % 101 end
      table.sort(t, function(a, b) return a < b end)
      pcall(error, "x")
      local co = coroutine.wrap(function()
        for i = 1, 5 do coroutine.yield(i) end
      end)
      for _ = 1, 5 do co() end
    end
    local first = helper.shape(work)
    for _ = 1, 5 do assert.equal(first, (helper.shape(work))) end
  end)

  it("is never 0 as recorded for a function that ran", function()
    local function quick() return 1 end
    local p = helper.record(function() for _ = 1, 100 do quick() end end)
    assert.is_true(helper.find(p, quick).self_raw_ns > 0)
  end)

  it("charges C functions to their callers on request", function()
    local function work() ("x"):rep(3) pcall(one) end
    local tree, p = helper.shape(work, { c_functions = false })
    assert.equal(helper.dedent [[
      one 1
        two 1
          three 2]], tree)
    helper.check(p)
  end)

  it("tells calls apart by their lines on request", function()
    local function work()
      three()
      three() three()
      for _ = 1, 3 do three() end
    end
    local line = debug.getinfo(work, "S").linedefined
    assert.equal(("three@%d 1\nthree@%d 2\nthree@%d 3"):format(line + 1,
      line + 2, line + 3), (helper.shape(work, { callsites = true })))
    assert.equal("three 6", (helper.shape(work)))
  end)

  it("keeps its promises with the processor's time, too", function()
    local p = helper.record(function() for _ = 1, 100 do one() end end,
      { clock = "cpu" })
    assert.equal("cpu", p.meta.clock)
    helper.check(p)
    local before = os.clock()
    local waited = helper.record(function() os.execute "sleep 0.5" end,
      { clock = "cpu" })
    local ran = (os.clock() - before) * 1e9
    -- clocks of the processor may have ticks of a hundredth of a second
    assert.is_true(waited.meta.wall_ns < ran + 100000000)
  end)

  it("agrees with the wall clock", function()
    local function sleep() os.execute "sleep 0.3" end
    local p = helper.record(sleep)
    local ns = p.meta.wall_ns
    assert.is_true(ns > 290000000 and ns < 30000000000, tostring(ns))
    -- others may have had the processor while the command slept
    assert.is_true(helper.find(p, sleep).total_ns + p.meta.preempted_ns >
      290000000)
  end)
end)

describe("start and stop", function()
  after_each(function() profiler.stop() end)

  it("tell whether there was something to do", function()
    assert.is_false(profiler.running())
    assert.is_false(profiler.stop())
    profiler.start()
    assert.is_true(profiler.running())
    assert.is_true(profiler.stop())
    assert.is_false(profiler.stop())
    assert.is_false(profiler.running())
  end)

  it("may not be nested", function()
    profiler.start()
    assert.has_error(profiler.start,
      "start: already running; call stop first")
    assert.has_error(function() profiler.start { mode = "foo" } end,
      'start: option \'mode\' must be one of "call", "line", "trace", ' ..
      '"count", "sample", got "foo"')
    assert.is_true(profiler.running())
    -- nothing of cprof's is in what is recorded
    pcall(profiler.start, { clock = "cpu" })
    for _, f in ipairs(profiler.snapshot().functions) do
      assert.has_no_text("cprof/text/options.lua", f.source)
    end
  end)

  it("begin a new profile each time", function()
    local function work() one() end
    helper.record(function() two() two() end)
    local p = helper.record(work)
    assert.equal(1, helper.find(p, two).calls)
  end)

  it("leave no hook behind", function()
    helper.record(one)
    assert.is_nil(debug.gethook())
    local co = coroutine.create(function() coroutine.yield() one() end)
    profiler.start()
    coroutine.resume(co)
    profiler.stop()
    assert.is_nil(debug.gethook(co))
  end)

  it("can be called at different depths", function()
    local function begin() profiler.start() end
    local function middle() begin() one() end
    local function work() middle() two() profiler.stop() end
    work()
    local p = helper.check(profiler.snapshot())
    assert.equal(helper.dedent [[
      middle 0
        begin 0
        one 1
          two 1
            three 2
      two 1
        three 2]], helper.tree(p, work))
  end)

  it("can be called in a callback, and stopped far from it", function()
    local function work()
      table.sort({ 3, 2, 1 }, function(a, b)
        if not profiler.running() then profiler.start() end
        return a < b
      end)
      one()
      profiler.stop()
    end
    work()
    local p = helper.check(profiler.snapshot())
    assert.matches("^table.sort 0", helper.tree(p, work))
    assert.equal(1, helper.find(p, one).calls)
  end)

  it("adopt the functions that already run, without a call", function()
    local function inner()
      profiler.start()
      one()
      for _ = 1, 10000 do end
      profiler.stop()
    end
    local function outer() inner() end
    outer()
    local p = helper.check(profiler.snapshot())
    assert.equal(helper.dedent [[
      inner 0
        one 1
          two 1
            three 2]], helper.tree(p, outer))
    assert.equal(0, helper.find(p, outer).calls)
    assert.is_true(helper.find(p, inner).self_raw_ns > 0)
  end)

  it("can be called in different coroutines", function()
    local function body()
      profiler.start()
      coroutine.yield()
      one()
    end
    local function work()
      local co = coroutine.create(body)
      coroutine.resume(co)
      two()
      coroutine.resume(co)
      profiler.stop()
    end
    work()
    local p = helper.check(profiler.snapshot())
    assert.equal(helper.dedent [[
      coroutine.resume 1
        body 0
          coroutine.yield 1
          one 1
            two 1
              three 2
      two 1
        three 2]], helper.tree(p, work))
  end)
end)

describe("pause and resume", function()
  after_each(function() profiler.stop() end)

  it("leave out what lies between", function()
    local function work()
      one()
      profiler.pause()
      for _ = 1, 10 do two() end
      profiler.resume()
      three()
    end
    local tree, p = helper.shape(work)
    assert.equal(helper.dedent [[
      one 1
        two 1
          three 2
      three 1]], tree)
    helper.check(p)
    assert.is_true(p.meta.paused_ns > 0)
    assert.is_true(p.meta.paused_ns < p.meta.wall_ns)
  end)

  it("tell whether there was something to do", function()
    assert.is_false(profiler.pause())
    assert.is_false(profiler.resume())
    profiler.start()
    assert.is_false(profiler.resume())
    assert.is_true(profiler.pause())
    assert.is_false(profiler.pause())
    assert.is_false(profiler.running())
    assert.is_nil(debug.gethook())
    assert.is_true(profiler.resume())
    assert.is_true(profiler.running())
    assert.is_true(profiler.pause())
    assert.is_true(profiler.stop())
  end)

  it("can be called at different depths", function()
    local function off() profiler.pause() end
    local function on() profiler.resume() three() end
    local function deep(n) if n > 0 then return (deep(n - 1)) end on() end
    local function work() off() deep(3) two() end
    local tree, p = helper.shape(work)
    assert.equal(helper.dedent [[
      off 1
      deep 0
        deep 0
          deep 0
            deep 0
              on 0
                three 1
      two 1
        three 2]], tree)
    helper.check(p)
  end)

  it("follow coroutines that ran meanwhile", function()
    local function body()
      coroutine.yield()
      two()
      coroutine.yield()
      three()
    end
    local function work()
      local co = coroutine.wrap(body)
      co()
      profiler.pause()
      co()
      profiler.resume()
      co()
    end
    local tree, p = helper.shape(work)
    assert.equal(helper.dedent [[
      coroutine.wrap 1
      coroutine.wrap function 2
        body 1
          coroutine.yield 1
          three 1]], tree)
    helper.check(p)
  end)
end)

describe("reset", function()
  after_each(function() profiler.stop() end)

  it("forgets and goes on", function()
    local function work()
      one() one()
      profiler.reset()
      two()
    end
    local tree, p = helper.shape(work)
    assert.equal("two 1\n  three 2", tree)
    assert.equal(0, helper.find(p, work).calls)
    helper.check(p)
  end)

  it("works in a coroutine, with others waiting", function()
    local function other() coroutine.yield() three() end
    local function body() one() profiler.reset() two() end
    local function work()
      local waiting = coroutine.wrap(other)
      waiting()
      coroutine.wrap(body)()
      waiting()
    end
    local tree, p = helper.shape(work)
    assert.equal(helper.dedent [[
      coroutine.wrap function 1
        body 0
          two 1
            three 2
        other 0
          coroutine.yield 0
          three 1]], tree)
    helper.check(p)
  end)

  it("works while recording pauses, and after it", function()
    profiler.start()
    one()
    profiler.pause()
    assert.is_true(profiler.reset())
    profiler.resume()
    three()
    profiler.stop()
    local p = profiler.snapshot()
    assert.is_nil(helper.find(p, one))
    assert.equal(1, helper.find(p, three).calls)
    assert.is_true(profiler.reset())
    p = profiler.snapshot()
    helper.check(p)
    assert.is_nil(helper.find(p, three))
    assert.equal(0, p.meta.wall_ns)
  end)
end)
