-- cprof top: a live screen of a program that is being recorded.

local columns = require "cprof.top.columns"
local follow = require "cprof.follow"
local history = require "cprof.top.history"
local input = require "cprof.command.input"
local labelled = require "cprof.command.labelled"
local listeners = require "cprof.command.listeners"
local loop = require "cprof.top.loop"
local measure = require "cprof.count.measure"
local model = require "cprof.top.model"
local page = require "cprof.report.page"
local program = require "cprof.follow.program"
local target = require "cprof.follow.target"
local terminal = require "cprof.system.terminal"

local top = {
  name = "top",
  summary = "Watch a program while it is recorded.",
  usage = "cprof top [options] [FILE | PID]\n" ..
    "       cprof top [options] script.lua [args…]\n" ..
    "       cprof top [options] -- [options of cprof run] script.lua [args…]",
  description = "Show a screen of a file that is being recorded, of a " ..
    "program that runs already, or of one that cprof starts as cprof run " ..
    "does. On a terminal, ? lists the keys; elsewhere, the screen is " ..
    "printed once per interval.",
  example = "cprof top script.lua input.txt",
  takes_program = true,
  options = {
    target.argument,
    { "--interval SECONDS", "Refresh the screen at this interval.",
      type = "number", above = 0, default = 1 },
    { "--window SECONDS", "Begin with the figures of the last SECONDS. " ..
      "(default: since the start)", type = "number", above = 0 },
    { "--sort", "Begin with functions sorted by this.", type = "string",
      values = columns.orders, default = "self" },
    { "--measure", ("Begin with this measure: %s."):format(
      measure.words()), type = "string", values = measure.options(),
      default = "wall" },
    labelled.option,
    { "--screens N", "Exit after N screens; a program that top started is " ..
      "then ended by SIGTERM. Its first screen comes after an interval, or " ..
      "when it has ended. (default: an interactive screen on a " ..
      "terminal; elsewhere, a screen per interval until the program ends)",
      type = "integer", min = 1 },
    { "--once", "Print one screen and exit, for scripts: --screens 1." },
    target.sampling[1], target.sampling[2], target.sampling[3],
    { "--color", "auto, always, never; auto heeds NO_COLOR.",
      of = page.options },
  },
}

function top.call(parsed, fail)
  target.check(parsed, fail)
  if parsed.once and parsed.screens then
    fail "--once cannot be combined with --screens"
  end
  parsed.screens = parsed.once and 1 or parsed.screens
  local screen = not parsed.screens and terminal.columns(io.stdout) ~= nil and
    os.getenv "TERM" ~= "dumb"
  local started, why, path, outside
  if parsed.program then
    started, why = program.start(parsed.program,
      screen and "kept" or "errors")
    if not started then fail(why) end
  else
    path, outside = target.find(parsed, fail, listeners.listens)
  end
  local seen = history.new(parsed.window and "window" or "start",
    parsed.window or 10)
  seen:set_measure(parsed.measure)
  local m = model.new {
    history = seen, labels = labelled.told(parsed), worded = input.worded,
    interval = parsed.interval, sort = parsed.sort,
    title = parsed.program and table.concat(parsed.program, " ") or
      outside and outside.command or path,
    output = started and screen and function() return started:output() end,
  }
  local watched = { model = m,
    follower = follow.new { path = path, program = started,
      outside = outside, share = 1 / 20, labels = parsed.label } }
  if screen then return loop.interactive(watched, parsed, fail) end
  return loop.print(watched, parsed, fail)
end

return top
