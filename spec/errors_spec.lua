local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local profiler = require "cprof"
local releases = require "releases"
local host = require "spec_host"

local function bad() error("bad", 0) end
local function worse() bad() end
local function good() end

describe("errors", function()
  it("close the frames that pcall unwinds", function()
    local function work()
      pcall(worse)
      good()
      pcall(worse)
    end
    local tree, p = helper.shape(work)
    assert.equal(helper.dedent [[
      pcall 2
        worse 2
          bad 2
            error 2
      good 1]], tree)
    helper.check(p)
  end)

  it("are recorded in xpcall, too, also if its handler fails", function()
    local function handler(m) good() return m end
    local function errs() error "again" end
    local function work()
      xpcall(worse, handler)
      good()
      xpcall(worse, errs)
      good()
    end
    local tree = helper.shape(work)
    assert.equal(helper.dedent [[
      xpcall 2
        worse 2
          bad 2
            error 2
              handler 1
                good 1]], tree:match "^(.-\n.-\n.-\n.-\n.-\n.-)\n")
    assert.matches("\ngood 2$", tree)
  end)

  it("in a host's own loop of lua_pcall cause no drift", function()
    local function work(n) host.loop(n, worse, good) end
    local trees = {}
    for i, n in ipairs { 10, helper.many(100000) } do
      local p = helper.record(function() work(n) end)
      assert.equal(2 + 1, helper.find(p, work).calls * 3)
      assert.equal(n, helper.find(p, bad).calls)
      assert.equal(n, helper.find(p, good).calls)
      trees[i] = helper.tree(p, work):gsub("%d+", function(d)
        return tonumber(d) == n and "n" or d
      end)
    end
    assert.equal(trees[1], trees[2])
    assert.equal(helper.dedent [[
      spec_host.loop 1
        worse n
          bad n
            error n
        good n]], trees[1])
  end)

  it("cause no drift when CallInfos are collected in between", function()
    local function deep(n) if n == 0 then bad() end deep(n - 1) end
    local function down() deep(30) end
    local p = helper.record(function()
      host.collect(helper.many(2000), down)
      good()
    end)
    assert.equal(helper.many(2000), helper.find(p, down).calls)
    assert.equal(31, helper.find(p, deep).max_depth)
  end)

  it("can be raised by metamethods", function()
    local t = setmetatable({}, {
      __index = function() bad() end,
      __add = function() worse() end,
      __newindex = function() bad() end,
      __len = function() bad() end,
    })
    local function index() return t.x end
    local function add() return t + 1 end
    local function newindex() t.x = 1 end
    local function len() return #t end
    local function work()
      pcall(index) pcall(add) pcall(newindex) pcall(len)
      good()
    end
    assert.equal(helper.dedent [[
      pcall 4
        index 1
          __index 1
            bad 1
              error 1
        add 1
          __add 1
            worse 1
              bad 1
                error 1
        newindex 1
          __newindex 1
            bad 1
              error 1
        len 1
          __len 1
            bad 1
              error 1
      good 1]], (helper.shape(work)))
  end)

  it("can be raised by __close, and close what is open", function()
    local closing = setmetatable({}, { __close = function() bad() end })
    local quiet = setmetatable({}, { __close = function() good() end })
    local function leaves() local _ <close> = closing return 1 end
    local function both()
      local _ <close> = quiet
      local _ <close> = closing
      worse()
    end
    local function work() pcall(leaves) pcall(both) good() end
    local tree, p = helper.shape(work)
    if releases.closes_twice() then
      -- in these releases, each __close that fails runs again where the error
      -- is caught
      assert.equal(2, helper.named(p, "leaves").calls +
        helper.named(p, "both").calls)
      assert.has_text("\n  __close 2\n", tree)
      assert.matches("\ngood 1$", tree)
      return
    end
    -- after an error, handlers run where it was caught
    assert.equal(helper.dedent [[
      pcall 2
        leaves 1
          __close 1
            bad 1
              error 1
        both 1
          worse 1
            bad 1
              error 1
        __close 1
          bad 1
            error 1
        __close 1
          good 1
      good 1]], tree)
  end)

  it("leave a coroutine", function()
    local function body() worse() end
    local function work()
      coroutine.resume(coroutine.create(body))
      good()
      pcall(coroutine.wrap(body))
      good()
    end
    assert.equal(helper.dedent [[
      coroutine.create 1
      coroutine.resume 1
        body 1
          worse 1
            bad 1
              error 1
      good 2
      coroutine.wrap 1
      pcall 1
        coroutine.wrap function 1
          body 1
            worse 1
              bad 1
                error 1]], (helper.shape(work)))
  end)

  it("of a stack overflow are caught, and nothing is lost", function()
    local function endless(n) return 1 + endless(n + 1) end
    local function work()
      assert(not pcall(endless, 1))
      good()
      assert(not pcall(endless, 1))
    end
    local p = helper.record(work, { recursion = "full" })
    local f = helper.find(p, endless)
    assert.equal(2 * f.max_depth, f.calls)
    assert.is_true(f.max_depth > releases.levels * 0.9)
    assert.equal(1, helper.find(p, good).calls)
  end)

  it("of the C stack are caught, and nothing is lost", function()
    local function nest(n) return (string.gsub("x", "x", function()
      nest(n + 1) end)) end
    local function work() assert(not pcall(nest, 1)) good() end
    local p = helper.record(work)
    assert.equal(1, helper.find(p, good).calls)
  end)

  it("reach the program as they are", function()
    local message = setmetatable({}, { __tostring = function() return "m" end })
    local ok, caught
    helper.record(function()
      ok, caught = pcall(error, message)
    end)
    assert.is_false(ok)
    assert.equal(message, caught)
  end)
end)

