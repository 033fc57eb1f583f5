-- cprof top and cprof serve of programs that do not record themselves: these
-- are sampled from outside while their figures are shown.

local _ENV = require("helper").env(_ENV)

local client = require "page_client"
local command = require "command"
local core = require "cprof.core"
local figures = require "cprof.view.figures"
local follow = require "cprof.follow"
local helper = require "helper"
local outside = require "cprof.remote.outside"
local since = require "cprof.follow.since"
local watched = require "watched"

if not core.outside then return end

if not watched.possible(_ENV, "cprof top of a program that does not record " ..
   "itself", "samples it from outside") then
  return
end

local run = watched.run

-- A program that is busy until there is a file "enough", and says that it has
-- begun by a file "begun".
local busy = [[
  local function inner(n)
    local sum = 0
    for i = 1, n do sum = sum + i % 7 end
    return sum
  end
  local function outer() return (inner(1000)) end
  io.open("begun", "w"):close()
  local file
  repeat
    outer()
    file = io.open "enough"
  until file]]

local function begun(program)
  watched.made(program.pid, program.dir.path .. "/begun")
end

local function options(given)
  local out = { rate = 1000, seconds = math.huge, clock = "wall", stop = true }
  for key, value in pairs(given or {}) do out[key] = value end
  return out
end

local function follower_of(pid, given)
  return follow.new { outside = assert(outside.open(pid, options(given))),
    share = 1 }
end

-- Samples and loads until `test` accepts the follower.
local function sample_until(follower, test)
  local deadline = core.seconds() + watched.hangs
  repeat
    local at = follower:sample()
    local profile = follower:load()
    if profile then helper.check(profile) end
    if test(follower) then return follower.profile end
    core.sleep(math.min(at - core.seconds(), 0.01))
  until core.seconds() > deadline
  error("what is sampled never came to this", 2)
end

local function samples(n)
  return function(follower)
    return follower.profile and follower.profile.samples >= n
  end
end

describe("a program that is followed from outside", function()
  it("has profiles that continue each other", function(dir)
    local program <close> = run(dir, busy)
    begun(program)
    local follower = follower_of(program.pid)
    assert.equal("waiting", follower.status.state)
    local first = sample_until(follower, samples(5))
    assert.same({ state = "running", text = "sampled from outside" },
      follower.status)
    assert.is_false(follower:settled())
    local second = sample_until(follower, samples(first.samples + 5))
    local between = assert(since(second, first))
    assert.equal(second.samples - first.samples, between.samples)
    assert.is_true(second.meta.wall_ns > first.meta.wall_ns)
    dir:file("enough", "")
    program:close()
    local last = sample_until(follower, function() return follower.final end)
    assert.same({ state = "ended", text = "ended: the program ended" },
      follower.status)
    assert.equal("the program ended", last.meta.ended)
    assert.is_true(follower:settled())
    -- nothing more is added
    assert.equal(math.huge, follower:sample())
    assert.is_nil(follower:load())
    assert.equal(last, follower.profile)
    assert.equal(last.meta.wall_ns,
      follower.outside:profile().meta.wall_ns)
  end)

  it("is not sampled any more when the time is over", function(dir)
    local program <close> = run(dir, "io.read()")
    watched.await(program.pid, watched.waits_for_input)
    local follower = follower_of(program.pid)
    sample_until(follower, samples(3))
    follower.outside.options.seconds = 0
    sample_until(follower, function() return follower.final end)
    assert.equal("ended: the time was up", follower.status.text)
    program:go()
    assert.same({ "exit", 0 }, { program:close() })
  end)

  it("says that there is no sample yet, and why there is none", function(dir)
    local program <close> = run(dir, "io.read()")
    watched.await(program.pid, watched.waits_for_input)
    -- samples of CPU time leave out that it waits
    local follower = follower_of(program.pid, { clock = "cpu" })
    local outside_looked = follower.outside
    sample_until(follower, function()
      return core.outside_figures(outside_looked.samples).left > 3
    end)
    assert.same({ state = "waiting", text = "no sample was taken yet" },
      follower.status)
    program:go()
    program:close()
    sample_until(follower, function() return follower.final end)
    assert.same({ state = "ended",
      text = "no sample was taken: the program ended" }, follower.status)
    assert.is_nil(follower.profile)
  end)
end)

