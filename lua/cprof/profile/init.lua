-- The profile: the data model that all views read.

local core = require "cprof.core"
local group = require "cprof.count.group"
local heap = require "cprof.count.heap"
local later = require "cprof.sandbox.later"
local methods = require "cprof.sandbox.methods"
local name = require "cprof.source.name"
local paths = require "cprof.source.paths"
local text = require "cprof.source.text"

local allocations = later "cprof.count.allocations"
local bound = later "cprof.count.bound"
local coverage = later "cprof.coverage"
local durations = later "cprof.count.durations"
local tasks = later "cprof.count.tasks"
local fields = later "cprof.profile.meta"
local figures = later "cprof.count.figures"
local formats = later "cprof.text.format"
local frames = later "cprof.count.frames"
local graph = later "cprof.count.graph"
local instructions = later "cprof.count.instructions"
local labels = later "cprof.count.labels"
local lines = later "cprof.count.lines"
local measure = later "cprof.count.measure"
local sampled = later "cprof.count.sampled"
local spots = later "cprof.count.spots"
local within = later "cprof.count.within"

---@class cprof.Meta
---@field mode string          "call", "line", "count" or "sample"
---@field clock string         "tsc", "monotonic" or "cpu"; in mode "count"
---    "instructions": then no field below has a time
---@field instructions? integer  mode "count": instructions that ran
---@field rate integer?         mode "sample": samples a second that were
---    asked for
---@field worth_running? integer  mode "sample": the effective number of 1000
---    samples that found the program running; nil: 1000
---@field worth_waiting? integer  mode "sample": the effective number of 1000
---    samples that found the program waiting; nil: 1000
---@field samples integer?      of a joined profile: samples that its times
---    are from; nil: they are measured
---@field internals "direct"|"public"  "direct": Lua's own structures were read;
---    "public": only its public functions were used
---@field wall_ns integer      from start to stop, with pauses
---@field paused_ns integer
---@field overhead_ns integer  the part of wall_ns that the profiler took
---@field clamped_ns integer   overhead that exceeded measured times
---@field costs_ns? table<string, number>  ns of overhead, by kind of event
---@field uncompensated? string  why overhead is in the times; nil: it is not
---@field started_at integer   seconds since 1970
---@field pid integer          process that was recorded
---@field runs integer?        number of recordings that were added up
---@field memory boolean       whether allocations were counted
---@field live_interval integer?  average bytes from one sampled block in use
---    to the next; 1: all blocks are known
---@field peak_bytes integer?  most bytes that were in use at once
---@field garbage_bytes integer?  bytes that were not freed at the end, but
---    probably garbage, and not counted as in use; 0 or nil: not known
---@field distribution boolean  whether durations of calls were counted
---@field tasks boolean        whether tasks were counted
---@field gc boolean           whether the garbage collector was timed
---@field gc_steps integer?    with `gc`: steps that the collector made
---@field gc_cycles integer?   with `gc`: collections that ended in a step
---@field gc_longest_ns integer?  with `gc`: the longest step
---@field allocator_lost boolean  whether another allocator replaced the
---    profiler's; later allocations were then not counted
---@field live boolean?        whether it was loaded while being recorded
---@field since_last_event_ns integer?  with `live`, or if a signal ended
---    the program: time without any event
---@field since_last_event_waiting_ns integer?  how much of that it waited;
---    nil: that is not known
---@field events integer?      calls and returns that were seen
---@field unmatched integer    events for which no call was found
---@field truncated integer    calls without known callers, as the tree had
---    max_nodes nodes
---@field folded boolean       whether recursion was folded
---@field fold_at integer      number of nodes from which on recursion folds
---@field clock_backwards integer  times that the clock ran backwards
---@field clock_backwards_ns integer  how far it ran backwards in all
---@field clock_jumps integer  times that the clock and another one diverged
---@field clock_jumps_ns integer  by how much they diverged in all
---@field timer string?       mode "sample": what asked for samples: a timer of
---    "wall" or "cpu" time, a "thread" of cprof's, or the "task-clock" and, for
---    waits, such a thread
---@field signals integer?     mode "sample": signals that the program got for
---    samples
---@field interrupted integer?  mode "sample": system calls that these signals
---    have ended early, with EINTR
---@field hook_lost boolean    whether another hook replaced the profiler's
---@field ended string?        why recording ended by itself; nil: it did not
---@field program string?      the command line that ran
---@field folder string?       the current one when recording began
---@field axis_lost boolean  was the time axis given up?
---@field axis_begins_ns integer?  when earlier samples or calls came is lost;
---    nil: it is known of all
---@field range string?        of a range: "1.2s to 1.5s of 10s"
---@field range_from_ns integer?  of a range: where it begins
---@field labels string?       of a part under labels: which ones, and how much
---    of the recording it is: "endpoint=/login (12ms of 40ms)"
---@field options table<string, string>?  options of `start` that shape the
---    profile, but for those with their default values
---@field unmatched_patterns string?  a line for each pattern of the options
---    that matched nothing
---@field lua_version string   "Lua 5.4"
---@field lua_release string?  "5.4.4"
---@field cprof_version string

