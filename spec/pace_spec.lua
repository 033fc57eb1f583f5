-- When a program that is read from outside is looked at: the clock is given.

local _ENV = require("helper").env(_ENV)

local pace = require "cprof.remote.pace"

-- numbers that are as random ones are on average: the gaps that they make have
-- the average that is asked for
local function even()
  local n = 0
  return function()
    n = n + 1
    return (n % 100 + 0.5) / 100
  end
end

-- Looks at a program for so many seconds. `stop` gives the seconds for which
-- each look stops it, and `late` those by which it comes late. Returns how many
-- looks there were, how many counted, and for how long it was stopped in all.
local function looks(seconds, rate, stop, late, states)
  local p = pace.new(rate, 0, even())
  local n, good, stopped, now = 0, 0, 0, 0
  while p.next < seconds do
    n = n + 1
    now = math.max(p.next + late(n), now)
    if now <= p.next + p:late() then good = good + 1 end
    p:looked(now - p.next, stop(n), states or 1)
    stopped, now = stopped + stop(n), now + stop(n)
    p:plan(now)
  end
  return n, good, stopped
end

local function always(x) return function() return x end end

describe("the pace of looks from outside", function()
  it("is what was asked for, if the program is not stopped", function()
    local n, good = looks(10, 1000, always(0), always(0))
    assert.is_true(math.abs(n - 10000) < 100, n)
    assert.equal(n, good)
  end)

  it("leaves the program 98 % of its time, if stops are as usual", function()
    local n, _, stopped = looks(10, 10000, always(0.00005), always(0))
    assert.is_true(stopped > 0.18 and stopped < 0.21, stopped)
    assert.is_true(n > 3000)
    -- each step looks at two states
    local fewer = looks(10, 10000, always(0.00005), always(0), 2)
    assert.is_true(fewer > n * 0.48 and fewer < n * 0.52, fewer)
  end)

  it("leaves the program 95 %, whatever stops take", function()
    local longest <const> = 0.03
    for _, stop in ipairs {
      always(0.002), always(longest),
      function(n) return n % 100 == 0 and longest or 0.00004 end,
      -- stops that are short at first, then long
      function(n) return n < 3000 and 0.00001 or longest end,
    } do
      for _, seconds in ipairs { 2, 10, 100 } do
        local _, _, stopped = looks(seconds, 1000, stop, always(0))
        assert.is_true(stopped <= 0.05 * (seconds + 1) + longest, stopped)
        assert.is_true(stopped > 0)
      end
    end
  end)

  it("has several looks, though the first stop took long", function()
    local n = looks(0.5, 1000, function(n)
      return n == 1 and 0.03 or 0.00005
    end, always(0))
    assert.is_true(n > 50, n)
  end)

  it("does not count looks that come later than others", function()
    local n, good = looks(10, 1000, always(0), function(i)
      return i % 2 == 0 and 0.003 or 0.00005
    end)
    assert.is_true(math.abs(good - n / 2) <= 1, good)
  end)

  it("counts looks that are as late as most of them", function()
    local n, good = looks(10, 1000, always(0), always(0.002))
    assert.is_true(good > n * 0.95, good)
  end)

  it("does not make up for a look that came late", function()
    local p = pace.new(1000, 5, always(0.5))
    assert.equal(5, p.next)
    p:plan(7)
    assert.is_true(math.abs(p.next - 7 - math.log(2) / 1000) < 1e-9)
  end)
end)
