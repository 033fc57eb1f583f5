local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local format = require "cprof.text.format"
local steady = require "steady"
local within = require "cprof.count.within"

local game = [[
local function fact(n)
  pass(10)
  if n > 0 then return n * fact(n - 1) end
  return 1
end
local function small() pass(3) end
local function draw() pass(400) fact(9) small() end
local function sound() pass(200) end
local function frame() pass(20) draw() draw() sound() end
local function run() for i = 1, 3 do frame() end end
run()
]]

describe("a summary", function()
  it("has functions by self time, then the hottest path", function()
    assert.equal([[
  self  self %   total  total %  calls  function  defined
2.40ms    65.3  3.02ms     82.1      6  draw      game.lua:7
 600µs    16.3   600µs     16.3     60  fact      game.lua:1
 600µs    16.3   600µs     16.3      3  sound     game.lua:8
60.0µs     1.6  3.68ms    100.0      3  frame     game.lua:9
… 4 more functions, 0.5 % self

 total  total %    self  self %  hottest path
3.68ms    100.0  60.0µs     1.6  game.lua → run → frame
3.02ms     82.1  2.40ms    65.3    draw
 600µs     16.3   600µs    16.3      fact ×10
 600µs     16.3   600µs    16.3    sound
… 1 more node, 0.5 % self
]], steady.report(game, "", "width = 80"))
  end)

  it("is what a report is, unless it is told otherwise", function()
    local same = steady.run(game, "",
      'return tostring(p:report() == p:report { mode = "summary" })')
    assert.equal("true", same)
  end)

  it("takes no more rows than there are", function()
    local function report(options)
      return steady.run([[
        for i = 1, 60 do
          load(("local function f%d() pass(10) end f%d()"):format(i, i),
            "=f" .. i, "t", { pass = pass })()
        end]], "", ("return (p:report { %s })"):format(options))
    end
    for _, height in ipairs { 16, 20, 25, 29, 40, 60 } do
      local s = report(("height = %d, width = 80, min_percent = 0"):format(
        height))
      local _, rows = s:gsub("\n", "")
      -- what to type next, an empty line before it, and the prompt
      assert.is_true(rows <= height - 3, s)
      assert.is_true(rows >= height - 8, s)
    end
    local _, rows = report("height = 10, width = 200"):gsub("\n", "")
    assert.is_true(rows <= 10, rows)
    -- a limit that is asked for wins over the height
    local s = report "height = 20, limit = 50, min_percent = 0"
    local _, count = s:gsub("\n[^\n]* f%d+ +f%d+:1", "")
    assert.is_true(count >= 45, s)
  end)

  it("says what the hottest functions' time is made of, as far as it has room",
    function()
      local p = steady.record([[
        for i = 1, 10 do
          load(("local function f%d() pass(%d) end f%d()"):format(i, 100 + i,
            i), "=f" .. i, "t", { pass = pass })()
        end]], "")
      local itself = within.itself
      local _ <close> = setmetatable({}, { __close = function()
        within.itself = itself
      end })
      function within.itself() return { { what = "allocator", ns = 1 } } end
      for height, wanted in pairs { [15] = 0, [25] = 1, [28] = 2, [60] = 5 } do
        local s = p:report { height = height, width = 80 }
        local _, count = s:gsub("of its self time: allocator 100.0 %%", "")
        assert.equal(wanted, count, s)
        assert.matches("f10:1\n" .. (wanted > 0 and " +of its" or ""), s)
      end
    end)

  it("joins callers only with the callee that has nearly all of their time",
    function()
      local s = steady.report([[
local function leaf() pass(500) end
local function other() pass(15) end
local function half() leaf() for i = 1, 26 do other() end end
local function all() half() end
all()
]], "", "width = 80")
      assert.has_text("  game.lua → all → half\n", s)
      assert.matches("\n[^\n]*    leaf\n", s)
      assert.matches("\n[^\n]*    other\n", s)
      -- a function with self time is not joined with its caller in one line
      s = steady.report([[
local function leaf() pass(900) end
local function outer() pass(100) leaf() end
outer()
]], "", "width = 80")
      assert.matches("  game%.lua → outer\n[^\n]*    leaf\n", s)
    end)

  it("is shaded by the hottest, with the same text", function()
    local bare, s = steady.report(game, "", 'color = "never", width = 80'),
      steady.report(game, "", 'color = "always", width = 80')
    -- the hottest of all has the hottest shade
    assert.has_text(format.paint(true)("heat8", ""):sub(1, 5), s)
    assert.equal(bare, (s:gsub("\27%[[%d;]*m", ""):gsub(" +\n", "\n")))
  end)

  it("is quick for a million nodes", function()
    if helper.slow then return end
    local p = helper.record(function()
      local fs = {}
      local function walk(depth)
        if depth == 0 then return end
        for i = 1, 10 do fs[depth][i](depth - 1) end
      end
      for depth = 1, 6 do
        fs[depth] = {}
        for i = 1, 10 do
          fs[depth][i] = load("local walk = ... return function(d) " ..
            ("return (walk(d)) end"), ("=f%d-%d"):format(depth, i))(walk)
        end
      end
      walk(6)
    end, { max_nodes = 2000000, recursion = "full", c_functions = false })
    assert.is_true(#p.nodes > 1000000)
    -- the time of a report, compared with that of adding up alone
    local function seconds(f)
      local before = os.clock()
      f()
      return os.clock() - before
    end
    local function add_up() p:sums(function(f) return f.title end, true) end
    -- other programs can only make a time longer, so the least one counts
    local function ratio(f)
      local least = math.huge
      for _ = 1, 20 do
        least = math.min(least, seconds(f) / seconds(add_up))
        if least < 8 then break end
      end
      return least
    end
    assert.is_true(ratio(function() p:report() end) < 8)
    assert.is_true(ratio(function() p:report { mode = "tree" } end) < 8)
  end)
end)
