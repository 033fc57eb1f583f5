-- cprof attach: records a running program for some seconds.

local core = require "cprof.core"
local filename = require "cprof.system.filename"
local files = require "cprof.system.files"
local format = require "cprof.text.format"
local input = require "cprof.command.input"
local listeners = require "cprof.command.listeners"
local recordings = require "cprof.system.recordings"
local records = require "cprof.system.process"
local rendezvous = require "cprof.system.rendezvous"
local summary = require "cprof.command.summary"
local tables = require "cprof.text.tables"
local terminal = require "cprof.system.terminal"

local function process(s)
  local n = math.tointeger(tonumber(s))
  return n and n >= 1 and n or nil
end

local attach = {
  name = "attach",
  summary = "Record a running program for some seconds.",
  usage = "cprof attach [options] [PID]",
  description = "Record a running program and print the report. The " ..
    "program keeps running. One that listens records itself: start it with " ..
    "lua5.4 -l cprof.auto, or call cprof_listen in its host. Any other one " ..
    "is sampled from outside, on Linux. Without PID, list the programs that " ..
    "listen.",
  example = "cprof attach --seconds 5 4711",
  options = {
    { "PID?", "The process.", read = process,
      must = "a process ID" },
    { "--seconds N", "Record for N seconds; Ctrl-C ends it earlier.",
      type = "number", above = 0, max = 1e8, default = 10 },
    { "--sample[=RATE]", "Take RATE samples a second, which hardly slows " ..
      "the program down. (default: --sample=1000)", type = "integer",
      min = 1, max = 10000, apart = { "exact", "lines" } },
    { "--rate N", "Take N samples a second, like --sample=N.",
      type = "integer", min = 1, max = 10000, default = 1000,
      apart = { "exact", "lines" } },
    { "--exact", "Record all calls, with their times.", apart = { "exact" } },
    { "--lines", "Record all calls, and hits and time of each line.",
      apart = { "lines" } },
    { "--count", "Count how often each instruction runs.",
      apart = { "exact", "lines" } },
    { "--clock", "wall: elapsed time; cpu: CPU time, which does not " ..
      "pass while the program waits. (default: cpu for samples of a program " ..
      "that listens, else wall)",
      type = "string", values = { "wall", "cpu" } },
    { "--no-stop", "Sampling from outside: never stop a thread, not even " ..
      "for a moment, so that only waiting is seen." },
    { "--native", "Sample the program from outside, with C frames: those of " ..
      "Lua itself, of libraries and of the host." },
    { "-o FILE", "Record into FILE. (default: a temporary file, which " ..
      "commands without FILE read)", target = "output" },
    { "--html", "At the end, write FILE as a page for a browser, not as a " ..
      "recording. (default FILE: process-PID-TIME.html)" },
    { "--quiet", "Print no report at the end." },
    input.looks,
  },
}

-- seconds between two checks, between two signals, and until a message says
-- why the program does not answer
local look <const>, again <const>, patience <const> = 0.05, 0.5, 2

local modes = { "sample", "lines", "exact", "count" }
local mode_of = { sample = "sample", exact = "call", lines = "line",
  count = "count" }

-- {======================================================
-- The list
-- =======================================================

local function does(program)
  local answer, refusal = program.answer, program.refusal
  local file = answer.file or "?"
  if answer.state == "recording" then return "recording into " .. file end
  if refusal.why and (tonumber(refusal.at) or 0) >
     (tonumber(answer.at) or 0) then
    return "could not record: " .. refusal.why
  end
  return answer.state and "last recorded into " .. file or ""
end

local function print_list(fail)
  local programs = listeners.all()
  if #programs == 0 then
    return input.print("no program listens: start one with " ..
      "lua5.4 -l cprof.auto script.lua\n", fail)
  end
  local rows = {}
  for i, program in ipairs(programs) do
    rows[i] = { tostring(program.pid), program.name,
      format.plain(program.script), format.plain(does(program)) }
  end
  local lines = tables.lines({ { title = "PID" },
    { title = "signal", left = true }, { title = "program", left = true },
    { title = "", left = true } }, rows, math.huge,
    format.paint(false))
  input.print(table.concat(lines, "\n") .. "\n", fail)
end

-- }======================================================


