local _ENV = require("helper").env(_ENV)

local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"

-- A program that does a bit of everything; what it prints must be the same
-- whenever memory runs out. It is small, but large enough for each array and
-- index that it uses to grow.
local code = [[
  local profiler = require "cprof"
  local out = {}
  local function work()
    local function deep(n) if n > 0 then return 1 + deep(n - 1) end return 0 end
    out[#out + 1] = deep(40)
    for i = 1, 24 do
      local co = coroutine.wrap(function(x)
        profiler.enter("zone", i)
        local y = coroutine.yield(x + 1)
        profiler.leave "zone"
        return y
      end)
      out[#out + 1] = co(i)
      if i % 2 == 0 then out[#out + 1] = co(i) end
    end
    for i = 1, 10 do
      local f = load("local function f() return " .. i .. " end return f()",
        i % 2 == 0 and "=chunk" or nil)
      out[#out + 1] = f()
    end
    local a, b = function() return 1 end, function() return 1 end
    a() b()
    out[#out + 1] = tostring(pcall(error, "x"))
  end
  arm()
  local started, why = pcall(profiler.start, { compensate = false })
  work()
  profiler.reset()
  work()
  profiler.pause()
  profiler.resume()
  work()
  local running = profiler.running()
  profiler.stop()
  disarm()
  local state = "not started"
  if started then
    local p = profiler.snapshot()
    local own, total = "self_ns", "total_ns"
    if p.meta.mode == "count" then
      own, total = "instructions", "total_instructions"
    end
    local sum = 0
    for _, node in ipairs(p.nodes) do sum = sum + node[own] end
    assert(sum == p.nodes[1][total], "sums")
    assert(running == (p.meta.ended == nil), "running")
    if p.meta.ended then
      assert(p.meta.ended == "out of memory", p.meta.ended)
      assert(p:report():find("note: recording ended early: out of memory",
        1, true))
    end
    state = p.meta.ended or "complete"
  else
    assert(why:find "out of memory" or why:find "not enough memory", why)
  end
  assert(debug.gethook() == nil, "hook")
  return table.concat(out, " ") .. ": " .. state
]]

local counting = code:gsub("compensate = false", 'mode = "count"')

local function run(which, n, what)
  local result, status, asked, left = host.memory(what or code, which, n)
  return result, status, asked, left
end

describe("when memory runs out", function()
  local expected, _, requests = run("cprof", -1)

  it("is a program to see that with", function()
    assert.matches(": complete$", expected)
    assert.is_true(requests > 30)
  end)

  local function goes_on(what, step)
    local seen = {}
    local _, _, asked = run("cprof", -1, what)
    step = helper.slow and 7 or step
    for i = 0, asked * 2, step do
      -- requests differ a little from run to run, with what is collected
      local n = i > asked and asked * 2 or i
      local result, status, _, left = run("cprof", n, what)
      assert.equal(0, status, n .. ": " .. result)
      assert.equal(expected:match "^(.-):", (result:match "^(.-):"), n)
      assert.equal(0, left, "not given back after request " .. n)
      seen[result:match ": (.-)$"] = true
      if n == asked * 2 then break end
    end
    assert.same({ ["not started"] = true, ["out of memory"] = true,
      complete = true }, seen)
  end

  it("the program goes on, and what was recorded is kept", function()
    goes_on(code, 1)
  end)

  it("goes on in mode count", function()
    if core.internals() == "direct" then goes_on(counting, 4) end
  end)

  -- one request alone fails, which Lua repeats in states of its own
  it("for a moment, that is made up for, or the recording ends", function()
    local once = [[
      local profiler = require "cprof"
      local helper = require "helper"
      arm()
      local ok = pcall(profiler.start, { compensate = false, mode = "line" })
      local before = refused()
      load(("local x = 1\n"):rep(150))()
      local failed, _, repeated = refused()
      disarm()
      profiler.stop()
      if not ok then return "refused" end
      local p = helper.check(profiler.snapshot())
      -- on a slow machine, a slice of the time axis may end
      local axis = require "cprof.profile".axis(p)
      local shortest = axis and
        select(4, require "cprof.core".axis_scale(axis)) <= 20e6
      return p.meta.ended or failed == before and "complete" or
        repeated and "repeated" or p.meta.axis_lost and "without an axis" or
        axis and not shortest and "longer slices" or "silent"]]
    local result, _, asked = host.memory(once, "cprof", -1)
    assert.equal("complete", result)
    local seen = {}
    for _, child in ipairs(host.starve(once, "cprof", true, 0, asked - 1,
      helper.slow and 50 or 1)) do
      assert.equal(0, child.status)
      local said = child.said:match "^0 0 (.*)$"
      assert.is_truthy(said, child.said)
      seen[said] = true
    end
    assert.is_nil(seen.silent)
    assert.is_true(seen["out of memory"] or helper.slow)
  end)

  it("while costs are measured, they are not known", function()
    local measure = [[
      local profiler = require "cprof"
      arm()
      local costs, why = profiler.calibrate()
      disarm()
      assert(profiler.start() == nil and profiler.stop())
      return costs and "measured" or why]]
    local _, _, asked = host.memory(measure, "cprof", -1)
    for n = 0, asked, math.max(1, asked // (helper.slow and 4 or 60)) do
      local result, status, _, left = host.memory(measure, "cprof", n)
      assert.equal(0, status, n .. ": " .. result)
      assert.equal(n < 30 and "out of memory" or result, result)
      assert.equal(0, left, "not given back after request " .. n)
    end
    assert.equal("measured", (host.memory(measure, "cprof", -1)))
  end)

  it("in the program itself, nothing is raised but its own", function()
    local _, _, asked = run("lua", -1)
    local step = math.max(1, asked // (helper.slow and 20 or 300))
    for n = 0, asked, step do
      local result, status, _, left = run("lua", n)
      assert.is_true(status == 0 or result:find "not enough memory" ~= nil,
        result)
      assert.equal(0, left)
    end
  end)
end)
