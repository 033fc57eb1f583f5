-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local core = require "cprof.core"
local framed = require "cprof.html.framed"
local helper = require "helper"
local host = require "spec_host"
local profiler = require "cprof"

local micro <const>, milli <const> = 1000, 1000000

local function spin(n)
  local x = 0
  for i = 1, n do x = x + i end
  return x
end

local function leaf(n) spin(n * 20) end

-- recursion, direct and mutual, of a depth that changes
local odd
local function even(n) leaf(1) if n > 0 then odd(n - 1) end end
function odd(n) leaf(2) if n > 0 then even(n - 1) end end
local function deep(n) leaf(n) if n > 0 then deep(n - 1) end end

local function work(i)
  profiler.enter "work"
  deep(i % 7)
  even(i % 5)
  if i % 3 == 0 then leaf(5) end
  profiler.leave "work"
end

-- `count` frames of work
local function frames(count, options)
  local function run()
    for i = 1, count do
      work(i)
      profiler.frame()
    end
  end
  if options.compensate == false then
    return driven.record(micro, run, options)
  end
  return driven.compensate(micro, 100, run, options)
end

local function row_of(frame, func)
  for _, row in ipairs(frame.rows) do
    if row.func == func then return row end
  end
end

-- sums of rows by function, over all frames that are kept
local function sums(p)
  local of = {}
  for back = 0, p.frames.kept - 1 do
    for _, row in ipairs(p.frames:at(back).rows) do
      local s = of[row.func] or { calls = 0, self_ns = 0, total_ns = 0 }
      s.calls = s.calls + row.calls
      s.self_ns = s.self_ns + row.self_ns
      s.total_ns = s.total_ns + row.total_ns
      of[row.func] = s
    end
  end
  return of
end

local function inside(p)
  return { helper.named(p, "work"), helper.find(p, leaf),
    helper.find(p, deep), helper.find(p, even), helper.find(p, odd),
    helper.find(p, spin) }
end

-- each of 100 frames is rounded by itself, and so is what is overhead in it
local function near(expected, got, title)
  assert.is_true(math.abs(expected - got) <= 200,
    ("%s: %d and %d"):format(title, expected, got))
end

