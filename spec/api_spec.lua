local _ENV = require("helper").env(_ENV)

local command = require "command"
local host = require "spec_host"

local work = [[
  local zones = require "spec_zones"
  function update(ns)
    local function leaf() zones.pass(ns) end
    zones.nested(leaf, leaf)
  end
  return "loaded"]]

describe("the C API", function()
  local S
  before_each(function()
    S = host.state()
    S:run [[require "spec_zones".clock(true)]]
    assert.equal("loaded", S:run(work))
  end)
  after_each(function() S:close() end)

  local function figures(name)
    return S:run(([[
      local p = require "cprof".snapshot()
      for _, f in ipairs(p.functions) do
        if f.name == %q then
          return ("%%d %%d %%d"):format(f.calls, f.self_ns, f.total_ns)
        end
      end]]):format(name))
  end

  it("starts and stops, and says whether there was anything to do",
    function()
      assert.equal(0, S:control "stop")
      assert.equal(0, S:control "pause")
      assert.equal(0, S:control "resume")
      assert.equal(0, S:control "reset")
      assert.equal(0, S:control "frame")
      assert.equal(0, S:control "running")
      assert.equal(0, (S:start()))
      assert.equal(1, S:control "running")
      S:run "update(10)"
      assert.equal(1, S:control "frame")
      assert.equal(1, S:control "pause")
      assert.equal(0, S:control "pause")
      assert.equal(0, S:control "running")
      S:run "update(1000)"
      assert.equal(1, S:control "resume")
      assert.equal(0, S:control "resume")
      S:run "update(100)"
      assert.equal(1, S:control "stop")
      assert.equal(0, S:control "stop")
      assert.equal("2 0 220", figures "outer")
      assert.equal(1, S:control "reset")
      assert.equal("nil", figures "outer")
    end)

  it("finds cprof whatever a sandbox has taken away", function()
    local sandbox = [[
      for name in pairs(package.loaded) do package.loaded[name] = nil end
      for _, name in ipairs { "package", "require", "debug", "io", "os" } do
        _G[name] = nil
      end]]
    S:run [[local cprof = require "cprof"
      function figures() return #cprof.snapshot().functions end]]
    S:run(sandbox)
    assert.same({ 0 }, { S:start { mode = "line" } })
    S:run "update(10)"
    assert.equal(1, S:control "stop")
    assert.is_true(tonumber(S:run "return figures()") > 3)
    assert.has_text("update", S:report {})
    -- a state in which cprof was never loaded
    local bare = host.state()
    bare:run(sandbox)
    local failed, message = bare:start()
    assert.equal(2, failed)
    assert.equal("cprof is not open: call cprof_open first", message)
    bare:close()
  end)

  it("says what is wrong with a start, and raises nothing", function()
    local status, message = S:start { mode = "fast" }
    assert.equal(2, status)
    assert.has_text('option \'mode\' must be one of "call", ', message)
    status, message = S:start { include = "/(/" }
    assert.equal(2, status)
    assert.has_text("include", message)
    assert.equal(0, S:control "running")
    assert.equal(0, (S:start {}))
    status, message = S:start {}
    assert.equal(2, status)
    assert.has_text("already running", message)
  end)

  it("gives all options of start to Lua", function()
    for _, case in ipairs {
      { { include = "leaf" }, "leaf", "2 20 20" },
      { { include = "leaf" }, "update", "nil" },
      { { exclude = "leaf" }, "leaf", "nil" },
      { { exclude = "leaf" }, "update", "1 0 20" },
      { { recursion = "fold", callsites = 1, max_nodes = 100, history = -1,
          budget_ms = 1, keep = 3 }, "outer", "1 0 20" },
      { { mode = "line", lines = "nothing" }, "outer", "1 0 20" },
      { { clock = "wall" }, "outer", "1 0 20" },
      { { c_functions = -1 }, "leaf", "2 20 20" },
    } do
      local status, message = S:start(case[1])
      assert.equal(0, status, message)
      S:run "update(10)"
      S:control "stop"
      assert.equal(case[3], figures(case[2]))
    end
  end)

  it("has a third value, the default, for what is true or false", function()
    local function recorded(options)
      assert.equal(0, (S:start(options)))
      S:run "update(10) update(10)"
      S:control "stop"
      return S:run [[
        local p = require "cprof".snapshot()
        local nodes, c = 0, false
        for _, n in ipairs(p.nodes) do
          local f = p.functions[n.func]
          if f.name == "update" then nodes = nodes + 1 end
          c = c or f.kind == "C"
        end
        return nodes .. " " .. tostring(c) .. " " ..
          tostring(p.meta.uncompensated)]]
    end
    local with = "1 true the host supplies the clock"
    assert.equal(with, recorded {})
    assert.equal(with, recorded { c_functions = 1, callsites = -1,
      compensate = 1 })
    assert.equal("1 false the host supplies the clock", recorded {
      c_functions = -1 })
    assert.equal("1 true compensate = false", recorded { compensate = -1 })
    S:run [[function twice() update(10)
      update(10) end]]
    S:start { callsites = 1 }
    S:run "twice()"
    assert.matches("update[^\n]*\n.*update", (S:report { mode = "tree" }))
  end)

  it("has Lua say what is wrong with a value", function()
    for _, case in ipairs {
      { { c_functions = 2 }, "'c_functions' must be true or false, got 2" },
      { { callsites = -2 }, "'callsites' must be true or false, got -2" },
      { { compensate = 7 }, "'compensate' must be true or false, got 7" },
      { { max_nodes = -1 }, "'max_nodes' must be an integer from 16 to " },
      { { history = -2 }, "'history' must be \"full\" or an integer from 1" },
      { { budget_ms = -1 }, "'slow_frames' must be a table { budget_ms = " },
      { { keep = 3 }, "'slow_frames' must be a table { budget_ms = " },
      { { exclude = "/%/" }, "'exclude' must be a list of strings" },
      { { lines = "x" }, "'lines' needs mode = \"line\"" },
      { { trace = "x" }, "'trace' needs mode = \"trace\"" },
      { { file = "/nowhere/file" }, "/nowhere/file" },
    } do
      local status, message = S:start(case[1])
      assert.equal(2, status)
      assert.has_text(case[2], message)
      assert.equal(0, S:control "running")
    end
    S:start()
    for _, case in ipairs {
      { { limit = -2 }, "'limit' must be an integer of at least 1" },
      { { min_percent = 101 }, "'min_percent' must be a number from 0 to" },
      { { width = -1 }, "'width' must be an integer of at least 40" },
      { { sort = "size" }, "'sort' must be one of" },
    } do
      local status, message = S:report(case[1])
      assert.equal(2, status)
      assert.has_text(case[2], message)
    end
  end)

  it("records into a file, which others can read meanwhile", function(folder)
    local path = folder.path .. "/live.cprof"
    assert.equal(0, (S:start { file = path }))
    S:run "update(1000000)"
    local text = command.must("report", "--mode=total", path)
    assert.has_text("\nnote: still being recorded", text)
    assert.matches("\n[^\n]* 1  outer *\n", text)
    S:control "stop"
    text = command.cprof("report", "--mode=total", path)
    assert.has_no_text("still being recorded", text)
    assert.matches("\n2%.00ms[^\n]* 1  outer *\n", text)
  end)

  it("saves and exports, also while recording, and says why it cannot",
    function(folder)
      local path = folder.path .. "/saved.cprof"
      local status, message = S:file(path)
      assert.equal(2, status)
      assert.has_text("nothing was recorded", message)
      status, message = S:file(path, "folded")
      assert.equal(2, status)
      assert.has_text("nothing was recorded", message)
      S:start()
      S:run "update(1000000)"
      assert.equal(0, S:file(path))
      assert.equal(1, S:control "running")
      local text = command.cprof("report", "--mode=total", path)
      assert.matches("\n2%.00ms[^\n]* 1  outer *\n", text)
      S:run "update(1000000)"
      assert.equal(0, S:file(path))
      text = command.cprof("report", "--mode=total", path)
      assert.matches("\n4%.00ms[^\n]* 2  outer *\n", text)
      assert.equal(0, S:file(path .. ".folded", "folded"))
      text = command.read(path .. ".folded")
      assert.has_text("outer;inner;leaf", text)
      assert.has_no_text("api", text)
      for _, case in ipairs {
        { "/nowhere/file", nil, "/nowhere/file" },
        { "/nowhere/file", "folded", "/nowhere/file" },
        { path .. ".folded", nil, "is not a profile" },
        { path, "sideways", 'unknown format "sideways"; valid formats: ' },
        { path, "lcov", 'needs a profile of mode "line"' },
      } do
        status, message = S:file(case[1], case[2])
        assert.equal(2, status)
        assert.has_text(case[3], message)
      end
      assert.equal(1, S:control "running")
    end)

  it("starts without a trace of itself in the profile", function()
    S:start()
    S:run "update(10)"
    S:control "stop"
    local names = S:run [[
      local out = {}
      for _, f in ipairs(require "cprof".snapshot().functions) do
        if f.kind == "C" then out[#out + 1] = f.name end
      end
      table.sort(out)
      return table.concat(out, " ")]]
    assert.equal("spec_zones.nested spec_zones.pass", names)
  end)

  it("writes reports, also while recording, and says why it cannot",
    function()
      local status, message = S:report()
      assert.equal(2, status)
      assert.has_text("nothing was recorded", message)
      S:start { mode = "line" }
      S:run "update(1000000)"
      local text = S:report { mode = "self", width = 80, color = "never" }
      assert.has_text("2.00ms", text)
      assert.has_no_text("api", text)
      assert.equal(1, S:control "running")
      -- the writer is the host's, not cprof's own work
      assert.is_true(select(2, S:report {}))
      assert.is_true(select(2, S:report({}, work)))
      assert.has_text("more functions", S:report({ limit = 1 }))
      assert.has_no_text("more functions", S:report({ limit = -1 }))
      status, message = S:report { mode = "sideways" }
      assert.equal(2, status)
      assert.has_text("sideways", message)
      status, message = S:report({}, nil, true)
      assert.equal(2, status)
      assert.has_text("writer", message)
      text = S:report({ width = 100 }, work)
      assert.has_text("zones.nested(leaf, leaf)", text)
      status, message = S:report({}, "nowhere.lua")
      assert.equal(2, status)
      assert.has_text("nowhere.lua", message)
      assert.equal(1, S:control "running")
    end)

  it("has the view's lines and graph", function()
    local text, status = S:view("self", 0, 0)
    assert.equal(2, status)
    assert.has_text("nothing was recorded", text)
    S:start()
    for i = 1, 3 do
      S:run(("update(%d)"):format(i * 1000000))
      S:control "frame"
    end
    text, status = S:view("self", 0, 0)
    assert.equal(0, status, text)
    assert.has_text("graph\n1 2000000: 0 0 0\n2 4000000: 0 0 0\n" ..
      "3 6000000: 0 0 0\n", text)
    assert.matches("\n[ +]leaf 0 6 2\n", text)
    text, status = S:view("total", 2, 3)
    assert.equal(0, status)
    assert.equal(3, select(2, text:gsub("graph.*", ""):gsub("\n", "")))
    assert.has_text("\n>", text)
    text = S:view("self", 0, 0, "spec_zones.pass")
    assert.has_text("graph\n1 2000000: 2000000 2000000 2\n" ..
      "2 4000000: 4000000 4000000 2\n3 6000000: 6000000 6000000 2\n", text)
    text = S:view("self", 0, 0, "inner")
    assert.has_text("graph\n1 2000000: 0 1000000 1\n", text)
    text, status = S:view("self", 0, 0, "nobody")
    assert.equal(2, status)
    assert.has_text('of the profile, as lines show it, got "nobody"', text)
    text, status = S:view("self", 0, -1)
    assert.equal(2, status)
    assert.has_text("the height must be an integer of at least 1, got -1", text)
    text, status = S:view("upside down", 0, 0)
    assert.equal(2, status)
    assert.has_text("upside down", text)
  end)

  it("may use a clock and an allocator of the host only between recordings",
    function()
      S:start()
      assert.equal("false", S:run [[
        return require "spec_zones".clock(false)]])
      S:control "stop"
      assert.equal("true", S:run [[
        return require "spec_zones".clock(false)]])
      S:start()
      S:control "stop"
      assert.not_equal("host", S:run [[
        return require "cprof".snapshot().meta.clock]])
    end)
end)
