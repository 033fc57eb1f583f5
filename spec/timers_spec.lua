local _ENV = require("helper").env(_ENV)

local command = require "command"

describe("a timer", function()
  -- Where timers are the process's, its signal may come to any thread.
  for name, flag in pairs { thread = "", process = "-DPLATFORM_TIMERS=0" } do
    it("of a " .. name .. " ticks in the thread that began it, and gives " ..
      "its signal back", function()
      local path = os.tmpname()
      local out, err = command.shell(([[
        export LD_PRELOAD=
        gcc -std=c99 %s -Isrc -I$SPEC_INCLUDE -o '%s' \
          spec/support/timer_host.c src/base/timer_posix.c \
          src/base/taskclock_posix.c \
          src/base/platform_posix.c -ldl -lpthread -lrt && '%s']]):format(
        flag, path, path))
      os.remove(path)
      assert.equal("20 ticks, 0 elsewhere\n" .. (name == "thread" and
        "1 1\n1 0\n0 0\n" or ""), out, err)
    end)
  end

  it("that counts the time in which its thread runs ticks in its own code " ..
    "and for the system's work, counts each call that ends early, and " ..
    "notices that its descriptor was closed", function()
    local path = os.tmpname()
    local out, err = command.shell(([[
      export LD_PRELOAD=
      gcc -std=c99 -Isrc -I$SPEC_INCLUDE -o '%s' \
        spec/support/taskclock_host.c src/base/timer_posix.c \
        src/base/taskclock_posix.c src/base/platform_posix.c \
        -ldl -lpthread -lrt && '%s']]):format(path, path))
    os.remove(path)
    if out ~= "not allowed\n" then
      assert.equal("1\n0 missed\n0\n", out, err)
    end
  end)

  it("is charged no work of the system's twice where readings of it go back",
    function()
    local path = os.tmpname()
    local out, err = command.shell(([[
      export LD_PRELOAD=
      gcc -std=c99 -Isrc -I$SPEC_INCLUDE -o '%s' \
        spec/support/lookback_host.c src/base/timer_posix.c \
        src/base/platform_posix.c -ldl -lpthread -lrt && '%s']]):format(
      path, path))
    os.remove(path)
    assert.equal("0\n", out, err)
  end)

  it("is asked for as often after one sample that takes long, not after " ..
    "two; one that was late counts if the thread was seen to run", function()
    local path = os.tmpname()
    local out, err = command.shell(([[
      export LD_PRELOAD=
      gcc -std=c99 -Isrc -I$SPEC_INCLUDE -o '%s' spec/support/pace_host.c \
        src/sample/pace.c src/base/timer_posix.c src/base/platform_posix.c \
        src/base/taskclock_posix.c -lm -ldl -lpthread -lrt && '%s']]):format(
      path, path))
    os.remove(path)
    assert.equal("1\n1\n100\n1\n300000\n", out, err)
  end)
end)
