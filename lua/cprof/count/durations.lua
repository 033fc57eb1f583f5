-- How long calls took: the histograms of functions, and percentiles of them.
--
-- A histogram is a string, as the core gives it: the longest call in ns, and a
-- number of calls for each step of durations. See src/count/durations.h.

local durations = {}

local octaves <const>, steps <const> = 44, 10
local count <const> = octaves * steps
local form <const> = "=I8" .. ("I4"):rep(count)
local full <const> = 0xffffffff

-- The least ns of a step, which are numbered from 0.
local function least(step)
  local octave = step // steps
  local base = 1 << octave
  return step == 0 and 0 or
    base + (step % steps * base + steps - 1) // steps
end

---@class cprof.Durations       the calls of a function, or of several
---@field calls integer          that have ended; of recursion, the outermost
---@field max_ns integer
---@field p50_ns integer         half of the calls took no longer; within 5 %
---@field p90_ns integer
---@field p99_ns integer
---@field steps { [1]: integer, [2]: integer, [3]: integer }[]  from so many
---    ns, up to less than so many ns: so many calls; without empty steps

-- The duration that so many calls in a hundred did not exceed: the middle of
-- its step.
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

---What a histogram says.
---@param histogram string
---@param p cprof.Profile
---@param total integer      ns of all calls, as the profile has them
---@param total_raw integer  the same with overhead
---@return cprof.Durations
function durations.of(histogram, p, total, total_raw)
  -- in mode "line", the recorder cannot know the overhead within a call
  local share = p.meta.mode == "line" and total / math.max(total_raw, 1) or 1
  local function scaled(ns) return math.floor(ns * share + 0.5) end
  local longest = scaled((("=I8"):unpack(histogram)))
  -- the total of a joined profile is from another run; where recursion is
  -- folded, a part of it may be the total of others
  if not p.meta.joined and not p.meta.folded then longest = math.min(longest, total) end
  local list, calls = {}, 0
  for step = 0, count - 1 do
    local n = ("=I4"):unpack(histogram, 9 + 4 * step)
    if n > 0 then
      list[#list + 1] = { scaled(least(step)), scaled(least(step + 1)), n }
      calls = calls + n
    end
  end
  local function of(percent)
    return percentile(list, calls, longest, percent)
  end
  return { calls = calls, max_ns = longest, p50_ns = of(50), p90_ns = of(90),
    p99_ns = of(99), steps = list }
end

local function combined(a, b, longest, of)
  local x, y = { form:unpack(a) }, { form:unpack(b) }
  x[count + 2], x[1] = nil, longest(x[1], y[1])
  for i = 2, count + 1 do x[i] = of(x[i], y[i]) end
  return form:pack(table.unpack(x, 1, count + 1))
end

---Adds up histograms, either of which may be nil.
---@param a string?
---@param b string?
---@return string?
function durations.add(a, b)
  if not a or not b then return a or b end
  return combined(a, b, math.max, function(n, m)
    return math.min(n + m, full)
  end)
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
---@param p cprof.Profile  with time as its measure
---@param rows cprof.Row[]
function durations.rows(p, rows)
  local known = p.meta.distribution and durations.by_title(p) or {}
  for _, row in ipairs(rows) do
    local histogram = known[row.title]
    row.durations = histogram and
      durations.of(histogram, p, row.total, row.total_raw) or nil
  end
end

---Sets the fields of functions that have a histogram.
---@param p cprof.Profile
---@param rows cprof.Row[]  of each function alone
function durations.attach(p, rows)
  for i, f in ipairs(p.functions) do
    if f.histogram then
      local d = durations.of(f.histogram, p, rows[i].total, rows[i].total_raw)
      f.timed_calls, f.max_ns, f.p50_ns, f.p90_ns, f.p99_ns, f.durations =
        d.calls, d.max_ns, d.p50_ns, d.p90_ns, d.p99_ns, d.steps
    end
  end
end

return durations