describe("the figures of frames", function()
  for _, history in ipairs { 128, "full" } do
    it("add up to about the profile's, history = " .. history, function()
      local p = helper.check(frames(100, { history = history }))
      local of = sums(p)
      local list = inside(p)
      assert.equal(6, #list)
      for _, f in ipairs(list) do
        assert.equal(f.calls, of[f].calls, f.title)
        near(f.self_ns, of[f].self_ns, f.title)
        near(f.total_ns, of[f].total_ns, f.title)
      end
    end)

    it("add up without compensation, history = " .. history, function()
      local p = frames(100, { history = history, compensate = false })
      local of = sums(p)
      for _, f in ipairs(inside(p)) do
        assert.equal(f.self_ns, of[f].self_ns)
      end
    end)

    it("add up to each frame's time, history = " .. history, function()
      local p = frames(60, { history = history })
      local root = helper.named(p, "(root)")
      local whole = 0
      for back = 0, p.frames.kept - 1 do
        local f, sum = p.frames:at(back), 0
        for _, row in ipairs(f.rows) do
          assert.is_true(row.self_ns >= 0 and row.total_ns >= row.self_ns)
          sum = sum + row.self_ns
        end
        assert.equal(f.ns, sum)
        assert.equal(f.ns, row_of(f, root).total_ns)
        whole = whole + sum
      end
      assert.equal(whole, sums(p)[root].total_ns)
      -- what is left came after the last frame
      assert.is_true(whole <= p.nodes[1].total_ns)
      assert.is_true(whole > p.nodes[1].total_ns // 2)
    end)
  end

  it("add up for each stack state, where these are kept", function()
    local p = frames(100, { history = "full" })
    local calls, self_ns = {}, {}
    for back = 0, p.frames.kept - 1 do
      local nodes, f = p.frames:nodes(back), p.frames:at(back)
      assert.equal(f.ns, nodes[1].total_ns)
      local of = {}
      for id, node in ipairs(nodes) do
        calls[id] = (calls[id] or 0) + node.calls
        self_ns[id] = (self_ns[id] or 0) + node.self_ns
        of[node.func] = (of[node.func] or 0) + node.self_ns
      end
      for _, row in ipairs(f.rows) do
        assert.equal(row.self_ns, of[row.func.id])
      end
    end
    local zone, below, count = helper.named(p, "work"), {}, 0
    for id, node in ipairs(p.nodes) do
      below[id] = node.func == zone.id or below[node.parent]
      if below[id] then
        count = count + 1
        assert.equal(node.calls, calls[id])
        near(node.self_ns, self_ns[id], p.functions[node.func].title)
      end
    end
    assert.is_true(count > 20)
  end)

  it("hold whether nodes are kept or not", function()
    local p = frames(10, {})
    local nodes, f = p.frames:nodes(0), p.frames:at(0)
    local of = {}
    for _, node in ipairs(nodes) do
      of[node.func] = (of[node.func] or 0) + node.self_ns
    end
    for _, row in ipairs(f.rows) do
      assert.equal(row.self_ns, of[row.func.id])
    end
    assert.is_true(f.full)
    assert.is_false(p.frames:at(1).full)
    assert.is_nil(p.frames:nodes(1))
    assert.is_nil(p.frames:at(10))
  end)

  it("are those of that frame alone", function()
    local p = frames(9, {})
    local f = helper.find(p, deep)
    for back = 0, 8 do
      assert.equal(9 - back, p.frames:at(back).number)
      assert.equal((9 - back) % 7 + 1, row_of(p.frames:at(back), f).calls)
    end
  end)

  it("do not have zones that an error has left, in the next frame",
    function()
      local p = driven.record(micro, function()
        for i = 1, 6 do
          pcall(function()
            profiler.enter "left"
            leaf(1)
            if i % 2 == 0 then error "x" end
            if i == 5 then coroutine.wrap(error)() end
            profiler.leave "left"
          end)
          profiler.frame()
          leaf(1)
          profiler.frame()
        end
        profiler.enter "open"
        profiler.frame()
        leaf(1)
        profiler.frame()
        profiler.leave "open"
      end, { compensate = false })
      helper.check(p)
      local left, open = helper.named(p, "left"), helper.named(p, "open")
      assert.equal(14, p.frames.kept)
      for back = 2, 13 do
        local row = row_of(p.frames:at(back), left)
        assert.equal(back % 2 == 1, row ~= nil, back)
        if row then assert.equal(1, row.calls) end
      end
      -- a zone that is still open has a row, but no call yet
      assert.equal(1, row_of(p.frames:at(1), open).calls)
      assert.equal(0, row_of(p.frames:at(0), open).calls)
      assert.is_true(row_of(p.frames:at(0), open).total_ns > 0)
    end)

  it("count the work at their end in a zone", function()
    local p = frames(20, {})
    local zone = helper.named(p, "cprof.frame")
    assert.equal("zone", zone.kind)
    assert.equal(20, zone.calls)
    assert.is_true(zone.self_ns > 0)
  end)
end)

describe("frame(false)", function()
  it("loses history and averages, and nothing else", function()
    local p = driven.record(micro, function()
      for i = 1, 20 do
        leaf(1)
        profiler.frame(i % 4 ~= 0)
      end
    end, { history = "full", compensate = false })
    helper.check(p)
    local f = helper.find(p, leaf)
    assert.equal(20, f.calls)
    assert.equal(20, p.frames.ended)
    assert.equal(15, p.frames.recorded)
    assert.equal(12, p.frames.counted)  -- without the first three
    assert.equal(15, p.frames.kept)
    local back = 0
    for i = 20, 1, -1 do
      if i % 4 ~= 0 then
        local frame = p.frames:at(back)
        assert.equal(i, frame.number)
        -- calls in a skipped frame do not count in the next frame
        assert.equal(1, row_of(frame, f).calls)
        back = back + 1
      end
    end
    assert.equal(15, sums(p)[f].calls)
    assert.is_true(sums(p)[f].self_ns < f.self_ns)
    for _, row in ipairs(p.frames:averages "all") do
      if row.func == f then assert.equal(1, row.calls) end
    end
  end)

  it("keeps its allocations out of the next frame", function()
    local function tables(n) for _ = 1, n do local _ = {} end end
    local p = helper.record(function()
      profiler.frame()
      tables(10)
      profiler.frame()
      tables(1000)
      profiler.frame(false)
      tables(10)
      profiler.frame()
    end, { memory = true })
    local f = helper.find(p, tables)
    assert.equal(10, row_of(p.frames:at(1), f).allocs)
    assert.equal(10, row_of(p.frames:at(0), f).allocs)
    assert.equal(1020, f.self_allocs)
  end)

  it("is another thing than frame(nil), which is frame()", function()
    local p = helper.record(function()
      for _ = 1, 5 do profiler.frame(nil) end
    end)
    assert.same({ 5, 5 }, { p.frames.ended, p.frames.recorded })
  end)

  it("is false when nothing is being recorded", function()
    assert.is_false(profiler.frame())
    profiler.start()
    assert.is_true(profiler.frame(false))
    profiler.stop()
    assert.is_nil(profiler.snapshot().frames:at(0))
  end)
end)

-- The averages as they are defined, over the frames of a profile: sums of
-- what `value` gives, and of its square.
local function average(p, seconds, value)
  local mean, square, first = 0, 0, true
  for back = p.frames.kept - 1, 0, -1 do
    local f = p.frames:at(back)
    if f.number > 3 then
      local k = first and 0 or 0.1 ^ (f.ns / 1e9 / seconds)
      local x = value(f)
      mean = k * mean + (1 - k) * x
      square = k * square + (1 - k) * x * x
      first = false
    end
  end
  return mean, square
end

local function mean_of_all(p, value)
  local sum, square, n = 0, 0, 0
  for back = 0, p.frames.kept - 1 do
    local f = p.frames:at(back)
    if f.number > 3 then
      local x = value(f)
      sum, square, n = sum + x, square + x * x, n + 1
    end
  end
  return sum / n, square / n
end

local function heat(mean, square)
  local variance = square - mean * mean
  if mean <= 0 or variance <= 0 then return 0 end
  return math.min(1, math.sqrt(variance) / mean / 0.5)
end

describe("averages", function()
  -- frames of several milliseconds, so that decay is seen
  local p
  setup(function()
    p = driven.record(micro, function()
      for i = 1, 60 do
        driven.sleep(2 * milli + 3 * milli * (i % 4))
        spin(100)
        if i > 10 and i % 5 == 0 then leaf(i) end
        if i < 30 then deep(3) end
        profiler.frame(i ~= 20)
      end
    end, { history = "full", compensate = false })
  end)

  local ways = { function(value) return average(p, 0.8, value) end,
    function(value) return average(p, 2.5, value) end,
    all = function(value) return mean_of_all(p, value) end }

  for which, way in pairs(ways) do
    it("match the formula: " .. which, function()
      local seen = 0
      for _, row in ipairs(p.frames:averages(which)) do
        local function of(field)
          return function(f)
            local r = row_of(f, row.func)
            return r and r[field] or 0
          end
        end
        local self, self2 = way(of "self_ns")
        local total, total2 = way(of "total_ns")
        -- overhead is what all other nodes leave, and each of these is rounded
        local rough = row.func.id == p.overhead and #p.functions or 1
        assert.near(self, row.self_ns, rough)
        assert.near(total, row.total_ns, rough)
        assert.near((way(of "calls")), row.calls, 0.001 + row.calls * 1e-3)
        if self > 1000 then
          seen = seen + 1
          assert.near(heat(self, self2), row.heat, 0.01)
          assert.near(heat(total, total2), row.total_heat, 0.01)
        end
      end
      assert.is_true(seen >= 3)  -- the loop, spin, sleep
    end)

    it("match the formula for stack states: " .. which, function()
      local kept = {}
      for back = 0, p.frames.kept - 1 do
        kept[p.frames:at(back).number] = p.frames:nodes(back)
      end
      local nodes = p.frames:average_nodes(which)
      for id, node in ipairs(nodes) do
        local self = way(function(f) return kept[f.number][id].self_ns end)
        local calls = way(function(f) return kept[f.number][id].calls end)
        -- overhead is what all other nodes leave, and each of these is rounded
        local rough = node.func == p.overhead and #nodes or 1
        assert.near(self, node.self_ns, rough)
        assert.near(calls, node.calls / 1000, 0.001 + calls * 1e-3)
      end
    end)
  end

  it("have the overhead of frames, and add up to them", function()
    local q = frames(40, {})
    local own, root = q.functions[q.overhead], q.nodes[1].func
    -- figures are rounded, each by itself
    local rough = #q.functions + 1
    local seen = 0
    for which, way in pairs { function(value) return average(q, 0.8, value) end,
      function(value) return average(q, 2.5, value) end,
      all = function(value) return mean_of_all(q, value) end } do
      local sum, frame = 0, way(function(f) return f.ns end)
      local overhead = way(function(f) return f.overhead_ns end)
      for _, row in ipairs(q.frames:averages(which)) do
        sum = sum + row.self_ns
        if row.func == own then
          -- the last frame keeps its nodes, so its overhead is more exact
          assert.near(overhead, row.self_ns, rough + overhead * 0.1)
          seen = seen + 1
        end
        if row.func.id == root then assert.near(frame, row.total_ns, rough) end
      end
      assert.near(frame, sum, rough)
      sum = 0
      for _, node in ipairs(q.frames:average_nodes(which)) do
        sum = sum + node.self_ns
      end
      assert.near(frame, sum, rough)
    end
    assert.equal(3, seen)
  end)

  it("match the formula on a sequence that is made up", function()
    local S = host.state()
    local result = S:run [[
      local profiler, zones = require "cprof", require "spec_zones"
      zones.clock(true)
      profiler.start { exclude = { ".pass " } }
      profiler.frame()
      local sequence, average, dt = {}, {}, {}
      for i = 1, 400 do sequence[i] = (i % 10 == 0 and 80 or 10 + i % 3) end
      for i, ms in ipairs(sequence) do
        profiler.enter "z"
        zones.pass(ms * 1000000)
        profiler.leave "z"
        zones.pass(1000000)
        profiler.frame()
        if i > 2 then  -- with the one before them, three are discarded
          for a, T in ipairs { 0.8, 2.5 } do
            local k = 0.1 ^ ((ms + 1) / 1000 / T)
            average[a] = average[a] and k * average[a] + (1 - k) * ms or ms
          end
        end
      end
      profiler.stop()
      local frames, out = profiler.snapshot().frames, {}
      for a = 1, 2 do
        for _, row in ipairs(frames:averages(a)) do
          if row.func.name == "z" then
            out[#out + 1] = math.abs(row.self_ns - average[a] * 1e6) <= 1000
              and "as by the formula" or row.self_ns .. " " .. average[a]
          end
        end
      end
      return table.concat(out, ", ")]]
    S:close()
    assert.equal("as by the formula, as by the formula", result)
  end)

  it("differ by how fast they follow", function()
    local f = helper.find(p, deep)
    local of = {}
    for which in pairs(ways) do
      for _, row in ipairs(p.frames:averages(which)) do
        if row.func == f then of[which] = row.calls end
      end
    end
    -- `deep` was called in the first half only
    assert.is_true(of[1] < of[2] and of[2] < 4)
  end)

  it("say which ones there are", function()
    assert.has_error(function() p.frames:averages(3) end,
      'frames:averages: the argument must be "all", 1 or 2, got 3 (a number)')
    assert.has_error(function() p.frames:at(-1) end,
      "frames:at: the number must be an integer of at least 0, got -1 " ..
      "(a number)")
    assert.same(p.frames:at(1), p.frames:at(1.0))
    assert.has_error(function() p.frames:percentiles(5) end,
      "frames:percentiles: the function must be one of this profile")
  end)
end)

describe("percentiles", function()
  local function naive(values, share)
    table.sort(values)
    local i = 1
    while i / #values < share - 1e-12 do i = i + 1 end
    return values[i]
  end

  it("are of all frames; those of a function, of the kept ones", function()
    local p = frames(150, {})
    local of_all = {}
    for i, f in ipairs(p.frames:times()) do of_all[i] = f.own_ns end
    assert.equal(p.frames.recorded, #of_all)
    local self_ns, total_ns = {}, {}
    local f = helper.find(p, deep)
    assert.equal(128, p.frames.kept)
    for back = 0, p.frames.kept - 1 do
      local frame = p.frames:at(back)
      self_ns[back + 1] = row_of(frame, f).self_ns
      total_ns[back + 1] = row_of(frame, f).total_ns
    end
    for _, case in ipairs { { p.frames:percentiles(), of_all },
      { p.frames:percentiles(f), self_ns },
      { p.frames:percentiles(f, "total_ns"), total_ns } } do
      local got, values = table.unpack(case)
      assert.same({ p50 = naive(values, 0.5), p90 = naive(values, 0.9),
        p99 = naive(values, 0.99), max = naive(values, 1) }, got)
    end
  end)

  it("leave out what the profiler took itself", function()
    local p = frames(20, { mode = "line" })
    for back = 0, p.frames.kept - 1 do
      local frame = p.frames:at(back)
      local own = row_of(frame, p.functions[p.overhead])
      assert.equal(own.self_ns, frame.overhead_ns)
      assert.truthy(frame.overhead_ns > 0)
      assert.truthy(frame.overhead_ns < frame.ns)
    end
  end)

  it("are of functions of the profile", function()
    local p, other = frames(3, {}), frames(3, {})
    assert.has_error(function()
      p.frames:percentiles(other.functions[1])
    end, "frames:percentiles: the function must be one of this profile")
    assert.has_error(function() p.frames:percentiles(nil, "calls") end,
      'frames:percentiles: the field must be "self_ns" or "total_ns", ' ..
      'got "calls"')
  end)
end)

-- Frames of 2 ms, the 12th of 30 ms, in a file; each event takes 1 us, and the
-- profiler knows that.
local function known(mode, dir)
  local names, path = profiler.calibrate(), dir:file(mode .. ".cprof")
  local costs = {}
  for name in pairs(names) do costs[name] = 0 end
  costs.lua_caller, costs.lua_callee = micro, micro
  costs.c_caller, costs.c_callee, costs.line = micro, micro, micro
  local p = driven.compensate(micro, 100, function()
    core.costs(costs)
    for i = 1, 40 do
      -- the more events, the more overhead
      leaf(i)
      driven.sleep(i == 12 and 30 * milli or 2 * milli)
      profiler.frame()
    end
  end, { mode = mode, file = path })
  return p, assert(profiler.load(path))
end

describe("times without overhead", function()
  -- rounded to 50 us: the profiler also reads the clock between events
  local function rounded(ns) return (ns + 25 * micro) // (50 * micro) / 20 end

  for _, mode in ipairs { "call", "line" } do
    it("are those that are shown, of a recording and its file, mode " .. mode,
       function(dir)
      local p, q = known(mode, dir)
      assert.same(p.frames:times(), q.frames:times())
      assert.same(p.frames:percentiles(), q.frames:percentiles())
      for _, x in ipairs { p, q } do
        local own = {}
        for i, f in ipairs(x.frames:times()) do
          own[i] = f.own_ns
          assert.equal(i == 12 and 30 or 2, rounded(f.own_ns), i)
        end
        assert.equal(40, #own)
        for i = 1, 16 do
          local f = x.frames:slowest(i)
          assert.equal(own[f.number], f.own_ns)
          -- each node is rounded
          assert.near(f.own_ns, f.ns - f.overhead_ns, #f.rows * 4)
        end
        for back = 0, x.frames.kept - 1 do
          local f = x.frames:at(back)
          assert.equal(own[f.number], f.own_ns)
        end
        local index = {}
        for i in ipairs(x.functions) do index[i] = i end
        -- rows of a recording have the mean share of overhead
        for _, bar in ipairs(x == q and framed.of(x, index).list or {}) do
          assert.near(own[bar.n], bar.ns, #bar.rows)
        end
        local out = x:report { mode = "frames" }
        local longest = out:match "max (%S+)"
        assert.equal("30.0ms", longest)
        assert.matches("\n +12 +%S+ +30%.0ms", out)
      end
    end)
  end
end)

describe("slow_frames", function()
  local function slow(keep)
    return driven.record(micro, function()
      for i = 1, 60 do
        driven.sleep(i % 7 == 0 and 12 * milli or i % 7 == 3 and 6 * milli
          or 0)
        leaf(1)
        if i % 7 == 0 then deep(i % 3) end
        profiler.frame(i ~= 21)
      end
    end, { history = 100, slow_frames = { budget_ms = 8, keep = keep } })
  end

  it("keep exactly the frames over budget, in full", function()
    local p = slow(32)
    local over = {}
    for back = 0, p.frames.kept - 1 do
      local f = p.frames:at(back)
      if f.ns - f.overhead_ns > 8000000 then over[#over + 1] = f end
    end
    assert.is_true(#over >= 7)
    assert.equal(#over, p.frames.slow)
    assert.equal(#over, p.frames.slow_kept)
    for i, f in ipairs(over) do
      local kept = p.frames:at(i - 1, true)
      assert.equal(f.number, kept.number)
      assert.equal(f.ns, kept.ns)
      for k, row in ipairs(f.rows) do
        assert.equal(row.func, kept.rows[k].func)
        assert.equal(row.calls, kept.rows[k].calls)
      end
      assert.is_true(kept.full)
      local nodes, of = p.frames:nodes(i - 1, true), {}
      assert.equal(f.ns, nodes[1].total_ns)
      for _, node in ipairs(nodes) do
        of[node.func] = (of[node.func] or 0) + node.self_ns
      end
      for _, row in ipairs(kept.rows) do
        assert.equal(row.self_ns, of[row.func.id])
      end
    end
    assert.is_nil(p.frames:at(#over, true))
  end)

  it("are judged by their time without overhead, as it is told", function()
    for _, mode in ipairs { "call", "line" } do
      local budget <const> = 1000 * micro
      local p = driven.compensate(micro, 100, function()
        for i = 1, 60 do
          for _ = 1, 50 * i do leaf(0) end
          profiler.frame()
        end
      end, { mode = mode, history = 100, slow_frames = {
        budget_ms = budget / 1e6, keep = 100 } })
      local costs = {}
      -- for any assumed costs
      for _, ns in ipairs { -1, 0, 10, 100, 1000, 1e6 } do
        if ns >= 0 then
          for name in pairs(p.meta.costs_ns) do costs[name] = ns end
          core.costs(costs)
        end
        p = profiler.snapshot()
        local kept, long, over = p.frames, 0, {}
        for back = 0, kept.kept - 1 do
          local f = kept:at(back)
          if f.ns > budget then long = long + 1 end
          if f.ns - f.overhead_ns > budget then over[#over + 1] = f.number end
        end
        assert.equal(#over, kept.slow, mode .. ns)
        assert.is_true(long > 30 and (ns < 1e6 or kept.slow < long))
        for back = 0, kept.slow_kept - 1 do
          local f = kept:at(back, true)
          assert.is_true(f.ns - f.overhead_ns > budget)
        end
        assert.is_nil(kept:at(kept.slow_kept, true))
        local report = p:report { mode = "frames" }
        assert.has_text((#over > 0 and #over or "none") ..
          " over the budget of 1.00ms", report)
      end
    end
  end)

  it("keep the last ones", function()
    local p = slow(3)
    assert.is_true(p.frames.slow >= 7)
    assert.equal(3, p.frames.slow_kept)
    local last
    for i = 2, 0, -1 do
      local f = p.frames:at(i, true)
      assert.is_true(not last or f.number > last)
      last = f.number
    end
    assert.is_nil(p.frames:at(3, true))
  end)
end)

describe("the end of a frame", function()
  -- 10 callees each, 5 levels: 11,110 states
  local code = [[
    local profiler = require "cprof"
    local function leaf() end
    local fs = {}
    local function walk(depth)
      if depth == 0 then return end
      for i = 1, 10 do fs[i](depth - 1) end
    end
    for i = 1, 10 do
      fs[i] = load("local walk = ... return function(d) " ..
        (";"):rep(i) .. " walk(d) end", "=f" .. i)(walk)
    end
    local function ten() for _ = 1, 10 do leaf() end end
  ]]

  it("asks for no memory once it is warm", function()
    local result, status, asked, left = host.memory(code .. [[
      -- by the host's clock, there are no waits; the first one asks for memory
      local zones = package.loadlib(package.searchpath("spec_host",
        package.cpath), "luaopen_spec_zones")()
      zones.clock(true)
      profiler.start { history = "full",
        slow_frames = { budget_ms = 0.001, keep = 4 } }
      local function frame(i)
        zones.pass(2000)
        if i % 3 == 0 then walk(2) else ten() end
        profiler.enter "zone" leaf() profiler.leave "zone"
        profiler.frame(i % 5 ~= 0)
      end
      for i = 1, 500 do frame(i) end
      profiler.pause()  -- which ends a slice of time
      profiler.resume()
      arm()
      for i = 1, 500 do frame(i) end
      profiler.pause()
      return "done"
    ]], "cprof", -1)
    assert.equal("done", result)
    assert.equal(0, status)
    assert.equal(0, asked)
    assert.equal(0, left)
  end)

  it("asks for some when there is something new", function()
    local result, _, asked = host.memory(code .. [[
      profiler.start()
      for i = 1, 200 do ten() profiler.frame() end
      arm()
      walk(3)
      profiler.frame()
      profiler.stop()
      return "done"
    ]], "cprof", -1)
    assert.equal("done", result)
    assert.is_true(asked > 0)
  end)

  it("does not grow memory in a million frames", function()
    local result, status = host.memory(code .. ([[
      profiler.start { slow_frames = { budget_ms = 1e-5 } }
      local frame = profiler.frame
      for i = 1, 1000 do ten() frame() end
      local before = used()
      for i = 1, %d do frame() end
      local grown = used() - before
      profiler.stop()
      return grown .. " " .. profiler.snapshot().frames.ended
    ]]):format(helper.many(1000000)), "cprof", -1)
    assert.equal(0, status)
    local grown, ended = result:match "^(%d+) (%d+)$"
    -- the first waits take memory, and the machine decides when they come; so
    -- do slices of time
    assert.is_true(tonumber(grown) < 150000, result)
    assert.equal(1000 + helper.many(1000000), tonumber(ended))
  end)

  -- `make bench` measures how long that takes
  it("looks at the functions that ran since the last one", function()
    local all = {}
    for i = 1, 1000 do all[i] = load("return " .. i, "=f" .. i) end
    local p = helper.record(function()
      for _, many in ipairs { 10, 1000, 10 } do
        for i = 1, many do all[i]() end
        profiler.frame()
      end
    end, { history = "full" })
    local before, most, again = #p.frames:at(2).rows, #p.frames:at(1).rows,
      #p.frames:at(0).rows
    assert.equal(990, most - again)
    assert.is_true(again <= before)
  end)
end)
