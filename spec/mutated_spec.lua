local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local merge = require "cprof.merge"
local profiler = require "cprof"

-- a recorded file as a string
local function recorded(dir)
  local path = dir:file "x.cprof"
  helper.record(function() end, { file = path })
  return command.read(path)
end

-- what is said of it with a number of another value at 'at'
local function changed(dir, form, at, value)
  local s = recorded(dir)
  local new = form:pack(value)
  local path = dir:file("changed.cprof", s:sub(1, at) .. new ..
    s:sub(at + #new + 1))
  return select(2, profiler.load(path))
end

-- where the contents of the first block of a kind that has any begin, and
-- how many these are; see src/file/format.h
local function block(s, kind)
  local at = 4097
  repeat
    local k, _, units, used = ("I4I4I4I4"):unpack(s, at)
    if k == kind and (used > 0 or kind == 1) then return at + 64, used end
    at = at + units * 64
  until units == 0 or at > #s - 16
  error("there is no block of kind " .. kind)
end

local function put(s, at, bytes)
  return s:sub(1, at - 1) .. bytes .. s:sub(at + #bytes)
end

describe("a damaged file", function()
  it("is refused where exports rely on what is not so", function()
    local dir <close> = command.folder()
    for what, case in pairs {
      ["mode"] = { "=I4", 36, 99 },
      ["clock"] = { "=I4", 40, 99 },
      ["time of the start"] = { "=i8", 120, -1 },
    } do
      local why = changed(dir, table.unpack(case))
      assert.is_truthy((why or ""):find("damaged: " .. what, 1, true), why)
    end
  end)

  it("is refused where a line that has only allocated has no number",
    function()
      local dir <close> = command.folder()
      local path = dir:file "x.cprof"
      helper.record(function() end,
        { mode = "line", memory = true, file = path })
      local s = command.read(path)
      local first, used = block(s, 2)
      -- no hits, no time, a line; behind all lines, one allocation
      s = put(s, first, ("I8I8i4"):pack(0, 0, -7))
      s = put(s, first + used * 32, ("I8"):pack(1))
      local why = select(2, profiler.load(dir:file("y.cprof", s))) or ""
      assert.is_truthy(why:find("damaged: number of a line", 1, true), why)
    end)

  it("is refused where overhead is a function that was called", function()
    local dir <close> = command.folder()
    local s = recorded(dir)
    local why = select(2, profiler.load(dir:file("y.cprof",
      put(s, block(s, 1) + 2 * 64 + 24, ("I4"):pack(1))))) or ""
    assert.is_truthy(why:find("damaged: overhead", 1, true), why)
  end)

  it("has a root that is the root of a sum, whatever it is called",
    function()
      local dir <close> = command.folder()
      local s = recorded(dir)
      local text = "(root)"
      local name = s:find(text, 1, true) and text or
        helper.record(function() end).functions[1].name
      local renamed, count = s:gsub((name:gsub("%p", "%%%0")),
        ("x"):rep(#name), 1)
      assert.equal(1, count)
      local a = assert(profiler.load(dir:file("a.cprof", s)))
      local b = assert(profiler.load(dir:file("b.cprof", renamed)))
      local sum = assert(merge.sum { a, b })
      helper.check(a)
      assert.equal(a.nodes[1].total_ns + b.nodes[1].total_ns,
        sum.nodes[1].total_ns)
    end)

  it("is refused, or read without an error", function()
    local dir <close> = command.folder()
    local out, err, status = command.shell(("$SPEC_LUA " ..
      "spec/torture/mutated.lua %s 1 %d"):format(dir.path,
      helper.many(100)))
    assert.equal(0, status, out .. err)
    assert.is_truthy(out:find "^mutated files: %d+ tried, %d+ refused, 0", out)
  end)
end)
