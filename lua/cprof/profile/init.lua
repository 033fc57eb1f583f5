-- The profile: the one data model that every view reads.

local core = require "cprof.core"
local heap = require "cprof.count.heap"
local later = require "cprof.sandbox.later"
local methods = require "cprof.sandbox.methods"
local name = require "cprof.source.name"
local paths = require "cprof.source.paths"
local text = require "cprof.source.text"

local allocations = later "cprof.count.allocations"
local bound = later "cprof.count.bound"
local coverage = later "cprof.coverage"
local formats = later "cprof.text.format"
local frames = later "cprof.count.frames"
local instructions = later "cprof.count.instructions"
local lines = later "cprof.count.lines"
local sampled = later "cprof.count.sampled"

---@class cprof.Meta
---@field mode string          "call", "line", "count" or "sample"
---@field clock string         "tsc", "monotonic" or "cpu"; in mode "count"
---    "instructions": then there are no times, here and elsewhere
---@field instructions? integer  mode "count": that were counted
---@field rate integer?         mode "sample": samples a second, as asked
---@field samples integer?      of a joined profile: that its times are from
---@field internals "direct"|"public"  were Lua's own structures read, or
---                            only its public functions asked?
---@field wall_ns integer      from start to stop, with pauses
---@field paused_ns integer
---@field overhead_ns integer  the profiler's own time, of wall_ns
---@field clamped_ns integer   overhead that exceeded measured times
---@field costs_ns? table<string, number>  overhead of each event
---@field uncompensated? string  why overhead is in the times
---@field started_at integer   seconds since 1970
---@field pid integer          process that was recorded
---@field runs integer?        that were added up
---@field memory boolean       were allocations counted?
---@field live_interval integer?  bytes from sample to sample of what is in
---    use; 1: all of it is known
---@field peak_bytes integer?  most bytes that were in use at once
---@field gc boolean           was the garbage collector timed? Then:
---@field gc_steps integer?    steps that it made ...
---@field gc_cycles integer?   ... and collections that ended in one
---@field gc_longest_ns integer?  the longest step
---@field allocator_lost boolean  did another allocator replace the
---    profiler's? Then what came after it was not counted.
---@field live boolean?        loaded while it is still being recorded
---@field since_last_event_ns integer?  then: the time without any event
---@field events integer?      calls and returns that were seen
---@field unmatched integer    events that could not be placed
---@field truncated integer    calls whose callers are not known: max_nodes
---@field folded boolean       was recursion folded?
---@field fold_at integer      nodes from which on it folds
---@field clock_backwards integer  times that the clock ran backwards
---@field clock_backwards_ns integer  and how far in all
---@field clock_jumps integer  times that the clock and another one parted
---@field clock_jumps_ns integer  and how far in all
---@field interrupted integer?  system calls that ended early, with EINTR,
---                            for a sample; in mode "sample" only
---@field hook_lost boolean    did another hook replace the profiler's?
---@field ended string?        why recording ended by itself
---@field program string?      what ran
---@field folder string?       where, when recording began
---@field options table<string, string>?  of `start`, that shaped it and
---    had not their defaults
---@field unmatched_patterns string?  a line for each that matched nothing
---@field lua_version string   "Lua 5.4"
---@field lua_release string?  "5.4.4"
---@field cprof_version string

