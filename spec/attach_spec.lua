local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"
local command = require "command"

local q = command.quote

-- A program that runs until the file "stop" is there, in a coroutine that
-- is resumed from the main thread.
local busy = [[
  local function exists(name)
    local f = io.open(name) if f then f:close() end return f
  end
  local function work() for i = 1, 1000 do math.abs(i) end end
  local co = coroutine.wrap(function()
    while true do work() coroutine.yield() end
  end)
  local n = 0
  io.open("ready", "w"):close()
  repeat
    co() n = n + 1
  until n % 100 == 0 and exists "stop"
  print("done", debug.gethook() == nil)]]

-- Runs a program in the background and lines of a shell beside it, which
-- find its process in $pid; what the program has written comes last. There,
-- "recorded COMPLETE LIVE" waits for recordings, "until_so COMMAND" until a
-- command says yes. "begin OPTIONS" is cprof attach in the background, which
-- "finish" ends; "attached" is both, with "recorded" in between.
local function beside(dir, starts, lines, code)
  dir:file("x.lua", code or busy)
  return command.bounded(([[support=$PWD/spec/support; cd %s
    export TMPDIR=$PWD SPEC_TMPDIR=$PWD
    unset XDG_RUNTIME_DIR CPROF CPROF_OPTIONS CPROF_SIGNAL
    cprof() { %s "$@"; }
    recorded() { $SPEC_LUA "$support/recorded.lua" $pid "$@"; }
    until_so() { until "$@"; do sleep 0.02; done >/dev/null 2>&1; }
    begin() { %s attach --seconds 9999 "$@" $pid & attach=$!; }
    finish() { kill -INT $attach; wait $attach; }
    attached() { n=$1; shift; begin "$@"; recorded $n; finish; }
    %s >out 2>err & pid=$!
    until_so [ -e ready ]
    %s
    touch stop; wait $pid; echo status $?; cat out; cat err >&2]]):format(
    q(dir.path), command.here(), command.here(), starts, lines))
end

local auto = "$SPEC_LUA -l cprof.auto x.lua"
local host = os.getenv "CPROF_BUILD" .. "/cprof-host x.lua"

-- What attach says without the lines about a program that answers late, as one
-- may on a busy machine.
local function in_time(err)
  return (err:gsub("waiting: process %d+ [^\n]*\n", "")
    :gsub("the recording of process %d+ ended %S+ late: [^\n]*\n", ""))
end

