-- How much work of a program no look from outside has seen, in programs whose
-- looks are made up.

local _ENV = require("helper").env(_ENV)

local unseen = require "cprof.remote.unseen"

-- the looks at a program: those that found it running, and waiting
local function looks(runs, waits)
  return { runs = runs, all = runs + waits, ran = runs * 1e6,
    whole = (runs + waits) * 1e6 }
end

describe("work that no look has seen", function()
  it("is what the system counted, and looks did not find", function()
    -- it ran for half of the time, but a third of the looks found it running
    assert.is_true(math.abs(unseen.share(looks(10000, 20000), 5, 5) -
      1 / 3) < 1e-9)
    -- a tenth of what ran is left
    assert.is_true(math.abs(unseen.share(looks(4500, 5500), 3, 3) - 0.1) <
      1e-9)
  end)

  it("is none if looks found it running for as long as it ran", function()
    assert.equal(0, unseen.share(looks(500, 500), 2, 2))
    assert.equal(0, unseen.share(looks(100, 900), 1, 9))
  end)

  it("is none if looks found it running for longer", function()
    assert.equal(0, unseen.share(looks(900, 100), 1, 1))
  end)

  it("is none if chance alone may explain it", function()
    assert.equal(0, unseen.share(looks(45, 55), 1, 1))
    assert.is_true(unseen.share(looks(4500, 5500), 1, 1) > 0)
    -- so little of it does not matter, though many looks prove it
    assert.equal(0, unseen.share(looks(4990000, 5010000), 1, 1))
  end)

  it("is not known if it only runs, only waits, or was never stopped",
    function()
      assert.equal(0, unseen.share(looks(100, 0), 5, 0))
      assert.equal(0, unseen.share(looks(0, 100), 0, 5))
      assert.equal(0, unseen.share(looks(0, 100), 5, 5))
    end)

  it("goes by the time that looks stand for", function()
    -- each of those that found it running stands for three times as much
    assert.equal(0, unseen.share({ runs = 1000, all = 4000, ran = 3000,
      whole = 6000 }, 1, 1))
  end)
end)
