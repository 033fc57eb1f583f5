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
      local s, at, found = command.read(path), 4097, false
      while at < #s do
        local kind, _, units, used = ("<I4I4I4I4"):unpack(s, at)
        if units == 0 then break end
        if kind == 2 and used > 0 then
          -- no hits, no time, a line; behind all lines, one allocation
          local first, found_at = at + 64, at + 64 + used * 32
          s = s:sub(1, first - 1) .. ("<I8I8i4"):pack(0, 0, -7) ..
            s:sub(first + 20, found_at - 1) .. ("<I8"):pack(1) ..
            s:sub(found_at + 8)
          found = true
          break
        end
        at = at + units * 64
      end
      assert.is_true(found)
      assert.is_truthy((select(2, profiler.load(dir:file("y.cprof", s))) or "")
        :find("damaged: number of a line", 1, true))
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
