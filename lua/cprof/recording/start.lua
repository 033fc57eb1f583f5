-- The options of a start: checks them, and converts them for the core.

local core = require "cprof.core"
local choice = require "cprof.recording.choice"
local fields = require "cprof.profile.meta"
local internal = require "cprof.sandbox.internal"
local later = require "cprof.sandbox.later"
local lists = require "cprof.text.lists"
local methods = require "cprof.sandbox.methods"
local name = require "cprof.source.name"
local options = require "cprof.text.options"
local rotation = require "cprof.recording.rotation"
local text = require "cprof.source.text"

local costs = later "cprof.recording.costs"
local paths = later "cprof.source.paths"
local recent = later "cprof.recording.recent"
local trace = later "cprof.recording.trace"

internal.add()

local start = {}

---Are costs of recording taken from, and kept in, the user's folder? A program
---that records itself writes nothing there.
start.keeps_costs = false

---The callback of mode "trace", called within the debug hook. It must not
---yield. An error that it raises ends recording.
---@alias cprof.Trace fun(event: "enter"|"leave", depth: integer,
---  title: string, since_ns: integer, duration_ns: integer?)

---@class cprof.StartOptions
---@field mode? "call"|"line"|"trace"|"count"|"sample"  call: calls and times of
---    functions; line: also hits and times of lines; trace: reports each call
---    and return as it happens; count: how often each instruction ran, without
---    times; sample: looks a number of times a second at what runs
---@field rate? integer         mode "sample": samples a second
---@field trace? string|cprof.Trace  mode "trace": a file, or a function
---@field lines? string[]       parts of paths, or Lua patterns between
---    slashes: count only lines, or instructions, of these sources
---@field include? string[]     parts of sources or titles, or Lua patterns
---    between slashes: record only these functions
---@field exclude? string[]     parts of sources or titles, or Lua patterns
---    between slashes: do not record these functions, but charge them to their
---    callers
---@field c_functions? boolean  false: charge C functions to their callers
---@field callsites? boolean    true: calls from different lines have different
---    nodes
---@field clock? "wall"|"cpu"
---@field timer? "wall"|"thread"|"auto"  mode "sample": who interrupts the
---    program. wall: a timer of the wall clock, also while it waits; thread: a
---    thread of cprof's own, which lets system calls go on; auto: events of the
---    system's task clock while it runs, and such a thread while it waits;
---    where the system does not allow one of these, the one before it; nil:
---    thread where the system gives that thread short turns, else wall
---@field recursion? "auto"|"full"|"fold"  fold: a function that is on the call
---    path already gets that node again; auto: from 100,000 nodes on
---@field max_nodes? integer    most call-tree nodes
---@field history? integer|"full"  host frames to keep; "full": with all nodes
---@field gc? boolean          time the garbage collector, as a zone
---@field tasks? boolean  count what coroutines did: how long they ran at a
---    time, and where they were suspended
---@field under? "resumer"|"creator"  creator: coroutines are below the function
---    that made them in the call tree, not below the one that resumes them;
---    with `tasks`
---@field distribution? boolean  count how long the calls of each function took:
---    maximum and percentiles
---@field memory? boolean|"live"  count what is allocated, by function and
---    line; live: also how much of it is in use
---@field memory_interval? integer  memory = "live", and mode "sample": mean
---    bytes from one sampled block to the next; 1: all blocks; nil: it grows
---    with the number of samples
---@field file? string          to record into; in its name, %p: the process,
---    %t: the time, %n: a running number
---@field every? number         seconds after which another file is begun
---@field keep? integer         number of these files to keep, the newest
---@field keep_last? number|string  how many of the last seconds `dump_recent`
---    writes into a file, or a size, such as "16MB": the memory for what it
---    writes; `file` is the pattern of such files. Modes "call", "trace" and
---    "sample"
---@field live_file? string    with `keep_last`: the file to record into,
---    instead of memory
---@field on_slow? table<string, number>  with `keep_last`: seconds that zones
---    of a name may take or, except in mode "sample", functions; if one takes
---    longer, the last seconds are written
---@field dump_every? number   seconds from one such file to the next, at least
---@field compensate? boolean  false: overhead stays in the times
---@field slow_frames? { budget_ms: number, keep: integer? }  keeps the last
---    `keep` host frames over the budget with all their nodes
start.options = {
  mode = { type = "string", default = "call",
           values = { "call", "line", "trace", "count", "sample" } },
  rate = { type = "integer", min = 1, max = 10000, modes = { "sample" } },
  trace = { type = "trace", modes = { "trace" } },
  lines = { type = "patterns", shapes = true,
            modes = { "line", "count", "sample" } },
  include = { type = "patterns", shapes = true },
  exclude = { type = "patterns", shapes = true },
  c_functions = { type = "boolean", default = true, shapes = true },
  callsites = { type = "boolean", default = false, shapes = true },
  clock = { type = "string", values = { "wall", "cpu" }, default = "wall" },
  timer = { type = "string", values = { "wall", "thread", "auto" },
            modes = { "sample" } },
  recursion = { type = "string", values = { "auto", "full", "fold" },
                default = "auto", shapes = true },
  max_nodes = { type = "integer", min = 16, max = 0x7fffffff,
                default = 1000000 },
  history = { type = "history", default = 128 },
  slow_frames = { type = "slow_frames",
                  modes = { "call", "line", "trace", "sample" } },
  file = { type = "path" },
  every = { type = "number", min = 0.01, max = 100000000 },
  keep = { type = "integer", min = 1, max = 1000000 },
  keep_last = { type = "kept", min = 0.01, max = 100000, least = "128KB",
                most = "256MB", modes = { "call", "trace", "sample" } },
  live_file = { type = "path" },
  on_slow = { type = "budgets", modes = { "call", "trace", "sample" } },
  dump_every = { type = "number", min = 0, max = 100000000, default = 60 },
  compensate = { type = "boolean", default = true },
  distribution = { type = "boolean", default = false,
                   modes = { "call", "line" } },
  tasks = { type = "boolean", default = false, modes = { "call", "line" } },
  under = { type = "string", values = { "resumer", "creator" },
            modes = { "call", "line" }, shapes = true },
  memory = { type = "memory", default = false },
  memory_interval = { type = "integer", min = 1, max = 1 << 30 },
  gc = { type = "boolean", default = false,
         modes = { "call", "line", "trace" } },
}

