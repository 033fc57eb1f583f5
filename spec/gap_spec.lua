-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local profiler = require "cprof"

local ms <const> = 1000000

-- ns of each gap that may count as the wrong kind of time
local noise <const> = 3000

local pass <const> = driven.pass

local function compute() pass(3 * ms) end
local function wait() pass(1 * ms, 6 * ms) end
local function robbed() pass(2 * ms, 0, 8 * ms) end
local function all() pass(4 * ms, 10 * ms, 5 * ms) end

local function program()
  compute() wait() robbed() all()
end

-- self and total of the time in the functions of C that these call
local function under(p, f)
  local row = helper.find(p, f)
  return row.total_ns, row.total_wait_ns
end

-- Self times, the profiler and what others had add up to the wall time.
local function adds_up(p)
  local sum, waited = 0, 0
  for _, node in ipairs(p.nodes) do
    sum, waited = sum + node.self_ns, waited + node.self_wait_ns
  end
  assert.equal(p.meta.wall_ns, sum + p.meta.paused_ns + p.meta.preempted_ns)
  assert.equal(p.meta.waiting_ns, waited)
end

describe("a gap between events", function()
  for _, mode in ipairs { "call", "line" } do
    it("divides in computing, waiting and what others had in mode " .. mode,
      function(dir)
        local p = driven.parts(program, { mode = mode })
        local meta = p.meta
        assert.equal(13 * ms - noise, meta.preempted_ns)
        assert.equal(16 * ms - 2 * noise, meta.waiting_ns)
        assert.equal(39 * ms, meta.wall_ns)
        assert.same({ 3 * ms, 0 }, { under(p, compute) })
        assert.same({ 7 * ms, 6 * ms - noise }, { under(p, wait) })
        assert.same({ 2 * ms + noise, 0 }, { under(p, robbed) })
        assert.same({ 14 * ms, 10 * ms - noise }, { under(p, all) })
        adds_up(p)
        local path = dir:file "x"
        assert(p:save(path))
        local again = assert(profiler.load(path))
        assert.equal(meta.preempted_ns, again.meta.preempted_ns)
        assert.same({ under(p, all) }, { under(again, all) })
        adds_up(again)
      end)
  end

  it("is part of the line that waited", function()
    local p = driven.parts(program, { mode = "line" })
    local f = helper.find(p, all)
    local line = p.lines[f.source][f.line]
    assert.equal(14 * ms, line.self_ns + line.total_ns)
    assert.equal(10 * ms - noise, line.self_wait_ns + line.total_wait_ns)
  end)

  it("is waiting where the system does not tell it apart, and says so",
    function()
      local p = driven.parts(program, nil, true)
      assert.equal(0, p.meta.preempted_ns)
      assert.equal(29 * ms - 3 * noise, p.meta.waiting_ns)
      assert.same({ 10 * ms, 8 * ms - noise }, { under(p, robbed) })
      assert.is_truthy(p:report { width = 1000 }:find("\nnote: this system " ..
        "does not say when other programs had the processor", 1, true))
      adds_up(p)
    end)

  it("is seen in coroutines, and at the end of a recording", function()
    local p = driven.parts(function()
      local f = coroutine.wrap(function()
        coroutine.yield(all())
        wait()
        pass(0, 2 * ms)
      end)
      f()
      f()
    end)
    assert.equal(18 * ms - 3 * noise, p.meta.waiting_ns)
    assert.equal(5 * ms, p.meta.preempted_ns)
    assert.same({ 14 * ms, 10 * ms - noise }, { under(p, all) })
    adds_up(p)
  end)

  it("is divided while it lasts, for who reads the file", function()
    local host = require "spec_host"
    for mode, wanted in pairs { call = { 360, 300, 25 },
      line = { 360, 300, 25 },
      sample = { 379, 310, 25 },  -- no sample came since the start
    } do
      local path, state, row = os.tmpname(), host.state(), nil
      driven.parts(function()
        all()
        local reader = ([[
          local path = package.searchpath("spec_host", package.cpath)
          local pass = package.loadlib(path, "luaopen_spec_ticks")().pass
          local profiler = require "cprof"
          pass(%d, %d, %d)
          local p = assert(profiler.load(%q))
          local m, sum = p.meta, 0
          for _, node in ipairs(p.nodes) do sum = sum + node.self_ns end
          assert(m.wall_ns == sum + m.paused_ns + m.preempted_ns)
          assert(m.live and m.waiting_ns >= m.since_last_event_waiting_ns)
          return m.since_last_event_ns .. " " ..
            m.since_last_event_waiting_ns .. " " .. m.preempted_ns]]):format(
          40 * ms, 300 * ms, 20 * ms, path)
        row = state:run(reader)
      end, { mode = mode, file = path })
      state:close()
      os.remove(path)
      for i, n in ipairs(wanted) do wanted[i] = n * ms end
      assert.equal(table.concat(wanted, " "), row, mode)
    end
  end)

  it("is in a range of time, too, if others had the processor after the " ..
    "last sample", function()
    local p = driven.parts(function()
      pass(20 * ms)
      driven.wait(1)
      pass(5 * ms, 0, 40 * ms)
    end, { mode = "sample" })
    local range = assert(p:range())
    -- the ns of a step of the time axis
    local step = 1000000 // 32
    assert.equal(40 * ms - noise, p.meta.preempted_ns)
    assert.is_true(math.abs(range.meta.preempted_ns - p.meta.preempted_ns) <
      step, range.meta.preempted_ns)
    adds_up(p)
  end)

  it("is in a row of its own where no sample has found the thread waiting",
    function()
      local host = require "spec_host"
      local path, state, row = os.tmpname(), host.state(), nil
      local p = driven.parts(function()
        for _ = 1, 20 do
          pass(20 * ms)
          driven.wait(1)
        end
        row = state:run(([[
          local path = package.searchpath("spec_host", package.cpath)
          local pass = package.loadlib(path, "luaopen_spec_ticks")().pass
          pass(%d, %d)
          local helper = require "helper"
          local p = assert(require "cprof".load(%q))
          local own = helper.named(p, "(waiting, or in a C function)")
          return ("%%d %%d %%d %%d"):format(
            p.meta.since_last_event_waiting_ns, p.meta.waiting_ns,
            own.self_ns, own.self_wait_ns)]]):format(20 * ms, 90 * ms, path))
      end, { mode = "sample", file = path })
      state:close()
      os.remove(path)
      assert.is_true(p.samples >= 20)
      assert.equal(("%d %d %d %d"):format(90 * ms, 90 * ms, 90 * ms, 90 * ms),
        row)
    end)

  it("is not waiting if the thread only stands in line for a processor, " ..
    "which the system counts later", function()
    local host = require "spec_host"
    local path, state, row = os.tmpname(), host.state(), nil
    driven.parts(function()
      row = state:run(([[
        local path = package.searchpath("spec_host", package.cpath)
        local pass = package.loadlib(path, "luaopen_spec_ticks")().pass
        pass(%d, 0, %d, true)
        local m = assert(require "cprof".load(%q)).meta
        return m.since_last_event_waiting_ns .. " " .. m.preempted_ns]]):format(
        40 * ms, 20 * ms, path))
    end, { file = path })
    state:close()
    os.remove(path)
    assert.equal(("0 %d"):format(20 * ms), row)
  end)

  it("is not divided by a system that says that no thread has run", function()
    local host = require "spec_host"
    local path, state, live = os.tmpname(), host.state(), nil
    driven.parts(function()
      pass(20 * ms)
      live = state:run(([[
        local path = package.searchpath("spec_host", package.cpath)
        local pass = package.loadlib(path, "luaopen_spec_ticks")().pass
        local profiler = require "cprof"
        pass(-15 * 1000000, 300 * 1000000)
        local m = assert(profiler.load(%q)).meta
        return m.live and m.since_last_event_ns > 0 and
          m.since_last_event_waiting_ns == nil]]):format(path))
    end, { file = path })
    state:close()
    os.remove(path)
    assert.equal("true", live)
  end)

  it("is in the header, in full, and in a column", function()
    local p = driven.parts(program)
    local text = p:report { mode = "total", width = 200, min_percent = 0 }
    assert.is_truthy(text:find("39.0ms wall: 10.0ms CPU, 16.0ms waiting, " ..
      "13.0ms preempted (excluded)\n", 1, true), text)
    assert.is_truthy(
      text:find "\n *total +total %% +self +self %% +waiting ", text)
    local times = text:match "\n([^\n]* all +[^\n]*)\n"
    assert.is_truthy(times and times:find "^ *14.0ms .* 10.0ms ", text)
  end)

  it("makes the report say that most was waiting, if it was", function()
    for waited, says in pairs { [11 * ms] = true, [9 * ms] = false } do
      local p = driven.parts(function() pass(10 * ms, waited, 30 * ms) end)
      assert.equal(says, p:report { width = 200 }:find("\nnote: most of the " ..
        "time was waiting: ", 1, true) ~= nil, waited)
    end
  end)

  it("adds up in merged profiles", function()
    local merge = require "cprof.profile.merge"
    local a, b = driven.parts(program), driven.parts(program)
    local p = assert(merge.sum { a, b })
    assert.equal(2 * a.meta.preempted_ns, p.meta.preempted_ns)
    assert.equal(2 * a.meta.waiting_ns, p.meta.waiting_ns)
    assert.same({ 28 * ms, 2 * (10 * ms - noise) }, { under(p, all) })
    adds_up(p)
  end)

  it("is not hidden by a look at the clocks that comes after it", function()
    -- only some events read the clocks, which are drawn by lot
    for reading = 2220, 2320 do
      local p = driven.parts(function()
        driven.rob(reading, 8 * ms)
        for _ = 1, 1500 do pass(9000) end
      end)
      assert.is_true(math.abs(p.meta.preempted_ns - 8 * ms) <= noise,
        reading .. ": " .. p.meta.preempted_ns)
      adds_up(p)
    end
  end)

  it("that is too short to ask about is computing", function()
    local p = driven.parts(function() pass(0, 9000) end)
    assert.equal(0, p.meta.waiting_ns)
    adds_up(p)
  end)
end)

