local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local profiler = require "cprof"
local tmux = require "tmux"
local watched = require "watched"

local q = command.quote

-- A program that works until there is a file `stop`; with "once", not at all.
local busy = [[
  local function leaf(n) local x = 0 for i = 1, n do x = x + i end end
  local function twig(n) for _ = 1, 10 do leaf(n) end end
  local since, said = os.time(), 0
  while arg[1] ~= "once" and not io.open "stop" do
    twig(1000)
    if os.time() - since > said then
      said = said + 1
      io.stderr:write("said ", said, "\n")
    end
  end
  print "the last word"
  os.exit(tonumber(arg[2]))
]]

-- A terminal in a folder with a program; `top` begins there. What the
-- terminal was before is kept, so that `left` can compare.
local function opened(width, height)
  local dir = command.folder()
  dir:file("busy.lua", busy)
  local t = tmux.open(dir.path, width or 80, height or 24)
  t.folder = dir
  return t
end

local function top(t, before, ...)
  t:run(("stty -g >before; %s%s; echo status $?; stty -g >after")
    :format(before, command.here("top", ...)))
end

-- the exit status, once the terminal is restored
local function left(t)
  t:wait "\nstatus %d+"
  watched.wait(function()
    local file <close> = io.open(t.folder:file "after")
    return file and file:read "l"
  end, "the terminal's state")
  -- the whole status is there by now
  local screen = t:wait "\nstatus %d+"
  assert.has_no_text("Functions  Tree", screen)
  assert.equal(command.read(t.folder:file "before"),
    command.read(t.folder:file "after"))
  assert.equal("0", t:ask "alternate_on")
  assert.equal("1", t:ask "cursor_flag")
  return tonumber(screen:match "status (%d+)"), screen
end

-- ends the program that `record` has started, once: then another process may
-- get its number
local function finish(t, how)
  os.execute(("kill %s %s 2>/dev/null"):format(how or "", t.pid))
  t.pid = nil
end

local function close(t)
  t.folder:file("stop", "")
  getmetatable(t).__close()
  if t.pid then finish(t) end
  os.execute("rm -rf " .. q(t.folder.path))
end

local function within(width, height, body)
  if not tmux.there() then
    pending "there is no tmux here"
    return
  end
  local t = opened(width, height)
  local ok, why = xpcall(body, debug.traceback, t)
  close(t)
  if not ok then error(why, 0) end
end

local function calls(screen)
  local word, many = screen:match "\n([%d,.]+)(%a?) calls"
  return word and tonumber((word:gsub(",", ""))) *
    (({ k = 1e3, M = 1e6, G = 1e9 })[many] or 1)
end

-- Waits until `test` accepts the screen, and returns that.
local function until_so(t, test)
  local screen
  for _ = 1, 2000 do
    screen = t:screen()
    if test(screen) then return screen end
    os.execute "sleep 0.1"
  end
  error("this screen stays:\n" .. screen, 2)
end

-- waits until there are more calls
local function more_calls(t, than)
  until_so(t, function(screen) return (calls(screen) or 0) > than end)
end

-- has the program printed at least n lines?
local function has_said(screen, n)
  return (tonumber(screen:match "\noutput: said (%d+)") or 0) >= n
end

-- clears the screen, for another command
local function clear(t)
  os.remove(t.folder:file "after")
  t:run "clear"
  until_so(t, function(screen) return not screen:find "status" end)
end

-- Is there a recording that has come to the program's work?
local function recorded(path)
  local p = profiler.load(path)
  for _, f in ipairs(p and p.functions or {}) do
    if f.name == "leaf" and f.calls > 0 then return true end
  end
  return false
end

