local _ENV = require("helper").env(_ENV)

local command = require "command"
local compile = require "compile"

describe("the guide for embedders", function()
  local folder, dir
  setup(function()
    folder = compile.folder()
    dir = folder.dir
  end)
  teardown(function() folder:remove() end)

  it("has commands that build and run its program", function()
    command.write(dir .. "/host.c", compile.guide()[1])
    compile.must("cp %s/host.c %s/host.cc", dir, dir)
    command.write(dir .. "/script.lua", [[
      local function fib(n) if n < 2 then return n end
        return fib(n - 1) + fib(n - 2) end
      print(fib(10))]])
    local build, run = compile.guide "sh"[1]:match "^([^\n]+)\n([^\n]+)\n$"
    local cpp = command.read "src/host/README.md":match "`(g%+%+ [^`]+)`"
    for _, line in ipairs { build, cpp } do
      os.remove(dir .. "/host")
      assert.equal("", compile.must("cd %s && %s", dir,
        (line:gsub(" %-O2 ", " -O0 "))))
      local output, ok = compile.shell("cd %s && unset LUA_PATH LUA_CPATH; %s",
        dir, run)
      assert.is_true(ok, output)
      assert.matches("^55\ncprof: %(embedded%)\n", output)
      assert.matches("\n[^\n]* 177  fib +script.lua:1\n", output)
      assert.matches("\n[^\n]* 1  load *\n", output)
    end
  end)

  it("has code that does what it says, in C and C++", function()
    local blocks = compile.guide()
    table.remove(blocks, 1)
    assert.equal(4, #blocks)
    local source = command.read "spec/support/guide_host.c"
      :gsub("\nGUIDE\n", function()
        return "\n" .. table.concat(blocks, "\n") .. "\n"
      end)
    command.write(dir .. "/game.c", source)
    folder:cprof("c", "cprof")
    for how, compiler in pairs(compile.compilers) do
      folder:compile(compiler, dir .. "/game.c", "game_" .. how)
      os.execute(("rm -f %s/empty/*"):format(dir))
      local output, ok = folder:run(folder:link("game", "lua",
        { "game_" .. how, "cprof" }))
      assert.is_true(ok, output)
      assert.has_text("\n>", output)
      -- the zones of both updates, all under (root), and the coroutine
      local tree = output:match "\n(%(root%) 0\n.*)"
      for _, line in ipairs { " physics 2", " sound 2", " cat 1", " dog 1",
        " scheduler 2" } do
        assert.has_text("\n" .. line .. "\n", tree)
      end
      assert.matches("\n2 1 1\n$", tree)
      local path = compile.must("ls %s/empty", dir):match "^game%-%d+%.cprof"
      local text, err = command.cprof("report", "--min-percent=0",
        dir .. "/empty/" .. path)
      assert.has_text("2  physics", text, err)
      -- without cprof, it compiles as well
      folder:compile(compiler .. " -DCPROF_ENABLED=0", dir .. "/game.c",
        "none")
      output = compile.must("nm -u %s/none.o", dir)
      assert.has_no_text("cprof", output)
    end
  end)

  it("names only what there is", function()
    local guide, header = command.read "src/host/README.md",
      command.read "src/cprof.h" .. command.read "src/base/whole.h"
    local count = 0
    for _, pattern in ipairs { "%f[%w_]cprof_[%w_]+", "%f[%w_]CPROF_[%w_]+",
      "%f[%w_]luaopen_[%w_]+" } do
      for name in guide:gmatch(pattern) do
        count = count + 1
        assert.has_text(name, header)
      end
    end
    assert.is_true(count > 40)
    for link in guide:gmatch "%]%(([^)#]+)" do
      assert.is_truthy(io.open("src/host/" .. link), link)
    end
  end)

  it("exports without other files what needs no other library", function()
    command.write(dir .. "/export.c", [[
      #include <stdio.h>
      #include "cprof.h"
      #include <lauxlib.h>
      #include <lualib.h>
      int main (int argc, char **argv) {
        lua_State *L = luaL_newstate();
        luaL_openlibs(L);
        if (argc < 2 || cprof_open(L) != LUA_OK) return 1;
        cprof_start(L, NULL);
        if (luaL_dostring(L, "string.rep('x', 3)")) return 1;
        cprof_stop(L);
        if (cprof_export(L, argv[1], argv[1]) != LUA_OK)
          puts(lua_tostring(L, -1));
        lua_close(L);
        return 0;
      }]])
    folder:compile(compile.compilers.c, dir .. "/export.c", "export")
    folder:cprof("c", "cprof")
    local program = folder:link("export", "lua", { "export", "cprof" })
    for _, row in ipairs(require "cprof.export".formats) do
      local output, ok = folder:run(program, row.name)
      assert.is_true(ok, output)
      if output ~= "" then
        assert.is_truthy(output:find("dkjson", 1, true) or
          output:find('needs a profile of mode "', 1, true), output)
      else assert.is_truthy(io.open(dir .. "/empty/" .. row.name)) end
    end
  end)
end)
