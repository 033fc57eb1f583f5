-- A recording of a whole program. It ends with the program if Lua notices that:
-- at the end of the main chunk, at an uncaught error, in os.exit.

local core = require "cprof.core"
local cprof = require "cprof"
local compiled = require "cprof.system.compiled"
local environment = require "cprof.sandbox.environment" ()
local internal = require "cprof.sandbox.internal"
local methods = require "cprof.sandbox.methods"
local starting = require "cprof.recording.start"

internal.add()

local session = {}

local stdout = io.stdout
local program_os = package.loaded.os
local begin_recording, snapshot = cprof.start, cprof.snapshot

-- If the program starts a recording of its own, that replaces ours, which ends
-- there.
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

-- notes on what the program did to its recording
local notes = {
  stopped = "the program stopped the recording itself",
  paused = "the program paused the recording, and did not resume it",
}

-- delivers the profile, once; a forked child of the program has none
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

-- the message if the profile could not be delivered
local function failure(what, kept)
  local known, path = pcall(kept)
  if known and path then
    what = ("%s\ncprof: the recording is in %s"):format(what, path)
  end
  return what
end

---Begins to record the running program. Returns nil and a message if that is
---not possible.
---@param options cprof.StartOptions
---@param deliver fun(profile: cprof.Profile, note: string?)
---@param kept fun(): string?  the file that has the recording
---@return true? ok
---@return string? why
function session.begin(options, deliver, kept)
  local state = { over = true }
  local last = {}
  -- called by os.exit or, with the object, by the collector
  local ending = core.saying(function(collected)
    if not state.over then
      -- stop recording first, so that no code of cprof's is recorded
      if not state.profile then
        state.found = core.state()
        if collected == last then core.close() else core.stop() end
      end
      local _ <close> = methods.shield()
      -- the program's output comes before the report
      pcall(stdout.flush, stdout)
      core.interruptible(false)  -- the signal handler is unloaded soon
      core.onkill(nil)
    end
    local _ <close> = methods.shield()
    local done, what = pcall(finish, state, deliver)
    if not done then error(failure(tostring(what), kept), 0) end
  end)
  -- The registry holds this object until Lua closes the state. It is among the
  -- first with a finalizer, so it is finalized after the program's objects.
  setmetatable(last, { __gc = ending })
  debug.getregistry()[last] = last
  environment.keep("cprof", "cprof.command.summary")
  compiled.save()
  starting.keeps_costs = true
  local exit = os.exit
  rawset(program_os, "exit", core.exiting(ending, exit))
  local ok, why = pcall(begin_recording, options)
  if not ok then
    rawset(program_os, "exit", exit)
    return nil, (tostring(why):gsub("^start: ", ""))
  end
  -- from here on, calls of functions other than cprof's would be recorded
  state.over = false
  hand_over(state)
  core.interruptible(true)
  return true
end

-- Unloads what is only needed at the end, so that the program's collector does
-- not have to traverse it. The end loads it again.
local function unload()
  local _ <close> = methods.shield()
  require "cprof.source.text".forget()  -- the texts of cprof's own sources
  environment.unload()
  collectgarbage()  -- only finalizes some objects
  -- While cprof was loaded, the heap has grown: a collector in generational
  -- mode waits then until it has grown as much again, even after a full
  -- collection. A step makes that end.
  collectgarbage "step"
  collectgarbage()
end

---Calls the program once recording has begun. The caller makes a tail call of
---this, so that the collector finds nothing of it on the stack.
---@param f? function  nil: the interpreter calls it
---@param ... any
---@return any ...
function session.enter(f, ...)
  unload()
  core.reset()  -- drops what was recorded up to here
  if f then return f(...) end
end

return session
