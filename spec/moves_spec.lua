local _ENV = require("helper").env(_ENV)

local compile = require "compile"
local helper = require "helper"

local direct = require "cprof.core".internals() == "direct"

-- Does the system tell when others had the processor?
local function delays_are_known()
  local file = io.open "/proc/self/schedstat"
  return file and file:close()
end

describe("a state that a host moves to another thread", function()
  local folder
  setup(function()
    folder = compile.folder()
    folder:cprof "c"
    folder:compile(compile.compilers.c, "spec/support/moving_host.c", "moving")
    folder:link("moving", "lua", { "moving", "cprof_c" },
      "-Wl,--wrap=clock_gettime,--wrap=sched_yield")
  end)
  teardown(function() folder:remove() end)

  local function says(way, expected)
    local output, ok = folder:run("moving", way)
    assert.equal(helper.dedent(expected) .. "\n", output)
    assert.is_true(ok)
  end

  it("is stopped and closed there when no tick goes on elsewhere", function()
    says("stop", "stop waits for the handler: yes")
    says("close", "closing waits for the handler: yes")
  end)

  it("is sampled there", function()
    says("move", [[
      the move waits for the handler: yes
      what ran there is sampled: yes
      it is recorded: yes
      ended: nil
      the first thread has ticks: no]])
  end)

  it("is left alone by ticks if the host does not tell of the move", function()
    if not direct then return end
    says("steal", [[
      the handler touches the state: no
      it is recorded: no
      another thread ran the state without cprof_thread]])
  end)

  it("listens there", function()
    says("listen", [[
      the first thread sets a hook: no
      the second thread sets a hook: yes]])
  end)

  it("runs there, as far as handlers of the host are told", function()
    says("current", [[
      the first thread is said to run it: no
      the second thread is said to run it: yes]])
  end)

  it("has the times there in which others had the processor", function()
    if not delays_are_known() then return end
    says("delays", [[
      the first thread's delays are read: yes
      they are read on: no
      the second thread's are: yes
      a file stays open: no]])
  end)

  it("has them also where threads have it one after another", function()
    if not delays_are_known() then return end
    for _, way in ipairs { "turns", "watched" } do
      says(way, [[
        its delays are read: yes
        its delays are read: yes
        its delays are read: yes
        a file stays open: no]])
    end
  end)

  it("has the processor time of both threads", function()
    says("clock", [[
      steps back: 0
      longer than what ran: no]])
  end)
end)
