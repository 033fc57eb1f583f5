-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"

local function leaf() end

describe("zones", function()
  after_each(function() profiler.stop() end)

  it("are measured like functions, in the same tree", function()
    local function work()
      profiler.enter "load"
      leaf()
      profiler.enter "parse"
      leaf() leaf()
      profiler.leave "parse"
      profiler.leave "load"
      leaf()
    end
    local tree, p = helper.shape(work)
    assert.equal(helper.dedent [[
      load 1
        leaf 1
        parse 1
          leaf 2
      leaf 1]], tree)
    local zone = helper.named(p, "parse")
    assert.equal("zone", zone.kind)
    assert.equal("parse", zone.title)
  end)

  it("have the time that passes in them", function()
    local p = driven.parts(function()
      profiler.enter "load"
      driven.pass(1000000)
      profiler.enter "parse"
      driven.pass(3000000)
      profiler.leave "parse"
      profiler.leave "load"
      driven.pass(500000)
    end, { c_functions = false })
    local zone, inner = helper.named(p, "load"), helper.named(p, "parse")
    assert.same({ 1000000, 4000000 }, { zone.self_ns, zone.total_ns })
    assert.same({ 3000000, 3000000 }, { inner.self_ns, inner.total_ns })
  end)

  it("have what is given beside the name as part of it", function()
    local function work()
      for i = 1, 2 do
        profiler.enter("level", i, true)
        profiler.leave "level"
      end
      profiler.enter("level", 3)
      profiler.leave("level", 3)
    end
    assert.equal("level(1, true) 1\nlevel(2, true) 1\nlevel(3) 1",
      (helper.shape(work)))
  end)

  it("can end with a block", function()
    local function work()
      do
        local _ <close> = profiler.zone "block"
        leaf()
      end
      leaf()
    end
    assert.equal("block 1\n  leaf 1\nleaf 1", (helper.shape(work)))
  end)

  it("can end with a block that an error leaves", function()
    local function work()
      pcall(function()
        local _ <close> = profiler.zone "block"
        error "x"
      end)
      leaf()
    end
    local tree = helper.shape(work)
    assert.matches("block 1\n +error 1\nleaf 1$", tree)
  end)

  it("can be put around a function", function()
    local function sum(a, b) leaf() return a + b, "more" end
    local wrapped = profiler.wrap("sum zone", sum)
    local results
    local function work() results = { wrapped(1, 2) } end
    local tree = helper.shape(work)
    assert.equal("sum zone 1\n  sum 1\n    leaf 1", tree)
    assert.same({ 3, "more" }, results)
    assert.same({ 3, "more" }, { wrapped(1, 2) })
  end)

  it("pass on the errors and yields of what they are put around", function()
    local raises = profiler.wrap("z", function() error("x", 0) end)
    local yields = profiler.wrap("z", function(a)
      return coroutine.yield(a + 1) end)
    helper.record(function()
      assert.same({ false, "x" }, { pcall(raises) })
      local co = coroutine.wrap(yields)
      assert.equal(2, co(1))
      assert.equal(7, co(7))
    end)
  end)

  it("are closed when their function returns", function()
    local function forgets() profiler.enter "open" leaf() end
    local function work() forgets() leaf() forgets() end
    assert.equal(helper.dedent [[
      forgets 2
        open 2
          leaf 2
      leaf 1]], (helper.shape(work)))
  end)

  it("are closed when an error unwinds their function", function()
    local function fails()
      profiler.enter "open"
      profiler.enter "inner"
      error "x"
    end
    local function work() pcall(fails) leaf() end
    assert.equal(helper.dedent [[
      pcall 1
        fails 1
          open 1
            inner 1
              error 1
      leaf 1]], (helper.shape(work)))
  end)

  it("stay open when an error is caught within them", function()
    local function work()
      profiler.enter "open"
      pcall(error, "x")
      leaf()
      profiler.leave "open"
      leaf()
    end
    assert.equal(helper.dedent [[
      open 1
        pcall 1
          error 1
        leaf 1
      leaf 1]], (helper.shape(work)))
  end)

  it("stay open over yields", function()
    local function body()
      profiler.enter "open"
      coroutine.yield()
      leaf()
      profiler.leave "open"
      leaf()
    end
    local function work()
      local co = coroutine.wrap(body)
      co() leaf() co()
    end
    assert.equal(helper.dedent [[
      coroutine.wrap 1
      coroutine.wrap function 2
        body 1
          open 1
            coroutine.yield 1
            leaf 1
          leaf 1
      leaf 1]], (helper.shape(work)))
  end)

  it("may be recursive", function()
    local function down(n)
      local _ <close> = profiler.zone "level"
      if n > 0 then down(n - 1) end
    end
    local p = helper.record(function() down(4) end)
    local zone = helper.named(p, "level")
    assert.equal(5, zone.calls)
    assert.equal(5, zone.max_depth)
    assert.is_true(zone.total_ns <= helper.find(p, down).total_ns)
  end)

  it("must be entered before they are left", function()
    profiler.start()
    assert.has_error(function() profiler.leave "none" end,
      "leave 'none': the calling function has entered no zone, " ..
      "or has left it already")
  end)

  it("may have been entered before recording began", function()
    profiler.enter "before"
    profiler.start()
    profiler.leave "before"
    coroutine.wrap(function()
      profiler.enter "in a coroutine"
      profiler.stop()
      profiler.start()
      profiler.leave "in a coroutine"
    end)()
    profiler.enter "recorded"
    profiler.stop()
    profiler.start()  -- as the next file of a rotation
    profiler.leave "recorded"
    local function called()
      profiler.enter "called"
      profiler.leave "called"
      profiler.leave "called"
    end
    assert.has_error(called)
    profiler.stop()
  end)

  it("must be left by the function that entered them", function()
    local function leaves() profiler.leave "mine" end
    profiler.start()
    profiler.enter "mine"
    assert.has_error(leaves)
    profiler.leave "mine"
    assert.has_error(function() profiler.leave "mine" end)
  end)

  it("must be left innermost first", function()
    profiler.start()
    profiler.enter("outer", 1)
    profiler.enter("inner", 2)
    assert.has_error(function() profiler.leave "outer" end)
    assert.is_false((pcall(profiler.leave, "outer")))
    local function work()
      profiler.enter "a"
      profiler.enter("b", 2)
      profiler.leave "a"
    end
    local message = helper.failure(work)
    assert.has_text("leave 'a': the innermost open zone is 'b(2)'", message)
  end)

  it("must have names that are strings", function()
    profiler.start()
    for _, f in ipairs { profiler.enter, profiler.zone, profiler.leave } do
      assert.has_error(function() f(nil) end)
      assert.has_error(function() f({}) end)
      assert.has_error(function() f(1) end)
    end
    assert.has_error(function() profiler.wrap(1, leaf) end,
      "wrap: the name must be a string, got a number")
    assert.has_error(function() profiler.wrap("x", 1) end,
      "wrap: a function must follow the name, got a number")
  end)

  it("cost nothing and complain of nothing while stopped", function()
    profiler.leave "x"
    profiler.enter "x"
    profiler.leave "y"
    do local _ <close> = profiler.zone "z" end
    profiler.start()
    profiler.stop()
    profiler.leave "x"
  end)

  it("can be entered and left while recording pauses", function()
    local function work()
      profiler.enter "outer"
      profiler.pause()
      profiler.enter "inner"
      profiler.resume()
      leaf()
      profiler.leave "inner"
      leaf()
      profiler.pause()
      profiler.leave "outer"
      profiler.resume()
      leaf()
    end
    assert.equal(helper.dedent [[
      outer 1
        inner 0
          leaf 1
        leaf 1
      leaf 1]], (helper.shape(work)))
  end)

  it("of one recording are not closed by handles of another", function()
    profiler.start()
    local handle = profiler.zone "old"
    profiler.stop()
    local function work()
      profiler.enter "new"
      getmetatable(handle).__close(handle)
      leaf()
      profiler.leave "new"
    end
    local tree = helper.shape(work)
    assert.matches("new 1\n.*  leaf 1$", tree)
  end)

  it("open at the end are reported", function()
    local function work() profiler.enter "open" leaf() end
    profiler.start()
    work()
    profiler.enter "open"
    profiler.stop()
    local p = profiler.snapshot()
    assert.equal(2, helper.named(p, "open").calls)
  end)

  it("are entered where frames have to move to make room", function()
    -- freed memory is overwritten, by glibc
    local first = "MALLOC_PERTURB_=165 " ..
      "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"
    local out = helper.run_in(first, [[
      local profiler = require "cprof"
      local function deep(n)
        if n > 0 then deep(n - 1) end
        local _ <close> = profiler.zone("at " .. n)
      end
      profiler.start()
      for n = 1, 60 do deep(n) end
      profiler.stop()
      local p = profiler.snapshot()
      local zones = 0
      for _, f in ipairs(p.functions) do
        if f.kind == "zone" then zones = zones + f.calls end
      end
      print(zones)]])
    assert.equal("1890\n", out)
  end)

  it("do not show the functions that open and close them", function()
    local p = helper.record(function()
      profiler.enter "a" profiler.leave "a"
      do local _ <close> = profiler.zone "b" end
      profiler.running()
    end)
    for _, fn in ipairs(p.functions) do
      assert.has_no_text("lua/cprof", fn.source, fn.title)
      assert.has_no_text("cprof.", fn.name)
      assert.is_true(fn.name ~= "enter" and fn.name ~= "leave", fn.name)
    end
  end)
end)
