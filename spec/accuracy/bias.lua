-- A: the same work, inlined and in a function that is called once a turn.
-- What the call itself costs the machine is the caller's, so that a
-- coroutine, which calls yield, has that of yield. The work is
-- statements without branches, so that it takes as long at both places.

local spin = require "accuracy_spin"
local trial = require "trial"

local turns, length, rounds = 1500, 200, 41 -- statements in a turn

local function statements(n)
  return ("x = x * 3 + i "):rep(n)
end

-- 'make' makes a function of the work, 'call' is how it is called. No two
-- functions begin on the same line: they are found by it.
local kinds = {
  { name = "Lua helper", call = "work(i)",
    make = "local function work(i) local x = 0 %s return x end" },
  { name = "method", call = "object:work(i)",
    make = [[local object = {}
      function object:work(i) local x = 0 %s return x end
      local work = object.work]] },
  { name = "vararg", call = "work(i)",
    make = "local function work(...) local i, x = ..., 0 %s return x end" },
  { name = "closure", call = "local f = make(i) f() work = f",
    make = [[local work
      local function make(i)
        return function() local i, x = i, 0 %s return x end
      end]] },
  { name = "tail call", call = "tail(i)",
    make = [[local function work(i) local x = 0 %s return x end
      local function tail(i) return work(i) end]] },
  { name = "pcall", call = "pcall(work, i)",
    make = "local function work(i) local x = 0 %s return x end" },
  { name = "coroutine", yields = true, call = "co(i)",
    make = [[local function work(i)
        while true do local x = 0 %s i = coroutine.yield(x) end
      end
      local co = coroutine.wrap(work)]] },
}

local function program(kind, own, rest)
  local code = kind.make:format(statements(own)) ..
    ("\nreturn function(n) for i = 1, n do %s local x = 0 %s end end, " ..
    "\nfunction() return work end"):format(kind.call, statements(rest))
  return assert(load(code))()
end

local function inlined(own, rest)
  local code = ("return function(n) for i = 1, n do " ..
    "do local x = 0 %s end local x = 0 %s end end"):format(statements(own),
    statements(rest))
  return assert(load(code))()
end

-- self and whole time of the fastest recordings so far, of each way
local function fastest(best, profiles, find)
  for how, p in pairs(profiles) do
    local b = best[how] or { self = math.huge, whole = math.huge }
    b.self = math.min(b.self, find(p).self_ns)
    b.whole = math.min(b.whole, trial.whole(p))
    best[how] = b
  end
end

local function point(kind, truth, best)
  local out = { kind = kind, truth = truth }
  for how, b in pairs(best) do out[how] = b.self / b.whole * 100 end
  return out
end

-- ns that the call of a function in C takes
local function call_of_c()
  local rawequal, n = rawequal, 100000
  local with, without = math.huge, math.huge
  for _ = 1, 9 do
    with = math.min(with, trial.time(function()
      for i = 1, n do rawequal(i, i) end
    end))
    without = math.min(without, trial.time(function()
      for _ = 1, n do end
    end))
  end
  return (with - without) / n
end

local function points(kind, percent)
  local own = length * percent // 100
  local rest = length - own
  local run, work = program(kind, own, rest)
  local with, without = inlined(own, rest), inlined(0, rest)
  local least = { math.huge, math.huge, math.huge }
  local best = {}
  for _ = 1, rounds do
    for i, f in ipairs { with, without, run } do
      least[i] = math.min(least[i], trial.time(function() f(turns) end))
    end
    fastest(best, trial.record(function() run(turns) end),
      function(p) return trial.find(p, work()) end)
  end
  local called = kind.yields and call_of_c() * turns or 0
  return point(kind.name, (least[1] - least[2] + called) / least[3] * 100,
    best)
end

-- a helper in C cannot be inlined, but knows what it took
local function point_c(percent)
  local ticks = math.floor(length * percent / 25 / trial.ns_per_tick)
  local code = ("local work = ... return function(n, ticks) " ..
    "for i = 1, n do work(ticks) local x = 0 %s end end"):format(
    statements(length - length * percent // 100))
  local run = assert(load(code))(spin.spin)
  local best, known, least = {}, math.huge, math.huge
  for _ = 1, rounds do
    spin.spun()
    least = math.min(least, trial.time(function() run(turns, ticks) end))
    known = math.min(known, spin.spun() * trial.ns_per_tick)
    fastest(best, trial.record(function() run(turns, ticks) end),
      function(p) return trial.named(p, "accuracy_spin.spin") end)
  end
  return point("C helper", known / least * 100, best)
end

---Points: kind, truth, raw, compensated, doubled, in percent.
return function()
  local out = {}
  for percent = 5, 95, 10 do
    for _, kind in ipairs(kinds) do out[#out + 1] = points(kind, percent) end
    out[#out + 1] = point_c(percent)
  end
  return out
end
