local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local profiler = require "cprof"

-- what the programs share: they fork, and look at the files afterwards
local start = [[
  local profiler = require "cprof"
  local host = require "spec_host"
  local helper = require "helper"
  local path, own = arg[1], not arg[1]:find("%%p")
  local pid = host.process()

  local function leaf() end
  local function calls(n) for _ = 1, n do leaf() end end

  local function load_of(process)
    return profiler.load((path:gsub("%%p", tostring(process))))
  end

  -- Checks the profile of a process: its sums, the number of calls of leaf, and
  -- why recording ended.
  local function expect(process, n, ended)
    local p = helper.check(assert(load_of(process)))
    local f = helper.find(p, leaf)
    local got = f and f.calls or 0
    assert(got == n, ("%d calls instead of %d"):format(got, n))
    assert(p.meta.ended == ended, p.meta.ended)
    assert(p.meta.pid == process)
    return p
  end

  local killed = "the program ended without stopping it"

  -- how children end, and what their files say then
  local ends = {
    { function() profiler.stop() os.exit(0) end },
    { function() os.exit(0, true) end },
    { function() error "dies" end },
    { function() os.exit(0) end, killed },
    { function() host.exit(0) end, killed },
    { function() host.signal(9) end, killed },
  }
]]

local function run(code, name)
  local dir <close> = command.folder()
  local output, ok = helper.run(start .. code, dir:file(name or "run.%p"))
  output = output:gsub("[^\n]*dies\nstack traceback:\n[^%a]*%[C%].-in %?\n",
    "")
  assert.equal("good\n", output)
  assert.is_true(ok)
end

