-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

describe("the growth of the recorder's tables", function()
  -- Each reading of the clock takes 1,000 ns. After a new function or node, the
  -- clock is read once more.
  it("is overhead, for functions and call-tree nodes", function()
    local function leaf() end
    local function a() leaf() end
    local function b() a() end
    local function c() b() a() leaf() end
    for _, options in ipairs { {}, { mode = "line" }, { callsites = true },
      { memory = true }, { recursion = "fold" } } do
      local function record(f)
        local p = driven.record(1000, f, options)
        return p.meta.overhead_ns, #p.nodes + #p.functions, #p.nodes
      end
      local small, few, nodes = record(function() a() end)
      local large, many, more = record(function() a() b() c() end)
      assert.equal(10, more - nodes)
      assert.equal(1000 * (many - few), large - small)
    end
  end)
end)
