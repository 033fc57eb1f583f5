-- Samples of programs that do not know of cprof, read from outside. They are
-- taken until there are enough of them, for minutes if need be.

local _ENV = require("helper").env(_ENV)

local command = require "command"
local compile = require "compile"
local core = require "cprof.core"
local helper = require "helper"
local outside = require "cprof.remote.outside"
local remote = require "cprof.remote"
local profiler = require "cprof"
local watched = require "watched"

if not core.outside then
  describe("cprof attach of a program that does not listen", function()
    it("says where it works", function()
      local _, err, status = command.cprof("attach", "1")
      assert.has_text("on Linux only", err)
      assert.equal(2, status)
    end)
  end)
  return
end

-- Starts a program, which ends when its standard input does. It calls `begun`
-- when it is ready.
local function start(dir, code, lua)
  dir:file("program.lua", [[
    function begun()
      io.open("ready.", "w"):close()
      os.rename("ready.", "ready")
    end
    function over()
      local f = io.open "stop"
      if f then f:close() end
      return f
    end
    ]] .. code:gsub("^%s+", ""))
  local program = watched.start(dir, (lua or "$SPEC_LUA") .. " program.lua")
  watched.made(program.pid, dir.path .. "/ready")
  return program
end

-- Lets the program end. Returns what it has written, and how it ended.
local function finish(program)
  program.dir:file("stop", "")
  local how, status = program:close()
  return program:output(), how, status
end

-- `watched.record` of a program that is about to wait: it says that it is ready
-- a moment before.
local function waits(pid, count)
  local p, figures
  watched.wait(function()
    p, figures = watched.record(pid, count)
    return figures.stopped_ns == 0
  end, "a recording without stops")
  return p, figures
end

-- the module of spec/support/waiting.c
local function waiting(dir)
  compile.must("gcc -std=c99 -O1 -shared -fPIC -I$SPEC_INCLUDE -o " ..
    "%s/waiting.so spec/support/waiting.c -lpthread", dir.path)
end

-- the calls in a profile: { ["caller > callee"] = true }
local function calls(p)
  local out = {}
  for _, node in ipairs(p.nodes) do
    if node.parent > 0 and node.total_samples > 0 then
      out[p.functions[p.nodes[node.parent].func].name .. " > " ..
        p.functions[node.func].name] = true
    end
  end
  return out
end

if not watched.possible(_ENV, "cprof attach of a program that does not listen",
   "samples it from outside") then
  return
end

