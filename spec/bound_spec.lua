-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local bound = require "cprof.count.bound"
local core = require "cprof.core"
local format = require "cprof.text.format"
local helper = require "helper"
local measure = require "cprof.count.measure"
local page = require "page"
local profiler = require "cprof"
local graph = require "cprof.count.graph"
local selection = require "cprof.report.select"

local function busy(n)
  local x = 0
  for i = 1, n do x = x + i end
  return x
end
local function idle() end
local function often()
  for _ = 1, 5000 do idle() end
end
local function work() busy(2000) often() end

-- a profile where every event takes 1000 ns and nothing else takes time, and
-- the measured cost of every event is `ns`
local function recorded(ns, options, run)
  local p = driven.compensate(1000, 100, run or work, options)
  local costs = {}
  for name in pairs(p.meta.costs_ns) do costs[name] = ns end
  core.costs(costs)
  return profiler.snapshot()
end

local explained = "< is an upper bound: most of the measured time is " ..
  "overhead\n"

describe("the CPU time in the header", function()
  it("is a bound where most of what was measured is overhead", function()
    for ns, bounded in pairs { [990] = true, [100] = false } do
      local p = recorded(ns)
      p.meta.waiting_ns = 0  -- this clock knows of none
      local cpu = p.program_ns
      local most = bound.of(cpu, cpu + p.meta.overhead_ns)
      assert.equal(bounded, most > cpu)
      assert.has_text((bounded and " <%s CPU, " or " %s CPU, "):format(
        format.time(most)), p:report { width = 1000 })
    end
  end)
end)