describe("the child of a fork", function()
  it("is not recorded into its parent's file", function()
    run([[
      profiler.start { file = path }
      calls(500)
      for _, how in ipairs(ends) do
        if host.fork() then
          calls(5000)
          how[1]()
        end
        host.wait()
      end
      calls(500)
      profiler.stop()
      expect(pid, 1000)
      print "good"]], "run")
  end)

  it("says that its parent's file has gone on", function()
    run([[
      profiler.start { file = path }
      calls(10)
      if host.fork() then
        repeat until io.open(path .. ".on")
        local p = helper.check(profiler.snapshot())
        assert(p.meta.ended == "the process forked; its figures may " ..
          "include what its parent did since", p.meta.ended)
        assert(p:report():find("may include what its parent did since"))
        host.exit(0)
      end
      calls(10)
      io.open(path .. ".on", "w"):close()
      assert(host.wait() == 0)
      profiler.stop()
      expect(pid, 20)
      print "good"]], "run")
  end)

  it("is not recorded in memory either, and can begin anew", function()
    run([[
      profiler.start()
      calls(10)
      if host.fork() then
        calls(20)
        assert(not profiler.running())
        local p = helper.check(profiler.snapshot())
        assert(p.meta.ended == "the process forked")
        assert(helper.find(p, leaf).calls == 10)
        profiler.start()
        calls(30)
        profiler.stop()
        p = profiler.snapshot()
        helper.check(p)
        assert(helper.find(p, leaf).calls == 30)
        os.exit(7)
      end
      assert(host.wait() == 7 << 8)
      calls(10)
      profiler.stop()
      local p = helper.check(profiler.snapshot())
      assert(helper.find(p, leaf).calls == 20 and not p.meta.ended)
      print "good"]], "run")
  end)

  it("has a file of its own where %p names it, however it ends", function()
    run [[
      for _, options in ipairs { {}, { mode = "line" },
        { recursion = "fold" }, { callsites = true, clock = "cpu" },
        { mode = "trace", trace = "/dev/null" } } do
        options.file = path
        profiler.start(options)
        calls(7)
        string.rep("x", 2)
        local children = {}
        for i, how in ipairs(ends) do
          local child, process = host.fork()
          if child then
            calls(100 * i)
            string.rep("x", 2)
            how[1]()
          end
          children[i] = process
          host.wait()
        end
        calls(7)
        profiler.stop()
        local mine = expect(pid, 14)
        for i, process in ipairs(children) do
          local p = expect(process, 100 * i, ends[i][2])
          assert(p.meta.mode == mine.meta.mode)
          assert(p.meta.clock == mine.meta.clock)
          assert(p.meta.program == mine.meta.program)
          assert(helper.named(p, "string.rep").calls == 1)
          assert(helper.named(p, "calls").calls == 1)
          if p.meta.mode == "line" then
            local of = helper.find(p, leaf)
            assert(p.lines[of.source][of.line].hits == 100 * i)
            assert(p.sources[of.source].text:find "do leaf%(%) end")
            p:annotate()
          end
          p:report()
        end
      end
      print "good"]]
  end)

  it("has in its tree what ran when it forked, without calls", function()
    run [[
      local child, process
      local function inner()
        leaf()
        child, process = host.fork()
        leaf()
        leaf()
      end
      local function outer() inner() leaf() end
      profiler.start { file = path }
      outer()
      if child then os.exit(0, true) end
      host.wait()
      profiler.stop()
      local p = expect(process, 3)
      local tree = helper.tree(p, outer)
      assert(tree == "inner 0\n  spec_host.fork 0\n  leaf 2\nleaf 1", tree)
      assert(helper.find(p, outer).calls == 0)
      assert(helper.tree(expect(pid, 4), outer):find "^inner 1\n  leaf 3\n")
      print "good"]]
  end)

  it("may have children, and these, too", function()
    run [[
      profiler.start { file = path }
      calls(3)
      local depth, process = 0
      -- each generation calls once more, and tells its parent so by status
      for _ = 1, 5 do
        local child
        child, process = host.fork()
        if not child then break end
        depth = depth + 1
        calls(10 * depth)
      end
      if depth > 0 then
        if depth < 5 then
          assert(host.wait() == 0)
          expect(process, 10 * (depth + 1))
        end
        profiler.stop()
        host.exit(0)
      end
      assert(host.wait() == 0)
      profiler.stop()
      expect(pid, 3)
      expect(process, 10)
      print "good"]]
  end)

  it("may be one of many at once", function()
    run [[
      profiler.start { file = path, mode = "line" }
      local processes = {}
      for i = 1, 20 do
        calls(1)
        local child, process = host.fork()
        if child then
          for k = 1, i do
            load("local f = ... f()", "=chunk" .. k)(leaf)
          end
          os.exit(0, i % 2 == 0)
        end
        processes[i] = process
      end
      for _ = 1, 20 do assert(host.wait() == 0) end
      profiler.stop()
      expect(pid, 20)
      for i, process in ipairs(processes) do
        expect(process, i, i % 2 == 1 and killed or nil)
      end
      print "good"]]
  end)

  it("may be made in a coroutine", function()
    run [[
      for _, mode in ipairs { "call", "line" } do
        profiler.start { file = path, mode = mode }
        local child, process
        local function body()
          leaf()
          child, process = host.fork()
          calls(5)
          coroutine.yield()
          calls(7)
        end
        local co = coroutine.wrap(function()
          local inner = coroutine.create(body)
          assert(coroutine.resume(inner))
          coroutine.yield()
          assert(coroutine.resume(inner))
        end)
        co()
        calls(100)
        co()
        if child then os.exit(0, true) end
        assert(host.wait() == 0)
        profiler.stop()
        expect(pid, 113)
        local p = expect(process, 112)
        assert(helper.find(p, body).calls == 0)
        assert(helper.tree(p, body):find("^spec_host.fork%S* 0\n" ..
          "calls%S* [12]\n  leaf"), helper.tree(p, body))
      end
      print "good"]]
  end)

  it("may be made while zones are open", function()
    run [[
      local child, process
      local function work()
        profiler.enter("outer", 1)
        do
          local zone <close> = profiler.zone "closed"
          child, process = host.fork()
          calls(4)
          profiler.enter "inner"
          calls(3)
          profiler.leave "inner"
        end
        calls(2)
        profiler.leave "outer"
        calls(1)
      end
      for _, options in ipairs { {}, { mode = "line" },
        { recursion = "fold" }, { mode = "trace", trace = "/dev/null" } } do
        options.file = path
        profiler.start(options)
        work()
        if child then
          profiler.stop()
          os.exit(0)
        end
        assert(host.wait() == 0)
        profiler.stop()
        local p = expect(process, 10)
        local tree = helper.tree(p, work):gsub("@%d+", "")
        assert(tree == "outer(1) 0\n  closed 0\n    spec_host.fork 0\n" ..
          "    calls 1\n      leaf 4\n    inner 1\n      calls 1\n" ..
          "        leaf 3\n  calls 1\n    leaf 2\ncalls 1\n  leaf 1", tree)
        p = expect(pid, 10)
        assert(helper.tree(p, work):gsub("@%d+", "") == tree:gsub(" 0", " 1"))
      end
      print "good"]]
  end)

  it("may be made while recording pauses", function()
    run [[
      profiler.start { file = path }
      calls(1)
      profiler.pause()
      local child, process = host.fork()
      if child then
        calls(5)
        assert(profiler.resume())
        assert(profiler.running())
        calls(3)
        profiler.stop()
        os.exit(0)
      end
      assert(host.wait() == 0)
      calls(5)
      profiler.resume()
      calls(1)
      profiler.stop()
      expect(pid, 2)
      expect(process, 3)
      print "good"]]
  end)

  it("knows when others had its processor, if its parent does", function()
    run [[
      profiler.start { file = path }
      calls(1)
      local unknown = profiler.snapshot().meta.preempted_unknown
      if host.fork() then
        calls(1)
        os.exit(profiler.snapshot().meta.preempted_unknown == unknown)
      end
      assert(host.wait() == 0)
      print "good"]]
  end)

  it("may be made of a process with several states", function()
    run [[
      local states = {}
      for i = 1, 2 do
        states[i] = host.state()
        states[i]:run(([==[
          profiler = require "cprof"
          function leaf() end
          function calls(n) for _ = 1, n do leaf() end end
          profiler.start { file = %q .. %d }
          calls(%d)]==]):format(path, i, i))
      end
      local child, process = host.fork()
      for i, state in ipairs(states) do
        -- the host of the second one asks, and enters a zone in C, before
        -- any function is called
        if i == 2 then assert(state:control "running" == 1) end
        local run = i == 1 and state.run or state.host
        run(state, ("calls(%d)"):format(child and 10 * i or 100 * i))
      end
      if child then
        states[1]:close()
        states[2]:run "profiler.stop()"
        os.exit(0)
      end
      assert(host.wait() == 0)
      for i, state in ipairs(states) do
        state:close()
        for process, n in pairs { [pid] = 101 * i, [process] = 10 * i } do
          local p = helper.check(assert(load_of(process .. i)))
          assert(helper.named(p, "leaf").calls == n)
          assert(not p.meta.ended)
        end
      end
      print "good"]]
  end)

  it("may be made by one of several threads", function()
    run [[
      local code = ([==[
        local profiler = require "cprof"
        local host = require "spec_host"
        local helper = require "helper"
        local path = %q .. tostring({}):gsub("%%W", "")
        local function leaf() end
        local function calls(n) for _ = 1, n do leaf() end end
        local pid = host.process()
        for i = 1, 20 do
          profiler.start { file = path }
          calls(200)
          local child, process = host.fork()
          if child then
            calls(30)
            host.exit(0)
          end
          host.wait()
          calls(200)
          profiler.stop()
          for process, n in pairs { [pid] = 400, [process] = 30 } do
            local p
            repeat p = profiler.load((path:gsub("%%%%p", process)))
            until p and not p.meta.live
            helper.check(p)
            assert(helper.named(p, "leaf").calls == n)
          end
        end
        return "good"]==]):format(path)
      for _, result in ipairs(host.threads(code, 3)) do
        assert(result == "good", result)
      end
      print "good"]]
  end)

  it("may be made by a trace that is told of an event", function()
    run [[
      for at = 1, 12 do
        local child, process
        local n = 0
        profiler.start { file = path, mode = "trace", trace = function()
          n = n + 1
          if n == at then child, process = host.fork() end
          if child then assert(profiler.running() == (n > at)) end
        end }
        calls(5)
        if child then
          calls(10)
          profiler.stop()
          os.exit(0)
        end
        assert(host.wait() == 0)
        profiler.stop()
        expect(pid, 5)
        -- `calls` makes the first and the last event
        expect(process, 10 + math.max(0, 5 - at // 2))
      end
      print "good"]]
  end)

  it("does not keep its parent's file", function()
    run([[
      profiler.start { file = path }
      calls(5)
      local child, process = host.fork()
      if child then  -- cprof has no event in which to notice the fork
        host.exit(host.sleep(20))
      end
      profiler.stop()
      expect(pid, 5)
      profiler.start { file = path }  -- which nobody writes any more
      calls(6)
      profiler.stop()
      expect(pid, 6)
      os.execute("kill " .. process)
      host.wait()
      print "good"]], "run")
  end)

  it("is not recorded where its file cannot be written", function()
    run [[
      local folder = path:match "^(.*)/"
      profiler.start { file = folder .. "/sub-%p" }
      calls(2)
      os.execute("chmod a-w " .. folder)
      local child, process = host.fork()
      if child then
        -- root may write anywhere, so a folder is in place of the file
        os.execute(("mkdir %s/sub-%d 2>/dev/null"):format(folder,
          host.process()))
        calls(3)
        os.exit(0, true)
      end
      assert(host.wait() == 0)
      os.execute("chmod u+w " .. folder)
      calls(2)
      profiler.stop()
      path = folder .. "/sub-%p"
      expect(pid, 4)
      print "good"]]
  end)
end)

describe("a program that goes to another folder", function()
  -- the function has no name but that of its definition
  local work = [[
    local host = require "spec_host"
    local handlers = {}
    handlers[1] = function() math.abs(1) end
    local function work() for i = 1, 100 do pcall(handlers[1], i) end end
  ]]

  local function load_of(dir, pid)
    return assert(profiler.load(dir:file("x-%d.cprof"):format(pid)))
  end

  it("has the file of its child where its own is", function(dir)
    dir:file("x.lua", work .. [[
      work()
      if host.fork "/" then
        work()
        os.exit(0, true)
      end
      local status = host.wait()
      local pid = select(2, host.fork "/")
      if not pid then
        work() work()
        os.exit(0, true)
      end
      print(status, host.wait(), host.process(), pid)]])
    for _, line in ipairs { command.here("run", "--quiet", "-o",
      "x-%p.cprof", "x.lua"),
      "CPROF_OPTIONS=file=x-%p.cprof $SPEC_LUA -l cprof.auto x.lua" } do
      local out, err = command.shell(("cd %s; %s"):format(
        command.quote(dir.path), line))
      local own, child = out:match "^0\t0\t(%d+)\t(%d+)\n$"
      assert.is_truthy(own, out .. err)
      for pid, calls in pairs { [own] = 100, [child] = 200 } do
        local p = helper.check(load_of(dir, pid))
        assert.equal(calls, helper.named(p, "handlers[1]").calls)
      end
    end
  end)

  it("is told where a child cannot be recorded", function(dir)
    local code = (work .. [[
      os.execute "mkdir DIR/gone"
      require "cprof".start { file = "DIR/gone/%p" }
      os.execute "rm -r DIR/gone"
      local child, pid = host.fork()
      work()
      if child then os.exit(0, true) end
      print(host.wait(), pid)]]):gsub("DIR", dir.path)
    local out, err = command.lua("-e", code)
    local pid = out:match "^0\t(%d+)\n$"
    assert.equal(("cprof: process %s, a child of a fork, is not recorded: " ..
      "%s/gone/%s: No such file or directory\n"):format(pid, dir.path, pid),
      err, out)
  end)

  it("has the files of a continuous recording in the first one", function(dir)
    dir:file("x.lua", work .. [[
      local profiler, core = require "cprof", require "cprof.core"
      profiler.start { file = "x-%n.cprof", every = 0.02, keep = 2 }
      local here = core.cwd()
      host.folder "/"
      local function begun()
        local most = 0
        for _, name in ipairs(core.filenames(here)) do
          most = math.max(most, tonumber(name:match "^x%-(%d+)") or 0)
        end
        return most
      end
      local function known()
        for _, f in ipairs(profiler.snapshot().functions) do
          if f.calls > 0 and f.name:find "handlers" then return true end
        end
      end
      -- no file begins after the last of these calls
      repeat
        profiler.resume()
        work()
        profiler.pause()
      until begun() >= 4 and known()
      profiler.stop()]])
    local out, err = command.shell(("cd %s; $SPEC_LUA x.lua; ls"):format(
      command.quote(dir.path)))
    assert.equal("", err)
    local names = {}
    local last = 0
    for n in out:gmatch "x%-(%d+).cprof" do
      names[#names + 1] = n
      last = math.max(last, tonumber(n))
    end
    assert.equal(2, #names, out)
    local p = assert(profiler.load(dir:file(("x-%d.cprof"):format(last))))
    assert.is_true(helper.named(p, "handlers[1]").calls > 0)
  end)

end)

describe("a program that cannot reach the files of cprof any more", function()
  local work = [[
    local host = require "spec_host"
    local function work() return math.abs(1) end
    for i = 1, 100 do work() end
  ]]

  -- cprof in a folder of its own, which the program takes away at its end
  local function away_from(dir)
    dir:file("x.lua", work .. [[
      os.rename(arg[1] .. "/lua/cprof", arg[1] .. "/away")]])
    local lua = command.quote(dir:file "lua")
    local paths = ("cd %s; export LUA_PATH=%s'/?.lua;'%s'/?/init.lua;'" ..
      "\"$LUA_PATH\"; "):format(command.quote(dir.path), lua, lua)
    return function(line)
      assert(os.rename(dir:file "away", dir:file "lua/cprof"))
      return command.shell(paths .. line .. " x.lua " ..
        command.quote(dir.path))
    end
  end

  it("has all that is made of its recording", function(dir)
    assert(os.execute(("mkdir %s; cp -r lua/cprof %s"):format(
      command.quote(dir:file "lua"), command.quote(dir:file "away"))))
    local shell = away_from(dir)
    local line = "$SPEC_LUA lua/cprof/bin/cprof run "
    for _, options in ipairs { "-o x.cprof", "", "--lines", "--sample",
      "--memory", "--coverage" } do
      local out, err, status = shell(line .. options)
      assert.equal("", out)
      assert.equal(0, status, err)
      assert.has_text(": x.lua", err)
      assert.has_no_text("cannot", err)
    end
    for _, format in ipairs { "html", "json", "callgrind" } do
      local _, err = shell(line .. "--quiet --format=" .. format .. " -o out")
      assert.equal("", err)
      local file <close> = assert(io.open(dir:file "out", "rb"))
      assert.has_text("work", file:read "a")
    end
    local _, err = shell "CPROF=1 $SPEC_LUA -l cprof.auto"
    assert.has_text("cprof: x.lua", err)
    assert.has_no_text("cannot", err)
  end)

  it("has that under another root, too", function(dir)
    dir:file("x.lua", work .. "print(host.root(arg[1]))")
    local out, err = command.shell(("cd %s; %s"):format(
      command.quote(dir.path), command.here("run", "-o", "x.cprof", "x.lua",
      dir.path)))
    if out == "false\n" then return pending "it is root who can" end
    assert.equal("true\n", out)
    assert.has_text("cprof: x.lua", err)
    assert.has_no_text("cannot", err)
    local p = helper.check(assert(profiler.load(dir:file "x.cprof")))
    assert.is_falsy(p.meta.live)
    assert.equal(100, helper.named(p, "work").calls)
  end)
end)
