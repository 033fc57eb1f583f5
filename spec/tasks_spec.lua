-- driven must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local compile = require "compile"
local core = require "cprof.core"
local helper = require "helper"
local join = require "cprof.profile.join"
local merge = require "cprof.profile.merge"
local nomemory = require "nomemory"
local profiler = require "cprof"
local range = require "cprof.profile.range"

local ms <const> = 1000000
local ends <const> = { "returned", "failed", "closed", "collected" }

-- with a driven clock, only `pass` takes time
local pass <const> = driven.pass

local function here() return debug.getinfo(2, "l").currentline end

local function record(f, options)
  options = options or {}
  options.tasks = true
  return driven.parts(f, options)
end

-- the only task that runs `f`
local function task_of(p, f)
  local title, found = helper.find(p, f).title, nil
  for _, task in ipairs(p.tasks) do
    if task.func and p.functions[task.func].title == title then
      assert.is_nil(found)
      found = task
    end
  end
  return assert(found)
end

-- the names of the functions on the call path of a node
local function path(p, node)
  local out = {}
  while node do
    local parent, func = core.node(p.nodes, node)
    table.insert(out, 1, p.functions[func].name)
    node = parent > 0 and parent or nil
  end
  return out
end

-- the figures of a task, in ms
local function figures(task)
  return { running = task.running_ns / ms, suspended = task.suspended_ns / ms,
    max = task.max_ns / ms, slices = task.slices, resumes = task.resumes }
end

-- how many coroutines have ended in which way; none is lost
local function fates(p, task)
  helper.check(p)
  local left, out = task.created + task.met, { alive = task.alive }
  for _, how in ipairs(ends) do
    left = left - task[how]
    out[how] = task[how] > 0 and task[how] or nil
  end
  assert.equal(left, task.alive)
  return out
end

