-- cprof top: a live screen of a program that is being recorded.

local follow = require "cprof.follow"
local history = require "cprof.top.history"
local input = require "cprof.command.input"
local loop = require "cprof.top.loop"
local model = require "cprof.top.model"
local program = require "cprof.follow.program"
local target = require "cprof.follow.target"
local terminal = require "cprof.system.terminal"

local top = {
  name = "top",
  summary = "Watch a program while it is recorded.",
  usage = "cprof top [options] [FILE | PID]\n" ..
    "       cprof top [options] -- [options of cprof run] script.lua [args…]",
  description = "Show a screen that follows a file that is being recorded, " ..
    "or a program that cprof starts as cprof run does. On a terminal, ? " ..
    "lists the keys; elsewhere, the screen is printed once per interval.",
  example = "cprof top -- script.lua input.txt",
  takes_program = true,
}

local function seconds(name)
  return input.positive(name, math.huge, "number of seconds above 0")
end

function top.define(parser)
  parser:argument("FILE", "A profile that is being recorded, or the number " ..
    "of the process. Without it: the last recording."):target "file"
    :args "?"
  parser:option("--interval", "Refresh the screen at this interval.", "1")
    :argname "SECONDS":convert(seconds "--interval")
  parser:option("--window", "Show the figures of the last SECONDS at first. " ..
    "(default: since the start)"):argname "SECONDS"
    :convert(seconds "--window")
  parser:option("--sort", "Sort functions by this at first.", "self")
    :choices { "self", "total", "calls", "name" }
  parser:option("--measure", "Show these times at first: wall time, or the " ..
    "part of it that is CPU time or waiting time.")
    :choices { "wall", "cpu", "wait" }:default "wall"
  parser:option("--screens", "Exit after N screens; a program that top " ..
    "started is then ended by SIGTERM. (default: an interactive screen on a " ..
    "terminal; elsewhere, a screen per interval until the program ends)")
    :argname "N":convert(input.integer("--screens", 1))
  parser:option("--color", "auto, always, never; auto heeds NO_COLOR.")
    :choices { "auto", "always", "never" }:default "auto"
end

function top.call(parsed, fail)
  target.check(parsed, fail)
  local screen = not parsed.screens and terminal.columns(io.stdout) ~= nil and
    os.getenv "TERM" ~= "dumb"
  local started, why, path
  if parsed.program then
    started, why = program.start(parsed.program,
      screen and "kept" or "errors")
    if not started then fail(why) end
  else
    path = target.path(parsed.file, fail)
  end
  local seen = history.new(parsed.window and "window" or "start",
    parsed.window or 10)
  seen:set_measure(parsed.measure)
  local m = model.new {
    history = seen,
    interval = parsed.interval, sort = parsed.sort,
    title = parsed.program and table.concat(parsed.program, " ") or path,
    output = started and screen and function() return started:output() end,
  }
  local watched = { model = m,
    follower = follow.new { path = path, program = started,
      share = 1 / 20 } }
  if screen then return loop.interactive(watched, parsed, fail) end
  return loop.print(watched, parsed, fail)
end

return top
