-- How much of each file ran, and what never did, for the page.

local escape = require "cprof.encoding.escape"
local totals = require "cprof.coverage.totals"

local covered = {}

local utf = escape.utf8

local function pair(total) return total and { total.hit, total.of } end

---The coverage of files; nil: it was not recorded.
---@param p cprof.Profile
---@param number table<string, integer>  of sources, in the page
---@return table[]?
function covered.of(p, number)
  if p.meta.mode ~= "count" then return nil end
  local out = {}
  for i, file in ipairs(totals.files(p)) do
    local functions, ways = {}, {}
    for k, f in ipairs(file.missing_functions) do
      functions[k] = { f.line, utf(f.label:match "^(.*):%d+$" or f.label) }
    end
    for k, b in ipairs(file.missing_branches) do
      ways[k] = { b.line, b.kind, b.never }
    end
    out[i] = { place = utf(file.place), source = number[file.source] or -1,
      lines = pair(file.lines), branches = pair(file.branches),
      functions = pair(file.functions), note = file.note and utf(file.note),
      never = { lines = file.missing_lines, functions = functions,
        branches = ways } }
  end
  return out
end

return covered
