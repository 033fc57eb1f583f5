-- Compiled modules that cprof run keeps for the next program.

local core = require "cprof.core"
local command = require "command"

local form <const> = "s4s4s4s4"  -- of a module, see compiled.lua
local traced <const> = "local function f() error 'oh' end\n" ..
  "local function g() f() end\ng()"

local dir   -- has a copy of cprof, and what that keeps
local path  -- of the file with compiled modules; nil: this system keeps none

-- Runs a program with the copy of cprof, after another command. Returns what
-- went to standard error.
local function run(text, option, before)
  local _, err = command.shell(("%s TMPDIR=%s LUA_PATH= LUA_PATH_5_4= %s %s " ..
    "%s %s"):format(before or "", dir.path, "env -u XDG_RUNTIME_DIR $SPEC_LUA",
      dir:file "lua/cprof/bin/cprof", "run " .. (option or "--quiet"),
      dir:file("x.lua", text or "")))
  return err
end

-- Copies cprof. Code is kept only of files that are some seconds old.
local function copy()
  dir = command.folder()
  assert(os.execute(("mkdir %s/build && cp -r lua %s && " ..
    "cp -r $CPROF_BUILD/cprof %s/build"):format(dir.path, dir.path, dir.path)))
  assert(os.execute(("cp '%s' %s/lua"):format(
    package.searchpath("argparse", package.path), dir.path)))
  while core.stamp and not core.stamp(dir:file "lua/argparse.lua") do
    os.execute "sleep 0.1"
  end
  assert.equal("", run())
  path = command.shell(("ls %s/cprof-*/modules"):format(dir.path))
    :match "^[^\n]+"
end

-- Writes the kept file anew: with what `change` returns for a module's code.
local function rewrite(change)
  local text = command.read(path)
  local builds = text:match "^[^\n]+\n"
  local at, list = #builds + 9, {}
  while at <= #text do
    local source, stamp, needs, code
    source, stamp, needs, code, at = form:unpack(text, at)
    list[#list + 1] = form:pack(source, stamp, needs,
      change(source, code) or code)
  end
  local all = table.concat(list)
  command.write(path, builds .. ("j"):pack(core.checksum(all)) .. all)
end

-- code of a module that ends the process with a message
local poison <const> = string.dump(load [[
  io.stderr:write "from the kept file\n"
  os.exit(7, true)
]])

local function poisoned(source)
  return source:find "command/session%.lua$" and poison or nil
end

local function poisoned_ending(source)
  return source:find "command/ending%.lua$" and poison or nil
end

describe("the compiled modules of cprof run", function()
  setup(copy)
  teardown(function() getmetatable(dir).__close(dir) end)

  before_each(function()
    if not path then return end
    os.remove(path)
    assert.equal("", run())
  end)

  it("are kept where builds of cprof and Lua are known", function()
    assert.equal(core.stamp ~= nil and core.builds() ~= nil, path ~= nil)
  end)

  it("are taken from the file that an earlier process has kept", function()
    if not path then return end
    local before = command.read(path)
    assert.equal("", run())
    assert.equal(before, command.read(path))
    rewrite(poisoned)
    assert.equal("from the kept file\n", run())
  end)

  it("are compiled anew when the module has changed, also if its size and " ..
    "time are as before", function()
    if not path then return end
    rewrite(poisoned_ending)
    local module = dir:file "lua/cprof/command/ending.lua"
    local text = command.read(module)
    assert(os.execute(("cp -p %s %s.old"):format(module, module)))
    command.write(module, (text:gsub("^%-%- The", "-- the")))
    assert(os.execute(("touch -r %s.old %s"):format(module, module)))
    assert.equal("", run())
    -- replaced by another file
    assert(os.execute(("mv %s.old %s"):format(module, module)))
    assert.equal("", run())
  end)

  it("are compiled anew when another build has kept them, or the file is " ..
    "damaged", function()
    if not path then return end
    local good = command.read(path)
    local builds, middle = good:match "^[^\n]+\n", #good // 2
    rewrite(poisoned)
    local bad = command.read(path)
    for _, text in ipairs { "", "\n", "x" .. bad, bad:sub(2), bad:sub(1, -2),
      bad .. "x", good:sub(1, middle), builds,
      good:sub(1, middle) .. ("\0"):rep(#good - middle) } do
      command.write(path, text)
      assert.equal("", run())
      local now = command.read(path)
      assert.is_true(now ~= text)
      assert.equal(builds, now:match "^[^\n]+\n")
    end
  end)

  it("are not taken from a link, or a file or folder that others can use",
    function()
      if not path then return end
      rewrite(poisoned)
      local bad = command.read(path)
      for _, line in ipairs { "chmod 620 %s", "chmod 602 %s", "chmod 644 %s",
        "cp -p %s %s.other; ln -sf %s.other %s",
        "chmod 777 $(dirname %s)" } do
        os.remove(path)
        command.write(path, bad)
        assert(os.execute("chmod 600 " .. path))
        assert.equal("from the kept file\n", run())
        assert(os.execute((line:gsub("%%s", path))))
        assert.equal("", run())
      end
      assert.equal(bad, command.read(path))
      assert(os.execute(("chmod 700 $(dirname %s)"):format(path)))
    end)

  it("are not kept if files may not be that large, and the program runs",
    function()
      if not path then return end
      os.remove(path)
      assert.equal("ran", run("io.stderr:write 'ran'", nil, "ulimit -f 600;"))
      assert.equal("", command.shell(("ls %s %s.[0-9]* 2>/dev/null"):format(
        path, path)))
    end)

  it("do not change tracebacks and reports", function()
    if not path then return end
    local kept = run(traced)
    os.remove(path)
    assert.equal(run(traced), kept)
    assert.is_truthy(kept:find("in upvalue 'f'", 1, true))
    local report = run("", "--ascii")
    assert.is_truthy(report:find("1 call, 2 functions", 1, true), report)
  end)

  it("are there at the end though the program has removed them", function()
    if not path then return end
    local report = run(("os.execute 'rm -r %s/lua %s'"):format(dir.path, path),
      "--ascii")
    assert.is_truthy(report:find("os.execute", 1, true), report)
    path = nil
  end)
end)
