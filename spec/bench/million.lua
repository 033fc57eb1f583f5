-- A profile of a million stack states: memory, and the time that looking
-- at it takes.

local profiler = require "cprof"
local host = require "spec_host"

local code = [[
  local profiler = require "cprof"
  local function walk(depth)
    if depth == 0 then return end
    for i = 1, 10 do fs[i](depth - 1) end
  end
  fs = {}
  for i = 1, 10 do
    fs[i] = load("local walk = ... return function(d) walk(d) end")(walk)
  end
  for i = 1, 10 do
    fs[i] = load("local walk = ... return function(d) " ..
      (";"):rep(i) .. " return (walk(d)) end", "=f" .. i)(walk)
  end
  profiler.start { max_nodes = 1100000, c_functions = false,
    recursion = "full" }
  walk(6)
  profiler.stop()
  local bytes = used()
  local before = os.clock()
  local p = profiler.snapshot()
  local snapshot = os.clock() - before
  before = os.clock()
  p:report()
  local report = os.clock() - before
  local path = os.tmpname()
  assert(p:save(path))
  before = os.clock()
  p = assert(profiler.load(path))
  local load = os.clock() - before
  before = os.clock()
  p:report()
  local load_report = os.clock() - before
  local file = io.open(path)
  local size = file:seek "end"
  file:close()
  os.remove(path)
  return table.concat({ #p.nodes, bytes, snapshot, report, size, load,
    load_report }, " ")
]]

local result = host.memory(code, "cprof", -1)
local nodes, bytes, snapshot, report, file_bytes, load_, load_report =
  result:match "^(%d+) (%d+) (%S+) (%S+) (%d+) (%S+) (%S+)$"
assert(nodes, result)
assert(tonumber(nodes) >= 1000000, nodes)
assert(profiler)
return { bytes = tonumber(bytes) * 1000000 // tonumber(nodes),
  snapshot = tonumber(snapshot), report = tonumber(report),
  file_bytes = tonumber(file_bytes) * 1000000 // tonumber(nodes),
  load = tonumber(load_), load_report = tonumber(load_report) }
