-- The calls of a trace, for the page: the longest calls of each coroutine, as a
-- tree along a time axis. Mode "trace" has written them, or a recording with
-- option `keep_last` has them on its time axis.

local calls = require "cprof.profile.calls"
local escape = require "cprof.encoding.escape"
local format = require "cprof.text.format"
local order = require "cprof.text.order"
local pack = require "cprof.html.pack"

local traced = {}

---The calls that a page shows at most.
traced.limit = 300000

---@class cprof.Traced
---@field calls integer   in the file
---@field shown integer   calls
---@field steps integer   of the garbage collector, in the file
---@field least integer   ns; shorter calls are left out
---@field open integer    calls that had not ended
---@field ns integer      the last event
---@field threads { tid: integer, n: integer, steps: integer, func: integer[],
---    depth: integer[], start: integer[], ns: integer[] }[]
---    n: calls and steps that are shown
---@field titles string[] of functions, as in `func`

local event <const> = '^{"name":"(.-)","ph":"([BE])","ts":(%d+)%.(%d%d%d),' ..
  '"pid":%d+,"tid":(%d+)}'

-- steps of the garbage collector, which are not calls
local collector_title <const> = "(garbage collector)"

-- no clock or system gives numbers of more digits
local most_digits <const> = 15

local function new(tid)
  return { tid = tid, n = 0, steps = 0, func = {}, depth = {}, start = {},
           ns = {}, stack = {}, last = 0 }
end

-- Removes calls that took less than `bound`, and those that took exactly
-- `bound` after the first `equals` of them, callers first. Open calls stay.
-- Returns what is left of `equals`.
local function compact(thread, bound, equals)
  local stack, to = thread.stack, 0
  local level = 1
  for i = 1, thread.n do
    local ns = thread.ns[i]
    if ns == bound then equals = equals - 1 end
    if not ns or ns > bound or ns == bound and equals >= 0 then
      to = to + 1
      for _, key in ipairs { "func", "depth", "start", "ns" } do
        thread[key][to] = thread[key][i]
      end
      if stack[level] == i then
        stack[level] = to
        level = level + 1
      end
    end
  end
  thread.n = to
  return equals
end

