local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local profiler = require "cprof"
local helper = require "helper"
local host = require "spec_host"

local function leaf() end

local hook_function = debug.sethook

describe("other hooks", function()
  after_each(function()
    profiler.stop()
    debug.sethook()
  end)

  it("set before the start are called for their events", function()
    local seen = {}
    local function hook(event) seen[event] = (seen[event] or 0) + 1 end
    local function work() leaf() return leaf() end
    debug.sethook(hook, "cr")
    work()
    debug.sethook()
    local bare = seen
    seen = {}
    debug.sethook(hook, "cr")
    profiler.start()
    seen = {}
    work()
    profiler.stop()
    debug.sethook()
    -- without cprof, the last call was that of sethook; with it, those of stop
    assert.equal(bare["tail call"], seen["tail call"])
    assert.is_true(seen.call >= bare.call and seen.call <= bare.call + 2)
    local p = helper.check(profiler.snapshot())
    assert.equal(2, helper.find(p, leaf).calls)
    assert.equal("leaf 1", helper.tree(p, work))
  end)

  it("are called for lines and counts, too", function()
    local lines, counts = 0, 0
    debug.sethook(function(event, line)
      if event == "line" then lines = lines + 1 assert(line > 0)
      elseif event == "count" then counts = counts + 1
      else error "not asked for" end
    end, "l", 100)
    profiler.start()
    lines, counts = 0, 0
    for _ = 1, 1000 do
      leaf()
    end
    profiler.stop()
    -- each turn has three lines: the loop, its body, and the end of leaf
    assert.is_true(lines >= 3000 and lines < 3050, lines)
    assert.is_true(counts > 10)
    helper.check(profiler.snapshot())
  end)

  it("see the events of sethook and gethook that the library has", function()
    local function events()
      local seen = {}
      local function hook(event)
        local f = debug.getinfo(2, "S")
        seen[#seen + 1] = event .. " " .. f.what
      end
      debug.sethook(hook, "crl")
      debug.gethook()
      debug.gethook(coroutine.running())
      debug.sethook()
      return seen
    end
    local bare = events()
    profiler.start()
    local seen = events()
    profiler.stop()
    assert.same(bare, seen)
  end)

  it("are back after the stop", function()
    local function hook() end
    debug.sethook(hook, "crl", 7)
    profiler.start()
    leaf()
    profiler.stop()
    local f, mask, count = debug.gethook()
    assert.equal(hook, f)
    assert.equal("crl", mask)
    assert.equal(7, count)
  end)

  it("are back after a pause, and called again after it", function()
    local calls = 0
    local function hook() calls = calls + 1 end
    debug.sethook(hook, "c")
    profiler.start()
    profiler.pause()
    assert.equal(hook, (debug.gethook()))
    profiler.resume()
    calls = 0
    leaf()
    assert.is_true(calls > 0)
    profiler.stop()
    assert.equal(hook, (debug.gethook()))
  end)

  it("may raise errors", function()
    debug.sethook(function() error("from the hook", 0) end, "", 1000)
    profiler.start()
    local ok, message = pcall(function() while true do leaf() end end)
    profiler.stop()
    debug.sethook()
    assert.is_false(ok)
    assert.equal("from the hook", message)
    helper.check(profiler.snapshot())
  end)

  it("are those of each coroutine", function()
    local mine, its = 0, 0
    local co = coroutine.create(function()
      while true do leaf() coroutine.yield() end
    end)
    debug.sethook(co, function() its = its + 1 end, "c")
    debug.sethook(function() mine = mine + 1 end, "c")
    profiler.start()
    coroutine.resume(co)
    local before = mine
    assert.is_true(its > 0 and mine > 0)
    its = 0
    coroutine.resume(co)
    assert.is_true(its >= 2, its)
    assert.is_true(mine > before)
    profiler.stop()
    debug.sethook()
    assert.equal("function", type((debug.gethook(co))))
    assert.is_nil(debug.gethook())
    helper.check(profiler.snapshot())
  end)

  it("are inherited by coroutines as without cprof", function()
    local calls = 0
    debug.sethook(function() calls = calls + 1 end, "c")
    local function body() leaf() leaf() end
    profiler.start()
    local co = coroutine.create(body)
    -- debug.sethook's own table knows the hooks of threads by name only
    coroutine.resume(co)
    profiler.stop()
    debug.sethook()
    helper.check(profiler.snapshot())
    assert.equal(1, helper.find(profiler.snapshot(), body).calls)
  end)

  it("that the program sets while recording come after ours", function()
    local calls = 0
    local function hook() calls = calls + 1 end
    local function work()
      leaf()
      assert.is_nil(debug.gethook())
      debug.sethook(hook, "c", 5)
      for _ = 1, 10 do leaf() end
      local f, mask, count = debug.gethook()
      assert.equal(hook, f)
      assert.equal("c", mask)
      assert.equal(5, count)
      debug.sethook()
      assert.is_nil(debug.gethook())
      leaf()
    end
    local p = helper.record(work)
    assert.is_true(calls >= 10)
    helper.check(p)
    assert.is_false(p.meta.hook_lost)
    assert.equal(12, helper.find(p, leaf).calls)
    assert.equal(2, helper.named(p, "debug.sethook").calls)
    assert.equal(hook_function, debug.sethook)
  end)

  it("for counts are called as often where lines of some sources are counted",
    function()
      -- Each instruction of the loop is on a line of its own, as Lua repeats
      -- the line event after a count event in the middle of a line.
      local other = assert(load(
        "return function() for i = 1, 1000 do\nlocal x = i\nend end",
        "@other.lua"))()
      local n = helper.many(2000)
      -- a C function as the hook: Lua would count a Lua function's instructions
      local calls = ("x"):rep(n * 2000 + 100000)
      for _, mask in ipairs { "", "l" } do
        local counts
        local function work()
          local called = calls:gmatch "()x"
          debug.sethook(called, mask, 50000)
          for _ = 1, n do other() end
          debug.sethook()
          counts = called() - 1
        end
        work()
        local bare = counts
        local p = helper.record(work,
          { mode = "line", lines = { "hooks_spec.lua" } })
        assert.is_true(bare > 10 and math.abs(counts - bare) <= 2,
          counts .. " instead of " .. bare)
        assert.equal(n, helper.find(p, other).calls)
        helper.check(p)
      end
    end)

  -- A hook that stops a request after many instructions is set for each request
  -- anew. Lua's count goes on where the hook is only asked for.
  it("for counts are called as often where the program asks for them, sets " ..
    "them again, pauses, has a report, or watches for slow calls", function()
    if core.internals() ~= "direct" then return end
    local dir <close> = command.folder()
    helper.record(leaf)  -- so that there is a snapshot, whatever comes first
    local calls = ("x"):rep(1000)
    local function called(work, options)
      local counts = calls:gmatch "()x"  -- in C: Lua counts none of its code
      local co = coroutine.create(function()
        for _ = 1, 1000 do coroutine.yield() end
      end)
      debug.sethook(co, counts, "", 100)
      if options then profiler.start(options) end
      debug.sethook(counts, "", 100)
      work(counts, co)
      debug.sethook()
      if options then profiler.stop() end
      debug.sethook(co)
      return counts() - 1
    end
    local function ask(_, co)
      for _ = 1, 500 do
        debug.gethook()
        debug.gethook(co)
        coroutine.resume(co)
      end
    end
    local function set(counts)
      for _ = 1, 50 do
        debug.sethook(counts, "", 100)
        for _ = 1, 20 do leaf() end
      end
    end
    local function between(act)
      return function(_, co)
        for _ = 1, 300 do
          coroutine.resume(co)
          act()
        end
      end
    end
    local pause = between(function()
      profiler.pause()
      profiler.resume()
    end)
    local snapshot = between(profiler.snapshot)
    for _, mode in ipairs { "call", "line", "count", "sample", "slow" } do
      for name, work in pairs { ask = ask, set = set, pause = pause,
        snapshot = snapshot } do
        local label = mode .. " " .. name
        local bare, recorded = called(work), called(work, mode ~= "slow" and
          { mode = mode } or { keep_last = 10, on_slow = { missing = 1e-6 },
            file = dir:file "%n.cprof" })
        assert.is_true(bare > 10 or work == set, label)
        assert.is_true(math.abs(recorded - bare) <= 2, label .. ": " ..
          recorded .. " instead of " .. bare)
      end
    end
  end)

  it("of coroutines stay when these have ended", function()
    local counts = 0
    local function hook() counts = counts + 1 end
    local function work()
      local x = 0
      for i = 1, 10000 do x = x + i end
      return x
    end
    local function other() end
    local co = coroutine.create(work)
    debug.sethook(co, hook, "", 1000)
    debug.sethook(other, "", 1000000)
    profiler.start()
    for _ = 1, 3 do
      counts = 0
      coroutine.resume(co)
      assert.is_true(counts >= 10, counts)
      assert.equal(hook, (debug.gethook(co)))
      host.begin(co, work)
    end
    profiler.stop()
    assert.equal(hook, (debug.gethook(co)))
    counts = 0
    coroutine.resume(co)
    assert.is_true(counts >= 10, counts)
    helper.check(profiler.snapshot())
    assert.equal(3, helper.find(profiler.snapshot(), work).calls)
  end)

  it("that a coroutine has none of are not those of its resumer", function()
    local co = coroutine.create(leaf)
    profiler.start()
    debug.sethook(function() end, "", 1000000)
    debug.sethook(co)
    coroutine.resume(co)
    local during = select("#", debug.gethook(co))
    profiler.stop()
    -- if a hook is set, its mask is known, too
    assert.equal(1, during)
    assert.equal(1, select("#", debug.gethook(co)))
  end)

  it("of the dead are not those of coroutines at their addresses", function()
    local function waits() leaf() coroutine.yield() end
    local function hooks(co) return select("#", debug.gethook(co)) end
    profiler.start()
    for _ = 1, 50 do
      local co = coroutine.create(waits)
      coroutine.resume(co)
      debug.sethook(co, leaf, "c")
      assert.equal(3, hooks(co))
    end
    collectgarbage()
    collectgarbage()
    for i = 1, 50 do
      local co = coroutine.create(waits)
      if i % 2 == 0 then coroutine.resume(co) end
      assert.equal(1, hooks(co))
    end
    profiler.stop()
  end)

  it("that the program leaves behind stay when recording stops", function()
    local calls = 0
    local function hook() calls = calls + 1 end
    profiler.start()
    debug.sethook(hook, "r")
    leaf()
    profiler.stop()
    calls = 0
    leaf()
    assert.equal(hook, (debug.gethook()))
    debug.sethook()
    assert.is_true(calls > 0)
  end)

  it("are set with the same errors", function()
    local function messages()
      local out = {}
      for _, arguments in ipairs { { 1 }, { leaf }, { leaf, {} },
        { leaf, "c", "x" }, { coroutine.create(leaf), 1, "c" } } do
        out[#out + 1] = select(2, pcall(debug.sethook,
          table.unpack(arguments)))
      end
      return table.concat(out, "\n")
    end
    local expected = messages()
    profiler.start()
    local got = messages()
    profiler.stop()
    assert.equal(expected, got)
  end)

  it("of other coroutines are set as without cprof", function()
    local calls = 0
    local function work()
      local co = coroutine.create(function()
        leaf()
        coroutine.yield()
        leaf()
      end)
      coroutine.resume(co)
      debug.sethook(co, function() calls = calls + 1 end, "c")
      coroutine.resume(co)
    end
    local p = helper.record(work)
    assert.is_true(calls >= 1)
    assert.equal(2, helper.find(p, leaf).calls)
    helper.check(p)
  end)

  it("of a host that replace ours are noticed, and ours comes back",
    function()
      local S = host.state()
      local result = S:run [[
        local profiler, zones = require "cprof", require "spec_zones"
        local helper, host = require "helper", require "spec_host"
        zones.clock(true)
        local function leaf() end
        profiler.start()
        leaf()
        host.sethook()
        for _ = 1, 100 do leaf() end
        zones.pass(5000)
        profiler.frame()
        leaf()
        profiler.stop()
        local p = helper.check(profiler.snapshot())
        return table.concat({ tostring(p.meta.hook_lost),
          helper.find(p, leaf).calls,
          helper.named(p, "(not recorded)").self_ns, p.program_ns,
          p:report():match "\nnote: another debug hook replaced cprof's" or
            "no note" }, " ")]]
      S:close()
      assert.equal("true 2 5000 5000 \nnote: another debug hook replaced " ..
        "cprof's", result)
    end)

  -- as a sandbox does that was loaded before recording began
  it("set by a debug.sethook of before the start are noticed when gone",
    function()
      for _, options in ipairs { "", "mode = 'line'", "recursion = 'fold'",
        "mode = 'trace', trace = '/dev/null'" } do
        for _, name in ipairs { "zone", "enter", "frame", "snapshot",
          "coroutine" } do
          local S = host.state()
          local result = S:run(([[
            local hook_function = debug.sethook
            local profiler, zones = require "cprof", require "spec_zones"
            local helper = require "helper"
            zones.clock(true)
            local known
            local notice = ({
              zone = function() local _ <close> = profiler.zone "z" end,
              enter = function() profiler.enter "z" profiler.leave "z" end,
              frame = profiler.frame, snapshot = profiler.snapshot,
              coroutine = function() known() end,
            }).%s
            local counted = 0
            local function leaf() end
            local function inside()
              known = coroutine.wrap(leaf)
              leaf()
              zones.pass(30)
              hook_function(function() counted = counted + 1 end, "", 1000)
              for _ = 1, 10000 do leaf() end
              zones.pass(1000)
              hook_function()
              for _ = 1, 10000 do leaf() end
              zones.pass(2000)
              notice()
              leaf() leaf()
              zones.pass(7)
            end
            local p = helper.record(inside, { %s })
            return table.concat({ tostring(counted > 0),
              tostring(p.meta.hook_lost), helper.find(p, inside).calls,
              helper.named(p, "(not recorded)").self_ns,
              helper.named(p, "debug.sethook").self_ns, p.program_ns,
              helper.find(p, leaf).calls }, " ")]]):format(name, options))
          S:close()
          assert.equal("true true 1 3000 0 3037 " ..
            (name == "coroutine" and 4 or 3), result, name .. options)
        end
      end
    end)

  it("are not said to be lost when none was", function()
    local p = helper.record(leaf, { compensate = false })
    assert.is_false(p.meta.hook_lost)
    assert.has_no_text("note:", p:report())
  end)

  it("left by a recording take themselves off coroutines", function()
    profiler.start()
    local co = coroutine.create(function() leaf() coroutine.yield() leaf() end)
    profiler.stop()
    assert.is_truthy(debug.gethook(co))
    coroutine.resume(co)
    assert.is_nil(debug.gethook(co))
    profiler.start()
    coroutine.resume(co)
    profiler.stop()
    helper.check(profiler.snapshot())
  end)
end)
