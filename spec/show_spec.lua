local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local command = require "command"

local function spin(n) for _ = 1, n do end end
local function first() spin(1000) end
local function second()
  spin(3000)
  string.rep("x", 10)
end
local twins = {}
twins.a = function() local function twin() end twin() end
twins.b = function() local function twin() end twin() end

local function work()
  for _ = 1, 20 do first() second() end
  twins.a()
  twins.b()
end

local here = debug.getinfo(1, "S").short_src

local function show(options, ...)
  local dir <close> = command.folder()
  local path = dir:file "x.cprof"
  local p = helper.record(work, options)
  assert(p:save(path))
  local out, err, status = command.cprof("show", path, ...)
  return out, err, status, p
end

describe("cprof show", function()
  it("has callers and callees with shares that add up", function()
    -- shares are of the program, as they are everywhere
    local function whole(out)
      return tonumber(out:match "^[^\n]*\n%S+ total %(([%d.]+) %%%)")
    end
    local out = show(nil, "spin")
    local callers = out:match "\ncalled by\n[^\n]*\n(.-)\n\n"
    local sum, calls = 0, {}
    for percent, n, name in callers:gmatch "([%d.]+) +(%d+)  (%S+)" do
      sum = sum + tonumber(percent)
      calls[name] = tonumber(n)
    end
    assert.same({ first = 20, second = 20 }, calls)
    assert.is_true(math.abs(sum - whole(out)) < 0.2, out)
    assert.has_no_text("\ncalls\n", out)
    out = show(nil, "second")
    local callees = out:match "\ncalls\n[^\n]*\n(.-)\n\n"
    sum = 0
    for percent in callees:gmatch "([%d.]+) +%d*  %S+" do
      sum = sum + tonumber(percent)
    end
    assert.is_true(math.abs(sum - whole(out)) < 0.3, out)
    assert.has_text("spin", callees)
    assert.has_text("string.rep", callees)
    assert.has_text("(itself)", callees)
    assert.has_text("20 calls\n", out)
  end)

  it("has the lines of the function, and no others", function()
    local out = show({ mode = "line" }, "second")
    local f = debug.getinfo(second, "S")
    for i = 1, 3 do
      assert.matches(("\n *20 [^\n]* %d  "):format(f.linedefined + i), out)
    end
    for i = f.linedefined, f.lastlinedefined do
      assert.matches((" %d  "):format(i), out)
    end
    assert.no_matches((" %d  "):format(f.lastlinedefined + 1), out)
    assert.has_text("cprof run --lines", show(nil, "second"))
  end)

  it("takes a title, a name, or the only one that has it in it", function()
    local whole = show(nil, "string.rep")
    assert.matches("^string%.rep %(%[C%]%)\n", whole)
    assert.matches("^second %(", (show(nil, "seco")))
    local line = debug.getinfo(first, "S").linedefined
    assert.matches("^first %(", (show(nil, ("first (%s:%d)"):format(here,
      line))))
  end)

  it("tells callers and callees apart by line where that was recorded",
    function()
      local line = debug.getinfo(second, "S").linedefined
      local out = show({ callsites = true }, "spin")
      assert.matches("\ncalled by\n[^\n]* from line  defined\n", out)
      assert.matches(("\n[^\n]* 20  second +%d  "):format(line + 1), out)
      out = show({ callsites = true }, "second")
      assert.matches(("\n[^\n]* 20  string.rep +%d  "):format(line + 2), out)
      assert.has_no_text("from line", show(nil, "spin"))
    end)

  it("knows the root and the host", function()
    for _, name in ipairs { "(root)", "root" } do
      local out, err, status = show(nil, name)
      assert.equal(name == "(root)" and 0 or 2, status, err)
      assert.has_text("(root)", out .. err)
    end
  end)

  it("lists titles where a name is that of several", function()
    local _, err, status = show(nil, "twin")
    assert.equal(2, status)
    assert.has_text("several functions are named 'twin': twin (", err)
    local _, count = err:gsub("twin %(", "")
    assert.equal(2, count)
  end)
end)