describe("cprof top of a process that does not record itself", function()
  it("shows what samples found, also if no time is left for it", function(dir)
    local program <close> = run(dir, busy)
    begun(program)
    local follower = follower_of(program.pid)
    sample_until(follower, function()
      return follower.profile and helper.named(follower.profile, "inner")
    end)
    -- as if others had had the processor all the time
    local found = follower.outside
    found:finish "enough"
    for _, state in ipairs(found.found) do
      state.wall, state.told, state.cpu, state.delay = 0, 0, 0, 0
    end
    local p, shown = found:profile(), {}
    assert.equal(0, p.program_ns)
    for _, row in ipairs(figures.new(figures.base(p), figures.all).rows) do
      if figures.any(row) then shown[row.name] = true end
    end
    for _, name in ipairs { "inner", "outer", "program.lua" } do
      assert.is_true(shown[name], name)
    end
    dir:file("enough", "")
    program:close()
  end)

  it("prints screens until it ends", function(dir)
    local program <close> = run(dir, busy)
    begun(program)
    local out, err = command.must("top", "--screens", "2",
      "--interval", "0.3", tostring(program.pid))
    assert.equal("", err)
    assert.matches("^cprof top: [^\n]+ program%.lua +sampled from outside, ",
      out)
    assert.equal(2, select(2, out:gsub("cprof top: ", "")))
    dir:file("enough", "")
    assert.same({ "exit", 0 }, { program:close() })
    assert.equal("", command.read(dir.path .. "/err"))
  end)

  it("ends with the program, with a message", function(dir)
    local program <close> = run(dir, "io.read()")
    watched.await(program.pid, watched.waits_for_input)
    local out = dir:file("top", "")  -- so that it can be read at once
    local top = io.popen(("exec %s >'%s' 2>&1"):format(command.here("top",
      "--no-stop", "--interval", "0.2", tostring(program.pid)), out), "w")
    watched.wait(function()
      return command.read(out):find " io.read\n"
    end, "a screen")
    program:go()
    program:close()
    assert.is_true(top:close())
    assert.has_text("ended: the program ended, ", command.read(out))
  end)

  it("shows what it does now, not what was recorded before", function(dir)
    local program <close> = run(dir, busy)
    begun(program)
    local pid = tostring(program.pid)
    command.must("attach", "--seconds", "0.2", "-o",
      dir.path .. "/before.cprof", pid)
    local out = command.cprof("top", "--screens", "1", pid)
    assert.has_text("sampled from outside, ", out)
    dir:file("enough", "")
    program:close()
  end)

  it("says why there are no samples of one that is not stopped", function(dir)
    -- once begun, the program never waits
    local program <close> = run(dir, 'io.open("begun", "w"):close()\n' ..
      "while true do end")
    begun(program)
    local out, err, status = command.cprof("top", "--no-stop", "--screens",
      "2", "--interval", "0.1", tostring(program.pid))
    assert.equal("", out)
    assert.equal("cprof top: no sample was taken yet: with --no-stop, only " ..
      "waiting is sampled, and the program has not waited so far\n", err)
    assert.equal(2, status)
  end)

  it("is refused in one line where it cannot be sampled", function(dir)
    local other <close> = watched.start(dir, "cat")
    for _, name in ipairs { "top", "serve" } do
      local function says(wanted, ...)
        local out, err, status = command.cprof(name, ...)
        assert.equal("", out)
        assert.equal(("cprof %s: %s\n"):format(name, wanted), err)
        assert.equal(2, status)
      end
      says(("process %d does not record into a file, and cannot be sampled " ..
        "from outside: process %d has no Lua 5.4 or 5.5 state"):format(
        other.pid, other.pid), tostring(other.pid))
      local only = "--%s needs the ID of a process that does not record " ..
        "itself: only such a process is sampled from outside"
      says(only:format "rate", "--rate", "9", "--", "x.lua")
      local path = dir:file("x.cprof", "")
      says(only:format "no-stop", "--no-stop", path)
    end
    other:close()
    local _, err = command.cprof("top", tostring(other.pid))
    assert.equal(("cprof top: there is no process %d\n"):format(other.pid),
      err)
  end)
end)

describe("cprof serve of a process that does not record itself", function()
  if not pcall(require, "socket") then return end

  it("shows its samples, and that it has ended", function(dir)
    local program <close> = run(dir, busy)
    begun(program)
    command.shell(("cd '%s' && { exec %s </dev/null >served 2>&1 & " ..
      "echo $! >server; }"):format(dir.path,
      command.here("serve", tostring(program.pid))))
    local server = command.read(dir.path .. "/server"):match "%d+"
    local stop <close> = setmetatable({}, { __close = function()
      os.execute("kill " .. server)
    end })
    local port, token
    watched.wait(function()
      port, token = command.read(dir.path .. "/served"):match
        "http://127%.0%.0%.1:(%d+)/%?token=(%x+)"
      return token
    end, "an address")
    local page <close> = client.open(math.tointeger(tonumber(port)), token)
    page:wait(function(p)
      return p.status.text == "sampled from outside" and p:calls "inner"
    end)
    assert.is_false(page.page.message.runs)
    dir:file("enough", "")
    program:close()
    page:wait(function(p)
      return p.status.text == "ended: the program ended"
    end)
    local said = watched.wait(function()
      local text = command.read(dir.path .. "/served")
      return text:find "sampling has ended" and text
    end, "sampling has ended")
    assert.has_text(("cprof serve: process %d does not record " ..
      "itself: it is sampled from outside\n"):format(program.pid), said)
    assert.has_text("cprof serve: sampling has ended: the program ended; " ..
      "the page stays until Ctrl-C\n", said)
    assert.is_table(stop)
  end)
end)
