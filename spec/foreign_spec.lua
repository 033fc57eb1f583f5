local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"
local instructions = require "cprof.count.instructions"
local merge = require "cprof.profile.merge"
local profiler = require "cprof"

if core.internals() ~= "direct" then return end

local other = _VERSION == "Lua 5.4" and "Lua 5.5" or "Lua 5.4"

-- A recording whose file says that another version of Lua was recorded.
local function foreign(dir, mode, version)
  local path = dir:file(mode .. ".cprof")
  os.remove(path)
  local script = dir:file("chunk.lua", "local function leaf(...) " ..
    "return ... end\nfor i = 1, 20000 do leaf(i) end\n")
  helper.record(assert(loadfile(script)), { mode = mode, file = path })
  local s, n = command.read(path):gsub(_VERSION, version)
  assert.is_true(n > 0)
  dir:file(mode .. ".cprof", host.sealed(s))
  return path, "@" .. script
end

describe("a profile with instructions of another Lua", function()
  it("has its figures by lines, and says why not by expressions", function(dir)
    local own, source = foreign(dir, "count", _VERSION)
    local there = assert(profiler.load(own))
    assert.is_truthy(there.expressions[source])
    local p = helper.check(assert(profiler.load(foreign(dir, "count", other))))
    assert.equal(20000, helper.named(p, "leaf").calls)
    assert.is_nil(p.expressions[source])
    assert.is_nil(p.branches[source])
    for i, line in ipairs(there.lines[source]) do
      assert.equal(line.hits, p.lines[source][i].hits)
      assert.equal(line.instructions, p.lines[source][i].instructions)
    end
    local out = command.cprof("coverage", dir:file "count.cprof", "chunk.lua")
    assert.has_text("the code ran in " .. other .. ", and this is " ..
      _VERSION .. ": only lines are known", out)
  end)

  it("is read by the instructions of that Lua", function()
    local mine, its = instructions.of(), instructions.of(other)
    assert.not_equal(mine.VARARGPREP, its.VARARGPREP)
    local none = { [0] = 0, 0, 0 }
    local s = instructions.write { n = 2, count = { [0] = 0, 0, 3 },
      step = { [0] = 3, 0, 0 }, skip = none, jump = none,
      code = { [0] = 0, its.VARARGPREP, its.RETURN }, line = none }
    assert.equal(3, instructions.ran(instructions.read(s, other))[1])
    assert.equal(0, instructions.ran(instructions.read(s))[1])
  end)

  it("is not added to one of this Lua", function(dir)
    local a = assert(profiler.load(foreign(dir, "count", _VERSION)))
    local b = assert(profiler.load(foreign(dir, "count", other)))
    local sum, why = merge.sum { a, b }
    assert.is_nil(sum)
    assert.equal(("instructions of %s and of %s cannot be added up"):format(
      _VERSION, other), why)
    -- calls mean the same in all versions of Lua, so they can be added up
    a = assert(profiler.load(foreign(dir, "call", _VERSION)))
    b = assert(profiler.load(foreign(dir, "call", other)))
    assert.equal(40000, helper.named(assert(merge.sum { a, b }), "leaf").calls)
  end)

  it("is refused if that Lua is not known", function(dir)
    for _, mode in ipairs { "count", "sample" } do
      local path = foreign(dir, mode, "Lua 5.9")
      local p, why = profiler.load(path)
      assert.is_nil(p)
      assert.equal(path .. ": it has instructions of Lua 5.9, which this " ..
        "cprof does not know", why)
      local err = command.refused("report", path)
      assert.has_text(why, err)
    end
    assert(profiler.load(foreign(dir, "call", "Lua 5.9")))
  end)
end)
