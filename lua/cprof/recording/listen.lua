-- Lets a program be asked to record itself while it runs: by a signal alone,
-- or by a signal and a request, a file that `cprof attach` writes.

local core = require "cprof.core"
local filename = require "cprof.system.filename"
local folders = require "cprof.system.folders"
local internal = require "cprof.sandbox.internal"
local methods = require "cprof.sandbox.methods"
local rendezvous = require "cprof.system.rendezvous"

internal.add()

local listen = {}

local program = rawget(_G, "arg")
local time = os.time

-- what this Lua state needs for listening; nil: it does not listen
local state ---@type table?

-- The file to record into if no request names one.
local function default_file()
  local file = state.options.file or "cprof-%p-%t-%n.cprof"
  -- each state has a file of its own
  if core.listening() > 1 and not string.find(file, "%%n") then
    file = string.gsub(file, "(%.?[^./]*)$", "-%%n%1", 1)
  end
  return filename.expand(filename.absolute(file, state.here))
end

-- Writes the answer to a request, which says what is recorded.
local function tell(fields)
  fields.at = time()
  rendezvous.write(state.folder, core.process(), "answer", fields)
end

-- Writes why nothing is recorded. `request` is nil after a mere signal.
local function refuse(why, request)
  rendezvous.write(state.folder, core.process(), "refusal",
    { why = why, id = request and request.id, at = time() })
end

-- Reads and removes the request; nil: there is none. It is void if the command
-- that wrote it has ended.
local function take_request()
  local pid = core.process()
  local request = rendezvous.read(state.folder, pid, "request")
  -- another Lua state may be faster
  if not request or not rendezvous.remove(state.folder, pid, "request") then
    return nil
  end
  local from = math.tointeger(request.from)
  return from and core.owner(from) == "self" and request or nil
end

-- Is this state asked to end its recording? The command need not be there any
-- more: it does not wait for a program that runs no Lua code.
local function take_stop()
  local pid, now = core.process(), state.recording
  local asked = now and rendezvous.read(state.folder, pid, "stop")
  return asked and asked.id == now.id and
    rendezvous.remove(state.folder, pid, "stop")
end

-- Stops the recording that a request or a signal has begun.
local function stop()
  local now = state.recording
  state.recording = nil
  core.alarm()
  -- the program itself may have stopped it
  if core.state() ~= "stopped" then core.stop() end
  tell { state = "stopped", file = now.file, id = now.id }
end

-- options whose values are numbers
local numbers = { rate = true, seconds = true }

-- The options of `start` in a request.
local function options_of(request)
  local out = {}
  for key, value in next, request do
    local name = string.match(key, "^option_([%w_]+)$")
    if name then out[name] = numbers[name] and tonumber(value) or value end
  end
  return out
end

-- Starts a recording into `file`. `request` is nil after a mere signal.
local function start(options, file, request)
  local out = {}
  for key, value in next, options do out[key] = value end
  out.file = file
  local ok, why = pcall(state.begin, out)
  if not ok then
    return refuse((string.gsub(tostring(why), "^start: ", "")), request)
  end
  file = filename.of_process(file)
  state.recording = { file = file, id = request and request.id }
  core.alarm(request and tonumber(request.seconds))
  tell { state = "recording", file = file, id = state.recording.id }
  core.reset()  -- forgets the calls that have led here
end

-- Does what a request asks for.
local function serve(request)
  if state.recording then
    refuse("already recording into " .. state.recording.file, request)
  elseif core.state() ~= "stopped" then
    refuse("the program records itself", request)
  elseif request.file then
    start(options_of(request), request.file, request)
  end
end

-- what to do for each kind of event
local acts = {}

-- The time of a recording is over.
function acts.alarm()
  if state.recording then stop() end
end

-- A signal has come that a command sent. Was there anything to do? A recording
-- may have to end, and another one to begin.
function acts.request()
  local stops = take_stop()
  if stops then stop() end
  local request = take_request()
  if request then serve(request) end
  return stops or request ~= nil
end

-- Another signal has come. Some systems do not tell who sent it, so there may
-- be a request nevertheless.
function acts.signal()
  if acts.request() then return end
  if state.recording then stop()
  elseif core.state() == "stopped" then
    start(state.options, default_file())
  else state.dump "a signal asked for it"
  end
end

-- Called by the core within a hook, in the coroutine that runs.
local function act(what)
  local _ <close> = methods.shield()
  if state then acts[what]() end
end

-- Called when the state is closed. The child of a fork leaves its parent's
-- files alone. The answer stays: the command that asked for the recording reads
-- and removes it.
local function finish()
  local mine = state
  state = nil
  if not mine or core.process() ~= mine.pid then return end
  local now = mine.recording
  if now then core.close() end
  if core.unlisten() > 0 then
    -- other Lua states of this process still need the file
    if mine.held then core.keep_held(mine.held) end
  else
    rendezvous.clear(mine.folder, mine.pid)
  end
  if now and now.id then
    rendezvous.write(mine.folder, mine.pid, "answer",
      { state = "stopped", file = now.file, id = now.id, at = time() })
  end
end

-- The program's script; else its executable, or "?".
local function script()
  local words = program or rawget(_G, "arg")
  return type(words) == "table" and type(words[0]) == "string" and
    words[0] or core.executable() or "?"
end

---See cprof.listen.
---@param signal string   its name
---@param options cprof.StartOptions  valid ones
---@param begin fun(options: cprof.StartOptions)  begins a recording
---@param dump fun(reason: string)  writes the last seconds of the program's own
---    recording, if it keeps them
---@return boolean? ok
---@return string? why
function listen.begin(signal, options, begin, dump)
  if rendezvous.unable then return nil, rendezvous.unable end
  local number = core.signalnumber(signal)
  if not number then
    return nil, ("the signal must be URG, WINCH, USR1, USR2, PROF or IO, " ..
      "got '%s'"):format(signal)
  end
  local folder, missing = folders.own()
  if not folder then return nil, missing end
  local pid = core.process()
  if state and state.pid ~= pid then  -- the parent of this fork listens
    state = nil
    core.unlisten()
  end
  if state then return nil, "this Lua state is already listening" end
  local listener, states = core.listen(number, act)
  if not listener then
    return nil, ("SIG%s: %s; name another one in CPROF_SIGNAL"):format(
      signal:gsub("^SIG", ""), states)
  end
  local held, why
  -- The first Lua state of the process holds the file. Its lock is the
  -- process's, and would be lost if another state opened the file.
  if states == 1 then
    held, why = rendezvous.hold(folder, pid, { script = script(),
      signal = number })
    if not held then
      core.unlisten()
      return nil, why
    end
  end
  state = { options = options, begin = begin, dump = dump, folder = folder,
    pid = pid, here = core.cwd(), listener = listener, held = held }
  local last = setmetatable({}, { __gc = finish })
  debug.getregistry()[last] = last
  return true
end

return listen
