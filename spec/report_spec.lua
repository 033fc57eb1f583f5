-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local bound = require "cprof.count.bound"
local core = require "cprof.core"
local profiler = require "cprof"
local helper = require "helper"
local format = require "cprof.text.format"

-- takes n ms, for new tables take time
local function spin(n) for _ = 1, n do local _ = {} end end
local function ai() spin(4) spin(4) end
local function physics() spin(12) end
local function tiny() end
local function frame() ai() physics() end
local function game() for _ = 1, 3 do frame() end tiny() end

local p = driven.tables(1000000, function() game() end)

local function lines(s)
  local out = {}
  for line in s:gmatch "[^\n]*" do out[#out + 1] = line end
  return out
end

-- the cells of the rows whose function has this name
local function rows(s, name)
  local out = {}
  for _, line in ipairs(lines(s)) do
    local cells = {}
    for cell in line:gmatch "%S+" do cells[#cells + 1] = cell end
    for i, cell in ipairs(cells) do
      if cell == name then
        cells.line = line
        cells.name = i
        out[#out + 1] = cells
      end
    end
  end
  return out
end

local quiet = { color = "never", min_percent = 0, limit = 1000 }

local function report(mode, more)
  local o = { mode = mode }
  for k, v in pairs(quiet) do o[k] = v end
  for k, v in pairs(more or {}) do o[k] = v end
  return p:report(o)
end

describe("a report", function()
  it("begins with what ran, wall time, calls, mode and clock", function()
    local timed = helper.record(game)  -- with a clock of cprof's
    local head = lines(timed:report { mode = "total", width = 1000 })
    assert.matches("^cprof: %S", head[1])
    local meta = timed.meta
    local function part(ns, what)
      return ns == 0 and "" or (", %s %s"):format(format.time(ns), what)
    end
    -- the recording is so short that only a bound of its time may be known
    local cpu = timed.program_ns - meta.waiting_ns
    local most = bound.of(cpu, cpu + meta.overhead_ns)
    local parts = (most > cpu and part(most, "CPU"):gsub(" ", " <", 1) or
      part(cpu, "CPU")) ..
      part(meta.waiting_ns, "waiting") ..
      part(meta.preempted_ns, "preempted (excluded)") ..
      part(meta.overhead_ns, "profiler overhead (excluded)")
    assert.equal(format.time(meta.wall_ns) .. " wall: " .. parts:sub(3),
      head[2])
    local calls, functions, clock = head[3]:match(
      "^(%S+) calls, (%d+) functions, mode call, clock (%w+)$")
    assert.is_truthy(calls, head[3])
    local sum = 0
    for _, f in ipairs(timed.functions) do sum = sum + f.calls end
    assert.equal(format.count(sum), calls)
    assert.equal(#timed.functions - 2, tonumber(functions))
    assert.equal(timed.meta.clock, clock)
    -- a busy machine may make the times uncertain
    assert.is_truthy(head[4] == "" or head[4]:find "^note: ", head[4])
  end)

  it("is what profiler.report gives", function()
    profiler.start()
    game()
    profiler.stop()
    assert.equal(profiler.snapshot():report(quiet), profiler.report(quiet))
  end)

  it("has the figures of the profile", function()
    local f = helper.find(p, spin)
    local row = rows(report "total", "spin")[1]
    assert.equal(format.time(f.total_ns), row[1])
    local whole = p.nodes[1].total_ns - p.meta.overhead_ns
    assert.equal(format.percent(f.total_ns, whole), row[2])
    assert.equal(format.time(f.self_ns), row[3])
    assert.equal(format.percent(f.self_ns, whole), row[4])
    assert.equal("9", row[5])
    assert.equal(("spec/report_spec.lua:%d"):format(f.line), row[7])
  end)

  it("is sorted by total or by self time", function()
    local function column(mode, n, more)
      local out = {}
      local body = report(mode, more):match "\n\n[^\n]* function  .-\n(.*)"
      for _, line in ipairs(lines(body)) do
        local cell = line:match("^%s*" .. ("%S+%s+"):rep(n - 1) .. "(%S+)")
        if cell then out[#out + 1] = cell:gsub("<", "") end
      end
      return out
    end
    local function sorted(percents)
      for i = 2, #percents do
        assert.is_true(tonumber(percents[i]) <= tonumber(percents[i - 1]))
      end
      assert.is_true(#percents > 5)
    end
    sorted(column("total", 2))
    sorted(column("self", 2))
    sorted(column("total", 4, { sort = "self" }))
    local calls = column("total", 5, { sort = "calls" })
    for i, n in ipairs(calls) do calls[i] = n:gsub(",", "") end
    sorted(calls)
  end)

  it("merges functions with the same title", function()
    local q = helper.record(function()
      for i = 1, 4 do load("return " .. i, "=same")() end
    end)
    local s = q:report { mode = "self", min_percent = 0, limit = 1000 }
    assert.equal(1, #rows(s, "same"))
    local row = rows(s, "same")[1]
    -- a column for waiting may come before the calls
    assert.equal("4", row[row.name - 1])
    -- the functions of the header are the rows, with root and overhead
    local named, seen = 0, {}
    for _, f in ipairs(q.functions) do
      if not seen[f.title] then seen[f.title], named = true, named + 1 end
    end
    assert.is_true(named < #q.functions)
    assert.equal(tostring(named - 2), s:match ", (%d+) functions,")
  end)

  it("says what it cuts, and how much of the time that is", function()
    local s = p:report { mode = "total", limit = 2, min_percent = 0,
      color = "never" }
    local count, share = s:match "\n… (%d+) more functions, (%S+) %% self\n$"
    assert.is_truthy(count, s)
    -- without the root and profiler overhead
    assert.equal(#p.functions - 2, tonumber(count) + 2)
    assert.is_true(tonumber(share) > 90 and tonumber(share) <= 100)
    s = p:report { mode = "total", min_percent = 1, limit = 1000,
      color = "never" }
    for _, name in ipairs { "spin", "ai", "physics", "frame", "game" } do
      assert.equal(1, #rows(s, name), name)
    end
    assert.equal(0, #rows(s, "tiny"))
    assert.matches("\n… %d+ more functions?, %d+%.%d %% self\n$", s)
    assert.has_no_text("more function", report("total"))
  end)

  it("says when line hooks of the release have faults", function()
    local q = helper.record(function() end, { mode = "line" })
    local note = "line hooks of Lua 5.4.%d have faults that Lua 5.4.4 does " ..
      "not have"
    for patch = 0, 8 do
      q.meta.lua_release = "5.4." .. patch
      local s = q:report { width = 200 }
      assert.equal(patch < 4, s:find(note:format(patch), 1, true) ~= nil, s)
      assert.equal(patch < 2, s:find("crash it", 1, true) ~= nil, s)
    end
    q = helper.record(function() end)
    q.meta.lua_release = "5.4.0"
    assert.has_no_text("line hooks", q:report())
  end)

  it("can be filtered by a pattern", function()
    local s = report("total", { filter = "/^ai /" })
    assert.equal(1, #rows(s, "ai"))
    assert.equal(0, #rows(s, "spin"))
    s = report("self", { filter = "report_spec" })
    assert.equal(1, #rows(s, "spin"))
    assert.equal(0, #rows(s, "pcall"))
  end)

  it("fits the width", function()
    for _, mode in ipairs { "summary", "total", "self", "callgraph", "tree",
      "file" } do
      for _, width in ipairs { 60, 80, 100, 140, 200 } do
        for _, line in ipairs(lines(report(mode, { width = width }))) do
          assert.is_true(format.width(line) <= width, line)
        end
      end
    end
  end)

  it("has colours only when they are wanted", function()
    assert.has_no_text("\27", p:report { color = "never" })
    assert.has_no_text("\27", p:report()) -- this is no terminal
    local s = p:report { color = "always" }
    local hottest = format.paint(true)("heat8", "x"):match "^(.*)x"
    assert.has_text(hottest, s)
    assert.equal(p:report { color = "never" },
      (s:gsub("\27%[[%d;]*m", ""):gsub(" +\n", "\n")))
  end)

  it("shows pauses, but not those for reports", function()
    profiler.start()
    profiler.pause()
    core.sleep(0.001)
    profiler.resume()
    profiler.stop()
    assert.matches("wall: .-%S+%s+paused%s+%(not%s+recorded%)",
      profiler.report())
    profiler.start()
    for _ = 1, 3 do
      assert.has_no_text("paused", profiler.report())
      profiler.snapshot()
    end
    profiler.stop()
    assert.has_no_text("paused", profiler.report())
    assert.equal(0, profiler.snapshot().meta.paused_ns)
    helper.check(profiler.snapshot())
  end)

  it("shows what is under one percent when an order or a filter is asked for",
    function()
      local small = {}
      for _, f in ipairs(p.functions) do
        if f.total_ns * 100 < p.program_ns then small[#small + 1] = f end
      end
      assert.is_true(#small > 0)
      local function shows(options)
        options.mode, options.limit, options.width = "total", 1000, 200
        local s = p:report(options)
        for _, f in ipairs(small) do
          if #rows(s, f.name) > 0 then return true end
        end
        return false
      end
      assert.is_false(shows {})
      assert.is_true(shows { sort = "calls" })
      assert.is_true(shows { filter = "." })
      assert.is_false(shows { sort = "calls", min_percent = 1 })
    end)

  it("says in one line that nothing matches, and what there is", function()
    for _, mode in ipairs { "summary", "total", "tree", "callgraph" } do
      local s = p:report { mode = mode, filter = "phsics" }
      assert.matches("^cprof: [^\n]*\n.-\n\nno function matches filter " ..
        "'phsics'; there are: physics %(", s)
      s = p:report { mode = mode, filter = "physics" }
      assert.has_no_text("matches", s)
    end
  end)

  it("is one value, as functions that write it need", function()
    for _, filter in ipairs { "physics", "nothing" } do
      assert.equal(1, select("#", p:report { filter = filter }))
    end
  end)

  it("has the same shares of a function in each of its views", function()
    local f = helper.find(p, spin)
    local total = format.percent(f.total_ns, p.program_ns)
    local own = format.percent(f.self_ns, p.program_ns)
    local function cell(mode, n, more)
      local row = rows(report(mode, more), "spin")[1]
      return row[n]
    end
    assert.same({ total, own }, { cell("total", 2), cell("total", 4) })
    assert.same({ own, total }, { cell("self", 2), cell("self", 4) })
    assert.same({ own, total }, { cell("summary", 2), cell("summary", 4) })
    assert.same({ own, total }, { cell("file", 2), cell("file", 4) })
    assert.equal(total, cell("tree", 2, { root = "spin" }))
    assert.equal(total, report("callgraph"):match(
      "\n *%S+ +(%S+) +%S+ +%d+  spin "))
  end)

  it("blames the line that gives a wrong option", function()
    for _, options in ipairs { { measure = "alloc" }, { sort = "alloc" },
                               { sort = "max" }, { mode = "nothing" } } do
      local _, err = pcall(function() p:report(options) end)
      assert.matches("^spec/report_spec.lua:%d+: ", err)
    end
  end)

  it("checks its options", function()
    for _, case in ipairs {
      { { mode = "pie" }, "report: option 'mode' must be one of " ..
        '"summary", "self", "total", "callgraph", "tree", "flame", "file", ' ..
        '"frames", got "pie"' },
      { { limit = 0 }, "report: option 'limit' must be an integer of at " ..
        "least 1" },
      { { min_percent = 101 },
        "report: option 'min_percent' must be a number" },
      { { filter = "/[/" }, "report: option 'filter' must be a string, or a " ..
        "Lua pattern between slashes (missing ']'), got" },
      { { color = true }, "report: option 'color' must be one of" },
      { { width = 10 }, "report: option 'width' must be an integer of at " ..
        "least 40" },
      { { colour = "x" }, "report: unknown option \"colour\"; valid " ..
        "options: color, depth, filter, format, height, hyperlinks, limit, " ..
        "measure, min_percent, mode, root, sort, width" },
      { { height = 5 }, "report: option 'height' must be an integer of at " ..
        "least 10" },
      { { format = "html" }, "report: option 'format' must be one of " },
      { { depth = 2 }, "report: option 'depth' needs mode = \"tree\" " ..
        "or \"flame\"" },
      { { mode = "self", root = "spin" },
        "report: option 'root' needs mode = \"tree\" or \"flame\"" },
      { { mode = "tree", root = "sipn" },
        "report: no function 'sipn' was recorded; there are: spin (" },
    } do
      local message = helper.failure(p.report, p, case[1])
      assert.has_text(case[2], message)
    end
    local message = helper.failure(function()
      return (profiler.report { x = 1 })
    end)
    assert.matches("^spec/report_spec.lua:%d+: report: unknown", message)
  end)
end)

describe("mode callgraph", function()
  -- blocks of lines, as { label, total, self, calls }, indented or not
  local function blocks(s)
    local out, block = {}, {}
    for i, line in ipairs(lines(s)) do
      if i > 4 then
        local total, _, own, calls, indent, label = line:match(
          "^%s*(%S+)%s+(%S+)%s+(%S+)%s+(%S+)  (%s*)(%S+)")
        if total then
          block[#block + 1] = { label = label, total = total, own = own,
            calls = calls, below = #indent > 0 }
        elseif #block > 0 then
          out[#out + 1] = block
          block = {}
        end
      end
    end
    return out
  end

  it("has callers above and callees below each function", function()
    local found
    for _, block in ipairs(blocks(report "callgraph")) do
      for i, row in ipairs(block) do
        if row.label == "spin" and not row.below then
          found = true
          assert.equal(3, i)
          assert.equal(3, #block)
          local names = { block[1].label, block[2].label }
          table.sort(names)
          assert.same({ "ai", "physics" }, names)
          for _, caller in ipairs { block[1], block[2] } do
            assert.equal(caller.label == "ai" and "6" or "3", caller.calls)
          end
        elseif row.label == "frame" and not row.below then
          assert.equal(2, i)
          assert.equal("game", block[1].label)
          assert.equal(4, #block)
        end
      end
    end
    assert.is_true(found)
  end)

  it("shows exact attribution, not gprof's guess", function()
    local function ray(n) spin(n) end
    local function short() ray(1) end
    local function long() ray(21) end
    local q = driven.tables(1000, function()
      for _ = 1, 5 do short() long() end
    end)
    local _, edges = q:sums(function(f) return f.name end)
    local by = {}
    for _, e in ipairs(edges) do
      if e.callee.title == "ray" then by[e.caller.title] = e end
    end
    assert.equal(by.short.calls, by.long.calls)
    assert.is_true(by.long.total_in_ns > 20 * by.short.total_in_ns)
    assert.equal(helper.find(q, ray).total_ns,
      by.long.total_in_ns + by.short.total_in_ns)
  end)
end)

describe("mode file", function()
  it("groups by source file, with subtotals and a total", function()
    local s = report "file"
    local own, share = s:match(
      "(%S+) +(%S+) +%S+ +%S+ +%S+  spec/report_spec.lua\n")
    local sum = 0
    for _, f in ipairs(p.functions) do
      if f.source == "@spec/report_spec.lua" then sum = sum + f.self_ns end
    end
    assert.equal(format.time(sum), own)
    assert.equal(format.percent(sum,
      p.nodes[1].total_ns - p.meta.overhead_ns), share)
    assert.matches("\n *%S+ +100%.0 +%S+ +100%.0 +%S+  total\n", s)
    assert.has_text("  [C]\n", s)
    assert.is_true(s:find "spec/report_spec.lua\n" < s:find "  spin")
  end)
end)

describe("a report of frames", function()
  local host = require "spec_host"

  -- Frames that take `times`, in ms. In frames with a name, `rare` takes most
  -- of the time.
  local function slow(times, code)
    local S = host.state()
    local result = S:run(([[
      local profiler, zones = require "cprof", require "spec_zones"
      zones.clock(true)
      local function usual(ms) zones.pass(ms * 1000000) end
      local function rare(ms) usual(ms) end
      profiler.start { exclude = { ".pass " }, %s }
      profiler.frame()
      for _, ms in ipairs { %s } do
        usual(1)
        if ms > 1 then
          profiler.enter "rare"
          zones.pass((ms - 1) * 1000000)
          profiler.leave "rare"
        end
        profiler.frame()
      end
      profiler.stop()
      return profiler.report { mode = "frames", color = "never", width = 80 }
    ]]):format(code or "", table.concat(times, ", ")))
    S:close()
    return (result:gsub("^.-\n\n", ""))
  end

  it("shows how long they took and what the slow ones did more of",
    function()
      local times = {}
      for i = 1, 98 do times[i] = 1 end
      times[50], times[70] = 21, 5
      assert.equal([[
99 frames
median 1.00ms, p90 1.00ms, p99 21.0ms, max 21.0ms

frame      at    time  more than usual, self time
   51  49.0ms  21.0ms  rare +19.8ms
   71  89.0ms  5.00ms  rare +3.75ms
… 97 faster frames
]], slow(times))
    end)

  it("shows those over budget, also where they are no longer kept",
    function()
      local times = {}
      for i = 1, 60 do times[i] = 1 end
      times[3] = 31
      assert.equal([[
61 frames, 1 over the budget of 30.0ms
median 1.00ms, p90 1.00ms, p99 31.0ms, max 31.0ms

frame      at    time  more than usual, self time
    4  2.00ms  31.0ms  rare +29.5ms
… 60 faster frames
]], slow(times, "history = 10, slow_frames = { budget_ms = 30 }"))
    end)

  it("tells a budget that no frame is over", function()
    assert.equal("4 frames, none over the budget of 16.7ms",
      slow({ 1, 1, 1 }, "slow_frames = { budget_ms = 16.7 }"):match "^[^\n]*")
  end)

  it("tells time outside functions and zones", function()
    local S = host.state()
    local text = S:run [[
      local profiler, zones = require "cprof", require "spec_zones"
      zones.clock(true)
      local function usual() zones.pass(1000000) end
      -- the rest is the root's
      profiler.start { include = { "/^usual /" } }
      for i = 1, 20 do
        usual()
        if i == 16 then zones.pass(18000000) end
        profiler.frame()
      end
      profiler.stop()
      return profiler.report { mode = "frames", color = "never", width = 80 }
    ]]
    S:close()
    assert.matches("\n +16 +%S+  19%.0ms  %(root%) %+16%.9ms\n", text)
  end)

  it("shows the slowest where none is slower than the others", function()
    assert.equal([[
9 frames
median 1.00ms, p90 1.00ms, p99 1.00ms, max 1.00ms

frame      at    time
    2     0ns  1.00ms
    3  1.00ms  1.00ms
    4  2.00ms  1.00ms
… 6 faster frames
]], slow { 1, 1, 1, 1, 1, 1, 1, 1 })
  end)

  it("says when there are none", function()
    assert.equal("no frames: the program does not call cprof.frame\n",
      (require "cprof".start() or require "cprof".stop() and
      require "cprof".report { mode = "frames" }:gsub("^.-\n\n", "")))
  end)
end)
