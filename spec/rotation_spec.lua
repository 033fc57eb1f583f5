-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local core = require "cprof.core"
local profiler = require "cprof"
local helper = require "helper"
local command = require "command"
local host = require "spec_host"

-- the recordings in a folder, in the order of the numbers in their names
local function files(dir)
  local out = {}
  for _, name in ipairs(core.filenames(dir.path)) do
    if name:find "%.cprof$" then out[#out + 1] = dir:file(name) end
  end
  local function number(name) return tonumber(name:match "(%d+)%.cprof$") end
  table.sort(out, function(a, b) return number(a) < number(b) end)
  return out
end

local function work() for i = 1, 100 do math.abs(i) end end

-- calls `f` until there are `many` files; returns the number of calls
local function busy(dir, many, f)
  local n = 0
  repeat
    for _ = 1, 10 do f() end
    n = n + 10
  until #files(dir) >= many
  return n
end

-- Continues in samples, which have no calls: their files together have all
-- of the time. Each call of `f` takes 20 ms. The profiler's time is left out:
-- in Lua 5.5, lua_dump makes a table.
local function sampled(f)
  local dir <close> = command.folder()
  driven.start({ file = dir:file "x-%n.cprof", every = 0.1 }, 1000000)
  for _ = 1, 30 do f() end
  driven.stop()
  local list, samples, wall = files(dir), 0, 0
  assert.is_true(#list >= 6, #list)
  for _, file in ipairs(list) do
    local p = helper.check(assert(profiler.load(file)))
    assert.is_falsy(p.meta.live)
    assert.is_falsy(p.meta.ended)
    assert.equal("sample", p.meta.mode)
    local own = helper.named(p, "(cprof)")
    samples = samples + p.samples
    wall = wall + p.meta.wall_ns - (own and own.self_ns or 0)
  end
  assert.is_true(samples > 10 * #list, samples)
  assert.equal(600e6, wall)
end

local function calls(p, name)
  local f = helper.named(p, name)
  return f and f.calls or 0
end

describe("a running number", function()
  local function begin(pattern)
    return ("require 'cprof'.start { file = %q }"):format(pattern)
  end

  it("is that of one file among all states of a process", function(dir)
    local states = {}
    for i = 1, 6 do
      states[i] = host.state()
      assert.equal("nil", states[i]:run(begin(dir:file "x-%n.cprof")))
      assert.equal(i, #files(dir))
    end
    for _, state in ipairs(states) do state:close() end
    local code = ("for _ = 1, 20 do %s require 'cprof'.stop() end"):format(
      begin(dir:file "y-%n.cprof"))
    for _, result in ipairs(host.threads(code, 3)) do
      assert.equal("nil", result)
    end
    assert.equal(6 + 3 * 20, #files(dir))
  end)

  it("is not that of a file that is there, such as another process's",
    function(dir)
      local code = ("require 'cprof'.start { file = %q }"):format(
        dir:file "x-%n.cprof")
      local seen = {}
      for i = 1, 3 do
        command.lua("-e", code)
        local list = files(dir)
        assert.equal(i, #list)
        for _, file in ipairs(list) do
          seen[assert(profiler.load(file)).meta.pid] = true
        end
      end
      local processes = 0
      for _ in pairs(seen) do processes = processes + 1 end
      assert.equal(3, processes)
    end)

  it("is that of one file among processes that begin together", function(dir)
    local code = ("local c = require 'cprof' for _ = 1, 20 do c.start " ..
      "{ keep_last = 1 } c.dump_recent(%q) c.stop() end"):format(
      dir:file "x-%n.cprof")
    command.bounded(("for i in 1 2 3 4; do $SPEC_LUA -e %s & done; wait")
      :format(command.quote(code)))
    local list = files(dir)
    assert.equal(80, #list)
    for _, file in ipairs(list) do assert(profiler.load(file)) end
  end)

  it("is free again where a recording could not begin or be written",
    function(dir)
      local name, script = dir:file "x-%n.cprof", dir:file("x.lua", "print(1)")
      local function fails(why, before, line)
        local out = command.shell(("(%s %s) 2>&1 | cat"):format(before, line))
        assert.is_truthy(out:find(why, 1, true), out)
        assert.equal(0, #files(dir), line)
      end
      for _, code in ipairs {
        "cprof.start { file = %q }",
        "cprof.start { keep_last = 1 } print(cprof.dump_recent(%q))",
      } do
        fails("File too large", "trap '' XFSZ; ulimit -f 0; $SPEC_LUA -e",
          command.quote("local cprof = require 'cprof' " .. code:format(name)))
      end
      for _, option in ipairs { "--quiet", "--keep-last=1" } do
        fails("File too large", "trap '' XFSZ; ulimit -f 0;",
          command.line("run", option, "-o", name, script))
      end
      fails('mode "count"', "export CPROF_INTERNALS=0;",
        command.line("run", "--count", "-o", name, script))
    end)

  it("is in the name that cprof run tells, and by which it is found",
    function(dir)
      local script = dir:file("x.lua", "for i = 1, 100 do math.abs(i) end")
      for i = 1, 2 do
        local _, err = command.must("run", "-o",
          dir:file "x-%p-%n.cprof", script)
        local path = err:match "\nNext: cprof show (%S+%.cprof) "
        assert.equal("call", assert(profiler.load(path)).meta.mode)
        assert.equal(i, #files(dir))
        local out = command.cprof "report"
        assert.has_text(script, out)
      end
    end)

  it("is not given again to the next recording", function(dir)
    for i = 1, 3 do
      profiler.start { file = dir:file "x-%n.cprof" }
      profiler.stop()
      assert.equal(i, #files(dir))
    end
  end)
end)

describe("a continuous recording", function()
  it("has every event in one of its files, each a whole profile", function()
    for _, options in ipairs {
      { mode = "call" }, { mode = "line" }, { mode = "count" },
      { mode = "call", compensate = false }, { callsites = true },
      { clock = "cpu" }, { recursion = "fold" },
    } do
      local dir <close> = command.folder()
      options.file, options.every = dir:file "x-%n.cprof", 0.1
      local function burst() work() end
      profiler.start(options)
      local n = busy(dir, 4, burst)
      profiler.stop()
      local list = files(dir)
      assert.is_true(#list >= 4, #list)
      local seen, inner, wall = 0, 0, 0
      for _, file in ipairs(list) do
        local p = helper.check(assert(profiler.load(file)))
        assert.is_falsy(p.meta.live)
        assert.is_falsy(p.meta.ended)
        assert.is_false(p.meta.hook_lost)
        assert.equal(options.mode or "call", p.meta.mode)
        seen, inner = seen + calls(p, "burst"), inner + calls(p, "math.abs")
        wall = wall + (p.meta.wall_ns or 0)
      end
      assert.equal(n, seen)
      assert.equal(n * 100, inner)
      assert.is_true(options.mode == "count" or wall > 0, wall)
    end
  end)

  it("changes files in mode sample, too", function()
    sampled(function()
      for _ = 1, 20 do local _ = {} end
    end)
    sampled(function()
      local co = coroutine.wrap(function()
        for _ = 1, 20 do local _ = {} coroutine.yield() end
      end)
      for _ = 1, 20 do co() end
    end)
  end)

  it("goes on through coroutines, errors and collections", function(dir)
    profiler.start { file = dir:file "x-%n.cprof", every = 0.05 }
    local n = busy(dir, 5, function()
      local co = coroutine.wrap(function()
        for i = 1, 5 do coroutine.yield(i) work() end
        pcall(error, {})
      end)
      for _ = 1, 6 do co() end
      setmetatable({}, { __gc = work })
    end)
    profiler.stop()
    local resumed, thrown = 0, 0
    local list = files(dir)
    assert.is_true(#list >= 5)
    for _, file in ipairs(list) do
      local p = helper.check(assert(profiler.load(file)))
      thrown = thrown + calls(p, "error")
      resumed = resumed + calls(p, "coroutine.yield")
    end
    assert.equal(n, thrown)
    assert.equal(n * 5, resumed)
  end)

  it("records coroutines that are made as it changes files", function(dir)
    local create, resume = coroutine.create, coroutine.resume
    profiler.start { file = dir:file "x-%n.cprof", every = 0.01 }
    local n = busy(dir, 40, function() resume(create(math.abs), 1) end)
    profiler.stop()
    local seen = 0
    for _, file in ipairs(files(dir)) do
      seen = seen + calls(assert(profiler.load(file)), "math.abs")
    end
    assert.equal(n, seen)
  end)

  it("gives the program's own hook all of its events", function(dir)
    local seen = 0
    local function hook(event)
      if debug.getinfo(2, "f").func == work and event == "call" then
        seen = seen + 1
      end
    end
    profiler.start { file = dir:file "x-%n.cprof", every = 0.05 }
    debug.sethook(hook, "c")
    local n = busy(dir, 3, work)
    local now, mask = debug.gethook()
    debug.sethook()
    profiler.stop()
    assert.equal(hook, now)
    assert.equal("c", mask)
    assert.equal(n, seen)
    assert.is_true(#files(dir) >= 3)
  end)

  it("keeps the newest files", function(dir)
    profiler.start { file = dir:file "x-%p-%n.cprof", every = 0.05, keep = 2 }
    -- the numbers of the oldest and the newest file
    local function numbers()
      local list = files(dir)
      local function number(i)
        return tonumber(list[i]:match "%-(%d+).cprof$")
      end
      return number(1), number(#list), #list
    end
    local first = numbers()
    repeat work() until numbers() >= first + 3
    profiler.stop()
    local oldest, newest, many = numbers()
    assert.equal(2, many)
    assert.equal(oldest + 1, newest)
  end)

  it("keeps the newest files, also if the first one is over at once",
    function(dir)
      local start, elapsed = core.start, nil
      function core.start(given)
        local ok, why = start(given)
        core.start, elapsed = start, given.elapsed
        elapsed()
        return ok, why
      end
      local ok, why = pcall(profiler.start, { file = dir:file "x-%p-%n.cprof",
        every = 1000, keep = 2 })
      core.start = start
      assert.is_true(ok, why)
      for _ = 1, 3 do elapsed() end
      profiler.stop()
      assert.equal(2, #files(dir))
    end)

  it("has process and time in the names of its files", function(dir)
    local out, err = command.shell(("cd %s; CPROF_OPTIONS='every=0.1," ..
      "file=a-%%p-%%t-%%n.cprof' $SPEC_LUA -l cprof.auto -e '%s'; ls"):format(
      command.quote(dir.path), [[
      repeat until #require "cprof.core".filenames "." >= 5]]))
    assert.equal("", err)
    for name in out:gmatch "[^\n]+" do
      local day, time = name:match "^a%-%d+%-(%d+)T(%d+)Z%-%d+.cprof$"
      assert.is_true(#day == 8 and #time == 6, name)
    end
    assert.is_true(#files(dir) >= 3, out)
  end)

  it("goes on in a child of the program, which leaves the files of its " ..
    "parent", function(dir)
    local out = helper.run([[
      local host, profiler = require "spec_host", require "cprof"
      local core = require "cprof.core"
      profiler.start { file = arg[1] .. "/x-%p-%n.cprof", every = 0.05,
        keep = 2 }
      -- runs until this process has begun `many` files
      local function busy(many)
        local mine = "x%-" .. host.process() .. "%-(%d+)%.cprof$"
        local seen, n = {}, 0
        repeat
          for i = 1, 100 do math.abs(i) end
          for _, name in ipairs(core.filenames(arg[1])) do
            local number = name:match(mine)
            if number and not seen[number] then
              seen[number], n = true, n + 1
            end
          end
        until n >= many
      end
      busy(3)
      if host.fork() then
        busy(4)
        os.exit(0, true)
      end
      print(host.wait())]], dir.path)
    assert.equal("0\n", out)
    -- the child's first file, that of the fork, is not one of those it keeps
    assert.equal(5, #files(dir))
    for _, file in ipairs(files(dir)) do
      helper.check(assert(profiler.load(file)))
    end
  end)

  -- calls f until the next file has been begun
  local function next_file(dir, f)
    local before = #files(dir)
    repeat for _ = 1, 20 do f() end until #files(dir) > before
  end

  it("keeps no texts of what the files before were about", function(dir)
    local texts = require "cprof.source.text"
    local _, known = debug.getupvalue(texts.once, 1)
    assert.equal("table", type(known))
    profiler.start { file = dir:file "x-%n.cprof", every = 0.05 }
    local n = 0
    local function load_one()
      n = n + 1
      load("local function f() end\n f() -- " .. n)()
    end
    next_file(dir, load_one)
    local first = n
    for _ = 1, 2 do next_file(dir, load_one) end
    -- only texts of the present file may still be known
    _, known = debug.getupvalue(texts.once, 1)
    for i = 1, first do
      assert.is_nil(known["local function f() end\n f() -- " .. i])
    end
    profiler.stop()
    _, known = debug.getupvalue(texts.once, 1)
    assert.is_nil(next(known))
    assert.is_true(n >= 60)
  end)

  it("names functions as they are after an edit", function(dir)
    local path = dir:file "edited.lua"
    local module = {}
    package.loaded.edited = module
    local function edit(text)
      dir:file("edited.lua", text)
      local f = assert(loadfile(path))()
      return function() f() end
    end
    local first = edit "local function first()\nend\nreturn first"
    profiler.start { file = dir:file "x-%n.cprof", every = 0.05 }
    next_file(dir, first)
    first()
    local second = edit "local function second()\nend\nreturn second"
    module.handler = assert(load("return function() end", "=handlers"))()
    local function both() second() module.handler() end
    for _ = 1, 2 do next_file(dir, both) end
    local last, live
    repeat
      profiler.resume()
      both()  -- the next file may begin within, and have none of it
      profiler.pause()
      local all = files(dir)
      last = all[#all]
      -- names from tables are known in a file that is still being written
      live = assert(profiler.load(last))
    until helper.named(live, "second") and
      pcall(helper.find, live, module.handler)
    profiler.stop()
    package.loaded.edited = nil
    assert.equal("edited.handler", helper.find(live, module.handler).name)
    local p = assert(profiler.load(last))
    assert.is_true(calls(p, "second") > 0)
    assert.equal(0, calls(p, "first"))
  end)

  it("refuses options that do not go together", function()
    for why, options in pairs {
      ["option 'keep' needs option 'every'"] = { keep = 2 },
      ["option 'every' needs option 'file'"] = { every = 2 },
      ["option 'every' needs a file with %t or %n in its name, got \"x\""] =
        { every = 2, file = "x" },
      ["option 'every' must be a number from"] = { every = "2" },
    } do
      local message = helper.failure(function() profiler.start(options) end)
      assert.has_text(why, message)
      assert.has_text("rotation_spec", message)
    end
  end)

  it("says when it cannot go on, and the program does", function(dir)
    local out = helper.run([[
      local profiler = require "cprof"
      profiler.start { file = arg[1] .. "/sub/x-%n.cprof", every = 0.1 }
      os.execute("rm -r " .. arg[1] .. "/sub")
      repeat until not profiler.running()
      print "done"]], (command.shell("mkdir " .. command.quote(
      dir:file "sub"))) .. dir.path)
    assert.matches("cprof: recording ended: [^\n]*x%-%d+.cprof", out)
    assert.matches("\ndone\n$", out)
  end)
end)

describe("a range of recordings", function()
  -- records n calls, each of a millisecond
  local function record(path, n)
    local function f() driven.pass(1000000) end
    driven.parts(function() for _ = 1, n do f() end end, { file = path })
  end

  -- three recordings of a program; each calls f once more than the one before
  local function folder()
    local dir = command.folder()
    for n = 1, 3 do record(dir:file(("a-%d.cprof"):format(n)), n) end
    return dir
  end

  local function count(path)
    return calls(assert(profiler.load(path)), "f")
  end

  it("is a folder, a pattern, or files", function()
    local dir <close> = folder()
    local to = dir:file "sum"
    for sum, words in pairs {
      [6] = { dir.path }, [3] = { dir:file "a-[12].cprof" },
      [5] = { dir:file "a-2.cprof", dir:file "a-3.cprof" },
    } do
      if sum == 3 then words = { dir:file "a-1*", dir:file "?-2.cprof" } end
      command.must("merge", "-o", to, table.unpack(words))
      assert.equal(sum, count(to))
    end
    local out = command.cprof("report", dir.path)
    assert.has_text("3 runs", out)
  end)

  it("is cut by when recordings began", function()
    local dir <close> = folder()
    local at = assert(profiler.load(dir:file "a-1.cprof")).meta.started_at
    local function utc(n) return os.date("!%Y-%m-%dT%H:%M:%SZ", n) end
    for _, words in ipairs {
      { "--since=1h" }, { "--since", utc(at) }, { "--until", utc(at + 60) },
      { "--since", os.date("!%Y%m%dT%H%M%SZ", at - 5), "--until",
        utc(at + 60) }, { "--since=2d", "--until", utc(at + 60) },
    } do
      local out = command.must("report", dir.path, table.unpack(words))
      assert.has_text("3 runs", out)
    end
    for _, words in ipairs {
      { "--until=1h" }, { "--since", utc(at + 60) }, { "--until", utc(at) },
    } do
      local err = command.refused("report", dir.path, table.unpack(words))
      assert.matches("^cprof report: none of 3 recordings began between " ..
        "[^\n]*\n$", err)
    end
  end)

  it("skips files by their names", function()
    local dir <close> = folder()
    -- this file would be refused if it were read
    dir:file("x-20200101T000000Z.cprof", "no profile")
    local out = command.must("report", dir.path, "--since=1h")
    assert.has_text("3 runs", out)
    assert.equal(2, select(3, command.cprof("report", dir.path)))
  end)

  it("divides a folder for a diff", function()
    local dir <close> = folder()
    local file = dir:file "a-3.cprof"
    local function at(path)
      return assert(profiler.load(path)).meta.started_at
    end
    -- in a second of its own
    os.execute "sleep 1.1"
    record(file, 30)
    local out = command.must("diff", dir.path, "--since",
      os.date("!%Y-%m-%dT%H:%M:%SZ", at(file)))
    assert.matches("\n +3 +30 ", out)
    out = command.must("diff", dir.path, dir:file "a-2.cprof")
    assert.matches("\nafter: +" .. dir:file "a%-2.cprof", out)
  end)

  it("says if there is no recording", function(dir)
    for _, words in ipairs {
      { "has no %*.cprof file", "report", dir.path },
      { "no file matches", "report", dir:file "*.cprof" },
      { "must be an age", "report", dir.path, "--since=soon" },
      { "must be an age", "report", dir.path, "--until=2026-13-01" },
      { "need files, or a folder", "report", "--since=1h" },
      { "need profiles, or a folder", "diff", "--since=1h" },
    } do
      local err = command.refused(table.unpack(words, 2))
      assert.matches("^cprof %l+: [^\n]*\n$", err)
      assert.matches(words[1], err)
    end
  end)
end)
