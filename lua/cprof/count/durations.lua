-- How long calls took: the histograms of functions, and percentiles of them.
--
-- A histogram is a string, as the core gives it: the slowest calls, and a
-- number of calls for each step of durations. See src/count/durations.h.

local order = require "cprof.text.order"

local durations = {}

local octaves <const>, steps <const> = 44, 10
local count <const> = octaves * steps
local slowest <const> = 8
local call <const>, call_size <const> = "=I8I8I8I8I8I4I4I4I4", 56
local call_fields <const> = { "took", "ended", "waited", "preempted",
  "overhead", "node", "coroutine", "frame" }
local counts_at <const> = slowest * call_size + 1
local form <const> = "=" .. ("I4"):rep(count)
local full <const> = 0xffffffff

-- The least ns of a step, which are numbered from 0.
local function least(step)
  local octave = step // steps
  local base = 1 << octave
  return step == 0 and 0 or
    base + (step % steps * base + steps - 1) // steps
end

---@class cprof.SlowCall
---@field took_ns integer      total time of the call, without overhead
---@field cpu_ns? integer      the part in which the thread computed
---@field wait_ns? integer     the part in which it waited; nil: not known
---@field preempted_ns integer others had the processor; not in took_ns
---@field overhead_ns integer  of the profiler; not in took_ns
---@field wall_ns integer      took_ns, preempted_ns and overhead_ns
---@field ended_ns? integer    since the start, with pauses; nil: not known
---@field node? integer        its call path: index of a call-tree node
---@field coroutine? integer   1: the main thread
---@field frame? integer       number of the host's frame in which it ended;
---    nil: before the first one had ended, or there are none

---@class cprof.Durations       the calls of a function, or of several
---@field calls integer          that have ended; of recursion, the outermost
---@field total_ns? integer      of all calls
---@field max_ns integer
---@field p50_ns integer         half of the calls took no longer; within 5 %
---@field p90_ns integer
---@field p99_ns integer
---@field slowest cprof.SlowCall[]  the longest first
---@field steps { [1]: integer, [2]: integer, [3]: integer }[]  the histogram's
---    steps that have calls: from (ns), to (ns, not included), calls

