-- cprof: the profiler for Lua 5.4.

local _ <close> = require "cprof.core".entry()

local _ENV = require "cprof.sandbox.environment" () ---@type _G

local core = require "cprof.core"
local internal = require "cprof.sandbox.internal"
local later = require "cprof.sandbox.later"
local methods = require "cprof.sandbox.methods"

local annotate = later "cprof.annotate"
local choice = later "cprof.recording.choice"
local heap = later "cprof.count.heap"
local name = later "cprof.source.name"
local options = later "cprof.text.options"
local paths = later "cprof.source.paths"
local profile = later "cprof.export.methods"
local report = later "cprof.report"
local rotation = later "cprof.recording.rotation"
local text = later "cprof.source.text"
local trace = later "cprof.recording.trace"
local variables = later "cprof.recording.variables"

local cprof = { _VERSION = core.version }

---Called in mode "trace", within the debug hook: it must not yield, and an
---error that it raises ends recording.
---@alias cprof.Trace fun(event: "enter"|"leave", depth: integer,
---  title: string, since_ns: integer, duration_ns: integer?)

---@class cprof.StartOptions
---@field mode? "call"|"line"|"trace"|"count"|"sample"  line: hits, time of each
---    line, too; trace: each enter and leave is told as it happens; count:
---    how often each instruction ran, without times; sample: what runs is
---    looked at some times a second
---@field rate? integer         mode "sample": times a second
---@field trace? string|cprof.Trace  mode "trace": file, or a function
---@field lines? string[]       parts of paths, or Lua patterns between
---    slashes: only lines, or instructions, of these sources
---@field include? string[]     the same of sources or titles of functions:
---    only these
---@field exclude? string[]     not these; what is left out is its caller's
---@field c_functions? boolean  false: C functions are their callers'
---@field callsites? boolean    true: calls are told apart by their lines
---@field clock? "wall"|"cpu"
---@field recursion? "auto"|"full"|"fold"  fold: a function on the path
---    re-enters its node; auto: from 100,000 nodes on
---@field max_nodes? integer    most stack states
---@field history? integer|"full"  frames to keep; "full": with all nodes
---@field gc? boolean          time the garbage collector, as a zone
---@field memory? boolean|"live"  count what is allocated, by function and
---    line; live: also what of it is in use
---@field memory_interval? integer  memory = "live", and mode "sample": bytes
---    from sample to sample, on average; 1: all blocks
---@field file? string          to record into; in its name, %p: the process,
---    %t: the time, %n: a running number
---@field every? number         seconds after which another file is begun
---@field keep? integer         of these files, only so many are kept
---@field compensate? boolean  false: what recording costs stays in the times
---@field slow_frames? { budget_ms: number, keep: integer? }  to be kept in full
local start_options = {
  mode = { type = "string", default = "call",
           values = { "call", "line", "trace", "count", "sample" } },
  rate = { type = "integer", min = 1, max = 10000 },
  trace = { type = "trace" },
  lines = { type = "patterns", shapes = true },
  include = { type = "patterns", shapes = true },
  exclude = { type = "patterns", shapes = true },
  c_functions = { type = "boolean", default = true, shapes = true },
  callsites = { type = "boolean", default = false, shapes = true },
  clock = { type = "string", values = { "wall", "cpu" }, default = "wall" },
  recursion = { type = "string", values = { "auto", "full", "fold" },
                default = "auto", shapes = true },
  max_nodes = { type = "integer", min = 16, max = 0x7fffffff,
                default = 1000000 },
  history = { type = "history", default = 128 },
  slow_frames = { type = "slow_frames" },
  file = { type = "path" },
  every = { type = "number", min = 0.01, max = 100000000 },
  keep = { type = "integer", min = 1, max = 1000000 },
  compensate = { type = "boolean", default = true },
  memory = { type = "memory", default = false },
  memory_interval = { type = "integer", min = 1, max = 1 << 30,
                      default = 1 << 19 },
  gc = { type = "boolean", default = false },
}

internal.add()

