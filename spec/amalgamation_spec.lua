local _ENV = require("helper").env(_ENV)

local helper = require "helper"

local command = require "command"
local compile = require "compile"
local must, shell, write = compile.must, compile.shell, command.write
local compilers, sanitize = compile.compilers, compile.sanitize

local folder
local dir -- of the folder, with what is built of the two files
local expected -- what the script prints when all of cprof is on disk

local function run(...) return folder:run(...) end

local function link(...) return folder:link(...) end

---Runs the script under a host: its output, and the host's report.
local function ran(program)
  local output, ok = run(program, "--profile", "../script.lua")
  assert.is_true(ok, output)
  assert.has_text(expected, output)
  assert.matches("\n[^\n]* 177  fib +../script.lua:3\n", output)
  assert.matches("\n[^\n]* 1  load *\n", output)
end

-- what a script does, with its part of the tree at the end
local script = [[
  local profiler = require "cprof"
  local function leaf(n) if n > 0 then return leaf(n - 1) end end
  local function fib(n) if n < 2 then return n end
    return fib(n - 1) + fib(n - 2) end
  local function work()
    fib(10)
    leaf(3)
    for _ = 1, 5 do pcall(error, "x") end
    local co = coroutine.wrap(function()
      profiler.enter "part"
      for i = 1, 3 do coroutine.yield(i) end
      error "thrown"
    end)
    for _ = 1, 3 do co() end
    pcall(co)
    profiler.wrap("wrapped", leaf)(1)
    local _ <close> = profiler.zone "rest"
    for i = 1, 7 do string.rep("x", i) end
  end
  if not profiler.running() then profiler.start() end
  work()
  profiler.pause()
  local p = profiler.snapshot()
  local depth = {}
  for id, node in ipairs(p.nodes) do
    local name = p.functions[node.func].name
    if depth[node.parent] then depth[id] = depth[node.parent] + 1
    elseif name == "work" then depth[id] = 0 end
    if depth[id] then
      print(("%s%s %d"):format((" "):rep(depth[id]), name, node.calls))
    end
  end
  profiler.resume()
]]

