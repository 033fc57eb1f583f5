-- What coroutines did, added up by kind: a function that runs as a coroutine,
-- and where the coroutine was made. See src/count/tasks.h and src/lua/ltasks.c.

local core = require "cprof.core"
local durations = require "cprof.count.durations"
local order = require "cprof.text.order"

local tasks = {}

---@class cprof.Pause          where tasks were suspended
---@field node? integer        call path of the yield: index of a call-tree
---    node; nil: not known
---@field times integer        how often
---@field ns integer           for how long, in all

---@class cprof.Task           coroutines of one kind
---@field func? integer        index of the function that runs in them; nil:
---    they have not begun, or it is not recorded
---@field maker? integer       index of the function that made them; nil: they
---    were made before the recording, or by C code
---@field line? integer        the line in which the maker did so
---@field outer? integer       index of the nearest caller of the maker from
---    another source, as the maker may be a library's
---@field outer_line? integer
---@field created integer      that were made while this was recorded
---@field met integer          others, which were older, or made by C code
---@field alive integer        that have not ended
---@field returned integer     that ended when their function returned
---@field failed integer       that an error ended
---@field closed integer       that were closed
---@field collected integer    that were collected before they ended
---@field resumes integer
---@field running_ns integer   their time, without coroutines that they resumed
---@field waiting_ns integer   the part of that in which the thread waited
---@field suspended_ns integer from a yield to the next resume, or until now
---@field slices integer       times from a resume to the next yield or the
---    end, with coroutines that were resumed in it
---@field p50_ns integer       half of the slices took no longer; within 5 %
---@field p90_ns integer
---@field p99_ns integer
---@field max_ns integer
---@field durations { [1]: integer, [2]: integer, [3]: integer }[]  from (ns),
---    to (ns, not included), slices
---@field slowest cprof.SlowCall[]  the longest slices, the longest first;
---    `node` is where they ended
---@field pauses cprof.Pause[] the longest first

local counts <const> = { "created", "met", "returned", "failed", "closed",
  "collected", "resumes" }

local function known(n) return n ~= 0 and n or nil end

local by_running <const> = order("-running_ns", "-suspended_ns",
  function(t) return t.func or 0 end, function(t) return t.maker or 0 end,
  function(t) return t.line or 0 end, function(t) return t.outer or 0 end,
  function(t) return t.outer_line or 0 end)

local longest_first <const> = order("-ns", "-times",
  function(pause) return pause.node or 0 end)

