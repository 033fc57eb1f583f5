local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"
local host = require "spec_host"
local steady = require "steady"

local function leaf() end
local function spin()
  local x = 0
  for i = 1, 100000 do x = x + i end
  return x
end

describe("coroutines", function()
  after_each(function() profiler.stop() end)

  it("are below the function that resumed them", function()
    local function step() coroutine.yield() leaf() end
    local function body() step() step() end
    local function work()
      local co = coroutine.wrap(body)
      co() leaf() co() leaf() co()
    end
    assert.equal(helper.dedent [[
      coroutine.wrap 1
      coroutine.wrap function 3
        body 1
          step 2
            coroutine.yield 2
            leaf 2
      leaf 2]], (helper.shape(work)))
  end)

  it("stand again under another resumer", function()
    local function body() while true do leaf() coroutine.yield() end end
    local co
    local function one() coroutine.resume(co) end
    local function two() coroutine.resume(co) end
    local function work()
      co = coroutine.create(body)
      one() two() one() two()
    end
    assert.equal(helper.dedent [[
      coroutine.create 1
      one 2
        coroutine.resume 2
          body 1
            leaf 2
            coroutine.yield 2
      two 2
        coroutine.resume 2
          body 0
            coroutine.yield 2
            leaf 2]], (helper.shape(work)))
  end)

  it("are charged for no time while they wait", function()
    local result = steady.run([[
      local function body() pass(10) coroutine.yield() pass(3) end
      local function meanwhile() pass(500) end
      local co = coroutine.wrap(body)
      co()
      meanwhile()
      co()]], "", [[
      require "helper".check(p)
      local of = {}
      for _, f in ipairs(p.functions) do
        of[f.line > 0 and f.line or f.name] = f.total_ns // 1000
      end
      return ("%d %d %d"):format(of[1], of["coroutine.yield"], of[2])]])
    assert.equal("13 0 500", result)
  end)

  it("made before the start are followed from their next resume", function()
    local function inner() coroutine.yield() leaf() end
    local function body() inner() spin() end
    local created, wrapped = coroutine.create(body), coroutine.wrap(body)
    coroutine.resume(created)
    wrapped()
    local function work()
      coroutine.resume(created)
      wrapped()
    end
    assert.equal(helper.dedent [[
      coroutine.resume 1
        body 0
          inner 0
            coroutine.yield 0
            leaf 1
          spin 1
      coroutine.wrap function 1
        body 0
          inner 0
            coroutine.yield 0
            leaf 1
          spin 1]], (helper.shape(work)))
  end)

  it("may resume each other in a chain", function()
    local function third() leaf() coroutine.yield() leaf() end
    local function second()
      local co = coroutine.wrap(third)
      co() coroutine.yield() co()
    end
    local function work()
      local co = coroutine.wrap(second)
      co() leaf() co()
    end
    assert.equal(helper.dedent [[
      coroutine.wrap 1
      coroutine.wrap function 2
        second 1
          coroutine.wrap 1
          coroutine.wrap function 2
            third 1
              leaf 2
              coroutine.yield 1
          coroutine.yield 1
      leaf 1]], (helper.shape(work)))
  end)

  it("may yield across pcall", function()
    local function risky() coroutine.yield() error "x" end
    local function body() pcall(risky) leaf() end
    local function work()
      local co = coroutine.wrap(body)
      co() leaf() co()
    end
    assert.equal(helper.dedent [[
      coroutine.wrap 1
      coroutine.wrap function 2
        body 1
          pcall 1
            risky 1
              coroutine.yield 1
              error 1
          leaf 1
      leaf 1]], (helper.shape(work)))
  end)

  it("may be closed", function()
    local function body()
      local _ <close> = setmetatable({}, { __close = leaf })
      coroutine.yield()
    end
    local function work()
      local co = coroutine.create(body)
      coroutine.resume(co)
      coroutine.close(co)
      spin()
    end
    local tree, p = helper.shape(work)
    assert.equal(1, helper.find(p, leaf).calls)
    assert.matches("\nspin 1$", tree)
  end)

  it("may die and be resumed in vain", function()
    local function body() error "dies" end
    local function work()
      local co = coroutine.create(body)
      for _ = 1, 3 do coroutine.resume(co) leaf() end
    end
    assert.equal(helper.dedent [[
      coroutine.create 1
      coroutine.resume 3
        body 1
          error 1
      leaf 3]], (helper.shape(work)))
  end)

  it("leave no memory behind when short-lived", function()
    local n = helper.many(100000)
    local function body() leaf() coroutine.yield() end
    local function work()
      for i = 1, n do
        local co = coroutine.wrap(body)
        co()
        if i % 2 == 0 then co() end
      end
    end
    local p = helper.record(work)
    assert.equal(n, helper.find(p, body).calls)
    assert.equal(n, helper.find(p, leaf).calls)
    assert.equal(helper.dedent(([[
      coroutine.wrap %d
      coroutine.wrap function %d
        body %d
          leaf %d
          coroutine.yield %d]]):format(n, n * 3 // 2, n, n, n)),
      helper.tree(p, work))
  end)

  it("do not inherit from the dead whose addresses they have", function()
    local function dies() leaf() error "x" end
    local function waits() spin() coroutine.yield() end
    local function ends() leaf() end
    local n = helper.many(3000)
    local function work()
      for i = 1, n do
        local f = i % 3 == 0 and dies or i % 3 == 1 and waits or ends
        coroutine.resume(coroutine.create(f))
        if i % 10 == 0 then collectgarbage() end
      end
    end
    local p = helper.record(work)
    local under = {}
    for line in helper.tree(p, work):gmatch "[^\n]+" do
      under[#under + 1] = line:gsub(" %d+$", "")
    end
    assert.equal(helper.dedent [[
      coroutine.create
      coroutine.resume
        waits
          spin
          coroutine.yield
        ends
          leaf
        dies
          leaf
          error
      collectgarbage]], table.concat(under, "\n"))
  end)

  -- of the resumes, some are timed
  it("stand under their resumers at the addresses of the abandoned, too",
    function()
      local n = helper.many(3000)
      local function inner() while true do leaf() coroutine.yield() end end
      local function outer(abandoned)
        if abandoned then coroutine.yield() end
        local co = coroutine.create(inner)
        for _ = 1, n do coroutine.resume(co) end
      end
      local function work()
        for _ = 1, 20 do coroutine.wrap(outer)(true) end
        collectgarbage()
        collectgarbage()
        for _ = 1, 5 do coroutine.resume(coroutine.create(outer)) end
      end
      local p = helper.record(work)
      local calls = 5 * n
      assert.equal(helper.dedent(([[
        coroutine.wrap 20
        coroutine.wrap function 20
          outer 20
            coroutine.yield 20
        collectgarbage 2
        coroutine.create 5
        coroutine.resume 5
          outer 5
            coroutine.create 5
            coroutine.resume %d
              inner 5
                leaf %d
                coroutine.yield %d]]):format(calls, calls, calls)),
        helper.tree(p, work))
    end)

  it("that nobody refers to any more can be collected", function()
    local weak = setmetatable({}, { __mode = "k" })
    profiler.start()
    for _ = 1, 100 do
      local co = coroutine.create(function() coroutine.yield() end)
      coroutine.resume(co)
      weak[co] = true
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(weak))
    profiler.stop()
  end)

  it("may be resumed by a host in C", function()
    local function body() leaf() coroutine.yield() spin() end
    local function work()
      local co = coroutine.create(body)
      host.resume(co)
      host.resume(co)
      leaf()
    end
    assert.equal(helper.dedent [[
      coroutine.create 1
      spec_host.resume 2
        body 1
          leaf 1
          coroutine.yield 1
          spin 1
      leaf 1]], (helper.shape(work)))
  end)

  it("may be scheduled by a host in C, none under another", function()
    local function a() leaf() coroutine.yield() leaf() end
    local function b() spin() coroutine.yield() spin() end
    local function work()
      host.schedule({ coroutine.create(a), coroutine.create(b) }, 3)
    end
    assert.equal(helper.dedent [[
      coroutine.create 2
      spec_host.schedule 1
        a 1
          leaf 2
          coroutine.yield 1
        b 1
          spin 2
          coroutine.yield 1]], (helper.shape(work)))
  end)

  it("keep all their frames over many switches", function()
    local function down(n)
      if n == 0 then coroutine.yield() leaf() return end
      down(n - 1)
    end
    local function work()
      local all = {}
      for i = 1, 20 do all[i] = coroutine.wrap(down) end
      for i = 1, 20 do all[i](i) end
      for i = 20, 1, -1 do all[i]() end
    end
    local p = helper.record(work)
    assert.equal(20, helper.find(p, leaf).calls)
    assert.equal(21, helper.find(p, down).max_depth)
    assert.equal(20 + 20 * 21 // 2, helper.find(p, down).calls)
  end)
end)