describe("frames", function()
  it("are without the time that others had, which their report says",
     function()
    local p = driven.parts(function()
      for _ = 1, 3 do
        robbed()
        profiler.frame()
      end
    end)
    for _, f in ipairs(p.frames:times()) do
      assert.equal(2 * ms + noise, f.own_ns)
    end
    assert.equal(3 * (8 * ms - noise), p.meta.preempted_ns)
    local out = p:report { mode = "frames" }
    assert.is_truthy(out:find("note: other programs had the processor for " ..
      "24.0ms, which is not in", 1, true), out)
  end)

  it("start when the clock says, pauses and other programs included",
    function()
      -- in mode sample, what others had is in the time of a frame
      for mode, preempted in pairs { call = 8 * ms - noise, sample = 0 } do
        local p = driven.parts(function()
          profiler.frame()
          profiler.pause()
          pass(1 * ms, 9 * ms)
          profiler.resume()
          robbed()
          profiler.frame()
          profiler.frame()
        end, { mode = mode })
        local each = p.frames:times()
        assert.equal(10 * ms, p.meta.paused_ns)
        assert.equal(10 * ms + preempted,
          each[3].start_ns - each[2].start_ns - each[2].ns)
      end
    end)

  it("have no such note if others had none", function()
    local p = driven.parts(function()
      compute()
      profiler.frame()
    end)
    assert.is_nil(p:report { mode = "frames" }:find("note: other", 1, true))
  end)
end)
