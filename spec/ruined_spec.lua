local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local perfetto = require "perfetto"

-- what programs may do to globals that all code shares
local harm = {
  ["every global"] = "local G = _G for k in next, G do G[k] = nil end",
  ["the libraries themselves"] = [[
    local next, G = next, _G
    for _, library in next, { coroutine, debug, io, math, os, package,
      string, table, utf8 } do
      for name in next, library do library[name] = nil end
    end
    for name in next, G do G[name] = nil end]],
  ["the modules that are loaded"] =
    "for k in next, package.loaded do package.loaded[k] = nil end",
  ["package"] = "package.path, package.cpath, package.searchers = nil " ..
    "package = nil",
  ["the methods of strings"] = 'getmetatable("").__index = nil',
  ["the metatable of strings"] = 'debug.setmetatable("", nil)',
  ["what strings have for methods"] = [[
    getmetatable("").__index = function() error "no method" end]],
  ["the methods of files"] = [[
    local methods = getmetatable(io.stdout).__index
    for k in next, methods do methods[k] = nil end
    getmetatable(io.stdout).__index = nil]],
  ["io.stderr"] = "io.stderr = nil",
  ["the output"] = "io.write, io.open, print, io.stdout = nil",
  ["tostring"] = "tostring = nil",
  ["strings, tostring and io.stderr"] =
    'getmetatable("").__index = nil tostring = nil io.stderr = nil',
  ["os"] = "os.exit, os.date, os.rename, os.remove, os.getenv = nil os = nil",
  ["debug"] = "debug.getinfo, debug.sethook, debug.getregistry = nil " ..
    "debug = nil",
  ["the loops"] = [[
    pairs = function() error "no pairs" end
    ipairs, next, select = pairs, pairs, pairs]],
  ["table and math"] = "table.sort, table.concat, math.min = nil " ..
    "table, math = nil",
  ["globals, by a metatable"] = [[
    local fail = function() error "a global" end
    setmetatable(_G, { __index = fail, __newindex = fail, __pairs = fail })]],
  ["modules, by metatables"] = [[
    local fail = function() error "a module" end
    for _, t in next, { package.loaded, package, package.searchers,
      package.preload, string, debug, { n = 1 } } do
      setmetatable(t, { __index = fail, __newindex = fail, __pairs = fail,
        __eq = fail, __len = fail, __tostring = fail })
    end
    rawset(package.loaded, setmetatable({}, { __tostring = fail }), 1)
    rawset(package.loaded, "mine", setmetatable({ f = function() end },
      { __index = fail, __eq = fail, __pairs = fail }))]],
  ["cprof itself"] = 'local c = require "cprof" ' ..
    "for k in next, c do c[k] = nil end",
}

