local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"
local merge = require "cprof.profile.merge"
local profiler = require "cprof"
local releases = require "releases"

if core.internals() ~= "direct" then
  describe("mode count", function()
    it("is refused where Lua's structures cannot be read", function()
      local why = helper.failure(profiler.start, { mode = "count" })
      assert.has_text('mode "count" needs', why)
      assert.is_false(profiler.running())
    end)
  end)
  return
end

-- chunks that give a function to be measured
local programs = {
  ["loops"] = [[
    return function()
      local t, n = {}, 0
      for i = 1, 20 do t[i] = i end
      for i = 10, 1 do n = n + i end
      for i = 1, 3 do end
      for k, v in ipairs(t) do
        if v % 3 == 0 then goto continue end
        n = n + k
        ::continue::
      end
      for _ in pairs {} do n = n + 1 end
      for _ in next, t do end
      while n > 100 do n = n - 7 end
      repeat n = n - 1; local done = n < 0 until done
    end]],
  ["conditions"] = [[
    local function pick(a, b, c) return a and b or c end
    return function()
      for i = 1, 10 do
        pick(i % 2 == 0, i > 3 and i, not i)
        if i < 3 or i == 7 then pick(1)
        elseif i > 8 then pick(2) else pick() end
        local x = i ~= 4 and "a" or nil
        if x then end
      end
    end]],
  ["calls"] = [[
    local function fib(n) if n < 2 then return n end
      return fib(n - 1) + fib(n - 2) end
    local function all(...) return select("#", ...), ... end
    local function tail(n) if n == 0 then return 0 end return tail(n - 1) end
    return function() fib(9) tail(9) all(all(1, 2)) end]],
  ["metamethods"] = [[
    local meta = { __lt = function(a, b) return a.n < b.n end,
                   __add = function(a, b) return a.n end,
                   __index = function(t, k) return k end,
                   __concat = function() return "" end,
                   __close = function() end,
                   __eq = function() return true end }
    return function()
      for i = 1, 4 do
        local a, b = setmetatable({ n = i }, meta),
          setmetatable({ n = 2 }, meta)
        local c <close> = a
        if a < b then b = a + b end
        local s = a .. b .. a.x
        if a == setmetatable({ n = 1 }, meta) then s = a end
      end
    end]],
  ["errors"] = [[
    local function deep(n) if n == 0 then error "x" end deep(n - 1) end
    return function()
      for i = 1, 5 do
        local ok = pcall(deep, i)
        ok = pcall(function() return i < {} end) or i > 2 and error
        xpcall(deep, function(m) return m .. i end, i)
      end
    end]],
  ["coroutines"] = [[
    local function count(n)
      return coroutine.wrap(function()
        for i = 1, n do coroutine.yield(i) end
      end)
    end
    return function()
      local sum = 0
      for i in count(5) do for j in count(i) do sum = sum + j end end
      local lazy = setmetatable({}, { __lt = function()
        return coroutine.yield() end })
      local co = coroutine.wrap(function()
        for i = 1, 3 do
          if lazy < lazy then sum = sum + 1 else sum = sum - 1 end
        end
        for k in coroutine.yield do sum = sum + k end
      end)
      co() co(true) co(false) co(true) co(1) co(2) co(nil)
    end]],
}

-- what Lua's own hooks tell of a source, while `f` runs
local function expected(source, f)
  local out = { hits = {}, instructions = {} }
  local function hook(event, line)
    local info = debug.getinfo(2, "Sl")
    if info.source ~= source then return end
    local of = event == "line" and out.hits or out.instructions
    line = line or info.currentline
    of[line] = (of[line] or 0) + 1
  end
  local function run(mask, every)
    local wrap = coroutine.wrap
    rawset(coroutine, "wrap", function(body)
      local co = coroutine.create(body)
      debug.sethook(co, hook, mask, every)
      return function(...) return select(2, coroutine.resume(co, ...)) end
    end)
    debug.sethook(hook, mask, every)
    pcall(f)
    debug.sethook()
    rawset(coroutine, "wrap", wrap)
  end
  run("l")
  run("", 1)
  return out
