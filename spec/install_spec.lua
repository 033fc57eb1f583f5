local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local interpreter = require "interpreter"

-- a copy of what is committed, in a folder of its own
local function checkout()
  local dir = os.tmpname()
  os.remove(dir)
  assert(os.execute(("mkdir -p '%s' && cp -rp Makefile src lua rockspec '%s'")
    :format(dir, dir)))
  return dir
end

local function shell(line)
  local pipe = io.popen(line .. " 2>&1")
  local output = pipe:read "a"
  local ok = pipe:close()
  return ok, output
end

local program = [[
  local version = _VERSION:match "%d+%.%d+"
  package.path = ("P/share/lua/V/?.lua;P/share/lua/V/?/init.lua"):gsub("%u",
    { P = arg[1], V = version })
  package.cpath = ("%s/lib/lua/%s/?.so"):format(arg[1], version)
  local profiler = require "cprof"
  profiler.start()
  for i = 1, 10 do string.rep("x", i) end
  profiler.stop()
  assert(package.searchpath("cprof", package.path):find(arg[1], 1, true))
  for _, mode in ipairs { "total", "self", "callgraph", "tree", "file" } do
    local text = profiler.report { mode = mode, min_percent = 0 }
    assert(text:find "string.rep", mode)
  end
  assert(#require "cprof.html.assets".read "main.js" > 100)
  print "works"]]

-- paths for Lua, if it does not look in the prefix by itself
local function paths(root)
  local set = "LUA_PATH='P/share/lua/V/?.lua;P/share/lua/V/?/init.lua;'" ..
    "$SPEC_SHARE LUA_CPATH='P/lib/lua/V/?.so;;'"
  return (set:gsub("[PV]%f[/]", { P = root, V = interpreter.version }))
end

-- Runs the command in the folder `bin`, without the modules of the specs. With
-- $SPEC_SHARE, a Lua that was built finds other modules that cprof needs.
local function runs(bin, set, lua)
  local _, output = shell(("env -u LUA_CPATH LUA_PATH=$SPEC_SHARE %s %s " ..
    "'%s/cprof' run -e 'print(...)' works"):format(set, lua or "", bin))
  assert.matches("^works\n\ncprof: %(command line%) works\n", output)
end

-- what `make install` installs for man, and for shells
local shared = { "share/man/man1/cprof.1",
  "share/bash-completion/completions/cprof",
  "share/zsh/site-functions/_cprof",
  "share/fish/vendor_completions.d/cprof.fish" }

-- what make says below what it has installed
local function said(output)
  return output:match "\n(The PATH does not[^\n]*\n.*)" or
    output:match "\n([^\n]*does not find[^\n]*\n.*)" or ""
end

-- each command that links has the libraries that some systems keep apart from
-- the C library
local function links_all(output)
  local linux = select(2, shell "uname") == "Linux\n"
  local count = 0
  for line in output:gmatch "[^\n]*%-o%s+[^\n]*" do
    if line:find "%-shared%f[ ]" or line:find "%-o build/cprof%-host" then
      count = count + 1
      for _, library in ipairs { "-lm", "-lpthread", linux and "-ldl" } do
        assert.has_text(library .. " ", line .. " ", line)
      end
    end
  end
  assert.is_true(count > 0, output)
end

describe("an installed cprof", function()
  local built = checkout()

  teardown(function() os.execute(("rm -r '%s'"):format(built)) end)

  it("is what luarocks makes of the checkout, without the Makefile",
    function()
      local dir = checkout()
      os.remove(dir .. "/Makefile")
      local ok, output = shell(("cc=$PWD/spec/support/cc.sh; cd '%s' && " ..
        "luarocks %s make --deps-mode=none --tree='%s/tree' " ..
        "CC=\"sh $cc\" CFLAGS='-O0 -fPIC'"):format(dir, interpreter.rocks,
        dir))
      assert.is_true(ok, output)
      links_all(output)
      assert.equal("works\n", (helper.run(program, dir .. "/tree")))
      runs(dir .. "/tree/bin", "")
      os.execute(("rm -r '%s'"):format(dir))
    end)

  it("is linked with what the C library may have apart", function()
    local dir = checkout()
    assert(os.execute(("mkdir '%s/spec' && cp -rp spec/support '%s/spec'")
      :format(dir, dir)))
    local ok, output = shell(("env -u MAKEFLAGS make -n -C '%s' all host %s")
      :format(dir, interpreter.make))
    assert.is_true(ok, output)
    links_all(output)
    os.execute(("rm -r '%s'"):format(dir))
  end)

  it("is what make install puts there", function()
    local dir = built
    -- make installs what it has built
    if not os.getenv "CPROF_SANITIZE" then
      assert(shell(("mkdir '%s/build' && for d in src/*/; do " ..
        "cp -rp \"$CPROF_BUILD/${d#src/}\" '%s/build'; done"):format(dir,
        dir)))
    end
    -- without the variables of the make that runs the specs, as by hand
    local ok, output = shell(("env -u MAKEFLAGS make -C '%s' install " ..
      "DESTDIR='%s/root' PREFIX=/opt CFLAGS=-O0 %s"):format(dir, dir,
      interpreter.make))
    assert.is_true(ok, output)
    local root = dir .. "/root/opt"
    -- no commands of the build: only what is installed, each of which is there
    local count = 0
    for path in output:gmatch "[^\n]+" do
      if not path:find "^make.-: " then
        assert.equal(root, path:sub(1, #root))
        assert.is_true(os.rename(path, path), path)
        count = count + 1
      end
    end
    assert.equal(3 + #shared, count, output)
    assert.equal("works\n", (helper.run(program, root)))
    runs(root .. "/bin", paths(root))
    for i, words in ipairs { { "help", "--man" }, { "completion", "bash" },
      { "completion", "zsh" }, { "completion", "fish" } } do
      local _, text = shell(("cat '%s/%s'"):format(root, shared[i]))
      assert.equal((command.cprof(table.unpack(words))), text)
    end
    -- no hint on paths: with DESTDIR, it is not at its final place
    assert.equal("", said(output))
  end)

  it("is found by the command, wherever that is, until make uninstall",
    function()
      local dir = built
      local root = dir .. "/any where"
      local make = ("env -u MAKEFLAGS make -C '%s' %%s PREFIX='%s' " ..
        "CFLAGS=-O0 %s"):format(dir, root, interpreter.make)
      local ok, output = shell(make:format "install")
      assert.is_true(ok, output)
      assert.has_text(('  export PATH="%s/bin:$PATH"\n'):format(root),
        said(output), output)
      runs(root .. "/bin", "")
      assert(os.execute(("ln -s '%s/bin/cprof' '%s/cprof'"):format(root, dir)))
      runs(dir, "")
      ok, output = shell(make:format "uninstall")
      assert.is_true(ok, output)
      ok, output = shell(("find '%s' -type f"):format(root))
      assert.is_true(ok)
      assert.equal("", output)
    end)

  it("needs no argparse, but to tell man and shells of the command",
    function()
      local root = built .. "/without"
      local ok, output = shell(("PATH='%s/bin':$PATH LUA_INIT=%s env -u " ..
        "MAKEFLAGS make -C '%s' install PREFIX='%s' CFLAGS=-O0 %s"):format(
        root, "'package.preload.argparse = function() error(\"module " ..
        "\\39argparse\\39 not found\", 0) end'", built, root,
        interpreter.make))
      assert.is_true(ok, output)
      assert.has_text("the library argparse is missing", output)
      assert.has_text("Install what the message above names, then run make " ..
        "install again.", output)
      for _, path in ipairs(shared) do
        assert.is_nil(io.open(root .. "/" .. path))
      end
      assert.has_no_text("export PATH", output)
      assert.equal("works\n", (helper.run(program, root)))
      os.execute(("rm -r '%s'"):format(root))
    end)

  it("is not needed to run the command of a checkout that was built",
    function()
      -- the first line of the command says lua5.4
      runs("lua/cprof/bin", "",
        interpreter.version ~= "5.4" and "$SPEC_LUA" or nil)
    end)

  it("has every module that there is, but what is for hosts", function()
    local rockspec = {}
    assert(loadfile("rockspec/cprof-dev-1.rockspec", "t", rockspec))()
    local listed = {}
    for _, path in pairs(rockspec.build.modules) do
      if type(path) == "string" then listed[path] = true
      else for _, source in ipairs(path.sources) do listed[source] = true end
      end
    end
    local pipe = io.popen [[find src lua -name '*.c' \
      -not -name embed.c -not -name main.c -print -o -path src/host/'*' \
      -prune -o -name '*.lua' -print]]
    for path in pipe:lines() do
      assert.is_true(listed[path], path .. " is not in the rockspec")
      listed[path] = nil
    end
    pipe:close()
    assert.is_nil(next(listed))
  end)

  it("works in C and in C++ hosts", function()
    for _, compiler in ipairs { "gcc -std=c99", "g++ -std=c++11 -x c++" } do
      local ok, output = shell(("printf '#include <cprof.h>\\nint f " ..
        "(lua_State *L) { return luaopen_cprof_core(L); }' | %s -Wall " ..
        "-Wextra -Wpedantic -Werror -Isrc -I$SPEC_INCLUDE " ..
        "-fsyntax-only %s -"):format(compiler:gsub(" %-x.*", ""),
        compiler:find "c%+%+" and "-x c++" or "-x c"))
      assert.is_true(ok, output)
    end
  end)
end)
