-- Frames by name, and frames in files.

local _ENV = require("helper").env(_ENV)

local blocks = require "blocks"
local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"
local nomemory = require "nomemory"
local profiler = require "cprof"

local milli <const> = 1000000

-- runs code in a state of its own, by a clock that only `pass` moves
local function run(code, ...)
  local S = host.state()
  local result = S:run([[
    local profiler, zones = require "cprof", require "spec_zones"
    zones.clock(true)
    local function usual(ms) zones.pass(ms * 1000000) end
    local function rare(ms) zones.pass(ms * 1000000) end
  ]] .. code:format(...))
  S:close()
  return result
end

-- a recording in a file: 40 frames of 2 ms, two of them longer, in the middle
-- of which a frame with a name ends
local function recorded(dir, name, more)
  local file = dir:file(name)
  run([[
    profiler.start { file = %q, exclude = { ".pass " }, %s }
    for i = 1, 40 do
      usual(1)
      profiler.frame "render"
      usual(1)
      if i == 12 then rare(30) end
      if i == 25 then rare(20) end
      profiler.frame()
    end
    profiler.stop()
  ]], file, more or "slow_frames = { budget_ms = 10 }")
  return file
end

local function titles(frame)
  local out = {}
  for _, row in ipairs(frame.rows) do out[row.func.name] = row end
  return out
end

-- the time in full milliseconds
local function ms(ns) return ns // milli end

