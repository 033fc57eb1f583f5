local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local profiler = require "cprof"
local steady = require "steady"

local function spin(n)
  local x = 0
  for i = 1, n do x = x + i end
  return x
end

local function leaf(n) spin(n * 30) end

local odd
local function even(n) leaf(1) if n > 0 then odd(n - 1) end leaf(1) end
function odd(n) leaf(2) if n > 0 then even(n - 1) end end
local function deep(n) leaf(n) if n > 0 then deep(n - 1) end end

local function work(i)
  profiler.enter "job"
  deep(i % 5 + 2)
  even(i % 4 + 2)
  leaf(3)
  profiler.leave "job"
end

-- Without compensation, no time is zero, whatever events are assumed to cost.
local function frames(count, options)
  options = options or {}
  if options.compensate == nil then options.compensate = false end
  return helper.record(function()
    for i = 1, count do
      work(i)
      profiler.frame()
    end
  end, options)
end

local function ns(ms) return math.floor(ms * 1e6 + 0.5) end

-- lines as text: cursor, indent, mark and name
local function text(view, height)
  local out = {}
  for i, line in ipairs(view:lines(height)) do
    out[i] = ("%s%s%s%s"):format(line.highlighted and ">" or " ",
      ("  "):rep(line.indent), line.marks, line.name)
  end
  return out
end

local function names(view)
  local out = {}
  for i, line in ipairs(view:lines()) do out[i] = line.name end
  return out
end

local function index(list, name)
  for i, n in ipairs(list) do
    if n == name then return i end
  end
  error("no line " .. name)
end

-- puts the cursor on the line with that name
local function on(view, name)
  view:cursor(index(names(view), name))
  return view
end

-- the name on the line with the cursor
local function under(view)
  for _, line in ipairs(view:lines()) do
    if line.highlighted then return line.name, line end
  end
end

-- The sums of a call graph: callers, the zone itself, callees.
local function graph_sums(view)
  local callers, callees, own = 0, 0, nil
  local calls = 0
  for _, line in ipairs(view:lines()) do
    if line.indent == 0 then own = line
    elseif own then callees = callees + ns(line.values[2])
    else
      callers = callers + ns(line.values[2])
      calls = calls + line.values[3]
    end
  end
  return callers, own, callees, calls
end

local function check_graph(view, what)
  local callers, own, callees, calls = graph_sums(view)
  local total = ns(own.values[2])
  assert.equal(total, ns(own.values[1]) + callees, what .. ": callees")
  if own.name ~= "(root)" then
    assert.equal(total, callers, what .. ": callers")
    assert.near(own.values[3], calls, 1e-6, what .. ": calls")
  end
end