-- The duration that `percent` of 100 calls did not exceed: the middle of its
-- step.
local function percentile(list, calls, longest, percent)
  local left = (calls * percent + 99) // 100
  for _, step in ipairs(list) do
    left = left - step[3]
    if left <= 0 then
      return math.min((step[1] + step[2]) // 2, longest)
    end
  end
  return longest
end

-- The slowest calls of a histogram, with the fields of the core.
local function calls_of(histogram)
  local out = {}
  for i = 1, slowest do
    local values = { call:unpack(histogram, (i - 1) * call_size + 1) }
    local at = {}
    for k, field in ipairs(call_fields) do at[field] = values[k] end
    if at.took > 0 or i == 1 then out[#out + 1] = at end
  end
  return out
end

-- A slow call as programs get it, without what is not known: in sums of
-- profiles and in joined ones, node 0 stands for an unknown path.
local function described(at, took_ns, waits)
  local known = at.node > 0
  local function field(name)
    return known and at[name] > 0 and at[name] or nil
  end
  local wait_ns = math.min(at.waited, took_ns)
  -- what 'took_ns' leaves out of the measured time is overhead
  local overhead_ns = math.max(at.overhead + at.took - took_ns, 0)
  return { took_ns = took_ns, cpu_ns = waits and took_ns - wait_ns or nil,
    wait_ns = waits and wait_ns or nil, preempted_ns = at.preempted,
    overhead_ns = overhead_ns,
    wall_ns = took_ns + at.preempted + overhead_ns,
    ended_ns = field "ended", node = known and at.node + 1 or nil,
    coroutine = field "coroutine", frame = field "frame" }
end

---The durations in a histogram, each multiplied by `share`.
---@param histogram string
---@param share number
---@param waits boolean   is it known when the thread waited?
---@param total? integer  ns of all calls
---@param most? integer   no call took longer
---@return cprof.Durations
function durations.scaled(histogram, share, waits, total, most)
  local function scaled(ns) return math.floor(ns * share + 0.5) end
  local slow = {}
  for i, at in ipairs(calls_of(histogram)) do
    slow[i] = described(at, math.min(scaled(at.took),
      most or math.maxinteger), waits)
  end
  local longest = slow[1].took_ns
  local list, calls = {}, 0
  for step = 0, count - 1 do
    local n = ("=I4"):unpack(histogram, counts_at + 4 * step)
    if n > 0 then
      list[#list + 1] = { scaled(least(step)), scaled(least(step + 1)), n }
      calls = calls + n
    end
  end
  local function of(percent)
    return percentile(list, calls, longest, percent)
  end
  return { calls = calls, total_ns = total, max_ns = longest, p50_ns = of(50),
    p90_ns = of(90), p99_ns = of(99), steps = list, slowest = slow }
end

---The durations in a histogram.
---@param histogram string
---@param p cprof.Profile
---@param total integer      ns of all calls, as the profile has them
---@param total_raw integer  total with overhead
---@return cprof.Durations
function durations.of(histogram, p, total, total_raw)
  -- in mode "line", the recorder cannot know the overhead within a call
  local share = p.meta.mode == "line" and total / math.max(total_raw, 1) or 1
  -- the total of a joined profile is from another run; where recursion is
  -- folded, a part of it may be the total of others
  local most = not (p.meta.joined or p.meta.folded) and total or nil
  return durations.scaled(histogram, share, p.meta.waiting_ns ~= nil, total,
    most)
end

-- The string of these slow calls and counts.
local function packed(slow, counts)
  local out = {}
  for i = 1, slowest do
    local values = {}
    for k, field in ipairs(call_fields) do
      values[k] = slow[i] and slow[i][field] or 0
    end
    values[#values + 1] = 0  -- not used
    out[i] = call:pack(table.unpack(values))
  end
  return table.concat(out) .. form:pack(table.unpack(counts, 1, count))
end

local longest_first <const> = order("-took", "ended", "node")

---Adds up histograms, either of which may be nil.
---@param a string?
---@param b string?
---@return string?
function durations.add(a, b)
  if not a or not b then return a or b end
  local slow, more = calls_of(a), calls_of(b)
  table.move(more, 1, #more, #slow + 1, slow)
  table.sort(slow, longest_first)
  local x, y = { form:unpack(a, counts_at) }, { form:unpack(b, counts_at) }
  for i = 1, count do x[i] = math.min(x[i] + y[i], full) end
  return packed(slow, x)
end

-- Removes when a call ended, and its coroutine and frame: they are not known in
-- sums of profiles.
local function unplaced(at)
  at.ended, at.coroutine, at.frame = 0, 0, 0
  return at
end

---A histogram for another call tree: where its slow calls were is not known.
---@param histogram string?
---@return string?
function durations.detached(histogram)
  if not histogram then return nil end
  local slow = calls_of(histogram)
  for _, at in ipairs(slow) do unplaced(at).node = 0 end
  return packed(slow, { form:unpack(histogram, counts_at) })
end

---A histogram for a sum of profiles, where other nodes stand for those of its
---slow calls; when these were made has no meaning there.
---@param histogram string
---@param nodes table<integer, integer>
---@return string
function durations.moved(histogram, nodes)
  local slow = calls_of(histogram)
  for _, at in ipairs(slow) do
    unplaced(at)
    at.node = at.node > 0 and (nodes[at.node + 1] or 1) - 1 or 0
  end
  return packed(slow, { form:unpack(histogram, counts_at) })
end

---The histograms of functions by their titles, without those that have none.
---@param p cprof.Profile
---@return table<string, string>
function durations.by_title(p)
  local out = {}
  for _, f in ipairs(p.functions) do
    out[f.title] = durations.add(out[f.title], f.histogram)
  end
  return out
end

---Sets `durations` of the rows of functions that have a histogram.
---@param p cprof.Profile
---@param rows cprof.Row[]
---@param times? cprof.Row[]  the rows of times, if time is not the measure
function durations.rows(p, rows, times)
  local known, of = durations.by_title(p), {}
  for _, row in ipairs(times or {}) do of[row.title] = row.durations end
  for _, row in ipairs(rows) do
    local histogram = known[row.title]
    if times then row.durations = of[row.title]
    elseif histogram then
      row.durations = durations.of(histogram, p, row.total, row.total_raw)
    end
  end
end

---Sets the fields of functions that have a histogram.
---@param p cprof.Profile
---@param rows cprof.Row[]  of each function alone
function durations.attach(p, rows)
  for i, f in ipairs(p.functions) do
    if f.histogram then
      local d = durations.of(f.histogram, p, rows[i].total, rows[i].total_raw)
      f.timed_calls, f.max_ns, f.p50_ns, f.p90_ns, f.p99_ns = d.calls,
        d.max_ns, d.p50_ns, d.p90_ns, d.p99_ns
      f.durations, f.slowest = d.steps, d.slowest
    end
  end
end

return durations