-- A function that returns the title of a function during recording, given its
-- record and the function itself.
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

---The command line of the program that runs; nil: there is none, in a host.
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

-- the number of nodes from which on recursion folds; auto: nobody looks at more
-- nodes than this, and the file stays under ten megabytes
local fold_at = { auto = 100000, full = 0xffffffff, fold = 0 }

-- `f` for calls within the hook, with the library's methods of strings: the
-- program may have changed these. nil: `f` is nil.
local function with_methods(f)
  return f and function(...)
    local _ <close> = methods.shield()
    return f(...)
  end
end

---Options that the cost of an event depends on, as the core wants them.
---@param o cprof.StartOptions  valid ones
---@param filter cprof.Choice
---@return table<string, any>
function start.cost_options(o, filter)
  local seconds, bytes = o.keep_last, nil
  if type(seconds) == "string" then
    seconds, bytes = 1e9, options.bytes(seconds)
  end
  return {
    mode = o.mode,
    lines_of = with_methods(filter:line_filter()),
    cpu = o.clock == "cpu",
    watched = o.timer ~= "wall",
    prompt = o.timer == nil,
    counted = o.timer == "auto",
    callsites = o.callsites,
    distribution = o.distribution,
    tasks = o.tasks,
    keep_last = seconds,
    keep_bytes = bytes,
    fold_at = fold_at[o.recursion],
    compensate = o.compensate,
  }
end

-- Checks what mode "count" needs.
local function check_count(o)
  if core.internals() ~= "direct" then
    error('start: mode "count" needs to read Lua\'s own structures, which ' ..
      "is not possible here or is switched off by CPROF_INTERNALS=0", 6)
  elseif o.clock == "cpu" then
    error('start: mode "count" has no clock; leave out option \'clock\'', 6)
  end
end

local function refuse(what, modes)
  error(("start: %s needs mode = %s"):format(what,
    ('"%s"'):format(table.concat(modes, '", "')):gsub(', ("%l+")$', " or %1")),
    7)
end

-- Checks that options are given that the mode can have.
local function check_modes(o)
  for _, option in ipairs(lists.keys(start.options)) do
    local modes = start.options[option].modes
    local fits = not modes or not o[option]
    for _, mode in ipairs(modes or {}) do fits = fits or mode == o.mode end
    if not fits then refuse(("option '%s'"):format(option), modes) end
  end
  if o.history == "full" and (o.mode == "count" or o.mode == "sample") then
    refuse('history = "full"', { "call", "line", "trace" })
  end
  if o.timer and o.clock == "cpu" then
    error("start: option 'timer' cannot be combined with clock = \"cpu\", " ..
      "which has its own timer", 6)
  end
end

-- Checks what the zone of the garbage collector needs.
local function check_gc()
  local drives, finalizing = core.drives()
  if drives then return end
  if finalizing then
    error("start: option 'gc' cannot be given in a finalizer, while the " ..
      "collector is at work", 6)
  elseif core.internals() == "direct" then
    error(("start: option 'gc' needs Lua 5.4: cprof cannot control the " ..
      "collector of %s"):format(_VERSION), 6)
  else
    error("start: option 'gc' needs to read Lua's own structures, which is " ..
      "not possible here or is switched off by CPROF_INTERNALS=0", 6)
  end
