local _ENV = require("helper").env(_ENV)

local blocks = require "blocks"
local cells = require "cprof.profile.cells"
local command = require "command"
local core = require "cprof.core"
local heatmap = require "cprof.report.heatmap"
local helper = require "helper"
local nomemory = require "nomemory"
local page = require "cprof.report.page"
local profile = require "cprof.profile"
local profiler = require "cprof"
local steady = require "steady"

-- a program with a stall of 200 ms, from 1 s to 1.2 s
local stalls = [[
  local function usual() pass(1000) end
  local function stall() pass(200000) end
  for _ = 1, 1000 do usual() end
  stall()
  for _ = 1, 1000 do usual() end
]]

local function part(p, from, to)
  local q = helper.check(assert(p:range(from, to)))
  return q
end

-- calls, and ms without callees, of a function
local function of(p, name)
  local row = helper.named(p, name)
  return row and { row.calls, row.self_ns / 1e6 } or { 0, 0.0 }
end

-- The figures of functions, by title. Times have overhead, so they are exact.
local function sums(p, out)
  out = out or {}
  for _, f in ipairs(p.functions) do
    local sum = out[f.title] or { calls = 0, raw = 0 }
    sum.calls, sum.raw = sum.calls + f.calls, sum.raw + f.self_raw_ns
    out[f.title] = sum
  end
  return out
end

-- The sums of `n` ranges that touch are those of the whole, to a rounding of
-- each node.
local function assert_add_up(p, n)
  local whole, parts = p.meta.wall_ns / 1e9, {}
  local figures = { wall_ns = 0, preempted_ns = 0, paused_ns = 0 }
  for i = 1, n do
    local q = part(p, (i - 1) * whole / n, i < n and i * whole / n or nil)
    sums(q, parts)
    for key, sum in pairs(figures) do figures[key] = sum + q.meta[key] end
  end
  local nodes, most = {}, 0
  for _, node in ipairs(p.nodes) do
    local count = (nodes[node.func] or 0) + 1
    nodes[node.func], most = count, math.max(most, count)
  end
  for title, sum in pairs(sums(p)) do
    local its = parts[title] or { calls = 0, raw = 0 }
    assert.equal(sum.calls, its.calls, title)
    if title ~= "(cprof)" then
      assert.is_true(math.abs(sum.raw - its.raw) <= 2 * n * most, title)
    end
  end
  for key, sum in pairs(figures) do
    assert.is_true(math.abs(sum - p.meta[key]) <= 2 * n, key)
  end
end

