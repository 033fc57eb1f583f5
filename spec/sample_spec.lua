-- first: "driven" replaces functions that cprof looks up when it is loaded
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"
local merge = require "cprof.profile.merge"
local profiler = require "cprof"
local releases = require "releases"
local measure = require "cprof.count.measure"
local sampled = require "cprof.count.sampled"
local summary = require "cprof.command.summary"

local direct = core.internals() == "direct"
local machine <const> = command.shell "uname -m"
local slow = helper.slow or os.getenv "CPROF_SANITIZE"

-- seconds of processor time that programs run which a timer interrupts
local long <const> = slow and 2 or 0.3

after_each(function() profiler.stop() end)

-- n samples
local function spin(n)
  for _ = 1, n do local _ = {} end
end

local function spin_some() spin(1000) end

-- n times f
local function often(n, f)
  for _ = 1, n do f() end
end

-- calls f until it has used this many seconds of processor time
local function during(seconds, f)
  local clock = os.clock
  local from = clock()
  repeat f() until clock() - from >= seconds
end

-- the profile of f, with a sample at each new table
local function sample(f, options)
  local p = driven.sample(f, options)
  return p
end

-- a timer takes them, 10,000 a second
local function timed(f)
  profiler.start { mode = "sample", rate = 10000 }
  f()
  profiler.stop()
  local p = profiler.snapshot()
  return p
end

local function record(p, wanted)
  for _, f in ipairs(p.functions) do
    if f.title == wanted or f.name == wanted then return f end
  end
end

-- the samples of a function, without and with its callees
local function samples(p, f)
  f = type(f) == "function" and helper.find(p, f) or
    type(f) == "string" and record(p, f) or nil
  if not f then return 0, 0 end
  return f.self_samples, f.total_samples
end

local function has(own, all, p, f)
  assert.same({ own, all }, { samples(p, f) })
end