-- Collects calls, and removes the shortest ones if there are too many. Steps
-- of the garbage collector are among them until all are collected.
local function collection(limit)
  local self = { calls = 0, shown = 0, steps = 0, least = 0, open = 0, ns = 0,
                 threads = {}, titles = {} }
  local by_tid = {}
  -- calls that are collected before any is removed
  local most = limit * 3 // 2
  local function durations()
    local list = {}
    for _, thread in ipairs(self.threads) do
      for i = 1, thread.n do list[#list + 1] = thread.ns[i] or nil end
    end
    table.sort(list)
    return list
  end
  local function shrink()
    local surplus = self.shown - limit
    if surplus <= 0 then return end
    local list = durations()
    local cut = math.min(surplus, #list)
    local bound, equals = list[cut] or -1, 0
    while list[cut + equals + 1] == bound do equals = equals + 1 end
    self.least, self.shown = bound + 1, 0
    for _, thread in ipairs(self.threads) do
      equals = compact(thread, bound, equals)
      self.shown = self.shown + thread.n
    end
    most = math.max(most, self.shown * 3 // 2)
  end
  local function thread_of(tid)
    local thread = by_tid[tid]
    if not thread then
      thread = new(tid)
      by_tid[tid], self.threads[#self.threads + 1] = thread, thread
    end
    return thread
  end
  -- a clock may step back
  local function ascending(thread, at)
    at = math.max(at, thread.last)
    thread.last, self.ns = at, math.max(at, self.ns)
    return at
  end
  function self.enter(tid, func, at)
    local thread = thread_of(tid)
    local i = thread.n + 1
    at = ascending(thread, at)
    thread.n, thread.func[i], thread.start[i], thread.ns[i] = i, func, at,
      false
    thread.stack[#thread.stack + 1] = i
    thread.depth[i] = #thread.stack
    self.calls, self.shown = self.calls + 1, self.shown + 1
  end
  function self.leave(tid, at)
    local thread = thread_of(tid)
    local i = table.remove(thread.stack)
    at = ascending(thread, at)
    if not i then return end
    local ns = at - thread.start[i]
    thread.ns[i] = ns
    if ns < self.least then
      -- its callees were shorter and are gone, so it is the last one
      thread.n, self.shown = i - 1, self.shown - 1
    elseif self.shown > most then
      shrink()
    end
  end
  function self.finish()
    shrink()
    for _, thread in ipairs(self.threads) do
      for _, i in ipairs(thread.stack) do
        thread.ns[i] = self.ns - thread.start[i]
        self.open = self.open + 1
      end
      for i = 1, thread.n do
        if self.titles[thread.func[i]] == collector_title then
          thread.steps = thread.steps + 1
        end
      end
      self.shown = self.shown - thread.steps
    end
    self.calls = self.calls - self.steps
  end
  return self
end

---Reads a trace.
---@param path string
---@param limit? integer  calls
---@param progress? fun(text: string)
---@return cprof.Traced?
---@return string? message
function traced.read(path, limit, progress)
  local file, why = io.open(path, "rb")
  if not file then return nil, "cannot read " .. why end
  local out, index = collection(limit or traced.limit), {}
  local match = string.match
  local bytes, lines = 0, 0
  for line in file:lines() do
    local name, phase, us, ns, tid = match(line, event)
    if name and (#us > most_digits or #tid > most_digits) then
      file:close()
      return nil, ("%s is damaged: line %d has a number of %d digits"):format(
        path, lines + 1, math.max(#us, #tid))
    elseif name then
      local at = math.tointeger(us) * 1000 + math.tointeger(ns)
      tid = math.tointeger(tid)
      if phase == "B" then
        local func = index[name]
        if not func then
          func = #out.titles + 1
          index[name] = func
          out.titles[func] = name:gsub('\\(["\\])', "%1")
        end
        if name == collector_title then out.steps = out.steps + 1 end
        out.enter(tid, func, at)
      else
        out.leave(tid, at)
      end
    end
    bytes, lines = bytes + #line + 1, lines + 1
    if lines % 100000 == 0 and progress then
      progress(format.bytes(bytes))
    end
  end
  file:close()
  if progress then progress() end
  if out.calls == 0 then
    return nil, ("%s has no calls that cprof run --trace=FILE.json wrote")
      :format(path)
  end
  out.finish()
  return out
end

---The calls that a recording has on its time axis; nil: it has none.
---@param p cprof.Profile
---@param limit? integer  calls
---@return cprof.Traced?
function traced.recorded(p, limit)
  local known = calls.of(p)
  if not known then return nil end
  local out = collection(limit or traced.limit)
  for i, f in ipairs(known.of.functions) do out.titles[i] = f.title end
  calls.each(known, function(func, at)
    out.enter(1, func, (at - known.from) // 1 | 0)
  end, function(_, at) out.leave(1, (at - known.from) // 1 | 0) end)
  if out.calls == 0 then return nil end
  out.finish()
  return out
end

-- the columns of a thread: levels, functions, time since the node before it
-- began, duration; below a root that lasts as long as all
local function columns_of(thread, to, root, ns)
  local columns = { { 0 }, { root }, { 0 }, { ns } }
  local last, before = 0, 0
  for i = 1, thread.n do
    columns[1][i + 1] = last + 1 - thread.depth[i]
    columns[2][i + 1] = to[thread.func[i]]
    columns[3][i + 1] = thread.start[i] - before
    columns[4][i + 1] = thread.ns[i]
    last, before = thread.depth[i], thread.start[i]
  end
  return pack.columns(columns)
end

---@param trace cprof.Traced
---@param root integer    number of the root's row
---@param numbers fun(title: string): integer  the row of a function
---@param trees table[]   those of threads are appended
---@return table
function traced.of(trace, root, numbers, trees)
  local to, threads = {}, {}
  for i, title in ipairs(trace.titles) do
    to[i] = numbers(escape.utf8(title))
  end
  table.sort(trace.threads, order "tid")
  for _, thread in ipairs(trace.threads) do
    if thread.n > 0 then
      trees[#trees + 1] = columns_of(thread, to, root, trace.ns)
      threads[#threads + 1] = { tid = thread.tid, tree = #trees - 1,
        n = thread.n - thread.steps, steps = thread.steps }
    end
  end
  return { calls = trace.calls, shown = trace.shown, steps = trace.steps,
    least = trace.least, open = trace.open, ns = trace.ns, threads = threads }
end

return traced
