local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"
local profiler = require "cprof"

local watched = core.internals() == "direct" and
  command.shell "uname -s" == "Linux\n"

local function poll_of(p)
  return assert(helper.named(p, "spec_host.poll"))
end

-- How often waits of one call path may be interrupted within a time: the first
-- one, one after 16 seconds, one after 32 more, and so on.
local function often(seconds)
  return 1 + math.log(seconds / 16 + 1, 2) // 1
end

-- Polls for 3 ms after each ms of work: how many of n ended early; the profile.
local function record(n, timer)
  local ended = 0
  profiler.start { mode = "sample", timer = timer }
  for _ = 1, n do
    if host.poll(3, 1) then ended = ended + 1 end
  end
  profiler.stop()
  local p = profiler.snapshot()
  return ended, p
end

-- The header says what triggered the samples, and how often waits ended early.
local function check(p, ended)
  local text, meta = p:report(), p.meta
  assert.equal(ended, meta.interrupted)
  assert.is_true(meta.signals >= ended, meta.signals)
  assert.has_text(("(timer: %s, %d signal"):format(meta.timer, meta.signals),
    text)
  if ended > 0 then
    assert.has_text(("the sampling signal interrupted %d system " ..
      "call%s (EINTR)"):format(ended, ended == 1 and "" or "s"), text)
  else
    assert.has_no_text("the sampling signal interrupted", text)
  end
end

describe("a sampled program that works and polls by turns", function()
  it("has its polls end early only when their call path is new", function()
    if not watched then return end
    local ended, p = record(1000, "auto")
    check(p, ended)
    if p.meta.timer == "task-clock" then
      assert.is_true(ended <= often(p.meta.wall_ns / 1e9), ended)
    else
      assert.equal("thread", p.meta.timer)
    end
    assert.is_true(poll_of(p).self_wait_ns > p.meta.waiting_ns * 0.9)
  end)

  it("has few of them end early by a thread alone, and says how many",
    function()
    if not watched then return end
    local ended, p = record(1000, "thread")
    assert.equal("thread", p.meta.timer)
    check(p, ended)
    -- a busy machine may hold up a signal for longer than a poll takes; a
    -- timer ends nearly all of them
    assert.is_true(ended < 250, ended)
    assert.is_true(poll_of(p).self_wait_ns > p.meta.waiting_ns * 0.9)
  end)

  it("has those fail that its own signals have ended", function()
    if not watched then return end
    local ended, all = 0, 0
    profiler.start { mode = "sample", timer = "thread" }
    while all < 60 do
      local own = host.alarmedpoll(1000)
      if own ~= nil then all = all + 1 end
      if own then ended = ended + 1 end
    end
    profiler.stop()
    -- one begins again if a look comes in the last 50 us of a handler of 10 ms
    assert.is_true(ended > 52, ended)
  end)

  it("says how many a timer has ended", function()
    local ended, p = record(100, "wall")
    assert.equal("wall", p.meta.timer)
    check(p, ended)
  end)
end)

describe("a sampled program with a single processor", function()
  it("has samples of short work between its waits", function(dir)
    if not watched then return end
    local out, err = command.shell(("taskset -c %s $SPEC_LUA %s"):format(
      command.read "/proc/self/status":match "Cpus_allowed_list:%s*(%d+)",
      dir:file("x.lua", [[
        local helper = require "helper"
        local host = require "spec_host"
        local profiler = require "cprof"
        local function work()
          local x = 1
          for i = 1, 5000 do x = (x * 5 + i) % 65537 end  -- about 30 us
          return x
        end
        profiler.start { mode = "sample", timer = "thread", rate = 10000 }
        local n, ends, p, row = 0, os.time() + 300, nil, nil
        repeat
          for _ = 1, 200 do
            work()
            host.poll(1)
          end
          p = profiler.snapshot()
          row = helper.named(p, "work")
          n = row and row.total_samples or 0
        until n >= 20 or os.time() > ends
        profiler.stop()
        -- what others have makes samples rare, but takes no share from it
        local ran = p.program_ns - p.meta.waiting_ns
        print(n >= 20 and 2 * row.self_ns > ran and "good" or
          n .. " samples, " .. (row and row.self_ns or 0) .. " of " .. ran)]])))
    assert.equal("good\n", out, err)
  end)
end)

describe("a program that does not say what triggers its samples", function()
  -- what does; `how` starts the program
  local function timer(how)
    local dir <close> = command.folder()
    local out, err = command.shell(("%s $SPEC_LUA %s"):format(how,
      dir:file("x.lua", [[
        local profiler = require "cprof"
        profiler.start { mode = "sample" }
        repeat until profiler.snapshot().samples > 0
        profiler.stop()
        print(profiler.snapshot().meta.timer)]])))
    return out .. err
  end

  it("has them by a thread where the system gives that one short turns, " ..
    "else by a timer", function()
    -- where the user has chosen another policy, cprof asks for no turns
    assert.equal("wall\n", timer(watched and "chrt --batch 0" or ""))
    local turn = watched and host.turn(host.process())
    local file <close> = turn and io.open "/proc/thread-self/sched" or nil
    assert.equal(file and "thread\n" or "wall\n", timer "")
  end)
end)

