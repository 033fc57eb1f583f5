local _ENV = require("helper").env(_ENV)

local command = require "command"

local libraries = { "coroutine", "debug", "io", "math", "os", "package",
  "string", "table", "utf8" }

local work = [[
  local function leaf() end
  profiler.start { mode = "line" }
  for _ = 1, 10 do leaf() end
  profiler.stop()
  print(profiler.report() ~= nil and profiler.annotate() ~= nil)]]

describe("a host that has not opened the library", function()
  it("of basic functions is told so", function()
    local out = command.lua("-e", [[
      local print, require, pcall = print, require, pcall
      next = nil
      print(pcall(require, "cprof"))]])
    assert.matches("^false\tcprof needs Lua's basic functions: open them " ..
      "%(luaopen_base or luaL_openlibs%)", out)
  end)

  for _, name in ipairs(libraries) do
    it(name .. " is told which one is needed", function()
      local out, err, status = command.lua("-e", ([[
        local print, require, pcall = print, require, pcall
        package.loaded[%q] = nil
        %s = nil
        print(pcall(require, "cprof"))]]):format(name, name))
      assert.equal(0, status, err)
      assert.matches(("^false\tcprof needs Lua's library '%s': " ..
        "open it %%(luaopen_%s or luaL_openlibs%%)"):format(name, name), out)
    end)

    it(name .. " but for cprof has recordings", function()
      local out, err = command.lua("-e", ([[
        local print, profiler = print, require "cprof"
        package.loaded[%q] = nil
        %s = nil
        %s]]):format(name, name, work))
      assert.equal("true\n", out, err)
    end)
  end
end)

describe("a report that needs a file of cprof's", function()
  it("says why that cannot be opened", function(dir)
    local script = dir:file("x.lua", [[
      local profiler = require "cprof"
      profiler.start()
      profiler.stop()
      local files = {}
      for i = 1, 1000 do
        files[i] = io.open("/dev/null")
        if not files[i] then break end
      end
      print(pcall(profiler.report))
      for i = 1, #files do files[i]:close() end
      print(profiler.report() ~= nil)]])
    local out, err = command.shell("ulimit -n 60; $SPEC_LUA " .. script)
    assert.matches("^false\tcannot load cprof%.[%w.]+: [^\n]+: Too many " ..
      "open files\ntrue\n$", out, out .. err)
  end)
end)
