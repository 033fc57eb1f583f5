local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local host = require "spec_host"
local profiler = require "cprof"

local path = os.tmpname()

teardown(function() os.remove(path) end)

local batch = 20

local function leaf(n) return n end

local quiet, exported = host.nameless()

-- a bit of everything that makes the file grow
local function work(i)
  leaf(i)
  pcall(error, i)
  local first, second = quiet, exported
  first() second()
  local _ <close> = profiler.zone("zone", i % 50)
  coroutine.wrap(function() leaf(i) coroutine.yield() end)()
  if i % 10 == 0 then
    local f = load("return function(g, i) return g(i) end", "=chunk" .. i)()
    f(leaf, i)
  end
end

-- A program that works step by step. Before each step, it announces how much
-- will be done when the step is over.
local function doomed(options)
  return function(announce)
    options[options.keep_last and "live_file" or "file"] = path
    profiler.start(options)
    announce(0)
    for i = 1, math.huge do
      announce(i * batch)
      for k = 1, batch do work(i * batch + k) end
    end
  end
end

-- kills the program some microseconds after its announcement n
local function killed(options, us, n)
  local done, at_most, status = host.kill(doomed(options), us, n)
  assert.equal(9, status)
  local p = helper.check(assert(profiler.load(path)))
  local fn = helper.find(p, work)
  local calls = fn and fn.calls or 0
  assert.is_true(calls >= done and calls <= at_most,
    ("%d calls, announced %d and %d"):format(calls, done, at_most))
  return p, calls
end

describe("a program that is killed", function()
  it("leaves a file with all that it did, whenever that is", function()
    local most = 0
    for i = 1, math.max(helper.many(120), 5) do
      local options = ({ {}, { mode = "line" }, { recursion = "fold" },
        { callsites = true, clock = "cpu" } })[i % 4 + 1]
      local p, calls = killed(options, math.random(0, 500), i % 30 + 1)
      most = math.max(most, calls)
      assert.equal("the program ended without stopping it", p.meta.ended)
      assert.is_nil(p.meta.live)
    end
    assert.is_true(most > batch)
  end)

  it("leaves its last calls, whenever it is killed", function()
    for i = 1, math.max(helper.many(40), 5) do
      local p, calls = killed({ keep_last = 1000, distribution = i % 2 == 0 },
        math.random(0, 500), i % 30 + 1)
      local q = helper.check(assert(p:range(0)))
      local fn = helper.find(q, work)
      local kept = fn and fn.calls or 0
      -- a node counts a call just before the call is kept
      assert.is_true(kept == calls or kept == calls - 1, kept .. " " .. calls)
    end
  end)

  it("leaves the last calls that fit into a size", function()
    local p = killed({ keep_last = "128KB" }, 0, 3000 // batch)
    local from = assert(p.meta.axis_begins_ns)
    local q = helper.check(assert(p:range(from / 1e9)))
    assert.is_true(helper.find(q, work).calls > 0)
  end)

  it("leaves names of functions of both kinds", function()
    local p = killed({}, 0, 10)
    assert.is_truthy(helper.named(p, "pcall"))
    assert.is_truthy(helper.named(p, "coroutine.wrap"))
    assert.is_truthy(helper.named(p, "zone(20)") or
      helper.named(p, "zone(21)"))
    local symbol = assert(helper.named(p, "spec_host.so: spec_host_exported"))
    local placed = false
    for _, f in ipairs(p.functions) do
      placed = placed or f.name:find "^spec_host%.so%+0x%x+$" and
        math.abs(f.calls - symbol.calls) <= 1
    end
    assert.is_truthy(placed)
    assert.equal("work", helper.find(p, work).name)
    assert.equal("leaf", helper.find(p, leaf).name)
    assert.has_text("\nnote: recording ended early: the program ended " ..
      "without stopping it\n", p:report())
  end)

  it("leaves lines, and their text", function()
    local p = killed({ mode = "line" }, 0, 10)
    local info = debug.getinfo(work, "S")
    local hits = p.lines[info.source][info.linedefined + 1].hits
    assert.is_true(math.abs(hits - helper.find(p, work).calls) <= 1)
    assert.has_text("leaf(i)", p:annotate(info.source))
  end)

  it("leaves a file that is good or said not to be, while it begins",
    function()
      for i = 1, math.max(helper.many(100), 3) do
        os.remove(path)
        host.kill(function(announce)
          announce(0)
          doomed {} (announce)
        end, i * (helper.slow and 2000 or 40))
        local p, why = profiler.load(path)
        if p then helper.check(p)
        else
          assert.is_truthy(why:find("nothing was recorded in it yet", 1,
            true) or why:find("No such file", 1, true) or
            why:find("not a profile", 1, true), why)
        end
      end
    end)
end)