describe("a program that is sampled from outside", function()
  it("has its function, line and coroutine", function(dir)
    local program <close> = start(dir, [[
      local x = 0
      local function hot()
        while not stopped do
          x = x + 1
        end
      end
      local co = coroutine.wrap(function()
        hot()
      end)
      begun()
      co()]])
    -- the program says that it is ready a moment before it calls `hot`
    watched.wait(function()
      return helper.named(watched.record(program.pid, 1), "hot")
    end, "hot")
    local p, figures = watched.record(program.pid, 200)
    assert.is_true(p.samples >= 200)
    assert.equal(0, figures.left)
    assert.is_true(p.meta.outside_stops > 0)
    assert.is_true(p.meta.outside_median_ns > 0)
    assert.is_true(p.meta.outside_worst_ns >= p.meta.outside_median_ns)
    local hot = helper.named(p, "hot")
    assert.equal(p.samples, hot.self_samples)
    local by = {}
    for line, of in pairs(p.lines[hot.source]) do
      if of.self_ns > 0 then by[#by + 1] = line end
    end
    assert.same({ 12, 13 }, by)
    -- after it, there may be a node for work that no look has seen
    local path, id = {}, #p.nodes
    while p.nodes[id].func ~= hot.id do id = id - 1 end
    while id > 1 do
      local node = p.nodes[id]
      table.insert(path, 1, p.functions[node.func].name)
      id = node.parent
    end
    assert.equal("(host) program.lua coroutine.wrap function <fn:16> hot",
      table.concat(path, " "))
    assert.equal(1, #p.tasks)
    assert.equal("<fn:16>", p.functions[p.tasks[1].func].name)
    assert.equal(p.samples, p.tasks[1].samples)
    os.execute("kill -9 " .. program.pid)
  end)

  it("is not stopped for a look that comes late", function(dir)
    local program <close> = start(dir, [[
      begun()
      while not stopped do end]])
    local watched_one = assert(outside.open(program.pid, watched.options()))
    watched_one:begin()
    watched.wait(function()
      watched_one:step(core.seconds())
      return watched_one.states[1].thread
    end, "a look")
    local state, samples = watched_one.states[1], watched_one.samples
    local function look(due, latest)
      return core.outside_look(samples, 1, state.root, state.layout,
        state.thread, state.from, state.to, due, latest)
    end
    local before = core.outside_figures(samples)
    local now = core.seconds()
    local found, stopped, late = look(now - 2, now - 1)
    assert.same({ "late", 0 }, { found, stopped })
    assert.is_true(late >= 2)
    local after = core.outside_figures(samples)
    assert.equal(before.late + 1, after.late)
    assert.equal(before.stopped_ns, after.stopped_ns)
    assert.equal(before.runs, after.runs)
    -- This look was due long ago, but not late: it may come until `now + 1e6`.
    watched.wait(function()
      found, stopped = look(1e-9, now + 1e6)
      return found ~= "it does not stop"  -- in time, as the system is busy
    end, "a stop")
    assert.equal("runs", found)
    assert.is_true(stopped > 0)
    os.execute("kill -9 " .. program.pid)
  end)

  it("has samples where cprof takes its only processor from it", function(dir)
    local processor = command.read "/proc/self/status"
      :match "Cpus_allowed_list:%s*(%d+)"
    local program <close> = start(dir, [[
      local function hot() while not stopped do end end
      begun()
      hot()]], ("taskset -c %s $SPEC_LUA"):format(processor))
    local file = dir.path .. "/x.cprof"
    watched.wait(function()
      local _, err, status = command.shell(("taskset -c %s %s"):format(
        processor, command.line("attach", "--seconds", "0.3", "-o", file,
        tostring(program.pid))))
      assert.equal(0, status, err)
      local p = assert(profiler.load(file))
      return p.samples >= 5 and helper.named(p, "hot")
    end, "samples")
    os.execute("kill -9 " .. program.pid)
  end)

  it("has no time axis; a message says which recordings have one", function(dir)
    local program <close> = start(dir, [[
      begun()
      while not stopped do end]])
    local p = watched.record(program.pid, 10)
    local file = dir:file "a.cprof"
    assert(p:save(file))
    for _, words in ipairs { { "heatmap" }, { "report", "--from=0s" } } do
      words[#words + 1] = file
      local out, err, status = command.cprof(table.unpack(words))
      assert.same({ "", 2 }, { out, status })
      assert.has_text("no time axis: samples that are read from outside a " ..
        "program are added up at once, without their times; cprof run " ..
        "--sample keeps them", err)
    end
    os.execute("kill -9 " .. program.pid)
  end)

  it("has no call that it cannot have", function(dir)
    local program <close> = start(dir, [[
      local function leaf(n) return n end
      local function even(n) leaf(n) return leaf(n) end
      local function odd(n) local x = leaf(n) return x end
      local meta = setmetatable({}, { __index = function(_, n)
        return odd(n)
      end })
      local function inner(n) even(n) coroutine.yield(n) odd(n) end
      local co = coroutine.wrap(function()
        while true do inner(1) end
      end)
      local function protected() local t = { even(2) } return #t end
      begun()
      local n = 0
      repeat
        n = n + 1
        local _ = meta[n], pcall(protected), co()
      until n % 4096 == 0 and over()
      print "done"]])
    local p = watched.record(program.pid, 1000)
    local possible = {}
    for call in ([[program.lua > leaf; even > leaf; odd > leaf;
      program.lua > __index; __index > odd; program.lua > odd;
      program.lua > pcall; pcall > protected; protected > even;
      protected > leaf; program.lua > coroutine.wrap function;
      coroutine.wrap function > <fn:17>; <fn:17> > inner; inner > even;
      inner > odd; inner > leaf; inner > coroutine.yield;
      program.lua > over; over > io.open; over > method close;
      ]]):gmatch "%s*([^;]+);" do
      possible[call] = true
    end
    for call in pairs(calls(p)) do
      assert.is_truthy(possible[call] or call:find "^%(root%)" or
        call:find " > program.lua$" or call:find "^over > " or
        call:find " > file:__gc$" or
        call:find "begun", call)  -- it says that it is ready a moment before
    end
    assert.same({ "done\n", "exit", 0 }, { finish(program) })
  end)

  it("is not stopped while it waits", function(dir)
    local program <close> = start(dir, [[
      local function wait() return (io.read()) end
      begun()
      wait()
      print "done"]])
    local p, figures = waits(program.pid, 50)
    assert.equal(p.samples, figures.waits)
    local read = helper.named(p, "io.read")
    assert.equal(p.samples, read.self_samples)
    assert.equal(read.self_ns, p.measure.whole)
    assert.is_true(read.self_wait_ns > 0)
    local text = p:report { measure = "cpu" }
    assert.has_text(("\nnone of %d samples found the program " ..
      "computing: where the time went is not known"):format(p.samples), text)
    assert.has_text(
      (" %% of %d looks gave"):format(p.samples + figures.dropped), text)
    local cpu, left = watched.record(program.pid, 50, { clock = "cpu" })
    assert.equal(0, cpu.samples)
    assert.is_true(left.left >= 50)
    -- where the system counts, it is known that the program used no processor
    if (command.read "/proc/self/schedstat"):find "^[1-9]" then
      assert.is_false(p.meta.preempted_unknown)
      assert.equal(0, cpu.meta.wall_ns)
    end
    assert.equal("done\n", (finish(program)))
  end)

  it("has names for functions that are defined on one line", function(dir)
    local program <close> = start(dir, [[
      local function b() io.read(1) end local function c(n) io.read(n) end
      begun()
      c(1)]])
    local p = waits(program.pid, 1)
    local c = helper.named(p, "c")
    assert.is_true(c.total_samples > 0)
    assert.equal(c.line, c.last_line)
  end)

  it("has one name for a function that its libraries name twice", function(dir)
    local program <close> = start(dir, [[
      local names = {}
      for i = 10, 40 do names["f" .. i] = io.read end
      package.loaded.x = names
      begun()
      names.f30()]])
    local p = waits(program.pid, 1)
    assert.equal(p.samples, helper.named(p, "x.f10").self_samples)
  end)

  it("waits for as long as it asked the system to", function(dir)
    waiting(dir)
    local program <close> = start(dir, [[
      package.cpath = "./?.so"
      local waiting = require "waiting"
      local calls = { "poll", "nanosleep", "select", "sem_timedwait", "read",
        "epoll_wait" }
      local interrupted <const>, timed_out <const> = 4, 110
      local pipe = io.popen("while sleep 0.003; do echo; done", "r")
      local file = waiting.file(pipe)
      local function work() for i = 1, 10000 do math.abs(i) end end
      begun()
      repeat
        for _, call in ipairs(calls) do
          local reads = call == "read"
          local result, errno, ns = waiting[call](reads and file or 3)
          local expected = call == "sem_timedwait" and { -1, timed_out } or
            { reads and 1 or 0, 0 }
          local well = result == expected[1] and errno == expected[2] and
            (reads or ns >= 3e6)
          -- the system does not restart epoll_wait after a stop
          local may = call == "epoll_wait" and errno == interrupted
          if not well and not may then print(call, result, errno, ns) end
          work()
        end
      until over()
      pipe:close()
      print "done"]])
    local _, figures = watched.record(program.pid, helper.many(2000),
      { rate = 10000 })
    assert.is_true(figures.stopped_ns > 0)
    assert.is_true(figures.waits > 0)
    assert.same({ "done\n", "exit", 0 }, { finish(program) })
  end)

  for _, call in ipairs { "epoll_wait(-1, 0)", "read(0)" } do
    it("is not stopped while it waits in " .. call, function(dir)
      waiting(dir)
      local program <close> = start(dir, ([[
        package.cpath = "./?.so"
        local waiting = require "waiting"
        begun()
        local result, errno = waiting.%s
        print(result, errno)]]):format(call))
      local p = waits(program.pid, 50)
      for _ = 1, 20 do
        local more
        p, more = watched.record(program.pid, 50)
        assert.equal(0, more.stopped_ns)
        assert.is_nil(assert(remote.read(program.pid)).stopped)
      end
      assert.equal(p.samples,
        helper.named(p, "waiting." .. call:match "^[%w_]+").self_samples)
      assert.same({ (call:find "epoll" and "1" or "0") .. "\t0\n", "exit", 0 },
        { finish(program) })
    end)
  end

  it("is never stopped if that is not wanted", function(dir)
    local program <close> = start(dir, [[
      local function work() for i = 1, 10000 do math.abs(i) end end
      begun()
      repeat work() os.execute "sleep 0.01" until over()
      print "done"]])
    -- the program runs now and then, however long its child takes
    local p, figures = watched.record(program.pid, 100, { stop = false },
      function(q) return q.meta.paused_ns > 0 end)
    assert.equal(0, figures.stopped_ns)
    assert.equal(0, figures.runs)
    assert.equal(p.samples, figures.waits)
    assert.has_text("not sampled (excluded)", p:report { width = 200 })
    assert.equal("done\n", (finish(program)))
  end)

  it("gives the output that it gives otherwise", function(dir)
    local code = [[
      local sum = 0
      local co = coroutine.wrap(function()
        while true do
          for i = 1, 1000 do sum = (sum * 31 + i) % 1000003 end
          coroutine.yield()
        end
      end)
      begun()
      local rounds = 0
      repeat co() rounds = rounds + 1 until rounds % 100 == 0 and over()
      local check = 0
      for _ = 1, rounds do
        for i = 1, 1000 do check = (check * 31 + i) % 1000003 end
      end
      print(check == sum)]]
    local program <close> = start(dir, code)
    local times = math.tointeger(tonumber(os.getenv "SPEC_ATTACHES")) or
      helper.many(100)
    for _ = 1, times do
      watched.record(program.pid, 1, { rate = 10000 })
    end
    assert.same({ "true\n", "exit", 0 }, { finish(program) })
  end)

  it("has the states of all its threads", function(dir)
    compile.must("gcc -std=c99 -O1 -I$SPEC_INCLUDE -o %s/host " ..
      "spec/support/busy_states.c $SPEC_LINK -lm -lpthread -ldl", dir.path)
    local program <close> = start(dir, "", "./host")
    local p = watched.record(program.pid, 3, nil, function(p)
      local n = 0
      -- the third is in a coroutine that the host has resumed itself
      for _, f in ipairs(p.functions) do
        n = n + (("first second resumed"):find(f.name, 1, true) and 1 or 0)
      end
      return n == 3
    end)
    assert.equal(3, p.meta.outside_states)
    assert.same({ "", "exit", 0 }, { finish(program) })
  end)
end)

-- Runs lines of a shell beside a program, whose number is $pid.
local function beside(dir, code, lines)
  local program <close> = start(dir, code)
  local out, err = command.bounded(([[pid=%d; cd %s
    unset CPROF CPROF_OPTIONS CPROF_SIGNAL
    export TMPDIR=$PWD XDG_RUNTIME_DIR=
    cprof() { %s "$@"; }
    begin() { %s attach --seconds 99999 "$@" $pid & attach=$!; }
    until_so() { until "$@"; do sleep 0.02; done >/dev/null 2>&1; }
    %s]]):format(program.pid, command.quote(dir.path), command.here(),
    command.here(), lines))
  local output, how, status = finish(program)
  return out, err, { output, how, status }
end

local busy <const> = [[
  local function work() for i = 1, 1000 do math.abs(i) end end
  begun()
  repeat work() until over()
  print "done"]]
local well <const> = { "done\n", "exit", 0 }

describe("cprof attach of a program that does not listen", function()
  it("prints the report, and keeps the recording", function(dir)
    local out, err, ended = beside(dir, busy, "cprof attach --seconds 0.2 " ..
      "--sample=500 $pid && " ..
      "cprof report | grep -c 'sampled from outside: '; " ..
      "cprof attach --seconds 0.2 --rate=300 -o a.cprof $pid >/dev/null " ..
      "2>&1; " ..
      "cprof tree a.cprof | grep -c 'sampled from outside: '")
    assert.matches("^process %d+ does not listen: it is sampled from outside\n",
      err)
    assert.has_text("sampled from outside: ", out, out .. err)
    assert.matches("\n1\n1\n$", out)
    local p = helper.check(assert(profiler.load(dir:file "a.cprof")))
    assert.equal("sample", p.meta.mode)
    assert.equal(300, p.meta.rate)
    assert.same(well, ended)
  end)

  it("prints no report if that is not wanted", function(dir)
    local out, err, ended = beside(dir, busy, "cprof attach --quiet " ..
      "--seconds 0.2 $pid; cprof report | grep -c 'sampled from outside: '")
    assert.equal("1\n", out, err)
    assert.same(well, ended)
  end)

  it("writes a page, and keeps the recording, too", function(dir)
    local out, err, ended = beside(dir, busy, [[
      until cprof attach --seconds 0.5 --html -o a.html $pid >1 2>/dev/null
        grep -q '^Next: cprof show' 1; do :; done
      grep ^Written 1
      head -c 15 a.html; echo; cprof report | grep -c 'sampled from outside: '
      cprof attach --seconds 0.2 --html $pid >/dev/null 2>&1
      ls process-$pid-*.html | wc -l
      cprof attach --html -o none/a.html $pid; echo $?]])
    assert.equal("Written to a.html, as html\n<!doctype html>\n1\n1\n2\n",
      out, err)
    assert.equal("cprof attach: cannot write none/a.html: No such file or " ..
      "directory\n", err:match "[^\n]*none[^\n]*\n", err)
    assert.same(well, ended)
  end)

  it("ends at Ctrl-C, and when the program ends", function(dir)
    local out, err, ended = beside(dir, busy, [[
      begin >1 2>1.err
      until_so grep recording 1.err; kill -INT $attach; wait $attach
      echo status $?; grep -c 'sampled from outside: ' 1
      begin >2 2>2.err
      until_so grep recording 2.err; touch stop; wait $attach
      echo status $?; grep -c 'recording ended early: the program ended' 2]])
    assert.equal("status 0\n1\nstatus 0\n1\n", out, err)
    assert.same(well, ended)
  end)

  it("prints the report even if Ctrl-C comes twice", function(dir)
    local out, err, ended = beside(dir, busy, [[
      begin >1 2>1.err
      until_so grep recording 1.err; kill -INT $attach; kill -INT $attach
      wait $attach; echo status $?; grep -c 'sampled from outside: ' 1]])
    assert.equal("status 0\n1\n", out, err)
    assert.same(well, ended)
  end)

  it("checks before it samples whether it can write its file", function(dir)
    local out, err, ended = beside(dir, busy, [[
      echo text >text; echo text >a.lua; ln -s nowhere link
      cprof attach -o none/a.cprof $pid
      cprof attach -o text $pid
      cprof attach --seconds 0.01 -o a.cprof $pid >/dev/null 2>&1
      cprof attach --html -o a.cprof $pid
      cprof attach --html -o a.lua $pid
      cprof attach --seconds 0.01 --html -o link $pid >/dev/null 2>&1
      cat text a.lua; cprof report a.cprof | grep -c 'sampled from outside: '
      head -c 15 link; ls | grep -c tmp]])
    assert.equal("text\ntext\n1\n<!doctype html>0\n", out, err)
    assert.equal("cprof attach: cannot write none/a.cprof: No such file or " ..
      "directory\ncprof attach: text: exists and is not a profile\n" ..
      "cprof attach: -o a.cprof exists and is a profile: name another file\n" ..
      "cprof attach: -o a.lua exists and is a Lua source: name another file\n",
      err)
    assert.same(well, ended)
  end)

  it("leaves it running, however it ends itself", function(dir)
    local out, err, ended = beside(dir, busy, ([[
      for i in $(seq %d); do
        begin --sample=10000 >1 2>2
        until_so grep recording 2; kill -9 $attach; wait $attach; rm 2
      done 2>/dev/null; grep TracerPid /proc/$pid/status]]):format(
      helper.many(3)))
    assert.equal("TracerPid:\t0\n", out, err)
    assert.same(well, ended)
  end)

  it("refuses one that records itself, and says what shows that", function(dir)
    local out, err, ended = beside(dir, [[
      package.path, package.cpath = os.getenv "LUA_PATH",
        os.getenv "LUA_CPATH"
      require "cprof".start { mode = "sample", file = "own.cprof" }
      begun()
      repeat until over()
      print "done"]], [[
      cprof attach $pid; cprof attach --native $pid]])
    assert.equal("", out)
    local line = "cprof attach: process N records itself into FILE: " ..
      "cprof top and cprof serve show what it records\n"
    assert.equal(line:rep(2), (err:gsub("process %d+", "process N")
      :gsub("into %S+:", "into FILE:")))
    assert.same(well, ended)
  end)

  it("says why it cannot be", function(dir)
    local out, err, ended = beside(dir, busy, [[
      sleep 100 & other=$!; cprof attach $other; kill $other
      cprof attach --lines $pid; cprof attach --no-stop --clock=cpu $pid]])
    assert.equal("", out)
    local lines = {}
    for line in err:gmatch "[^\n]+" do
      lines[#lines + 1] = line:gsub("%d+", "N")
    end
    assert.same({ "cprof attach: process N does not listen, and cannot " ..
      "be sampled from outside: process N has no Lua N.N or N.N state",
      "cprof attach: process N does not listen, so it can only be sampled: " ..
        "--lines needs luaN.N -l cprof.auto, or cprof_listen in its host",
      "cprof attach: --no-stop cannot be combined with --clock=cpu: it " ..
        "samples only waiting, which has no CPU time" }, lines)
    assert.same(well, ended)
  end)
end)
