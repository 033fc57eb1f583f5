-- Markers of Firefox's profiler: what happened when, in ns since the recording
-- began. Waits, pauses and other programs are those of the time axis; frames
-- and slow calls are known in all modes that have times.

local graph = require "cprof.count.graph"
local order = require "cprof.text.order"
local rows = require "cprof.count.rows"
local slow = require "cprof.report.slow"

local markers = {}

-- the most markers of a kind: the longest
local most <const> = 10000

---@class cprof.Marker
---@field name string
---@field kind string        of markers.kinds
---@field from number        ns
---@field to number          ns
---@field stack? integer
---@field category integer   of a function; see stacks.categories
---@field data table<string, number>  fields of the kind

-- each: its name, where it is shown, and its fields: key, label, format
---@type { [1]: string, [2]: string, [3]: string[][] }[]
markers.kinds = {
  { "frame", "One turn of the program's loop, or one request.", {
    { "number", "Number", "integer" },
    { "own", "Without overhead", "duration" } } },
  { "slow call", "A call that took more than twice as long as the median " ..
    "call of its function.", {
    { "took", "Without overhead", "duration" },
    { "usual", "Median call", "duration" },
    { "waiting", "Of it, waiting", "duration" },
    { "preempted", "Others had the processor", "duration" },
    { "coroutine", "Coroutine", "integer" } } },
  { "collection", "A slow step of the garbage collector.", {
    { "took", "Without overhead", "duration" },
    { "usual", "Median step", "duration" } } },
  { "wait", "The thread waited: it slept, read, or polled.", {} },
  { "not recorded", "Recording paused, or other programs had the processor.",
    {} },
}

local function longest(list)
  table.sort(list, function(a, b) return a[2] - a[1] > b[2] - b[1] end)
  return table.move(list, 1, math.min(#list, most), 1, {})
end

local function of_frames(p, add)
  for _, loop in ipairs(p.loops or {}) do
    local seen = {}
    local function put(f)
      if not f or not f.start_ns or seen[f.number] then return end
      seen[f.number] = true
      add { name = loop.name or "frame", kind = "frame", from = f.start_ns,
        to = f.start_ns + f.ns, category = 0,
        data = { number = f.number, own = f.own_ns } }
    end
    for i = 1, #loop.worst do put((loop:slowest(i))) end
    for _, f in ipairs(loop:times()) do put(f) end
  end
end

local function of_calls(p, stack_of, category, add)
  for _, c in ipairs(slow.calls((graph.functions(p)))) do
    local f = c.row.func
    if c.node then
      local collector = rows.collector(f)
      add { name = f.name, kind = collector and "collection" or "slow call",
        from = c.ended_ns - c.wall_ns, to = c.ended_ns,
        category = category(f), stack = stack_of(c.node),
        data = { took = c.took_ns, usual = c.usual_ns, waiting = c.wait_ns,
          preempted = c.preempted_ns, coroutine = c.coroutine } }
    end
  end
end

local function of_axis(samples, add)
  for _, w in ipairs(longest(samples.waits)) do
    add { name = "wait", kind = "wait", from = w[1], to = w[2], stack = w[3],
      category = 0, data = {} }
  end
  for _, l in ipairs(longest(samples.lost)) do
    add { name = l[3] and "preempted" or "paused", kind = "not recorded",
      from = l[1], to = l[2], category = 0, data = {} }
  end
end

---What happened when, in the order of time.
---@param p cprof.Profile     the recording
---@param samples? cprof.Samples  by time
---@param stack_of fun(node: integer): integer?
---@param category fun(f: cprof.Function): integer
---@param from number         ns: nothing that ends before
---@param to number           ns: nothing that begins after
---@return cprof.Marker[]
function markers.of(p, samples, stack_of, category, from, to)
  local out = {}
  local function add(m)
    m.from, m.to = math.max(m.from, from), math.min(m.to, to)
    if m.from <= m.to then out[#out + 1] = m end
  end
  of_frames(p, add)
  of_calls(p, stack_of, category, add)
  if samples then of_axis(samples, add) end
  table.sort(out, order("from", "-to", "name"))
  return out
end

return markers
