local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"
local command = require "command"

-- Runs a script until it has made the file "ready", then sends a signal.
local function killed(dir, signal, before, ...)
  local q = command.quote
  return command.bounded(("cd %s; %s %s >out & pid=$!; " ..
    "until [ -e ready ]; do sleep 0.02; done; " ..
    "kill -%s $pid; wait $pid; s=$?; cat out; exit $s"):format(
    q(dir.path), before, command.here(...), signal))
end

describe("a signal that ends a command", function()
  it("leaves no half of a file", function()
    for signal, status in pairs { TERM = 143, HUP = 129, INT = 130 } do
      local dir <close> = command.folder()
      -- an export that never ends, as a very long one
      dir:file("endless.lua", [[
        local export = require "cprof.export"
        export.formats[1].module = "endless"
        package.loaded.endless = { size = function() return {} end,
          write = function(_, out)
            out(("x"):rep(1 << 20))
            io.open("ready", "w"):close()
            while true do out "" end
          end }]])
      helper.record(function() end, { file = dir:file "x.cprof" })
      local out, err, got = command.bounded(([[cd %s
        LUA_PATH="./?.lua;$LUA_PATH" env --default-signal=INT $SPEC_LUA \
          -l endless %s/lua/cprof/bin/cprof export --format=folded \
          -o x.folded x.cprof & pid=$!
        until [ -e ready ]; do sleep 0.02; done
        kill -%s $pid; wait $pid; s=$?; ls; exit $s]]):format(
        command.quote(dir.path), os.getenv "PWD", signal))
      assert.same({ "endless.lua\nready\nx.cprof\n", status }, { out, got },
        err)
    end
  end)
end)

local busy = [[
  local function work() for i = 1, 1000 do math.abs(i) end end
  for i = 1, 10 do work() end
  io.open("ready", "w"):close()
  while true do work() end]]