-- gives the title of a function as soon as it is known, by its record and
-- the function itself
local function titles()
  local naming = require "cprof.source.name"
  naming.prepare()
  local found, of_c = setmetatable(paths.all(), { __mode = "k" }), {}
  for f, path in pairs(found) do
    local address = core.address(f)
    if address then of_c[address] = path end
  end
  return function(raw, f)
    local path = f and (found[f] or of_c[core.address(f)])
    return naming.title(raw, naming.of(raw, path))
  end
end

local recorded_mode, recorded_rate
local program, shape -- what ran, and the options that shape its profile
local folder         -- and where
local chosen         ---@type cprof.Choice?  what of it is recorded

local function program_name()
  local arg = rawget(_G, "arg")
  if type(arg) ~= "table" or type(rawget(arg, 0)) ~= "string" then
    return nil
  end
  local words = {}
  for i = 0, rawlen(arg) do
    local word = rawget(arg, i)
    local plain = type(word) == "string" or type(word) == "number"
    words[i + 1] = plain and word or type(word)
  end
  return table.concat(words, " ")
end

-- nodes from which on recursion folds: more of them than this nobody looks
-- at, and the file stays under ten megabytes
local fold_at = { auto = 100000, full = 0xffffffff, fold = 0 }

-- what is asked within the hook, whatever has become of the program's strings
local function with_methods(f)
  return f and function(...)
    local _ <close> = methods.borrow()
    return f(...)
  end
end

-- options that the cost of an event depends on, as the core has them
local function way(o, filter)
  return {
    trace = o.mode == "trace",
    lines = o.mode == "line",
    count = o.mode == "count",
    sample = o.mode == "sample",
    lines_of = with_methods(filter:line_filter()),
    cpu = o.clock == "cpu",
    callsites = o.callsites,
    fold_at = fold_at[o.recursion],
    compensate = o.compensate,
  }
end

-- what mode count is in need of
local function check_count(o)
  if core.internals() ~= "direct" then
    error('start: mode "count" needs to read Lua\'s own structures, which ' ..
      "is not possible here, or switched off by CPROF_INTERNALS=0", 5)
  elseif o.clock == "cpu" then
    error('start: mode "count" has no clock; leave out option \'clock\'', 5)
  end
end

local function check_frames(o)
  if o.mode ~= "count" and o.mode ~= "sample" then return end
  local about_time = o.slow_frames and "slow_frames" or
    o.history == "full" and "history"
  if about_time then
    error(('start: mode "%s" has no times of frames; leave out option ' ..
      "'%s'"):format(o.mode, about_time), 5)
  end
end

-- what the zone of the garbage collector is in need of
local function check_gc(o)
  if o.mode ~= "call" and o.mode ~= "line" then
    error(('start: option \'gc\' needs mode = "call" or "line"'), 5)
  end
  local drives, finalizing = core.drives()
  if drives then return end
  if finalizing then
    error("start: option 'gc' cannot be given in a finalizer, while the " ..
      "collector is at work", 5)
  elseif core.internals() == "direct" then
    error(("start: option 'gc' needs Lua 5.4: the collector of %s cannot be " ..
      "driven"):format(_VERSION), 5)
  else
    error("start: option 'gc' needs to read Lua's own structures, which is " ..
      "not possible here, or switched off by CPROF_INTERNALS=0", 5)
  end
end

local function check_start(opts)
  if core.state() ~= "stopped" then
    error("start: already running; call stop first", 4)
  end
  local o = options.check("start", start_options, opts, 4)
  if o.lines and not (o.mode == "line" or o.mode == "count" or
     o.mode == "sample") then
    error('start: option \'lines\' needs mode = "line", "count" or "sample"',
      4)
  end
  if o.rate and o.mode ~= "sample" then
    error('start: option \'rate\' needs mode = "sample"', 4)
  end
  if o.mode == "sample" then o.rate = o.rate or 1000 end
  if o.mode == "count" then check_count(o) end
  check_frames(o)
  if o.gc then check_gc(o) end
  if opts and opts.memory_interval and o.memory ~= "live" and
     not (o.memory and o.mode == "sample") then
    error('start: option \'memory_interval\' needs memory = "live", or ' ..
      'memory and mode = "sample"', 4)
  end
  if o.trace and o.mode ~= "trace" then
    error('start: option \'trace\' needs mode = "trace"', 4)
  end
  rotation.check(o, 4)
  return o
end

