local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local host = require "spec_host"
local profiler = require "cprof"
local releases = require "releases"

-- A program that leaves garbage whose finalizers call `release`, in a
-- process of its own: what fails here may end it.
local garbage = [[
  local profiler = require "cprof"
  local helper = require "helper"
  collectgarbage(arg[1])
  local released = 0
  local release
  local drives = require "cprof.core".drives()
  local metatable = { __gc = function(o) release(o) end }
  local function litter(n)
    for i = 1, n do setmetatable({ i }, metatable) end
  end
  local rounds = helper.many(tonumber(arg[2]) or 300)
]]

local modes = { "generational", "incremental" }

local function run(code, rounds, before)
  local path = os.tmpname()
  for _, mode in ipairs(modes) do
    local output, ok, how, status = helper.run((before or "") .. garbage ..
      code, mode, tostring(rounds or 300), path)
    assert.is_true(ok, ("%s: %s %d: %s"):format(mode, how or "", status or 0,
      output))
    assert.equal("good\n", output, mode)
  end
  os.remove(path)
end

describe("finalizers", function()
  it("may enter zones while snapshots are taken", function()
    -- each adds a node: its zone has a name of its own
    run([[
      local expected = 0
      release = profiler.wrap("release", function()
        released = released + 1
        if profiler.running() then expected = expected + 1 end
        profiler.enter("part", released)
        profiler.leave "part"
      end)
      profiler.start()
      for _ = 1, rounds do
        litter(10)
        helper.check(profiler.snapshot())
      end
      profiler.stop()
      local p = helper.check(profiler.snapshot())
      local zone = helper.named(p, "release")
      assert(released > rounds)
      assert(zone.calls == expected, zone.calls .. " " .. expected)
      print "good"]], 120)
  end)

  it("may enter zones while frames end and their history is read", function()
    run([[
      release = function()
        released = released + 1
        profiler.enter("part", released)
        profiler.leave "part"
      end
      profiler.start { history = "full", slow_frames = { budget_ms = 1e-6 } }
      for i = 1, rounds do
        litter(10)
        profiler.frame()
        local p = helper.check(profiler.snapshot())
        assert(p.frames.ended == i)
        p.frames:at(0) p.frames:nodes(0) p.frames:average_nodes "all"
      end
      assert(released > rounds)
      print "good"]], 100)
  end)

  it("may call functions and zones while a file gets its names", function()
    run([[
      local path = arg[3]
      release = function()
        released = released + 1
        load("local function f() end f()", "=" .. released)()
        profiler.enter("part", released)
        profiler.leave "part"
      end
      for _ = 1, rounds // 20 do
        profiler.start { file = path, mode = "line" }
        for i = 1, 20 do
          litter(10)
          load("return 1", "=chunk" .. i)()
          helper.check(profiler.snapshot())
        end
        profiler.stop()
        local p = profiler.snapshot()
        local loaded = helper.check(assert(profiler.load(path)))
        assert(#loaded.nodes == #p.nodes)
      end
      assert(released > rounds)
      print "good"]], 200)
  end)

  it("may start and stop, pause, resume, reset, and take snapshots",
    function()
      run([[
        local busy = false
        local steps = { profiler.stop, profiler.pause, profiler.resume,
          profiler.reset, profiler.frame,
          function()
            profiler.start { mode = "line", compensate = false }
          end,
          function()
            profiler.start { file = arg[3], compensate = false }
          end,
          function() profiler.snapshot():report() end,
          function() profiler.enter("z", released) end,
          function() profiler.leave "z" end }
        release = function()
          if busy then return end
          busy = true
          released = released + 1
          pcall(steps[math.random(#steps)])
          busy = false
        end
        for i = 1, rounds do
          local options = ({ {}, { mode = "line" }, { file = arg[3] },
            { recursion = "fold" } })[i % 4 + 1]
          options.compensate = false
          pcall(profiler.start, options)
          litter(20)
          local ok, p = pcall(profiler.snapshot)
          if ok then
            helper.check(p)
          end
          pcall(profiler.frame)
          pcall(profiler.reset)
          pcall(profiler.stop)
        end
        assert(released > rounds // 10)
        profiler.stop()
        busy = true
        profiler.start()
        local function leaf() end
        for _ = 1, 10 do leaf() end
        profiler.stop()
        local p = helper.check(profiler.snapshot())
        assert(helper.find(p, leaf).calls == 10)
        print "good"]], 200)
    end)

  it("may control the recorder and run coroutines, in each mode", function()
    run([[
      local torture = require "torture"
      local way, file, busy
      local function start()
        profiler.start(torture.options(way, { compensate = false,
          file = file }))
      end
      local old = coroutine.wrap(function()
        while true do coroutine.yield() end
      end)
      local function step(n)
        if n > 0 then step(n - 1) end
        coroutine.yield(n)
      end
      local steps = { start, profiler.stop, profiler.pause, profiler.resume,
        profiler.reset, profiler.frame, profiler.report, old,
        function() helper.check(profiler.snapshot()) end,
        function() assert(profiler.snapshot():save(arg[3] .. ".saved")) end,
        function() if profiler.stop() then start() end end,
        function()
          local new = coroutine.wrap(step)
          new(3)
          new()
        end,
        function()
          coroutine.wrap(function() if profiler.stop() then start() end end)()
        end }
      local refusals = { "already running", "nothing was recorded",
        "in a finalizer", "called from a trace function" }
      local function refused(why)
        for _, text in ipairs(refusals) do
          if why:find(text, 1, true) then return true end
        end
      end
      local turn = 0
      release = function()
        if busy then return end
        busy, released, turn = true, released + 1, turn % #steps + 1
        local ok, why = pcall(steps[turn])
        if not ok and not refused(tostring(why)) then
          print(way.name, turn, why)
        end
        busy = false
      end
      for _, one in ipairs(torture.ways()) do
        for _, path in ipairs { "", arg[3] } do
          way, file = one, path ~= "" and path or nil
          local before = released
          for i = 1, rounds do
            pcall(start)
            for k = 1, 4 do
              litter(4)
              torture.work()
              load("return 1", "=" .. (i + k) % 50)()
            end
            collectgarbage()
            busy = true
            profiler.stop()
            local p = profiler.snapshot()
            assert(not p.meta.ended, p.meta.ended)
            helper.check(p)
            busy = false
          end
          assert(released > before, way.name)
        end
      end
      os.remove(arg[3] .. ".saved")
      print "good"]], 4)
  end)

  it("cannot ask for the time of the collector", function()
    run [[
      if not require "cprof.core".drives() then print "good" return end
      local why
      release = function()
        why = why or select(2, pcall(profiler.start, { gc = true })) or ""
        profiler.stop()
      end
      litter(1)
      collectgarbage()
      assert(why == "" or why:find("start: option 'gc' cannot be given " ..
        "in a finalizer, while the collector is at work", 1, true), why)
      print "good"]]
  end)

  it("may end frames, in which no call was seen", function()
    run [[
      local ended
      release = function()
        if profiler.frame() then ended = ended + 1 end
      end
      for _, options in ipairs { {}, { mode = "line" }, { callsites = true },
        { recursion = "fold" }, { gc = drives }, { memory = true } } do
        profiler.start(options)
        ended = 0
        local function leaf(n) litter(n) end
        for i = 1, rounds do
          leaf(5)
          if i % 50 == 0 then collectgarbage() end
        end
        profiler.stop()
        local p = helper.check(profiler.snapshot())
        assert(ended > 0 and p.frames.ended == ended)
        assert(helper.find(p, leaf).calls == rounds)
      end
      print "good"]]
  end)

  it("may run coroutines, new ones and old ones, in each mode", function()
    run([[
      local old = coroutine.wrap(function()
        while true do coroutine.yield(released) end
      end)
      local function step(n)
        if n > 0 then step(n - 1) end
        coroutine.yield(n)
      end
      old()
      release = function()
        released = released + 1
        old()
        local new = coroutine.wrap(step)
        new(3)
        new()
        if released % 3 == 0 then
          coroutine.close(coroutine.create(step))
        end
      end
      local function work(i)
        litter(3)
        load("local function f() return 1 end return f()", "=" .. i % 50)()
        coroutine.wrap(function() litter(2) coroutine.yield() end)()
      end
      for _, options in ipairs { {}, { mode = "line" },
        { mode = "line", lines = { "1" } }, { mode = "count" },
        { mode = "trace", trace = function() end },
        { include = { "/./" } }, { exclude = { "nothing" } },
        { callsites = true }, { recursion = "fold" }, { memory = true },
        { memory = "live" }, { gc = drives }, { file = arg[3] },
        { mode = "sample" } } do
        local started, why = pcall(profiler.start, options)
        if started then
          for i = 1, rounds do work(i) end
          assert(profiler.stop())
          local p = profiler.snapshot()
          assert(not p.meta.ended, p.meta.ended)
          helper.check(p)
          assert(p.samples or helper.find(p, work).calls == rounds)
        else assert(why:find "needs to read Lua", why)
        end
      end
      assert(released > rounds, released)
      print "good"]], 200)
  end)

  it("may enter zones while a filter or a trace is asked", function()
    run([[
      release = function()
        released = released + 1
        profiler.enter("part", released)
        profiler.leave "part"
      end
      local made = {}
      local function work(i)
        litter(5)
        for k = 1, 10 do
          load("local function f() return 1 end f()", "=" .. i * 10 + k)()
        end
        local function deep(n) if n > 0 then deep(n - 1) end end
        deep(i % 50)
      end
      for _, options in ipairs {
        { include = { "/./" } }, { exclude = { "nothing" } },
        { mode = "line", lines = { "1" } },
        { mode = "trace", trace = function(...) made[1] = { ... } end },
        { mode = "trace", trace = "/dev/null", include = { "/./" } },
      } do
        profiler.start(options)
        for i = 1, rounds do work(i) end
        profiler.stop()
        local p = helper.check(profiler.snapshot())
        assert(not p.meta.ended, p.meta.ended)
        assert(helper.find(p, work).calls == rounds)
      end
      assert(released > rounds)
      print "good"]], 100)
  end)

  -- a deep recursion in which each function is new, and a filter is asked
  local new_functions = [[
    local k = 0
    local function deep(n)
      k = k + 1
      litter(1)
      load("return function() end", "=c" .. k)()()
      if n > 0 then return (deep(n - 1)) end
    end
    local filters = { { exclude = { "nothing" } },
      { include = { "/./" }, mode = "line" },
      { mode = "line", lines = { "c" } },
      { exclude = { "nothing" }, callsites = true },
      { exclude = { "nothing" }, recursion = "fold" } }
  ]]

  it("may enter zones, and leave them open, when a filter was asked",
    function()
      run(new_functions .. [[
        release = function() released = released + 1 profiler.enter "z" end
        for _, options in ipairs(filters) do
          profiler.start(options)
          for i = 1, rounds do deep(i % 70) end
          profiler.stop()
          local p = helper.check(profiler.snapshot())
          assert(not p.meta.ended, p.meta.ended)
        end
        assert(released > rounds)
        print "good"]], 100)
    end)

  it("may stop, start and pause when a filter was asked", function()
    run(new_functions .. [[
      local options, stopped, paused = nil, 0, 0
      release = function()
        if not profiler.running() then return end
        released = released + 1
        if released % 2 == 0 then
          if not profiler.stop() then return end
          profiler.start(options)
          stopped = stopped + 1
        elseif profiler.pause() and profiler.resume() then
          paused = paused + 1
        end
      end
      for i = 1, #filters do
        options = filters[i]
        options.compensate = false
        profiler.start(options)
        for n = 1, rounds do deep(n % 70) end
        assert(profiler.stop())
        helper.check(profiler.snapshot())
      end
      assert(stopped > 10 and paused > 10)
      assert(stopped + paused == released, stopped + paused .. released)
      print "good"]], 40)
  end)

end)

describe("the collector", function()
  -- The collector's settings; its mode is known only by setting another one.
  local function settings()
    local running = collectgarbage "isrunning"
    local mode = collectgarbage "incremental"
    collectgarbage(mode)
    return running, mode
  end

  after_each(function()
    collectgarbage "restart"
    collectgarbage "incremental"
    require "cprof".stop()
  end)

  it("is set as before after all that stops it", function(dir)
    local path = dir:file "x.cprof"
    local function leaf() end
    local calls = {
      start = function() profiler.start { file = path } end,
      snapshot = profiler.snapshot,
      report = profiler.report,
      frame = profiler.frame,
      load = function() return profiler.load(path) end,
      save = function() return profiler.snapshot():save(path .. "2") end,
      calibrate = profiler.calibrate,
      stop = profiler.stop,
      refused = function() return pcall(profiler.start, { file = "/" }) end,
    }
    for _, mode in ipairs(modes) do
      for _, running in ipairs { "restart", "stop" } do
        collectgarbage(mode)
        collectgarbage(running)
        local is, was = settings()
        assert.equal(mode, was)
        assert.equal(running == "restart", is)
        for _, name in ipairs { "start", "snapshot", "report", "frame",
          "load", "save", "calibrate", "stop", "refused" } do
          leaf()
          calls[name]()
          is, was = settings()
          assert.equal(mode, was, name)
          assert.equal(running == "restart", is, name)
        end
      end
    end
  end)

  it("is set as before when memory runs out meanwhile", function()
    local code = [[
      local profiler = require "cprof"
      collectgarbage(%q)
      collectgarbage(%q)
      local function leaf() end
      profiler.start { compensate = false, mode = "line" }
      for i = 1, 50 do load("local f = ... f()", "=" .. i)(leaf) end
      profiler.frame()
      profiler.stop()
      arm()
      local ok, why = pcall(profiler.snapshot)
      disarm()
      assert(collectgarbage "isrunning" == %s)
      local mode = collectgarbage "incremental"
      assert(mode == %q, mode)
      if not ok then assert(tostring(why):find "memory", why) end
      require "helper".check(profiler.snapshot())
      return ok and "complete" or "failed"]]
    for _, memory in ipairs { "cprof", "lua" } do
      for i, mode in ipairs(modes) do
        local running = i == 1
        local s = code:format(mode, running and "restart" or "stop",
          running, mode)
        local result, status, asked = host.memory(s, memory, -1)
        assert.equal(0, status, result)
        assert.equal("complete", result)
        local failed, step = 0, math.max(1, asked // 60)
        for n = 0, asked - 1, helper.slow and step * 10 or step do
          local said, how, _, left = host.memory(s, memory, n)
          assert.equal(0, how, said)
          assert.equal(0, left)
          if said == "failed" then failed = failed + 1 end
        end
        assert.is_true(failed > 0)
      end
    end
  end)

  local comes = releases.it(_ENV, releases.collects_sooner())
  comes("comes when it would have come without a profiler", function()
    local live = {}
    for i = 1, 200000 do live[i] = { i } end
    collectgarbage "collect"
    local collected = false
    setmetatable({}, { __gc = function() collected = true end })
    -- as much again may be allocated until the next collection
    for _ = 1, 10 do
      profiler.start { compensate = false }
      profiler.snapshot()
      profiler.stop()
      for i = 1, 2000 do live[-i] = { i } end
    end
    assert.is_false(collected)
    collectgarbage "collect"
    assert.is_true(collected)
    assert.same({ 1 }, live[1])
  end)

  it("has nothing to make up for when a filter collects", function()
    run([[
      local collect, cycles, explicit = false, 0, 0
      local watch = {}
      watch.__gc = function()
        cycles = cycles + 1
        setmetatable({}, watch)
      end
      local live = {}
      for i = 1, 200000 do live[i] = { i } end
      filtered = function()
        if collect then
          explicit = explicit + 1
          collectgarbage()
        end
      end
      profiler.start { exclude = { "nothing" } }
      collectgarbage()
      setmetatable({}, watch)
      collect = true
      for i = 1, 5 do load("return function() end", "=c" .. i)()() end
      collect = false
      assert(profiler.stop())
      assert(explicit >= 5)
      assert(cycles <= explicit + 1, cycles .. " " .. explicit)
      -- the collector then runs again by itself
      local before = cycles
      for i = 1, 3000000 do live[i % 1000] = { i } end
      assert(cycles > before)
      print "good"]], nil, [[
      local filtered
      local find = string.find
      string.find = function(...)  -- before the profiler is loaded
        if filtered then filtered() end
        return find(...)
      end
    ]])
  end)
end)
