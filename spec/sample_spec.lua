local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"
local profiler = require "cprof"
local releases = require "releases"
local sampled = require "cprof.sampled"

local direct = core.internals() == "direct"
local slow = helper.slow or os.getenv "CPROF_SANITIZE"

-- seconds of processor time that programs run
local long <const> = slow and 2 or 0.6

after_each(function() profiler.stop() end)

local function spin(n)
  local s = 0
  for i = 1, n do s = s + i % 7 end
  return s
end

-- calls f until so much processor time has passed
local function during(seconds, f)
  local clock = os.clock
  local from = clock()
  repeat f() until clock() - from >= seconds
end

-- Calls f while it is sampled, until there are enough samples to tell shares
-- from each other by 0.15: how long that takes depends on the machine.
local function plenty(f)
  local ends = os.time() + 60
  repeat during(long / 4, f)
  until profiler.snapshot().samples >= 200 or os.time() > ends
end

local function sample(f, options)
  options = options or {}
  options.mode = "sample"
  options.clock = options.clock or "cpu"
  profiler.start(options)
  f()
  profiler.stop()
  local p = profiler.snapshot()
  helper.check(p)
  return p
end

local function record(p, wanted)
  for _, f in ipairs(p.functions) do
    if f.title == wanted or f.name == wanted then return f end
  end
end

local function sleeping(p)
  return record(p, "sleep") or record(p, "host.sleep") or
    record(p, "spec_host.sleep")
end

-- The tick may have come before this looks: then, none comes while it waits.
local function tear(mask, count)
  local ok, message
  for _ = 1, 3 do
    ok, message = pcall(host.tear, mask, count)
    if ok then return end
  end
  error(message)
end

-- the share of the samples that a function has, and its callees with it
local function shares(p, f)
  f = type(f) == "function" and helper.find(p, f) or
    type(f) == "string" and record(p, f) or nil
  if not f then return 0, 0 end
  return f.self_samples / p.samples, f.total_samples / p.samples
end

local function near(wanted, got, within, what)
  assert.is_true(math.abs(wanted - got) <= within,
    ("%s: %.3f instead of %.3f"):format(what or "share", got, wanted))
end