local function pauses_of(raw, scaled)
  local out, sum = {}, 0
  for i = 1, #raw, 3 do
    local ns = scaled(raw[i + 2])
    out[#out + 1] = { node = known(raw[i]), times = raw[i + 1], ns = ns }
    sum = sum + ns
  end
  table.sort(out, longest_first)
  return out, sum
end

-- Does a record have any figures? After a reset, some have none.
local function counted(raw)
  for _, field in ipairs(counts) do
    if raw[field] > 0 then return true end
  end
  return #raw.pauses > 0
end

-- A task as a profile has it.
local function describe(p, raw, share)
  local function scaled(ns) return math.floor(ns * share + 0.5) end
  local out = { func = known(raw.func), maker = known(raw.maker),
    line = known(raw.line), outer = known(raw.outer),
    outer_line = known(raw.outer_line) }
  for _, field in ipairs(counts) do out[field] = raw[field] end
  out.alive = raw.created + raw.met - raw.returned - raw.failed -
    raw.closed - raw.collected
  out.running_ns = scaled(raw.running_ns)
  out.waiting_ns = math.min(scaled(raw.waiting_ns), out.running_ns)
  out.pauses, out.suspended_ns = pauses_of(raw.pauses, scaled)
  local d = durations.scaled(raw.histogram, share,
    p.meta.waiting_ns ~= nil)
  out.slices, out.p50_ns, out.p90_ns, out.p99_ns, out.max_ns = d.calls,
    d.p50_ns, d.p90_ns, d.p99_ns, d.max_ns
  out.durations, out.slowest = d.steps, d.slowest
  return out
end

---The tasks of a profile, those that ran longest first.
---@param p cprof.Profile
---@param raw table[]  as the core gives them
---@return cprof.Task[]
function tasks.list(p, raw)
  -- in mode "line", the recorder cannot know the overhead
  local share = p.meta.mode == "line" and
    p.program_ns / math.max(p.program_ns + (p.meta.overhead_ns or 0), 1) or 1
  local out = {}
  for _, record in ipairs(raw) do
    if counted(record) then out[#out + 1] = describe(p, record, share) end
  end
  table.sort(out, by_running)
  return out
end

---@class cprof.Streak       samples, one after the other, that found coroutines
---    with one function, resumed by one path of calls
---@field from_ns integer      since the start: when the last sample before it
---    came, which found something else
---@field to_ns integer        when the next sample found something else
---@field most_ns integer      what was recorded in between: a slice in which
---    such a sample came took no longer
---@field samples integer      found in these coroutines, or in those that they
---    resumed
---@field node? integer        call path that all these samples have in common

---@class cprof.SampledTask   coroutines that run a function, by samples
---@field func integer         index of the function
---@field samples integer      that found them running, or waiting in the system
---@field running_ns integer   their time, without coroutines that they resumed
---@field waiting_ns integer   the part of that in which the thread waited
---@field most_ns? integer     no slice in which a sample came took longer; nil:
---    it is not known when samples came
---@field streaks? cprof.Streak[]  the longest ones, the longest first

-- marks of functions that resume a coroutine, see src/identity/function.h
local resumes <const> = 2 | 4

local function marked(marks)
  for _, mark in ipairs(marks) do
    if mark & resumes ~= 0 then return true end
  end
  return false
end

---The tasks that samples have found, by the function that runs in them, those
---that ran longest first; nil: none. Samples see no coroutine that is
---suspended, nor where one was made. Also returns which nodes are those of
---functions that run as coroutines.
---@param nodes userdata
---@param marks integer[]  of functions
---@param native fun(func: integer): boolean  is it a C frame, of cprof attach
---    --native? Such frames are between the function that resumes a coroutine
---    and the one that runs in it
---@return cprof.SampledTask[]?
---@return boolean[]? bodies  by node
function tasks.sampled(nodes, marks, native)
  if not marked(marks) then return nil end
  local out, of_func, at = {}, {}, {}
  local resuming, bodies = {}, {}
  for id, depth, func, _, _, own, _, samples, _, _, _, _, wait in
    core.walk(nodes) do
    local resumed = depth > 0 and resuming[depth - 1]
    resuming[depth] = (marks[func] or 0) & resumes ~= 0 or
      resumed and native(func)
    at[depth] = depth > 0 and at[depth - 1] or nil
    bodies[id] = resumed and not resuming[depth] or false
    if bodies[id] then
      at[depth] = of_func[func] or { func = func, samples = 0,
        running_ns = 0, waiting_ns = 0 }
      if not of_func[func] then
        out[#out + 1], of_func[func] = at[depth], at[depth]
      end
    end
    local task = at[depth]
    if task then
      task.samples = task.samples + samples
      task.running_ns = task.running_ns + own
      task.waiting_ns = task.waiting_ns + wait
    end
  end
  if #out == 0 then return nil end
  table.sort(out, order("-running_ns", "func"))
  return out, bodies
end

---Adds the streaks of samples to tasks.
---@param list cprof.SampledTask[]
---@param axis userdata     when samples came
---@param nodes userdata    of the axis
---@param bodies boolean[]  of these nodes, see `tasks.sampled`
---@param from integer      ns since the start
---@param to integer
---@param place? table<integer, integer>  the tasks' node for each of `nodes`;
---    nil: tasks refer to `nodes`
---@param numbers? table<integer, integer>  the tasks' function for each of
---    those of `nodes`; nil: tasks refer to these
function tasks.streaks(list, axis, nodes, bodies, from, to, place, numbers)
  local of_func = {}
  for _, task in ipairs(list) do
    of_func[task.func], task.streaks = task, {}
  end
  local raw = core.axis_streaks(axis, nodes, bodies, from, to)
  for i = 1, #raw, 6 do
    local _, func = core.node(nodes, raw[i])
    local task, node = of_func[numbers and numbers[func] or func], raw[i + 1]
    if task then
      table.insert(task.streaks, { node = place and place[node] or node,
        from_ns = raw[i + 2], to_ns = raw[i + 3], most_ns = raw[i + 4],
        samples = raw[i + 5] })
    end
  end
  for _, task in ipairs(list) do
    task.most_ns = task.streaks[1] and task.streaks[1].most_ns
  end
end

---The nodes of `sum` that stand for those of `part`; `map` and `shift` are
---those of its functions. A node that is not found stands for none, as do those
---of a function without a place in `map`.
---@param sum userdata
---@param part userdata
---@param map integer[]
---@param shift integer[]
---@return table<integer, integer>
function tasks.nodes(sum, part, map, shift)
  local index, out = {}, {}
  for i = 2, #sum do
    local parent, func, line = core.node(sum, i)
    index[("%d %d %d"):format(parent, func, line)] = i
  end
  local func_of = {}
  for i = 1, #part do
    local parent, func, line = core.node(part, i)
    func_of[i] = func
    if parent == 0 then out[i] = 1
    else
      local caller = func_of[parent]
      local at = line > 0 and line + (shift[caller] or 0) or 0
      out[i] = index[("%d %d %d"):format(out[parent] or 0, map[func] or 0, at)]
    end
  end
  return out
end

-- A record for another call tree: its functions, lines and nodes are mapped.
local function moved(raw, map, shift, nodes)
  local out = { pauses = {} }
  for _, field in ipairs(counts) do out[field] = raw[field] end
  for _, field in ipairs { "func", "maker", "outer" } do
    out[field] = raw[field] ~= 0 and map[raw[field]] or 0
  end
  local function line_of(line, func)
    return line > 0 and line + (shift[func] or 0) or 0
  end
  out.line = line_of(raw.line, raw.maker)
  out.outer_line = line_of(raw.outer_line, raw.outer)
  out.running_ns, out.waiting_ns = raw.running_ns, raw.waiting_ns
  out.histogram = durations.moved(raw.histogram, nodes)
  for i = 1, #raw.pauses, 3 do
    out.pauses[i], out.pauses[i + 1], out.pauses[i + 2] =
      nodes[raw.pauses[i]] or 0, raw.pauses[i + 1], raw.pauses[i + 2]
  end
  return out
end

-- Adds the pauses of a record to those of another.
local function add_pauses(to, from)
  local at = {}
  for i = 1, #to, 3 do at[to[i]] = i end
  for i = 1, #from, 3 do
    local k = at[from[i]]
    if not k then
      k = #to + 1
      at[from[i]], to[k], to[k + 1], to[k + 2] = k, from[i], 0, 0
    end
    to[k + 1], to[k + 2] = to[k + 1] + from[i + 1], to[k + 2] + from[i + 2]
  end
end

local function add(to, from)
  for _, field in ipairs(counts) do to[field] = to[field] + from[field] end
  to.running_ns = to.running_ns + from.running_ns
  to.waiting_ns = to.waiting_ns + from.waiting_ns
  to.histogram = durations.add(to.histogram, from.histogram)
  add_pauses(to.pauses, from.pauses)
end

---@class cprof.TaskPart     the tasks of one of several profiles
---@field tasks table[]      as the core gives them
---@field nodes userdata
---@field map integer[]      of each function, its index in the sum
---@field shift integer[]    of each function, by how many lines it moved

---Adds up the tasks of several profiles, for the core.
---@param parts cprof.TaskPart[]
---@param sum userdata  call-tree nodes of the sum
---@return table[]
function tasks.sum(parts, sum)
  local out, by_kind = {}, {}
  for _, part in ipairs(parts) do
    local nodes = tasks.nodes(sum, part.nodes, part.map, part.shift)
    for _, raw in ipairs(part.tasks) do
      local record = moved(raw, part.map, part.shift, nodes)
      local key = ("%d %d %d %d %d"):format(record.func, record.maker,
        record.line, record.outer, record.outer_line)
      if by_kind[key] then add(by_kind[key], record)
      else
        out[#out + 1], by_kind[key] = record, record
        local pauses = record.pauses
        record.pauses = {}
        add_pauses(record.pauses, pauses)
      end
    end
  end
  return out
end

return tasks
