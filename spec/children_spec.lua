local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local profiler = require "cprof"

-- a program with as many calls of leaf as its first argument says; the second
-- one is its exit status
local child = [[
  local function leaf() end
  for _ = 1, tonumber(arg[1]) do leaf() end
  os.exit(tonumber(arg[2] or 0), true)
]]

local function leaves(p)
  local f = helper.named(p, "leaf")
  return f and f.calls or 0
end

-- the profiles in a folder, by what they ran
local function profiles(folder)
  local out = {}
  local names = command.shell("cd '" .. folder .. "' && ls *.cprof")
  for name in names:gmatch "[^\n]+" do
    local p = helper.check(assert(profiler.load(folder .. "/" .. name)))
    out[#out + 1] = p
  end
  return out
end

-- Runs code under cprof run --children, with the child's program as its
-- argument. Returns the profiles, the output, the errors, and the status.
local function run(dir, code, set, ...)
  local script = dir:file("child.lua", child)
  local words = { "--children=" .. dir.path .. "/family", ... }
  table.move({ "--", dir:file("root.lua",
    [[local lua, child = os.getenv "SPEC_LUA", arg[1]
    local function start(...)
      return lua .. " '" .. child .. "' " .. table.concat({ ... }, " ")
    end
    ]] .. code), script }, 1, 3, #words + 1, words)
  local line = command.line("run", table.unpack(words))
  local out, err, status = command.shell((line:gsub("LANG=", function(s)
    return (set or "") .. " " .. s
  end, 1)))
  return profiles(dir.path .. "/family"), out, err, status
end

local function count(list)
  local counts = {}
  for i, p in ipairs(list) do counts[i] = leaves(p) end
  table.sort(counts)
  return counts
end

describe("cprof run --children", function()
  it("records programs that a program starts, also through others",
    function(dir)
      local list, out, err, status = run(dir, [[
        print(select(3, os.execute(start(10, 3))))
        local pipe = io.popen(start(20))
        print(pipe:read "a" == "", pipe:close())
        os.execute("sh -c \"" .. start(30) .. "; true\"")
        local file = io.open(child .. ".mk", "w")
        file:write("all:\n\t@", start(40), "\n")
        file:close()
        os.execute("make -s -f '" .. child .. ".mk'")
        os.exit(5)]])
      assert.equal("3\ntrue\ttrue\texit\t0\n", out)
      assert.equal(5, status)
      assert.same({ 0, 10, 20, 30, 40 }, count(list))
      assert.is_truthy(err:find "\n    process +wall +cpu  program, file\n" or
        err:find "^\n  process +wall +cpu  program, file\n", err)
      local _, indented = err:gsub("  [^\n]*child%.lua %d+[^\n]*%.cprof\n", "")
      assert.equal(4, indented, err)
      assert.has_text("\n5 runs, ", err)
    end)

  it("reports the folder as a tree and a sum", function(dir)
    run(dir, "os.execute(start(10)) os.execute(start(20))")
    local folder = dir.path .. "/family"
    local out, err, status = command.cprof("report", "--mode=self",
      "--min-percent=0", folder)
    assert.same({ "", 0 }, { err, status })
    assert.matches("^  process ", out)
    assert.has_text(" 30  leaf ", out)
  end)

  it("records nothing of its own in a child", function(dir)
    local list = run(dir, [[os.execute(lua .. " -e 'print()'")]])
    local names = {}
    for _, p in ipairs(list) do
      if p.meta.parent then
        for _, f in ipairs(p.functions) do names[#names + 1] = f.name end
      end
    end
    table.sort(names)
    assert.same({ "(command line)", "(cprof)", "(host)", "(root)",
      "print" }, names)
  end)

  it("says which process started which", function(dir)
    local list = run(dir, [[
      os.execute(lua .. " -e \"os.execute [==[" .. start(10) .. "]==]\"")]])
    local by = {}
    for _, p in ipairs(list) do by[p.meta.pid] = p.meta end
    local depth = {}
    for _, p in ipairs(list) do
      local n, meta = 0, p.meta
      while meta.parent do n, meta = n + 1, assert(by[meta.parent]) end
      depth[#depth + 1] = n
    end
    table.sort(depth)
    assert.same({ 0, 1, 2 }, depth)
  end)

  it("records children of a fork, and what they start", function(dir)
    local list, _, err = run(dir, [[
      local host = require "spec_host"
      local function leaf() end
      if host.fork() then
        for _ = 1, 7 do leaf() end
        os.execute(start(10))
        os.exit(0, true)
      end
      assert(host.wait() == 0)]])
    assert.same({ 0, 7, 10 }, count(list))
    assert.matches("\n[^\n]*root.lua[^\n]*\n[^\n]*    " ..
      "/[^\n]*root.lua[^\n]*\n[^\n]*      /[^\n]*child.lua 10 ", err)
  end)

  it("leaves other programs and commands of cprof alone", function(dir)
    local list, out = run(dir, [[
      os.execute(lua .. " -E -e 'print(1)'")
      os.execute("env -i " .. lua .. " -e 'print(2)'")
      os.execute("CPROF=0 " .. lua .. " -e 'print(3)'")
      io.stdout:write(os.getenv "LUA_INIT" or "none", "\n")
      io.stdout:flush()
      os.execute(lua .. " lua/cprof/bin/cprof run --quiet -e 'print(4)'")]])
    assert.equal("1\n2\n3\nnone\n4\n", out)
    assert.same({ 0 }, count(list))
  end)

  it("keeps the profile of a child that is killed", function(dir)
    local list, _, err = run(dir, [[
      print(os.execute(lua .. " -e 'local function leaf() end leaf() " ..
        "leaf() os.execute [[kill -9 $PPID]" .. "]'"))]])
    assert.same({ 0, 2 }, count(list))
    assert.matches("(the program ended without stopping it)", err)
  end)

  it("runs what LUA_INIT says", function(dir)
    local name = "LUA_INIT_" .. _VERSION:match "%d.*$":gsub("%.", "_")
    local init = dir:file("init.lua", "x = 'file'")
    for value, told in pairs { ["x = 1"] = "1", ["@" .. init] = "file" } do
      for _, variable in ipairs { name, "LUA_INIT" } do
        os.execute("rm -rf '" .. dir.path .. "/family'")
        local list, out = run(dir, [[
          io.stdout:write(tostring(x), "\n")
          os.execute(lua .. " -e 'print(x)'")]],
          ("%s=%s"):format(variable, command.quote(value)))
        assert.equal(told .. "\n" .. told .. "\n", out)
        assert.same({ 0, 0 }, count(list))
      end
    end
    os.execute("rm -rf '" .. dir.path .. "/family'")
    local _, out, err = run(dir, [[
      os.execute("LUA_INIT='error [=[bad]=]' " .. lua .. " -e 'print(1)'")
      os.execute("LUA_INIT='y(' " .. lua .. " -e 'print(1)'")]])
    assert.equal("", out)
    assert.has_text("LUA_INIT:1: bad", err)
    assert.has_text("LUA_INIT:1: unexpected symbol", err)
  end)

  it("says which process is missing, which runs all the same", function(dir)
    local list, out, err = run(dir, [[
      os.execute("CPROF_CHILDREN_OPTIONS=mode=fast " .. lua ..
        " -e 'print(1)'")]])
    assert.same({ 1, "1\n" }, { #list, out })
    assert.matches("note: a process is missing: [^\n]*lua[%d.]*: option " ..
      "'mode' must be one of ", err)
  end)

  it("records children as the program itself", function(dir)
    local list = run(dir, "os.execute(start(10))", nil, "--lines=child",
      "--callsites")
    assert.equal(2, #list)
    for _, p in ipairs(list) do
      assert.equal("line", p.meta.mode)
      assert.equal('"child"', p.meta.options.lines)
    end
  end)

  it("refuses what it cannot do", function(dir)
    local function refused(...)
      local out, err, status = command.cprof("run", ...)
      assert.same({ "", 2 }, { out, status })
      return err:gsub("^cprof run: ", "")
    end
    local at = "--children=" .. dir.path
    assert.equal("--children cannot be combined with -o; --children=DIR " ..
      "names a folder\n", refused(at, "-o", "x", "-e", ""))
    assert.equal("--children cannot be combined with --html\n",
      refused(at, "--html", "-e", ""))
    assert.equal("--both cannot be combined with --children\n",
      refused(at, "--both", "-e", ""))
    assert.equal("--children cannot pass on a pattern that has a comma " ..
      "after a backslash, or a space or a backslash at its beginning or end\n",
      refused(at, "--include=a\\", "-e", ""))
    assert.equal("--children: the name of a folder cannot have a %, got " ..
      "'%n'\n", refused("--children=%n", "-e", ""))
    assert.equal("--children: cannot make the folder /nowhere/x: No such " ..
      "file or directory\n", refused("--children=/nowhere/x", "-e", ""))
    dir:file("1.cprof", "")
    assert.equal(("--children: %s has profiles already: name a new " ..
      "folder\n"):format(dir.path), refused(at, "-e", ""))
  end)
end)
