-- What coroutines did, for the page, as `cprof tasks` prints it.

local core = require "cprof.core"
local profile = require "cprof.profile"
local report = require "cprof.report.tasks"

local tasked = {}

-- slices in the list of the longest
local limit <const> = 50

-- what a task has by samples
local sampled <const> = { running = "running_ns", waiting = "waiting_ns",
  samples = "samples", most = "most_ns" }

local figures <const> = { running = "running_ns", waiting = "waiting_ns",
  suspended = "suspended_ns", alive = "alive", failed = "failed",
  returned = "returned", closed = "closed", collected = "collected",
  resumes = "resumes", slices = "slices", p50 = "p50_ns", p90 = "p90_ns",
  p99 = "p99_ns", max = "max_ns" }

-- a path in its coroutine, as rows
local function path_of(p, index, e)
  local out = {}
  for i, func in ipairs(report.path(p, e)) do out[i] = index[func] end
  return out
end

-- The page's nodes with which coroutines begin, and their tasks, from which the
-- page makes the tasks of a range of time.
local function bodies_of(p, number, nodes)
  local out, of_func = { node = {}, task = {} }, {}
  for _, task in ipairs(p.tasks) do of_func[task.func] = number[task] end
  local _, bodies = profile.sampled(p)
  for id in core.walk(p.nodes) do
    if bodies[id] and nodes[id] then
      local _, func = core.node(p.nodes, id)
      table.insert(out.node, nodes[id])
      table.insert(out.task, of_func[func])
    end
  end
  return out
end

-- The longest streaks of samples.
local function streaks_of(p, index, number)
  local out = {}
  for i, streak in ipairs(report.in_a_row(p.tasks)) do
    if i > limit then break end
    out[i] = { task = number[streak.task], most = streak.most_ns,
      samples = streak.samples, from = streak.from_ns, to = streak.to_ns,
      known = streak.node ~= nil, path = path_of(p, index, streak) }
  end
  return out
end

---@param p cprof.Profile
---@param index table<integer, integer>   function -> its row
---@param nodes? table<integer, integer>  node -> its number in the page
---@param plain fun(s: string): string    text on one line, in which all is seen
---@return table?
function tasked.of(p, index, nodes, plain)
  if not p.tasks then return nil end
  local number, list, slices, pauses = {}, {}, {}, {}
  local exact = p.meta.tasks
  for i, task in ipairs(p.tasks) do
    number[task] = i - 1
    local out = { name = plain(report.name(p, task)),
      f = task.func and index[task.func] or -1 }
    if exact then
      out.at = plain(report.made(p, task))
      out.made = task.created + task.met
    end
    if not exact then out.share = p.measure:share(task.running_ns) end
    for field, of in pairs(exact and figures or sampled) do
      out[field] = task[of]
    end
    list[i] = out
  end
  if not exact then
    return { list = list, slices = streaks_of(p, index, number), pauses = {},
      bodies = nodes and bodies_of(p, number, nodes) }
  end
  for i, slice in ipairs(report.longest(p.tasks)) do
    if i > limit then break end
    slices[i] = { task = number[slice.task], took = slice.took_ns,
      wait = slice.wait_ns, ended = slice.ended_ns,
      coroutine = slice.coroutine, known = slice.node ~= nil,
      node = nodes and nodes[slice.node] or -1,
      path = path_of(p, index, slice) }
  end
  for i, pause in ipairs(report.suspended(p.tasks)) do
    pauses[i] = { task = number[pause.task], ns = pause.ns,
      times = pause.times, known = pause.node ~= nil,
      path = path_of(p, index, pause) }
  end
  return { list = list, slices = slices, pauses = pauses, exact = true }
end

return tasked
