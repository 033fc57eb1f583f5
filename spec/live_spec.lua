local _ENV = require("helper").env(_ENV)

local format = require "cprof.text.format"
local helper = require "helper"
local host = require "spec_host"
local nomemory = require "nomemory"
local profiler = require "cprof"
local sizes = require "sizes"

local path = os.tmpname()

teardown(function() os.remove(path) end)

local kept, heap = {}, nil

local function keep(n)
  local out = kept
  for i = 1, n do out[i] = {} end
end

local function drop(n)
  for i = 1, n do kept[i] = false end
end

local function passing(n)
  local t
  for _ = 1, n do t = {} end
  return t
end

local function record(f, options)
  options = options or {}
  options.memory = "live"
  options.memory_interval = options.memory_interval or 1
  return helper.record(f, options)
end

describe("what is in use", function()
  before_each(function() for i = 1, 2000 do kept[i] = false end end)
  after_each(function() profiler.stop() end)

  it("is known by function, to the byte", function()
    local p = record(function()
      keep(1000) passing(5000) drop(300)
      collectgarbage() collectgarbage()
    end)
    local f = helper.find(p, keep)
    assert.same({ 700, 700 * sizes.table }, { f.live_blocks, f.live_bytes })
    assert.equal(0, helper.find(p, passing).live_bytes)
    assert.is_true(p.meta.peak_bytes >= 1000 * sizes.table)
    assert.is_true(f.peak_bytes <= 1000 * sizes.table and f.peak_bytes > 0)
    assert.equal(1, p.meta.live_interval)
  end)

  it("is not told from less than a few samples", function()
    local p = record(function() keep(1000) end,
      { memory = "live", memory_interval = 1 << 19 })
    assert.has_text("\nstill in use: not known, too few samples at one per " ..
      "512 KB; --memory=all (memory_interval = 1) counts every block\n",
      p:report { width = 1000 })
  end)

  it("is known by line, in files, and in reports", function()
    local p = record(function() keep(1000) drop(100) collectgarbage() end,
      { mode = "line", file = path })
    local line = debug.getinfo(keep, "S").linedefined + 2
    local source = debug.getinfo(keep, "S").source
    for _ = 1, 2 do
      assert.equal(900 * sizes.table, p.lines[source][line].live_bytes)
      assert.equal(900 * sizes.table, helper.find(p, keep).live_bytes)
      -- all blocks are known
      assert.matches("still in use: [%d.]+ KB in [%d,]+ blocks; [%d.]+ KB " ..
        "at the peak\n", p:report { width = 1000 })
      local text = p:annotate(nil, { heat = "live" })
      assert.matches(format.bytes(900 * sizes.table) .. "[^\n]+out%[i%] = " ..
        "{} end", text)
      p = assert(profiler.load(path))
      assert(p:save(path))
      p = assert(profiler.load(path))
    end
  end)

  it("agrees with what Lua says is in use", function()
    local before, after
    local p = record(function()
      -- Lua's table of strings shrinks with each of them
      for _ = 1, 20 do collectgarbage() end
      before = collectgarbage "count"
      for i = 1, 2000 do kept[i] = { i, tostring(i) .. "x", {} } end
      collectgarbage() collectgarbage()
      after = collectgarbage "count"
    end)
    local live = helper.find(p, helper.record) and p.functions[1]
    live = live.total_live_bytes
    local grown = (after - before) * 1024
    assert.is_true(math.abs(live - grown) < grown * 0.02 + 2000,
      ("%d of %d bytes"):format(live, grown))
  end)

  it("is that of the program alone, where garbage is collected", function()
    for _, mode in ipairs { "call", "line", "sample" } do
      local p = record(function()
        for _ = 1, 3 do collectgarbage() end
      end, { mode = mode })
      local f = helper.named(p, "collectgarbage")
      assert.equal(0, f and f.live_bytes or 0, mode)
    end
  end)

  it("is not what the profiler needs to know of collections", function()
    -- in a program of few levels, collections leave no free ones
    local out = helper.run [[
      local profiler = require "cprof"
      for _ = 1, 3 do collectgarbage() end
      local function collect() for _ = 1, 3 do collectgarbage() end end
      profiler.start { memory = "live", memory_interval = 1 }
      collect()
      profiler.stop()
      local p = profiler.snapshot()
      local f = require "helper".named(p, "collectgarbage")
      print(f.self_allocs)]]
    -- at most one block: the stack, which shrinks and grows again
    assert.is_true(math.tointeger(out) <= 1, out)
  end)

  it("is that of the peak, too", function()
    local p = record(function()
      keep(2000)
      drop(2000)
      collectgarbage() collectgarbage()
      passing(10)
    end)
    local f = helper.find(p, keep)
    assert.equal(0, f.live_bytes)
    assert.equal(2000 * sizes.table, f.peak_bytes)
    assert.is_true(p.meta.peak_bytes >= 2000 * sizes.table)
    local sum = 0
    for _, fn in ipairs(p.functions) do sum = sum + fn.peak_bytes end
    assert.equal(p.meta.peak_bytes, sum)
  end)

  it("of a block that grows is that of who made it grow", function()
    local list = {}
    local function fill(n) for i = #list + 1, n do list[i] = true end end
    local p = record(function() fill(1000) fill(5000) end)
    local f = helper.find(p, fill)
    assert.same({ 1, sizes.array(8192) }, { f.live_blocks, f.live_bytes })
  end)

  it("is estimated from samples, without bias", function()
    local sum, n = 0, helper.slow and 10 or 30
    for _ = 1, n do
      local p = record(function() keep(2000) end, { memory_interval = 4096 })
      sum = sum + helper.find(p, keep).live_bytes
      assert.has_text("one per 4.00 KB of allocation",
        p:report { width = 1000 })
      drop(2000)
      collectgarbage()
    end
    local mean = sum / n
    -- 27 samples in each: chance is beyond six deviations once in 500 million
    local expected = 2000 * sizes.table
    assert.is_true(math.abs(mean - expected) < expected * 6 / (27 * n) ^ 0.5,
      mean)
  end)

  it("is known exactly of a small heap, and well of one that grows", function()
    local p = helper.record(function()
      keep(500) passing(100) collectgarbage() collectgarbage()
    end, { memory = "live" })
    assert.equal(1, p.meta.live_interval)
    assert.equal(500 * sizes.table, helper.find(p, keep).live_bytes)
    assert.equal(0, helper.find(p, passing).live_bytes)
    p = helper.record(function()
      keep(2000) passing(2000) collectgarbage() collectgarbage()
    end, { memory = "live" })
    local each = p.meta.live_interval
    assert.is_true(each > 1 and each <= 1024, each)
    local expected, got = 2000 * sizes.table, helper.find(p, keep).live_bytes
    assert.is_true(math.abs(got - expected) < 6 * (expected * each) ^ 0.5, got)
  end)

  it("is estimated without bias, with the margins shown, of any heap",
      function()
    local blocks <const>, n = 200000, helper.slow and 4 or 12
    heap = {}
    local function_of = {}
    function_of.tables = function()
      for i = 1, blocks do heap[i] = {} end
    end
    function_of.strings = function()
      for i = 1, 200 do heap[-i] = ("x"):rep(i * 50) end
    end
    function_of.large = function()
      for i = 1, 20 do heap[-1000 - i] = ("x"):rep(100000 + i) end
    end
    function_of.array = function()
      local list = {}
      for i = 1, 1 << 15 do list[i] = i end
      heap.list = list
    end
    local names <const> = { "tables", "strings", "large", "array" }
    local function all()
      for _, name in ipairs(names) do function_of[name]() end
      collectgarbage() collectgarbage()
    end
    -- slots of 'heap' are there before and after
    all()
    local function totals(options)
      for i = 1, #heap do heap[i] = false end
      collectgarbage() collectgarbage()
      options.memory = "live"
      local p = helper.record(all, options)
      local out = {}
      for _, name in ipairs(names) do
        local f = function_of[name]
        for _, row in ipairs(p.functions) do
          if row.title == helper.find(p, f).title then
            out[name] = row.total_live_bytes
          end
        end
      end
      return out, p.meta.live_interval
    end
    local exact = totals { memory_interval = 1 }
    assert.is_true(exact.tables >= blocks * sizes.table)
    local sum, within, interval = {}, 0, nil
    for _ = 1, n do
      local got, each = totals {}
      interval = math.max(interval or 0, each)
      for name, bytes in pairs(got) do
        sum[name] = (sum[name] or 0) + bytes
        -- the margin of a sum of samples, see the help of memory
        local off = 2 * (math.max(bytes, each) * each) ^ 0.5
        if math.abs(bytes - exact[name]) <= off then within = within + 1 end
      end
    end
    -- there are so many blocks that the interval has grown
    assert.is_true(interval > 4096, interval)
    for _, name in ipairs(names) do
      local sure = 6 * (exact[name] * interval / n) ^ 0.5
      assert.is_true(math.abs(sum[name] / n - exact[name]) < sure,
        ("%s: %.0f instead of %d"):format(name, sum[name] / n, exact[name]))
    end
    -- 95 % are expected; so few are found less than once in a million
    assert.is_true(within >= #names * n * 0.7, within)
    heap = nil
  end)

  it("keeps an interval that was given", function()
    local p = record(function()
      for _ = 1, 10 do passing(30000) end
    end, { memory_interval = 64 })
    assert.equal(64, p.meta.live_interval)
  end)

  it("has the interval of its figures in a file that is being written",
      function()
    profiler.start { memory = "live", file = path }
    for _ = 1, 20 do passing(60000) end
    local p, now = profiler.load(path), profiler.snapshot()
    profiler.stop()
    assert.is_true(now.meta.live_interval > 1)
    assert.equal(now.meta.live_interval, p.meta.live_interval)
    p = assert(profiler.load(path))
    assert.equal(now.meta.live_interval, p.meta.live_interval)
  end)

  it("leaves out what is probably garbage, by earlier collections", function()
    local leaked, t = {}, nil
    local function leak(n)
      for _ = 1, n do leaked[#leaked + 1] = { 1, 2, 3 } end
    end
    local function waste(n) for _ = 1, n do t = { 1, 2, 3 } end end
    local each <const> = sizes.table + sizes.array(3)
    local function program()
      collectgarbage "stop"
      for i = 1, 4 do
        leak(3000) waste(30000)
        if i < 4 then collectgarbage() end
      end
    end
    for _, mode in ipairs { "call", "line", "sample" } do
      leaked, t = {}, nil
      local p = helper.record(program,
        { memory = "live", mode = mode, file = path })
      collectgarbage "restart"
      for _ = 1, 2 do
        local near = 6 * (12000 * each * p.meta.live_interval) ^ 0.5
        local f = helper.find(p, leak)
        assert.is_true(f.live_bytes > 12000 * each - near, f.live_bytes)
        assert.is_true(helper.find(p, waste).live_bytes < 30000 * each / 8,
          mode .. helper.find(p, waste).live_bytes)
        near = 6 * (30000 * each * p.meta.live_interval) ^ 0.5
        assert.is_true(math.abs(p.meta.garbage_bytes - 30000 * each) < near,
          p.meta.garbage_bytes)
        local text = p:report { width = 1000, measure = "live" }
        assert.has_text(", not counting about " ..
          format.bytes(p.meta.garbage_bytes) .. " of garbage;", text)
        p = assert(profiler.load(path))
      end
    end
    assert.is_table(t)
  end)

  it("contains all that a collection at the end has left, whatever became " ..
    "of older blocks", function()
    local left
    local function make(n)
      local out = {}
      for i = 1, n do out[i] = {} end
      return out
    end
    local p = helper.record(function()
      collectgarbage "stop"
      for _ = 1, 4 do
        left = make(3000)
        collectgarbage()
      end
    end, { memory = "live" })
    collectgarbage "restart"
    assert.equal(3000, #left)
    local wanted = 3000 * sizes.table + sizes.array(4096)
    local near = 6 * (wanted * p.meta.live_interval) ^ 0.5
    local got = helper.find(p, make).live_bytes
    assert.is_true(math.abs(got - wanted) < near, got)
  end)

  it("contains what was allocated before any collection", function()
    local p = helper.record(function()
      collectgarbage "stop"
      keep(2000) passing(2000)
    end, { memory = "live" })
    collectgarbage "restart"
    assert.is_nil(p.meta.garbage_bytes)
    assert.is_true(helper.find(p, passing).live_bytes > 0)
  end)

  it("is at most the heap, where it is estimated", function()
    for i = 1, 5 do
      local p = helper.record(function() passing(20000) keep(2000) end,
        { memory = "live", memory_interval = 1 << (11 + i) })
      local most = 0
      for _, point in ipairs(p.heap) do most = math.max(most, point.bytes) end
      local root = p.functions[p.nodes[1].func]
      assert.is_true(root.total_live_bytes <= p.heap[#p.heap].bytes)
      assert.is_true(p.meta.peak_bytes <= most)
      assert.equal(p.meta.peak_bytes, root.total_peak_bytes)
    end
  end)

  it("is at most the peak, also when samples have just become fewer",
    function()
      for n = 1000, 1060 do
        drop(2000)
        collectgarbage()
        collectgarbage "stop"
        local p = helper.record(function() keep(n) end, { memory = "live" })
        collectgarbage "restart"
        local live = p.functions[p.nodes[1].func].total_live_bytes
        assert.is_true(live <= p.meta.peak_bytes,
          ("%d of %d"):format(live, p.meta.peak_bytes))
      end
    end)

  it("grows where something leaks", function()
    local cache, seen = {}, {}
    local function parse(i) return { i, { i } } end
    local function leak(i) seen[#seen + 1] = { i } end
    local function handle(i)
      cache[i % 10] = parse(i)
      leak(i)
    end
    profiler.start { memory = "live", memory_interval = 1 }
    for i = 1, 1000 do handle(i) end
    collectgarbage()
    local before = profiler.snapshot()
    for i = 1, 1000 do handle(i) end
    collectgarbage()
    local after = profiler.snapshot()
    profiler.stop()
    local growth = {}
    for _, f in ipairs { parse, leak, handle } do
      growth[f] = helper.find(after, f).live_bytes -
        helper.find(before, f).live_bytes
    end
    assert.is_true(growth[leak] >= 1000 * (sizes.table + sizes.array(1)),
      growth[leak])
    assert.is_true(math.abs(growth[parse]) < 1000)
    assert.equal(0, growth[handle])
    assert.equal(10, #cache + 1)
  end)

  it("needs to be asked for", function()
    local p = helper.record(function() keep(10) end, { memory = true })
    assert.is_nil(p.meta.live_interval)
    assert.is_nil(helper.find(p, keep).live_bytes)
    assert.has_error(function() p:report { sort = "live" } end,
      'report: option \'sort\' must not be "live" for a profile without ' ..
      'live blocks; record with start { memory = "live" }')
    assert.has_error(function() profiler.start { memory_interval = 5 } end,
      'start: option \'memory_interval\' needs memory = "live", or ' ..
      'memory and mode = "sample"')
    assert.has_error(function() profiler.start { memory = "all" } end,
      'start: option \'memory\' must be true, false or "live", got "all"')
  end)

  it("is printed when the program ends, with the lines that keep it",
    function(dir)
      local command = require "command"
      local script = dir:file("leak.lua", [[
  local log, cache = {}, {}
  local function remember(id)
    log[#log + 1] = { id = id, words = "word" .. id }
  end
  for id = 1, 100000 do
    cache[id % 10] = { id }
    remember(id)
  end
  collectgarbage()
  ]])
      for _, sampling in ipairs { "--lines", "--sample" } do
        local _, err = command.cprof("run", sampling, "--memory=live", "-o",
          dir:file "out.cprof", script)
        assert.has_text("\nstill in use: ", err)
        assert.matches("\n[%s%a]*alloc%s[^\n]+where\n", err)
      end
      local _, err = command.cprof("run", "--memory=all", "-o",
        dir:file "out.cprof", script)
      local most = err:match "\n[%s%a]*in use%s[^\n]+where\n([^\n]+)"
      assert.is_truthy(most and most:find "leak.lua:3", err)
      assert.has_text("Next: cprof annotate --heat live", err)
      local text = command.cprof("annotate", "--heat", "live",
        dir:file "out.cprof")
      assert.matches("^remember", text)
    end)

  it("is in JSON and CSV, of all modes", function()
    local json = require "dkjson"
    for _, mode in ipairs { "call", "line", "count", "sample" } do
      if mode ~= "count" or require "cprof.core".internals() == "direct" then
        local p = helper.record(function() keep(1000) end,
          { mode = mode, memory = "live", memory_interval = 64 })
        drop(1000)
        collectgarbage()
        local out = {}
        p:export("json", function(s) out[#out + 1] = s end)
        local got = assert(json.decode(table.concat(out)))
        local function field(list, name)
          for i, s in ipairs(list) do if s == name then return i end end
        end
        local id = helper.find(p, keep).id
        for _, name in ipairs { "self_allocs", "total_bytes", "live_bytes",
          "total_live_bytes", "peak_bytes" } do
          assert.equal(p.functions[id][name], got.functions[id][name], name)
        end
        assert.is_true(got.functions[id].live_bytes > 0)
        local of = { "self_allocs", "self_bytes", "live_blocks",
          "live_bytes" }
        for i, node in ipairs(got.nodes) do
          assert.equal(#got.node_fields, #node)
          for _, name in ipairs(of) do
            assert.equal(p.nodes[i][name],
              node[field(got.node_fields, name)], mode .. name)
          end
        end
        for source, list in pairs(got.lines) do
          for _, line in ipairs(list) do
            assert.equal(#got.line_fields, #line)
            for _, name in ipairs { "allocs", "bytes", "live_bytes" } do
              assert.equal(p.lines[source][line[1]][name],
                line[field(got.line_fields, name)], mode .. name)
            end
          end
        end
        out = {}
        p:export("csv", function(s) out[#out + 1] = s end)
        assert.is_truthy(table.concat(out):find(
          "total_bytes,live_bytes,total_live_bytes,live_blocks," ..
          "total_live_blocks,peak_bytes,total_peak_bytes\r\n", 1, true))
      end
    end
  end)

  it("does no harm where memory fails", function()
    nomemory.recorded('memory = "live", memory_interval = 1, ' ..
      'compensate = false', [[
      local out = {}
      for i = 1, 800 do
        out[i % 300] = { i, { i }, function() return i end }
      end]])
    local result, status, _, left = host.memory([[
      local profiler = require "cprof"
      profiler.start { memory = "live", memory_interval = 1 }
      keep = { {}, {}, function() end }
      return "fine"]], "cprof", -1)
    assert.same({ "fine", 0, 0 }, { result, status, left })
  end)
end)
