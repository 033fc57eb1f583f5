local _ENV = require("helper").env(_ENV)

local compile = require "compile"

describe("a second signal to a program that listens", function()
  local folder
  setup(function()
    folder = compile.folder()
    folder:cprof("c", "cprof")
    folder:compile(compile.compilers.c, "spec/support/rearming_host.c", "host")
  end)
  teardown(function() folder:remove() end)

  it("leaves the program's hook in place while the first one's is set again",
    function()
      assert.equal("called\n", (folder:run(folder:link("rearming", "lua",
        { "host", "cprof" }, "-Wl,--wrap=lua_gethook"))))
    end)
end)
