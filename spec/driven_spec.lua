-- must be loaded before cprof
local driven = require "driven"

-- Makes a long string, which is garbage once this has returned. Lua 5.5 frees
-- a long string by the allocator that made it.
local function make()
  local text
  driven.sample(function() text = table.concat { ("x"):rep(100000), "y" } end)
  return #text
end

describe("driven time", function()
  it("ends while strings that were made in it are in use", function()
    assert.equal(100001, make())
    collectgarbage()
    collectgarbage()
  end)
end)
