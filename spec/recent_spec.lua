-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"
local profiler = require "cprof"

-- n samples, a millisecond each
local function spin(n)
  for _ = 1, n do local _ = {} end
end

local function usual() spin(500) end
local function stall() spin(200) end

-- Calls `f` while the last 300 ms are kept, from a moment on at which all
-- functions are known.
local function keeping(f, options)
  options = options or {}
  options.keep_last = 0.3
  driven.start(options)
  usual()
  stall()
  profiler.reset()
  local ok, why = pcall(f)
  local p = driven.stop()
  if not ok then error(why, 0) end
  return p
end

-- the samples, and the ms, of a function with its callees
local function of(p, f)
  local row = helper.find(p, f)
  return row and { row.total_samples, row.total_ns / 1e6 }
end

-- Not in Lua 5.5, where lua_dump makes a table: time goes by in the profiler
-- whenever a function becomes known, so figures are not round.
local exactly = _VERSION == "Lua 5.4" and it or function() end

-- a stall of 200 ms within 700 ms, the last 300 of them in the file
local function stalled(path, reason)
  local to, why
  local dump = profiler.dump_recent
  local all = keeping(function()
    usual()
    stall()
    to, why = dump(path, reason)
  end)
  return to, why, all
end

describe("the last seconds of a recording", function()
  exactly("are in a file when they are asked for, with the reason", function()
    local dir <close> = command.folder()
    local path = dir:file "stall.cprof"
    local to, _, all = stalled(path, "a stall\27[0m")
    assert.equal(path, to)
    local p = helper.check(assert(profiler.load(path)))
    assert.same({ 300, 300e6, 300e6 }, { p.samples, p.meta.wall_ns,
      p.program_ns })
    assert.same({ 200, 200 }, of(p, stall))
    assert.same({ 100, 100 }, of(p, usual))
    assert.same({ "a stall\27[0m", "0.400s to 0.700s of 0.700s" },
      { p.meta.reason, p.meta.range })
    assert.has_text("\nreason: a stall\\27[0m\n", p:report())
    assert.equal(all.meta.started_at, p.meta.started_at)
    -- recording goes on, and does not include the time of the dump
    assert.same({ 700, 700e6 }, { all.samples, all.program_ns })
  end)

  exactly("have a time axis, and can be divided and written again", function()
    local dir <close> = command.folder()
    local p = assert(profiler.load(assert(stalled(dir:file "x.cprof"))))
    local function check(q)
      local part = helper.check(assert(q:range(0.05, 0.25)))
      assert.same({ 200, 200e6 }, { part.samples, part.program_ns })
      assert.same({ 150, 150 }, of(part, stall))
      assert.same({ 50, 50 }, of(part, usual))
      local line = helper.find(q, spin).line + 1
      local source = helper.find(q, spin).source
      assert.equal(200e6, part.lines[source][line].self_ns)
    end
    check(p)
    assert.is_nil(p.meta.reason)
    assert(p:save(dir:file "y.cprof"))
    check(assert(profiler.load(dir:file "y.cprof")))
  end)

  exactly("begin within a wait", function()
    local dir <close> = command.folder()
    local path, dump = dir:file "wait.cprof", profiler.dump_recent
    local all = keeping(function()
      spin(100)
      driven.wait(250)
      spin(150)
      dump(path)
    end)
    local p = helper.check(assert(profiler.load(path)))
    local function figures(q)
      local waited = helper.named(q, "driven.wait")
      return { q.samples, q.program_ns, waited.total_samples,
        waited.total_ns, of(q, spin) }
    end
    -- samples of the wait are counted where they end
    assert.same({ 301, 300e6, 151, 150e6, { 150, 150 } }, figures(p))
    assert.same(figures(p), figures(all:range(0.2)))
    assert.same(figures(all:range(0.3, 0.4)), figures(p:range(0.1, 0.2)))
  end)

  it("are shown by all commands", function(dir)
    local path = assert(stalled(dir:file "x.cprof", "a stall"))
    for _, words in ipairs { { "report" }, { "tree" }, { "flame" },
      { "callgraph" }, { "show", "spin" }, { "heatmap" }, { "annotate" },
      { "report", "--from", "0.1s", "--to", "0.2s" },
      { "html", "-o", dir:file "x.html" },
      { "diff", path }, { "diff", "--range", "0s..0.1s", "--against",
        "0.1s..0.2s" }, { "merge", "-o", dir:file "y.cprof", path },
      { "export", "--format=folded", "-o", dir:file "x.folded" } } do
      local line = table.move(words, 1, #words, 1, {})
      table.insert(line, words[1] == "show" and 2 or #line + 1, path)
      local out = command.must(table.unpack(line))
      if words[1] == "report" then
        assert.has_text("\nreason: a stall\n", out)
      end
    end
  end)

  exactly("are the whole recording if it is shorter", function()
    local dir <close> = command.folder()
    local path, dump = dir:file "short.cprof", profiler.dump_recent
    keeping(function()
      spin(40)
      dump(path)
    end)
    local p = assert(profiler.load(path))
    assert.same({ 40, "0.000s to 0.040s of 0.040s" },
      { p.samples, p.meta.range })
  end)

  exactly("are written again and again, also after the end", function()
    local dir <close> = command.folder()
    local pattern, files = dir:file "s-%n-%p.cprof", {}
    local dump = profiler.dump_recent
    keeping(function()
      usual()
      files[1] = dump()
      spin(100)
      files[2] = dump(nil, "again")
    end, { file = pattern })
    files[3] = profiler.dump_recent()
    assert.equal(3, #files)
    for i, range in ipairs { "0.200s to 0.500s of 0.500s",
      "0.300s to 0.600s of 0.600s",
      "0.300s to 0.600s of 0.600s" } do
      local p = assert(profiler.load(files[i]))
      assert.same({ 300, range }, { p.samples, p.meta.range })
      assert.matches("s%-%d+%-%d+%.cprof$", files[i])
    end
    assert.equal(3, #{ files[1], files[2] ~= files[1] and files[2],
      files[3] ~= files[2] and files[3] or nil })
  end)

  it("are written by a host", function(dir)
    local path, S = dir:file "host.cprof", host.state()
    local status, why = S:file(path, "recent")
    assert.equal(2, status)
    assert.has_text("nothing was recorded with option 'keep_last'", why)
    S:run [[require "cprof".start { mode = "sample", keep_last = 10 }]]
    S:run "local s = '' for i = 1, 1e4 do s = s .. 'x' end"
    assert.equal(0, S:file(path, "recent"))
    S:close()
    local p = assert(profiler.load(path))
    assert.same({ "sample", "as the host says" },
      { p.meta.mode, p.meta.reason })
  end)

  -- the profiles in the files of `pattern`, in order
  local function written(pattern)
    local numbers, folder = {}, pattern:match "^(.*)/"
    for _, name in ipairs(core.filenames(folder)) do
      numbers[#numbers + 1] = tonumber(name:match "^s%-(%d+)%.cprof$")
    end
    table.sort(numbers)
    for i, n in ipairs(numbers) do
      numbers[i] = assert(profiler.load(("%s/s-%d.cprof"):format(folder, n)))
      helper.check(numbers[i])
    end
    return numbers
  end

  exactly("are written when a zone takes longer than its budget", function()
    local dir <close> = command.folder()
    local pattern = dir:file "s-%n.cprof"
    local function handle(ms, id)
      local _ <close> = profiler.zone("handle", id)
      spin(ms)
    end
    local function other(ms)
      local _ <close> = profiler.zone "other"
      spin(ms)
    end
    local wrapped = profiler.wrap("wrapped", spin)
    handle(1)
    other(1)
    local all = keeping(function()
      handle(200)
      other(210)
      wrapped(50)
      handle(201, 7)
      spin(900)
      handle(300)   -- too early
      wrapped(51)   -- and this
      spin(99)
      wrapped(51)
    end, { file = pattern, dump_every = 1.3,
      on_slow = { handle = 0.2, wrapped = 0.05, missing = 0.001 } })
    local files = written(pattern)
    assert.equal(2, #files)
    assert.same({ "handle(7) took 201ms, over its budget of 200ms",
      "wrapped took 51.0ms, over its budget of 50.0ms" },
      { files[1].meta.reason, files[2].meta.reason })
    assert.same({ "0.361s to 0.661s of 0.661s", "1.762s to 2.062s of 2.062s" },
      { files[1].meta.range, files[2].meta.range })
    assert.same({ 300, 201 }, { files[1].samples, of(files[1], handle)[1] })
    assert.same({ 2062, 2062e6 }, { all.samples, all.program_ns })
  end)

  exactly("are written when a zone that an error ends was slow", function()
    local dir <close> = command.folder()
    local pattern, fail = dir:file "s-%n.cprof", function()
      local _ <close> = profiler.zone "fails"
      spin(100)
      error "no"
    end
    pcall(fail)
    keeping(function() pcall(fail) end,
      { file = pattern, on_slow = { fails = 0.0999 } })
    assert.same({ "fails took 100ms, over its budget of 99.9ms", 100 },
      { written(pattern)[1].meta.reason, written(pattern)[1].samples })
  end)

  exactly("are no part of the zone around the one that was slow", function()
    local dir <close> = command.folder()
    local pattern = dir:file "s-%n.cprof"
    local function inner()
      local _ <close> = profiler.zone "inner"
      spin(100)
    end
    local function outer()
      local _ <close> = profiler.zone "outer"
      inner()
      spin(100)
    end
    outer()
    keeping(outer, { file = pattern, dump_every = 0,
      on_slow = { inner = 0.05, outer = 0.1999 } })
    assert.same({ "inner took 100ms, over its budget of 50.0ms",
      "outer took 200ms, over its budget of 200ms" },
      { written(pattern)[1].meta.reason, written(pattern)[2].meta.reason })
  end)

  exactly("are written when a frame takes longer than its budget", function()
    local dir <close> = command.folder()
    local pattern, frame = dir:file "s-%n.cprof", profiler.frame
    keeping(function()
      spin(100)  -- when this frame began is not known
      frame()
      for _ = 1, 20 do
        spin(16)
        frame()
      end
      spin(17)
      frame()
    end, { file = pattern, slow_frames = { budget_ms = 16.5 } })
    local files = written(pattern)
    assert.same({ "a frame took 17.0ms, over its budget of 16.5ms",
      "0.137s to 0.437s of 0.437s" },
      { files[1].meta.reason, files[1].meta.range })
    assert.is_nil(files[2])
  end)

  it("are not written for a frame where memory fails, which only ends",
    function()
      local code = [[
        local profiler = require "cprof"
        profiler.start { mode = "sample", keep_last = 1, compensate = false,
          file = "/none/x-%n.cprof", slow_frames = { budget_ms = 1e-6 } }
        local name = ("x"):rep(60)
        profiler.frame(name)
        for _ = 1, 10000 do end
        arm()
        local ok = pcall(profiler.frame, name)
        disarm()
        profiler.stop()
        return tostring(ok)
      ]]
      local result, status = host.memory(code, "lua", 0)
      assert.same({ "true", 0 }, { result, status })
    end)

  it("are written when a signal asks for them, each time", function()
    for _, mode in ipairs { "call", "sample" } do
      local dir <close> = command.folder()
      local out = helper.run([[
        local profiler = require "cprof"
        assert(profiler.listen "USR1")
        profiler.start { mode = arg[1], keep_last = 10, dump_every = 1000,
          file = arg[2] .. "/%n.cprof" }
        for i = 1, 2 do
          os.execute "kill -USR1 $PPID"
          local name = ("%s/%d.cprof"):format(arg[2], i)
          repeat local p = profiler.load(name) until p
          print(profiler.load(name).meta.reason)
        end
        profiler.stop()
        print(profiler.snapshot().meta.mode)]], mode, dir.path)
      assert.equal(("a signal asked for it\n"):rep(2) .. mode .. "\n", out)
    end
  end)

  it("are said once that they cannot be written", function(dir)
    local code = ([[
      local cprof = require "cprof"
      cprof.start { mode = "sample", keep_last = 1, dump_every = 0,
        file = %q, on_slow = { z = 1e-9 } }
      for _ = 1, 3 do local z <close> = cprof.zone "z" end
      cprof.stop()]]):format(dir:file "none/x-%n.cprof")
    local _, err, status = command.lua("-e", code)
    assert.equal(0, status)
    assert.equal("cprof: the last seconds cannot be written: ",
      err:match "^cprof: [^:]*: ")
    assert.equal(1, select(2, err:gsub("\n", "")))
  end)

  it("take memory for these seconds alone", function(dir)
    local path, dump = dir:file "long.cprof", profiler.dump_recent
    local all = keeping(function()
      spin(20000)
      dump(path)
    end)
    -- two chunks of 16 KB
    local kept = all.meta.wall_ns - all.meta.axis_begins_ns
    assert.is_true(kept >= 300e6 and kept <= 12000e6, kept)
    local p = assert(profiler.load(path))
    assert.same({ 300, 300 }, { p.samples, of(p, spin)[1] })
    assert.equal(all.meta.started_at + 19, p.meta.started_at)
  end)

  it("say why they cannot be written", function(dir)
    local to, why, all = stalled(dir:file "none/x.cprof")
    assert.is_nil(to)
    assert.has_text("none/x.cprof: No such file", why)
    assert.equal(700, all.samples)
  end)

  it("need the option, and a name for the file", function()
    local function fails(message, f, ...)
      local args = table.pack(...)
      local why = helper.failure(function()
        f(table.unpack(args, 1, args.n))
      end)
      local at, rest = why:match "^(.-):%d+: (.*)"
      assert.same({ "spec/recent_spec.lua", message }, { at, rest })
    end
    local dump, start = profiler.dump_recent, profiler.start
    driven.sample(function() spin(3) end)
    local missing = "nothing was recorded with option 'keep_last'; call " ..
      "start { keep_last = 10 } first"
    fails("dump_recent: " .. missing, dump, "x.cprof")
    keeping(function() spin(3) end)
    fails("dump_recent: name a file, or give start the option 'file'", dump)
    fails("dump_recent: the path must be a string, got a number", dump, 3)
    fails("dump_recent: the path must be a string, got an empty one", dump,
      "")
    fails("dump_recent: the reason must be a string, got a table", dump, "x",
      {})
    fails("start: option 'on_slow' needs option 'keep_last'", start,
      { mode = "sample", on_slow = { x = 1 } })
    fails("start: option 'slow_frames' needs option 'keep_last' in mode " ..
      '"sample"', start, { mode = "sample", slow_frames = { budget_ms = 1 } })
    fails("start: option 'on_slow' needs option 'file', to name the files",
      start, { mode = "sample", keep_last = 1, on_slow = { x = 1 } })
    fails("start: option 'on_slow' needs mode = \"call\", \"trace\" or " ..
      '"sample"', start, { mode = "line", on_slow = { x = 1 } })
    for _, wrong in ipairs { { x = 0 }, { x = "1" }, { 1 }, {} } do
      fails("start: option 'on_slow' must be a table { [name] = seconds, a " ..
        "number above 0 }, got a table", start,
        { mode = "sample", on_slow = wrong })
    end
    local must = "start: option 'keep_last' must be a number of seconds " ..
      'from 0.01 to 100000, or a size from "128KB" to "256MB", got '
    for value, shown in pairs { [0] = "0 (a number)", ["10"] = '"10"',
      ["16 mb"] = '"16 mb"', ["100KB"] = '"100KB"', ["1GB"] = '"1GB"',
      [true] = "true (a boolean)" } do
      fails(must .. shown, start, { mode = "sample", keep_last = value })
    end
    fails("start: with option 'keep_last', 'file' needs %t or %n in its " ..
      'name, got "x"', start, { mode = "sample", keep_last = 1, file = "x" })
    fails("start: options 'keep_last' and 'every' cannot be combined: " ..
      "'keep_last' writes a file on request, 'every' all the time", start,
      { mode = "sample", keep_last = 1, file = "x%n", every = 1 })
  end)
end)

describe("the last samples of a recording", function()
  it("are those that fit into a size", function()
    driven.start { keep_last = "128KB" }
    spin(100000)
    local p = driven.stop()
    local from = p.meta.axis_begins_ns
    -- a sample takes 3 to 8 bytes
    local kept = (p.meta.wall_ns - from) / 1e6
    assert.is_true(kept >= 7 * 16360 / 8 and kept <= 8 * 16384 / 3, kept)
  end)
end)

describe("cprof run --keep-last", function()
  local program = [[
    local cprof = require "cprof"
    local function work(n) local s = "" for i = 1, n do s = s .. i end end
    do local z <close> = cprof.zone "z" work(1000) end
    cprof.dump_recent(nil, "asked for")
    work(1000)
    error "no"]]

  local function run(dir, ...)
    local words = { "run", "--sample", "--keep-last=1000", ... }
    words[#words + 1] = dir:file("x.lua", program)
    return command.cprof(table.unpack(words))
  end

  it("writes when a zone was slow, when asked, and at the end", function(dir)
    local out, err, status = run(dir, "--on-slow=z=1us", "-o",
      dir:file "s-%n.cprof")
    assert.same({ "", 1 }, { out, status })
    assert.has_text("reason: the program ended\n", err)
    local reasons = {}
    for i = 1, 3 do
      local p = assert(profiler.load(dir:file(("s-%d.cprof"):format(i))))
      assert.equal("sample", p.meta.mode)
      reasons[i] = p.meta.reason:gsub(" took .-, over", " over")
    end
    assert.same({ "z over its budget of 1.00µs", "asked for",
      "the program ended" }, reasons)
    assert.is_nil(profiler.load(dir:file "s-4.cprof"))
  end)

  it("says which budgets were for nothing", function(dir)
    local script = dir:file("x.lua", [[
      local cprof = require "cprof"
      function work(n) local s = "" for i = 1, n do s = s .. i end end
      do local z <close> = cprof.zone("z", 1) work(1000) end
      cprof.frame "draw"
      local known
      repeat
        work(1000)
        for _, f in ipairs(cprof.snapshot().functions) do
          known = known or f.name == "work"
        end
      until known]])
    local function said(mode)
      local _, err = command.cprof("run", mode, "--quiet", "--keep-last=1000",
        "--on-slow=work=1000s", "--on-slow=z=1000s", "--on-slow=draw=1000s",
        "--on-slow=wrok=1000s", "-o", dir:file "s-%n.cprof", script)
      return err
    end
    assert.equal("cprof run: --on-slow wrok: no function, zone or frame of " ..
      "this name ran\n", said "--callsites")
    assert.equal("cprof run: --on-slow work: no zone of this name was " ..
      "sampled, and functions have budgets only without --sample\n",
      said "--sample")
  end)

  it("writes the end into a file without a number", function(dir)
    local path = dir:file "x.cprof"
    local _, err = run(dir, "--quiet", "-o", path)
    -- the program's own call has no file
    assert.has_text("dump_recent: name a file, or give start", err)
    assert.equal("the program ended", profiler.load(path).meta.reason)
    local _, other = run(dir, "--quiet", "-o", dir:file "none/x.cprof")
    assert.has_text("cprof run: " .. dir:file "none/x.cprof" ..
      ": No such file or directory", other)
  end)

  it("says what it needs", function()
    for what, words in pairs {
      ["--keep-last cannot be combined with --count"] =
        { "--count", "--keep-last=3" },
      ["--on-slow needs --keep-last"] = { "--sample", "--on-slow=a=1s" },
      ["--on-slow needs -o FILE with %t or %n in its name, and no --format"] =
        { "--sample", "--keep-last=3", "--on-slow=a=1s", "-o", "x" },
      ["--both cannot be combined with --keep-last"] =
        { "--both", "--keep-last=3" },
      ["option '--on-slow' must be NAME=TIME (handle=200ms), got 'a=x'; see " ..
        "cprof run --help"] = { "--sample", "--keep-last=3", "--on-slow=a=x" },
    } do
      table.insert(words, 1, "run")
      table.move({ "-e", "" }, 1, 2, #words + 1, words)
      local _, err, status = command.cprof(table.unpack(words))
      assert.same({ "cprof run: " .. what .. "\n", 2 }, { err, status })
    end
  end)
end)
