-- The limits of durations in a budget: ratios to the durations in another run
-- on the same machine.

local budget = require "cprof.command.budget"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local lists = require "cprof.text.lists"

local slower = {}

local words <const> = { p50 = "the median call took",
  p90 = "p90 is", p99 = "p99 is", max = "the longest call took" }

---Does a budget limit durations?
---@param functions table<string, table>  of the budget
---@return boolean
function slower.limited(functions)
  for _, entry in pairs(functions) do
    if #budget.ratios(entry) > 0 then return true end
  end
  return false
end

-- By title, the durations of these functions.
local function durations_of(profile, indices)
  local wanted, out = {}, {}
  for _, i in ipairs(indices or {}) do
    wanted[profile.functions[i].title] = true
  end
  for _, row in ipairs((graph.functions(profile))) do
    if wanted[row.title] then out[#out + 1] = row end
  end
  return out
end

-- The other run's row for the function of `row`; nil: it has none.
local function before(row, rows)
  for _, other in ipairs(rows) do
    if #rows == 1 or other.title == row.title then return other end
  end
end

---@class cprof.Slower
---@field out string[]      lines
---@field checked integer
---@field over integer
---@field missing integer

local function hold_row(report, row, was, entry)
  local title = format.plain(row.title)
  if not (was and was.durations and row.durations) then
    report.missing = report.missing + 1
    report.out[#report.out + 1] = ("not found: %s: its durations are " ..
      "missing from one of the runs, or both"):format(title)
    return
  end
  for _, key in ipairs(budget.ratios(entry)) do
    local field = key .. "_ns"
    local now_ns, old_ns = row.durations[field], was.durations[field]
    report.checked = report.checked + 1
    if now_ns > entry[key] * old_ns then
      report.over = report.over + 1
      report.out[#report.out + 1] = ("over budget: %s: " .. words[key] ..
        " %s, at most %g times %s"):format(title, format.time(now_ns),
        entry[key], format.time(old_ns))
    end
  end
end

---Checks the durations of calls against those of another run.
---@param profile cprof.Profile
---@param baseline cprof.Profile
---@param functions table<string, table>  of the budget
---@param find fun(p: cprof.Profile, entries: table): table<string, integer[]>
---@return cprof.Slower
function slower.hold(profile, baseline, functions, find)
  local report = { out = {}, checked = 0, over = 0, missing = 0 }
  local now, was = find(profile, functions), find(baseline, functions)
  for _, key in ipairs(lists.keys(functions)) do
    local entry = functions[key]
    local rows, old = durations_of(profile, now[key]),
      durations_of(baseline, was[key])
    for _, row in ipairs(#budget.ratios(entry) > 0 and rows or {}) do
      hold_row(report, row, before(row, old), entry)
    end
  end
  return report
end

return slower
