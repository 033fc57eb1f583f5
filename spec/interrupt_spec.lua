local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"
local command = require "command"

-- else it is not known which coroutine runs
local direct = require "cprof.core".internals() == "direct"

-- Runs a script that makes the file "ready", and sends it SIGINT then, and
-- once more each time that it makes that file again.
local function interrupted(dir, times, ...)
  local q = command.quote
  local ready = q(dir:file "ready")
  local send = ("until [ -e %s ]; do sleep 0.02; done; " ..
    "rm -f %s; kill -INT $pid; "):format(ready, ready)
  return command.bounded(("cd %s; %s >out & pid=$!; " ..
    "%swait $pid; s=$?; cat out; exit $s"):format(
    q(dir.path), command.here(...), send:rep(times)))
end

-- The report ends with what to type next: about the hottest function.
local function ends_with_next(err, file, p)
  local shown = err:match("\nNext: cprof show " .. file .. " (%S+)\n$")
  local hottest = p.functions[1]
  for _, f in ipairs(p.functions) do
    if f.self_ns > hottest.self_ns and f.id ~= p.overhead then
      hottest = f
    end
  end
  assert.equal(hottest.name, shown, err)
end

local busy = [[
  local function ready() io.open("ready", "w"):close() end
  local function busy() ready() while true do end end
]]