end

-- the counts of a source in a profile
local function counted(p, source)
  local out = { hits = {}, instructions = {} }
  for number, line in ipairs(p.lines[source] or {}) do
    for key, of in pairs(out) do
      if line[key] > 0 then of[number] = line[key] end
    end
  end
  return out
end

local function total(list)
  local sum = 0
  for _, n in pairs(list) do sum = sum + n end
  return sum
end

describe("mode count", function()
  for name, code in pairs(programs) do
    it("counts what Lua's own hooks tell: " .. name, function()
      local source = "=counted"
      local f = assert(load(code, source))()
      local want = expected(source, f)
      local p = helper.record(function() pcall(f) end, { mode = "count" })
      assert.same(want, counted(p, source))
      local own = 0
      for _, fn in ipairs(p.functions) do
        if fn.source == source then own = own + fn.instructions end
      end
      assert.equal(total(want.instructions), own)
    end)
  end

  it("has the hits of mode line on the workloads of the benchmark", function()
    local source
    local seen = {}
    for _, workload in ipairs(require "workloads") do
      if (workload.depth or 0) > releases.levels or seen[workload.run] then
        goto continue
      end
      seen[workload.run] = true
      source = debug.getinfo(workload.run, "S").source
      local by_line = helper.record(workload.run, { mode = "line" })
      local by_count = helper.record(workload.run, { mode = "count" })
      for number, line in ipairs(by_line.lines[source]) do
        assert.equal(line.hits, by_count.lines[source][number].hits,
          ("%s, line %d"):format(workload.name, number))
      end
      ::continue::
    end
  end)

  it("leaves out what Lua's hook does not see", function()
    local code = "local function all(...) end local function none() end " ..
      "return function() for i = 1, 5 do all(i) none(i) end end"
    local f = assert(load(code, "=variadic"))()
    local p = helper.record(f, { mode = "count" })
    -- VARARGPREP and RETURN, and RETURN0
    assert.equal(5, helper.named(p, "all").instructions)
    assert.equal(5, helper.named(p, "none").instructions)
    assert.has_text("does not see the first instruction of a variadic " ..
      "function (`VARARGPREP`)", command.read "lua/cprof/help/coverage.lua")
  end)

  it("has calls and instructions, but no times", function()
    local p = helper.record(function() for _ = 1, 7 do load("return 1")() end
    end, { mode = "count" })
    assert.equal("count", p.meta.mode)
    assert.equal("instructions", p.meta.clock)
    for _, key in ipairs { "wall_ns", "paused_ns", "overhead_ns" } do
      assert.is_nil(p.meta[key])
    end
    local sum = 0
    for _, f in ipairs(p.functions) do
      assert.is_nil(f.self_ns)
      assert.is_nil(f.total_ns)
      sum = sum + f.instructions
      if f.source == "return 1" then assert.equal(7, f.calls) end
    end
    assert.is_true(sum > 0)
    assert.equal(sum, p.meta.instructions)
    assert.equal(sum, p.nodes[1].total_instructions)
    assert.is_nil(p.nodes[1].total_ns)
    assert.has_text("instructions", p:report())
  end)

  it("counts chosen sources alone, and calls of all", function()
    local a = assert(load("return function(f) for i = 1, 9 do f() end end",
      "=chosen"))()
    local b = assert(load("return function() local n = 1 end", "=other"))()
    local want = expected("=chosen", function() a(b) end)
    local p = helper.record(function() a(b) end,
      { mode = "count", lines = { "/^chosen/" } })
    assert.same(want, counted(p, "=chosen"))
    assert.is_nil(p.lines["=other"])
    assert.equal(9, helper.find(p, b).calls)
    assert.equal(0, helper.find(p, b).instructions)
  end)

  it("lets the program count instructions itself", function()
    local f = assert(load(programs.loops, "=counted"))()
    local want = expected("=counted", f)
    local n, seen = 0, nil
    debug.sethook(function() n = n + 1 end, "", 10)
    local p = helper.record(function()
      n = 0
      f()
      seen = n
    end, { mode = "count" })
    debug.sethook()
    assert.same(want, counted(p, "=counted"))
    local due = total(want.instructions) // 10
    assert.is_true(seen >= due - 1 and seen <= due + 2, seen .. " of " .. due)
  end)

  it("gives a zone what ran in it", function()
    local p = helper.record(function()
      profiler.enter "zone"
      local n = 0
      for i = 1, 100 do n = n + i end
      profiler.leave "zone"
    end, { mode = "count" })
    local zone = helper.named(p, "zone")
    assert.equal(1, zone.calls)
    assert.is_true(zone.instructions >= 200 and zone.instructions < 220)
  end)

  it("begins anew after reset, and counts nothing in pauses", function()
    local f = assert(load(programs.loops, "=counted"))()
    local want = expected("=counted", f)
    local p = helper.record(function()
      f() f()
      profiler.reset()
      f()
      profiler.pause()
      f()
      profiler.resume()
    end, { mode = "count" })
    assert.same(want, counted(p, "=counted"))
  end)

  it("is saved, loaded and added up without loss", function(dir)
    local path = dir:file "x"
    local f = assert(load(programs.conditions, "=counted"))()
    local want = expected("=counted", f)
    local p = helper.record(f, { mode = "count" })
    assert(p:save(path))
    local again = assert(profiler.load(path))
    local live = helper.record(f, { mode = "count", file = path })
    local recorded = assert(profiler.load(path))
    for _, loaded in ipairs { again, live, recorded } do
      assert.same(want, counted(loaded, "=counted"))
      assert.equal(helper.find(p, f).instructions,
        helper.find(loaded, f).instructions)
      assert.is_nil(loaded.meta.wall_ns)
    end
    local sum = assert(merge.sum { p, again, live })
    local tripled = counted(sum, "=counted")
    for key, list in pairs(want) do
      for line, n in pairs(list) do
        assert.equal(3 * n, tripled[key][line])
      end
    end
    assert.equal(p.meta.instructions * 3, sum.meta.instructions)
  end)

  it("is exact after kill -9", function(dir)
    local path = dir:file "x"
    local work = assert(load([[return function()
      for i = 1, 50 do if i % 5 == 0 then pcall(error) end end
    end]], "=killed"))()
    local one = expected("=killed", work).hits
    local done, at_most, status = host.kill(function(announce)
      profiler.start { mode = "count", file = path }
      announce(0)
      for i = 1, math.huge do
        announce(i)
        work()
      end
    end, 60000, 3)  -- from when it has worked once
    assert.equal(9, status)
    local p = assert(profiler.load(path))
    local calls = helper.find(p, work).calls
    assert.is_true(calls >= done and calls <= at_most)
    local got = counted(p, "=killed")
    -- the last call may have been cut short
    for line, n in pairs(one) do
      assert.is_true(got.hits[line] >= (calls - 1) * n and
        got.hits[line] <= calls * n, "line " .. line)
    end
    local sum = 0
    for _, f in ipairs(p.functions) do sum = sum + f.instructions end
    local slots = 0
    for source in pairs(p.lines) do
      slots = slots + total(counted(p, source).instructions)
    end
    assert.equal(slots, sum)
  end)

  it("refuses a clock", function()
    assert.has_text("has no clock",
      helper.failure(profiler.start, { mode = "count", clock = "cpu" }))
  end)
end)

