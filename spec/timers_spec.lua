local _ENV = require("helper").env(_ENV)

local command = require "command"

-- Runs spec/support/HOST.c with the timer and `more`, flags and sources.
local function run(host, more)
  local path = os.tmpname()
  local out, err = command.shell(([[
    export LD_PRELOAD=
    gcc -std=c99 -Isrc -I$SPEC_INCLUDE -o '%s' spec/support/%s.c \
      src/base/timer_posix.c src/base/interrupted_posix.c \
      src/base/platform_posix.c %s -lm -ldl -lpthread -lrt && '%s']]):format(
    path, host, more, path))
  os.remove(path)
  return out, err
end

describe("a timer", function()
  -- Where timers are the process's, its signal may come to any thread.
  for name, flag in pairs { thread = "", process = "-DPLATFORM_TIMERS=0" } do
    it("of a " .. name .. " ticks in the thread that began it, and gives " ..
      "its signal back", function()
      local out, err = run("timer_host", flag ..
        " src/base/taskclock_posix.c")
      assert.equal("20 ticks, 0 elsewhere\n" .. (name == "thread" and
        "1 1\n1 0\n0 0\n" or ""), out, err)
    end)
  end

  it("that counts the time in which its thread runs ticks in its own code " ..
    "and for the system's work, counts each call that ends early, and " ..
    "notices that its descriptor was closed", function()
    local out, err = run("taskclock_host", "src/base/taskclock_posix.c")
    if out ~= "not allowed\n" then
      assert.equal("1\n0 missed\n0\n", out, err)
    end
  end)

  it("is charged no work of the system's twice where readings of it go back",
    function()
    local out, err = run("lookback_host", "")
    assert.equal("0\n", out, err)
  end)

  it("is asked for as often after one sample that takes long, not after " ..
    "two, and soon again when samples take little; one that was late counts " ..
    "if the thread was seen to run, or waited", function()
    local out, err = run("pace_host",
      "src/sample/pace.c src/base/taskclock_posix.c")
    assert.equal("1\n1\n56\n" .. "49\n12\n3\n1\n" ..
      "1 of 56\n" .. "14\n34\n" ..
      "1\n300000\n1300000 1300000\n", out, err)
  end)
end)
