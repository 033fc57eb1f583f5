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

local lcov = {}

local function write_functions(list, out)
  local hit = 0
  for _, f in ipairs(list) do out(("FN:%d,%s\n"):format(f.line, f.label)) end
  for _, f in ipairs(list) do
    out(("FNDA:%d,%s\n"):format(f.calls, f.label))
    if f.calls > 0 then hit = hit + 1 end
  end
  out(("FNF:%d\nFNH:%d\n"):format(#list, hit))
end

-- Each branch has a block number of its own. "-" for the count of a way means
-- that the branch was not reached.
local function write_branches(list, out)
  local found, hit = 0, 0
  for i, branch in ipairs(list) do
    for n, way in ipairs(branch.ways) do
      out(("BRDA:%d,%d,%d,%s\n"):format(branch.line, i - 1, n - 1,
        branch.reached and way.count or "-"))
      found = found + 1
      if way.count > 0 then hit = hit + 1 end
    end
  end
  out(("BRF:%d\nBRH:%d\n"):format(found, hit))
end

local function write_lines(lines, count, out)
  local found, hit = 0, 0
  for n = 1, math.min(#lines, count) do
    local line = lines[n]
    if line.active then
      out(("DA:%d,%d\n"):format(n, line.hits))
      found = found + 1
      if line.hits > 0 then hit = hit + 1 end
    end
  end
  out(("LF:%d\nLH:%d\n"):format(found, hit))
end

---@param p cprof.Profile
---@param out fun(s: string)
function lcov.write(p, out)
  out "TN:\n"
  for _, key in ipairs(encode.files(p)) do
    local source = p.sources[key]
    local count = source.text and #text.split(source.text) or math.huge
    out(("SF:%s\n"):format(escape.line(name.straight(key:sub(2)))))
    write_functions(defined.functions(p, source), out)
    local of = coverage.of(p, key)
    if of and of.branches then write_branches(of.branches, out) end
    write_lines(p.lines[key], count, out)
    out "end_of_record\n"
  end
end

return lcov
