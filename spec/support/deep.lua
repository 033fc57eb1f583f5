-- A profile of recursion that is n calls deep, with other calls at the
-- bottom of it.

local profiler = require "cprof"

local function leaf() return 1 end

local function down(n)
  if n == 0 then return leaf() end
  return 1 + down(n - 1)
end

return function(n)
  profiler.start()
  down(n)
  profiler.stop()
  return profiler.snapshot(), down, leaf
end
