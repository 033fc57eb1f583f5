local _ENV = require("helper").env(_ENV)

local consumers = require "consumers"
local helper = require "helper"
local lists = require "cprof.text.lists"
local naming = require "cprof.source.name"
local profiler = require "cprof"

-- the name and file of a function, as one key
local function named(f)
  return consumers.written(f.name, "text") .. "\0" ..
    consumers.written(naming.file(f) or "", "text")
end

-- self and total figures of functions, by name and file
local function expected(p, own, all)
  return consumers.figures(p, named, own, all)
end

-- the figures of a thread; one unit of Firefox's is `unit` of ours
local function shown(thread, unit)
  local out = {}
  for _, f in ipairs(thread.functions) do
    local key = f[1] .. "\0" .. f[2]
    local sum = out[key] or { 0, 0 }
    out[key] = { sum[1] + math.floor(f[3] * unit + 0.5),
      sum[2] + math.floor(f[4] * unit + 0.5) }
  end
  return out
end

describe("Firefox's profiler", function()
  local p = consumers.profile()

  it("shows the figures of reports", function()
    local got = consumers.firefox(consumers.export(p, "firefox", "call.json"))
    local wanted = expected(p, "self_ns", "total_ns")
    local functions = shown(got.threads[1], 1000000)
    for key, sum in pairs(wanted) do assert.same(sum, functions[key], key) end
    assert.is_true(#lists.keys(wanted) > 200)
    assert.equal("all calls, added up", got.threads[1].name)
  end)

  it("shows samples when they were taken, and markers", function()
    local sampled = consumers.profile { mode = "sample" }
    local got = consumers.firefox(consumers.export(sampled, "firefox",
      "sample.json"))
    assert.same({ "Lua", 1 }, { got.threads[1].name, #got.threads })
    local functions, sum = got.threads[1].functions, 0
    for _, f in ipairs(functions) do sum = sum + f[3] end
    assert.is_true(math.abs(sum * 1000000 - sampled.program_ns) < 1000)
    assert.is_true(#functions > 20)
  end)

  it("shows frames, slow calls and the size of the heap", function()
    local timed = helper.record(function()
      for i = 1, 20 do
        local list = {}
        for k = 1, i == 7 and 100000 or 100 do list[k] = { k } end
        table.sort(list, function(a, b) return a[1] > b[1] end)
        profiler.frame "turn"
      end
    end, { distribution = true, memory = true })
    local got = consumers.firefox(consumers.export(timed, "firefox",
      "marked.json"))
    assert.equal("when", got.threads[2].name)
    local frames
    for _, kind in ipairs(got.threads[2].byType) do
      if kind.markerName == "turn" then frames = kind end
    end
    assert.equal(19, frames.count)
    local longest = frames.topMarkers[1]
    local slowest = timed.loops[1]:slowest(1)
    assert.is_true(math.abs(longest.duration * 1e6 - slowest.ns) < 2)
    assert.is_true(math.abs(longest.start * 1e6 - slowest.start_ns) < 2)
    assert.same({ "heap", "Memory" }, { got.counters[1].name,
      got.counters[1].category })
    -- the first point is where the graph begins
    assert.is_true(#timed.heap - got.counters[1].rangeSampleCount <= 1)
  end)

  it("reads what is deep", function()
    local deep = require "deep"(20000)
    local got = consumers.firefox(consumers.export(deep, "firefox",
      "deep.json"))
    local sum = 0
    for _, f in ipairs(got.threads[1].functions) do sum = sum + f[3] end
    assert.is_true(math.abs(sum * 1000000 - deep.measure.whole) < 1000)
  end)

  it("shows instructions", function()
    local counted = consumers.profile { mode = "count" }
    local got = consumers.firefox(consumers.export(counted, "firefox",
      "count.json"))
    local wanted = expected(counted, "instructions", "total_instructions")
    local functions = shown(got.threads[1], 1)
    for key, sum in pairs(wanted) do assert.same(sum, functions[key], key) end
    assert.is_true(#lists.keys(wanted) > 100)
  end)
end)
