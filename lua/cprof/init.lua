-- cprof: the profiler for Lua 5.4.

local _ <close> = require "cprof.core".entry()

local _ENV = require "cprof.sandbox.environment" () ---@type _G

local core = require "cprof.core"
if not core.signals then require "cprof.system.windows" end
local internal = require "cprof.sandbox.internal"
local later = require "cprof.sandbox.later"
local methods = require "cprof.sandbox.methods"

local annotate = later "cprof.annotate"
local choice = later "cprof.recording.choice"
local heap = later "cprof.count.heap"
local options = later "cprof.text.options"
local profile = later "cprof.export.methods"
local recent = later "cprof.recording.recent"
local report = later "cprof.report"
local starting = later "cprof.recording.start"
local variables = later "cprof.recording.variables"

local cprof = { _VERSION = core.version }

internal.add()

local recorded ---@type cprof.Recorded?  facts about the last recording

local recent_profile

local function prepare(opts)
  local _ <close> = methods.shield()
  local given, known = starting.prepare(opts)
  recorded = known
  if known.recent then known.recent.snapshot = recent_profile end
  return given
end

---Starts a new profile. Raises an error if one is being recorded, or if an
---option is wrong.
---@param opts? cprof.StartOptions
function cprof.start(opts)
  local given = prepare(opts)
  -- not within the shield: recording takes over the program's hook
  local ok, why = core.start(given)
  if not ok then error("start: " .. why, 2) end
end

-- These act on the function that calls them, or must not be on the stack
-- themselves, so they are C functions of the core.

---Stops recording, and keeps what was recorded. False if nothing was being
---recorded.
---@type fun(): boolean
cprof.stop = core.stop

---Interrupts recording until `resume`. Meanwhile it costs nothing. False if
---nothing was being recorded.
---@type fun(): boolean
cprof.pause = core.pause

---Resumes recording after `pause`. False if it was not paused.
---@type fun(): boolean
cprof.resume = core.resume

---Forgets what was recorded, and does not stop recording. False if there was
---nothing to forget.
---@type fun(): boolean
cprof.reset = core.reset

---Opens a zone in the calling function. The zone is measured like a function,
---until `leave`, or until the calling function ends. Further arguments become
---part of its name.
---@type fun(name: string, ...: any)
cprof.enter = core.enter

---Closes the zone that the calling function entered last. Raises an error if
---there is none, or if it has another name.
---@type fun(name: string, ...: any)
cprof.leave = core.leave

---Opens a zone that ends with its block: `local z <close> = zone "name"`.
---@type fun(name: string, ...: any): any
cprof.zone = core.zone

---Opens a zone that is a label: what the calling function calls from now on is
---recorded under these keys and values, until the block ends:
---`local label <close> = label { endpoint = "/login" }`. Nil while nothing is
---recorded.
---@type fun(labels: table<string, string|number|boolean>): any
cprof.label = core.label

---Ends a frame of the host. A name tells the frames of several loops apart.
---Unless `record` is false, the frame is counted, and goes into history and
---averages. False if nothing is being recorded, or if there are 64 other names
---already.
---@type fun(name: boolean|string|nil, record: boolean?): boolean
cprof.frame = core.frame

---Is a profile being recorded, and is recording not paused?
---@return boolean
function cprof.running() return core.state() == "running" end

local function unmatched()
  local choice_made = recorded and recorded.choice
  return choice_made and choice_made:unmatched()
end

local function current_profile()
  local known = recorded or {}
  return profile.snapshot { program = known.program or starting.program(),
    folder = known.folder, lua_version = _VERSION, lua_release = core.release,
    options = known.options, rate = known.rate,
    unmatched_patterns = unmatched() }
end

local function snapshot(who)
  local p = current_profile()
  if not p then
    error(who .. ": nothing was recorded; call start first", 3)
  end
  core.names()
  return p
end

-- the profile for a file that is written by itself
function recent_profile()
  local p = current_profile()
  core.names()
  return p
end

core.naming(function()
  local _ <close> = methods.shield()
  local points, garbage = heap.recorded()
  return profile.names(recorded and recorded.folder),
    { unmatched_patterns = unmatched(), heap = points,
      garbage_bytes = garbage and tostring(garbage) }
end)

-- Writes the last seconds, if the recording keeps them and its file has a name.
local function dump(reason)
  local kept = recorded and recorded.recent
  if kept then recent.asked(kept, reason) end
end

---Lets a signal start a recording in this process, and the next one stop it;
---`cprof attach` does both. While the program records itself with options
---`keep_last` and `file`, a signal writes the last seconds. Until then, this
---costs nothing. False if the signal is "0"; nil and a message if the process
---cannot listen.
---@param signal? string  "URG" or the like; default: the environment's
---    CPROF_SIGNAL, or URG
---@param opts? cprof.StartOptions  for recordings that the signal starts;
---    default: the environment's CPROF_OPTIONS
---@return boolean?, string?
function cprof.listen(signal, opts)
  local _ <close> = methods.shield()
  if signal ~= nil and type(signal) ~= "string" then
    error("listen: the signal must be a string, got a " .. type(signal), 2)
  end
  signal = signal or variables.get "CPROF_SIGNAL" or "URG"
  if signal == "0" then return false end
  if opts ~= nil then options.check("listen", starting.options, opts, 2)
  else
    opts = variables.options(variables.get "CPROF_OPTIONS")
    local valid, why = pcall(options.check, "", starting.options, opts,
      -1)
    if not valid then return nil, "CPROF_OPTIONS" .. why end
  end
  local listening = require "cprof.recording.listen"
  local ok, why = listening.begin(signal, opts, cprof.start, dump)
  return ok, why
