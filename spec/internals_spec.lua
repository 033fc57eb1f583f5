local command = require "command"
local helper = require "helper"

local public, direct = "CPROF_INTERNALS=0 ", "CPROF_INTERNALS=1 "

-- cprof reads Lua's structures only on such machines
local known = string.packsize "T" == 8 and string.packsize "i" == 4
if not known then return end

describe("the room that reads Lua's structures", function()
  local dir, header

  -- compiles a program with this text as the header
  local function program(name, text, flags)
    dir:file("internals/internals.h", text)
    local _, err, status = command.shell((
      "gcc -std=c99 %s -I'%s' -Isrc -I$SPEC_INCLUDE -o '%s/%s' " ..
      "spec/support/layout_host.c src/internals/internals.c '%s'/*.o " ..
      "$SPEC_LINK -lm -ldl -lpthread"):format(flags, dir.path, dir.path, name,
      dir.path))
    assert.equal(0, status, err)
  end

  -- the header with constants that a program is told when it runs
  local function told_later()
    local text = header:gsub(
      "\n#define (INTERNALS_[%u_]+)\t(%w+)", function(name, value)
        -- INTERNALS_STATE and INTERNALS_PROTO are sizes of arrays
        return name ~= "INTERNALS_STATE" and name ~= "INTERNALS_PROTO" and
          ('\n#define %s\tlayout("%s", %s)'):format(name, name, value) or nil
      end)
    return (text:gsub("#include <lua.h>\n",
      "%0size_t layout (const char *name, size_t value);\n"))
  end

  setup(function()
    dir = command.folder()
    assert(os.execute(("mkdir '%s/internals'"):format(dir.path)))
    header = command.read "src/internals/internals.h"
    for _, file in ipairs { "probe_posix", "platform_posix" } do
      assert(os.execute(("gcc -std=c99 -Isrc -I$SPEC_INCLUDE -c " ..
        "-o '%s/%s.o' src/base/%s.c"):format(dir.path, file, file)))
    end
    program("right", header, "")
    program("wrong", told_later(), "-DLAYOUT")
  end)

  teardown(function() os.execute(("rm -r '%s'"):format(dir.path)) end)

  -- how the program `name` reads Lua: "direct" or "public"
  local function asks(name, before, ...)
    local out, err, status = command.shell(("export LD_PRELOAD=; " ..
      "%s '%s/%s' %s"):format(before or direct, dir.path, name,
      table.concat({ ... }, " ")))
    assert.equal(0, status, err)
    return out
  end

  -- how a program reads Lua if it was built with a wrong value of a constant
  local function asks_wrong(name, value)
    return asks("wrong", direct, name, ("%d"):format(value))
  end

  it("is used where its offsets are Lua's", function()
    assert.equal("direct\n", asks "right")
  end)

  it("is not used if the environment or the compiler forbids it", function()
    assert.equal("public\n", asks("right", public))
    program("none", header, "-DCPROF_INTERNALS=0")
    assert.equal("public\n", asks "none")
    assert.equal("direct\n", asks("right", direct))
  end)

  it("is used neither, nor crashes, where an offset is wrong", function()
    local count = 0
    assert.equal("direct\n", asks "wrong")
    for name, value in header:gmatch "\n#define (INTERNALS_%u+_%u+)\t(%d+)" do
      for _, wrong in ipairs { value + 8, value == "0" and 24 or value - 8 } do
        -- the offset of the collector's count is proved only when it is needed
        local global = name:find "_GLOBAL_"
        assert.equal(not global and "public\n" or
          _VERSION == "Lua 5.4" and "direct, no count\n" or "direct\n",
          asks_wrong(name, wrong), name .. " " .. wrong)
      end
      count = count + 1
    end
    assert.equal(18, count)
  end)

  it("is used neither, nor crashes, where a tag is wrong", function()
    for _, name in ipairs { "LUA", "C", "CLOSURE", "THREAD" } do
      assert.equal("public\n", asks_wrong("INTERNALS_" .. name, 1), name)
    end
  end)
end)

describe("how Lua is asked", function()
  local script = [[local p = require "cprof"
    p.start { file = ... } math.abs(1) p.stop()
    local q = p.load(...)
    q:save(...)
    local sum = require "cprof.profile.merge".sum { q, q }
    print(p.snapshot().meta.internals, q.meta.internals,
      p.load(...).meta.internals, sum.meta.internals)]]

  local function told(before)
    local dir <close> = command.folder()
    local path = dir:file("script.lua", script)
    local out, err = command.shell(("%s $SPEC_LUA '%s' '%s/file.cprof'"):format(
      before, path, dir.path))
    assert.equal("", err)
    return out
  end

  it("is in profiles and in files", function()
    assert.equal(("public\t"):rep(3) .. "public\n", told(public))
    assert.equal(("direct\t"):rep(3) .. "direct\n", told(direct))
  end)

  it("is in the version that the command prints", function()
    local out = command.cprof_with(public, "", "--version")
    assert.equal("cprof " .. require "cprof"._VERSION ..
      "\ninternals: public\n", out)
    out = command.cprof_with(direct, "", "--version")
    assert.matches("\ninternals: direct\n", out)
  end)
end)

describe("profiles of both ways to ask Lua are the same", function()
  local function profile(before, ...)
    local out, err, status = command.shell(("%s $SPEC_LUA %s %s"):format(before,
      "spec/support/both_ways.lua", table.concat({ ... }, " ")))
    assert.equal(0, status, err)
    return out, err
  end

  -- counts of calls that both profiles must have
  local programs = {
    tail_calls = { "last 40", "down 230" },
    coroutines = { "coroutine.yield 162", "coroutine.wrap function 13" },
    errors = { "deep 110", "error 60" },
    metamethods = { "programs.metamethods 1", "rawset 20" },
    varargs = { "pass 40", "count 60" },
    garbage = { "f 3000", "a 300", "b 3000" },
    dumped = { "first 200", "second 400" },
    script = { "first 500", "second 1000", "left 300", "right 300" },
    places = { "a 3000", "b 6000" },
    reloaded = { "a 142", "b 142", "c 71" },
    one_line = { "a 20", "a 200", "c 40" },
    paused = { "a 200", "b 200", "f 200", "g 400" },
  }

  for name, expected in pairs(programs) do
    it("after " .. name:gsub("_", " "), function()
      for _, options in ipairs { "", "line", "call fold" } do
        local a, how = profile(direct, name, options)
        assert.equal("direct\n", how)
        local b
        b, how = profile(public, name, options)
        assert.equal("public\n", how)
        assert.equal(b, a)
        for _, text in ipairs(expected) do
          local fn, calls = text:match "^(.*) (%d+)$"
          local found = false
          for line in a:gmatch "[^\n]+" do
            found = found or line:find(fn .. " ", 1, true) == 1 and
              line:match " (%d+)$" == calls
          end
          assert.is_true(found, text .. "\n" .. a)
        end
        if helper.slow then break end
      end
    end)
  end
end)
