local _ENV = require("helper").env(_ENV)

local calltimes = require "cprof.profile.calls"
local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"
local profiler = require "cprof"
local steady = require "steady"

-- calls of all kinds
local function inner() return #("x"):rep(3) end
local function tail(n)
  if n > 0 then return tail(n - 1) end
  return inner()
end
local function recursive(n)
  if n > 0 then
    recursive(n - 1)
    recursive(n - 2)
  end
end
local function raises()
  local _ <close> = setmetatable({}, { __close = inner })
  error "x"
end
local function deep(n)
  if n == 0 then raises() end
  deep(n - 1)
end
local function yields()
  while true do
    inner()
    coroutine.yield()
    tail(3)
  end
end
local function dies()
  local _ <close> = profiler.zone "zone"
  inner()
  coroutine.yield()
  error "x"
end

local function all_kinds()
  local kept = coroutine.wrap(yields)
  for i = 1, 100 do
    recursive(5)
    tail(i % 5)
    kept()
    pcall(deep, 10)
    local co = coroutine.create(dies)
    for _ = 1, 3 do coroutine.resume(co) end
    table.sort({ 3, 2, 1 }, function(a, b) return a < b end)
    profiler.enter("entered", i % 2)
    inner()
    profiler.leave "entered"
    if i == 30 then
      profiler.pause()
      for _ = 1, 100 do inner() end
      profiler.resume()
    elseif i == 60 then
      debug.sethook(function() inner() end, "c")
      inner()
      debug.sethook()
    elseif i % 10 == 0 then
      profiler.frame()
    end
  end
end

-- the calls of each function
local function calls_of(p)
  local out = {}
  for _, f in ipairs(p.functions) do
    if f.calls > 0 then out[f.title] = f.calls end
  end
  return out
end

