-- What a recording is asked for: the options of a start, checked, and what
-- the core wants of them.

local core = require "cprof.core"
local choice = require "cprof.recording.choice"
local internal = require "cprof.sandbox.internal"
local later = require "cprof.sandbox.later"
local methods = require "cprof.sandbox.methods"
local name = require "cprof.source.name"
local options = require "cprof.text.options"
local rotation = require "cprof.recording.rotation"
local text = require "cprof.source.text"

local paths = later "cprof.source.paths"
local profile = later "cprof.profile"
local trace = later "cprof.recording.trace"

internal.add()

local start = {}

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
---@field include? string[]     parts of sources or titles, or such patterns:
---    only these functions
---@field exclude? string[]     not these; what is left out is its caller's
---@field c_functions? boolean  false: C functions are their callers'
---@field callsites? boolean    true: calls are told apart by their lines
---@field clock? "wall"|"cpu"
---@field timer? "wall"|"thread"  mode "sample": who interrupts the program: a
---    timer of the wall clock; or a thread of cprof's own, which lets the
---    program's system calls go on
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
start.options = {
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
  timer = { type = "string", values = { "wall", "thread" }, default = "wall" },
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

-- gives the title of a function as soon as it is known, by its record and
-- the function itself
local function titles()
  name.prepare()
  local found, of_c = setmetatable(paths.all(), { __mode = "k" }), {}
  for f, path in pairs(found) do
    local address = core.address(f)
    if address then of_c[address] = path end
  end
  return function(raw, f)
    local path = f and (found[f] or of_c[core.address(f)])
    return name.title(raw, name.of(raw, path))
  end
end

---The command line of the program that runs; nil: it has none.
---@return string?
function start.program()
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

---Options that the cost of an event depends on, as the core has them.
---@param o cprof.StartOptions  that are valid
---@param filter cprof.Choice
---@return table<string, any>
function start.way(o, filter)
  return {
    trace = o.mode == "trace",
    lines = o.mode == "line",
    count = o.mode == "count",
    sample = o.mode == "sample",
    lines_of = with_methods(filter:line_filter()),
    cpu = o.clock == "cpu",
    watched = o.timer == "thread",
    callsites = o.callsites,
    fold_at = fold_at[o.recursion],
    compensate = o.compensate,
  }
end

-- what mode count is in need of
local function check_count(o)
  if core.internals() ~= "direct" then
    error('start: mode "count" needs to read Lua\'s own structures, which ' ..
      "is not possible here, or switched off by CPROF_INTERNALS=0", 6)
  elseif o.clock == "cpu" then
    error('start: mode "count" has no clock; leave out option \'clock\'', 6)
  end
end

local function check_frames(o)
  if o.mode ~= "count" and o.mode ~= "sample" then return end
  local about_time = o.slow_frames and "slow_frames" or
    o.history == "full" and "history"
  if about_time then
    error(('start: mode "%s" has no times of frames; leave out option ' ..
      "'%s'"):format(o.mode, about_time), 6)
  end
end

-- what the zone of the garbage collector is in need of
local function check_gc(o)
  if o.mode ~= "call" and o.mode ~= "line" then
    error(('start: option \'gc\' needs mode = "call" or "line"'), 6)
  end
  local drives, finalizing = core.drives()
  if drives then return end
  if finalizing then
    error("start: option 'gc' cannot be given in a finalizer, while the " ..
      "collector is at work", 6)
  elseif core.internals() == "direct" then
    error(("start: option 'gc' needs Lua 5.4: the collector of %s cannot be " ..
      "driven"):format(_VERSION), 6)
  else
    error("start: option 'gc' needs to read Lua's own structures, which is " ..
      "not possible here, or switched off by CPROF_INTERNALS=0", 6)
  end
end

local function check_start(opts)
  if core.state() ~= "stopped" then
    error("start: already running; call stop first", 5)
  end
  local o = options.check("start", start.options, opts, 5)
  if o.lines and not (o.mode == "line" or o.mode == "count" or
     o.mode == "sample") then
    error('start: option \'lines\' needs mode = "line", "count" or "sample"',
      5)
  end
  if o.rate and o.mode ~= "sample" then
    error('start: option \'rate\' needs mode = "sample"', 5)
  end
  if o.mode == "sample" then o.rate = o.rate or 1000 end
  if o.mode == "count" then check_count(o) end
  check_frames(o)
  if o.gc then check_gc(o) end
  if opts and opts.memory_interval and o.memory ~= "live" and
     not (o.memory and o.mode == "sample") then
    error('start: option \'memory_interval\' needs memory = "live", or ' ..
      'memory and mode = "sample"', 5)
  end
  if o.trace and o.mode ~= "trace" then
    error('start: option \'trace\' needs mode = "trace"', 5)
  end
  rotation.check(o, 5)
  return o
end

-- what is called for each event, and what at the end
local function trace_calls(o)
  if o.mode ~= "trace" then return nil end
  if type(o.trace) == "function" then return o.trace end
  local writer, why = trace.open(o.trace, core.process())
  if not writer then error("start: cannot write " .. why, 5) end
  return writer.tell, writer.close
end

-- what the core is to do
local function given_of(o, filter, recorded, tell, close)
  local slow = o.slow_frames or { budget_ms = 0, keep = 0 }
  local title_of = (o.include or o.exclude or tell) and titles()
  local given = start.way(o, filter)
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
    meta = profile.strings(recorded),
  } do given[key] = value end
  return given
end

---@class cprof.Recorded       what a start knows of the recording
---@field mode string
---@field rate? integer
---@field program? string       what runs
---@field folder? string        and where
---@field lua_version string
---@field lua_release string
---@field options? table<string, string>  that shape its profile
---@field choice? cprof.Choice  what of it is recorded

---All that a start needs. An error about the options names the place from
---which cprof.start was called: the caller's caller.
---@param opts? cprof.StartOptions
---@return cprof.StartOptions o        all of them
---@return table<string, any> given    the options, as the core wants them
---@return cprof.Recorded
function start.prepare(opts)
  local o = check_start(opts)
  local tell, close = trace_calls(o)
  text.forget()
  local filter = choice.new(o)
  local recorded = {
    mode = o.mode, rate = o.rate, program = start.program(),
    folder = name.begin(), lua_version = _VERSION, lua_release = core.release,
    options = options.shape(start.options, o),
    choice = filter:any() and filter or nil,
  }
  local given = given_of(o, filter, recorded, tell, close)
  rotation.prepare(o, given)
  return o, given, recorded
end

return start