-- How often a view's data has a value that JSON cannot hold, or a table within
-- itself.
local function odd_parts(t, above, found)
  if getmetatable(t) or above[t] then
    found[#found + 1] = "a table"
    return found
  end
  above[t] = true
  for k, v in pairs(t) do
    if type(k) ~= "string" and math.type(k) ~= "integer" or
       type(v) == "function" or type(v) == "userdata" then
      found[#found + 1] = tostring(k)
    elseif type(v) == "table" then
      odd_parts(v, above, found)
    end
  end
  above[t] = nil
  return found
end

describe("what a view gives", function()
  it("is plain data", function()
    for _, options in ipairs { {}, { memory = true }, { mode = "line" } } do
      options.history = "full"
      local view = profiler.view(frames(4, options))
      local count = 0
      local function check(t)
        count = count + #t
        assert.same({}, odd_parts(t, {}, {}))
      end
      for _ = 1, 2 do  -- functions, then callers and callees of one
        for _, mode in ipairs { "self", "total", "callgraph", "tree" } do
          view:mode(mode)
          view:expand()
          check(view:lines())
        end
        view:mode "self"
        check { view:titles(), view:graph(), view:series "job" }
        on(view, "leaf"):select()
      end
      assert.is_true(count > 20, count)
    end
  end)
end)

describe("a view's lines", function()
  local p, view
  setup(function() p = frames(10, { history = "full" }) end)
  before_each(function() view = profiler.view(p) end)

  it("are functions and zones by self or total time", function()
    view:average(0)
    for mode, column in pairs { self = 1, total = 2 } do
      assert.equal(mode, view:mode(mode))
      local lines = view:lines()
      assert.is_true(#lines >= 8)
      for i = 2, #lines do
        assert.is_true(lines[i - 1].values[column] >= lines[i].values[column])
        assert.equal(0, lines[i].indent)
      end
      local rows, found = p.frames:at(0).rows, 0
      local own = { job = true, leaf = true, deep = true, even = true,
        odd = true, spin = true, ["cprof.frame"] = true }
      for _, row in ipairs(rows) do
        for _, line in ipairs(lines) do
          if line.name == row.func.name and own[line.name] then
            found = found + 1
            assert.equal(row.self_ns, ns(line.values[1]))
            assert.equal(row.total_ns, ns(line.values[2]))
            assert.equal(row.calls, line.values[3])
          end
        end
      end
      assert.equal(7, found)
    end
  end)

  it("have a name, figures, marks, heat and the cursor", function()
    view:mode "self"
    for i, line in ipairs(view:lines()) do
      assert.equal("string", type(line.name))
      assert.equal(3, #line.values)
      assert.equal(3, #line.shown)
      assert.is_true(line.heat >= 0 and line.heat <= 1)
      assert.matches("^[-+ ]$", line.marks)
      assert.equal(i == 1, line.highlighted)
    end
    assert.same({ "self ms", "total ms", "calls/frame" },
      view:titles().values)
    view:average(0)
    assert.same({ "self ms", "total ms", "calls" }, view:titles().values)
    assert.equal("zone", view:titles().name)
  end)

  it("show no calls where there were none", function()
    on(view, "job")
    local _, line = under(view)
    assert.same({ true, true, true }, line.shown)
    on(view, "(root)")
    _, line = under(view)
    assert.equal(0, line.values[3])
    assert.is_false(line.shown[3])
    assert.is_true(line.shown[2])
  end)

  it("are those around the cursor, where the height is small", function()
    local all = names(view)
    for i = 1, #all do
      view:cursor(i)
      local lines = view:lines(3)
      assert.equal(3, #lines)
      local seen
      for _, line in ipairs(lines) do
        if line.highlighted then seen = line.name end
      end
      assert.equal(all[i], seen)
    end
    view:cursor(1)
    assert.equal(#all, #view:lines(1000))
    assert.equal(all[1], view:lines(1)[1].name)
  end)

  it("tell what heat is: how much a zone changes", function()
    local result = steady.run([[
      local cprof = require "cprof"
      for i = 1, 40 do
        cprof.enter "cold" pass(2000) cprof.leave "cold"
        cprof.enter "hot" pass(i % 8 == 0 and 8000 or 0) cprof.leave "hot"
        cprof.frame()
      end]], "", [[
      local view, of = profiler.view(p), {}
      view:average "all"
      for _, row in ipairs(p.frames:averages "all") do
        of[row.func.name] = row
      end
      local out = {}
      for mode, field in pairs { self = "heat", total = "total_heat" } do
        view:mode(mode)
        for _, line in ipairs(view:lines()) do
          if line.name == "hot" or line.name == "cold" then
            assert(of[line.name][field] == line.heat)
            out[#out + 1] = ("%s %s %.1f"):format(mode, line.name, line.heat)
          end
        end
      end
      table.sort(out)
      return table.concat(out, ", ")]])
    assert.equal("self cold 0.0, self hot 1.0, total cold 0.0, " ..
      "total hot 1.0", result)
  end)
end)

describe("a view's cursor", function()
  local view
  before_each(function() view = profiler.view(frames(6, {})) end)

  it("stays within the lines", function()
    local many = #view:lines()
    view:move(-5)
    assert.equal(1, view:cursor())
    view:move(2)
    assert.equal(3, view:cursor())
    view:move(10000)
    assert.equal(many, view:cursor())
    assert.equal(many, view:cursor(many + 1))
    assert.equal(2, view:cursor(2))
  end)

  it("selects what it is on", function()
    on(view, "job"):select()
    assert.equal("callgraph", view:mode())
    assert.equal("job", (under(view)))
    on(view, "deep"):select()
    assert.equal("deep", (under(view)))
    assert.equal(0, select(2, under(view)).indent)
  end)

  it("is told what is wrong", function()
    local function says(message, f)
      local got = helper.failure(f)
      assert.matches("spec/view_spec.lua:%d+: ", got)
      assert.equal(message, (got:gsub("^.-:%d+: ", "")))
    end
    says('view:move: the argument must be an integer, got "x"',
      function() view:move "x" end)
    says("view:lines: the height must be an integer of at least 1, got 0 " ..
      "(a number)",
      function() view:lines(0) end)
    says('view:mode: the mode must be "self", "total", "callgraph" or ' ..
      '"tree", got "flat"', function() view:mode "flat" end)
    says('view:average: the argument must be 0, 1, 2 or "all", got 3 ' ..
      "(a number)",
      function() view:average(3) end)
    says('view:recursion: the argument must be "merged" or "spread", ' ..
      "got 1 (a number)",
      function() view:recursion(1) end)
    says("view:at_frame: the argument must be an integer, got 1.5 " ..
      "(a number)",
      function() view:at_frame(1.5) end)
    -- a float without a fraction is a valid integer
    view:cursor(2.0)
    assert.equal("integer", math.type(view:cursor()))
    view:at_frame(0.0)
    assert.equal("integer", math.type(view:at_frame()))
    -- after these errors, the view is as before
    assert.equal("total", view:mode())
    assert.equal(1, view:average())
    assert.equal("merged", view:recursion())
  end)
end)

describe("a view's call graph", function()
  it("without a selection is that of the largest zone called", function()
    local view = profiler.view(frames(5, {}))
    view:mode "callgraph"
    view:average(0)
    local _, own = graph_sums(view)
    local largest
    view:mode "total"
    for _, line in ipairs(view:lines()) do
      if line.values[3] > 0 then largest = largest or line.name end
    end
    assert.equal(largest, own.name)
    assert.is_true(own.values[3] > 0)
    assert.is_true(own.name ~= "(root)")
  end)

  for _, how in ipairs { "merged", "spread" } do
    it("adds up in every frame and average, " .. how, function()
      local view = profiler.view(frames(12, { history = "full",
        compensate = true, slow_frames = { budget_ms = 1e-5, keep = 3 } }))
      view:recursion(how)
      local checked, recursive = 0, 0
      local function all(what)
        view:mode "total"
        local many = #view:lines()
        for i = 1, many do
          view:mode "total"
          view:cursor(i)
          view:select()
          local name = under(view)
          check_graph(view, ("%s, %s"):format(what, name))
          checked = checked + 1
          if name:find "%[2%]" then recursive = recursive + 1 end
        end
      end
      for back = 0, 11 do
        view:at_frame(back)
        for _, which in ipairs(back == 0 and { 0, 1, 2, "all" } or { 0 }) do
          view:average(which)
          all(("frame %d, average %s"):format(back, which))
        end
      end
      view:slow(0)
      all "slow"
      assert.is_true(checked > 100)
      assert.equal(how == "spread", recursive > 20)
    end)
  end

  it("has the same times merged and spread", function()
    local view = profiler.view(frames(4, {}))
    view:average(0)
    local merged, spread = {}, {}
    view:mode "self"
    for _, line in ipairs(view:lines()) do
      local s = merged[line.name] or { 0, 0 }
      s[1], s[2] = s[1] + ns(line.values[1]), s[2] + line.values[3]
      merged[line.name] = s
    end
    view:recursion "spread"
    local levels = 0
    for _, line in ipairs(view:lines()) do
      local name, level = line.name:match "^(.-) %[(%d+)%]$"
      if level then levels = math.max(levels, tonumber(level)) end
      local s = spread[name or line.name] or { 0, 0 }
      s[1], s[2] = s[1] + ns(line.values[1]), s[2] + line.values[3]
      spread[name or line.name] = s
    end
    assert.same(merged, spread)
    assert.is_true(levels >= 3)
  end)

  it("keeps its zone when recursion is merged or spread", function()
    local view = profiler.view(frames(4, {}))
    view:recursion "spread"
    on(view, "deep [3]"):select()
    assert.equal("deep [3]", (under(view)))
    view:recursion "merged"
    assert.equal("deep", (under(view)))
    assert.equal(0, select(2, under(view)).indent)
    view:recursion "spread"
    assert.equal("deep [3]", (under(view)))
  end)

  it("goes to the caller with most of the time", function()
    local view = profiler.view(frames(6, { history = "full" }))
    view:average(0)
    on(view, "leaf"):select()
    local most, name = -1, nil
    for _, line in ipairs(view:lines()) do
      if line.indent == 0 then break end
      if line.values[2] > most then most, name = line.values[2], line.name end
    end
    view:parent()
    assert.equal(name, (under(view)))
    for _ = 1, 20 do view:parent() end
    assert.equal("callgraph", view:mode())
    assert.equal("(host)", (under(view)))
    -- in a list, `parent` shows the caller of the function under the cursor
    view:mode "total"
    on(view, "deep"):parent()
    assert.equal("job", (under(view)))
    view:recursion "spread"
    view:mode "total"
    on(view, "deep [3]"):parent()
    assert.equal("deep [2]", (under(view)))
  end)
end)

describe("a view's tree", function()
  it("opens and closes", function()
    local view = profiler.view(frames(5, {}))
    view:average(0)
    view:mode "tree"
    local closed = text(view)
    assert.equal(1, #closed)
    assert.equal(">+(host)", closed[1])
    local function open(name)
      on(view, name):expand()
    end
    for _ = 1, 100 do
      local _, line = under(view)
      if line.name == "job" then break end
      view:expand()
      view:move(1)
    end
    assert.equal("job", (under(view)))
    open "job"
    open "deep"
    local lines, at = view:lines(), nil
    for i, line in ipairs(lines) do
      if line.name == "job" then at = i end
    end
    assert.equal("-", lines[at].marks)
    -- below a line are its callees, whose times add up to its own
    local below, indent = 0, lines[at].indent
    for i = at + 1, #lines do
      if lines[i].indent == indent + 1 then
        below = below + ns(lines[i].values[2])
      end
    end
    assert.equal(ns(lines[at].values[2]), ns(lines[at].values[1]) + below)
    on(view, "leaf"):expand()
    assert.equal(#lines + 1, #view:lines())
    on(view, "spin"):expand()
    assert.equal(#lines + 1, #view:lines())
    on(view, "job"):collapse()
    assert.is_true(#view:lines() <= #lines - 2)
    assert.equal("+", view:lines()[at].marks)
  end)

  it("is of the frame that is looked at, and stays open", function()
    local p = helper.record(function()
      for i = 1, 4 do
        if i % 2 == 0 then work(i) else leaf(1) end
        profiler.frame()
      end
    end, { history = "full", compensate = false })
    local view = profiler.view(p)
    view:average(0)
    view:mode "tree"
    while under(view) ~= "job" do
      view:expand()
      local before = view:cursor()
      view:move(1)
      if view:cursor() == before then break end
    end
    on(view, "job"):expand()
    assert.is_truthy(index(names(view), "deep"))
    view:frame(1)
    assert.has_error(function() index(names(view), "deep") end)
    assert.is_truthy(index(names(view), "leaf"))
    view:frame(1)
    assert.is_truthy(index(names(view), "deep"))
  end)

  it("selects a level where recursion is spread", function()
    local view = profiler.view(frames(5, {}))
    view:average(0)
    view:mode "tree"
    view:recursion "spread"
    for _ = 1, 100 do
      if under(view) == "job" then break end
      view:expand()
      view:move(1)
    end
    view:expand()
    for _ = 1, 3 do
      local last
      for i, name in ipairs(names(view)) do
        if name == "deep" then last = i end
      end
      view:cursor(last)
      view:expand()
    end
    view:select()
    assert.equal("deep [3]", (under(view)))
    view:recursion "merged"
    assert.equal("deep", (under(view)))
  end)

  it("makes no more than is seen", function()
    local host = require "spec_host"
    local result, status, asked = host.memory(([[
      local profiler = require "cprof"
      local fs = {}
      local function walk(depth)
        if depth == 0 then return end
        for i = 1, 10 do fs[i](depth - 1) end
      end
      for i = 1, 10 do
        fs[i] = load("local walk = ... return function(d) " ..
          (";"):rep(i) .. " walk(d) end", "=f" .. i)(walk)
      end
      profiler.start()
      walk(%d)
      profiler.stop()
      local view = profiler.view(profiler.snapshot())
      view:mode "tree"
      view:lines(20)
      collectgarbage()
      arm()
      for i = 1, 6 do
        view:expand()
        view:move(1)
        assert(#view:lines(20) <= 20)
      end
      disarm()
      return #profiler.snapshot().nodes
    ]]):format(4), "lua", -1)
    assert.equal(0, status, result)
    assert.is_true(tonumber(result) > 20000)
    assert.is_true(asked < tonumber(result) / 2, asked)
  end)
end)

describe("a view of frames", function()
  it("looks at one, or at averages of all", function()
    local p = frames(9, { history = "full" })
    local view = profiler.view(p)
    local function calls_of_deep()
      view:mode "total"
      on(view, "deep")
      return select(2, under(view)).values[3]
    end
    view:average(0)
    for back = 0, 8 do
      assert.equal(back, view:at_frame(back))
      assert.equal((9 - back) % 5 + 3, calls_of_deep())
      assert.has_text("frame " .. 9 - back, view:titles().of)
    end
    view:frame(-2)
    assert.equal(6, view:at_frame())
    view:frame(100)
    assert.equal(8, view:at_frame())
    view:frame(-100)
    assert.equal(0, view:at_frame())
    assert.equal("all", view:average "all")
    local sum = 0
    for i = 4, 9 do sum = sum + i % 5 + 3 end
    assert.near(sum / 6, calls_of_deep(), 0.001)
    assert.has_text("average of all", view:titles().of)
    for which = 1, 2 do
      view:average(which)
      local expected
      for _, row in ipairs(p.frames:averages(which)) do
        if row.func.name == "deep" then expected = row.calls end
      end
      assert.near(expected, calls_of_deep(), 0.001)
      assert.matches(which == 1 and "0.8" or "2.5", view:titles().of)
    end
  end)

  it("shows the last frame while there is no average yet", function()
    local view = profiler.view(frames(2, {}))
    assert.equal(1, view:average())
    assert.equal("frame 2", view:titles().of)
    assert.is_true(#view:lines() > 5)
  end)

  it("is the whole recording, where there are no frames", function()
    local p = helper.record(function() work(1) end, { compensate = false })
    local view = profiler.view(p)
    assert.equal("whole recording", view:titles().of)
    local f = helper.named(p, "job")
    on(view, "job")
    local _, line = under(view)
    assert.equal(f.total_ns, ns(line.values[2]))
    view:frame(1)
    view:slow(1)
    assert.equal(0, view:at_frame())
    assert.is_nil(view:at_slow())
    assert.same({ numbers = {}, ns = {}, zones = {} }, view:graph())
    assert.same({ numbers = {}, ns = {}, self = {}, total = {}, calls = {} },
      view:series "job")
  end)

  it("has functions only of those whose stack states are gone", function()
    local p = frames(5, {})
    local view = profiler.view(p)
    view:at_frame(2)
    assert.equal("frame 3, 2 before the last, functions only",
      view:titles().of)
    local titles, count = {}, 0
    for _, row in ipairs(p.frames:at(2).rows) do
      local title = row.func.title
      if not titles[title] and (row.calls > 0 or row.total_ns > 0) then
        titles[title], count = true, count + 1
      end
    end
    assert.equal(count, #view:lines())
    on(view, "deep"):select()
    assert.same({ ">-deep" }, text(view))
    view:parent()
    assert.same({ ">-deep" }, text(view))
    view:mode "tree"
    assert.same({}, text(view))
    view:select()
    view:expand()
    view:move(1)
    local sum, why = view:attribute("leaf", "deep")
    assert.is_nil(sum)
    assert.equal("the call-tree nodes of this frame were not kept", why)
  end)

  it("goes to the slow ones", function()
    local p = steady.record([[
      local cprof = require "cprof"
      local function leaf() pass(1000) end
      for i = 1, 30 do
        for _ = 1, i % 10 == 4 and 12 or 1 do leaf() end
        cprof.frame()
      end]], "history = 5, slow_frames = { budget_ms = 8 }")
    local view = profiler.view(p)
    assert.equal(3, p.frames.slow_kept)
    assert.is_nil(view:at_slow())
    view:slow(1)
    assert.equal(0, view:at_slow())
    view:slow(1)
    assert.equal(1, view:at_slow())
    local f = p.frames:at(1, true)
    assert.equal(("slow frame %d, 2 of 3 kept"):format(f.number),
      view:titles().of)
    on(view, "leaf"):select()
    check_graph(view, "slow")
    local _, line = under(view)
    assert.same({ 12, 12 }, { line.values[2], line.values[3] })
    view:slow(100)
    assert.equal(2, view:at_slow())
    assert.equal(0, view:at_slow(-3))
    view:at_frame(0)
    assert.is_nil(view:at_slow())
  end)

  it("has the series of all that are kept", function()
    local p = frames(12, { history = 10 })
    local view = profiler.view(p)
    local g = view:graph()
    assert.equal(10, #g.numbers)
    assert.equal(10, g.at)
    view:at_frame(3)
    assert.equal(7, view:graph().at)
    local job_of
    for i, zone in ipairs(g.zones) do
      if zone.name == "job" then job_of = zone end
      assert.is_true(i == 1 or g.zones[i - 1].sum >= zone.sum)
      assert.equal(10, #zone.self)
    end
    for i = 1, 10 do
      local f, sum = p.frames:at(10 - i), 0
      assert.equal(f.number, g.numbers[i])
      assert.equal(f.ns, g.ns[i])
      for _, zone in ipairs(g.zones) do sum = sum + zone.self[i] end
      assert.equal(f.ns, sum)
      for _, row in ipairs(f.rows) do
        if row.func.name == "job" then
          assert.equal(row.total_ns, job_of.total[i])
          assert.equal(row.calls, job_of.calls[i])
          assert.is_true(row.calls > 0)
        end
      end
    end
  end)

  it("has the series of one zone, by name or title", function()
    local p = frames(12, { history = 10 })
    local view = profiler.view(p)
    local g = view:graph()
    for _, zone in ipairs(g.zones) do
      local s = view:series(zone.title)
      assert.same({ numbers = g.numbers, ns = g.ns, self = zone.self,
        total = zone.total, calls = zone.calls }, s)
    end
    assert.same(view:series "job", view:series(helper.named(p, "job").title))
    local s = view:series()
    assert.same(g.ns, s.ns)
    assert.equal("0000000000", table.concat(s.self))
    view:at_frame(3)
    assert.same(view:series "job", profiler.view(p):series "job")
    local message = helper.failure(function() view:series "nobody" end)
    assert.matches('^spec/view_spec.lua:%d+: view:series: the zone must be ' ..
      'the name or title of a zone of the profile, as lines show it, got ' ..
      '"nobody"$', message)
    assert.has_error(function() view:series(1) end)
  end)

  it("has lines that name the zone to show the series of", function()
    local p = frames(12, { history = 10 })
    local view = profiler.view(p)
    for _, mode in ipairs { "self", "total", "callgraph", "tree" } do
      view:mode(mode)
      if mode == "tree" then view:expand() end
      view:recursion "spread"
      for _, line in ipairs(view:lines()) do
        assert.equal(10, #view:series(line.title).self, mode)
        local name = line.name:gsub(" %[%d+%]$", "")
        assert.equal(name, line.title:sub(1, #name))
      end
    end
  end)
end)

describe("attribute", function()
  -- expected figures, by walking over nodes: those of `name` below one of
  -- `above`
  local function walk(p, nodes, name, above)
    local self_ns, total_ns, calls = 0, 0, 0
    for id, node in ipairs(nodes) do
      if p.functions[node.func].name == name then
        local below, outer = false, true
        local at = nodes[id].parent
        local path = {}
        while at ~= 0 do
          table.insert(path, 1, p.functions[nodes[at].func].name)
          at = nodes[at].parent
        end
        for _, n in ipairs(path) do
          if below and n == name then outer = false end
          if n == above then below = true end
        end
        if below then
          self_ns, calls = self_ns + node.self_ns, calls + node.calls
          if outer then total_ns = total_ns + node.total_ns end
        end
      end
    end
    return { calls = calls, self_ns = self_ns, total_ns = total_ns }
  end

  it("is a zone's time on behalf of one above, at any distance", function()
    local p = frames(6, { history = "full" })
    local view = profiler.view(p)
    view:average(0)
    for back = 0, 5 do
      view:at_frame(back)
      local nodes = p.frames:nodes(back)
      for _, how in ipairs { "merged", "spread" } do
        view:recursion(how)
        for _, case in ipairs { { "leaf", "job" }, { "spin", "even" },
          { "spin", "odd" }, { "deep", "deep" }, { "even", "odd" },
          { "even", "job" }, { "job", "leaf" } } do
          assert.same(walk(p, nodes, case[1], case[2]),
            view:attribute(case[1], case[2]), table.concat(case, " "))
        end
      end
    end
    assert.equal(0, view:attribute("job", "leaf").total_ns)
    assert.is_true(view:attribute("spin", "odd").total_ns > 0)
    view:at_frame(0)
    view:average "all"
    local sum = 0
    for i = 4, 6 do sum = sum + (i % 5 + 3) end
    assert.near(sum / 3, view:attribute("deep", "job").calls, 0.01)
  end)

  it("is of one level of recursion, where that is named", function()
    local view = profiler.view(frames(6, {}))
    view:average(0)
    local all = view:attribute("leaf", "deep")
    assert.same(all, view:attribute("leaf", "deep [1]"))
    local last = all.total_ns
    for level = 2, 3 do
      local sum = view:attribute("leaf", ("deep [%d]"):format(level))
      assert.equal(all.calls - level + 1, sum.calls)
      assert.is_true(sum.total_ns < last)
      last = sum.total_ns
    end
    assert.equal(1, view:attribute("deep [2]", "job").calls)
    assert.equal(view:attribute("deep [2]", "job").total_ns,
      view:attribute("deep", "deep").total_ns)
  end)

  it("says which zone is unknown", function()
    local view = profiler.view(frames(2, {}))
    local must = "view:attribute: the zone must be the name or title of a " ..
      "zone of the profile, as lines show it, got "
    local function says(unknown, zone, ancestor)
      local message = helper.failure(view.attribute, view, zone, ancestor)
      assert.equal(must .. ("%q"):format(unknown),
        (message:gsub("^.-:%d+: ", "")))
    end
    says("nobody", "nobody", "job")
    says("nothing", "job", "nothing")
    says("deep [99]", "job", "deep [99]")
    says("deep [0]", "deep [0]", "job")
    assert.has_error(function() view:attribute("job") end)
  end)
end)

describe("a live view", function()
  after_each(function() profiler.stop() end)

  it("changes when it is drawn, and not by its controls", function()
    profiler.start { history = "full" }
    local function first() spin(30000) end
    local function second() spin(60000) end
    for _ = 1, 5 do first() profiler.frame() end
    local view = profiler.view()
    view:average(0)
    view:mode "self"
    local before = names(view)
    on(view, "spin")
    view:mode "total"
    on(view, "first")
    for _ = 1, 5 do second() profiler.frame() end
    view:select()
    -- `select` still shows the frame that was drawn, in which `first` was
    -- called
    assert.equal("frame 5", view:titles().of)
    assert.equal(5, #view:graph().numbers)
    view:parent()
    view:mode "total"
    assert.equal("frame 5", view:titles().of)
    assert.is_truthy(index(before, "first"))
    assert.is_truthy(index(names(view), "second"))
    assert.equal("frame 10", view:titles().of)
    assert.equal(10, #view:graph().numbers)
    assert.has_error(function() index(names(view), "first") end)
  end)

  it("does not show up in what it shows", function()
    profiler.start { history = "full" }
    local view = profiler.view()
    for i = 1, 6 do
      work(i)
      profiler.frame()
      view:lines(5)
      view:move(1)
      view:titles()
      view:graph()
      view:mode(i % 2 == 0 and "tree" or "self")
      view:select()
    end
    profiler.stop()
    local p = profiler.snapshot()
    for _, f in ipairs(p.functions) do
      assert.has_no_text("cprof/view", f.source, f.title)
      assert.has_no_text("cprof/frames", f.source, f.title)
    end
  end)

  it("goes on after reset and in the next recording", function()
    profiler.start { history = "full" }
    for i = 1, 20 do work(i) profiler.frame() end
    local view = profiler.view()
    view:at_frame(15)
    view:mode "tree"
    view:expand()
    view:lines()
    profiler.reset()
    for i = 1, 3 do leaf(i) profiler.frame() end
    view:lines()
    assert.equal(2, view:at_frame())
    profiler.stop()
    profiler.start()
    leaf(1)
    assert.is_true(#view:lines() > 0)
    assert.equal(0, view:at_frame())
    assert.equal("whole recording", view:titles().of)
  end)

  it("says that there is nothing to look at", function()
    local out = helper.run [[
      local profiler = require "cprof"
      local view = profiler.view()
      print(select(2, pcall(function() view:lines() end)))
      print(select(2, pcall(function() profiler.view(12) end)))
    ]]
    assert.has_text(":3: view:lines: nothing was recorded; call start first\n",
      out)
    assert.has_text(":4: view: a profile is needed, got a number\n", out)
  end)
end)
