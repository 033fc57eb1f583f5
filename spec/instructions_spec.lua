local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"

local script = "spec/bench/instructions.lua"
local lua = os.getenv "SPEC_LUA" or "lua5.4"

-- what callgrind says of a part in which cprof runs 2000 instructions: the
-- functions of another library, and those that are called, are not its own. Two
-- events have left the fast path.
local part <const> = helper.dedent [[
  # callgrind format
  version: 1
  ob=(1) /build/cprof/core.so
  fn=(1) hook_callsdirect
  10 1500
  +3 400
  cob=(2) /usr/bin/lua
  cfn=(2) lua_getinfo
  calls=10 20
  +1 90000
  ob=(2)
  fn=(2)
  20 7000
  ob=(1)
  fn=(3) hook_return
  * 100
  cfn=(4) hook_popany
  calls=2 30
  * 0
  fn=(4)
  30 0
  cfn=(5) hook_slow
  calls=1 40
  * 0
]]

local write <const> = command.write

-- the result of a check, or another action, with figures held
local function run(dir, action, held)
  write(dir:file "said", "call\tflat calls\t100\n")
  write(dir:file "out.2", part .. "\n")
  if held then write(dir:file "held", held) end
  local all = {}
  for i, word in ipairs { lua, script, action, dir:file "said", dir:file "out",
    dir:file "held", "this machine" } do
    all[i] = command.quote(word)
  end
  local pipe = assert(io.popen(table.concat(all, " ") .. " 2>&1"))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return status, text
end

describe("instructions of an event", function()
  it("are those of cprof's own code", function(dir)
    local status, text = run(dir, "check",
      "this machine\ncall, flat calls\t20.0\n")
    assert.equal(0, status, text)
    assert.matches("call, flat calls +2.00 +20.0 +20.0\n", text)
  end)

  it("fail the check if they are more by a tenth", function(dir)
    local status, text = run(dir, "check",
      "this machine\ncall, flat calls\t18.0\n")
    assert.equal(1, status)
    assert.matches("call, flat calls +2.00 +20.0 +18.0  more\n", text)
    assert.has_text("1 of 1 workloads take more", text)
  end)

  it("fail the check if the workload is new", function(dir)
    local status, text = run(dir, "check", "this machine\n")
    assert.equal(1, status)
    assert.matches("call, flat calls +2.00 +20.0 +-  more\n", text)
  end)

  it("are not compared with those of another machine", function(dir)
    local status, text = run(dir, "check",
      "that machine\ncall, flat calls\t1.0\n")
    assert.equal(0, status)
    assert.has_text("not compared: before is of that machine, this is this " ..
      "machine", text)
  end)

  it("are kept for the next check", function(dir)
    assert.equal(0, (run(dir, "keep")))
    local status, text = run(dir, "check")
    assert.equal(0, status, text)
    assert.matches("call, flat calls +2.00 +20.0 +20.0\n", text)
  end)
end)
