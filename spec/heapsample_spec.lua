local _ENV = require("helper").env(_ENV)

local core = require "cprof.core"
local format = require "cprof.text.format"
local helper = require "helper"
local host = require "spec_host"
local nomemory = require "nomemory"
local profiler = require "cprof"
local releases = require "releases"
local sizes = require "sizes"

local direct = core.internals() == "direct"
local known = releases.it(_ENV, releases.without_internals())
local path = os.tmpname()

teardown(function() os.remove(path) end)

local kept = {}

local function tables(n)
  local t
  for i = 1, n do
    t = { i, x = i }
  end
  return t
end

local function strings(n)
  local rep, s = string.rep, nil
  for i = 1, n do s = rep("x", 900 + i % 100) end
  return s
end

local function closures(n)
  local f
  for i = 1, n do f = function() return i end end
  return f
end

local function keep(n)
  local out = kept
  for i = #kept + 1, n do
    out[i] = { i }
  end
end

local function drop() for i = #kept, 1, -1 do kept[i] = nil end end

local function work()
  tables(8000) strings(4000) closures(8000)
end

local function sample(f, options)
  options = options or {}
  options.mode, options.memory = "sample", options.memory or true
  options.memory_interval = options.memory_interval or 4096
  return (helper.record(f, options))
end

local function line_of(f, n) return debug.getinfo(f, "S").linedefined + n end

-- Is a sum of samples within six standard deviations of the true one?
local function near(wanted, got, interval, what)
  local within = 6 * math.sqrt(wanted * interval) + interval
  assert.is_true(math.abs(got - wanted) <= within,
    ("%s: %d instead of %d"):format(what, got, wanted))
end