---@class cprof.Function
---@field id integer
---@field name string
---@field source string
---@field place string?        of those in Lua: the source as reports show it
---@field line integer
---@field last_line integer
---@field kind "Lua"|"C"|"main"|"zone"|"root"|"internal"
---@field title string         reports tell functions apart by it
---@field calls? integer        not in mode "sample"
---@field self_samples? integer  mode "sample": of it alone ...
---@field total_samples? integer  ... and with its callees
---@field self_ns integer      time without callees
---@field self_raw_ns integer  self_ns with overhead
---@field total_ns integer     time with callees; recursion counted once
---@field self_most_ns? integer  what these are at most, as reports print it:
---    more than self_ns where most of what was measured is overhead. Not in
---    mode "sample"
---@field total_most_ns? integer
---@field self_wait_ns? integer   how much of self_ns it waited: slept, read, or
---    polled. Not in mode "count"
---@field total_wait_ns? integer  and how much of total_ns
---@field instructions? integer  mode "count": that it ran ...
---@field total_instructions? integer  ... with its callees
---@field self_allocs? integer  with `memory`: what it allocated itself, ...
---@field self_bytes? integer
---@field total_allocs? integer  ... and with its callees
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
---@field max_depth integer    most frames of it on one stack
---@field nth integer?         among the functions on its lines
---@field counters? string     of each instruction, see cprof.instructions
---@field allocated_at? string  what each instruction has allocated
---@field fingerprint string    hash of its code, whatever lines it is on;
---    "" where there is too little of it to know it by
---@field layout integer        hash of its code and of its lines from the
---    first one; 0: not known

---@class cprof.Node
---@field id integer
---@field parent integer       0 for the root; always lower than id
---@field func integer         id of a function
---@field call_line integer    line of the call, 0 when not recorded
---@field metamethod? string   as which it was called: "__add", "also __add"
---@field calls? integer        not in mode "sample"
---@field self_samples? integer  mode "sample"
---@field total_samples? integer
---@field self_ns integer
---@field self_raw_ns integer  with overhead
---@field total_ns integer
---@field self_wait_ns? integer  how much of self_ns it waited
---@field total_wait_ns? integer  and how much of total_ns
---@field self_allocs? integer  with `memory`
---@field self_bytes? integer

---@class cprof.Row            a group of functions, as one
---@field title string
---@field func cprof.Function  the first of the group
---@field calls integer
---@field self_ns integer
---@field self_raw_ns integer
---@field total_ns integer
---@field total_raw_ns integer
---@field self_wait_ns integer   how much of these it waited
---@field total_wait_ns integer
---@field self_most_ns integer   what these are at most, see cprof.Function
---@field total_most_ns integer
---@field max_depth integer
---@field metamethod? string   as which it was called, as of a node

---@class cprof.Edge           the calls from one row to another
---@field caller cprof.Row
---@field callee cprof.Row
---@field calls integer
---@field self_ns integer      of the callee, called by this caller
---@field total_in_ns integer  of the callee; adds up over its callers
---@field total_out_ns integer for the caller; adds up over its callees
---@field self_raw_ns integer  these times with overhead
---@field total_in_raw_ns integer
---@field self_wait_ns integer  how much of these was waiting
---@field total_in_wait_ns integer
---@field total_out_raw_ns integer
---@field line integer         of the calls, when they are told apart by it
---@field metamethod? string   as which the callee was called, as of a node
---@field calls_in integer     like total_in_ns, of calls; only then

---@class cprof.Profile
---@field meta cprof.Meta
---@field functions cprof.Function[]
---@field nodes cprof.Node[]   made when asked for; # and ipairs work
---@field lines table<string, cprof.Line[]>  by source; empty in mode "call"
---@field sources table<string, cprof.Source>  those whose lines are counted
---@field overhead integer    id of the function that is the profiler itself
---@field program_ns integer  time without overhead and pauses: 100 %; in
---    mode "count": instructions
---@field samples? integer     mode "sample": in all
---@field time_samples? integer  that its times are from: `samples`, or those
---    of the second profile of a join
---@field counted integer[]    by lines.each: what was counted
---@field expressions? table<string, cprof.Expression[]>  by source, in mode
---    "count"; nil where only lines are known
---@field branches? table<string, cprof.Branch[]>  by source, where
---    expressions are
---@field heap cprof.HeapPoint[]?  with `memory`: its size over time
---@field frames cprof.Frames?  when `frame` was called; not in mode "count"
---@field lines_of fun(passes?: fun(f: cprof.Function): boolean): table
---@field lines_by_title fun(): table<string, table<integer, cprof.Line>>
---@field lines_by_row fun(): table<string, table<integer, cprof.Line>>  by
---    what lines.row gives
---@field lines_ran fun(): table<string, table<integer, boolean>>  by source
local Profile = {}
Profile.__index = Profile