-- what is called for each event, and what at the end
local function trace_calls(o)
  if o.mode ~= "trace" then return nil end
  if type(o.trace) == "function" then return o.trace end
  local writer, why = trace.open(o.trace, core.process())
  if not writer then error("start: cannot write " .. why, 4) end
  return writer.tell, writer.close
end

-- what the core is to do
local function given_of(o, filter, tell, close)
  local slow = o.slow_frames or { budget_ms = 0, keep = 0 }
  local title_of = (o.include or o.exclude or tell) and titles()
  local given = way(o, filter)
  for key, value in pairs {
    tell = tell,
    close = close,
    title = title_of and with_methods(title_of) or nil,
    history = o.history == "full" and 128 or o.history,
    full = o.history == "full",
    budget_ms = slow.budget_ms,
    keep = slow.keep or 32,
    internal = internal.list(),
    filter = with_methods(filter:function_filter(title_of)),
    exclude_c = not o.c_functions,
    memory = o.memory and true,
    live = o.memory == "live" and o.memory_interval or 0,
    memory_interval = o.memory_interval,
    gc = o.gc,
    max_nodes = o.max_nodes,
    file = o.file,
    every = o.every,
    rate = o.rate,
    meta = profile.strings { program = program, folder = folder,
                             lua_version = _VERSION,
                             lua_release = core.release, options = shape,
                             rate = o.rate },
  } do given[key] = value end
  return given
end

-- all that a start needs, for the options and for the core
local function prepare(opts)
  local _ <close> = methods.borrow()
  local o = check_start(opts)
  local tell, close = trace_calls(o)
  text.forget()
  program, shape = program_name(), options.shape(start_options, o)
  folder = name.begin()
  local filter = choice.new(o)
  chosen, recorded_mode = filter:any() and filter or nil, o.mode
  recorded_rate = o.rate
  local given = given_of(o, filter, tell, close)
  rotation.prepare(o, given)
  return o, given
end

local function keep_newest(o, given)
  local _ <close> = methods.borrow()
  rotation.keep_newest(o, given)
end

---Begins a new profile. Raises an error when one is being recorded, or
---when an option is wrong.
---@param opts? cprof.StartOptions
function cprof.start(opts)
  local o, given = prepare(opts)
  -- not within an entry: the recording takes the program's hook over
  local ok, why = core.start(given)
  if not ok then error("start: " .. why, 2) end
  if o.keep then keep_newest(o, given) end
end

-- These act on the function that calls them, or must not be on the stack
-- themselves, so they are functions of the core.

---Ends recording; what was recorded stays. False when nothing was being
---recorded.
---@type fun(): boolean
cprof.stop = core.stop

---Interrupts recording: until `resume`, it costs nothing. False when
---nothing was being recorded.
---@type fun(): boolean
cprof.pause = core.pause

---Goes on after `pause`. False when recording does not pause.
---@type fun(): boolean
cprof.resume = core.resume

---Forgets what was recorded; recording goes on, if it was on. False when
---there was nothing to forget.
---@type fun(): boolean
cprof.reset = core.reset

---Opens a zone in the calling function: it is measured like a function of
---its own, until `leave`, or until the function ends. All that is given
---beside the name becomes part of it.
---@type fun(name: string, ...: any)
cprof.enter = core.enter

---Closes the zone that the calling function entered last. Raises an error
---when there is none, or when it has another name.
---@type fun(name: string, ...: any)
cprof.leave = core.leave

---Opens a zone that ends with the block: `local z <close> = zone "name"`.
---@type fun(name: string, ...: any): any
cprof.zone = core.zone

---Ends a frame: what was recorded since the last one goes to history and
---averages, unless `record` is false. False when nothing is being recorded.
---@type fun(record: boolean?): boolean
cprof.frame = core.frame

---Is a profile being recorded, and not paused?
---@return boolean
function cprof.running() return core.state() == "running" end

local function taken()
  return profile.snapshot { program = program or program_name(),
    folder = folder, lua_version = _VERSION, lua_release = core.release,
    options = shape, rate = recorded_rate,
    unmatched_patterns = chosen and chosen:unmatched() }
end

local function snapshot(who)
  local p = taken()
  if not p then
    error(who .. ": nothing was recorded; call start first", 3)
  end
  core.names()
  return p
