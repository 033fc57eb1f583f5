-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local blocks = require "blocks"
local command = require "command"
local compile = require "compile"
local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"
local merge = require "cprof.profile.merge"
local profiler = require "cprof"
local sampled = require "cprof.count.sampled"
local stalled = require "stalled"

local direct = core.internals() == "direct"

local stalls, spin, usual, stall = stalled()

-- the samples, and the ms, of a function without and with its callees
local function of(p, f)
  local row = type(f) == "string" and helper.named(p, f) or helper.find(p, f)
  if not row then return nil end
  return { row.self_samples, row.total_samples, row.self_ns / 1e6,
           row.total_ns / 1e6 }
end

local function part(p, from, to)
  local q = helper.check(assert(p:range(from, to)))
  return q
end

local function saved(dir, p)
  local path = dir:file "saved.cprof"
  assert(p:save(path))
  return assert(profiler.load(path))
end

describe("a range of a profile", function()
  it("without samples shows what the sample after it tells", function()
    local p = driven.known(function() spin(100) end)
    local q = part(p, 0.0502, 0.0506)
    assert.equal(0, q.samples)
    local s = q:report { width = 200 }
    assert.has_text("\nno samples in this range; its figures are from the " ..
      "first sample after it\n", s)
    assert.matches("\n *400µs +%- +400µs +%- +spin ", s)
    driven.start {}
    s = driven.stop():report()
    assert.has_text("\nno samples: where the time went is not known\n", s)
  end)

  it("is made by no function that a recording shows", function()
    local p = driven.known(function() spin(100) end)
    local q = helper.record(function() p:range(0, 0.05) end)
    for _, f in ipairs(q.functions) do
      assert.has_no_text("lua/cprof", f.source, f.title)
    end
  end)

  it("has what was sampled in it, and nothing else", function()
    local p = driven.known(stalls)
    local q = part(p, 0.3, 0.5)
    assert.same({ 200, 200e6, 200e6 }, { q.samples, q.meta.wall_ns,
      q.program_ns })
    assert.same({ 0, 200, 0, 200 }, of(q, stall))
    assert.same({ 200, 200, 200, 200 }, of(q, spin))
    assert.is_nil(of(q, usual))
    q = part(p, 0.25, 0.35)
    assert.same({ 0, 50, 0, 50 }, of(q, stall))
    assert.same({ 0, 50, 0, 50 }, of(q, usual))
    assert.equal("0.250s to 0.350s of 0.800s", q.meta.range)
  end)

  it("is all of it without limits", function()
    local p = driven.known(stalls)
    local q = part(p)
    assert.equal(#p.nodes, #q.nodes)
    for i, f in ipairs(p.functions) do
      assert.same({ f.title, f.self_ns, f.total_ns, f.self_samples },
        { q.functions[i].title, q.functions[i].self_ns,
          q.functions[i].total_ns, q.functions[i].self_samples })
    end
    assert.equal(800, part(p, 0, 1e300).samples)
    assert.equal(500, part(p, 0.3).samples)
    assert.equal(300, part(p, nil, 0.3).samples)
  end)

  it("adds up to the whole with those beside it", function()
    local p = driven.known(stalls)
    local samples, at = 0, 0
    while at < 0.8 do
      samples = samples + part(p, at, at + 0.0371).samples
      at = at + 0.0371
    end
    assert.equal(p.samples, samples)
  end)

  it("has lines, and parts of lines", function()
    local p = driven.known(stalls)
    local f = helper.find(p, stall)
    local q = part(p, 0.3, 0.5)
    local line = helper.find(p, spin).line + 1
    assert.equal(200e6, q.lines[f.source][line].self_ns)
    assert.equal(800e6, p.lines[f.source][line].self_ns)
    assert.has_text("200ms", q:annotate(nil, { width = 100 }))
    if direct then
      local sum = 0
      for _, e in ipairs(q.expressions[f.source]) do sum = sum + e.count end
      assert.equal(200e6, sum)
    end
  end)

  it("has its part of a call that waits in C", function()
    local p = driven.known(function()
      spin(100)
      driven.wait(400)
      spin(100)
    end)
    local q = part(p, 0.2, 0.3)
    assert.same({ 100, 100, 100, 100 }, of(q, "driven.wait"))
    assert.is_nil(of(q, spin))
    assert.same({ 400, 400, 400, 400 }, of(part(p, 0.05, 0.55),
      "driven.wait"))
  end)

  it("has shares where it ends within a wait, before its sample", function()
    assert.equal(100, sampled.both(150, 0, 0.01))
    assert.equal(150, sampled.both(150, 0, 0.005))
    assert.equal(150, sampled.both(150, 0, 0))
    assert.equal(2, sampled.both(150, 0, 0.5))
    assert.equal(4, sampled.both(150, 150, 0.75))
    assert.equal(0, sampled.both(0, 0, 0.5))
  end)

  it("leaves pauses out", function()
    driven.start {}
    spin(1)
    profiler.reset()
    spin(100)
    profiler.pause()
    driven.sleep(500000000)
    profiler.resume()
    spin(100)
    local p = driven.stop()
    assert.equal(500e6, p.meta.paused_ns)
    local q = part(p, 0.05, 0.65)
    assert.equal(500e6, q.meta.paused_ns)
    assert.equal(100e6, q.program_ns)
    assert.equal(100, q.samples)
    assert.equal(0, part(p, 0.2, 0.3).program_ns)
  end)

  it("leaves out a pause that goes on", function()
    driven.start {}
    spin(1)
    profiler.reset()
    spin(100)
    profiler.pause()
    driven.sleep(500000000)
    local p = profiler.snapshot()
    driven.stop()
    local paused = p.meta.paused_ns
    assert.is_true(paused >= 500e6)
    assert.equal(paused, part(p).meta.paused_ns)
    assert.equal(paused - 100e6, part(p, 0.2).meta.paused_ns)
  end)

  it("knows nothing of what was before a reset", function()
    driven.start {}
    usual()
    profiler.reset()
    stall()
    local p = driven.stop()
    assert.same({ 0, 200, 0, 200 }, of(part(p), stall))
    assert.is_nil(of(part(p), usual))
  end)

  it("is the same from a file: saved, recorded, or still recorded",
    function(dir)
      local path = dir:file "x.cprof"
      local want = driven.known(stalls)
      driven.start { file = path }
      stalls()
      profiler.reset()
      stalls()
      local live = assert(profiler.load(path))
      local p = driven.stop()
      for _, q in ipairs { p, live, assert(profiler.load(path)), saved(dir, p),
        saved(dir, saved(dir, want)) } do
        helper.check(q)
        assert.same({ 0, 200, 0, 200 }, of(part(q, 0.3, 0.5), stall))
        assert.same({ 0, 50, 0, 50 }, of(part(q, 0.25, 0.35), usual))
        local line = helper.find(want, spin).line + 1
        local source = helper.find(want, spin).source
        assert.equal(50e6, part(q, 0.25, 0.3).lines[source][line].self_ns)
      end
      assert.is_true(live.meta.live)
      local range = saved(dir, part(p, 0.3, 0.5))
      assert.equal("0.300s to 0.500s of 0.800s", range.meta.range)
      assert.same({ 0, 200, 0, 200 }, of(range, stall))
    end)

  it("can be taken from a file that a timer's samples go to", function(dir)
    local path = dir:file "x.cprof"
    profiler.start { mode = "sample", rate = 10000, file = path }
    local live
    repeat
      spin(1000)
      live = profiler.load(path)
    until live and live.samples > 100
    profiler.stop()
    local p = profiler.snapshot()
    for _, q in ipairs { live, p, assert(profiler.load(path)) } do
      local seconds = q.meta.wall_ns / 1e9
      assert.equal(q.samples, part(q).samples)
      assert.equal(q.samples, part(q, 0, seconds / 2).samples +
        part(q, seconds / 2).samples)
    end
  end)

  it("needs little room: four bytes for a sample", function(dir)
    local path = dir:file "x.cprof"
    local p = driven.known(function() spin(20000) end, { file = path })
    local s, bytes = command.read(path), 0
    for _, block in ipairs(blocks.all(s, blocks.axis)) do
      bytes = bytes + ("I4"):unpack(s, block.at + 16)
    end
    assert.equal(20000, p.samples)
    assert.is_true(bytes > 20000 and bytes <= 80000, bytes)
    assert.equal(10000, part(p, 5, 15).samples)
  end)

  it("is of the end of a recording for which there is no room", function(dir)
    local program = dir:file "ring"
    compile.axis("ring", program, "-DAXIS_CHUNKS=2")
    local function ring(n) return (compile.must("%s %d", program, n)) end
    assert.equal("1 chunks, from 0 on, 5000 samples\n", ring(5000))
    assert.equal("2 chunks, from 0 on, 10000 samples\n", ring(10000))
    local from, left = ring(100000):match "^2 chunks, from (%d+) on, (%d+) "
    assert.equal(100000, from + left)
    assert.is_true(tonumber(left) > 5000)
  end)

  it("is of the profile alone that it was asked of", function()
    local p = driven.known(stalls)
    local function missing(what, q)
      local none, why = q:range(0.1, 0.2)
      assert.is_nil(none)
      assert.has_text(what, why)
    end
    missing("a sum of recordings has none",
      assert(merge.sum { p, p }))
    missing("a range of time cannot be divided", part(p, 0.1, 0.3))
    missing('no time axis: mode "count" does not record one; modes "call", ' ..
      '"line" and "sample" do',
      helper.record(function() end, { mode = "count" }))
    missing("0.9s is not within the recording, which took 800ms",
      { range = function() return p:range(0.9, 1) end })
  end)

  it("must begin before it ends", function()
    local p = driven.known(stalls)
    assert.has_error(function() p:range(0.5, 0.5) end,
      "range: 'to' must be after 'from', got 0.5s to 0.5s")
    for shown, value in pairs { ["-1"] = -1, string = "1s", nan = 0 / 0 } do
      local why = helper.failure(p.range, p, value)
      assert.is_truthy(why:find("range: 'from' must be seconds since the " ..
        "recording began, got ", 1, true) and why:find(shown, 1, true), why)
    end
  end)
end)

describe("a damaged time axis", function()
  local function recorded(dir)
    local path = dir:file "x.cprof"
    driven.known(stalls, { file = path })
    return command.read(path)
  end

  it("is refused", function(dir)
    local s = recorded(dir)
    local axis = blocks.find(s, blocks.axis)
    local places = blocks.find(s, blocks.places)
    for what, case in pairs {
      -- an AxisChunk: number, from, used, bytes
      ["time of a sample"] = { axis + 16, ("I4"):pack(1 << 31) },
      -- later than the largest time, so that times would wrap around to 0
      ["time of a"] = { axis, ("I8i8"):pack(1, -1) },
      ["place of a sample"] = { places + 8, ("I4"):pack(1 << 20) },
      ["size of a block"] = { axis - 56, ("I4"):pack(1 << 30) },
    } do
      blocks.refused(dir, blocks.put(s, case[1], case[2]), what)
    end
  end)

  it("says where it begins, if the beginning is lost", function(dir)
    local s = recorded(dir)
    local axis = blocks.find(s, blocks.axis)
    -- number, and from: 200 ms
    local p = assert(profiler.load(dir:file("y.cprof",
      blocks.put(s, axis, ("I8I8"):pack(1, 6400)))))
    local none, why = p:range(0.1, 0.6)
    assert.is_nil(none)
    assert.equal("the time axis begins at 0.2s: earlier samples were dropped",
      why)
    assert.equal("0.200s to 0.600s of 0.800s", part(p, nil, 0.6).meta.range)
    assert.has_text("ranges of time begin at 200ms", p:report())
  end)

  it("is refused or read, whatever its bytes are", function(dir)
    local s = recorded(dir)
    local axis = blocks.find(s, blocks.axis)
    local places = blocks.find(s, blocks.places)
    local used = ("I4"):unpack(s, axis + 16)
    local count = tonumber(os.getenv "SPEC_MUTATIONS") or 300
    local seed, refused, read = 1, 0, 0
    local function random(n)
      seed = seed * 6364136223846793005 + 1442695040888963407
      return (seed >> 33) % n
    end
    for _ = 1, count do
      local t = s
      for _ = 0, random(4) do
        local at = random(3) == 0 and places + random(64) or
          random(8) == 0 and axis + random(24) or axis + 24 + random(used)
        t = t:sub(1, at - 1) .. string.char(random(256)) .. t:sub(at + 1)
      end
      local path = dir:file("y.cprof", host.sealed(t))
      local p, why = profiler.load(path)
      if not p then
        refused = refused + 1
        assert.has_text("damaged: ", why)
      else
        read = read + 1
        local q, not_there = p:range(0.1, 0.6)
        if q then
          helper.check(q)
          assert.is_string(q:report())
        else
          assert.is_truthy(not_there:find "^the time axis begins at " or
            not_there:find "is not within the recording", not_there)
        end
      end
    end
    assert.is_true(refused > 0 and read > 0)
  end)
end)

describe("a range in mode line", function()
  local function loop(n)
    for _ = 1, n do
    end
  end

  -- ns: the sum of lines, the sum of functions that have lines, the program
  local function sums(p)
    local lines, functions = 0, 0
    for _, list in pairs(p.lines) do
      for _, line in ipairs(list) do lines = lines + line.self_ns end
    end
    for _, f in ipairs(p.functions) do
      if f.kind ~= "C" and f.kind ~= "internal" then
        functions = functions + f.self_ns
      end
    end
    return lines, functions, p.program_ns
  end

  it("has the time of a loop's lines within the range", function()
    local p = driven.record(1000, function() loop(50000) end,
      { mode = "line", compensate = false })
    local wall = p.meta.wall_ns
    assert.is_true(wall > 40e6)
    for i = 1, 9 do
      local lines, functions = sums(assert(p:range(0, i * wall / 10 / 1e9)))
      assert.is_true(math.abs(lines - functions) < 10,
        lines .. " and " .. functions)
    end
  end)

  it("has no more time in all lines than in the whole program", function()
    local function fib(n)
      if n < 2 then return n end
      return fib(n - 1) + fib(n - 2)
    end
    local p = driven.compensate(1000, 990, function()
      fib(15)
      loop(50000)
      fib(15)
      loop(20000)
    end, { mode = "line" })
    local tenth = p.meta.wall_ns / 1e10
    for i = 0, 9 do
      for j = i + 1, 10 do
        local lines, _, whole = sums(assert(p:range(i * tenth, j * tenth)))
        assert.is_true(lines <= whole, ("%d to %d: %d of %d"):format(i, j,
          lines, whole))
      end
    end
  end)
end)
