-- How long calls took: the histograms of functions, and percentiles of them.
--
-- A histogram is a string, as the core gives it: the slowest calls, and a
-- number of calls for each step of durations. See src/count/durations.h.

local order = require "cprof.text.order"

local durations = {}

local octaves <const>, steps <const> = 44, 10
local count <const> = octaves * steps
local slowest <const> = 8
local call <const>, call_size <const> = "=I8I8I4I4", 24
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
---@field ended_ns? integer    since the start, with pauses; nil: not known
---@field node? integer        its call path: index of a call-tree node
---@field coroutine? integer   1: the main thread

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

-- The slowest calls of a histogram: { took, ended, node, coroutine }.
local function calls_of(histogram)
  local out = {}
  for i = 1, slowest do
    local at = { call:unpack(histogram, (i - 1) * call_size + 1) }
    if at[1] > 0 or i == 1 then out[#out + 1] = { table.unpack(at, 1, 4) } end
  end
  return out
end

-- The slowest calls with the names of their fields. In sums of profiles, and
-- joined ones, node 0 stands for a path that is not known.
local function named(list, scaled, most)
  local out = {}
  for i, at in ipairs(list) do
    local known = at[3] > 0
    out[i] = { took_ns = math.min(scaled(at[1]), most),
      ended_ns = known and at[2] > 0 and at[2] or nil,
      node = known and at[3] + 1 or nil,
      coroutine = known and at[4] > 0 and at[4] or nil }
  end
  return out
end

---What a histogram says, if only a share of its times counts.
---@param histogram string
---@param share number
---@param total? integer  ns of all calls
---@param most? integer   no call took longer
---@return cprof.Durations
function durations.scaled(histogram, share, total, most)
  local function scaled(ns) return math.floor(ns * share + 0.5) end
  most = most or math.maxinteger
  local slow = named(calls_of(histogram), scaled, most)
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

---What a histogram says.
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
  return durations.scaled(histogram, share, total, most)
end

-- The string of these slow calls and counts.
local function packed(slow, counts)
  local out = {}
  for i = 1, slowest do
    out[i] = call:pack(table.unpack(slow[i] or { 0, 0, 0, 0 }))
  end
  return table.concat(out) .. form:pack(table.unpack(counts, 1, count))
end

local longest_first <const> = order(function(at) return -at[1] end,
  function(at) return at[2] end, function(at) return at[3] end)

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

---A histogram for another call tree: where its slow calls were is not known.
---@param histogram string?
---@return string?
function durations.detached(histogram)
  if not histogram then return nil end
  local slow = calls_of(histogram)
  for _, at in ipairs(slow) do at[2], at[3], at[4] = 0, 0, 0 end
  return packed(slow, { form:unpack(histogram, counts_at) })
end

---A histogram for a call tree in which other nodes stand for those of its slow
---calls, of a sum of profiles: it is not known when they were made.
---@param histogram string
---@param nodes table<integer, integer>
---@return string
function durations.moved(histogram, nodes)
  local slow = calls_of(histogram)
  for _, at in ipairs(slow) do
    at[2], at[4] = 0, 0
    at[3] = at[3] > 0 and (nodes[at[3] + 1] or 1) - 1 or 0
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
---@param times? cprof.Row[]  where time is not the measure: rows of times
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
