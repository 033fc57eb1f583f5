-- before cprof
local driven = require "driven"

describe("driven time", function()
  it("ends while strings live that were made in it", function()
    local text
    driven.sample(function() text = table.concat { ("x"):rep(100000), "y" } end)
    assert.equal(100001, #text)
    -- Lua 5.5 frees a long string by the allocator that made it
    text = nil
    collectgarbage()
    collectgarbage()
  end)
end)
