local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local profiler = require "cprof"
local core = require "cprof.core"

local function leaf() end
local function other() return leaf() end

local function work()
  for _ = 1, 2000 do
    leaf()
    other()
    math.abs(1)
  end
  local co = coroutine.wrap(function()
    for _ = 1, 100 do coroutine.yield() end
  end)
  for _ = 1, 100 do co() end
end

local function costs_of(p, ns)
  local costs = {}
  for name in pairs(p.meta.costs_ns) do costs[name] = ns end
  return costs
end

-- what the profiler took out of nodes, and what it has
local function taken(p)
  local raw, self = 0, 0
  for _, node in ipairs(p.nodes) do
    raw, self = raw + node.self_raw_ns, self + node.self_ns
  end
  return raw, self
end

describe("what recording costs", function()
  it("is measured through the machine, per event", function()
    local costs = profiler.calibrate()
    for _, name in ipairs { "lua_callee", "c_callee" } do
      assert.is_true(costs[name] > 0, name)
    end
    assert.equal(0, costs.line)
    assert.is_true(profiler.calibrate { mode = "line" }.line > 0)
    local none, why = profiler.calibrate { mode = "trace" }
    assert.is_nil(none)
    assert.equal("mode trace", why)
    assert.is_false(profiler.running())
  end)

  it("is the profiler's own time, and the whole stays the whole", function()
    for _, options in ipairs { {}, { mode = "line" }, { callsites = true },
      { recursion = "fold" }, { c_functions = false } } do
      local p = helper.record(work, options)
      helper.check(p)
      local raw, self = taken(p)
      assert.equal(raw, self)
      assert.equal(raw, p.meta.wall_ns - p.meta.paused_ns)
      assert.is_nil(p.meta.uncompensated)
      assert.is_true(p.meta.overhead_ns > 0)
    end
  end)

  it("is the number of events times their costs", function()
    local p = helper.record(work)
    local costs = costs_of(p, 0)
    costs.c_callee, costs.c_mixed = 1, 1
    core.costs(costs)
    local q = profiler.snapshot()
    local f = helper.named(q, "math.abs")
    assert.equal(2000, f.self_raw_ns - f.self_ns)
    local l = helper.find(q, leaf)
    assert.equal(l.self_raw_ns, l.self_ns)
    costs.lua_caller, costs.c_caller = 1, 1
    core.costs(costs)
    -- 2000 calls of leaf, of other (one return for its tail call) and of
    -- abs, one of wrap and 100 of what it gave
    f = helper.find(profiler.snapshot(), work)
    assert.equal(6101, f.self_raw_ns - f.self_ns)
  end)

  it("takes no more than there is, and what is left over is said", function()
    local p = helper.record(work)
    local before = taken(p)
    core.costs(costs_of(p, 1e6))
    local q = profiler.snapshot()
    helper.check(q)
    assert.equal(before, (taken(q)))
    assert.is_true(q.meta.clamped_ns > 0)
    assert.equal(0, helper.find(q, leaf).self_ns)
    assert.is_truthy(q:report():find "note: %S+ of what recording costs")
  end)

  it("stays in the times on request, or where it is not known", function()
    local p = helper.record(work, { compensate = false })
    helper.check(p)
    assert.equal("compensate = false", p.meta.uncompensated)
    assert.is_nil(p.meta.costs_ns)
    for _, f in ipairs(p.functions) do
      assert.equal(f.self_raw_ns, f.self_ns)
    end
    assert.is_nil(p:report():find("note:", 1, true))
  end)

  it("is the same in a file", function()
    local path = os.tmpname()
    for _, mode in ipairs { "call", "line" } do
      os.remove(path)
      local p = helper.record(work, { mode = mode, file = path })
      local recorded = assert(profiler.load(path))
      assert(p:save(path))
      local saved = assert(profiler.load(path))
      for _, q in ipairs { recorded, saved } do
        helper.check(q)
        assert.same(p.meta.costs_ns, q.meta.costs_ns)
        assert.equal(p.meta.overhead_ns, q.meta.overhead_ns)
        assert.equal(p.meta.clamped_ns, q.meta.clamped_ns)
        for id, node in ipairs(p.nodes) do
          assert.same(node, q.nodes[id])
        end
        for source, list in pairs(p.lines) do
          assert.same(list, q.lines[source])
        end
      end
    end
    os.remove(path)
  end)
end)