local order = {}
for name in pairs(harm) do order[#order + 1] = name end
table.sort(order)

-- Most of the time is in the leaf, so that it has a row: to join texts is one
-- event, and takes longer than what holds a program up.
local long = "local long = ('x'):rep(1 << 22)\n"
local leaves = "local function leaf() return long .. long end\n" ..
  "for i = 1, 100 do leaf(i) end\n"
local work = long .. leaves

local function expect(err, script, calls)
  assert.has_text("cprof: " .. script, err)
  assert.matches(calls .. "%s+leaf%s", err)
  assert.has_text("\nNext: cprof show", err)
  assert.has_no_text("attempt", err)
end

describe("a program that ruins", function()
  for _, name in ipairs(order) do
    it(name .. " has its report", function(dir)
      local last = dir:file("last.lua", work .. harm[name])
      local _, err, status = command.cprof("run", last)
      expect(err, last, "100")
      assert.equal(0, status)
      -- the functions that do the work are still reached
      local first = dir:file("first.lua", long .. harm[name] .. "\n" ..
        leaves)
      _, err, status = command.cprof("run", first)
      expect(err, first, "100")
      assert.equal(0, status)
      -- names are also written to a file at its end
      local file = dir:file "run.cprof"
      _, err = command.cprof("run", "--lines", "-o", file, last)
      expect(err, last, "100")
      local out = command.cprof("report", file)
      assert.matches("100%s+leaf%s", out)
    end)
  end

  it("everything may export at its end", function(dir)
    local script = dir:file("x.lua",
      harm["strings, tostring and io.stderr"] .. " " ..
        harm["every global"])
    for _, format in ipairs { "pprof", "callgrind", "speedscope", "folded",
      "csv", "json", "chrome", "perfetto", "cpuprofile", "firefox" } do
      local file = dir:file("out." .. format)
      local _, err = command.cprof("run", "--format=" .. format, "-o", file,
        script)
      assert.has_text("Written to " .. file, err)
      assert.is_true(#command.read(file) > 50)
    end
  end)

  it("everything may end by os.exit", function(dir)
    for _, close in ipairs { "false", "true" } do
      local script = dir:file("x.lua", "local exit = os.exit\n" .. work ..
        harm["the libraries themselves"] .. " exit(3, " .. close .. ")")
      local _, err, status = command.cprof("run", script)
      expect(err, script, "100")
      assert.equal(3, status)
    end
  end)

  it("strings and files has its functions chosen and traced", function(dir)
    local script = dir:file("x.lua", long .. harm["the methods of files"] ..
      " " .. harm["the methods of strings"] .. "\n" .. leaves ..
      "local function outsider() end outsider()")
    for _, chosen in ipairs { "--include=leaf", "--exclude=outsider" } do
      local _, err = command.cprof("run", chosen, script)
      assert.matches("100%s+leaf%s", err)
      assert.no_matches("1%s+outsider%s", err)
    end
    local _, err = command.cprof("run", "--lines=x.lua", script)
    assert.matches("100%s+leaf%s", err)
    for _, name in ipairs { "trace.txt", "trace.json" } do
      local file = dir:file(name)
      command.cprof("run", "--trace=" .. file, script)
      local _, calls = command.read(file):gsub("leaf", "")
      assert.equal(200, calls)
    end
    local file, calls = dir:file "trace.pftrace", 0
    command.cprof("run", "--trace=" .. file, script)
    for _, slice in ipairs(perfetto(command.read(file), true).slices) do
      if slice.name:find "^leaf" then calls = calls + 1 end
    end
    assert.equal(100, calls)
  end)

  it("every global by name has its report after the error", function(dir)
    local script = dir:file("x.lua", work ..
      "local all = _G for k in next, all do all[k] = nil end print()")
    local _, err, status = command.cprof("run", script)
    assert.has_text("(global 'print')", err)
    assert.matches("100%s+leaf%s", err)
    assert.equal(1, status)
  end)

  it("everything is recorded by cprof.auto, too", function(dir)
    local script = dir:file("x.lua", work .. harm["every global"])
    local _, err = command.shell("CPROF=1 $SPEC_LUA -lcprof.auto " .. script)
    assert.matches("100%s+leaf%s", err)
  end)

  it("the way to its modules can export from another folder", function()
    local out = command.lua("-e", [[
      local cprof = require "cprof"
      cprof.start() string.rep("x", 3) cprof.stop()
      local p = cprof.snapshot()
      package.path, package.cpath, package.searchers = nil
      package.loaded["cprof.export.csv"] = nil
      print(p:export("csv", print))]])
    assert.has_text("string.rep", out)
  end)
end)

describe("a program that records itself and ruins", function()
  local function run(how)
    local dir <close> = command.folder()
    local out, err, status = command.lua("spec/support/ruined.lua", how,
      dir.path)
    assert.equal(0, status, err)
    return out
  end

  local unharmed
  setup(function() unharmed = run "nothing" end)

  it("nothing can be recorded and asked in each way", function()
    local ways = 0
    for line in unharmed:gmatch "[^\n]+" do
      assert.matches(": good .*csv", line)
      ways = ways + 1
    end
    assert.is_true(ways > 20)
  end)

  for _, how in ipairs { "globals", "functions", "types", "strings", "files",
    "tables", "everything" } do
    it(how .. " can do so as well", function()
      assert.equal(unharmed, run(how))
    end)
  end
end)

describe("what a program has made of basic types", function()
  -- Runs code, with `whole()` to check that the program's metatables of basic
  -- types are still those that it has set.
  local function kept(code)
    return (helper.run([[
      local profiler = require "cprof"
      local own = { __tostring = function() return "own" end }
      local strings = getmetatable ""
      debug.setmetatable(nil, own)
      profiler.start()
      math.abs(1)
      profiler.stop()
      local p = profiler.snapshot()
      local function whole()
        return debug.getmetatable(nil) == own and tostring(nil) == "own" and
          getmetatable "" == strings
      end
      assert(whole())
      ]] .. code .. [[
      collectgarbage()
      print(whole())]]))
  end

  it("is there for what it does while it is asked", function()
    assert.equal("true\ntrue\ntrue\ntrue\n", kept [[
      p:export("folded", function() print(whole()) end)
      p:export("folded", setmetatable({}, { __index = function()
        return function() print(whole()) end
      end }))
      p:sums(function(f) assert(whole()) return f.title end)
      print(whole())]])
  end)

  it("is there after coroutines that take turns, or are dropped", function()
    assert.equal("true\ntrue\n", kept [[
      local function streams()
        return coroutine.create(function()
          p:export("folded", coroutine.yield)
        end)
      end
      local a, b, c = streams(), streams(), streams()
      for _, co in ipairs { a, b, c, a, b } do
        assert(coroutine.resume(co))
        assert(whole())
      end
      print(coroutine.status(a) == "dead" and coroutine.status(b) == "dead")]])
  end)

  it("is there after errors at any instruction", function()
    assert.equal("true\n", kept [[
      for n = 1, 3000, 7 do
        pcall(function()
          debug.sethook(function()
            debug.sethook()
            error "too long"
          end, "", n)
          p:report()
          debug.sethook()
        end)
        debug.sethook()
        collectgarbage()
        assert(whole(), n)
      end]])
  end)
end)

describe("a report that fails", function()
  it("leaves the recording, and its name on standard error", function(dir)
    -- the report fails, as the program has replaced it; nothing else is lost
    local script = dir:file("x.lua", work ..
      "require('cprof.report').make = function() error 'no report' end")
    local file = dir:file "run.cprof"
    local _, err = command.cprof("run", "-o", file, script)
    assert.has_text("no report\ncprof: the recording is in " .. file .. "\n",
      err)
    assert.matches("100%s+leaf", (command.cprof("report", file)))
    _, err = command.cprof("run", script)
    local kept = err:match "cprof: the recording is in ([^\n]*)\n"
    assert.is_truthy(kept, err)
    assert.matches("100%s+leaf", (command.cprof("report", kept)))
  end)
end)
