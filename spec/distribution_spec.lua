-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local nomemory = require "nomemory"
local profiler = require "cprof"

local us <const> = 1000

-- with a driven clock, only `pass` takes time
local pass <const> = driven.pass

local function record(f, options)
  options = options or {}
  options.distribution = true
  return driven.parts(f, options)
end

-- calls that have ended, and the longest of them in µs
local function ended(p, f)
  local row = type(f) == "string" and helper.named(p, f) or helper.find(p, f)
  return { row.timed_calls, row.max_ns and row.max_ns // us }
end

-- the calls in the steps of a histogram
local function counted(row)
  local calls = 0
  for _, step in ipairs(row.durations) do
    assert.is_true(step[1] < step[2] and step[3] > 0)
    calls = calls + step[3]
  end
  return calls
end

local function spend(n) pass(n * us) end

describe("durations of calls", function()
  for _, mode in ipairs { "call", "line" } do
    it("have a maximum, percentiles and a histogram in mode " .. mode,
      function()
        local function work()
          for i = 1, 100 do spend(i) end
        end
        local p = helper.check(record(work, { mode = mode }))
        local f = helper.find(p, spend)
        assert.is_true(p.meta.distribution)
        assert.equal(100, f.timed_calls)
        assert.equal(100 * us, f.max_ns)
        -- the middle of the step that has the call of 50 µs, of 90 µs
        assert.equal((49152 + 52429) // 2, f.p50_ns)
        assert.equal((85197 + 91751) // 2, f.p90_ns)
        -- the step of the call of 99 µs has a middle beyond the longest call
        assert.equal(100 * us, f.p99_ns)
        assert.equal(100, counted(f))
        for _, step in ipairs(f.durations) do
          assert.is_true(step[2] - step[1] <= math.ceil(step[1] / 10))
        end
        assert.same({ 1, 5050 }, ended(p, work))
        -- C functions have durations, too
        assert.same({ 100, 100 }, ended(p, "driven.pass"))
      end)
  end

  it("find the one slow call among many", function()
    local function work()
      for i = 1, 50 do spend(i == 37 and 20000 or 10) end
    end
    local f = helper.find(record(work), spend)
    assert.equal(20000 * us, f.max_ns)
    assert.is_true(math.abs(f.p50_ns - 10 * us) <= 500)
    assert.equal(f.p50_ns, f.p90_ns)
    assert.is_true(f.p99_ns > 19000 * us)
  end)

  it("have the outermost calls of a recursion", function()
    local twice
    local function once(n)
      spend(10)
      if n > 0 then twice(n - 1) end
    end
    function twice(n) once(n) once(n) end
    local function work() once(0) once(3) twice(1) end
    for _, options in ipairs { {}, { recursion = "fold" },
      { recursion = "full" }, { callsites = true },
      { mode = "line" }, { mode = "line", recursion = "fold" } } do
      local p = record(work, options)
      -- 4 outermost calls of once: from work 2, through twice(1) 2
      assert.same({ 4, 150 }, ended(p, once), next(options))
      assert.same({ 2, 140 }, ended(p, twice), next(options))
      assert.same({ 1, 220 }, ended(p, work), next(options))
    end
  end)

  for _, recursion in ipairs { "full", "fold" } do
    it("have the outermost calls of recursions of all shapes: " .. recursion,
      function()
        local active, outermost, seed = {}, {}, 1
        local function draw(n)
          seed = (seed * 1103515245 + 12345) % 0x80000000
          return seed // 65536 % n + 1
        end
        local call
        local function enter(name)
          active[name] = (active[name] or 0) + 1
          if active[name] == 1 then
            outermost[name] = (outermost[name] or 0) + 1
          end
        end
        local function go(name, depth)
          enter(name)
          for _ = 1, depth > 0 and draw(4) or 0 do call(depth - 1) end
          active[name] = active[name] - 1
        end
        local all = {
          function(depth) go(1, depth) end,
          function(depth) go(2, depth) end,
          function(depth) go(3, depth) end,
          function(depth) pcall(go, 4, depth) end,
          function(depth)
            go(5, depth)
            if draw(8) == 1 then error "thrown" end
          end,
          function(depth) coroutine.wrap(go)(6, depth) end,
        }
        function call(depth)
          local i = draw(#all)
          enter(-i)
          pcall(all[i], depth)
          active[-i] = active[-i] - 1
        end
        local p = record(function() call(8) end, { recursion = recursion })
        for i, f in ipairs(all) do
          local row = helper.find(p, f)
          assert.equal(outermost[-i], row and row.timed_calls, i)
        end
      end)
  end

  it("have the outermost calls of a recursion that max_nodes folds",
    function()
      local output = helper.run [[
        local helper = require "helper"
        local function down(n) if n > 0 then down(n - 1) end end
        local p = helper.record(function()
          for _ = 1, 3 do down(50) end
        end, { distribution = true, max_nodes = 16 })
        local f = helper.find(p, down)
        print(f.calls, f.timed_calls)]]
      assert.equal("153\t3\n", output)
    end)

  it("have the outermost calls where a recursion goes on in a coroutine",
    function()
      local function down(n)
        spend(10)
        if n > 0 then coroutine.wrap(down)(n - 1) end
      end
      for _, recursion in ipairs { "auto", "fold" } do
        local p = record(function() down(2) down(0) end,
          { recursion = recursion })
        assert.same({ 2, 30 }, ended(p, down))
      end
    end)

  it("end with a tail call", function()
    local function last() spend(100) end
    local function first() spend(10) return last() end
    local p = record(function() for _ = 1, 3 do first() end end)
    assert.same({ 3, 10 }, ended(p, first))
    assert.same({ 3, 100 }, ended(p, last))
  end)

  it("end with an error", function()
    local function inner(n)
      spend(n)
      error "x"
    end
    local function outer(n)
      local _ <close> = setmetatable({}, { __close = function() spend(1) end })
      inner(n)
    end
    local function try(n) pcall(outer, n) end
    local function work()
      for i = 1, 4 do
        try(i * 10)
        spend(1000)
      end
    end
    for _, recursion in ipairs { "auto", "fold" } do
      local p = helper.check(record(work, { recursion = recursion }))
      assert.same({ 4, 40 }, ended(p, inner))
      -- __close metamethods run after the call has ended
      assert.same({ 4, 40 }, ended(p, outer))
      assert.same({ 4, 41 }, ended(p, try))
    end
  end)

  it("leave out the time in which their coroutine was suspended", function()
    local function step(n)
      spend(n)
      coroutine.yield()
      spend(n)
    end
    local function body() for i = 1, 3 do step(i * 10) end end
    local function resume(co)
      coroutine.resume(co)
      spend(1)
    end
    local function work()
      local co, other = coroutine.create(body), coroutine.create(body)
      for _ = 1, 4 do
        resume(co)
        spend(5000)
        resume(other)
        spend(7000)
      end
    end
    local p = helper.check(record(work))
    assert.same({ 6, 60 }, ended(p, step))
    assert.same({ 2, 120 }, ended(p, body))
    -- at its third resume, it ends a step of 20 µs and begins one of 30 µs
    assert.same({ 8, 51 }, ended(p, resume))
    assert.same({ 1, 48248 }, ended(p, work))
  end)

  it("end in a coroutine that an error ended", function()
    local function failing(n)
      spend(n)
      coroutine.yield()
      spend(n)
      error "x"
    end
    local function work()
      for i = 1, 3 do
        local co = coroutine.create(failing)
        coroutine.resume(co, i * 10)
        spend(1000)
        coroutine.resume(co)
        spend(1000)
      end
    end
    local p = record(work)
    assert.same({ 3, 60 }, ended(p, failing))
    assert.same({ 6, 30 }, ended(p, "coroutine.resume"))
  end)

  it("are not known of calls that have not ended, or began before",
    function()
      local function work()
        spend(10)
        profiler.start { distribution = true, compensate = false }
        spend(20)
        local co = coroutine.create(function()
          spend(30)
          coroutine.yield()
        end)
        coroutine.resume(co)
      end
      local function all()
        work()
        spend(40)
        profiler.stop()
      end
      all()
      local p = profiler.snapshot()
      assert.equal(3, helper.find(p, spend).timed_calls)
      assert.is_nil(helper.find(p, work).timed_calls)
      assert.is_nil(helper.find(p, all).max_ns)
      assert.is_nil(helper.find(p, all).durations)
      local body
      for _, f in ipairs(p.functions) do
        if f.line > helper.find(p, work).line and
           f.last_line < helper.find(p, work).last_line then
          body = f
        end
      end
      assert.equal(1, body.calls)
      assert.is_nil(body.timed_calls)
    end)

  it("leave out pauses", function()
    local function long()
      spend(10)
      profiler.pause()
      spend(1000)
      profiler.resume()
      spend(20)
    end
    local function work() long() long() end
    local p = record(work)
    assert.same({ 2, 30 }, ended(p, long))
    assert.same({ 1, 60 }, ended(p, work))
  end)

  it("leave out pauses while a coroutine is suspended", function()
    local function body()
      spend(10)
      coroutine.yield()
      spend(20)
    end
    local function work()
      local co = coroutine.create(body)
      coroutine.resume(co)
      profiler.pause()
      spend(1000)
      profiler.resume()
      spend(3000)
      coroutine.resume(co)
    end
    local p = record(work)
    assert.same({ 1, 30 }, ended(p, body))
    assert.same({ 1, 3030 }, ended(p, work))
  end)

  it("leave out the time when other programs had the processor", function()
    local function work() pass(10 * us, 0, 5000 * us) end
    local f = helper.find(record(work), work)
    assert.is_true(f.max_ns < 20 * us, f.max_ns)
    assert.equal(f.total_ns, f.max_ns)
  end)

  -- what the slowest calls of a function took, and what came besides, in µs
  local function parts(p, f)
    local out = {}
    local row = type(f) == "string" and helper.named(p, f) or
      helper.find(p, f)
    for i, c in ipairs(row.slowest) do
      assert.equal(c.took_ns, c.cpu_ns + c.wait_ns)
      assert.equal(c.wall_ns, c.took_ns + c.preempted_ns + c.overhead_ns)
      out[i] = { c.cpu_ns // us, c.wait_ns // us, c.preempted_ns // us }
    end
    return out
  end

  for _, mode in ipairs { "call", "line" } do
    it("have CPU time, waiting and preemption apart in mode " .. mode,
      function()
        local function work(...)
          for _ = 1, 3 do pass(...) end
        end
        local p = record(function()
          work(3000 * us, 0, 0)
          work(1000 * us, 7000 * us, 0)
          work(1000 * us, 0, 90000 * us)
        end, { mode = mode })
        local list = parts(p, work)
        local function near(want, got)
          assert.is_true(math.abs(want - got) < 100, got)
        end
        for i, want in ipairs { { 3000, 21000, 0 }, { 9000, 0, 0 },
          { 3000, 0, 270000 } } do
          for k = 1, 3 do near(want[k], list[i][k]) end
        end
      end)
  end

  it("have no waiting of the time in which a coroutine was suspended",
    function()
      local function inner() coroutine.yield() end
      local function body()
        pass(0, 1000 * us)
        inner()
        pass(2000 * us)
      end
      for _, mode in ipairs { "call", "line" } do
        local p = record(function()
          local resume = coroutine.wrap(body)
          resume()
          pass(0, 50000 * us, 30000 * us)
          profiler.pause()
          pass(0, 9000 * us)
          profiler.resume()
          resume()
        end, { mode = mode })
        assert.same({ 0, 0, 0 }, parts(p, inner)[1])
        local c = helper.find(p, body).slowest[1]
        assert.equal(3000 * us, c.wall_ns)
        assert.equal(helper.find(p, body).total_wait_ns, c.wait_ns)
        assert.is_true(c.wait_ns > 900 * us)
      end
    end)

  it("have parts on deep stacks, and in zones", function()
    local function down(n)
      if n > 0 then down(n - 1) else pass(0, 5000 * us) end
      return n
    end
    local p = record(function()
      pass(0, 5000 * us)
      profiler.enter "outer"
      down(3)
      profiler.enter "inner"
      down(100)
      profiler.leave "inner"
      profiler.leave "outer"
    end)
    local all = helper.find(p, down).slowest
    assert.equal(2, #all)
    assert.equal(helper.find(p, down).total_wait_ns,
      all[1].wait_ns + all[2].wait_ns)
    assert.equal(helper.named(p, "inner").total_wait_ns,
      helper.named(p, "inner").slowest[1].wait_ns)
    assert.equal(helper.named(p, "outer").total_wait_ns,
      helper.named(p, "outer").slowest[1].wait_ns)
  end)

  it("have their overhead beside them", function()
    local function leaf() end
    local function work(n) for _ = 1, n do leaf() end end
    for _, mode in ipairs { "call", "line" } do
      local p = driven.compensate(3000, 1000, function() work(1000) end,
        { mode = mode, distribution = true })
      local c = helper.find(p, work).slowest[1]
      assert.is_true(c.overhead_ns > 0)
      assert.equal(c.wall_ns, c.took_ns + c.preempted_ns + c.overhead_ns)
      -- the clock is that of the processor: there is no waiting
      assert.is_nil(c.cpu_ns)
      assert.is_nil(c.wait_ns)
    end
  end)

  it("tell in which frame the slowest calls ended", function()
    local p = record(function()
      for i = 1, 4 do
        spend(i * 100)
        profiler.frame()
      end
    end)
    local frames = {}
    for i, c in ipairs(helper.find(p, spend).slowest) do
      frames[i] = c.frame or 0
    end
    -- the first frame is not known before it ends
    assert.same({ 4, 3, 2, 0 }, frames)
  end)

  it("of zones are those of functions", function()
    local function work()
      for i = 1, 10 do
        profiler.enter "part"
        spend(i)
        profiler.enter "inner"
        spend(100)
        profiler.leave "inner"
        profiler.leave "part"
      end
      pcall(function()
        local _ <close> = profiler.zone "part"
        spend(500)
        error "x"
      end)
    end
    for _, recursion in ipairs { "auto", "fold" } do
      local p = record(work, { recursion = recursion })
      assert.same({ 11, 500 }, ended(p, "part"))
      assert.same({ 10, 100 }, ended(p, "inner"))
    end
  end)

  it("are off by default", function()
    local p = driven.parts(function() spend(1) end)
    assert.is_false(p.meta.distribution)
    local f = helper.find(p, spend)
    assert.is_nil(f.timed_calls)
    assert.is_nil(f.max_ns)
    assert.is_nil(f.durations)
  end)

  it("are only in modes with times of calls", function()
    for _, mode in ipairs { "trace", "count", "sample" } do
      assert.has_error(function()
        profiler.start { mode = mode, distribution = true }
      end, "start: option 'distribution' needs mode = \"call\" or \"line\"")
    end
  end)

  it("are forgotten with what was recorded", function()
    local function work()
      spend(500)
      local co = coroutine.create(function()
        spend(10)
        coroutine.yield()
        spend(300)
        spend(20)
      end)
      coroutine.resume(co)
      profiler.reset()
      spend(20)
      coroutine.resume(co)
    end
    local function outer() work() end
    for _, mode in ipairs { "call", "line" } do
      local p = record(outer, { mode = mode })
      assert.same({ 3, 300 }, ended(p, spend))
      assert.is_nil(helper.find(p, work).timed_calls)
    end
  end)

  it("are forgotten in a pause, with the functions that pause ends", function()
    local function body()
      spend(10)
      coroutine.yield()
      spend(10)
    end
    local function off() profiler.pause() end
    local p = record(function()
      local co = coroutine.wrap(body)
      co()
      off()
      profiler.reset()
      profiler.enter "z"
      profiler.resume()
      co()
      spend(20)
    end)
    assert.same({ 2, 20 }, ended(p, spend))
  end)

  it("are harmless without memory", function()
    nomemory.recorded("distribution = true, compensate = false", [[
      local function f(n) if n > 0 then return (f(n - 1)) end end
      for i = 1, 60 do
        load("return function() end")()()
        pcall(error)
        coroutine.wrap(f)(i)
      end]])
  end)
end)

describe("durations of calls in files", function()
  local function histograms(p)
    local out = {}
    for _, f in ipairs(p.functions) do out[f.title] = f.durations end
    return out
  end

  local function work() for i = 1, 20 do spend(i) end end

  it("are complete, and are saved", function(dir)
    local path, other = dir:file "x.cprof", dir:file "y.cprof"
    local p = record(work, { file = path })
    assert.is_truthy(next(histograms(p)))
    for _, from in ipairs { path, other } do
      if from == other then assert(p:save(other)) end
      local again = assert(profiler.load(from))
      assert.is_true(again.meta.distribution)
      assert.same(histograms(p), histograms(again))
      assert.equal(20 * us, helper.find(again, spend).max_ns)
    end
  end)

  it("can be read while they are recorded", function(dir)
    local path, live = dir:file "x.cprof"
    record(function()
      spend(30)
      live = assert(profiler.load(path))
      spend(20)
    end, { file = path })
    assert.same({ 1, 30 }, ended(live, spend))
  end)

  it("begin again with each file", function(dir)
    local first, second
    record(function()
      spend(30)
      first = profiler.snapshot()
      profiler.reset()
      spend(20)
      spend(10)
      second = profiler.snapshot()
    end, { file = dir:file "x.cprof" })
    assert.same({ 1, 30 }, ended(first, spend))
    assert.same({ 2, 20 }, ended(second, spend))
    assert.same({ 2, 20 },
      ended(assert(profiler.load(dir:file "x.cprof")), spend))
  end)

  it("are added up", function(dir)
    local one, two = record(work), record(function()
      for _ = 1, 30 do spend(1000) end
    end)
    assert(one:save(dir:file "1.cprof"))
    assert(two:save(dir:file "2.cprof"))
    command.must("merge", dir:file "1.cprof",
      dir:file "2.cprof", "-o", dir:file "sum.cprof")
    local sum = helper.find(assert(profiler.load(dir:file "sum.cprof")), spend)
    assert.equal(50, sum.timed_calls)
    assert.equal(1000 * us, sum.max_ns)
    assert.is_true(sum.p50_ns > 900 * us)
    assert.equal(50, counted(sum))
    assert(driven.parts(work):save(dir:file "3.cprof"))
    local why = command.refused("merge", dir:file "1.cprof",
      dir:file "3.cprof", "-o", dir:file "sum.cprof")
    assert.has_text("with and without durations of calls", why)
  end)

  it("are refused if they are damaged", function(dir)
    local path, live = dir:file "x.cprof", nil
    record(function()
      work()
      live = command.read(path)  -- without a checksum
    end, { file = path })
    local at = live:find(("I8I8"):pack(20 * us, 210 * us), 1, true)
    assert.is_truthy(at)
    local function changed(field, bytes)
      bytes = live:sub(at, at + 8 * field - 1) .. bytes
      return profiler.load(dir:file("y.cprof", live:sub(1, at - 1) ..
        bytes .. live:sub(at + #bytes)))
    end
    -- fields of a slow call: what it took, when it ended, and its parts
    for field = 0, 4 do
      local _, why = changed(field, ("I8"):pack(1 << 62))
      assert.equal("damaged: durations of calls", why:match ": (.*)$")
    end
    -- the node of a slow call may be one that the header of a live file does
    -- not know yet
    assert(changed(5, ("I4"):pack(0xffffffff)))
    assert(profiler.load(dir:file("y.cprof", live)))
  end)
end)

describe("durations of calls in reports", function()
  local function small() spend(1) end
  local function uneven(i) spend(i == 3 and 900 or 10) end
  local function work()
    for i = 1, 10 do uneven(i) end
    for _ = 1, 5000 do small() end
  end

  local function lines_of(text)
    local out = {}
    for line in text:gmatch "[^\n]+" do out[#out + 1] = line end
    return out
  end

  it("are the maximum where it says more than the mean", function()
    local text = record(work):report { mode = "total" }
    assert.matches("calls +max  function", text)
    assert.has_text(" 10  900µs  uneven ", text)
    assert.matches(" 5,000 +small ", text)
    assert.has_no_text(" max ", driven.parts(work):report())
  end)

  it("sort functions", function()
    local list = lines_of(record(work):report { mode = "self", sort = "max" })
    local at = {}
    for i, line in ipairs(list) do
      for _, name in ipairs { "work", "uneven", "small" } do
        if line:find("  " .. name .. " ", 1, true) then at[name] = i end
      end
    end
    assert.is_true(at.work < at.uneven and at.uneven < at.small)
    assert.matches(" 1.00µs  small ", list[at.small])
    assert.has_error(function()
      driven.parts(work):report { sort = "max" }
    end, "report: option 'sort' must not be \"max\" for a profile without " ..
      "durations of calls; record with start { distribution = true }")
  end)

  it("are percentiles and a histogram of a function", function(dir)
    local path = dir:file "x.cprof"
    assert(record(work):save(path))
    local out = command.cprof("show", path, "uneven")
    assert.has_text("10 complete calls: median 10.2µs, p90 10.2µs, p99 " ..
      "900µs, max 900µs", out)
    assert.matches("\n9.83µs +10.7µs +9  #+\n", out)
    assert.matches("\n *891µs +944µs +1  #+\n", out)
    assert.has_no_text("complete call", command.cprof("show", path, "work"))
  end)

  it("are in exports as JSON", function()
    local out = helper.exported(record(work), "json")
    local read = require "dkjson".decode(out)
    for _, f in ipairs(read.functions) do
      if f.name == "uneven" then
        assert.equal(10, f.timed_calls)
        assert.equal(900 * us, f.max_ns)
        assert.equal(9, f.durations[1][3])
        assert.equal(900 * us, f.slowest[1].took_ns)
        return
      end
    end
    error "not found"
  end)
end)

describe("the slowest calls", function()
  local function inner(n) spend(n) end
  local function outer(i)
    inner(i == 7 and 3000 or 10)
    spend(i == 20 and 2000 or 1)
  end
  local function first() for i = 1, 15 do outer(i) end end
  local function second() for i = 16, 30 do outer(i) end end
  local function work()
    first()
    coroutine.wrap(second)()
  end

  -- the names of the functions from `work` to the call
  local function way(p, id)
    local names = {}
    repeat
      local node = p.nodes[id]
      table.insert(names, 1, p.functions[node.func].name)
      id = node.parent
    until names[1] == "work"
    return table.concat(names, " ")
  end

  it("are known by their time, their path and their coroutine", function()
    local p = record(work)
    local list = helper.find(p, outer).slowest
    assert.equal(8, #list)
    assert.equal(3001 * us, list[1].took_ns)
    assert.equal(2010 * us, list[2].took_ns)
    assert.equal(11 * us, list[3].took_ns)
    assert.equal("work first outer", way(p, list[1].node))
    assert.equal("work coroutine.wrap function second outer",
      way(p, list[2].node))
    assert.equal(1, list[1].coroutine)
    assert.is_true(list[2].coroutine > 1)
    assert.equal((6 * 11 + 3001) * us, list[1].ended_ns)
    assert.equal((14 * 11 + 3001 + 4 * 11 + 2010) * us, list[2].ended_ns)
  end)

  it("are in files; in sums without their paths", function(dir)
    local path, other = dir:file "x.cprof", dir:file "y.cprof"
    local p = record(work, { file = path })
    assert(p:save(other))
    local list = helper.find(p, outer).slowest
    for _, from in ipairs { path, other } do
      assert.same(list, helper.find(assert(profiler.load(from)),
        outer).slowest)
    end
    command.must("merge", path, other, "-o", dir:file "sum.cprof")
    local sums = helper.find(assert(profiler.load(dir:file "sum.cprof")),
      outer).slowest
    for i, ns in ipairs { 3001 * us, 3001 * us, 2010 * us } do
      assert.same({ took_ns = ns, cpu_ns = ns, wait_ns = 0, preempted_ns = 0,
        overhead_ns = 0, wall_ns = ns }, sums[i])
    end
    local out = command.cprof("slow", dir:file "sum.cprof", "outer")
    assert.matches("^ *took +CPU +median +function\n", out)
    assert.matches("\n3.00ms +3.00ms +%S+ +outer", out)
  end)

  it("are listed without their callers, if these were slow only for that",
    function(dir)
    local file = dir:file "x.cprof"
    assert(record(work):save(file))
    local out = command.must("slow", file)
    -- `spend` took the time of all; `outer` and `inner` called it
    assert.matches("\n3.00ms +3.00ms +10.2µs +%S+ +driven.pass ", out)
    assert.has_text("first → outer → inner → spend", out)
    assert.has_text("→ second → outer → spend", out)
    assert.has_no_text("  outer  ", out)
    out = command.cprof("slow", file, "outer")
    assert.matches("\n3.00ms +3.00ms +%S+ +%S+ +outer ", out)
    assert.matches("\n2.01ms +2.01ms +%S+ +%S+ +%d+ +outer ", out)
    assert.has_no_text("  inner  ", out)
    out = command.cprof("slow", "--limit", "1", file, "outer")
    assert.no_matches("2.01ms", out)
    out = command.cprof("show", file, "outer")
    assert.matches("\nslowest calls\n[^\n]*\n3.00ms ", out)
  end)

  it("are listed for a range of time", function(dir)
    local file = dir:file "x.cprof"
    local p = record(work)
    assert(p:save(file))
    local long, short = table.unpack(helper.find(p, outer).slowest)
    local function of(from, to)
      local out = command.cprof("slow", "--from", from / 1e9 .. "s", "--to",
        to / 1e9 .. "s", file, "outer")
      return out:find "\n3.00ms " ~= nil, out:find "\n2.01ms " ~= nil
    end
    local last = math.max(long.ended_ns, short.ended_ns)
    assert.same({ true, true }, { of(0, last) })
    for i, call in ipairs { long, short } do
      assert.same({ i == 1, i == 2 }, { of(call.ended_ns - 2000,
        call.ended_ns - 1000) })
    end
    local out = command.cprof("slow", "--to", "1us", file)
    assert.equal("no call in this time took more than twice the median of " ..
      "its function\n", out)
    local _, outside = command.cprof("slow", "--from", "100s", file)
    assert.matches("^cprof slow: 100s is not within the recording, which " ..
      "took %S+\n$", outside)
    assert(command.cprof("merge", file, file, "-o", dir:file "sum.cprof"))
    local _, backwards = command.cprof("slow", "--from", "2s", "--to", "1s",
      file)
    assert.equal("cprof slow: the range must end after it begins, got 2s to " ..
      "1s\n", backwards)
    local _, why, status = command.cprof("slow", "--from", "1us",
      dir:file "sum.cprof")
    assert.same({ 2, "cprof slow: it is not known when calls ended: the " ..
      "profile is a sum of several\n" }, { status, why })
  end)

  it("have CPU time and waiting in all rows, also where it is none",
    function(dir)
      local file = dir:file "x.cprof"
      local function spent(...) pass(...) end
      assert(record(function()
        for _ = 1, 10 do spent(10 * us) end
        spent(3000 * us)
        spent(1000 * us, 1000 * us)
      end):save(file))
      local out = command.cprof("slow", file, "spent")
      assert.matches("^ *took +CPU +waiting +median ", out)
      assert.matches("\n3.00ms +3.00ms +0ns +10.%dµs ", out)
      assert.matches("\n2.00ms +1.00ms +%S+ +10.%dµs ", out)
    end)

  it("need durations, and calls that are slow", function(dir)
    local file = dir:file "x.cprof"
    assert(driven.parts(work):save(file))
    local why = command.refused("slow", file)
    assert.has_text("no durations of calls were recorded", why)
    local function even() for _ = 1, 10 do spend(10) end end
    assert(record(even):save(file))
    local out = command.cprof("slow", file, "spend")
    assert.has_text("no call took more than twice", out)
  end)
end)

-- µs that one of ten calls of `uneven` takes
local tail
local function even() spend(10) end
local function uneven(i) spend(i % 10 == 3 and tail or 10) end
local function work()
  for i = 1, 100 do
    uneven(i)
    even()
  end
end

describe("durations of calls in a diff", function()
  it("are those of functions that changed", function(dir)
    tail = 10
    local one, two = dir:file "1.cprof", dir:file "2.cprof"
    assert(record(work):save(one))
    tail = 900
    local p = record(work)
    assert(p:save(two))
    local out = command.must("diff", one, two)
    local shown = out:match "\ndurations of calls\n(.*)$"
    assert.is_truthy(shown, out)
    assert.matches("\n *10.0µs +10.2µs +10.0µs +900µs +10.0µs +900µs +uneven ",
      shown)
    assert.has_no_text(" even ", shown)
    -- also with another measure; not where nothing of it changed
    assert.matches("\n *10.0µs +10.2µs +10.0µs +900µs +10.0µs +900µs +uneven ",
      (command.cprof("diff", "--measure=wall", one, two)))
    assert.has_no_text("durations of calls", command.cprof("diff", one, one))
    assert.has_no_text("durations of calls", command.cprof("diff",
      "--filter=^even", one, two))
    assert(driven.parts(work):save(one))
    assert.has_no_text("durations of calls", command.cprof("diff", one, two))
    assert.has_text(" 900µs  uneven ", p:report({ measure = "cpu",
      mode = "total", sort = "max" }))
  end)
end)

describe("durations of calls in a budget", function()
  it("may be so many times as long as in another run", function(dir)
    tail = 10
    local one, two = dir:file "1.cprof", dir:file "2.cprof"
    assert(record(work):save(one))
    tail = 25
    assert(record(work):save(two))
    local function check(limits, ...)
      local file = dir:file("budget.json", ('{ "version": 1, "functions": ' ..
        '{ "uneven": %s, "even": { "max": 1.5 } } }'):format(limits))
      return command.cprof("check", "--budget", file, ...)
    end
    local out, why, status = check('{ "p50": 1.1, "p99": 3, "max": 2.6 }',
      "--baseline", one, two)
    assert.equal(0, status, out .. why)
    assert.matches("^0 of 4 figures over budget; ", out)
    out, why, status = check('{ "p50": 1.1, "p99": 1.5, "max": 2.4 }',
      "--baseline", one, two)
    assert.same({ "", 1 }, { why, status })
    assert.has_text("over budget: uneven (spec/distribution_spec.lua:", out)
    assert.has_text("): the longest call took 25.0µs, at most 2.4 times " ..
      "10.0µs\n", out)
    assert.has_text("): p99 is 25.0µs, at most 1.5 times 10.0µs\n", out)
    assert.has_text("\n2 of 4 figures over budget; ", out)
    out, why, status = check('{ "max": 2 }', two)
    assert.equal("", out)
    assert.equal(2, status)
    assert.has_text("name a profile with --baseline", why)
    out, why, status = check('{ "max": 0 }', "--baseline", one, two)
    assert.same({ "", 2 }, { out, status })
    assert.has_text("'max' must be a number above 0", why)
    assert(driven.parts(work):save(one))
    out, why, status = check('{ "max": 2 }', "--baseline", one, two)
    assert.same({ "", 2 }, { out, status })
    assert.has_text("has no durations of calls", why)
  end)

  it("are not found where the function was not called", function(dir)
    tail = 10
    local one, two = dir:file "1.cprof", dir:file "2.cprof"
    assert(record(work):save(one))
    assert(record(even):save(two))
    local file = dir:file("budget.json", '{ "version": 1, "functions": ' ..
      '{ "uneven": { "max": 2 }, "even": { "max": 2 } } }')
    local out, _, status = command.cprof("check", "--budget", file,
      "--baseline", two, one)
    assert.equal(1, status)
    assert.matches("not found: uneven [^\n]* runs, or both\n", out)
    out, _, status = command.cprof("check", "--budget", file, "--baseline",
      one, two)
    assert.equal(1, status)
    assert.has_text("not found: uneven: its limits", out)
  end)

  it("stay when it is brought up to date", function(dir)
    tail = 10
    local one = dir:file "1.cprof"
    assert(record(work):save(one))
    local file = dir:file("budget.json", '{ "version": 1, "functions": ' ..
      '{ "uneven": { "calls": 1, "p99": 1.5, "max": 2 } } }')
    command.must("check", "--update", "--budget", file, one)
    assert.has_text('"uneven": { "calls": 100, "p99": 1.5, "max": 2 }',
      command.read(file))
  end)
end)

describe("durations of calls as CSV", function()
  it("are empty where no call has ended", function()
    local function spending() spend(30) end
    local text = helper.exported(record(spending), "csv")
    assert.has_text("total_wait_ns,timed_calls,max_ns,p50_ns,p90_ns,p99_ns\r\n",
      text)
    assert.matches(',"spend",[^\r]*,1,30000,30000,30000,30000\r', text)
    assert.matches(',"%(root%)",[^\r]*,,,,,\r', text)
  end)
end)

describe("cprof run --distribution", function()
  it("records durations", function(dir)
    local path = dir:file "x.cprof"
    command.must("run", "--distribution", "--quiet",
      "-o", path, "-e", "local function f() end for _ = 1, 7 do f() end")
    assert.equal(7, helper.named(assert(profiler.load(path)), "f").timed_calls)
    local why = command.refused("run", "--distribution", "--sample", "-e",
      "")
    assert.has_text("--distribution cannot be combined with --sample", why)
  end)
end)
