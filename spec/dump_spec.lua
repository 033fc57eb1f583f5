-- What a program runs, read from outside. The programs of these specs say
-- themselves what they run, and know nothing of cprof.

local _ENV = require("helper").env(_ENV)

local command = require "command"
local compile = require "compile"
local core = require "cprof.core"
local helper = require "helper"
local json = require "dkjson"
local remote = require "cprof.remote"
local watched = require "watched"

local alive, await = watched.alive, watched.await
local run, start = watched.run, watched.start
local waits_for_input = watched.waits_for_input
local waits_undisturbed = watched.waits_undisturbed

if not core.remote_open then
  describe("cprof dump", function()
    it("says where it works", function()
      local _, err, status = command.cprof("dump", "1")
      assert.equal("cprof dump: other programs can be read only on Linux, " ..
        "x86-64 and aarch64\n", err)
      assert.equal(2, status)
    end)
  end)
  return
end

if not watched.possible(_ENV, "cprof dump", "reads other programs") then
  return
end

-- A program that waits whenever it calls `step`. Before, it writes into
-- stack.N what runs: for each call, file and line, or [C].
local prelude = [[
local steps = 0
local function stack(level)
  local out = {}
  while true do
    local info = debug.getinfo(level, "Sl")
    if not info then return table.concat(out, "\n") end
    out[#out + 1] = info.what == "C" and "[C]" or
      info.short_src .. ":" .. info.currentline
    level = level + 1
  end
end
local function write(s)
  local file = io.open("stack", "w")
  file:write(s)
  file:close()
  os.rename("stack", "stack." .. steps)
end
local function step() steps = steps + 1 write(stack(2)) io.read() end
]]

-- what a thread runs, as the program says it
local function shown(thread)
  local out = {}
  for i, frame in ipairs(thread.frames) do
    out[i] = frame.kind == "C" and "[C]" or
      ("%s:%s"):format(frame.place, frame.line)
  end
  return table.concat(out, "\n")
end

local function names(thread)
  local out = {}
  for i, frame in ipairs(thread.frames) do out[i] = frame.name end
  return out
end

describe("a program that was not prepared", function()
  it("has the stack that it says it has, line by line", function(dir)
    local n = helper.many(20) + 2
    local code = { prelude, "local x = 0\nlocal function long()\n" }
    for i = 1, n do
      -- long functions have further tables of lines, and so have wide gaps
      code[#code + 1] = ("x = x +\n x\n"):rep(i * 7 % 50)
      code[#code + 1] = ("\n"):rep(i % 4 == 0 and 300 or i % 3)
      code[#code + 1] = i % 2 == 0 and "step()\n" or
        "pcall(function()\n  return (pcall(step))\nend)\n"
    end
    code[#code + 1] = "end\nlong()\n"
    local program <close> = run(dir, table.concat(code))
    for i = 1, n do
      local said = program:said(i)
      -- a program that waits can be read without stopping it
      local found = await(program.pid, waits_undisturbed)
      assert.equal("[C]\n" .. said, shown(found.states[1].threads[1]))
      assert.equal(1, #found.states)
      program:go()
    end
    assert.same({ "exit", 0 }, { program:close() })
    assert.equal("", command.read(dir.path .. "/err"))
  end)

  it("has names from its sources and libraries", function(dir)
    local program <close> = run(dir, [[
      local M = {}
      function M.wait(...) return (io.read(...)) end
      function M:method() return (M.wait()) end
      function open() return (pcall(M.method, M)) end
      open()]])
    local found = await(program.pid, waits_for_input)
    local thread = found.states[1].threads[1]
    assert.same({ "io.read", "M.wait", "M:method", "pcall", "open",
      "(main chunk)" }, { table.unpack(names(thread), 1, 6) })
    assert.equal("main", thread.kind)
    assert.equal("running", thread.status)
    program:close()
  end)

  it("has coroutines, and what resumed each", function(dir)
    local program <close> = run(dir, prelude .. [[
      local function yields() coroutine.yield() end
      local keep = {}
      for i = 1, 3 do
        keep[i] = coroutine.create(function() yields(i) end)
        if i > 1 then coroutine.resume(keep[i]) end
      end
      keep[4] = coroutine.create(function() end)
      coroutine.resume(keep[4])
      keep[5] = coroutine.create(function() error "fails" end)
      coroutine.resume(keep[5])
      local inner = coroutine.create(function() step() end)
      local outer = coroutine.wrap(function()
        pcall(coroutine.resume, inner)
      end)
      outer()]])
    local said = program:said(1)
    local found = await(program.pid, waits_for_input)
    local threads = found.states[1].threads
    local of = {}
    for _, t in ipairs(threads) do
      of[#of + 1] = t.status .. " " .. t.depth
    end
    assert.same({ "normal", "normal", "running" }, { threads[1].status,
      threads[2].status, threads[3].status })
    assert.equal(threads[1].address, threads[2].resumed_by)
    assert.equal(threads[2].address, threads[3].resumed_by)
    assert.is_nil(threads[1].resumed_by)
    assert.equal("[C]\n" .. said, shown(threads[3]))
    assert.same({ "coroutine.resume", "pcall" },
      { table.unpack(names(threads[2]), 1, 2) })
    -- the coroutine that has ended is not listed
    local rest = { table.unpack(of, 4) }
    table.sort(rest)
    assert.same({ "failed 2", "not started 0", "suspended 3", "suspended 3" },
      rest)
    assert.is_true(found.states[1].complete)
    local suspended = command.cprof("dump", tostring(program.pid))
    assert.has_text("; 1 more like it", suspended)
    program:close()
  end)

  it("may be stripped, recurse deeply, and call by tail calls", function(dir)
    local program <close> = run(dir, [[
      local read = load(string.dump(load "return (io.read())", true))
      local function down(n)
        if n == 0 then return (read()) end
        return (down(n - 1))
      end
      local function tail() return down(1500) end
      tail()]])
    local found = await(program.pid, waits_for_input)
    local thread = found.states[1].threads[1]
    -- C function, stripped one, those that go down, main, and the host's C
    assert.equal(1505, thread.depth)
    assert.equal(250, #thread.frames)
    assert.equal("?", thread.frames[2].place)
    assert.is_nil(thread.frames[2].line)
    assert.is_true(thread.frames[248].tail)
    assert.is_false(thread.frames[247].tail)
    local out = command.cprof("dump", tostring(program.pid))
    assert.has_text("\n    ... 1,255 more calls ...\n", out)
    assert.matches("\n    down %(tail call%) +program.lua:4 ", out)
    program:close()
  end)

  it("goes on as it would have, if it runs", function(dir)
    local program <close> = run(dir, [[
      local n, co = 0, coroutine.wrap(function()
        while true do coroutine.yield(1) end
      end)
      local function work() n = n + co() + (select("#", n, n) - 2) end
      local file = io.open("begun", "w"):close() and io.open "enough"
      while not file do
        for _ = 1, 1000 do work() end
        file = io.open "enough"
      end
      print(n % 1000, coroutine.isyieldable())]])
    local looks, stops = 0, 0
    watched.made(program.pid, dir.path .. "/begun")
    -- while other programs have its processor, it need not be stopped
    repeat
      looks = looks + 1
      local found = assert(remote.read(program.pid))
      local threads = found.states[1].threads
      stops = stops + (found.stopped and 1 or 0)
      for _, frame in ipairs(threads[1].frames) do
        if frame.kind == "main" then
          assert.is_true(frame.line >= 5 and frame.line <= 10, frame.line)
        elseif frame.kind == "Lua" then
          assert.equal("work", frame.name)
          assert.equal(4, frame.line)
        end
      end
    until looks > helper.many(300) + 1 and stops > 0
    dir:file("enough", "")
    assert.same({ "exit", 0 }, { program:close() })
    assert.equal("0\tfalse\n", command.read(dir.path .. "/out"))
    assert.equal("", command.read(dir.path .. "/err"))
  end)

  it("has the line at which it computes", function(dir)
    local program <close> = run(dir, [[
      local function busy(x)
        local y = 1
        while x do
          x = x + 1
          if y > x then
            y = y - x
          end
        end
      end
      coroutine.wrap(function() busy(3) end)()]])
    local function computes(found)
      local thread = found.states[1].threads[2]
      return thread and #thread.frames > 0 and thread.frames[1].name == "busy"
    end
    -- the program enters the function a moment before the loop
    while await(program.pid, computes).states[1].threads[2].frames[1].line < 3
    do end
    for _ = 1, helper.many(300) + 1 do
      local found = await(program.pid, computes)
      local line = found.states[1].threads[2].frames[1].line
      assert.is_true(line >= 3 and line <= 8, line)
    end
    os.execute("kill -9 " .. program.pid)
    program:close()
  end)

  it("runs on if cprof is killed while it is stopped", function(dir)
    local program <close> = run(dir, [[
      io.open("begun", "w"):close()
      local file
      repeat file = io.open "enough" until file
      print "well"]])
    watched.made(program.pid, dir.path .. "/begun")
    local killer = dir:file("killer.lua", [[
      local core, pid = require "cprof.core", math.tointeger(arg[1])
      local memory = assert(core.remote_open(pid))
      -- a program without a processor takes long to stop
      local left = 300
      repeat
        local stopped, why = core.remote_stop(memory, pid)
        left = left - 1
        assert(stopped or left > 0, why)
      until stopped
      io.stderr:write(require "cprof.remote.process".threads(pid)[pid].state)
      os.execute("kill -9 " .. core.process())]])
    local _, err, status = command.lua(killer, tostring(program.pid))
    assert.equal("t", err:sub(1, 1))
    assert.equal(128 + 9, status)
    dir:file("enough", "")
    assert.same({ "exit", 0 }, { program:close() })
    assert.equal("well\n", command.read(dir.path .. "/out"))
  end)

  it("has several states, in threads of their own", function(dir)
    compile.must("gcc -std=c99 -O1 -I$SPEC_INCLUDE -o %s/host " ..
      "spec/support/two_states.c $SPEC_LINK -lm -lpthread -ldl", dir.path)
    local program <close> = start(dir, "./host")
    local found = await(program.pid, function(found)
      local polls, reads = 0, 0
      for _, state in ipairs(found.states) do
        local waits = state.waits or ""
        polls = polls + (waits:find "^p[^%s]*$" and 1 or 0)
        reads = reads + (waits:find "^read of file 0" and 1 or 0)
      end
      return polls == 1 and reads == 1
    end)
    table.sort(found.states, function(a, b)
      return (a.waits or "") < (b.waits or "")
    end)
    local idle, first, second = table.unpack(found.states)
    assert.equal(3, #found.states)
    assert.equal("idle", idle.threads[1].status)
    assert.same({}, idle.threads[1].frames)
    assert.is_nil(idle.waits)
    assert.matches("^p", first.waits)
    assert.matches("^read of file 0", second.waits)
    assert.equal("first", first.threads[1].frames[2].name)
    assert.equal("wait_byte", second.threads[1].frames[1].name)
    assert.equal("second", second.threads[1].frames[2].name)
    assert.not_equal(first.thread, second.thread)
    program:close()
  end)
end)

describe("a program of another build", function()
  local host = [[
    #include <lauxlib.h>
    #include <lualib.h>
    int main (void) {
      lua_State *L = luaL_newstate();
      luaL_openlibs(L);
      return luaL_dofile(L, "/program.lua") &&
             luaL_dofile(L, "program.lua");
    }]]
  local code = "local function wait()\n  io.read()\nend\nwait()"

  local function build(dir, flags)
    dir:file("host.c", host)
    dir:file("program.lua", code)
    compile.must("gcc -O1 %s -I$SPEC_INCLUDE -o %s/host %s/host.c " ..
      "$SPEC_LINK -lm -ldl", flags, dir.path, dir.path)
  end

  for _, flags in ipairs { "-static", "-static -s", "-static-pie -s",
    "-no-pie", "-no-pie -s", "-pie" } do
    it("has its calls: " .. flags, function(dir)
      build(dir, flags)
      local program <close> = start(dir, "./host")
      local found = await(program.pid, waits_for_input)
      assert.equal("[C]\nprogram.lua:2\nprogram.lua:4",
        shown(found.states[1].threads[1]))
      assert.same({ "io.read", "wait", "(main chunk)" },
        names(found.states[1].threads[1]))
      program:go()
      assert.same({ "exit", 0 }, { program:close() })
    end)
  end

  it("is read with its own files and numbers, in a container", function(dir)
    local new <const> = "unshare --pid --fork --mount "
    if not os.execute(new .. "chroot / true >/dev/null 2>&1") then
      pending "the system lets this user make no container"
    end
    build(dir, "-static")
    local program <close> = start(dir, new .. "chroot . /host")
    local children = ("/proc/%d/task/%d/children"):format(program.pid,
      program.pid)
    local pid = watched.wait(function()
      alive(program.pid)
      local child = (core.readfile(children) or ""):match "^%d+"
      return child and core.readfile(("/proc/%s/comm"):format(child)) ==
        "host\n" and child
    end, "a container")
    await(tonumber(pid) // 1 | 0, waits_for_input)
    local out, err = command.cprof("dump", pid)
    assert.equal("", err)
    assert.matches("\n    io.read +%[C%]\n    wait +/?program.lua:2  " ..
      "io.read%(%)\n", out)
    program:go()
    assert.same({ "exit", 0 }, { program:close() })
  end)
end)

describe("cprof dump", function()
  it("prints calls with their sources", function(dir)
    local program <close> = run(dir,
      "local function wait()\n  io.read()\nend\nwait()")
    await(program.pid, waits_for_input)
    local out, err = command.must("dump", tostring(program.pid))
    assert.equal("", err)
    assert.matches(("^process %d %%(.* program.lua%%), not stopped\n\n" ..
      "state of Lua 5%%.%%d.* in thread %d, which waits in read of file 0 " ..
      "%%(pipe:%%[%%d+%%]%%)\n  main thread: running\n    io.read +%%[C%%]\n" ..
      "    wait +program.lua:2  io.read%%(%%)\n" ..
      "    %%(main chunk%%) +program.lua:4  wait%%(%%)\n"):format(program.pid,
      program.pid), out)
    program:close()
  end)

  it("prints JSON", function(dir)
    local program <close> = run(dir,
      "coroutine.wrap(function() io.read() end)()")
    await(program.pid, waits_for_input)
    local out, err = command.cprof("dump", "--json", tostring(program.pid))
    assert.equal("", err)
    local found = assert(json.decode(out))
    local threads = found.states[1].threads
    assert.equal(program.pid, found.pid)
    assert.is_nil(found.stopped_ns)
    assert.equal(threads[1].address, threads[2].resumed_by)
    assert.equal("io.read", threads[2].frames[1].name)
    assert.equal(1, threads[2].frames[2].line)
    assert.equal(out, (command.cprof("dump", "--json", tostring(program.pid))))
    program:close()
  end)

  it("says what is wrong with the program of a core file", function()
    for words, why in pairs {
      ["core --exe /nonexistent"] = "--exe: cannot read /nonexistent: No " ..
        "such file or directory",
      ["core --exe README.md"] = "--exe: README.md is not a program (an ELF " ..
        "file)",
      ["1 --exe /bin/sh"] = "--exe is for core files",
    } do
      local out, err, status = command.shell(command.line("dump") .. " " ..
        words)
      assert.equal("", out)
      assert.equal("cprof dump: " .. why .. "\n", err)
      assert.equal(2, status)
    end
  end)

  it("says what it cannot read", function(dir)
    local sleeps <close> = start(dir, "cat")
    -- until then, a shell is about to become this program
    local comm = ("/proc/%d/comm"):format(sleeps.pid)
    watched.wait(function()
      alive(sleeps.pid)
      return core.readfile(comm) == "cat\n"
    end, "cat")
    local out, err, status = command.cprof("dump", tostring(sleeps.pid))
    assert.equal("", out)
    assert.equal(("cprof dump: process %d has no Lua 5.4 or 5.5 state\n")
      :format(sleeps.pid), err)
    assert.equal(2, status)
    sleeps:close()
    out, err, status = command.cprof("dump", tostring(sleeps.pid))
    assert.equal("", out)
    assert.equal(("cprof dump: there is no process %d\n"):format(sleeps.pid),
      err)
    assert.equal(2, status)
    assert.equal("process " .. core.process() .. " is this command itself",
      select(2, remote.read(core.process())))
  end)
end)

describe("a program of another user", function()
  local as_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups "
  local can = core.user() == 0 and
    os.execute(as_nobody .. "true >/dev/null 2>&1")

  it("is refused, as is one that protects itself", function(dir)
    if not can then pending "only root can be somebody else" end
    dir:file("protected.c", [[
      #include <sys/prctl.h>
      #include <lauxlib.h>
      int luaopen_protected (lua_State *L) {
        lua_pushinteger(L, prctl(PR_SET_DUMPABLE, 0));
        return 1;
      }]])
    compile.must("gcc -shared -fPIC -I$SPEC_INCLUDE -o %s/protected.so " ..
      "%s/protected.c && chmod 755 %s", dir.path, dir.path, dir.path)
    dir:file("program.lua", "package.cpath = './?.so' require 'protected' " ..
      "io.open('ready', 'w'):close() io.read()")
    os.execute("chmod 777 " .. dir.path)
    local program <close> = start(dir, as_nobody .. "$SPEC_LUA program.lua")
    watched.made(program.pid, dir.path .. "/ready")
    local _, err, status = command.shell(as_nobody ..
      command.line("dump", tostring(program.pid)))
    assert.matches("^cprof dump: the system does not let cprof read process " ..
      "%d+: .*PR_SET_DUMPABLE", err)
    assert.equal(2, status)
    program:close()
  end)

  it("is refused, with who may read it", function(dir)
    if not can then pending "only root can be somebody else" end
    local program <close> = run(dir, "io.read()")
    await(program.pid, waits_for_input)
    local _, err, status = command.shell(as_nobody ..
      command.line("dump", tostring(program.pid)))
    assert.equal(("cprof dump: the system does not let cprof read process " ..
      "%d: it is another user's: run cprof as that user, or with sudo\n")
      :format(program.pid), err)
    assert.equal(2, status)
    program:close()
  end)
end)

describe("a program that may not be read", function()
  it("is refused with the rule, and what to do", function()
    local system = {}
    for _, name in ipairs { "remote_open", "owner", "readfile" } do
      system[name] = core[name]
    end
    local _ <close> = setmetatable({}, { __close = function()
      for name, f in pairs(system) do core[name] = f end
    end })
    local owner, scope
    core.remote_open = function() return nil, "forbidden" end
    core.owner = function() return owner end
    core.readfile = function(path)
      assert.equal("/proc/sys/kernel/yama/ptrace_scope", path)
      return scope
    end
    for _, case in ipairs {
      { "other", "1\n", "another user's", "run cprof as that user", "sudo" },
      { "self", "1\n", "ptrace_scope is 1", "only its parent",
        "PR_SET_PTRACER", "use sudo", "cprof run" },
      { "self", "2\n", "ptrace_scope is 2", "only root", "use sudo",
        "cprof run" },
      { "self", "3\n", "ptrace_scope is 3", "nobody may", "cprof run" },
      { "self", "0\n", "PR_SET_DUMPABLE", "container", "use sudo",
        "SYS_PTRACE" },
      { "self", nil, "PR_SET_DUMPABLE", "container", "SYS_PTRACE" },
    } do
      owner, scope = case[1], case[2]
      local memory, why = require "cprof.remote.process".open(1)
      assert.is_nil(memory)
      for i = 3, #case do
        assert.has_text(case[i], why)
      end
    end
  end)
end)

describe("a core file", function()
  local dir = command.folder()
  local path, whole, live = dir.path .. "/core", nil, nil

  setup(function()
    local script = dir:file("program.lua", [[
      local function wait() io.read() end
      K = coroutine.create(function() coroutine.yield() end)
      coroutine.resume(K)
      coroutine.wrap(function() wait() end)()]])
    local program <close> = start(dir, "$SPEC_LUA " .. script)
    live = await(program.pid, waits_for_input)
    whole = watched.write_core(program.pid, path)
    program:close()
  end)
  teardown(function() getmetatable(dir).__close() end)

  it("has what the program ran", function()
    local found = assert(remote.read_core(path))
    local first, second = live.states[1], found.states[1]
    second.waits = first.waits  -- a core file does not say so
    assert.same(first.address, second.address)
    assert.same(#first.threads, #second.threads)
    for i, thread in ipairs(first.threads) do
      local other = second.threads[i]
      assert.same(names(thread), names(other))
      assert.same({ thread.status, thread.resumed_by, thread.depth },
        { other.status, other.resumed_by, other.depth })
      for k, frame in ipairs(thread.frames) do
        assert.equal(frame.line, other.frames[k].line)
      end
    end
    assert.equal(live.pid, found.pid)
    assert.equal(live.pid, second.thread)
    assert.equal("the command", found.command)
  end)

  it("is printed, with its name", function()
    local out, err = command.must("dump", path)
    assert.equal("", err)
    assert.equal(("process %d (the command), from %s"):format(live.pid, path),
      out:match "^[^\n]+")
    assert.matches("\n    io.read +%[C%]\n    wait +%S+/program.lua:1 ", out)
  end)

  it("has the words that the program was started with", function(folder)
    local program <close> = start(folder, "$SPEC_LUA -e 'io.read()' " ..
      ("x"):rep(100))
    await(program.pid, waits_for_input)
    local file = folder.path .. "/core"
    watched.write_core(program.pid, file, true)
    local found = assert(remote.read_core(file))
    assert.equal(assert(remote.read(program.pid)).command, found.command)
    assert.equal(folder.path, found.folder)
    program:close()
  end)

  it("says in which folder its sources are, unless they are here",
    function(folder)
      folder:file("program.lua", "io.read()\n")
      local program <close> = start(folder, "$SPEC_LUA program.lua")
      await(program.pid, waits_for_input)
      for _, known in ipairs { true, false } do
        watched.write_core(program.pid, folder.path .. "/core", known)
        local out = command.cprof("dump", folder.path .. "/core")
        assert.has_text(known and ("\nnote: the program was " ..
          "started in %s, and its sources are looked for in the current " ..
          "folder: cd %s, then run cprof dump again\n"):format(folder.path,
          folder.path) or "\nnote: its sources are not in the current " ..
          "folder: run cprof dump in the folder in which the program ran\n",
          out)
        out = command.shell(("cd '%s' && %s core"):format(folder.path,
          command.here "dump"))
        assert.has_text("io.read()", out)
        assert.has_no_text("note:", out)
      end
      program:close()
    end)

  it("that is damaged is read as far as it goes, or refused", function()
    local damaged = dir.path .. "/other"
    local up_to = helper.random(1)
    local refused = 0
    for i = 1, helper.many(60) + 1 do
      local text = whole
      if i % 3 == 0 then text = text:sub(1, up_to(#text // 32768) * 32768 + 9)
      else
        for _ = 1, 4 do
          local at = up_to(1200) + 1
          text = text:sub(1, at - 1) .. string.char(up_to(256)) ..
            text:sub(at + 1)
        end
      end
      command.write(damaged, text)
      local found, why = remote.read_core(damaged)
      assert.equal(damaged, (why or damaged):sub(1, #damaged))
      refused = refused + (found and 0 or 1)
    end
    assert.is_true(refused > 0)
    local _, err, status = command.cprof("dump", "spec/dump_spec.lua")
    assert.equal("cprof dump: spec/dump_spec.lua: not a core file of a " ..
      "64-bit program\n", err)
    assert.equal(2, status)
  end)
end)

describe("the reader of other programs", function()
  it("reads any memory without faults, and comes to an end", function(dir)
    compile.must("gcc -std=c99 -O1 -g -fsanitize=address,undefined " ..
      "-fno-sanitize-recover -DREMOTE_MAIN -Isrc -I$SPEC_INCLUDE " ..
      "-o %s/host spec/fuzz/remote.c src/remote/memory.c " ..
      "src/remote/layout.c src/remote/frames.c src/remote/objects.c " ..
      "src/remote/known.c src/remote/stack.c src/remote/values.c " ..
      "src/remote/variables.c src/base/index.c " ..
      "src/base/chunks.c src/base/memory.c src/base/text.c $SPEC_LINK " ..
      "-lm -ldl", dir.path)
    local out, ok = compile.shell("timeout 600 %s/host %d 1", dir.path, 500)
    assert.equal("done\n", out)
    assert.is_true(ok)
  end)
end)
