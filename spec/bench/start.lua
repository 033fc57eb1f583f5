-- What the command adds to the interpreter, from start to end, for a
-- script that is empty.

local hooks = require "bench_hooks"

local path = os.tmpname()
local file = path .. ".cprof"

local ways = {
  { name = "lua5.4 empty.lua", command = "lua5.4 " },
  { name = "cprof run", command = "lua5.4 lua/cprof/bin/cprof run " },
  { name = "cprof run -o FILE",
    command = ("lua5.4 lua/cprof/bin/cprof run -o %s "):format(file) },
}

for _, way in ipairs(ways) do way.times = {} end
for round = 1, 21 do
  for _, way in ipairs(ways) do
    local before = hooks.now()
    assert(os.execute(way.command .. path .. " 2>/dev/null"))
    way.times[round] = hooks.now() - before
  end
end
for _, way in ipairs(ways) do
  table.sort(way.times)
  way.ns = way.times[11]
end
os.remove(path)
os.remove(file)

return ways