---@class cprof.Function
---@field id integer
---@field name string
---@field source string
---@field place string?        of Lua functions: the source as reports show it
---@field line integer
---@field last_line integer
---@field kind "Lua"|"C"|"main"|"zone"|"root"|"internal"
---@field title string         reports tell functions apart by it
---@field labels? table<string, string|number|boolean>  of a label, a zone: its
---    keys and values
---@field calls? integer        not in mode "sample"
---@field self_samples? integer  mode "sample": samples of it alone
---@field total_samples? integer  mode "sample": samples with callees
---@field self_ns integer      time without callees
---@field self_raw_ns integer  self_ns with overhead; not in mode "sample"
---@field total_ns integer     time with callees; recursion counted once
---@field self_most_ns? integer  the maximum of self_ns, as reports print it:
---    more than self_ns where most of what was measured is overhead. Not in
---    mode "sample"
---@field total_most_ns? integer  the maximum of total_ns
---@field self_wait_ns? integer  the part of self_ns in which it waited: slept,
---    read, or polled. Not in mode "count"
---@field total_wait_ns? integer  the part of total_ns that is waiting
---@field instructions? integer  mode "count": instructions that it ran
---@field total_instructions? integer  mode "count": those with callees
---@field self_allocs? integer  with `memory`: its allocations, without callees
---@field self_bytes? integer
---@field total_allocs? integer  with `memory`: allocations with callees
---@field total_bytes? integer
---@field live_bytes? integer  with `memory = "live"`: bytes that it allocated
---    itself and that are in use; and, with those of callees,
---    total_live_bytes. How many blocks these are: live_blocks,
---    total_live_blocks
---@field peak_bytes? integer  live_bytes when most bytes were in use; and,
---    with those of callees, total_peak_bytes
---@field allocated? table<string, { allocs: integer, bytes: integer }>  what
---    it allocated itself, by kind: table, string, closure, userdata,
---    thread, other (what these contain: elements, stacks, code)
---@field timed_calls? integer  with `distribution`: calls that have ended; of
---    recursion, the outermost ones
---@field max_ns? integer      with `distribution`: total time of the longest
---    of these calls, without overhead
---@field p50_ns? integer      half of them took no longer, within 5 %
---@field p90_ns? integer
---@field p99_ns? integer
---@field durations? { [1]: integer, [2]: integer, [3]: integer }[]  the
---    histogram's steps: from (ns), to (ns, not included), calls
---@field slowest? cprof.SlowCall[]  the longest of these calls, the longest
---    first: took_ns (cpu_ns and wait_ns), preempted_ns and overhead_ns
---    besides, wall_ns (all of these), ended_ns (since the start, with
---    pauses), node, coroutine, frame; of sums of profiles and joined ones,
---    only times
---@field histogram? string    all of that, see cprof.durations
---@field max_depth integer    most frames of it on one stack
---@field nth integer?         its number among the functions on its lines
---@field counters? string     of each instruction, see cprof.instructions
---@field allocated_at? string  what each instruction has allocated
---@field fingerprint string    hash of its code, whatever lines it is on;
---    "": there is too little code to know it by
---@field layout integer        hash of its code and of its lines, counted from
---    its first one; 0: not known

