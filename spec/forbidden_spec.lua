local _ENV = require("helper").env(_ENV)

local command = require "command"

local program = [[
  local profiler, helper = require "cprof", require "helper"
  local function leaf() end
  local function work() for _ = 1, 10 do leaf() end end
  local ok, why = pcall(profiler.start, { mode = "sample" })
  local ends = os.clock() + 0.1
  while ok and os.clock() < ends do leaf() end
  if profiler.stop() then why = profiler.snapshot().samples > 0 end
  print(why)
  for _, options in ipairs { {}, { mode = "line" }, { mode = "trace",
    trace = function() end }, { memory = true }, { file = arg[1] } } do
    local p = helper.record(work, options)
    helper.check(p)
    assert(helper.find(p, leaf).calls == 10)
  end
  print "the others work"]]

-- the program's output where `how` begins it
local function run(how)
  local dir <close> = command.folder()
  local out, err = command.shell(("%s $SPEC_LUA '%s' '%s'"):format(how,
    dir:file("program.lua", program), dir.path .. "/run.cprof"))
  return out .. err
end

-- signals that are blocked stay so in what is executed
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

  it("is told so where the system gives no timer", function()
    assert.equal("start: the system gives no timer\nthe others work\n",
      run "prlimit --sigpending=0")
  end)
end)
