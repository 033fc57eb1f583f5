local _ENV = require("helper").env(_ENV)

local command = require "command"

-- else coroutines that run are not known in mode "sample"
local direct = require "cprof.core".internals() == "direct"

local program = (os.getenv "CPROF_BUILD") .. "/cprof-host"

local dir

local function write(name, text) command.write(dir .. "/" .. name, text) end

local read <const> = command.read

-- standard output, standard error, exit status
local function shell(line)
  local err = dir .. "/stderr"
  local pipe = io.popen(("cd '%s' && { %s; } 2>'%s'"):format(dir, line, err))
  local out = pipe:read "a"
  local _, how, status = pipe:close()
  return out, read(err), how == "exit" and status or how .. " " .. status
end

local function host(arguments)
  return shell(("'%s' %s"):format(program, arguments))
end

local game = [[
  local function move() for i = 1, 50 do string.rep("x", i * 400) end end
  local function spike() for i = 1, 20000 do move = move end build() end
  function build() return string.reverse(string.rep("x", 2e6)) end
  local n = 0
  print(...)
  function update(dt)
    n = n + 1
    assert(dt == 1 / 60)
    move()
    if n == 40 then spike() end
    if n == stop then error "out of bounds" end
  end]]

describe("the reference host", function()
  setup(function()
    dir = os.tmpname()
    os.remove(dir)
    os.execute("mkdir " .. dir)
    write("game.lua", game)
  end)
  teardown(function() os.execute(("rm -r '%s'"):format(dir)) end)

  it("shows frames, slow frames and zones of both languages in one tree",
    function()
      local out, err, status = host "--profile --frames=60 game.lua a 'b c'"
      assert.equal(0, status, err)
      assert.equal("a\tb c\n", out)
      assert.matches("^cprof: game.lua a b c\n", err)
      assert.matches("\n61 frames[^\n]*\nmedian ", err)
      -- a log also has what takes little of the time
      host "--profile=log --frames=60 game.lua a 'b c'"
      local log = read(dir .. "/log")
      assert.matches("\n[^\n]* 60  update *\n[^\n]* 60    update +game.lua:6\n",
        log)
      assert.matches("\n[^\n]* 60      move +9  game.lua:1\n", log)
      assert.matches("\n[^\n]* 3,000        string.rep +1  %[C%]\n", log)
      local most = log:match "\n +41 [^\n]- ([%l.]+) %+"
      assert.truthy(most, log)
      assert.truthy(most:find "^string.re%l+$" or most == "build" or
        most == "spike", log)
      assert.matches("\n20,001 [^\n]*  2    local function spike", log)
    end)

  it("shows the zones of its own in C", function()
    write("idle.lua", "function update() end")
    local _, err, status = host "--profile=log --frames=60 idle.lua"
    assert.equal(0, status, err)
    local log = read(dir .. "/log")
    assert.matches("\n[^\n]* 60  collect", log)
  end)

  it("leaves output, errors and exit status to the program", function()
    local programs = {
      ["print 'done'"] = 0,
      ["io.write 'x' error 'wrong'"] = 1,
      ["error(setmetatable({}, { __tostring = function() return 'o' end }))"]
        = 1,
      ["error {}"] = 1,
      ["io.write 'x' os.exit(7)"] = 7,
      ["io.write 'x' os.exit(true)"] = 0,
      ["io.write 'x' os.exit(false, true)"] = 1,
      ["coroutine.wrap(function() pcall(function() os.exit(5) end) end)()"]
        = 5,
      ["print(pcall(os.exit, 'no'))"] = 0,
      ["print(debug.gethook() == nil, #arg, arg[0]) print(...)"] = 0,
      ["local x <close> = setmetatable({}, { __close = print }) error 'e'"]
        = 1,
      ["if then"] = 1,
    }
    for code, expected in pairs(programs) do
      write("program.lua", code)
      local out, err, status = host "program.lua 1"
      assert.equal(expected, status, code .. err)
      for _, mode in ipairs { "call", "line", "trace" } do
        local out2, err2, status2 = host("--profile=log --profile-mode=" ..
          mode .. " program.lua 1")
        if not code:find "gethook" then
          assert.equal(out:gsub("0x%x+", "0x"), (out2:gsub("0x%x+", "0x")))
        end
        assert.equal(status, status2, code)
        assert.equal(err, err2)
        if code ~= "if then" then
          assert.matches("program.lua +main chunk", read(dir .. "/log"))
        end
      end
    end
  end)

  it("reports after an error of a frame, with all that ran before it",
    function()
      write("stop.lua", "stop = 10 " .. game)
      local out, err, status = host
        "--profile=log --profile-mode=call --frames=60 stop.lua"
      assert.equal(1, status)
      assert.equal("\n", out)
      assert.matches("cprof%-host: stop.lua:11: out of bounds\nstack", err)
      local log = read(dir .. "/log")
      assert.matches("\n11 frames[^\n]*\nmedian ", log)
      assert.matches("\n[^\n]* 10  update *\n", log)
    end)

  it("reports after Ctrl-C, and shows where the program was", function()
    local stuck = "local function deep() io.stderr:write 'ready\\n' " ..
      "while true do end end "
    local log = "--profile=log --profile-mode="
    local wrapped = stuck .. "coroutine.wrap(function() deep() end)()"
    local nested = stuck .. [[
      local function inner() coroutine.wrap(function() deep() end)() end
      error(select(2, coroutine.resume(coroutine.create(inner))))]]
    local stopped = "require 'cprof'.stop() "
    -- The process has returned from what wrote that it is ready: it has
    -- computed since. Where the system does not tell, that is a guess.
    local works = [[
        ran() { cut -d ' ' -f 14 /proc/$pid/stat; }
        if since=$(ran 2>/dev/null); then
          until [ "$(ran)" -gt $((since + 3)) ] || ! kill -0 $pid
          do sleep 0.02; done
        else sleep 1; fi]]
    local cases = { { stuck .. "deep()", "" }, { stuck .. "deep()",
      log .. "line" }, { wrapped, log .. "line" } }
    -- else it is not known which coroutine runs
    for _, case in ipairs(direct and { { wrapped, "" }, { nested, "" },
      { nested, log .. "call" }, { nested, log .. "sample" },
      { stopped .. nested, log .. "call" },
      { stopped .. nested, log .. "sample" },
      { "require 'cprof'.pause() " .. nested, log .. "line" },
      -- what was recorded last is gone
      { "coroutine.wrap(debug.sethook)() collectgarbage() " .. nested,
        log .. "call" },
    } or {}) do
      cases[#cases + 1] = case
    end
    for _, case in ipairs(cases) do
      write("stuck.lua", case[1])
      local _, err, status = shell(([[
        '%s' %s stuck.lua & pid=$!
        (sleep 300; kill -KILL $pid) >/dev/null 2>&1 & watch=$!
        until grep -q ready stderr || ! kill -0 $pid; do sleep 0.02; done
        %s; kill -INT $pid
        wait $pid; status=$?
        kill $watch; exit $status]]):format(program, case[2], works))
      assert.equal(1, status, err)
      assert.matches("cprof%-host: interrupted here\nstack traceback:\n" ..
        "\t[^\n]*'deep'\n", err)
      assert.has_text("interrupted!", err)
      if case[2] ~= "" and not case[1]:find "^[rc]" then
        local text = read(dir .. "/log")
        assert.matches("\n[^\n]* deep +stuck.lua:1\n", text)
      end
    end
  end)

  it("is interrupted once where the program has a hook of its own", function()
    write("slow.lua", [[
      debug.sethook(function() end, "l")
      local text = ("a"):rep(700)
      -- the signal comes while the first one searches, or waits for it
      local function slow(i)
        local signal <close> = i == 1 and
          io.popen "sleep 0.05; kill -INT $PPID" or nil
        text:find ".-.-b"
        if signal then signal:close() end
      end
      local errors = 0
      for i = 1, 3 do errors = errors + (pcall(slow, i) and 0 or 1) end
      for i = 1, 1000 do
        errors = errors + (pcall(load "local x = 1\nreturn x") and 0 or 1)
      end
      print(errors)]])
    for _, mode in ipairs { "call", "line", "sample" } do
      local out, err, status = host("--profile=log --profile-mode=" .. mode ..
        " slow.lua")
      assert.equal(0, status, mode .. err)
      assert.equal("1\n", out, mode)
    end
  end)

  it("writes the whole log to a file, the trace first", function()
    local _, err, status = host "--profile=log --frames=5 game.lua"
    assert.equal(0, status)
    assert.equal("", err)
    local log = read(dir .. "/log")
    assert.no_matches("… [%d,]+ more fun", log)
    assert.no_matches("… [%d,]+ more stack", log)
    assert.equal(4, select(2, log:gsub("cprof: game.lua\n", "")))
    assert.matches("\n6 frames[^\n]*\nmedian ", log)
    assert.has_text("local function move()", log)
    host "--profile=log --profile-mode=trace --frames=2 game.lua"
    log = read(dir .. "/log")
    assert.matches("^ *[%d.]+ms +> load\n", log)
    assert.matches("\n *[%d.]+ms +> update %(game.lua:6%)\n", log)
    assert.has_text("mode trace", log)
  end)

  it("records into a file, on which the command works meanwhile", function()
    write("waiting.lua", [[
      local profile = ...
      local function work() for i = 1, 100 do string.rep("x", i) end end
      work()
      os.execute("cp " .. profile .. " live")
      function update() work() end]])
    local out, err, status =
      host "--profile-file=run --frames=5 waiting.lua run"
    assert.equal(0, status, err)
    assert.equal("", out .. err)
    local function report(file)
      local text = command.must("report", "--min-percent=0", dir .. "/" .. file)
      return text
    end
    local live, complete = report "live", report "run"
    assert.matches("^cprof: waiting.lua run\n", live)
    assert.matches("\n[^\n]* 1  work +waiting.lua:2\n", live)
    assert.matches("\n[^\n]* 6  work +waiting.lua:2\n", complete)
    assert.matches("\n[^\n]* 5  update *\n", complete)
    assert.has_no_text("still being recorded", complete)
    -- a report, too, where it is asked for, and after os.exit
    write("exits.lua", "local function f() os.exit(4) end f()")
    out, err, status = host "--profile --profile-file=run exits.lua"
    assert.equal("4", out .. status)
    assert.matches("^cprof: exits.lua\n", err)
    assert.matches("\n[^\n]* 1  f +exits.lua:1\n", report "run")
  end)

  it("says what is wrong with its arguments", function()
    for arguments, message in pairs {
      ["--profil game.lua"] = "cprof%-host: unknown option '%-%-profil'\nusage",
      ["--frames=x game.lua"] =
        "cprof%-host: %-%-frames needs a number from 0, got 'x'\nusage",
      ["--profile-mode=fast game.lua"] =
        "must be call, line, trace or sample, not 'fast'\nusage",
      [""] = "cprof%-host: no script\nusage",
      ["nowhere.lua"] = "cprof%-host: cannot open nowhere.lua",
      ["--profile=/nowhere/log game.lua"] =
        "cannot write '/nowhere/log': No such file",
      ["--profile=/nowhere/log --profile-mode=trace game.lua"] =
        "cannot write '/nowhere/log': No such file",
      ["--profile-file=/nowhere/run game.lua"] =
        "cprof%-host: start: [^\n]*/nowhere/run[^\n]*\n$",
    } do
      local _, err, status = host(arguments)
      assert.matches(message, err)
      assert.equal(arguments == "--profile=/nowhere/log game.lua" and 0 or 1,
        status)
    end
    write("nogame.lua", "update = 1")
    local _, err, status = host "--frames=3 nogame.lua"
    assert.equal(1, status)
    assert.has_text("no global function 'update'", err)
  end)
end)
