-- What was recorded under each value of the labels.

local columns = require "cprof.report.columns"
local counted = require "cprof.count.labels"
local format = require "cprof.text.format"
local lists = require "cprof.text.lists"

local labels = {}

-- most keys, and values of each, in a summary
local few_keys <const>, few <const> = 3, 4

local function name(row)
  return row.value == "" and '""' or
    row.value and format.plain(row.value) or "(no label)"
end

local function columns_of(key, samples)
  return {
    columns.of { "total" }, columns.of { "total %", heat = true },
    { title = "waiting", optional = true, rank = 1, cell = function(on, e)
      return e.total_wait > 0 and on:time(e.total_wait) or ""
    end },
    { title = samples and "samples" or "times", rank = 2,
      cell = function(_, e)
        return (e.value or samples) and format.calls(e.count) or ""
      end },
    { title = "mean", optional = true, rank = 3, cell = function(on, e)
      return not samples and e.value and e.count > 0 and
        on:time(e.total // e.count) or ""
    end },
    { title = format.plain(key), left = true, least = 20, cut = format.cutname,
      code = true, names = true, cell = function(_, e) return name(e) end },
  }
end

---Prints the table of a key.
---@param on cprof.Page
---@param profile cprof.Profile
---@param key string
---@param rows cprof.LabelRow[]
---@param limit integer  values that are shown at most
function labels.table(on, profile, key, rows, limit)
  local shown, left, hidden = {}, 0, 0
  for _, row in ipairs(rows) do
    if not row.value then
      if row.total > 0 then shown[#shown + 1] = row end
    elseif #shown < limit then shown[#shown + 1] = row
    else hidden, left = hidden + 1, left + row.total end
  end
  local list = columns_of(key, profile.samples ~= nil)
  columns.heat(shown, "total")
  on:gap()
  on:table(list, columns.rows(on, list, shown))
  if hidden > 0 then
    on:rest(("… %s, %s %%"):format(format.plural(hidden, "more value"),
      format.percent(left, profile.measure.whole)))
  end
end

-- the values with the largest shares of a key, and the share without a value
local function shares(on, rows)
  local out, values = {}, #rows - (rows[#rows].value and 0 or 1)
  local shown = values > few + 1 and few or values
  for i, row in ipairs(rows) do
    if (i <= shown or not row.value) and row.total > 0 then
      out[#out + 1] = ("%s %s %%"):format(name(row), on:share(row.total))
    end
    if i == shown and values > shown then
      out[#out + 1] = ("%d more"):format(values - shown)
    end
  end
  return out
end

---Prints a line for each key whose values divide the profile.
---@param on cprof.Page
---@param profile cprof.Profile
function labels.lines(on, profile)
  local split, n = counted.split(profile), 0
  for _, key in ipairs(lists.keys(split)) do
    local parts = shares(on, split[key])
    if #parts > 1 and n < few_keys then
      n = n + 1
      if n == 1 then on:gap() end
      on:line(("%s: %s"):format(format.plain(key), table.concat(parts, ", ")))
    end
  end
end

return labels
