-- Reads what was exported, and adds it up.

local export = require "cprof.export"
local helper = require "helper"
local json = require "dkjson"
local page = require "page"
local perfetto = require "perfetto"
local pprof = require "pprof"

local exports = {}

exports.text = helper.exported

---The uncompressed bytes of a pprof file.
function exports.plain(s)
  if s:sub(1, 2) ~= "\x1f\x8b" then return s end
  return (require "zlib".inflate()(s))
end

-- The sums of self times and of calls in an export; no calls where the format
-- has none.
local sums = {}
exports.sums = sums

function sums.folded(s)
  local ns = 0
  for n in s:gmatch " (%d+)\n" do ns = ns + math.tointeger(n) end
  return ns
end

function sums.speedscope(s)
  local p = json.decode(s).profiles[1]
  local open, at, ns = 0, 0, 0
  for _, e in ipairs(p.events) do
    if open > 0 then ns = ns + e.at - at end
    open, at = open + (e.type == "O" and 1 or -1), e.at
  end
  assert(open == 0)
  assert(p.endValue == ns)
  return ns
end

-- The weights are as exact as those of a double in ms.
function sums.firefox(s)
  local p, ns = json.decode(s), 0
  for _, weight in ipairs(p.threads[1].samples.weight) do
    ns = ns + math.floor(weight * 1000000 + 0.5)
  end
  assert(p.threads[1].samples.length == #p.threads[1].samples.weight)
  return ns
end

function sums.chrome(s)
  local ns = 0
  for _, e in ipairs(json.decode(s).traceEvents) do
    if e.ph == "X" then ns = ns + e.args.self_ns end
  end
  return ns
end

function sums.perfetto(s)
  local ns = 0
  for _, slice in ipairs(perfetto(s).slices) do ns = ns + slice.args.self_ns end
  return ns
end

function sums.cpuprofile(s)
  local p = json.decode(s)
  local ns, us = 0, 0.0
  for _, node in ipairs(p.nodes) do ns = ns + node.hitCount end
  for _, delta in ipairs(p.timeDeltas) do us = us + delta end
  assert(math.abs(us * 1000 - ns) < 0.5)
  assert(math.abs(p.endTime * 1000 - ns) < 0.5)
  return ns
end

function sums.pprof(s)
  local ns, calls = 0, 0
  for _, sample in ipairs(pprof(exports.plain(s)).samples) do
    ns, calls = ns + sample.ns, calls + sample.calls
  end
  return ns, calls
end

function sums.callgrind(s)
  local ns, calls = s:match "\nsummary: (%d+) (%d+)\n"
  return math.tointeger(ns), math.tointeger(calls)
end

function sums.json(s)
  local ns, calls, p = 0, 0, json.decode(s)
  for _, node in ipairs(p.nodes) do
    calls, ns = calls + node[4], ns + node[5]
  end
  for _, f in ipairs(p.functions) do
    ns, calls = ns + f.self_ns, calls + f.calls
  end
  assert(ns == p.program_ns * 2)
  return ns // 2, calls // 2
end

function sums.csv(s)
  local ns, calls = 0, 0
  for c, n in s:gmatch ",(%d+),(%d+),%d+,%d+,%d+,%d+,%d+,%d+,%d+\r\n" do
    ns, calls = ns + math.tointeger(n), calls + math.tointeger(c)
  end
  return ns, calls
end

function sums.html(s)
  local _, trees = page.data(s)
  local ns, calls = 0, 0
  for i = 1, trees[1].n do
    ns, calls = ns + trees[1].self[i], calls + trees[1].calls[i]
  end
  return ns, calls
end

---Do all formats have these sums?
function exports.check(p, options, ns, calls)
  for _, row in ipairs(export.formats) do
    if row.tree then
      local got, n = sums[row.name](exports.text(p, row.name, options))
      assert(got == ns, row.name)
      assert(not n or n == calls, row.name)
    end
  end
end

return exports
