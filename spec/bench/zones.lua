-- What a zone in C costs, beside an empty loop and one that reads the
-- clock twice, as a zone must. In a state of its own, as a host has it.

local host = require "spec_host"

local code = [[
  local hooks = require "bench_hooks"
  local profiler = require "cprof"
  local zones = require "spec_zones"
  local n = 1000000

  local function per_turn(f)
    local before = hooks.now()
    f(n)
    return (hooks.now() - before) / n
  end

  local function recorded(f, options)
    profiler.start(options)
    local ns = per_turn(f)
    profiler.stop()
    return ns
  end

  local ways = {
    function() return per_turn(zones.empty) end,
    function() return per_turn(zones.clocks) end,
    function() return per_turn(zones.many) end,
    function() return recorded(zones.many) end,
    function() return recorded(zones.changing) end,
    function() return recorded(zones.many, { mode = "line" }) end,
  }
  local times = {}
  for i in ipairs(ways) do times[i] = {} end
  for round = 1, 21 do
    for i, way in ipairs(ways) do times[i][round] = way() end
  end
  for i, list in ipairs(times) do
    table.sort(list)
    times[i] = ("%.2f"):format(list[11])
  end
  return table.concat(times, " ")]]

local names = { "empty loop", "clock, twice", "zone, nothing recorded",
  "zone", "two zones by turns", "zone, mode line" }

local S = host.state()
local rows = {}
for ns in S:run(code):gmatch "%S+" do
  rows[#rows + 1] = { name = names[#rows + 1], ns = assert(tonumber(ns)) }
end
S:close()

return rows
