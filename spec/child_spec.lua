local _ENV = require("helper").env(_ENV)

local command = require "command"

-- as `cprof top` and `cprof serve` start programs
local script <const> = [[
  local core = require "cprof.core"
  local pid = assert(core.spawn({ "sh", "-c", "exit 3" }, "/dev/null"))
  local status
  repeat
    status = core.status(pid)
    if not status then core.sleep(0.001) end
  until status
  print(status)]]

describe("a program that is started", function()
  it("has its exit status, even where SIGCHLD is ignored", function(dir)
    local path = command.quote(dir:file("start.lua", script))
    for _, with in ipairs { "", "env --ignore-signal=CHLD " } do
      local out, err = command.bounded(with .. "$SPEC_LUA " .. path)
      assert.same({ "3\n", "" }, { out, err }, with)
    end
  end)
end)
