-- J: the garbage collector's share with gc = true. The truth is its share in an
-- unprofiled run of the program, which stops the collector, and runs and times
-- it itself whenever the heap has grown as far as the collector would let it.
-- All times are processor time, which other programs do not disturb.

local profiler = require "cprof"
local trial = require "trial"

local rounds <const> = tonumber(os.getenv "CPROF_ROUNDS") or 12
local tables <const> = 400000
local clock <const> = os.clock

-- by kind: how far the heap grows before a collection, and what runs one
local kinds <const> = {
  { name = "incremental", growth = 2, how = "collect" },
  { name = "generational", growth = 1.2, how = "step" },
}

-- `check` is called now and then, while tables are made and dropped; `live` of
-- them stay in use
local function program(live)
  local kept = {}
  for i = 1, live do kept[i] = { i } end
  return function(check)
    local list = {}
    for i = 1, tables do
      list[i % 100 + 1] = { i, kept }
      if i % 50 == 0 then check() end
    end
    return kept, list
  end
end

-- in place of the check where the collector runs by itself
local function idle() end

-- the share of the collector, in %, in a program that runs the collector itself
local function share(f, kind)
  collectgarbage()
  collectgarbage "stop"
  local spent, limit = 0, collectgarbage "count" * kind.growth
  local began = clock()
  f(function()
    if collectgarbage "count" < limit then return end
    local before = clock()
    collectgarbage(kind.how)
    spent = spent + clock() - before
    limit = collectgarbage "count" * kind.growth
  end)
  local took = clock() - began
  collectgarbage "restart"
  return 100 * spent / took
end

-- what the program takes, recorded
local function recorded(f, options)
  collectgarbage()
  options.clock = "cpu"
  profiler.start(options)
  local began = clock()
  f(idle)
  local took = clock() - began
  profiler.stop()
  return took, profiler.snapshot()
end

local function zone(p)
  local f = trial.named(p, "(garbage collector)")
  return f and 100 * f.self_ns / trial.whole(p) or 0
end

local function row(kind, live)
  local f = program(live)
  local truth, got, with, without = {}, {}, {}, {}
  for round = 1, rounds do
    truth[round] = share(f, kind)
    local took, p = recorded(f, { gc = true })
    got[round], with[round] = zone(p), took
    without[round] = recorded(f, {})
  end
  return { name = ("%s, %d in use"):format(kind.name, live),
    truth = trial.median(truth), got = trial.median(got),
    ratio = trial.median(with) / trial.median(without) }
end

---Rows: name, the true share and that of the zone, in %, and how long the
---program takes when recorded with the zone, in times of that without.
return function()
  local rows = {}
  for _, kind in ipairs(kinds) do
    local before = collectgarbage(kind.name)
    for _, live in ipairs { 1000, 20000 } do
      rows[#rows + 1] = row(kind, live)
    end
    collectgarbage(before)
  end
  return rows
end
