-- What a sample costs by the depth of the stack that it finds, of which only
-- the top changes.

local profiler = require "cprof"

local seconds <const> = tonumber(os.getenv "CPROF_SECONDS") or 2

local function leaf() return 1 end

local function work()
  local from, sum = os.clock(), 0
  repeat
    for _ = 1, 1000 do sum = sum + leaf() end
  until os.clock() - from > seconds / 4
  return sum
end

-- calls f below `depth` nested calls
local function under(depth, f)
  if depth == 0 then
    f()
  else
    under(depth - 1, f)
  end
  return depth
end

-- how many samples were taken so far, and their cost in ns
local function taken()
  local p = profiler.snapshot()
  return p.samples, p.meta.overhead_ns
end

local rows = {}
for _, depth in ipairs { 10, 1000, 100000 } do
  profiler.start { mode = "sample" }
  under(depth, function()
    work()  -- the first sample makes a call-tree node for each call
    local before, cost = taken()
    work()
    local after, cost_after = taken()
    rows[#rows + 1] = { depth = depth, samples = after - before,
      ns = (cost_after - cost) / math.max(1, after - before),
      rate = (after - before) / (seconds / 4) }
  end)
  profiler.stop()
end
return rows
