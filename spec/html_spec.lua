-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local in_c = require "cprof.annotate.in_c"
local page = require "page"
local profiler = require "cprof"
local releases = require "releases"

local write <const> = command.write

local function leaf(n) for _ = 1, n do end end
local function down(n) if n > 0 then down(n - 1) end leaf(10) end
local function work()
  for i = 1, 20 do leaf(i) end
  down(5)
end

-- makes n tables: with a driven clock, each new table takes some time
local function tables(n) for _ = 1, n do local _ = { n } end end

local function text(p, options)
  local out = {}
  local ok, notes = p:html(function(s) out[#out + 1] = s end, options)
  assert(ok, notes)
  return table.concat(out), notes
end

-- the measures of a page, without those that depend on a busy machine
local function measures_of(header)
  local out = {}
  for _, what in ipairs(header.measures) do
    if what ~= "cpu" and what ~= "wait" then out[#out + 1] = what end
  end
  return table.concat(out, " ")
end

local function sum(list)
  local n = 0
  for _, figure in pairs(list) do n = n + figure end
  return n
end

local function count(s, what)
  local n = 0
  for _ in s:gmatch(what) do n = n + 1 end
  return n
end

-- the row of a function in the columns of a header
local function row_of(header, name)
  for i, given in ipairs(header.functions.name) do
    if given == name then return i end
  end
end

local called = helper.record(work)
local lined = helper.record(work, { mode = "line" })
local counted = core.internals() == "direct" and
  helper.record(work, { mode = "count" })

local hostile = { "</script><img src=x onerror=alert(1)>", "<!--", "{{DATA}}",
  "]]>", "\u{2028}", "new\nline", "\u{202E}turned", "bytes\xFF" }

local function named()
  for _, name in ipairs(hostile) do
    profiler.enter(name)
    leaf(3)
    profiler.leave(name)
  end
end

describe("a page", function()
  it("is one file that asks for nothing else", function()
    local s = text(lined)
    assert.matches("^<!doctype html>", s)
    assert.no_matches("https?://", s)
    for address in s:gmatch '%f[%w]src="([^"]*)"' do
      assert.equal("", address)
    end
    for address in s:gmatch '<link[^>]*href="([^"]*)"' do
      assert.equal("data:,", address)
    end
    assert.has_no_text("@import", s)
  end)

  it("lets nothing run but its own script and style", function(dir)
    local s = text(lined)
    local policy = s:match 'Content%-Security%-Policy"%s+content="([^"]*)"'
    assert.has_text("default-src 'none'", policy)
    assert.has_no_text("unsafe", policy)
    local own = { script = s:match "<script>(.*)</script>",
                  style = s:match "<style>(.*)</style>" }
    for what, body in pairs(own) do
      write(dir:file(what), body)
      local digest = command.shell(("sha256sum '%s'"):format(dir:file(what)))
      local given = policy:match(what .. "%-src 'sha256%-([^']*)'")
      assert.equal(digest:sub(1, 64), (page.bytes(given):gsub(".", function(c)
        return ("%02x"):format(c:byte())
      end)))
    end
  end)

  it("has names as data, never as markup", function()
    local p = helper.record(named, { mode = "line" })
    local s = text(p)
    assert.equal(count(text(called), "</script"), count(s, "</script"))
    for _, name in ipairs(hostile) do
      if name ~= "{{DATA}}" and #name > 4 then
        assert.has_no_text(name, s)
      end
    end
    assert.has_no_text("{{", s)
    local header = page.data(s)
    for _, name in ipairs { "</script><img src=x onerror=alert(1)>", "<!--",
      "{{DATA}}", "]]>", "new\\010line", "\\u{202E}turned", "bytes\\255" } do
      assert.is_truthy(row_of(header, name), name)
    end
  end)

  it("has the figures of the profile, in each mode", function()
    for _, p in ipairs { called, lined, counted or nil } do
      local header, trees = page.data((text(p)))
      local tree = trees[1]
      assert.equal(p.measure.whole, header.whole)
      assert.equal(p.measure.whole, sum(tree.self))
      -- profiler overhead has a node of its own, which is left out
      assert.equal(#p.nodes - 1, tree.n)
      local calls = 0
      for _, f in ipairs(p.functions) do calls = calls + f.calls end
      assert.equal(calls, sum(tree.calls))
      local f, i = helper.find(p, down), row_of(header, "down")
      assert.equal(f.calls, header.functions.calls[i])
      assert.equal(f.self_ns or f.instructions, header.functions.self[i])
      assert.equal(f.total_ns or f.total_instructions,
        header.functions.total[i])
      assert.equal(p.meta.mode == "count" and "instructions" or "ns",
        header.unit)
    end
  end)

  it("has samples in place of calls, and what they can tell", function()
    local p = driven.sample(function() tables(20) end)
    assert.is_true(p.samples >= 20)
    local header, trees = page.data((text(p)))
    assert.equal("ns", header.unit)
    assert.equal(p.samples, header.samples.n)
    assert.equal(p.samples, sum(trees[1].calls))
    assert.equal(p.program_ns, sum(trees[1].self))
    assert.has_text(header.samples.told:gsub("%s+", " "), p:report():gsub("%s+",
      " "))
    local f, i = helper.find(p, tables), row_of(header, "tables")
    assert.is_true(f.self_samples >= 20)
    assert.equal(f.self_samples, header.functions.calls[i])
    assert.equal(f.total_samples, header.functions.samples[i])
    assert.equal(f.self_ns, header.functions.self[i])
    local source, parts = nil, 0
    for _, s in ipairs(header.sources) do
      if s.place == "spec/html_spec.lua" then source = s end
    end
    local own = p.lines["@spec/html_spec.lua"]
    for k, n in ipairs(source.lines.n) do
      assert.equal(own[n].self_ns, source.lines.self[k])
    end
    assert.is_true(sum(source.lines.self) > 0)
    assert.is_nil(source.branches)
    if p.meta.internals ~= "direct" then return end
    for k = 5, #source.expressions, 5 do
      parts = parts + source.expressions[k]
    end
    assert.is_true(parts > 0 and parts <= sum(source.lines.self))
  end)

  it("compares samples with calls, each by what it has", function(dir)
    local p = driven.sample(function() tables(20) end)
    assert(called:save(dir:file "called.cprof"))
    assert(p:save(dir:file "sampled.cprof"))
    for _, pair in ipairs { { "called", "sampled", p.samples },
      { "sampled", "called" }, { "sampled", "sampled", p.samples } } do
      command.must("html", "-o", dir:file "x.html",
        "--diff", dir:file(pair[1] .. ".cprof"),
        dir:file(pair[2] .. ".cprof"))
      local header, trees = page.data(command.read(dir:file "x.html"))
      assert.equal(pair[3], header.samples and header.samples.n)
      assert.equal(pair[1] == "sampled" and p.samples or nil,
        header.before.samples)
      local before = trees[header.before.tree + 1]
      assert.equal(pair[1] == "sampled" and p.samples or
        sum(header.before.calls), sum(before.calls))
    end
  end)

  it("has the lines, and the text as it was", function()
    local header = page.data((text(lined)))
    local source
    for _, s in ipairs(header.sources) do
      if s.place == "spec/html_spec.lua" then source = s end
    end
    local line = debug.getinfo(leaf, "S").linedefined
    assert.has_text("local function leaf", source.text[line])
    local own = lined.lines["@spec/html_spec.lua"]
    for i, n in ipairs(source.lines.n) do
      assert.equal(own[n].hits, source.lines.hits[i])
      assert.equal(own[n].self_ns, source.lines.self[i])
      assert.equal(own[n].calls, source.lines.calls[i])
    end
    assert.is_true(#source.lines.n >= 5)
    assert.equal(#own, #source.active)
  end)

  it("is the same, byte for byte, from one process to the next", function(dir)
    local file, first = dir:file "x.cprof"
    assert(lined:save(file))
    for _ = 1, 4 do
      local s = command.cprof("html", "-o", "-", file)
      assert.matches("^<!doctype html>", s)
      first = first or s
      assert.is_true(s == first)
    end
  end)

  it("has what C functions take on the lines that call them", function()
    local function pack()
      tables(10)
      for _ = 1, 20 do table.pack() end
    end
    local calling = debug.getinfo(pack, "S").linedefined + 2
    for _, p in ipairs { driven.sample(pack),
      (driven.tables(1000000, pack, { mode = "line" })) } do
      local c = in_c.times(p)["@spec/html_spec.lua"]
      assert.is_true(c[calling] >= 20000000)
      local seen = 0
      for _, s in ipairs(page.data((text(p))).sources) do
        if s.place == "spec/html_spec.lua" then
          for i, n in ipairs(s.lines.n) do
            assert.equal(c[n] or 0, s.lines.inC[i])
            seen = seen + s.lines.inC[i]
          end
        end
      end
      assert.equal(sum(c), seen)
    end
  end)

  it("has expressions and branches, in characters", function(dir)
    if not counted then return pending(releases.without_internals()) end
    local path = dir:file "x.lua"
    write(path, "local s = '\u{1F600}é' local t = s == 'x'\n" ..
      "if t then s = 1 end")
    local chunk = assert(loadfile(path))
    local header = page.data((text(helper.record(chunk, { mode = "count" }))))
    local source
    for _, s in ipairs(header.sources) do
      if s.place == path then source = s end
    end
    local at = {}
    for i = 1, #source.expressions, 5 do
      at[source.expressions[i] .. ":" .. source.expressions[i + 1]] =
        source.expressions[i + 4]
    end
    -- the right side of the comparison; its emoji is two units of UTF-16
    assert.equal(1, at["1:32"])
    assert.same({ 2, 1, "if", "true", 0, "false", 1 },
      source.branches[#source.branches])
  end)

  it("says where the text of a source is missing", function(dir)
    write(dir:file "gone.lua", "local function f() end f()")
    local chunk = assert(loadfile(dir:file "gone.lua"))
    os.remove(dir:file "gone.lua")
    local header = page.data((text(helper.record(chunk, { mode = "line" }))))
    local note
    for _, s in ipairs(header.sources) do
      if s.place:find "gone.lua" then note = s.note end
    end
    assert.has_text("no text", note)
  end)

  it("has the frames with their trees", function()
    local p = driven.tables(1000, function()
      for i = 1, 6 do
        tables(i == 5 and 200 or 10)
        profiler.frame()
      end
    end, { history = "full" })
    local header, trees = page.data((text(p)))
    assert.equal(6, header.frames.ended)
    assert.equal(6, #header.frames.list)
    assert.equal(7 + 2, #trees)  -- two of the time axis
    for i, f in ipairs(header.frames.list) do
      assert.equal(i, f.n)
      local self = 0
      for at = 3, #f.rows, 4 do self = self + f.rows[at] end
      assert.equal(f.ns, self)
      assert.equal(f.ns, sum(trees[f.tree + 1].self))
    end
  end)

  it("has the frames of a file by name, the slowest with trees", function(dir)
    local file = dir:file "frames.cprof"
    driven.tables(1000, function()
      for i = 1, 40 do
        tables(i == 25 and 200 or 10)
        profiler.frame()
        if i % 2 == 0 then profiler.frame "pairs" end
      end
    end, { file = file, slow_frames = { budget_ms = 1000 } })
    local header, trees = page.data((text(assert(profiler.load(file)))))
    local frames = header.frames
    assert.equal(40, #frames.list)
    assert.equal("pairs", frames.others[1].name)
    assert.equal(19, #frames.others[1].list)
    assert.equal(1 + 16 + 16 + 2, #trees)  -- two of the time axis
    assert.equal(0, #frames.usual % 3)
    local full = 0
    for _, f in ipairs(frames.list) do
      if f.tree then
        full = full + 1
        assert.equal(f.ns, sum(trees[f.tree + 1].self))
      else assert.equal(0, #f.rows)
      end
    end
    assert.equal(16, full)
    assert.is_truthy(frames.list[25].tree)
    -- in the words of the report
    local slowest = frames.list[25].more
    assert.matches("^[^,]*tables[^,]* %+%S+$", slowest)
    assert.has_text("  " .. slowest .. "\n", command.cprof("frames", file))
  end)

  it("has CPU and waiting time, by node and function", function()
    local function wait() driven.pass(1000000, 50000000, 2000000) end
    local p = driven.parts(function() for _ = 1, 3 do wait() end end)
    local header, trees = page.data((text(p)))
    assert.same({ "cpu", "wait" }, header.measures)
    assert.equal(p.meta.waiting_ns, sum(trees[1].wait))
    assert.equal(p.program_ns, sum(trees[1].wait) + sum(trees[1].cpu))
    local f, i = helper.find(p, wait), row_of(header, "wait")
    local of = header.functions.memory
    assert.equal(f.total_wait_ns, of.wait.total[i])
    assert.equal(f.total_ns - f.total_wait_ns, of.cpu.total[i])
    assert.is_true(of.wait.total[i] > 149000000)
    assert.equal(153000000, of.wait.total[i] + of.cpu.total[i])
    assert.is_nil(header.memory)
    -- the page has no options
    assert.has_text("most of the time was waiting: choose CPU, above, to " ..
      "leave it out", table.concat(header.notes, "\n"))
  end)

  it("has CPU and waiting time by line", function()
    local function wait()
      driven.pass(2000000)
      driven.pass(0, 50000000)
    end
    local p = driven.parts(wait, { mode = "line" })
    local header = page.data((text(p)))
    local cpu, waited = 0, 0
    for _, source in ipairs(header.sources) do
      cpu, waited = cpu + sum(source.lines.cpu), waited + sum(source.lines.wait)
    end
    assert.equal(p.meta.waiting_ns, waited)
    local at = debug.getinfo(wait, "S").linedefined + 2
    local lines = header.sources[1].lines
    for i, n in ipairs(lines.n) do
      assert.equal(n == at and waited or 0, lines.wait[i])
      assert.equal(lines.self[i] + lines.inC[i], lines.cpu[i] + lines.wait[i])
    end
    assert.is_true(cpu >= 2000000 and waited > 49000000)
  end)

  it("has columns in units of UTF-16, where text is no UTF-8, too", function()
    if require "cprof.core".internals() ~= "direct" then return end
    local code = "local x = ... local s = 'é\u{1F600}\xff' .. x"
    local chunk = assert(load(code, code))
    local p = helper.record(function() chunk "" end, { mode = "count" })
    local header, columns = page.data((text(p))), {}
    for _, source in ipairs(header.sources) do
      if source.text[1]:find("\\255' .. x", 1, true) then
        for i = 2, #source.expressions, 5 do
          columns[#columns + 1] = source.expressions[i]
        end
      end
    end
    assert.same({ 9, 35, 38 }, columns)
  end)

  it("has no place for functions that are not in a source", function()
    local header = page.data((text(helper.record(function() math.abs(1) end))))
    local f = header.functions
    for i, kind in ipairs(f.kind) do
      assert.equal(kind == "Lua" or kind == "main", f.place[i] ~= "",
        f.title[i])
    end
  end)

  it("has what was allocated, by node, function and line", function()
    local kept = {}
    local function keep(n) for i = 1, n do kept[i] = { kept[i] } end end
    local p = helper.record(function()
      for _ = 1, 3 do keep(1000) end
      collectgarbage()
    end, { mode = "line", memory = "live", memory_interval = 1,
      gc = not releases.without_gc() })
    local header, trees = page.data((text(p)))
    assert.same("bytes allocs live peak", measures_of(header))
    local f, i = helper.find(p, keep), row_of(header, "keep")
    assert.is_true(f.self_bytes > 3000 * 16 and f.live_bytes > 0)
    for what, of in pairs { bytes = { f.self_bytes, f.total_bytes },
      allocs = { f.self_allocs, f.total_allocs },
      live = { f.live_bytes, f.total_live_bytes },
      peak = { f.peak_bytes, f.total_peak_bytes } } do
      local own = header.functions.memory[what]
      assert.same(of, { own.self[i], own.total[i] }, what)
      local all = 0
      for k, n in ipairs(trees[1][what]) do
        if trees[1].func[k] == i - 1 then all = all + n end
      end
      assert.equal(of[1], all, what)
      assert.equal(#header.functions.title, #own.self)
    end
    assert.equal(sum(trees[1].bytes), header.memory.bytes)
    assert.equal(sum(trees[1].allocs), header.memory.allocs)
    local line = debug.getinfo(keep, "S").linedefined
    for _, source in ipairs(header.sources) do
      if source.place == "spec/html_spec.lua" then
        local own = p.lines["@spec/html_spec.lua"][line]
        for k, n in ipairs(source.lines.n) do
          if n == line then
            assert.same({ own.bytes, own.allocs, own.live_bytes },
              { source.lines.bytes[k], source.lines.allocs[k],
                source.lines.live[k] })
          end
        end
      end
    end
    if not releases.without_gc() then
      assert.equal(p.meta.gc_cycles, header.collector.cycles)
      assert.equal(p.meta.gc_longest_ns, header.collector.longest)
    end
  end)

  it("has what C functions allocate on the lines that call them", function()
    local p = helper.record(function() return ("x"):rep(100000) end,
      { mode = "line", memory = true })
    local header = page.data((text(p)))
    local most, where = 0, nil
    for _, source in ipairs(header.sources) do
      for k, n in ipairs(source.lines.bytes) do
        if n > most then most, where = n, source.text[source.lines.n[k]] end
      end
      assert.is_nil(source.lines.live)
    end
    assert.is_true(most >= 100000)
    assert.has_text('("x"):rep(100000)', where)
    assert.same("bytes allocs", measures_of(header))
    assert.is_nil(header.collector)
  end)

  it("has the size of the heap over time", function()
    local p = helper.record(function()
      local ends = os.time() + 120
      repeat
        for _ = 1, 100 do local _ = ("x"):rep(10000) end
      until #(profiler.snapshot().heap or {}) > 1 or os.time() > ends
    end, { memory = true })
    assert.is_true(#p.heap > 1)
    local header = page.data((text(p)))
    assert.equal(#p.heap, #header.heap.ns)
    assert.equal(p.heap[#p.heap].bytes, header.heap.bytes[#p.heap])
    assert.is_nil((page.data((text(called)))).heap)
  end)

  it("has what was allocated in frames", function()
    local p = helper.record(function()
      for i = 1, 3 do
        local t
        for _ = 1, i * 100 do t = { t } end
        profiler.frame()
      end
    end, { memory = true })
    local header = page.data((text(p)))
    for i, f in ipairs(header.frames.list) do
      assert.equal(#f.rows // 4, #f.bytes)
      assert.equal(p.frames:at(3 - i).bytes, sum(f.bytes))
      assert.equal(p.frames:at(3 - i).allocs, sum(f.allocs))
    end
  end)

  it("adds up nodes of little time, says so, and keeps functions", function()
    local p = driven.tables(1000, function()
      tables(1000)  -- nearly all of the time
      work()
    end)
    local s, notes = text(p, { min_percent = 20 })
    assert.has_text("added up as", notes)
    local header, trees = page.data(s)
    assert.equal(p.program_ns, sum(trees[1].self))
    assert.is_true(trees[1].n < #p.nodes - 1)
    assert.has_text(notes, table.concat(header.notes, "\n"))
    assert.is_truthy(row_of(header, "(below 20 %)"))
    assert.equal(helper.find(p, down).calls,
      header.functions.calls[row_of(header, "down")])
  end)

  it("of a part of the tree has the figures of that part", function()
    local header = page.data((text(called, { root = "down" })))
    assert.equal(helper.find(called, down).total_ns, header.whole)
    assert.equal(7, header.functions.calls[row_of(header, "leaf")] + 1)
  end)

  it("is not compressed without zlib, and shows the same figures", function(dir)
    assert(called:save(dir:file "x.cprof"))
    local code = ([[package.preload.zlib = function() error "none" end
      local p = assert(require "cprof".load "%s")
      assert(p:html "%s")]]):format(dir:file "x.cprof", dir:file "x.html")
    local _, err, status = command.shell(("$SPEC_LUA -e '%s'"):format(code))
    assert.equal(0, status, err)
    local s = command.read(dir:file "x.html")
    assert.has_text('data-encoding="none"', s)
    local header, trees = page.data(s)
    assert.equal(called.program_ns, header.whole)
    assert.equal(called.program_ns, sum(trees[1].self))
  end)

  it("fails in one line where a file of it is missing", function(dir)
    assert(called:save(dir:file "x.cprof"))
    command.shell(("cp -r lua '%s' && rm '%s/lua/cprof/html/flame.js'")
      :format(dir.path, dir.path))
    local _, err, status = command.shell(("LUA_PATH='%s/lua/?.lua;" ..
      "%s/lua/?/init.lua;;'\"$LUA_PATH\" $SPEC_LUA '%s/lua/cprof/bin/cprof' " ..
      "html -o '%s' '%s'"):format(dir.path, dir.path, dir.path,
      dir:file "x.html", dir:file "x.cprof"))
    assert.equal(2, status)
    assert.is_truthy(err:find "^cprof html: [^\n]*flame%.js[^\n]*" and
      err:find "missing from this installation\n$", err)
    assert.is_nil(io.open(dir:file "x.html"))
  end)

  it("raises an error for misuse, and gives a message for the rest",
    function()
      local why = helper.failure(called.html, called)
      assert.has_text("target must be a path", why)
      why = helper.failure(called.html, called, "x.html", { nodes = 1 })
      assert.has_text('unknown option "nodes"', why)
      local ok
      ok, why = called:html "/nowhere/x.html"
      assert.is_nil(ok)
      assert.matches("^cannot write /nowhere/x.html", why)
    end)
end)

describe("cprof html", function()
  local function saved(dir, name, p)
    assert(p:save(dir:file(name)))
    return dir:file(name)
  end

  -- runs a command of cprof in that folder
  local function within(dir, ...)
    return command.shell(("cd '%s' && $SPEC_LUA '%s/lua/cprof/bin/cprof' %s")
      :format(dir.path, core.cwd(), table.concat({ ... }, " ")))
  end

  it("writes a page beside the profile's name, and says where", function(dir)
    saved(dir, "run.cprof", lined)
    local _
    local out, err, status = within(dir, "html run.cprof")
    assert.equal(0, status, err)
    assert.equal("", out)
    assert.matches("^cprof html: run%.html, [%d.]+ KB; open it", err)
    assert.equal(lined.program_ns,
      (page.data(command.read(dir:file "run.html"))).whole)
    -- replaces a page of cprof, but no other file
    assert.equal(0, (select(3, within(dir, "html run.cprof"))))
    write(dir:file "run.html", "mine")
    _, err, status = within(dir, "html run.cprof")
    assert.equal(2, status)
    assert.matches("run.html exists and is not a cprof page", err)
    assert.equal("mine", command.read(dir:file "run.html"))
  end)

  it("writes to standard output for -o -", function(dir)
    saved(dir, "run.cprof", called)
    local out, err, status = within(dir, "html -o - run.cprof")
    assert.equal(0, status, err)
    assert.equal("", err)
    assert.equal(called.program_ns, (page.data(out)).whole)
  end)

  it("compares with a profile before it", function(dir)
    local function edited(name, code)
      local chunk = assert(load(code, "@edited.lua"))
      return saved(dir, name, helper.record(chunk))
    end
    edited("a.cprof", "local function old() end local function both() end " ..
      "old() both()")
    edited("b.cprof", "local function both() end local function fresh() " ..
      "end both() both() fresh()")
    local _, err, status = within(dir, "html --diff a.cprof b.cprof")
    assert.equal(0, status, err)
    local header, trees = page.data(command.read(dir:file "b.html"))
    local old, both, fresh = row_of(header, "old"), row_of(header, "both"),
      row_of(header, "fresh")
    assert.same({ old - 1 }, header.before.gone)
    assert.same({ 1, 1, 0 }, { header.before.has[old],
      header.before.has[both], header.before.has[fresh] })
    assert.same({ 1, 2 }, { header.before.calls[both],
      header.functions.calls[both] })
    assert.equal(header.before.whole, sum(trees[header.before.tree + 1].self))
  end)

  describe("with a trace", function()
    local program = [[
      local function leaf(n) local s = 0 for i = 1, n do s = s + i end end
      local function slow() leaf(200000) leaf(1) end
      local co = coroutine.wrap(function()
        slow() coroutine.yield() slow()
      end)
      co() leaf(10) co()
      pcall(function() error "x" end)
      slow()]]

    -- the page of a traced run, and what was said
    local function traced(dir, ...)
      write(dir:file "p.lua", program)
      local _, err, status = within(dir, "run --quiet -o p.cprof " ..
        "--trace=p.json p.lua")
      assert.equal(0, status, err)
      _, err, status = within(dir, "html --trace=p.json", ...)
      assert.equal(0, status, err)
      return page.data(command.read(dir:file "p.html"))
    end

    -- calls of a thread, with depths; and are they within their callers?
    local function calls_of(tree)
      local out, open, at, last = {}, {}, 0, -1
      for i = 1, tree.n do
        local depth = last + 1 - tree.levels[i]
        at = at + tree.calls[i]
        out[i] = { func = tree.func[i], depth = depth, at = at,
                   ends = at + tree.self[i] }
        if depth > 0 then
          assert.is_true(at >= open[depth - 1].at)
          assert.is_true(out[i].ends <= open[depth - 1].ends)
        end
        open[depth], last = out[i], depth
      end
      return out
    end

    it("has the calls of each coroutine in the order of time", function(dir)
      local header, trees = traced(dir, "p.cprof")
      local trace = header.trace
      assert.equal(2, #trace.threads)
      assert.equal(trace.calls, trace.shown)
      local calls, slow = 0, {}
      for _, thread in ipairs(trace.threads) do
        local list = calls_of(trees[thread.tree + 1])
        assert.equal(thread.n, #list - 1)
        assert.equal(trace.ns, list[1].ends)
        calls = calls + thread.n
        slow[#slow + 1] = 0
        for _, call in ipairs(list) do
          if header.functions.name[call.func + 1] == "slow" then
            slow[#slow] = slow[#slow] + 1
          end
        end
      end
      assert.equal(trace.calls, calls)
      table.sort(slow)
      assert.same({ 1, 2 }, slow)
      -- functions are those of the profile
      local p = assert(profiler.load(dir:file "p.cprof"))
      local titles = {}
      for _, f in ipairs(p.functions) do titles[f.title] = true end
      for _, title in ipairs(header.functions.title) do
        assert.is_true(titles[title], title)
      end
    end)

    it("has them at once where one command records and writes", function(dir)
      write(dir:file "p.lua", program)
      local _, err, status = within(dir, "run --quiet --html -o p.html " ..
        "--trace=p.json p.lua")
      assert.equal(0, status, err)
      local trace = page.data(command.read(dir:file "p.html")).trace
      assert.is_true(trace.calls > 10 and trace.calls == trace.shown)
    end)

    -- what is shown of a trace with a limit; `fill` adds its events
    local function shown(limit, fill)
      local dir <close> = command.folder()
      local events = { "[" }
      fill(function(phase, at)
        events[#events + 1] = ('{"name":"f","ph":"%s","ts":%d.000,"pid":1,' ..
          '"tid":1},'):format(phase, at)
      end)
      write(dir:file "p.json", table.concat(events, "\n"))
      return assert(require "cprof.html.traced".read(dir:file "p.json", limit))
    end

    -- a file with 4 calls of f, in which the collector makes 1 to 4 steps of
    -- 10 µs, and which take longer
    local function collected(limit)
      local dir <close> = command.folder()
      local events, at = { "[" }, 0
      local function add(name, phase, us)
        at = at + us
        events[#events + 1] = ('{"name":"%s","ph":"%s","ts":%d.000,"pid":1,' ..
          '"tid":1},'):format(name, phase, at)
      end
      for i = 1, 4 do
        add("f", "B", 0)
        for _ = 1, i do
          add("(garbage collector)", "B", 5)
          add("(garbage collector)", "E", 10)
        end
        add("f", "E", 5)
      end
      write(dir:file "p.json", table.concat(events, "\n"))
      local trees = {}
      local read = assert(require "cprof.html.traced".read(dir:file "p.json",
        limit))
      local of = require "cprof.html.traced".of(read, 0, function()
        return 1
      end, trees)
      return { of.calls, of.shown, of.steps, of.threads[1].n,
        of.threads[1].steps, trees[1].n }
    end

    it("tells steps of the garbage collector from calls", function(dir)
      assert.same({ 4, 4, 10, 4, 10, 15 }, collected())
      -- the shortest are left out, so that 4 calls and 2 steps are shown
      assert.same({ 4, 4, 10, 4, 2, 7 }, collected(6))
      if releases.without_gc() then return end
      write(dir:file "p.lua", [[
        local t
        for i = 1, 200000 do t = { i, { i } } end]])
      local _, err, status = within(dir, "run --quiet --gc -o p.cprof " ..
        "--trace=p.json p.lua")
      assert.equal(0, status, err)
      _, err, status = within(dir, "html --trace=p.json p.cprof")
      assert.equal(0, status, err)
      local p = assert(profiler.load(dir:file "p.cprof"))
      local trace = page.data(command.read(dir:file "p.html")).trace
      assert.is_true(trace.steps > 3)
      assert.equal(p.meta.gc_steps, trace.steps)
      assert.equal(trace.steps, trace.threads[1].steps)
      assert.equal(trace.calls, trace.threads[1].n)
    end)

    it("shows calls that never end, however many they are", function()
      local few = shown(6, function(add)
        for i = 1, 20 do add("B", i) end
        for i = 1, 4 do add("E", i + 20) end
      end)
      assert.same({ 20, 16, 16 }, { few.calls, few.shown, few.open })
    end)

    it("keeps as many as it may of calls that take as long", function()
      local few = shown(12, function(add)
        for i = 1, 30 do
          add("B", i * 10)
          add("E", i * 10 + 2)
        end
      end)
      assert.same({ 30, 12, 2001 }, { few.calls, few.shown, few.least })
    end)

    it("leaves no call out for one as short", function()
      local few = shown(6, function(add)
        -- nested calls, each slightly longer than the one it makes
        for i = 1, 10 do add("B", i) end
        for i = 1, 10 do add("E", 1000 + i) end
      end)
      assert.same({ 10, 6, 0 }, { few.calls, few.shown, few.open })
      local thread = few.threads[1]
      assert.same({ 1, 2, 3, 4, 5, 6 }, table.move(thread.depth, 1, thread.n,
        1, {}))
    end)

    it("leaves the shortest calls out where there are many", function(dir)
      -- calls of two coroutines, each of another length, some in others
      local events, at = { "[" }, 0
      local function add(phase, tid)
        at = at + 1
        events[#events + 1] = ('{"name":"f%d","ph":"%s","ts":%d.000,' ..
          '"pid":1,"tid":%d},'):format(tid, phase, at * at, tid)
      end
      for i = 1, 20 do
        local tid = i % 2 + 1
        add("B", tid)
        if i % 3 == 0 then
          add("B", tid)
          add("E", tid)
        end
        add("E", tid)
      end
      write(dir:file "p.json", table.concat(events, "\n"))
      local reader = require "cprof.html.traced"
      local all = assert(reader.read(dir:file "p.json"))
      local few = assert(reader.read(dir:file "p.json", 6))
      assert.same({ 26, 26 }, { all.calls, all.shown })
      assert.equal(0, all.least)
      assert.equal(all.calls, few.calls)
      assert.equal(6, few.shown)
      local kept = 0
      for i, thread in ipairs(all.threads) do
        local longer = {}
        for k = 1, thread.n do
          if thread.ns[k] >= few.least then
            longer[#longer + 1] = { thread.start[k], thread.ns[k],
              all.titles[thread.func[k]], thread.depth[k] }
          end
        end
        local of = few.threads[i]
        assert.equal(#longer, of.n)
        for k = 1, of.n do
          assert.same(longer[k], { of.start[k], of.ns[k],
            few.titles[of.func[k]], of.depth[k] })
        end
        kept = kept + of.n
      end
      assert.equal(few.shown, kept)
    end)

    it("of a killed program ends calls where it ends", function(dir)
      write(dir:file "t.json", '[\n' ..
        '{"name":"a \\"q\\"","ph":"B","ts":1.000,"pid":1,"tid":1},\n' ..
        '{"name":"b","ph":"B","ts":2.000,"pid":1,"tid":1},\n' ..
        '{"name":"b","ph":"E","ts":5.500,"pid":1,"tid":1},\n{"name":"c')
      local trace = assert(require "cprof.html.traced".read(
        dir:file "t.json"))
      assert.same({ 1000, 2000, 4500, 3500, 1, 'a "q"' }, {
        trace.threads[1].start[1], trace.threads[1].start[2],
        trace.threads[1].ns[1], trace.threads[1].ns[2], trace.open,
        trace.titles[1] })
    end)

    it("has no time below 0 where the clock stepped back", function(dir)
      saved(dir, "x.cprof", called)
      write(dir:file "t.json", '[\n' ..
        '{"name":"a","ph":"B","ts":9.000,"pid":1,"tid":1},\n' ..
        '{"name":"b","ph":"B","ts":8.000,"pid":1,"tid":1},\n' ..
        '{"name":"b","ph":"E","ts":5.500,"pid":1,"tid":1},\n' ..
        '{"name":"a","ph":"E","ts":9.500,"pid":1,"tid":1},\n')
      local _, err, status = within(dir, "html x.cprof --trace=t.json")
      assert.equal(0, status, err)
      local trace = assert(require "cprof.html.traced".read(
        dir:file "t.json"))
      assert.same({ { 9000, 9000 }, { 500, 0 }, 9500 }, {
        trace.threads[1].start, trace.threads[1].ns, trace.ns })
    end)

    it("refuses a file that is not a trace", function(dir)
      saved(dir, "x.cprof", called)
      write(dir:file "long.json", '[\n{"name":"a","ph":"B","ts":' ..
        '99999999999999999999.000,"pid":1,"tid":1},\n')
      for _, case in ipairs { { "x.cprof", "x.cprof has no calls" },
        { "gone.json", "cannot read gone.json" },
        { "long.json", "long.json is damaged: line 2 has a number of 20 " ..
          "digits" } } do
        local _, err, status = within(dir, "html x.cprof --trace=" .. case[1])
        assert.equal(2, status)
        assert.is_truthy(err:find("^cprof html: [^\n]*" .. case[2]) and
          err:find "^[^\n]+\n$", err)
      end
    end)
  end)

  it("tells bad options in one line", function(dir)
    local path = saved(dir, "x.cprof", called)
    for _, case in ipairs {
      { "--min-percent=200", "from 0 to 100" },
      { "--root=nobody", "option '%-%-root'.*nobody" },
      { "--diff=/nowhere/x.cprof", "/nowhere/x.cprof" },
      { "-o /nowhere/x.html", "cannot write /nowhere/x.html" },
    } do
      local words = {}
      for word in case[1]:gmatch "%S+" do words[#words + 1] = word end
      local err = command.refused("html", path, table.unpack(words))
      assert.matches("^cprof html: [^\n]*" .. case[2], err)
      assert.equal(1, count(err, "\n"), err)
    end
  end)

  it("has links to an editor, for --editor", function(dir)
    saved(dir, "x.cprof", lined)
    local function editor_of(...)
      local _, err, status = within(dir, "html x.cprof", ...)
      assert.equal(0, status, err)
      return page.data(command.read(dir:file "x.html")).editor
    end
    local editor = editor_of "--editor=vscode"
    assert.equal("vscode://file{file}:{line}", editor.address)
    assert.equal(core.cwd() .. "/spec/html_spec.lua",
      editor.files["spec/html_spec.lua"])
    assert.equal("my:{line}?{file}",
      editor_of("'--editor=my:{line}?{file}'").address)
    -- a page that is given to others has no paths
    assert.is_nil(editor_of())
    for _, wrong in ipairs { "notepad", "javascript:{file}",
      "JavaScript:{file}", "http://example.org/" } do
      local _, err, status = within(dir, "html x.cprof",
        ("'--editor=%s'"):format(wrong))
      assert.equal(2, status, wrong)
      assert.matches("^cprof html: option '%-%-editor': '", err)
      assert.equal(1, count(err, "\n"), err)
    end
  end)

  it("is done by cprof run --html at the end", function(dir)
    write(dir:file "p.lua", "for i = 1, 3 do string.rep('x', i) end")
    local _, err, status = within(dir, "run --lines --html -o p.html p.lua")
    assert.equal(0, status, err)
    assert.matches("Written to p.html, as html", err)
    local header = page.data(command.read(dir:file "p.html"))
    assert.equal(3, header.functions.calls[row_of(header, "string.rep")])
    _, err, status = within(dir, "run --html --format=csv -o x p.lua")
    assert.equal(2, status)
    assert.has_text("--html cannot be combined with", err)
  end)

  it("has instructions where these were counted", function(dir)
    if not counted then return pending(releases.without_internals()) end
    saved(dir, "x.cprof", counted)
    local _, err, status = within(dir, "html x.cprof")
    assert.equal(0, status, err)
    local header = page.data(command.read(dir:file "x.html"))
    assert.equal("instructions", header.unit)
    assert.equal(counted.meta.instructions, header.whole)
  end)
end)
