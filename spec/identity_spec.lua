local _ENV = require("helper").env(_ENV)

local command = require "command"
local profiler = require "cprof"
local helper = require "helper"

-- the Lua functions of a profile that come from one source
local function of_source(p, source)
  local out = {}
  for _, fn in ipairs(p.functions) do
    if fn.source == source then out[#out + 1] = fn end
  end
  return out
end

describe("the identity of functions", function()
  after_each(function() profiler.stop() end)

  it("is the definition, not the closure", function()
    local function make(x) return function() return x end end
    local function work()
      for i = 1, 10 do make(i)() end
    end
    local p = helper.record(work)
    assert.equal("make 10\n(anonymous) 10", (helper.tree(p, work)
      :gsub("\n%S+ 10$", "\n(anonymous) 10")))
  end)

  it("survives a million closures without keeping one alive", function()
    local n = helper.many(1000000)
    local weak = setmetatable({}, { __mode = "k" })
    local f
    local function work()
      for i = 1, n do
        f = function() return i end
        f()
        if i % 1000 == 0 then weak[f] = true end
      end
      f = nil
    end
    profiler.start()
    work()
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(weak))
    profiler.stop()
    local p = profiler.snapshot()
    assert.equal(n, helper.named(p, "f").calls)
  end)

  it("keeps no garbage alive where closures are in doubt, either", function()
    local weak = setmetatable({}, { __mode = "k" })
    local function pair() return function() end, function() end end
    profiler.start()
    for i = 1, 1000 do
      local a, b = pair()
      a() b()
      weak[a], weak[b] = i, i
      local chunk = load("return " .. i, "=doubt")
      chunk()
      weak[chunk] = i
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(weak))
  end)

  it("tells definitions on one line apart", function()
    local function a(x) return x end local function b() return 2 end
    local function work() a() b() a() end
    assert.equal("a 2\nb 1", (helper.shape(work)
      :gsub("^%S+ 2\n%S+ 1$", "a 2\nb 1")))
  end)

  it("tells equal definitions on one line apart", function()
    local a, b = function() end, function() end
    local function work() a() a() b() end
    local p = helper.record(work)
    local calls = {}
    for count in helper.tree(p, work):gmatch " (%d+)" do
      calls[#calls + 1] = count
    end
    assert.same({ "2", "1" }, calls)
    -- closures made while recording, by a chunk whose call was recorded
    local chunk = load("return function() end, function() end", "=twins")
    local function later()
      for _ = 1, 3 do
        local x, y = chunk()
        x() y() y()
      end
    end
    p = helper.record(later)
    calls = {}
    for _, fn in ipairs(of_source(p, "=twins")) do
      if fn.kind == "Lua" then calls[#calls + 1] = fn.calls end
    end
    assert.same({ 3, 6 }, calls)
  end)

  it("is not the address of what was collected", function()
    local n = helper.many(5000)
    local expected = {}
    local function work()
      for i = 1, n do
        local which = i % 7
        local f = load(("return function() return %d end"):format(which),
          "=addresses")
        f()()
        expected[which] = (expected[which] or 0) + 1
        if i % 50 == 0 then collectgarbage() end
      end
    end
    local p = helper.record(work)
    local mains, inner = {}, {}
    for _, fn in ipairs(of_source(p, "=addresses")) do
      table.insert(fn.kind == "main" and mains or inner, fn.calls)
    end
    local all = {}
    for _, calls in pairs(expected) do all[#all + 1] = calls end
    table.sort(all) table.sort(mains) table.sort(inner)
    assert.same(all, mains)
    assert.same(all, inner)
  end)

  it("is not the address of a chunk's name, either", function()
    local n = helper.many(5000)
    local function work()
      for i = 1, n do
        local name = ("="):rep(60) .. i % 5
        load("return function() end", name)()()
        if i % 20 == 0 then collectgarbage() end
      end
    end
    local p = helper.record(work)
    for k = 0, 4 do
      local fns = of_source(p, ("="):rep(60) .. k)
      assert.equal(2, #fns)
      for _, fn in ipairs(fns) do assert.equal(n // 5, fn.calls) end
    end
  end)

  it("is the text of chunks without a name", function()
    local function work()
      for i = 1, 30 do load(("local x = %d return x"):format(i % 3))() end
    end
    local p = helper.record(work)
    for k = 0, 2 do
      local fns = of_source(p, ("local x = %d return x"):format(k))
      assert.equal(1, #fns)
      assert.equal(10, fns[1].calls)
    end
  end)

  it("tells chunks of one name apart that ran before the start", function()
    local one = load("return function() return 1 end", "=before")()
    local two = load("return function() return 2 end", "=before")()
    local function work() one() two() one() end
    local p = helper.record(work)
    local fns = of_source(p, "=before")
    assert.equal(2, #fns)
    assert.equal(2, fns[1].calls)
    assert.equal(1, fns[2].calls)
  end)

  it("follows a file that is loaded again with other code", function(dir)
    local path = dir:file "x.cprof"
    command.write(path, "local function f() return 1 end return f")
    local old = dofile(path)
    command.write(path, "local function f() return 2 end return f")
    local function work()
      old()
      local new = dofile(path)
      for _ = 1, 3 do new() end
      old()
    end
    local p = helper.record(work)
    helper.check(p)
    local calls = {}
    for _, fn in ipairs(of_source(p, "@" .. path)) do
      if fn.kind == "Lua" then calls[#calls + 1] = fn.calls end
    end
    table.sort(calls)
    assert.same({ 2, 3 }, calls)
  end)

  it("is one for the same code loaded again", function()
    local code = "local function f() end f() return f"
    local function work()
      for _ = 1, 10 do
        load(code, "=again")()()
        collectgarbage()
      end
    end
    local p = helper.record(work)
    local fns = of_source(p, "=again")
    assert.equal(2, #fns)
    assert.equal(10, fns[1].calls)
    assert.equal(20, fns[2].calls)
  end)

  it("works without debug information", function()
    local function strip(code) return load(string.dump(load(code), true)) end
    local a, b = strip "return 1", strip "return 2"
    local inner = strip "return function() return 3 end"
    local function work()
      a() b() a()
      inner()()
    end
    local p = helper.record(work)
    local calls = {}
    for _, fn in ipairs(of_source(p, "=?")) do
      calls[#calls + 1] = fn.calls
    end
    assert.same({ 2, 1, 1, 1 }, calls)
  end)

  it("of C functions is their address", function()
    local rep = string.rep
    local function work() rep("x", 2) string.rep("x", 2) string.upper "x" end
    assert.equal("string.rep 2\nstring.upper 1", (helper.shape(work)))
  end)

  -- How many times as long as `other` takes `one` takes, recorded: the ratio of
  -- the shortest times, which the machine has disturbed least.
  local function ratio(one, other)
    local function timed(f)
      profiler.start()
      local before = os.clock()
      f()
      local t = os.clock() - before
      profiler.stop()
      return t
    end
    local least, of_other = math.huge, math.huge
    for _ = 1, 10 do
      least = math.min(least, timed(one))
      of_other = math.min(of_other, timed(other))
    end
    return least / of_other
  end

  local n = helper.many(100000)
  local function same()
    local f = function(i) return i end
    for i = 1, n do f(i) end
  end
  local function fresh()
    for i = 1, n do
      local f = function() return i end
      f()
    end
  end

  it("costs no dump of each closure that is made for a call", function()
    -- with a dump of each closure, it would take some thirty times as long
    local r = ratio(fresh, same)
    assert.is_true(r < 15, r)
  end)

  it("is found quickly if several are defined on one line", function()
    local function lines() for i = 1, n do (function() return i end)() end end
    -- functions are told apart by the addresses of their code, so this takes
    -- twice as long, not ten times
    local r = ratio(lines, fresh)
    assert.is_true(r < 5, r)
    fresh = lines
    local p = helper.record(fresh)
    assert.equal(1, helper.find(p, fresh).calls)
    local calls = 0
    for _, fn in ipairs(p.functions) do
      if fn.name:find "^lines%.<fn:" then calls = fn.calls end
    end
    assert.equal(n, calls)
  end)

  it("is in doubt where a file changed since it was loaded", function(dir)
    local path = dir:file "x.cprof"
    command.write(path, "return function() return 1 end, " ..
      "function() return {} end")
    local f, g = dofile(path)
    command.write(path, "return function() return 'other' end")
    local function work() f() g() f() end
    local p = helper.record(work)
    helper.check(p)
    local fns = of_source(p, "@" .. path)
    assert.equal(2, #fns)
    assert.equal(2, fns[1].calls)
    assert.equal(1, fns[2].calls)
  end)
end)

describe("many functions on one line", function()
  -- a text of `n` functions, all with code of their own but the last two
  local function text(n)
    local rows = {}
    for i = 1, n do
      rows[i] = ("f%d = function() return %d end"):format(i, math.min(i,
        n - 1))
    end
    return "local f = {} f." .. table.concat(rows, " f.") .. " return f"
  end

  local function calls(n, load_it)
    local f
    local p = helper.record(function()
      f = load_it(text(n))
      for round = 1, 2 do
        for i = 1, n do
          for _ = 1, i do assert(f["f" .. i]() == math.min(i, n - 1), round) end
        end
      end
    end)
    local out = {}
    for _, fn in ipairs(p.functions) do
      local number = fn.name:match "^f%.f(%d+)"
      if number and fn.source == text(n) then
        out[tonumber(number)] = fn.calls
      end
    end
    return out
  end

  local function expected(n)
    local out = {}
    for i = 1, n do out[i] = 2 * i end
    return out
  end

  for _, n in ipairs { 8, 100 } do
    it(("are told apart: %d"):format(n), function()
      assert.are.same(expected(n), calls(n, function(s)
        return load(s)()
      end))
    end)

    it(("are told apart if they were made before: %d"):format(n), function()
      local f = load(text(n))()
      assert.are.same(expected(n), calls(n, function() return f end))
    end)

    it(("are told apart if they are made again: %d"):format(n), function()
      assert.are.same(expected(n), calls(n, function(s)
        for _ = 1, 3 do load(s)() end
        return load(s)()
      end))
    end)
  end
end)
