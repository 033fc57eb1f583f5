local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"
local command = require "command"
local data = require "cprof.html.data"
local join_profiles = require "cprof.profile.join".profiles
local select_rows = require "cprof.report.select"

-- All calls of `leaf` spin equally long; with a driven clock, `pass` tells how
-- many ns they take. The function `rare` is called only if the program has an
-- argument, by a path of its own.
local program = [[
local pass = pass or function() end
local function leaf(n)
  local x = 0
  for i = 1, n do x = x + i end
  pass(n)
  return x
end
local function a() for i = 1, 200 do leaf(100) end end
local function b() for i = 1, 100 do leaf(5000) end end
local function other() leaf(20000) end
local function rare() for i = 1, 20000 do end pass(20000) end
a() b()
if arg[1] then other() rare() end
]]

-- the program for sampling: it runs until there are 100 samples
local longer = program:gsub("leaf%(5000%)", "leaf(50000)") .. [[
local profiler = require "cprof"
while (profiler.snapshot().samples or 100) < 100 do b() end
]]

local function record(dir, name, ...)
  local path = dir:file(name)
  local words = { "run", "--quiet", "-o", path, ... }
  command.must(table.unpack(words))
  return path
end

-- records a program whose functions have the time that they let pass
local function standing(dir, name, ...)
  local path = dir:file(name)
  local _, err, status = command.standing("run", "--quiet", "-o", path,
    "--exclude=/^pass/", ...)
  assert.equal(0, status, err)
  return path
end

local function node(p, name, caller)
  for _, n in ipairs(p.nodes) do
    local above = p.nodes[n.parent]
    if p.functions[n.func].name == name and above and
       p.functions[above.func].name == caller then
      return n
    end
  end
end

local function sum(p, name, field)
  local all = 0
  for _, n in ipairs(p.nodes) do
    if not name or p.functions[n.func].name == name then
      all = all + n[field]
    end
  end
  return all
end

local function join(dir, counts, times)
  local to = dir:file "joined.cprof"
  local out, err = command.must("join", counts, times, "-o", to)
  local p = helper.check(assert(profiler.load(to)))
  return p, out, err
end

