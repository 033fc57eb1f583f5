-- What happens in the course of time: loads, keys, the screen, the end.

local core = require "cprof.core"
local cprof = require "cprof"
local terminal = require "cprof.command.terminal"

local loop = {}

---@class cprof.TopWatched
---@field path? string             nil: the program has not begun to record
---@field program? cprof.TopProgram  that was started
---@field model cprof.TopModel

-- the part of a processor's time that this may take
local share <const> = 1 / 20

-- seconds that a program has to end after it was asked to
local patience <const> = 3

local by_itself <const> = "the program ended without stopping it"

local function exit_text(status)
  if status >= 128 then return "killed", "killed by signal " .. status - 128 end
  return "ended", "ended" .. (status == 0 and "" or
    ", exit status " .. status)
end

-- how the program fares
local function status_of(watched, meta)
  local program = watched.program
  if program and not program:running() then
    local state, text = exit_text(program.status)
    return { state = state, text = text }
  elseif not meta then
    return { state = "waiting", text = "nothing was recorded yet" }
  elseif meta.live then
    return { state = "running" }
  elseif meta.ended == by_itself or meta.ended == "a signal ended the program"
  then
    return { state = "killed" }
  end
  return { state = "ended", text = meta.ended and "ended: " .. meta.ended }
end

-- Is there nothing new to be expected, as far as can be known?
local function settled(watched)
  local program, now = watched.program, watched.model.history:now()
  if program and program:running() then return false end
  return now ~= nil and not now.profile.meta.live and
    not core.islive(watched.path)
end

local function same(a, b)
  return a.meta.pid == b.meta.pid and a.meta.started_at == b.meta.started_at
end

-- Loads what there is now.
local function load(watched)
  local m, program = watched.model, watched.program
  if not watched.path and program then watched.path = program:recording() end
  local now = m.history:now()
  if now and settled(watched) and watched.final then
    m.status = status_of(watched, now.profile.meta)
    return
  end
  local ended = not (program and program:running())
  local profile = watched.path and cprof.load(watched.path)
  if profile then
    if now and not same(now.profile, profile) then
      m.history:forget()
      m:begin_anew()
    end
    m.history:add(profile, core.console_time())
    watched.final = ended and not profile.meta.live
  end
  m.status = now and not profile and { state = "ended",
    text = "the file cannot be read any more" } or
    status_of(watched, profile and profile.meta)
  m:refresh()
end

-- One more look; what it takes of a processor makes the next one later.
local function look(watched)
  local m, since, used = watched.model, core.console_time(), os.clock()
  if not m.paused then load(watched) end
  used = os.clock() - used
  watched.due = math.max(since + (m.now and m.interval or 0.05),
    core.console_time() + used * (1 / share - 1))
end

local function leave_question()
  return { text = "The program still runs: k ends it, l leaves it running, " ..
      "any other key goes on.",
    answers = { k = "end", l = "leave", q = "end", ["ctrl-c"] = "end" } }
end

local does = {}

-- Each gives true when it is over.
function does.quit(watched)
  local program = watched.program
  if not program or not program:running() then return true end
  watched.model.question = leave_question()
end

does["end"] = function(watched)
  watched.program:signal "TERM"
  return true
end

function does.leave(watched)
  watched.left = true
  return true
end

function does.interrupt(watched)
  local program = watched.program
  watched.interrupted = true
  if not program or not program:running() or watched.asked then return true end
  watched.asked = core.console_time()
  program:signal "INT"
  watched.model.message = "interrupted: waiting for the program to end; " ..
    "Ctrl-C again ends it"
end

function does.repaint(_, driver) driver:forget() end
function does.suspend(_, driver) driver:suspend() end

local function drawn(watched, driver)
  local width, height = driver:size()
  driver:show(watched.model:draw(width, height))
end

-- Handles the keys that come until the next look is due.
local function wait(watched, driver)
  local m = watched.model
  local list = driver:keys(math.max(watched.due - core.console_time(), 0))
  if not list then
    watched.gone = true
    return true
  end
  for _, key in ipairs(list) do
    local action = m:key(key)
    if action and does[action] and does[action](watched, driver) then
      return true
    end
  end
  if #list > 0 and not m.paused and m.interval < watched.due -
     core.console_time() then
    watched.due = core.console_time() + m.interval
  end
end

local function run(watched, driver)
  function watched.model.load() load(watched) end
  look(watched)
  repeat
    drawn(watched, driver)
    if wait(watched, driver) then return end
    if core.console_time() >= watched.due then look(watched) end
    -- what nothing was recorded of has nothing to look at
    local program = watched.program
    local over = program and (watched.asked or not watched.model.now) and
      not program:running()
  until over
end

-- the program has some time to end, and is then made to
local function settle(program)
  local since = core.console_time()
  while program:running() do
    if core.console_time() - since > patience then program:signal "KILL" end
    os.execute "sleep 0.05"
  end
end

-- What the program wrote appears as if it had run alone.
local function finish(watched)
  local program = watched.program
  if not program then return watched.interrupted and 130 or 0 end
  if watched.left then
    terminal.say(("cprof top: process %d goes on; it writes to %s\n"):format(
      program.pid, program.path))
    return 0
  end
  if watched.gone then program:signal "TERM" end
  if watched.interrupted then program:signal "TERM" end
  settle(program)
  program:replay(io.stdout)
  return program.status
end

local function open(parsed)
  local color = terminal.color(io.stdout, parsed.color) == "always"
  local why
  if parsed.driver ~= "ansi" then
    local curses = require "cprof.top.curses"
    local driver
    driver, why = curses.open(color)
    if driver or parsed.driver == "curses" then return driver, why end
  end
  return require "cprof.top.ansi".open(color)
end

---A screen with keys. Gives the exit status.
---@param watched cprof.TopWatched
---@param parsed table
---@param fail fun(message: string)
---@return integer
function loop.interactive(watched, parsed, fail)
  local driver, why = open(parsed)
  if not driver then
    if watched.program then watched.program:signal "TERM" end
    fail("the terminal cannot be used: " .. tostring(why))
  end
  do
    local _ <close> = setmetatable({}, { __close = function(_, failed)
      driver:close()
      if failed and watched.program then
        watched.program:signal "TERM"
        finish(watched)
      end
    end })
    run(watched, driver)
  end
  return finish(watched)
end

---Screens one after another. Gives the exit status.
---@param watched cprof.TopWatched
---@param parsed table
---@param fail fun(message: string)
---@return integer
function loop.print(watched, parsed, fail)
  local m, left = watched.model, parsed.screens or math.huge
  m.plain = true
  while true do
    look(watched)
    if m.now then
      local text = m:draw(terminal.columns(io.stdout) or 100,
        terminal.rows(io.stdout) or 24):text()
      local ok, why = io.stdout:write(terminal.encode(text), "\n")
      if ok then ok, why = io.stdout:flush() end
      if not ok then fail("cannot write standard output: " .. why) end
      left = left - 1
    end
    local over = settled(watched) and watched.final
    if left < 1 or over and not parsed.screens then break end
    if watched.program and not watched.program:running() and not m.now then
      break
    end
    os.execute(("sleep %.3f"):format(math.max(watched.due -
      core.console_time(), 0)))
  end
  local program = watched.program
  if not program then return 0 end
  if program:running() then
    program:signal "TERM"
    settle(program)
  end
  return program.status
end

return loop
