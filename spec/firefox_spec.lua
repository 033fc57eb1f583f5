-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local axes = require "cprof.profile.axis"
local core = require "cprof.core"
local exports = require "exports"
local helper = require "helper"
local host = require "spec_host"
local json = require "dkjson"
local profile = require "cprof.profile"
local profiler = require "cprof"
local samples = require "cprof.export.samples"
local stalled = require "stalled"

local direct = core.internals() == "direct"
local us <const>, milli <const> = 1000, 1000000

local stalls, spin, usual, stall = stalled()

local function exported(p, options)
  local s, notes = exports.text(p, "firefox", options)
  return json.decode(s), notes
end

-- The names and lines of a stack, the leaf first.
local function stack_of(d, t, stack)
  local out = {}
  while stack do
    local frame = t.stackTable.frame[stack + 1]
    local func = t.frameTable.func[frame + 1]
    out[#out + 1] = d.shared.stringArray[t.funcTable.name[func + 1] + 1]
    out[-#out] = t.frameTable.line[frame + 1]
    stack = t.stackTable.prefix[stack + 1]
  end
  return out
end

-- the samples of a thread: time in ms, weight in ms, CPU time in µs, stack
local function samples_of(d, t)
  local out, s = {}, t.samples
  assert.equal(s.length, #s.time)
  for i = 1, s.length do
    out[i] = { s.time[i], s.weight[i], s.threadCPUDelta and
      s.threadCPUDelta[i], stack_of(d, t, s.stack[i]) }
  end
  return out
end

local function near(wanted, got, what)
  assert.is_true(math.abs(wanted - got) < 0.000002,
    ("%s: %s, expected %s"):format(what, got, wanted))
end

-- time and weight of the samples in which a function is on the stack
local function where(list, name)
  local from, to, sum = nil, nil, 0
  for i, s in ipairs(list) do
    for _, n in ipairs(s[4]) do
      if n == name then
        from, to = from or s[1], list[i + 1][1]
        sum = sum + s[2]
        break
      end
    end
  end
  return from, to, sum
end

-- Checks when a function is on the stack, and the weight of its samples.
local function is_at(list, name, begins, ends, weight)
  local from, to, sum = where(list, name)
  near(begins, from, name .. " begins")
  near(ends, to, name .. " ends")
  near(weight, sum, name)
end

-- the markers of a thread with a name: from, to, fields, stack
local function markers_of(d, t, name)
  local out, m = {}, t.markers
  for i = 1, m.length do
    if d.shared.stringArray[m.name[i] + 1] == name then
      local data = m.data[i]
      out[#out + 1] = { m.startTime[i], m.endTime[i], data,
        data.cause and stack_of(d, t, data.cause.stack) }
    end
  end
  return out
end

describe("an export for Firefox's profiler", function()
  it("has when samples were taken, and their lines", function()
    local p = driven.known(stalls)
    local d, notes = exported(p)
    assert.is_nil(notes)
    assert.same({ 57, 1, 1 }, { d.meta.preprocessedProfileVersion,
      d.meta.interval, #d.threads })
    local t = d.threads[1]
    local list = samples_of(d, t)
    assert.same({ "Lua", "tracing-ms" }, { t.name, t.samples.weightType })
    is_at(list, "stall", 300, 500, 200)
    is_at(list, "usual", 0, 800, 600)
    assert.equal(p.program_ns, exports.sums.firefox(exports.text(p,
      "firefox")))
    if direct then
      assert.equal(helper.find(p, spin).line + 1, list[1][4][-1])
    end
    assert.equal("spin", list[1][4][1])
    assert.equal("usual", list[1][4][2])
    -- nothing runs after the last one
    assert.same({}, list[#list][4])
  end)

  it("adds up samples of one stack that follow one another", function()
    local d = exported(driven.known(stalls))
    local t = d.threads[1]
    assert.is_true(t.samples.length <= 10, t.samples.length)
  end)

  it("has when a C function ran", function()
    local d = exported(driven.known(function()
      spin(100)
      driven.wait(400)
      spin(100)
    end))
    local from, to, sum = where(samples_of(d, d.threads[1]), "driven.wait")
    near(100, from, "the wait begins")
    near(500, to, "the wait ends")
    near(400, sum, "the wait")
    -- this clock does not know about waits
    assert.is_nil(d.threads[1].samples.threadCPUDelta)
  end)

  it("says how much of the time the CPU computed, and what waited", function()
    profiler.start { mode = "sample" }
    for _ = 1, 20 do
      host.poll(20)
      spin(10000)
    end
    profiler.stop()
    local p = profiler.snapshot()
    if not p.meta.waiting_ns then return end
    -- all that samples stand for
    local ran, all = 0, 0
    for _, ns, place, waits in axes.each(profile.axis(p)) do
      if place ~= 0 then all = all + ns end
      if place ~= 0 and not waits then ran = ran + ns end
    end
    local d = exported(p)
    local t = d.threads[1]
    local cpu, last = 0, 0
    for _, w in ipairs(markers_of(d, t, "wait")) do
      assert.is_true(w[1] >= last and w[2] > w[1])
      assert.is_truthy(w[4][1])
      last = w[2]
    end
    assert.is_true(last > 0)
    for _, s in ipairs(samples_of(d, t)) do cpu = cpu + s[3] end
    local part = ran / all * p.program_ns / us
    assert.is_true(math.abs(part - cpu) < 1 + part * 1e-4,
      ("%s of %s"):format(cpu, part))
  end)

  it("has waits that samples tell later before the work after them",
    function()
      local p, list = driven.sleeper(4)
      list[#list + 1] = { 400, 2, "handle" }
      local d = driven.told(p, list, function() return exported(p) end)
      local t, found = d.threads[1], {}
      for i, s in ipairs(samples_of(d, t)) do found[i] = { s[1], s[4][1] } end
      assert.same({ { 0 }, { 5, "sleep" }, { 80, "handle" } },
        table.move(found, 1, 3, 1, {}))
      -- between, it is not known what ran
      assert.same({ { 328 }, { 396, "handle" }, { 400 } },
        table.move(found, #found - 2, #found, 1, {}))
      local last = 0
      for _, m in ipairs(markers_of(d, t, "wait")) do
        near(last + 5, m[1], "the wait begins")
        near(last + 80, m[2], "the wait ends")
        last = last + 82
      end
      assert.equal(328, last)
    end)

  it("shows a pause", function()
    driven.start {}
    spin(1)
    profiler.reset()
    spin(100)
    profiler.pause()
    driven.sleep(500 * milli)
    profiler.resume()
    spin(100)
    local d = exported(driven.stop())
    local pauses = markers_of(d, d.threads[1], "paused")
    assert.equal(1, #pauses)
    near(500, pauses[1][2] - pauses[1][1], "the pause")
    local sum = 0
    for _, s in ipairs(samples_of(d, d.threads[1])) do sum = sum + s[2] end
    near(200, sum, "what was recorded")
  end)

  it("has when samples of a range were taken", function()
    local d, notes = exported(assert(driven.known(stalls):range(0.25, 0.35)))
    assert.is_nil(notes)
    local list = samples_of(d, d.threads[1])
    is_at(list, "usual", 250, 300, 50)
    is_at(list, "stall", 300, 350, 50)
  end)

  it("keeps their times where nodes are added up", function()
    local p = driven.known(stalls)
    local d, notes = exported(p, { min_percent = 30 })
    assert.has_text("added up as", notes)
    local list = samples_of(d, d.threads[1])
    assert.is_nil(where(list, "stall"))
    local from, to = where(list, "(below 30 %)")
    near(300, from, "stall begins")
    near(500, to, "stall ends")
  end)

  it("says why samples have no times", function()
    local p = driven.known(stalls)
    local d, notes = exported(p, { root = "stall" })
    assert.has_text("samples are added up by call path, without their " ..
      "times: the call tree has other paths than the recording", notes)
    assert.equal("all samples, added up", d.threads[1].name)
    near(200, select(3, where(samples_of(d, d.threads[1]), "stall")), "stall")
  end)

  it("adds up samples of a stretch of time if there are too many", function()
    local p = driven.known(function()
      for _ = 1, 50 do usual() stall() end
    end)
    local was = samples.most
    samples.most = 20
    local d, notes = exported(p)
    samples.most = was
    assert.has_text("the samples of each 2.05s are added up by call path, " ..
      "so that there are at most 20", notes)
    local list, last = samples_of(d, d.threads[1]), 0
    assert.is_true(#list <= 21 and #list > 5, #list)
    near(5000, select(3, where(list, "usual")), "usual")
    near(10000, select(3, where(list, "stall")), "stall")
    for _, s in ipairs(list) do
      assert.is_true(s[1] >= last)
      last = s[1]
    end
    near(15000, last, "the end")
    samples.most = 1
    d = exported(p)
    samples.most = was
    near(5000, select(3, where(samples_of(d, d.threads[1]), "usual")), "usual")
  end)

  it("has frames and slow calls beside calls without times", function()
    local pass <const> = driven.pass
    local function work(n) pass(n * us, 0) end
    local p = driven.parts(function()
      for i = 1, 20 do
        work(i == 7 and 500 or 10)
        if i % 10 == 0 then profiler.frame "turn" end
      end
    end, { distribution = true })
    local d = exported(p)
    assert.same({ 2, "all calls, added up", "when" }, { #d.threads,
      d.threads[1].name, d.threads[2].name })
    near(690 / 1000, select(3, where(samples_of(d, d.threads[1]), "work")),
      "work")
    local t = d.threads[2]
    assert.equal(0, t.samples.weight[1])
    local slow = markers_of(d, t, "work")
    assert.equal(1, #slow)
    near(60 / 1000, slow[1][1], "the slow call begins")
    near(560 / 1000, slow[1][2], "the slow call ends")
    near(0.5, slow[1][3].took, "it took")
    assert.equal("slow call", slow[1][3].type)
    assert.equal("work", slow[1][4][1])
    local frames = markers_of(d, t, "turn")
    -- the first frame of a name begins with its first call
    assert.equal(1, #frames)
    near(590 / 1000, frames[1][1], "the frame begins")
    near(690 / 1000, frames[1][2], "the frame ends")
    assert.equal("frame", frames[1][3].type)
    -- what is shown of each kind of marker is declared
    local declared = {}
    for _, s in ipairs(d.meta.markerSchema) do
      declared[s.name] = {}
      for _, f in ipairs(s.fields) do declared[s.name][f.key] = f.format end
    end
    for _, data in ipairs(t.markers.data) do
      for key in pairs(data) do
        assert.is_truthy(key == "type" or key == "cause" or
          declared[data.type][key], key)
      end
    end
  end)

  it("has the size of the heap over time, and other measures", function()
    local p = helper.record(function()
      local kept = {}
      for i = 1, 100 do kept[i] = ("x"):rep(1000 + i) end
      return kept
    end, { memory = true })
    local d = exported(p, { measure = "alloc" })
    local t = d.threads[1]
    assert.equal("bytes", t.samples.weightType)
    local sum = 0
    for _, n in ipairs(t.samples.weight) do sum = sum + n end
    local bytes = 0
    for _, f in ipairs(p.functions) do bytes = bytes + f.self_bytes end
    assert.equal(bytes, sum)
    local heap, size = d.counters[1].samples, 0
    assert.equal(#p.heap, heap.length)
    for i, point in ipairs(p.heap) do
      size = size + heap.count[i]
      assert.equal(point.bytes, size)
      near(point.ns / milli, heap.time[i], "a point")
    end
  end)

  it("has lines where these have times", function()
    local p = helper.record(function() spin(10000) end, { mode = "line" })
    local d = exported(p)
    local t = d.threads[1]
    local ns, lines = 0, 0
    for _, weight in ipairs(t.samples.weight) do
      ns = ns + (weight * milli + 0.5) // 1
    end
    for i = 1, t.frameTable.length do
      lines = lines + (t.frameTable.line[i] and 1 or 0)
    end
    assert.equal(p.program_ns, ns // 1 | 0)
    assert.is_true(lines > 0)
  end)
end)
