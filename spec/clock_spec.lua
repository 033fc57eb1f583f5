local _ENV = require("helper").env(_ENV)

local command = require "command"
local host = require "spec_host"

-- 'work' takes 1000 + 3000 + 500 ns; in the middle, the clock steps back
local code = [[
  local profiler, zones = require "cprof", require "spec_zones"
  local helper = require "helper"
  zones.clock(true)
  zones.pass(1000000000)
  local function inner(back)
    zones.pass(2000)
    zones.pass(-back)
    zones.pass(1000)
  end
  local function work(back)
    zones.pass(1000)
    inner(back)
    zones.pass(500)
  end
  local options = %s
  options.exclude = { ".pass " }
  profiler.start(options)
  %s
  profiler.stop()
  local p = helper.check(profiler.snapshot())
  local f, g = helper.find(p, work), helper.find(p, inner)
]]

local function run(options, body, ...)
  local S = host.state()
  local result = S:run((code .. "return table.concat({ %s }, ' ')"):format(
    options, body, ...))
  S:close()
  return result
end

describe("a clock that steps back", function()
  it("goes on from its new time at once", function()
    for _, options in ipairs { "{}", "{ mode = 'line' }",
      "{ recursion = 'fold' }" } do
      assert.equal("1500 3000 50000000 4500", run(options,
        "work(50000000)", "f.self_ns, g.self_ns, " ..
          "p.meta.clock_backwards_ns, p.meta.wall_ns"))
    end
  end)

  it("is told in the profile and in the report", function()
    local result = run("{}", "for _ = 1, 3 do work(50000) end",
      "p.meta.clock_backwards, p:report { color = 'never' }")
    assert.matches("^3 ", result)
    assert.has_text("\nnote: the clock ran backwards 3 times, by 150µs in " ..
      "all; that time is missing\n", result)
    result = run("{}", "for _ = 1, 3 do work(0) end",
      "p.meta.clock_backwards, p:report { color = 'never' }")
    assert.matches("^0 ", result)
    assert.has_no_text("note: the clock", result)
  end)

  it("is told of files and sums", function(dir)
    local path = dir:file "x"
    assert.equal("2 100000 4 200000", run("{ file = '" .. path .. "' }",
      "work(50000) work(50000)", ([[(function()
        local q = assert(profiler.load %q)
        local m = require "cprof.profile.merge".sum { q, p }
        return q.meta.clock_backwards .. " " .. q.meta.clock_backwards_ns ..
          " " .. m.meta.clock_backwards .. " " .. m.meta.clock_backwards_ns
      end)()]]):format(path)))
  end)
end)

-- The system's monotonic clock jumps forward by 20 s while a program runs,
-- which the processor's clock does not.
describe("a system's clock that jumps forward", function()
  local folder, shim
  setup(function()
    folder = command.folder()
    shim = folder.path .. "/jumping.so"
    assert(os.execute(("cc -O1 -shared -fPIC -I$SPEC_INCLUDE -o %s " ..
      "spec/support/jumping.c"):format(shim)))
  end)
  teardown(function() getmetatable(folder).__close() end)

  -- the wall time in s, the jumps, how far these were in s, and the report
  local function recorded(options, jumps)
    local program = folder:file("program.lua", ([[
      local profiler = require "cprof"
      local jump = assert(package.loadlib(arg[1], "luaopen_jumping"))
      local function work()
        local from = os.clock()
        repeat local s = string.rep("x", 3) until os.clock() > from + 0.05
        return s
      end
      local options, jumps, from = %s, %d, os.time()
      profiler.start(options)
      work()
      for _ = 1, jumps do
        jump(20)
        work()
      end
      profiler.stop()
      jump(20)  -- no part of it
      local p = profiler.snapshot()
      if options.file then p = assert(profiler.load(options.file)) end
      -- not much beyond what the program took
      assert(p.meta.wall_ns * 1e-9 <= os.time() - from + 1.1)
      assert((p.samples or 0) <= (os.time() - from + 1.1) * 1000)
      print(p.meta.clock, p.meta.clock_jumps,
        ("%%.1f"):format(p.meta.clock_jumps_ns * 1e-9))
      print(p:report { width = 300 })]]):format(options, jumps))
    local out, err = command.shell(("LD_PRELOAD=%s $SPEC_LUA %s %s"):format(
      shim, program, shim))
    local clock, n, far = out:match "^(%l+)\t(%d+)\t(%d+%.%d)\n"
    assert.is_truthy(clock, err)
    return clock, tonumber(n), tonumber(far), out
  end

  for _, options in ipairs { "{}", "{ mode = 'line' }",
    "{ mode = 'sample' }", "{ compensate = false }",
    "{ file = os.tmpname() }" } do
    it("is told, and is in no time, " .. options, function()
      for jumps = 0, 2 do
        local clock, n, far, text = recorded(options, jumps)
        if clock ~= "tsc" then pending "no steady processor clock here" end
        assert.equal(jumps, n, text)
        assert.equal(20 * jumps, far)
        assert.equal(jumps > 0, text:find("\nnote: the processor's and " ..
          "the system's clocks diverged " .. jumps .. " time" ..
          (jumps == 1 and "" or "s") .. ", by " .. 20 * jumps ..
          ".0s in all; times are from the processor's clock\n", 1, true) ~= nil,
          text)
      end
    end)
  end
end)