-- records in the background, and returns the process ID
local function record(t)
  local dir = t.folder
  command.shell(("cd %s; %s >/dev/null 2>&1 & echo $! >pid"):format(
    q(dir.path), "exec " .. command.here("run", "-o", "x.cprof",
      dir:file "busy.lua")))
  t.pid = command.read(dir:file "pid"):match "%d+"
  watched.wait(function()
    watched.alive(t.pid)
    return recorded(dir:file "x.cprof")
  end, "a recording")
  return t.pid
end

describe("cprof top on a terminal", function()
  it("shows a recording that has ended", function()
    within(80, 24, function(t)
      command.cprof("run", "--quiet", "-o", t.folder:file "x.cprof",
        t.folder:file "busy.lua", "once")
      top(t, "", "x.cprof")
      local screen = t:wait "\n%? Help +q Quit"
      assert.matches("^cprof top: .-busy.lua once +ended, ", screen)
      assert.has_text(" os.exit\n", screen)
      t:keys "/"
      t:keys("-l", "print")
      t:keys "Enter"
      t:keys "Enter"
      t:wait "Enter Walk"
      screen = t:wait "%- print"
      assert.matches("+ .-busy.lua\n.-%- print\n", screen)
      t:keys "q"
      assert.equal(0, (left(t)))
    end)
  end)

  it("starts a program, follows it, and ends as it did", function()
    within(80, 40, function(t)
      top(t, "", "--interval", "0.2", "--", "busy.lua", "3", "5")
      more_calls(t, calls(t:wait "running, %d[%d.:]+s?\n.- leaf\n"))
      until_so(t, function(screen) return has_said(screen, 2) end)
      t.folder:file("stop", "")
      local screen = t:wait "ended, exit status 5"
      assert.matches("^cprof top: busy.lua 3 5 ", screen)
      t:keys "p"
      screen = t:wait "Output .-said %d+\nthe last word\n"
      local last, n = screen:match "said (%d+)\nsaid (%d+)\nthe last word\n"
      assert.equal(tonumber(n) - 1, tonumber(last))
      t:keys "q"
      local status
      status, screen = left(t)
      assert.equal(5, status)
      assert.has_text("Next: cprof show ", screen)
    end)
  end)

  it("samples a process that does not record itself", function()
    if not require "cprof.core".outside or watched.forbidden() then
      pending "it cannot be sampled here"
      return
    end
    within(80, 24, function(t)
      local program <close> = watched.start(t.folder, "$SPEC_LUA busy.lua")
      watched.await(program.pid, function(found) return found end)
      top(t, "", "--interval", "0.2", tostring(program.pid))
      t:wait "sampled from outside, .- leaf\n"
      -- the past, by keys and with the mouse
      t:wait " now\n"
      t:keys "{"
      t:wait "\n%d+:%d%d:%d%d to %d+:%d%d:%d%d, .- ago .- leaf\n"
      t:keys "Escape"
      t:wait "since the start"
      t:keys("-l", "\27[<0;74;22M\27[<32;70;22M\27[<0;70;22m")
      t:wait "\n%d+:%d%d:%d%d to %d+:%d%d:%d%d, .- ago .- leaf\n"
      os.execute("kill " .. program.pid)
      program:close()
      t:wait "ended: the program ended, "
      t:keys "q"
      assert.equal(0, (left(t)))
    end)
  end)

  it("follows a file and a process, and sees them killed", function()
    within(80, 24, function(t)
      local pid = record(t)
      top(t, "", "--interval", "0.2", pid)
      more_calls(t, calls(t:wait "running, .- leaf\n"))
      finish(t, "-9")
      t:wait "killed, %d"
      t:keys "q"
      assert.equal(0, (left(t)))
    end)
  end)

  it("pauses, marks, and shows what came since", function()
    within(100, 24, function(t)
      record(t)
      top(t, "", "--interval", "0.2", "x.cprof")
      t:wait "running, .- leaf\n"
      t:keys "Space"
      t:wait "PAUSED"
      local before = calls(t:screen())
      os.execute "sleep 0.6"
      assert.equal(before, calls(t:screen()))
      t:keys "Space"
      t:keys "r"
      until_so(t, function(screen)
        local time = screen:match "since the mark, ([%d.:]+)"
        return time and time ~= "0.0"
      end)
      t:keys "w"
      t:wait "since the start"
      t:keys "w"
      t:wait "last %d[%d.:]+s?  every"
      finish(t)
      t:keys "q"
      assert.equal(0, (left(t)))
    end)
  end)

  it("follows the size of the terminal", function()
    within(80, 24, function(t)
      record(t)
      top(t, "", "x.cprof")
      assert.has_no_text("calls/s", t:wait "\n%? Help")
      t:resize(200, 60)
      t:wait "calls/s"
      until_so(t, function(screen)
        local lines = {}
        for line in screen:gmatch "(.-)\n" do lines[#lines + 1] = line end
        return #lines == 60 and lines[60]:find "^? Help" and
          lines[4]:find "defined$"
      end)
      t:resize(40, 10)
      t:wait "^cprof top: [^\n]*running, [^\n]*\n[^\n]*\n[^\n]*\n[^\n]*\n"
      finish(t)
      t:keys "q"
      assert.equal(0, (left(t)))
    end)
  end)
end)

describe("cprof top leaves the terminal as it was", function()
  it("after Ctrl-C", function()
    within(80, 24, function(t)
      record(t)
      top(t, "", "x.cprof")
      t:wait "\n%? Help"
      t:keys "C-c"
      assert.equal(130, (left(t)))
      finish(t)
    end)
  end)

  it("after Ctrl-C while a program runs, which is interrupted", function()
    within(80, 24, function(t)
      top(t, "", "--", "busy.lua")
      t:wait "running, .- leaf\n"
      t:keys "C-c"
      local status, screen = left(t)
      assert.equal(1, status)
      assert.has_text("Next: cprof show ", screen)
    end)
  end)

  it("after signals", function()
    within(80, 24, function(t)
      record(t)
      for name, status in pairs { TERM = 143, HUP = 129,
        SEGV = 139, QUIT = 131 } do
        top(t, "echo $$ >shell; ", "x.cprof")
        t:wait "\n%? Help"
        local shell = command.read(t.folder:file "shell"):match "%d+"
        os.execute(("kill -%s $(pgrep -P %s)"):format(name, shell))
        assert.equal(status, (left(t)))
        clear(t)
      end
    end)
  end)

  it("after an error of its own", function()
    within(80, 50, function(t)
      record(t)
      local broken = t.folder:file("broken.lua", [[
        package.preload["cprof.top.frame"] = function(_, _, env)
          local n = 0
          return { above = 4, body = function() return 10 end,
            still = function() return true end,
            draw = function() n = n + 1 if n > 1 then error "oops" end end }
        end]])
      t:run(("stty -g >before; %s; echo status $?; stty -g >after")
        :format((command.here("top", "x.cprof"):gsub("LANG=",
          "LUA_INIT=@" .. broken .. " LANG=", 1))))
      local status, screen = left(t)
      assert.equal(3, status)
      assert.has_text("oops", screen)
    end)
  end)
end)

describe("cprof top and its program", function()
  it("end although the file of the recording is gone", function(dir)
    local follow = require "cprof.follow"
    local path = dir:file "x.cprof"
    local program = { recording = function() return path end }
    function program.running() return not program.status end
    local follower = follow.new { program = program, share = 1 }
    profiler.start { file = path }
    assert(follower:load())
    profiler.stop()
    os.remove(path)
    assert.is_nil(follower:load())
    assert.is_false(follower:settled())
    program.status = 0
    assert.is_nil(follower:load())
    assert.is_true(follower:settled() and follower.final)
    local gone <const> = "ended; the file cannot be read any more"
    assert.equal(gone, follower.status.text)
    -- and says so from then on
    assert.is_nil(follower:load())
    assert.equal(gone, follower.status.text)
  end)

  it("do not end before the process does", function(dir)
    local follow = require "cprof.follow"
    local path = dir:file "x.cprof"
    command.cprof("run", "--quiet", "-o", path, "-e", "print(1)")
    local program = { recording = function() return path end }
    function program.running() return not program.status end
    local follower = follow.new { program = program, share = 1 }
    assert(follower:load())
    assert.same({ state = "running", text = "running, no longer recording" },
      follower.status)
    program.status = 3
    assert(follower:load())
    assert.same({ state = "ended", text = "ended, exit status 3" },
      follower.status)
  end)

  it("share standard input, unless that is the terminal", function()
    within(80, 60, function(t)  -- notes may follow what it prints
      t.folder:file("reads.lua", [[
        print("read " .. tostring(io.read()))]])
      top(t, "echo hello | ", "--interval", "0.2", "--", "reads.lua")
      t:wait "ended"
      t:keys "q"
      local status, screen = left(t)
      assert.equal(0, status)
      assert.has_text("read hello\n", screen)
      clear(t)
      top(t, "", "--interval", "0.2", "--", "reads.lua")
      t:wait "ended"
      t:keys "q"
      status, screen = left(t)
      assert.equal(0, status)
      assert.has_text("read nil\n", screen)
    end)
  end)

  it("part when that is wanted", function()
    within(80, 24, function(t)
      top(t, "", "--interval", "0.2", "--", "busy.lua")
      t:wait "running, "
      t:keys "q"
      t:wait("The program still runs: k ends it, l leaves it running, " ..
        "other keys: back")
      t:keys "x"
      t:wait "running, "
      t:keys "q"
      t:keys "l"
      local status, screen = left(t)
      assert.equal(0, status)
      local pid = screen:match "process (%d+) keeps running"
      assert.is_true(os.execute("kill " .. pid))
    end)
  end)

  it("end together when that is wanted", function()
    within(80, 24, function(t)
      top(t, "", "--interval", "0.2", "--", "busy.lua")
      t:wait "running, "
      t:keys "q"
      t:keys "k"
      assert.equal(143, (left(t)))
    end)
  end)
end)

describe("cprof top's colours", function()
  it("heed NO_COLOR", function()
    within(80, 24, function(t)
      record(t)
      top(t, "", "x.cprof")
      t:wait "\n%? Help"
      local colour <const> = "\27%[[%d;]*[34][0-8][;m]"
      assert.matches(colour, t:screen "-e")
      t:keys "q"
      left(t)
      clear(t)
      t:run(("stty -g >before; %s; echo status $?; stty -g >after")
        :format((command.here("top", "x.cprof"):gsub("LANG=",
          "NO_COLOR=1 LANG=", 1))))
      t:wait "\n%? Help"
      assert.no_matches(colour, t:screen "-e")
      t:keys "q"
      left(t)
      finish(t)
    end)
  end)
end)

describe("cprof top elsewhere", function()
  it("prints a screen per interval, until the program ends", function(dir)
    dir:file("busy.lua", busy)
    -- ends top after three screens, once it has shown what the program says
    local _, _, status = command.bounded(([[cd %s
      %s >out 2>err & top=$!
      until [ "$(grep -c '^cprof top: ' out)" -ge 3 ] && grep -q 'said 1' err
      do kill -0 $top || break; sleep 0.05; done >/dev/null 2>&1
      touch stop; wait $top]]):format(q(dir.path), command.here("top",
      "--interval", "0.3", "--", "busy.lua", "2", "4")))
    local out = command.read(dir:file "out")
    assert.equal(4, status, out)
    local screens = 0
    for _ in out:gmatch "cprof top: [^\n]+\n[^\n]- calls [^\n]+\n" do
      screens = screens + 1
    end
    assert.is_true(screens >= 3, out)
    assert.has_text("ended, exit status 4", out)
    assert.has_text("said 1\n", command.read(dir:file "err"))
    assert.has_no_text("\27", out)
  end)

  it("prints what a program recorded that ended during a look", function(dir)
    local path = dir:file "x.cprof"
    command.cprof("run", "--quiet", "-o", path, "-e", "print(1)")
    local out = helper.run([[
      local follow = require "cprof.follow"
      local loop = require "cprof.top.loop"
      local program = { status = 0 }
      local ended = false
      function program.running() return not ended end
      -- the first look finds nothing yet
      function program.recording()
        local path = ended and arg[1] or nil
        ended = true
        return path
      end
      local m = require "cprof.top.model".new { interval = 0.1, sort = "self",
        history = require "cprof.top.history".new("start", 10) }
      loop.print({ model = m, follower = follow.new { program = program,
        share = 1 } }, {}, error)]], path)
    assert.matches("^cprof top: .-\n.- print\n", out)
  end)

  it("prints as many as are asked for", function(dir)
    local path = dir:file "x.cprof"
    command.cprof("run", "--quiet", "-o", path, "-e", "print(1)")
    local out, err = command.must("top", "--screens", "1", path)
    assert.equal("", err)
    assert.matches("^cprof top: .-\n.-Functions.-\n.- print\n", out)
    assert.equal(out, (command.cprof("top", "--once", path)))
    local _, screens = command.cprof("top", "--screens", "2", "--interval",
      "0.1", path):gsub("cprof top: ", "")
    assert.equal(2, screens)
  end)

  it("says which option of the command records a measure", function(dir)
    local path = dir:file "x.cprof"
    command.cprof("run", "--quiet", "-o", path, "-e", "print(1)")
    local _, err = command.cprof("top", "--once", "--measure=live", path)
    assert.equal("cprof top: showing wall time: this is a recording without " ..
      "allocations; record with cprof run --memory=live\n", err)
  end)

  it("says in one line what is wrong", function()
    local function says(wanted, ...)
      local err = command.refused("top", ...)
      assert.equal("cprof top: " .. wanted .. "\n", err)
    end
    says("nowhere.cprof: No such file or directory", "nowhere.cprof")
    says("README.md: not a profile", "README.md")
    says("name a FILE ('x') or a program after --, not both", "x", "--", "y")
    says("name a script, -e code or -m module after --", "--")
    says("option '--interval' must be a number above 0, got " ..
      "'0'; see cprof top --help", "--interval", "0")
  end)

  it("runs a script with its arguments, as after --", function(dir)
    local script = dir:file("script.lua", [[
      io.stderr:write("got ", table.concat({ ... }, ","), "\n")]])
    local out, err = command.must("top", "--interval", "0.2", script,
      "7", "--", "x.lua")
    assert.has_text("script.lua 7 -- x.lua", out)
    assert.has_text("got 7,--,x.lua\n", err)
  end)

  it("ends a script after the screens that were asked for", function(dir)
    local script = dir:file("script.lua", [[
      local from = os.time()
      repeat until os.time() - from > 600  -- it is ended long before
    ]])
    local out, err, status = command.cprof("top", "--once", script)
    assert.equal(128 + 15, status, err)
    assert.matches("^cprof top: %S*script%.lua ", out)
  end)

  it("shows in the first screen of a script what has run by then", function(dir)
    local script = dir:file("script.lua", [[
      local function work() end
      for _ = 1, 12345 do work() end]])
    local from = os.time()
    local out, err, status = command.cprof("top", "--once", "--interval",
      "1000", script)
    assert.equal(0, status, err)
    assert.matches("\n[^\n]- 12,345 [^\n]- work\n", out)
    assert.is_true(os.time() - from < 1000)  -- it has ended before
  end)

  it("passes on what is wrong with the program", function()
    local _, err, status = command.cprof("top", "--", "nowhere.lua")
    assert.equal(1, status)
    assert.has_text("nowhere.lua", err)
  end)
end)
