-- cprof serve: serves a live page of a program that is being recorded.

local core = require "cprof.core"
local follow = require "cprof.follow"
local labelled = require "cprof.command.labelled"
local listeners = require "cprof.command.listeners"
local program = require "cprof.follow.program"
local target = require "cprof.follow.target"
local terminal = require "cprof.system.terminal"

local function address(s)
  local host, port = s:match "^%[([%x:.]+)%]:(%d+)$"
  if not host then host, port = s:match "^([%w.-]+):(%d+)$" end
  port = port and math.tointeger(tonumber(port))
  return port and port <= 65535 and { host = host, port = port } or nil
end

local serve = {
  name = "serve",
  summary = "Show a live page of a program while it is recorded.",
  usage = "cprof serve [options] [FILE | PID]\n" ..
    "       cprof serve [options] script.lua [args…]\n" ..
    "       cprof serve [options] -- [options of cprof run] script.lua " ..
    "[args…]",
  description = "Serve the page of cprof html to browsers, for a file that " ..
    "is being recorded, for a program that runs already, or for one that " ..
    "cprof starts as cprof run does. The figures follow the program. The " ..
    "address of the page is printed; Ctrl-C ends the server.",
  example = "cprof serve -- --lines script.lua input.txt",
  takes_program = true,
  options = {
    target.argument,
    { "--listen HOST:PORT", "Listen at this address; port 0: any free " ..
      "port. Whoever can reach the port and knows the token in the address " ..
      "can read the sources.", read = address, must = "HOST:PORT",
      default = "127.0.0.1:0" },
    { "--interval SECONDS", "Refresh the page at this interval until it is " ..
      "changed there.", type = "number", above = 0, max = 3600, default = 1 },
    { "--firefox", "Also offer the profile to profiler.firefox.com: print " ..
      "an address that opens it there, as it is then." },
    labelled.option,
    target.sampling[1], target.sampling[2], target.sampling[3],
  },
}

-- seconds for a program to end after it was interrupted
local patience <const> = 10

local function say(text)
  terminal.say(("cprof serve: %s\n"):format(text))
end

-- was it Ctrl-C, which ends the server and the program?
local function interrupted(why)
  return tostring(why):find "interrupted!" ~= nil
end

-- Is there a terminal? It sends Ctrl-C to the program, too: a second signal
-- would not let the program end in its own way.
local function has_terminal()
  return core.columns(0) or core.columns(1) or core.columns(2)
end

-- ends the program, and returns its exit status
local function finish(follower)
  local started = follower.program
  if not started then return 0 end
  if not has_terminal() then started:signal "INT" end
  follower:settle(patience)
  return started.status
end

local function open(parsed, name, fail)
  local found, session = pcall(require, "cprof.serve.session")
  if not found then fail(tostring(session)) end
  local opened, why = session.open {
    host = parsed.listen.host, port = parsed.listen.port,
    interval = parsed.interval, words = parsed.program, say = say,
    title = parsed.program and table.concat(parsed.program, " ") or name,
    firefox = parsed.firefox,
  }
  if not opened then fail(why) end
  return opened
end

function serve.call(parsed, fail)
  target.check(parsed, fail)
  local path, outside
  if not parsed.program then
    path, outside = target.find(parsed, fail, listeners.listens)
  end
  local session = open(parsed, outside and outside.command or path, fail)
  say(session.url)
  if session.firefox then say("for Firefox's profiler: " .. session.firefox) end
  if outside then
    say(("process %d does not record itself: it is sampled from outside")
      :format(outside.pid))
  end
  local started, why
  if parsed.program then
    core.share_signals()
    started, why = program.start(parsed.program, "shared")
    if not started then fail(why) end
  end
  session.follower = follow.new { path = path, program = started,
    outside = outside, share = 1 / 10, labels = parsed.label }
  local _, message = xpcall(session.run, function(message)
    return interrupted(message) and message or debug.traceback(message)
  end, session)
  session.server:close()
  local status = finish(session.follower)
  if not interrupted(message) then error(message, 0) end
  return status
end

return serve