-- how often each line of "=counted" is hit, once and n times
local function hits_of(f, n)
  local out = expected("=counted", f).hits
  for line, hits in pairs(out) do out[line] = n * hits end
  return out
end

describe("mode count", function()
  it("has no frames, and refuses options that are about them", function()
    local p = helper.record(function()
      for _ = 1, 3 do profiler.frame() end
    end, { mode = "count" })
    assert.is_nil(p.frames)
    assert.has_text("\nno frames: mode count records no times\n",
      p:report { mode = "frames" })
    assert.has_error(function()
      profiler.start { mode = "count", slow_frames = { budget_ms = 1 } }
    end, "start: option 'slow_frames' needs mode = \"call\", \"line\", " ..
      '"trace" or "sample"')
    assert.has_error(function()
      profiler.start { mode = "count", history = "full" }
    end, 'start: history = "full" needs mode = "call", "line" or "trace"')
  end)

  it("counts in each of several states what it does", function()
    local f = assert(load(programs.calls, "=counted"))()
    local other = host.state()
    other:run(([[
      profiler = require "cprof"
      f = assert(load(%q, "=counted"))()
      profiler.start { mode = "count" }]]):format(programs.calls))
    local p = helper.record(function()
      f()
      other:run "f() f()"
      f()
      other:run "f()"
    end, { mode = "count" })
    assert.same(hits_of(f, 2), counted(p, "=counted").hits)
    local got = other:run [[
      profiler.stop()
      local out = {}
      for n, line in ipairs(profiler.snapshot().lines["=counted"]) do
        if line.hits > 0 then out[#out + 1] = n .. "=" .. line.hits end
      end
      return table.concat(out, " ")]]
    other:close()
    for line, hits in pairs(hits_of(f, 3)) do
      assert.has_text((" %d=%d "):format(line, hits), " " .. got .. " ", got)
    end
  end)

  it("counts in the child of a fork for itself, in its own file", function(dir)
    local out = helper.run(([[
      local profiler = require "cprof"
      local host = require "spec_host"
      local path = arg[1]
      local f = assert(load(%q, "=counted"))()
      profiler.start { mode = "count", file = path }
      f() f()
      if host.fork() then
        f() f() f()
        print("child", host.process())
        io.stdout:flush()
        host.signal(9)
      end
      host.wait()
      f()
      profiler.stop()
      print("parent", host.process())]]):format(programs.loops),
      dir:file "run.%p")
    local f = assert(load(programs.loops, "=counted"))()
    local child = out:match "child\t(%d+)\n"
    local parent = out:match "parent\t(%d+)\n"
    assert.truthy(child and parent, out)
    for process, n in pairs { [parent] = 3, [child] = 3 } do
      local p = assert(profiler.load(dir:file("run." .. process)))
      assert.same(hits_of(f, n), counted(p, "=counted").hits)
      assert.equal(n, helper.find(p, f).calls)
    end
    -- the counts of both processes add up
    local list = {}
    for _, process in ipairs { parent, child } do
      list[#list + 1] = assert(profiler.load(dir:file("run." .. process)))
    end
    local sum = assert(merge.sum(list))
    assert.same(hits_of(f, 6), counted(sum, "=counted").hits)
  end)
end)

describe("cprof run --count", function()
  it("records, and reports instructions", function(dir)
    local script = dir:file("a.lua",
      "local n = 0\nfor i = 1, 50 do n = n + i end\n")
    local file = dir:file "a.cprof"
    local _, err = command.must("run", "--count", "-o", file, script)
    assert.has_text("mode count", err)
    local p = assert(profiler.load(file))
    assert.equal(50, p.lines["@" .. script][2].hits)
    local out = command.cprof("annotate", file)
    assert.has_text("50  ", out)
  end)

  it("says where it cannot be had", function()
    local _, err, status = command.shell("CPROF_INTERNALS=0 timeout 600 " ..
      "$SPEC_LUA lua/cprof/bin/cprof run --count -e 'print(1)'")
    assert.equal(2, status)
    assert.has_text('mode "count" needs', err)
  end)
end)
