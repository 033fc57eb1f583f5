local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local host = require "spec_host"
local profiler = require "cprof"

local path = os.tmpname()
local other = os.tmpname()

teardown(function()
  os.remove(path)
  os.remove(other)
end)

before_each(function()
  os.remove(path)
  os.remove(other)
end)

local read <const>, write <const> = command.read, command.write

local function leaf(n) return n end

local function work()
  for i = 1, 20 do leaf(i) end
  pcall(error, "x")
  local s = ("x"):rep(3)
  local _ <close> = profiler.zone("zone", s)
  local co = coroutine.wrap(function(n) coroutine.yield(n) end)
  co(1) co(2)
  load "local function f(n) if n > 0 then return f(n - 1) end end f(9)" ()
  load("return function() end", "=(a chunk)")()()
  profiler.pause()
  leaf(1)
  profiler.resume()
  table.sort({ 3, 2, 1 }, function(a, b) return a < b end)
end

-- all that a profile has, as plain data
local function data(p)
  local out = { meta = p.meta, functions = p.functions, nodes = {},
                lines = {}, sources = p.sources }
  for i, node in ipairs(p.nodes) do out.nodes[i] = node end
  for source, lines in pairs(p.lines) do out.lines[source] = lines end
  return out
end

-- the rows of the view, without the records that they lead to
local function shown(p)
  local out = profiler.view(p):lines()
  for _, row in ipairs(out) do row.func, row.of = nil, nil end
  return out
end

local modes = {
  calls = {}, trace = { mode = "trace", trace = "/dev/null" },
  lines = { mode = "line" }, folded = { recursion = "fold" },
  sites = { callsites = true }, cpu = { clock = "cpu" },
  ["no C"] = { c_functions = false }, cut = { max_nodes = 16 },
  some = { mode = "line", lines = { "file_spec" }, recursion = "fold" },
}

local function record(options, f)
  local all = { file = path }
  for key, value in pairs(options or {}) do all[key] = value end
  return helper.record(f or work, all)
end

describe("a profile", function()
  it("is the same when it was recorded into a file", function()
    for name, options in pairs(modes) do
      local p = record(options)
      local loaded = assert(profiler.load(path))
      assert.same(data(p), data(loaded), name)
      if name ~= "cut" then helper.check(loaded) end
      for _, mode in ipairs { "total", "self", "callgraph", "tree", "file" } do
        local o = { mode = mode, width = 100 }
        assert.equal(p:report(o), loaded:report(o))
      end
      if p.meta.mode == "line" then
        assert.equal(p:annotate(nil, { width = 100 }),
          loaded:annotate(nil, { width = 100 }))
      end
      assert.same(shown(p), shown(loaded))
    end
  end)

  it("is the same when it was saved and loaded, any number of times",
    function()
      for name, options in pairs(modes) do
        local p = helper.record(work, options)
        for _ = 1, 3 do
          assert.is_true(p:save(path))
          local loaded = assert(profiler.load(path))
          assert.same(data(p), data(loaded), name)
          p = loaded
        end
      end
    end)

  it("has any bytes in its names", function()
    local name = "a;b \"c\"\n\xFF\0d é"
    local p = record({}, function()
      local _ <close> = profiler.zone(name)
      load("return 1", "=" .. name:gsub("%z", ""))()
    end)
    local loaded = assert(profiler.load(path))
    assert.is_truthy(helper.named(loaded, name))
    assert.same(data(p), data(loaded))
  end)

  it("is not kept in memory only, but also of an empty program", function()
    local p = record({}, function() end)
    assert.same(data(p), data(assert(profiler.load(path))))
  end)

  it("in a file forgets what reset forgets", function()
    profiler.start { file = path, mode = "line" }
    work()
    profiler.reset()
    leaf(1)
    profiler.stop()
    local p, loaded = profiler.snapshot(), assert(profiler.load(path))
    assert.same(data(p), data(loaded))
    assert.equal(1, helper.find(loaded, leaf).calls)
  end)

  it("in a file stays what it is after another one has begun", function()
    local p = record()
    local before = data(p)
    helper.record(leaf)
    assert.same(before, data(assert(profiler.load(path))))
  end)

  it("replaces the one that the file held", function()
    record()
    record({}, function() leaf(1) leaf(2) end)
    assert.equal(2, helper.find(assert(profiler.load(path)), leaf).calls)
  end)

  it("has no function of cprof's where another one is read meanwhile",
    function()
      helper.record(work):save(other)
      profiler.start { mode = "line", file = path }
      assert(profiler.load(other))
      work()
      profiler.stop()
      local p = assert(profiler.load(path))
      local own = false
      for source in pairs(p.lines) do
        assert.has_no_text("lua/cprof/", source)
        own = own or source:find("file_spec", 1, true)
      end
      assert.is_truthy(own)
    end)

  it("is complete when the program ends without stop", function()
    for _, ending in ipairs { "", "os.exit(0, true)", "os.exit(0)",
      "error 'x'", "coroutine.wrap(function() os.exit(0, true) end)()" } do
      local output = helper.run([[
        require "cprof".start { file = arg[1], mode = "line" }
        local function leaf() end
        for _ = 1, 7 do leaf() end
        string.rep("x", 3)
        ]] .. ending, path)
      assert.is_true(output == "" or ending:find "error" ~= nil, output)
      local p = helper.check(assert(profiler.load(path)))
      assert.equal(7, helper.named(p, "leaf").calls)
      assert.equal(1, helper.named(p, "string.rep").calls)
      assert.equal(ending == "os.exit(0)" and
        "the program ended without stopping it" or nil, p.meta.ended)
    end
  end)
end)

