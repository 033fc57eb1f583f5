local _ENV = require("helper").env(_ENV)

local command = require "command"
local profiler = require "cprof"
local helper = require "helper"
local host = require "spec_host"
local steady = require "steady"

-- what Lua's own line hook counts for a source, while f runs
local function counted(source, f)
  local hits = {}
  local function hook(_, line)
    if debug.getinfo(2, "S").source == source then
      hits[line] = (hits[line] or 0) + 1
    end
  end
  -- a coroutine does not inherit a hook that is a Lua function
  local wrap = coroutine.wrap
  rawset(coroutine, "wrap", function(body)
    local co = coroutine.create(body)
    debug.sethook(co, hook, "l")
    return function(...) return select(2, coroutine.resume(co, ...)) end
  end)
  debug.sethook(hook, "l")
  pcall(f)
  debug.sethook()
  rawset(coroutine, "wrap", wrap)
  return hits
end

-- a function made from code; what it should count; and what cprof counts
local function both(code, name, options)
  local source = name or "=lines"
  local f = assert(load(code, source))()
  local expected = counted(source, f)
  local o = { mode = "line" }
  for key, value in pairs(options or {}) do o[key] = value end
  local p = helper.record(function() pcall(f) end, o)
  local got = {}
  for number, line in ipairs(p.lines[source] or {}) do
    if line.hits > 0 then got[number] = line.hits end
  end
  return expected, got, p, f
end

-- line self times of each function add up to its own, with its zones
local function check_sums(p)
  helper.check(p)
  local by = {}
  for source, lines in pairs(p.lines) do
    for _, line in ipairs(lines) do
      assert.equal("integer", math.type(line.self_ns))
      assert.is_true(line.self_ns >= 0)
      by[source] = (by[source] or 0) + line.self_ns
    end
  end
  local own = {}
  for _, f in ipairs(p.functions) do
    if f.kind == "Lua" or f.kind == "main" then
      own[f.source] = (own[f.source] or 0) + f.self_ns
    end
  end
  for _, node in ipairs(p.nodes) do
    local f = p.functions[node.func]
    if f.kind == "zone" and f.name ~= "(cprof)" then
      local up = p.nodes[node.parent]
      while p.functions[up.func].kind == "zone" do up = p.nodes[up.parent] end
      local source = p.functions[up.func].source
      own[source] = (own[source] or 0) + node.self_ns
    end
  end
  for source in pairs(p.lines) do
    if not p.sources[source].mixed then
      assert.equal(own[source] or 0, by[source], source)
    end
  end
end

-- programs in which it is not obvious what the hits of a line are
local programs = {
  loops = [[return function()
    local s = 0
    for i = 1, 10 do s = s + i end
    for i = 1, 10 do
      s = s + i
    end
    for _, v in ipairs { 1, 2, 3 } do
      s = s + v
    end
    while s > 0 do
      s = s - 20
    end
    repeat
      local t = s
      s = s + 1
    until t > 3
    return s
  end]],
  ["several statements on a line"] = [[return function()
    local a = 1 local b = 2 local c = a + b
    if a then b = 1 else c = 2 end a = 3
    return a, b,
      c
  end]],
  ["expressions and calls over lines"] = [[return function()
    local function add(a, b)
      return a + b
    end
    local x = add(
      1,
      add(2,
        3)
    )
    local t = {
      x,
      add(x, 1),
      y = x and
        add(x, 2)
        or 5,
    }
    return t
  end]],
  ["goto"] = [[return function()
    local n = 0
    for i = 1, 6 do
      if i % 2 == 0 then goto continue end
      n = n + i
      ::continue::
    end
    ::again::
    n = n - 1
    if n > 0 then goto again end
  end]],
  ["closures on one line"] = [[return function()
    local f, g = function(x) return x end, function(x) return x + 1 end
    for i = 1, 5 do f(i) g(i) end
    local h = function() local s = 0 for i = 1, 4 do s = s + i end return s end
    h() h()
  end]],
  ["calls in the middle of a line"] = [[return function()
    local function leaf()
      local x = 1
      return x
    end
    local a = leaf() + leaf() * leaf()
    local b = a + leaf() if b > 1 then a = leaf() end
    return a + b
  end]],
  coroutines = [[return function()
    local co = coroutine.wrap(function(a)
      local b = a + coroutine.yield(1) + coroutine.yield(2)
      return b
    end)
    local x = co(1) + co(2)
    local y = co(3) + 1
    return x + y
  end]],
  errors = [[return function()
    local function bad(n)
      local x = n .. "" ; if n > 2 then error "x" end
      return x
    end
    for i = 1, 5 do
      local ok = pcall(bad, i)
      if not ok then ok = i + 1 end
    end
    local t = setmetatable({}, { __index = function() error "y" end,
      __close = function()
        local closed = 1
        return closed
      end })
    pcall(function() local z = t.x return z end)
    do local c <close> = t end
    pcall(function() local c <close> = t error "z" end)
  end]],
  ["tail calls and varargs"] = [[return function()
    local function va(...)
      local n = select("#", ...)
      return n
    end
    local function hop(n, ...)
      if n == 0 then return va(...) end
      return hop(n - 1, ...)
    end
    return hop(4, 1, nil, 3)
  end]],
  ["recursion"] = [[return function()
    local function fib(n)
      if n < 2 then return n end
      return fib(n - 1) + fib(n - 2)
    end
    return fib(12)
  end]],
  sorting = [[return function()
    local t = { 5, 3, 8, 1, 9, 2 }
    table.sort(t, function(a, b)
      return a < b
    end)
    return (("x y z"):gsub("%w", function(c)
      return c:upper()
    end))
  end]],
}

