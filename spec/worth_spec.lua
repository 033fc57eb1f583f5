-- The effective number of samples: less than their number if they stand for
-- different times.

local driven = require "driven"
local _ENV = require("helper").env(_ENV)

local command = require "command"
local compile = require "compile"
local measure = require "cprof.count.measure"
local merge = require "cprof.profile.merge"
local profiler = require "cprof"
local sampled = require "cprof.count.sampled"

describe("what samples are worth", function()
  local dir, program

  setup(function()
    dir = command.folder()
    program = dir:file "worth"
    compile.axis("worth", program)
  end)

  teardown(function() getmetatable(dir).__close() end)

  local function of(samples, from, to)
    return (compile.must("%s %g %g %s", program, from or 0, to or 1000,
      samples)):match "(.-)\n"
  end

  it("is one each if they stand for equal times", function()
    assert.equal("1000 1000", of "")
    assert.equal("1000 1000", of "1 1 runs 1 1 runs 7 7 runs")
    assert.equal("1000 1000", of "1 1 runs 1 1 runs 3 1 waits 3 1 waits")
  end)

  it("is less if a few stand for most of the time", function()
    -- (4 * 1 + 4)^2 / (4 * 1 + 16) = 3.2 of 5
    assert.equal("640 1000",
      of "1 1 runs 1 1 runs 4 1 runs 1 1 runs 1 1 runs")
    assert.equal("1000 640",
      of "1 1 waits 1 1 waits 4 1 waits 1 1 waits 1 1 waits 3 1 runs")
  end)

  it("is known for samples that found the program running and waiting",
    function()
    assert.equal("1000 1000", of "1 2 runs 1 0 waits 1 1 runs 1 1 waits")
    -- 1 of 4 samples ran, and 3 waited; each stands for 1 ms
    assert.equal("1000 1000", of "1 4 runs 3 0 waits 1 1 runs 1 1 waits")
    -- as many samples ran as waited, and each stands for 2 ms
    assert.equal("900 900", of "2 2 runs 2 0 waits 1 1 runs 1 1 waits")
  end)

  it("does not depend on time that no sample stands for", function()
    assert.equal("1000 1000", of "1 1 runs 90 0 runs 90 0 paused 1 1 runs")
  end)

  it("depends only on samples in the range", function()
    local samples = "9 1 runs 1 1 runs 1 1 runs 9 1 runs"
    assert.equal("610 1000", of(samples))
    assert.equal("1000 1000", of(samples, 1, 3))
    assert.equal("610 1000", of(samples, 0.5, 2.5))
  end)
end)

describe("the effective number of samples", function()
  local function busy() for _ = 1, 200 do local _ = {} end end

  local function both(p)
    return sampled.both(p.time_samples, p.wait_samples,
      (p.meta.waiting_ns or 0) / p.measure.whole)
  end

  it("is their number if they stand for equal times", function()
    local p = driven.known(function()
      busy()
      driven.wait(100)
    end)
    assert.is_nil(p.meta.worth_running)
    assert.is_nil(p.meta.worth_waiting)
    assert.is_true(p.samples > 200)
    assert.equal(both(p), p.measure.samples)
    for _, name in ipairs { "cpu", "wait" } do
      local waits = math.floor(p.wait_samples)
      assert.equal(name == "wait" and waits or p.samples - waits,
        measure.profile(p, measure.row(name)).measure.samples)
    end
    local q = assert(p:range(0.01, 0.05))
    assert.is_nil(q.meta.worth_running)
    assert.equal(both(q), q.measure.samples)
  end)

  it("is less if they stand for different times", function()
    assert.same({ 1000, 100 }, { sampled.worth(1000, 100, 1, 1) })
    assert.same({ 550, 100 }, { sampled.worth(1000, 100, 0.5, 1) })
    assert.same({ 950, 50 }, { sampled.worth(1000, 100, 1, 0.5) })
    -- a joined profile does not tell which samples found the program waiting
    assert.same({ 500 }, { sampled.worth(1000, nil, 1, 0.5) })
    local p = driven.known(busy)
    local n = p.measure.samples
    p.meta.worth_running = 500
    assert.equal(n // 2, measure.base(p).samples)
    assert.equal(n, p.samples)
    p.measure = measure.base(p)
    local name = p.functions[2].name
    assert.is_string(name)
    assert.has_text(("below %g %%"):format(
      ("%.2g"):format(100 * sampled.least(n // 2))), p:report())
  end)

  it("is less in a sum of recordings at different rates, also saved",
    function()
    local p, q = driven.known(busy), driven.known(busy)
    local same = assert(merge.sum { p, p })
    assert.is_nil(same.meta.worth_running)
    assert.equal(2 * p.measure.samples, same.measure.samples)
    -- as if each sample of `q` stood for ten times as much
    q.time_samples, q.wait_samples = q.samples / 10, q.wait_samples / 10
    local sum = assert(merge.sum { p, q })
    -- T^2 / Q, T = 2, Q = (1 + 10) / n; of 1.1 n samples
    assert.equal(331, sum.meta.worth_running)
    local dir <close> = command.folder()
    assert(sum:save(dir:file "sum"))
    local loaded = assert(profiler.load(dir:file "sum"))
    assert.equal(331, loaded.meta.worth_running)
    assert.equal(sum.measure.samples, loaded.measure.samples)
  end)

  it("may be too low for shares, which the report says", function()
    local p = driven.known(busy)
    p.meta.worth_running = 10
    p.measure = measure.base(p)
    assert.equal(2, p.measure.samples)
    assert.has_text(p.samples .. " samples, of which a few stand for most " ..
      "of the time: too few to tell where the time went", p:report())
  end)
end)
