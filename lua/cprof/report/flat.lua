-- Modes "total" and "self": one line for each function.

local columns = require "cprof.report.columns"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local select = require "cprof.report.select"
local within = require "cprof.count.within"

local flat = {}

-- the figure that rows are sorted by comes first, then the other
local others = { self = "total", total = "self" }

-- By title, what functions have allocated themselves; {} if that is not known.
local function allocated_by(profile)
  local sums = {}
  for _, f in ipairs(profile.meta.memory and profile.functions or {}) do
    local sum = sums[f.title] or { bytes = 0, allocs = 0 }
    sum.bytes, sum.allocs = sum.bytes + f.self_bytes,
      sum.allocs + f.self_allocs
    sums[f.title] = sum
  end
  return sums
end

-- a column of what rows have allocated themselves, unless that is the measure
local function allocated(view, sums, what, title, rank)
  return { title = title, optional = true, rank = rank, cell = function(_, row)
    local n = what ~= view.page.measure.name and sums[row.title] and
      sums[row.title][what]
    if not n then return "" elseif n == 0 then return "-" end
    return what == "bytes" and format.bytes(n) or format.count(n)
  end }
end

-- the longest call, where it took more than twice as long as the mean, or rows
-- are sorted by it
local function longest(view)
  local sorted = view.options.sort == "max"
  return { title = "max", optional = true, rank = not sorted and 3 or nil,
    cell = function(_, row)
      local d = row.durations
      local says = d and d.calls > 1 and d.max_ns * d.calls > 2 * d.total_ns
      return d and (sorted or says) and format.time(d.max_ns) or ""
    end }
end

local function columns_of(view, by)
  local other, sums = others[by], allocated_by(view.profile)
  return {
    columns.of { by, rank = 2 }, columns.of { by .. " %", heat = true },
    columns.of { other, rank = 7 }, columns.of { other .. " %", rank = 5 },
    { title = "waiting", optional = true, rank = 6, cell = function(_, row)
      -- the part of the first column that was waiting; not shown if it is small
      local n = view.page.measure.name == "time" and row[by .. "_wait"] or 0
      return n * 100 > view.whole and format.time(n) or ""
    end },
    allocated(view, sums, "bytes", "alloc", 3),
    allocated(view, sums, "allocs", "allocs", 6),
    columns.of { "calls", rank = view.options.sort ~= "calls" and 4 or nil },
    longest(view),
    columns.of { "function" }, columns.of { "defined", rank = 1 },
  }
end

-- How many functions get a line about what their time is made of; the least
-- share of all time, in percent, that they need without waiting; the least
-- share of a function's own time, in percent, that a part needs to be named;
-- and how many parts are.
local functions_shown <const>, share_shown <const> = 5, 3
local part_shown <const>, parts_shown <const> = 10, 3

-- the time that a row's function was at work itself
local function at_work(row) return row.self - (row.self_wait or 0) end

-- What stands out in a function's own time, besides the instructions of Lua
-- code, and what is not known; nil: nothing.
local function made_of(p, row)
  local parts, sum, out = within.itself(p, row.title), 0, {}
  for _, part in ipairs(parts) do sum = sum + part.ns end
  for _, part in ipairs(parts) do
    if #out < parts_shown and part.ns * 100 >= sum * part_shown and
       not part.unknown and part.what ~= "interpreting" then
      out[#out + 1] = ("%s %s %%"):format(format.plain(part.what),
        format.percent(part.ns, sum))
    end
  end
  if not out[1] then return nil end
  local works = at_work(row)
  return ((row.self - works) * 100 > row.self and
    ("of the %s without waiting: "):format(format.time(works)) or
    "of its self time: ") .. table.concat(out, ", ")
end

-- The rows; those with the most time have a line below them about what that is
-- made of, at most `most` of them. Also returns the number of these lines.
local function with_parts(view, rows, most)
  if view.page.measure.name ~= "time" then return rows, 0 end
  local sorted, below, out, count = table.move(rows, 1, #rows, 1, {}), {}, {}, 0
  select.sort(sorted, "self")
  for i = 1, math.min(#sorted, functions_shown) do
    local row = sorted[i]
    if count < most and at_work(row) * 100 >= view.whole * share_shown then
      below[row] = made_of(view.profile, row)
      count = count + (below[row] and 1 or 0)
    end
  end
  for i, row in ipairs(rows) do
    out[i] = columns.entry(row, { below = below[row] })
  end
  return out, count
end

---@param view cprof.ReportView
---@param by "self"|"total"  the figure for min_percent, and the default order
---@param limit? integer
---@param lines? integer  the most lines of the table
function flat.show(view, by, limit, lines)
  local rows = graph.functions(view.profile)
  select.sort(rows, view.options.sort or by)
  local shown, rest = select.rows(view, rows, by, limit or lines)
  local entries, below = with_parts(view, shown, functions_shown)
  if lines and not limit and #shown + below > lines then
    -- less than half of the lines are about parts
    below = math.min(below, math.max(lines - 1, 0) // 2)
    shown, rest = select.rows(view, rows, by, lines - below)
    entries = with_parts(view, shown, below)
  end
  shown = entries
  columns.heat(shown, by)
  local list = columns_of(view, by)
  view.page:table(list, columns.rows(view.page, list, shown))
  view.page:rest(rest)
end

---@param view cprof.ReportView
function flat.mode(view)
  flat.show(view, view.options.mode)
  view.page:explain()
end

return flat
