local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local profiler = require "cprof"
local core = require "cprof.core"
local lists = require "cprof.text.lists"

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

-- what a program in C prints that has some of cprof's functions in it
local function printed(dir, name)
  local path = dir:file "x"
  return command.shell(([[
    export LD_PRELOAD=
    gcc -std=c99 -O1 -ffunction-sections -fdata-sections -Wl,--gc-sections \
      -Isrc -I$SPEC_INCLUDE -o '%s' spec/support/%s.c && '%s']])
    :format(path, name, path))
end

-- a library that sets the processor's clock for a program
local function stepping(dir)
  local shim = dir.path .. "/stepping.so"
  assert(os.execute(("cc -O1 -shared -fPIC -I$SPEC_INCLUDE -o %s " ..
    "spec/support/stepping.c"):format(shim)))
  return shim
end

local function costs_of(p, ns)
  local costs = {}
  for name in pairs(p.meta.costs_ns) do costs[name] = ns end
  return costs
end

-- the overhead that was taken out of nodes, and that of the profiler's own node
local function taken(p)
  local raw, self = 0, 0
  for _, node in ipairs(p.nodes) do
    raw, self = raw + node.self_raw_ns, self + node.self_ns
  end
  return raw, self
end

-- Are these costs together above 0 in most of nine measurements? A busy machine
-- may spoil some.
local function positive(options, ...)
  local above = 0
  for _ = 1, 9 do
    local costs, sum = profiler.calibrate(options), 0
    for _, name in ipairs { ... } do sum = sum + costs[name] end
    above = above + (sum > 0 and 1 or 0)
  end
  return above > 4
end