describe("Ctrl-C under cprof run", function()
  it("ends the program as under the interpreter, and the report comes",
    function(dir)
      local script = dir:file("x.lua", busy .. "print 'begun' busy()")
      local out, err, status = interrupted(dir, 1, "run", "-o", "x.cprof",
        script)
      assert.equal("begun\n", out)
      assert.equal(1, status)
      assert.has_text("interrupted!", err)
      assert.is_truthy(err:find("in upvalue 'busy'", 1, true) or
        err:find("in local 'busy'", 1, true), err)
      local p = assert(profiler.load(dir:file "x.cprof"))
      ends_with_next(err, "x.cprof", p)
      helper.check(p)
      assert.equal(1, helper.named(p, "busy").calls)
    end)

  it("reaches a coroutine", function(dir)
    local script = dir:file("x.lua", busy .. "coroutine.wrap(busy)()")
    local _, err, status = interrupted(dir, 1, "run", script)
    assert.equal(1, status)
    assert.has_text("interrupted!", err)
    assert.has_text("\ncprof: ", err)
  end)

  it("shows the frames of the coroutines", function(dir)
    local script = dir:file("x.lua", busy .. [[
      local function inner()
        coroutine.wrap(busy)()
      end
      local function outer()
        error(select(2, coroutine.resume(coroutine.create(inner))), 0)
      end
      coroutine.wrap(outer)()]])
    for _, how in ipairs { "--callsites", "--lines", "--sample" } do
      local _, err, status = interrupted(dir, 1, "run", "--quiet", how,
        script)
      assert.equal(1, status)
      -- the program may not have returned yet from the call that made the file
      assert.matches("interrupted!\nstack traceback:\n\t.-in function " ..
        "<[^\n]*x.lua:2>\n", err)
      if direct then
        local shown = {}
        for line in err:gmatch "x%.lua:(%d+): in function <" do
          shown[#shown + 1] = line
        end
        assert.same({ "2", "4", "7" }, shown, err)
      end
    end
    -- an error that the program catches itself has no traceback
    script = dir:file("y.lua", busy .. "print(pcall(busy))")
    local out, err = interrupted(dir, 1, "run", "--quiet", script)
    assert.matches("^false\t[^\n]*interrupted!\n$", out, out .. err)
  end)

  it("reaches a coroutine also when nothing is recorded any more", function()
    for _, code in ipairs(direct and { "profiler.stop()",
      "profiler.pause()",
      -- what was recorded last is gone
      "coroutine.wrap(debug.sethook)() collectgarbage()" } or {}) do
      local dir <close> = command.folder()
      local script = dir:file("x.lua", "local profiler = require 'cprof' " ..
        busy .. code .. " coroutine.wrap(busy)()")
      local _, err, status = interrupted(dir, 1, "run", script)
      assert.equal(1, status)
      assert.has_text("interrupted!", err)
    end
  end)

  it("can be caught, and recording goes on", function()
    for _, how in ipairs { "--callsites", "--lines", "--lines=other" } do
      local dir <close> = command.folder()
      local script = dir:file("x.lua", busy .. [[
        local function after() end
        print(pcall(coroutine.wrap(busy)))
        for i = 1, 3 do after() end]])
      local out, err, status = interrupted(dir, 1, "run", how, "-o",
        "x.cprof", script)
      assert.matches("^false\t.*interrupted!", out, out .. err)
      assert.equal(0, status)
      local p = helper.check(assert(profiler.load(dir:file "x.cprof")))
      assert.is_false(p.meta.hook_lost)
      assert.equal(3, helper.named(p, "after").calls)
    end
  end)

  it("reaches what is sampled", function(dir)
    for _, code in ipairs { "print(pcall(busy))",
      "print(pcall(coroutine.wrap(busy)))",
      "debug.sethook(error, '', 1 << 30) print(pcall(busy)) " ..
        "assert(debug.gethook() == error)" } do
      for _, rate in ipairs { 1, 10000 } do
        local script = dir:file("x.lua", busy .. code .. [[

          local function after() for i = 1, 1e5 do end end
          repeat
            after()
            local seen = #arg == 0
            for _, f in ipairs(require "cprof".snapshot().functions) do
              seen = seen or f.name == "after" and f.self_ns > 0
            end
          until seen]])
        local out, err, status = interrupted(dir, 1, "run",
          "--sample=" .. rate, "-o", "x.cprof", script,
          rate > 1 and "wait" or nil)
        assert.matches("^false\t.*interrupted!", out, out .. err)
        assert.equal(0, status)
        local p = helper.check(assert(profiler.load(dir:file "x.cprof")))
        assert.is_nil(p.meta.ended)
        -- samples go on
        if rate > 1 then
          assert.is_true(helper.named(p, "after").self_ns > 0)
        end
      end
    end
    local script = dir:file("x.lua", busy .. [[
      repeat for i = 1, 1e6 do end
      until require "cprof".snapshot().samples > 0
      busy()]])
    local _, err, status = interrupted(dir, 1, "run", "--sample", "-o",
      "x.cprof", script)
    assert.equal(1, status)
    assert.has_text("interrupted!", err)
    -- of few samples, any of its functions may be the hottest
    assert.matches("\nNext: cprof show x%.cprof %S+\n$", err)
  end)

  it("keeps nothing from being told that other signals have asked for",
    function()
      -- a C function runs when they come, in either order
      for _, mode in ipairs { "call", "line", "sample" } do
        for _, first in ipairs { true, false } do
          local out = helper.run([[
            local core = require "cprof.core"
            require "cprof".start { mode = arg[1] }
            local told = {}
            local listener <const> = assert(core.listen(12,
              function(what) told[#told + 1] = what end))
            core.interruptible(true)
            assert(core.alarm(0.1))
            local ok = pcall(require "spec_host".interrupt,
              tonumber(arg[2]), tonumber(arg[3]))
            for _ = 1, 100 do tostring(1) end
            print(ok, table.concat(told, " "))]], mode,
            table.unpack(first and { "0", "0.3" } or { "0.3", "0" }))
          assert.equal("false\talarm\n", out, mode)
        end
      end
    end)

  it("is not lost where the hook of a sample has just begun", function()
    for _, hook in ipairs { "",
      "hook = print debug.sethook(hook, '', 1 << 30)" } do
      local out = helper.run(([[
        local driven = require "driven"
        local core = require "cprof.core"
        %s
        core.interruptible(true)
        driven.start {}
        local ok, why = pcall(function()
          driven.raise(2)  -- SIGINT
          local t = {}
          -- where the program counts, the sample is taken at a call
          for _ = 1, 1000 do math.abs(1) end
        end)
        print(ok, why:match "interrupted!", debug.gethook() == hook)
        local p = driven.stop()
        print(p.meta.ended, p.samples)]]):format(hook))
      assert.equal("false\tinterrupted!\ttrue\nnil\t1\n", out)
    end
  end)

  it("kills when the program is over", function(dir)
    local script = dir:file("x.lua", busy ..
      "setmetatable({}, { __gc = busy }) os.exit(0, true)")
    local _, err, status = interrupted(dir, 1, "run", script)
    assert.equal(130, status)
    assert.has_text("\ncprof: ", err)
  end)

  it("kills when it comes again", function(dir)
    local script = dir:file("x.lua", busy ..
      "while true do pcall(busy) end")
    local _, err, status = interrupted(dir, 2, "run", "-o", "x.cprof",
      script)
    assert.equal(130, status)
    local p = assert(profiler.load(dir:file "x.cprof"))
    ends_with_next(err, "x.cprof", p)
    assert.equal(2, helper.named(p, "busy").calls)
  end)
end)