describe("cprof join", function()
  it("has the calls of one run and the times of the other", function(dir)
    local script = dir:file("x.lua", program)
    local times = record(dir, "t.cprof", script)
    local t = assert(profiler.load(times))
    for _, mode in ipairs { "--count", "--lines", "--callsites",
      "--clock=cpu" } do
      local counts = record(dir, "c.cprof", mode, script)
      local p, out = join(dir, counts, times)
      assert.equal(200, node(p, "leaf", "a").calls)
      assert.equal(100, node(p, "leaf", "b").calls)
      -- matched by path, with or without lines of calls
      for _, caller in ipairs { "a", "b" } do
        assert.equal(node(t, "leaf", caller).self_ns,
          node(p, "leaf", caller).self_ns)
      end
      assert.equal(t.meta.wall_ns, p.meta.wall_ns)
      assert.matches("100.0 %% of the time was%s+matched by call", out)
    end
  end)

  it("takes no zone for a part of a path if the times have none", function(dir)
    local code = [[
      local zones = ...
      local profiler = require "cprof"
      local function burn(us) pass(us) end
      local handlers = {}
      function handlers.login() burn(300) end
      function handlers.list() burn(100) end
      local function serve(name)
        local _ <close> = zones and profiler.label { endpoint = name } or nil
        handlers[name]()
      end
      for i = 1, 4 do serve(i == 1 and "login" or "list") end]]
    local script = dir:file("x.lua", code)
    local counts = standing(dir, "c.cprof", script, "zones")
    local times = standing(dir, "t.cprof", script)
    local p, out, err = join(dir, counts, times)
    assert.equal("", err)
    assert.matches("100.0 %% of the time was%s+matched by call", out)
    local values = {}
    for _, row in ipairs(p.labels[1].values) do
      values[row.value or ""] = row.total_ns
    end
    assert.equal(300, values.login)
    assert.equal(300, values.list)
    assert.equal(600, sum(p, "burn", "self_ns"))
  end)

  it("takes zones for parts of a path if the times have zones, too",
    function(dir)
      local script = dir:file("x.lua", [[
        local profiler = require "cprof"
        local function burn(us) pass(us) end
        local function serve(name, us)
          local _ <close> = profiler.label { endpoint = name }
          burn(us)
        end
        serve("login", 300)
        for _ = 1, 3 do serve("list", 50) end
        burn(25)]])
      local counts = standing(dir, "c.cprof", script)
      local times = standing(dir, "t.cprof", script)
      local p = join(dir, counts, times)
      local values = {}
      for _, row in ipairs(p.labels[1].values) do
        values[row.value or ""] = { row.calls, row.total_ns }
      end
      assert.same({ login = { 1, 300 }, list = { 3, 150 }, [""] = { 0, 25 } },
        values)
    end)

  it("gives time to the function where the path is not known", function(dir)
    local script = dir:file("x.lua", program)
    local counts = standing(dir, "c.cprof", script)
    local times = standing(dir, "t.cprof", script, "x")
    local t = assert(profiler.load(times))
    local p, out, err = join(dir, counts, times)
    assert.equal("", err)
    assert.equal(300, sum(p, "leaf", "calls"))
    -- all time is there; what no path has is shared out by calls
    assert.equal(sum(t, "leaf", "self_ns"), sum(p, "leaf", "self_ns"))
    local more = node(t, "leaf", "other").self_ns
    assert.equal(20000, more)
    assert.is_nil(node(p, "leaf", "other"))
    local got = node(p, "leaf", "a").self_ns - node(t, "leaf", "a").self_ns
    assert.is_true(math.abs(got - more * 200 // 300) <= 1)
    -- functions that only the sampled run called keep their time, without calls
    for _, name in ipairs { "other", "rare" } do
      assert.equal(0, sum(p, name, "calls"))
      assert.equal(sum(t, name, "self_ns"), sum(p, name, "self_ns"))
    end
    assert.equal(sum(t, nil, "self_ns"), sum(p, nil, "self_ns"))
    local by_path, by_function, none = out:gsub("%s+", " "):match(
      "note: calls are from a run in mode call, times from a run in mode " ..
      "call; (%S+) %% of the time was matched by call path, (%S+) %% by " ..
      "function, (%S+) %% is in functions")
    -- of 560 µs
    assert.same({ "92.9", "3.6", "3.6" }, { by_path, by_function, none })
  end)

  it("has hits and times of lines where both have them", function(dir)
    local script = dir:file("x.lua", program)
    local counts = record(dir, "c.cprof", "--lines", script)
    local times = record(dir, "t.cprof", "--lines", script)
    local c, t = assert(profiler.load(counts)), assert(profiler.load(times))
    local p = join(dir, counts, times)
    assert.equal("line", p.meta.mode)
    for at, line in pairs(p.lines["@" .. script]) do
      assert.equal(c.lines["@" .. script][at].hits, line.hits)
      assert.equal(t.lines["@" .. script][at].self_ns, line.self_ns)
    end
  end)

  it("keeps how sure times from samples are", function(dir)
    local script = dir:file("x.lua", longer)
    local times = record(dir, "t.cprof", "--sample=10000", script)
    local t = assert(profiler.load(times))
    assert.is_true(t.samples > 0)
    for _, mode in ipairs { "--count", "--lines" } do
      local counts = record(dir, "c.cprof", mode, script)
      local p = join(dir, counts, times)
      assert.is_nil(p.samples)
      assert.equal(t.samples, p.time_samples)
      assert.equal(t.meta.rate, p.meta.rate)
      local text = p:report { width = 100 }
      assert.is_truthy(text:find(("times from %s samples, "):format(
        require "cprof.text.format".count(t.samples)), 1, true), text)
      -- exact calls, and the intervals that the sampled run has
      assert.equal(300, sum(p, "leaf", "calls"))
      local of = t:report { mode = "self" }:match "±%S+%s[^\n]*leaf"
      local row = p:report { mode = "self" }:match "[^\n]*leaf[^\n]*"
      assert.has_text(of:match "^%S+", row)
      if mode == "--lines" then
        text = p:annotate(script, { width = 100 })
        assert.matches("hits.*±", text)
      end
      local header = select(1, data.of(p, p))
      assert.equal(t.samples, header.samples.n)
      assert.is_true(header.samples.joined)
    end
  end)

  it("adds up how many samples times of joined profiles are from", function(dir)
    local script = dir:file("x.lua", longer)
    local times = record(dir, "t.cprof", "--sample", script)
    local counts = record(dir, "c.cprof", script)
    local p = join(dir, counts, times)
    assert.is_true(p.time_samples > 0)
    local function merged(...)
      local to = dir:file "sum.cprof"
      command.must("merge", "-o", to, dir:file "joined.cprof", ...)
      return assert(profiler.load(to))
    end
    local all = merged(dir:file "joined.cprof")
    assert.equal(2 * p.time_samples, all.time_samples)
    assert.is_truthy(all.meta.joined)
    -- what is not from samples has no intervals
    assert.is_nil(merged(counts).time_samples)
  end)

  it("says that there are no times where there is no sample", function()
    local function work() end
    local counts = helper.record(work)
    local p = join_profiles(counts, helper.record(work, { mode = "sample",
      rate = 1 }))
    if p.time_samples > 0 then return end
    assert.equal("calls are from a run in mode call; the run in " ..
      "mode sample has no times", p.meta.joined)
  end)

  -- All that `outer` does may be in functions that the first run called by
  -- another path, and their time has gone there.
  it("does not count functions that are left without anything", function()
    local function function_of(title, calls, ns)
      return { title = title, kind = "Lua", calls = calls, total_ns = ns }
    end
    assert.equal(2, select_rows.distinct { measure = { all = "total_ns" },
      functions = {
      function_of("called", 1, 0), function_of("running", 0, 5),
      function_of("outer", 0, 0),
    } })
  end)

  it("finds functions after an edit", function(dir)
    local script = dir:file("x.lua", program)
    local counts = record(dir, "c.cprof", script)
    dir:file("x.lua", "-- above\n\n" .. program)
    local times = record(dir, "t.cprof", script)
    local p = join(dir, counts, times)
    assert.equal(200, node(p, "leaf", "a").calls)
    assert.equal(node(assert(profiler.load(times)), "leaf", "a").self_ns,
      node(p, "leaf", "a").self_ns)
  end)

  it("refuses what is hardly of one program", function(dir)
    local counts = standing(dir, "c.cprof", dir:file("x.lua", program))
    local times = standing(dir, "t.cprof", dir:file("y.lua",
      "local function f() pass(1e6) end f() f() pass(1e6)"))
    local err = command.refused("join", counts, times)
    assert.matches("^cprof join: only 0.0 %% of the time of %S*y%.lua is in " ..
      "functions that %S*x%.lua called in the other run; %-%-force joins " ..
      "them\n$", err)
    local out
    out, err = command.must("join", "--force", counts, times)
    assert.has_text("note: the profiles are of different programs: ", err)
    assert.matches("note: only [%d.]+ %% of the time of ", err)
    assert.has_text("calls are from a run", out)
  end)

  it("says what cannot be joined", function(dir)
    local script = dir:file("x.lua", program)
    local counts = record(dir, "c.cprof", "--count", script)
    local times = record(dir, "t.cprof", script)
    for _, words in ipairs {
      { "the second profile has mode count, and no times", times, counts },
      { "t.cprof is one of the profiles to be joined: name another file",
        counts, times, "-o", times },
      { "No such file", counts, dir:file "none" },
    } do
      local err = command.refused("join", table.unpack(words, 2))
      assert.matches("^cprof join: [^\n]*\n$", err)
      assert.has_text(words[1], err)
    end
    local other = record(dir, "o.cprof", "--exclude=/^a /", script)
    local _, err = command.cprof("join", counts, other)
    assert.matches("^note: one was recorded with exclude none", err)
  end)
end)

describe("cprof run --both", function()
  it("reads its standard input twice if that is a file", function(dir)
    local script = dir:file("x.lua", "print(#io.read 'a')")
    local input = command.quote(dir:file("in.txt", ("x"):rep(10000)))
    local run = command.here("run", "--both", "--quiet", "-o",
      dir:file "out.cprof", script)
    for line, wanted in pairs {
      ["%s <" .. input] = "10000\n10000\n",
      ["cat " .. input .. " | %s"] = "10000\n0\n",
      ["{ read -r _; %s; } <" .. input] = "0\n0\n" } do
      assert.equal(wanted, (command.bounded(line:format(run))))
    end
  end)

  it("leaves the user's files alone, and samples the second run only",
    function(dir)
      dir:file("o.cprof.counts", "mine")
      dir:file("o.cprof.times", "mine")
      local to = dir:file "o.cprof"
      for _, sample in ipairs { "--sample", "--sample=500" } do
        local _, err = command.must("run", "--both", "--quiet",
          sample, "-o" .. to, "-e",
          "for i = 1, 2e4 do string.rep('x', 3e3) end")
        assert.equal("", err)
        local p = assert(profiler.load(to))
        assert.is_true(helper.named(p, "string.rep").calls == 2e4)
        os.remove(to)
      end
      assert.equal("mine", command.read(dir:file "o.cprof.counts"))
      assert.equal("mine", command.read(dir:file "o.cprof.times"))
    end)

  it("runs the program twice and joins what it recorded", function(dir)
    local script = dir:file("x.lua", longer .. [[
      print(...)
      os.exit(7)]])
    local to = dir:file "both.cprof"
    local out, err, status = command.cprof("run", "--both", "--count", "-o",
      to, script, "x y", "--quiet")
    assert.equal("x y\t--quiet\nx y\t--quiet\n", out)
    assert.equal(7, status)
    assert.has_text("calls are from a run in mode count", err)
    local p = helper.check(assert(profiler.load(to)))
    assert.equal(301, sum(p, "leaf", "calls"))
    assert.is_true(sum(p, "leaf", "self_ns") > 0)
    assert.equal("both.cprof\nx.lua\n",
      (command.shell("ls " .. command.quote(dir.path))))
  end)

  it("says how its lines can be had", function(dir)
    local to = dir:file "both.cprof"
    local script = dir:file("x.lua", program)
    command.cprof("run", "--both", "--quiet", "-o", to, script)
    local _, err = command.cprof("annotate", to)
    assert.has_text("cprof run --both --lines\n", err)
    local out = command.cprof("show", to, "leaf")
    assert.has_text("cprof run --both --lines\n", out)
  end)

  it("has exact calls and sampled times, of small functions, too",
    function(dir)
      local script = dir:file("x.lua", [[
        local function tiny(x) return x + 1 end
        local function leaf(n) for i = 1, n do end end
        local s = 0
        for i = 1, 500000 do s = tiny(s) end
        for i = 1, 100 do leaf(400000) end]])
      local to = dir:file "both.cprof"
      -- of processor time: wherever others take the processor away
      local out, err = command.must("run", "--both", "--quiet",
        "--clock=cpu", "-o", to, script)
      assert.equal("", out .. err)
      local p = helper.check(assert(profiler.load(to)))
      local tiny = helper.named(p, "tiny")
      assert.equal(500000, tiny.calls)
      assert.equal(100, helper.named(p, "leaf").calls)
      assert.equal(tiny.self_ns, tiny.self_raw_ns)
      assert.is_true(p.time_samples > 0)
      -- in mode call alone, `tiny` would be charged with what its calls cost
      -- Lua
      assert.is_true(tiny.self_ns < 0.5 * p.program_ns)
      assert.is_true(helper.named(p, "leaf").self_ns > 0.2 * p.program_ns)
    end)

  it("fails as the program does", function(dir)
    local to = dir:file "both.cprof"
    local function both(...)
      return command.cprof("run", "--both", "--sample=10000", "-o", to, ...)
    end
    for _, words in ipairs {
      { 1, "cannot open", dir:file "none.lua" },
      { 1, "bad.lua:1: unexpected symbol near '='",
        dir:file("bad.lua", "local x = = 1") },
      { 1, "(command line):1: unexpected symbol near <eof>", "-e", "x(" },
      { 2, "module 'no.such.module' not found", "-m", "no.such.module" },
    } do
      local out, err, status = both(table.unpack(words, 3))
      assert.equal("", out)
      assert.equal(words[1], status)
      assert.has_text(words[2], err)
      assert.has_no_text("recorded nothing", err)
      assert.no_matches("cannot open[^\n]*\n.", err)
      assert.is_nil(io.open(to))
    end
    -- what it did until then is kept
    for _, case in ipairs { { 1, "error 'oops'" }, { 1, "error {}" },
      { 3, "os.exit(3)" }, { 255, "os.exit(255, true)" },
      { 0, "os.exit(true)" }, { 1, "os.exit(false)" } } do
      local _, err, status = both(dir:file("x.lua", longer .. case[2]))
      assert.equal(case[1], status, case[2])
      assert.matches("times from [%d,]+ sample", err)
      local p = assert(profiler.load(to))
      assert.equal(300, sum(p, "leaf", "calls"))
      os.remove(to)
    end
  end)

  it("does not go on with the second run after a signal", function(dir)
    local to = dir:file "both.cprof"
    local out, err, status = command.cprof("run", "--both", "-o", to,
      dir:file("x.lua", program .. [[
        io.write "run" io.stdout:flush()
        os.execute "kill -KILL $PPID"]]))
    assert.equal("run", out)
    assert.equal(137, status)
    assert.has_text("note: the first run was interrupted", err)
    assert.equal(300, sum(assert(profiler.load(to)), "leaf", "calls"))
  end)

  it("runs code, and is what was recorded last", function()
    local out, err, status = command.cprof("run", "--both", "-e",
      "local function f() end f() f() io.write(...)", "-x")
    assert.equal("-x-x", out)
    assert.equal(0, status, err)
    assert.has_text("\nNext: cprof show ", err)
    out = command.cprof "report"
    assert.has_text("calls are from a run", out)
  end)

  it("says what it cannot do", function()
    for _, words in ipairs {
      { "cannot be combined", "--trace", "-e", "x()" },
      { "cannot be combined", "--coverage", "-e", "x()" },
      { "cannot be combined", "--html", "-e", "x()" },
      { "name a script" },
    } do
      local err = command.refused("run", "--both", table.unpack(words, 2))
      assert.matches("^cprof run: [^\n]*" .. words[1], err)
    end
  end)
end)