end

core.naming(function()
  local _ <close> = methods.borrow()
  return profile.names(folder),
    { unmatched_patterns = chosen and chosen:unmatched(),
      heap = heap.recorded() }
end)

---From now on, this process begins a recording when a signal comes, and ends
---it at the next one, or as `cprof attach` asks. Until then, this costs
---nothing. False when the environment has CPROF_SIGNAL=0; nil and a message
---when it cannot be.
---@param signal? string  "URG" or the like; default: the environment's
---    CPROF_SIGNAL, or URG
---@param opts? cprof.StartOptions  of recordings that the signal begins;
---    default: the environment's CPROF_OPTIONS
---@return boolean?, string?
function cprof.listen(signal, opts)
  local _ <close> = methods.borrow()
  if signal ~= nil and type(signal) ~= "string" then
    error("listen: the signal must be a string, got a " .. type(signal), 2)
  end
  signal = signal or variables.get "CPROF_SIGNAL" or "URG"
  if signal == "0" then return false end
  if opts ~= nil then options.check("listen", start_options, opts, 2)
  else
    opts = variables.options(variables.get "CPROF_OPTIONS")
    local valid, why = pcall(options.check, "", start_options, opts,
      -1)
    if not valid then return nil, "CPROF_OPTIONS" .. why end
  end
  local listening = require "cprof.recording.listen"
  local ok, why = listening.begin(signal, opts, cprof.start)
  return ok, why
end

---What recording costs per event, in ns, measured anew for what these
---options ask for; later starts use it. nil and a reason when it cannot be
---known.
---@param opts? cprof.StartOptions
---@return table<string, number>?, string?
function cprof.calibrate(opts)
  local _ <close> = methods.borrow()
  local o = options.check("calibrate", start_options, opts, 2)
  local costs, why = core.calibrate(way(o, choice.new(o)))
  return costs, why
end

---The profile that a file holds: of one that was recorded into it, even
---while it is still being recorded, or saved. nil and a message when it
---cannot be read.
---@param path string
---@return cprof.Profile?, string?
function cprof.load(path)
  local _ <close> = methods.borrow()
  if type(path) ~= "string" then
    error("load: the path must be a string, got a " .. type(path), 2)
  end
  local p, why = profile.load(path)
  return p, why
end

-- views with methods that are not recorded
local function views()
  local view = require "cprof.view"
  if view.guarded then return view end
  view.guarded = true
  for method, f in pairs(view.methods) do
    if type(f) == "function" then
      view.methods[method] = function(...)
        local _ <close> = methods.borrow()
        return f(...)
      end
    end
  end
  return view
end

---The profile of what was recorded so far. It does not change any more.
---@return cprof.Profile
function cprof.snapshot()
  local _ <close> = methods.borrow()
  local p = snapshot "snapshot"
  return p
end

---The report of what was recorded so far, as text.
---@param opts? cprof.ReportOptions
---@return string
function cprof.report(opts)
  local _ <close> = methods.borrow()
  return report.make(snapshot "report", opts, 3)
end

---The source with figures beside each line, as text: of one source, or of
---the hottest ones.
---@param source? string
---@param opts? cprof.AnnotateOptions
---@return string
function cprof.annotate(source, opts)
  local _ <close> = methods.borrow()
  return annotate.make(snapshot "annotate", source, opts, 3)
end

---A view of a profile, or of what is being recorded.
---@param p? cprof.Profile
---@return cprof.View
function cprof.view(p)
  local _ <close> = methods.borrow()
  if p ~= nil and (type(p) ~= "table" or not p.functions) then
    error("view: a profile is needed, got a " .. type(p), 2)
  end
  local mode = p and p.meta.mode or not p and recorded_mode
  if mode == "count" or mode == "sample" then
    error(('view: mode "%s" has no %s to view'):format(mode,
      mode == "count" and "times" or "calls"), 2)
  end
  return views().new(function() return p or taken() end, p == nil)
end

---A function that does what `f` does, within a zone.
---@param zone string
---@param f function
---@return function
function cprof.wrap(zone, f)
  local _ <close> = methods.borrow()
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

core.opened(cprof)  -- for hosts, whatever becomes of package.loaded

return cprof
