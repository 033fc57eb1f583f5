local _ENV = require("helper").env(_ENV)

local core = require "cprof.core"
local helper = require "helper"

local function leaf() end
local function last() leaf() end
local function middle() leaf() return last() end
local function first() return middle() end

describe("tail calls", function()
  it("replace their caller, and each function is counted", function()
    local function work() first() first() leaf() end
    assert.equal(helper.dedent [[
      first 2
      middle 2
        leaf 2
      last 2
        leaf 2
      leaf 1]], (helper.shape(work)))
  end)

  it("make one frame of a chain of a million", function()
    local n = helper.many(1000000)
    local ping, pong
    function ping(i) if i > 0 then return pong(i - 1) end end
    function pong(i) if i > 0 then return ping(i - 1) end end
    local function work() ping(n) leaf() end
    local p = helper.record(work)
    assert.equal(n // 2 + 1, helper.find(p, ping).calls)
    assert.equal(n // 2, helper.find(p, pong).calls)
    assert.equal(1, helper.find(p, ping).max_depth)
    assert.equal(("ping %d\npong %d\nleaf 1"):format(n // 2 + 1, n // 2),
      helper.tree(p, work))
  end)

  it("to C functions are ordinary calls", function()
    local function f(s) return string.rep(s, 2) end
    local function work() f "x" leaf() end
    assert.equal("f 1\n  string.rep 1\nleaf 1", (helper.shape(work)))
  end)

  it("can raise errors", function()
    local function bad() error "x" end
    local function hops() return bad() end
    local function work() pcall(hops) leaf() end
    assert.equal(helper.dedent [[
      pcall 1
        hops 1
        bad 1
          error 1
      leaf 1]], (helper.shape(work)))
  end)

  it("close the zones of the function that they replace", function()
    local profiler = require "cprof"
    local function hops() profiler.enter "z" return leaf() end
    local function work() hops() leaf() end
    local tree = helper.shape(work)
    assert.equal("hops 1\n  z 1\nleaf 2", tree)
  end)

  -- Functions that call each other at random, plainly, as tail calls, in pcall
  -- with an error, or in a coroutine.
  local function random(seed)
    local fs, left = {}, 4000
    local function draw(n)
      seed = (seed * 1103515245 + 12345) & 0x7fffffff
      return (seed >> 16) % n
    end
    local function pick() return fs[draw(#fs) + 1] end
    local function body(d)
      left = left - 1
      local how = (left < 0 or d > 9) and 0 or draw(7)
      if how == 1 then pick()(d + 1)
      elseif how == 2 then pick()(d + 1) return pick()(d + 1)
      elseif how == 3 then return pick()(d)
      elseif how == 4 then return pick()(d + 1)
      elseif how == 5 then pcall(function() pick()(d + 1) error {} end)
      elseif how == 6 then return coroutine.wrap(pick())(d + 1) end
      return d
    end
    for i = 1, 7 do
      fs[i] = load("local body = ... return function(d) return body(d) end",
        "=f" .. i)(body)
    end
    return function() while left > 0 do pick()(0) end end
  end

  -- calls of all paths, whichever line they came from
  local function paths(p)
    local of, sums = {}, {}
    for i, node in ipairs(p.nodes) do
      local parent = of[node.parent] or ""
      of[i] = parent .. "/" .. p.functions[node.func].title
      sums[of[i]] = (sums[of[i]] or 0) + node.calls
    end
    return sums
  end

  it("are the same calls however they are recorded", function()
    for seed = 1, 20 do
      local plain = paths(helper.record(random(seed)))
      for _, options in ipairs {
        -- the first one takes no fast path of calls
        { callsites = true }, { mode = "line" }, { distribution = true },
        core.internals() == "direct" and { mode = "count" } or nil,
      } do
        assert.same(plain, paths(helper.record(random(seed), options)))
      end
    end
  end)

  it("make trampolines flat", function()
    local function a(n) return n > 0 and n - 1 end
    local function work()
      local n = 100
      ::again::
      n = a(n)
      if n then goto again end
    end
    assert.equal("a 101", (helper.shape(work)))
  end)
end)

describe("calls through the library", function()
  it("are below the function that made them", function()
    local function each() return "y" end
    local function less(a, b) return a < b end
    local function work(...)
      string.gsub("xxx", "x", each)
      table.sort({ 3, 2, 1 }, less)
      select("#", ...)
    end
    local p = helper.record(function() work(1, nil, 3) end)
    assert.matches([[
^string.gsub 1
  each 3
table.sort 1
  less %d+
select 1$]], helper.tree(p, work))
  end)

  it("include vararg functions, iterators and require", function()
    local function sum(...)
      local s = 0
      for _, v in ipairs { ... } do s = s + v end
      return s
    end
    local function range(n)
      local function step(_, i) if i < n then return i + 1 end end
      return step, nil, 0
    end
    local dir = os.tmpname()
    os.remove(dir)
    os.execute("mkdir " .. dir)
    local file = io.open(dir .. "/cprof_spec_module.lua", "w")
    file:write "local function setup() end setup() return {}"
    file:close()
    local path = package.path
    package.path = dir .. "/?.lua"
    local function work()
      sum(1, 2, 3)
      for _ in range(4) do leaf() end
      require "cprof_spec_module"
    end
    local p = helper.record(work)
    package.path = path
    package.loaded.cprof_spec_module = nil
    os.execute("rm -r " .. dir)
    helper.check(p)
    assert.equal(1, helper.find(p, sum).calls)
    assert.equal(4, helper.find(p, leaf).calls)
    local step = helper.named(p, "step")
    assert.equal(5, step.calls)
    assert.equal(1, helper.named(p, "require").calls)
    assert.equal(1, helper.named(p, "setup").calls)
  end)

  it("do not show the buffers that the library hides", function()
    local function work()
      local long = ("x"):rep(100000)
      long:gsub("x", "yy")
      string.format("%s%s", long, long)
      table.concat { long, long }
    end
    assert.equal(helper.dedent [[
      string.rep 1
      string.gsub 1
      string.format 1
      table.concat 1]], (helper.shape(work)))
  end)
end)
