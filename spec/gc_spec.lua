-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local host = require "spec_host"
local nomemory = require "nomemory"
local profiler = require "cprof"
local releases = require "releases"

local function zone_of(p)
  return helper.named(p, "(garbage collector)")
end

local function make(n)
  local t
  for i = 1, n do t = { i, { i } } end
  return t
end

-- what a program prints, with and without the zone
local function both(code)
  local head = "local profiler = require 'cprof'\n"
  local function run(options)
    return (helper.run(head .. ("profiler.start(%s)\n"):format(options) ..
      "do " .. code .. " end profiler.stop()"))
  end
  return run "{ gc = true }", run "{}"
end

describe("the time of the garbage collector", function()
  local usable = require "cprof.core".drives()
  local with = releases.it(_ENV, releases.without_gc())

  -- other specs may have left a large heap, which is collected less often:
  -- so a cycle begins at once after the one before, and steps are small
  before_each(function()
    collectgarbage("incremental", 100, 20)
    collectgarbage()
  end)

  after_each(function()
    profiler.stop()
    collectgarbage("incremental", 200, 100)
    collectgarbage "restart"
  end)

  with("is a zone, under the function that makes garbage", function()
    for _, mode in ipairs { "call", "line" } do
      for _, kind in ipairs { "incremental", "generational" } do
        collectgarbage(kind)
        local rounds = 20 + collectgarbage "count" // 1000
        local function work() for _ = 1, rounds do make(10000) end end
        -- only the number of steps decides how long they take
        local p = driven.record(100, work, { gc = true, mode = mode })
        helper.check(p)
        local zone = assert(zone_of(p), kind)
        assert.is_true(p.meta.gc_steps > 0 and zone.self_ns > 0)
        assert.equal(0, zone.calls)
        assert.is_true(p.meta.gc_cycles > 0, kind)
        assert.is_true(p.meta.gc_longest_ns > 0)
        assert.is_true(p.meta.gc_longest_ns <= zone.self_ns)
        -- most of the zone's time is under the function that allocates
        local made, ns = helper.find(p, make).id, 0
        for _, node in ipairs(p.nodes) do
          if node.func == zone.id and p.nodes[node.parent].func == made then
            ns = ns + node.self_ns
          end
        end
        assert.is_true(ns * 2 > zone.self_ns, kind)
        local text = p:report()
        assert.matches("garbage collector: .- of the%s+time,%s+in%s+[%d,]+ " ..
          "collections?%s+and%s+[%d,]+%s+steps?; the%s+longest%s+took", text)
      end
    end
  end)

  with("adds no calls, functions or exact nodes", function()
    local function counted(options)
      local p = helper.record(function() make(20000) end, options)
      local text = p:report()
      local nodes = #p.nodes
      for _, node in ipairs(p.nodes) do
        if p.functions[node.func] == zone_of(p) then nodes = nodes - 1 end
      end
      assert.equal(options.gc or false, p.meta.gc and p.meta.gc_steps > 0)
      return text:match "[%d,]+ calls, [%d,]+ functions", nodes
    end
    for _, mode in ipairs { "call", "line", "trace" } do
      local trace = mode == "trace" and function() end or nil
      local calls, nodes = counted { mode = mode, trace = trace }
      for _, options in ipairs { { gc = true }, { gc = true, memory = true },
        { gc = true, memory = "live" } } do
        options.mode, options.trace = mode, trace
        local text, n = counted(options)
        assert.equal(calls, text)
        assert.equal(nodes, n)
      end
    end
  end)

  with("has no overhead of lines", function()
    local p = helper.record(function()
      make(20000 + math.tointeger(collectgarbage "count" // 1) * 20)
    end, { gc = true, mode = "line" })
    local costs = {}
    for name in pairs(p.meta.costs_ns) do costs[name] = 0 end
    costs.line = 1
    require "cprof.core".costs(costs)
    local q = helper.check(profiler.snapshot())
    local zone, made = zone_of(q), helper.find(q, make)
    assert.is_true(zone.self_ns > 0)
    assert.equal(zone.self_raw_ns, zone.self_ns)
    assert.is_true(made.self_ns < made.self_raw_ns)
  end)

  with("adds no hits to lines", function()
    local function loop(n) for _ = 1, n do make(1) end end
    local line = debug.getinfo(loop, "S").linedefined
    for _, options in ipairs { {}, { gc = true }, { memory = true, gc = true },
                               { gc = true, lines = { "gc_spec" } } } do
      options.mode = "line"
      local p = helper.record(function()
        setmetatable({}, { __gc = function() loop(1) end })
        loop(20000)
      end, options)
      local source = helper.find(p, loop).source
      assert.equal(20000, p.lines[source][line].hits)
    end
  end)

  with("is known of each frame", function()
    local p = driven.record(100, function()
      for i = 1, 20 do
        make(i % 5 == 0 and 20000 or 10)
        profiler.frame()
      end
    end, { gc = true, history = 20 })
    local steps, ns = 0, 0
    for i = 0, 19 do
      local frame = p.frames:at(i)
      steps, ns = steps + frame.gc_steps, ns + frame.gc_ns
      assert.is_true(frame.gc_ns <= frame.ns)
      if (20 - i) % 5 == 0 then assert.is_true(frame.gc_steps > 0) end
    end
    local zone, all = zone_of(p), p.meta.gc_steps
    assert.is_true(steps <= all and steps > all * 0.9,
      steps .. " of " .. all)
    assert.is_true(ns <= zone.self_ns * 1.1 and ns > 0)
    assert.matches("time%s+gc%s+steps", p:report { mode = "frames" })
  end)

  with("is in files, too", function()
    local path = os.tmpname()
    local p = helper.record(function() make(100000) end,
      { gc = true, file = path })
    local loaded = assert(profiler.load(path))
    for _ = 1, 2 do
      for _, key in ipairs { "gc", "gc_steps", "gc_cycles" } do
        assert.equal(p.meta[key], loaded.meta[key], key)
      end
      assert.equal(zone_of(p).self_ns, zone_of(loaded).self_ns)
      assert(loaded:save(path))
      loaded = assert(profiler.load(path))
    end
    os.remove(path)
  end)

  with("leaves the heap as large as it is without", function()
    -- In generational mode, a few bytes can move a minor collection, and thus
    -- change the peak by a tenth: the median of several heaps is compared.
    for _, kind in ipairs { "incremental", "generational" } do
      local gc, bare = both(([[
        local peaks = {}
        for i = 1, 7 do
          local kept = ("x"):rep(i * 9000)
          collectgarbage(%q)
          collectgarbage()
          local live = {}
          for i = 1, 20000 do live[i] = { i } end
          local most = 0
          for i = 1, 100000 do
            local t = { i, { i } }
            if i %% 100 == 0 then
              most = math.max(most, collectgarbage "count")
            end
          end
          peaks[i] = ("%%.1f"):format(most)
        end
        print(table.concat(peaks, " "))]]):format(kind))
      local of, ratios = gc:gmatch "%S+", {}
      for peak in bare:gmatch "%S+" do
        ratios[#ratios + 1] = tonumber(of()) / tonumber(peak)
      end
      assert.equal(7, #ratios, gc .. bare)
      table.sort(ratios)
      local generational = kind == "generational"
      for i = generational and 4 or 1, generational and 4 or 7 do
        assert.is_true(math.abs(ratios[i] - 1) < 0.05,
          ("%s: %s KB, %s KB without"):format(kind, gc, bare))
      end
    end
  end)

  with("bounds the heap also where no event comes for long", function()
    local gc, bare = both [[
      local sum, n = 0, 0
      local function measure()
        sum, n = sum + collectgarbage "count", n + 1
      end
      -- lists of different lengths, so that collections are not in step with
      -- the rounds
      for round = 1, 40 do
        local list = {}
        for i = 1, 10000 + round * 7919 % 10000 do
          list[i] = ("%d"):rep(20):format(i, i, i, i, i, i, i, i, i, i, i, i,
            i, i, i, i, i, i, i, i)
          if i % 100 == 0 then measure() end
        end
        table.sort(list)
        measure()
      end
      print(sum / n)]]
    gc, bare = assert(tonumber(gc), gc), assert(tonumber(bare), bare)
    assert.is_true(gc < bare * 1.2, ("%.1f and %.1f KB"):format(gc, bare))
  end)

  with("leaves calls of collectgarbage their meaning", function()
    local gc, bare = both [[
      local function make(n) local t for i = 1, n do t = { i } end end
      local out = {}
      local function say(...) out[#out + 1] = tostring(...) end
      collectgarbage "incremental"
      say(collectgarbage "isrunning")
      collectgarbage "collect"
      collectgarbage "stop"
      say(collectgarbage "isrunning")
      local before = collectgarbage "count"
      make(10000)
      say(collectgarbage "count" - before > 500)
      local steps = 0
      while not collectgarbage("step", 10) do steps = steps + 1 end
      say(steps > 0)
      collectgarbage "restart"
      say(collectgarbage "isrunning")
      make(10000)
      collectgarbage "collect"
      local keep = {}
      for i = 1, 50000 do keep[i] = { i } end
      collectgarbage "collect"
      local all = 0
      while not collectgarbage("step", 100) do all = all + 1 end
      steps = 0
      while not collectgarbage("step", 0) do steps = steps + 1 end
      say(steps > 0)
      say(collectgarbage("generational"))
      make(10000)
      say(collectgarbage("incremental", 150, 200))
      make(10000)
      say(collectgarbage("setpause", 200))
      say(collectgarbage("setstepmul", 100))
      print(all, table.concat(out, " "))]]
    local steps, said = gc:match "^(%d+)\t(.*)$"
    local bare_steps, bare_said = bare:match "^(%d+)\t(.*)$"
    assert.equal(bare_said, said)
    -- how much a step takes does not depend on what is held off; there is
    -- a little more to collect
    assert.is_true(tonumber(bare_steps) > 20, bare_steps)
    assert.near(tonumber(bare_steps), tonumber(steps), bare_steps / 5)
  end)

  with("does not put off the steps of a host", function()
    local gc, bare = both [[
      local host = require "spec_host"
      local kept = {}
      for i = 1, 20000 do kept[i] = {} end
      collectgarbage "incremental"
      collectgarbage()
      local most = 0
      for i = 1, 20000 do
        local t = { {}, {} }
        host.collector("step", 5)
        if i % 100 == 0 then most = math.max(most, collectgarbage "count") end
      end
      print(most)]]
    gc, bare = assert(tonumber(gc), gc), assert(tonumber(bare), bare)
    assert.is_true(gc < bare * 1.2, ("%.1f and %.1f KB"):format(gc, bare))
  end)

  with("counts no steps of a collector that a host has stopped", function()
    local n = 20000 + math.tointeger(collectgarbage "count" // 1) * 2
    collectgarbage()
    profiler.start { gc = true }
    make(1)
    host.collector "stop"
    make(n)
    profiler.stop()
    host.collector "restart"
    assert.equal(0, profiler.snapshot().meta.gc_steps)
  end)

  -- Ctrl-C's hook takes the place of the one that the collector has asked for
  with("is known after Ctrl-C", function()
    local out = helper.run [[
      local core, host = require "cprof.core", require "spec_host"
      local profiler = require "cprof"
      local function make(n) for _ = 1, n do local t = { {} } end end
      core.interruptible(true)
      collectgarbage("incremental", 100)
      collectgarbage()
      profiler.start { gc = true }
      make(1)
      local n = math.tointeger(collectgarbage "count" // 1)
      local ok, why = pcall(function() host.userdata(n, true) end)
      make(20000 + n * 20)
      profiler.stop()
      print(ok, why:match "interrupted!")
      print(profiler.snapshot().meta.gc_steps > 10)]]
    assert.equal("false\tinterrupted!\ntrue\n", out)
  end)

  with("has the time of finalizers, which may do anything", function()
    local done
    local acts = {
      function() end, profiler.stop, profiler.reset, profiler.pause,
      function() profiler.snapshot() end, function() error "x" end,
      function() collectgarbage() end,
      function()
        profiler.stop()
        pcall(profiler.start, { gc = true, compensate = false })
      end,
      function() coroutine.wrap(make)(100) end,
    }
    for _, options in ipairs { { gc = true, memory = true },
      { gc = true, memory = true, mode = "trace",
        trace = function() return {} end } } do
      done = 0
      for _, act in ipairs(acts) do
        profiler.start(options)
        for _ = 1, 1000 do
          setmetatable({}, { __gc = function() done = done + 1 act() end })
          make(50)
        end
        profiler.stop()
        collectgarbage()
        profiler.stop()  -- up to Lua 5.4.3, finalizers can start it
      end
      assert.is_true(done >= 1000 * #acts)
    end
  end)

  with("needs no coroutine to live for long", function()
    local p = helper.record(function()
      for _ = 1, 3000 do
        local co = coroutine.create(make)
        host.resume(co, 20)
        co = coroutine.wrap(function(n) make(n) coroutine.yield() make(n) end)
        co(10)
      end
    end, { gc = true })
    helper.check(p)
    assert.is_true(p.meta.gc_steps > 0)
  end)

  with("is the collector's own again after stop", function()
    profiler.start { gc = true }
    make(1000)
    profiler.stop()
    collectgarbage()
    local before, most = collectgarbage "count", 0
    for _ = 1, 300 do
      make(1000)
      most = math.max(most, collectgarbage "count")
    end
    assert.is_true(most < before * 4 + 1000)
    assert.is_nil(debug.gethook())
  end)

  with("leaves the program's own hook what it sees", function()
    local counts = 0
    debug.sethook(function() counts = counts + 1 end, "", 1000)
    local function work() for _ = 1, 10 do make(10000) end end
    work()
    local expected = counts
    counts = 0
    profiler.start { gc = true }
    work()
    profiler.stop()
    debug.sethook()
    local p = profiler.snapshot()
    assert.is_true(math.abs(counts - expected) <= expected // 100 + 2,
      counts .. " " .. expected)
    helper.check(p)
  end)

  with("is known after a finalizer has paused and resumed", function()
    profiler.start { gc = true }
    setmetatable({}, { __gc = function()
      profiler.pause()
      profiler.resume()
    end })
    collectgarbage()
    local before = profiler.snapshot().meta.gc_steps
    make(20000 + math.tointeger(collectgarbage "count" // 1) * 20)
    profiler.stop()
    assert.is_true(profiler.snapshot().meta.gc_steps > before)
  end)

  it("needs times, and Lua's own structures", function()
    for _, mode in ipairs { "sample", usable and "count" or nil } do
      assert.has_error(function() profiler.start { mode = mode, gc = true } end,
        'start: option \'gc\' needs mode = "call", "line" or "trace"')
    end
    if not usable then
      assert.has_error(function() profiler.start { gc = true } end,
        "start: option 'gc' needs " .. (releases.without_internals() and
        "to read Lua's own structures, which is not possible here or " ..
        "is switched off by CPROF_INTERNALS=0" or "Lua 5.4: " ..
        "cprof cannot control the collector of " .. _VERSION))
    end
  end)

  with("leaves no hook to coroutines that do harm in mode sample", function()
    local out, ok = helper.run [[
      local profiler = require "cprof"
      local function f() return 1 end
      local made = {}
      profiler.start { gc = true }
      for i = 1, 100000 do made[i] = coroutine.create(f) end
      profiler.stop()
      profiler.start { mode = "sample" }
      for i = 1, #made do coroutine.resume(made[i]) end
      profiler.stop()
      print "good"]]
    assert.equal("good\n", out)
    assert.is_true(ok)
  end)

  with("may be begun anew by a finalizer, in a step", function()
    local done
    local function work()
      for _ = 1, 20 do make(1000) end
    end
    profiler.start { gc = true, memory = true }
    setmetatable({}, { __gc = function()
      profiler.stop()
      profiler.start { memory = "live", memory_interval = 1 }
      done = true
    end })
    for _ = 1, 100 do
      if not done then work() end
    end
    work()
    profiler.stop()
    assert.is_true(done)
    local p = helper.check(profiler.snapshot())
    assert.is_true(helper.find(p, make).self_allocs > 0)
  end)

  with("gives a hook that a finalizer sets only the events that it wants",
    function()
      local seen, done = {}, false
      local function idle() end
      local function work()
        for _ = 1, 200 do idle { {} } end
      end
      profiler.start { gc = true }
      setmetatable({}, { __gc = function()
        profiler.stop()
        debug.sethook(function(event) seen[event] = true end, "l")
        done = true
      end })
      for _ = 1, 1000 do
        if not done then work() end
      end
      debug.sethook()
      assert.same({ line = true }, seen)
    end)

  with("may come to an end of memory", function()
    for _, more in ipairs { 'mode = "line"',
      'mode = "trace", trace = function() end' } do
      nomemory.recorded("gc = true, memory = true, compensate = false, " ..
        more, [[
        local out = {}
        for i = 1, 300 do
          out[i % 7] = { i, { i }, function() return i end }
          if i % 50 == 0 then
            setmetatable({}, { __gc = function() out[8] = {} end })
          end
        end]])
    end
  end)
end)
