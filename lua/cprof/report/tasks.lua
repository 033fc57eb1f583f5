-- What coroutines did: a row for each kind of them, their longest slices, and
-- where they were suspended.

local columns = require "cprof.report.columns"
local core = require "cprof.core"
local format = require "cprof.text.format"
local name = require "cprof.source.name"
local order = require "cprof.text.order"
local profiles = require "cprof.profile"
local range = require "cprof.profile.range"
local slow = require "cprof.report.slow"

local tasks = {}

-- marks of functions, see src/identity/function.h
local resumes <const>, yields <const> = 2 | 4, 8

---The call path of the node of a slice or pause, in its coroutine: from the
---function of the task on, also where C code has resumed the coroutine. The
---yield itself is left out.
---@param p cprof.Profile
---@param e { task: cprof.Task, node?: integer }
---@return integer[]  functions
function tasks.path(p, e)
  local marks, out, node = profiles.marks(p), {}, e.node
  local body
  while node do
    local parent, func = core.node(p.nodes, node)
    local mark = marks[func] or 0
    if parent == 0 then
      return body and table.move(out, #out - body + 1, #out, 1, {}) or out
    elseif mark & resumes ~= 0 and #out > 0 then break end
    if mark & yields == 0 or #out > 0 then
      table.insert(out, 1, func)
      if func == e.task.func then body = #out end
    end
    node = parent
  end
  return out
end

local function chain(p, e)
  if not e.node then return "(not known)" end
  local names = tasks.path(p, e)
  for i, func in ipairs(names) do
    names[i] = format.plain(p.functions[func].name)
  end
  return table.concat(names, format.arrow)
end

---The tasks of a profile that run the function of a row.
---@param p cprof.Profile
---@param row cprof.Row
---@return table[]
function tasks.of_function(p, row)
  local out = {}
  for _, task in ipairs(p.tasks or {}) do
    local f = task.func and p.functions[task.func]
    if f and f.title == row.title then out[#out + 1] = task end
  end
  return out
end

---The name of what runs in a task.
---@param p cprof.Profile
---@param task cprof.Task
---@return string
function tasks.name(p, task)
  if task.func then return format.plain(p.functions[task.func].name) end
  return task.resumes == 0 and "(not resumed yet)" or "(not recorded)"
end

local function place(p, func, line)
  local f = func and p.functions[func]
  if not f then return nil end
  return ("%s:%d"):format(format.plain(f.place or name.place(f.source)), line)
end

---Where the coroutines of a task were made.
---@param p cprof.Profile
---@param task cprof.Task
---@return string
function tasks.made(p, task)
  local at = place(p, task.maker, task.line)
  local from = place(p, task.outer, task.outer_line)
  if not at then return task.created == 0 and "(earlier, or in C)" or "" end
  return from and ("%s, from %s"):format(at, from) or at
end

local function time(title, field, rank)
  return { title = title, rank = rank, optional = rank ~= nil,
    cell = function(_, e)
      local ns = e.task[field]
      return (ns > 0 or not rank) and format.time(ns) or ""
    end }
end

local function number(title, of, rank)
  return { title = title, rank = rank, optional = true, cell = function(_, e)
    local n = of(e.task)
    return n > 0 and format.count(n) or ""
  end }
end

local function task_column(rank)
  return { title = "task", left = true, least = 24, rank = rank,
    cut = format.cutname, code = true, names = true,
    cell = function(on, e) return tasks.name(on.profile, e.task) end }
end

local kinds <const> = {
  time("running", "running_ns"), time("waiting", "waiting_ns", 3),
  time("suspended", "suspended_ns", 5),
  number("made", function(t) return t.created + t.met end, 4),
  number("alive", function(t) return t.alive end, 3),
  number("errors", function(t) return t.failed end, 2),
  number("resumes", function(t) return t.resumes end, 6),
  time("p50", "p50_ns"), time("p99", "p99_ns"), time("max", "max_ns"),
  task_column(),
  { title = "made at", left = true, least = 18, rank = 1, optional = true,
    cut = format.cutpath, code = true, style = "dim",
    cell = function(on, e) return tasks.made(on.profile, e.task) end },
}

local slices <const> = {
  { title = "took", cell = function(_, e) return format.time(e.took_ns) end },
  slow.part("waiting", "wait_ns", 5, 0),
  { title = "ended at", optional = true, rank = 3, cell = function(_, e)
    return e.ended_ns and format.time(e.ended_ns) or ""
  end },
  { title = "coroutine", optional = true, rank = 2, cell = function(_, e)
    return e.coroutine and tostring(e.coroutine) or ""
  end },
  task_column(4),
  { title = "until", left = true, least = 30, rank = 1,
    cut = format.cutchain, code = true,
    cell = function(on, e) return chain(on.profile, e) end },
}

local pauses <const> = {
  { title = "suspended", cell = function(_, e) return format.time(e.ns) end },
  { title = "times", cell = function(_, e) return format.count(e.times) end },
  task_column(4),
  { title = "at", left = true, least = 30, rank = 1, cut = format.cutchain,
    code = true,
    cell = function(on, e) return chain(on.profile, e) end },
}

local by_took <const> = order("-took_ns", function(e)
  return e.ended_ns or 0
end)

-- Of each task and call path, the first entry of the task's list with this
-- key, unless it took no time; in the order `by`.
local function first_of_paths(list, key, ns, by)
  local out = {}
  for _, task in ipairs(list) do
    local seen = {}
    for _, entry in ipairs(task[key] or {}) do
      local at = entry.node or 0
      if not seen[at] and entry[ns] > 0 then
        seen[at] = true
        out[#out + 1] = setmetatable({ task = task }, { __index = entry })
      end
    end
  end
  table.sort(out, by)
  return out
end

---The longest slices of the tasks: of each task and path, the longest.
---@param list cprof.Task[]
---@return table[]  as cprof.SlowCall, with `task`
function tasks.longest(list)
  return first_of_paths(list, "slowest", "took_ns", by_took)
end

local by_ns <const> = order("-ns", "-times", function(e)
  return e.node or 0
end)

---Where the tasks were suspended, the longest first.
---@param list cprof.Task[]
---@return table[]  as cprof.Pause, with `task`
function tasks.suspended(list)
  local out = {}
  for _, task in ipairs(list) do
    for _, pause in ipairs(task.pauses) do
      out[#out + 1] = { task = task, ns = pause.ns, times = pause.times,
        node = pause.node }
    end
  end
  table.sort(out, by_ns)
  return out
end

local function show(on, p, title, list, entries, limit)
  if #entries == 0 then return end
  on:gap()
  on:subtitle(title)
  local shown = table.move(entries, 1, math.min(#entries, limit), 1, {})
  on:table(list, columns.rows({ profile = p }, list, shown))
  if #entries > #shown then
    on:rest(("… %d more"):format(#entries - #shown))
  end
end

---Prints a table of tasks.
---@param on cprof.Page
---@param p cprof.Profile
---@param list cprof.Task[]
---@param limit integer  rows that are shown at most
function tasks.table(on, p, list, limit)
  local entries = {}
  for i, task in ipairs(list) do entries[i] = { task = task } end
  show(on, p, "tasks", kinds, entries, limit)
end

-- the cell of a figure that samples do not know
local unknown <const> = "-"

local function not_known(title, rank)
  return { title = title, rank = rank, cell = function() return unknown end }
end

-- an upper bound
local function below(ns) return ns and "<" .. format.time(ns) or unknown end

local by_samples <const> = {
  time("running", "running_ns"),
  { title = "running %", rank = 2, cell = function(_, e) return e.share end },
  time("waiting", "waiting_ns", 3),
  { title = "samples", rank = 4, cell = function(_, e)
    return format.count(e.task.samples)
  end },
  not_known("suspended", 5), not_known("made", 5), not_known("alive", 5),
  not_known("resumes", 6), not_known("p50", 1), not_known("p99", 1),
  { title = "max", cell = function(_, e) return below(e.task.most_ns) end },
  task_column(),
}

local streaks <const> = {
  { title = "took", cell = function(_, e) return below(e.most_ns) end },
  { title = "samples", rank = 3, cell = function(_, e)
    return format.count(e.samples)
  end },
  { title = "from", rank = 2, cell = function(_, e)
    return range.time(e.from_ns)
  end },
  { title = "to", rank = 2, cell = function(_, e)
    return range.time(e.to_ns)
  end },
  task_column(4),
  { title = "in", left = true, least = 30, rank = 1,
    cut = format.cutchain, code = true,
    cell = function(on, e) return chain(on.profile, e) end },
}

local by_most <const> = order("-most_ns", "from_ns")

---The longest streaks of all tasks, the longest first; one for each task and
---call path.
---@param list cprof.SampledTask[]
---@return table[]  as cprof.Streak, with `task`
function tasks.in_a_row(list)
  return first_of_paths(list, "streaks", "most_ns", by_most)
end

---Prints tasks of a profile of samples.
---@param on cprof.Page
---@param p cprof.Profile
---@param list cprof.SampledTask[]
---@param limit integer  rows of each table that are shown at most
function tasks.sampled(on, p, list, limit)
  local entries = {}
  for i, task in ipairs(list) do
    entries[i] = { task = task, share = on:share(task.running_ns) }
  end
  show(on, p, "tasks", by_samples, entries, limit)
  local longest = tasks.in_a_row(list)
  show(on, p, "longest times in one kind of coroutine", streaks, longest,
    limit)
  on:gap()
  on:note("estimated from samples, which see coroutines only while they " ..
    "run, and only those that coroutine.resume or coroutine.wrap has resumed")
  if #longest > 0 then
    on:note("max (<) is the longest time in which all samples found " ..
      "coroutines of this kind: one may have run that long without a yield, " ..
      "or several may have taken turns")
  end
  on:note("for what samples do not know (-), use mode call: cprof run " ..
    "--tasks records how many coroutines there are, how long each slice " ..
    "is, and where coroutines are suspended")
end

---Prints tasks, their longest slices, and where they were suspended.
---@param on cprof.Page
---@param p cprof.Profile
---@param list cprof.Task[]
---@param limit integer  rows of each table that are shown at most
function tasks.show(on, p, list, limit)
  tasks.table(on, p, list, limit)
  show(on, p, "longest slices", slices, tasks.longest(list), limit)
  show(on, p, "where they were suspended", pauses, tasks.suspended(list),
    limit)
end

return tasks
