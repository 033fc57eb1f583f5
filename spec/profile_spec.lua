local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"
local interpreter = require "interpreter"
local releases = require "releases"

local function leaf() end
local function mid(n) for _ = 1, n do leaf() end end

describe("the sums of a profile", function()
  it("are refused without groups", function()
    local p = helper.record(function() end)
    for _, wrong in ipairs { {}, { "title" }, { {} } } do
      local why = helper.failure(p.sums, p, wrong[1])
      assert.equal("sums: the group must be a function, got a " ..
        type(wrong[1]), why)
    end
  end)
end)

describe("a snapshot", function()
  after_each(function() profiler.stop() end)

  it("can be taken while recording, and does not change", function()
    local early, late
    local function work()
      mid(3)
      early = profiler.snapshot()
      mid(4)
      late = profiler.snapshot()
    end
    profiler.start()
    work()
    assert.is_true(profiler.running())
    profiler.stop()
    helper.check(early)
    helper.check(late)
    assert.equal(3, helper.find(early, leaf).calls)
    assert.equal(7, helper.find(late, leaf).calls)
    assert.equal(7, helper.find(profiler.snapshot(), leaf).calls)
    assert.is_true(late.meta.wall_ns > early.meta.wall_ns)
  end)

  it("does not show up in what it shows", function()
    local function work() profiler.snapshot() profiler.report() leaf() end
    profiler.start()
    work()
    profiler.stop()
    local p = profiler.snapshot()
    assert.equal("leaf 1", helper.tree(p, work))
    for _, f in ipairs(p.functions) do
      assert.has_no_text("lua/cprof/", f.source, f.title)
    end
  end)

  it("tells what was recorded, in integers", function()
    local before = os.time()
    local p = helper.record(function() mid(5) end)
    local after = os.time()
    local meta = p.meta
    assert.equal("call", meta.mode)
    assert.equal(_VERSION, meta.lua_version)
    assert.equal(interpreter.release, meta.lua_release)
    assert.equal(0, meta.unmatched)
    assert.equal(0, meta.truncated)
    assert.equal(0, meta.paused_ns)
    -- a clock that is read faster may lag behind
    assert.is_true(meta.started_at >= before - 1 and
      meta.started_at <= after + 1)
    for _, key in ipairs { "wall_ns", "paused_ns", "started_at", "events",
      "unmatched", "truncated" } do
      assert.equal("integer", math.type(meta[key]), key)
    end
    assert.is_true(meta.events >= 2 * 7)
  end)

  it("counts events", function()
    local function events(n)
      return helper.record(function() mid(n) end).meta.events
    end
    assert.equal(2 * 100, events(110) - events(10))
  end)

  it("has functions with all that is known of them", function()
    local p = helper.record(function() mid(5) end)
    local f = helper.find(p, leaf)
    for key, value in pairs {
      name = "leaf", source = "@spec/profile_spec.lua", kind = "Lua",
      line = debug.getinfo(leaf, "S").linedefined,
      last_line = debug.getinfo(leaf, "S").lastlinedefined,
      calls = 5, max_depth = 1 } do
      assert.equal(value, f[key], key)
    end
    assert.equal(f, p.functions[f.id])
    local root = p.functions[1]
    assert.equal("root", root.kind)
    assert.equal(p.nodes[1].total_ns, root.total_ns)
    local c = helper.named(helper.record(function() ("x"):rep(1) end),
      "string.rep")
    assert.equal("C", c.kind)
    assert.equal("=[C]", c.source)
  end)

  it("has nodes that are made when asked for", function()
    local p = helper.record(function() mid(5) end)
    local count = 0
    for i, node in ipairs(p.nodes) do
      count = count + 1
      assert.equal(i, node.id)
      assert.is_true(i == 1 and node.parent == 0 or
        node.parent >= 1 and node.parent < i)
      assert.is_truthy(p.functions[node.func])
      assert.equal(0, node.call_line)
    end
    assert.equal(#p.nodes, count)
    assert.is_nil(p.nodes[0])
    assert.is_nil(p.nodes[count + 1])
    assert.is_nil(p.nodes.x)
    assert.is_nil(p.nodes[1.5])
    assert.equal("userdata", type(p.nodes))
  end)

  it("counts recursion once in totals", function()
    local function down(n)
      if n > 0 then down(n - 1) else mid(1000) end
    end
    local p = helper.record(function() down(50) end)
    local f = helper.find(p, down)
    assert.equal(51, f.max_depth)
    assert.equal(f.total_ns, f.self_ns + helper.find(p, mid).total_ns)
  end)

  it("needs something to be recorded first", function()
    local output = helper.run [[
      local profiler = require "cprof"
      print(pcall(profiler.snapshot))
      print(pcall(profiler.report))
      print(profiler.reset())]]
    assert.matches("false\t.-snapshot: nothing was recorded; call start " ..
      "first\nfalse\t.-report: nothing was recorded; call start first\n" ..
      "false\n$", output)
  end)
end)

describe("sums over groups", function()
  -- a program with every kind of recursion
  local a, b, c
  function a(n) leaf() if n > 0 then b(n - 1) a(n - 2) end end
  function b(n) if n > 0 then c(n - 1) end mid(2) end
  function c(n) if n > 0 then a(n - 1) c(n - 3) end end
  local p = helper.record(function() a(9) leaf() b(4) end)

  local function check(rows, edges)
    local incoming, outgoing, self_ns, calls = {}, {}, {}, {}
    for _, e in ipairs(edges) do
      assert.is_true(e.total_in_ns >= 0 and e.total_out_ns >= 0)
      incoming[e.callee] = (incoming[e.callee] or 0) + e.total_in_ns
      outgoing[e.caller] = (outgoing[e.caller] or 0) + e.total_out_ns
      self_ns[e.callee] = (self_ns[e.callee] or 0) + e.self_ns
      calls[e.callee] = (calls[e.callee] or 0) + e.calls
    end
    for _, row in ipairs(rows) do
      assert.equal(row.total_ns, row.self_ns + (outgoing[row] or 0))
      if row.func.kind ~= "root" then
        assert.equal(row.total_ns, incoming[row])
        assert.equal(row.self_ns, self_ns[row])
        assert.equal(row.calls, calls[row])
      end
    end
  end

  it("agree with callers above and callees below", function()
    helper.check(p)
    check(p:sums(function(f) return f.title end))
  end)

  it("agree for any grouping", function()
    check(p:sums(function(f) return f.source end))
    check(p:sums(function(f) return f.kind end))
    check(p:sums(function(f) return f.id % 2 == 0 and "even" or "odd" end))
    local rows = p:sums(function() return "all" end)
    assert.equal(1, #rows)
    assert.equal(p.program_ns, rows[1].self_ns)
    assert.equal(p.program_ns, rows[1].total_ns)
    assert.equal(p.meta.wall_ns - p.meta.paused_ns - p.meta.preempted_ns -
      p.meta.overhead_ns, p.program_ns)
  end)

  it("are those of the functions where each is a group", function()
    local rows = p:sums(function(f) return tostring(f.id) end)
    for _, row in ipairs(rows) do
      for _, key in ipairs { "calls", "self_ns", "total_ns", "max_depth" } do
        assert.equal(key == "total_ns" and row.func.kind == "root" and
          p.program_ns or row.func[key], row[key])
      end
    end
  end)
end)

describe("a million nodes", function()
  local n = helper.many(1000000)

  local it = releases.it(_ENV, releases.without_levels(n // 10))

  it("take at most 64 bytes each, and 100 MB in all", function()
    local host = require "spec_host"
    local result = host.memory(([[
      local profiler = require "cprof"
      local function deep(n)
        if n > 0 then return 1 + deep(n - 1) end
        return 0
      end
      local fs = {}
      for i = 1, 10 do
        fs[i] = load("local deep = ... return function(n) deep(n) end")(deep)
      end
      profiler.start { max_nodes = 2000000, recursion = "full" }
      local function chain(n, i)
        local f = load("local deep, n = ... deep(n)", "=c" .. i)
        f(deep, n)
      end
      for i = 1, 10 do chain(%d, i) end
      profiler.stop()
      return #profiler.snapshot().nodes .. " " .. used()]]):format(n // 10),
      "cprof", -1)
    local nodes, bytes = result:match "^(%d+) (%d+)$"
    assert.is_truthy(nodes, result)
    nodes, bytes = tonumber(nodes), tonumber(bytes)
    assert.is_true(nodes >= n)
    if not helper.slow then assert.is_true(bytes <= 100000000, bytes) end
  end)
end)