describe("line mode", function()
  after_each(function()
    profiler.stop()
    debug.sethook()
  end)

  for name, code in pairs(programs) do
    it("counts hits exactly: " .. name, function()
      local expected, got, p = both(code)
      assert.same(expected, got)
      check_sums(p)
    end)

    it("does so where only some sources are asked for: " .. name, function()
      local expected, got, p = both(code, "@some/file.lua",
        { lines = { "/^some//" } })
      assert.same(expected, got)
      check_sums(p)
      for source in pairs(p.lines) do assert.equal("@some/file.lua", source) end
    end)
  end

  it("counts what one would count by hand", function()
    local _, got = both [[local n = ...
      return function()
        for i = 1, 3 do
          local x = i
        end
        for i = 1, 7 do local x = i end
        local a = 1; local b = 2
      end]]
    -- Lua comes back to a loop's line after each turn; where the body is on
    -- that very line, it comes there once for each turn
    assert.same({ [3] = 4, [4] = 3, [6] = 7, [7] = 1, [8] = 1 }, got)
  end)

  it("gives a line its time back after a call in the middle", function()
    local p = steady.record([[
      local function spin(us) pass(us) end
      local function work()
        local x = { pass(3), spin(100), pass(4), spin(2000), pass(5) }
        pass(10)
        return x
      end
      work()]], "mode = 'line'")
    check_sums(p)
    local line = p.lines["=game.lua"][3]
    assert.equal(1, line.hits)
    assert.equal(2, line.calls)
    assert.equal(2100000, helper.named(p, "spin").total_ns)
    assert.equal(2100000, line.total_ns)
    assert.equal(12000, line.self_ns)
  end)

  it("agrees with the tree about calls from a line", function()
    for _, code in pairs(programs) do
      local _, _, p = both(code)
      local calls, seen = {}, 0
      for _, node in ipairs(p.nodes) do
        local up = p.nodes[node.parent]
        local f = up and p.functions[up.func]
        if f and f.source == "=lines" then
          assert.is_true(node.call_line > 0)
          calls[node.call_line] = (calls[node.call_line] or 0) + node.calls
          seen = seen + 1
        end
      end
      for number, line in ipairs(p.lines["=lines"]) do
        assert.equal(calls[number] or 0, line.calls)
      end
    end
  end)

  it("never shows more than the wall time for a recursive line", function()
    local _, _, p = both(programs.recursion)
    local line = p.lines["=lines"][4]
    assert.equal(232 * 2, line.calls)
    assert.is_true(line.total_ns <= p.nodes[1].total_ns)
    local fib
    for _, f in ipairs(p.functions) do
      if f.source == "=lines" and f.line == 2 then fib = f end
    end
    assert.is_true(line.total_ns <= fib.total_ns)
    p = steady.record([[
      local function down(n)
        pass(1)
        if n > 0 then
          down(n - 1) pass(10) down(n - 1)
        end
      end
      down(2)]], "mode = 'line'")
    check_sums(p)
    local lines = p.lines["=game.lua"]
    assert.same({ 7000, 30000 }, { lines[2].self_ns, lines[4].self_ns })
    -- total is the time of both calls that the outermost call makes
    assert.same({ 6, 26000 }, { lines[4].calls, lines[4].total_ns })
    assert.same({ 1, 37000 }, { lines[7].calls, lines[7].total_ns })
  end)

  it("knows the executable lines of functions that never ran", function(dir)
    local code = [[
      -- a comment

      local M = {}
      function M.used()
        return 1
      end
      function M.unused(x)
        -- not code
        if x then
          return 2
        else
          return 3
        end
      end
      local function never()
        return M
      end
      return M]]
    local path = dir:file "x.cprof"
    command.write(path, code)
    local p = helper.record(function() dofile(path).used() end,
      { mode = "line" })
    check_sums(p)
    local active = {}
    for number, line in ipairs(p.lines["@" .. path]) do
      if line.active then active[#active + 1] = number end
    end
    assert.same({ 3, 4, 5, 7, 9, 10, 12, 16, 18 }, active)
    assert.equal(0, p.lines["@" .. path][10].hits)
    assert.equal(1, p.lines["@" .. path][5].hits)
  end)

  it("counts what is excluded for the line that called it", function()
    local p = steady.record([[
      local callee = load("local pass = ... return function(us)\n" ..
        "pass(us)\nreturn us end", "=callee")(pass)
      local function work()
        local x = callee(1000)
        pass(20)
        return x
      end
      work()]], "mode = 'line', exclude = { '/^callee/' }")
    check_sums(p)
    local lines = p.lines["=game.lua"]
    assert.equal(0, lines[4].calls)
    assert.same({ 1000000, 20000 }, { lines[4].self_ns, lines[5].self_ns })
    for _, l in ipairs(p.lines["=callee"] or {}) do
      assert.equal(0, l.hits)
      assert.equal(0, l.self_ns)
    end
  end)

  it("counts lines within zones for their function", function()
    local p = steady.record([[
      local cprof = require "cprof"
      local function work()
        cprof.enter "zone"
        pass(1)
        for i = 1, 50 do pass(2) end
        cprof.leave "zone"
        pass(4)
      end
      work()]], "mode = 'line'")
    check_sums(p)
    local lines = p.lines["=game.lua"]
    for number = 3, 7 do
      assert.equal(number == 5 and 50 or 1, lines[number].hits, number)
    end
    assert.equal(101000, helper.named(p, "zone").self_ns)
    assert.equal(4000, helper.named(p, "work").self_ns)
    assert.same({ 0, 1000, 100000, 0, 4000 }, { lines[3].self_ns,
      lines[4].self_ns, lines[5].self_ns, lines[6].self_ns, lines[7].self_ns })
  end)

  it("works with pauses, resets and late starts", function()
    local f = load([[
      local profiler = ...
      return function()
        local x = 1
        profiler.pause()
        x = x + 1
        x = x + 1
        profiler.resume()
        x = x + 1
        profiler.reset()
        x = x + 1
        return x
      end]], "=paused")(profiler)
    local p = helper.record(f, { mode = "line" })
    check_sums(p)
    local hits = {}
    for number, line in ipairs(p.lines["=paused"]) do
      if line.hits > 0 then hits[#hits + 1] = number end
    end
    assert.same({ 10, 11 }, hits)
    local late = load([[
      local profiler = ...
      return function()
        local x = 1
        profiler.start { mode = "line" }
        x = x + 1
        x = x + 1
        profiler.stop()
      end]], "=late")(profiler)
    late()
    p = profiler.snapshot()
    check_sums(p)
    assert.equal(0, p.lines["=late"][3].hits)
    assert.equal(1, p.lines["=late"][5].hits)
    assert.equal(1, p.lines["=late"][7].hits)
  end)

  it("works with folded recursion and a limit of states", function()
    for _, more in ipairs { { recursion = "fold" }, { max_nodes = 60 },
      { clock = "cpu" }, { c_functions = false } } do
      for _, code in pairs(programs) do
        local expected, got, p = both(code, nil, more)
        assert.same(expected, got)
        check_sums(p)
      end
    end
  end)

  it("works with a hook of the program's own", function()
    local f = load(programs.loops, "=lines")()
    local expected = counted("=lines", f)
    local lines = 0
    debug.sethook(function() lines = lines + 1 end, "l")
    profiler.start { mode = "line" }
    f()
    profiler.stop()
    debug.sethook()
    local p = profiler.snapshot()
    check_sums(p)
    local got = {}
    for number, line in ipairs(p.lines["=lines"]) do
      if line.hits > 0 then got[number] = line.hits end
    end
    assert.same(expected, got)
    assert.is_true(lines > 50)
  end)

  it("allocates nothing for ten million hits", function()
    local n = helper.many(5000000)
    local function run(turns)
      local result, status, asked = host.memory(([[
        local profiler = require "cprof"
        local function work(n)
          local x = 0
          for i = 1, n do
            x = x + i
          end
          return x
        end
        arm()
        profiler.start { mode = "line", compensate = false }
        work(%d)
        profiler.stop()
        local hits = 0
        for source, lines in pairs(profiler.snapshot().lines) do
          for _, line in ipairs(lines) do hits = hits + line.hits end
        end
        return hits]]):format(turns), "cprof", -1)
      assert.equal(0, status, result)
      return tonumber(result), asked
    end
    local few, few_asked = run(10)
    local many, many_asked = run(n)
    assert.equal(2 * (n - 10), many - few)
    -- the first waits ask for memory; how many there are is luck
    assert.is_true(many_asked - few_asked < 100, many_asked - few_asked)
  end)

  it("survives running out of memory", function()
    local code = [[
      local profiler = require "cprof"
      arm()
      local started = pcall(profiler.start,
        { mode = "line", compensate = false })
      local out = {}
      for i = 1, 5 do
        out[i] = load("local function f()\n return " .. i ..
          "\nend\nreturn f()")()
      end
      profiler.stop()
      disarm()
      if started then
        for _, lines in pairs(profiler.snapshot().lines) do assert(lines) end
        profiler.annotate()
      end
      return table.concat(out, " ")]]
    local expected, _, asked = host.memory(code, "cprof", -1)
    assert.equal("1 2 3 4 5", expected)
    for n = 0, asked, helper.slow and 9 or 1 do
      local result, status, _, left = host.memory(code, "cprof", n)
      assert.equal("1 2 3 4 5", result)
      assert.equal(0, status)
      assert.equal(0, left)
    end
  end)

  it("has nothing to say of lines of stripped chunks", function()
    local f = load(string.dump(load(programs.recursion, "=x")(), true))
    local p = helper.record(function() f() end, { mode = "line" })
    assert.equal(1, helper.find(p, f).calls)
    local ran = 0
    for source, lines in pairs(p.lines) do
      for _, line in ipairs(lines) do
        if line.hits > 0 then
          assert.equal("@", source:sub(1, 1))  -- a stripped chunk has "=?"
          ran = ran + 1
        end
      end
    end
    assert.is_true(ran > 0)
  end)

  it("takes chunks with 100,000 lines", function()
    local n = helper.many(100000)
    local parts = { "local x = 0" }
    for i = 2, n - 1 do parts[i] = "x = x + 1" end
    parts[n] = "return x"
    local chunk = load(table.concat(parts, "\n"), "=long")
    local p = helper.record(function() chunk() chunk() end, { mode = "line" })
    check_sums(p)
    assert.equal(n, #p.lines["=long"])
    for i = 1, n do
      assert(p.lines["=long"][i].hits == 2)
      assert(p.lines["=long"][i].active)
    end
  end)

  it("tells versions of a chunk apart, and says that there are several",
    function()
      local function work()
        for i = 1, 3 do
          load(("\n"):rep(i) .. "local x = 1", "=versions")()
        end
      end
      local p = helper.record(work, { mode = "line" })
      assert.is_true(p.sources["=versions"].mixed)
      for i = 2, 4 do assert.equal(1, p.lines["=versions"][i].hits) end
    end)

  it("needs mode line for patterns, and has no lines otherwise", function()
    assert.has_error(function() profiler.start { lines = { "x" } } end,
      'start: option \'lines\' needs mode = "line", "count" or "sample"')
    local p = helper.record(function() end)
    assert.is_nil(next(p.sources))
    for _ in pairs(p.lines) do error "there are lines" end
    assert.equal("line", helper.record(function() end,
      { mode = "line" }).meta.mode)
  end)

  it("takes two passes of events only inside the sources asked for",
    function()
      local inside = load([[return function(f)
        local x = 0
        for i = 1, 10 do
          x = x + f(i)
        end
        return x
      end]], "@in/side.lua")()
      local outside = load([[return function(n)
        local s = 0
        for i = 1, 1000 do
          s = s + i
        end
        return s
      end]], "@out/side.lua")()
      local function events(options)
        return helper.record(function() inside(outside) end,
          options).meta.events
      end
      local all = events { mode = "line" }
      local some = events { mode = "line", lines = { "/^in//" } }
      local none = events { mode = "line", lines = { "/^nothing/" } }
      assert.is_true(all > 20000, all)
      -- a call of a source whose lines are not counted has one line event at
      -- most
      assert.is_true(some - none < 60, some - none)
    end)
end)
