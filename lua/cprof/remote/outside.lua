-- Samples of a program that is read from outside: a recording in mode "sample"
-- of a program that need not know of it.

local core = require "cprof.core"
local definitions = require "cprof.source.definitions"
local durations = require "cprof.count.durations"
local instructions = require "cprof.count.instructions"
local name = require "cprof.source.name"
local native = require "cprof.remote.native"
local pace = require "cprof.remote.pace"
local process = require "cprof.remote.process"
local profile = require "cprof.profile"
local remote = require "cprof.remote"
local spots = require "cprof.count.spots"
local symbols = require "cprof.remote.symbols"
local text = require "cprof.source.text"
local tokenmap = require "cprof.coverage.tokenmap"
local unseen = require "cprof.remote.unseen"

local outside = {}

---@class cprof.OutsideOptions
---@field rate integer     samples a second
---@field seconds number   how long to record, at most
---@field clock "wall"|"cpu"  "cpu": samples that find it waiting are left out
---@field stop boolean     may threads that run be stopped for a moment?
---@field native boolean?  are C frames read?

---@class cprof.Outside
---@field pid integer
---@field private options cprof.OutsideOptions
---@field private states table[]  those that can be read
---@field private found table[]   all of them
---@field private samples userdata
---@field command string    of the program
---@field next number       when the next samples are due, in core.seconds()
---@field ended string?     why sampling has ended before its time
local Outside = {}
Outside.__index = Outside

-- seconds between two looks at which thread runs a state, and what it has used
local often <const> = 0.2

-- seconds after which a state that cannot be read any more is given up
local patience <const> = 1

-- how many bytes of a source are kept in the profile
local longest <const> = 1 << 20

