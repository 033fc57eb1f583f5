local _ENV = require("helper").env(_ENV)

local command = require "command"
local compile = require "compile"
local cprof = require "cprof"
local helper = require "helper"

local must, write = compile.must, command.write

local folder, dir

-- what the host records; it needs no library
local script = [[
  local function leaf(n) return n * 2 end
  local function fib(n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
  end
  local kept = {}
  for i = 1, 300 do
    kept[i] = { leaf(i) }
    poke(i)
  end
  fib(12)
]]

-- A longer one, for samples.
local long = [[
  local function spin(n)
    local x = 0
    for i = 1, n do x = x + i % 7 end
    return x
  end
  local kept = {}
  for i = 1, 200 do
    spin(100000)
    kept[i] = { spin(10) }
  end
]]

-- The host's output; the build and the libraries that are open.
local function record(build, libraries, ...)
  local output, ok = folder:run("host_" .. build, libraries, ...)
  assert.is_true(ok, output)
  return output
end

local function load(path)
  return assert(cprof.load(dir .. "/empty/" .. path))
end

local function sorted(list)
  table.sort(list)
  return table.concat(list, "\n")
end

-- What was counted, without times, as a text; `path` is of a file of the host's
-- folder. Allocations are those of objects by the script: how far Lua's stack
-- has grown, and which names are strings already, depends on what else has run
-- in the state.
local function counts(path)
  local p, out = load(path), {}
  for _, f in ipairs(p.functions) do
    local row = ("%s: %d calls"):format(f.title, f.calls)
    for _, kind in ipairs { "table", "closure", "string", "userdata" } do
      local a = f.allocated and f.allocated[kind]
      if a and f.kind ~= "root" then
        row = ("%s, %s: %d, %d bytes"):format(row, kind, a.allocs, a.bytes)
      end
    end
    for _, line in ipairs(f.lines or {}) do
      row = ("%s; %d: %d hits"):format(row, line.line, line.hits)
    end
    -- the profiler's own row has what the build takes
    if f.kind ~= "internal" then out[#out + 1] = row end
  end
  for _, node in ipairs(p.nodes) do
    local f = p.functions[node.func]
    if f.kind ~= "internal" then
      out[#out + 1] = ("node %s: %d calls"):format(f.title, node.calls)
    end
  end
  for _, key in ipairs { "mode", "clock", "memory", "distribution", "tasks",
    "program", "lua_version", "lua_release", "cprof_version", "ended",
    "unmatched" } do
    out[#out + 1] = ("%s = %s"):format(key, p.meta[key])
  end
  for key, value in pairs(p.meta.options or {}) do
    out[#out + 1] = ("%s = %s"):format(key, value)
  end
  for _, loop in ipairs(p.loops or {}) do
    out[#out + 1] = ("%s: %d frames"):format(loop.name, loop.ended)
  end
  return sorted(out)
end

describe("a build that only records", function()
  setup(function()
    folder = compile.folder()
    dir = folder.dir
    write(dir .. "/script.lua", script)
    write(dir .. "/long.lua", long)
    folder:cprof("c", "whole")
    -- as users compile it
    must("gcc -std=c99 -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion " ..
      "-Wunused -Werror -DCPROF_PARTS=recorder -I$SPEC_INCLUDE -c " ..
      "-o %s/only.o %s/cprof.c", dir, dir)
    local compiler = compile.compilers.c
    folder:compile(compiler, "spec/support/recorder_host.c", "host")
    folder:compile(compiler .. " -DBARE", "spec/support/recorder_host.c",
      "bare")
    folder:link("host_whole", "lua", { "host", "whole" })
    folder:link("host_only", "lua", { "host", "only" })
    folder:link("host_bare", "lua", { "bare", "only" })
  end)

  teardown(function() folder:remove() end)

  it("has less than 300 KB of text, and needs no more of Lua's libraries",
    function()
      local text = must("size %s/only.o", dir):match "\n%s*(%d+)"
      assert.is_true(tonumber(text) < 300 * 1024, text)
      local names = {}
      for kind, name in must("nm %s/only.o", dir)
        :gmatch " (%a) (luaopen_[%w_]+)" do
        if kind ~= "T" then names[#names + 1] = kind .. " " .. name end
      end
      assert.equal("U luaopen_base U luaopen_coroutine w luaopen_debug",
        table.concat(names, " "))
    end)

  it("has no text of the Lua part, of the page, or of what looks at other " ..
    "processes", function()
    local text = must("strings %s/only.o", dir)
    for _, word in ipairs { 'require "cprof', "<html", "pprof", "/mem" } do
      assert.has_no_text(word, text)
    end
  end)

  it("compiles without a warning, by each compiler and for each system",
    function()
      local flags = "-Wall -Wextra -Wshadow -Wconversion -Wunused -Werror " ..
        "-DCPROF_PARTS=recorder -I$SPEC_INCLUDE"
      for _, compiler in ipairs { "clang -std=c99", "clang -std=c99 -O1",
        "clang++ -x c++ -std=c++17", "g++ -x c++ -std=c++17",
        "gcc -std=c99 -include spec/versions/posix.h",
        "x86_64-w64-mingw32-gcc -std=c99" } do
        if os.execute("command -v " .. compiler:match "%g+" ..
          " >/dev/null") then
          assert.equal("", must("%s %s -c -o %s/other.o %s/cprof.c", compiler,
            flags, dir, dir))
        end
      end
    end)

  it("refuses parts that there are not", function()
    local output, ok = compile.shell("gcc -std=c99 -DCPROF_PARTS=some " ..
      "-I$SPEC_INCLUDE -c -o %s/other.o %s/cprof.c", dir, dir)
    assert.is_nil(ok)
    assert.has_text("CPROF_PARTS must be all or recorder", output)
  end)

  local ways = {
    { "mode=call" }, { "mode=line" }, { "mode=count" },
    { "mode=call", "memory=1" }, { "mode=line", "memory=1" },
    { "mode=call", "memory=live", "interval=1" },
    { "mode=call", "distribution=1", "callsites=1" },
    { "mode=line", "tasks=1" }, { "mode=line", "lines=nothere" },
  }

  it("saves what the whole of cprof saves", function()
    if require "cprof.core".internals() ~= "direct" then
      ways[3] = nil
    end
    for _, way in pairs(ways) do
      local options = table.concat(way, " ")
      for _, build in ipairs { "only", "whole" } do
        assert.equal("", record(build, "all", "../script.lua", options,
          ("save=%s.cprof"):format(build)))
      end
      assert.equal(counts "whole.cprof", counts "only.cprof", options)
    end
  end)

  it("records into a file as the whole of cprof does", function()
    for _, way in ipairs { ways[1], ways[2], ways[4] } do
      local options = table.concat(way, " ")
      record("only", "all", "../script.lua", options, "file=only-%p.cprof")
      record("whole", "all", "../script.lua", options, "file=whole.cprof")
      must("mv %s/empty/only-*.cprof %s/empty/only.cprof", dir, dir)
      assert.equal(counts "whole.cprof", counts "only.cprof", options)
    end
  end)

  it("needs none of Lua's libraries", function()
    for _, build in ipairs { "only", "bare" } do
      for _, libraries in ipairs { "base", "none" } do
        for _, way in pairs(ways) do
          assert.equal("", record(build, libraries, "../script.lua",
            table.concat(way, " "), "save=saved.cprof", "file=live.cprof"))
          for _, path in ipairs { "saved.cprof", "live.cprof" } do
            local p = load(path)
            assert.equal(465, helper.named(p, "fib").calls)
            assert.is_nil(p.meta.ended)
          end
        end
      end
    end
  end)

  it("takes samples", function()
    record("only", "none", "../long.lua", "mode=sample", "rate=1000",
      "save=sampled.cprof", "file=sampling.cprof")
    record("only", "base", "../long.lua", "mode=sample", "memory=1",
      "interval=1", "save=memory.cprof")
    record("only", "none", "../long.lua", "mode=sample", "timer=wall",
      "save=wall.cprof")
    local timer = helper.record(function() end, { mode = "sample" }).meta.timer
    for _, path in ipairs { "sampled.cprof", "sampling.cprof", "memory.cprof",
      "wall.cprof" } do
      local p = load(path)
      assert.is_true(p.samples > 0)
      assert.equal(path == "wall.cprof" and "wall" or timer, p.meta.timer)
      assert.is_truthy(helper.named(p, "spin"))
      assert.is_nil(p.meta.ended)
    end
  end)

  it("saves what every command reads", function()
    record("only", "none", "../script.lua", "mode=line", "save=a.cprof")
    record("only", "none", "../script.lua", "mode=count", "save=b.cprof")
    record("only", "none", "../long.lua", "mode=sample", "save=c.cprof")
    record("only", "none", "../script.lua", "tasks=1", "distribution=1",
      "save=d.cprof")
    record("only", "none", "../long.lua", "mode=call", "save=e.cprof")
    local function path(name) return ("%s/empty/%s.cprof"):format(dir, name) end
    local a, b, c, d, e = path "a", path "b", path "c", path "d", path "e"
    for _, words in ipairs {
      { "report", a }, { "report", b }, { "report", c }, { "report", d },
      { "tree", a }, { "flame", a }, { "callgraph", a }, { "flame", c },
      { "show", a, "fib" }, { "show", c, "spin" }, { "annotate", a },
      { "annotate", b }, { "annotate", c }, { "frames", a }, { "slow", d },
      { "tasks", d }, { "heatmap", c }, { "coverage", b },
      { "diff", a, a }, { "merge", "-o", path "sum", a, a },
      { "join", "-o", path "joined", e, c }, { "report", path "sum" },
      { "html", "-o", dir .. "/page.html", a },
      { "export", "--format=pprof", "-o", dir .. "/out.pb.gz", c },
      { "export", "--format=firefox", "-o", dir .. "/out.json", c },
      { "export", "--format=callgrind", "-o", dir .. "/out.callgrind", a },
    } do
      command.must(table.unpack(words))
    end
  end)

  it("saves while it records, and replaces profiles only", function()
    record("only", "none", "../script.lua", "save=twice.cprof", "asks=1")
    assert.equal(465, helper.named(load "twice.cprof", "fib").calls)
    write(dir .. "/empty/text", "precious")
    local output = record("only", "none", "../script.lua", "save=text")
    assert.has_text("text: exists and is not a profile\n", output)
    assert.equal("precious", command.read(dir .. "/empty/text"))
    output = record("only", "none", "../script.lua", "save=gone/a.cprof")
    assert.has_text("gone/a.cprof", output)
    assert.equal("", must("cd %s/empty && find . -name '*.tmp'", dir))
  end)

  it("says of each function that is left out what to do", function()
    local output = record("only", "none", "../script.lua", "save=a.cprof",
      "asks=1")
    for _, name in ipairs { "report", "annotate", "export", "dump_recent",
      "listen", "view" } do
      local line = ("cprof: '%s' is not in this build, which only records " ..
        "(CPROF_PARTS=recorder); save the profile, and give the file to the " ..
        "command: cprof report FILE\n"):format(name)
      assert.has_text(line, output)
    end
  end)

  it("checks options as the whole of cprof does", function()
    for _, case in ipairs {
      { "mode=fast", 'option \'mode\' must be one of "call", "line", ' ..
        '"trace", "count", "sample", got "fast"' },
      { "rate=100", 'option \'rate\' needs mode = "sample"' },
      { "timer=wall", 'option \'timer\' needs mode = "sample"' },
      { "mode=sample clock=cpu timer=wall", "option 'timer' cannot be " ..
        'combined with clock = "cpu", which has its own timer' },
      { "mode=sample rate=20000", "option 'rate' must be an integer from 1 " ..
        "to 10000, got 20000 (a number)" },
      { "interval=10", 'option \'memory_interval\' needs memory = "live", ' ..
        'or memory and mode = "sample"' },
    } do
      for _, build in ipairs { "only", "whole" } do
        local output = folder:run("host_" .. build, "all", "../script.lua",
          case[1])
        assert.has_text("start: " .. case[2] .. "\n", output)
      end
    end
    for _, case in ipairs {
      { "mode=trace", 'mode "trace"' }, { "trace=out", "option 'trace'" },
      { "mode=sample keep_last=3", "option 'keep_last'" },
      { "mode=line lines=/x/", "Lua patterns, between slashes" },
    } do
      local output = folder:run("host_only", "none", "../script.lua", case[1])
      assert.has_text(case[2], output)
    end
  end)

  it("is a module that scripts use", function()
    write(dir .. "/module.lua", [[
      local profiler = require "cprof"
      profiler.stop()
      print(pcall(profiler.start, { mode = "line", lines = { "module" } }))
      print(profiler.running(), pcall(profiler.start, { file = "on-%n" }))
      assert(not io.open "on-1", "a file was created")
      print(select(2, pcall(profiler.start, 1)))
      print(select(2, pcall(profiler.start, { modes = 1 })))
      local function part() profiler.enter "zone" profiler.leave "zone" end
      for _ = 1, 3 do part() end
      do local _ <close> = profiler.zone("closed", 7) end
      do local _ <close> = profiler.label { n = 7 } end
      profiler.pause() part() profiler.resume()
      print(debug.gethook())
      print(profiler.save "module.cprof")
      print(profiler.save "missing/module.cprof")
      print(profiler.stop(), profiler.running())
      print(pcall(profiler.report))
    ]])
    local output = record("only", "all", "../module.lua")
    local lines = {}
    for line in output:gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal("true", lines[1], output)
    assert.equal("true\tfalse\tstart: already running", lines[2])
    assert.equal("start: options must be a table, got a number", lines[3])
    assert.equal("start: unknown option modes", lines[4])
    assert.equal("nil", lines[5])
    assert.equal("true\t", lines[6])
    assert.matches("^nil\tmissing/module%.cprof: ", lines[7], output)
    assert.equal("true\tfalse", lines[8])
    assert.matches("^false\tcprof: 'report' is not", lines[9], output)
    local p = load "module.cprof"
    assert.equal(3, helper.named(p, "part").calls)
    assert.equal(3, helper.named(p, "zone").calls)
    assert.equal(1, helper.named(p, "closed(7)").calls)
    assert.equal("7", p.labels[1].values[1].value)
    assert.equal('"module"', p.meta.options.lines)
  end)

  it("uses the options that it has checked, whatever tables they are in",
    function()
      write(dir .. "/tables.lua", [[
        local profiler = require "cprof"
        profiler.stop()
        local function start(options)
          print((select(2, pcall(profiler.start, options))) or "begins")
          profiler.stop()
        end
        start { mode = "line", lines = { "a", nil, "b" } }
        start { mode = "line", lines = { "a", 1 } }
        start { mode = "line", lines = { "a", x = "b" } }
        start { slow_frames = setmetatable({}, {
          __index = { budget_ms = 1 } }) }
        start(setmetatable({}, { __index = { file = {} } }))
        start(setmetatable({}, { __index = { recursion = "no", mode = "no",
          lines = 1 } }))
        local lines = { "tables" }
        print(pcall(profiler.start, { mode = "line", lines = lines }))
        lines[1], lines[2] = true, {}
        local function part() return load("return 1", "=(new)")() end
        print(part())
        profiler.save "tables.cprof"
      ]])
      local output = record("only", "all", "../tables.lua")
      local lines = {}
      for line in output:gmatch "[^\n]+" do
        lines[#lines + 1] = line:gsub(", got.*", "")
      end
      local texts = "start: option 'lines' must be a list of strings " ..
        "(Lua patterns, between slashes, are not in this build)"
      assert.same({ texts, texts, texts, "start: option 'slow_frames' must " ..
        "be a table { budget_ms = a number above 0, keep = an integer of at " ..
        "least 1 }", "begins", "begins", "true", "1" }, lines, output)
      assert.is_nil(load "tables.cprof".meta.ended)
    end)
end)
