local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local host = require "spec_host"

-- what runs in a state of its own: its tree, with a name of its own
local code = [[
  local profiler = require "cprof"
  local helper = require "helper"
  local function fib(n) if n < 2 then return n end
    return fib(n - 1) + fib(n - 2) end
  local function work()
    fib(15)
    local co = coroutine.wrap(function()
      for i = 1, 100 do coroutine.yield(i) end
    end)
    for _ = 1, 100 do co() end
    for _ = 1, 100 do pcall(error, "x") end
  end
  local tree, p = helper.shape(work)
  return tree
]]

describe("several states", function()
  it("are recorded independently in one thread", function()
    local function leaf() end
    local other = host.state()
    local tree, p
    local function work()
      leaf()
      other:run [[
        profiler = require "cprof"
        profiler.start()
        function global() end
        global()]]
      leaf()
      other:run "global() global()"
      leaf()
      tree = other:run [[
        profiler.stop()
        for _, f in ipairs(profiler.snapshot().functions) do
          if f.name == "global" then return f.calls end
        end]]
    end
    p = helper.record(work)
    assert.equal("3", tree)
    assert.equal(3, helper.find(p, leaf).calls)
    assert.is_nil(helper.named(p, "global"))
    other:close()
  end)

  it("are recorded independently in several threads", function()
    local alone = host.threads(code, 1)[1]
    assert.has_text("fib", alone)
    for _ = 1, 3 do
      for _, result in ipairs(host.threads(code, 4)) do
        assert.equal(alone, result)
      end
    end
  end)

  it("can be closed while they are recorded", function()
    for _ = 1, 10 do
      local other = host.state()
      assert.equal("true", other:run [[
        local profiler = require "cprof"
        profiler.start()
        kept = setmetatable({}, { __gc = function() profiler.stop() end })
        co = coroutine.wrap(function() coroutine.yield() end)
        co()
        return true]])
      other:close()
    end
  end)

  -- finalizers run in the reverse order of their marking
  it("have finalizers older than the profiler, which run after its own",
    function(dir)
      for _, option in ipairs { "", "file = arg[1]" } do
        local path = dir:file "x.cprof"
        local output, ok, how, status = helper.run([[
          local results = {}
          local profile
          local function try(name, ...)
            local _, result, why = pcall(profiler[name], ...)
            results[#results + 1] = name .. ": " ..
              tostring(why or result):gsub("^.-lua:%d+: ", "")
          end
          kept = setmetatable({}, { __gc = function()
            for _, name in ipairs { "stop", "pause", "resume", "reset",
              "running", "frame", "enter", "leave", "snapshot", "report",
              "annotate", "calibrate", "start" } do
              try(name, (name == "enter" or name == "leave") and "z" or nil)
            end
            try("load", arg[1])
            local z <close> = profiler.zone "z"
            profiler.wrap("z", print) "in a zone"
            coroutine.wrap(function() print "in a coroutine" end)()
            profiler.view()
            try("view_lines")
            try("report_earlier")
            print(profile:save(arg[1] .. "2"))
            print(table.concat(results, "\n"))
          end })
          profiler = require "cprof"
          profiler.view_lines = function() return profiler.view():lines() end
          profiler.report_earlier = function() return profile:report() end
          profiler.start { ]] .. option .. [[ }
          coroutine.wrap(function() end)()
          profile = profiler.snapshot()]], path)
        assert.is_true(ok, ("%s %s: %s"):format(how, status, output))
        assert.equal(helper.dedent [[
          in a zone
          in a coroutine
          nil	the state is being closed
          stop: false
          pause: false
          resume: false
          reset: false
          running: false
          frame: false
          enter: nil
          leave: nil
          snapshot: cprof: the state is being closed
          report: cprof: the state is being closed
          annotate: cprof: the state is being closed
          calibrate: the state is being closed
          start: start: the state is being closed
          load: the state is being closed
          view_lines: cprof: the state is being closed
          report_earlier: cprof: the state is being closed]] .. "\n", output)
      end
    end)

  it("can move between threads, and be closed in another", function()
    for _ = 1, 20 do
      local other = host.state()
      assert.is_true(other:elsewhere [[
        profiler = require "cprof"
        function global() end
        profiler.start()
        global()]])
      assert.equal("nil", other:run "global()")
      assert.is_true(other:elsewhere "global()")
      assert.equal("3", other:run [[
        profiler.stop()
        for _, f in ipairs(profiler.snapshot().functions) do
          if f.name == "global" then return f.calls end
        end]])
      assert.equal("nil", other:run "profiler.start() global()")
      other:elsewhere()
    end
    -- what this thread recorded last is gone; the next state is not
    helper.record(function() end)
  end)
end)

describe("a fork", function()
  it("ends recording in the child and nowhere else", function()
    local output = helper.run [[
      local profiler = require "cprof"
      local host = require "spec_host"
      local function leaf() end
      local function report(who)
        local p = profiler.snapshot()
        local calls = 0
        for _, f in ipairs(p.functions) do
          if f.name == "leaf" then calls = f.calls end
        end
        local text = p:report():match "note: (recording[^\n]*)" or "no note"
        io.write(who, " ", calls, " ", tostring(profiler.running()), " ",
          text, "\n")
      end
      profiler.start()
      leaf()
      if host.fork() then
        for _ = 1, 10 do leaf() end
        report "child"
        assert(profiler.stop() == false)
        assert(debug.gethook() == nil)
        profiler.start()
        leaf() leaf()
        profiler.stop()
        report "again"
        os.exit(0, true)
      end
      host.wait()
      leaf()
      report "parent"
      profiler.stop()]]
    assert.equal(helper.dedent [[
      child 1 false recording ended early: the process forked
      again 2 false no note
      parent 2 true no note]] .. "\n", output)
  end)
end)
