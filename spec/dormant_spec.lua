local _ENV = require("helper").env(_ENV)

local compile = require "compile"
local helper = require "helper"

describe("a zone in C", function()
  local folder
  setup(function()
    folder = compile.folder()
    folder:compile(compile.compilers.c, folder.dir .. "/cprof.c", "cprof")
  end)
  teardown(function() folder:remove() end)

  -- four zones are entered and left each time
  it("calls cprof only while something is recorded",
    function()
      for how, compiler in pairs(compile.compilers) do
        folder:compile(compiler, "spec/support/dormant_host.c", how)
        local output = folder:run(folder:link("dormant_" .. how, "lua",
          { how, "cprof" }, "-Wl,--wrap=cprof_enter," ..
          "--wrap=cprof_entername,--wrap=cprof_leave"))
        assert.equal(helper.dedent [[
          before the start 0 0
          recording 4 4
          another state 4 0
          in another thread 4 4
          paused 0 0
          resumed 4 4
          another state alone 4 4
          stopped 0 0
          sampled 4 4
          stopped 0 0
          recording 4 4]] .. "\n", output)
      end
    end)
end)
