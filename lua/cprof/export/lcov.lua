-- lcov tracefiles: which lines, branches and functions ran. Only sources from
-- files are written, not chunks that were loaded from strings. The name of a
-- function is name:line. Functions that never ran are found by compiling the
-- text that the profile keeps.

local coverage = require "cprof.coverage"
local defined = require "cprof.coverage.defined"
local encode = require "cprof.export.encode"
local escape = require "cprof.encoding.escape"
local name = require "cprof.source.name"
local text = require "cprof.source.text"
local totals = require "cprof.coverage.totals"

local lcov = {}

local function write_functions(list, out)
  for _, f in ipairs(list) do out(("FN:%d,%s\n"):format(f.line, f.label)) end
  for _, f in ipairs(list) do
    out(("FNDA:%d,%s\n"):format(f.calls, f.label))
  end
  local total = totals.functions(list)
  out(("FNF:%d\nFNH:%d\n"):format(total.of, total.hit))
end

-- Each branch has a block number of its own. "-" for the count of a way means
-- that the branch was not reached.
local function write_branches(list, out)
  for i, branch in ipairs(list) do
    for n, way in ipairs(branch.ways) do
      out(("BRDA:%d,%d,%d,%s\n"):format(branch.line, i - 1, n - 1,
        branch.reached and way.count or "-"))
    end
  end
  local total = totals.branches(list)
  out(("BRF:%d\nBRH:%d\n"):format(total.of, total.hit))
end

local function write_lines(lines, out)
  for n, line in ipairs(lines) do
    if line.active then out(("DA:%d,%d\n"):format(n, line.hits)) end
  end
  local total = totals.lines(lines)
  out(("LF:%d\nLH:%d\n"):format(total.of, total.hit))
end

---@param p cprof.Profile
---@param out fun(s: string)
function lcov.write(p, out)
  out "TN:\n"
  for _, key in ipairs(encode.files(p)) do
    local source = p.sources[key]
    local count = source.text and #text.split(source.text) or #p.lines[key]
    out(("SF:%s\n"):format(escape.line(name.straight(key:sub(2)))))
    write_functions(defined.functions(p, source), out)
    local of = coverage.of(p, key)
    if of and of.branches then write_branches(of.branches, out) end
    write_lines(table.move(p.lines[key], 1, count, 1, {}), out)
    out "end_of_record\n"
  end
end

return lcov