-- {======================================================
-- Asking a program
-- =======================================================

local shown_on = terminal.columns(io.stderr)

-- returns a function that shows progress: on a terminal, in one line that is
-- overwritten; elsewhere, in a line for each new message
local function shower()
  local last
  return function(what, detail)
    if shown_on then
      terminal.say(what and ("\r\27[K%s%s"):format(what, detail or "") or
        "\r\27[K")
    elseif what and what ~= last then
      last = what
      terminal.say(what .. "\n")
    end
  end
end

-- nil and a message; or what `listeners` knows of the signal
local function request(program, what, id, fields)
  local asked = { what = what }
  fields.id, fields.from = id, core.process()
  local ok, why = rendezvous.write(program.folder, program.pid, what, fields)
  if ok then ok, why = listeners.ask(program, asked) end
  if not ok then return nil, why end
  return asked
end

-- Takes back what was asked, unless another command has asked since.
local function withdraw(program, what, id)
  local asked = rendezvous.read(program.folder, program.pid, what)
  if asked and asked.id == id then
    rendezvous.remove(program.folder, program.pid, what)
  end
end

-- the program's answer to this request, if any
local function answer_of(program, id)
  for _, what in ipairs { "answer", "refusal" } do
    local answer = rendezvous.read(program.folder, program.pid, what)
    if answer and answer.id == id then return answer end
  end
end

-- Sends the signal again, since it may have come when no hook could be set.
-- A signal that cprof did not get is not sent again: the program handles it.
local function nudge(program, asked)
  if listeners.got(program, asked) ~= false then
    listeners.ask(program, asked)
  end
end

-- Waits until `found` returns a value. After some time without an answer it
-- calls `silent`. Returns nil when the program ends or `silent` returns false.
local function await(program, asked, found, silent)
  local began = core.seconds()
  while true do
    local now = core.seconds()
    local it = found()
    if it then return it end
    if not listeners.lives(program) then return found() end
    if now - began > patience and silent() == false then return nil end
    if now - asked.at > again then nudge(program, asked) end
    core.sleep(look)
  end
end

-- advice for a program whose signal does not reach cprof
local function another(program)
  return ("start it with another signal, for example CPROF_SIGNAL=%s"):format(
    program.name == "WINCH" and "URG" or "WINCH")
end

-- for each reason why a program does not answer: the reason in words, when its
-- recording begins, and when it ends
local reasons = {
  starved = { "has not run since the signal", "recording starts when it runs",
    "recording ends when it runs" },
  waits = { "runs no Lua code now, for example because a C function waits",
    "recording starts when it runs Lua code",
    "recording ends when it runs Lua code" },
  stopped = { "is stopped", "recording starts when it continues",
    "recording ends when it continues" },
  blocked = { "blocks SIG%s",
    "recording starts when it unblocks the signal; or ",
    "recording ends when it unblocks the signal" },
  taken = { "now handles SIG%s itself, so cprof does not get it", "",
    "recording ends when the program ends" },
  unknown = { "does not answer SIG%s: it runs no Lua code now, for example " ..
    "because a C function waits, or it handles the signal itself",
    "if it handles the signal, ", "recording ends when it answers" },
}

-- why the program does not answer, as a key of `reasons`, and in words; nil:
-- it is about to answer
local function silence(program, asked)
  local key = listeners.silence(program, asked, patience)
  if not key then return nil end
  return key, ("process %d %s; "):format(program.pid,
    reasons[key][1]:format(program.name))
end

-- says why the recording does not begin; fails if it never will
local function explain(program, asked, show, fail)
  local key, what = silence(program, asked)
  if not key then return end
  local reason = reasons[key]
  if key == "taken" then fail(what .. another(program)) end
  show("waiting: " .. what .. reason[2] ..
    (reason[2]:find " $" and another(program) or ""))
end

-- true: the recording has begun; false: Ctrl-C came first
local function begin(program, id, fields, show, fail)
  local asked, why = request(program, "request", id, fields)
  if not asked then return fail(why) end
  local answer = await(program, asked, function()
    return answer_of(program, id) or core.interrupted()
  end, function()
    explain(program, asked, show, function(message)
      show()
      fail(message)
    end)
  end)
  show()
  if answer == true then return false end
  if not answer then fail(("process %d has ended"):format(program.pid)) end
  if answer.why then
    fail(("process %d: %s"):format(program.pid, answer.why))
  end
  return true
end

-- Shows progress for this time, or until the program ends, or Ctrl-C comes.
local function watch(program, id, seconds, show)
  local what = ("recording process %d (%s)"):format(program.pid,
    format.plain(program.script))
  local began = core.seconds()
  while true do
    local passed = core.seconds() - began
    local answer = answer_of(program, id)
    if answer and answer.state == "stopped" then return end
    if passed >= seconds or not listeners.lives(program) or
       core.interrupted() then
      return
    end
    show(what, (": %.0f of %g s"):format(passed // 1, seconds))
    core.sleep(math.min(look, seconds - passed))
  end
end

-- a message if ending the recording took long, or has not happened yet
local function lateness(program, why, stopped, seconds)
  if not stopped and listeners.lives(program) then
    return why
  elseif stopped and seconds > again then
    return ("the recording of process %d ended %s late: the process ran no " ..
      "Lua code, or other programs had the processor"):format(program.pid,
      format.time(seconds * 1e9 // 1 | 0))
  end
end

-- Ends the recording. If the program waits for something, its file is already
-- complete except for names, and the recording ends when it runs again: true
-- says that the request for this has to stay.
local function finish(program, id, show)
  local function stopped()
    local answer = answer_of(program, id)
    return answer and answer.state == "stopped"
  end
  if stopped() then return end
  local began = core.seconds()
  local asked = request(program, "stop", id, {})
  if not asked then return end
  local said
  local ended = await(program, asked, stopped, function()
    local key, what = silence(program, asked)
    said = key and what .. reasons[key][3]
    -- a program that is ready to run will do so
    if key == "starved" then show("waiting: " .. said) end
    return key == nil or key == "starved"
  end)
  local why = lateness(program, said, ended, core.seconds() - began)
  show()
  if why then terminal.say(why .. "\n") end
  return not ended
end

-- }======================================================


local function mode_wanted(parsed)
  for _, name in ipairs(modes) do
    if parsed[name] then return mode_of[name] end
  end
  return mode_of.sample
end

local function rate_wanted(parsed)
  return math.tointeger(tonumber(parsed.sample)) or parsed.rate
end

-- The default clock of samples is cpu: by the wall clock, waiting would be the
-- hottest function of a server.
local function clock_wanted(parsed)
  return parsed.clock or mode_wanted(parsed) == "sample" and "cpu" or nil
end

-- Names the page in `parsed.page`, if one is wanted, and checks before the
-- recording whether it can be written at the end.
local function plan_page(parsed, fail)
  if not parsed.html then return end
  input.needs_json("--html", fail)
  parsed.page = parsed.output or ("process-%d-%s.html"):format(parsed.pid,
    os.date "%Y%m%d-%H%M%S")
  input.protect(parsed.page, fail)
  input.writable(parsed.page, fail)
end

-- the recording's file, if the user named one
local function kept(parsed) return not parsed.page and parsed.output or nil end

local function target(parsed, fail)
  if kept(parsed) then
    return filename.absolute(parsed.output, core.cwd() or ".")
  end
  return recordings.must_begin(parsed.page and "set TMPDIR" or
    "name a file with -o FILE", fail)
end

-- Prints the report of a recording, and writes its page.
local function finish_file(parsed, file, fail)
  -- read first: only a few recordings are kept, and others that end may remove
  -- this one
  local profile = input.load(file, fail)
  recordings.finish(file)
  local page, ok, why = parsed.page, true, nil
  if page then ok, why = profile:export("html", page) end
  local last = summary.ending(profile, { kept = ok and page or kept(parsed),
    format = ok and page and "html", last = not kept(parsed) })
  if not parsed.quiet then
    input.print(summary.text(profile, { width = parsed.width,
      color = parsed.color }, format.rows()) ..
      (last and ("\n%s\n"):format(last) or ""), fail)
  end
  if not ok then fail(why) end
  if why then terminal.say(("cprof attach: %s\n"):format(why)) end
end

-- Fails if what was sampled could not be saved in the file that the user named.
local function check_file(parsed, fail)
  local path = kept(parsed)
  if not path then return end
  input.writable(path, fail)
  if files.size(path) > 0 and not files.is_profile(path) then
    fail(("%s: exists and is not a profile"):format(format.plain(path)))
  end
end

-- a name for a request that no other one has
local function new_id()
  return ("%d-%.0f"):format(core.process(), core.seconds() * 1e6)
end

local function record(program, id, parsed, file, fail)
  local show = shower()
  core.await_interrupt()
  local begun = begin(program, id, {
    file = file, seconds = parsed.seconds,
    option_mode = mode_wanted(parsed), option_clock = clock_wanted(parsed),
    option_rate = mode_wanted(parsed) == "sample" and rate_wanted(parsed) or
      nil,
  }, show, fail)
  if begun then watch(program, id, parsed.seconds, show) end
  -- the recording may have begun although Ctrl-C ended the wait for that
  begun = begun or answer_of(program, id) ~= nil
  local stays = begun and finish(program, id, show)
  show()
  withdraw(program, "request", id)
  if not stays then withdraw(program, "stop", id) end
  if not listeners.lives(program) then
    rendezvous.clear(program.folder, program.pid)
  end
  return begun
end

-- {======================================================
-- From outside
-- =======================================================

-- options of programs that record themselves
local own_options = { "exact", "lines", "count" }

local unprepared <const> = "process %d does not listen"

local function check_outside(parsed, fail)
  if not core.owner(parsed.pid) then
    fail(("there is no process %d"):format(parsed.pid))
  end
  local file = records.mapped(parsed.pid)
  if file then
    fail(("process %d records itself into %s: cprof top and cprof serve " ..
      "show what it records"):format(parsed.pid, format.plain(file)))
  end
  for _, name in ipairs(own_options) do
    if parsed[name] then
      fail((unprepared .. ", so it can only be sampled: --%s needs " ..
        "lua5.4 -l cprof.auto, or cprof_listen in its host"):format(
        parsed.pid, name))
    end
  end
end

-- Samples a program that does not listen. Returns the exit status, if it is
-- not 0.
local function from_outside(parsed, fail)
  check_outside(parsed, fail)
  check_file(parsed, fail)
  if parsed.no_stop and parsed.clock == "cpu" then
    fail("--no-stop cannot be combined with --clock=cpu: it samples only " ..
      "waiting, which has no CPU time")
  end
  local outside = require "cprof.remote.outside"
  local program, why = outside.open(parsed.pid, {
    rate = rate_wanted(parsed),
    seconds = parsed.seconds, clock = parsed.clock or "wall",
    stop = not parsed.no_stop, native = parsed.native,
  })
  if not program then
    fail(((parsed.native and "process %d" or unprepared .. ", and") ..
      " cannot be sampled from outside: %s"):format(parsed.pid, why))
  end
  local file = target(parsed, fail)
  local function failed(message)
    if not kept(parsed) then recordings.cancel(file) end
    fail(message)
  end
  terminal.say(((parsed.native and "process %d" or unprepared) ..
    ": it is sampled from outside\n"):format(parsed.pid))
  local show = shower()
  local what = ("recording process %d (%s)"):format(parsed.pid,
    format.plain(program.command))
  core.await_interrupt()
  local _, forbidden = program:record(function(passed)
    show(what, (": %.0f of %g s"):format(passed // 1, parsed.seconds))
  end, core.interrupted)
  show()
  if forbidden then failed(forbidden) end
  local saved
  saved, why = program:profile():save(file)
  if not saved then failed(why) end
  finish_file(parsed, file, fail)
end

-- }======================================================


function attach.call(parsed, fail)
  if not parsed.pid then
    if rendezvous.unable then fail(rendezvous.unable) end
    return print_list(fail)
  end
  plan_page(parsed, fail)
  local program = not rendezvous.unable and listeners.find(parsed.pid)
  if not program or parsed.native then return from_outside(parsed, fail)
  elseif parsed.no_stop then
    fail(("process %d listens, and records itself: --no-stop is for " ..
      "programs that do not listen"):format(parsed.pid))
  end
  local file, id = target(parsed, fail), new_id()
  local function failed(message)
    withdraw(program, "request", id)
    if not kept(parsed) then recordings.cancel(file) end
    fail(message)
  end
  local begun = record(program, id, parsed, file, failed)
  if not begun then
    recordings.cancel(file)
    return 130
  end
  finish_file(parsed, file, fail)
end

return attach
