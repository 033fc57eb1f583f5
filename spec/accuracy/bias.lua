-- Experiment A: a piece of work, once inlined and once in a function that is
-- called in each turn of a loop. What a call costs Lua belongs to the caller,
-- so the cost of yield belongs to the coroutine that calls it. The work has no
-- branches, so that it takes as long in both places.

local spin = require "accuracy_spin"
local trial = require "trial"

local turns, length = 750, 400 -- statements in a turn
local loads, rounds = 7, 11

local function statements(n)
  return ("x = i * 3 + i "):rep(n)
end

-- 'make' makes a function of the work, 'call' says how it is called. No two
-- functions begin on the same line, so profiles tell them apart.
local kinds = {
  { name = "Lua helper", call = "work(i)",
    make = "local function work(i) local x = 0 %s return x end" },
  { name = "method", call = "object:work(i)",
    make = [[local object = {}
      function object:work(i) local x = 0 %s return x end
      local work = object.work]] },
  { name = "vararg", call = "work(i)", inlined = "local i, x = ..., 0",
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
    make = [[local yield = coroutine.yield
      local function work(i)
        while true do local x = 0 %s i = yield(x) end
      end
      local co = coroutine.wrap(work)]] },
}

local function program(kind, own, rest)
  local code = kind.make:format(statements(own)) ..
    ("\nreturn function(n) for i = 1, n do %s local x = 0 %s end end, " ..
    "\nfunction() return work end"):format(kind.call, statements(rest))
  return assert(load(code))()
end

local function inlined(kind, own, rest)
  local code = ("return function(n, ...) for i = 1, n do " ..
    "do %s %s end local x = 0 %s end end"):format(kind.inlined or
    "local x = 0", statements(own), statements(rest))
  return assert(load(code))()
end

-- Shares in percent: one for each round, whose times are measured at about the
-- same moment; then their median.
local function point(kind, shares)
  local out = { kind = kind }
  for what, list in pairs(shares) do out[what] = trial.median(list) end
  return out
end

local function note(shares, what, share)
  shares[what] = shares[what] or {}
  table.insert(shares[what], share * 100)
end

-- ns that the call of a function in C takes
local function call_of_c()
  local type, n = type, 100000
  local took = {}
  for round = 1, 21 do
    local with = trial.time(function()
      for i = 1, n do type(i) end
    end)
    took[round] = with - trial.time(function()
      for _ = 1, n do end
    end)
  end
  return trial.median(took) / n
end

local function points(kind, percent)
  local own = length * percent // 100
  local rest = length - own
  local called = kind.yields and call_of_c() * turns or 0
  local shares = {}
  for _ = 1, loads do
    local run, work = program(kind, own, rest)
    local with, without = inlined(kind, own, rest), inlined({}, 0, rest)
    for _ = 1, rounds do
      local both = trial.time(function() with(turns, 1) end)
      local less = trial.time(function() without(turns) end)
      local all = trial.time(function() run(turns) end)
      note(shares, "truth", (both - less + called) / all)
      for how, p in pairs(trial.record(function() run(turns) end)) do
        note(shares, how, trial.find(p, work()).self_ns / trial.whole(p))
      end
    end
  end
  return point(kind.name, shares)
end

-- a helper in C cannot be inlined, but knows what it took
local function point_c(percent)
  local ticks = math.floor(length * percent / 25 / trial.ns_per_tick)
  local code = ("local work = ... return function(n, ticks) " ..
    "for i = 1, n do work(ticks) local x = 0 %s end end"):format(
    statements(length - length * percent // 100))
  local shares = {}
  for _ = 1, loads do
    local run = assert(load(code))(spin.spin)
    for _ = 1, rounds do
      spin.spun()
      local all = trial.time(function() run(turns, ticks) end)
      note(shares, "truth", spin.spun() * trial.ns_per_tick / all)
      for how, p in pairs(trial.record(function() run(turns, ticks) end)) do
        note(shares, how,
          trial.named(p, "accuracy_spin.spin").self_ns / trial.whole(p))
      end
    end
  end
  return point("C helper", shares)
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
