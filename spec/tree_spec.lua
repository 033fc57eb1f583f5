local _ENV = require("helper").env(_ENV)

local format = require "cprof.text.format"
local helper = require "helper"
local releases = require "releases"
local steady = require "steady"

describe("mode tree", function()
  it("has the stack states, indented, recursion joined", function()
    assert.equal([[
 total  total %    self  calls  function        defined
3.60ms    100.0     0ns      1  game.lua        main chunk
3.60ms    100.0     0ns      3    frame         game.lua:11
3.00ms     83.3  2.40ms      6      draw        game.lua:6
 600µs     16.7   600µs     60        fact ×10  game.lua:1
 600µs     16.7   600µs      3      sound       game.lua:10
]], steady.report(steady.game, "", 'mode = "tree", width = 100'))
  end)

  it("hides nothing between two calls of a C function", function()
    assert.equal([[
 total  total %    self  calls  function        defined
70.0µs    100.0     0ns      1  game.lua        main chunk
70.0µs    100.0     0ns      1    pcall         [C]
70.0µs    100.0  40.0µs      1      <fn:2>      game.lua:2
30.0µs     42.9     0ns      1        pcall     [C]
30.0µs     42.9  30.0µs      1          <fn:1>  game.lua:1
]], steady.report([[
local function inner() pass(30) end
local function outer() pass(40) pcall(inner) end
pcall(outer)
]], "", 'mode = "tree", width = 100'))
  end)

  it("has the lines of calls in a column of their own", function()
    local s = steady.report(steady.game, "callsites = true",
      'mode = "tree", width = 100')
    assert.matches("^[^\n]*  function +from line  defined\n", s)
    local seen = {}
    for calls, line in s:gmatch " (%d+)  +draw +(%d+)  game%.lua:6\n" do
      seen[tonumber(line)] = tonumber(calls)
    end
    assert.same({ [12] = 3, [13] = 3 }, seen)
    -- recursive calls are added to the node of the first call
    local _, facts = s:gsub("  fact ×10 +8  game%.lua:1\n", "")
    assert.equal(2, facts)
  end)

  it("begins at a function, and ends at a depth", function()
    local s = steady.report(steady.game, "",
      'mode = "tree", root = "draw", width = 100')
    assert.matches("\n3%.00ms +83%.3  2%.40ms +6  draw +game", s)
    assert.matches("\n 600µs +16%.7 +600µs +60    fact ×10 +game", s)
    assert.has_no_text("frame", s)
    assert.has_no_text("more node", s)
    s = steady.report(steady.game, "",
      'mode = "tree", root = "frame", depth = 2, width = 100')
    assert.matches("\n[^\n]*  frame [^\n]*\n[^\n]*    draw ", s)
    assert.has_no_text("fact", s)
    assert.matches("\n… 1 more node, 16%.7 %% self\n$", s)
  end)

  it("adds up what a function did wherever it was called", function()
    local s = steady.report([[
local function leaf() pass(100) end
local function work() leaf() end
local function a() work() end
local function b() work() work() end
a() b()
]], "", 'mode = "tree", root = "work", width = 100')
    assert.matches("\n *300µs +100%.0 +0ns +3  work ", s)
    assert.matches("\n *300µs +100%.0 +300µs +3    leaf ", s)
  end)

  it("keeps what leads to what a filter lets pass", function()
    local s = steady.report(steady.game, "",
      'mode = "tree", filter = "/^fact/", width = 100')
    local names = {}
    for name in s:gmatch "\n[^\n]- %d+  +([%w.]+)[^\n]* game%.lua" do
      names[#names + 1] = name
    end
    assert.same({ "frame", "draw", "fact" }, names)
    assert.has_no_text("sound", s)
  end)

  it("says what it cuts", function()
    local s = steady.report(steady.game, "", 'mode = "tree", limit = 3')
    assert.matches("\n… 2 more nodes, 33%.3 %% self\n$", s)
  end)

  it("can be deeper than the page is wide", function()
    local code = { "function f300() pass(100) end" }
    for i = 299, 1, -1 do
      code[#code + 1] = ("function f%d() local x = f%d() end"):format(i,
        i + 1)
    end
    local s = steady.report(table.concat(code, "\n") .. "\nf1()", "",
      'mode = "tree", limit = 1000, width = 80')
    assert.matches("\n[^\n]* f1\n", s)
    assert.matches("\n[^\n]*…f300\n", s)
    for line in s:gmatch "[^\n]+" do
      assert.is_true(utf8.len(line) <= 80, line)
    end
  end)

  it("has a deep recursion on one line", function()
    local function deep(n) if n > 0 then return 1 + deep(n - 1) end end
    local n = math.min(5000, releases.levels - 100)
    local function top() pcall(deep, n) end
    local count = format.count(n + 1)
    for _, recursion in ipairs { "full", "fold" } do
      local p = helper.record(top, { recursion = recursion })
      local s = p:report { mode = "tree", limit = 100, min_percent = 0 }
      assert.matches("\n[^\n]* " .. count .. " +deep ×" .. count .. " ", s)
    end
  end)
end)
