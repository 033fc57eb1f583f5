local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local format = require "cprof.text.format"
local profiler = require "cprof"
local steady = require "steady"

-- the lines of a flame report
local function drawn(options)
  return steady.report(steady.game, "", 'mode = "flame", ' .. options)
end

describe("mode flame", function()
  it("draws a box for each node, as wide as its share", function()
    assert.equal([[
│game.lua 100.0 %
│frame 100.0 %
│draw 83.3 %                                      │sound
│fact ×10 │
one character is 60.0µs wide
]], (drawn("width = 60"):gsub(" +\n", "\n")))
  end)

  it("has the shares of mode tree", function()
    local told = {}
    for share, called in steady.report(steady.game, "",
      'mode = "tree", width = 200'):gmatch "s +([%d.]+) +%S+ +%d+ +(%S+)" do
      told[called] = share
    end
    local n = 0
    local boxes = "│(%S+)[ ×%d]* ([%d.]+) %%"
    for called, share in drawn("width = 200"):gmatch(boxes) do
      assert.equal(told[called], share, called)
      n = n + 1
    end
    assert.equal(5, n)
  end)

  it("is of what a function calls, to a depth, or leads to a pattern",
    function()
    assert.equal([[
│draw 83.3 %
│fa… ×10│
one character is 75.0µs wide
]], (drawn('width = 40, root = "draw"'):gsub(" +\n", "\n")))
    assert.has_no_text("draw", drawn("width = 40, depth = 2"))
    local s = drawn('width = 60, filter = "sound"')
    assert.has_text("sound", s)
    assert.has_no_text("draw", s)
  end)

  it("has no line wider than asked, with and without colours", function()
    for _, options in ipairs { "", ', color = "always"' } do
      for _, width in ipairs { 40, 47, 60, 133 } do
        local s = drawn(("width = %d%s"):format(width, options))
        for line in s:gmatch "[^\n]+" do
          assert.is_true(format.width(line) <= width, line)
        end
      end
    end
  end)

  it("has a colour for each file, on which black is easy to read", function()
    local s = drawn('width = 60, color = "always"')
    local _, boxes = s:gsub("\27%[30;[%d;]+m│", "")
    assert.equal(5, boxes)
    assert.has_no_text("\27", drawn('width = 60, color = "never"'))
  end)

  it("draws measures other than time", function()
    profiler.start { memory = true }
    local function fill() for i = 1, 100 do local _ = { i } end end
    fill()
    profiler.stop()
    local s = profiler.snapshot():report { mode = "flame", width = 100,
      measure = "allocs" }
    assert.has_text("│fill ", s)
    assert.matches("\none character is %d", s)
  end)

  it("says that options of mode tree need it, too", function()
    local p = helper.record(function() end)
    local why = helper.failure(p.report, p, { mode = "self", depth = 1 })
    assert.equal('report: option \'depth\' needs mode = "tree" or "flame"',
      (why:gsub("^[^:]+:%d+: ", "")))
  end)
end)
