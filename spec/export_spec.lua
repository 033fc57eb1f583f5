local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local core = require "cprof.core"
local export = require "cprof.export"
local command = require "command"
local helper = require "helper"
local json = require "dkjson"

local read <const>, write <const> = command.read, command.write

local odd = { "semi;colon", "two words", 'quo"ted', "new\nline", "",
  "bytes\xFF\xC3", " leading", "com,ma", "h\xC3\xA4t", "(1) one", "-> 7" }

local function leaf() return #("x"):rep(3) end
local function down(n) if n > 0 then down(n - 1) end leaf() end
local function never() return leaf() end

local function work()
  down(5)
  for _, name in ipairs(odd) do
    profiler.enter(name)
    down(2)
    profiler.leave(name)
  end
  leaf()
  if not leaf then never() end
  leaf()
end

-- an export that is longer than the writer's buffer
local function long() work() for i = 1, 3000 do
  profiler.enter("z", i)
  profiler.leave "z"
end end

local function text(p, format) return (helper.exported(p, format)) end

local function listing(dir)
  return (command.shell("ls -A " .. command.quote(dir.path)))
end

local lined = helper.record(long, { mode = "line" })
local called = helper.record(work)
local counted = core.internals() == "direct" and
  helper.record(long, { mode = "count" })