local profile = {}

-- what a profile was made of, to save it
local parts = setmetatable({}, { __mode = "k" })

-- names for functions as the core gives them, and where they are found
local function namer(raw)
  local index = paths.index()
  for f, path in pairs(paths.all()) do
    local key = core.key(f)
    if key then index:add(key, path, core.address(f) ~= nil) end
  end
  local function path_of(f) return index.path[f.key], index.shared[f.key] end
  return name.namer(raw, path_of), path_of
end

local function describe(raw, row, given, title, mode, most)
  local out = {
    id = raw.id, name = given, title = title,
    kind = raw.kind, source = raw.source, place = raw.place,
    line = raw.line, last_line = raw.last_line,
    fingerprint = raw.fingerprint, layout = raw.layout, nth = raw.nth,
    calls = row.calls, max_depth = row.max_depth, counters = raw.counters,
    allocated_at = raw.allocated_at,
    allocated = raw.allocated,
  }
  if mode == "count" then
    out.instructions, out.total_instructions = row.self_ns, row.total_ns
    return out
  end
  out.self_ns, out.total_ns = row.self_ns, row.total_ns
  out.self_wait_ns, out.total_wait_ns = row.self_wait_ns, row.total_wait_ns
  if mode == "sample" then
    out.calls, out.max_depth = nil, nil
    out.self_samples, out.total_samples = row.self_raw_ns, row.total_raw_ns
  else
    bound.set(row, most)
    out.self_raw_ns, out.self_most_ns = row.self_raw_ns, row.self_most_ns
    out.total_most_ns = row.total_most_ns
  end
  return out
end

-- what a profile without times does not have
local times = { "wall_ns", "paused_ns", "preempted_ns", "waiting_ns",
  "overhead_ns", "clamped_ns",
  "uncompensated", "costs_ns", "clock_backwards", "clock_backwards_ns",
  "clock_jumps", "clock_jumps_ns", "since_last_event_ns" }

local function without_times(meta, nodes)
  for _, key in ipairs(times) do meta[key] = nil end
  meta.instructions = nodes[1].total_instructions
end

-- For names: what only the host has called is known by that.
local function mark_called(rows, nodes)
  for _, row in ipairs(rows) do row.calls = 1 end
  local list = core.children(nodes, (core.callees(nodes)), 1)
  for i = 1, #list, 4 do
    local _, func = core.node(nodes, list[i])
    rows[func].calls = 0
  end
end

-- The integer from 0 that a number or a string is; nil: it is none. Larger
-- ones could not be added up.
local function whole(value)
  local n = math.tointeger(tonumber(value))
  return n and n >= 0 and n < 1 << 53 and n or nil
end

