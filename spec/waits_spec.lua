local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local profiler = require "cprof"

local q = command.quote
local linux <const> = command.shell "uname -s" == "Linux\n"
local row <const> = "(waiting, or in a C function)"

-- ns, half and most of what programs have waited at least
local long <const>, most <const> = 500000000, 800000000

-- Is busy for a while, and then in a C function.
local waiting = [[
  local host = require "spec_host"
  local function work()
    local t = os.clock()
    while os.clock() - t < 0.2 do end
  end
  work()
  host.sleep(%s, "ready")]]

-- Runs lines of a shell beside a program, $pid, that is recorded into x.cprof:
-- they begin a second after the system has said that it waits, or has ended.
-- Returns what the program printed.
local function beside(dir, options, seconds, lines)
  local script = dir:file("x.lua", waiting:format(seconds))
  command.bounded(([[cd %s
    cprof() { %s "$@"; }
    %s >out 2>err & pid=$!
    until [ -e ready ]; do sleep 0.02; done
    %s
    sleep 1
    %s
    kill -KILL $pid; wait $pid]]):format(q(dir.path), command.here(),
    command.here("run", "-o", "x.cprof", table.unpack(options)) .. " " ..
      q(script), linux and "while grep -qs '^State:.[^SZ]' " ..
      "/proc/$pid/status; do sleep 0.02; done" or "", lines))
  return command.read(dir:file "err")
end

local function self_of(p, name)
  local f = helper.named(p, name)
  return f and f.self_ns or 0
end

-- A tick may wake what waits, which then is ready, but others run: that time
-- is no part of the wait.
local function with_preempted(p, ns) return ns + p.meta.preempted_ns end

-- names of C functions are known in full when a recording is complete
local function slept(p)
  return with_preempted(p, math.max(self_of(p, "spec_host.sleep"),
    self_of(p, "sleep")))
end

local function load(dir, name)
  local p = helper.check(assert(profiler.load(dir:file(name))))
  return p
end

describe("a sampled program that waits in C", function()
  it("has its wait in a row of its own while it lasts", function(dir)
    beside(dir, { "--sample" }, 600, [[
      cprof export --format=json -o live.json x.cprof
      cprof export --format=folded -o live.folded x.cprof
      cprof report x.cprof >live.txt
      cprof top --screens 1 x.cprof >live.top]])
    local p = load(dir, "x.cprof")
    -- the program was killed, so its file does not tell that it waited
    assert.equal(0, self_of(p, row))
    assert.equal("the program ended without stopping it", p.meta.ended)
    local json = command.read(dir:file "live.json")
    local _, at = json:find(('"title":"%s"'):format(row), 1, true)
    assert.is_truthy(at, json)
    for _, name in ipairs { "live.folded", "live.txt", "live.top" } do
      local text = command.read(dir:file(name))
      assert.has_text(row, text)
    end
    -- busy for 0.2 s, and a second of waiting
    local whole, waited = 0, 0
    for line in io.lines(dir:file "live.folded") do
      local ns = math.tointeger(tonumber(line:match " (%d+)$"))
      whole = whole + ns
      if line:find(row, 1, true) then waited = waited + ns end
    end
    assert.is_true(waited > long, waited .. " of " .. whole)
    -- the final profile does not know of the wait: it has only the other time
    local worked = whole - waited
    assert.is_true(math.abs(worked - p.program_ns) < p.program_ns // 10,
      worked .. " and " .. p.program_ns)
    local text = command.read(dir:file "live.txt")
    assert.matches("last sample was %S+ ago", text)
  end)

  it("has the wait in the function that waited, when it is over", function(dir)
    beside(dir, { "--sample", "--quiet" }, 1.5, "wait $pid")
    local p = load(dir, "x.cprof")
    assert.equal(0, self_of(p, row))
    assert.is_nil(p.meta.ended)
    assert.is_true(slept(p) > long)
    for _, mode in ipairs { "self", "summary", "tree", "callgraph" } do
      local text = p:report { mode = mode, min_percent = 0, color = "never" }
      assert.has_no_text(row, text)
    end
    assert.has_no_text(row, helper.exported(p, "csv"))
  end)

  it("has the same sums, and nodes in the same places, from one load to " ..
    "the next", function(dir)
    local path = dir:file "x.cprof"
    local output = helper.run(([[
      local host = require "spec_host"
      local core = require "cprof.core"
      local profiler = require "cprof"
      local helper = require "helper"
      local child, process = host.fork()
      local function busy(seconds)
        local t = os.clock()
        while os.clock() - t < seconds do end
      end
      if child then
        profiler.start { mode = "sample", file = arg[1] }
        busy(0.2)
        os.execute(">" .. arg[1] .. ".in; until [ -e " .. arg[1] ..
          ".on ]; do sleep 0.02; done")
        local function other() busy(0.01) end
        repeat other() until io.open(arg[1] .. ".go")
        host.sleep(1000)
      end
      -- a child that stays would hold up the reader of the output
      local _ <close> = setmetatable({}, { __close = function(_, failed)
        if failed then os.execute("kill -9 " .. process) end
      end })
      local deadline = os.time() + 300
      local function waited(p)
        local f = p and helper.named(p, %q)
        return f and f.self_ns or 0
      end
      local function await(found)
        local p
        repeat
          assert(os.time() < deadline, "it never waits")
          host.sleep(0.05)
          p = profiler.load(arg[1])
        until p and found(p)
        return helper.check(p)
      end
      repeat
        assert(os.time() < deadline, "it never begins to wait")
        host.sleep(0.05)
      until io.open(arg[1] .. ".in")
      local first = await(function(p) return waited(p) > 5e8 end)
      host.sleep(1)
      io.open(arg[1] .. ".on", "w"):close()
      local second = await(function(p)
        return helper.named(p, "other") and waited(p) < waited(first)
      end)
      io.open(arg[1] .. ".go", "w"):close()
      local third = await(function(p) return waited(p) > 5e8 end)
      os.execute("kill -9 " .. process)
      host.wait()
      for _, name in ipairs { ".in", ".on", ".go" } do
        os.remove(arg[1] .. name)
      end
      -- a tick may wake what waits, and others run meanwhile
      local slept = helper.named(third, "os.execute").self_ns +
        third.meta.preempted_ns
      assert(slept > 9e8, slept)
      assert(helper.named(first, "os.execute") == nil)
      assert(core.since(second.nodes, first.nodes))
      assert(core.since(third.nodes, first.nodes))
      print "good"]]):format(row), path)
    assert.equal("good\n", output)
  end)
end)