describe("the thread that takes samples", function()
  -- what `of` returns for each thread, given its number and folder; of the one
  -- that takes samples: at `cprof`
  local function each(of)
    local out = {}
    local path = ("/proc/%d/task"):format(host.process())
    for thread in command.shell("ls " .. path):gmatch "%d+" do
      local folder = path .. "/" .. thread
      local name = command.read(folder .. "/comm")
      out[name == "cprof\n" and "cprof" or thread] =
        of(math.tointeger(thread), folder)
    end
    return out
  end

  it("has no precedence over the program's, which would hold these up",
    function()
    if not watched then return end
    local function precedence(_, folder)
      return command.read(folder .. "/stat"):match(
        "%) " .. ("%S+ "):rep(16) .. "(%S+)")
    end
    profiler.start { mode = "sample", timer = "thread" }
    local during = each(precedence)
    profiler.stop()
    local own = assert(during.cprof)
    for _, other in pairs(during) do assert.equal(other, own) end
  end)

  it("alone is scheduled so that it gets a processor in time", function()
    if not watched then return end
    -- ns for which each thread may run while others wait
    local function turns() return each(host.turn) end
    local before = turns()
    profiler.start { mode = "sample", timer = "thread" }
    local during = turns()
    profiler.stop()
    local own = during.cprof
    during.cprof = nil
    assert.same(before, during)
    assert.same(before, turns())
    -- Linux says it from 6.12 on
    local thread, turn = next(before)
    assert.is_true(not thread or own < turn, own)
  end)
end)

describe("an idle server", function()
  it("is shown as waiting where it waits, and gets no signals", function()
    if not watched then return end
    profiler.start { mode = "sample", timer = "auto" }
    local ended, tries, early = 0, 0
    local function wait(ms)
      early = host.poll(ms)
      if early then ended = ended + 1 end
    end
    -- the first wait of a call path is interrupted; a later one is only if a
    -- busy machine has delayed a signal until that wait began
    repeat wait(50) until ended > 0 and not early
    repeat
      tries = tries + 1
      wait(2000)
    until not early or tries == 4
    assert.is_false(early)
    -- the thread that takes the samples may have had no processor so far
    for _ = 1, 600 do
      if (poll_of(profiler.snapshot()).self_samples or 0) > 20 then break end
      wait(100)
    end
    profiler.stop()
    local p = profiler.snapshot()
    assert.equal(ended, p.meta.interrupted)
    local poll = poll_of(p)
    assert.is_true(poll.self_wait_ns > 2e9 * 0.9, poll.self_wait_ns)
    assert.is_true(poll.self_wait_ns > p.meta.waiting_ns * 0.9)
    assert.is_true(poll.self_samples > 20)
    -- the little time in which poll does not wait is not made out as all of it
    assert.has_no_text("of its self time: ", p:report())
  end)

  it("has its waits under the labels that are set, at one place in the code",
    function()
    if not watched then return end
    local ended, waits = 0, { a = 3, b = 1 }
    local function wait(label)
      local _ <close> = profiler.label(label)
      if host.poll(10 * waits[label.name]) then ended = ended + 1 end
    end
    profiler.start { mode = "sample", timer = "auto" }
    for _ = 1, 60 do
      wait { name = "a" }
      wait { name = "b" }
    end
    profiler.stop()
    local p = profiler.snapshot()
    local of = {}
    for _, row in ipairs(p.labels[1].values) do
      of[row.value or "none"] = row.total_wait_ns
    end
    assert.is_true(of.a + of.b > p.meta.waiting_ns * 0.9, of.a + of.b)
    -- a busy machine makes each wait longer, and samples rarer
    assert.is_true(of.a > of.b and of.b > 0, of.a / of.b)
    assert.is_true(ended < 30, ended)
  end)

  it("is idle, too, when it has closed all descriptors but its own",
    function()
    if not watched then return end
    local output = helper.run [[
      local helper = require "helper"
      local host = require "spec_host"
      local profiler = require "cprof"
      profiler.start { mode = "sample", timer = "auto" }
      host.closefiles()
      local ended = 0
      for _ = 1, 100 do
        if host.poll(20) then ended = ended + 1 end
      end
      profiler.stop()
      local p = helper.check(profiler.snapshot())
      local poll = helper.named(p, "spec_host.poll")
      assert(p.meta.interrupted == ended, ended)
      assert(ended < 10, ended)
      assert(poll.self_ns > p.program_ns * 0.9, poll.self_ns)
      print "good"]]
    assert.equal("good\n", output)
  end)

  it("keeps files that it has opened since, which have the same numbers",
    function()
    if not watched then return end
    local output = helper.run [[
      local host = require "spec_host"
      local profiler = require "cprof"
      profiler.start { mode = "sample", timer = "thread" }
      host.closefiles()
      local files = {}
      for i = 1, 16 do
        files[i] = assert(io.open(i % 2 == 0 and "/proc/stat" or
          "/proc/self/schedstat"))
      end
      host.poll(20)
      profiler.stop()
      for _, file in ipairs(files) do assert(file:read "l") end
      print "good"]]
    assert.equal("good\n", output)
  end)
end)