---@class cprof.Node
---@field id integer
---@field parent integer       0 for the root; always lower than id
---@field func integer         id of a function
---@field call_line integer    line of the call; 0: not recorded
---@field metamethod? string   what it was called as: "__add", "also __add"
---@field calls? integer        not in mode "sample"
---@field self_samples? integer  mode "sample"
---@field total_samples? integer  mode "sample"
---@field self_ns integer
---@field self_raw_ns integer  self_ns with overhead
---@field total_ns integer
---@field self_wait_ns? integer  the part of self_ns that is waiting
---@field total_wait_ns? integer  the part of total_ns that is waiting
---@field self_allocs? integer  with `memory`
---@field self_bytes? integer  with `memory`

---@class cprof.Profile
---@field meta cprof.Meta
---@field functions cprof.Function[]
---@field nodes cprof.Node[]   each node is made when it is read; # and ipairs
---    work
---@field lines table<string, cprof.Line[]>  by source; empty in mode "call"
---@field sources table<string, cprof.Source>  sources whose lines are counted
---@field overhead integer    id of the function that stands for the profiler
---@field measure cprof.Measure  what its figures are, and the 100 % of shares
---@field program_ns? integer time without overhead and pauses; not in mode
---    "count"
---@field recorded? cprof.Profile  of a copy with another measure: the profile
---    that it is a copy of
---@field samples? integer     mode "sample": number of samples
---@field time_samples? integer  number of samples that its times are from:
---    `samples`, or those of the second profile of a join; nil: its times are
---    measured
---@field counted integer[]    the figures of lines, as lines.each reads them
---@field expressions? table<string, cprof.Expression[]>  by source, in mode
---    "count"; nil where only lines are known
---@field branches? table<string, cprof.Branch[]>  by source, where
---    expressions are
---@field heap cprof.HeapPoint[]?  with `memory`: size of the heap over time
---@field frames cprof.Frames?  when `frame` was called; not in mode "count"
---@field loops cprof.Frames[]?  the frames of each name
---@field labels cprof.Label[]?  what was recorded under each label
---@field lines_of fun(passes?: fun(f: cprof.Function): boolean): table
---@field lines_by_title fun(): table<string, table<integer, cprof.Line>>
---@field lines_by_row fun(): table<string, table<integer, cprof.Line>>  by
---    the keys that lines.row returns
---@field lines_ran fun(): table<string, table<integer, boolean>>  by source
local Profile = {}
Profile.__index = Profile

local profile = {}

-- by profile: what it was made of, which `save` needs
local parts = setmetatable({}, { __mode = "k" })

-- A function that names functions as the core gives them, and one that tells
-- where they are found.
local function namer(raw)
  local index = paths.index()
  for f, path in pairs(paths.all()) do
    local key = core.key(f)
    if key then index:add(key, path, core.address(f) ~= nil) end
  end
  local function path_of(f) return index.path[f.key], index.shared[f.key] end
  return name.namer(raw, path_of), path_of
end

-- The cprof.Function of `raw`, a function as the core gives it, with the sums
-- in `row`.
local function describe(p, raw, row, given, title)
  local out = {
    id = raw.id, name = given, title = title,
    kind = raw.kind, source = raw.source, place = raw.place,
    line = raw.line, last_line = raw.last_line,
    fingerprint = raw.fingerprint, layout = raw.layout, nth = raw.nth,
    max_depth = not p.samples and row.max_depth or nil,
    counters = raw.counters, allocated_at = raw.allocated_at,
    allocated = raw.allocated, histogram = raw.histogram,
    spots = raw.spots or nil, spent = raw.spent or nil,
    labels = raw.kind == "zone" and given:find "^{" and labels.read(given) or
      nil,
  }
  for field, n in pairs(figures.of_function(row, p)) do out[field] = n end
  return out
