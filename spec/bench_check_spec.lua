local _ENV = require("helper").env(_ENV)

local command = require "command"

local lua = os.getenv "SPEC_LUA" or "lua5.4"

local function row(ratio, noise)
  return ([[{ "ratios": [ { "mode": "call", "workload": "methods",
    "ratio": %g, "noise": %g } ] }]]):format(ratio, noise)
end

local function check(before, now)
  local dir <close> = command.folder()
  for name, text in pairs { before = before, now = now } do
    dir:file(name, text)
  end
  local pipe = assert(io.popen(("%s spec/bench/check.lua %s %s 2>&1"):format(
    command.quote(lua), command.quote(dir:file "before"),
    command.quote(dir:file "now"))))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return status, text
end

describe("ratios of a bench", function()
  it("are worse if they grow by more than the noise", function()
    local status, text = check(row(1.3, 0.01), row(1.4, 0.01))
    assert.equal(1, status, text)
    assert.matches("call, methods +1.30 +1.40 +0.01  worse\n1 of 1 worse\n",
      text)
  end)

  it("are not worse within the noise, or if they sink", function()
    assert.equal(0, (check(row(1.3, 0.1), row(1.4, 0.01))))
    assert.equal(0, (check(row(1.3, 0.01), row(1.2, 0.01))))
  end)

  it("are shown if they are new", function()
    local status, text = check([[{ "ratios": [] }]], row(1.4, 0.01))
    assert.equal(0, status)
    assert.matches("call, methods +%- +1.40 +%-\n", text)
  end)
end)
