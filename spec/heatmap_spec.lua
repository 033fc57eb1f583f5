-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local cells = require "cprof.profile.cells"
local command = require "command"
local core = require "cprof.core"
local data = require "cprof.html.data"
local helper = require "helper"
local host = require "spec_host"
local profile = require "cprof.profile"
local profiler = require "cprof"

local ms <const> = 1000000

local function spin(n)
  for _ = 1, n do local _ = {} end
end

local function handle() spin(2) end
local function rebuild() spin(200) end

-- Of each 20 ms, 2 of work, and 18 in a C function; but for 200 ms
-- of work at `at` ms.
local function serve(rounds, at)
  return function()
    for i = 0, rounds - 1 do
      if i * 20 == at then rebuild()
      else
        handle()
        driven.wait(18)
      end
    end
  end
end

local function grid_of(p, from, to, most, of)
  return cells.of(p, from * ms, to * ms, most, of)
end

-- the stretches, as text
local function told(p, grid, limit, of)
  local out = {}
  for i, s in ipairs(cells.stretches(p, grid, limit or 5, of)) do
    out[i] = ("%d to %d: %s"):format(s.from // ms, s.to // ms,
      s.func and s.func.name or "busy")
  end
  return out
end

describe("the cells of a recording", function()
  it("have the time of the program", function()
    local p = driven.known(function()
      spin(10)
      driven.wait(30)
      spin(40)
    end)
    local grid = grid_of(p, 0, 80, 10)
    assert.same({ 500 * ms, 20 * ms, 25, 1 }, { grid.ns * grid.rows, grid.ns,
      grid.rows, grid.columns })
    for i = 1, 25 do
      assert.same(i <= 4 and { 20 * ms, 20 * ms } or { 0, 0 },
        { grid[i].ns, grid[i].took }, i)
    end
  end)

  it("tell CPU time from waiting", function()
    -- few ticks, as each of them needs time to compute, and ends a wait
    profiler.start { mode = "sample", rate = 100, timer = "wall" }
    local ended = 0
    repeat
      if host.poll(20) then ended = ended + 1 end
      local _ = {}
    until ended >= 20
    profiler.stop()
    local p = profiler.snapshot()
    if not p.meta.waiting_ns then return end
    local sums, waited = core.axis_cells(profile.axis(p), 0, 20 * ms, 100), 0
    for i = 2, #sums, 4 do waited = waited + sums[i] end
    assert.is_true(waited > 0)
    local poll = helper.named(assert(p:range()), "spec_host.poll")
    assert.is_true(poll.self_wait_ns > 0.5 * poll.self_ns)
    for _, cell in ipairs(grid_of(p, 0, p.meta.wall_ns // ms, 60)) do
      assert.is_true(cell.share <= 1)
    end
  end)

  it("are longer where there is less room, and for fewer samples", function()
    local p = driven.known(function() spin(4000) end)
    for most, ns in pairs { [100] = 20, [8] = 20, [7] = 40, [4] = 40,
      [3] = 80, [1] = 200 } do
      local grid = grid_of(p, 0, 4000, most)
      assert.equal(ns, grid.ns / ms, most)
      assert.is_true(grid.columns <= most)
    end
    p.meta.rate = 100
    assert.equal(200, grid_of(p, 0, 4000, 100).ns / ms)
    p.meta.rate = 10000
    assert.equal(2, grid_of(p, 1000, 1040, 100).ns / ms)
  end)

  it("leave out what was not recorded", function()
    driven.start {}
    spin(1)
    profiler.reset()
    spin(30)
    profiler.pause()
    driven.sleep(60 * ms)
    profiler.resume()
    spin(30)
    local p = driven.stop()
    local grid = grid_of(p, 0, 120, 10)
    local there = {}
    for i = 1, 6 do there[i] = grid[i].ns / ms end
    assert.same({ 20, 10, 0, 0, 10, 20 }, there)
  end)

  it("may be those of a function, with what it calls", function()
    local p = driven.known(serve(50, 400))
    local of = {}
    for i, f in ipairs(p.functions) do of[i] = f.name == "rebuild" end
    local grid = grid_of(p, 0, 1180, 10, of)
    local shares = {}
    for i = 20, 32 do shares[#shares + 1] = grid[i].share end
    assert.same({ 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0 }, shares)
    assert.same({ "400 to 600: busy" }, told(p, grid, 5, true))
  end)
end)

describe("what stands out", function()
  it("is a stall, by the function that caused it", function()
    local p = driven.known(serve(200, 1400))
    local grid = grid_of(p, 0, p.meta.wall_ns // ms, 60)
    assert.same({ "1400 to 1600: rebuild" }, told(p, grid))
    local s = cells.stretches(p, grid, 1)[1]
    assert.same({ 1, 1 }, { s.share, s.part })
    assert.is_true(s.usual < 0.1)
    local q = assert(p:range(s.from / 1e9, s.to / 1e9))
    assert.equal(200, q.samples)
  end)

  it("needs enough samples", function()
    local sampled = require "cprof.count.sampled"
    local few, p = sampled.few, driven.known(serve(200, 1400))
    local grid = grid_of(p, 0, p.meta.wall_ns // ms, 60)
    sampled.few = 201
    local list, more = cells.stretches(p, grid, 5)
    sampled.few = few
    assert.same({ {}, 0 }, { list, more })
    assert.equal(1, #cells.stretches(p, grid, 5))
  end)

  it("is a stall of a program that always works", function()
    local p = driven.known(function()
      for _ = 1, 400 do handle() end
      rebuild()
      for _ = 1, 400 do handle() end
    end)
    assert.same({ "800 to 1000: rebuild" }, told(p, grid_of(p, 0, 1800, 60)))
  end)

  it("is a stall that is most of the recording, but not a phase", function()
    local function record(before, after)
      return driven.known(function()
        for _ = 1, before do handle() end
        for _ = 1, 2 do rebuild() end
        for _ = 1, after do handle() end
      end)
    end
    local p = record(60, 40)
    assert.same({ "120 to 520: rebuild" }, told(p, grid_of(p, 0, 600, 60)))
    assert.is_true(cells.stretches(p, grid_of(p, 0, 600, 60), 1)[1].usual > 0.6)
    -- a phase at the beginning or the end of the program is not a stall
    for _, case in ipairs { { 100, 0 }, { 0, 100 } } do
      p = record(case[1], case[2])
      for _, s in ipairs(told(p, grid_of(p, 0, 600, 60))) do
        assert.has_no_text("rebuild", s)
      end
    end
  end)

  it("is one stall, whatever stands out most at each moment of it", function()
    local function sort(n) spin(n) end
    local function index(own, sorting)
      spin(own)
      sort(sorting)
    end
    local p = driven.known(function()
      for i = 1, 100 do
        if i == 50 then for _ = 1, 3 do index(60, 80) end
        else
          index(5, 1)
          driven.wait(14)
        end
      end
    end)
    local grid = grid_of(p, 0, p.meta.wall_ns // ms, 60)
    assert.same({ "980 to 1400: index" }, told(p, grid))
    assert.equal(1, cells.stretches(p, grid, 1)[1].part)
  end)

  it("ends where something else runs", function()
    local function compact() spin(120) end
    local p = driven.known(function()
      for i = 1, 100 do
        if i == 30 then
          rebuild()
          compact()
          spin(100)
          rebuild()
        else
          handle()
          driven.wait(18)
        end
      end
    end)
    local grid = grid_of(p, 0, p.meta.wall_ns // ms, 60)
    local all = told(p, grid)
    table.sort(all)
    assert.same({ "1000 to 1200: rebuild", "580 to 780: rebuild",
      "780 to 900: compact", "900 to 1000: spin" }, all)
    local some, more = cells.stretches(p, grid, 1)
    assert.same({ 1, 3 }, { #some, more })
  end)

  -- Rounds of 60 ms: `step` takes 20 ms once and 4 ms twice; in round `at`,
  -- `stall` runs instead.
  local function step(n) spin(n) end
  local function stall() spin(60) end
  local function rounds(n, at)
    return function()
      for i = 1, n do
        if i == at then stall()
        else
          step(20)
          for _ = 1, 2 do
            driven.wait(16)
            step(4)
          end
        end
      end
    end
  end

  it("is shown with all of its cells, not only the darkest", function()
    local p = driven.known(rounds(60, 31))
    local grid = grid_of(p, 0, p.meta.wall_ns // ms, 60)
    assert.same({ "1800 to 1860: stall" }, told(p, grid))
    local of = {}
    for i, f in ipairs(p.functions) do of[i] = f.name == "step" end
    assert.same({}, told(p, grid_of(p, 0, p.meta.wall_ns // ms, 60, of), 5,
      true))
  end)

  it("is not joined with what it does not stand out with", function()
    local function read(n) spin(n) end
    local function load(own, n)
      spin(own)
      read(n)
    end
    local p = driven.known(function()
      for i = 1, 100 do
        if i == 50 then
          load(100, 0)
          for _ = 1, 50 do
            load(0, 10)
            read(10)
          end
        else driven.wait(20) end
      end
    end)
    local grid = grid_of(p, 0, p.meta.wall_ns // ms, 60)
    local all = cells.stretches(p, grid, 5)
    assert.same({ "1080 to 2080: read", "980 to 1080: load" }, told(p, grid))
    for _, s in ipairs(all) do assert.is_true(s.part - s.usual >= 0.5) end
  end)

  it("is not most of all: that is usual", function()
    local function work() spin(600) end
    local p = driven.known(function()
      driven.wait(400)
      work()
    end)
    local of = {}
    for i, f in ipairs(p.functions) do of[i] = f.name == "work" end
    assert.same({}, told(p, grid_of(p, 0, 1000, 60, of), 5, true))
    assert.same({ "400 to 600: busy" }, told(p, grid_of(p, 0, 600, 60, of), 5,
      true))
  end)

  it("is nothing if all is alike", function()
    local p = driven.known(function() for _ = 1, 400 do handle() end end)
    assert.same({}, told(p, grid_of(p, 0, 800, 60)))
  end)

  it("is what goes on and on, and is rare else", function()
    local p = driven.known(function()
      for i = 1, 100 do
        if i == 50 then for _ = 1, 100 do handle() end
        else
          handle()
          driven.wait(18)
        end
      end
    end)
    local found = told(p, grid_of(p, 0, p.meta.wall_ns // ms, 60))
    assert.same({ "980 to 1180: handle" }, found)
  end)
end)

describe("cprof heatmap", function()
  local function stalled(dir)
    local path = dir:file "x.cprof"
    assert(driven.known(serve(200, 1400)):save(path))
    return path
  end

  it("draws time in columns, and names what stands out", function(dir)
    local path = stalled(dir)
    local out = command.must("heatmap", path)
    assert.has_text("\neach column is 500ms, each cell 20ms\nCPU time: . " ..
      "none, : little, @ all of the cell; ", out)
    local rows = {}
    for line in out:gmatch "[^\n]+" do
      rows[#rows + 1] = line:match "^[ %dms]+ ([.:=+*#%%@A-]+)$"
    end
    assert.equal(25, #rows, out)
    local columns = 9 -- of 4180 ms
    for i, row in ipairs(rows) do
      local want = ("@"):rep(4 * columns)
      if i > 20 then want = want:sub(1, 8) .. "AAAA" .. want:sub(13) end
      if i <= 5 then want = want:sub(1, 12) .. "AAAA" .. want:sub(17) end
      assert.equal(want:sub(1, i <= 9 and -1 or -5), row, i)
    end
    assert.has_text("CPU  of stretch  of recording  function", out)
    assert.has_text("\nA  1.4s  1.6s  100 %       100 %           5 %  rebuild",
      out)
    local more = out:match "\nNext: cprof (.-)\n"
    assert.equal("report --from 1.4s --to 1.6s " .. path, more)
    out = command.cprof("report", "--from", "1.4s", "--to", "1.6s", path)
    assert.has_text("200ms wall", out)
    assert.has_text("rebuild", out)
  end)

  it("shows a range, a function, in colours, as Markdown", function(dir)
    local path = stalled(dir)
    local out = command.cprof("heatmap", "--from=1s", "--to=1500ms", path,
      "rebuild")
    assert.has_text("\n1.00s to 1.50s of 4.18s, ", out)
    assert.has_text("the time of rebuild: ", out)
    assert.has_text("\nA  1.4s  1.5s  100 %\n", out)
    out = command.cprof("heatmap", "--color=always", path)
    assert.has_text("\27[1mAAAA\27[0m", out)
    assert.has_no_text("\27", command.cprof("heatmap", path))
    out = command.cprof("heatmap", "--format=markdown", path)
    assert.matches("\n```\n.*AAAA.*\n```\n", out)
    for line in command.cprof("heatmap", "--width=40", path):gmatch
      "[^\n]+" do
      assert.is_true(utf8.len(line) <= 40 or line:find "^Next" ~= nil, line)
    end
    assert.has_no_text("\nB ", command.cprof("heatmap", "--limit=1", path))
  end)

  it("lists each cause once, with its times", function(dir)
    local path = dir:file "x.cprof"
    assert(driven.known(function()
      for i = 0, 249 do
        if i == 50 or i == 200 then rebuild()
        elseif i == 100 then spin(300)
        elseif i == 150 then spin(60)
        else
          handle()
          driven.wait(18)
        end
      end
    end):save(path))
    local function causes(out)
      local list = {}
      for letter, from, again in out:gmatch
        "\n([A-Z]) +([%d.]+s) [^\n]-:%d+([^\n]*)" do
        list[#list + 1] = letter .. " " .. from .. again
      end
      return list
    end
    local out = command.cprof("heatmap", path)
    assert.same({ "A 1.0s  4.5s", "B 2.18s  3.46s" }, causes(out), out)
    assert.has_text("  again from\n", out)
    out = command.cprof("heatmap", "--limit=1", path)
    assert.same({ "A 2.18s  3.46s" }, causes(out), out)
    assert.has_text("\n… 1 more\n", out)
    assert.has_text("\nNext: cprof report --from 2.18s --to 2.48s ", out)
  end)

  it("says that the collector may have caused a stall, if it is not told apart",
    function(dir)
      local path = dir:file "exact.cprof"
      local function usual() driven.pass(1 * ms) end
      local function stall() driven.pass(200 * ms) end
      local function waits() driven.pass(0, 200 * ms) end
      local function robbed() driven.pass(50 * ms, 0, 150 * ms) end
      local note = "\nnote: recorded without --gc: the garbage collector's " ..
        "time counts for the function that it interrupts\n"
      for _, case in ipairs { { stall, {}, true }, { robbed, {}, true },
        { waits, {}, false }, { stall, { mode = "sample" }, false },
        { usual, {}, false } } do
        local p = driven.parts(function()
          for i = 1, 1000 do
            usual()
            if i == 500 then case[1]() end
          end
        end, case[2])
        assert(p:save(path))
        local out = command.cprof("heatmap", path)
        assert.equal(case[3], out:find(note, 1, true) ~= nil, out)
        assert.equal(case[3], data.of(p, p).axis.note ~= nil)
      end
    end)

  it("says what has no time axis", function(dir)
    local path = stalled(dir)
    local called = dir:file "called.cprof"
    local script = dir:file("script.lua", "")
    profiler.start { mode = "count" }
    handle()
    profiler.stop()
    assert(profiler.snapshot():save(called))
    for _, case in ipairs {
      { 'no time axis: mode "count" does not record one', called },
      { "9s is not within the recording", "--from=9s", path },
      { "no function 'nobody' was recorded", path, "nobody" },
      { ": not a profile; cprof run " .. script .. " records it", script },
    } do
      local err = command.refused("heatmap", table.unpack(case, 2))
      assert.has_text(case[1], err)
    end
  end)
end)