describe("the amalgamation", function()
  setup(function()
    folder = compile.folder()
    dir = folder.dir
    write(dir .. "/script.lua", script)
    expected = helper.run(script)
    write(dir .. "/host.c", compile.guide()[1])
    for how, compiler in pairs(compilers) do
      folder:cprof(how)
      folder:compile(compiler, dir .. "/host.c", "host_" .. how)
      folder:compile(compiler, "spec/support/leaving_host.c",
        "leaving_" .. how)
    end
    for _, how in ipairs { "cpp", "clang_cpp" } do
      if compilers[how] then
        folder:compile(compilers[how], "spec/support/throwing_host.cc",
          "throwing_" .. how)
      end
    end
  end)

  teardown(function() folder:remove() end)

  it("is all that a host needs, in C and C++, of gcc and clang", function()
    assert.matches("^work 1\n fib 1\n  fib 2\n", expected)
    for how in pairs(compilers) do
      ran(link(how, "lua", { "cprof_" .. how, "host_" .. how }))
    end
  end)

  it("sets no hook if the host does not ask for a recording", function()
    local program = link("plain", "lua", { "cprof_c", "host_c" })
    write(dir .. "/plain.lua", [[
      print(debug.gethook())
      print(require "cprof".running())
      os.exit(3, true)]])
    local output, _, status = run(program, "../plain.lua")
    assert.equal("nil\nfalse\n", output)
    assert.equal(3, status)
  end)

  it("finds the coroutine that Ctrl-C is to interrupt", function()
    if require "cprof.core".internals() ~= "direct" then return end
    folder:compile(compilers.c, "spec/support/example_host.c", "main")
    local program = link("example", "lua", { "cprof_c", "main" })
    write(dir .. "/stuck.lua", [[
      local function deep()
        io.open("ready", "w"):close()
        while true do end
      end
      coroutine.wrap(function()
        error(select(2, coroutine.resume(coroutine.create(deep))))
      end)()]])
    for _, how in ipairs { "", "--profile" } do
      local output, _, status = shell([[
        cd %s/empty && rm -f ready
        timeout -s KILL 600 ../%s %s ../stuck.lua & pid=$!
        until [ -e ready ] || ! kill -0 $pid; do sleep 0.02; done
        kill -INT $(ps -o pid= --ppid $pid); wait $pid]], dir, program, how)
      assert.equal(1, status, output)
      -- the signal may come before the file is closed, in a C function
      output = output:gsub("\n\t%[C%]: in [^\n]*", "", 1)
      assert.matches("interrupted here\nstack " ..
        "traceback:\n\t[^\n]*stuck.lua:1>\n", output)
    end
  end)

  it("is used by a C++ host as C, too", function()
    ran(link("mixed", "lua", { "cprof_c", "host_cpp" }))
  end)

  it("works with a Lua that throws exceptions", function()
    for _, how in ipairs { "c", "cpp" } do
      ran(link("throws_" .. how, "lua-c++",
        { "cprof_" .. how, "host_cpp" }))
    end
  end)

  it("keeps zones in order under exceptions, whatever Lua does for errors",
    function()
      local shown = helper.dedent [[
        main chunk 1
         throws 2
          outer 2
           thrown 2
            deeper 2
           after 2
         scopes 1
          scope 1
           scope 1
            scope 1
          after 1
         pcall 2
          fails 1
           failing 1
          pcall 1
           fails 1
            failing 1
         coroutine.wrap 1
         coroutine.wrap function 1
          <fn:1> 1
           throws 1
            outer 1
             thrown 1
              deeper 1
             after 1
           pcall 1
            fails 1
             failing 1
           scopes 1
            scope 1
             scope 1
              scope 1
            after 1
        0
      ]]
      for _, how in ipairs { "cpp", "clang_cpp" } do
        for _, library in ipairs { "lua", "lua-c++" } do
          if compilers[how] then
            local output, ok = run(link("throwing", library,
              { "cprof_" .. how, "throwing_" .. how }))
            assert.is_true(ok, output)
            assert.equal(shown .. "\n",
              (output:gsub("^[^\n]* 1\n", "main chunk 1\n")))
          end
        end
      end
    end)

  it("leaves zones in whichever way their blocks are left", function()
    local shown = "outer 6 in (root)\nreturned 3 in (root)\n" ..
      "goes 6 in (root)\ngone 3 in (root)\neven 9 in (root)\n" ..
      "odd 6 in (root)\n"
    local ways = {}
    for how in pairs(compilers) do ways[#ways + 1] = "leaving_" .. how end
    -- as with a compiler that is neither GCC nor Clang
    for how, compiler in pairs(compilers) do
      folder:compile(compiler:gsub("c99", "c11") .. " -DOTHER_COMPILER",
        "spec/support/leaving_host.c", "other_" .. how)
      ways[#ways + 1] = "other_" .. how
    end
    for _, way in ipairs(ways) do
      local output, ok = run(link("leaving", "lua", { way, "cprof_c" }))
      assert.is_true(ok, output)
      assert.equal(shown, output, way)
    end
  end)

  it("has no races between threads with states of their own", function()
    if sanitize or helper.slow then return end  -- it is one itself
    must("gcc -std=c99 -O0 -g -fsanitize=thread -pthread " ..
      "-I$SPEC_INCLUDE -I%s -o %s/threads %s/cprof.c " ..
      "spec/support/threads_host.c $SPEC_LINK -lm -ldl", dir, dir, dir)
    local output, ok = run("threads")
    assert.is_true(ok, output)
    assert.equal("done\n", output)
  end)

  it("gives names to the linker that begin with its own", function()
    for how in pairs(compilers) do
      local names = {}
      for kind, name in must("nm -g --defined-only %s/cprof_%s.o", dir, how)
        :gmatch "%x+ (%a) ([^\n]+)" do
        -- what the sanitizers and C++ add is weak
        if kind:find "[TDBR]" then names[#names + 1] = name end
        assert.is_truthy(name:find "^cprof_" or name:find "^luaopen_cprof" or
          sanitize and not kind:find "[TDBR]", name)
      end
      assert.has_text(" luaopen_cprof ", " " .. table.concat(names, " ") .. " ")
    end
  end)

  it("has the modules that there are, and loads them when needed", function()
    local list = [[
      require "cprof"
      local loaded, preload = {}, {}
      for name in pairs(package.loaded) do
        if name:find "^cprof" then loaded[#loaded + 1] = name end
      end
      for name in pairs(package.preload) do
        if name:find "^cprof" then preload[#preload + 1] = name end
      end
      table.sort(loaded)
      table.sort(preload)
      print(table.concat(loaded, " "))
      print(table.concat(preload, " "))
      for _, name in ipairs(preload) do
        require(name)
      end]]
    write(dir .. "/list.lua", list)
    local program = link("list", "lua", { "cprof_c", "host_c" })
    local output = run(program, "../list.lua")
    local loaded, preload = output:match "^([^\n]+)\n([^\n]+)\n"
    assert.equal(helper.run(list):match "^([^\n]+)", loaded)
    local modules = { "cprof.core" }
    for path in must "cd lua && find * -name '*.lua'":gmatch "[^\n]+" do
      local name = path:gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
      if name ~= "cprof" and name ~= "cprof.auto" and
         -- the command and its parts are not compiled into a host
         not name:find "^cprof%.command" and not name:find "^cprof%.push" then
        modules[#modules + 1] = name
      end
    end
    table.sort(modules)
    assert.equal(table.concat(modules, " "), preload)
  end)

  it("says where in its Lua part an error is", function()
    write(dir .. "/wrong.lua", [[
      local profiler = require "cprof"
      print(debug.getinfo(profiler.start, "S").source)
      print(pcall(require("cprof.source.text").lines))]])
    local output = run(link("wrong", "lua", { "cprof_c", "host_c" }),
      "../wrong.lua")
    assert.matches("^@cprof/init.lua\n", output)
    assert.matches("\nfalse\tcprof/source/text.lua:%d+:", output)
  end)

  it("asks for the package library where it is not open", function()
    local output, ok = run(link("bare", "lua",
      { "cprof_cpp", "throwing_cpp" }), "bare")
    assert.is_nil(ok)
    assert.equal("cprof needs Lua's library 'package': open it " ..
      "(luaopen_package or luaL_openlibs) before cprof\n", output)
  end)

  -- Debian's headers say extern "C" themselves; those of lua.org do not
  it("calls Lua as C, or as C++ if told", function()
    must("cp -r $SPEC_INCLUDE %s/lua && " ..
      "sed -i 's/extern \"C\"/extern/' %s/lua/luaconf.h", dir, dir)
    for option, name in pairs { [""] = "lua_gettop",
      ["-DCPROF_LUA_CPP"] = "_Z10lua_gettopP9lua_State" } do
      must("%s -O0 -I%s/lua %s -c -o %s/names.o %s/cprof.c",
        compilers.clang_cpp or compilers.cpp, dir, option, dir, dir)
      local names = must("nm -u %s/names.o", dir)
      assert.has_text(" " .. name .. "\n", names)
      assert.has_text(" T luaopen_cprof\n",
        must("nm -g --defined-only %s/names.o", dir))
    end
  end)
end)

describe("embedded text", function()
  local from = [[
    #include <stdio.h>
    #include "embedded.h"
    int main (void) {
      const char *const *p = embedded[0].piece;
      while (*p != NULL) fputs(*p++, stdout);
      return 0;
    }]]

  local function embed(text)
    must("mkdir -p %s/lua/cprof", dir)
    write(dir .. "/lua/cprof/init.lua", text)
    return shell("script=$PWD/src/host/embed.lua; cd %s && " ..
      "$SPEC_LUA $script embedded.h", dir)
  end

  setup(function()
    dir = os.tmpname()
    os.remove(dir)
    must("mkdir %s", dir)
    write(dir .. "/text.c", from)
  end)

  teardown(function() os.execute(("rm -r '%s'"):format(dir)) end)

  it("is what the file holds, within the limits of C99", function()
    local bytes = {}
    for i = 1, 255 do bytes[i] = string.char(i, 0x30) end
    local long = ("\\\"?" .. ("x"):rep(97)):rep(200)
    for _, text in ipairs { "return 1\n", "return 1", "", "\n\n",
      "??=??/\n\r\n", table.concat(bytes), long,
      ("line\n"):rep(3000) .. long } do
      local output, ok = embed(text)
      assert.is_true(ok, output)
      must("gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -I%s -Isrc/host " ..
        "-o %s/text %s/text.c", dir, dir, dir)
      assert.equal(text, must("%s/text", dir))
    end
  end)

  it("has no zero bytes", function()
    local output, ok = embed "return '\0'"
    assert.is_nil(ok)
    assert.equal("embed: lua/cprof/init.lua holds a zero byte\n", output)
  end)
end)
