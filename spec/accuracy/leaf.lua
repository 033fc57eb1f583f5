-- B: a C function that takes a known time, as leaf of random call trees.

local spin = require "accuracy_spin"
local trial = require "trial"

local seed = 42

local function draw(n)
  seed = (seed * 1103515245 + 12345) & 0x7fffffff
  return (seed >> 16) % n
end

local left, calls

local function leaf()
  calls = calls + 1
  left = left - 1
  spin.spin(200 + draw(2000))
end

local first, second, third

function first(depth)
  if depth == 0 or left <= 0 then return leaf() end
  for _ = 1, 1 + draw(2) do second(depth - 1) end
end

function second(depth)
  if depth == 0 or left <= 0 then return leaf() end
  if draw(2) == 0 then third(depth - 1) else first(depth - 1) end
  leaf()
end

function third(depth)
  if depth == 0 or left <= 0 then return leaf() end
  leaf()
  second(depth - 1)
end

local function tree()
  left, calls = 3000, 0
  while left > 0 do first(draw(6)) end
end

---Mean error per call, in ns: the median of several trees.
return function()
  local errors = { raw = {}, compensated = {}, doubled = {} }
  tree()
  for round = 1, 15 do
    spin.spun()
    local got = trial.record(tree)
    local known = spin.spun() * trial.ns_per_tick
    for how, p in pairs(got) do
      errors[how][round] =
        (trial.named(p, "accuracy_spin.spin").self_ns - known) / calls
    end
  end
  for how, list in pairs(errors) do errors[how] = trial.median(list) end
  return errors
end
