local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"
local command = require "command"

local program = [[
  -- joins texts, so that it takes most of the time, also on a busy machine
  local long = ("x"):rep(1 << 22)
  local function f() for _ = 1, 40 do local _ = long .. long end end
  f() f()
  print(..., require "cprof".running())
]]

local function run(set, script, ...)
  local words = { "timeout 600 env -u CPROF -u CPROF_OPTIONS -u LC_ALL " ..
    "LANG=C.UTF-8 " .. set .. " $SPEC_LUA -lcprof.auto" }
  for _, word in ipairs { script, ... } do
    words[#words + 1] = command.quote(word)
  end
  return command.shell(table.concat(words, " "))
end

describe("cprof.auto", function()
  it("does nothing unless the environment asks for it", function(dir)
    local script = dir:file("x.lua", program)
    for _, set in ipairs { "", "CPROF=", "CPROF=0", "CPROF_OPTIONS=",
      "CPROF=0 CPROF_OPTIONS=mode=line" } do
      local out, err, status = run(set, script, "x")
      assert.same({ "x\tfalse\n", "", 0 }, { out, err, status })
    end
  end)

  it("records the program and reports at its end", function(dir)
    for code, status in pairs { [""] = 0, [" os.exit(3)"] = 3,
      [" os.exit(true, true)"] = 0, [" error 'late'"] = 1 } do
      local script = dir:file("x.lua", program .. code)
      local out, err, got = run("CPROF=1", script, "x")
      assert.equal("x\ttrue\n", out)
      assert.equal(status, got)
      assert.has_text("cprof: " .. script .. " x\n", err)
      assert.has_text(" 2  f  ", err)
      assert.has_no_text("cprof.auto", err)
    end
  end)

  it("reads options with commas between them", function(dir)
    local script = dir:file("x.lua", program)
    local file = dir:file "x-%p.cprof"
    local out, err = run(("CPROF_OPTIONS='mode=line, callsites ,lines=x,%s%s'")
      :format("lines=b\\,c,max_nodes=99,c_functions=false,file=", file),
      script, "x")
    assert.equal("x\ttrue\n", out)
    assert.equal("", err)
    local found = command.shell("ls " .. dir.path .. "/x-*"):gsub("\n", "")
    local p = helper.check(assert(profiler.load(found)))
    assert.equal("line", p.meta.mode)
    assert.equal(2, helper.named(p, "f").calls)
    assert.is_nil(helper.named(p, "print"))
    assert.is_truthy(p.sources["@" .. script])
  end)

  it("takes a path that is a number, or true, for a path", function()
    local options = require "cprof.recording.variables".options
    assert.same({ file = "1", trace = "true", rate = 1, gc = true },
      options "file=1,trace=true,rate=1,gc=true")
  end)

  it("lets the program run if options are wrong, with a message", function(dir)
    local script = dir:file("x.lua", program)
    local out, err, status = run("CPROF_OPTIONS=mode=fast", script, "x")
    assert.equal("x\tfalse\n", out)
    assert.equal(0, status)
    assert.matches("^cprof.auto: CPROF_OPTIONS: option 'mode' must be one " ..
      "of [^\n]*\n$", err)
    for given, told in pairs {
      ["file="] = "'file' must be a path, got \"\"",
      ["mode=trace,trace="] = "'trace' must be a path or a function, got \"\"",
      ["mode=line,lines=/[/,lines=x"] = "'lines' must be a list of strings, " ..
        "or of Lua patterns between slashes; in \"/[/\", missing ']', got " ..
        "{ \"/[/\", \"x\" }",
    } do
      err = select(2, run(("CPROF_OPTIONS='%s'"):format(given), script, "x"))
      assert.equal("cprof.auto: CPROF_OPTIONS: option " .. told .. "\n", err)
    end
    err = select(2, run("CPROF_OPTIONS=file=/nowhere/x", script, "x"))
    assert.matches("^cprof.auto: CPROF_OPTIONS: /nowhere/x: [^\n]*\n$", err)
  end)
end)