describe("a recording that a signal ends", function()
  it("is in its file what the report said, also of a wait", function()
    for _, how in ipairs {
      { "TERM" }, { "HUP", "--sample" }, { "TERM", "--sample" },
      { "HUP", "--lines" }, { "INT" }, { "INT", "--sample" },
    } do
      local dir <close> = command.folder()
      local signal, options = how[1], { table.unpack(how, 2) }
      -- The first Ctrl-C raises an error after the wait, the second one ends
      -- the program: it must not come before the first one is pending.
      local kill = ("kill -%s $pid; "):format(signal)
      if signal == "INT" then
        kill = kill .. "until grep -q '^ShdPnd:.*[014589cd]$' " ..
          "/proc/$pid/status; do sleep 0.02; done; " .. kill
      end
      local err = beside(dir, options, 600, kill .. "wait $pid")
      local p = load(dir, "x.cprof")
      assert.equal("a signal ended the program", p.meta.ended)
      assert.is_falsy(p.meta.live)
      local waited = options[1] == "--sample" and
        with_preempted(p, self_of(p, row)) or slept(p)
      assert.is_true(waited > long, waited)
      local wall = err:match "\n(%S+) wall[:,]? "
      assert.equal(require "cprof.text.format".time(p.meta.wall_ns), wall, err)
      local since = p.meta.since_last_event_ns
      assert.is_truthy(err:gsub("%s+", " "):find(("a signal ended the " ..
        "program, %s after the last %s"):format(
        require "cprof.text.format".time(since),
        options[1] == "--sample" and "sample" or "event"), 1, true), err)
      assert.is_true(since > long)
      -- the clocks of the thread tell that it has waited
      local idle = p.meta.since_last_event_waiting_ns
      assert.equal(idle == nil, err:gsub("%s+", " "):find("that time counts " ..
        "as CPU time, even if the program waited", 1, true) ~= nil, err)
      if linux then
        assert.is_true(with_preempted(p, idle) > most, idle)
        assert.is_true(p.meta.waiting_ns >= idle)
        local at = options[1] == "--sample" and helper.named(p, row) or
          helper.named(p, "spec_host.sleep") or helper.named(p, "sleep")
        assert.is_true(with_preempted(p, at.self_wait_ns) > most,
          at.self_wait_ns)
      end
    end
  end)

  it("is complete without a report, too", function(dir)
    local err = beside(dir, { "--quiet" }, 600, "kill -TERM $pid; wait $pid")
    assert.equal("", err)
    local p = load(dir, "x.cprof")
    assert.equal("a signal ended the program", p.meta.ended)
    assert.is_true(slept(p) > long)
  end)
end)

describe("a program that mostly waits", function()
  it("is said to, and its next command shows what works", function(dir)
    local script = dir:file("x.lua", [[
      local function work()
        local from = os.clock()
        repeat
          local x = 0
          for i = 1, 1e6 do x = x + i end
        until os.clock() > from + 0.1
      end
      for _ = 1, 3 do work() os.execute "sleep 0.2" end
      local waited = 0.6
      while waited < os.clock() * 4 do
        os.execute "sleep 1"
        waited = waited + 1
      end]])
    local path = dir:file "x.cprof"
    local _, err = command.must("run", "-o", path, script)
    local p = assert(profiler.load(path))
    if not p.meta.waiting_ns or p.meta.preempted_unknown then return end
    local note = "\nnote: most of the time was waiting: --measure=cpu sorts " ..
      "by CPU time\n"
    assert.has_text(note, err)
    assert.matches("\nNext: cprof show [^\n]+ work\n", err)
    local out = command.cprof("report", "--measure=cpu", path)
    assert.has_no_text(note, out)
    assert.matches("defined\n[^\n]+ work ", out)
  end)
end)
