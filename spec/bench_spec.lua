local _ENV = require("helper").env(_ENV)

local helper = require "helper"

-- The benchmarks are run by hand. These specs check that those which need a
-- certain number of nodes still get it.

describe("the benchmark", function()
  it("of a million nodes gets through", function()
    if helper.slow then return end
    package.loaded.million = nil
    local p = require "million"
    for _, key in ipairs { "bytes", "snapshot", "report", "file_bytes",
      "load", "load_report" } do
      assert.is_true(p[key] > 0, key)
    end
  end)

  it("of 400,000 nodes has so many", function()
    if helper.slow then return end
    local profiler = require "cprof"
    for _, w in ipairs(require "workloads") do
      if w.name == "400,000 states" then
        profiler.start(w.options)
        w.run()
        profiler.stop()
        assert.is_true(#profiler.snapshot().nodes >= 400000)
        return
      end
    end
    assert.is_true(false, "there is no such benchmark")
  end)
end)
