-- Big sources and long names: work grows as they do. It is counted in
-- instructions of Lua, in calls, or in memory, so it is the same on every
-- machine.

local _ENV = require("helper").env(_ENV)

local branches = require "cprof.coverage.branches"
local expressions = require "cprof.coverage.expressions"
local format = require "cprof.text.format"
local helper = require "helper"
local instructions = require "cprof.count.instructions"
local sampled = require "cprof.count.sampled"
local shown = require "cprof.annotate.source"
local tokenmap = require "cprof.coverage.tokenmap"

-- how many instructions of Lua a call runs, in hundreds, and what it returns
local function work(f, ...)
  local n = 0
  debug.sethook(function() n = n + 1 end, "", 100)
  local result = f(...)
  debug.sethook()
  return n, result
end

-- asserts that the work is in proportion to the size: f(n) prepares it and
-- returns a function that does it
local function grows_with(f, n)
  local small, large = work(f(n)), work(f(4 * n))
  assert.is_true(small > 0)
  assert.is_true(large < 5 * small, ("%d, then %d"):format(small, large))
end

-- the map of a text, and counters in which all ran once
local function counted(text)
  local map, of = assert(tokenmap.new(text)), {}
  for _, p in ipairs(map.prototypes) do
    local ones = {}
    for i = 1, #p.code do ones[i] = 1 end
    of[p] = { ran = ones, jumped = ones, stayed = ones }
  end
  return map, of
end

local function branches_in(text)
  local map, of = counted(text)
  return function() return branches.of(map, of) end
end

describe("samples in a function without jumps", function()
  -- `n` instructions, with a sample before each
  local function straight(n)
    local c = { n = n, op = instructions.of(), code = {}, line = {},
      step = {}, jump = {} }
    for i = 0, n do
      c.code[i], c.line[i], c.step[i], c.jump[i] = 0, 1, 1000, 0
    end
    return c
  end

  it("are divided in one pass", function()
    grows_with(function(n)
      local c = straight(n)
      return function() return sampled.times(c, true) end
    end, 1000)
  end)

  it("keep their sum, and go to the instructions before them", function()
    local c = straight(4)
    for i = 1, 4 do c.step[i] = i == 4 and 3000 or 0 end
    assert.are.same({ 1000, 1000, 1000, 0 }, sampled.times(c, true))
    local _, times = work(sampled.times, straight(1000), true)
    local sum = 0
    for _, ns in ipairs(times) do sum = sum + ns end
    assert.are.equal(1000 * 1000, sum)
  end)

  it("keep their sum where figures are as large as files can have them",
  function()
    local c = straight(1000)
    for i = 1, 1000 do c.step[i] = i == 1000 and 1 << 61 or 0 end
    local sum = 0
    for _, ns in ipairs(sampled.times(c, true)) do
      assert.is_true(ns >= 0)
      sum = sum + ns
    end
    assert.are.equal(1 << 61, sum)
  end)
end)

describe("branches", function()
  it("of many statements are found in one pass", function()
    grows_with(function(n)
      return branches_in("local x = ...\n" ..
        ("if x == 1 and x > 0 or x == 2 then x = 3 end\n"):rep(n))
    end, 100)
  end)

  it("of a long condition are found in one pass", function()
    grows_with(function(n)
      return branches_in("local x, y = ...\nif x" .. (" and y"):rep(n) ..
        " then x = 3 end")
    end, 200)
  end)

  it("that all leave one loop are found in one pass", function()
    grows_with(function(n)
      return branches_in("local x = ...\nwhile true do\n" ..
        ("if x then break end\n"):rep(n) .. "end")
    end, 200)
  end)

  it("have the jumps of the parts of their conditions", function()
    local list = branches_in
      "local a, b, c = ...\nif a and b and c then print(a) end" ()
    local found = {}
    for i, b in ipairs(list) do
      found[i] = ("%s %d %d"):format(b.kind, b.ways[1].count,
        b.ways[2].count)
    end
    assert.are.same({ "if 1 3", "and 1 1", "and 1 2" }, found)
  end)
end)