end

local function without_times(meta, nodes)
  for _, key in ipairs(fields.all "time") do meta[key] = nil end
  meta.instructions = nodes[1].total_instructions
end

-- The calls of functions, for names. Mode "sample" has none: 0 stands for
-- functions that the root has as callees, as only the host may have called
-- these; 1 for others.
local function calls_of(p, rows)
  local out = {}
  for i, row in ipairs(rows) do out[i] = p.samples and 1 or row.calls end
  local list = p.samples and
    core.children(p.nodes, (core.callees(p.nodes)), 1) or {}
  for i = 1, #list, 4 do
    local _, func = core.node(p.nodes, list[i])
    out[func] = 0
  end
  return out
end

---The tasks that samples have found, see `tasks.sampled`.
---@param p cprof.Profile
---@return cprof.SampledTask[]?
---@return boolean[]? bodies
function profile.sampled(p)
  return tasks.sampled(p.nodes, parts[p][3], function(func)
    return name.module(p.functions[func]) ~= nil
  end)
end

---Makes a profile of its parts. `named` returns a function's name and title,
---given what the core knows of it, and its calls; a title of nil is made from
---the name. `axis`: when samples came, if that is known; `of_tasks`: what
---coroutines did, if that was counted; `loops`: what is kept of frames, with
---their `histories` while they are recorded.
function profile.new(named, nodes, raw, meta, counted, sources, axis,
                     of_tasks, loops, histories)
  local counting, samples = meta.mode == "count", nil
  meta.rate = fields.count(meta.rate)
  -- only a joined profile has this field
  meta.samples = not counting and meta.mode ~= "sample" and
    fields.count(meta.samples) or nil
  if meta.mode == "sample" then
    samples = core.sampling(nodes)
    meta.uncompensated, meta.costs_ns, meta.events = nil, nil, nil
    counted = sampled.lines(raw, meta.internals == "direct",
      meta.lua_version)
  elseif counting then
    core.counting(nodes)
    without_times(meta, nodes)
    counted = instructions.lines(raw)
  end
  if axis and samples then sampled.weigh(meta, axis) end
  local begins = axis and core.axis_begins(axis) or 0
  meta.axis_begins_ns = begins > 0 and begins or nil
  local p = setmetatable({ meta = meta, nodes = nodes, functions = {},
    samples = samples, time_samples = samples or meta.samples }, Profile)
  local rows = graph.sums(nodes, group.by(raw, group.itself), samples ~= nil)
  p.wait_samples = samples and sampled.waits(rows)
  p.measure = measure.base(p)
  p.program_ns = not counting and p.measure.whole or nil
  graph.finish(rows, {}, bound.most(p))
  name.set_places(raw, meta.folder)
  local calls, labelled = calls_of(p, rows), false
  for i, f in ipairs(raw) do
    local given, title = named(f, calls[i])
    p.functions[i] = describe(p, f, rows[i], given, title or
      name.title(f, given))
    labelled = labelled or p.functions[i].labels ~= nil
  end
  if meta.distribution then durations.attach(p, rows) end
  if meta.memory then allocations.attach(p.functions, nodes, meta) end
  p.overhead = select(2, core.overhead(nodes))
  lines.attach(p, counted, sources)
  if counting or samples then coverage.attach(p) end
  local marks = {}
  for i, f in ipairs(raw) do marks[i] = f.marks end
  parts[p] = { (counting or samples) and {} or counted, sources, marks,
    axis, of_tasks, loops }
  if labelled then p.labels = labels.list(p) end
  if of_tasks then p.tasks = tasks.list(p, of_tasks)
  elseif samples then
    local bodies
    p.tasks, bodies = profile.sampled(p)
    if p.tasks and axis then
      tasks.streaks(p.tasks, axis, nodes, bodies, begins, meta.wall_ns)
    end
  end
  -- mode "count" has no times, thus no frames
  if loops and not counting then
    p.loops = frames.all(p, loops, histories)
    p.frames = frames.main(p.loops)
  end
  return p
end