describe("mode sample", function()
  it("has no frames, and says so", function()
    for _, o in ipairs { { slow_frames = { budget_ms = 1 } },
                         { history = "full" } } do
      local name = next(o)
      o.mode = "sample"
      assert.has_error(function() profiler.start(o) end,
        'start: mode "sample" has no times of frames; leave out option \'' ..
        name .. "'")
    end
    local p = helper.record(function()
      for _ = 1, 5 do spin(10000) profiler.frame() end
    end, { mode = "sample" })
    assert.is_truthy(p:report { mode = "frames" }:find(
      "\nno frames: they are about times, which mode sample has not\n", 1,
      true))
  end)

  it("has the shares of functions in Lua", function()
    local function third() spin(10000) spin(10000) end
    local function two() spin(10000) spin(10000) spin(10000) spin(10000) end
    local p = sample(function()
      plenty(function() third() two() end)
    end)
    assert.is_true(p.samples >= 200, p.samples)
    local _, one_third = shares(p, third)
    local _, two_thirds = shares(p, two)
    near(1 / 3, one_third, 0.2)
    near(2 / 3, two_thirds, 0.2)
    near(1, (shares(p, spin)), 0.1)
  end)

  it("has samples and times, but no calls", function()
    local p = sample(function() during(0.1, function() spin(1000) end) end)
    local f = helper.find(p, spin)
    assert.is_nil(f.calls)
    assert.is_nil(f.self_raw_ns)
    assert.is_true(f.self_ns > 0 and f.self_samples > 0)
    local samples = 0
    for _, node in ipairs(p.nodes) do
      assert.is_nil(node.calls)
      samples = samples + node.self_samples
    end
    assert.equal(p.samples, samples)
    assert.equal(p.samples, p.nodes[1].total_samples)
    assert.equal(1000, p.meta.rate)
    assert.is_nil(p.meta.uncompensated)
  end)

  it("sees C functions, under those that call them", function()
    local rep = string.rep
    local function text() return rep("x", 200000) end
    local p = sample(function() plenty(text) end)
    local own, all = shares(p, text)
    assert.is_true(own < 0.2 and all > 0.7, all)
    assert.is_true(shares(p, "string.rep") > 0.7)
  end)

  it("sees a C function that goes on for long as so many samples", function()
    local t = {}
    for i = 1, helper.slow and 100000 or 300000 do t[i] = i * 7919 % 1000003 end
    local p = sample(function() table.sort(t) spin(100) end)
    assert.is_true(shares(p, "table.sort") > 0.8)
    assert.is_true(record(p, "table.sort").self_samples > 5)
  end)

  it("charges C functions that call Lua, and what they call", function()
    local function less(a, b) spin(20) return a < b end
    local t = {}
    for i = 1, 2000 do t[i] = i * 7919 % 2003 end
    local p = sample(function()
      plenty(function() table.sort(table.move(t, 1, #t, 1, {}), less) end)
    end)
    local _, sort = shares(p, "table.sort")
    local _, compare = shares(p, less)
    assert.is_true(sort > 0.8, sort)
    assert.is_true(compare > 0.5 and compare <= sort)
  end)

  it("has lines", function()
    local function work()
      local s = 0
      for i = 1, 10000 do s = s + i end
      for i = 1, 30000 do s = s + i end
      return s
    end
    local p = sample(function() plenty(work) end)
    local f = helper.find(p, work)
    local all, first, second = 0, 0, 0
    for number, line in ipairs(p.lines[f.source]) do
      if number >= f.line and number <= f.last_line then
        all = all + line.self_ns
      end
      if number == f.line + 2 then first = line.self_ns end
      if number == f.line + 3 then second = line.self_ns end
    end
    assert.is_true(all > 0.9 * f.self_ns and all <= f.self_ns + 1000)
    near(1 / 4, first / all, 0.15, "first loop")
    near(3 / 4, second / all, 0.15, "second loop")
    assert.truthy(p:annotate(nil, { width = 100 }):find "for i = 1, 30000")
  end)

  it("has times for the parts of lines", function()
    if not direct then return end
    local function work(x)
      local t
      for i = 1, 1000 do local a = i + x; t = { a, { a }, { a } } end
      return t
    end
    local p = sample(function() plenty(function() work(1) end) end)
    local f = helper.find(p, work)
    local sum, braces = 0, 0
    for _, e in ipairs(p.expressions[f.source]) do
      if e.line == f.line + 2 then
        sum = sum + e.count
        if e.column > 40 then braces = braces + e.count end
      end
    end
    near(f.self_ns, sum, f.self_ns * 0.1, "ns")
    assert.is_true(braces > sum / 2)
    local text = p:annotate(nil, { expressions = true, width = 100 })
    assert.truthy(text:find("\nbelow a line: the share of the time that " ..
      "its parts took, in %\n", 1, true), text)
    assert.falsy(p:annotate(nil, { width = 100 }):find "below a line")
  end)

  it("charges a function that ends with a tail call", function()
    if not direct then return end
    local a, b, c = 1.5, 2.5, 3.5
    local function finish(x) return x end
    local function straight(x)
      local y = x * a + b
      y = y * c - a y = y / b + c y = y * a - b y = y / c + a y = y * c - a
      y = y * c - a y = y / b + c y = y * a - b y = y / c + a y = y * c - a
      y = y * c - a y = y / b + c y = y * a - b y = y / c + a y = y * c - a
      y = y * c - a y = y / b + c y = y * a - b y = y / c + a y = y * c - a
      return finish(y)
    end
    local function chain(x) return straight(x) end
    local p = sample(function()
      plenty(function() for i = 1, 1000 do chain(i) end end)
    end)
    local f, g = helper.find(p, straight), helper.find(p, finish)
    assert.is_true(f.self_samples > 10 * (g and g.self_samples or 0))
    assert.is_true(f.self_ns > 0.6 * p.program_ns)
    -- all of its stretch, which the tail call ends
    local own, least = 0, math.huge
    for i = f.line, f.last_line do
      local ns = p.lines[f.source][i].self_ns
      own = own + ns
      if i > f.line + 1 and i < f.last_line - 1 then
        least = math.min(least, ns)
      end
    end
    near(f.self_ns, own, 0.05 * own, "ns of lines")
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
    local p = sample(function()
      during(2 * long, function()
        n = n + 1
        round(n)
      end)
    end, { rate = 10000 })
    collectgarbage "incremental"
    helper.check(p)
    assert.is_nil(p.meta.ended)
  end)

  it("sees coroutines under what has resumed them", function()
    local function inner() spin(5000) coroutine.yield() spin(5000) end
    local function nested()
      local co = coroutine.create(inner)
      coroutine.resume(co)
      coroutine.resume(co)
    end
    local function outer() coroutine.wrap(nested)() end
    local p = sample(function() plenty(outer) end)
    local _, all = shares(p, outer)
    assert.is_true(all > 0.8, all)
    if direct then
      local _, of = shares(p, inner)
      assert.is_true(of > 0.7, of)
      assert.equal(0, (shares(p, "(coroutine, not sampled)")))
    else
      assert.is_nil(helper.find(p, inner))
      assert.is_true(shares(p, "(coroutine, not sampled)") > 0.7)
    end
  end)

  it("tells coroutines apart that take turns", function()
    if not direct then return end
    local function light() while true do spin(2000) coroutine.yield() end end
    local function heavy() while true do spin(6000) coroutine.yield() end end
    local one, two = coroutine.wrap(light), coroutine.create(heavy)
    local p = sample(function()
      plenty(function() one() coroutine.resume(two) end)
    end)
    local _, a = shares(p, light)
    local _, b = shares(p, heavy)
    near(1 / 4, a, 0.15, "light")
    near(3 / 4, b, 0.15, "heavy")
  end)

  it("has a row for coroutines that a host resumes", function()
    local S = host.state()
    local started = S:run [[
      profiler = require "cprof"
      profiler.start { mode = "sample", clock = "cpu" }
      return "started"]]
    assert.equal("started", started)
    local resumed = S:resume [[
      local clock = os.clock
      local from = clock()
      repeat for i = 1, 1000 do local s = i % 7 end until clock() - from > 0.5]]
    assert.equal(0, resumed)
    local share = S:run [[
      profiler.stop()
      local p = profiler.snapshot()
      for _, f in ipairs(p.functions) do
        if f.title == "(coroutine, not sampled)" then
          return f.total_samples / p.samples
        end
      end]]
    S:close()
    assert.is_true((tonumber(share) or 0) > 0.7, share)
  end)

  it("counts time in which a function waits by the wall clock", function()
    local function wait() host.sleep(0.3) end
    local p = sample(wait, { clock = "wall" })
    local sleep = sleeping(p)
    assert.is_true(sleep.self_ns > 0.5 * p.program_ns)
    assert.is_true(sleep.self_samples > p.samples / 2)
    p = sample(function() wait() during(0.3, function() spin(1000) end) end)
    assert.is_true(select(2, shares(p, spin)) > 0.4)
  end)

  it("is true to short work between long waits", function()
    local took, clock = 0, os.clock
    local function work()
      local from = clock()
      repeat spin(100) until clock() - from >= 0.0008
      took = took + clock() - from
    end
    local p = sample(function()
      for _ = 1, 100 do
        work()
        host.sleep(0.02)
      end
    end, { clock = "wall" })
    local share, truth = helper.find(p, work).total_ns, took * 1e9
    -- some 80 samples: by chance, it is less once in millions
    assert.is_true(share > 0.4 * truth, share .. " of " .. truth)
    near(p.program_ns, sleeping(p).self_ns + share, 0.1 * p.program_ns, "ns")
  end)

  it("leaves errors, pcall and closing variables as they are", function()
    local closed = 0
    local function fails()
      local _ <close> = setmetatable({}, { __close = function()
        closed = closed + 1
      end })
      spin(500)
      error "no"
    end
    local n = 0
    local p = sample(function()
      plenty(function()
        n = n + 1
        assert(not pcall(fails))
      end)
    end)
    assert.equal(n, closed)
    local _, all = shares(p, fails)
    assert.is_true(all > 0.6, all)
  end)

  it("sees tail calls as what has replaced the caller", function()
    local function last() return spin(5000) end
    local function first() return last() end
    local p = sample(function() plenty(first) end)
    assert.is_true(shares(p, spin) > 0.9)
  end)

  it("keeps what is deep from one sample to the next", function()
    local function down(n)
      if n == 0 then plenty(function() spin(10000) end) return 0 end
      return 1 + down(n - 1)
    end
    local depth = direct and math.min(15000, releases.levels - 100) or 500
    local p = sample(function() down(depth) end)
    local f = helper.find(p, down)
    assert.is_true(f.total_samples > 0.9 * p.samples)
    assert.is_true(shares(p, spin) > 0.8)
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
    for _ = 1, slow and 100 or 1000 do
      profiler.start { mode = "sample", rate = 10000 }
      spin(10)
      profiler.stop()
    end
    helper.check(profiler.snapshot())
  end)

  it("pauses, resumes and is reset", function()
    local function before() spin(5000) end
    local function meanwhile() spin(5000) end
    local function after() spin(5000) end
    profiler.start { mode = "sample", clock = "cpu" }
    during(0.1, before)
    profiler.pause()
    during(0.2, meanwhile)
    profiler.resume()
    during(0.1, after)
    local p = profiler.snapshot()
    helper.check(p)
    assert.is_nil(helper.find(p, meanwhile))
    assert.is_truthy(helper.find(p, before))
    assert.is_truthy(helper.find(p, after))
    profiler.reset()
    during(0.1, meanwhile)
    profiler.stop()
    p = profiler.snapshot()
    helper.check(p)
    assert.is_nil(helper.find(p, before))
    assert.is_truthy(helper.find(p, meanwhile))
  end)

  it("goes before and after other modes", function()
    for _ = 1, 5 do
      sample(function() during(0.02, function() spin(1000) end) end,
        { rate = 10000 })
      local p = helper.record(function() spin(10) end)
      assert.equal(1, helper.find(p, spin).calls)
    end
  end)

  it("has no zones and no frames", function()
    local p = sample(function()
      profiler.enter "zone"
      assert.is_false(profiler.frame())
      profiler.leave "zone"
      local _ <close> = profiler.zone "other"
      profiler.wrap("third", spin)(10)
    end)
    assert.is_nil(record(p, "zone"))
  end)

  it("leaves out what options leave out", function()
    local function left_out() spin(5000) end
    local p = sample(function() during(0.2, left_out) end,
      { exclude = { "left_out" }, c_functions = false })
    assert.is_nil(helper.find(p, left_out))
    assert.is_true(shares(p, spin) > 0.6)
    for _, f in ipairs(p.functions) do
      assert.is_true(f.kind ~= "C" or f.self_samples == 0, f.title)
    end
  end)

  it("refuses what it cannot do", function()
    local function refused(options, why)
      local ok, message = pcall(profiler.start, options)
      assert.is_false(ok)
      assert.truthy(message:find(why, 1, true), message)
      assert.is_false(profiler.running())
    end
    refused({ mode = "sample", rate = 0 },
      "option 'rate' must be an integer from 1 to 10000, got 0")
    refused({ mode = "sample", rate = 10001 }, "from 1 to 10000")
    refused({ mode = "sample", rate = 1.5 }, "from 1 to 10000")
    refused({ rate = 100 }, "option 'rate' needs mode = \"sample\"")
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
        s = s + spin(3)
        tostring(s)
      end
      debug.sethook()
      return seen
    end
    for _, hook in ipairs { { "c" }, { "r" }, { "l" }, { "", 1 }, { "", 7 },
                            { "", 1000 }, { "crl", 100 } } do
      local bare = events(table.unpack(hook))
      local more = hook[1]:find "l" and releases.tells_twice() and 300 or 0
      profiler.start { mode = "sample", rate = 10000 }
      for _ = 1, 5 do
        local seen = events(table.unpack(hook))
        assert.is_true(seen >= bare and seen <= bare + more, seen)
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
    profiler.start { mode = "sample", rate = 1000 }
    tear(1, 0)
    local f, mask, count = debug.gethook()
    debug.sethook(hook, "c")
    tear(1 << 3, 1000000)
    local f2, mask2, count2 = debug.gethook()
    profiler.stop()
    assert.same({ hook, "c", 0 }, { f, mask, count })
    assert.same({ hook, "", 1000000 }, { f2, mask2, count2 })
  end)

  it("is sampled on where it was about to take its hook away at a tick",
    function()
      profiler.start { mode = "sample", rate = 1000 }
      tear(1 << 3, 1 << 30)
      local function one()
        local s = 0
        for i = 1, slow and 3e7 or 1e8 do s = s + i end
        return s
      end
      one()
      profiler.stop()
      local p = profiler.snapshot()
      assert.is_true(shares(p, one) > 0.5, (shares(p, one)))
    end)

  it("keeps a handler of its own for the signal", function()
    local out = helper.run [[
      local profiler = require "cprof"
      local host = require "spec_host"
      local SIGPROF <const> = 27
      host.handle(SIGPROF)
      profiler.start { mode = "sample", rate = 10000 }
      local t = os.clock()
      while os.clock() - t < 0.1 do end
      assert(not host.handle())
      profiler.stop()
      assert(profiler.snapshot().samples > 10)
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
      local t = os.clock()
      while os.clock() - t < 0.1 do end
      host.handle(SIGPROF)
      profiler.stop()
      local text = profiler.snapshot():report()
      print((text:match "recording ended early[^\n]*"))]]
    assert.matches("took the signal", out)
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

  it("can end in any way", function()
    for _, code in ipairs {
      "os.exit(0, true)", "os.exit(0)", "error 'x'",
      "coroutine.wrap(function() os.exit(0, true) end)()",
      "profiler.stop() os.exit(0, true)",
      "setmetatable({}, { __gc = function() work(0.05) end })",
    } do
      local _, ok, how = helper.run([[
        local profiler = require "cprof"
        function work(s)
          local t = os.clock()
          while os.clock() - t < s do coroutine.wrap(function() end)() end
        end
        profiler.start { mode = "sample", rate = 10000 }
        work(0.05)
      ]] .. code)
      assert.is_true(ok or code:find "error" ~= nil, code)
      assert.equal("exit", how)
    end
  end)

  it("forks: a child has no timer, and its own recording if asked", function()
    local dir <close> = command.folder()
    local out = helper.run([[
      local profiler = require "cprof"
      local helper = require "helper"
      local host = require "spec_host"
      local path = arg[1]
      local function work(s)
        local t = os.clock()
        while os.clock() - t < s do end
      end
      local function ours() work(0.1) end
      local function theirs() work(0.2) end
      profiler.start { mode = "sample", file = path, clock = "cpu" }
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
      local p = profiler.snapshot()
      helper.check(p)
      assert(not helper.find(p, theirs))
      local n = 0
      for file in io.popen("ls " .. path:gsub("%%p", "*")):lines() do
        local q = assert(profiler.load(file))
        helper.check(q)
        n = n + 1
        assert((helper.find(q, theirs) ~= nil) ~= (helper.find(q, ours) ~= nil))
      end
      assert(n == 2, n)
      print "good"]], dir:file "run.%p")
    assert.equal("good\n", out)
  end)

  it("forks: without a file of its own, a child is not recorded", function()
    local out = helper.run [[
      local profiler = require "cprof"
      local host = require "spec_host"
      local function work(s)
        local t = os.clock()
        while os.clock() - t < s do end
      end
      profiler.start { mode = "sample" }
      work(0.05)
      if host.fork() then
        work(0.05)
        assert(not profiler.running())
        profiler.start { mode = "sample" }
        work(0.05)
        profiler.stop()
        assert(profiler.snapshot().samples > 0)
        os.exit(7)
      end
      assert(host.wait() // 1 ~= 0)
      work(0.05)
      profiler.stop()
      print "good"]]
    assert.equal("good\n", out)
  end)

  it("has all of its time, also after the last sample", function()
    local dir <close> = command.folder()
    local path = dir:file "one.cprof"
    for _, how in ipairs { "", "os.exit(0, true)" } do
      local script = dir:file("spin.lua", [[
        local clock = os.clock
        local from = clock()
        repeat until clock() - from > 0.05
        ]] .. how)
      local _, err, status = command.cprof("run", "--quiet", "--sample=1",
        "-o", path, script)
      assert.equal(0, status, err)
      local p = assert(profiler.load(path))
      assert.is_true(p.meta.wall_ns > 50e6, p.meta.wall_ns)
    end
  end)

  it("leaves a good file when it is killed", function()
    local path <const> = os.tmpname()
    for i = 1, slow and 3 or 10 do
      local function doomed(announce)
        profiler.start { mode = "sample", rate = 10000, file = path }
        announce(0)
        while true do
          spin(1000)
          coroutine.wrap(function() spin(100) end)()
        end
      end
      local _, _, status = host.kill(doomed, (slow and 100000 or 20000) * i)
      assert.equal(9, status)
      local p = assert(profiler.load(path))
      helper.check(p)
      assert.equal("the program ended without stopping it", p.meta.ended)
    end
    local p = assert(profiler.load(path))
    assert.is_true(shares(p, spin) > 0.3,
      shares(p, spin) .. " of " .. p.samples)
    os.remove(path)
  end)

  it("may have several states, in turn and in threads", function()
    local code = [[
      local profiler = require "cprof"
      local function work()
        local t = os.clock()
        while os.clock() - t < 0.1 do
          local s = 0
          for i = 1, 1000 do s = s + i end
          coroutine.wrap(function() s = s + 1 coroutine.yield() end)()
        end
      end
      profiler.start { mode = "sample", rate = 5000, clock = "cpu" }
      local ends = os.time() + 60
      repeat work() until profiler.snapshot().samples > 10 or os.time() > ends
      profiler.stop()
      local p = profiler.snapshot()
      for _, f in ipairs(p.functions) do
        if f.name == "work" and f.total_samples > p.samples // 2 and
           p.samples > 3 then
          return "good"
        end
      end
      return "no samples: " .. p.samples]]
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
      local p = sample(function() during(2 * long, round) end,
        { rate = 10000 })
      collectgarbage "incremental"
      assert.is_nil(p.meta.ended)
      assert.equal(0, p.meta.unmatched)
    end)
end)

describe("a profile of samples", function()
  local p

  setup(function()
    p = sample(function() plenty(function() spin(1000) end) end)
  end)

  it("is saved and loaded", function()
    local path <const> = os.tmpname()
    assert(p:save(path))
    local q = assert(profiler.load(path))
    os.remove(path)
    helper.check(q)
    assert.equal(p.samples, q.samples)
    assert.equal(p.meta.rate, q.meta.rate)
    local f, g = helper.find(p, spin), helper.find(q, spin)
    assert.equal(f.self_samples, g.self_samples)
    assert.equal(f.self_ns, g.self_ns)
    for i, line in ipairs(p.lines[f.source]) do
      assert.equal(line.self_ns, q.lines[f.source][i].self_ns)
    end
  end)

  it("is added up", function()
    local merge = require "cprof.merge"
    local sum = assert(merge.sum { p, p })
    helper.check(sum)
    assert.equal(2 * p.samples, sum.samples)
    local f, g = helper.find(p, spin), helper.find(sum, spin)
    assert.equal(2 * f.self_samples, g.self_samples)
    local function own(of)
      local ns = 0
      for i = f.line, f.last_line do
        ns = ns + of.lines[f.source][i].self_ns
      end
      return ns
    end
    near(2 * own(p), own(sum), 100, "ns")
  end)

  it("is compared, added up and not held to a budget by the command",
    function()
      local dir <close> = command.folder()
      local one, two = dir:file "one.cprof", dir:file "two.cprof"
      assert(p:save(one))
      assert(p:save(two))
      local out, err, status = command.cprof("diff", one, two)
      assert.equal(0, status, err)
      assert.truthy(out:find("%d samples, mode sample"), out)
      assert.truthy(out:find "no function differs", out)
      local both = dir:file "both.cprof"
      out, err, status = command.cprof("merge", one, two, "-o", both)
      assert.equal(0, status, out .. err)
      assert.equal(2 * p.samples, assert(profiler.load(both)).samples)
      out = command.cprof("diff", one, both)
      assert.truthy(out:find("samples +now", 1), out)
      assert.falsy(out:find("calls", 1, true), out)
      for _, more in ipairs { {}, { "--update" } } do
        local _, message, code = command.cprof("check", "--budget",
          dir:file "b.json", one, table.unpack(more))
        assert.equal(2, code)
        assert.truthy(message:find("one.cprof has mode sample, and nothing " ..
          "that a budget could hold", 1, true), message)
      end
    end)

  it("is exported with samples on the lines where they were taken",
    function()
      local exports = require "exports"
      local folder <close> = command.folder()
      local f = dofile(folder:file("lines.lua", [[
return function(n)
  local s = 0
  for i = 1, n do
    s = s + i % 7 // 2
  end
  for i = 1, n do s = s + i % 5 end
  return s
end
]]))
      local taken = helper.record(function() f(5000000) end,
        { mode = "sample" })
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
      -- nothing where the function begins, where no time is, either
      assert.is_nil(sums[1])
      assert.is_true((sums[4] or 0) > 0 and (sums[6] or 0) > 0)
      all = 0
      local text = exports.text(taken, "callgrind") .. "\n"
      for own in text:gmatch "\nfn=[^\n]*\n([%d ]+.-)\n\n" do
        if own:find "^1 %d+ %d+\n" and own:find "\n6 %d+ %d+" then
          assert.is_truthy(own:find "^1 0 0\n", own)
          for _, _, n in own:gsub("c.*", ""):gmatch "(%d+) (%d+) (%d+)" do
            all = all + tonumber(n)
          end
        end
      end
      assert.equal(row.self_samples, all)
    end)

  it("is exported with samples in the place of calls", function()
    local function exported(format)
      local out = {}
      assert(p:export(format, function(s) out[#out + 1] = s end))
      return table.concat(out)
    end
    assert.truthy(exported "json":find('"samples":' .. p.samples, 1, true))
    assert.truthy(exported "callgrind":find("events: Time_ns Samples\n", 1,
      true))
    assert.truthy(exported "csv":find("self_samples,total_samples", 1, true))
    for _, format in ipairs { "pprof", "chrome", "folded", "speedscope",
                              "cpuprofile" } do
      assert.is_true(#exported(format) > 100)
    end
  end)

  it("is reported with the interval of each share", function()
    local text = p:report { mode = "self", width = 120 }
    assert.truthy(text:find("mode sample", 1, true))
    assert.truthy(text:find("%d samples, "))
    assert.truthy(text:find("%d+%.%d ±%d+%.%d  .-spin "), text)
    assert.falsy(text:find("calls", 1, true))
    for _, mode in ipairs { "summary", "total", "callgraph", "tree", "file" } do
      assert.truthy(p:report { mode = mode, width = 100 }:find "spin", mode)
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

describe("a rate far below what was asked", function()
  it("is explained where samples take long", function()
    local told = require "cprof.report.header".certainty
    local function profile(overhead_ns)
      return { samples = 50, time_samples = 50, functions = {},
        meta = { rate = 1000, wall_ns = 1000000000, paused_ns = 0,
          overhead_ns = overhead_ns } }
    end
    assert.is_truthy(told(profile(10000000)):find(
      "50 samples a second of 1,000 (each takes long here, as with deep " ..
      "stacks); ", 1, true))
    -- of one sample, none can say that
    local short = profile(10000000)
    short.samples, short.time_samples = 1, 1
    assert.is_nil(told(short):find("takes long", 1, true))
    -- it may have waited
    assert.is_truthy(told(profile(100000)):find(
      "50 samples a second of 1,000; ", 1, true))
  end)
end)
