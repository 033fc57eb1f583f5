-- The text of a program that spends most of its time in `leaf`, and ends when
-- its own recording says so: the machine may be busy meanwhile, and reports
-- leave out what has little time.
return [[
local long local function leaf() return #(long .. long) end
local profiler = require "cprof"
long = ("x"):rep(1000000)
local function share()
  local p = profiler.snapshot()
  for _, f in ipairs(p.functions) do
    if f.name == "leaf" then return f.total_ns / p.program_ns end
  end
  return 0
end
repeat
  for _ = 1, 10 do leaf() end
until share() > 0.8
]]
