local _ENV = require("helper").env(_ENV)

local command = require "command"

local program = [[
  local first = require "cprof"
  for _, t in ipairs { package.loaded, package.preload } do
    for name in pairs(t) do
      if name:find "^cprof" then t[name] = nil end
    end
  end
  local second = require "cprof"
  local function source(c) return debug.getinfo(c.start, "S").source end
  assert(source(first) ~= source(second))
  local function leaf() end
  local function work() for _ = 1, 10 do leaf() end end
  local function calls(c)
    local p = c.snapshot()
    assert(p.meta.unmatched == 0 and not p.meta.ended)
    for _, f in ipairs(p.functions) do
      if f.name == "leaf" then return f.calls end
    end
  end
  local function record(c, options)
    c.start(options)
    work()
    c.stop()
    return calls(c)
  end
  for _, options in ipairs { {}, { mode = "line" }, { memory = true },
    { gc = true } } do
    -- in turn
    assert(record(first, options) == 10 and record(second, options) == 10)
    -- one within the other
    first.start(options)
    work()
    assert(record(second, options) == 10)
    work()
    first.stop()
    assert(calls(first) == 30)
    -- the first one ends first
    first.start(options)
    work()
    second.start(options)
    work()
    assert(first.stop())
    work()
    assert(second.stop())
    assert(calls(first) == 20 and calls(second) == 20)
    -- each would take the other's notes in Lua's objects for its own
    assert(second.snapshot().meta.internals == "public")
    assert(debug.gethook() == nil)
  end
  print "good"]]

describe("two copies of cprof in one state", function()
  it("record in turn, one within the other, and at the same time",
    function(dir)
      if (os.getenv "SPEC_DIR" or "") ~= "" then
        return pending "this host gives modules no Lua, which is a part of it"
      end
      local out, err = command.shell(("timeout 600 '%s/cprof-host' '%s'")
        :format(os.getenv "CPROF_BUILD", dir:file("two.lua", program)))
      assert.equal("good\n", out, err)
    end)
end)
