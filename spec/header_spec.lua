local _ENV = require("helper").env(_ENV)

local command = require "command"
local compile = require "compile"

local ways = {}
for _, compiler in ipairs { "gcc", "clang" } do
  if compiler == "gcc" or not compile.sanitize then
    for _, standard in ipairs { "c99", "c11" } do
      ways[#ways + 1] = ("%s -std=%s -x c"):format(compiler, standard)
    end
    for _, standard in ipairs { "c++11", "c++20" } do
      ways[#ways + 1] = ("%s -std=%s -x c++"):format(
        compiler == "gcc" and "g++" or "clang++", standard)
    end
  end
end

local function code(path)
  return (command.read(path):gsub("/%*.-%*/", " "))
end

-- The public names of the header: those that do not end in '_', and the
-- fields of its structs.
local function names()
  local header, set = code "src/cprof.h", {}
  for _, pattern in ipairs { "%f[%w_]cprof_[%w_]+", "%f[%w_]CPROF_[%w_]+",
    "%f[%w_]luaopen_[%w_]+" } do
    for name in header:gmatch(pattern) do
      if not name:find "_$" and name ~= "cprof_h" then set[name] = true end
    end
  end
  for body in header:gmatch "\ntypedef struct cprof_%w+ (%b{}) cprof_%w+;" do
    for name in body:gmatch "([%w_]+)%s*[,;]" do set[name] = true end
  end
  return set
end

local shown = require "cprof.core".version .. [[
 1
open 0
module 1
core 1
setalloc 1
setclock 1
start 0
stop 1
time 1
allocated 1
reset without its clock 1
start 0
start again 1
running 1
interruptible 0
current 1
attach 1
listen 0
pause 1
resume 1
reset 1
entered 1
entered 1
node 1
frame 1
framenamed 1
view 0
viewset 0
viewmove 0
viewlines 0
lines 1
viewgraph 0
points 1
stop 1
report 0
written 1
annotate 0
written 1
save 0
export 0
dumponerror 0
dumprecent 1
]]

-- without cprof, each function returns a status or 0
local without = shown:gsub(" 1\n", " 0\n")

describe("cprof.h", function()
  local folder
  setup(function()
    folder = compile.folder()
    folder:cprof("c", "cprof")
  end)
  teardown(function() folder:remove() end)

  it("is used in a spec with all of its names", function()
    local text, count = code "spec/support/every_name.c", 0
    for name in pairs(names()) do
      count = count + 1
      assert.matches("%f[%w_]" .. name .. "%f[^%w_]", text,
        "spec/support/every_name.c does not use " .. name)
    end
    assert.is_true(count > 90, count)
  end)

  it("is valid C and C++ on its own", function()
    command.write(folder.dir .. "/alone.c", '#include "cprof.h"\nint one;\n')
    for _, way in ipairs(ways) do
      folder:compile(way, folder.dir .. "/alone.c", "alone")
      folder:compile(way .. " -DCPROF_ENABLED=0", folder.dir .. "/alone.c",
        "alone")
    end
  end)

  it("does what it says with every name, in C and C++", function()
    for _, way in ipairs(ways) do
      folder:compile(way, "spec/support/every_name.c", "every")
      local output, ok = folder:run(folder:link("every", "lua",
        { "every", "cprof" }), "file")
      assert.is_true(ok, way .. "\n" .. output)
      assert.equal(shown, output, way)
      local p = assert(require "cprof".load(folder.dir .. "/empty/file"))
      local zones = {}
      for _, f in ipairs(p.functions) do
        if f.kind == "zone" and not f.name:find "^cprof%." then
          zones[#zones + 1] = f.name .. " " .. f.calls
        end
      end
      table.sort(zones)
      assert.equal("begin 1, elsewhere 2, entername 1, here 1, " ..
        "macro 1, marked 1, name 1, only 1, other 1, scope 1",
        table.concat(zones, ", "))
      assert.equal("line", p.meta.mode)
      assert.equal("compensate = false", p.meta.uncompensated)
      assert.equal(p.meta.events, assert(require "cprof".load(folder.dir ..
        "/empty/file.live")).meta.events)
    end
  end)

  it("does nothing, and needs nothing, where CPROF_ENABLED is 0", function()
    for _, way in ipairs(ways) do
      folder:compile(way .. " -DCPROF_ENABLED=0",
        "spec/support/every_name.c", "every")
      local output, ok = folder:run(folder:link("every", "lua",
        { "every" }), "nothing")
      assert.is_true(ok, way .. "\n" .. output)
      assert.equal(without, output, way)
      local symbols = compile.must("nm -g %s/every.o", folder.dir)
      assert.has_no_text("cprof", symbols)
    end
    assert.is_nil(io.open(folder.dir .. "/empty/nothing"))
    -- all of cprof is out, too
    assert.equal("", compile.must("cd %s && gcc -DCPROF_ENABLED=0 " ..
      "-I$SPEC_INCLUDE -c -o none.o cprof.c && nm none.o", folder.dir))
  end)

  it("leaves no code of zones where CPROF_ENABLED is 0", function()
    local function assembly(way, begin, scope)
      local path = folder.dir .. "/zones.c"
      command.write(path, ([[
        #include "cprof.h"
        CPROF_STATIC(here);
        CPROF_DEFINE(there);
        int f (lua_State *L, int n);
        int f (lua_State *L, int n) {
          %s
          %s { if (n > 3) { %s return n; } } %s
          return lua_gettop(L);
        }]]):format(scope, table.unpack(begin)))
      return compile.must("%s -O1 -DCPROF_ENABLED=0 -S -o - " ..
        "-I$SPEC_INCLUDE -Isrc %s", way, path)
    end
    for _, way in ipairs(ways) do
      local bare = assembly(way, { "", "", "" }, "")
      for _, begin in ipairs { "CPROF_BEGIN(L, own)",
        "CPROF_REGION(L, here)", "CPROF_REGION(L, there)",
        'CPROF_NAMED(L, "name")' } do
        assert.equal(bare, assembly(way,
          { begin, "CPROF_LEAVE(L);", "CPROF_END(L)" },
          "CPROF_SCOPE(L, scope);"), way)
      end
    end
  end)
end)
