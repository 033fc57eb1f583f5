-- The main loop of cprof top: loads profiles, reads keys, draws the screen.

local core = require "cprof.core"
local terminal = require "cprof.system.terminal"

local loop = {}

-- columns of a screen if the output is not a terminal
local usual <const> = 100

---@class cprof.TopWatched
---@field follower cprof.Follower
---@field model cprof.TopModel

-- loads the profile as it is now
local function load(watched)
  local m, follower = watched.model, watched.follower
  local profile, anew = follower:load()
  if profile then
    if anew then
      m.history:forget()
      m:begin_anew()
    end
    m.history:add(profile, core.seconds())
  end
  m.status = follower.status
  m:refresh()
end

-- lets the follower load the profile, unless the screen is paused
local function look(watched)
  watched.follower:look(watched.model.interval, function()
    if not watched.model.paused then load(watched) end
  end)
end

local function leave_question()
  return { text = "The program still runs: k ends it, l leaves it running, " ..
      "other keys: back",
    answers = { k = "end", l = "leave", q = "end", ["ctrl-c"] = "end" } }
end

-- the actions and answers that the model leaves to the loop; true: quit
local actions = {}

function actions.quit(watched)
  local program = watched.follower.program
  if not program or not program:running() then return true end
  watched.model.question = leave_question()
end

actions["end"] = function(watched)
  watched.follower.program:signal "TERM"
  return true
end

function actions.leave(watched)
  watched.left = true
  return true
end

function actions.interrupt(watched)
  local program = watched.follower.program
  watched.interrupted = true
  if not program or not program:running() or watched.asked then return true end
  watched.asked = core.seconds()
  program:signal "INT"
  watched.model.message = "interrupted: waiting for the program to end; " ..
    "a second Ctrl-C ends it"
end

function actions.repaint(_, driver) driver:forget() end
function actions.suspend(_, driver) driver:suspend() end

local function draw_screen(watched, driver)
  local width, height = driver:size()
  driver:show(watched.model:draw(width, height))
end

-- seconds: terminals are waited for in whole milliseconds, and one more
local brief <const> = 0.002

-- Returns keys that come until then, as `driver:keys` does.
local function keys_until(driver, till)
  local rest = math.max(till - core.seconds(), 0)
  if rest > brief then return driver:keys(rest) end
  core.sleep(rest)
  return driver:keys(0)
end

-- Handles the keys that come until the next load is due; true: quit.
local function wait(watched, driver)
  local m, follower = watched.model, watched.follower
  local list
  repeat
    list = keys_until(driver, math.min(follower:sample(), follower.due))
  until not list or #list > 0 or core.seconds() >= follower.due
  if not list then
    watched.gone = true
    return true
  end
  for _, key in ipairs(list) do
    local action = m:key(key)
    if action and actions[action] and actions[action](watched, driver) then
      return true
    end
  end
  if #list > 0 and not m.paused and m.interval < follower.due -
     core.seconds() then
    follower.due = core.seconds() + m.interval
  end
end

local function run(watched, driver)
  function watched.model.load() load(watched) end
  look(watched)
  repeat
    draw_screen(watched, driver)
    if wait(watched, driver) then return end
    local program = watched.follower.program
    local ended = program and not program:running()
    local unseen = ended and not watched.model.now
    if unseen or core.seconds() >= watched.follower.due then look(watched) end
    -- ends with the program if it recorded nothing: there is nothing to show
  until ended and (watched.asked or not watched.model.now)
end

-- Prints what the program wrote, as if it had run alone. Returns the exit
-- status.
local function finish(watched)
  local program = watched.follower.program
  if not program then return watched.interrupted and 130 or 0 end
  if watched.left then
    terminal.say(("cprof top: process %d keeps running, and records into %s\n")
      :format(program.pid, program.path))
    return 0
  end
  if watched.gone then program:signal "TERM" end
  if watched.interrupted then program:signal "TERM" end
  watched.follower:settle()
  program:replay(io.stdout)
  return program.status
end

---Shows a screen with keys. Returns the exit status.
---@param watched cprof.TopWatched
---@param parsed table
---@param fail fun(message: string)
---@return integer
function loop.interactive(watched, parsed, fail)
  local color = terminal.color(io.stdout, parsed.color) == "always"
  local driver, why = require "cprof.top.ansi".open(color)
  if not driver then
    if watched.follower.program then watched.follower.program:signal "TERM" end
    fail("the terminal cannot be used: " .. tostring(why))
  end
  do
    local _ <close> = setmetatable({}, { __close = function(_, failed)
      driver:close()
      if failed and watched.follower.program then
        watched.follower.program:signal "TERM"
        finish(watched)
      end
    end })
    run(watched, driver)
  end
  return finish(watched)
end

-- seconds from one question whether a program has ended to the next
local step <const> = 0.02

---Prints screens one after another. Returns the exit status.
---@param watched cprof.TopWatched
---@param parsed table
---@param fail fun(message: string)
---@return integer
function loop.print(watched, parsed, fail)
  local m, left = watched.model, parsed.screens or math.huge
  local width, follower = terminal.width(io.stdout), watched.follower
  local program, said = follower.program, false
  local function pass()
    repeat
      local till = math.min(follower:sample(), follower.due)
      core.sleep(till - core.seconds())
    until core.seconds() >= follower.due
  end
  if width == math.huge then width = usual end
  m.plain = true
  -- a program that was started, and samples from outside, begin now: the first
  -- screen has those of an interval, or all if the program ends sooner
  if follower.outside or program then
    local due = core.seconds() + m.interval
    repeat
      follower.due = program and math.min(due, core.seconds() + step) or due
      pass()
    until core.seconds() >= due or program and not program:running()
  end
  while true do
    -- checked first, so that one more look follows the program's end
    local ended = program and not program:running()
    look(watched)
    if m.now then
      local text = m:draw(width,
        terminal.rows(io.stdout) or 24):text()
      local ok, why = io.stdout:write(terminal.encode(text), "\n")
      if ok then ok, why = io.stdout:flush() end
      if not ok then fail("cannot write standard output: " .. why) end
      if m.message then
        terminal.say(("cprof top: %s\n"):format(m.message))
        m.message = nil
      end
      left = left - 1
    elseif m.status.why then
      -- without figures there is no screen: print the reason instead
      if not said then
        terminal.say(("cprof top: %s\n"):format(m.status.text))
      end
      said, left = true, left - 1
    end
    local over = follower:settled() and follower.final
    if left < 1 or over and not (parsed.screens and m.now) then break end
    if ended and not m.now then break end
    pass()
  end
  if said and not m.now and not program and
     not (follower.outside and follower:settled()) then
    return 2
  elseif follower.outside and not m.now then
    fail(m.status.text)
  end
  program = follower.program
  if not program then return 0 end
  if program:running() then
    program:signal "TERM"
    follower:settle()
  end
  return program.status
end

return loop