describe("an export", function()
  it("writes the same to a path, a function and a file", function(dir)
    for _, format in ipairs(export.formats) do
      local p = lined
      if format.branches then p = counted end
      if p then
        local expected = text(p, format.name)
        local path = dir:file(format.name)
        assert.is_true(#expected > 100, format.name)
        write(path, "what was there before")
        assert.is_true(p:export(format.name, path))
        assert.equal(expected, read(path))
        local file = assert(io.open(path .. ".file", "wb"))
        assert.is_true(p:export(format.name, file))
        file:close()
        assert.equal(expected, read(path .. ".file"))
        local pieces = {}
        assert.is_true(p:export(format.name, {
          write = function(_, s) pieces[#pieces + 1] = s end }))
        assert.equal(expected, table.concat(pieces))
      end
    end
    assert.has_no_text("tmp", listing(dir))
  end)

  it("is JSON, whatever version of cprof a file says", function()
    profiler.start()
    work()
    profiler.stop()
    local p = profiler.snapshot()
    p.meta.cprof_version = '1"2'
    for _, format in ipairs { "speedscope", "firefox", "chrome" } do
      assert.is_table(json.decode(text(p, format)), format)
    end
  end)

  it("must be of a format that there is", function()
    local names = "folded, speedscope, firefox, chrome, perfetto, " ..
      "cpuprofile, pprof, callgrind, lcov, cobertura, luacov, json, csv, html"
    local here = debug.getinfo(1, "l").currentline + 1
    local _, message = pcall(function() called:export("flame", print) end)
    assert.equal(("spec/export_spec.lua:%d: export: unknown format " ..
      '"flame"; valid formats: %s'):format(here, names), message)
    _, message = pcall(called.export, called, nil, print)
    assert.has_text("unknown format nil; valid", message)
  end)

  it("must go to something that can be written to", function()
    local shown = require "cprof.text.options".shown
    for _, target in ipairs { false, 7, {}, true } do
      local message = helper.failure(called.export, called, "csv", target)
      assert.has_text("export: the target must be a path, a function or " ..
        "something with a method 'write', got " .. shown(target), message)
    end
    assert.has_no_text("0x", shown({}))
    assert.is_false(pcall(called.export, called, "csv"))
  end)

  it("as lcov needs mode line", function(dir)
    local message = helper.failure(called.export, called, "lcov", dir:file "x")
    assert.has_text('format lcov needs a profile of mode "line" or "count", ' ..
      'this one has mode "call"', message)
    assert.equal("", listing(dir))
  end)

  it("says why a path cannot be written, and leaves nothing", function(dir)
    local path = dir:file "no/such/file"
    local ok, message = called:export("csv", path)
    assert.is_nil(ok)
    assert.equal("cannot write " .. path .. ": No such file or directory",
      message)
    ok, message = called:export("csv", dir.path)
    assert.is_nil(ok)
    assert.equal("cannot write " .. dir.path .. ": Is a directory", message)
    ok, message = called:export("csv", "/dev/full")
    assert.is_nil(ok)
    assert.equal("cannot write /dev/full: No space left on device", message)
    assert.equal("", listing(dir))
  end)

  it("says where a file may not have its size, and leaves nothing",
    function(dir)
      local script, path = dir:file "x.lua", dir:file "out"
      write(script, [[
        local profiler = require "cprof"
        profiler.start { mode = "line" }
        for i = 1, 100 do load("local function f" .. i .. "() end")() end
        profiler.stop()
        local p = profiler.snapshot()
        print(p:export("json", arg[1]))
        print(p:html(arg[1]))
        print(p:save(arg[1]))]])
      local out, err, status = command.shell(("ulimit -f 2; $SPEC_LUA %s %s")
        :format(script, path))
      assert.equal(0, status, err)
      assert.equal((("nil\tcannot write %s: File too large\n"):rep(2) ..
        "nil\t%s: File too large\n"):format(path, path, path), out)
      assert.equal("x.lua\n", listing(dir))
    end)

  it("keeps what was there when it fails half-way", function(dir)
    local path = dir:file "x.csv"
    write(path, "old")
    local csv = require "cprof.export.csv"
    local was = csv.write
    function csv.write(_, out)
      for _ = 1, 100000 do out "new" end
      error("half-way", 0)
    end
    local ok, message = pcall(called.export, called, "csv", path)
    csv.write = was
    assert.is_false(ok)
    assert.equal("half-way", message)
    assert.equal("old", read(path))
    assert.equal("x.csv\n", listing(dir))
  end)

  it("does not replace what is no file", function(dir)
    local path = dir:file "null"
    assert(os.execute(("ln -s /dev/null '%s'"):format(path)))
    assert.is_true(core.special(path))
    assert.is_true(called:export("csv", path))
    assert.is_true(core.special(path))
    assert.equal("", read(path))
  end)

  it("ends when the writer returns false", function()
    local function refuse(...)
      local result = table.pack(...)
      local count = 0
      return lined:export("chrome", function()
        count = count + 1
        if count == 2 then return table.unpack(result, 1, result.n) end
      end), count
    end
    local function message(...)
      local result = table.pack(...)
      return select(2, lined:export("chrome", function()
        return table.unpack(result, 1, result.n)
      end))
    end
    assert.same({ nil, 2 }, { refuse(nil, "no more") })
    assert.equal("no more", message(nil, "no more"))
    assert.equal("the writer returned false", message(false))
    local reason = {}
    local why = helper.failure(lined.export, lined, "chrome", function()
      error(reason)
    end)
    assert.equal(reason, why)
  end)

  it("may be written by a coroutine, piece by piece", function()
    local pieces = {}
    local co = coroutine.wrap(function()
      lined:export("chrome", function(s) coroutine.yield(s) end)
    end)
    for piece in co do pieces[#pieces + 1] = piece end
    assert.is_true(#pieces > 1)
    assert.equal(text(lined, "chrome"), table.concat(pieces))
  end)

  it("needs a JSON library only where there is JSON", function()
    local output = helper.run [[
      package.path = package.path:match "^[^;]*;[^;]*"
      local profiler = require "cprof"
      profiler.start()
      profiler.stop()
      local p = profiler.snapshot()
      for _, format in ipairs(require "cprof.export".formats) do
        if not format.lines then
          print(format.name, pcall(p.export, p, format.name, "/dev/null"))
        end
      end]]
    local missing = "false\t.-export: format %w+: JSON needs the library " ..
      "dkjson, which is missing: install Debian's lua%-dkjson or the rock " ..
      "dkjson\n"
    assert.matches("^folded\ttrue\ttrue\nspeedscope\t" .. missing ..
      "firefox\t" .. missing .. "chrome\t" .. missing ..
      "perfetto\ttrue\ttrue\ncpuprofile\t" .. missing ..
      "pprof\ttrue\ttrue\ncallgrind\ttrue\ttrue\njson\t" .. missing ..
      "csv\ttrue\ttrue\nhtml\t" .. missing .. "$", output)
  end)
end)

describe("the nodes in depth", function()
  it("are all but overhead, callers before callees", function()
    local seen, path = {}, {}
    local overhead = core.overhead(lined.nodes)
    assert.equal(lined.meta.overhead_ns, lined.nodes[overhead].total_ns)
    for id, depth, func, line, calls, self_ns, total_ns in
        core.walk(lined.nodes) do
      local node = lined.nodes[id]
      path[depth] = id
      assert.is_nil(seen[id])
      seen[id] = true
      assert.equal(depth > 0 and path[depth - 1] or 0, node.parent)
      assert.is_true(id ~= overhead)
      assert.same({ node.func, node.call_line, node.calls, node.self_ns,
        id == 1 and lined.program_ns or node.total_ns },
        { func, line, calls, self_ns, total_ns })
      assert.same({ node.parent, func, line, calls, self_ns, node.total_ns,
        node.self_raw_ns },
        table.move({ core.node(lined.nodes, id) }, 1, 7, 1, {}))
    end
    seen[overhead] = true
    assert.equal(#lined.nodes, #seen)
    assert.has_error(function() core.node(lined.nodes, #seen + 1) end)
  end)
end)

describe("sums by line", function()
  it("add up to those that are not", function()
    local function title(f) return f.title end
    local function add(edges)
      local sums = {}
      for _, e in ipairs(edges) do
        local key = e.caller.title .. "\0" .. e.callee.title
        local sum = sums[key] or { 0, 0, 0, 0 }
        sum[1] = sum[1] + e.calls
        sum[2] = sum[2] + e.self_ns
        sum[3] = sum[3] + e.total_in_ns
        sum[4] = sum[4] + e.total_out_ns
        sums[key] = sum
      end
      return sums
    end
    local _, plain = lined:sums(title)
    local rows, edges = lined:sums(title, true)
    assert.same(add(plain), add(edges))
    assert.is_true(#edges > #plain)
    local calls, from_root = 0, 0
    for _, row in ipairs(rows) do calls = calls + row.calls end
    for _, e in ipairs(edges) do
      if e.caller == rows[1] then from_root = from_root + e.calls_in end
    end
    assert.equal(calls, from_root)
  end)
end)

-- a string in the notation that encode.lua describes
local function coded(s, also)
  if s == "" then return '""' end
  local out = {}
  for _, c in ipairs { s:byte(1, -1) } do
    local char = string.char(c)
    local bad = c < 32 or c >= 0xC3 and not utf8.len(s) or char == also or
      c == 32 and #out == 0
    out[#out + 1] = bad and ("\\%03d"):format(c) or char
  end
  return table.concat(out)
end

describe("folded stacks", function()
  it("are a line for each state with time of its own", function()
    local expected, whole = {}, 0
    for _, node in ipairs(called.nodes) do
      local path, above = {}, node
      while above and above.parent > 0 do
        table.insert(path, 1,
          coded(called.functions[above.func].title, ";"))
        above = called.nodes[above.parent]
      end
      if node.self_ns > 0 and node.parent > 0 and
         node.func ~= called.overhead then
        expected[#expected + 1] = table.concat(path, ";") .. " " ..
          node.self_ns
      end
    end
    local got = {}
    for line in text(called, "folded"):gmatch "([^\n]*)\n" do
      got[#got + 1] = line
      whole = whole + math.tointeger(line:match " (%d+)$")
    end
    assert.equal(called.program_ns, whole)
    table.sort(expected)
    table.sort(got)
    assert.same(expected, got)
  end)
end)

-- the cost of functions, and what was said of their calls
local function parse(callgrind)
  local own, calls, current, pending = {}, {}, nil, nil
  local names = { fn = {}, fl = {} }
  local function name(kind, s)
    local id, rest = s:match "^(%(%d+%)) ?(.*)$"
    if rest ~= "" then
      assert.is_nil(names[kind][id], "defined once")
      names[kind][id] = rest
    end
    return assert(names[kind][id], s)
  end
  for line in callgrind:match "\nsummary: [^\n]*\n(.*)$":gmatch "[^\n]+" do
    local key, value = line:match "^(%l+)=(.*)$"
    if key == "fn" then current = name("fn", value)
    elseif key == "cfn" then pending = name("fn", value)
    elseif key == "fl" or key == "cfl" then name("fl", value)
    elseif key == "calls" then assert(pending)
    else
      -- a column for waiting may follow
      local at, ns, n = line:match "^(%d+) (%d+) (%d+)%f[^%d]"
      at, ns, n = tonumber(at), math.tointeger(ns), math.tointeger(n)
      if pending then
        table.insert(calls, { current, pending, at, ns, n })
        pending = nil
      else
        own[current] = own[current] or { 0, 0, lines = {} }
        own[current][1] = own[current][1] + ns
        own[current][2] = own[current][2] + n
        own[current].lines[at] = ns
      end
    end
  end
  return own, calls
end

describe("callgrind", function()
  it("has each function's own time and calls, also with zones", function()
    local own = parse(text(lined, "callgrind"))
    local rows = lined:sums(function(f) return f.title end)
    for _, row in ipairs(rows) do
      local found = own[coded(row.func.name)] or own[coded(row.title)]
      assert.is_truthy(found, row.title)
      assert.equal(row.self_ns, found[1], row.title)
      assert.equal(row.calls, found[2], row.title)
    end
  end)

  it("has the time of each line, where no zone is open", function()
    local own = parse(text(lined, "callgrind"))
    local lines = lined.lines["@spec/export_spec.lua"]
    local at = debug.getinfo(leaf, "S").linedefined
    assert.equal(lines[at].self_ns, own.leaf.lines[at])
    -- zones of `work` have a part of its time
    at = debug.getinfo(work, "S").linedefined
    local count = 0
    for _ in pairs(own.work.lines) do count = count + 1 end
    assert.equal(1, count)
    assert.is_truthy(own.work.lines[at])
  end)

  it("has calls where they are made", function()
    local _, calls = parse(text(lined, "callgrind"))
    local at = debug.getinfo(down, "S").linedefined
    local total = helper.find(lined, leaf).total_ns
    local seen = {}
    for _, call in ipairs(calls) do
      if call[2] == "leaf" then
        total = total - call[4]
        if call[1] == "down" then seen[#seen + 1] = call end
      end
      -- a recursive call has no cost: that is in the outermost call
      if call[1] == "down" and call[2] == "down" then
        assert.same({ "down", "down", at, 0, 0 }, call)
      end
    end
    assert.equal(1, #seen)
    assert.equal(at, seen[1][3])
    -- each of these calls of leaf has called string.rep
    assert.equal((helper.find(lined, leaf).calls - 2) * 2, seen[1][5])
    assert.equal(0, total)
  end)

  it("tells functions of one name apart by their titles", function()
    local a = load("local function twice() end return twice", "=one")()
    local b = load("\nlocal function twice() end return twice", "=one")()
    local own = parse(text(helper.record(function()
      local twice = a
      twice()
      twice = b
      twice() twice()
    end), "callgrind"))
    assert.equal(1, own["twice (one:1)"][2])
    assert.equal(2, own["twice (one:2)"][2])
  end)
end)

describe("lcov", function()
  local function records(p)
    local out = {}
    for path, record in text(p, "lcov")
      :gmatch "SF:([^\n]*)\n(.-)end_of_record\n" do
      out[path] = record
    end
    return out
  end

  it("has one path for a file that is loaded by several", function(dir)
    os.execute("mkdir " .. command.quote(dir:file "lib"))
    dir:file("lib/a.lua", "return 1")
    local p = helper.record(function()
      for _, path in ipairs { "/lib/a.lua", "//lib/a.lua", "/./lib/a.lua" } do
        dofile(dir.path .. path)
      end
    end, { mode = "line" })
    local own = records(p)
    assert.is_truthy(own[dir.path .. "/lib/a.lua"])
    assert.is_nil(own[dir.path .. "//lib/a.lua"])
    assert.is_nil(own[dir.path .. "/./lib/a.lua"])
  end)

  it("has what ran, and what never did", function()
    local record = records(lined)["spec/export_spec.lua"]
    local at = debug.getinfo(never, "S").linedefined
    assert.matches(("FN:%d,never:%d\n"):format(at, at), record)
    assert.matches(("FNDA:0,never:%d\n"):format(at), record)
    at = debug.getinfo(leaf, "S").linedefined
    assert.matches(("FNDA:%d,leaf:%d\n"):format(helper.find(lined, leaf).calls,
      at), record)
    local found, hit = 0, 0
    for n, line in ipairs(lined.lines["@spec/export_spec.lua"]) do
      local da = record:match(("DA:%d,(%%d+)\n"):format(n))
      assert.equal(line.active and tostring(line.hits) or nil, da)
      if line.active then
        found = found + 1
        if line.hits > 0 then hit = hit + 1 end
      end
    end
    assert.equal(tostring(found), record:match "LF:(%d+)")
    assert.equal(tostring(hit), record:match "LH:(%d+)")
    assert.is_true(hit > 5 and hit < found)
  end)

  it("names what never ran like what ran beside it", function(dir)
    local path = dir:file "x"
    write(path, "local m, n = {}, {}\nfunction m.a() end\n" ..
      "function m.b() end\nfunction n.c() end\nfunction m:d() end\n" ..
      "return m")
    package.loaded["app.mod"] = dofile(path)
    local p = helper.record(package.loaded["app.mod"].a, { mode = "line" })
    package.loaded["app.mod"] = nil
    local record = records(p)[path]
    assert.equal("FN:1,main chunk:1\nFN:2,app.mod.a:2\nFN:3,app.mod.b:3\n" ..
      "FN:4,n.c:4\nFN:5,m:d:5\n", (record:match "^(.-)FNDA"))
  end)

  it("leaves out what is no file", function()
    local p = helper.record(function()
      load("return 1", "=name")()
      load("return 2")()
      leaf()
    end, { mode = "line" })
    assert.is_truthy(p.lines["=name"])
    local names = {}
    for path in pairs(records(p)) do names[#names + 1] = path end
    for _, path in ipairs(names) do
      assert.is_truthy(read(path), path)
    end
    assert.is_true(#names >= 1)
  end)

  it("has functions of one line and name as one", function(dir)
    local path = dir:file "x"
    local function chunk(value)
      return "#!/usr/bin/lua\nlocal function f() return " .. value ..
        " end\nf()"
    end
    local p = helper.record(function()
      for _, value in ipairs { "1", "{}", "{}" } do
        write(path, chunk(value))
        dofile(path)
      end
    end, { mode = "line" })
    local record = records(p)[path]
    assert.equal("FN:1,main chunk:1\nFN:2,f:2\nFNDA:3,main chunk:1\n" ..
      "FNDA:3,f:2\nFNF:2\nFNH:2\n", record:match "^(.*\n)DA:2")
  end)
end)