---A profile of its parts. `named` gives a function's name and title from
---what is known of it and its calls.
function profile.new(named, nodes, raw, meta, counted, sources)
  local counting, samples = meta.mode == "count", nil
  meta.rate = whole(meta.rate)
  -- only of a profile that was joined
  meta.samples = not counting and meta.mode ~= "sample" and
    whole(meta.samples) or nil
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
  local each = {}
  for i = 1, #raw do each[i] = i end
  local rows = core.sum(nodes, each, #raw)
  if samples then mark_called(rows, nodes) end
  local functions, program = {}, core.program(nodes)
  local most = bound.most { program_ns = program, meta = meta }
  name.set_places(raw, meta.folder)
  for i, f in ipairs(raw) do
    local given, title = named(f, rows[i].calls)
    functions[i] = describe(f, rows[i], given, title or name.title(f, given),
      meta.mode, most)
  end
  if meta.memory then
    allocations.attach(functions, nodes, meta.live_interval ~= nil)
  end
  local _, overhead = core.overhead(nodes)
  local p = { meta = meta, functions = functions, nodes = nodes,
              overhead = overhead, program_ns = program, samples = samples,
              time_samples = samples or meta.samples,
              wait_samples = samples and sampled.waits(functions) }
  lines.attach(p, counted, sources)
  if counting or samples then coverage.attach(p) end
  local marks = {}
  for i, f in ipairs(raw) do marks[i] = f.marks end
  parts[p] = { (counting or samples) and {} or counted, sources, marks }
  return setmetatable(p, Profile)
end

---What was recorded so far.
---@param meta table   what the caller knows of the program
---@return cprof.Profile?
function profile.snapshot(meta)
  local nodes, raw, known, counted, sources, history = core.snapshot()
  if not nodes then return nil end
  text.refresh()
  for key, value in pairs(meta) do known[key] = value end
  name.begin(known.folder)
  name.set_places(raw)
  local p = profile.new((namer(raw)), nodes, raw, known, counted, sources)
  -- frames are about times
  p.frames = known.mode ~= "count" and frames.new(p, history) or nil
  p.heap = heap.points(known.memory and heap.recorded(), p.meta.wall_ns)
  return p
end

---The names of the functions that were recorded so far: key, name, title,
---and so on, for a file. Who reads it may know more of functions whose text
---cannot be read here. Texts that names take are not kept: the next file may
---be of others.
---@param folder string?  where the program was when recording began
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

-- the options are strings of their own in a file
local option <const> = "option."

-- the other fields of `meta` that are strings in a file
local words <const> = { "program", "folder", "lua_version", "lua_release",
  "cprof_version", "runs", "rate", "samples", "unmatched_patterns", "joined" }

---What a file says of a profile in words.
---@param meta table
---@return table<string, string>
function profile.strings(meta)
  local out = {}
  for _, key in ipairs(words) do
    out[key] = meta[key] and tostring(meta[key])
  end
  for key, value in pairs(meta.options or {}) do out[option .. key] = value end
  return out
end

-- the options among a file's strings
local function options_of(strings)
  local out = {}
  for key, value in pairs(strings) do
    if key:sub(1, #option) == option then out[key:sub(#option + 1)] = value end
  end
  return next(out) and out or nil
end

-- sets what a file's strings say of the profile
local function tell(meta, strings)
  for _, key in ipairs(words) do meta[key] = strings[key] or meta[key] end
  meta.runs = whole(meta.runs)
  meta.options = options_of(strings)
end

local function place(source, line, last)
  return ("%d:%d:%s"):format(line, last, source)
end

-- as C has strings
local function plain(s) return (s:gsub("\0.*", "")) end

---The functions that tables hold at present, as the core writes them into a
---file.
---@return string
function profile.paths()
  local out = {}
  for f, path in pairs(paths.all()) do
    local info, address = debug.getinfo(f, "S"), core.address(f)
    out[#out + 1] = ("=i8i4i4zz"):pack(address or 0, info.linedefined,
      info.lastlinedefined, address and "" or plain(info.source), plain(path))
  end
  return table.concat(out)
end

-- names that were not told in the end, as well as they can be known
local function derived(raw, found, sources, folder)
  local index = paths.index()
  for i = 1, #found, 5 do
    local address = found[i] ~= 0 and found[i] or nil
    index:add(address or place(found[i + 1], found[i + 2], found[i + 3]),
      found[i + 4], address ~= nil)
  end
  text.forget(folder)
  for _, source in ipairs(sources) do
    if source.text then text.know(source.source, source.text) end
  end
  return name.namer(raw, function(f)
    local key = f.address or place(f.source, f.line, f.last_line)
    return index.path[key], index.shared[key]
  end)
end

-- why the instructions in a file cannot be told
local function unknown(meta)
  local version = meta.lua_version
  if version and (meta.mode == "count" or meta.mode == "sample") and
     not instructions.of(version) then
    return ("it has instructions of %s, which this cprof does not know")
      :format(formats.plain(version))
  end
end

---The profile that a file holds.
---@param path string
---@return cprof.Profile?, string?
function profile.load(path)
  local nodes, raw, meta, counted, sources, _, names, found = core.load(path)
  if not nodes then return nil, raw end
  local strings = meta.strings
  meta.strings = nil
  tell(meta, strings)
  local why = unknown(meta)
  if why then return nil, ("%s: %s"):format(path, why) end
  local unnamed = {}
  name.set_places(raw, meta.folder)
  for _, f in ipairs(raw) do
    if not names[f.key] then unnamed[#unnamed + 1] = f end
  end
  local derive = derived(unnamed, found, sources, meta.folder)
  local p = profile.new(function(f, calls)
    local told = names[f.key]
    if told then return told[1], told[2] end
    return derive(f, calls)
  end, nodes, raw, meta, counted, sources)
  text.forget()
  p.heap = heap.points(strings.heap, p.meta.wall_ns)
  return p
end

---Writes the profile to a file, from which `load` gives it again.
---@param path string
---@return true?, string?
function Profile:save(path)
  local _ <close> = methods.borrow()
  if type(path) ~= "string" then
    error("save: the path must be a string, got a " .. type(path), 2)
  end
  local counted, sources, marks = table.unpack(parts[self])
  local strings = profile.strings(self.meta)
  strings.heap = heap.text(self.heap)
  return core.save(path, self.nodes, self.functions, self.meta,
    strings, counted, sources, marks)
end

---What the recorder knows of each function, as `profile.new` takes it.
---@param p cprof.Profile
---@return integer[]
function profile.marks(p)
  return parts[p][3]
end

-- a place for the group of each function
local function places(p, group)
  local _ <close> = methods.borrow()
  if type(group) ~= "function" then
    error("sums: the group must be a function, got a " .. type(group), 3)
  end
  local titles = {}
  for i = 1, #p.functions do titles[i] = false end
  return titles, #p.functions
end

local function summed(p, titles, by_line)
  local _ <close> = methods.borrow()
  local ids, groups, first = {}, {}, {}
  for i, f in ipairs(p.functions) do
    -- a key that is no title
    local title = i == p.overhead and ids or titles[i]
    if not ids[title] then
      first[#first + 1] = { title = title, func = f }
      ids[title] = #first
    end
    groups[i] = ids[title]
  end
  local rows, edges = core.sum(p.nodes, groups, #first, false, by_line)
  for i, row in ipairs(rows) do
    row.title, row.func = first[i].title, first[i].func
  end
  if p.samples then sampled.sums(rows, edges) end
  local overhead, root = ids[ids], rows[groups[p.nodes[1].func]]
  root.total_ns = root.total_ns - rows[overhead].total_ns
  root.total_raw_ns = root.total_raw_ns - rows[overhead].total_raw_ns
  local left = {}
  for _, edge in ipairs(edges) do
    if edge.callee ~= overhead then
      edge.caller, edge.callee = rows[edge.caller], rows[edge.callee]
      left[#left + 1] = edge
    end
  end
  table.remove(rows, overhead)
  local most = bound.most(p)
  for _, row in ipairs(rows) do bound.set(row, most) end
  return rows, left
end

---Sums over groups of functions; recursion within a group counts once.
---The profiler itself is in none: the root's total is `program_ns`.
---@param group fun(f: cprof.Function): string  the title of f's group
---@param by_line? boolean  calls from different lines are different edges
---@return cprof.Row[], cprof.Edge[]
function Profile:sums(group, by_line)
  local titles, count = places(self, group)
  local functions, overhead = self.functions, self.overhead
  -- the group is the program's function: nothing else is called here
  for i = 1, count do
    if i ~= overhead then titles[i] = group(functions[i]) end
  end
  return summed(self, titles, by_line)
end

profile.methods = Profile

return profile
