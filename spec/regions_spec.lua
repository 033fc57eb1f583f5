local _ENV = require("helper").env(_ENV)

local host = require "spec_host"

-- what every program of these specs begins with; time stands still but
-- for 'pass'
local prelude = [[
  local profiler = require "cprof"
  local helper = require "helper"
  local zones = require "spec_zones"
  local pass = zones.pass
  zones.clock(true)
  local function leaf() pass(10) end
  local function other() pass(100) end
  local function tree(f)
    profiler.stop()
    local p = helper.check(profiler.snapshot())
    return helper.tree(p, f), p
  end
  local options = { exclude = { ".pass " } }
]]

local function run(code)
  local S = host.state()
  local result = S:run(prelude .. code)
  S:close()
  return result
end

-- runs the code, and checks the tree of calls under 'work'
local function shape(expected, code)
  local result = run(code .. "\nreturn (tree(work))")
  assert.equal(require("helper").dedent(expected),
    (result:gsub("spec_zones%.", "")))
end

describe("zones in C", function()
  it("stand in one tree with functions of both languages", function()
    shape([[
      nested 1
        outer 1
          inner 1
            leaf 1
          other 1
            within 1
              within 1
                leaf 1]], [[
      local function other() zones.within(leaf) end
      local function work() zones.nested(leaf, other) end
      profiler.start(options)
      work()]])
  end)

  it("nest with the zones of Lua code", function()
    shape([[
      lua 1
        within 1
          within 1
            tick 1
              leaf 1
            leaf 1]], [[
      local function f()
        profiler.enter "tick"
        leaf()
        profiler.leave "tick"
        leaf()
      end
      local function work()
        profiler.enter "lua"
        zones.within(f)
        profiler.leave "lua"
      end
      options.exclude[2] = "/^f /"
      profiler.start(options)
      work()]])
  end)

  it("have the time that passes in them, exactly", function()
    local result = run [[
      local function work() zones.nested(leaf, other) other() end
      profiler.start(options)
      for i = 1, 3 do work() end
      local _, p = tree(work)
      local out = {}
      for _, f in ipairs(p.functions) do
        if f.kind == "zone" or f.name == "work" then
          out[#out + 1] = ("%s %d %d %d"):format(f.name, f.calls, f.self_ns,
            f.total_ns)
        end
      end
      return p.meta.clock .. " " .. table.concat(out, ", ")]]
    assert.equal("host work 3 0 630, outer 3 0 330, inner 3 0 30", result)
  end)

  it("close when a return, a break or a goto leaves their block", function()
    local work = [[
      local function work()
        zones.early(leaf, "%s")
        zones.within(other)
      end
      profiler.start(options)
      work()]]
    shape([[
      early 1
        outer 1
          early 1
            leaf 1
      within 1
        within 1
          other 1]], work:format "return")
    shape([[
      early 1
        outer 1
          early 1
            leaf 1
          leaf 1
        leaf 1
      within 1
        within 1
          other 1]], work:format "break")
    shape([[
      early 1
        outer 1
          early 1
            leaf 1
        leaf 1
      within 1
        within 1
          other 1]], work:format "goto")
  end)

  it("are left once, by CPROF_LEAVE or at their end", function()
    shape([[
      early 1
        outer 1
          early 1
            leaf 1
          leaf 1
      within 1
        within 1
          other 1]], [[
      local function work()
        zones.early(leaf, "leave")
        zones.within(other)
      end
      profiler.start(options)
      work()]])
  end)

  it("leave no trace where no function runs", function()
    local S = host.state()
    S:start()
    S:run(prelude:gsub("zones.clock%(true%)", "") .. "leaf()")
    for _ = 1, 3 do S:early() end
    S:control "stop"
    local result = S:run [[
      local p = require "cprof".snapshot()
      require "helper".check(p)
      local out = {}
      for _, n in ipairs(p.nodes) do
        local f = p.functions[n.func]
        if f.kind == "zone" then
          out[#out + 1] = ("%s<%s %d"):format(f.name,
            p.functions[p.nodes[n.parent].func].name, n.calls)
        end
      end
      return table.concat(out, ", ")]]
    S:close()
    assert.equal("outer<(root) 3, early<outer 3", result)
  end)

  it("last until the end of the block around a scope", function()
    shape([[
      scoped 2
        scope 2
          leaf 2
        leaf 1
      other 1]], [[
      local function work()
        zones.scoped(leaf)
        zones.scoped(leaf, true)
        other()
      end
      profiler.start(options)
      work()]])
  end)

  it("may have names that are made at run time", function()
    shape([[
      named 2
        a b 2
          leaf 2
        c 1
          leaf 1
        a 1
          leaf 1
      a 1
        leaf 1]], [[
      local function work()
        zones.named(leaf, "a b", "c", "a b")
        zones.named(leaf, "a")
        profiler.enter "a"
        leaf()
        profiler.leave "a"
      end
      profiler.start(options)
      work()]])
  end)

  it("are one function for the same name, in C and in Lua", function()
    assert.equal("1 4", run [[
      local function work()
        zones.within(leaf)
        zones.named(leaf, "within", "within")
        local _ <close> = profiler.zone "within"
      end
      profiler.start(options)
      work()
      local _, p = tree(work)
      local count, calls = 0, 0
      for _, f in ipairs(p.functions) do
        if f.name == "within" then
          count, calls = count + 1, calls + f.calls
        end
      end
      return count .. " " .. calls]])
  end)

  it("have no more names than max_nodes", function()
    assert.equal("true true", run [[
      local function work()
        for i = 1, 1000 do zones.named(leaf, "zone " .. i) end
      end
      options.max_nodes = 100
      profiler.start(options)
      work()
      local _, p = tree(work)
      return tostring(#p.functions <= 102) .. " " ..
        tostring(p.meta.truncated > 0)]])
  end)

  it("that an error leaves are closed at the next event", function()
    shape([[
      pcall 2
        raise 2
          outer 2
            lost 2
              leaf 2
      leaf 1]], [[
      local function work()
        pcall(zones.raise, leaf)
        pcall(zones.raise, leaf)
        leaf()
      end
      profiler.start(options)
      work()]])
  end)

  it("that an error leaves are closed by a zone of the catching function",
    function()
      shape([[
        catch 1
          catching 1
            raise 1
              outer 1
                lost 1
                  leaf 1
            after 1
              other 1]], [[
        local function work() zones.catch(leaf, other) end
        profiler.start(options)
        work()]])
    end)

  it("that a jump leaves are closed by the zone around them", function()
    shape([[
      longjmp 1
        outer 1
          inner 1
            innermost 1
        other 1]], [[
      local function work() zones.longjmp(other) end
      profiler.start(options)
      work()]])
  end)

  it("end with their frame when an error has left them", function()
    local result = run [[
      local function work()
        pass(1)
        pcall(zones.raise, leaf)
        pass(2)
      end
      options.history = "full"
      profiler.start(options)
      profiler.frame()
      work()
      zones.frame(true)
      pass(5)
      zones.frame(true)
      profiler.stop()
      local p = profiler.snapshot()
      local out = {}
      for back = 1, 0, -1 do
        local f = p.frames:at(back)
        local of = {}
        for _, row in ipairs(f.rows) do
          if row.func.kind == "zone" and row.func.name ~= "cprof.frame" then
            of[#of + 1] = ("%s %d %d"):format(row.func.name, row.calls,
              row.total_ns)
          end
        end
        table.sort(of)
        out[#out + 1] = f.ns .. ": " .. table.concat(of, ", ")
      end
      return table.concat(out, "; ")]]
    assert.equal("13: lost 1 10, outer 1 10; 5: ", result)
  end)

  it("are found in the frame of a function that is called again", function()
    shape([[
      many 2
        outer 3000]], [[
      local function work()
        zones.many(1000)
        zones.many(2000)
      end
      profiler.start(options)
      work()]])
  end)

  it("fold when recursion folds", function()
    shape([[
      deep 50
        inner 50]], [[
      local function work() zones.deep(50) end
      options.recursion = "fold"
      profiler.start(options)
      work()]])
  end)

  it("nest as deep as Lua's C stack", function()
    local result = run [[
      local function work() zones.deep(150) end
      profiler.start(options)
      work()
      local _, p = tree(work)
      local zone = helper.named(p, "inner")
      return zone.calls .. " " .. zone.max_depth]]
    assert.equal("150 150", result)
  end)

  it("are their callers' where the limit of states is reached", function()
    local result = run [[
      local function work() zones.deep(100) end
      options.max_nodes = 40
      profiler.start(options)
      work()
      local _, p = tree(work)
      return helper.named(p, "inner").calls .. " " ..
        p.meta.truncated .. " " .. helper.named(p, "inner").max_depth]]
    assert.equal("100 1 18", result)
  end)

  it("are those of the coroutine that a host resumes", function()
    shape([[
      attach 1
      resume 3
        scheduler 3
          body 1
            within 2
              within 2
                leaf 2
            coroutine.yield 1
      other 1]], [[
      local co
      local function body()
        zones.within(leaf)
        coroutine.yield()
        zones.within(leaf)
      end
      local function work()
        co = coroutine.create(body)
        profiler.stop()
      end
      work()
      local function work()
        zones.attach(co)
        while zones.resume(co) == 1 do end
        zones.resume(co)
        other()
      end
      profiler.start(options)
      work()]])
  end)

  it("entered before a pause are closed in it, those in it not counted",
    function()
      shape([[
        pause 1
          before 1
            leaf 1
          other 1]], [[
        local function work() zones.pause(leaf, other) end
        profiler.start(options)
        work()]])
    end)

  it("cost nothing to get wrong: without a recording, they do nothing",
    function()
      assert.equal("0 nil", run [[
        zones.nested(leaf, other)
        zones.catch(leaf, other)
        profiler.start(options)
        profiler.stop()
        zones.nested(leaf, other)
        local p = profiler.snapshot()
        local zone = helper.named(p, "outer")
        return p.meta.unmatched .. " " .. tostring(zone)]])
    end)

  it("keep no node of what was recorded before, or in another state",
    function()
      local code = prelude .. [[
        local function work() zones.nested(leaf, other) end
        for i = 1, 3 do
          profiler.start(options)
          work()
          profiler.reset()
          work()
          profiler.stop()
        end
        return (tree(work))]]
      local expected = require("helper").dedent [[
        nested 1
          outer 1
            inner 1
              leaf 1
            other 1]]
      local a, b = host.state(), host.state()
      for _ = 1, 3 do
        assert.equal(expected, (a:run(code):gsub("spec_zones%.", "")))
        assert.equal(expected, (b:run(code):gsub("spec_zones%.", "")))
      end
      a:close()
      b:close()
    end)

  it("stand below all where no function runs", function()
    local S = host.state()
    S:start()
    local code = prelude:gsub("zones.clock%(true%)", "") .. [[
      local function work() zones.nested(leaf, other) end
      work()
      if fail then error "no" end
      return "done"]]
    assert.equal("done", (S:host(code)))
    S:run "fail = true"
    local message, status = S:host(code)
    assert.has_text("no", message)
    assert.equal(2, status)
    S:control "stop"
    local result = S:run [[
      local p = require "cprof".snapshot()
      local helper = require "helper"
      helper.check(p)
      local out = {}
      for _, n in ipairs(p.nodes) do
        local f = p.functions[n.func]
        local parent = n.parent > 0 and p.functions[p.nodes[n.parent].func]
        if f.kind == "zone" or f.kind == "main" then
          out[#out + 1] = ("%s<%s %d"):format(f.kind == "main" and "chunk" or
            f.name, parent.kind == "root" and "root" or
            parent.kind == "main" and "chunk" or parent.name, n.calls)
        end
      end
      return table.concat(out, ", ")]]
    S:close()
    assert.equal("outer<root 2, load<outer 2, run<outer 2, chunk<run 2, " ..
      "outer<nested 2, inner<outer 2, chunk<root 1",
      (result:gsub("%(cprof%)<root %d, ", ""):gsub("chunk<require 1, ", "")
        :gsub("spec_zones%.", "")))
  end)
end)
