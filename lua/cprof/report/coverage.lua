-- The coverage of files as a table, and what is missing.

local format = require "cprof.text.format"
local header = require "cprof.report.header"
local nearest = require "cprof.text.nearest"
local order = require "cprof.text.order"
local page = require "cprof.report.page"
local totals = require "cprof.coverage.totals"

local listing = {}

local columns = {
  { title = "lines" }, { title = "%" },
  { title = "branches", rank = 1 }, { title = "%", rank = 1 },
  { title = "functions", rank = 2 }, { title = "%", rank = 2 },
  { title = "file", left = true, least = 24, cut = format.cutpath,
    code = true },
  { title = "missing lines", left = true, least = 12, cut = format.cutend,
    first_out = true },
}

-- the ranges of missing lines as text: "3-5, 9"
local function ranges(list)
  local out = {}
  for i, range in ipairs(list) do
    out[i] = range[1] == range[2] and tostring(range[1]) or
      ("%d-%d"):format(range[1], range[2])
  end
  return table.concat(out, ", ")
end

-- the percentage is rounded down: 100 means all
local function percent(total)
  if total.of == 0 then return "-" end
  return ("%.1f"):format(total.hit * 1000 // total.of / 10)
end

local function figures(total)
  if not total then return "-", "-" end
  return ("%s of %s"):format(format.count(total.hit), format.count(total.of)),
    percent(total)
end

local function row(of, file, missing)
  local cells = {}
  for _, what in ipairs { "lines", "branches", "functions" } do
    cells[#cells + 1], cells[#cells + 2] = figures(of[what])
  end
  cells[#cells + 1], cells[#cells + 2] = file, missing
  return cells
end

-- what did not run, line by line
local function details(on, file)
  local list = {}
  for _, f in ipairs(file.missing_functions) do
    list[#list + 1] = { line = f.line,
      text = ("function %s was never called"):format(
        format.plain(f.label:match "^(.*):%d+$" or f.label)) }
  end
  for _, b in ipairs(file.missing_branches) do
    list[#list + 1] = { line = b.line, text = b.kind == "comparison" and
      "the comparison " .. b.never or ("'%s' %s"):format(b.kind, b.never) }
  end
  table.sort(list, order("line", "text"))
  if #list == 0 and #file.missing_lines == 0 and not file.note then return end
  on:gap()
  on:title("", format.plain(file.place))
  if file.note then on:note(file.note) end
  local missing = file.missing_lines
  if #missing > 0 then
    local one = #missing == 1 and missing[1][1] == missing[1][2]
    on:line(("%s %s never ran"):format(one and "line" or "lines",
      ranges(missing)))
  end
  for _, entry in ipairs(list) do
    on:line(("line %d: %s"):format(entry.line, entry.text))
  end
end

---@class cprof.CoverageOptions
---@field missing? boolean     list what did not run, for each file
---@field source? string       only this file
---@field format? "text"|"markdown"
---@field width? integer
---@field color? "auto"|"always"|"never"

---The coverage of a profile of mode "count", as text, and the number of files;
---nil and why: there is none.
---@param p cprof.Profile
---@param o cprof.CoverageOptions
---@return string?, integer|string
function listing.make(p, o)
  local files, rows = totals.files(p), {}
  if o.source then
    local file, why = nearest.file(files, o.source)
    if not file then return nil, why end
    files = { file }
  end
  local on = page.new({ format = o.format, width = o.width,
                        color = o.color }, p)
  on:title("coverage: ", format.program(p.meta))
  header.notes(p, on)
  if #files == 0 then
    on:note "none of the selected sources ran"
    return on:text(), 0
  end
  for i, file in ipairs(files) do
    rows[i] = row(file, format.plain(file.place), ranges(file.missing_lines))
  end
  if #files ~= 1 then rows[#rows + 1] = row(totals.sum(files), "all", "") end
  on:gap()
  on:table(columns, rows)
  for _, file in ipairs(files) do
    if o.missing or o.source then details(on, file)
    elseif file.note then
      on:note("%s: %s", format.plain(file.place), file.note)
    end
  end
  return on:text(), #files
end

return listing
