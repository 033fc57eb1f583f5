-- How long the calls of a function took: percentiles, and a histogram.

local format = require "cprof.text.format"

local durations = {}

local most_rows <const>, bar_width <const> = 10, 40

-- The rows of the histogram, { from, to, calls }: each is `factor` times as
-- long as the one before.
local function grouped(steps, factor)
  local out = {}
  local function row_of(ns)
    return math.floor(math.log(math.max(ns, 1), factor) + 1e-9)
  end
  local first = row_of(steps[1][1])
  for _, step in ipairs(steps) do
    local i = row_of(step[1]) - first + 1
    for k = #out + 1, i do out[k] = { 0, 0, 0 } end
    local row = out[i]
    if row[3] == 0 then row[1] = step[1] end
    row[2], row[3] = step[2], row[3] + step[3]
  end
  return out
end

---The steps of a histogram, taken together to at most ten rows.
---@param steps { [1]: integer, [2]: integer, [3]: integer }[]
---@return { [1]: integer, [2]: integer, [3]: integer }[]  from, to, calls
function durations.rows(steps)
  local factor = 2 ^ 0.25
  local rows = grouped(steps, factor)
  while #rows > most_rows do
    factor = factor * factor
    rows = grouped(steps, factor)
  end
  return rows
end

local list <const> = { { title = "from" }, { title = "to" },
  { title = "calls" }, { title = "", left = true } }

---Prints percentiles and a histogram.
---@param page cprof.Page
---@param d cprof.Durations
function durations.show(page, d)
  if d.calls == 1 then return end
  page:line(("%s: median %s, p90 %s, p99 %s, max %s")
    :format(format.plural(d.calls, "complete call"), format.time(d.p50_ns),
    format.time(d.p90_ns), format.time(d.p99_ns), format.time(d.max_ns)))
  local rows, most, out = durations.rows(d.steps), 0, {}
  for _, row in ipairs(rows) do most = math.max(most, row[3]) end
  for _, row in ipairs(rows) do
    if row[3] > 0 then
      out[#out + 1] = { { format.time(row[1]) }, { format.time(row[2]) },
        { format.count(row[3]) },
        { ("#"):rep(math.max(row[3] * bar_width // most, 1)) } }
    end
  end
  if #out == 1 then return end
  page:gap()
  page:subtitle "durations of calls"
  page:table(list, out)
end

return durations
