local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"

-- Runs a program, which may not hang.
local function run(code, path)
  local dir <close> = command.folder()
  local script = dir:file("main.lua", code)
  return command.shell(("timeout 600 $SPEC_LUA %s %s </dev/null"):format(script,
    path))
end

local function fifo(dir)
  local path = dir:file "fifo"
  assert(os.execute("mkfifo " .. path))
  return path
end

-- the chunk has two functions on a line, so that its text is asked for
local program = [[
  local profiler = require "cprof"
  local path = arg[1]
  local text = "local t = {} function t.f() return 1 end " ..
    "t[1] = function() return 2 end return t"
  local before = load(text, "@" .. path)()
  for _, options in ipairs { {}, { mode = "line" }, { callsites = true },
    { mode = "line", lines = { "main" } },
    { mode = "trace", trace = "/dev/null" } } do
    profiler.start(options)
    before.f() before[1]()
    local after = load(text, "@" .. path)()
    after[1]() after.f()
    profiler.stop()
    local p = profiler.snapshot()
    require "helper".check(p)
    local calls, of_source = 0, 0
    for _, f in ipairs(p.functions) do
      if f.source == "@" .. path and f.kind == "Lua" then
        calls, of_source = calls + f.calls, of_source + 1
      end
    end
    assert(calls == 4, calls)
    for _, mode in ipairs { "total", "callgraph", "tree", "file" } do
      p:report { mode = mode }
    end
    if options.mode == "line" then p:annotate() end
    profiler.view(p):lines()
  end
  io.write("good ", io.read "a" or "", "\n")
]]

describe("the text of a source", function()
  it("is never taken from precompiled code", function(dir)
    -- two functions of one line, whose text is asked for
    local text = "local t = {} function t.f() return 1 end " ..
      "t[1] = function() return 2 end return t"
    local path = dir:file("code.lua", string.dump(assert(load(text))))
    local p = helper.record(function()
      local t = load(text, "@" .. path)()
      t.f() t[1]()
    end, { mode = "line" })
    for _, f in ipairs(p.functions) do
      assert.is_false(f.source == "@" .. path and f.name == "t.f")
    end
    assert.is_true(p.sources["@" .. path].changed)
  end)

  it("is read whole, however much of the stack is in use", function(dir)
    local path = dir:file("long.lua", (" "):rep(40000))
    -- Lua 5.4.4 writes to freed memory where a large buffer is dropped
    local out, err, status = command.lua("-e", ([[
      local readfile = require "cprof.core".readfile
      for n = 0, 60 do
        local given, text = coroutine.wrap(function(...)
          local text, why = readfile(%q)
          return select("#", ...), text, why
        end)(table.unpack({}, 1, n))
        assert(given == n and text == (" "):rep(40000), n)
      end
      io.write "good"]]):format(path))
    assert.same({ "good", "", 0 }, { out, err, status })
  end)

  it("is not waited for where it would be a pipe", function(dir)
    local out, err, status = run(program, fifo(dir))
    assert.same({ "good \n", "", 0 }, { out, err, status })
  end)

  it("is not taken from the program's input", function(dir)
    local script = dir:file("main.lua", program)
    local input = dir:file("input", "a line of input")
    for _, path in ipairs { "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0" } do
      for _, line in ipairs { "cat %s | timeout 600 $SPEC_LUA %s %s",
        "<%s timeout 600 $SPEC_LUA %s %s" } do
        local out, err, status = command.shell(line:format(input, script,
          path))
        assert.same({ "good a line of input\n", "", 0 },
          { out, err, status }, path)
      end
    end
  end)

  it("is not what someone is about to write to a pipe", function(dir)
    local path = fifo(dir)
    local script = dir:file("main.lua", program:gsub("io.read \"a\"",
      "io.open(path):read 'a'"))
    local out, err, status = command.shell(("(echo written > %s; echo $?) " ..
      "& timeout 600 $SPEC_LUA %s %s; wait"):format(path, script, path))
    assert.same({ "", 0 }, { err, status })
    assert.has_text("good written\n", out)
    assert.is_truthy(out:find("^0\n") or out:find("\n0\n"), out)
  end)

  it("is not a device, a folder, or what is not there", function()
    for _, path in ipairs { "/dev/zero", "/dev/tty", "/", "/dev/full",
      "/nowhere/at/all", "/dev/null" } do
      local out, err, status = run(program, path)
      assert.same({ "good \n", "", 0 }, { out, err, status }, path)
    end
  end)

  it("is still that of a file, and of a link to one", function(dir)
    local link = dir:file "link.lua"
    local path = dir:file("real.lua", "local function f()\n  return 'text'\n" ..
      "end\nreturn f\n")
    assert(os.execute(("ln -s %s %s"):format(path, link)))
    local p = helper.record(function() assert(loadfile(link))()() end,
      { mode = "line" })
    assert.has_text("return 'text'", p:annotate("@" .. link))
  end)
end)

describe("a command", function()
  it("refuses a pipe in place of a profile, without waiting", function(dir)
    local path = fifo(dir)
    for _, name in ipairs { "report", "tree", "annotate", "callgraph" } do
      local err = command.refused(name, path)
      assert.has_text(path .. ": not a regular file", err)
    end
  end)

  it("writes an export to a pipe once, at the end", function(dir)
    local path = fifo(dir)
    local script = dir:file("x.lua", "local function f() end f()")
    local out, err, status = command.shell(("timeout 600 cat %s & %s; wait")
      :format(path, command.line("run", "--quiet", "--format", "csv", "-o",
        path, script)))
    assert.same({ "", 0 }, { err, status })
    assert.matches("^[^\n]*calls[^\n]*\n", out)
    assert.has_text("x.lua", out)
  end)
end)