describe("frames in a file", function()
  it("are counted, with percentiles and the slowest in full", function(dir)
    local p = assert(profiler.load(recorded(dir, "a.cprof")))
    local f = p.frames
    assert.equal(40, f.recorded)
    assert.equal(40, #f:times())
    assert.equal(2, f.slow)
    assert.equal(2, f.slow_kept)
    local shares = f:percentiles()
    assert.same({ 2, 2, 32, 32 }, { ms(shares.p50), ms(shares.p90),
      ms(shares.p99), ms(shares.max) })
    local worst, nodes = f:slowest(1)
    assert.equal(12, worst.number)
    assert.equal(32, ms(worst.ns))
    assert.equal(30, ms(titles(worst).rare.self_ns))
    assert.equal(2, titles(worst).usual.calls)
    assert.is_truthy(nodes)
    local sum = 0
    for _, row in ipairs(worst.rows) do sum = sum + row.self_ns end
    assert.equal(worst.ns, sum)
    assert.equal(25, (f:slowest(2)).number)
    assert.equal(25, f:at(0, true).number)
    assert.equal(40, f:at(0).number)
    assert.is_nil(f:slowest(17))
  end)

  it("have names", function(dir)
    local p = assert(profiler.load(recorded(dir, "a.cprof")))
    assert.equal(2, #p.loops)
    local f = p.loops[1]
    assert.equal("render", f.name)
    assert.is_nil(p.frames.name)
    assert.equal(39, f.recorded)  -- the first call begins the first frame
    local worst = f:slowest(1)
    assert.equal(12, worst.number)
    assert.equal(32, ms(worst.ns))
    assert.equal(30, ms(titles(worst).rare.self_ns))
    assert.equal(2, titles(worst).usual.calls)
  end)

  it("are there before the recording has ended", function(dir)
    local file = dir:file "live.cprof"
    local S = host.state()
    S:run(([[
      profiler, zones = require "cprof", require "spec_zones"
      zones.clock(true)
      profiler.start { file = %q, exclude = { ".pass " } }
      for i = 1, 10 do zones.pass(i * 1000000) profiler.frame() end
    ]]):format(file))
    local p = assert(profiler.load(file))
    assert.equal(10, p.frames.recorded)
    assert.equal(10, (p.frames:slowest(1)).number)
    assert.is_true(#p.frames:slowest(1).rows > 0)
    S:run "profiler.stop()"
    S:close()
  end)

  -- a file while frames are written into it
  local function live(dir)
    local S, path = host.state(), dir:file "live.cprof"
    S:run(([[
      profiler, zones = require "cprof", require "spec_zones"
      zones.clock(true)
      profiler.start { file = %q, exclude = { ".pass " },
        slow_frames = { budget_ms = 1 } }
      for i = 1, 10 do
        load "zones.pass(2000000)" ()
        profiler.frame()
      end
    ]]):format(path))
    local bytes = command.read(path)
    S:run "profiler.stop()"
    S:close()
    return bytes
  end

  -- a live file, which has no checksum, with other bytes at an offset
  local function loaded(dir, s, at, bytes)
    return assert(profiler.load(dir:file("changed.cprof",
      blocks.with(s, at, bytes))))
  end

  it("may have nodes that are newer than a live file's header", function(dir)
    local s = live(dir)
    local p = loaded(dir, s, 48, ("I4"):pack(("I4"):unpack(s, 49) - 1))
    assert.equal(10, p.frames.recorded)
  end)

  it("may be half written in a live file", function(dir)
    local s = live(dir)
    -- the number, the loop, the start, then the ticks of the first frame
    local at = blocks.find(s, blocks.marks) - 1
    assert.equal(1, (("I4"):unpack(s, at + 1)))
    local p = loaded(dir, s, at + 16, ("I8"):pack(1))
    assert.equal(9, #p.frames:times())
    -- the name, frames, then those over the budget
    at = blocks.find(s, blocks.loops) - 1 + 64
    assert.equal(10, (("I8"):unpack(s, at + 9)))
    p = loaded(dir, s, at + 8, ("I8"):pack(11))
    assert.same({ 10, 10 }, { p.frames.recorded, p.frames.slow })
  end)

  it("are the same after the profile was saved again", function(dir)
    local file = recorded(dir, "a.cprof")
    local p = assert(profiler.load(file))
    assert(p:save(dir:file "b.cprof"))
    local q = assert(profiler.load(dir:file "b.cprof"))
    for i, f in ipairs(p.loops) do
      local g = q.loops[i]
      assert.same(f:times(), g:times())
      assert.same(f:percentiles(), g:percentiles())
      assert.equal(f.name, g.name)
      for k = 1, 16 do
        assert.same(titles(f:slowest(k)).usual.self_ns,
          titles(g:slowest(k)).usual.self_ns)
      end
    end
  end)

  it("are what the recorder has", function(dir)
    local file = dir:file "a.cprof"
    local p = helper.record(function()
      for i = 1, 50 do
        string.rep("x", i)
        profiler.frame(i % 2 == 0 and "even" or nil)
      end
    end, { file = file })
    local q = assert(profiler.load(file))
    assert.equal(2, #p.loops)
    for i, f in ipairs(p.loops) do
      assert.same(f:times(), q.loops[i]:times())
      assert.equal(f.recorded, q.loops[i].recorded)
      assert.equal(f:slowest(1).ns, q.loops[i]:slowest(1).ns)
    end
  end)

  it("add up with those of other files", function(dir)
    local a, b = recorded(dir, "a.cprof"), recorded(dir, "b.cprof")
    local sum = dir:file "sum.cprof"
    command.cprof("merge", "-o", sum, a, b)
    local p = assert(profiler.load(sum))
    assert.equal(80, p.frames.recorded)
    assert.equal(4, p.frames.slow)
    assert.equal("render", p.loops[1].name)
    assert.equal(78, p.loops[1].recorded)
    local worst = p.frames:slowest(2)
    assert.equal(12, worst.number)
    assert.is_nil(worst.start_ns)
    assert.equal(30, ms(titles(worst).rare.self_ns))
    -- a step of the histogram is at most a tenth wide
    local p50 = p.frames:percentiles().p50
    assert.is_true(p50 > 1.9 * milli and p50 < 2.1 * milli, p50)
  end)
end)

describe("the report of frames", function()
  it("cuts names of functions if it must, but no times", function()
    local out = run [[
      local function a_name_that_is_much_too_long_for_the_column(ms)
        usual(ms)
      end
      profiler.start { c_functions = false, exclude = { "usual" } }
      for i = 1, 20 do
        rare(i == 7 and 40 or 1)
        a_name_that_is_much_too_long_for_the_column(i == 7 and 30 or
          i == 9 and 50 or 1)
        profiler.frame()
      end
      profiler.stop()
      local p, out = profiler.snapshot(), {}
      for _, width in ipairs { 60, 100 } do
        out[#out + 1] = p:report { mode = "frames", width = width }
      end
      return table.concat(out)
    ]]
    assert.matches("  rare %+[%d.]+ms, …\n", out)
    assert.matches("  a_name[%w_]*…[%w_]+ %+[%d.]+ms\n", out)
    assert.matches("rare %+[%d.]+ms, " ..
      "a_name_that_is_much_too_long_for_the_column %+[%d.]+ms\n", out)
  end)
end)

describe("frames", function()
  it("are all counted, in bounded room", function()
    local out = run [[
      profiler.start { slow_frames = { budget_ms = 3 } }
      for i = 1, 9000 do usual(i %% 100 == 0 and 4 or 1) profiler.frame() end
      profiler.stop()
      local f = profiler.snapshot().frames
      local p = f:percentiles()
      return ("%%d %%d %%d %%d %%d %%d"):format(f.recorded, f.slow, #f:times(),
        f:times()[1].number, p.p50 // 1e5, p.p99 // 1e5)
    ]]
    local count, slow, times, first, p50, p99 = out:match(
      "^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$")
    assert.equal("9000 90 8192 809", table.concat({ count, slow, times, first },
      " "))
    assert.is_true(tonumber(p50) >= 9 and tonumber(p50) <= 10, out)
    assert.is_true(tonumber(p99) >= 9 and tonumber(p99) <= 42, out)
  end)

  it("are left out if they are not to be recorded", function()
    local out = run [[
      profiler.start()
      for i = 1, 10 do
        usual(1)
        profiler.frame("a", i %% 2 == 0)
        profiler.frame(i %% 5 == 0)
      end
      profiler.stop()
      local p = profiler.snapshot()
      return p.loops[1].recorded .. " " .. p.loops[2].recorded
    ]]
    assert.equal("5 2", out)
  end)

  it("begin anew with a reset", function()
    local out = run [[
      profiler.start()
      for _ = 1, 10 do usual(1) profiler.frame "a" profiler.frame() end
      profiler.reset()
      for _ = 1, 3 do usual(1) profiler.frame "b" end
      profiler.stop()
      local p = profiler.snapshot()
      return #p.loops .. p.loops[1].name .. p.loops[1].recorded
    ]]
    assert.equal("1b2", out)
  end)

  it("have at most 64 names", function()
    profiler.start()
    for i = 1, 64 do assert.is_true(profiler.frame("loop " .. i)) end
    assert.is_false(profiler.frame "one more")
    assert.is_false(profiler.frame())
    assert.is_true(profiler.frame "loop 1")
    profiler.stop()
    assert.equal(64, #profiler.snapshot().loops)
  end)

  it("have names of 1 to 63 bytes", function()
    local why = "frame: the name must have 1 to 63 bytes, none of them 0, got "
    assert.has_error(function() profiler.frame "" end, why .. "0")
    assert.has_error(function() profiler.frame(("x"):rep(64)) end, why .. "64")
    assert.has_error(function() profiler.frame "a\0b" end, why .. "3")
  end)

  it("are counted by the calls of each name across coroutines", function()
    local out = run [[
      profiler.start { history = "full" }
      local co = coroutine.wrap(function()
        while true do usual(1) coroutine.yield() end
      end)
      for i = 1, 6 do
        co()
        if i %% 2 == 0 then profiler.frame "two" end
        profiler.frame()
      end
      profiler.stop()
      local p = profiler.snapshot()
      local out = {}
      for _, f in ipairs(p.loops) do
        local frame, calls, sum = f:at(0), 0, 0
        for _, row in ipairs(frame.rows) do
          if row.func.name == "usual" then calls = row.calls end
          sum = sum + row.self_ns
        end
        out[#out + 1] = ("%%s %%d %%s"):format(f.name, calls, sum == frame.ns)
      end
      return table.concat(out, ", ")
    ]]
    assert.equal("nil 1 true, two 2 true", out)
  end)

  it("are harmless without memory", function()
    for _, mode in ipairs { "line", "sample" } do
      nomemory.harmless(([[
        local profiler = require "cprof"
        local started = pcall(profiler.start,
          { mode = %q, compensate = false, history = 2 })
        arm()
        local ok, why = pcall(function()
          for i = 1, 64 do
            profiler.frame("loop " .. i)
            profiler.frame("loop " .. i)
          end
        end)
        disarm()
        profiler.stop()
        profiler.report { mode = "frames" }
        return ok and "fine" or why
      ]]):format(mode))
    end
  end)

  it("have their times in mode sample", function()
    local out = run [[
      profiler.start { mode = "sample" }
      for i = 1, 20 do usual(i) profiler.frame "loop" end
      profiler.stop()
      local f = profiler.snapshot().loops[1]
      return f.recorded .. " " .. f:slowest(1).number
    ]]
    assert.equal("19 19", out)
  end)

  it("start when the clock says, pauses and other programs included",
     function()
    for _, mode in ipairs { "call", "sample" } do
      profiler.start { mode = mode }
      profiler.frame()
      profiler.pause()
      core.sleep(0.01)
      profiler.resume()
      profiler.frame()
      profiler.frame()
      profiler.stop()
      local p = profiler.snapshot()
      local all = p.frames:times()
      local left_out = all[3].start_ns - all[2].start_ns - all[2].ns
      assert.is_true(p.meta.paused_ns > 0)
      assert.is_true(left_out >= p.meta.paused_ns - 8, left_out)
      assert.is_true(left_out <= p.meta.paused_ns +
        (p.meta.preempted_ns or 0) + 8, left_out)
    end
  end)

  it("follow each other in mode sample, without the profiler's own work",
     function()
    profiler.start { mode = "sample" }
    for _ = 1, 4 do
      profiler.frame()
      profiler.frame()
      profiler.snapshot()
    end
    profiler.stop()
    local f, from = profiler.snapshot().frames, 0
    for i, frame in ipairs(f.last) do
      assert.equal(i, frame.number)
      assert.is_true(math.abs(frame.start_ns - from) <= 8, frame.start_ns)
      from = frame.start_ns + frame.ns
    end
    assert.equal(8, #f.last)
  end)
end)

describe("frames", function()
  it("have the time of a coroutine under each function that resumed it",
    function()
      assert.equal("B 14 usual 15", run [[
        local ms
        local co = coroutine.wrap(function()
          while true do usual(ms) coroutine.yield() end
        end)
        local function A() ms = 1 co() end
        local function B() ms = 14 co() end
        profiler.start { history = 16, exclude = { ".pass " } }
        for i = 1, 8 do
          A()
          if i == 6 then B() end
          profiler.frame()
        end
        profiler.stop()
        local of = {}
        for _, row in ipairs(profiler.snapshot().frames:at(2).rows) do
          of[row.func.name] = row
        end
        return ("B %%d usual %%d"):format(of.B.total_ns // 1000000,
          of.usual.self_ns // 1000000)
      ]])
    end)
end)

describe("cprof frames", function()
  it("prints the frames of each name, and the slowest", function(dir)
    local out = command.cprof("frames", recorded(dir, "a.cprof"))
    assert.is_truthy(out:find([[
frames of  frames     p50     p90     p99     max  over budget
render         39  2.00ms  2.00ms  32.0ms  32.0ms            2
(no name)      40  2.00ms  2.00ms  32.0ms  32.0ms            2

frames of render:
39 frames, 2 over the budget of 10.0ms
median 2.00ms, p90 2.00ms, p99 32.0ms, max 32.0ms

frame]], 1, true), out)
    assert.matches("\n +12 +%S+ +32%.0ms +rare %+2%d%.%dms", out)
    assert.has_text("\n… 37 faster frames\n", out)
  end)

  it("names the caller that makes a frame slow, not only what runs in each",
    function(dir)
      local file = dir:file "c.cprof"
      run([[
        local function step() usual(1) end
        local function load_level() for _ = 1, 30 do usual(1) end end
        local function deep() for _ = 1, 20 do step() end end
        profiler.start { file = %q, exclude = { ".pass " } }
        for i = 1, 40 do
          step()
          if i == 12 then load_level() end
          if i == 25 then deep() end
          profiler.frame()
        end
        profiler.stop()
      ]], file)
      local out = command.cprof("frames", "--limit", "2", file)
      local function has(frame, cause)
        assert.matches(("\n +%s +%%S+ +%%S+ +%s%%+%%S+\n"):format(frame, cause),
          out)
      end
      has("12", "load_level → usual ")
      has("25", "deep → … → usual ")
    end)

  it("prints those of one name", function(dir)
    local file = recorded(dir, "a.cprof")
    local out = command.cprof("frames", "--limit", "1", file, "render")
    assert.has_no_text("(no name)", out)
    assert.has_text("\n… 38 faster frames", out)
    local why = command.refused("frames", file, "nothing")
    assert.equal("cprof frames: no frames are named nothing; these names " ..
      "are known: render\n", why)
  end)

  it("prints those of a range of time", function(dir)
    local file = recorded(dir, "a.cprof")
    local slowest
    for _, loop in ipairs(profiler.load(file).loops) do
      if loop.name == "render" then slowest = loop:slowest(1) end
    end
    local function of(from, to)
      local out = command.cprof("frames", "--from", from / 1e9 .. "s", "--to",
        to / 1e9 .. "s", file, "render")
      return out
    end
    local from, to = slowest.start_ns, slowest.start_ns + slowest.ns
    local out = of(from + 1000, to - 1000)
    assert.matches(("\n +%d +%%S+ +32%%.0ms "):format(slowest.number), out)
    assert.no_matches("\n +%d+ +%S+ +32%.0ms ", (of(0, from - 1000)))
    assert.equal("frames of render: no frame ran from 0s to 0.0001s\n",
      of(0, 100e3))
    local why = command.refused("frames", "--from", "1000s", file)
    assert.has_text("cprof frames: 1000s is not within the recording, which " ..
      "took ", why)
  end)

  it("sums up those of a range of time, too", function(dir)
    local file = recorded(dir, "a.cprof")
    -- 30 ms in the 12th frame, which begins at 22 ms; 20 ms in the 25th
    local out = command.cprof("frames", "--from", "60ms", "--to", "99ms", file)
    assert.is_truthy(out:find([[
from 0.06s to 0.099s:
frames of  frames     p50     p90     p99     max  over budget
render         11  2.00ms  2.00ms  22.0ms  22.0ms            1
(no name)      10  2.00ms  2.00ms  22.0ms  22.0ms            1

frames of render, from 0.06s to 0.099s:
11 frames, 1 over the budget of 10.0ms
median 2.00ms, p90 2.00ms, p99 22.0ms, max 22.0ms

frame]], 1, true), out)
    assert.has_text("\n… 10 faster frames\n", out)
    out = command.cprof("frames", "--from", "1ms", "--to", "2ms", file)
    assert.has_text("\nrender          1  2.00ms", out)
    out = command.cprof("frames", "--from", "0ms", "--to", "100us", file)
    assert.has_text("\nrender          0       -       -       -       -    " ..
      "        0\n", out)
  end)

  it("says that figures are of all frames where not all times are kept",
    function(dir)
      local file = dir:file "many.cprof"
      run([[
        profiler.start { file = %q, exclude = { ".pass " } }
        for i = 1, 9000 do
          usual(1)
          profiler.frame()
        end
        profiler.stop()
      ]], file)
      local function of(from, to)
        return command.cprof("frames", "--from", from, "--to", to, file)
      end
      local out = of("0s", "1s")
      assert.is_truthy(out:find("in the whole recording, as the times of " ..
        "some frames of this\nrange are not kept:\n9,000 frames\n", 1, true) or
        out:find("are not kept:\n9,000 frames\n", 1, true), out)
      out = of("8s", "8500ms")
      assert.matches("from 8s to 8%.5s:\n50%d frames\n", out)
    end)

  it("has no columns without figures", function(dir)
    local file = dir:file "sample.cprof"
    run([[
      profiler.start { mode = "sample", file = %q }
      for i = 1, 20 do usual(i) profiler.frame() end
      profiler.stop()
    ]], file)
    local out = command.cprof("frames", file)
    assert.matches("\nframe +at +time\n", out)
  end)

  it("says that there are none", function(dir)
    local file = dir:file "none.cprof"
    run("profiler.start { file = %q } usual(1) profiler.stop()", file)
    local why = command.refused("frames", file)
    assert.equal("cprof frames: no frames were recorded: the program does " ..
      "not call cprof.frame\n", why)
  end)

  it("has a line in the report of a file", function(dir)
    local out = command.cprof("report", recorded(dir, "a.cprof"))
    assert.has_text("\nframes of render: 39 frames, 2 over the budget of " ..
      "10.0ms, median 2.00ms, p90 2.00ms, p99 32.0ms, max", out)
  end)
end)
