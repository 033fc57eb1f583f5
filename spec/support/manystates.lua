-- A profile of n stack states of ten functions, with lines or without, for
-- specs of exports. `last` is called at the end.

local profiler = require "cprof"

return function(n, options, last)
  options = options or {}
  options.max_nodes, options.c_functions = n, false
  options.recursion = "full"
  local fs = {}
  local function walk(depth)
    if depth == 0 then return end
    for i = 1, #fs do fs[i](depth - 1) end
  end
  for i = 1, 10 do
    fs[i] = load("local walk = ... return function(d)" .. (";"):rep(i) ..
      " walk(d) end", ("=f%d"):format(i))(walk)
  end
  -- two states for each of the ten at each level
  local depth, states = 0, 0
  while states < n do
    depth = depth + 1
    states = states + 2 * 10 ^ depth
  end
  profiler.start(options)
  walk(depth)
  if last then last() end
  profiler.stop()
  return profiler.snapshot()
end
