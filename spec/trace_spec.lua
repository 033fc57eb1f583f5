local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local host = require "spec_host"
local perfetto = require "perfetto"
local profiler = require "cprof"
local releases = require "releases"

local with_gc = releases.it(_ENV, releases.without_gc())

local function leaf() end
local function tail() return leaf() end
local function fails() leaf() error "no" end

-- what a trace tells of `f`, a line per event, below f itself
local function told(f, options)
  local events, inside = {}, false
  options = options or {}
  options.mode = "trace"
  local base
  local last = 0
  options.trace = function(event, depth, title, since, took)
    local name = title:match "^(.-) %(" or title
    assert(math.type(since) == "integer" and since >= last)
    last = since
    assert((took == nil) == (event == "enter"))
    assert(not took or math.type(took) == "integer" and took >= 0)
    if name == "f" and event == "leave" and depth == base then
      inside = false
    end
    if inside then
      events[#events + 1] = ("%s%s %s"):format((" "):rep(depth - base - 1),
        event == "enter" and ">" or "<", name)
    end
    if not base and name == "f" then inside, base = true, depth end
  end
  profiler.start(options)
  f()
  profiler.stop()
  local p = profiler.snapshot()
  return table.concat(events, "\n"), p
end

describe("a trace", function()
  after_each(function() profiler.stop() end)

  it("tells each enter and leave, in order and depth", function()
    local function f() leaf() string.rep("x", 3) leaf() end
    local text, p = told(f)
    assert.equal("> leaf\n< leaf\n> string.rep\n< string.rep\n> leaf\n< leaf",
      text)
    assert.equal("trace", p.meta.mode)
    assert.equal(2, helper.find(p, leaf).calls)
  end)

  it("leaves what a tail call replaces before it enters that", function()
    local function f() tail() end
    assert.equal("> tail\n< tail\n> leaf\n< leaf", (told(f)))
  end)

  it("leaves what an error left, at the next event", function()
    local function f() pcall(fails) leaf() end
    assert.equal(helper.dedent [[
      > pcall
       > fails
        > leaf
        < leaf
        > error
        < error
       < fails
      < pcall
      > leaf
      < leaf]], (told(f)))
  end)

  it("goes on in a coroutine where it was left", function()
    local function body() leaf() coroutine.yield() leaf() end
    local function f()
      local co = coroutine.create(body)
      coroutine.resume(co)
      leaf()
      coroutine.resume(co)
    end
    assert.equal(helper.dedent [[
      > coroutine.create
      < coroutine.create
      > coroutine.resume
       > body
        > leaf
        < leaf
        > coroutine.yield
      < coroutine.resume
      > leaf
      < leaf
      > coroutine.resume
        < coroutine.yield
        > leaf
        < leaf
       < body
      < coroutine.resume]], (told(f)))
  end)

  it("tells of zones, also of those that an error closes", function()
    local function zoned()
      profiler.enter("load", 1)
      leaf()
      profiler.leave "load"
      profiler.enter "lost"
      error "no"
    end
    local function f() pcall(zoned) end
    assert.equal(helper.dedent [[
      > pcall
       > zoned
        > load(1)
         > leaf
         < leaf
        < load(1)
        > lost
         > error
         < error
        < lost
       < zoned
      < pcall]], (told(f)))
  end)

  it("passes the filters of start", function()
    local function f() tail() string.rep("x", 2) end
    assert.equal("> leaf\n< leaf", (told(f, {
      exclude = { "/^tail /", "/^string/" },
      c_functions = true })))
    assert.equal("> tail\n< tail\n> leaf\n< leaf",
      (told(f, { c_functions = false })))
  end)

  it("has the time since the start and the duration, without its own",
    function()
      local S = host.state()
      S:run [[require "spec_zones".clock(true)]]
      local result = S:run [[
        local profiler, zones = require "cprof", require "spec_zones"
        local out = {}
        local function slow() zones.pass(1000) end
        profiler.start { mode = "trace", exclude = { ".pass " },
          trace = function(event, depth, title, since, took)
            out[#out + 1] = ("%s%d %s %d %s"):format(event:sub(1, 1), depth,
              title:match "^[%w_.]+", since, took)
            zones.pass(50)  -- what the trace costs
          end }
        slow()
        zones.pass(7)
        zones.within(slow)
        profiler.stop()
        local p = profiler.snapshot()
        out[#out + 1] = p.nodes[1].total_ns
        return table.concat(out, ", ")]]
      S:close()
      assert.equal("e0 slow 0 nil, l0 slow 1000 1000, " ..
        "e0 spec_zones.within 1007 nil, e1 within 1007 nil, " ..
        "e2 slow 1007 nil, l2 slow 2007 1000, l1 within 2007 1000, " ..
        "l0 spec_zones.within 2007 1000, " .. 2007 + 8 * 50, result)
    end)

  it("goes to a file, line by line, so that a crash shows the last call",
    function(dir)
      local path = dir:file "x"
      local code = [[
        local profiler = require "cprof"
        profiler.start { mode = "trace", trace = arg[1] }
        local function crash() string.rep("x", 3) os.exit(3, false) end
        crash()]]
      local _, _, _, status = helper.run(code, path)
      assert.equal(3, status)
      local lines = {}
      for line in io.lines(path) do lines[#lines + 1] = line end
      assert.matches("^ *%d+%.%d+ms > crash %(.*:3%)$", lines[1])
      assert.matches("^ *%d+%.%d+ms   > string.rep", lines[2])
      assert.matches("^ *%d+%.%d+ms   < string.rep.*  %d+%.%d+ms$", lines[3])
      assert.matches("^ *%d+%.%d+ms   > os.exit", lines[4])
      assert.equal(4, #lines)
    end)

  -- Traces a zone with a name that formats must change, and two coroutines;
  -- calls `halfway` while the other coroutine is suspended.
  local function trace_coroutine(path, halfway)
    local name = "a\"\xFF\\ é\n"
    profiler.start { mode = "trace", trace = path }
    profiler.enter(name)
    local co = coroutine.wrap(function()
      leaf()
      coroutine.yield()
      tail()
    end)
    co()
    pcall(fails)
    if halfway then halfway() end
    co()
    profiler.leave(name)
    profiler.stop()
  end

  it("goes to a file of Perfetto's packets, a track for each coroutine",
    function(dir)
      local path = dir:file "x.pftrace"
      local half
      trace_coroutine(path, function()
        half = perfetto(command.read(path), true)
      end)
      local d = perfetto(command.read(path))
      assert.same({ "coroutine 1", "coroutine 2" }, { d.tracks[1],
        d.tracks[2] })
      local seen, on = {}, {}
      for i, s in ipairs(d.slices) do
        local plain = s.name:match "^(.-) %(" or s.name
        seen[plain] = (seen[plain] or 0) + 1
        on[plain] = s.track
        if half.slices[i] then assert.equal(half.slices[i].name, s.name) end
      end
      assert.is_true(#half.slices > 5 and #half.slices < #d.slices)
      assert.same({ 1, 1, 1, 2 }, { seen["a\"\\255\\ é\n"], seen.fails,
        on.fails, on.leaf })
    end)

  it("goes to a file of trace events, which nest in each coroutine",
    function()
      local path = os.tmpname() .. ".json"
      trace_coroutine(path)
      local file = io.open(path)
      local events = assert(require "dkjson".decode(file:read "a"))
      file:close()
      os.remove(path)
      assert.equal("M", table.remove(events).ph)
      local open, tids, last, seen = {}, 0, 0, {}
      for _, e in ipairs(events) do
        assert.is_true(e.ts >= last)
        last = e.ts
        if not open[e.tid] then open[e.tid], tids = {}, tids + 1 end
        if e.ph == "B" then table.insert(open[e.tid], e.name)
        else assert.equal(table.remove(open[e.tid]), e.name) end
        local plain = e.name:match "^(.-) %(" or e.name
        seen[plain] = (seen[plain] or 0) + 1
      end
      assert.equal(2, tids)
      for _, names in pairs(open) do assert.same({}, names) end
      assert.equal(2, seen["a\"\\255\\ é "])
      assert.equal(6, seen.leaf)
      assert.equal(2, seen.tail)
    end)

  it("indents text by its depth, as far as there are columns", function(dir)
    local path = dir:file "x"
    local function deep(n) if n > 0 then return 1 + deep(n - 1) end leaf() end
    profiler.start { mode = "trace", trace = path }
    pcall(deep, 600)
    profiler.stop()
    local depths = {}
    for line in io.lines(path) do
      local spaces, rest = line:match "^ *%d+%.%d+ms ( *)(.*)$"
      local level = rest:match "^%[(%d+)%] "
      assert.is_true(#line < 400)
      assert.is_true(level == nil or #spaces == 80)
      depths[#depths + 1] = math.tointeger(level) or #spaces // 2
      assert.is_true(level == nil or depths[#depths] > 40)
    end
    -- pcall, 601 levels of deep, leaf, and back again
    assert.equal(2 * 603, #depths)
    for i = 1, 603 do
      assert.equal(i - 1, depths[i])
      assert.equal(i - 1, depths[#depths + 1 - i])
    end
  end)

  it("goes to standard error by default", function()
    local output = helper.run [[
      local profiler = require "cprof"
      profiler.start { mode = "trace" }
      string.rep("x", 3)
      profiler.stop()]]
    assert.equal("> string.rep  < string.rep ", output:gsub("%d+%.%d+ms", "")
      :gsub("%[C%]", ""):gsub("[%s()]+", " "):gsub("^ ", "")
      :gsub(" < ", "  < "):gsub("  $", " "))
  end)

  it("leaves what an error in a coroutine left", function()
    local function inner() coroutine.yield() fails() end
    local function f()
      local co = coroutine.create(function() inner() end)
      coroutine.resume(co)
      coroutine.resume(co)
      pcall(coroutine.wrap(function() coroutine.wrap(fails)() end))
      leaf()
      return co  -- lives
    end
    local text = told(f)
    for _, name in ipairs { "inner", "fails", "error", "leaf", "pcall",
      "coroutine.wrap", "coroutine.resume", "coroutine.yield" } do
      local pattern = " " .. name:gsub("%p", "%%%0") .. "%f[\n\0]"
      local entered = select(2, text:gsub(">" .. pattern, ""))
      assert.is_true(entered > 0, name)
      assert.equal(entered, select(2, text:gsub("<" .. pattern, "")), text)
    end
    assert.equal(2, select(2, text:gsub("< error\n +< fails\n", "")), text)
  end)

  it("that cannot be written is an error, or ends the recording", function()
    local message = helper.failure(profiler.start,
      { mode = "trace", trace = "/nowhere/at/all" })
    assert.has_text("start: cannot write '/nowhere/at/all': No such", message)
    assert.is_false(profiler.running())
    profiler.start { mode = "trace", trace = "/dev/full" }
    leaf()
    leaf()
    assert.is_false(profiler.running())
    assert.equal("the trace failed: No space left on device",
      profiler.snapshot().meta.ended)
  end)

  it("ends where the disk is full", function(dir)
    local script = dir:file("x.lua", [[
      local profiler = require "cprof"
      profiler.start { mode = "trace", trace = arg[1] }
      for i = 1, 6000 do tostring(i) end
      profiler.stop()
      print(profiler.snapshot().meta.ended)]])
    local full = dir.path .. "/full"
    local mounted = ("mkdir -p %s && mount -t tmpfs -o size=100k tmpfs %s")
      :format(full, full)
    if not os.execute(("unshare -rm sh -c '%s' 2>/dev/null"):format(mounted))
    then
      pending "nothing can be mounted here"
      return
    end
    for _, name in ipairs { "x.txt", "x.json", "x.pftrace" } do
      local out, err = command.shell(("unshare -rm sh -c '%s && $SPEC_LUA " ..
        "%s %s/%s'"):format(mounted, script, full, name))
      assert.equal("the trace failed: No space left on device\n", out, err)
    end
  end)

  it("ends where its file reaches the size that it may have", function()
    for _, name in ipairs { "x.txt", "x.json", "x.pftrace" } do
      local dir <close> = command.folder()
      local script = dir:file("x.lua", [[
        local profiler = require "cprof"
        profiler.start { mode = "trace", trace = arg[1] }
        for i = 1, 1000 do tostring(i) end
        print(profiler.running())
        profiler.stop()
        print(profiler.snapshot().meta.ended)]])
      local out, err, status = command.shell(("ulimit -f 2; $SPEC_LUA %s %s")
        :format(script, dir:file(name)))
      assert.equal(0, status, err)
      assert.equal("false\nthe trace failed: File too large\n", out)
      local text = command.read(dir:file(name))
      assert.is_true(#text > 900 and #text <= 2048)
    end
  end)

  it("cannot begin where nothing can be written", function(dir)
    local path = dir:file "x.json"
    assert(os.execute("ln -s /dev/full " .. path))
    local message = helper.failure(profiler.start,
      { mode = "trace", trace = path })
    assert.has_text(("start: cannot write '%s': No space left"):format(path),
      message)
    assert.is_false(profiler.running())
  end)

  it("whose function raises an error ends, and the program goes on",
    function()
      local n = 0
      profiler.start { mode = "trace", trace = function()
        n = n + 1
        if n == 3 then error("enough", 0) end
      end }
      leaf()
      leaf()
      leaf()
      assert.is_false(profiler.running())
      assert.equal(3, n)
      assert.equal("the trace failed: enough",
        profiler.snapshot().meta.ended)
    end)

  it("says if the program's stack leaves it no room", function()
    local function f() leaf() end
    local seen, nothing = {}, {}
    for n = 999930, 999980 do
      profiler.start { mode = "trace", trace = function() end }
      -- a coroutine has a stack of its own
      local ok = coroutine.resume(coroutine.create(function()
        f(table.unpack(nothing, 1, n))
      end))
      profiler.stop()
      local why = profiler.snapshot().meta.ended
      if why then
        seen[why:match "^the trace failed: .*(stack %l.*)$" or why] = ok
      end
    end
    -- each release of Lua has only some of these
    for _, why in ipairs { "stack cannot grow", "stack overflow",
      "the trace failed: error in error handling" } do
      if seen[why] ~= nil then
        assert.is_true(seen[why])
        seen[why], seen.any = nil, true
      end
    end
    assert.same({ any = true }, seen)
  end)

  it("does not record what its function does", function()
    local function f() leaf() end
    local inner = {}
    local _, p = told(f)
    assert.is_nil(helper.named(p, "string.format"))
    profiler.start { mode = "trace", trace = function() leaf() tail() end }
    f()
    profiler.enter "zone"
    profiler.leave "zone"
    profiler.stop()
    p = profiler.snapshot()
    helper.check(p)
    assert.equal(1, helper.find(p, leaf).calls)
    assert.same({}, inner)
  end)

  it("can be stopped by its function, which can do nothing else", function()
    local n, did, looked = 0, {}, nil
    local function tell()
      n = n + 1
      profiler.enter "mine"
      local _ <close> = profiler.zone "mine"
      if n ~= 4 then return end
      for _, name in ipairs { "pause", "resume", "reset", "frame", "stop" } do
        did[#did + 1] = name .. " " .. tostring(profiler[name]())
        if name == "frame" then looked = profiler.snapshot() end
      end
      did[#did + 1] = select(2, pcall(profiler.start)):match "start: .*"
    end
    profiler.start { mode = "trace", trace = tell }
    leaf()
    leaf()
    leaf()
    assert.is_false(profiler.running())
    assert.is_nil(debug.gethook())
    assert.equal(4, n)
    assert.equal("pause false, resume false, reset false, frame false, " ..
      "stop true, start: called from a trace function",
      table.concat(did, ", "))
    local p = profiler.snapshot()
    for _, each in ipairs { looked, p } do
      helper.check(each)
      assert.equal(2, helper.find(each, leaf).calls)
      assert.is_nil(helper.named(each, "mine"))
      assert.is_false(each.meta.hook_lost)
    end
    profiler.start()
    leaf()
    profiler.stop()
    assert.equal(1, helper.find(profiler.snapshot(), leaf).calls)
  end)

  it("tells of zones at any depth", function()
    local events, deepest = 0, 0
    local function deep(n)
      local _ <close> = profiler.zone "level"
      if n > 0 then deep(n - 1) end
      profiler.enter "end"
    end
    profiler.start { mode = "trace", trace = function(_, depth)
      events, deepest = events + 1, math.max(deepest, depth)
    end }
    deep(500)
    profiler.stop()
    local p = profiler.snapshot()
    assert.equal(501, helper.named(p, "level").calls)
    assert.equal(501 * 6, events)
    assert.equal(501 * 2, deepest)
  end)

  it("counts its depth anew after a reset, in suspended coroutines, too",
    function()
      local depths = {}
      local co = coroutine.wrap(function()
        tail()
        coroutine.yield()
        leaf()
      end)
      profiler.start { mode = "trace", trace = function(event, depth, title)
        if event == "enter" and title:find "^leaf" then
          depths[#depths + 1] = depth
        end
      end }
      co()
      profiler.reset()
      leaf()
      co()
      profiler.stop()
      -- the resume is one level, and the functions before the reset are none
      assert.same({ depths[2], depths[2] + 1 }, { depths[2], depths[3] })
    end)

  it("outlives a reset, a pause and a forgotten coroutine", function()
    local depths = {}
    profiler.start { mode = "trace", trace = function(event, depth, title)
      depths[#depths + 1] = event:sub(1, 1) .. depth ..
        (title:match "^(.-) %(" or title)
    end }
    local function f()
      leaf()
      profiler.reset()
      leaf()
      profiler.pause()
      leaf()
      profiler.resume()
      leaf()
    end
    f()
    local function body() coroutine.yield() end
    coroutine.wrap(body)()
    leaf()
    profiler.stop()
    assert.equal("e0f e1leaf l1leaf e0leaf l0leaf e0leaf l0leaf " ..
      "e0coroutine.wrap l0coroutine.wrap e0coroutine.wrap function " ..
      "e1body e2coroutine.yield l0coroutine.wrap function " ..
      "e0leaf l0leaf", table.concat(depths, " "))
  end)
end)

describe("a trace with gc = true", function()
  local function garbage(n)
    local t
    for i = 1, n do t = { i, { i } } end
    return t
  end

  -- other specs may have left a large heap, which is collected less often:
  -- so a cycle begins at once after the one before, and steps are small
  before_each(function()
    collectgarbage("incremental", 100, 20)
    collectgarbage()
  end)

  after_each(function()
    profiler.stop()
    collectgarbage("incremental", 200, 100)
  end)

  -- Time passes only in `make`, and in finalizers: a step takes as long as
  -- those that run in it. The heap has several sizes, so that steps are due at
  -- several places, also where cprof itself allocates.
  with_gc("has each step of the collector, with the time that it took",
    function()
      local all = 0
      for kb = 0, 120, 3 do
        local kind, how = "generational", "5"
        if kb % 30 == 0 then kind, how = "incremental", "100, 100, 10" end
        local S = host.state()
        S:run [[require "spec_zones".clock(true)]]
        local result = S:run(([[
          local profiler, zones = require "cprof", require "spec_zones"
          local heap = {}
          for i = 1, %d do heap[i] = ("x"):rep(1000) .. i end
          collectgarbage(%q, %s)
          local sums = { steps = 0, made = 0, wrong = 0 }
          -- ns of the steps below each function
          local below = setmetatable({}, { __index = function() return 0 end })
          local open, ran, before, begun = {}, 0, 0, 0
          local metatable = { __gc = function()
            zones.pass(1000)
            ran = ran + 1
          end }
          local function make(n)
            for i = 1, n do
              zones.pass(7)
              sums.made = sums.made + 1
              setmetatable({ {}, i }, metatable)
            end
          end
          local function work()
            make(2000)
            pcall(function() make(100) error "no" end)
            coroutine.wrap(function()
              make(2000)
              coroutine.yield()
              make(1)
            end)()
            make(2000)
          end
          local function tell(event, depth, title, since, took)
            local name = title:match "^(.-) %%(" or title
            if name ~= "(garbage collector)" then
              open[depth] = event == "enter" and name or nil
            elseif event == "enter" then
              sums.steps = sums.steps + 1
              begun = since
              if took then sums.wrong = sums.wrong + 1 end
              sums.ran = ran - before
            else
              if took ~= since - begun or took ~= sums.ran * 1000 then
                sums.wrong = sums.wrong + 1
              end
              local of = open[depth - 1]
              below[of] = below[of] + took
            end
            before = ran
          end
          profiler.start { mode = "trace", gc = true, trace = tell,
            exclude = { ".pass " } }
          work()
          local took = ran * 1000
          profiler.stop()
          local p = profiler.snapshot()
          local of = {}
          for _, f in ipairs(p.functions) do of[f.name] = f end
          local zone = of["(garbage collector)"] or { self_ns = 0, calls = 0 }
          for _, node in ipairs(p.nodes) do
            if node.func == zone.id then
              local name = p.functions[p.nodes[node.parent].func].name
              below[name] = below[name] - node.self_ns
            end
          end
          for _, ns in pairs(below) do
            if ns ~= 0 then sums.wrong = sums.wrong + 1 end
          end
          -- some steps may be a part of what cprof itself did
          local known = took == 0 or zone.self_ns > 0
          return sums.steps .. " " .. table.concat({ tostring(known),
            sums.wrong, sums.steps - p.meta.gc_steps, zone.calls,
            of.make.self_ns - 7 * sums.made,
            p.meta.wall_ns - p.nodes[1].total_ns }, " ")]]):format(kb, kind,
            how))
        S:close()
        local steps, rest = result:match "^(%d+) (.*)"
        assert.equal("true 0 0 0 0 0", rest,
          ("%s %d: %s"):format(kind, kb, result))
        all = all + steps
      end
      assert.is_true(all > 100, all)
    end)

  -- Records `work` of this code. `make` makes garbage with a finalizer, which
  -- takes 1,000 ns. The trace calls `grow` of this code, which adds to `grown`.
  -- Returns how many finalizers ran, the ns of all steps that the trace was
  -- told of, and the size of `grown`.
  local function grown_by(code)
    local S = host.state()
    S:run [[require "spec_zones".clock(true)]]
    local result = S:run(([[
      local profiler, zones = require "cprof", require "spec_zones"
      local ran, took, grown = 0, 0, {}
      local function make()
        setmetatable({}, { __gc = function()
          zones.pass(1000)
          ran = ran + 1
        end })
      end
      %s
      local function tell(event, depth, title, since, ns)
        grow(event, title)
        if title == "(garbage collector)" then took = took + (ns or 0) end
      end
      collectgarbage("generational")
      profiler.start { mode = "trace", gc = true, trace = tell }
      work()
      profiler.stop()
      return ran .. " " .. took .. " " .. #grown]]):format(code))
    S:close()
    return result
  end

  -- a table that grows makes a step due, which Lua makes at the next object
  with_gc("has a step of the program that the trace made due", function()
    assert.equal("1 1000 " .. (1 << 18), grown_by [[
      local function idle() end
      local function work()
        make()
        idle()
        return { { {} } }
      end
      local function grow(event, title)
        if event == "leave" and title:find("^idle") then
          for i = 1, 1 << 18 do grown[i] = i end
        end
      end]])
  end)

  -- The first call of the trace in an event makes the step due and puts it off
  -- by some bytes; the second call allocates more than these bytes.
  with_gc("has a step that two calls of the trace made due", function()
    assert.equal("1 1000 2", grown_by [[
      local function other() return { { {} } } end
      local function idle() return other() end
      local function work()
        make()
        idle()
      end
      local function grow(event, title)
        local name = title:match "^%w+"
        if event == "leave" and name == "idle" or
           event == "enter" and name == "other" then
          local list = {}
          for i = 1, 1 << 18 do list[i] = i end
          grown[#grown + 1] = list
        end
      end]])
  end)

  with_gc("has the steps of the collector in the coroutine that ran",
    function()
      local function work()
        local co = coroutine.wrap(function()
          garbage(20000)
          coroutine.yield()
          garbage(20000)
        end)
        co()
        garbage(20000)
        co()
      end
      -- what a trace in a file of this kind has, and the profile
      local function recorded(ending)
        local path = os.tmpname() .. ending
        local p = helper.record(work, { mode = "trace", gc = true,
          trace = path })
        local text = command.read(path)
        os.remove(path)
        assert.is_true(p.meta.gc_steps > 3)
        return text, p
      end
      local text, p = recorded ".txt"
      assert.equal(p.meta.gc_steps, select(2, text:gsub(
        "ms  *> %(garbage collector%)\n *%d+%.%d+ms  *" ..
        "< %(garbage collector%)  %d+%.%d+ms\n", "")))
      text, p = recorded ".json"
      local steps, ns, begun, tids, several = 0, 0, {}, {}, 0
      for phase, us, part, tid in text:gmatch('"name":"%(garbage ' ..
        'collector%)","ph":"(%u)","ts":(%d+)%.(%d+),"pid":%d+,"tid":(%d+)') do
        local at = us * 1000 + part
        if phase == "B" then begun[tid] = at
        else
          steps, ns = steps + 1, ns + at - begun[tid]
          begun[tid] = nil
          if not tids[tid] then tids[tid], several = true, several + 1 end
        end
      end
      assert.same({}, begun)
      assert.equal(2, several)
      assert.equal(p.meta.gc_steps, steps)
      assert.equal(helper.named(p, "(garbage collector)").self_ns, ns)
    end)

  with_gc("has no steps of the collector that its own garbage makes due",
    function()
      local function work() for _ = 1, 20000 do leaf() end end
      local finalized = 0
      local metatable = { __gc = function() finalized = finalized + 1 end }
      local p = helper.record(work, { mode = "trace", gc = true,
        trace = function() setmetatable({ {} }, metatable) end })
      -- one step may have been due before, for older garbage of the program
      assert.is_true(p.meta.gc_steps <= 1, p.meta.gc_steps)
      assert.is_true(finalized > 1000)
    end)

  with_gc("can be stopped, or fail, at a step of the collector", function()
    for _, at in ipairs { "enter", "leave" } do
      for _, fails_there in ipairs { false, true } do
        local seen = 0
        profiler.start { mode = "trace", gc = true,
          trace = function(event, _, title)
            if title ~= "(garbage collector)" or event ~= at then return end
            seen = seen + 1
            if fails_there then error("enough", 0) end
            profiler.stop()
          end }
        garbage(100000)
        assert.is_false(profiler.running())
        profiler.stop()
        assert.equal(1, seen)
        local p = helper.check(profiler.snapshot())
        assert.equal(1, p.meta.gc_steps)
        assert.equal(fails_there and "the trace failed: enough" or nil,
          p.meta.ended)
        assert.is_nil(debug.gethook())
      end
    end
  end)
end)

describe("the trace of a whole program", function()
  local program = [[
    local profiler = require "cprof"
    local function leaf() end
    leaf()
    profiler.wrap("zone", leaf)()
    profiler.snapshot()
    print(profiler.report() ~= "")
  ]]
  local events = helper.dedent [[
    > main
     > require
     < require
     > leaf
     < leaf
     > zone
      > leaf
      < leaf
     < zone
     > print
     < print]]

  -- what it tells, below `base`; the times never step back
  local function read(path, base)
    local out, last = {}, 0
    for line in io.lines(path) do
      local time, indent, what, name =
        line:match "^ *(%d+%.%d+)ms( *)([<>]) (%S+)"
      assert(time, line)
      if line:find("(main chunk)", 1, true) then name = "main" end
      assert.is_true(tonumber(time) >= last, line)
      last = tonumber(time)
      out[#out + 1] = indent:sub(2 * base + 2):gsub("  ", " ") .. what ..
        " " .. name
    end
    return table.concat(out, "\n")
  end

  local ends = { [""] = "\n< main", ["os.exit(0)"] = "\n > os.exit",
    ["os.exit(0, true)"] = "\n > os.exit" }

  it("is the program's, from the first line to the last", function(dir)
    local path, file = dir:file "trace.txt", dir:file "x.cprof"
    for code, last in pairs(ends) do
      local script = dir:file("x.lua", program .. code)
      for _, options in ipairs { {}, { "-o", file } } do
        options[#options + 1] = script
        local _, err, status = command.cprof("run", "--quiet",
          "--trace=" .. path, table.unpack(options))
        assert.same({ "", 0 }, { err, status })
        assert.equal(events .. last, read(path, 0))
      end
    end
  end)

  it("is a complete list of trace events, however the program ends",
    function(dir)
      local path = dir:file "trace.json"
      for _, code in ipairs { "", "os.exit(0)", "os.exit(0, true)",
        "error 'x'" } do
        local script = dir:file("x.lua", "print(1) " .. code)
        command.cprof("run", "--quiet", "--trace=" .. path, script)
        local list = assert(require "dkjson".decode(command.read(path)), code)
        assert.equal("M", list[#list].ph)
        command.shell(("env CPROF_OPTIONS=mode=trace,file=%s,trace=%s " ..
          "$SPEC_LUA -lcprof.auto %s"):format(dir:file "x.cprof", path, script))
        list = assert(require "dkjson".decode(command.read(path)), code)
        assert.equal("M", list[#list].ph)
        -- without the command, this leaves the state as it is
        if code == "os.exit(0)" then goto continue end
        command.lua("-e", ("require 'cprof'.start { mode = 'trace', " ..
          "trace = %q }"):format(path), script)
        list = assert(require "dkjson".decode(command.read(path)), code)
        assert.equal("M", list[#list].ph)
        ::continue::
      end
    end)

  it("is written if the environment asks for it", function(dir)
    local path = dir:file "trace.txt"
    for code, last in pairs(ends) do
      local script = dir:file("x.lua", program .. code)
      local _, err, status = command.shell(("env CPROF_OPTIONS=mode=trace," ..
        "file=%s,trace=%s $SPEC_LUA -lcprof.auto %s"):format(
        dir:file "x.cprof", path, script))
      assert.same({ "", 0 }, { err, status })
      assert.equal(events .. last, read(path, 0))
    end
  end)
end)