describe("mode sample", function()
  it("has the times of frames, but no history", function()
    assert.has_error(function()
      profiler.start { mode = "sample", history = "full" }
    end, 'start: history = "full" needs mode = "call", "line" or "trace"')
    local p = helper.record(function()
      for _ = 1, 5 do spin(10) profiler.frame() end
    end, { mode = "sample" })
    assert.equal(5, p.frames.recorded)
    assert.same({}, p.frames:at(0).rows)
    assert.has_text("\n5 frames\n", p:report { mode = "frames" })
  end)

  it("has the shares of functions in Lua", function()
    local function third() spin(10) spin(10) end
    local function two() spin(10) spin(10) spin(10) spin(10) end
    local p = sample(function()
      often(5, function() third() two() end)
    end)
    assert.equal(300, p.samples)
    has(0, 100, p, third)
    has(0, 200, p, two)
    has(300, 300, p, spin)
    assert.equal(300e6, helper.find(p, spin).self_ns)
    assert.equal(100e6, helper.find(p, third).total_ns)
  end)

  it("has samples and times, but no calls", function()
    local p = sample(function() spin(100) end)
    local f = helper.find(p, spin)
    assert.is_nil(f.calls)
    assert.is_nil(f.self_raw_ns)
    assert.equal(100, f.self_samples)
    assert.equal(100e6, f.self_ns)
    local all = 0
    for _, node in ipairs(p.nodes) do
      assert.is_nil(node.calls)
      all = all + node.self_samples
    end
    assert.equal(p.samples, all)
    assert.equal(p.samples, p.nodes[1].total_samples)
    assert.equal(1000, p.meta.rate)
    -- ticks while cprof works give no samples, but are signals
    assert.is_true(p.meta.signals >= p.samples)
    assert.is_nil(p.meta.uncompensated)
  end)

  it("sees C functions, under those that call them", function()
    local pack = table.pack
    local function make() return pack(1) end
    local p = sample(function() often(100, make) end)
    has(0, 100, p, make)
    has(100, 100, p, "table.pack")
  end)

  it("sees a C function that goes on for long as so many samples", function()
    local wait = driven.wait
    local p = sample(function() wait(500) spin(100) end)
    has(500, 500, p, "driven.wait")
    has(100, 100, p, spin)
  end)

  it("charges C functions that call Lua, and what they call", function()
    local compared = 0
    local function less(a, b)
      spin(3)
      compared = compared + 1
      return a < b
    end
    local t = {}
    for i = 1, 200 do t[i] = i * 7919 % 2003 end
    local p = sample(function() table.sort(t, less) end)
    assert.is_true(compared > 200)
    has(0, 3 * compared, p, "table.sort")
    has(0, 3 * compared, p, less)
  end)

  it("has lines", function()
    local function work()
      local t
      for _ = 1, 10 do t = {} end
      for _ = 1, 30 do t = {} end
      return t
    end
    local p = sample(function() often(5, work) end)
    local f = helper.find(p, work)
    local all, first, second = 0, 0, 0
    for number, line in ipairs(p.lines[f.source]) do
      if number >= f.line and number <= f.last_line then
        all = all + line.self_ns
      end
      if number == f.line + 2 then first = line.self_ns end
      if number == f.line + 3 then second = line.self_ns end
    end
    assert.same({ 200e6, 200e6, 50e6, 150e6 },
      { f.self_ns, all, first, second })
    assert.has_text("for _ = 1, 30", p:annotate(nil, { width = 100 }))
  end)

  it("has times for the parts of lines", function()
    if not direct then return end
    local function work(x)
      local t
      for i = 1, 100 do local a = i + x; t = { a, { a }, { a } } end
      return t
    end
    local p = sample(function() work(1) end)
    local f = helper.find(p, work)
    local sum, braces = 0, 0
    for _, e in ipairs(p.expressions[f.source]) do
      if e.line == f.line + 2 then
        sum = sum + e.count
        if e.column > 40 then braces = braces + e.count end
      end
    end
    assert.equal(f.self_ns, sum)
    assert.is_true(braces > sum / 2)
    local text = p:annotate(nil, { expressions = true, width = 100 })
    assert.has_text("\nbelow a line: the share of the time that its parts " ..
      "took, in %\n", text)
    assert.has_no_text("below a line", p:annotate(nil, { width = 100 }))
  end)

  it("charges a function that ends with a tail call", function()
    if not direct then return end
    local a, b, c = 1.5, 2.5, 3.5
    local function finish(x) return x end
    local function straight(x)
      local _, y = {}, x * a + b
      y = y * c - a y = y / b + c y = y * a - b y = y / c + a y = y * c - a
      y = y * c - a y = y / b + c y = y * a - b y = y / c + a y = y * c - a
      y = y * c - a y = y / b + c y = y * a - b y = y / c + a y = y * c - a
      y = y * c - a y = y / b + c y = y * a - b y = y / c + a y = y * c - a
      return finish(y)
    end
    local function chain(x) return straight(x) end
    local p = sample(function() often(100, function() chain(1) end) end)
    has(0, 0, p, finish)
    has(100, 100, p, straight)
    -- all of its stretch, which the tail call ends
    local f = helper.find(p, straight)
    local own, least = 0, math.huge
    for i = f.line, f.last_line do
      local ns = p.lines[f.source][i].self_ns
      own = own + ns
      if i > f.line + 1 and i < f.last_line - 1 then
        least = math.min(least, ns)
      end
    end
    assert.equal(100e6, own)
    assert.is_true(least > 0.1 * own)
  end)

  it("survives tail calls of what is collected at once", function()
    local function round(n)
      local function new(k)
        return function(...)
          local x = { k, ... }
          if k == 0 then return #x end
          return new(k - 1)(k, ...)
        end
      end
      new(n % 30)()
      coroutine.wrap(function(...) return new(n % 7)(...) end)(n)
      if n % 50 == 0 then
        collectgarbage(n % 100 == 0 and "generational" or "incremental")
      end
    end
    local n = 0
    local p = timed(function()
      during(2 * long, function()
        n = n + 1
        round(n)
      end)
    end)
    collectgarbage "incremental"
    assert.is_nil(p.meta.ended)
  end)

  it("sees coroutines under what has resumed them", function()
    local function inner() spin(50) coroutine.yield() spin(50) end
    local function nested()
      local co = coroutine.create(inner)
      coroutine.resume(co)
      coroutine.resume(co)
    end
    local function outer() coroutine.wrap(nested)() end
    local p = sample(outer, { clock = not direct and "cpu" or nil })
    assert.equal(100, p.samples)
    has(0, 100, p, outer)
    if direct then
      has(0, 100, p, inner)
      has(0, 0, p, "(coroutine, not sampled)")
    else
      assert.is_nil(helper.find(p, inner))
      has(100, 100, p, "(coroutine, not sampled)")
    end
  end)

  it("tells coroutines apart that take turns", function()
    if not direct then return end
    local function light() while true do spin(2) coroutine.yield() end end
    local function heavy() while true do spin(6) coroutine.yield() end end
    local one, two = coroutine.wrap(light), coroutine.create(heavy)
    local p = sample(function()
      often(10, function() one() coroutine.resume(two) end)
    end)
    has(0, 20, p, light)
    has(0, 60, p, heavy)
  end)

  it("has a row for coroutines that a host resumes", function()
    local S = host.state()
    local started = S:run [[
      package.loaded["cprof.core"] = nil
      driven = require "driven"
      driven.start { clock = "cpu" }
      return "started"]]
    assert.equal("started", started)
    local resumed = S:resume "for i = 1, 100 do local t = {} end"
    assert.equal(0, resumed)
    local text = S:run [[
      local p = driven.stop()
      for _, f in ipairs(p.functions) do
        if f.title == "(host, or its coroutines)" then
          return f.total_samples .. " of " .. p.samples
        end
      end]]
    S:close()
    -- also where code is loaded, which makes tables
    assert.matches("^10%d of 10%d$", text)
    assert.equal(text:match "^%d+", text:match "%d+$")
  end)

  it("counts time in which a function waits by the wall clock", function()
    local function work() spin(300) end
    local p = sample(function() driven.wait(300) work() end)
    local wait = record(p, "driven.wait")
    assert.same({ 300e6, 300e6 }, { wait.self_ns, p.program_ns - 300e6 })
    has(0, 300, p, work)
  end)

  it("is true to short work between long waits", function()
    local function work() spin(8) end
    local n, sleep = 10000, driven.sleep
    local p = driven.sample(function()
      for _ = 1, n do
        work()
        sleep(20000000)
      end
    end, {}, 100000)
    local share, truth = helper.find(p, work).total_ns, n * 0.8e6
    -- of some 8,000 samples: by chance, it is further off once in billions
    assert.is_true(math.abs(share - truth) < 0.1 * truth,
      share .. " of " .. truth)
    assert.is_true(math.abs(p.program_ns - share -
      record(p, "driven.sleep").self_ns) < 1e6)
  end)

  it("charges callers with the waits of C functions that it leaves out",
    function()
      local function waits() for _ = 1, 20 do host.poll(20) end end
      local p = helper.record(waits, { mode = "sample", c_functions = false })
      local f = record(p, "waits")
      assert.is_true(p.meta.waiting_ns > 0)
      assert.is_true(f.self_wait_ns > 0.9 * p.meta.waiting_ns)
    end)

  it("tells CPU time from waiting, beside other programs, too", function()
    local clock = host.clock
    profiler.start { mode = "sample", rate = 1000 }
    local from = clock()
    for _ = 1, 50 do
      during(0.02, spin_some)
      host.poll(20)
    end
    local cpu = (clock() - from) * 1e9
    profiler.stop()
    local p = profiler.snapshot()
    local meta = p.meta
    assert.equal(meta.wall_ns, p.program_ns + meta.preempted_ns +
      meta.overhead_ns + meta.paused_ns)
    -- both are known exactly, by the clock of the thread
    local known = p.program_ns - meta.waiting_ns + meta.overhead_ns
    assert.is_true(math.abs(known - cpu) < 0.05 * cpu + 5e6,
      known .. " of " .. cpu)
    local poll = record(p, "spec_host.poll")
    assert.is_true(poll.self_wait_ns > 0.9 * meta.waiting_ns)
    assert.equal(meta.waiting_ns, p.nodes[1].total_wait_ns)
    local computed = p:report { measure = "cpu" }
    -- a sample may find the thread at the beginning or end of a poll
    assert.is_true(computed:find(" spin ", 1, true) <
      (computed:find(" spec_host.poll ", 1, true) or #computed), computed)
    local waited = p:report { measure = "wait" }
    assert.matches("spec_host.poll", waited, 1, true)
  end)

  it("leaves errors, pcall and closing variables as they are", function()
    local closed = 0
    local closing = { __close = function() closed = closed + 1 end }
    local close = setmetatable({}, closing)
    local function fails()
      local _ <close> = close
      spin(5)
      error "no"
    end
    local p = sample(function()
      often(20, function() assert(not pcall(fails)) end)
    end)
    assert.equal(20, closed)
    has(0, 100, p, fails)
  end)

  it("sees tail calls as what has replaced the caller", function()
    local function last() return spin(50) end
    local function first() return last() end
    local p = sample(function() often(2, first) end)
    has(100, 100, p, spin)
    has(0, 0, p, first)
  end)

  it("keeps what is deep from one sample to the next", function()
    local function down(n)
      if n == 0 then spin(100) return 0 end
      return 1 + down(n - 1)
    end
    local depth = direct and math.min(15000, releases.levels - 100) or 500
    local p = sample(function() down(depth) end)
    local f = helper.find(p, down)
    assert.equal(100, f.total_samples)
    has(100, 100, p, spin)
    local deepest = 0
    for id = math.max(1, #p.nodes - 20), #p.nodes do
      local node, level = p.nodes[id], 0
      if node.func == f.id then
        while node.parent ~= 0 do
          node, level = p.nodes[node.parent], level + 1
        end
        deepest = math.max(deepest, level)
      end
    end
    assert.is_true(deepest >= depth, deepest)
  end)

  it("can be started and stopped often", function()
    for _ = 1, slow and 100 or 300 do
      profiler.start { mode = "sample", rate = 10000 }
      spin(1000)
      profiler.stop()
    end
    helper.check(profiler.snapshot())
  end)

  it("pauses, resumes and is reset", function()
    local function before() spin(10) end
    local function meanwhile() spin(10) end
    local function after() spin(10) end
    driven.start {}
    before()
    profiler.pause()
    meanwhile()
    profiler.resume()
    after()
    local p = helper.check(profiler.snapshot())
    assert.is_nil(helper.find(p, meanwhile))
    has(0, 10, p, before)
    has(0, 10, p, after)
    profiler.reset()
    meanwhile()
    p = driven.stop()
    assert.is_nil(helper.find(p, before))
    has(0, 10, p, meanwhile)
  end)

  it("goes before and after other modes", function()
    for _ = 1, 5 do
      has(10, 10, sample(function() spin(10) end, { rate = 10000 }), spin)
      local p = helper.record(function() spin(10) end)
      assert.equal(1, helper.find(p, spin).calls)
    end
  end)

  it("has zones where Lua's structures are read", function()
    local p = sample(function()
      profiler.enter "zone"
      assert.is_true(profiler.frame())
      spin(10)
      profiler.leave "zone"
      local _ <close> = profiler.zone "other"
      profiler.wrap("third", spin)(10)
    end)
    assert.equal(core.internals() == "direct", record(p, "zone") ~= nil)
    assert.equal(core.internals() == "direct", record(p, "third") ~= nil)
  end)

  it("leaves out what options leave out", function()
    local function left_out() spin(50) driven.wait(50) end
    local p = sample(left_out,
      { exclude = { "left_out" }, c_functions = false })
    assert.is_nil(helper.find(p, left_out))
    has(50, 50, p, spin)
    for _, f in ipairs(p.functions) do
      assert.is_true(f.kind ~= "C" or f.self_samples == 0, f.title)
    end
  end)

  it("refuses what it cannot do", function()
    local function refused(options, why)
      local message = helper.failure(profiler.start, options)
      assert.has_text(why, message)
      assert.is_false(profiler.running())
    end
    refused({ mode = "sample", rate = 0 },
      "option 'rate' must be an integer from 1 to 10000, got 0")
    refused({ mode = "sample", rate = 10001 }, "from 1 to 10000")
    refused({ mode = "sample", rate = 1.5 }, "from 1 to 10000")
    refused({ rate = 100 }, "option 'rate' needs mode = \"sample\"")
    refused({ timer = "thread" }, "option 'timer' needs mode = \"sample\"")
    refused({ mode = "sample", clock = "cpu", timer = "thread" }, "option " ..
      "'timer' cannot be combined with clock = \"cpu\", which has its own " ..
      "timer")
    local p = sample(function() spin(10) end)
    assert.is_false(pcall(p.export, p, "lcov", function() end))
    assert.is_false(pcall(profiler.view, p))
  end)
end)

describe("a program that is sampled", function()
  after_each(function() debug.sethook() end)

  it("keeps its own hook, and all of its events", function()
    local function events(mask, count)
      local seen = 0
      debug.sethook(function() seen = seen + 1 end, mask, count)
      for i = 1, 3000 do
        local s = i
        spin(3)
        tostring(s)
      end
      debug.sethook()
      return seen
    end
    for _, hook in ipairs { { "c" }, { "r" }, { "l" }, { "", 1 }, { "", 7 },
                            { "", 1000 }, { "crl", 100 } } do
      local bare = events(table.unpack(hook))
      -- number of hook events that each sample adds
      local more = hook[1]:find "l" and releases.tells_twice() and 2 or 0
      profiler.start { mode = "sample", rate = 10000 }
      for _ = 1, 5 do
        local before = profiler.snapshot().meta.signals
        local seen = events(table.unpack(hook))
        local signals = profiler.snapshot().meta.signals - before
        assert.is_true(seen >= bare and seen <= bare + more * signals, seen)
      end
      profiler.stop()
    end
  end)

  it("finds its hook with debug.gethook", function()
    local function hook() end
    debug.sethook(hook, "l", 0)
    profiler.start { mode = "sample", rate = 10000 }
    for _ = 1, 2000 do
      local f, mask = debug.gethook()
      assert(f == hook and mask == "l")
    end
    debug.sethook()
    for _ = 1, 2000 do assert(debug.gethook() == nil) end
    profiler.stop()
    assert.is_nil(debug.gethook())
  end)

  it("keeps a hook that it was about to set at a tick", function()
    local function hook() end
    debug.sethook(hook, "l")
    driven.start {}
    driven.tear(1, 0)
    local f, mask, count = debug.gethook()
    debug.sethook(hook, "c")
    driven.tear(1 << 3, 1000000)
    local f2, mask2, count2 = debug.gethook()
    driven.stop()
    assert.same({ hook, "c", 0 }, { f, mask, count })
    assert.same({ hook, "", 1000000 }, { f2, mask2, count2 })
  end)

  it("is sampled on where it was about to take its hook away at a tick",
    function()
      local function one() spin(200) end
      driven.start {}
      driven.tear(1 << 3, 1 << 30)
      one()
      local p = driven.stop()
      local own, all = samples(p, one)
      assert.same({ 0, true }, { own, all > 180 }, all)
    end)

  it("keeps a handler of its own for the signal", function()
    local out = helper.run [[
      local profiler = require "cprof"
      local host = require "spec_host"
      local SIGPROF <const> = 27
      host.handle(SIGPROF)
      profiler.start { mode = "sample", rate = 10000 }
      repeat for i = 1, 1e5 do end until profiler.snapshot().samples > 10
      assert(not host.handle())
      profiler.stop()
      host.signal(SIGPROF)
      assert(host.handle())
      print "good"]]
    assert.equal("good\n", out)
  end)

  it("ends the recording when it takes the signal", function()
    local out = helper.run [[
      local profiler = require "cprof"
      local host = require "spec_host"
      local SIGPROF <const> = 27
      profiler.start { mode = "sample", rate = 1000 }
      repeat for i = 1, 1e5 do end until profiler.snapshot().samples > 10
      host.handle(SIGPROF)
      profiler.stop()
      local text = profiler.snapshot():report()
      print((text:match "recording ended early[^\n]*"))]]
    assert.matches("took the signal", out)
  end)

  it("waits without being interrupted where its stack has waited before",
    function()
      if not direct or not machine:find "^x86_64" then return end
      local ended, quiet = 0, 0
      local function wait(n)
        for _ = 1, n do
          if host.poll(20) then ended = ended + 1 else quiet = quiet + 1 end
          spin(1000)
        end
      end
      -- A busy machine may hold up the thread that looks, or a handler; but
      -- not always.
      local function is_usual()
        local p = profiler.snapshot()
        local poll = record(p, "spec_host.poll")
        return quiet > 4 * ended and poll and poll.self_wait_ns > 0.9 *
          math.max(p.meta.waiting_ns, quiet * 20e6)
      end
      local function waits()
        local ends = core.seconds() + 120
        repeat
          wait(25)
          coroutine.wrap(wait)(25)
        until is_usual() or core.seconds() > ends
      end
      local p = helper.record(waits, { mode = "sample", timer = "thread" })
      assert.is_true(quiet > 4 * ended, ended .. " of " .. quiet)
      assert.equal(ended, p.meta.interrupted)
      local by = p.meta.timer
      assert.is_true(by == "thread" or by == "task-clock", by)
      assert.is_true(p.meta.signals >= ended)
      assert.matches("timer: " .. by:gsub("%-", "%%-") .. ", " ..
        p.meta.signals .. " signals?",
        p:report())
      local poll = record(p, "spec_host.poll")
      assert.is_true(poll.self_wait_ns > p.meta.waiting_ns * 0.9)
      assert.is_true(poll.self_wait_ns > quiet * 20e6 * 0.9)
      -- known by its two call paths
      local paths = 0
      for _, node in ipairs(p.nodes) do
        if node.func == poll.id then paths = paths + 1 end
      end
      assert.equal(2, paths)
    end)

  it("has what asks for its samples in its file from the start", function(dir)
    if not direct or not machine:find "^x86_64" then return end
    local path <const> = dir:file "x.cprof"
    profiler.start { mode = "sample", timer = "thread", file = path }
    local by = assert(profiler.load(path)).meta.timer
    assert.is_true(by == "thread" or by == "task-clock", by)
    profiler.pause()
    profiler.reset()
    assert.equal(by, profiler.snapshot().meta.timer)
    profiler.stop()
  end)

  it("is told how many of its system calls have ended early", function(dir)
    local ended = 0
    profiler.start { mode = "sample", rate = 1000, timer = "wall" }
    repeat
      if host.poll(20) then ended = ended + 1 end
    until ended >= 10
    os.execute "sleep 0.02" -- goes on
    profiler.stop()
    local p = profiler.snapshot()
    assert.equal(ended, p.meta.interrupted)
    assert.matches("the sampling signal interrupted " .. ended ..
      " system calls %(EINTR%)", p:report())
    local sum = merge.sum { p, p }
    assert.equal(2 * ended, sum.meta.interrupted)
    local path <const> = dir:file "x.cprof"
    assert(p:save(path))
    local again = assert(profiler.load(path))
    assert.equal(ended, again.meta.interrupted)
  end)

  it("gives its children none of the descriptors", function()
    local function list()
      local file = assert(io.popen "ls /proc/self/fd 2>/dev/null")
      local text = file:read "a"
      file:close()
      return text
    end
    local state = host.state()
    local bare = list()
    state:run [[require("cprof").start { mode = "sample" }]]
    local text = list()
    state:close()
    assert.equal(bare, text)
  end)

  -- each kind of timer
  local timers <const> = { "wall", "auto", "thread" }

  it("can end in any way", function()
    for i, code in ipairs {
      "os.exit(0, true)", "os.exit(0)", "error 'x'",
      "coroutine.wrap(function() os.exit(0, true) end)()",
      "profiler.stop() os.exit(0, true)",
      "setmetatable({}, { __gc = function() work(0.05) end })",
      "", "profiler.pause()", "os.exit(0, true)", "os.exit(0)",
      "coroutine.wrap(function() os.exit(0, true) end)()",
    } do
      local _, ok, how = helper.run([[
        local profiler = require "cprof"
        function work(s)
          local t = os.clock()
          while os.clock() - t < s do coroutine.wrap(function() end)() end
        end
        profiler.start { mode = "sample", rate = 10000, timer = arg[1] }
        work(0.05)
      ]] .. code, timers[i % #timers + 1])
      assert.is_true(ok or code:find "error" ~= nil, code)
      assert.equal("exit", how)
    end
  end)

  it("forks: a child has no timer, and its own recording if asked", function()
    for _, how in ipairs { 'clock = "cpu"', 'timer = "thread"' } do
      local dir <close> = command.folder()
      local out = helper.run(([[
      local profiler = require "cprof"
      local helper = require "helper"
      local host = require "spec_host"
      local path = arg[1]
      -- each runs until it was sampled
      local ours, theirs
      function ours()
        repeat
          for i = 1, 1e6 do end
        until helper.find(profiler.snapshot(), ours)
      end
      function theirs()
        repeat
          for i = 1, 1e6 do end
        until helper.find(profiler.snapshot(), theirs)
      end
      profiler.start { mode = "sample", file = path, HOW }
      ours()
      if host.fork() then
        theirs()
        assert(profiler.running())
        profiler.stop()
        os.exit(0)
      end
      host.wait()
      ours()
      profiler.stop()
      local p = helper.check(profiler.snapshot())
      assert(not helper.find(p, theirs))
      local n = 0
      for file in io.popen("ls " .. path:gsub("%%p", "*")):lines() do
        local q = helper.check(assert(profiler.load(file)))
        n = n + 1
        assert((helper.find(q, theirs) ~= nil) ~= (helper.find(q, ours) ~= nil))
      end
      assert(n == 2, n)
      print "good"]]):gsub("HOW", how), dir:file "run.%p")
      assert.equal("good\n", out)
    end
  end)

  it("forks: without a file of its own, a child is not recorded", function()
    for _, timer in ipairs(timers) do
      local out = helper.run([[
      local profiler = require "cprof"
      local host = require "spec_host"
      local function work()
        repeat for i = 1, 1e5 do end until profiler.snapshot().samples > 5
      end
      profiler.start { mode = "sample", timer = arg[1] }
      work()
      if host.fork() then
        for i = 1, 1e6 do end
        assert(not profiler.running())
        profiler.start { mode = "sample", timer = arg[1] }
        work()
        profiler.stop()
        os.exit(7)
      end
      assert(host.wait() // 1 ~= 0)
      profiler.reset()
      work()
      profiler.stop()
      print "good"]], timer)
      assert.equal("good\n", out)
    end
  end)

  it("has all of its time, also after the last sample", function(dir)
    local path = dir:file "one.cprof"
    for _, how in ipairs { "", "os.exit(0, true)" } do
      -- no clock of the processor's time runs at the rate of this one
      local script = dir:file("spin.lua", [[
        local clock = require "cprof.core".seconds
        local from = clock()
        repeat until clock() - from > 0.05
        ]] .. how)
      command.must("run", "--quiet", "--sample=1", "-o", path, script)
      local p = assert(profiler.load(path))
      assert.is_true(p.meta.wall_ns > 50e6, p.meta.wall_ns)
    end
  end)

  it("leaves a good file when it is killed", function(dir)
    local path <const> = dir:file "x.cprof"
    local p
    for i = 0, slow and 3 or 10 do
      -- a program that is killed some time after it has this many samples
      local function doomed(announce)
        profiler.start { mode = "sample", rate = 10000, file = path }
        repeat
          for _ = 1, 10 do
            spin(1000)
            coroutine.wrap(function() spin(100) end)()
          end
        until profiler.snapshot().samples > 20 * i
        announce(0)
        while true do spin(1000) end
      end
      local _, _, status = host.kill(doomed, (slow and 10000 or 1000) * i)
      assert.equal(9, status)
      p = assert(profiler.load(path))
      helper.check(p)
      assert.equal("the program ended without stopping it", p.meta.ended)
    end
    assert.is_true(p.samples > 60)
    assert.is_true((samples(p, spin)) > 0)
  end)

  it("may have several states, in turn and in threads", function()
    local code = [[
      local profiler = require "cprof"
      -- takes far longer than a snapshot
      local function work()
        for _ = 1, ROUNDS do
          local s = 0
          for i = 1, 1000 do s = s + i end
          coroutine.wrap(function() s = s + 1 coroutine.yield() end)()
        end
      end
      profiler.start { mode = "sample", rate = 5000, clock = "cpu" }
      repeat work() until profiler.snapshot().samples > 10
      profiler.stop()
      local p = profiler.snapshot()
      for _, f in ipairs(p.functions) do
        if f.name == "work" and f.total_samples > p.samples // 2 and
           p.samples > 3 then
          return "good"
        end
      end
      return "too few samples of " .. p.samples]]
    code = code:gsub("ROUNDS", slow and "100" or "1000")
    profiler.start { mode = "sample", rate = 5000 }
    for _, result in ipairs(host.threads(code, 4)) do
      assert.equal("good", result)
    end
    spin(1000)
    profiler.stop()
    helper.check(profiler.snapshot())
  end)

  it("is not harmed by ticks while it changes all that they look at",
    function()
      local keep, n = {}, 0
      local most = math.min(3000, releases.levels // 2)
      local function nest(k)
        if k == 0 then return 1 end
        return coroutine.wrap(function()
          local r = nest(k - 1)
          coroutine.yield(r)
        end)()
      end
      local function deep(k)
        if k == 0 then return 0 end
        return 1 + deep(k - 1)
      end
      local function round()
        n = n + 1
        for _ = 1, 20 do
          local co = coroutine.create(function(a)
            for _ = 1, 5 do a = a + coroutine.yield(a) end
          end)
          coroutine.resume(co, 1)
          keep[n % 100] = co
        end
        for _, co in pairs(keep) do
          if coroutine.status(co) == "suspended" then
            coroutine.resume(co, 2)
          end
        end
        nest(n % 20)
        if n % 5 == 0 then coroutine.wrap(deep)(n % most) end
        load(("return function() return %d end"):format(n), "=c" .. n % 3)()()
        pcall(error, {})
        if n % 7 == 0 then
          coroutine.close(keep[n % 100])
          keep[n % 100] = nil
        end
        collectgarbage("step", n % 50)
        if n % 30 == 0 then
          collectgarbage(n % 60 == 0 and "generational" or "incremental")
        end
      end
      local p = timed(function() during(2 * long, round) end)
      collectgarbage "incremental"
      assert.is_nil(p.meta.ended)
      assert.equal(0, p.meta.unmatched)
    end)
end)

describe("a profile of samples", function()
  local p

  setup(function()
    p = sample(function() spin(500) end)
  end)

  it("is saved and loaded", function(dir)
    local path <const> = dir:file "x.cprof"
    assert(p:save(path))
    local q = assert(profiler.load(path))
    helper.check(q)
    assert.equal(p.samples, q.samples)
    assert.equal(p.meta.rate, q.meta.rate)
    assert.equal("wall", q.meta.timer)
    assert.equal(p.meta.signals, q.meta.signals)
    local f, g = helper.find(p, spin), helper.find(q, spin)
    assert.equal(f.self_samples, g.self_samples)
    assert.equal(f.self_ns, g.self_ns)
    for i, line in ipairs(p.lines[f.source]) do
      assert.equal(line.self_ns, q.lines[f.source][i].self_ns)
    end
  end)

  it("has no timer where profiles with several are added up", function(dir)
    local path <const> = dir:file "x.cprof"
    local function timer_of(q)
      assert(q:save(path))
      return assert(profiler.load(path)).meta.timer
    end
    for _, name in ipairs { "wall", "cpu", "thread" } do
      assert(p:save(path))
      local q = assert(profiler.load(path))
      q.meta.timer = name
      local sum = assert(merge.sum { q, q })
      assert.same({ name, name }, { sum.meta.timer, timer_of(sum) })
      sum = assert(merge.sum { p, q })
      local both = name == "wall" and name or nil
      assert.same({ both, both }, { sum.meta.timer, timer_of(sum) })
    end
  end)

  it("is added up", function()
    local sum = helper.check(assert(merge.sum { p, p }))
    assert.equal(2 * p.samples, sum.samples)
    assert.equal("wall", sum.meta.timer)
    assert.equal(2 * p.meta.signals, sum.meta.signals)
    local f, g = helper.find(p, spin), helper.find(sum, spin)
    assert.equal(2 * f.self_samples, g.self_samples)
    local function own(of)
      local ns = 0
      for i = f.line, f.last_line do
        ns = ns + of.lines[f.source][i].self_ns
      end
      return ns
    end
    assert.equal(2 * own(p), own(sum))
  end)

  it("is compared, added up and not held to a budget by the command",
    function(dir)
      local one, two = dir:file "one.cprof", dir:file "two.cprof"
      assert(p:save(one))
      assert(p:save(two))
      local out = command.must("diff", one, two)
      assert.matches("%d%s+samples,%s+mode%s+sample", out)
      assert.has_text("no function differs", out)
      local both = dir:file "both.cprof"
      command.must("merge", one, two, "-o", both)
      assert.equal(2 * p.samples, assert(profiler.load(both)).samples)
      out = command.cprof("diff", one, both)
      assert.matches("samples +now", out)
      assert.has_no_text("calls", out)
      for _, more in ipairs { {}, { "--update" } } do
        local message = command.refused("check", "--budget",
          dir:file "b.json", one, table.unpack(more))
        assert.has_text("one.cprof has mode sample, which has no figures " ..
          "for a budget", message)
      end
    end)

  it("is exported with samples on the lines where they were taken",
    function(folder)
      local exports = require "exports"
      local f = dofile(folder:file("lines.lua", [[
return function(n)
  local t
  for _ = 1, n do
    t = {}
  end
  for _ = 1, 2 * n do t = {} end
  return t
end
]]))
      local taken = sample(function() f(100) end)
      local plain = exports.plain(exports.text(taken, "pprof"))
      local row = assert(helper.find(taken, f))
      local sums, all = {}, 0
      for _, found in ipairs(require "pprof"(plain).samples) do
        local leaf = found.stack[1]
        if leaf.file:find "lines.lua$" then
          sums[leaf.line] = (sums[leaf.line] or 0) + found.calls
          all = all + found.calls
        end
      end
      assert.equal(row.self_samples, all)
      -- lines without time, such as that where the function begins, have no
      -- samples
      assert.is_nil(sums[1])
      assert.equal(300, all)
      assert.equal(200, sums[6])
      all = 0
      local text = exports.text(taken, "callgrind") .. "\n"
      for own in text:gmatch "\nfn=[^\n]*\n([%d ]+.-)\n\n" do
        if own:find "^1 %d+ %d+\n" and own:find "\n6 %d+ %d+" then
          assert.matches("^1 0 0\n", own)
          for _, _, n in own:gsub("c.*", ""):gmatch "(%d+) (%d+) (%d+)" do
            all = all + tonumber(n)
          end
        end
      end
      assert.equal(row.self_samples, all)
    end)

  it("is exported with samples in place of calls", function()
    local function exported(format) return helper.exported(p, format) end
    assert.has_text('"samples":' .. p.samples, exported "json")
    assert.has_text("events: Time_ns Samples\n", exported "callgrind")
    assert.has_text("self_samples,total_samples", exported "csv")
    for _, format in ipairs { "pprof", "chrome", "folded", "speedscope",
                              "cpuprofile", "firefox", "perfetto" } do
      assert.is_true(#exported(format) > 100)
    end
  end)

  it("is reported with the interval of each share", function()
    local text = p:report { mode = "self", width = 120 }
    assert.has_text("mode sample", text)
    assert.matches("%d samples, ", text)
    assert.matches("%d+%.%d ±%d+%.%d  .-spin ", text)
    assert.has_no_text("calls", text)
    for _, mode in ipairs { "summary", "total", "callgraph", "tree", "file" } do
      assert.has_text("spin", p:report { mode = mode, width = 100 }, mode)
    end
  end)
end)

describe("the interval of a share", function()
  it("covers the true share in 95 of 100 samples", function()
    math.randomseed(42)
    for _, case in ipairs { { 0.5, 100 }, { 0.1, 1000 }, { 0.01, 1000 },
                            { 0.9, 300 } } do
      local share, n = table.unpack(case)
      local covered, rounds = 0, 1000
      for _ = 1, rounds do
        local hits = 0
        for _ = 1, n do
          if math.random() < share then hits = hits + 1 end
        end
        local off = sampled.interval(hits / n, n)
        if math.abs(hits / n - share) <= off then covered = covered + 1 end
      end
      assert.is_true(covered / rounds > 0.92, covered)
    end
    assert.equal(1, sampled.interval(0, 0))
  end)
end)

describe("too few samples", function()
  -- a profile that claims to have n samples, and n samples of allocations
  local function taken(n)
    local p = driven.sample(function()
      often(50, function() return { spin(2) } end)
    end, { memory = true })
    p.samples, p.time_samples, p.meta.memory_samples = n, n, n
    p.measure.samples = n
    return p
  end

  it("tell no shares", function()
    local p = taken(2)
    for _, mode in ipairs { "summary", "self", "total", "tree", "callgraph" }
    do
      local text = p:report { mode = mode, width = 120 }
      assert.has_text("\n2 samples: too few to tell where the time went\n",
        text)
      assert.no_matches("%d%.%d ±", text)
      assert.has_text(" - ", text)
    end
    local text = p:report { sort = "alloc", width = 120 }
    -- that of few bytes may be one
    assert.matches("\n[12] samples?: too few to tell what allocated\n", text)
    assert.no_matches("%d%.%d ±", text)
  end)

  it("are told apart from those that found the program waiting", function()
    local p = taken(229)
    local function says(waits, n, wanted)
      p.wait_samples, p.measure.samples = waits, n
      local text = p:report { width = 120 }
      assert.has_text("\n" .. wanted .. " the time went", text)
    end
    says(228, 2, "1 of 229 samples found the program computing: too few to " ..
      "tell where")
    says(3, 3, "3 of 229 samples found the program waiting: too few to " ..
      "tell where")
    says(229, 1, "none of 229 samples found the program computing: too few " ..
      "to tell where")
  end)

  it("leave out what nothing is known of", function()
    local p = taken(0)
    local text = p:report { width = 120 }
    assert.matches("\nno samples: where the time went is not known\n+$", text)
    p.meta.memory = false
    local on_screen = summary.text(p, { width = 120 })
    assert.matches("\nno samples: where the time went is not known\n+$",
      on_screen)
    p.meta.memory, p.meta.live, p.meta.pid = true, true, 4711
    text = p:report { width = 120 }
    assert.equal(require "cprof.core".outside ~= nil, text:find("\nno " ..
      "samples: where the time went is not known; cprof dump 4711 shows " ..
      "what runs now\n", 1, true) ~= nil, text)
    p.meta.live = nil
    text = p:report { sort = "alloc", width = 120 }
    assert.has_text("\nno samples: what allocated is not known\n", text)
  end)

  it("leave no table empty", function()
    local p = helper.record(function() spin(100) end,
      { mode = "line", memory = true, lines = { "nosuch" } })
    assert.equal("no line is known to have allocated anything\n",
      p:annotate(nil, { sort = "self", heat = "alloc" }))
  end)
end)

describe("a rate far below what was asked", function()
  it("is explained where samples take long", function()
    local told = require "cprof.report.header".certainty
    local function profile(overhead_ns)
      return { samples = 50, time_samples = 50, functions = {},
        measure = measure.new(measure.row "wall", 1000000000, 50),
        meta = { rate = 1000, wall_ns = 1000000000, paused_ns = 0,
          preempted_ns = 0,
          overhead_ns = overhead_ns } }
    end
    assert.has_text("50 samples a second of 1,000 (each took 200µs); ",
      told(profile(10000000)))
    -- few samples do not tell how long each takes
    local short = profile(10000000)
    short.samples, short.time_samples, short.measure.samples = 5, 5, 5
    assert.has_no_text("each took", told(short))
    -- nothing is said of stacks unless they are deep
    local function stacked(n)
      local function down(k)
        if k == 0 then return spin(50) end
        local x = down(k - 1)
        return x, k
      end
      local p = driven.sample(function() down(n) end)
      p.meta.rate, p.meta.overhead_ns = 1000000, p.meta.wall_ns // 10
      return told(p)
    end
    assert.matches("with 3%d%d functions on the stack", stacked(300))
    assert.has_no_text("stack", stacked(3))
    -- fewer samples than asked for: the program may have waited
    assert.has_text("50 samples a second of 1,000; ", told(profile(100000)))
  end)
end)