describe("what recording costs", function()
  it("is measured through the machine, per event", function()
    local costs = profiler.calibrate()
    for _, kind in ipairs { "lua", "c" } do
      assert.is_true(positive({}, kind .. "_caller", kind .. "_callee"), kind)
    end
    assert.equal(0, costs.line)
    assert.is_true(positive({ mode = "line" }, "line"))
    local none, why = profiler.calibrate { mode = "trace" }
    assert.is_nil(none)
    assert.equal("mode trace", why)
    assert.is_false(profiler.running())
  end)

  it("is the profiler's own time, and the whole stays the whole", function()
    for _, options in ipairs { {}, { mode = "line" }, { callsites = true },
      { recursion = "fold" }, { c_functions = false } } do
      local p = helper.record(work, options)
      local raw, self = taken(p)
      assert.equal(raw, self)
      assert.equal(raw, p.meta.wall_ns - p.meta.paused_ns - p.meta.preempted_ns)
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

  it("is less for calls that an error ended", function()
    local function bad() error("bad", 0) end
    local function worse() bad() end
    local function try() for _ = 1, 300 do pcall(worse) end end
    local p = helper.record(try)
    local costs = costs_of(p, 0)
    costs.unreturned, costs.lua_caller, costs.c_caller = -1, 1, 1
    core.costs(costs)
    p = profiler.snapshot()
    local function taken_of(f)
      return f.self_raw_ns - f.self_ns
    end
    -- bad, worse and pcall made calls that did not return; try called pcall,
    -- which returned
    assert.equal(600, taken_of(helper.find(p, bad)))
    assert.equal(600, taken_of(helper.find(p, worse)))
    assert.equal(601, taken_of(helper.named(p, "pcall"))) -- that of record
    assert.equal(300, taken_of(helper.find(p, try)))
  end)

  it("is less for calls that ended with their coroutine", function()
    local function bad(n)
      if n == 0 then error("bad", 0) end
      local x = bad(n - 1)
      return x
    end
    local function waits() coroutine.yield() end
    local function try()
      for _ = 1, 100 do
        coroutine.resume(coroutine.create(bad), 3)
        coroutine.resume(coroutine.create(waits))
      end
      collectgarbage()
    end
    local p = helper.record(try)
    local costs = costs_of(p, 0)
    costs.unreturned = -1
    core.costs(costs)
    p = profiler.snapshot()
    local function taken_of(f)
      local row = helper.find(p, f)
      return row.self_raw_ns - row.self_ns
    end
    -- callers are charged: of three calls of bad, and one of error
    assert.equal(400, taken_of(bad))
    -- the caller of a yield is charged
    assert.equal(100, taken_of(waits))
  end)

  it("is measured for each way of recording", function()
    local names, above = nil, 0
    for i = 0, 31 do
      local costs = assert(profiler.calibrate { callsites = i & 1 > 0,
        distribution = i & 2 > 0, tasks = i & 4 > 0,
        recursion = i & 8 > 0 and "fold" or "full",
        mode = i & 16 > 0 and "line" or "call" })
      local list = lists.keys(costs)
      names = names or list
      assert.same(names, list)
      above = above + (costs.lua_caller + costs.lua_callee > 0 and 1 or 0)
    end
    assert.is_true(above > 16, above)
  end)

  it("is measured though the program is interrupted before that", function(dir)
    local shim = stepping(dir)
    local out, err, status = command.shell(("LD_PRELOAD=%s $SPEC_LUA %s %s")
      :format(shim, dir:file("program.lua", [[
        local profiler = require "cprof"
        local step = assert(package.loadlib(arg[1], "luaopen_stepping"))
        local function costs(n)
          step(n)
          return profiler.calibrate { clock = "cpu" }
        end
        local usual = costs(0)
        for n = 1, 1000, 3 do
          local got = costs(n)
          for _, name in ipairs { "c_caller", "c_callee", "resume" } do
            local far = math.abs(got[name] - usual[name])
            if far > 10000 then print(n, name, got[name]) end
          end
        end
        for _, name in ipairs { "lua_caller", "lua_callee", "c_caller",
          "c_callee", "resume" } do
          print(name, ("%.0f"):format(usual[name]))
        end]]), shim))
    -- each event reads the clock once, and only that takes time
    assert.same({ "lua_caller\t1000\nlua_callee\t1000\n" ..
      "c_caller\t1000\nc_callee\t1000\nresume\t10\n", "", 0 },
      { out, err, status })
  end)

  it("is not that of events that were interrupted",
    function(dir)
      local out, err = printed(dir, "timing_host")
      assert.equal("980 29\n1000 383\n999 -10\n", out, err)
    end)

  it("changes by as much as the time of timed events does", function(dir)
    local out, err = printed(dir, "costs_host")
    assert.equal("50000\n60000\n40000\n20000\n" ..
      "40000 40000 40000\n60000 50000 60000\n200000 160000 200000\n",
      out, err)
  end)

  it("to make the node of a zone or a frame is overhead", function(dir)
    local shim = stepping(dir)
    local out, err = command.shell(("LD_PRELOAD=%s $SPEC_LUA %s"):format(shim,
      dir:file("program.lua", [[
        local profiler = require "cprof"
        local function overhead(f)
          profiler.start { clock = "cpu" }
          for i = 1, 100 do f(i) end
          profiler.stop()
          return profiler.snapshot().nodes[2].self_raw_ns
        end
        local function named(name)
          profiler.enter(name)
          profiler.leave(name)
        end
        local function other(f) f() end
        local function frames(last)
          return overhead(function(i)
            profiler.running()
            profiler.frame()
            if i == 100 then other(last) end
          end)
        end
        print(overhead(function(i) named("zone" .. i) end) -
          overhead(function() named "zone" end))
        print(frames(profiler.frame) - frames(profiler.running))]])))
    -- each event reads the clock once, and so does each new zone or frame
    assert.equal("99000\n1000\n", out, err)
  end)

  it("is told of switches by those that are alike", function(dir)
    local out, err = printed(dir, "switches_host")
    assert.equal("1 1 1 1\n", out, err)
  end)

  it("is measured again at the end", function()
    local names = profiler.calibrate()
    for _, ns in ipairs { 1e6, 0 } do
      local later = os.clock() + 0.15
      while os.clock() < later do end  -- it is not looked at all the time
      local costs = {}
      profiler.start()
      for name in pairs(names) do costs[name] = ns end
      core.costs(costs)
      profiler.stop()
      local got = profiler.snapshot().meta.costs_ns.coroutine
      assert.is_true(got ~= ns and math.abs(got) < 1e5, got)
    end
  end)

  it("is that of the program's own events, where these cost more", function()
    -- the text's main function was not seen, and it has more functions than
    -- are remembered: they are identified anew each time
    local all = load("return {" .. ("function() end,"):rep(1500) .. "}",
      "=unseen")()
    local usual = profiler.calibrate().lua_callee
    local p = helper.record(function()
      for _ = 1, 8 do
        for i = 1, #all do all[i]() end
      end
    end)
    local costs = p.meta.costs_ns
    -- new functions cost ten times as much, but `usual` may be measured while
    -- the machine is several times slower
    assert.is_true(costs.lua_callee > (helper.slow and 1.2 or 1.5) * usual)
    assert.is_true(costs.lua_callee > 1.5 * costs.lua_caller)
  end)

  it("counts lines, their places, and what runs on them",
    function()
      local function lines(more, body)
        return load(("local n = ... local x = 0\n" .. "x = 1\n" ..
          ("x = 2\n"):rep(more) .. "for i = 1, n do\n" ..
          body .. "\nend"), "=code")
      end
      local function cost(name, f, n)
        local p = helper.record(function() f(n) end, { mode = "line" })
        local costs = costs_of(p, 0)
        costs[name] = 0.1
        core.costs(costs)
        p = profiler.snapshot()
        return helper.find(p, f).self_raw_ns - helper.find(p, f).self_ns
      end
      local long = ("x = i * 3 + i "):rep(20)
      assert.equal(400, cost("line", lines(0, long), 2000))
      -- 40 instructions in a turn, the two of the loop, and a few
      local instructions = cost("instruction", lines(0, long), 2000)
      assert.is_true(math.abs(instructions - 2000 * 4.1) < 200)
      -- two equal lines, once near the function's beginning and once 50
      -- instructions further on: finding the line takes as many steps more
      local near = cost("step", lines(0, "x = i"), 2000)
      local far = cost("step", lines(50, "x = i"), 2000)
      assert.is_true(math.abs(far - near - 2 * 2000 * 5) < 200)
    end)

  it("for a coroutine is charged to its maker, resumer and function",
    function()
      local function body() end
      local function maker() return coroutine.wrap(body) end
      local function resumer(f) f() return 1 end
      local p = helper.record(function()
        for _ = 1, 100 do resumer(maker()) end
      end)
      local function cost(name)
        local costs, out = costs_of(p, 0), {}
        costs[name] = 0.1
        core.costs(costs)
        for _, f in ipairs(profiler.snapshot().functions) do
          local less = f.self_raw_ns - f.self_ns
          if less > 0 then
            out[#out + 1] = ("%s %d"):format(f.name, less)
          end
        end
        return table.concat(out, ", ")
      end
      assert.equal("maker 10", cost "made")
      assert.equal("coroutine.wrap function 10", cost "begin")
      assert.equal("body 10", cost "coroutine")
      assert.equal("resumer 10", cost "resumer")
    end)

  it("for a switch is charged to the caller, then to resume or yield",
    function()
      local function body() while true do coroutine.yield() end end
      local p = helper.record(function()
        local co = coroutine.create(body)
        for _ = 1, 1000 do coroutine.resume(co) end
      end)
      local raw = helper.find(p, body).self_raw_ns
      local yield = helper.named(p, "coroutine.yield")
      local costs = costs_of(p, 0)
      costs.yielder = (raw + yield.self_raw_ns / 2) / yield.calls
      core.costs(costs)
      local q = profiler.snapshot()
      assert.is_true(q.meta.clamped_ns <= 1, q.meta.clamped_ns)
      assert.equal(0, helper.find(q, body).self_ns)
      local left = helper.named(q, "coroutine.yield").self_ns
      assert.is_true(math.abs(left - yield.self_raw_ns / 2) < 9, left)
    end)

  it("of making and switching coroutines is not that of other calls, too",
    function()
      local function body() coroutine.yield() end
      local function all()
        local list = {}
        for i = 1, 1000 do list[i] = coroutine.create(body) end
        for _ = 1, 2 do
          for i = 1, #list do coroutine.resume(list[i]) end
        end
      end
      local costs = helper.record(all, { tasks = true }).meta.costs_ns
      assert.is_true(costs.lua_caller < 10 * costs.lua_callee,
        costs.lua_caller .. " " .. costs.lua_callee)
    end)

  it("is never that of more instructions than a line has", function()
    local f = load("local x = 0\nx = x + 1\nfor i = 1, 2000 do x = i end\n" ..
      "return x", "=few")
    local p = helper.record(f, { mode = "line" })
    local costs = costs_of(p, 0)
    costs.instruction = 1
    core.costs(costs)
    p = profiler.snapshot()
    helper.check(p)
    local f_ns = helper.find(p, f)
    assert.is_true(f_ns.self_raw_ns - f_ns.self_ns <= 2001 * 6)
  end)

  it("takes no more than there is, and what is left over is said", function()
    local p = helper.record(work)
    local before = taken(p)
    core.costs(costs_of(p, 1e6))
    local q = helper.check(profiler.snapshot())
    assert.equal(before, (taken(q)))
    assert.is_true(q.meta.clamped_ns > 0)
    assert.equal(0, helper.find(q, leaf).self_ns)
    assert.matches("note: the overhead estimate exceeds the measured time " ..
      "by %S+, so ", q:report())
  end)

  it("stays in the times on request, or where it is not known", function()
    local p = helper.record(work, { compensate = false })
    assert.equal("compensate = false", p.meta.uncompensated)
    assert.is_nil(p.meta.costs_ns)
    for _, f in ipairs(p.functions) do
      assert.equal(f.self_raw_ns, f.self_ns)
    end
    -- a busy machine may have notes on its clocks
    assert.no_matches("note: [^\n]*overhead", p:report { width = 1000 })
  end)

  it("is the same in a file", function(dir)
    for _, mode in ipairs { "call", "line" } do
      local path = dir:file(mode)
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
  end)
end)

describe("what recording costs, for cprof run", function()
  -- Records an empty program; the file in which the costs are kept. nil: this
  -- system does not tell builds apart, so none are.
  local function run(dir, option)
    local _, err, status = command.cprof_with("export SPEC_TMPDIR=" ..
      dir.path .. ";", "", "run", option or "--ascii", "--quiet",
      dir:file("x.lua", ""))
    assert.equal(0, status, err)
    return command.shell(("ls %s/cprof-*/costs.*"):format(dir.path))
      :match "^[^\n]+"
  end

  it("is kept from one program to the next", function(dir)
    local path = run(dir)
    -- a busy machine may measure it anew
    for i = 1, path and 100 or 0 do
      local before = command.read(path)
      assert.equal(path, run(dir))
      if command.read(path) == before then break end
      assert.is_true(i < 100)
    end
  end)

  it("is measured anew where what was kept is another build's, or wrong",
    function(dir)
      local path = run(dir)
      if not path then return end
      local kept = command.read(path)
      local builds = kept:match "^[^\n]+\n"
      for _, text in ipairs { "", "\n", builds, kept:sub(1, -2), kept .. "x",
        "x" .. kept:sub(2), builds .. ("\0"):rep(#kept - #builds),
        builds .. ("\xff"):rep(#kept - #builds),
        builds .. ("\x3f"):rep(#kept - #builds) } do
        command.write(path, text)
        run(dir)
        local now = command.read(path)
        assert.is_true(now ~= text)
        assert.equal(#kept, #now)
        assert.equal(builds, now:sub(1, #builds))
      end
    end)

  it("leaves no file behind where it cannot be kept", function(dir)
    local path = run(dir)
    if not path then return end
    os.remove(path)
    assert(os.execute("mkdir -p " .. path .. "/there"))
    run(dir)
    assert.equal(path .. ":\nthere\n",
      (command.shell(("ls -d %s* | sed s/$/:/; ls %s"):format(path, path))))
  end)

  it("is kept for each way of recording", function(dir)
    if not run(dir) then return end
    for _, option in ipairs { "--lines", "--callsites", "--sample" } do
      run(dir, option)
    end
    local _, count = command.shell(("ls %s/cprof-*/costs.*"):format(dir.path))
      :gsub("\n", "")
    assert.equal(3, count)  -- samples have no cost of events
  end)

  it("is not kept by a program that records itself", function(dir)
    local out, err = command.shell(("TMPDIR=%s $SPEC_LUA -e '%s'; ls %s")
      :format(dir.path, [[local c = require "cprof" c.start() c.stop()
        print(c.report() ~= nil)]], dir.path))
    assert.equal("true\n", out, err)
  end)
end)