---The profile of what was recorded so far; nil: nothing was.
---@param meta table   fields of meta that the caller knows
---@return cprof.Profile?
function profile.snapshot(meta)
  local nodes, raw, known, counted, sources, histories, axis, of_tasks, loops =
    core.snapshot()
  if not nodes then return nil end
  text.refresh()
  for key, value in pairs(meta) do known[key] = value end
  name.begin(known.folder)
  name.set_places(raw)
  local points
  if known.memory then points, known.garbage_bytes = heap.recorded() end
  local p = profile.new((namer(raw)), nodes, raw, known, counted, sources,
    axis, of_tasks, loops, histories)
  p.heap = heap.points(points, p.meta.wall_ns)
  return p
end

---The names of the functions that were recorded so far, for a file: a list of
---key, name, title, key, name, title and so on. Functions whose text cannot be
---read here have none, as whoever reads the file may know more of them. Texts
---that names need are not kept: the next file may have other sources.
---@param folder string?  the current one when recording began
---@return any[]
function profile.names(folder)
  local raw = core.functions() or {}
  text.refresh()
  name.begin(folder)
  local out, named, path_of = {}, namer(raw)
  for _, f in ipairs(raw) do
    if f.kind ~= "Lua" or path_of(f) or text.lines(f.source) then
      local given = named(f, f.calls)
      local n = #out
      out[n + 1], out[n + 2], out[n + 3] = f.key, given, name.title(f, given)
    end
  end
  text.forget()
  return out
end

-- a key that identifies Lua functions by where they are defined
local function place_key(source, line, last)
  return ("%d:%d:%s"):format(line, last, source)
end

-- A function that names the functions of a file to which the recorded program
-- has given no name: by their paths in the file (`found`), and by their texts.
local function namer_of_file(raw, found, sources, folder)
  local index = paths.index()
  for i = 1, #found, 5 do
    local address = found[i] ~= 0 and found[i] or nil
    index:add(address or place_key(found[i + 1], found[i + 2], found[i + 3]),
      found[i + 4], address ~= nil)
  end
  text.forget(folder)
  for _, source in ipairs(sources) do
    if source.text then text.know(source.source, source.text) end
  end
  return name.namer(raw, function(f)
    local key = f.address or place_key(f.source, f.line, f.last_line)
    return index.path[key], index.shared[key]
  end)
end

-- Why the instructions in a file cannot be read; nil: they can.
local function unknown_instructions(meta)
  local version = meta.lua_version
  if version and (meta.mode == "count" or meta.mode == "sample") and
     not instructions.of(version) then
    return ("it has instructions of %s, which this cprof does not know")
      :format(formats.plain(version))
  end
end

