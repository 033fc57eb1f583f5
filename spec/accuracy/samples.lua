-- I: mode "sample", by the wall clock, on programs of known make-up. The truth
-- is the processor time that each part takes in turns of the same program,
-- unprofiled: so a machine that does other things meanwhile adds to the error.

local profiler = require "cprof"
local sampled = require "cprof.count.sampled"

local rate <const> = 5000
local seconds <const> = 2
local rounds <const> = tonumber(os.getenv "CPROF_ROUNDS") or 12
local turn <const> = 400e-6
local clock <const> = os.clock

local rep = string.rep

local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function deep(n)
  if n == 0 then return 0 end
  return 1 + deep(n - 1)
end

-- each a part of a program, and what it is made of
local parts = {
  { name = "C", function(n) for _ = 1, n do rep("x", 3000) end end },
  { name = "arithmetic", function(n)
    local x = 1
    for i = 1, n do x = (x * 5 + i) % 65537 end
    return x
  end },
  { name = "tables", function(n)
    local list = {}
    for i = 1, n do list[i % 16 + 1] = { i, before = i } end
    return list
  end },
  { name = "strings", function(n)
    local text
    for i = 1, n do text = "line " .. i % 1000 .. ": " .. n end
    return text
  end },
  { name = "calls", function(n) for _ = 1, n do fib(5) end end },
  { name = "recursion", function(n) for _ = 1, n do deep(150) end end },
  { name = "coroutines", function(n)
    local co = coroutine.wrap(function()
      for i = 1, math.huge do coroutine.yield(i) end
    end)
    for _ = 1, n do co() end
  end },
}

-- the number of turns of a part that take about `aim` seconds
local function fit(part, aim)
  local n = 100
  part[1](n)
  while true do
    local before = clock()
    part[1](n)
    local took = clock() - before
    if took > 2e-3 then
      return math.max(1, math.floor(n * aim / took))
    end
    n = n * 2
  end
end

-- makes the program, which runs its parts in turn, each in a function
local function program(weights)
  local list = {}
  for i, part in ipairs(parts) do
    local n, f = fit(part, turn * weights[i]), part[1]
    list[i] = function() f(n) end
  end
  return list
end

local function run(list, turns)
  for _ = 1, turns do
    for i = 1, #list do list[i]() end
  end
end

-- what each part takes, in turn with the others, unrecorded: reading
-- the clock costs less than a thousandth of that
local function truth(list, turns)
  local took, whole = {}, 0
  for i = 1, #list do took[i] = 0 end
  for _ = 1, turns do
    for i = 1, #list do
      local before = clock()
      list[i]()
      took[i] = took[i] + clock() - before
    end
  end
  for i = 1, #list do whole = whole + took[i] end
  for i = 1, #list do took[i] = took[i] / whole end
  return took
end

local function shares(p, list)
  local out = {}
  for i = 1, #list do
    local line = debug.getinfo(parts[i][1], "S").linedefined
    for _, f in ipairs(p.functions) do
      if f.kind == "Lua" and f.line == line and
         f.source:find "samples%.lua$" then
        out[i] = f.total_ns / p.program_ns
      end
    end
    out[i] = out[i] or 0
  end
  return out
end

local function record(list, turns)
  profiler.start { mode = "sample", rate = rate }
  run(list, turns)
  profiler.stop()
  return profiler.snapshot()
end

local weights = { 3, 1, 1, 1, 1, 0.5, 0.5 }

-- What a server does: about a millisecond of work, and 20 of waiting in C.
-- The time that the work took: as sampled, and in truth.
local function short_work()
  local pipe <close> =
    assert(io.popen "while sleep 0.02 && echo 2>/dev/null; do :; done")
  local fib_of <const> = 23  -- about a millisecond
  local took = 0
  profiler.start { mode = "sample", rate = 1000 }
  for _ = 1, 40 * rounds do
    local before = clock()
    fib(fib_of)
    took = took + clock() - before
    pipe:read()
  end
  profiler.stop()
  local got = 0
  for _, f in ipairs(profiler.snapshot().functions) do
    if f.line == debug.getinfo(fib, "S").linedefined then got = f.total_ns end
  end
  return got, took * 1e9
end

---Of each part: its true share, the mean of what samples say, and the
---largest error of a run, in points; how many shares were within their
---interval, of how many; samples in a run; and of short work between waits,
---its time as sampled over the true one.
return function()
  local list = program(weights)
  local sum = 0
  for _, w in ipairs(weights) do sum = sum + w end
  local turns = math.ceil(seconds / (turn * sum))
  run(list, turns // 4)
  local rows, inside, of, samples = {}, 0, 0, 0
  for i, part in ipairs(parts) do
    rows[i] = { name = part.name, truth = 0, got = 0, worst = 0 }
  end
  for _ = 1, rounds do
    -- the truth of before and after, for the machine's speed drifts
    local before = truth(list, turns // 2)
    local p = record(list, turns)
    local after, got = truth(list, turns // 2), shares(p, list)
    samples = samples + p.samples / rounds
    for i, row in ipairs(rows) do
      local true_share = (before[i] + after[i]) / 2
      local off = math.abs(got[i] - true_share)
      row.truth = row.truth + true_share * 100 / rounds
      row.got = row.got + got[i] * 100 / rounds
      row.worst = math.max(row.worst, off * 100)
      of = of + 1
      if off <= sampled.interval(got[i], p.measure.samples) then
        inside = inside + 1
      end
    end
  end
  local got, took = short_work()
  return rows, inside, of, math.floor(samples), got / took
end