-- {======================================================
-- States
-- =======================================================

-- The names of library functions. They are read twice, since the program goes
-- on: those that differ are left out.
local function names_of(memory, state)
  core.remote_forget(memory)
  local names = remote.names(memory, state)
  core.remote_forget(memory)
  local again = remote.names(memory, state)
  for address, given in pairs(names) do
    if again[address] ~= given then names[address] = nil end
  end
  return names
end

---Finds the states of a process.
---@param pid integer
---@param options cprof.OutsideOptions
---@return cprof.Outside?
---@return string? why
function outside.open(pid, options)
  local opened, why = remote.open(pid)
  if not opened then return nil, why end
  local memory, names = opened.memory, {}
  for _, state in ipairs(opened.states) do
    for address, given in pairs(names_of(memory, state)) do
      names[address] = given
    end
    state.root = state.address
    state.wall, state.told, state.cpu, state.delay = 0, 0, 0, 0
  end
  local mappings = opened.mappings
  local found = symbols.open(pid, mappings)
  local stacks = options.native and native.open(memory, found, mappings) or nil
  local places = {}
  return setmetatable({ pid = pid, options = options, memory = memory,
    symbols = found, places = places, stacks = stacks, names = names,
    found = opened.states,
    states = table.move(opened.states, 1, #opened.states, 1, {}),
    mappings = mappings, command = process.command(pid),
    folder = core.remote_link(("/proc/%d/cwd"):format(pid)), where = {},
    spent = {},
    samples = core.outside(memory, options.clock == "cpu",
      not options.stop, stacks and stacks.stacks, stacks and
      function(pc, start)
        local f = stacks:frame(pc, start)
        -- its library may be gone when the profile is made
        places[f.start] = found:place(f.start)
        return f.start, f.interpreter, f.calls, f.lost
      end) }, Outside)
end

-- the mapping that is a thread's C stack
local function stack_of(self, id)
  if not self.where[id] then
    local at = core.outside_where(self.samples, id)
    local mappings = self.mappings
    local found = at and process.mapping(mappings, at)
    if at and not found then
      self.mappings = process.mappings(self.pid)
      found = process.mapping(self.mappings, at)
    end
    self.where[id] = found
  end
  return self.where[id]
end

-- Sets the thread that runs a state: the only one, or the one whose C stack
-- has the place that errors jump to.
local function find_thread(self, state, ids)
  local was = state.thread
  state.thread, state.from, state.to = nil, nil, nil
  if #ids == 1 then state.thread = ids[1]
  else
    local jump = core.outside_jump(self.samples, state.root, state.layout)
    for _, id in ipairs(jump ~= 0 and ids or {}) do
      local m = stack_of(self, id)
      if m and jump >= m.from and jump < m.to then
        state.thread, state.from, state.to = id, m.from, m.to
      end
    end
  end
  if state.thread ~= was then state.last = nil end
end

-- Adds up the time of a state, and what its thread has used of it.
local function account(self, state, now)
  local cpu, delay
  if state.thread then
    cpu, delay = core.outside_use(self.samples, state.thread)
    -- every thread has run before, so a system that counts says more than 0
    state.counts = state.counts or cpu and cpu > 0
  end
  local last = state.last
  if last then
    state.wall = state.wall + now - last.at
    if cpu and last.cpu then
      state.told = state.told + now - last.at
      state.cpu = state.cpu + cpu - last.cpu
      state.delay = state.delay + delay - last.delay
    end
  end
  state.last = state.thread and { at = now, cpu = cpu, delay = delay } or nil
end

-- A host may resume coroutines itself: finds the one that it has resumed, if
-- the main thread does not run. With very many objects that takes long, and is
-- done less often.
local function find_root(self, state, now)
  if state.idle and now >= (state.search or 0) then
    core.remote_forget(self.memory)
    state.root = remote.roots(self.memory, state)[1] or state.address
    local took = core.seconds() - now
    state.search = now + took * 20
  end
  state.idle = true
end

-- Looks whether a library was loaded, or has gone.
local function look_at_code(self)
  local mappings, list = process.mappings(self.pid), {}
  for _, m in ipairs(mappings) do
    if m.how:find("x", 1, true) then
      list[#list + 1] = ("%x %x %s"):format(m.from, m.to, m.path)
    end
  end
  local code = table.concat(list, "\n")
  if code == self.code or code == "" then return end
  self.code = code
  if self.stacks then
    self.stacks:map(mappings)
    core.outside_forget(self.samples)
  else self.symbols:map(mappings)
  end
end

-- Looks again which threads run the states, and by which coroutine a host that
-- resumes coroutines itself is at work. false: the program has ended.
local function look_around(self, now)
  local ids = {}
  for id, thread in pairs(process.threads(self.pid)) do
    if thread.state ~= "Z" and thread.state ~= "X" then ids[#ids + 1] = id end
  end
  table.sort(ids)
  if #ids > 0 then look_at_code(self) end
  for _, state in ipairs(self.states) do
    account(self, state, now)
    find_root(self, state, now)
    if #ids > 0 then find_thread(self, state, ids) end
    if not state.last then account(self, state, now) end
  end
  return #ids > 0
end

-- }======================================================


-- {======================================================
-- Samples
-- =======================================================

-- results of a look that give no sample of a state although it can be read: the
-- system is busy, or cprof must not stop the thread
local no_sample <const> = { late = true, ready = true, ["it runs"] = true,
  ["it does not stop"] = true }

-- Charges the time of a sample to the C function in which the thread was while
-- function `number` ran. With C frames, the sample has a frame of its own for
-- that C function.
local function spend(self, number, at, ns)
  if self.stacks or not number then return end
  local found, of = self.symbols:spent(at), self.spent[number] or {}
  local key = found.name .. "\0" .. (found.source or "")
  of[key] = of[key] or { name = found.name, source = found.source,
    unknown = found.unknown, ns = 0 }
  of[key].ns = of[key].ns + ns
  self.spent[number] = of
end

-- Takes a sample of a state. Returns a message if that is forbidden.
local function sample(self, state, due)
  local when = self.pace
  local ns = 1e9 * when:between() // 1 | 0
  local found, stopped, late, number, at = core.outside_look(self.samples, ns,
    state.root, state.layout, state.thread, state.from, state.to, when.next,
    due + when:late())
  spend(self, number, at, ns)
  when:looked(late - (due - when.next), stopped / 1e9, #self.found)
  if found == "runs" or found == "waits" then
    state.idle, state.misfit = false, nil
  elseif found == "ended" or found == "moved" then
    self.due = math.min(self.due, due + 0.01)
  elseif found == "idle" then
    state.misfit = nil
    if state.root ~= state.address then state.root = state.address end
  elseif found == "forbidden" then
    return ("process %d could not be stopped for a moment: another program " ..
      "debugs it, or the system forbids it (ptrace); --no-stop " ..
      "samples it without stopping it"):format(self.pid)
  elseif not no_sample[found] then
    state.misfit = state.misfit or { since = due }
    state.misfit.why = found
  end
end

-- Gives up states that cannot be read any more. false: there are no others.
local function keep_readable(self, now)
  for i = #self.states, 1, -1 do
    local misfit = self.states[i].misfit
    if misfit and now - misfit.since > patience then
      self.why = misfit.why
      table.remove(self.states, i)
    end
  end
  return #self.states > 0
end

---Begins to sample. From then on, `step` is to be called.
function Outside:begin()
  self.began, self.first, self.due = os.time(), core.seconds(), 0
  self.pace = pace.new(self.options.rate, self.first)
  self.next = self.first
end

-- Adds up the times of all states, unless sampling has ended.
local function account_all(self, now)
  if self.ended then return end
  for _, state in ipairs(self.found) do account(self, state, now) end
end

---Ends sampling.
---@param why string
function Outside:finish(why)
  account_all(self, core.seconds())
  core.remote_go(self.memory)
  self.ended = why
end

-- Looks around from time to time; false: sampling has ended.
local function keep(self, now)
  if now < self.due then return true end
  self.due = now + often
  local threads = look_around(self, now)
  local readable = keep_readable(self, now)
  -- a process that is ending may have threads, but no memory any more
  if not threads or not readable and #process.mappings(self.pid) == 0 then
    self:finish "the program ended"
  elseif not readable then
    self:finish("the program's Lua states are gone: " .. self.why)
  end
  return not self.ended
end

---Takes the samples that are due, unless sampling has ended: `self.ended` says
---why. `self.next` becomes the time of the next ones.
---@param now number  in core.seconds()
---@return string? forbidden  why it cannot go on
function Outside:step(now)
  if now < self.next or self.ended then return nil end
  if now >= self.first + self.options.seconds then
    self:finish "the time was up"
    return nil
  end
  local kept = now >= self.due
  if not keep(self, now) then return nil end
  local due = self.pace.next
  -- to look around takes long, so what is due now would be late
  for _, state in ipairs(kept and {} or self.states) do
    local why = state.thread and sample(self, state, due)
    if why then return why end
    due = core.seconds()
  end
  self.pace:plan(core.seconds())
  self.next = self.pace.next
end

local function record(self, tell, interrupted)
  self:begin()
  local now, told = self.first, 0
  local over = now + self.options.seconds
  while now < over and not (interrupted and interrupted()) do
    local why = self:step(now)
    if why then return nil, why end
    if self.ended then break end
    if told ~= self.due then
      told = self.due
      tell(now - self.first)
    end
    core.sleep(math.min(self.next - core.seconds(), over - now))
    now = core.seconds()
  end
  return self.ended
end

---Samples until the time is over, the program has ended or has no state of Lua
---any more, `interrupted` returns true, or `tell` raises an error. Returns why
---that was before the time.
---@param tell fun(seconds: number)  called from time to time
---@param interrupted? fun(): boolean  called before each look
---@return string? ended
---@return string? forbidden  why it cannot go on; nothing was recorded then
function Outside:record(tell, interrupted)
  core.outside_hurry(self.samples, true)
  local ok, ended, forbidden = pcall(record, self, tell, interrupted)
  core.outside_hurry(self.samples, false)
  core.remote_go(self.memory)
  if not ok then error(ended, 0) end
  return ended, forbidden
end

-- }======================================================


-- {======================================================
-- The profile
-- =======================================================

-- The times of all states together, in ns: of the recording; of this, ready,
-- but without a processor; stopped by cprof; waiting; running where that cannot
-- be seen, as nothing is stopped; and running where no sample came in time.
local function times_of(self, figures)
  local wall, cpu, delay, told, counts = 0, 0, 0, 0, false
  for _, state in ipairs(self.found) do
    counts = counts or state.counts
    wall, told = wall + state.wall, told + state.told
    cpu, delay = cpu + state.cpu, delay + state.delay
  end
  local function integer(x) return math.tointeger(x // 1) end
  wall = integer(wall * 1e9)
  local known = told > 0 and counts
  if known then
    -- the time for which nothing was told is divided like the rest
    local more = wall / (told * 1e9)
    cpu, delay = integer(cpu * more), integer(delay * more)
  end
  local stopped = math.min(figures.stopped_ns, wall)
  delay = math.min(delay, wall - stopped)
  local waiting = known and math.max(wall - stopped - delay - cpu, 0)
  local missed = known and integer(cpu * unseen.share({ runs = figures.runs,
    all = figures.runs + figures.waits + figures.left, ran = figures.ran_ns,
    whole = figures.ran_ns + figures.waited_ns }, cpu, waiting)) or 0
  if self.options.clock == "cpu" then
    return { wall = known and math.min(cpu, wall) or wall, preempted = 0,
      stopped = 0, waiting = 0, missed = missed }
  end
  if not known then
    local all = figures.runs + figures.waits
    return { wall = wall, preempted = 0, stopped = stopped, unknown = true,
      waiting = all > 0 and (wall - stopped) // all * figures.waits or 0,
      missed = missed }
  end
  return { wall = wall, preempted = delay, stopped = stopped,
    waiting = waiting, missed = missed, unseen = not self.options.stop and
      wall - stopped - delay - waiting or nil }
end

-- marks of functions, see src/identity/function.h
local marks <const> = { ["coroutine.resume"] = 2, ["coroutine.yield"] = 8 }
local wrapped <const> = 4

-- The number of a function among those on its lines. Its code tells, if the
-- source can be read and compiled here. nil: it is the only one, or its number
-- is not known.
local function number(f)
  local index = f.kind == "Lua" and f.counters and
    text.once(f.source, definitions.index)
  if not index or definitions.find(index, f.line, f.last_line) then
    return nil
  end
  local map = text.once(f.source, tokenmap.new)
  return map and tokenmap.number(map, f, instructions.read(f.counters).code)
end

local function describe_functions(self, raw)
  for _, f in ipairs(raw) do
    f.nth = number(f)
    if f.kind == "C" then
      f.marks = f.wraps and wrapped or marks[self.names[f["function"]]] or 0
      f.code = self.places[f.address] or self.symbols:place(f.address)
      -- a function of Lua's may be named by its calls
      if f.native and f.code == "" then
        f.code = ("?+0x%x"):format(f.address)
      end
      f.module = f.native and (f.code:match "^(.-): " or
        f.code:match "^(.*)%+0x"):match "[^/]*$":match "^%[?(.-)%]?$" or nil
    else f.address = nil
    end
  end
  name.set_places(raw, self.folder)
  local given = name.namer(raw, function(f)
    return self.names[f["function"]] or f.wraps and remote.wrapped or nil
  end)
  return function(f, calls)
    local called = given(f, calls)
    return called, name.title(f, called)
  end
end

-- Sets what functions spent their running time in. All of it took `ran` ns. Its
-- samples stand for `sampled` ns, so their times are scaled.
local function set_spent(self, raw, ran, sampled)
  for _, f in ipairs(raw) do
    local list = {}
    for _, of in pairs(self.spent[f.number] or {}) do
      list[#list + 1] = { name = of.name, source = of.source,
        unknown = of.unknown, ns = of.ns * (ran / sampled) // 1 | 0 }
    end
    f.spent = list[1] and spots.add(list, {}) or nil
  end
end

-- The sources of the functions: which lines have code, as far as is known, and
-- their texts.
local function sources_of(raw)
  local out, by = {}, {}
  for _, f in ipairs(raw) do
    if f.counters then
      local source = by[f.source]
      if not source then
        source = { source = f.source, lines = {}, changed = false,
          mixed = false }
        by[f.source], out[#out + 1] = source, source
      end
      for _, line in ipairs(instructions.read(f.counters).line) do
        source.lines[line] = true
      end
    end
  end
  for _, source in ipairs(out) do
    local active, most = {}, 0
    for line in pairs(source.lines) do most = math.max(most, line) end
    for i = 1, most do active[i] = source.lines[i] and "\1" or "\0" end
    source.active, source.lines = table.concat(active), nil
    local content = text.once(source.source, function(s) return s end)
    source.text = content and #content <= longest and content or nil
  end
  return out
end

local function meta_of(self, figures, times)
  local release = self.found[1].release
  local stops = durations.scaled(figures.stops, 1, false)
  return {
    mode = "sample", clock = self.options.clock == "cpu" and "cpu" or
      "monotonic",
    rate = self.options.rate, internals = "public", started_at = self.began,
    pid = self.pid, program = self.command, folder = self.folder,
    lua_version = "Lua " .. release:sub(1, 3),
    lua_release = not release:find " " and release or nil,
    cprof_version = core.version,
    wall_ns = times.wall, preempted_ns = times.preempted,
    paused_ns = times.unseen or 0, overhead_ns = times.stopped,
    clamped_ns = 0, unmatched = 0, truncated = 0,
    waiting_ns = self.options.clock ~= "cpu" and times.waiting or nil,
    preempted_unknown = times.unknown or false,
    memory = false, distribution = false, gc = false, folded = false,
    fold_at = 0, hook_lost = false, allocator_lost = false,
    clock_backwards = 0, clock_backwards_ns = 0, clock_jumps = 0,
    clock_jumps_ns = 0, ended = self.ended,
    outside_dropped = figures.dropped, outside_stops = stops.calls,
    outside_median_ns = stops.p50_ns, outside_worst_ns = stops.max_ns,
    outside_late = figures.late, outside_missed_ns = times.missed,
    outside_states = #self.found,
    outside_waits = self.options.clock == "cpu" and figures.left or nil,
  }
end

---How many samples there are, among other figures.
---@return { runs: integer, waits: integer }
function Outside:figures() return core.outside_figures(self.samples) end

---Why there may never be a sample; nil: there may be one soon.
---@return string?
function Outside:why_none()
  local figures = self:figures()
  if not self.options.stop and figures.dropped > 0 and figures.waits == 0 then
    return "with --no-stop, only waiting is sampled, and the program has " ..
      "not waited so far"
  end
end

---What was recorded so far.
---@return cprof.Profile
function Outside:profile()
  account_all(self, core.seconds())
  local figures = self:figures()
  local times = times_of(self, figures)
  local whole = times.wall - times.preempted - times.stopped - times.missed -
    (times.unseen or 0)
  local nodes, raw = core.outside_profile(self.samples, whole, times.waiting,
    times.stopped, times.missed)
  set_spent(self, raw, whole - (figures.waits > 0 and
    math.min(times.waiting, whole) or 0), figures.ran_ns)
  text.of_process(self.pid, self.folder)
  local named = describe_functions(self, raw)
  return profile.new(named, nodes, raw, meta_of(self, figures, times), {},
    sources_of(raw))
end

-- }======================================================

return outside