describe("the last calls of a recording", function()
  it("are all of them, if they fit", function(dir)
    local path = dir:file "x.cprof"
    for _, options in ipairs { {}, { distribution = true },
      { callsites = true }, { recursion = "fold" }, { c_functions = false },
      { exclude = { "/^tail/", "/^table/" } }, { clock = "cpu" },
      { slow_frames = { budget_ms = 1000 } }, { max_nodes = 30 } } do
      options.keep_last = 1000
      local p = helper.record(all_kinds, options)
      local q = assert(p:range(0))
      helper.check(q)
      assert.same(calls_of(p), calls_of(q))
      for _, key in ipairs { "wall_ns", "paused_ns", "preempted_ns" } do
        assert.is_true(math.abs(p.meta[key] - q.meta[key]) < 100, key)
      end
      assert(q:save(path))
      local loaded = assert(profiler.load(path))
      helper.check(loaded)
      assert.same(calls_of(p), calls_of(loaded))
      assert.is_true(math.abs(p.meta.wall_ns - loaded.meta.wall_ns) < 100)
    end
  end)

  it("are known also in recordings without Lua's structures", function()
    local code = [[
      local profiler = require "cprof"
      local function f() end
      profiler.start { keep_last = 10 }
      for _ = 1, 1000 do f() end
      profiler.stop()
      local q = profiler.snapshot():range(0)
      for _, row in ipairs(q.functions) do
        if row.name == "f" then print(row.calls) end
      end]]
    local out, err, status = command.shell("CPROF_INTERNALS=0 " ..
      "$SPEC_LUA -e " .. command.quote(code))
    assert.same({ "1000\n", "", 0 }, { out, err, status })
  end)

  -- a stall of 200 ms within 700 ms, and calls of both before and after
  local program <const> = [[
    local function usual() for _ = 1, 100 do pass(1000) end end
    local function stall(ms) pass(ms * 1000) end
    local function handle(ms) stall(ms) pass(1000) end
    usual() handle(1) usual()
    handle(200)
    usual() ]]

  it("are in a file when they are asked for, with the reason", function(dir)
    local path = dir:file "x.cprof"
    steady.run(program .. ("require 'cprof'.dump_recent(%q, 'a stall')")
      :format(path), "keep_last = 0.2", "")
    local p = assert(profiler.load(path))
    helper.check(p)
    assert.same({ "call", 200e6, "0.303s to 0.503s of 0.503s", "a stall" },
      { p.meta.mode, p.meta.wall_ns, p.meta.range, p.meta.reason })
    local function figures(q, name)
      local f = helper.named(q, name)
      return { f.calls, f.total_ns // 1e6, f.self_ns // 1e6 }
    end
    assert.same({ 0, 99, 99 }, figures(p, "stall"))
    assert.same({ 0, 100, 1 }, figures(p, "handle"))
    assert.same({ 1, 100, 100 }, figures(p, "usual"))
    local part = assert(p:range(0.05, 0.15))
    assert.same({ 0, 49, 49 }, figures(part, "stall"))
    assert.same({ 1, 50, 50 }, figures(part, "usual"))
    local note = "count from the beginning of this range"
    assert.has_text(note, p:report())
    assert.has_no_text(note, part:report())
    -- all of the recording: times count from its beginning anyway
    steady.run(program .. ("require 'cprof'.dump_recent(%q)"):format(path),
      "keep_last = 10", "")
    p = assert(profiler.load(path))
    assert.equal("0.000s to 0.503s of 0.503s", p.meta.range)
    assert.has_no_text(note, p:report())
    local _, why = command.cprof("frames", path)
    assert.equal(("cprof frames: the profile is of a range of time, and " ..
      "has no list of frames; cprof heatmap %s shows when the program was " ..
      "busy or stalled\n"):format(path), why)
  end)

  it("have their slowest calls listed", function(dir)
    local path = dir:file "x.cprof"
    steady.run(([[
      local function read(ms) pass(ms * 1000) end
      local function handle(ms) pass(1000) read(ms) end
      local function often() pass(1000) end
      local function first()
        handle(1) handle(50)
        for _ = 1, 20 do handle(1) end
      end
      local co = coroutine.wrap(function()
        while true do pass(1000) coroutine.yield() end
      end)
      first() co() handle(40) pass(1000) co() often() often()
      handle(400) require 'cprof'.dump_recent(%q)]]):format(path),
      "keep_last = 0.53, exclude = { '/^coroutine/' }", "")
    local out = command.cprof("slow", path)
    assert.equal(table.concat({
      "note: functions that yield are left out: it is not known which of " ..
        "their calls goes on when a\n  coroutine is resumed", "",
      "   took     CPU  median  ended at  function  called by",
      "  400ms   400ms  1.00ms     530ms  read      game.lua → handle",
      ">43.0ms  43.0ms  1.00ms    43.0ms  read      game.lua → first → handle",
      " 40.0ms  40.0ms  1.00ms     125ms  read      game.lua → handle",
      "" }, "\n"), (out:gsub("%[string.-%] → ", "")))
  end)

  it("have the slowest calls of all functions if none yields", function()
    local function work() return #("x"):rep(100) end
    local function main() for _ = 1, 40000 do work() end end
    local function known(p)
      local durations, suspended = calltimes.durations(p)
      assert.is_false(suspended)
      return durations[helper.find(p, work).title].calls
    end
    -- more than the ring holds: it has begun within calls
    local p = helper.record(main, { keep_last = "128KB" })
    local n = known(p)
    assert.is_true(n > 0 and n < 40000, n)
    if not core.drives() then return end
    -- steps of the collector begin without a call
    p = helper.record(function()
      for _ = 1, 3 do work(collectgarbage()) end
    end, { keep_last = 10, gc = true })
    assert.equal(3, known(p))
  end)

  it("are not known of a range of a recording in the whole", function(dir)
    local path = dir:file "x.cprof"
    local p = steady.record "pass(1000) require 'cprof'.frame() pass(1000)"
    assert(assert(p:range(0, 0.001)):save(path))
    assert.equal("cprof slow: the profile is of a range of time, and has no " ..
      "durations of calls\n", command.refused("slow", path))
    assert.equal("cprof frames: the profile is of a range of time, and has " ..
      "no list of frames\n", command.refused("frames", path))
  end)

  it("say where to look if they are samples", function(dir)
    local path = dir:file "x.cprof"
    profiler.start { mode = "sample", keep_last = 10 }
    all_kinds()
    assert(profiler.dump_recent(path))
    profiler.stop()
    assert.equal(("cprof slow: samples do not tell calls apart; cprof " ..
      "heatmap %s shows when the program was busy or stalled\n"):format(path),
      command.refused("slow", path))
    command.must("heatmap", path)
  end)

  -- the events of a profile's trace: B or E, function, µs
  local function events(p)
    local out, pieces = {}, {}
    assert(p:export("chrome", function(s) pieces[#pieces + 1] = s end))
    for name, phase, at in table.concat(pieces):gmatch(
        '{"name":"([^" ]+)[^"]*","ph":"([BE])","ts":(%d+)%.%d+,') do
      out[#out + 1] = ("%s %s %d"):format(phase, name, at)
    end
    return out
  end

  it("are a trace, in the order of time", function()
    local p = steady.record([[
      local function a() pass(10) end
      local function b() pass(5) a() return a() end
      local co = coroutine.wrap(function()
        pass(1)
        coroutine.yield()
        pass(2)
      end)
      b()
      co()
      pass(3)
      pcall(function() pass(4) error "x" end)
      co()
    ]], "keep_last = 10, exclude = { '/^coroutine/', '/^error/' }")
    local function without(list)
      local out = {}
      for _, event in ipairs(list) do
        if not event:find " game%.lua " and not event:find "pcall" then
          out[#out + 1] = event:gsub("<fn:(%d+)>", "%1")
        end
      end
      return out
    end
    assert.same({ "B b 0", "B a 5", "E a 15", "E b 15", "B a 15", "E a 25",
      "B 3 25", "E 3 26", "B 11 29", "E 11 33", "B 3 33", "E 3 35" },
      without(events(p)))
    local q = assert(p:range(10e-6, 30e-6))
    assert.same({ "B b 10", "B a 10", "E a 15", "E b 15", "B a 15", "E a 25",
      "B 3 25", "E 3 26", "B 11 29", "E 11 30" }, without(events(q)))
  end)

  it("are a trace on the page", function()
    local traced = require "cprof.html.traced"
    local p = steady.record("local function f() pass(7) end f() f()",
      "keep_last = 10")
    local trace = assert(traced.recorded(p))
    assert.same({ 2, 0 }, { trace.calls - 2, trace.open })
    local thread = trace.threads[1]
    assert.same({ 3, 3 }, { thread.depth[3], thread.depth[4] })
    assert.same({ 0, 7000, 7000, 7000 }, { thread.start[3], thread.ns[3],
      thread.start[4], thread.ns[4] })
    assert.is_nil(traced.recorded(steady.record("pass(1)", "")))
  end)

  it("are shown by all commands", function(dir)
    local path = dir:file "x.cprof"
    steady.run(program .. ("require 'cprof'.dump_recent(%q, 'a stall')")
      :format(path), "keep_last = 0.2", "")
    for _, words in ipairs { { "report" }, { "tree" }, { "flame" },
      { "callgraph" }, { "show", "stall" }, { "heatmap" },
      { "report", "--from", "0.1s", "--to", "0.2s" },
      { "html", "-o", dir:file "x.html" },
      { "diff", path }, { "diff", "--range", "0s..0.1s", "--against",
        "0.1s..0.2s" }, { "merge", "-o", dir:file "y.cprof", path },
      { "export", "--format=firefox", "-o", dir:file "x.json" },
      { "export", "--format=folded", "-o", dir:file "x.folded" } } do
      local line = table.move(words, 1, #words, 1, {})
      table.insert(line, words[1] == "show" and 2 or #line + 1, path)
      command.must(table.unpack(line))
    end
  end)

  it("are forgotten when they are older", function()
    local p = steady.record([[
      local function f() pass(1) end
      for _ = 1, 100000 do f() end]], "keep_last = 0.01")
    local kept = p.meta.wall_ns - p.meta.axis_begins_ns
    -- what is kept comes in whole blocks of about 8000 events, two for a call
    assert.is_true(kept >= 10e6 and kept < 20e6, kept)
    assert.matches("note: ranges of time begin at 8%d%.%dms: the times of " ..
      "earlier calls were dropped", p:report())
    local q = assert(p:range(0.09))
    local f = helper.named(q, "f")
    assert.same({ 10000, 10e6 }, { f.calls, f.total_ns })
  end)

  it("are those that fit into a size", function()
    -- in a block of 64 KB: calls of f and pass, and what follows them
    local calls <const> = 8190 // 6
    for size, blocks in pairs { ["128KB"] = 2, ["1MB"] = 16,
      ["0.25 MB"] = 4 } do
      local p = steady.record([[
        local cprof = require "cprof"
        local function f() pass(1) end
        for _ = 1, 1000 do f() end
        cprof.reset()
        for _ = 1, 100000 do f() end]], ("keep_last = %q"):format(size))
      local kept = p.meta.wall_ns - p.meta.axis_begins_ns
      assert.is_true(kept > (blocks - 1) * calls * 1e3, kept)
      assert.is_true(kept <= blocks * calls * 1e3 + 1e3, kept)
    end
  end)

  it("are all of them, written on request, if a size has room", function(dir)
    local path = dir:file "x.cprof"
    steady.run(([[
      local function f() pass(1) end
      for _ = 1, 1000 do f() end
      require "cprof".dump_recent(%q)]]):format(path), 'keep_last = "1MB"', "")
    local p = assert(profiler.load(path))
    helper.check(p)
    local f = helper.named(p, "f")
    assert.same({ 1000, 1e6, 1e6 }, { f.calls, f.total_ns, p.meta.wall_ns })
  end)

  it("are the last ones also if the clock was set back", function()
    local p = steady.record([[
      local function f() pass(1) end
      for _ = 1, 30000 do f() end
      pass(-20000)
      for _ = 1, 30000 do f() end]], "keep_last = 0.01")
    local kept = p.meta.wall_ns - p.meta.axis_begins_ns
    assert.is_true(kept >= 10e6 and kept < 20e6, kept)
  end)

  it("go on after a reset and after pauses of hours", function()
    local p = steady.record([[
      local cprof = require "cprof"
      local function f() pass(10) end
      f()
      cprof.reset()
      f()
      cprof.pause()
      pass(3600e6)
      cprof.resume()
      f()]], "keep_last = 10000")
    local q = assert(p:range(0))
    helper.check(q)
    local f = helper.named(q, "f")
    assert.same({ 2, 20000, 3600e9 }, { f.calls, f.total_ns,
      q.meta.paused_ns })
  end)
end)

-- The profiles that were written into a folder, in order. Their numbers go on
-- from those of other recordings.
local function written(dir)
  local numbers = {}
  for _, name in ipairs(core.filenames(dir:file "")) do
    numbers[#numbers + 1] = tonumber(name:match "^s%-(%d+)%.cprof$")
  end
  table.sort(numbers)
  for i, n in ipairs(numbers) do
    numbers[i] = assert(profiler.load(dir:file(("s-%d.cprof"):format(n))))
    helper.check(numbers[i])
  end
  return numbers
end

-- the reasons of the files that a program has written; numbers of files go on
local function reasons(code, options)
  local dir <close> = command.folder()
  steady.run(code, ("keep_last = 10, file = %q, %s"):format(
    dir:file "s-%n.cprof", options), "")
  local out = {}
  for i, p in ipairs(written(dir)) do out[i] = p.meta.reason end
  return out
end

describe("the last calls are written", function()
  it("when a function takes longer than its budget", function()
    assert.same({ "Server.handle (game.lua:2) took 201ms, over its budget " ..
      "of 200ms" }, reasons([[
      _G.Server = {}
      function Server:handle(ms) pass(ms * 1000) end
      local function other() Server:handle(100) Server:handle(150) end
      Server:handle(200) other() Server:handle(201) Server:handle(300)]],
      "on_slow = { ['Server.handle'] = 0.2, missing = 0.001 }"))
  end)

  it("with how long others had the processor meanwhile", function()
    local recent = require "cprof.recording.recent"
    local slow_calls, write = core.slow_calls, recent.write
    local _ <close> = setmetatable({}, { __close = function()
      core.slow_calls, recent.write = slow_calls, write
    end })
    local out, preempted = {}, 0
    function recent.write(_, _, _, reason) out[#out + 1] = reason end
    local function calls(ns)
      preempted = ns
      local budgets = setmetatable({ other = 0.1 },
        { __index = function() return 0.1 end })
      local given, kept = {}, { budgets = budgets, every = 0, failed = true,
        snapshot = function() end }
      recent.prepare(kept, given, "")
      given.elapsed()
    end
    function core.slow_calls()
      local raw = { source = "@x.lua", kind = "Lua", line = 1, last_line = 2,
        key = 0 }
      return { raw, 139000000, 2000000000, preempted }
    end
    calls(1580000000)
    calls(1000000)
    assert.has_text("took 139ms, over its budget of 100ms, not counting " ..
      "1.58s in which other programs had the processor", out[1])
    assert.matches("over its budget of 100ms$", out[2])
  end)

  it("for each slow call of a function that is often slow", function()
    local list = reasons([[
      local function f(ms) pass(ms * 1000) end
      for i = 1, 20 do f(1000 - i) f(10) end]],
      "dump_every = 0, on_slow = { f = 0.5 }")
    assert.equal(20, #list)
    assert.equal("f (game.lua:1) took 980ms, over its budget of 500ms",
      list[20])
  end)

  it("when a zone, or a function that fails, was slow", function()
    assert.same({ "zone(7) took 11.0ms, over its budget of 10.0ms",
      "f (game.lua:1) took 12.0ms, over its budget of 10.0ms",
      "entered took 13.0ms, over its budget of 10.0ms" }, reasons([[
      function _G.f() pass(12000) error "x" end
      local cprof = require "cprof"
      do local z <close> = cprof.zone("zone", 7) pass(11000) end
      pcall(f)
      cprof.enter "entered" pass(13000) cprof.leave "entered" ]],
      "dump_every = 0, on_slow = { zone = 0.01, f = 0.01, entered = 0.01 }"))
  end)

  it("without the time that a coroutine was suspended", function()
    assert.same({ "body (game.lua:1) took 12.0ms, over its budget of 10.0ms" },
      reasons([[
      function _G.body(ms)
        pass(ms) coroutine.yield() pass(ms)
      end
      for _, ms in ipairs { 3000, 6000 } do
        local co = coroutine.wrap(body)
        co(ms) pass(50000) co()
      end]], "dump_every = 0, on_slow = { body = 0.01 }"))
  end)

  it("when a frame takes longer than its budget", function()
    assert.same({ "a frame took 17.0ms, over its budget of 16.5ms",
      "a frame of draw took 30.0ms, over its budget of 20.0ms" }, reasons([[
      local frame = require "cprof".frame
      pass(100000) frame()
      for _ = 1, 3 do pass(16000) frame() end
      pass(17000) frame()
      frame "draw" pass(19000) frame "draw" pass(30000) frame "draw" ]],
      "dump_every = 0, slow_frames = { budget_ms = 16.5 }, " ..
      "on_slow = { draw = 0.02 }"))
  end)

  it("at most once in so many seconds, and are no part of the recording",
    function(dir)
      local wall = steady.run([[
        local function f(ms) pass(ms * 1000) end
        f(100) f(100) pass(400000) f(101) ]],
        ("keep_last = 1, dump_every = 0.6, on_slow = { f = 0.05 }, file = %q")
          :format(dir:file "s-%n.cprof"), "return p.meta.wall_ns")
      assert.equal("701000000", wall)
      local files = written(dir)
      assert.same({ "0.000s to 0.100s of 0.100s",
          "0.000s to 0.701s of 0.701s" },
        { files[1].meta.range, files[2].meta.range })
    end)

  it("without functions of cprof's own", function(dir)
    local out = helper.run([[
      local profiler = require "cprof"
      local function f(n) for _ = 1, n do math.abs(1) end end
      profiler.start { keep_last = 10, dump_every = 0, file = arg[1],
        on_slow = { f = 1e-6 } }
      for _ = 1, 3 do f(10000) end
      profiler.stop()
      for _, row in ipairs(profiler.snapshot().functions) do
        if row.source:find "cprof[/\\]" then print(row.title) end
      end]], dir:file "s-%n.cprof")
    assert.equal("", out)
    -- a busy machine may have had the processor during a whole call: so there
    -- may be fewer files than calls, but there is one
    assert.is_true(#written(dir) > 0)
  end)

  it("when an error reaches a host's handler, which gets it unchanged",
    function(dir)
      local pattern = dir:file "s-%n.cprof"
      local function fail(with) error(with, 0) end
      local handler = profiler.dump_on_error()
      local traced = profiler.dump_on_error(function(m) return { m } end)
      assert.same({ false, "none" }, { xpcall(fail, handler, "none") })
      profiler.start { keep_last = 10, file = pattern, dump_every = 0 }
      local object = {}
      local all = { { xpcall(fail, handler, "one\nand more") },
        { xpcall(fail, traced, "two") }, { xpcall(fail, handler, object) } }
      profiler.stop()
      assert.same({ false, "three" }, { xpcall(fail, handler, "three") })
      assert.same({ { false, "one\nand more" }, { false, { "two" } },
        { false, {} } }, all)
      assert.equal(object, all[3][2])
      local files = written(dir)
      assert.same({ "error: one", "error: two",
        "error: (error object is a table value)" }, { files[1].meta.reason,
        files[2].meta.reason, files[3].meta.reason })
      assert.is_nil(files[4])
    end)

  it("with the text that lua prints of an error that is no string",
    function(dir)
      profiler.start { keep_last = 10, file = dir:file "s-%n.cprof",
        dump_every = 0 }
      local handler = profiler.dump_on_error()
      local function says(f) return setmetatable({}, { __tostring = f }) end
      local calls = 0
      for _, object in ipairs { says(function()
        calls = calls + 1
        return "database\nis down"
      end), says(error), says(function() return {} end), 42, true } do
        assert.same({ false, object }, { xpcall(error, handler, object) })
      end
      xpcall(error, handler, nil)
      profiler.stop()
      local reasons_of = {}
      for i, p in ipairs(written(dir)) do reasons_of[i] = p.meta.reason end
      assert.same({ "error: database", "error: (error object is a table value)",
        "error: (error object is a table value)", "error: 42",
        "error: (error object is a boolean value)",
        "error: (error object is a nil value)" }, reasons_of)
      assert.equal(1, calls)
    end)

  it("of errors that are no strings, whatever the program's strings can do, " ..
    "and without calls that no file needs", function(dir)
      local strings <const> = getmetatable ""
      local index <const> = strings.__index
      local handler = profiler.dump_on_error()
      local calls = 0
      local object = setmetatable({}, { __tostring = function()
        calls = calls + 1
        return "busy"
      end })
      profiler.start { keep_last = 10, file = dir:file "s-%n.cprof" }
      strings.__index = nil
      local first = { xpcall(error, handler, false) }
      local second = { xpcall(error, handler, object) }
      strings.__index = index
      profiler.stop()
      assert.same({ false, false }, first)
      assert.same({ false, object }, second)
      local files = written(dir)
      assert.same({ 1, "error: (error object is a boolean value)", 0 },
        { #files, files[1].meta.reason, calls })
    end)

  it("when an error reaches a host in C", function(dir)
    local S = host.state()
    S:run(("require 'cprof'.start { keep_last = 10, file = %q }"):format(
      dir:file "s-%n.cprof"))
    assert.equal(0, S:file("local s = 'fine'", "failed"))
    assert.same({ 2, "no" }, { S:file("error('no', 0)", "failed") })
    S:run "require 'cprof'.stop()"
    assert.same({ 2, "no" }, { S:file("error('no', 0)", "failed") })
    S:close()
    local files = written(dir)
    assert.same({ 1, "error: no" }, { #files, files[1].meta.reason })
  end)

  it("unless the handler is no function", function()
    local ok, why = pcall(profiler.dump_on_error, 3)
    assert.same({ false, "dump_on_error: the handler must be a function, " ..
      "got a number" }, { ok, (why:gsub("^.-:%d+: ", "")) })
  end)
end)

describe("keeping the last calls", function()
  it("ends by itself where memory fails, or does with less", function()
    local code = [[
      local profiler = require "cprof"
      local function f() end
      profiler.start { keep_last = 10, compensate = false }
      f()
      arm()
      for _ = 1, 20000 do f() end
      disarm()
      profiler.stop()
      local calls
      for _, row in ipairs(profiler.snapshot().functions) do
        if row.name == "f" then calls = row.calls end
      end
      return tostring(calls)]]
    local result, status = host.memory(code, "both", 0)
    assert.same({ "20001", 0 }, { result, status })
  end)

  it("cannot be combined with some options", function()
    local function fails(message, options)
      local ok, why = pcall(profiler.start, options)
      assert.same({ false, "start: " .. message },
        { ok, (why:gsub("^.-:%d+: ", "")) })
    end
    for _, mode in ipairs { "line", "count" } do
      fails("option 'keep_last' needs mode = \"call\", \"trace\" or " ..
        '"sample"', { mode = mode, keep_last = 10 })
    end
    fails("options 'keep_last' and 'trace' cannot be combined: the files " ..
      "with the last seconds have the trace",
      { mode = "trace", keep_last = 10, trace = "x.json" })
    fails("option 'on_slow' needs option 'keep_last'",
      { on_slow = { x = 1 } })
    fails("option 'on_slow' needs option 'file', to name the files",
      { keep_last = 1, on_slow = { x = 1 } })
  end)

  it("is mode call where mode trace is asked for", function()
    profiler.start { mode = "trace", keep_last = 10 }
    profiler.stop()
    assert.equal("call", profiler.snapshot().meta.mode)
  end)

  it("of cprof run ends with a file, whatever ends the program", function(dir)
    local script = dir:file("x.lua", [[
      local function work(n) local s = 0 for i = 1, n do s = s + i end end
      work(1000000)
      error "no"]])
    local _, err, status = command.cprof("run", "--keep-last=1000",
      "--on-slow=work=1us", "-o", dir:file "s-%n.cprof", script)
    assert.equal(1, status)
    assert.has_text("reason: the program ended\n", err)
    local files = written(dir)
    assert.same({ "work (" .. script .. ":1)", "the program ended", 2 },
      { files[1].meta.reason:match "^(.-) took", files[2].meta.reason,
        #files })
    assert.equal("call", files[1].meta.mode)
    for _, word in ipairs { "60s", "1m", "16MB" } do
      local path = dir:file(word .. ".cprof")
      command.cprof("run", "--keep-last", word, "--quiet", "-o", path, script)
      local all = assert(profiler.load(path))
      assert.same({ "the program ended", 1 }, { all.meta.reason,
        helper.named(all, "work").calls })
    end
    local _, wrong = command.cprof("run", "--keep-last=9kb", script)
    assert.equal("cprof run: option '--keep-last' must be a number of " ..
      "seconds from 0.01 to 100000, or a size from \"128KB\" to \"256MB\", " ..
      "got '9kb'; see cprof run --help\n", wrong)
    local _, other = command.cprof("run", "--lines", "--keep-last=3", script)
    assert.equal("cprof run: --keep-last cannot be combined with --lines\n",
      other)
  end)

  it("are in memory if there is no room for a file of cprof's own",
    function(dir)
      local script = dir:file("x.lua", "local function f() end f() print 'ran'")
      -- a file already has the name that cprof would give to its own
      local out, err, status = command.shell(("XDG_RUNTIME_DIR=%s sh -c " ..
        "'mkdir -m 700 %s; echo no >%s/$$.cprof; exec $SPEC_LUA " ..
        "lua/cprof/bin/cprof run --quiet --keep-last=3 -o %s %s'"):format(
        dir.path, dir:file "cprof", dir:file "cprof", dir:file "s-%n.cprof",
        script))
      assert.same({ "ran\n", "", 0 }, { out, err, status })
      local p = assert(profiler.load(dir:file "s-1.cprof"))
      assert.same({ "the program ended", 1 }, { p.meta.reason,
        helper.named(p, "f").calls })
    end)
end)

describe("the last calls of a program that a signal ends", function()
  local code <const> = [[
    local cprof = require "cprof"
    local function early() end
    local function late() end
    for _ = 1, 1000 do early() end
    cprof.dump_recent(arg[2], "asked for")
    for _ = 1, 30 do late() end
    os.execute("kill -" .. arg[1] .. " $PPID")
    while true do late() end]]

  -- runs the program; returns the exit status, and standard error
  local function run(dir, signal, ...)
    local words = { "run", "--keep-last=1000", ... }
    words[#words + 1] = dir:file("x.lua", code)
    words[#words + 1] = signal
    words[#words + 1] = dir:file "asked.cprof"
    local _, err, status = command.cprof(table.unpack(words))
    return status, err
  end

  local function check(path, reason)
    local p = assert(profiler.load(path))
    helper.check(p)
    local late = helper.named(p, "late").calls
    assert.same({ 1000, true, reason }, { helper.named(p, "early").calls,
      late >= 30, p.meta.reason })
    local q = assert(p:range(0))
    assert.equal(late, helper.named(q, "late").calls)
    assert.is_nil(p.meta.live)
  end

  local by_signal <const> = "a signal ended the program"

  it("are written and reported", function(dir)
    for signal, number in pairs { TERM = 15, HUP = 1 } do
      local path = dir:file(signal .. ".cprof")
      local status, err = run(dir, signal, "-o", path)
      assert.equal(128 + number, status)
      assert.has_text("\nreason: a signal ended the program\n", err)
      check(path, by_signal)
    end
  end)

  it("are written beside earlier files", function(dir)
    local old = dir:file("s-1.cprof", "")
    run(dir, "TERM", "-o", old)
    local before = command.read(old)
    run(dir, "TERM", "-o", dir:file "s-%n.cprof")
    assert.equal(before, command.read(old))
    check(dir:file "s-2.cprof", by_signal)
    assert.is_nil(io.open(dir:file "s-3.cprof"))
  end)

  it("are exported", function(dir)
    run(dir, "TERM", "--format=perfetto", "-o", dir:file "x.perfetto")
    assert.equal("\n", command.read(dir:file "x.perfetto"):sub(1, 1))
  end)

  it("are what commands read without a file", function(dir)
    run(dir, "TERM")
    local out = command.cprof("report")
    assert.has_text("reason: a signal ended the program", out)
  end)

  it("are in the file if the signal cannot be caught", function(dir)
    local path = dir:file "x.cprof"
    assert.equal(137, (run(dir, "KILL", "-o", path)))
    check(path, nil)
    assert.equal("the program ended without stopping it",
      profiler.load(path).meta.ended)
  end)

  it("may be damaged without harm", function(dir)
    local path = dir:file "x.cprof"
    run(dir, "KILL", "-o", path)
    local whole = command.read(path)
    for i = 1, helper.many(100) do
      local at = 4097 + (i * 7919 * 64 + i) % (#whole - 4096)
      local bytes = ("\xff\xfe\7\0\x80"):sub(i % 5 + 1):rep(i % 9 + 1)
      local file <close> = assert(io.open(path, "wb"))
      file:write(whole:sub(1, at - 1), bytes, whole:sub(at + #bytes))
      file:close()
      local p = profiler.load(path)
      local q = p and p:range(0)
      if q then assert(q:export("chrome", function() end)) end
    end
  end)
end)

describe("the option live_file", function()
  it("needs keep_last", function()
    local why = helper.failure(profiler.start, { live_file = "x.cprof" })
    assert.has_text("start: option 'live_file' needs option 'keep_last'; " ..
      "without that, option 'file' records into a file", why)
  end)

  it("has a file for each child of a fork, if its name has %p", function(dir)
    local out = helper.run([[
      local profiler, host = require "cprof", require "spec_host"
      local function f() end
      profiler.start { keep_last = 1000, live_file = arg[1] }
      for _ = 1, 100 do f() end
      local child, process = host.fork()
      for _ = 1, 10 do f() end
      if child then
        for _ = 1, 20000 do f() end
        os.exit(0, true)
      end
      host.wait()
      profiler.stop()
      local pid = profiler.snapshot().meta.pid
      for _, id in ipairs { pid, process } do
        local p = profiler.load((arg[1]:gsub("%%p", id)))
        for _, row in ipairs(p:range(0).functions) do
          if row.name == "f" then print(row.calls) end
        end
      end]], dir:file "x-%p.cprof")
    assert.equal("110\n20010\n", out)
  end)

  it("shows all calls while the only block is full", function(dir)
    local reads = dir:file("reads.lua", [[
      local p = assert(require "cprof".load(arg[1]))
      for _, row in ipairs(assert(p:range(0)).functions) do
        if row.name == "f" then print(row.calls) end
      end]])
    local out = helper.run([[
      local profiler, blocks = require "cprof", require "blocks"
      local function f() end
      profiler.start { keep_last = 1000, live_file = arg[1] }
      for _ = 1, 100 do f() end
      local file = io.open(arg[1], "r+b")
      local s = file:read "a"
      local events = blocks.find(s, blocks.ring) + 8
      local used = (s:find(("\xff"):rep(8), events, true) - events + 7) // 8
      -- the events that are still missing take no time, in the root
      file:seek("set", events - 1 + used * 8)
      file:write((("I8"):pack(2 << 32)):rep(8190 - used))
      file:close()
      os.execute(arg[2] .. " " .. arg[3] .. " " .. arg[1])
      os.exit(0, false)]], dir:file "x.cprof", os.getenv "SPEC_LUA", reads)
    assert.equal("100\n", out)
  end)

  it("records on if the file cannot grow: fewer calls are kept", function(dir)
    local live, script = dir:file "live.cprof", dir:file("x.lua", [[
      local profiler = require "cprof"
      local function early() end
      local function late() end
      profiler.start { keep_last = 1000, live_file = arg[1] }
      for _ = 1, 200000 do early() end
      profiler.snapshot()
      for _ = 1, 100 do late() end
      profiler.stop()
      print(profiler.snapshot().meta.ended)]])
    local out, err = command.shell(("ulimit -f 2400; $SPEC_LUA %s %s"):format(
      script, live))
    assert.same({ "nil\n", "" }, { out, err })
    local p = assert(profiler.load(live))
    helper.check(p)
    assert.is_nil(p.meta.ended)
    local q = assert(p:range(p.meta.axis_begins_ns / 1e9))
    assert.equal(100, helper.named(q, "late").calls)
    local early = helper.named(q, "early").calls
    assert.is_true(early > 10000 and early < 200000, early)
  end)

  it("goes on if the file cannot grow, and records as many functions again",
    function(dir)
      local live, script = dir:file "live.cprof", dir:file("x.lua", [[
        local profiler = require "cprof"
        local function calls(from, to)
          for i = from, to do
            load(("local function f%d() end f%d()"):format(i, i))()
          end
        end
        profiler.start { keep_last = 1000, live_file = arg[1] }
        calls(1, 500)
        for _ = 1, 200000 do calls(1, 0) end
        calls(501, 1000)
        profiler.stop()
        print(profiler.snapshot().meta.ended)]])
      local out, err = command.shell(("ulimit -f 3600; $SPEC_LUA %s %s")
        :format(script, live))
      assert.same({ "nil\n", "" }, { out, err })
      local p = assert(profiler.load(live))
      assert.is_nil(p.meta.ended)
      for _, i in ipairs { 1, 500, 501, 1000 } do
        assert.equal(1, helper.named(p, "f" .. i).calls)
      end
      assert.is_true(p.meta.axis_begins_ns > 0)
    end)

  it("records into the file, and dump_recent into others", function(dir)
    local live, other = dir:file "live.cprof", dir:file "d-%n.cprof"
    local function f() end
    profiler.start { keep_last = 1000, live_file = live, file = other }
    for _ = 1, 100 do f() end
    local to = assert(profiler.dump_recent(nil, "asked for"))
    profiler.reset()
    for _ = 1, 7 do f() end
    local now = assert(profiler.load(live))
    profiler.stop()
    local calls = {}
    for i, p in ipairs { profiler.load(to), now, profiler.load(live),
      profiler.snapshot() } do
      helper.check(p)
      calls[i] = helper.find(assert(p:range(0)), f).calls
    end
    assert.same({ 100, 7, 7, 7 }, calls)
  end)
end)