describe("samples of allocations", function()
  after_each(function() profiler.stop() drop() collectgarbage() end)

  it("have the bytes of functions, and of C functions", function()
    work()
    local exact = helper.record(work, { memory = true })
    local p = sample(work)
    for _, f in ipairs { tables, closures, "string.rep" } do
      local a = type(f) == "string" and helper.named(exact, f) or
        helper.find(exact, f)
      local b = assert(type(f) == "string" and helper.named(p, f) or
        helper.find(p, f))
      near(a.self_bytes, b.self_bytes, 4096, a.title)
    end
    local whole = exact.functions[exact.nodes[1].func]
    near(whole.total_bytes, p.functions[p.nodes[1].func].total_bytes, 4096,
      "all")
    assert.equal(4096, p.meta.memory_interval)
    -- one sample per interval on average, fewer if blocks are larger than that
    local most = whole.total_bytes / 4096
    assert.is_true(p.meta.memory_samples < most + 6 * math.sqrt(most) and
      p.meta.memory_samples > most * 0.6, p.meta.memory_samples)
  end)

  it("add up, by node, function and kind", function()
    local p = sample(work)
    local allocs, bytes = 0, 0
    for _, node in ipairs(p.nodes) do
      allocs, bytes = allocs + node.self_allocs, bytes + node.self_bytes
    end
    local root = p.functions[p.nodes[1].func]
    assert.same({ root.total_allocs, root.total_bytes }, { allocs, bytes })
    for _, f in ipairs(p.functions) do
      local of_kinds = 0
      for _, kind in pairs(f.allocated or {}) do
        of_kinds = of_kinds + kind.bytes
      end
      assert.equal(f.self_bytes, of_kinds, f.title)
    end
    local made = assert(helper.find(p, closures)).allocated
    assert.is_true(made.closure.bytes > 0)
    assert.is_true(helper.named(p, "string.rep").allocated.string.bytes > 0)
  end)

  it("do not lean to one side", function()
    local n, sum = helper.slow and 5 or 40, 0
    local function f() tables(1000) end
    f()
    local exact = helper.find(helper.record(f, { memory = true }), tables)
    for _ = 1, n do
      local p = sample(f, { memory_interval = 16384 })
      local ok, found = pcall(helper.find, p, tables)
      if ok and found then sum = sum + found.self_bytes end
    end
    near(exact.self_bytes * n, sum, 16384, "sum of recordings")
  end)

  known("know the lines that allocate", function()
    local p = sample(function() for _ = 1, 4 do work() end end)
    local list = p.lines[debug.getinfo(tables, "S").source]
    local f, line = helper.find(p, tables), line_of(tables, 3)
    assert.is_true(list[line].bytes > f.self_bytes * 0.95,
      ("%d of %d"):format(list[line].bytes, f.self_bytes))
    assert.is_true(list[line].allocs > f.self_allocs * 0.95)
    assert.matches("[KM]B[^\n]+t = { i, x = i }", p:annotate(nil,
      { heat = "alloc" }))
  end)

  known("know coroutines, which allocate themselves", function()
    local function produce()
      while true do
        coroutine.yield(tables(100))
      end
    end
    local function consume()
      local co = coroutine.wrap(produce)
      for _ = 1, 100 do co() end
    end
    local exact = helper.record(consume, { memory = true })
    near(helper.find(exact, produce).total_bytes,
      helper.find(sample(consume), produce).total_bytes, 4096, "coroutine")
  end)

  known("know coroutines with any hook of the program's, also after many " ..
    "that failed", function()
      local long = ("x"):rep(10000)
      local function hook() end
      -- in 'error', a sample sets its hook, and no event follows
      local function fail()
        debug.sethook(hook, "c")
        error(long)
      end
      local found = {}
      local function hooked(mask, count)
        debug.sethook(hook, mask, count)
        tables(100)
        local f, m, n = debug.gethook()
        found[#found + 1] = ("%s %s %d"):format(f == hook, m, n)
      end
      local failed, wanted = {}, {}
      local p = sample(function()
        for i = 1, 40 do
          failed[i] = coroutine.create(fail)
          assert(not coroutine.resume(failed[i]))
        end
        for _, mask in ipairs { "", "c", "r", "l", "cr", "cl", "rl", "crl" } do
          for count = mask == "" and 1000 or 0, 3000, 1000 do
            assert(coroutine.resume(coroutine.create(hooked), mask, count))
            wanted[#wanted + 1] = ("true %s %d"):format(mask, count)
          end
        end
      end, { memory_interval = 64 })
      assert.same(wanted, found)
      local exact = #wanted * 100 * 128
      local bytes = helper.find(p, tables).self_bytes
      assert.is_true(bytes > exact * 0.5, bytes)
    end)

  it("charge no time to who allocates", function()
    local function spin(n)
      local s = 0
      for i = 1, n do s = s + i % 7 end
      return s
    end
    -- samples, of which one may stand for a time in which others ran
    local p = sample(function()
      repeat
        for _ = 1, 100 do spin(100000) tables(200) end
      until profiler.snapshot().samples > 300
    end, { clock = "cpu", memory_interval = 1024 })
    local own = helper.find(p, spin).self_samples
    assert.is_true(own > 0.5 * p.samples, ("%d of %d"):format(own, p.samples))
  end)

  it("become fewer in programs that allocate much", function()
    local function much() for _ = 1, 10 do work() end end
    local exact = helper.record(much, { memory = true })
    local p = helper.record(much, { mode = "sample", memory = true })
    local interval = p.meta.memory_interval
    assert.is_true(interval > 4096 and interval <= 1 << 19, interval)
    for _, f in ipairs { tables, closures } do
      near(helper.find(exact, f).self_bytes, helper.find(p, f).self_bytes,
        interval, f)
    end
    -- samples at shorter intervals are not taken for as many at the last one
    local bytes = p.functions[p.nodes[1].func].total_bytes
    assert.is_true(p.meta.memory_samples > bytes // interval)
    local off = assert(p:report { width = 1000 }:match(
      "allocated: [%d.]+ MB ±(%d+) %%"))
    assert.equal(("%.0f"):format(200 / math.sqrt(bytes // interval)), off)
  end)

  it("are told as what they are", function()
    local p = sample(work)
    local text = p:report { width = 1000 }
    local n = p.meta.memory_samples
    assert.matches(("\nallocated: [%%d.]+ MB ±%.0f %%%% in " ..
      "[^\n]+; estimated from %s samples, at least one per 4.00 KB of " ..
      "allocation\n"):format(200 / math.sqrt(n), format.count(n)), text)
    text = p:report { sort = "alloc", mode = "self", width = 1000 }
    assert.has_text("self and total are bytes allocated", text)
    assert.is_truthy(text:find "string.rep" and text:find "±", text)
    assert.has_no_text("never ran", text)
  end)

  it("pause, and begin again", function()
    local p = sample(function()
      tables(2000)
      profiler.pause()
      strings(10000)
      profiler.resume()
      tables(2000)
    end)
    assert.is_true(helper.find(p, tables).self_bytes > 0)
    local rep = helper.named(p, "string.rep")
    assert.is_true(not rep or rep.self_bytes < 100000)
    p = sample(function() strings(4000) profiler.reset() tables(4000) end)
    rep = helper.named(p, "string.rep")
    assert.is_true(not rep or rep.self_bytes < 100000)
  end)

  it("are in files and sums", function()
    local merge = require "cprof.profile.merge"
    local p = sample(work, { file = path, memory = "live" })
    local q = p
    for _ = 1, 3 do
      q = assert(profiler.load(path))
      assert.equal(p.meta.memory_samples, q.meta.memory_samples)
      assert.equal(p.meta.memory_interval, q.meta.memory_interval)
      assert.same(p.counted, q.counted)
      for i, f in ipairs(p.functions) do
        assert.equal(f.total_bytes, q.functions[i].total_bytes)
        assert.same(f.allocated, q.functions[i].allocated)
        assert.equal(f.total_live_bytes, q.functions[i].total_live_bytes)
      end
      assert(q:save(path))
    end
    local sum = assert(merge.sum { p, q })
    local f = helper.find(p, tables)
    assert.equal(2 * f.self_bytes, helper.find(sum, tables).self_bytes)
    assert.equal(2 * p.meta.memory_samples, sum.meta.memory_samples)
    local once, twice = 0, 0
    for i = 7, #p.counted, 9 do once = once + p.counted[i] end
    for i = 7, #sum.counted, 9 do twice = twice + sum.counted[i] end
    assert.equal(2 * once, twice)
  end)

  it("are those of each state, of several that are sampled", function()
    local code = [[
      local profiler = require "cprof"
      local function make(n) for i = 1, n do keep = { i, { } } end end
      function begin()
        profiler.start { mode = "sample", memory = "live",
          memory_interval = 4096 }
      end
      function go(n) make(n) end
      function finish()
        profiler.stop()
        for _, f in ipairs(profiler.snapshot().functions) do
          if f.name == "make" then return f.self_bytes end
        end
      end
    ]]
    local a, b = host.state(), host.state()
    a:run(code) b:run(code)
    a:run "begin()"
    b:run "begin()"
    for _ = 1, 10 do
      a:run "go(1000)"
      b:run "go(3000)"
    end
    local each = 2 * sizes.table + sizes.array(2)
    near(10000 * each, tonumber(a:run "return finish()"), 4096, "one")
    b:run "go(10000)"
    near(40000 * each, tonumber(b:run "return finish()"), 4096, "another")
    a:close()
    b:close()
  end)

  it("leave nothing behind", function()
    local allocator = host.allocator()
    sample(work)
    assert.equal(allocator, host.allocator())
    assert.is_nil(debug.gethook())
  end)

  it("leave the program's own hook what it sees", function()
    local counts = 0
    local function hook() counts = counts + 1 end
    local function counted()
      counts = 0
      debug.sethook(hook, "", 1000)
      work()
      debug.sethook()
      return counts
    end
    local expected = counted()
    profiler.start { mode = "sample", memory = true, memory_interval = 4096 }
    local got = counted()
    profiler.stop()
    assert.is_true(math.abs(got - expected) <= expected // 50 + 2,
      got .. " " .. expected)
  end)

  it("go on where a coroutine has the hook of an earlier recording", function()
    profiler.start()
    local co = coroutine.wrap(function() end)
    profiler.stop()
    local p = helper.record(function()
      co()
      tables(100)
    end, { mode = "sample", memory = true, memory_interval = 1 })
    local f = helper.find(p, tables)
    assert.is_true(f ~= nil and f.self_allocs >= 100)
  end)

  it("leave no memory behind where one recording ended for lack of it",
    function()
      local code = [[
        local profiler = require "cprof"
        local function record()
          local kept = {}
          profiler.start { mode = "sample", memory = "live",
            memory_interval = 1 }
          for i = 1, 100 do kept[i] = { i } end
          return kept
        end
        arm()
        local kept = record()
        disarm()
        local ended = not profiler.running()
        if ended then record() end
        profiler.stop()
        return tostring(ended)
      ]]
      local _, _, asked = host.memory(code, "cprof", -1)
      local after = 0
      for n = 0, asked, math.max(1, asked // (helper.slow and 10 or 50)) do
        local result, status, _, left = host.memory(code, "cprof", n)
        if status == 0 and result == "true" then after = after + 1 end
        assert.equal(0, left, n)
      end
      assert.is_true(after > 0)
    end)

  it("keep what was in use where the recording ended by itself", function()
    local result = host.memory(([[
      local profiler = require "cprof"
      local kept = {}
      profiler.start { mode = "sample", memory = "live", memory_interval = 1 }
      for i = 1, 500 do kept[i] = { i } end
      math.abs(1)
      arm()
      for i = 501, 2000 do kept[i] = { i } end
      disarm()
      assert(not profiler.running())
      local function live()
        local p = profiler.snapshot()
        return p.functions[p.nodes[1].func].total_live_bytes
      end
      local before = live()
      assert(before > 500 * SIZE)
      kept = nil
      collectgarbage()
      return live() - before]]):gsub("SIZE", sizes.table), "cprof", 0)
    assert.equal("0", result)
  end)

  it("do no harm where memory fails", function()
    nomemory.recorded('mode = "sample", memory = "live", memory_interval = 64',
      [[
      local out = {}
      for i = 1, 300 do
        out[i % 100] = { i, { i }, function() return i end }
        if i % 50 == 0 then
          coroutine.wrap(function() out[101] = ("x"):rep(i * 40) end)()
        end
      end]])
    local result, status, _, left = host.memory([[
      local profiler = require "cprof"
      profiler.start { mode = "sample", memory = "live", memory_interval = 64 }
      keep = { {}, {}, function() end }
      setmetatable(keep, { __gc = function() keep[4] = { {} } end })
      return "fine"]], "lua", -1)
    assert.same({ "fine", 0, 0 }, { result, status, left })
  end)
end)

describe("samples of what is in use", function()
  after_each(function() profiler.stop() drop() collectgarbage() end)

  it("are those that were not freed", function()
    local p = sample(function()
      keep(20000)
      tables(20000)
      collectgarbage() collectgarbage()
    end, { memory = "live" })
    near(20000 * (sizes.table + sizes.array(1)) + sizes.array(32768),
      helper.find(p, keep).live_bytes, 4096, "kept")
    local f = helper.find(p, tables)
    assert.is_true(f.self_bytes > 1000000 and f.live_bytes < 20000,
      f.live_bytes)
    if direct then
      local line = p.lines[debug.getinfo(keep, "S").source][line_of(keep, 3)]
      assert.is_true(line.live_bytes > 0.9 * helper.find(p, keep).live_bytes)
    end
    local text = p:report { width = 1000 }
    assert.matches("still in use: [%d.]+ %u?B ±%d+ %% in [%d,]+ blocks?; " ..
      "[^\n]+ at the peak\n", text)
  end)

  it("grow where something leaks", function()
    local cache, seen = {}, {}
    local function parse(i) return { i, { i } } end
    local function leak(i) seen[#seen + 1] = { i } end
    local function handle(i)
      cache[i % 10] = parse(i)
      leak(i)
    end
    profiler.start { mode = "sample", memory = "live", memory_interval = 4096 }
    for i = 1, 10000 do handle(i) end
    collectgarbage() collectgarbage()
    local before = profiler.snapshot()
    for i = 1, 10000 do handle(i) end
    collectgarbage() collectgarbage()
    local after = profiler.snapshot()
    profiler.stop()
    local function growth(f)
      return helper.find(after, f).live_bytes -
        helper.find(before, f).live_bytes
    end
    assert.is_true(growth(leak) > 400000, growth(leak))
    -- few of ten entries are sampled: ten samples would be a leak
    assert.is_true(math.abs(growth(parse)) < 40000, growth(parse))
    assert.equal(10, #cache + 1)
  end)
end)
