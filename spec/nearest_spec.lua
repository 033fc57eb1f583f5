local _ENV = require("helper").env(_ENV)

local nearest = require "cprof.text.nearest"

describe("what could have been meant", function()
  local names = { "update (a.lua:1)", "draw (a.lua:9)", "sound (b.lua:3)",
    "update_all (a.lua:20)" }

  it("begins with what is nearest", function()
    for wanted, first in pairs {
      upadte = "update (a.lua:1)", DRAW = "draw (a.lua:9)",
      sund = "sound (b.lua:3)", _all = "update_all (a.lua:20)",
      ["^drwa$"] = "draw (a.lua:9)", ["sou%w+x"] = "sound (b.lua:3)",
    } do
      assert.equal(first, nearest.sort(wanted, names)[1], wanted)
    end
  end)

  it("is the name of a file, not that of its folder", function()
    local files = { "game/../ui/a.lua", "a/long/path/to/words.lua", "go.lua" }
    for wanted, first in pairs { wrds = files[2], ["wrds.lua"] = files[2],
      goo = files[3], ["game/ui/a.lua"] = files[1] } do
      assert.equal(first, nearest.sort(wanted, files)[1], wanted)
    end
  end)

  it("is told in a line, without the rest", function()
    assert.equal("; there are: draw (a.lua:9), sound (b.lua:3), and 2 more",
      nearest.list("drow", names, 2))
    assert.equal("; there are none", nearest.list("x", {}))
  end)
end)