describe("functions of a source", function()
  -- each has code of its own
  local row = "f(function(x) return x + %d + %d end)"

  -- looks up all functions of a text of `n` functions
  local function found(n, separator)
    local rows = {}
    for i = 1, n do rows[i] = row:format(i // 100, i % 100) end
    local map = assert(tokenmap.new(table.concat(rows, separator)))
    return function()
      for i = 2, #map.prototypes do
        local p = map.prototypes[i]
        local f = { kind = "Lua", line = p.line, last_line = p.last_line }
        assert(tokenmap.find(map, f, p.code) == p)
      end
    end
  end

  it("are looked up by their lines", function()
    grows_with(function(n) return found(n, "\n") end, 100)
  end)

  it("are looked up by their code on one line", function()
    grows_with(function(n) return found(n, " ") end, 100)
  end)

  it("with equal code on one line are told apart by their number", function()
    local map = assert(tokenmap.new(("f(function() return 1 end) "):rep(3)))
    for nth = 1, 3 do
      local p = map.prototypes[1 + nth]
      local f = { kind = "Lua", line = 1, last_line = 1, nth = nth }
      assert.are.equal(p, tokenmap.find(map, f, p.code))
    end
    local f = { kind = "Lua", line = 1, last_line = 1 }
    assert.is_nil(tokenmap.find(map, f, map.prototypes[2].code))
  end)
end)

describe("parts of lines", function()
  it("within many brackets are compared in one pass", function()
    grows_with(function(n)
      local map, of = counted("return " .. ("{"):rep(n) ..
        ("{ a = f(1) }, "):rep(10 * n) .. ("}"):rep(n))
      return function() return expressions.of(map, of) end
    end, 40)
  end)

  it("are made once, however many functions of a source are shown",
  function()
    local text = "local f = ... -- parts\n" ..
      ("f[#f + 1] = function(x) return x or 'é' end\n"):rep(10)
    local p = helper.record(function()
      local f = {}
      load(text)(f)
      for _, each in ipairs(f) do each(1) end
    end, { mode = "count" })
    local columns, calls = shown.columns, 0
    function shown.columns(line)
      if line:find "^f%[#f" then calls = calls + 1 end
      return columns(line)
    end
    p:annotate(nil, { expressions = true, all = true, color = "never" })
    shown.columns = columns
    -- one for each line
    assert.are.equal(10, calls)
  end)
end)

describe("a very long line", function()
  local text = "local s = ... " .. ("s = s + 1 "):rep(10000) .. "return s"

  it("is cut", function()
    local p = helper.record(function() load(text)(1) end, { mode = "count" })
    local out = p:annotate(nil, { expressions = true, all = true,
      color = "never" })
    assert.has_text(text:sub(1, 1000) .. "…", out)
  end)

  it("is not cut within a character", function()
    local cut, size = shown.cut(("é"):rep(600) .. "x")
    assert.are.equal(("é"):rep(500) .. "…", cut)
    assert.are.equal(1000, size)
    cut, size = shown.cut("x" .. ("é"):rep(600))
    assert.are.equal("x" .. ("é"):rep(499) .. "…", cut)
    assert.are.equal(999, size)
  end)
end)

describe("a name", function()
  -- the memory that a call takes, in KB, before any of it is collected
  local function memory(f, ...)
    collectgarbage()
    collectgarbage "stop"
    local before = collectgarbage "count"
    f(...)
    local after = collectgarbage "count"
    collectgarbage "restart"
    return after - before
  end

  for _, cut in ipairs { "cut", "cutend", "cutstart", "cutpath", "cutname",
    "cutchain", "cutindent" } do
    for _, part in ipairs { "ab c", "a.b/", "a/é:", "a → b." } do
      it(("%s of many parts %q is cut in one pass"):format(cut, part),
      function()
        local short = memory(format[cut], part:rep(1000), 60)
        local long = memory(format[cut], part:rep(4000), 60)
        assert.is_true(long < 5 * short + 10,
          ("%.0f KB, then %.0f KB"):format(short, long))
      end)
    end
  end

  it("keeps as many folders, modules or calls at its end as there is room for",
  function()
    local path = "/usr/" .. ("share/"):rep(1000) .. "a/b.lua:1"
    assert.are.equal("/usr/…/share/share/a/b.lua:1", format.cutpath(path, 30))
    local name = ("game."):rep(1000) .. "ai.step"
    assert.are.equal("…game.game.ai.step", format.cutname(name, 20))
    local chain = "main → " .. ("f → "):rep(1000) .. "g"
    assert.are.equal("main → … → f → f → g", format.cutchain(chain, 20))
  end)
end)
