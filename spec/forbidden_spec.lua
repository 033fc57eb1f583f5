local _ENV = require("helper").env(_ENV)

local command = require "command"

local program = [[
  local profiler, helper = require "cprof", require "helper"
  local function leaf() end
  local function work() for _ = 1, 10 do leaf() end end
  local ok, why = pcall(profiler.start, { mode = "sample" })
  if ok then
    repeat leaf() why = profiler.snapshot().samples > 0 until why
    profiler.stop()
  end
  print(why)
  for _, options in ipairs { {}, { mode = "line" }, { mode = "trace",
    trace = function() end }, { memory = true }, { file = arg[1] } } do
    local p = helper.record(work, options)
    assert(helper.find(p, leaf).calls == 10)
  end
  print "the others work"]]

-- the program's output; `how` starts the program
local function run(how)
  local dir <close> = command.folder()
  local out, err = command.shell(("%s $SPEC_LUA '%s' '%s'"):format(how,
    dir:file("program.lua", program), dir.path .. "/run.cprof"))
  return out .. err
end

-- blocked signals stay blocked in a program that is executed
local blocking = "perl -e 'use POSIX; my $s = POSIX::SigSet->new; " ..
  "%s; sigprocmask(SIG_BLOCK, $s); exec @ARGV'"

describe("a host that forbids signals", function()
  it("is told why it cannot be sampled when it blocks all", function()
    assert.equal("start: the program handles or blocks each signal that a " ..
      "timer could use\nthe others work\n",
      run(blocking:format "$s->fillset"))
  end)

  it("is sampled by a signal that it does not block", function()
    assert.equal("true\nthe others work\n",
      run(blocking:format "$s->addset(SIGPROF)"))
  end)

  it("is told so where the system provides no timer", function()
    assert.equal("start: the system provides no timer\nthe others work\n",
      run "prlimit --sigpending=0")
  end)
end)

-- Records in each way, in memory and into a file, and tells what was refused.
local strict = [[
  local helper = require "helper"
  local profiler = require "cprof"
  local torture = require "torture"
  local bare = torture.work()
  local function attempt(name, options)
    local ok, why = pcall(profiler.start, options)
    if not ok then return print(name, why) end
    repeat assert(torture.work() == bare)
    until options.mode ~= "sample" or profiler.snapshot().samples > 0
    assert(profiler.stop())
    local p = helper.check(profiler.snapshot())
    assert(not p.meta.ended, name)
    assert(#p:report() > 0)
    if options.file then helper.check(assert(profiler.load(options.file))) end
    local saved, message = p:save(arg[1] .. "2")
    if not saved then print("save", message) end
  end
  for _, way in ipairs(torture.ways()) do
    attempt(way.name, way.options)
    attempt("file", torture.options(way, { file = arg[1] }))
  end
  print "well"]]

describe("a host that forbids calls of the system", function()
  local dir = command.folder()
  local seccomp = dir.path .. "/seccomp"
  local built = os.execute(("cc -std=c99 -o %s spec/support/seccomp.c " ..
    "2>/dev/null"):format(seccomp))
  local allowed = built and os.execute(seccomp .. " -- true")
  teardown(function() os.execute("rm -r " .. dir.path) end)

  -- the output of the program if these system calls fail; it ends with "well"
  local function without(calls)
    if not allowed then
      pending "this system lets no program forbid calls to another one"
      return nil
    end
    local out, err, status = command.shell(("%s %s -- $SPEC_LUA %s %s"):format(
      seccomp, calls, dir:file("strict.lua", strict), dir:file "x.cprof"))
    assert.equal(0, status, out .. err)
    assert.matches("well\n$", out)
    assert.equal("seccomp\nstrict.lua\n", (command.shell(("rm -f %s/x*; ls %s")
      :format(dir.path, dir.path))))
    return out:gsub("well\n$", "")
  end

  -- each line of what is said is one of these
  local function says(calls, ways, why)
    local said, lines = without(calls), 0
    for line in (said or ""):gmatch "[^\n]+" do
      lines = lines + 1
      local way, message = line:match "^(.-)\t(.*)$"
      assert.is_truthy(ways[way], line)
      assert.has_text(why, message, line)
    end
    assert.is_true(not said or lines > 0)
  end

  it("is recorded without calls that others can replace", function()
    local said = without("process_vm_readv pipe pipe2 fallocate fcntl " ..
      "socket prlimit64 munmap getcwd rt_sigtimedwait")
    assert.equal("", said or "")
  end)

  local sampled = { sample = true, ["live samples"] = true, file = true }

  it("says that there is no timer", function()
    for _, call in ipairs { "timer_create", "timer_settime", "gettid" } do
      says(call, sampled, "start: the system provides no timer")
    end
  end)

  it("says that no signal can be had", function()
    for _, call in ipairs { "rt_sigaction", "rt_sigprocmask" } do
      says(call, sampled, "start: the program handles or blocks each signal " ..
        "that a timer could use")
    end
  end)

  it("is sampled by a thread where there are no task-clock events, and by " ..
    "a timer where there is no thread, too, or where it was not asked for " ..
    "and gets no short turns", function()
    if not allowed then return end
    local path = dir:file("timers.lua", [[
      local profiler = require "cprof"
      for _, timer in ipairs { false, "auto", "thread", "wall" } do
        profiler.start { mode = "sample", timer = timer or nil }
        repeat local p = profiler.snapshot() until p.samples > 0
        profiler.stop()
        local p = profiler.snapshot()
        assert(p:report():find(("(timer: %s, "):format(p.meta.timer), 1, true))
        io.write(p.meta.timer, " ")
      end
      print(p)]])
    local function by(calls)
      return command.shell(("%s %s -- $SPEC_LUA %s"):format(seccomp, calls,
        path))
    end
    local threads = require "cprof.core".internals() == "direct" and
      command.shell "uname -s" == "Linux\n"
    for _, call in ipairs { "sched_setattr", "sched_getattr" } do
      assert.equal(threads and "wall thread thread wall nil\n" or
        "wall wall wall wall nil\n", by("perf_event_open " .. call))
    end
    assert.equal("wall wall wall wall nil\n", by "clone clone3")
    os.remove(path)
  end)

  it("does not listen where its file cannot be locked", function(to)
    if not allowed then
      return pending "this system lets no program forbid calls to another one"
    end
    local out, err = command.shell(("cd %s; unset XDG_RUNTIME_DIR; " ..
      "export TMPDIR=$PWD; %s fcntl -- $SPEC_LUA -l cprof.auto " ..
      "-e 'print(1)'; ls cprof-*"):format(to.path, seccomp))
    -- the program left no file that makes it look like one that listens
    assert.equal("1\n", out, err)
    assert.matches("cannot listen: [^\n]*%d%.listen: Operation not " ..
      "permitted\n$", err)
  end)

  it("says that no file can be had", function()
    for _, calls in ipairs { "mapping", "ftruncate", "fallocate pwrite64" } do
      says(calls, { file = true, save = true }, "Operation not permitted")
    end
  end)
end)