describe("a time", function()
  it("is uncertain when it is less than a quarter of what was taken out",
    function()
      assert.equal(100, bound.of(100, 100))
      assert.equal(100, bound.of(100, 500))
      assert.equal(99 + 101, bound.of(99, 501))
      assert.equal(100, bound.of(0, 400))
      assert.equal(1, bound.of(0, 1))
      assert.equal(0, bound.of(0, 0))
    end)

  it("is at most one that has it in it", function()
    assert.equal(150, bound.of(99, 501, 150))
    assert.equal(200, bound.of(99, 501, 300))
    assert.equal(99, bound.of(99, 501, 50))
    assert.equal(100, bound.of(100, 500, 50))
    local function most(self_ns, self_raw, total_ns, total_raw, all)
      local row = bound.set({ self = self_ns, self_raw = self_raw,
        total = total_ns, total_raw = total_raw }, all)
      return { row.self_most, row.total_most }
    end
    assert.same({ 120, 120 }, most(50, 450, 120, 520))
    assert.same({ 110, 110 }, most(50, 450, 60, 1060, 110))
    assert.same({ 150, 0 }, most(50, 450, 0, 0))
    assert.same({ 110, 0 }, most(50, 450, 0, 0, 110))
  end)

  it("is at most that of its function, and of the program, in every view",
    function()
      local p = recorded(2100, { mode = "line" }, function()
        driven.cpu(500000)
        string.rep("x", 5000)
        driven.cpu(1000)
        for _ = 1, 10 do often() end
      end)
      local all = p.program_ns
      assert.is_true(all > 0 and helper.find(p, idle).self_raw_ns > all * 4)
      assert.is_nil(bound.most(p))
      -- as if no event had been cheaper
      p.meta.clamped_ns = 0
      all = bound.most(p)
      -- the program's own time is as uncertain as the overhead is
      assert.equal(bound.of(p.program_ns, p.program_ns + p.meta.overhead_ns),
        all)
      for _, row in ipairs((graph.functions(p))) do
        assert.is_true(row.self_most <= row.total_most, row.title)
        assert.is_true(row.total_most <= all, row.title)
      end
      local units = { ns = 1, ["µs"] = 1e3, ms = 1e6, s = 1e9 }
      local count = 0
      for _, s in ipairs { p:report { mode = "self", min_percent = 0 },
        p:report { mode = "tree", min_percent = 0 },
        p:report { mode = "callgraph", min_percent = 0 },
        p:report { mode = "file", min_percent = 0 }, p:report(),
        p:annotate(nil, { sort = "self" }), p:annotate() } do
        for n, unit in s:gmatch "<([%d.]+)([nµm]*s)" do
          count = count + 1
          assert.is_true(tonumber(n) * units[unit] <= all * 1.01, s)
        end
      end
      assert.is_true(count > 10, count)
    end)

  it("is printed as a bound then, in every view, and explained once",
    function()
      local p = recorded(1e6)
      local f = helper.find(p, idle)
      assert.equal(0, f.self_ns)
      local most = helper.shown(f.self_ns, f.self_raw_ns)
      assert.equal("<" .. format.time((f.self_raw_ns + 3) // 4), most)
      for _, mode in ipairs { "summary", "self", "total", "tree", "callgraph",
        "file" } do
        local s = p:report { mode = mode, min_percent = 0, limit = 1000,
          width = 200 }
        assert.has_text(most, s, mode .. s)
        local _, count = s:gsub(explained:gsub("%%", "%%%%"), "")
        assert.equal(1, count, mode)
        assert.no_matches("%f[%S]0ns[^\n]* 5,000 ", s)
      end
    end)

  it("has the share of its bound, at most all, beside the bound", function()
    local whole = measure.new(measure.named "time", 1000)
    assert.equal("12.3", whole:share(123))
    assert.equal("12.3", whole:share(123, 123))
    assert.equal("<45.6", whole:share(123, 456))
    assert.equal("<100.0", whole:share(123, 1456))
    local large = measure.new(measure.named "time", 1000000)
    assert.equal("<0.1", large:share(0, 1))
    assert.equal("100.0", whole:share(1000, 1456))
    local p = recorded(1010, { mode = "line" }, function()
      driven.cpu(500000)
      string.rep("x", 5000)
      driven.cpu(1000)
      often()
    end)
    local f = helper.find(p, idle)
    local time = helper.shown(f.self_ns, f.self_raw_ns)
    local share = "<" .. format.percent((f.self_raw_ns - f.self_ns + 3) // 4 +
      f.self_ns, p.program_ns)
    assert.equal("<", time:sub(1, 1))
    for _, s in ipairs { p:report { mode = "self", min_percent = 0 },
      p:report { mode = "tree", min_percent = 0 },
      p:annotate(nil, { focus = "idle" }) } do
      local line = s:match("\n([^\n]*" .. time .. "[^\n]*)")
      assert.is_truthy(line and line:find(share, 1, true), s)
    end
  end)

  it("is not, nor explained, where it is known", function()
    local p = helper.record(function() busy(1000000) end)
    local s = p:report { mode = "self", min_percent = 5 }
    assert.no_matches("<[%d.]", s)
    p = helper.record(work, { compensate = false })
    s = p:report { mode = "self", min_percent = 0 }
    assert.no_matches("<[%d.]", s)
  end)

  it("is ordered by its estimate, then by its bound", function()
    local rows = graph.functions(recorded(1e6))
    selection.sort(rows, "self")
    assert.is_true(#rows > 5)
    for i = 2, #rows do
      local a, b = rows[i - 1], rows[i]
      assert.is_true(a.self > b.self or a.self == b.self and
        a.self_most >= b.self_most)
    end
  end)

  it("of a line is a bound, too", function()
    local p = recorded(1e6, { mode = "line" })
    local here = debug.getinfo(1, "S").source
    local at = debug.getinfo(often, "S").linedefined + 1
    local line = p.lines[here][at]
    assert.is_true(line.hits >= 5000)
    local own = helper.shown(line.self_ns, line.self_raw_ns)
    local total = helper.shown(line.total_ns, line.total_raw_ns)
    assert.equal("<", own:sub(1, 1))
    assert.equal("<", total:sub(1, 1))
    for _, s in ipairs { p:annotate(here, { width = 200 }),
      p:annotate(nil, { sort = "self", limit = 100, width = 200 }),
      p:annotate(nil, { focus = "often", width = 200 }) } do
      assert.has_text(own, s)
      assert.has_text(total, s)
      assert.has_text("\n" .. explained, s)
    end
  end)
end)

describe("a report's head", function()
  local function note(p)
    return p:report { width = 200 }:match "\nnote: (recording took [^\n]*)"
  end

  it("says when overhead was most of the time, and what knows better",
    function()
      local p = recorded(1e6)
      local ns = p.meta.overhead_ns
      assert.is_true(ns > 0.75 * measure.recorded(p.meta))
      assert.equal(("recording took %s, more than the program itself; this " ..
        "estimate may be off by a quarter, and so the sum of all times by " ..
        "%s; --sample gives true shares of small functions"):format(
        format.time(ns), format.time(ns // 4)), note(p))
      -- the same figure as in the line of the parts of the time, and no share
      -- of another whole
      assert.has_text(format.time(ns) .. " profiler overhead (excluded)",
        p:report { width = 200 })
      local html = {}
      assert(p:html(function(s) html[#html + 1] = s end))
      local header = page.data(table.concat(html))
      assert.equal(ns, header.meta.overhead_ns)
      assert.has_text("recording took " .. format.time(ns), header.notes[1])
      assert.has_text("; mode call, or fewer lines (--lines=PATTERN), is " ..
        "more exact", note(recorded(1e6, { mode = "line" })))
      assert.is_nil(note(recorded(0, nil, function()
        busy(3000000)
        work()
      end)))
    end)

  it("says what was left to the callers", function()
    for options, told in pairs {
      [{ c_functions = false }] = "without C functions; their time and " ..
        "overhead are charged to their callers",
      [{ exclude = { "[C]", "idle" } }] =
        'without "[C]", "idle"; their',
      [{ c_functions = false, exclude = { "idle" } }] =
        'without C functions, "idle"; their',
      [{ include = { "busy" } }] = 'only functions that match "busy"; ' ..
        "time and overhead of others are charged to their callers",
    } do
      local p = helper.record(work, options)
      local path = os.tmpname()
      assert(p:save(path))
      for _, q in ipairs { p, assert(profiler.load(path)) } do
        assert.has_text("\nnote: " .. told, q:report { width = 200 },
          q:report())
      end
      os.remove(path)
      os.remove(path)
      options.file = path
      helper.record(work, options)
      assert.has_text("\nnote: " .. told,
        assert(profiler.load(path)):report { width = 200 })
      os.remove(path)
    end
    assert.has_no_text("callers'", helper.record(work):report())
  end)

  it("names code that is stripped of its lines", function()
    local chunk = load(string.dump(load [[
      local function f() return ("x"):rep(1 << 22) end
      f()]], true))
    local p = helper.record(function() chunk() end, { mode = "line" })
    assert.has_text("\nnote: 2 functions have no lines: the code is stripped\n",
      p:report { width = 200 }, p:report())
    assert.matches("… 2 functions of stripped code, which has no lines, %S+ " ..
      "%% self", p:annotate(nil, { width = 200 }))
    p = helper.record(function() chunk() end)
    assert.has_no_text("stripped", p:report())
  end)

  it("tells patterns that matched nothing, and what there is", function()
    for _, case in ipairs {
      { { include = { "idel" } }, "no function matches include 'idel'; " ..
        "there are: idle (" },
      { { exclude = { "/^busy /", "oftn" } },
        "no function matches exclude 'oftn'; there are: often (" },
      { { mode = "line", lines = { "bond_spec" } },
        "no source matches lines 'bond_spec'; there are: spec/bound_spec" },
    } do
      case[1].file = os.tmpname()
      os.remove(case[1].file)
      local p = helper.record(work, case[1])
      for _, q in ipairs { p, assert(profiler.load(case[1].file)) } do
        local s = q:report { width = 400 }
        assert.has_text("\nnote: " .. case[2], s)
        assert.matches("^cprof: [^\n]*\nnote: no ", s)
        if case[1].mode == "line" then
          assert.equal(1, (q:annotate(nil, { width = 400 }):find("note: " ..
            case[2], 1, true)))
        end
        local _, count = s:gsub("matches", "")
        assert.equal(1, count)
      end
      os.remove(case[1].file)
    end
  end)
end)
