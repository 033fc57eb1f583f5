-- cprof top: a live screen of a program that is being recorded.

local core = require "cprof.core"
local cprof = require "cprof"
local history = require "cprof.top.history"
local input = require "cprof.command.input"
local loop = require "cprof.top.loop"
local model = require "cprof.top.model"
local process = require "cprof.command.process"
local program = require "cprof.top.program"
local recordings = require "cprof.command.recordings"
local terminal = require "cprof.command.terminal"

local top = {
  name = "top",
  summary = "Watch a program while it is recorded.",
  usage = "cprof top [options] [FILE | PID]\n" ..
    "       cprof top [options] -- [options of cprof run] script.lua [args…]",
  description = "A screen that follows a file that is being recorded, or " ..
    "starts a program, as cprof run does, and follows that. On a terminal, " ..
    "? lists the keys; elsewhere, the screen is printed once per interval.",
  example = "cprof top -- script.lua input.txt",
  takes_program = true,
}

local function seconds(name)
  return input.positive(name, math.huge, "number of seconds above 0")
end

function top.define(parser)
  parser:argument("FILE", "A profile that is being recorded, or the number " ..
    "of the process. Without it: what was recorded last."):target "file"
    :args "?"
  parser:option("--interval", "Seconds from one refresh to the next.", "1")
    :argname "SECONDS":convert(seconds "--interval")
  parser:option("--window", "Begin with the figures of the last seconds. " ..
    "(default: since the start)"):argname "SECONDS"
    :convert(seconds "--window")
  parser:option("--sort", "Begin with the functions sorted by this.", "self")
    :choices { "self", "total", "calls", "name" }
  parser:option("--screens", "Print so many screens, and end. (default: on " ..
    "a terminal, an interactive screen; elsewhere, until the program ends)")
    :argname "N":convert(input.integer("--screens", 1))
  parser:option("--color", "auto, always, never; auto heeds NO_COLOR.")
    :choices { "auto", "always", "never" }:default "auto"
  parser:option("--driver", "What draws: curses, or ansi; auto: curses " ..
    "where the library lcurses is installed.")
    :choices { "auto", "curses", "ansi" }:default "auto"
end

-- the file that a word means; fails where there is none
local function file_of(word, fail)
  if not word then
    local path = recordings.last()
    if not path then
      fail "nothing was recorded yet: name a FILE, or a program after --"
    end
    return path
  end
  local file = io.open(word, "rb")
  if file then
    file:close()
    if core.special(word) then fail(word .. ": not a regular file") end
    return word
  end
  local pid = math.tointeger(tonumber(word))
  if not pid then fail(word .. ": No such file or directory") end
  local path = process.recording(pid)
  if not path then
    fail(("process %d does not record into a file: start it with cprof run")
      :format(pid))
  end
  return path
end

-- what is no profile at all is better known at once
local function check(path, fail)
  local profile, why = cprof.load(path)
  if not profile and not core.islive(path) then fail(why) end
end

function top.call(parsed, fail)
  if parsed.program and parsed.file then
    fail(("either FILE, which is '%s', or a program after --"):format(
      parsed.file))
  elseif parsed.program and #parsed.program == 0 then
    fail "name a script, -e code or -m module after --"
  end
  local screen = not parsed.screens and terminal.columns(io.stdout) ~= nil and
    os.getenv "TERM" ~= "dumb"
  local started, why, path
  if parsed.program then
    started, why = program.start(parsed.program, screen)
    if not started then fail(why) end
  else
    path = file_of(parsed.file, fail)
    check(path, fail)
  end
  local m = model.new {
    history = history.new(parsed.window and "window" or "start",
      parsed.window or 10),
    interval = parsed.interval, sort = parsed.sort,
    title = parsed.program and table.concat(parsed.program, " ") or path,
    output = started and screen and function() return started:output() end,
  }
  local watched = { path = path, program = started, model = m }
  if screen then return loop.interactive(watched, parsed, fail) end
  return loop.print(watched, parsed, fail)
end

return top