describe("a range of an exact recording", function()
  for _, mode in ipairs { "call", "line" } do
    local options = ('mode = "%s"'):format(mode)

    -- the call is counted where it begins, at the end of what was before
    it("has the stall that was in it, in mode " .. mode, function()
      local p = steady.record(stalls, options)
      assert.same({ 0, 200.0 }, of(part(p, 1, 1.2), "stall"))
      assert.same({ 0, 0.0 }, of(part(p, 1, 1.2), "usual"))
      assert.same({ 1, 0.0 }, of(part(p, 0, 1), "stall"))
      assert.same({ 1000, 1000.0 }, of(part(p, 0, 1), "usual"))
      assert.same({ 0, 100.0 }, of(part(p, 1, 1.1), "stall"))
      assert.same({ 1000, 1000.0 }, of(part(p, 1.2), "usual"))
      assert_add_up(p, 7)
    end)

    it("adds up with those beside it, in mode " .. mode, function()
      local p = helper.record(function()
        local function leaf(n) return n * 2 end
        local go = coroutine.wrap(function()
          while true do
            for i = 1, 100 do leaf(i) end
            coroutine.yield()
          end
        end)
        for i = 1, 2000 do
          pcall(error, i)
          table.concat { leaf(i), "x" }
          go()
        end
      end, { mode = mode })
      assert_add_up(p, 1)
      assert_add_up(p, 5)
    end)
  end

  it("says how exact it is", function()
    local p = steady.record(stalls, "")
    local s = part(p, 0.5, 1.5):report()
    assert.has_text("\nrange: 0.50s to 1.50s of 2.20s, resolution 20.0ms\n", s)
  end)

  it("has the hits and times of lines", function()
    local p = steady.record(stalls, 'mode = "line"')
    local function line(q, n)
      local l = q.lines["=game.lua"][n]
      return { l.hits, l.self_ns / 1e6 }
    end
    assert.equal(1000.0, line(part(p, 0, 1), 1)[2])
    assert.same({ 0, 200.0 }, line(part(p, 1, 1.2), 2))
    assert.same({ 0, 0.0 }, line(part(p, 1, 1.2), 1))
    local hits = 0
    for i = 0, 10 do
      hits = hits + line(part(p, i * 0.2, (i + 1) * 0.2), 1)[1]
    end
    assert.equal(line(p, 1)[1], hits)
  end)

  it("has the lines of functions that were known before a reset", function()
    local figures = steady.run([[
      local function f() pass(1000) end
      local function g() pass(2000) end
      f() g()
      require "cprof".reset()
      g() f()
      pass(100000)
    ]], 'mode = "line"', [[
      local lines, out = p:range(0).lines["=game.lua"], {}
      for n = 1, 2 do
        out[n] = lines[n].hits .. " " .. lines[n].self_ns
      end
      return table.concat(out, "; ")
    ]])
    assert.equal("1 1000000; 1 2000000", figures)
  end)

  it("has no figures that are known of the whole only", function()
    local p = helper.record(function()
      for _ = 1, 100 do tostring(1) end
    end, { distribution = true, tasks = true, memory = true })
    local q = part(p, 0, p.meta.wall_ns / 2e9)
    assert.is_false(q.meta.distribution)
    assert.is_false(q.meta.memory)
    assert.is_nil(q.meta.events)
    assert.is_nil(q.tasks)
  end)

  it("has a pause as such", function()
    local p = steady.record([[
      local profiler = require "cprof"
      local function before() pass(300000) end
      local function after() pass(100000) end
      before()
      profiler.pause()
      pass(500000)
      profiler.resume()
      after()
    ]], "")
    local q = part(p, 0.3, 0.8)
    assert.equal(500000000, q.meta.paused_ns)
    assert.same({ 0, 0.0 }, of(q, "before"))
    assert.equal(100.0, of(part(p, 0.8), "after")[2])
  end)

  -- slices of each function, of pauses and of overhead
  local function samples(p)
    local _, n = core.axis_column(profile.axis(p), "passed")
    return n
  end

  it("has few slices also if recording pauses all the time", function()
    local n = samples(steady.record([[
      local profiler = require "cprof"
      local function f() pass(100) end
      for _ = 1, 5000 do
        f()
        profiler.pause()
        pass(100)
        profiler.resume()
      end
    ]], ""))
    assert.is_true(n > 50 and n < 3000, n)
  end)

  it("has usual slices also if cprof is asked all the time", function()
    local n = samples(steady.record([[
      local profiler = require "cprof"
      local function f() pass(1000) end
      for _ = 1, 500 do
        f()
        profiler.snapshot()
      end
    ]], ""))
    assert.is_true(n > 25 and n < 400, n)
  end)

  it("has slices of very many functions", function()
    local p = steady.record([[
      local f = {}
      local function go(n) for i = 1, n > 0 and 4 or 0 do f[i](n - 1) end end
      for i = 1, 4 do f[i] = load("local go = ... return function(n) " ..
        "go(n) end", "=f" .. i)(go) end
      for _ = 1, 6 do
        f[1](8)
        pass(25000)
      end
    ]], "recursion = 'full'")
    assert.is_false(p.meta.axis_lost)
    assert_add_up(p, 2)
  end)

  it("is longer where the recording is: slices are merged", function()
    local p = steady.record([[
      local fs = {}
      for i = 1, 400 do
        fs[i] = load(("local function f%d() end return f%d"):format(i, i))()
      end
      local function stall() pass(500000) end
      for i = 1, 2500 do
        for k = 1, #fs do fs[k]() end
        pass(25000)
        if i % 500 == 0 then stall() end
      end
    ]], "")
    local s = part(p, 0, 10):report()
    assert.has_text(", resolution 40.0ms\n", s)
    for i = 1, 5 do
      local from = i * 12.5 + (i - 1) / 2
      assert.same({ 0, 500.0 }, of(part(p, from, from + 0.5), "stall"))
      assert.equal(0.0, of(part(p, from - 1, from), "stall")[2])
    end
    assert_add_up(p, 3)
  end)

  it("is of a program that was killed, too", function(dir)
    local path = dir:file "killed.cprof"
    local program = dir:file("program.lua", ([[
      local driven = require "driven"
      local function early() driven.pass(1000000) end
      local function late() driven.pass(1000000) end
      driven.parts(function()
        for _ = 1, 100 do early() end
        for _ = 1, 100 do late() end
        local file = io.open("/proc/self/stat")
        os.execute("kill -9 " .. file:read "n")
      end, { file = %q, exclude = { "/^driven%%.pass /" } })
    ]]):format(path))
    command.shell("$SPEC_LUA " .. command.quote(program))
    local p = assert(profiler.load(path))
    assert.is_truthy(p.meta.ended)
    assert.same({ 50, 50.0 }, of(part(p, 0, 0.05), "early"))
    assert.same({ 50, 50.0 }, of(part(p, 0.15, 0.2), "late"))
    assert_add_up(p, 4)
  end)

  it("is not known without memory for it, and nothing else is lost", function()
    nomemory.harmless([[
      local profiler = require "cprof"
      local function f()
        local from = os.clock()
        repeat until os.clock() - from > 0.021
      end
      arm()
      pcall(profiler.start, { mode = "line", compensate = false })
      pcall(function() f() f() end)
      disarm()
      profiler.stop()
      local ok, p = pcall(profiler.snapshot)
      if not ok or p.meta.ended then return "not recorded" end
      local q, why = p:range(0, p.meta.wall_ns / 2e9)
      assert((q == nil) == p.meta.axis_lost, why)
      return "fine"
    ]], 30)
  end)

  it("is what commands show with --from and --to", function(dir)
    local path = dir:file "x.cprof"
    assert(steady.record(stalls, 'mode = "line"'):save(path))
    for _, words in ipairs {
      { "report" }, { "tree" }, { "callgraph" }, { "flame" }, { "annotate" },
      { "export", "--format=folded", "-o", dir:file "out" },
    } do
      local name = words[1]
      table.move({ "--from=1s", "--to=1.2s", path }, 1, 3, #words + 1, words)
      local out = command.must(table.unpack(words))
      if name == "export" then out = command.read(dir:file "out") end
      if name == "annotate" then
        assert.matches("\n +0 +200ms +100%.0 +2\n", out)
      else
        out = out:gsub("^.-\n\n", "")  -- the head
        assert.has_text("stall", out, name)
        assert.has_no_text("usual", out, name)
      end
    end
    local out = command.cprof("diff", "--range=1s..1.2s", "--against=0..1s",
      path)
    assert.matches("\n +100%.0 +%- +%-100%.0 [^\n]+ usual ", out)
    out = command.cprof("heatmap", path)
    assert.matches("\nA +1%.0s +1%.2s +100 %% +100 %%.- stall ", out)
    local _, err = command.cprof("tasks", "--from=1s", path)
    assert.equal("cprof tasks: the profile is of a range of time, in which " ..
      "tasks are known only from samples\n", err)
  end)

  it("is as exact after saving", function(dir)
    local p = helper.record(function()
      local from = os.clock()
      repeat until os.clock() - from > 0.05
    end)
    local path = dir:file "x.cprof"
    assert(p:save(path))
    local q = assert(profiler.load(path))
    local function resolution(whole)
      return part(whole, 0, 0.01):report():match ", resolution [^\n]+"
    end
    assert.is_string(resolution(p))
    assert.equal(resolution(p), resolution(q))
  end)

  it("survives saving", function(dir)
    local p = steady.record(stalls, 'mode = "line"')
    local path = dir:file "again.cprof"
    assert(p:save(path))
    local q = assert(profiler.load(path))
    for _, range in ipairs { { 0.3, 1.05 }, { 1.1, 2 }, { 0, 2.2 } } do
      assert.equal(part(p, range[1], range[2]):report(),
        part(q, range[1], range[2]):report())
    end
  end)
end)

describe("what stands out in an exact recording", function()
  -- the stretches that stand out
  local function found(p)
    return cells.stretches(p, cells.of(p, 0, p.meta.wall_ns, 100), 5)
  end

  -- as text, exact to a microsecond
  local function told(p)
    local out = {}
    for i, s in ipairs(found(p)) do
      out[i] = ("%s %s"):format(s.func.name, cells.words(s))
    end
    return out
  end

  it("begins and ends with the call that took so long", function()
    local p = steady.record([[
      local function usual() pass(1000) end
      local function stall() pass(123456) end
      for _ = 1, 1007 do usual() end
      stall()
      for _ = 1, 1000 do usual() end
    ]], "")
    assert.same({ "stall --from 1.007s --to 1.130456s" }, told(p))
    local s = found(p)[1]
    assert.same({ 1.0, 0.0, 1.0 }, { s.share, s.lost, s.part })
    local q = part(p, s.from / 1e9, s.to / 1e9)
    assert.same({ 0, 123.456 }, of(q, "stall"))
    assert.same({ 0, 0.0 }, of(q, "usual"))
  end)

  it("has the call, whatever that calls meanwhile", function()
    local p = steady.record([[
      local function usual() pass(1000) end
      local function step() pass(1000) end
      local function stall() for _ = 1, 201 do step() end end
      for _ = 1, 1012 do usual() end
      stall()
      for _ = 1, 1000 do usual() end
    ]], "")
    local list = found(p)
    local s = list[1]
    assert.same({ 1, "stall" }, { #list, s.func.name })
    assert.is_true(s.from <= 1012e6 and s.from >= 980e6, s.from)
    assert.is_true(s.to >= 1213e6 and s.to <= 1245e6, s.to)
    assert.same({ 1, 0.0 }, of(part(p, s.from / 1e9, s.to / 1e9), "stall"))
  end)

  it("may be one call that takes most of the recording", function()
    for _, case in ipairs {
      { 100, 300000, 100, "stall --from 0.1s --to 0.4s" },
      { 7, 200000, 8, "stall --from 0.007s --to 0.207s" },
      { 400, 2000000, 20, "stall --from 0.4s --to 2.4s" },
    } do
      local p = steady.record(([[
        local function usual() pass(1000) end
        local function stall() pass(%d) end
        local function handle(i) if i == %d then stall() else usual() end end
        for i = 1, %d do handle(i) end
      ]]):format(case[2], case[1] + 1, case[1] + case[3] + 1), "")
      assert.same({ case[4] }, told(p))
    end
  end)

  it("may be one of several calls of a function", function()
    local p = steady.record([[
      local function step(n) pass(n) end
      local function wait() pass(9000) end
      for i = 1, 60 do
        step(i == 30 and 500000 or 1000)
        wait()
      end
    ]], "")
    assert.same({ "step --from 0.29s --to 0.79s" }, told(p))
  end)

  it("is no phase of the program", function()
    local p = steady.record([[
      local function load() pass(1000) end
      local function run() pass(1000) end
      local function finish() pass(1000) end
      local function loop() for _ = 1, 300 do run() end end
      for _ = 1, 50 do load() end
      loop()
      for _ = 1, 50 do finish() end
    ]], "")
    for _, s in ipairs(told(p)) do
      assert.is_nil(s:find "loop" or s:find "run", s)
    end
  end)
end)

describe("time in which others had the processor", function()
  local real = core.axis_cells
  teardown(function() core.axis_cells = real end)

  it("is not CPU time in a heatmap of an exact recording", function()
    local p = steady.record(stalls, "")
    -- as if other programs had the processor for three quarters of the time
    core.axis_cells = function(...)
      local had = real(...)
      for i = 1, #had, 4 do
        had[i], had[i + 3] = had[i] // 4, had[i] * 3 // 4
      end
      return had
    end
    local grid = cells.of(p, 0, 2200000000, 100)
    for i = 1, 110 do
      local cell = grid[i]
      assert.same({ 5000000, 15000000, 1.0, 0.25 }, { cell.ns, cell.lost,
        cell.share, cell.shown })
    end
    local s = cells.stretches(p, grid, 5)[1]
    assert.same({ "stall", 0.25, 0.75 }, { s.func.name, s.share, s.lost })
    local on = page.new({ width = 100 }, p)
    heatmap.show(on, p, 0, 2200000000, 5)
    local text = on:text()
    assert.has_text("\nother programs had the processor for 75 % of this " ..
      "time (1.65s)\n", text)
    assert.matches("\n +0ms --------AAAA", text)
    assert.matches("from +to +CPU +preempted.-\nA +1%.0s +1%.2s +25 %% +75 %% ",
      text)
  end)
end)

describe("a call that went on in a range", function()
  it("has begun earlier", function()
    local p = steady.record(stalls, 'mode = "line"')
    local q = part(p, 1, 1.1)
    local text = q:report()
    assert.matches("\n *100ms +100%.0 +100ms +100%.0 +earlier +stall ", text)
    assert.has_text("\nearlier: the call began before the range, and went " ..
      "on in it\n", text)
    assert.has_no_text("earlier", p:report())
    assert.has_text("called earlier", q:annotate())
  end)

  it("is what to look at next", function(dir)
    local path = dir:file "x.cprof"
    assert(steady.record(stalls, 'mode = "call"'):save(path))
    local out = command.must("report", "--from=1s", "--to=1100ms", path)
    assert.has_text(("\nNext: cprof show --from 1s --to 1.1s %s stall\n")
      :format(path), out)
  end)
end)

describe("a damaged time axis of an exact recording", function()
  it("is refused", function(dir)
    local path = dir:file "x.cprof"
    assert(steady.record(stalls, 'mode = "line"'):save(path))
    local s = command.read(path)
    local axis = blocks.find(s, blocks.axis)
    local places = blocks.find(s, blocks.places)
    for _, case in ipairs {
      { "time of a sample", axis + 24, ("\xff"):rep(40) },
      { "place of a sample", places + 8, ("I4I4"):pack(1 << 30, 0) },
      { "place of a sample", places + 8, ("I4I4"):pack(1 << 30, 1 << 31 | 1) },
      { "place of a sample", places + 8, ("I4I4"):pack(0, 1 << 31) },
      { "place of a sample", places + 8, ("I4I4"):pack(0, 1 << 20) },
    } do
      blocks.refused(dir, blocks.put(s, case[2], case[3]), case[1])
    end
  end)
end)