for _, mode in ipairs { "call", "line" } do
  describe("tasks in mode " .. mode, function()
    it("have the time that coroutines run and are suspended", function()
      local made
      local function body()
        pass(1 * ms)
        coroutine.yield()
        pass(2 * ms)
        coroutine.yield()
        pass(4 * ms)
      end
      local p = record(function()
        for _ = 1, 2 do
          made = here() + 1
          local co = coroutine.create(body)
          coroutine.resume(co)
          pass(10 * ms)
          coroutine.resume(co)
          pass(20 * ms)
          coroutine.resume(co)
        end
      end, { mode = mode })
      local task = task_of(p, body)
      assert.same({ running = 14, suspended = 60, max = 4, slices = 6,
        resumes = 6 }, figures(task))
      assert.equal(made, task.line)
      assert.equal(2, task.created)
      assert.equal(0, task.met)
      assert.same({ alive = 0, returned = 2 }, fates(p, task))
      local times, ns = 0, 0
      for _, pause in ipairs(task.pauses) do
        times, ns = times + pause.times, ns + pause.ns
      end
      assert.same({ 4, 60 * ms }, { times, ns })
    end)

    it("are suspended while other programs run, too", function()
      local function body()
        pass(1 * ms, 0, 8 * ms)
        coroutine.yield()
      end
      local p = record(function()
        local co = coroutine.create(body)
        coroutine.resume(co)
        pass(10 * ms, 0, 30 * ms)
        coroutine.resume(co)
      end, { mode = mode })
      local task = task_of(p, body)
      assert.equal(40 * ms, task.suspended_ns)
      -- a little of what others had counts as the program's, see gap_spec
      assert.equal(1, task.running_ns // ms)
    end)

    it("tell where a coroutine was suspended, and for how long", function()
      local function short() coroutine.yield() end
      local function long() coroutine.yield() end
      local function body() short() long() short() end
      local p = record(function()
        local resume = coroutine.wrap(body)
        for i = 1, 3 do
          resume()
          pass(i * ms)
        end
        resume()
      end, { mode = mode })
      local task = task_of(p, body)
      assert.equal(2, #task.pauses)
      local one, other = task.pauses[1], task.pauses[2]
      assert.same({ 2, 4 * ms }, { one.times, one.ns })
      assert.same({ 1, 2 * ms }, { other.times, other.ns })
      local names = path(p, one.node)
      assert.same({ "short", "coroutine.yield" },
        { names[#names - 1], names[#names] })
      names = path(p, other.node)
      assert.equal("long", names[#names - 1])
    end)

    it("count the waiting of the thread while they run", function()
      local function body()
        pass(3 * ms, 7 * ms)
        coroutine.yield()
        pass(0, 5 * ms)
      end
      local p = record(function()
        local resume = coroutine.wrap(body)
        resume()
        pass(0, 90 * ms)
        resume()
      end, { mode = mode })
      local task = task_of(p, body)
      assert.equal(15 * ms, task.running_ns)
      -- a reading of the thread's clock takes a part of each wait
      assert.equal(helper.find(p, body).total_wait_ns, task.waiting_ns)
      assert.is_true(task.waiting_ns > 11 * ms)
      assert.equal(90 * ms, task.suspended_ns)
    end)

    it("have slices with the coroutines that are resumed in them", function()
      local function inner() pass(5 * ms) end
      local function outer()
        pass(1 * ms)
        coroutine.wrap(inner)()
        pass(1 * ms)
      end
      local p = record(function() coroutine.wrap(outer)() end,
        { mode = mode })
      assert.same({ running = 2, suspended = 0, max = 7, slices = 1,
        resumes = 1 }, figures(task_of(p, outer)))
      assert.same({ running = 5, suspended = 0, max = 5, slices = 1,
        resumes = 1 }, figures(task_of(p, inner)))
    end)

    it("tell how coroutines ended", function()
      local function body(what)
        coroutine.yield()
        if what == "fail" then error "x" end
      end
      local kept
      local p = record(function()
        local function start(what)
          local co = coroutine.create(body)
          coroutine.resume(co, what)
          return co
        end
        coroutine.resume((start()))
        for _ = 1, 2 do coroutine.resume((start "fail")) end
        for _ = 1, 3 do coroutine.close((start())) end
        for _ = 1, 4 do start() end
        collectgarbage()
        kept = { start(), start(), start(), start(), start() }
      end, { mode = mode })
      assert.equal(5, #kept)
      assert.same({ alive = 5, returned = 1, failed = 2, closed = 3,
        collected = 4 }, fates(p, task_of(p, body)))
    end)

    it("know errors in coroutine.wrap", function()
      local function body() coroutine.yield() error "x" end
      local p = record(function()
        local resume = coroutine.wrap(body)
        resume()
        assert.is_false(pcall(resume))
      end, { mode = mode })
      assert.same({ alive = 0, failed = 1 }, fates(p, task_of(p, body)))
    end)
  end)
end

describe("tasks", function()
  it("are of one kind if they run the same function, made at one place",
    function()
      local function one() end
      local function other() end
      local p = record(function()
        for i = 1, 100 do
          coroutine.wrap(i % 4 == 0 and other or one)()
        end
        coroutine.wrap(one)()
      end)
      local made = {}
      for _, task in ipairs(p.tasks) do made[#made + 1] = task.created end
      table.sort(made)
      assert.same({ 1, 25, 75 }, made)
    end)

  it("have a kind of their own until they are resumed", function()
    local function body() end
    local kept
    local p = record(function()
      kept = {}
      for i = 1, 3 do kept[i] = coroutine.create(body) end
      coroutine.resume(kept[1])
    end)
    assert.equal(2, #p.tasks)
    assert.same({ alive = 0, returned = 1 }, fates(p, task_of(p, body)))
    local waiting = p.tasks[1].func and p.tasks[2] or p.tasks[1]
    assert.is_nil(waiting.func)
    assert.same({ alive = 2 }, fates(p, waiting))
  end)

  it("know the caller of a library that makes coroutines", function()
    local library = assert(load("local f = ... return (coroutine.create(f))",
      "@library.lua"))
    local function body() end
    local called
    local p = record(function()
      called = here() + 1
      local co = library(body)
      coroutine.resume(co)
    end)
    local task = task_of(p, body)
    assert.equal("library.lua", p.functions[task.maker].place)
    assert.equal(1, task.line)
    assert.equal(called, task.outer_line)
  end)

  it("may be older than the recording", function()
    local function body() coroutine.yield() pass(1 * ms) end
    local co = coroutine.create(body)
    coroutine.resume(co)
    local p = record(function() coroutine.resume(co) end)
    local task = task_of(p, body)
    assert.same({ 0, 1 }, { task.created, task.met })
    assert.is_nil(task.maker)
    assert.same({ alive = 0, returned = 1 }, fates(p, task))
    assert.equal(1 * ms, task.running_ns)
  end)

  it("leave out pauses of the recording", function()
    local function body()
      pass(1 * ms)
      coroutine.yield()
      pass(2 * ms)
    end
    local p = record(function()
      local resume = coroutine.wrap(body)
      resume()
      pass(4 * ms)
      profiler.pause()
      pass(100 * ms)
      profiler.resume()
      pass(8 * ms)
      resume()
    end)
    assert.same({ running = 3, suspended = 12, max = 2, slices = 2,
      resumes = 2 }, figures(task_of(p, body)))
  end)

  it("end a slice where a coroutine yields in a pause", function()
    local function body()
      pass(1 * ms)
      profiler.pause()
      coroutine.yield()
      pass(50 * ms)
    end
    local p = record(function()
      local co = coroutine.create(body)
      coroutine.resume(co)
      profiler.resume()
      pass(3 * ms)
      profiler.pause()
      coroutine.resume(co)
      profiler.resume()
    end)
    local task = task_of(p, body)
    assert.equal(1 * ms, task.max_ns)
    assert.equal(3 * ms, task.suspended_ns)
    assert.equal(1, task.slices)
  end)

  it("begin anew with a reset", function()
    local function body()
      pass(1 * ms)
      coroutine.yield()
      pass(2 * ms)
    end
    local p = record(function()
      local one, other = coroutine.create(body), coroutine.create(body)
      coroutine.resume(one)
      coroutine.resume(other)
      coroutine.resume(other)
      profiler.reset()
      pass(5 * ms)
      coroutine.resume(one)
    end)
    local task = task_of(p, body)
    assert.same({ running = 2, suspended = 5, max = 2, slices = 1,
      resumes = 1 }, figures(task))
    assert.is_number(task.line)
    assert.same({ alive = 0, returned = 1 }, fates(p, task))
  end)

  it("are suspended until they are asked for", function()
    local function body() coroutine.yield() end
    local during
    local p = record(function()
      local co = coroutine.create(body)
      coroutine.resume(co)
      pass(3 * ms)
      during = profiler.snapshot()
      pass(4 * ms)
      during.co = co
    end)
    assert.equal(3 * ms, task_of(during, body).suspended_ns)
    assert.equal(7 * ms, task_of(p, body).suspended_ns)
  end)

  it("can be closed while values are closed", function()
    local function close() pass(2 * ms) end
    local function body()
      local _ <close> = setmetatable({}, { __close = close })
      pass(1 * ms)
      coroutine.yield()
    end
    local p = record(function()
      local co = coroutine.create(body)
      coroutine.resume(co)
      pass(10 * ms)
      coroutine.close(co)
    end)
    local task = task_of(p, body)
    assert.same({ running = 3, suspended = 10, max = 1, slices = 1,
      resumes = 1 }, figures(task))
    assert.same({ alive = 0, closed = 1 }, fates(p, task))
  end)

  it("need room for kinds, not for coroutines", function()
    local function body() coroutine.yield() end
    local p = record(function()
      for _ = 1, 5000 do
        local co = coroutine.create(body)
        coroutine.resume(co)
      end
    end)
    assert.equal(1, #p.tasks)
    assert.equal(5000, p.tasks[1].created)
    assert.equal(1, #p.tasks[1].pauses)
    assert.equal(5000, p.tasks[1].pauses[1].times)
    fates(p, p.tasks[1])
  end)

  it("are saved, added up and joined", function(dir)
    local function body()
      pass(1 * ms)
      coroutine.yield()
    end
    local p = record(function()
      local resume = coroutine.wrap(body)
      resume()
      pass(2 * ms)
      resume()
    end)
    local file = dir:file "tasks.cprof"
    assert(p:save(file))
    local again = assert(profiler.load(file))
    assert.is_true(again.meta.tasks)
    assert.same(p.tasks, again.tasks)
    local sum = assert(merge.sum { p, again })
    local task = task_of(sum, body)
    assert.same({ running = 2, suspended = 4, max = 1, slices = 4,
      resumes = 4 }, figures(task))
    assert.equal(2, task.pauses[1].times)
    local names = path(sum, task.pauses[1].node)
    assert.equal("coroutine.yield", names[#names])
    local joined = assert(join.profiles(p, again))
    assert.same(figures(task_of(p, body)), figures(task_of(joined, body)))
  end)

  it("are not counted unless asked for", function()
    local p = driven.parts(function() coroutine.wrap(function() end)() end)
    assert.is_nil(p.tasks)
    assert.is_false(p.meta.tasks)
    for _, mode in ipairs { "count", "sample", "trace" } do
      assert.has_error(function()
        profiler.start { mode = mode, tasks = true }
      end, "start: option 'tasks' needs mode = \"call\" or \"line\"")
    end
  end)
end)

describe("tasks by samples", function()
  -- each new table takes a millisecond, and has a sample
  local function work(n) for _ = 1, n do local _ = {} end end

  -- the longest times in coroutines that run `f`, in ms
  local function streaks(p, f)
    local out = {}
    for i, s in ipairs(task_of(p, f).streaks) do
      out[i] = { s.from_ns / ms, s.to_ns / ms, s.most_ns / ms, s.samples }
    end
    return out
  end

  local function alternating(f, g)
    return function()
      local one, other = coroutine.wrap(f), coroutine.wrap(g)
      for _ = 1, 2 do
        one()
        other()
      end
    end
  end

  it("have bounds of how long coroutines ran at a time", function()
    local function hog()
      work(70)
      coroutine.yield()
      work(50)
    end
    local function polite()
      work(1)
      coroutine.yield()
      work(2)
    end
    local p = driven.known(alternating(polite, hog))
    -- from the sample before to the sample after
    assert.same({ { 1, 72, 71, 70 }, { 73, 123, 50, 50 } }, streaks(p, hog))
    assert.same({ { 71, 74, 3, 2 }, { 0, 2, 2, 1 } }, streaks(p, polite))
    assert.equal(71 * ms, task_of(p, hog).most_ns)
  end)

  it("are told apart by the call that resumes them", function()
    local function body(n)
      work(n)
      coroutine.yield()
      work(n)
    end
    local p = driven.known(function()
      local co = coroutine.create(body)
      coroutine.resume(co, 5)
      coroutine.resume(co)
    end)
    assert.same({ { 0, 6, 6, 5 }, { 5, 10, 5, 5 } }, streaks(p, body))
    -- samples cannot tell two coroutines apart that run right after each other
    p = driven.known(function()
      for _ = 1, 2 do coroutine.wrap(body)(3) end
    end)
    assert.same({ { 0, 6, 6, 6 } }, streaks(p, body))
  end)

  it("run while coroutines run that they have resumed", function()
    local function inner() work(4) end
    local function outer()
      work(1)
      coroutine.wrap(inner)()
      work(2)
    end
    local p = driven.known(function()
      work(1)
      coroutine.wrap(outer)()
      work(1)
    end)
    assert.same({ { 1, 9, 8, 7 } }, streaks(p, outer))
    assert.same({ { 2, 7, 5, 4 } }, streaks(p, inner))
    assert.equal(3, task_of(p, outer).samples)
    local names = path(p, task_of(p, outer).streaks[1].node)
    assert.equal("outer", names[#names])
    names = path(p, task_of(p, inner).streaks[1].node)
    assert.same({ "inner", "work" }, { names[#names - 1], names[#names] })
  end)

  it("count once where coroutines resume others like themselves", function()
    local function body(n)
      work(1)
      if n > 1 then coroutine.wrap(body)(n - 1) end
      work(1)
    end
    local p = driven.known(function()
      coroutine.wrap(body)(4)
      work(1)
      coroutine.wrap(body)(1)
    end)
    assert.same({ { 0, 9, 9, 8 }, { 9, 11, 2, 2 } }, streaks(p, body))
  end)

  it("do not have the time of a C function that ran next", function()
    local function body() work(2) end
    local p = driven.known(function()
      coroutine.wrap(body)()
      driven.wait(20)
    end)
    assert.same({ { 0, 3, 3, 2 } }, streaks(p, body))
  end)

  it("leave out pauses", function()
    local function body()
      work(2)
      profiler.pause()
      work(30)
      profiler.resume()
      work(3)
    end
    local p = driven.known(function()
      coroutine.wrap(body)()
      work(1)
    end)
    local all = streaks(p, body)
    assert.equal(1, #all)
    assert.equal(5, all[1][4])
    assert.is_true(all[1][3] >= 5 and all[1][3] <= 7, all[1][3])
  end)

  it("end with errors, and when they are closed", function()
    local function fails()
      work(3)
      error "x"
    end
    local function closed()
      work(4)
      coroutine.yield()
    end
    local p = driven.known(function()
      pcall(coroutine.wrap(fails))
      work(1)
      local co = coroutine.create(closed)
      coroutine.resume(co)
      coroutine.close(co)
      work(1)
    end)
    assert.same({ { 0, 4, 4, 3 } }, streaks(p, fails))
    assert.same({ { 4, 9, 5, 4 } }, streaks(p, closed))
  end)

  describe("with waits", function()
    local dir, program

    setup(function()
      dir = command.folder()
      program = dir:file "streaks"
      compile.axis("streaks", program, "src/profile/streaks.c")
    end)

    teardown(function() getmetatable(dir).__close() end)

    local function of(samples)
      return (compile.must("%s %s", program, samples))
    end

    it("end where a tick found the wait", function()
      -- the tick at 12 ms stands for 1 ms before it, and the wait goes on
      assert.equal("a 0 to 12, 12\n", of("a 10 1 runs scheduler 50 39 waits"))
      assert.equal("a 0 to 12, 12\nb 50 to 52, 2\n",
        of "a 10 1 runs scheduler 50 39 waits b 51 1 runs scheduler 52 1 runs")
    end)

    it("that were noted later do not have the time in between", function()
      -- another thread saw the waits; they are noted with the sample at 100
      assert.equal("a 0 to 11, 11\nb 99 to 102, 3\n",
        of "a 10 1 runs scheduler 100 80 waits b 100 1 runs \z
          scheduler 102 1 runs")
      assert.equal("a 0 to 11, 11\nb 90 to 102, 12\n",
        of "a 10 1 runs scheduler 100 80 waits b 100 10 runs \z
          scheduler 102 1 runs")
    end)

    it("have the waits of their own coroutines", function()
      assert.equal("a 10 to 40, 30\n",
        of "scheduler 10 1 runs a 100 30 waits scheduler 100 60 waits \z
          scheduler 100 1 runs")
      assert.equal("a 10 to 62, 52\n",
        of "scheduler 10 1 runs a 60 50 waits scheduler 62 1 runs")
    end)

    it("leave out time in which others had the processor", function()
      assert.equal("a 10 to 42, 12\n",
        of "scheduler 10 1 runs a 15 1 runs nothing 40 20 waits a 40 1 runs \z
          scheduler 42 1 runs")
    end)
  end)

  it("are known of a range of time", function()
    local function hog() work(50) end
    local function polite() work(10) end
    local p = driven.known(function()
      work(5)
      coroutine.wrap(hog)()
      coroutine.wrap(polite)()
    end)
    local q = assert(p:range(0.02, 0.03))
    assert.equal(1, #q.tasks)
    assert.same({ { 20, 30, 10, 10 } }, streaks(q, hog))
    local names = path(q, task_of(q, hog).streaks[1].node)
    assert.same({ "hog", "work" }, { names[#names - 1], names[#names] })
    -- the end of a recording with a time axis of its own has times of its own
    q = assert(range.last(p, 40 * ms))
    assert.same({ { 0, 16, 16, 15 } }, streaks(q, hog))
    q = assert(p:range(0.05))
    assert.same({ { 50, 56, 6, 5 } }, streaks(q, hog))
    assert.same({ { 55, 65, 10, 10 } }, streaks(q, polite))
  end)

  it("have the longest times only", function()
    local function body()
      for i = 1, 15 do
        work(i)
        coroutine.yield()
      end
    end
    local p = driven.known(function()
      local next = coroutine.wrap(body)
      for _ = 1, 15 do
        next()
        work(1)
      end
    end)
    local all = streaks(p, body)
    assert.equal(10, #all)
    for i, s in ipairs(all) do assert.equal(16 - i, s[4]) end
  end)
end)

describe("tasks in files", function()
  local function body()
    pass(1 * ms)
    coroutine.yield()
  end

  it("are complete, and can be read while they are recorded", function(dir)
    local file, live = dir:file "x.cprof", nil
    local p = record(function()
      local list = {}
      for i = 1, 3 do list[i] = coroutine.create(body) end
      for i = 1, 3 do coroutine.resume(list[i]) end
      live = assert(profiler.load(file))
      for i = 1, 3 do coroutine.resume(list[i]) end
    end, { file = file })
    assert.same({ alive = 3 }, fates(live, task_of(live, body)))
    assert.equal(3, task_of(live, body).resumes)
    local again = assert(profiler.load(file))
    assert.same(p.tasks, again.tasks)
    assert.same({ alive = 0, returned = 3 }, fates(again, task_of(again, body)))
  end)

  it("go on in the next file", function(dir)
    -- only some of the events look at the clock
    local function fill() for _ = 1, 5000 do math.abs(1) end end
    local p = record(function()
      local resume = coroutine.wrap(body)
      resume()
      pass(60 * ms)
      fill()
      resume()
    end, { file = dir:file "x-%n.cprof", every = 0.05 })
    -- %n counts all files of the process
    local files = {}
    for name in command.shell("ls -v '" .. dir.path .. "'"):gmatch "%S+" do
      files[#files + 1] = name
    end
    assert.equal(2, #files)
    local task = task_of(p, body)
    assert.same({ 0, 1 }, { task.created, task.met })
    assert.is_nil(task.line)
    assert.same({ alive = 0, returned = 1 }, fates(p, task))
    p = assert(profiler.load(dir:file(files[1])))
    assert.same({ alive = 1 }, fates(p, task_of(p, body)))
  end)

  it("are harmless without memory", function()
    nomemory.recorded("tasks = true, compensate = false", [[
      local function f() coroutine.yield() end
      for i = 1, 60 do
        load("return function(f) return coroutine.wrap(f) end")()(f)()
      end]])
  end)
end)

describe("cprof tasks", function()
  it("says which coroutine hogs", function(dir)
    local function hog()
      local function crunch() pass(70 * ms) end
      while true do
        crunch()
        coroutine.yield()
      end
    end
    local function polite()
      while true do
        pass(1 * ms)
        coroutine.yield()
      end
    end
    local p = record(function()
      local list = { coroutine.create(polite), coroutine.create(hog),
        coroutine.create(polite) }
      for _ = 1, 3 do
        for _, co in ipairs(list) do coroutine.resume(co) end
      end
    end)
    local file = dir:file "tasks.cprof"
    assert(p:save(file))
    local out = command.cprof("tasks", "--width", "120", file)
    assert.has_text("70.0ms  hog", out)
    assert.matches("longest slices\n[^\n]*\n *70.0ms", out)
    out = command.cprof("tasks", file, "polite")
    assert.has_text("polite", out)
    assert.has_no_text("hog", out)
    out = command.cprof("report", file)
    assert.has_text("\ntasks\n", out)
    local why = command.refused("tasks", file, "crunch")
    assert.has_text("no coroutine ran crunch", why)
  end)

  it("has what samples know of tasks", function(dir)
    local function work(n) for _ = 1, n do local _ = {} end end
    local function inner() work(5) end
    local function outer()
      work(2)
      coroutine.wrap(inner)()
      coroutine.yield()
      driven.wait(3)
    end
    local function all()
      work(10)
      local co = coroutine.create(outer)
      coroutine.resume(co)
      coroutine.resume(co)
    end
    local p = driven.known(all)
    local by = {}
    for _, task in ipairs(p.tasks) do
      by[p.functions[task.func].name] = task
    end
    assert.equal(5, by.inner.samples)
    assert.equal(2 + 3, by.outer.samples)
    assert.equal(helper.find(p, inner).total_ns, by.inner.running_ns)
    assert.equal(helper.find(p, outer).total_ns,
      by.inner.running_ns + by.outer.running_ns)
    assert.equal(helper.find(p, outer).total_wait_ns, by.outer.waiting_ns)
    local file = dir:file "tasks.cprof"
    assert(p:save(file))
    assert.same(p.tasks, assert(profiler.load(file)).tasks)
    local out = command.cprof("tasks", file)
    assert.matches("running %%.* 5  .*<8.00ms  outer\n.* 5  .*inner", out)
    assert.has_text("note: estimated from samples", out)
    out = command.cprof("show", file, "outer")
    assert.matches("\ntasks\n[^\n]*\n[^\n]* 5  .*outer\n", out)
    out = {}
    p:export("json", function(s) out[#out + 1] = s end)
    out = require "dkjson".decode(table.concat(out)).tasks
    assert.equal(2, #out)
    assert.equal(by.inner.streaks[1].most_ns, out[2].streaks[1].most_ns)
    -- a sum of them has no time axis
    local sum = assert(merge.sum { p, assert(profiler.load(file)) })
    assert.equal(20, sum.tasks[1].samples + sum.tasks[2].samples)
    assert.is_nil(sum.tasks[1].most_ns)
    assert(sum:save(file))
    out = command.cprof("tasks", "--width=120", file)
    assert.matches("\n[^\n]* 10 .* %-  outer\n", out)
    assert.has_no_text("longest times", out)
    p = driven.known(function() work(3) end)
    assert.is_nil(p.tasks)
    assert(p:save(file))
    out = command.cprof("tasks", "--width=200", file)
    assert.matches("^no sample found a running coroutine", out)
  end)

  it("begins paths at the function of a coroutine that C code resumes",
    function(dir)
      local host = require "spec_host"
      local function read() coroutine.yield() end
      local function serve(n)
        if n and n > 0 then return (serve(n - 1)) end
        read()
      end
      local function body() serve(2) end
      local p = record(function()
        local co = coroutine.create(body)
        host.resume(co)
        pass(5 * ms)
        host.resume(co)
      end)
      local file = dir:file "tasks.cprof"
      assert(p:save(file))
      local out = command.cprof("tasks", "--width=160", file)
      assert.has_text("5.00ms      1  body  body → serve → serve → serve → " ..
        "read\n", out)
    end)

  it("has a function's row in cprof show", function(dir)
    local function body() coroutine.yield() pass(2 * ms) end
    local p = record(function()
      local co = coroutine.create(body)
      coroutine.resume(co)
      pass(1 * ms)
      coroutine.resume(co)
    end)
    local file = dir:file "tasks.cprof"
    assert(p:save(file))
    local out = command.cprof("show", "--width=120", file, "body")
    assert.matches("\ntasks\n[^\n]*\n *2.00ms +1.00ms +1 ", out)
    assert.has_text("where they were suspended", out)
    assert.has_no_text("\ntasks\n", command.cprof("show", file,
      "coroutine.resume"))
  end)

  it("needs a recording with tasks", function(dir)
    local file = dir:file "plain.cprof"
    assert(driven.parts(function() end):save(file))
    local why = command.refused("tasks", file)
    assert.has_text("no tasks were recorded; record them with cprof run " ..
      "--tasks", why)
  end)
end)
