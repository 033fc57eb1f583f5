local _ENV = require("helper").env(_ENV)

local helper = require "helper"

-- By the processor's clock, for which the fastest functions of the recorder
-- are made; what depends on time alone is in distribution_spec.lua.

-- the calls in the steps of a histogram, and sums of their bounds
local function sums(row)
  local calls, least, most = 0, 0, 0
  for _, step in ipairs(row.durations) do
    calls, least, most = calls + step[3], least + step[1] * step[3],
      most + step[2] * step[3]
  end
  return calls, least, most
end

describe("durations of calls by the processor's clock", function()
  it("agree with totals, however fast events are", function()
    local function leaf(n)
      local t = {}
      for i = 1, n do t[i] = i end
      return #t
    end
    local function middle(n) return (leaf(n) + leaf(1)) end
    local function body()
      for i = 1, 3 do coroutine.yield(middle(i)) end
    end
    local function fails()
      coroutine.yield(middle(2))
      middle(3)
      error "x"
    end
    local function work()
      for i = 1, 300 do middle(i % 50) end
      for _ = 1, 10 do
        local co, failing = coroutine.wrap(body), coroutine.create(fails)
        coroutine.resume(failing)
        for i = 1, 4 do
          co()
          middle(i * 100)
        end
        coroutine.resume(failing)
      end
    end
    for _, options in ipairs { { compensate = false },
      { mode = "line", compensate = false }, { mode = "line" },
      { compensate = false, recursion = "fold" } } do
      options.distribution = true
      local p = helper.record(work, options)
      for _, f in ipairs { leaf, middle, body, fails } do
        local row = helper.find(p, f)
        local calls, least, most = sums(row)
        assert.equal(row.calls, calls)
        assert.equal(row.calls, row.timed_calls)
        -- Histograms convert ticks to ns by the clock's rate as it was known
        -- at the start; totals use the rate as it is known at the end.
        assert.is_true(least * 0.98 - calls < row.total_ns)
        assert.is_true(most * 1.02 + calls > row.total_ns)
        assert.is_true(row.max_ns <= row.total_ns)
        assert.is_true(row.p50_ns <= row.p90_ns and row.p90_ns <= row.p99_ns
          and row.p99_ns <= row.max_ns)
      end
    end
  end)

  it("exceed no total where overhead was taken out", function()
    local function leaf() end
    local function work() for _ = 1, 1000 do leaf() end end
    local p = helper.record(work, { distribution = true })
    for _, f in ipairs { leaf, work } do
      local row = helper.find(p, f)
      assert.equal(row.calls, row.timed_calls)
      assert.is_true(row.max_ns <= row.total_ns)
    end
  end)
end)