end

---Measures what recording with these options costs per event, in ns. Later
---starts use these costs. nil and a reason if they cannot be measured.
---@param opts? cprof.StartOptions
---@return table<string, number>?, string?
function cprof.calibrate(opts)
  local _ <close> = methods.shield()
  local o = options.check("calibrate", starting.options, opts, 2)
  local costs, why = core.calibrate(starting.cost_options(o, choice.new(o)))
  return costs, why
end

---The profile in a file, which was saved, or recorded into the file; it may
---still be being recorded. nil and a message if the file cannot be read.
---@param path string
---@return cprof.Profile?, string?
function cprof.load(path)
  local _ <close> = methods.shield()
  if type(path) ~= "string" then
    error("load: the path must be a string, got a " .. type(path), 2)
  end
  local p, why = profile.load(path)
  return p, why
end

local function shielded(f, ...)
  local _ <close> = methods.shield()
  return f(...)
end

-- the module of views, whose methods are then shielded
local function views()
  local view = require "cprof.view"
  if view.guarded then return view end
  view.guarded = true
  for name, f in pairs(view.methods) do
    if type(f) == "function" then
      view.methods[name] = view.method(name, shielded)
    end
  end
  return view
end

---The profile of what was recorded so far. Later events do not change it.
---@return cprof.Profile
function cprof.snapshot()
  local _ <close> = methods.shield()
  local p = snapshot "snapshot"
  return p
end

---Writes what was recorded in the last seconds, as many as the option
---`keep_last` says, into a file. Recording goes on.
---@param path? string    %p, %t and %n in it are replaced; nil: by the option
---    `file`
---@param reason? string  for the header of its reports
---@return string? path   of the file; nil: it cannot be written
---@return string? why
function cprof.dump_recent(path, reason)
  local _ <close> = methods.shield()
  local kept = recorded and recorded.recent
  recent.check(kept, path, reason, 2)
  local to, why = recent.write(kept, snapshot "dump_recent", path, reason)
  return to, why
end

-- The text of an error, as the command lua prints it. As there, a metamethod
-- __tostring of the program runs, with the program's own methods of strings; so
-- nothing here calls such a method.
local function text_of(message)
  if type(message) == "string" then return message end
  local meta = debug and debug.getmetatable(message)
  local ok, text = pcall(type(message) == "number" and tostring or
    meta and rawget(meta, "__tostring") and tostring or error, message)
  return ok and text or "(error object is a " .. type(message) .. " value)"
end

local function failed(message)
  local kept = recorded and recorded.recent
  if not kept or not recent.writes(kept) then return end
  local text = text_of(message)
  local _ <close> = methods.shield()
  pcall(recent.failed, kept, text)
end

---A message handler for xpcall, which writes the last seconds, as `dump_recent`
---does, at most once in `dump_every` seconds. The error is the reason. What the
---handler returns is what `handler` returns or, without one, the error itself.
---@param handler? fun(message: any): any
---@return fun(message: any): any
function cprof.dump_on_error(handler)
  if handler ~= nil and type(handler) ~= "function" then
    error("dump_on_error: the handler must be a function, got a " ..
      type(handler), 2)
  end
  return function(...)
    failed((...))
    if handler then return handler(...) end
    return ...
  end
end

---The report of what was recorded so far, as text.
---@param opts? cprof.ReportOptions
---@return string
function cprof.report(opts)
  local _ <close> = methods.shield()
  return report.make(snapshot "report", opts, 3)
end

---One source with figures beside each line, or the hottest functions, as
---text.
---@param source? string
---@param opts? cprof.AnnotateOptions
---@return string
function cprof.annotate(source, opts)
  local _ <close> = methods.shield()
  return annotate.make(snapshot "annotate", source, opts, 3)
end

---A view of a profile, or of what is being recorded.
---@param p? cprof.Profile
---@return cprof.View
function cprof.view(p)
  local _ <close> = methods.shield()
  if p ~= nil and (type(p) ~= "table" or not p.functions) then
    error("view: a profile is needed, got a " .. type(p), 2)
  end
  local mode = p and p.meta.mode or not p and recorded and recorded.mode
  if mode == "count" or mode == "sample" then
    error(('view: mode "%s" has no %s to view'):format(mode,
      mode == "count" and "times" or "calls"), 2)
  end
  return views().new(function() return p or current_profile() end, p == nil)
end

---A function that calls `f` within a zone.
---@param zone string
---@param f function
---@return function
function cprof.wrap(zone, f)
  local _ <close> = methods.shield()
  if type(zone) ~= "string" then
    error("wrap: the name must be a string, got a " .. type(zone), 2)
  elseif type(f) ~= "function" then
    error("wrap: a function must follow the name, got a " .. type(f), 2)
  end
  return function(...)
    local _ <close> = core.zone(zone)
    return f(...)
  end
end

core.opened(cprof)  -- hosts find it even if package.loaded is cleared

return cprof
