local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"
local command = require "command"
local interpreter = require "interpreter"
local releases = require "releases"

-- programs that must do the same under the command as under the interpreter
local programs = {
  ["that prints its arguments"] = {
    [[print(#arg, arg[0] ~= nil, arg[1], arg[2], select("#", ...), ...)
      for _, s in ipairs(arg) do io.write("<", s, ">\n") end]] },
  ["that ends with os.exit()"] = { "print(1) os.exit()" },
  ["that ends with os.exit(3)"] = { "io.write 'no newline' os.exit(3)" },
  ["that ends with os.exit(true)"] = { "os.exit(true)" },
  ["that ends with os.exit(false)"] = { "os.exit(false)" },
  ["that ends with os.exit(7.0, true)"] = {
    [[kept = setmetatable({}, { __gc = function() print "collected" end })
      local close = { __close = function() print "closed" end }
      local x <close> = setmetatable({}, close)
      os.exit(7.0, true)]], output = "closed\ncollected\n" },
  ["that exits deep in a coroutine"] = {
    [[local function deep(n) if n == 0 then os.exit(5) end deep(n - 1) end
      coroutine.wrap(function() pcall(deep, 50) end)()]] },
  ["that gives os.exit what it does not take"] = {
    [[print(pcall(os.exit, "x")) print(pcall(os.exit, 1.5))
      local ok, why = pcall(function() os.exit {} end) print(why)]] },
  ["that ends with an error"] = {
    "local function f() error 'an error' end\nf()", err = "an error\nstack" },
  ["whose error is no string"] = { "error { code = 1 }",
    err = "error object is a table value" },
  ["whose error has a __tostring"] = {
    "error(setmetatable({}, { __tostring = function() return 'mine' end }))",
    err = "mine\n" },
  ["whose error is nil"] = { "error()", err = "nil" },
  ["that does not compile"] = { "print 'a'\nlocal = 1", err = ":2: " },
  ["that reads its input"] = {
    "for l in io.lines() do print(#l, l) end print(io.read())",
    input = "one\ntwo\n" },
  ["that begins with #!"] = { "#!/usr/bin/lua\nprint(debug.getinfo(1, " ..
    "'l').currentline)" },
  ["that asks who runs"] = {
    [[print(coroutine.isyieldable(), select(2, coroutine.running()))
      print(debug.getinfo(1, "S").what, debug.getinfo(os.exit, "S").what)
      print(package.loaded.argparse, package.loaded.dkjson)
      local n = 0 for k in pairs(_G) do n = n + 1 end print(n)]] },
  ["that closes what it opened"] = {
    [[local x <close> = setmetatable({}, { __close = function(_, e)
        print("closed", e:match "^[^\n]*") end })
      kept = setmetatable({}, { __gc = function() print "collected" end })
      error "late"]] },
  ["that warns"] = { "warn('@on') warn 'careful'", err = "careful" },
  ["that returns something"] = { "return 42, 'x'" },
  ["that overflows the stack"] = {
    "local function f() return 1 + f() end f()", err = "stack overflow" },
}

-- Runs a program with a driven clock: a function's time is what it passes to
-- `pass`.
local function standing(...)
  return command.standing("run", "--exclude=/^pass/", ...)
end

local order = {}
for name in pairs(programs) do order[#order + 1] = name end
table.sort(order)

describe("cprof run", function()
  it("leaves the heap small: what starts and reports need is not there",
    function(dir)
      local script = dir:file("x.lua", [[
        io.write(collectgarbage "count" // 1)
        for name in pairs(package.loaded) do
          if name:find "^cprof" then io.write(" ", name) end
        end]])
      local bare = command.lua(script)
      -- KB; what a trace or a pattern needs stays
      for how, most in pairs { ["--callsites"] = 120, ["--lines"] = 120,
        ["--memory"] = 120, ["--sample"] = 120, ["--coverage"] = 120,
        ["--html"] = 120, ["--format=json"] = 120, ["--include=x.lua"] = 280,
        ["--trace=" .. dir:file "trace"] = 280 } do
        local out, err = command.cprof("run", how, "-o",
          dir:file("out" .. how:gsub("%W", "")), script)
        assert.has_text(": " .. script .. "\n", err)
        assert.is_true(tonumber(out:match "%d+") - tonumber(bare) < most,
          how .. out)
        local names = {}
        for name in out:gmatch "cprof[%w_.]*" do names[#names + 1] = name end
        table.sort(names)
        assert.same({ "cprof", "cprof.core", "cprof.sandbox.environment" },
          names)
      end
    end)

  it("lets the first collection come when the heap has doubled, or before",
    function(dir)
      local script = dir:file("x.lua", [[
        local count = collectgarbage
        local first, last = count "count", 0
        for _ = 1, 1e5 do
          local _, now = {}, count "count"
          if now < last then break end
          last = now
        end
        io.write(first // 1, " ", last // 1)]])
      for _, options in ipairs { "--callsites", "--lines", "--sample",
        "--memory", "--coverage" } do
        local out = command.cprof("run", "--quiet", options, "-o",
          dir:file "x.cprof", script)
        local heap, most = out:match "^(%d+)%.?%d* (%d+)"
        assert.is_true(tonumber(most) < 2.5 * tonumber(heap), out)
      end
    end)

  for _, name in ipairs(order) do
    it("is as the interpreter for a program " .. name, function(dir)
      local p = programs[name]
      local script = dir:file("a script.lua", p[1])
      local input = "<" .. command.quote(dir:file("input", p.input or ""))
      local q = command.quote
      local words = { q(script), "one", "''", "'-x y'" }
      local args = table.concat(words, " ")
      local out, err, status = command.shell("$SPEC_LUA " .. args .. input)
      local got, got_err, got_status = command.shell(
        "$SPEC_LUA lua/cprof/bin/cprof run " .. args .. input)
      assert.equal(out, got)
      assert.equal(status, got_status)
      if p.output then assert.equal(p.output, got) end
      if p.err then
        assert.has_text(p.err, err)
        -- what the interpreter says comes first, down to the traceback
        local first = err:match "^[^\n]*\n"
        assert.equal(first, got_err:match "^[^\n]*\n")
      end
      if name:find "compile" then
        assert.equal(err, got_err)
      else
        assert.has_text("\ncprof: " .. script, got_err)
      end
    end)
  end

  it("says what the interpreter says when there is no such script",
    function()
      local _, err, status = command.lua "/nowhere.lua"
      local out, got, got_status = command.cprof("run", "/nowhere.lua")
      assert.equal("", out)
      assert.equal(err, got)
      assert.equal(status, got_status)
    end)

  it("warns of line hooks that crash Lua, and of no others", function()
    for option, mode in pairs { ["--lines"] = "line", ["--count"] = "count" } do
      local _, err = command.cprof("run", "--quiet", option, "-e", "x = 1")
      if mode == "line" and releases.crashes_finalizers() then
        assert.equal("cprof run: warning: line hooks of Lua " ..
          interpreter.release .. " have faults that Lua 5.4.4 does not " ..
          "have: they can make a correct program fail; finalizers " ..
          "without debug information crash it\n", err)
      else
        assert.equal("", err)
      end
    end
  end)

  it("shows the traceback of the program, and nothing of cprof's",
    function(dir)
      local script = dir:file("x.lua",
        "local function f() error 'boom' end\nf()\n")
      local _, err = command.cprof("run", "--quiet", script)
      -- a message begins with the interpreter's path, which may have "cprof"
      assert.no_matches("^[^\n]-: .-cprof", err)
      assert.is_truthy(err:find("in upvalue 'f'", 1, true) or
        err:find("in local 'f'", 1, true), err)
      assert.has_text("in main chunk", err)
    end)

  it("runs code, modules and standard input", function(dir)
    dir:file("mod.lua", "print(arg[0], ..., arg[1], #arg)")
    assert.equal("1\t2\t1\n", (command.cprof("run", "--quiet", "-e",
      "print(...) io.write('')", "1", "2"):gsub("\n", "\t1\n", 1)))
    local out = command.cprof_with(("LUA_PATH='%s/?.lua;'\"$LUA_PATH\""):format(
      dir.path), "", "run", "--quiet", "-m", "mod", "-o", "x")
    assert.equal(("%s/mod.lua\t-o\t-o\t2\n"):format(dir.path), out)
    out = command.cprof_with("echo 'print(7, ...)' |", "", "run", "--quiet",
      "-", "a")
    assert.equal("7\ta\n", out)
  end)

  it("gives arg what stands there without it: the interpreter first",
    function(dir)
      local script = dir:file("x.lua",
        "for i = -3, 2 do io.write(tostring(arg[i]), ' ') end")
      for _, options in ipairs { "", " -W" } do
        local lua = "$SPEC_LUA" .. options
        local bare = command.shell(("%s %s x"):format(lua, script))
        assert.matches("x%.lua x nil $", bare)
        local out, err = command.shell(
          ("%s lua/cprof/bin/cprof run --quiet %s x"):format(lua, script))
        assert.equal(bare, out, err)
      end
    end)

  it("takes what follows the script as the program's", function(dir)
    local script = dir:file("-odd.lua", "print(...)")
    assert.equal("--quiet\t--help\t--\n", (command.cprof("run", "--quiet",
      "--", script, "--quiet", "--help", "--")))
    local out = command.shell(("cd %s && %s run --quiet -- -odd.lua -x")
      :format(dir.path, "$SPEC_LUA " .. os.getenv "PWD" ..
        "/lua/cprof/bin/cprof"))
    assert.equal("-x\n", out)
  end)

  it("records the program alone: its main chunk is the host's first call",
    function(dir)
      local script = dir:file("x.lua", "local function f() end f() f()")
      local file = dir:file "x.cprof"
      local _, err = command.cprof("run", "-o", file, script)
      local p = helper.check(assert(profiler.load(file), err))
      local names = {}
      for _, node in ipairs(p.nodes) do
        local f = p.functions[node.func]
        if f.kind ~= "root" and f.name ~= "(cprof)" then
          names[#names + 1] = f.name .. " " .. node.calls
        end
      end
      assert.same({ "(host) 0", script .. " 1", "f 2" }, names)
      assert.equal(script, p.meta.program)
    end)

  it("says what it found, where that is and what to type next", function(dir)
    local script = dir:file("x.lua",
      "local function busy() pass(1e6) end pass(1e3) busy()")
    local file = dir:file "it's.cprof"
    local out, err, status = standing("-o", file, script, "a b")
    assert.equal("", out)
    assert.equal(0, status)
    assert.has_text("\ncprof: " .. script .. " a b\n", err)
    assert.has_text("busy", err)
    local next_command = err:match "\n\nNext: cprof ([^\n]*)\n$"
    local shown, why, ok = command.shell("$SPEC_LUA lua/cprof/bin/cprof " ..
      next_command)
    assert.equal(0, ok, why)
    assert.matches("^busy %(", shown)
    err = select(2, standing(script, "a b"))
    assert.equal("cprof show busy", err:match "\n\nNext: ([^\n]*)\n$")
    file = dir:file "x.folded"
    err = select(2, standing("-o", file, "--format", "folded", script))
    assert.matches(("\n\nWritten to %s, as folded\n" ..
      "Next: cprof show busy\n$"):format(file), err)
    err = select(2, standing("--quiet", script))
    assert.equal("", err)
  end)

  it("has the hottest lines after the report, where lines were recorded",
    function(dir)
      local script = dir:file("x.lua", "local function busy()\n" ..
        "  for i = 1, 9 do pass(1e6) end\nend\npass(1e6) busy()\n")
      local _, err = standing("--lines", script)
      local report, lines = err:match "^(.*)\n( *hits +self .*)$"
      assert.is_truthy(report, err)
      assert.has_text(" hottest path\n", report)
      assert.matches("^[^\n]*\n[^\n]*x%.lua:2  for i = 1", lines, err)
      _, err = standing(script)
      assert.has_no_text(" hits ", err)
    end)

  it("has the options of start", function(dir)
    local script = dir:file("x.lua", [[
      local function f() end
      local function g() f()
        f() end
      g()]])
    local function record(...)
      local file = dir:file "x.cprof"
      local words = { "run", "-o", file, ... }
      words[#words + 1] = script
      command.must(table.unpack(words))
      local p = profiler.load(file)
      local of = {}
      for _, fn in ipairs(p.functions) do of[fn.name] = fn end
      return p, of
    end
    local p = record "--lines"
    assert.equal("line", p.meta.mode)
    assert.equal(1, p.lines["@" .. script][4].hits)
    p = record "--lines=nothing"
    assert.is_nil(next(p.sources))
    p = record("--lines=/x%.lua$/", "--lines=other")
    assert.is_truthy(p.sources["@" .. script])
    assert.is_nil(select(2, record("--exclude", "/^f /")).f)
    local of = select(2, record("--include", "/^f /", "--include=/^g /"))
    assert.equal(2, of.f.calls)
    assert.equal(1, of.g.calls)
    p = record "--callsites"
    local sites = {}
    for _, node in ipairs(p.nodes) do
      if p.functions[node.func].name == "f" then
        sites[#sites + 1] = node.call_line
      end
    end
    assert.same({ 2, 3 }, sites)
    p = record("--clock", "cpu")
    assert.equal("cpu", p.meta.clock)
  end)

  it("names nothing of its own where a pattern matched nothing", function(dir)
    local script = dir:file("x.lua", "local function leaf() end leaf()")
    local _, err = command.must("run", "--include", "zzz", script)
    err = err:gsub("\n +", " ")  -- the note is wrapped
    assert.has_text("leaf (", err)
    assert.has_no_text("lua/cprof", err)
    assert.has_no_text("cprof.", err)
    -- no next step is suggested where there is nothing to see
    assert.has_no_text("Next:", err)
    local out = command.cprof "report"
    assert.has_no_text("Next:", out)
  end)

  it("says where it looked for a module", function()
    local out, err, status = command.cprof("run", "-m", "nosuch.module")
    assert.same({ "", 2 }, { out, status })
    assert.matches("^cprof run: module 'nosuch.module' not found: no file " ..
      "'[^' ]+', '[^\n]+'\n$", err)
  end)

  it("fills in the name of a file in another format, too", function(dir)
    local script = dir:file("x.lua", "local function f() end f()")
    for _, options in ipairs { { "--format=csv" }, { "--both" } } do
      local list = {}
      for i = 1, 2 do
        options[2], options[3] = "-o", dir:file "made-%n"
        options[4] = script
        local _, err = command.must("run", table.unpack(options))
        list[i] = err:match "/made%-(%d)%f[%s,]"
        os.remove(i == 2 and dir:file "made-1" or "")
      end
      assert.same({ "1", "2" }, list)
      os.remove(dir:file "made-2")
    end
  end)

  it("writes other formats", function(dir)
    local script = dir:file("x.lua", "local function f() end f()")
    local file = dir:file "x.csv"
    local _, err = command.must("run", "--format=csv", "-o", file, script)
    assert.has_text('"f (', command.read(file))
    assert.has_text("Written to " .. file .. ", as csv\n", err)
  end)

  it("writes them where it was told to, wherever the program goes",
    function(dir)
      local script = dir:file("x.lua", "local function f() end f() " ..
        "require('lfs').chdir '/'")
      local _, err = command.shell(("cd %s && %s"):format(dir.path,
        command.here("run", "--format=csv", "-o", "x.csv", script)))
      assert.has_text('"f (', command.read(dir:file "x.csv"), err)
    end)

  it("writes them again, over what they were", function(dir)
    local script = dir:file("x.lua",
      "local function f() pass(1e6) end f()")
    local file = dir:file("x.folded", "what was there before")
    for _ = 1, 2 do
      local _, err, status = standing("--format=folded", "-o", file, script)
      assert.equal(0, status, err)
      assert.has_text("f (", command.read(file), err)
    end
  end)

  it("takes a word after -o as its file, unless it looks like a program",
    function(dir)
      local compiled = string.dump(load "print(...)")
      for name, text in pairs { ["x.lua"] = "print(...)", missing = false,
        ["y.cprof.lua"] = "print(...)", shell = "#! lua\nprint(...)",
        compiled = compiled } do
        local path = dir:file(name, text or nil)
        local out, err = command.shell(("cd '%s' && %s"):format(dir.path,
          command.here("run", "--quiet", "-o", path, "1")))
        if text then
          assert.equal("1\n", out, err)
          assert.equal(text, command.read(path))
        else
          assert.has_text("cannot open 1", err)
        end
      end
      local err = command.refused("run", "-o", dir:file "missing")
      assert.has_text("name a script, -e code or -m module; '" ..
        dir:file "missing" .. "' was taken for the FILE of -o\n", err)
    end)

  it("records over no file but a profile", function(dir)
    local script = dir:file("x.lua", "print 'ran'")
    for _, text in ipairs { "precious", "#", "local x = 1" } do
      local file = dir:file("precious", text)
      local out, err, status = command.cprof("run", "-o", file, script)
      assert.equal("", out)
      assert.equal("cprof run: " .. file .. ": exists and is not a profile\n",
        err)
      assert.equal(2, status)
      assert.equal(text, command.read(file))
    end
    local file = dir:file "x.cprof"
    for _ = 1, 2 do
      command.must("run", "-o", file, script)
    end
  end)

  it("records into the file while the program runs", function(dir)
    local script = dir:file("x.lua",
      "local function f() end f() os.execute('kill -9 $PPID')")
    local file = dir:file "x-%p.cprof"
    local line = command.line("run", "-o", file, script)
    -- in a process of its own, not in place of the shell
    command.shell("sh -c " .. command.quote(line .. "; true"))
    local found = command.shell("ls " .. dir.path .. "/x-*.cprof")
    assert.matches("x%-%d+%.cprof\n$", found)
    local p = assert(profiler.load((found:gsub("\n", ""))))
    local f = helper.named(p, "f")
    assert.equal(1, f.calls)
  end)

  it("gives way when the program records itself", function(dir)
    local script = dir:file("x.lua", [[
      local function before() pass(1e6) end
      before()
      local profiler = require "cprof"
      profiler.start()
      local function during() pass(1e6) end
      during()
      profiler.stop()
      profiler.start()
      profiler.stop()
      print(#profiler.snapshot().functions > 0)]])
    local out, err, status = standing(script)
    assert.equal("true\n", out)
    assert.equal(0, status)
    assert.has_text("before", err)
    assert.has_no_text("during", err)
    assert.has_text("began a recording of its own", err)
  end)

  it("has zones, pauses and stops of the program", function(dir)
    local script = dir:file("x.lua", [[
      local profiler = require "cprof"
      profiler.enter "loading"
      pass(1e6)
      profiler.leave "loading"
      local function after() pass(1e6) end
      local method = ...
      profiler[method]()
      for _ = 1, 1000 do after() end]])
    for method, note in pairs {
      stop = "note: the program stopped the recording itself\n",
      pause = "note: the program paused the recording, and did not resume it\n",
    } do
      local _, err = standing(script, method)
      assert.has_text("loading", err)
      assert.no_matches("%f[%w]after%f[%W]", err)
      assert.has_text(note, err)
    end
    local file = dir:file "x.cprof"
    local _, err = standing("-o", file, script, "running")
    local out = command.cprof("report", "--mode=self", "--sort=name", file)
    assert.matches("%f[%w]after%f[%W]", out)
    assert.has_no_text("note: the program", err)
  end)

  it("is as wide as asked, and has the colours", function(dir)
    local named = ("a_name_that_is_long_"):rep(6)
    local script = dir:file("x.lua",
      ("local function %s() pass(1e6) end %s()"):format(named, named))
    local function run(before, ...)
      local _, err, status = command.shell(before .. " " ..
        command.standing_line("run", "--exclude=/^pass/", ...))
      assert.equal(0, status, err)
      return err
    end
    local err = run("", script)
    assert.has_text(named, err)
    err = run("", "--color=always", script)
    assert.has_text("\27[1m", err)
    for _, how in ipairs { { "export SPEC_COLUMNS=60;", script },
      { "export SPEC_COLUMNS=200;", "--width", "60", script } } do
      err = run(table.unpack(how))
      assert.has_text("long_  ", err)
      for text in err:gmatch "[^\n]+" do
        assert.is_true(utf8.len(text) <= 60 or text:find "^Next:" ~= nil,
          text)
      end
    end
  end)

  it("is as wide as asked after a signal, too", function()
    local named = ("a_name_that_is_long_"):rep(6)
    local _, err = command.cprof("run", "--width=60", "--color=always", "-e",
      ("local function %s() os.execute 'kill -TERM $PPID' end %s() " ..
      "local f <const> = os.clock while f() < 60 do end"):format(named, named))
    assert.has_text("\27[1m", err)
    assert.has_no_text(named, err)
  end)

  it("shows allocations before times where they were asked for", function(dir)
    local script = dir:file("x.lua", [[
      local kept = {}
      local function keep() for i = 1, 100 do kept[i] = {} end end
      local function drop() for i = 1, 300 do local _ = { i } end end
      local function count() pass(1e6) end
      keep() drop() collectgarbage() collectgarbage()
      for _ = 1, 50 do count() end]])
    local function first_of(...)
      local _, err, status = standing(...)
      assert.equal(0, status, err)
      local row = "self %% [^\n]+\n *[%d.]+ K?B [^\n]- (%w+) +[^ ]+\n"
      return err:match(row), err
    end
    local first, err = first_of("--memory", script)
    assert.equal("drop", first, err)
    assert.has_text("bytes allocated", err)
    -- the table of times is there, too, below
    local times = "\n *hits +alloc .+\n *self +self %%.-[mµn]s"
    assert.matches(times, err)
    assert.has_text("contents (table slots, stacks, code) ", err)
    assert.no_matches("other%f[^%w]", err)
    first, err = first_of("--memory=all", script)
    assert.equal("keep", first, err)
    assert.has_text("bytes in use", err)
    -- a small heap is known exactly
    first, err = first_of("--memory=live", script)
    assert.equal("keep", first, err)
    assert.matches("\nstill in use: [%d.]+ KB in 1%d%d blocks[;,]", err)
    assert.has_text("cprof annotate --heat live", err)
  end)

  it("says if the recording cannot be kept", function(dir)
    local nowhere = ("export SPEC_TMPDIR=%s/missing;"):format(dir.path)
    local _, err, status = command.shell(nowhere .. command.standing_line("run",
      "-e", "pass(1e6)"))
    assert.equal(0, status)
    assert.has_text("pass", err)
    assert.has_text("The recording is not kept: ", err)
    _, err = command.cprof_with(nowhere, "", "run", "-o", dir:file "x.cprof",
      "-e", "string.rep('x', 3)")
    assert.has_no_text("not kept", err)
  end)

  it("says nothing in the child of a fork", function(dir)
    local script = dir:file("x.lua", [[
      local host = require "spec_host"
      if host.fork() then
        io.write "child\n"
        if arg[1] == "exit" then os.exit(0) end
        return
      end
      host.wait()
      io.write "parent\n"]])
    for _, how in ipairs { "exit", "return" } do
      local out, err = command.cprof("run", script, how)
      assert.equal("child\nparent\n", out, err)
      assert.equal(1, select(2, err:gsub("\ncprof: ", "")))
    end
  end)

  it("says how an option has its value where it is taken for the script",
    function()
      for _, case in ipairs { { "--sample", "200" }, { "--memory", "live" } } do
        local _, err = command.cprof("run", case[1], case[2], "x.lua")
        assert.has_text("cannot open " .. case[2], err)
        assert.has_text(("; if it is the value of %s, write " ..
          "%s=%s\n"):format(case[1], case[1], case[2]), err)
      end
      local _, err = command.cprof("run", "--sample", "nosuch.lua")
      assert.has_no_text("if it is", err)
    end)

  it("says that an option went to a script that reads no arguments",
    function(dir)
      local note = "\nnote: --lines, -o went to the script, which reads " ..
        "no arguments: options of cprof run come before the script's name\n"
      for text, said in pairs {
        ["print 'ran'"] = true, ["local how = ... print 'ran'"] = false,
        ["if arg[1] then print 'ran' end"] = false,
        ["require 'argparse' print 'ran'"] = false,
      } do
        local script = dir:file("x.lua", text)
        local out, err = command.cprof("run", script, "--lines", "-o",
          "--mine", "x")
        assert.equal("ran\n", out)
        assert.equal(said, err:find(note, 1, true) ~= nil, text .. err)
      end
      local script = dir:file("x.lua", "print 'ran'")
      for _, words in ipairs { { "--mine", "lines" }, { "-e" }, {} } do
        local _, err = command.cprof("run", script, table.unpack(words))
        assert.has_no_text("went to", err)
      end
      local _, err = command.cprof("run", "--quiet", script, "--lines")
      assert.equal("", err)
    end)
end)