end

-- With `keep_last`, mode "trace" becomes mode "call": files with the last
-- seconds have each call. Budgets of functions need durations of calls.
local function keep_calls(o)
  if not o.keep_last or o.mode == "sample" then return end
  if o.trace then
    error("start: options 'keep_last' and 'trace' cannot be combined: the " ..
      "files with the last seconds have the trace", 6)
  end
  o.mode = "call"
  o.distribution = o.distribution or o.on_slow ~= nil
end

-- All options, with defaults. Raises an error if they are not valid.
local function check_start(opts)
  local o = options.check("start", start.options, opts, 5)
  check_modes(o)
  keep_calls(o)
  if core.state() ~= "stopped" then
    error("start: already running; call stop first", 5)
  end
  if o.mode == "sample" then o.rate = o.rate or 1000 end
  if o.mode == "count" then check_count(o) end
  if o.gc then check_gc() end
  if o.under == "resumer" then o.under = nil end
  if o.under and not o.tasks then
    error('start: under = "creator" needs tasks = true, which records where ' ..
      "coroutines are made", 5)
  end
  if opts and opts.memory_interval and o.memory ~= "live" and
     not (o.memory and o.mode == "sample") then
    error('start: option \'memory_interval\' needs memory = "live", or ' ..
      'memory and mode = "sample"', 5)
  end
  rotation.check(o, 5)
  return o
end

-- In mode "trace": the function that is called for each event, and the one that
-- is called at the end, if any.
local function trace_calls(o)
  if o.mode ~= "trace" then return nil end
  if type(o.trace) == "function" then return o.trace end
  local writer, why = trace.open(o.trace, core.process())
  if not writer then error("start: cannot write " .. why, 5) end
  return writer.tell, writer.close
end

-- the first interval of samples of allocations, if it adapts; and that of mode
-- "sample", where a sample costs more
local finest <const>, sampled <const> = 1, 4096

-- The options as the core wants them.
local function given_of(o, filter, recorded, tell, close)
  local slow = o.slow_frames or { budget_ms = 0, keep = 0 }
  local title_of = (o.include or o.exclude or tell) and titles()
  local given = start.cost_options(o, filter)
  local interval = o.memory_interval or
    (o.mode == "sample" and sampled or finest)
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
    live = o.memory == "live" and interval or 0,
    memory_interval = interval,
    adapts = not o.memory_interval,
    gc = o.gc,
    creator = o.under == "creator",
    max_nodes = o.max_nodes,
    file = o.file,
    every = o.every,
    rate = o.rate,
    meta = fields.strings(recorded),
  } do given[key] = value end
  return given
end

---@class cprof.Recorded       what a start knows of the recording
---@field mode string
---@field rate? integer
---@field program? string       the command line that runs
---@field folder? string        the current one
---@field process? integer      with cprof run --children: this process
---@field parent? string        the one that started it
---@field lua_version string
---@field lua_release string
---@field options? table<string, string>  options that shape its profile
---@field choice? cprof.Choice  what is recorded; nil: everything
---@field recent? cprof.Recent  what `dump_recent` writes

-- Is there something that only a flight recorder has?
local function needs_recent(o)
  return o.keep_last or o.live_file or o.on_slow or
    o.mode == "sample" and o.slow_frames
end

---Prepares a start. An error about the options names the place from which
---cprof.start was called: the caller's caller.
---@param opts? cprof.StartOptions
---@return cprof.StartOptions o        all options, with defaults
---@return table<string, any> given    the options, as the core wants them
---@return cprof.Recorded
function start.prepare(opts)
  local o = check_start(opts)
  local kept = needs_recent(o) and recent.take(o, 4) or nil
  local tell, close = trace_calls(o)
  text.forget()
  local filter = choice.new(o)
  local recorded = {
    mode = o.mode, rate = o.rate, program = start.program(),
    folder = name.begin(), lua_version = _VERSION, lua_release = core.release,
    options = options.shape(start.options, o),
    choice = filter:any() and filter or nil,
    recent = kept,
  }
  if os.getenv "CPROF_CHILDREN" then
    recorded.process = core.process()
    recorded.parent = os.getenv "CPROF_PARENT"
  end
  local given = given_of(o, filter, recorded, tell, close)
  rotation.prepare(o, given)
  if kept then
    recent.prepare(kept, given, o.mode ~= "sample" and recorded.folder)
  end
  if start.keeps_costs then costs.settle(given) end
  return given, recorded
end

return start