---Loads the profile in a file. Returns nil and a message if that fails.
---@param path string
---@return cprof.Profile? loaded
---@return string? why
function profile.load(path)
  local nodes, raw, meta, counted, sources, _, axis, of_tasks, loops, names,
    found = core.load(path)
  if not nodes then return nil, raw end
  local strings = meta.strings
  meta.strings = nil
  fields.read(meta, strings)
  local why = unknown_instructions(meta)
  if why then return nil, ("%s: %s"):format(path, why) end
  local unnamed = {}
  name.set_places(raw, meta.folder)
  if strings.spots then spots.know(raw, strings.spots) end
  for _, f in ipairs(raw) do
    if not names[f.key] then unnamed[#unnamed + 1] = f end
  end
  local derive = namer_of_file(unnamed, found, sources, meta.folder)
  local p = profile.new(function(f, calls)
    local told = names[f.key]
    if told then return told[1], told[2] end
    return derive(f, calls)
  end, nodes, raw, meta, counted, sources, axis, of_tasks, loops)
  text.forget()
  p.heap = heap.points(strings.heap, p.meta.wall_ns)
  return p
end

---`Profile:save` for callers that are shielded.
---@param p cprof.Profile
---@param path string
---@return true? ok
---@return string? why
function profile.save(p, path)
  local counted, sources, marks, axis, of_tasks, loops =
    table.unpack(parts[p], 1, 6)
  local strings = fields.strings(p.meta)
  strings.heap = heap.text(p.heap)
  strings.spots = p.time_samples and spots.text(p.functions)
  return core.save(path, p.nodes, p.functions, p.meta, strings, counted,
    sources, marks, axis, of_tasks, loops)
end

---Writes the profile to a file, which `load` can read. Returns nil and a
---message if that fails.
---@param path string
---@return true? ok
---@return string? why
function Profile:save(path)
  local _ <close> = methods.shield()
  if type(path) ~= "string" then
    error("save: the path must be a string, got a " .. type(path), 2)
  end
  return profile.save(self, path)
end

---The recorder's marks of each function, see src/identity/function.h. The
---records that `profile.new` takes have them as `marks`.
---@param p cprof.Profile
---@return integer[]
function profile.marks(p)
  return parts[p][3]
end

---The records of functions, as `profile.new` takes them, for a part of a
---profile.
---@param p cprof.Profile
---@param map integer[]  function of the part -> function
---@param counters? (string|false)[]  of the part's functions; nil: not known
---@return table[]
function profile.records(p, map, counters)
  local out, marks = {}, profile.marks(p)
  for i, id in ipairs(map) do
    local f = p.functions[id]
    out[i] = { id = i, kind = f.kind, source = f.source, place = f.place,
      line = f.line, last_line = f.last_line, nth = f.nth,
      name = f.name, title = f.title, fingerprint = f.fingerprint,
      layout = f.layout, marks = marks[id],
      counters = counters and counters[i] or nil }
  end
  return out
end

---The sources, as `profile.new` takes them.
---@param p cprof.Profile
---@return table[]
function profile.sources(p) return parts[p][2] end

---What coroutines did, as the core gives it; nil: that was not counted.
---@param p cprof.Profile
---@return table[]?
function profile.tasks(p) return parts[p] and parts[p][5] end

---The frames by name, as the core gives them; nil: there are none.
---@param p cprof.Profile
---@return table[]?
function profile.loops(p) return parts[p] and parts[p][6] end

---When samples came, for the core; nil: that is not known.
---@param p cprof.Profile
---@return userdata?
function profile.axis(p) return parts[p] and parts[p][4] end

-- The keys of the groups of functions, given by the program's own function,
-- which runs outside of the shield.
local function keys_of(p, key_of)
  local out = {}
  for i = 1, #p.functions do
    if i ~= p.overhead then out[i] = key_of(p.functions[i]) end
  end
  return out
end

local function check_sums(key_of)
  local _ <close> = methods.shield()
  if type(key_of) ~= "function" then
    error("sums: the group must be a function, got a " .. type(key_of), 3)
  end
end

local function sums_of(p, keys, by_line)
  local _ <close> = methods.shield()
  local rows, edges = graph.of(p, function(f) return keys[f.id] end, by_line)
  local of, out, between = {}, {}, {}
  for i, row in ipairs(rows) do
    out[i] = figures.published(row, p)
    of[row] = out[i]
  end
  for i, edge in ipairs(edges) do
    between[i] = figures.published(edge, p)
    between[i].caller, between[i].callee = of[edge.caller], of[edge.callee]
  end
  return out, between
end

---Adds up the figures of groups of functions; recursion within a group counts
---once. The profiler itself is in no group, so the root's total is that of the
---program. Figures have the names that those of functions have.
---@param key_of fun(f: cprof.Function): string  the title of f's group
---@param by_line? boolean  calls from different lines are different edges
---@return table[] rows
---@return table[] edges
function Profile:sums(key_of, by_line)
  check_sums(key_of)
  return sums_of(self, keys_of(self, key_of), by_line)
end

---What the time of a function is made of: the work that Lua itself does for it,
---by kind, and functions of C. Longest first; {}: the profile does not tell.
---@param title string
---@return cprof.Within[]
function Profile:within(title)
  local _ <close> = methods.shield()
  if type(title) ~= "string" then
    error("within: the title must be a string, got a " .. type(title), 2)
  end
  return (within.of(self, title))
end

profile.methods = Profile

return profile
