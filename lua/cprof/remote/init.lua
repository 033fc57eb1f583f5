-- What the states of Lua in another process run now.

local core = require "cprof.core"
local corefile = require "cprof.remote.corefile"
local name = require "cprof.source.name"
local native = require "cprof.remote.native"
local paths = require "cprof.source.paths"
local process = require "cprof.remote.process"
local symbols = require "cprof.remote.symbols"
local text = require "cprof.source.text"
local variables = require "cprof.remote.variables"

local remote = {}

---The name of the functions that coroutine.wrap returns.
remote.wrapped = "coroutine.wrap function"

---@class cprof.RemoteFrame
---@field kind string     "Lua", "main", "C"; "native": a C function that Lua
---    has not called; "unknown": further C frames are missing here
---@field name string
---@field module string?  of a native one: its file
---@field source string?
---@field place string?   the source as people write it
---@field line integer?   nil: not known
---@field first_line integer?
---@field last_line integer?
---@field tail boolean    whether it was called by a tail call
---@field variables cprof.RemoteVariable[]?  of a Lua function; nil: not wanted
---@field more_variables integer?  how many others were left out

---@class cprof.RemoteThread
---@field kind string     "main", "coroutine"
---@field address integer
---@field status string   "running"; "normal": it has resumed another one;
---    "suspended"; "not started"; "failed"; "idle": nothing runs in a main one
---@field resumed_by integer?  address of the thread that has resumed it
---@field depth integer   how many calls are active
---@field frames cprof.RemoteFrame[]  innermost first; of very many calls, the
---    first and last ones

---@class cprof.RemoteState
---@field address integer
---@field release string  of Lua
---@field thread integer? of the system, that runs it; nil: not known
---@field waits string?   the system call in which that one waits
---@field threads cprof.RemoteThread[]
---@field complete boolean  whether all coroutines were found
---@field no_native string?  why there are no C frames
---@field cut boolean?     whether variables of calls were left out, as there
---    are too many

---@class cprof.RemoteProcess
---@field pid integer
---@field command string
---@field states cprof.RemoteState[]
---@field core string?   the file that it was read from
---@field folder string?  of a core file: in which the program was started, as
---    its environment says
---@field stopped number? for how many seconds threads were stopped; nil: none

-- how often a process is read again that has changed meanwhile, from which
-- time on waiting threads are stopped, too, and the seconds in between
local attempts <const>, all_from <const>, pause <const> = 40, 10, 0.002

-- how much is read of a state's variables at most, in slots of tables: the
-- program may be stopped meanwhile
local most_slots <const> = 1 << 22

-- {======================================================
-- Names
-- =======================================================

---The names of a state's library functions, by their addresses. They are the
---names that these have if the program records itself.
---@param memory userdata
---@param state cprof.RemoteState
---@return table<integer, string>
function remote.names(memory, state)
  local names = core.remote_names(memory, state.address, state.layout)
  for address, given in pairs(names) do
    names[address] = paths.method(given)
  end
  return names
end

-- A function, and its name.
local function named(state, raw)
  if raw.c then
    local f = { kind = "C", source = "=[C]", line = -1, last_line = -1,
      called = "", how = "" }
    local given = state.names[raw.func] or raw.wraps and remote.wrapped
    if not given then f.code = state.symbols:place(raw.code) end
    return f, given or name.of(f)
  end
  local kind = raw.first == 0 and "main" or "Lua"
  local f = { kind = kind, source = raw.source, line = raw.first,
    last_line = raw.last, called = "", how = "",
    place = name.place(raw.source, state.folder) }
  return f, kind == "main" and "(main chunk)" or
    name.of(f, state.names[raw.func])
end

local function frame_of(state, raw)
  if raw.native then
    return { kind = "native", name = raw.native.name,
      module = raw.native.module }
  elseif raw.unknown then return { kind = "unknown", name = raw.unknown }
  end
  local f, given = named(state, raw)
  if raw.c then return { kind = "C", tail = raw.tail, name = given } end
  return { kind = f.kind, source = raw.source, place = f.place, name = given,
    line = raw.line > 0 and raw.line or nil, first_line = raw.first,
    last_line = raw.last, tail = raw.tail,
    variables = raw.variables and variables.describe(raw.variables,
      function(v) return name.title(named(state, v)) end),
    more_variables = raw.variables and raw.more or nil }
end

-- }======================================================


