-- How much of each file ran: lines, branches, functions.

local coverage = require "cprof.coverage"
local name = require "cprof.source.name"
local order = require "cprof.text.order"

local totals = {}

---@class cprof.Total
---@field hit integer
---@field of integer

---@class cprof.FileCoverage
---@field source string
---@field place string
---@field lines cprof.Total
---@field branches? cprof.Total      nil: not known, see `note`
---@field functions cprof.Total
---@field missing_lines integer[][]  { first, last } of each range
---@field missing_branches { line: integer, kind: string, never: string }[]
---@field missing_functions { line: integer, label: string }[]
---@field note? string               why branches are not known

---How many lines ran, and ranges of missing ones; lines without code do not end
---a range.
---@param list cprof.Line[]
---@return cprof.Total
---@return integer[][]
function totals.lines(list)
  local total, missing, last = { hit = 0, of = 0 }, {}, nil
  for n, line in ipairs(list) do
    if line.active then
      total.of = total.of + 1
      if line.hits > 0 then
        total.hit, last = total.hit + 1, nil
      elseif last then last[2] = n
      else
        last = { n, n }
        missing[#missing + 1] = last
      end
    end
  end
  return total, missing
end

---How many branches ran, and missing ones; nil: branches are not known.
---@param list cprof.Branch[]?
---@return cprof.Total?
---@return { line: integer, kind: string, never: string }[]
function totals.branches(list)
  if not list then return nil, {} end
  local total, missing = { hit = 0, of = 0 }, {}
  for _, branch in ipairs(list) do
    for _, way in ipairs(branch.ways) do
      total.of = total.of + 1
      if way.count > 0 then total.hit = total.hit + 1
      elseif branch.reached then  -- otherwise, the line is missing already
        missing[#missing + 1] = { line = branch.line, kind = branch.kind,
                                  never = way.never }
      end
    end
  end
  return total, missing
end

---How many functions ran, and missing ones.
---@param list { line: integer, label: string, calls: integer }[]
---@return cprof.Total
---@return { line: integer, label: string }[]
function totals.functions(list)
  local total, missing = { hit = 0, of = #list }, {}
  for _, f in ipairs(list) do
    if f.calls > 0 then total.hit = total.hit + 1
    else missing[#missing + 1] = { line = f.line, label = f.label } end
  end
  return total, missing
end

---The coverage of each file, by its place.
---@param p cprof.Profile  of mode "count"
---@return cprof.FileCoverage[]
function totals.files(p)
  local out, has = {}, {}
  for _, f in ipairs(p.functions) do has[f.source] = true end
  for source in pairs(p.sources) do
    -- a source whose functions were all excluded has no counts
    if has[source] and source:sub(1, 1) == "@" then
      local of = coverage.of(p, source)
      local file = { source = source,
                     place = name.place(source, p.meta.folder),
                     note = of.note }
      file.lines, file.missing_lines = totals.lines(p.lines[source])
      file.branches, file.missing_branches = totals.branches(of.branches)
      file.functions, file.missing_functions = totals.functions(of.functions)
      out[#out + 1] = file
    end
  end
  table.sort(out, order "source")
  return out
end

---The sum over files.
---@param files cprof.FileCoverage[]
---@return { lines: cprof.Total, branches: cprof.Total,
---  functions: cprof.Total }
function totals.sum(files)
  local out = {}
  for _, what in ipairs { "lines", "branches", "functions" } do
    out[what] = { hit = 0, of = 0 }
    for _, file in ipairs(files) do
      local total = file[what]
      if total then
        out[what].hit = out[what].hit + total.hit
        out[what].of = out[what].of + total.of
      end
    end
  end
  return out
end

return totals
