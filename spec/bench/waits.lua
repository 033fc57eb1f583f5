-- How many system calls of the program end early because of samples, by what
-- triggers the samples, and how many signals the program gets.

local hooks = require "bench_hooks"
local profiler = require "cprof"
local socket = require "socket"
local waits = require "bench_waits"

local count <const>, ms <const> = 300, 3

-- LuaSocket resumes a wait after a signal, so only a wait that is too short is
-- seen
function waits.LuaSocket(n)
  local before = hooks.now()
  socket.sleep(n / 1000)
  return hooks.now() - before < n * 1e6
end

local function work()
  local sum = 0
  for i = 1, 2000 do sum = sum + i % 50 end
  return sum
end

local function ended(wait)
  local n = 0
  for _ = 1, count do
    if wait(ms) then n = n + 1 end
    work()
  end
  return n
end

local timers = {
  wall = { mode = "sample", timer = "wall" },
  cpu = { mode = "sample", clock = "cpu" },
  thread = { mode = "sample", timer = "thread" },
  auto = { mode = "sample", timer = "auto" },
}

local rows = {}
local names = {}
for name in pairs(waits) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local row = { name = name, count = count, ms = ms }
  for timer, options in pairs(timers) do
    profiler.start(options)
    local n = ended(waits[name])
    profiler.stop()
    row[timer] = { ended = n,
      signals = profiler.snapshot().meta.signals }
  end
  rows[#rows + 1] = row
end
return rows
