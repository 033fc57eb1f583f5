local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local profiler = require "cprof"
local rows = require "cprof.count.rows"

describe("rows that are no function of the program's", function()
  it("have entries in the help", function()
    local out, err = command.must("help", "names")
    assert.equal("", err)
    for _, row in ipairs(rows.list) do
      assert.has_text("\n  " .. row.name .. "\n      " ..
        row.text:match "^%S+ %S+", out, row.name)
    end
  end)

  it("have entries where they are recorded", function()
    local explained = 0
    local p = helper.record(function()
      for i = 1, 30 do
        profiler.enter("zone", i)
        string.rep("x", 1)
        profiler.leave "zone"
      end
      local hook, mask, count = debug.gethook()
      debug.sethook(function() end, "c")
      string.rep("x", 1)
      debug.sethook(hook, mask, count)
    end, { max_nodes = 16 })
    for _, f in ipairs(p.functions) do
      if f.name:find "^%(" then
        assert.is_truthy(rows.explain(f.name), f.name)
        explained = explained + 1
      end
    end
    assert.is_true(explained >= 3, explained)
    assert.is_truthy(helper.named(p, "(beyond max_nodes)"))
  end)

  it("are found by show, which says what they are", function(folder)
    local path = folder:file "x.cprof"
    command.cprof("run", "-o", path, "-e", "string.rep('x', 1)")
    for _, name in ipairs { "(root)", "(host)" } do
      local out = command.must("show", path, name, "--width", "80")
      assert.has_text(rows.explain(name), out:gsub("\n *", " "), out)
    end
    local out = command.cprof("show", path, "string.rep")
    assert.has_text("string.rep ([C])", out)
    assert.has_no_text("C code that ran", out)
  end)

  it("are what is recorded of a program's end by the command", function(folder)
    local path = folder:file "x.cprof"
    local script = folder:file("x.lua", [[
      local function finalizer() pass(1e6) end
      kept = setmetatable({}, { __gc = finalizer })
      pass(5e6)]])
    for _, more in ipairs { "--exclude=/^finalizer/", "--exclude=/none/" } do
      command.standing("run", "-o", path, "--exclude=/^pass/", more, script)
      local p = assert(profiler.load(path))
      assert.equal(5e6, p.meta.wall_ns)
      for _, f in ipairs(p.functions) do
        if f.name == "(root)" or f.name == "(host)" then
          assert.equal(0, f.self_ns, f.name)
        end
      end
    end
  end)

  it("hold nothing that the command does to end", function(folder)
    local path = folder:file "x.cprof"
    command.cprof("run", "-o", path, "-e", "os.exit(0)")
    local p = assert(profiler.load(path))
    for _, f in ipairs(p.functions) do
      assert.no_matches("^debug%.getinfo", f.name)
    end
  end)
end)
