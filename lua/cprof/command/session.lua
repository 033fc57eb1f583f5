-- A recording of a whole program: it ends with the program, however that
-- ends, as long as it is told: at the end of its last chunk, by an error
-- that nobody catches, by os.exit.

local core = require "cprof.core"
local cprof = require "cprof"
local environment = require "cprof.sandbox.environment" ()
local internal = require "cprof.sandbox.internal"
local methods = require "cprof.sandbox.methods"

internal.add()

local session = {}

local stdout = io.stdout
local program_os = package.loaded.os
local begin_recording, snapshot = cprof.start, cprof.snapshot

-- The program records itself: its recording comes in the place of ours,
-- which ends there.
local function hand_over(state)
  local start = cprof.start
  function cprof.start(options)
    cprof.start = start
    if not state.over and not state.profile then
      core.stop()
      state.profile = snapshot()
      state.note = "the program began a recording of its own; this one " ..
        "ends there"
    end
    return start(options)
  end
end

-- what the program has done to its recording
local notes = {
  stopped = "the program stopped the recording itself",
  paused = "the program paused the recording, and did not resume it",
}

-- the profile goes to whoever wants it; a child of the program has none
local function finish(state, deliver)
  if state.over then return end
  state.over = true
  state.profile = state.profile or snapshot()
  if not state.profile.meta.ended then
    state.note = state.note or notes[state.found]
  end
  if state.profile.meta.pid == core.process() then
    deliver(state.profile, state.note)
  end
end

-- what is said when the profile could not be delivered
local function failure(what, kept)
  local known, path = pcall(kept)
  if known and path then
    what = ("%s\ncprof: the recording is in %s"):format(what, path)
  end
  return what
end

---Begins to record the program that runs. Gives nil and a message when
---that cannot be.
---@param options cprof.StartOptions
---@param deliver fun(profile: cprof.Profile, note: string?)
---@param kept fun(): string?  the file that has the recording
---@return true? ok
---@return string? why
function session.begin(options, deliver, kept)
  local state = { over = true }
  local last = {}
  -- the collector gives what it collects
  local ending = core.saying(function(collected)
    if not state.over then
      -- first of all, so that nothing of ours is recorded
      if not state.profile then
        state.found = core.state()
        if collected == last then core.close() else core.stop() end
      end
      local _ <close> = methods.borrow()
      -- what the program has written comes before what is said of it
      pcall(stdout.flush, stdout)
      core.interruptible(false)  -- their handler is about to be unloaded
      core.onkill(nil)
    end
    local _ <close> = methods.borrow()
    local done, what = pcall(finish, state, deliver)
    if not done then error(failure(tostring(what), kept), 0) end
  end)
  -- garbage of the state itself: found when that is closed, by which time
  -- all that the program has made is gone
  setmetatable(last, { __gc = ending })
  debug.getregistry()[last] = last
  environment.keep("cprof", "cprof.command.summary")
  local exit = os.exit
  rawset(program_os, "exit", core.exiting(ending, exit))
  local ok, why = pcall(begin_recording, options)
  if not ok then
    rawset(program_os, "exit", exit)
    return nil, (tostring(why):gsub("^start: ", ""))
  end
  -- from here on, calls of functions that are not ours would be recorded
  state.over = false
  hand_over(state)
  core.interruptible(true)
  return true
end

-- What the end needs is loaded then: meanwhile, the program's collector does
-- not have to look at it.
local function unload()
  local _ <close> = methods.borrow()
  require "cprof.source.text".forget()  -- those of our own sources
  environment.unload()
  collectgarbage()
  collectgarbage()  -- what the first one has only finalized
end

---Calls the program, once recording has begun, in the place of the function
---that calls this, so that the collector finds nothing of that.
---@param f function
---@param ... any
---@return any ...
function session.enter(f, ...)
  unload()
  core.reset()  -- of what led here
  return f(...)
end

return session
