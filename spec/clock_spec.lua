local _ENV = require("helper").env(_ENV)

local host = require "spec_host"

-- 'work' takes 1000 + 3000 + 500 ns; in the middle, the clock steps back
local code = [[
  local profiler, zones = require "cprof", require "spec_zones"
  local helper = require "helper"
  zones.clock(true)
  zones.pass(1000000000)
  local function inner(back)
    zones.pass(2000)
    zones.pass(-back)
    zones.pass(1000)
  end
  local function work(back)
    zones.pass(1000)
    inner(back)
    zones.pass(500)
  end
  local options = %s
  options.exclude = { ".pass " }
  profiler.start(options)
  %s
  profiler.stop()
  local p = profiler.snapshot()
  helper.check(p)
  local f, g = helper.find(p, work), helper.find(p, inner)
]]

local function run(options, body, ...)
  local S = host.state()
  local result = S:run((code .. "return table.concat({ %s }, ' ')"):format(
    options, body, ...))
  S:close()
  return result
end

describe("a clock that steps back", function()
  it("goes on from its new time at once", function()
    for _, options in ipairs { "{}", "{ mode = 'line' }",
      "{ recursion = 'fold' }" } do
      assert.equal("1500 3000 50000000 4500", run(options,
        "work(50000000)", "f.self_ns, g.self_ns, " ..
          "p.meta.clock_backwards_ns, p.meta.wall_ns"))
    end
  end)

  it("is told in the profile and in the report", function()
    local result = run("{}", "for _ = 1, 3 do work(50000) end",
      "p.meta.clock_backwards, p:report { color = 'never' }")
    assert.is_truthy(result:find "^3 ")
    assert.is_truthy(result:find("\nnote: the clock ran backwards 3 times, " ..
      "by 150µs in all; that time is missing\n", 1, true), result)
    result = run("{}", "for _ = 1, 3 do work(0) end",
      "p.meta.clock_backwards, p:report { color = 'never' }")
    assert.is_truthy(result:find "^0 ")
    assert.is_nil(result:find "note: the clock")
  end)

  it("is told of files and sums", function()
    local path = os.tmpname()
    assert.equal("2 100000 4 200000", run("{ file = '" .. path .. "' }",
      "work(50000) work(50000)", ([[(function()
        local q = assert(profiler.load %q)
        local m = require "cprof.merge".sum { q, p }
        return q.meta.clock_backwards .. " " .. q.meta.clock_backwards_ns ..
          " " .. m.meta.clock_backwards .. " " .. m.meta.clock_backwards_ns
      end)()]]):format(path)))
    os.remove(path)
  end)
end)