local function profiles(dir)
  local out = {}
  local pipe <close> = io.popen("ls " .. q(dir.path))
  for name in pipe:lines() do
    if name:find "%.cprof$" then out[#out + 1] = dir:file(name) end
  end
  return out
end

describe("a program that listens", function()
  it("records from one signal to the next", function(dir)
    local out, err = beside(dir, auto, "kill -URG $pid; recorded 0 1; " ..
      "kill -URG $pid; recorded 1 0; kill -URG $pid; recorded 1 1; " ..
      "kill -URG $pid; recorded 2 0")
    assert.equal("status 0\ndone\ttrue\n", out, err)
    assert.equal("", err)
    local files = profiles(dir)
    assert.equal(2, #files)  -- also when begun in the same second
    for _, file in ipairs(files) do
      local p = helper.check(assert(profiler.load(file)))
      assert.is_falsy(p.meta.live)
      assert.is_nil(p.meta.ended)
      assert.is_true(helper.named(p, "work").calls > 10)
      for _, f in ipairs(p.functions) do
        assert.has_no_text("cprof/", tostring(f.source), f.title)
      end
    end
  end)

  it("takes the signal and the options from the environment", function(dir)
    local out, err = beside(dir, "export CPROF_SIGNAL=USR1 " ..
      "CPROF_OPTIONS='mode=line,file=a-%p-%n.cprof'; " .. auto,
      "for n in 0\\ 1 1\\ 0 1\\ 1 2\\ 0; do kill -USR1 $pid; " ..
      "recorded $n; done; " ..
      "[ -e a-$pid-1.cprof ] && [ -e a-$pid-2.cprof ] && echo both")
    assert.equal("both\nstatus 0\ndone\ttrue\n", out, err)
    local p = assert(profiler.load(profiles(dir)[1]))
    assert.equal("line", p.meta.mode)
  end)

  it("does not when the environment has CPROF_SIGNAL=0", function(dir)
    local out = beside(dir, "export CPROF_SIGNAL=0; " .. auto,
      "kill -URG $pid")
    assert.equal("status 0\ndone\ttrue\n", out)
    assert.same({}, profiles(dir))
  end)

  it("stops in a function that is far from the profiler's in memory", function()
    local code = ([[
      local n = 0
      local function exists(name)
        local f = io.open(name) if f then f:close() end return f
      end
      local function large()
        %s
      end
      io.open("ready", "w"):close()
      repeat large() until exists "stop"
      print("done", debug.gethook() == nil)]]):format(
      ("n = n + 1 "):rep(20000))
    for _ = 1, 4 do
      local dir <close> = command.folder()
      local out, err = beside(dir, "export CPROF_SIGNAL=URG " ..
        "CPROF_OPTIONS=mode=line; " .. auto,
        "kill -URG $pid; recorded 0 1 any; kill -URG $pid; " ..
        "recorded 1 0 any", code)
      assert.equal("status 0\ndone\ttrue\n", out, err)
    end
  end)

  it("hears a signal that comes while a file is closed", function(dir)
    local script = dir:file("x.lua", [[
      local host = require "spec_host"
      local core = require "cprof.core"
      local naming, closing = core.naming, false
      core.naming = function(names)
        naming(function()
          if closing then host.signal(23) end
          closing = false
          return names()
        end)
      end
      require "cprof".listen("URG", { file = "%n.cprof" })
      local function work() for i = 1, 10 do math.abs(i) end end
      local function send() host.signal(23) work() return core.state() end
      print(send())
      closing = true
      print(send(), send())]])
    local out, err = command.shell(("cd %s; $SPEC_LUA %s"):format(
      q(dir.path), q(script)))
    assert.equal("running\nrunning\tstopped\n", out, err)
    assert.equal(2, #profiles(dir))
  end)

  it("says what is wrong, and runs all the same", function()
    for set, why in pairs {
      ["CPROF_SIGNAL=KILL"] = "cprof.auto: cannot listen: the signal must " ..
        "be URG, WINCH, USR1, USR2, PROF or IO, got 'KILL'\n",
      ["CPROF_SIGNAL=USR2 CPROF_OPTIONS=mode=fast"] =
        "cprof.auto: cannot listen: CPROF_OPTIONS: option 'mode' must be",
    } do
      local dir <close> = command.folder()
      local out, err = beside(dir, ("export %s; "):format(set) .. auto, ":")
      assert.equal("status 0\ndone\ttrue\n", out, err)
      assert.equal(why, err:sub(1, #why))
    end
  end)

  it("leaves a signal alone that the program handles", function()
    local out = helper.run([[
      local host = require "spec_host"
      host.handle(require "cprof.core".signalnumber "URG")
      print(require "cprof".listen())
      print(require "cprof".listen "WINCH")
      os.execute "kill -URG $PPID"
      print "alive"]])
    assert.equal("nil\tSIGURG: the program handles this signal itself; " ..
      "name another one in CPROF_SIGNAL\ntrue\tnil\nalive\n", out)
  end)

  it("gives back the hook that the program has set", function(dir)
    local out, err = beside(dir, auto,
      "kill -URG $pid; recorded 0 1; kill -URG $pid; recorded 1 0", [[
      local seen = 0
      local function hook() seen = seen + 1 end
      debug.sethook(hook, "", 100)
      io.open("ready", "w"):close()
      local function work()
        for i = 1, 1e4 do end
        return io.open "stop"
      end
      repeat until work()
      local before = seen
      for i = 1, 1e5 do end
      local now, mask, count = debug.gethook()
      print(now == hook, mask, count, seen > before + 900)]])
    assert.equal("status 0\ntrue\t\t100\ttrue\n", out, err)
    local p = assert(profiler.load(profiles(dir)[1]))
    assert.is_true(helper.named(p, "io.open").calls >= 10)
  end)

  it("ends however often it is asked, in coroutines with hooks of their own",
    function(dir)
      local out, err = beside(dir, "export CPROF_SIGNAL=URG CPROF_OPTIONS=" ..
        "'mode=call,file=a-%p.cprof'; " .. auto,
        "for i in $(seq 400); do kill -URG $pid; sleep 0.003; done", [[
        local hits, seen = 0, 0
        local function leaf(x) return x + 1 end
        local function make(depth)
          return coroutine.wrap(function()
            debug.sethook(function() seen = seen + 1 end, "c")
            for i = 1, 20 do
              leaf(i)
              if depth > 0 then make(depth - 1)() end
              coroutine.yield(i)
            end
          end)
        end
        io.open("ready", "w"):close()
        local f
        repeat
          local co = make(3)
          for _ = 1, 20 do co() end
          f = f or io.open "stop"
        until f and seen > 1000
        debug.sethook(function() hits = hits + 1 end, "c")
        leaf(1)
        debug.sethook()
        print(hits, debug.gethook())]])
      assert.equal("status 0\n2\tnil\n", out, err)
      assert.equal("", err)
    end)

  it("leaves nothing behind when it ends", function(dir)
    local _, err = beside(dir, auto,
      "ls cprof-*/$pid.listen >listening; kill -URG $pid; recorded 0 1")
    assert.equal("", err)
    assert.matches("%d+%.listen", command.read(dir:file "listening"))
    assert.equal("", (command.shell(("ls %s/cprof-*/"):format(q(dir.path)))))
    -- the recording that the program had begun is complete
    local p = assert(profiler.load(profiles(dir)[1]))
    assert.is_falsy(p.meta.live)
    assert.is_true(helper.named(p, "work").calls > 10)
  end)

  it("is not slowed down by listening", function()
    local out = helper.run([[
      assert(require "cprof".listen())
      print(debug.gethook())
      local co = coroutine.create(function() end)
      print(debug.gethook(co))]])
    assert.equal("nil\nnil\n", (out:gsub("\t[^\n]*", "")))
  end)

  it("may have several states, in one thread or in several", function()
    -- the states of a thread run in turn
    local one = [[
      local host = require "spec_host"
      local first, second = host.state(), host.state()
      local code = "assert(require 'cprof'.listen()) " ..
        "function work() for i = 1, 1000 do math.abs(i) end end"
      first:run(code) second:run(code)
      io.open("ready", "w"):close()
      local n = 0
      repeat
        first:run "work()" second:run "work()"
        n = n + 1
        local f = n % 100 == 0 and io.open "stop"
      until f
      -- the other state still listens
      first:close()
      os.execute "ls cprof-*/*.listen >left"
      print(second:run "return debug.gethook()")
      second:close()]]
    local several = [[
      local host = require "spec_host"
      local results = host.threads([=[
        local function exists(name)
          local f = io.open(name) if f then f:close() end return f
        end
        local ok, why = require "cprof".listen()
        if not ok then return why end
        local function work() for i = 1, 1000 do math.abs(i) end end
        -- A signal that comes too early is not for both states: the core also
        -- counts a state that has only begun to listen.
        local core = require "cprof.core"
        local mine <close> = io.open("listen", "a")
        mine:write "x" mine:flush()
        local all
        repeat
          core.sleep(0.01)
          local f <close> = io.open "listen"
          all = f:read "a"
        until #all == 2
        io.open("ready", "w"):close()
        local n = 0
        repeat
          work() n = n + 1
        until n % 100 == 0 and exists "stop"
        return "nil"]=], 2)
      print(results[1]) assert(results[2] == "nil", results[2])]]
    for _, code in ipairs { one, several } do
      for _, file in ipairs { "", "file=a-%p.cprof" } do
        local dir <close> = command.folder()
        local out, err = beside(dir, ("export CPROF_OPTIONS='%s'; ")
          :format(file) .. auto:gsub("-l cprof.auto ", ""),
          "kill -URG $pid; recorded 0 2; kill -URG $pid; recorded 2 0; " ..
          "attached '2 1' --exact -o b.cprof", code)
        assert.matches("\nstatus 0\nnil\n$", out, out .. err)
        local files = profiles(dir)
        assert.equal(3, #files)
        for _, path in ipairs(files) do
          local p = helper.check(assert(profiler.load(path)))
          assert.is_falsy(p.meta.live)
          assert.is_nil(p.meta.ended)
          assert.is_true(helper.named(p, "work").calls > 10)
        end
        if code == one then
          assert.matches("%d.listen", command.read(dir:file "left"))
        end
        local left = command.shell(("ls %s/cprof-*/"):format(q(dir.path)))
        assert.no_matches("%d%.%l", left)
      end
    end
  end)

  it("has one state that makes its file, of those that begin at once",
    function()
      local out = helper.run [=[
        local host = require "spec_host"
        for _ = 1, 20 do
          local path = os.tmpname()
          local results = host.threads(([[
            local core = require "cprof.core"
            local path, all = %q, 4
            -- waits until all threads have come here
            local function meet(at)
              local mine <close> = io.open(path, "a")
              mine:write(at) mine:flush()
              repeat
                local f <close> = io.open(path)
                local _, there = f:read "a":gsub(at, "")
              until there == all
            end
            meet "b"
            local listener, states = core.listen(
              core.signalnumber "URG", print)
            meet "e"
            return tostring(listener and states)]]):format(path), 4)
          os.remove(path)
          table.sort(results)
          local states = table.concat(results, " ")
          assert(states == "1 2 3 4", states)
        end
        print "good"]=]
      assert.equal("good\n", out)
    end)

  it("records a child of a fork into a file of its own", function(dir)
    local out, err = beside(dir, auto, ":", [[
      local host = require "spec_host"
      local function work() for i = 1, 1000 do math.abs(i) end end
      if host.fork() then
        os.execute "kill -URG $PPID"
        for i = 1, 100 do work() end
        os.execute "kill -URG $PPID"
        work()
        os.exit(0, true)
      end
      print(host.wait())
      io.open("ready", "w"):close()]])
    assert.equal("status 0\n0\n", out, err)
    local files = profiles(dir)
    assert.equal(1, #files)
    assert.equal(100, helper.named(assert(profiler.load(files[1])),
      "work").calls)
  end)
end)

describe("cprof attach", function()
  it("records a program that runs, and prints the report", function()
    for _, starts in ipairs { auto, host } do
      local dir <close> = command.folder()
      -- coroutines are sampled only where Lua's structures are read
      local mode = require "cprof.core".internals() == "direct" and "" or
        "--exact "
      local out, err = beside(dir, starts, "attached '0 1' " .. mode ..
        "-o x.cprof")
      assert.matches("^cprof: x.lua\n", out, out .. err)
      assert.matches("  work  +x.lua:", out)
      -- lines, as cprof run has them
      assert.equal(mode == "", out:find("x.lua:%d+ +local function work") ~=
        nil, out)
      -- few samples do not tell which of the two is hotter, and a busy
      -- machine may hold up another one for longer than they run
      local p = assert(profiler.load(dir:file "x.cprof"))
      local both = helper.named(p, "work").total_ns
      local shown = out:match "\nNext: cprof show x.cprof ([^\n]+)\n"
      assert.is_truthy(both < p.program_ns * 0.8 or shown == "work" or
        shown == "math.abs", out)
      assert.is_truthy(shown, out)
      assert.matches("status 0\ndone\ttrue\n$", out)
      assert.matches("^recording process %d+ %(x.lua%)\n$", (in_time(err)), err)
    end
  end)

  it("prints the report although the recording is removed meanwhile",
    function(dir)
      dir:file("gone.lua", [[
        local recordings = require "cprof.system.recordings"
        local finish = recordings.finish
        function recordings.finish(path)
          finish(path)
          os.remove(path)
        end]])
      local _, err = beside(dir, auto, "$SPEC_LUA -l gone " ..
        q(os.getenv "PWD") .. "/lua/cprof/bin/cprof attach --exact " ..
        "--seconds 0.1 $pid >report; echo status $? >>report")
      local report = command.read(dir:file "report")
      assert.matches("^cprof: x.lua\n", report, report .. err)
      assert.matches("\nstatus 0\n$", report, report .. err)
    end)

  it("finds the coroutine that runs and never yields", function(dir)
    if require "cprof.core".internals() ~= "direct" then return end
    local out, err = beside(dir, auto, "attached '0 1' -o x.cprof", [[
      local function work() for i = 1, 1000 do math.abs(i) end end
      io.open("ready", "w"):close()
      local n = 0
      coroutine.wrap(function()
        local co = coroutine.create(function()
          local f
          repeat
            work() n = n + 1
            if n % 100 == 0 then f = io.open "stop" end
          until f
        end)
        assert(coroutine.resume(co))
      end)()
      print "done"]])
    assert.matches("  work  +x.lua:", out, out .. err)
    assert.matches("status 0\ndone\n$", out)
  end)

  it("can be asked at any moment", function(dir)
    -- switching, nested, dying and collected coroutines, growing stacks
    local out, err = beside(dir, auto, "n=0; while [ $n -lt 1500 ]; do " ..
      "kill -WINCH $pid 2>/dev/null; kill -URG $pid; n=$((n+1)); done", [[
      local function deep(n)
        return n > 0 and 1 + deep(n - 1) or 0
      end
      local function exists() local f = io.open "stop" if f then f:close() end
        return f end
      io.open("ready", "w"):close()
      repeat
        for i = 1, 20 do
          local co = coroutine.wrap(function(a)
            local inner = coroutine.create(function()
              coroutine.yield(deep(50)) error "x" end)
            coroutine.resume(inner) coroutine.resume(inner)
            coroutine.yield(a) return deep(200)
          end)
          co(i) co()
        end
        collectgarbage "step"
      until exists()
      print("done", debug.gethook() == nil)]])
    assert.matches("^status 0\ndone\t%l+\n$", out, out .. err)
    for _, file in ipairs(profiles(dir)) do
      local p = profiler.load(file)
      if p and not p.meta.live then helper.check(p) end
    end
  end)

  it("records in the mode that is asked for, into a file", function(dir)
    local modes = { exact = "call", lines = "line", count = "count",
                    sample = "sample", [""] = "sample" }
    local lines = {}
    for option in pairs(modes) do
      lines[#lines + 1] = ("cprof attach --seconds 0.2 %s -o %s.cprof " ..
        "$pid >/dev/null"):format(option ~= "" and "--" .. option or "",
        option ~= "" and option or "default")
    end
    local out, err = beside(dir, auto, table.concat(lines, "; "))
    assert.equal("status 0\ndone\ttrue\n", out, err)
    for option, mode in pairs(modes) do
      local p = assert(profiler.load(dir:file((option ~= "" and option or
        "default") .. ".cprof")))
      helper.check(p)
      assert.equal(mode, p.meta.mode)
      assert.is_falsy(p.meta.live)
      assert.is_true(mode == "count" or p.meta.wall_ns > 0)
      assert.equal(mode == "sample", p.meta.clock == "cpu")
    end
  end)

  it("leaves out what waits, or not, as it is asked", function(dir)
    local cases = { { "--clock=wall", "sample" }, { "--clock=cpu", "sample" },
      { "--exact --clock=cpu", "call" }, { "--exact --lines", "line" },
      { "--lines --clock=cpu", "line" } }
    local lines = {}
    for i, case in ipairs(cases) do
      lines[i] = ("cprof attach --seconds 0.2 %s -o %d.cprof $pid " ..
        ">/dev/null"):format(case[1], i)
    end
    local out, err = beside(dir, auto, table.concat(lines, "; "))
    assert.equal("status 0\ndone\ttrue\n", out, err)
    for i, case in ipairs(cases) do
      local p = assert(profiler.load(dir:file(i .. ".cprof")))
      assert.equal(case[2], p.meta.mode)
      assert.equal(case[1]:find "cpu" ~= nil, p.meta.clock == "cpu")
    end
    for _, options in ipairs { "--sample --exact", "--sample --lines",
      "--count --lines", "--count --exact" } do
      out, err = command.shell(command.here("attach", "1") .. " " .. options)
      assert.equal("", out)
      assert.has_text("can not be used together", err)
    end
  end)

  it("says what the program refuses", function(dir)
    local out, err = beside(dir, auto, "begin -o a.cprof >/dev/null; " ..
      "recorded 0 1 any; cprof attach -o b.cprof $pid; echo $?; finish; " ..
      "cprof attach -o x.lua $pid; echo $?")
    assert.matches("^2\n2\nstatus 0", out)
    assert.matches("cprof attach: process %d+: already recording into " ..
      dir:file "a.cprof", err)
    assert.matches("process %d+: " .. dir:file "x.lua" .. ": [^\n]*\n", err)
    assert.is_truthy(profiler.load(dir:file "a.cprof"))
  end)

  it("waits for a program that waits for something", function(dir)
    -- a digit counts the signals: while the program waits, it has all values.
    -- If attach ends early, `echo` lets the program go on.
    local out, err = beside(dir, "mkfifo pipe; <>pipe " .. auto,
      "until_so grep '^State:.S' /proc/$pid/status; " ..
      "$SPEC_LUA $support/attached.lua '" .. [[
        if seen == 20 or not message "request".id then return end
        local digit = message "listen".signals
        if digit ~= last then seen, last = (seen or 0) + 1, digit end
        if seen < 20 then return end
        io.open("pipe", "a"):write "\n":close()
        wait(function() return io.open "done" end)
      ]] .. "' --exact --seconds 0.1 -o a.cprof $pid " ..
      ">/dev/null; echo 1<>pipe", [[
      io.open("ready", "w"):close()
      local function read() return io.read() end
      read()
      math.abs(1)
      io.open("done", "w"):close()
      repeat until io.open "stop"]])
    assert.matches("waiting: process %d+ runs no Lua code now", err)
    assert.equal("status 0\n", out, err)
    local p = assert(profiler.load(dir:file "a.cprof"))
    assert.equal(1, helper.named(p, "math.abs").calls)
  end)

  it("says if the program gets no processor", function(dir)
    local out, err = beside(dir, auto, "until_so grep '^State:.[DS]' " ..
      "/proc/$pid/status; $SPEC_LUA $support/attached.lua '" ..
      [[if ... > 3 then io.open("go", "w"):close() end]] ..
      "' --exact --seconds 0.1 -o a.cprof $pid >/dev/null", [[
      local starved = require "spec_host".starved
      io.open("ready", "w"):close()
      starved "go"
      repeat until io.open "stop"]])
    assert.matches("^waiting: process %d+ has not run since the signal; " ..
      "recording starts when it runs\n", err)
    assert.equal("status 0\n", out, err)
    assert.is_truthy(profiler.load(dir:file "a.cprof"), err)
  end)

  it("says if the program has taken the signal", function()
    for _, signal in ipairs { "URG", "USR2" } do
      local dir <close> = command.folder()
      local out, err = beside(dir, "export CPROF_SIGNAL=" .. signal .. "; " ..
        auto, "$SPEC_LUA $support/attached.lua '' $pid; echo $?", ([[
        local host = require "spec_host"
        local number = require "cprof.core".signalnumber "%s"
        host.handle(number)]]):format(signal) .. "\n" .. busy)
      assert.equal("2\nstatus 0\ndone\ttrue\n", out, err)
      assert.matches("cprof attach: process %d+ now handles SIG" .. signal ..
        " itself, so cprof does not get it; start it with another signal, " ..
        "for example CPROF_SIGNAL=WINCH\n", err)
      assert.same({}, profiles(dir))
    end
  end)

  it("says if the program blocks the signal, or is stopped", function()
    for lines, why in pairs {
      ["cprof attach --seconds 0.1 $pid & " ..
        "until_so grep waiting: said; touch stop; wait $!"] =
        "waiting: process %d+ blocks SIGURG; recording starts when it " ..
        "unblocks the signal; or start it with another signal, for " ..
        "example CPROF_SIGNAL=WINCH\n",
      ["kill -STOP $pid; until_so grep '^State:.T' /proc/$pid/status; " ..
        "begin --exact -o x.cprof; until_so grep waiting: said; " ..
        "kill -CONT $pid; recorded 0 1; finish"] =
        "waiting: process %d+ is stopped; recording starts when it " ..
        "continues\n",
    } do
      local dir <close> = command.folder()
      local blocks = why:find "blocks" and
        "require 'spec_host'.block(require 'cprof.core'.signalnumber 'URG')\n"
        or ""
      local out, err = beside(dir, auto, "exec 3>&2 2>said; " .. lines ..
        "; exec 2>&3; cat said >&2", blocks .. busy)
      assert.matches(why, err, out .. err)
      assert.equal(blocks == "", out:find("  work  +x.lua:") ~= nil, out)
    end
  end)

  it("reaches a program that has closed its files", function(dir)
    local out, err = beside(dir, auto, "cprof attach; " ..
      "attached '0 1' --exact -o a.cprof >/dev/null; cprof attach", [[
      require "spec_host".closefiles()
      local mine = io.open("mine", "w")
]] .. busy ..
      " print(mine:write 'whole' and mine:close())")
    assert.matches("\n *%d+  URG     x.lua *\n", out, out .. err)
    assert.has_text("last recorded into " .. dir:file "a.cprof", out)
    assert.matches("\nstatus 0\ndone\ttrue\ntrue\n$", out, out .. err)
    assert.equal("whole", command.read(dir:file "mine"))
    assert.is_true(helper.named(assert(profiler.load(dir:file "a.cprof")),
      "work").calls > 10)
  end)

  it("reaches a daemon: a child, whose parent has ended", function()
    for _, again in ipairs { "", "assert(require 'cprof'.listen())" } do
      local dir <close> = command.folder()
      local out, err = beside(dir, auto, [[pid=$(cat daemon)
        attached '0 1' --exact -o a.cprof >/dev/null
        cprof attach | grep -c "^ *$pid "
        attached '1 1' --exact -o b.cprof >/dev/null
        touch stop
        while kill -0 $pid; do sleep 0.02; done 2>/dev/null]], [[
        local host = require "spec_host"
        local function work() for i = 1, 1000 do math.abs(i) end end
        if not host.fork() then os.exit(0, true) end
        host.closefiles()
        ]] .. again .. [[
        local f = io.open("daemon", "w")
        f:write(host.process()) f:close()
        io.open("ready", "w"):close()
        repeat work() until io.open "stop"]])
      for _, file in ipairs { "a.cprof", "b.cprof" } do
        local p = assert(profiler.load(dir:file(file)), out .. err)
        assert.is_true(helper.named(p, "work").calls > 10)
      end
      -- the list has only programs that listen themselves
      assert.equal(again == "" and "0" or "1", out:match "^%d")
    end
  end)

  it("says if the program waits when the recording is to end", function()
    local begins = [[
      if not waits then
        waits = io.open "waits"
        if waits then skip(9999) end
      end
      if not message "stop".id then return end
    ]]
    for look, what in pairs {
      -- longer than attach waits before it says something, shorter than it
      -- waits in all
      [ [[local now = ...
        since = since or now
        if now - since > 0.7 then
          io.open("go", "w"):close()
          wait(function() return message "answer".state == "stopped" end)
        end]] ] =
        "the recording of process %d+ ended [%d.]+m?s late: the process ran " ..
        "no Lua code, or other programs had the processor\n",
      -- the program has got one of the signals
      [ [[if got then return end
        local digit = message "listen".signals
        last = last or digit
        got = digit ~= last]] ] =
        "process %d+ runs no Lua code now, for example because a " ..
        "C function waits; recording ends when it runs Lua code\n",
    } do
      local dir <close> = command.folder()
      local out, err = beside(dir, auto, "$SPEC_LUA $support/attached.lua '" ..
        begins .. look .. "' --clock=wall --seconds 9999 $pid", [[
        local profiler = require "cprof"
        local function work() for i = 1, 1e5 do math.abs(i) end end
        io.open("ready", "w"):close()
        repeat work() until profiler.running()
        repeat work() until profiler.snapshot().samples > 0
        os.execute ">waits; until [ -e go -o -e stop ]; do sleep 0.02; done"
        repeat work() until not profiler.running()
        os.execute "until [ -e stop ]; do sleep 0.02; done"]])
      assert.matches(what, err)
      assert.matches("\nstatus 0\n$", out)  -- it has stopped
      local ended = look:find('"go"', 1, true) ~= nil
      assert.equal(not ended, out:find("(waiting, or in a C function)", 1,
        true) ~= nil, out)
      assert.equal(ended, out:find("os.execute", 1, true) ~= nil, out)
    end
  end)

  it("begins as soon as the last recording ends that waits for this",
    function(dir)
      local out, err = beside(dir, auto, "$SPEC_LUA $support/attached.lua '" ..
        [[
          if not waits then
            waits = io.open "waits"
            if waits then skip(9999) end
          end
          if not message "stop".id or got then return end
          local digit = message "listen".signals
          last = last or digit
          got = digit ~= last]] .. "' --clock=wall --seconds 9999 " ..
        [[-o a.cprof $pid >/dev/null
          begin --exact -o b.cprof >said 2>&1
          until_so [ -e $(echo cprof-*)/$pid.request ]
          touch go; recorded 1 1; finish; cat said]], [[
          local profiler = require "cprof"
          local function work() for i = 1, 1000 do math.abs(i) end end
          io.open("ready", "w"):close()
          repeat work() until profiler.running()
          local function sampled()
            for _, f in ipairs(profiler.snapshot().functions) do
              if f.name == "work" then return f.total_samples > 60 end
            end
          end
          repeat for _ = 1, 100 do work() end until sampled()
          os.execute ">waits; until [ -e go -o -e stop ]; do sleep 0.02; done"
          repeat work() until io.open "stop"]])
      assert.has_no_text("already recording", out)
      assert.matches("\nstatus 0\n$", out, out .. err)
      assert.is_true(helper.named(assert(profiler.load(dir:file "b.cprof")),
        "work").calls > 10)
    end)

  it("is ended by Ctrl-C, also where recording has just begun", function(dir)
    local out, err = beside(dir, auto, "$SPEC_LUA $support/attached.lua '" ..
      [[
        if interrupted then
          wait(function() return message "answer".state == "stopped" end)
          return
        end
        wait(function() return message "answer".state == "recording" end)
        interrupted = true
        error "interrupted!"  -- as the handler of the signal does
      ]] .. "' --exact --seconds 9999 -o a.cprof $pid >/dev/null")
    assert.equal("status 0\ndone\ttrue\n", out, err)
    assert.equal("", in_time(err))
    local p = assert(profiler.load(dir:file "a.cprof"))
    assert.is_falsy(p.meta.live)
  end)

  it("ends by itself when the one who asked is gone", function(dir)
    local out, err = beside(dir, auto, "$SPEC_LUA $support/attached.lua '" ..
      [[if message "answer".state then os.execute "kill -9 $PPID" end]] ..
      "' --seconds 1 -o a.cprof $pid >/dev/null; " ..
      -- the file is complete a moment before the program says so
      "recorded 1 0 any; until_so grep stopped cprof-*/$pid.answer; " ..
      "cat cprof-*/$pid.answer")
    assert.has_text("state=stopped\n", out, out .. err)
    assert.is_falsy(profiler.load(dir:file "a.cprof").meta.live)
  end)

  it("is not waited for by these specs when the program has crashed",
    function(dir)
      local out, err = beside(dir, auto, "kill -9 $pid; recorded 1 0; echo $?")
      assert.has_text("1\nstatus 137\n", out)
      assert.has_text("recorded: the program has ended\n", err)
    end)

  it("lists the programs that can be attached", function(dir)
    -- leaves out programs of other specs, which run at the same time
    dir:file("alone.lua", [[
      local folders = require "cprof.system.folders"
      folders.all = function() return { folders.own() } end]])
    local out, err = beside(dir, auto, "list() { $SPEC_LUA -l alone " ..
      q(os.getenv "PWD") .. "/lua/cprof/bin/cprof attach; }; list; " ..
      "cprof attach --seconds 0.1 $pid >/dev/null 2>&1; " ..
      "kill -9 $pid; wait $pid; list; ls cprof-*/*.listen")
    local row = out:match "\n *%d+  URG     x.lua\n"
    assert.is_truthy(row, out .. err)
    assert.has_text("no program listens: start one with lua5.4 -l " ..
      "cprof.auto script.lua", out)
    assert.has_no_text(".listen", out)
  end)

  it("says why a process cannot be attached", function(dir)
    local _, err = beside(dir, "export CPROF_SIGNAL=0; " .. auto,
      "cprof attach --exact $pid; cprof attach 99999999; " ..
      "cprof attach x; cprof attach $$; " ..
      "cprof attach --seconds 0 $pid; cprof attach --lines --count $pid")
    for _, why in ipairs {
      "cprof attach: process %d+ does not listen, so it can only be " ..
        "sampled: %-%-exact needs lua5.4 %-l cprof.auto, or cprof_listen ",
      "cprof attach: process %d+ does not listen, and cannot be " ..
        "sampled from outside: ",
      "cprof attach: there is no process 99999999\n",
      "cprof attach: PID must be a process ID, got 'x'",
      "cprof attach: option '%-%-seconds' must be a number above 0 and " ..
        "at most 100000000, got '0'",
      "cprof attach: option '[^']+' can not be used together",
    } do
      assert.matches(why, err, why .. "\n" .. err)
    end
  end)

  it("never signals a program that has got the number of one that ended",
    function(dir)
    local out, err = beside(dir, auto, "cprof attach $pid", [[
      require "spec_host".exec("/bin/sh", "-c",
        "touch ready; while [ ! -e stop ]; do sleep 0.1; done; echo alive")]])
    assert.equal("alive\n", out:match "status 0\n(.*)", out .. err)
    assert.has_text("does not listen", err)
  end)

  it("reads requests that only the user can have written", function(dir)
    local out, err = beside(dir, auto, "cd cprof-*; " ..
      "printf 'from=%d\\nid=1\\nfile=%s/evil.cprof\\n' $$ " ..
      "$TMPDIR >$pid.request; chmod 666 $pid.request; cd ..; " ..
      "kill -URG $pid; recorded 0 1 any; [ -e evil.cprof ] || echo none")
    assert.matches("^none\n", out, out .. err)
  end)
end)