local function recordings(dir)
  local pipe = io.popen("cd " .. command.quote(dir.path) ..
    " && ls cprof-* | grep -v ^costs")
  local list = {}
  for name in pipe:lines() do list[#list + 1] = name end
  pipe:close()
  return table.concat(list, " ")
end

describe("a signal that kills a program under cprof run", function()
  it("kills it as it would without, after the report", function()
    for signal, status in pairs { TERM = 143, HUP = 129 } do
      local dir <close> = command.folder()
      local script = dir:file("x.lua", busy)
      local out, err, got = killed(dir, signal, "", "run", script)
      assert.equal("", out)
      assert.equal(status, got)
      assert.has_text("\ncprof: ", err)
      local calls = assert(err:match "\n([%d,]+) calls, ", err):gsub(",", "")
      assert.is_true(tonumber(calls) > 10000, err)
      assert.has_text("a signal ended the program", err)
      assert.has_no_text("still being recorded", err)
    end
  end)

  it("makes one report, also if another signal follows", function(dir)
    local script = dir:file("x.lua", busy)
    for _ = 1, 3 do
      os.remove(dir:file "ready")
      local _, err, status = killed(dir,
        "TERM $pid; sleep 0.005; kill -HUP $pid; sleep 0.005; kill -INT", "",
        "run", script)
      -- if both signals are pending, the system chooses the first one
      assert.is_true(status == 143 or status == 129, status)
      assert.equal(1, select(2, err:gsub("\nNext: cprof show", "")), err)
    end
  end)

  it("makes a report while the program waits for something", function(dir)
    local script = dir:file("x.lua", [[
      -- until the folder is gone
      os.execute "touch ready; while [ -e ready ]; do sleep 0.1; done"]])
    local _, err, status = killed(dir, "TERM", "", "run", "-o", "x.cprof",
      script)
    assert.equal(143, status)
    assert.has_text("a signal ended the program", err)
    local p = assert(profiler.load(dir:file "x.cprof"))
    assert.equal(1, helper.named(p, "os.execute").calls)
  end)

  it("leaves the file that was asked for, and a message where it is",
    function(dir)
      local script = dir:file("x.lua", busy)
      local _, err = killed(dir, "TERM", "", "run", "-o", "%p.cprof", script)
      local name = err:match "\nNext: cprof show (%d+%.cprof) %S+\n"
      assert.is_truthy(name, err)
      local p = assert(profiler.load(dir:file(name)))
      assert.is_true(helper.named(p, "work").calls >= 10)
    end)

  it("leaves the export that was asked for", function(dir)
    local script = dir:file("x.lua", "local ok = ...\n" .. busy)
    killed(dir, "TERM", "", "run", "--quiet", "--format=folded", "-o",
      "x.folded", script)
    assert.has_text("work", command.read(dir:file "x.folded"))
  end)

  -- output that nobody reads any more: much of it, and what is written
  -- only at the end
  for what, code in pairs {
    ["with SIGPIPE"] = "while true do print(1) end",
    ["with SIGPIPE at the end"] = "io.write(1)" } do
    it(what .. " reports, too", function(dir)
      local script = dir:file("x.lua", [[
        local gone
        while not gone do gone = io.open "gone" end
        ]] .. code)
      local function status_of(line)
        os.remove(dir:file "gone")
        -- no other process, such as the shell, keeps the reader's end open
        local _, err = command.shell(("cd %s; rm -f pipe; mkfifo pipe; " ..
          "{ %s; echo $? >status; } >pipe & exec 3<pipe; exec 3<&-; " ..
          ": >gone; wait"):format(command.quote(dir.path), line))
        return tonumber(command.read(dir:file "status")), err
      end
      if command.shell "sh -c 'kill -PIPE $$; echo ignored'" ~= "" then
        pending "SIGPIPE is ignored here"
        return
      end
      local status, err = status_of(command.here("run", script))
      assert.equal(status_of("$SPEC_LUA x.lua"), status, err)
      assert.has_text("\ncprof: ", err)
      assert.has_text("functions, mode call", err)
      assert.equal(1, select(2, err:gsub("\nNext: cprof show", "")), err)
    end)
  end

  it("is ignored if the program was started to ignore it", function(dir)
    local script = dir:file("x.lua", [[
      os.execute "touch ready; until [ -e go ]; do sleep 0.02; done"
      print "done"]])
    local out, err, status = command.bounded(("cd %s; trap '' HUP; " ..
      "%s >out & pid=$!; until [ -e ready ]; do sleep 0.02; done; " ..
      "kill -HUP $pid; touch go; wait $pid; s=$?; cat out; exit $s"):format(
      command.quote(dir.path), command.here("run", script)))
    assert.equal("done\n", out)
    assert.equal(0, status, err)
  end)

  it("reports nothing in a child of the program", function(dir)
    local script = dir:file("x.lua", [[
      local host = require "spec_host"
      if host.fork() then os.execute "kill -TERM $PPID" end
      print(host.wait())]])
    local out, err = command.cprof("run", script)
    assert.equal("15\n", out, err)
    assert.has_no_text("a signal ended", err)
  end)
end)

describe("a recording without a name", function()
  it("is the last one when the program has ended", function(dir)
    local script = dir:file("x.lua", "math.abs(1)")
    local line = ("export SPEC_TMPDIR=%s; %s"):format(
      command.quote(dir.path), command.here("run", script))
    command.shell(line)
    assert.matches("^%d+.cprof modules recordings$", recordings(dir))
    command.shell(line)
    assert.matches("^%d+.cprof %d+.cprof modules recordings$", recordings(dir))
  end)
end)

describe("Ctrl-C that a command waits for", function()
  it("is taken once, however often it comes, but not for ever", function(dir)
    dir:file("x.lua", [[
      local core = require "cprof.core"
      local function press()
        io.popen("kill -INT " .. core.process()):close()
      end
      print(core.interrupted())
      core.await_interrupt()
      print(core.interrupted())
      press()
      print(core.interrupted())
      press()
      print(core.interrupted())
      print(pcall(press))]])
    local out = command.bounded(("$SPEC_LUA %s/x.lua"):format(dir.path))
    assert.equal("false\nfalse\ntrue\ntrue\n", out:match "^.-true\ntrue\n")
    assert.has_text("interrupted!", out)
  end)

  it("leaves a file alone that is written meanwhile, until it ends the " ..
    "command", function(dir)
      local path = dir:file("x", "")
      dir:file("x.lua", [[
        local core = require "cprof.core"
        local function press()
          io.popen("kill -INT " .. core.process()):close()
          return io.open(arg[1]) ~= nil
        end
        core.tidy()
        core.await_interrupt()
        core.unfinished(arg[1])
        print(press(), press(), core.interrupted())
        pcall(press)
        core.unfinished(nil)
        print(io.open(arg[1]))]])
      local out, err = command.bounded(("$SPEC_LUA %s/x.lua %s"):format(
        dir.path, path))
      assert.equal("true\ttrue\ttrue\nnil\t", out:match "^.-\n[^/]*", err)
    end)

  it("is ignored while Lua ends", function(dir)
    dir:file("x.lua", [[
      local core = require "cprof.core"
      -- is collected after what was made later
      setmetatable({}, { __gc = function()
        io.popen("kill -INT " .. core.process()):close()
        print "over"
      end })
      core.await_interrupt()]])
    local out, err, status = command.bounded(("$SPEC_LUA %s/x.lua"):format(
      dir.path))
    assert.same({ "over\n", "", 0 }, { out, err, status })
  end)
end)