describe("the time after the program's end", function()
  it("is no function's", function()
    local state = host.state()
    state:run(([[
      local zones = require "spec_zones"
      zones.clock(true)
      require "cprof".start { file = %q }
      local function leaf() zones.pass(500) end
      leaf()
      -- called before the profiler's own, since it is newer
      last = setmetatable({}, { __gc = function() zones.pass(1 << 30) end })
      ]]):format(path))
    state:close()
    local p = helper.check(assert(profiler.load(path)))
    assert.equal(500, p.program_ns)
    assert.equal(0, helper.named(p, "(root)").self_ns)
  end)
end)

describe("a file that is being written", function()
  it("is read by other processes, while it goes on", function()
    profiler.start { file = path }
    for round = 1, 5 do
      leaf(round)
      local output = helper.run([[
        local profiler = require "cprof"
        local p = assert(profiler.load(arg[1]))
        assert(require "helper".check(p))
        local f = require "helper".named(p, "leaf")
        print(f.calls, p.meta.live, p.meta.ended, p.meta.pid)
        p:report()]], path)
      assert.matches(("^%d\ttrue\tnil\t%%d+\n$"):format(round), output)
    end
    profiler.stop()
    local p = assert(profiler.load(path))
    assert.is_nil(p.meta.live)
    helper.check(p)
  end)

  it("is read at any instant", function()
    local output = helper.run([[
      local host = require "spec_host"
      local profiler = require "cprof"
      local helper = require "helper"
      if host.fork() then
        profiler.start { file = arg[1], mode = "line" }
        local i = 0
        repeat
          i = i + 1
          load("return " .. i % 300, "=" .. i % 300)()
          if i % 1000 == 0 then profiler.reset() end
        until i % 1000 == 500 and io.open(arg[2])
        profiler.stop()
        os.exit(0)
      end
      local live, deadline = 0, os.time() + 300
      repeat
        local p, why = profiler.load(arg[1])
        if p then
          helper.check(p)
          if p.meta.live then live = live + 1 end
        else
          assert(why:find "not a profile" or why:find "nothing was" or
            why:find "No such file" or why:find "too fast", why)
        end
        if live == 50 or os.time() > deadline then io.open(arg[2], "w") end
        assert(os.time() < deadline + 60, why)
      until p and not p.meta.live and not p.meta.ended
      assert(live >= 50, live)
      print "good"]], path, other)
    assert.equal("good\n", output)
  end)

  it("is read while it is reset, as if that were one moment", function()
    local output = helper.run([[
      local host = require "spec_host"
      local profiler = require "cprof"
      local helper = require "helper"
      if host.fork() then
        profiler.start { file = arg[1], mode = "line" }
        repeat
          for _ = 1, 100 do
            for i = 1, 300 do math.abs(i) end
            profiler.reset()
          end
        until io.open(arg[2])
        profiler.stop()
        os.exit(0)
      end
      local p
      local loads, deadline = 0, os.time() + 300
      repeat p = profiler.load(arg[1]) until p or os.time() > deadline
      repeat
        local why
        p, why = profiler.load(arg[1])
        if p then
          helper.check(p)
          loads = loads + 1
        else
          assert(why:find "too fast", why)
        end
        if loads == 150 or os.time() > deadline then io.open(arg[2], "w") end
        assert(os.time() < deadline + 60, why)
      until p and not p.meta.live
      assert(loads >= 150, loads)
      print "good"]], path, other)
    assert.equal("good\n", output)
  end)

  it("is brought up to now while no event comes", function()
    for _, body in ipairs { "while true do end", "host.sleep(1000)" } do
      local stuck = body:find "host" and "spec_host.sleep" or "stuck"
      local output = helper.run(([[
        local host = require "spec_host"
        local profiler = require "cprof"
        local helper = require "helper"
        local child, process = host.fork()
        if child then
          profiler.start { file = arg[1] }
          local function stuck() %s end
          stuck()
        end
        -- a child that stays would hold up the reader of the output
        local _ <close> = setmetatable({}, { __close = function(_, failed)
          if failed then os.execute("kill -9 " .. process) end
        end })
        local function load()
          local p = profiler.load(arg[1])
          return p and p.meta.live and helper.named(p, %q) and p
        end
        local deadline = os.time() + 120
        local first, p
        repeat
          host.sleep(0.1)
          first = load()
        until first or os.time() > deadline
        -- starting the program may have taken long
        repeat
          host.sleep(0.5)
          p = load()
          local since = p.meta.since_last_event_ns
        until since > 3 * (p.meta.wall_ns - since) or os.time() > deadline
        os.execute("kill -9 " .. process)
        host.wait()
        helper.check(p)
        local f = helper.named(p, %q)
        local since = p.meta.since_last_event_ns
        -- the function that runs has all the time since the last event
        assert(since > first.meta.since_last_event_ns)
        assert(f.self_ns + p.meta.preempted_ns > since // 2 and
          since > p.meta.wall_ns // 2)
        assert(f.self_ns > p.program_ns // 2)
        local report = p:report { color = "never" }
        assert(report:find "\nnote: still being recorded; " and
          report:find "last event was %%S+ ago")
        -- this ends when the program that writes the file has ended
        local last = profiler.load(arg[1])
        assert(not last.meta.live and not last.meta.since_last_event_ns)
        assert(helper.named(last, f.name).self_ns < since)
        print "good"]]):format(body, stuck, stuck), path)
      assert.equal("good\n", output)
    end
  end)

  -- In a container, a process has another number than outside: by that number,
  -- the system here would tell of another process.
  it("is divided by no clocks of a program in a container", function(dir)
    local new <const> = "unshare --pid --fork --mount-proc "
    if not os.execute(new .. "true 2>/dev/null") then
      pending "the system lets this user make no container"
    end
    local script = dir:file "x"
    write(script, [[
      local profiler = require "cprof"
      profiler.start { file = arg[1] }
      io.write "begun\n"
      io.flush()
      io.read()]])
    local fifo = os.tmpname()
    os.remove(fifo)
    assert(os.execute("mkfifo " .. fifo))
    local program = io.popen(("%s $SPEC_LUA %s %s <%s"):format(new, script,
      path, fifo))
    local input <close> = io.open(fifo, "w")
    local begun = program:read()
    local p = assert(profiler.load(path))
    input:write "\n"
    input:close()
    program:close()
    os.remove(fifo)
    assert.equal("begun", begun)
    assert.is_true(p.meta.live)
    assert.is_nil(p.meta.since_last_event_waiting_ns)
  end)

  it("is written by no one else, who is told by whom", function()
    profiler.start { file = path }
    leaf(1)
    local output = helper.run([[
      local profiler = require "cprof"
      local ok, why = pcall(profiler.start, { file = arg[1] })
      print(ok, why, profiler.running())]], path)
    local pid = profiler.snapshot().meta.pid
    assert.matches(("false\t.*start: %s: process %d writes " ..
      "to it\tfalse"):format(path:gsub("%p", "%%%0"), pid), output)
    leaf(2)
    -- another state of this process cannot record into the file either
    local state = host.state()
    output = state:run(([[
      local ok, why = pcall(require "cprof".start, { file = %q })
      return tostring(ok) .. " " .. why]]):format(path))
    assert.matches(("^false .*process %d writes to it$"):format(pid), output)
    state:close()
    profiler.stop()
    assert.equal(2, helper.find(assert(profiler.load(path)), leaf).calls)
    -- a recording that has stopped keeps no other program from the file
    output = helper.run([[
      require "cprof".start { file = arg[1] }
      require "cprof".stop()
      print "mine"]], path)
    assert.equal("mine\n", output)
  end)

  it("has the process ID in its name for %p", function()
    profiler.start { file = path .. ".%p" }
    profiler.stop()
    local name = path .. "." .. profiler.snapshot().meta.pid
    assert.is_truthy(profiler.load(name))
    os.remove(name)
  end)

  it("can be removed, or another put in its place", function()
    profiler.start { file = path }
    os.remove(path)
    write(path, "something else")
    work()
    profiler.stop()
    local p = profiler.snapshot()
    assert.is_nil(p.meta.ended)
    helper.check(p)
    assert.equal("something else", read(path))
  end)

  it("has the names that were known last, when it is killed", function()
    local output = helper.run([[
      local profiler = require "cprof"
      profiler.start { file = arg[1] }
      package.loaded.later = { f = function() end }
      package.loaded.later.f()
      profiler.snapshot()
      require "spec_host".exit(0)]], path)
    assert.equal("", output)
    local p = assert(profiler.load(path))
    assert.is_truthy(helper.named(p, "later.f"))
  end)

  it("is one of several, of states in threads of their own", function()
    local results = host.threads(([[
      local profiler = require "cprof"
      local path = %q .. tostring({}):gsub("%%W", "")
      local function leaf() end
      for i = 1, 20 do
        profiler.start { file = path, mode = i %% 2 == 0 and "line" or "call" }
        for k = 1, 500 do load("local f = ... f()", "=" .. k)(leaf) end
        assert(profiler.load(path).meta.live)
        profiler.stop()
        local p = assert(profiler.load(path))
        assert(require "helper".check(p))
        for _, f in ipairs(p.functions) do
          if f.name == "leaf" or f.name == "f" then
            assert(f.calls == 500, f.calls)
          end
        end
      end
      os.remove(path)
      return "good"]]):format(path), 4)
    assert.same({ "good", "good", "good", "good" }, results)
  end)

  it("is not the child's, after a fork", function()
    local output = helper.run([[
      local profiler = require "cprof"
      local host = require "spec_host"
      local function leaf() end
      profiler.start { file = arg[1] }
      leaf()
      if host.fork() then
        for _ = 1, 10 do leaf() end
        local p = profiler.snapshot()
        print(p.meta.ended, require "helper".named(p, "leaf").calls)
        profiler.reset()
        profiler.stop()
        profiler.start { file = arg[2] }
        for _ = 1, 5 do leaf() end
        profiler.stop()
        os.exit(0, true)
      end
      host.wait()
      leaf()
      if host.fork() then os.exit(0, true) end -- which closes the state
      host.wait()
      leaf()
      profiler.stop()
      for i = 1, 2 do
        local p = assert(profiler.load(arg[i]))
        print(p.meta.ended, require "helper".named(p, "leaf").calls)
      end]], path, other)
    assert.equal("the process forked; its figures may include " ..
      "what its parent did since\t1\nnil\t3\nnil\t5\n", output)
  end)
end)

-- a program that makes its file grow while someone harms it
local harmed = [[
  local profiler = require "cprof"
  local function leaf() end
  local function grow(n)
    for i = 1, n do load("local f = ... f()", "=" .. i)(leaf) end
  end
  profiler.start { file = arg[1] }
  grow(100)
  harm()
  grow(5000)
  print "alive"
  print(profiler.stop())
  local p = profiler.snapshot()
  print(p.meta.ended, require "helper".check(p) == p)
  assert(p:report():find("note: recording ended early: " .. p.meta.ended, 1,
    true))
  profiler.start()
  leaf()
  profiler.stop()
  print(profiler.snapshot().meta.ended)
  ]]

describe("a program lives when its file", function()
  it("is truncated by another program", function()
    for _, size in ipairs { 0, 1, 4096, 70000, 100000 } do
      os.remove(path)
      local output = helper.run(([[
        local function harm()
          assert(os.execute("truncate -s %d " .. arg[1]))
        end]]):format(size) .. harmed, path)
      assert.equal("alive\nfalse\nanother program truncated the file\t" ..
        "true\nnil\n", output)
    end
  end)

  it("is cut short, and then looked at", function()
    local output = helper.run([[
      local profiler = require "cprof"
      local function leaf() end
      profiler.start { file = arg[1] }
      for i = 1, 10 do leaf() end
      assert(os.execute("truncate -s 0 " .. arg[1]))
      print(profiler.report() ~= nil)
      print(profiler.snapshot().meta.ended)]], path)
    assert.equal("true\nanother program truncated the file\n", output)
  end)

  it("is cut short where nothing was written yet", function()
    local output = helper.run([[
      local profiler = require "cprof"
      local function leaf() end
      for _, mode in ipairs { "call", "line", "sample" } do
        os.remove(arg[1])
        profiler.start { file = arg[1], mode = mode }
        for i = 1, 10 do leaf() end
        assert(os.execute("truncate -s -4096 " .. arg[1]))
        profiler.stop()
        print(profiler.snapshot().meta.ended)
      end]], path)
    assert.equal(("another program truncated the file\n"):rep(3), output)
  end)

  it("finds no room on the disk", function()
    local dir = os.tmpname()
    os.remove(dir)
    local mount = ("mkdir %s && mount -t tmpfs -o size=600k tmpfs %s")
      :format(dir, dir)
    if not os.execute(("unshare -rm sh -c '%s' 2>/dev/null && rmdir %s")
      :format(mount, dir)) then
      os.execute("rmdir " .. dir)
      pending "nothing can be mounted here"
      return
    end
    local script = os.tmpname()
    write(script, "local function harm() end " .. harmed)
    local pipe = io.popen(("unshare -rm sh -c '%s && $SPEC_LUA %s %s/file " ..
      "&& $SPEC_LUA %s %s/file' 2>&1"):format(mount, script, dir, script, dir))
    local output = pipe:read "a"
    pipe:close()
    os.execute("rmdir " .. dir)
    os.remove(script)
    local once = "alive\nfalse\nno space left for the file\ttrue\nnil\n"
    assert.equal(once .. once, output)
  end)

  it("is recorded while memory runs out", function()
    local code = ([[
      local profiler = require "cprof"
      local function leaf() end
      arm()
      local ok, why = pcall(profiler.start,
        { file = %q, mode = "line", compensate = false })
      for i = 1, 40 do load("local f = ... f()", "=" .. i %% 30)(leaf) end
      profiler.stop()
      pcall(profiler.load, %q)
      disarm()
      local p = ok and profiler.snapshot()
      if not ok then
        assert(why:find "memory", why)
      elseif not p.meta.ended then
        return "complete"
      else
        assert(p.meta.ended == "out of memory", p.meta.ended)
        local loaded = assert(profiler.load(%q))
        assert(#loaded.nodes == #p.nodes)
        assert(loaded.meta.ended == "out of memory")
      end
      return "incomplete"]]):format(path, path, path)
    local _, _, requests = host.memory(code, "cprof", -1)
    local incomplete = 0
    for n = 0, requests, helper.slow and 5 or 3 do
      os.remove(path)
      local result, status, _, left = host.memory(code, "cprof", n)
      assert.equal(0, status, result)
      assert.equal(0, left)
      if result == "incomplete" then incomplete = incomplete + 1 end
    end
    assert.is_true(incomplete > 10)
    assert.equal("complete", (host.memory(code, "cprof", -1)))
  end)

  it("finds few addresses", function()
    if os.getenv "CPROF_SANITIZE" then return end -- which needs them all
    local output = helper.run_in("ulimit -v 400000;", [[
      local profiler = require "cprof"
      local function leaf() end
      profiler.start { file = arg[1] }
      for i = 1, 1000 do load("local f = ... f()", "=" .. i)(leaf) end
      profiler.stop()
      require "helper".check(assert(profiler.load(arg[1])))]], path)
    assert.equal("", output)
  end)

  it("finds none: the profile that was there stays", function()
    if os.getenv "CPROF_SANITIZE" then return end
    local output = helper.run([[
      local profiler = require "cprof"
      profiler.start()
      profiler.stop()
      assert(profiler.snapshot():save(arg[1]))
      local bytes = io.open(arg[1], "rb"):read "a"
      local status = io.open "/proc/self/status":read "a"
      os.execute(("prlimit --pid %d --as=%d"):format(
        status:match "\nPid:%s*(%d+)",
        (status:match "\nVmSize:%s*(%d+)" + 4096) * 1024))
      print(pcall(profiler.start, { file = arg[1] }))
      print(#bytes, io.open(arg[1], "rb"):read "a" == bytes)]], path)
    assert.matches("^false\tstart: [^\n]+: Cannot allocate memory\n" ..
      "[1-9]%d*\ttrue\n$", output)
  end)

  it("may not become as large as it would", function()
    local output = helper.run_in("ulimit -f 1200;",
      "local function harm() end " .. harmed, path)
    assert.equal("alive\nfalse\nthe file has reached the process's size " ..
      "limit\ttrue\nnil\n", output)
    local p = assert(profiler.load(path))
    assert.equal("the file has reached the process's size limit",
      p.meta.ended)
    helper.check(p)
  end)

  it("grows, or may not, and finds its errno as it was", function()
    for _, limit in ipairs { "", "ulimit -f 1200;" } do
      local output = helper.run_in(limit, [[
        local errno = require "spec_host".errno
        local profiler = require "cprof"
        profiler.start { file = arg[1] }
        local lost = 0
        for i = 1, 10000 do
          local new = load("", "=" .. i)
          errno(5)
          new()
          if errno(5) ~= 5 then lost = lost + 1 end
        end
        profiler.stop()
        print(lost, profiler.snapshot().meta.ended)]], path)
      assert.equal(limit == "" and "0\tnil\n" or
        "0\tthe file has reached the process's size limit\n", output)
    end
  end)

  it("was recorded: no handler is left", function()
    local output = helper.run([[
      local profiler = require "cprof"
      local function caught()
        local mask = io.open "/proc/self/status":read "a":match
          "SigCgt:%s*(%x+)"
        return tonumber(mask, 16) & 0x40 ~= 0
      end
      local before = caught()
      profiler.start { file = arg[1] }
      local during = caught()
      profiler.stop()
      assert(during and caught() == before)
      print "good"]], path)
    assert.equal("good\n", output)
  end)

  it("has the program's own handler of the signal called as it asked",
    function()
      local out, _, _, status = helper.run([[
        local host = require "spec_host"
        host.handle(7)
        require "cprof".start { file = arg[1] }
        host.signal(7)
        print(host.handle())
        io.stdout:flush()
        host.signal(7) -- it handles one
        print "alive"]], path)
      assert.equal("true\n", out:match "^[^\n]*\n")
      assert.has_no_text("alive", out)
      assert.is_true(status ~= 0)
    end)

  it("was meant for another signal", function()
    local _, _, _, status = helper.run([[
      require "cprof".start { file = arg[1] }
      os.execute "kill -BUS $PPID"
      os.exit(3)]], path)
    assert.is_true(status ~= 3 and status ~= 0)
  end)
end)

describe("what is not a profile", function()
  local function refused(s, why)
    write(path, s)
    local p, message = profiler.load(path)
    assert.is_nil(p)
    assert.has_text(path .. ": " .. why, message)
  end

  local function good()
    record()
    return read(path)
  end

  -- with a valid checksum
  local function with(s, at, bytes)
    return host.sealed(s:sub(1, at) .. bytes .. s:sub(at + #bytes + 1))
  end

  it("is refused wherever one byte of a complete one differs", function()
    for name, options in pairs(modes) do
      local recorded = record(options)
      if name == "calls" then assert(recorded:save(path)) end
      local s, x = read(path), 1
      for _ = 1, 30 do
        x = (x * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffff
        local at = x // 8 % #s
        write(path, s:sub(1, at) .. string.char(s:byte(at + 1) ~ 1 << x % 8) ..
          s:sub(at + 2))
        local p, why = profiler.load(path)
        assert.is_nil(p, name)
        if at >= 64 then
          assert.has_text("damaged: checksum", why)
        end
      end
    end
  end)

  it("is refused where its figures cannot be", function()
    local s = good()
    -- the factor of a tick
    refused(with(s, 80, ("I4"):pack(0)), "damaged: clock")
    refused(with(s, 84, ("I4"):pack(33)), "damaged: clock")
  end)

  it("is refused, and why is said", function()
    local s = good()
    refused("", "not a profile")
    refused("local x = 1", "not a profile")
    refused(("\0"):rep(8192), "not a profile")
    refused(with(s, 8, s:sub(9, 12):reverse()),
      "written on a machine with another byte order")
    refused(with(s, 8, "\1\2\3\5"), "damaged: byte order in the header")
    for version, by in pairs { [3] = "an older", [24] = "a newer" } do
      refused(with(s, 12, ("I4"):pack(version)), ("written by %s cprof (its " ..
        "format is version %d; this cprof reads version 23): record it " ..
        "again, or read it with that cprof"):format(by, version))
    end
    for _, version in ipairs { 0, 10000, 0xffffffff } do
      refused(with(s, 12, ("I4"):pack(version)),
        "damaged: version in the header")
    end
    refused(with(s, 16, ("I4"):pack(7)), "damaged: sizes in the header")
    refused(with(s, 32, ("I4"):pack(0)), "nothing was recorded in it yet")
    refused(with(s, 32, ("I4"):pack(9)), "damaged: state")
    refused(with(s, 48, ("I4"):pack(0xffffffff)), "damaged: number of nodes")
    refused(with(s, 52, ("I4"):pack(0xffffffff)), "damaged: cut short")
    refused(with(s, 52, ("I4"):pack(1)), "damaged: size")
    refused(with(s, 4096, ("I4"):pack(77)), "damaged: kind of a block")
    refused(with(s, 4104, ("I4"):pack(0)), "damaged: size of a block")
  end)

  -- where a node is in a file: calls, self, id, parent, func
  local function node_at(s, id)
    local at = 4096
    while ("I4"):unpack(s, at + 1) ~= 1 do
      at = at + ("I4"):unpack(s, at + 9) * 64
    end
    return at + 64 + id * 64
  end

  it("is refused when ids and figures are not what they can be", function()
    local s = good()
    local third = node_at(s, 3)
    assert.equal(3, (("I4"):unpack(s, third + 17)))
    for _, id in ipairs { 3, 4, 0xffffffff } do
      refused(with(s, third + 20, ("I4"):pack(id)),
        "damaged: caller of a node")
    end
    refused(with(s, third + 20, ("I4"):pack(1)),
      "damaged: a callee of overhead")
    refused(with(s, third + 16, ("I4"):pack(2)), "damaged: caller of a node")
    refused(with(s, third + 24, ("I4"):pack(100000)),
      "damaged: function of a node")
    for at = 0, 8, 8 do
      refused(with(s, third + at, ("I8"):pack(-1)),
        "damaged: figures of a node")
    end
    s = with(s, 80, ("I8"):pack(0xffffffff)) -- ns in a tick
    refused(with(s, third + 8, ("I8"):pack(1 << 40)), "damaged: time")
  end)

  it("is nil and a message when there is none", function()
    local p, message = profiler.load(path)
    assert.is_nil(p)
    assert.equal(path .. ": No such file or directory", message)
    p, message = profiler.load "/"
    assert.is_nil(p)
    assert.equal("/: not a regular file", message)
    p, message = profiler.load "/dev/zero"
    assert.is_nil(p)
    assert.equal("/dev/zero: not a regular file", message)
  end)

  it("is a file cut at any length", function()
    local s = good()
    local step = helper.slow and 997 or 17
    local n = #s - 1
    while n >= 0 do
      host.truncate(path, n)
      local p, message = profiler.load(path)
      assert.is_nil(p, n)
      assert.is_truthy(message:find("cut short", 1, true) or
        message:find("not a profile", 1, true), message)
      n = n - (n > 6000 and step or helper.slow and 53 or 1)
    end
  end)

  it("is not all that has a wrong byte, but none does harm", function()
    local loaded = 0
    for _, mode in ipairs { "call", "line" } do
      record { mode = mode, callsites = true }
      local s = read(path)
      for i = 1, math.max(helper.many(300), 20) do
        -- more often in the used part of the file than in the rest
        local at = math.random(i % 2 == 0 and 300 or #s) - 1
        if i % 3 == 0 then at = s:find("[^%z]", math.random(#s)) or at end
        write(path, with(s, at, string.char(math.random(0, 255))))
        local p, message = profiler.load(path)
        if p then
          loaded = loaded + 1
          p:report { width = 100 }
          p:report { mode = "callgraph", width = 100 }
          p:report { mode = "tree", width = 100 }
          if p.meta.mode == "line" then p:annotate() end
          if loaded % 50 == 0 then assert(p:save(other)) end
        else
          assert.equal("string", type(message))
        end
      end
    end
    assert.is_true(loaded > 0)
  end)

  it("is not overwritten", function()
    write(path, "precious")
    local why = helper.failure(profiler.start, { file = path })
    assert.has_text(path .. ": exists and is not a profile", why)
    assert.equal("precious", read(path))
    local ok
    ok, why = helper.record(leaf):save(path)
    assert.is_nil(ok)
    assert.equal(path .. ": exists and is not a profile", why)
    assert.equal("precious", read(path))
  end)

  it("is named as the caller did where it cannot be saved", function()
    local ok, why = helper.record(leaf):save "/nodir/x"
    assert.is_nil(ok)
    assert.equal("/nodir/x: No such file or directory", why)
  end)

  it("is no place to save to, nor is one that is being written", function()
    profiler.start { file = path }
    local p = profiler.snapshot()
    for where, what in pairs { [path] = "process %d+ writes to it",
      ["/dev/null"] = "not a regular file" } do
      local ok, why = p:save(where)
      assert.is_nil(ok)
      assert.matches(what, why)
    end
    profiler.stop()
    assert.is_true(p:save(path))
  end)
end)

describe("a file that cannot be written", function()
  it("is an error that loses nothing", function()
    local p = helper.record(leaf)
    for file, why in pairs {
      ["/no/such/x"] = "No such file or directory",
      ["/"] = "Is a directory",
      ["/dev/full"] = "not a regular file",
    } do
      local message = helper.failure(profiler.start, { file = file })
      assert.has_text("start: " .. file .. ": " .. why, message)
      assert.is_false(profiler.running())
      assert.same(data(p), data(profiler.snapshot()))
    end
  end)

  it("is saved often, and takes no more addresses", function()
    if os.getenv "CPROF_SANITIZE" then return end -- which needs them all
    local output = helper.run_in("ulimit -v 6000000;", [[
      local profiler = require "cprof"
      profiler.start()
      profiler.stop()
      local p = profiler.snapshot()
      collectgarbage "stop"
      for _ = 1, 10 do assert(p:save(arg[1])) end
      print(profiler.load(arg[1]) ~= nil)]], path)
    assert.equal("true\n", output)
  end)

  it("is nil and a message of save, and nothing is half-written", function()
    local p = helper.record(work)
    local ok, why = p:save "/no/such/x"
    assert.is_nil(ok)
    assert.matches("^/no/such/x.*No such file", why)
    assert.is_true(p:save(path))
    local before = read(path)
    local output = helper.run_in("ulimit -f 100;", [[
      local p = assert(require "cprof".load(arg[1]))
      print(p:save(arg[1]))]], path)
    assert.matches("^nil\t" .. path:gsub("%p", "%%%0"), output)
    assert.equal(before, read(path))
  end)

  it("is written under another name, and leaves no other file", function(dir)
    local p = helper.record(work)
    assert.is_true(p:save(dir:file "a.cprof"))
    assert.is_nil((p:save(dir.path)))
    assert.equal("a.cprof\n", (command.shell("ls -A '" .. dir.path .. "'")))
  end)

  it("does not write into the file of another state that saves", function(dir)
    local at = dir:file "a.cprof"
    local stat <close> = io.open "/proc/self/stat"
    local half = ("%s.%d.tmp"):format(at, stat:read "n")
    write(half, "half a profile")
    assert.is_true(helper.record(work):save(at))
    assert.equal("half a profile", read(half))
  end)

  it("has a name that is a string", function()
    local why = helper.failure(profiler.start, { file = true })
    assert.has_text("option 'file' must be a path", why)
    why = helper.failure(profiler.load, 12)
    assert.has_text("load: the path must be a string, got a number", why)
    why = helper.failure(function() helper.record(leaf):save() end)
    assert.has_text("save: the path must be a string, got a nil", why)
  end)
end)