describe("deep recursion", function()
  it("of as many levels as there may be is recorded", function()
    local n = helper.many(math.floor(releases.levels * 0.95))
    local function deep(i) if i > 0 then return 1 + deep(i - 1) end return 0 end
    local p = helper.record(function() deep(n - 1) end,
      { recursion = "full" })
    local f = helper.find(p, deep)
    assert.equal(n, f.calls)
    assert.equal(n, f.max_depth)
    assert.is_true(f.total_ns <= p.nodes[1].total_ns)
  end)

  -- Lua has no event for the call that finds no room on the stack
  it("that overflows Lua's stack takes no longer, with a handler", function()
    if helper.slow then return end
    for _, options in ipairs { { max_nodes = 2000000, recursion = "full" }, {},
      { recursion = "fold" }, { mode = "line" } } do
      local function deep() return 1 + deep() end
      local function handler(message) return message end
      local message
      local function work()
        message = select(2, xpcall(deep, handler))
        good()
      end
      local p = helper.record(work, options)
      assert.has_text("overflow", message)
      assert.equal(0, p.meta.unmatched)
      assert.equal(1, helper.find(p, handler).calls)
      local last = p.nodes[#p.nodes]
      for i = #p.nodes, 1, -1 do
        if p.functions[p.nodes[i].func].name == "good" then
          last = p.nodes[i]
          break
        end
      end
      assert.equal(1, last.calls)
      assert.equal("work",
        p.functions[p.nodes[last.parent].func].name)
    end
  end)

  it("takes no part in the time of a snapshot", function()
    if helper.slow then return end
    local function took(n)
      local best = math.huge
      local function deep(i)
        if i > 0 then return 1 + deep(i - 1) end
        for _ = 1, 20 do
          local before = os.clock()
          profiler.snapshot()
          best = math.min(best, os.clock() - before)
        end
        return 0
      end
      local p = helper.record(function() deep(n) end, { recursion = "fold" })
      assert.equal(n + 1, helper.find(p, deep).calls)
      assert.equal(n + 1, helper.find(p, deep).max_depth)
      return best
    end
    local n = math.min(40000, releases.levels - 100)
    local few, many = took(n // 10), took(n)
    assert.is_true(many < 15 * few, many / few)
  end)

  it("counts time once", function()
    local even, odd
    function even(n) if n == 0 then return true end return (odd(n - 1)) end
    function odd(n) if n == 0 then return false end return (even(n - 1)) end
    local p = helper.record(function() even(1000) end)
    local e, o = helper.find(p, even), helper.find(p, odd)
    assert.equal(501, e.max_depth)
    assert.equal(500, o.max_depth)
    assert.is_true(e.total_ns >= o.total_ns)
    assert.equal(e.total_ns, e.self_ns + o.self_ns)
  end)
end)