-- {======================================================
-- Threads
-- =======================================================

local function active(raw) return raw.status == 0 and raw.depth > 0 end

local function status_of(raw, main, resumed)
  if active(raw) then return resumed and "normal" or "running" end
  if main then return "idle" end
  if raw.status == 1 then return "suspended" end
  if raw.status > 1 then return "failed" end
  return "not started"
end

-- Is it a coroutine that has ended?
local function dead(raw)
  return raw.status == 0 and raw.depth == 0 and raw.values == 0
end

-- The main thread and all coroutines as they are in memory, and whether these
-- are all; nil and what does not fit. `left`: how much may be read of their
-- variables; nil: nothing.
local function raw_threads(memory, state, left)
  local list, complete = core.remote_coroutines(memory, state.address)
  table.insert(list, 1, state.address)
  local out, by = {}, {}
  for _, address in ipairs(list) do
    if not by[address] then
      local raw, misfit = core.remote_thread(memory, address, state.layout,
        left)
      if not raw then return nil, misfit end
      by[address], raw.main = raw, address == state.address
      left = left and raw.left
      if address == state.address or not dead(raw) then
        out[#out + 1] = raw
      end
    end
  end
  for _, raw in ipairs(out) do
    local other = active(raw) and by[raw.resumed]
    if other and active(other) then
      other.resumed_by, raw.resumes = raw.address, other
      raw.frames[1].wraps = true
    end
  end
  state.cut = left == 0 or nil
  return out, complete
end

---Coroutines that run, and that no other one has resumed: the host has.
---@param memory userdata
---@param state cprof.RemoteRawState
---@return integer[] addresses
function remote.roots(memory, state)
  local out = {}
  for _, raw in ipairs(raw_threads(memory, state) or {}) do
    if active(raw) and not raw.resumed_by then out[#out + 1] = raw.address end
  end
  return out
end

-- those that run first, in the order in which they were resumed
local function sorted(threads)
  local out, done = {}, {}
  local function add(raw)
    while raw and not done[raw] do
      out[#out + 1], done[raw] = raw, true
      raw = raw.resumes
    end
  end
  add(threads[1])
  for _, raw in ipairs(threads) do
    if active(raw) and not raw.resumed_by then add(raw) end
  end
  for _, raw in ipairs(threads) do add(raw) end
  return out
end

-- Describes a state that was read.
local function describe(state, raws)
  local out = {}
  for i, raw in ipairs(sorted(raws)) do
    local frames = {}
    for k, frame in ipairs(raw.frames) do frames[k] = frame_of(state, frame) end
    out[i] = { address = raw.address, depth = raw.depth, frames = frames,
      kind = raw.address == state.address and "main" or "coroutine",
      resumed_by = raw.resumed_by,
      status = status_of(raw, raw.address == state.address, raw.resumes) }
  end
  return out
end

-- Finds the thread of the system that runs a state: the one whose stack has
-- what errors jump to. A process with one thread has no other.
local function find_system_thread(state, raws, threads, mappings)
  local only = #threads == 1 and threads[1]
  if not only then
    local jumps = {}
    for _, raw in ipairs(raws) do
      if raw.jump ~= 0 and active(raw) then
        jumps[process.mapping(mappings, raw.jump) or 0] = true
      end
    end
    for _, thread in ipairs(threads) do
      local m = thread.stack and process.mapping(mappings, thread.stack)
      if m and jumps[m] then only = thread end
    end
  end
  state.thread = only and only.id or nil
  state.waits = only and only.waits or nil
end

-- the threads of a process that runs: their stacks, and what they wait for
local function system_threads(pid, seen, stopped)
  local out = {}
  for id, thread in pairs(seen) do
    local waits, stack = process.waits(pid, id)
    out[#out + 1] = { id = id, stack = stack,
      registers = stopped[id] and id or nil,
      waits = thread.state ~= "R" and waits or nil }
  end
  return out
end

-- }======================================================


-- {======================================================
-- C frames
-- =======================================================

---The threads of Lua that a thread of the system runs, of all its states,
---innermost first. What errors jump to lies in its stack, the innermost lowest.
---An idle thread runs the host alone: then, the first state's main thread. Each
---thread is there once, even if memory says that it has resumed itself.
---@param states table[]  that were read
---@param id integer  of the system's thread
---@return table[]
function remote.chain(states, id)
  local lists, out, done, idle = {}, {}, {}, nil
  for _, state in ipairs(states) do
    local raws = state.thread == id and state.raws or {}
    idle = idle or raws[1]
    for _, raw in ipairs(raws) do
      if active(raw) and not raw.resumed_by then
        local list, at = {}, raw
        while at and not done[at] do
          table.insert(list, 1, at)
          at, done[at] = at.resumes, true
        end
        lists[#lists + 1] = list[1] and list
      end
    end
  end
  table.sort(lists, function(a, b) return math.ult(a[1].jump, b[1].jump) end)
  for _, list in ipairs(lists) do table.move(list, 1, #list, #out + 1, out) end
  return out[1] and out or { idle }
end

-- Reads the C stacks of the threads that run states, while they are stopped.
local function walk(states, stacks, threads)
  stacks.walked = {}
  for _, state in ipairs(states) do
    local id = state.thread
    for _, thread in ipairs(id and threads or {}) do
      if thread.id == id and not stacks.walked[id] then
        stacks.walked[id] = stacks:walk(thread.registers or id)
      end
    end
  end
end

-- Adds C frames to the calls of all states.
local function join(states, stacks)
  local missing = {}
  for id, stack in pairs(stacks.walked) do
    local chain = remote.chain(states, id)
    local frames = stack.raw and stacks:frames(stack)
    missing[id] = not frames and "its registers cannot be read" or
      not native.join(chain, frames, stack.ended) and
      "its C stack does not match its Lua calls" or nil
  end
  for _, state in ipairs(states) do
    state.no_native = state.thread and missing[state.thread] or
      not state.thread and "its thread is not known" or nil
  end
end

-- }======================================================


-- {======================================================
-- Reading
-- =======================================================

-- Stops threads that run, or all; nil and why one could not be stopped.
local function stop(memory, seen, all)
  local stopped = {}
  for id, thread in pairs(seen) do
    if thread.state == "R" or all then
      local ok, why = core.remote_stop(memory, id)
      if not ok and why ~= "ended" then return nil, why end
      stopped[id] = true
    end
  end
  return stopped
end

-- Sets the line of the function on top. While it computes, Lua keeps its place
-- only in a register of the thread that runs the state.
local function set_line(memory, state, threads)
  for _, raw in ipairs(state.raws) do
    local frame = active(raw) and raw.frames[1]
    for _, thread in ipairs(threads) do
      if frame and not frame.c and thread.id == state.thread and
         thread.registers then
        frame.line = core.remote_line(memory, raw.address, state.layout,
          thread.registers) or frame.line
      end
    end
  end
end

-- reads all states once; nil and what did not fit
local function read_states(memory, states, threads, mappings, stacks)
  for _, state in ipairs(states) do
    local raws, complete = raw_threads(memory, state, state.slots)
    if not raws then return nil, complete end
    state.raws, state.complete = raws, complete
    state.names = remote.names(memory, state)
    find_system_thread(state, raws, threads, mappings)
    set_line(memory, state, threads)
  end
  if stacks then walk(states, stacks, threads) end
  return true
end

-- Reads until nothing has changed meanwhile. Returns for how long threads were
-- stopped; or nil and why it failed.
local function read_steady(memory, pid, states, mappings, stacks)
  local why
  for i = 1, attempts do
    local seen = process.threads(pid)
    if not next(seen) then
      return nil, ("process %d has ended"):format(pid)
    end
    local began = core.seconds()
    core.remote_forget(memory)
    local stopped, refused = stop(memory, seen, stacks or i >= all_from)
    local fits, misfit
    if stopped then
      fits, misfit = read_states(memory, states,
        system_threads(pid, seen, stopped), mappings, stacks)
    end
    local stayed = stopped and process.stayed(pid, seen, stopped)
    core.remote_go(memory)
    if fits and stayed then
      return next(stopped) and core.seconds() - began or false
    end
    why = refused == "forbidden" and "it runs, and the system does not let " ..
      "cprof stop it for a moment (ptrace)" or refused or misfit or
      "it changed while it was read"
    core.sleep(pause)
  end
  return nil, ("process %d could not be read: %s"):format(pid, why)
end

local function no_state(who, misfit)
  return misfit and ("%s has a Lua state that does not match the layout of " ..
    "any release from 5.4.0 to 5.5.0: %s"):format(who, misfit) or
    ("%s has no Lua 5.4 or 5.5 state"):format(who)
end

-- the states in memory; or nil and why there are none. `slots`: how much may be
-- read of the variables of each
local function find_states(memory, ranges, who, slots)
  local found, misfit = core.remote_states(memory, ranges)
  if #found == 0 then return nil, no_state(who, misfit) end
  local states = {}
  for i = 1, #found, 2 do
    states[#states + 1] = { address = found[i], layout = found[i + 1],
      release = found[i + 1], slots = slots }
  end
  return states
end

-- Describes states that were read.
local function described(states, found, folder)
  local out = {}
  for i, state in ipairs(states) do
    state.symbols, state.folder = found, folder
    out[i] = { address = state.address, release = state.release,
      thread = state.thread, waits = state.waits, complete = state.complete,
      no_native = state.no_native, cut = state.cut,
      threads = describe(state, state.raws) }
  end
  return out
end

local function is_32_bit(pid)
  local exe = core.readfile(("/proc/%d/exe"):format(pid))
  return exe and exe:sub(1, 5) == "\127ELF\1"
end

---@class cprof.RemoteOpened
---@field memory userdata
---@field mappings cprof.Mapping[]
---@field states cprof.RemoteRawState[]

---@class cprof.RemoteRawState
---@field address integer  of its main thread
---@field layout string    the releases that have its layout
---@field release string

---Finds the states of a process.
---@param pid integer
---@param slots integer?  how much may be read of the variables of each
---@return cprof.RemoteOpened?
---@return string? why
function remote.open(pid, slots)
  local memory, why = process.open(pid)
  if not memory then return nil, why end
  local who = ("process %d"):format(pid)
  if is_32_bit(pid) then
    return nil, who .. " is a 32-bit program, which cprof cannot read"
  end
  local mappings = process.mappings(pid)
  local states
  states, why = find_states(memory, process.writable(mappings, pid), who,
    slots)
  if not states then return nil, why end
  return { memory = memory, mappings = mappings, states = states }
end

---Reads what a process runs. Threads that run are stopped for a moment, those
---that wait are not, unless C frames are wanted.
---@param pid integer
---@param locals boolean?  are variables wanted?
---@param c_frames boolean?
---@return cprof.RemoteProcess?
---@return string? why
function remote.read(pid, locals, c_frames)
  local opened, why = remote.open(pid, locals and most_slots or nil)
  if not opened then return nil, why end
  local states, mappings = opened.states, opened.mappings
  local found = symbols.open(pid, mappings)
  local stacks = c_frames and native.open(opened.memory, found, mappings)
  local stopped
  stopped, why = read_steady(opened.memory, pid, states, mappings, stacks)
  if stopped == nil then return nil, why end
  if stacks then join(states, stacks) end
  local folder = core.remote_link(("/proc/%d/cwd"):format(pid))
  text.of_process(pid, folder)
  return { pid = pid, command = process.command(pid), stopped = stopped or nil,
    states = described(states, found, folder) }
end

---Reads what a process ran when its core file was written. Relative paths of
---sources are read from the current folder.
---@param path string
---@param exe string?  the program; default: the file where it was
---@param locals boolean?  are variables wanted?
---@param c_frames boolean?
---@return cprof.RemoteProcess?
---@return string? why
function remote.read_core(path, exe, locals, c_frames)
  local file, why = corefile.open(path, exe)
  if not file then return nil, why end
  local states
  states, why = find_states(file.memory, process.writable(file.mappings), path,
    locals and most_slots or nil)
  if not states then return nil, why end
  local program = file.files[1]
  local found = symbols.open(nil, file.files,
    exe and program and { [program.path] = exe })
  local stacks = c_frames and native.open(file.memory, found, file.files,
    true)
  local fits, misfit = read_states(file.memory, states, file.threads,
    file.mappings, stacks)
  if not fits then
    return nil, ("%s could not be read: %s"):format(path, misfit)
  end
  if stacks then join(states, stacks) end
  text.forget()
  return { pid = file.pid, command = file.command, core = path,
    folder = file.folder, states = described(states, found) }
end

-- }======================================================

return remote
