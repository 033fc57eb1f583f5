local _ENV = require("helper").env(_ENV)

local helper = require "helper"

-- Patterns are matched by the string.find that is there when the profiler
-- is loaded: a filter may be program code. It runs in a process of its own:
-- what fails here may end it.
local replaced = [[
  local find = string.find
  local asked
  local other
  string.find = function(...)
    if asked then
      local f = asked
      asked = nil
      f()
    end
    if other then other() end
    return find(...)
  end
  local profiler = require "cprof"
  local helper = require "helper"
]]

local function run(code)
  local output, ok, how, status = helper.run(replaced .. code)
  assert.is_true(ok, ("%s %s: %s"):format(how, status, output))
  return output
end

-- what a filter tries to do to the recorder
local controls = [[
  local results = {}
  local function control()
    for _, name in ipairs { "pause", "resume", "reset", "frame", "stop" } do
      results[#results + 1] = name .. " " .. tostring(profiler[name]())
    end
    results[#results + 1] = select(2, pcall(profiler.start)):match "start: .*"
    profiler.enter "mine"
    local _ <close> = profiler.zone "mine"
    local function inner() end
    inner()
    collectgarbage()
    coroutine.wrap(inner)()
    profiler.snapshot():report()
  end
]]

local refused = "pause false, resume false, reset false, frame false, " ..
  "stop false, start: "
local running = refused .. "already running; call stop first\n"
local starting = refused .. "called while a filter runs\n"

describe("a filter", function()
  for _, options in ipairs { 'exclude = { "nothing" }', 'include = { "/./" }',
      'exclude = { "nothing" }, callsites = true',
      'exclude = { "nothing" }, recursion = "fold"',
      'mode = "line", lines = { "/./" }',
      'mode = "line", exclude = { "nothing" }',
      'mode = "trace", trace = function() end, exclude = { "nothing" }' } do
    it("cannot control the recorder: " .. options, function()
      local output = run(controls .. [[
        local function leaf() end
        profiler.start { ]] .. options .. [[ }
        asked = control
        load("leaf = ... leaf() leaf()", "=new")(leaf)
        assert(asked == nil)
        assert(profiler.stop())
        local p = helper.check(profiler.snapshot())
        assert(not p.meta.ended, p.meta.ended)
        assert(helper.find(p, leaf).calls == 2)
        assert(not helper.named(p, "mine"))
        assert(not helper.named(p, "inner"))
        print(table.concat(results, ", "))]])
      assert.equal(running, output)
    end)
  end

  it("cannot control the recorder while it starts or goes on", function()
    local output = run(controls .. [[
      -- the patterns of exclude are tried first
      local options, left = { exclude = { "nothing" } }, 0
      other = function()
        left = left - 1
        if left == 0 then control() end
      end
      profiler.start(options)  -- it loads what filters need
      assert(profiler.stop())
      left = 0
      profiler.start(options)
      local tried = -left
      assert(profiler.stop())
      -- Finds the last call that is made from within a filter: later ones are
      -- made where modules are loaded.
      repeat
        results, left = {}, tried
        profiler.start(options)
        assert(profiler.running())
        tried = tried - 1
        local told = table.concat(results, ", ")
        local within = told:find("called while a filter runs", 1, true)
        if within then print(told) else assert(profiler.stop()) end
      until within
      results = {}
      profiler.pause()
      load [=[
        local profiler, leaf, ask = ...
        ask()
        profiler.resume()
        leaf()]=](profiler, function() end, function() asked = control end)
      assert(asked == nil and profiler.running())
      print(table.concat(results, ", "))
      assert(profiler.stop())
      helper.check(profiler.snapshot())]])
    assert.equal(starting .. running, output)
  end)

  it("may be asked when a zone is entered in what ran unseen", function()
    local output = run(controls .. [[
      profiler.start { exclude = { "nothing" } }
      profiler.pause()
      load [=[
        local profiler, control = ...
        control()
        profiler.enter "zone"
        profiler.resume()
        profiler.leave "zone"]=](profiler, function() asked = control end)
      assert(asked == nil)
      assert(profiler.stop())
      helper.check(profiler.snapshot())
      print(table.concat(results, ", "))]])
    assert.equal(running, output)
  end)
end)
