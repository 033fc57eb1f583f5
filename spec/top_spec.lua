-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local core = require "cprof.core"
local format = require "cprof.text.format"
local helper = require "helper"
local figures = require "cprof.view.figures"
local history = require "cprof.top.history"
local keys = require "cprof.top.keys"
local model = require "cprof.top.model"
local profiler = require "cprof"
local sampled = require "cprof.count.sampled"
local since_of = require "cprof.follow.since"
local terminal = require "cprof.system.terminal"

local path = os.tmpname()
local ascii = terminal.ascii

-- independent of the locale of the specs
setup(function() terminal.ascii = false end)

teardown(function()
  os.remove(path)
  terminal.ascii = ascii
end)

local function spin(n)
  local x = 0
  for i = 1, n do x = x + i end
  return x
end

local function leaf(n) spin(n) end
local function twig(n) leaf(n) leaf(n) end
local function branch(n) for _ = 1, n do twig(400) end end
local function fruit(n) for _ = 1, n do spin(500) end end

-- records only this call
local function run(f, n)
  profiler.resume()
  f(n)
  profiler.pause()
end

-- A model of what is recorded while `body` runs. `look` loads what there is,
-- as if some seconds had passed.
-- `parts`: in which only `driven.pass` takes time.
local function watched(body, options, parts)
  local at, o = 0, options or {}
  o.file = path
  local m = model.new { history = history.new("start", 10), interval = 1,
    sort = "calls" }
  local function look(seconds)
    at = at + (seconds or 1)
    m.history:add(assert(profiler.load(path)), at)
    m.status = { state = "running" }
    m:refresh()
  end
  local function record()
    profiler.pause()
    body(m, look)
  end
  if parts then driven.parts(record, o)
  else helper.record(record, o)
  end
  return m
end

local function frames(n) for _ = 1, n do fruit(1) profiler.frame "turn" end end

local function draw(m, width, height)
  return m:draw(width or 80, height or 24)
end

local function line_of(m, name, width)
  for i, line in ipairs(draw(m, width or 200, 60).lines) do
    if line:text():find(" " .. name:gsub("%p", "%%%0") ..
       "%f[^%w_)]") and i > 4 then
      return line:text(), i
    end
  end
end

-- the calls of a function, as a row of the table has them
local function calls(m, name)
  local text = line_of(m, name)
  local word = text and text:match "^ *%S+ +%S+ +%S+ +%S+ +(%S+)"
  return word and tonumber((word:gsub(",", "")))
end

local function press(m, ...)
  local last
  for _, key in ipairs { ... } do last = m:key(key) end
  return last
end

local function cursor(m)
  for _, line in ipairs(draw(m).lines) do
    if line.style == "cursor" then return line:text() end
  end
end

-- moves the cursor to the line with this name
local function to(m, name)
  press(m, "g", "/")
  for c in name:gmatch "." do m:key(c) end
  press(m, "enter")
  assert.has_text(name, cursor(m))
end

describe("cprof top's functions", function()
  it("have their exact calls, most first", function()
    local m = watched(function(_, look)
      run(branch, 50)
      look()
    end)
    assert.equal(50, calls(m, "twig"))
    assert.equal(100, calls(m, "leaf"))
    assert.equal(1, calls(m, "branch"))
    local _, first = line_of(m, "leaf")
    local _, second = line_of(m, "twig")
    local _, third = line_of(m, "branch")
    assert.is_true(first < second and second < third)
  end)

  it("are sorted by the next and the previous column", function()
    local m = watched(function(_, look)
      run(branch, 50)
      run(fruit, 3)
      look()
    end)
    press(m, "s")
    assert.equal("name", m.sort)
    local names = {}
    for _, item in ipairs(m.view.list(m)) do names[#names + 1] = item.name end
    local sorted = table.move(names, 1, #names, 1, {})
    table.sort(sorted)
    assert.same(sorted, names)
    assert.has_text("▼function", draw(m).lines[4]:text())
    press(m, "s")
    assert.equal("self", m.sort)
    press(m, "S", "S")
    assert.equal("calls", m.sort)
  end)

  it("stay in their columns from one refresh to the next", function()
    local m = watched(function(m, look)
      local function edges()
        local text, out = line_of(m, "twig", 80):gsub("µ", "u"):sub(1, 42), {}
        for stop in text:gmatch "%S()" do
          if text:sub(stop, stop) == " " then out[#out + 1] = stop end
        end
        return out
      end
      run(branch, 3)
      look()
      local head, before = draw(m).lines[4]:text(), edges()
      run(branch, 20000)
      look()
      assert.equal(head, draw(m).lines[4]:text())
      assert.same(before, edges())
    end)
    assert.equal(20003, calls(m, "twig"))
  end)

  it("show the profiler neither as a function nor in the shares", function()
    local m = watched(function(_, look)
      run(branch, 2000)
      look()
    end)
    assert.is_nil(line_of(m, "cprof"))
    local main = line_of(m, "(host)")
    assert.has_text(" 100.0 ", main)
  end)
end)

describe("cprof top's measures", function()
  local function worker() driven.pass(1000) end
  local function work() for _ = 1, 100 do worker() end end
  -- 20 ms, and a little more, as some microseconds of a wait count as computing
  local function sleeper() driven.pass(0, 20003000, 500) end
  -- their times are their own, not those of what lets time pass
  local function measured(body, mode)
    watched(body, { mode = mode, exclude = { "/^driven%.pass /" } }, true)
  end

  it("are wall time, CPU time and waiting, which add up", function()
    measured(function(m, look)
      local function times(name)
        for _, row in ipairs(m.now.figures.rows) do
          if row.name == name then return row.self, row.total end
        end
      end
      run(work, 1)
      run(sleeper, 1)
      look()
      for _, case in ipairs { { "wall", 20003000, 100000 },
        { "cpu", 3000, 100000 }, { "wait", 20000000, nil },
        { "wall", 20003000, 100000 } } do
        assert.equal(case[1], m.history.measure.option)
        local own, total = times "sleeper"
        assert.same({ case[2], case[2] }, { own, total })
        assert.equal(case[3] or 0, select(2, times "work") or 0)
        assert.equal(case[2] + (case[3] or 0), m.now.measure.whole)
        press(m, "m")
      end
      press(m, "m")
      assert.has_text("waiting time  since the start", draw(m).lines[3]:text())
      assert.is_truthy(line_of(m, "sleeper"))
      -- after the mark, nothing waits
      press(m, "r")
      run(work, 1)
      look()
      assert.is_nil(line_of(m, "sleeper"))
      run(sleeper, 1)
      look()
      assert.is_truthy(line_of(m, "sleeper"))
      assert.equal(20000000, (times "sleeper"))
      assert.equal(20000000, m.now.measure.whole)
    end)
  end)

  it("are those of memory, too, if that was recorded", function()
    local kept = {}
    local function keep(n)
      for i = 1, n do kept[#kept + 1] = ("x"):rep(1000) .. i end
    end
    watched(function(m, look)
      local function figures_of(name)
        for _, row in ipairs(m.now.figures.rows) do
          if row.name == name then return row.total end
        end
      end
      run(keep, 100)
      look()
      local seen = {}
      for i = 1, 20 do
        seen[i] = m.history.measure.option
        if i > 1 and seen[i] == "wall" then break end
        press(m, "m")
      end
      local list = table.concat(seen, " ")
      assert.has_text("alloc allocs live peak wall", list)
      m.history:set_measure "alloc"
      m:refresh()
      local all = figures_of "keep"
      assert.is_true(all >= 100000, all)
      local head = draw(m, 120).lines[4]:text()
      assert.has_text("alloc ", head)
      assert.matches(" %d+ KB ", line_of(m, "keep"))
      assert.has_text("bytes allocated", draw(m).lines[3]:text())
      -- the period has what was allocated in it, and all that is in use
      press(m, "r")
      run(keep, 1)
      look()
      local came = figures_of "keep"
      assert.is_true(came >= 1000 and came < all / 10, came)
      local share = m.history:series(m.now.figures:largest().func.title, 1)[1]
      assert.is_true(share >= 0 and share <= 1, share)
      m.history:set_measure "live"
      m:refresh()
      assert.is_true(figures_of "keep" >= 100000, figures_of "keep")
    end, { memory = "live", memory_interval = 1 })
  end)

  it("are those of lines, too, and of the graphs", function()
    measured(function(m, look)
      run(work, 1)
      look()
      run(sleeper, 1)
      look()
      local at = debug.getinfo(sleeper, "S").linedefined
      to(m, "sleeper")
      press(m, "o")
      local of = {}
      for _, what in ipairs { "wall", "cpu", "wait" } do
        of[what] = m.view.list(m)[at].figures.self
        press(m, "m")
      end
      assert.same({ wall = 20003000, cpu = 3000, wait = 20000000 }, of)
      local title
      for _, row in ipairs(m.now.figures.rows) do
        if row.name == "sleeper" then title = row.func.title end
      end
      for what, share in pairs { wait = 1, wall = 1, cpu = 1 } do
        m.history:set_measure(what)
        assert.same({ 0, share }, m.history:series(title, 2))
      end
    end, "line")
  end)
end)

describe("cprof top's periods", function()
  it("count from a mark on", function()
    watched(function(m, look)
      run(branch, 50)
      look()
      press(m, "r")
      assert.is_nil(calls(m, "twig"))
      run(branch, 7)
      look()
      assert.equal(7, calls(m, "twig"))
      assert.equal(14, calls(m, "leaf"))
      assert.has_text("since the mark", draw(m).lines[3]:text())
      press(m, "w")
      assert.equal(57, calls(m, "twig"))
      press(m, "w", "w")
      assert.equal(7, calls(m, "twig"))
    end)
  end)

  it("are of the last seconds", function()
    watched(function(m, look)
      for i = 1, 20 do
        run(branch, i)
        look(1)
      end
      press(m, "w")
      -- calls in the ten refreshes of this period
      assert.equal(11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20,
        calls(m, "twig"))
      press(m, "[")
      assert.equal(16 + 17 + 18 + 19 + 20, calls(m, "twig"))
    end)
  end)

  it("also hold in the tree and the call graph", function()
    watched(function(m, look)
      run(branch, 50)
      look()
      press(m, "r")
      run(branch, 7)
      look()
      to(m, "twig")
      press(m, "enter")
      assert.equal("callgraph", m.view.name)
      assert.equal(7, calls(m, "twig"))
      assert.equal(14, calls(m, "leaf"))
      press(m, "t", "g")
      for _ = 1, 300 do press(m, "right", "down") end
      local found
      for _, item in ipairs(m.view.list(m)) do
        if item.name == "twig" then found = item.of.calls end
      end
      assert.equal(7, found)
    end)
  end)

  it("begin anew when the program resets, or is another one", function()
    watched(function(m, look)
      run(branch, 50)
      look()
      press(m, "r")
      profiler.reset()
      run(branch, 3)
      look()
      assert.equal(3, calls(m, "twig"))
      assert.equal("start", m.history.period)
    end)
  end)

  it("have no functions and lines that did not run in them", function()
    profiler.start { file = path, mode = "line" }
    for _ = 1, 20 do branch(30) end
    local before = assert(profiler.load(path))
    for _ = 1, 20 do fruit(300) end
    local now = assert(profiler.load(path))
    profiler.stop()
    local p = since_of(now, before)
    local of = figures.new(figures.base(p), figures.all)
    for _, row in ipairs(of.rows) do
      if row.name == "twig" or row.name == "leaf" then
        assert.is_false(figures.any(row), row.name)
      end
    end
    local here = debug.getinfo(twig, "S")
    local ran = p.lines[here.source][here.linedefined]
    assert.same({ 0, 0 }, { ran.hits, ran.self_ns })
  end)

  it("have sums that are the difference of two loads", function()
    profiler.start { file = path }
    branch(30)
    local before = assert(profiler.load(path))
    fruit(20)
    branch(11)
    local now = assert(profiler.load(path))
    profiler.stop()
    local since = core.since(now.nodes, before.nodes)
    assert.equal(#now.nodes, #since)
    local total = 0
    for i, node in ipairs(since) do
      local old = before.nodes[i]
      assert.equal(now.nodes[i].calls - (old and old.calls or 0), node.calls)
      assert.is_true(node.self_ns >= 0)
      total = total + node.self_ns
    end
    assert.equal(total, since[1].total_ns)
    assert.is_nil(core.since(before.nodes, now.nodes))
  end)
end)

describe("cprof top's past", function()
  -- looks once a second, each time after one more call of `branch`
  local function looks(look, first, last)
    for i = first, last do
      run(branch, i)
      look(1)
    end
  end

  local function sum(first, last)
    return (first + last) * (last - first + 1) // 2
  end

  it("is shown by keys, which lead back to now", function()
    watched(function(m, look)
      looks(look, 1, 20)
      press(m, "{")
      -- from the first look on
      assert.equal(sum(2, 11), calls(m, "twig"))
      assert.is_nil(calls(m, "(host)"))
      local hints = draw(m).lines[24]:text()
      assert.has_text("Esc Now  { } Past  [ ] Seconds  ? Help", hints)
      assert.matches("^%d+:%d%d:%d%d to %d+:%d%d:%d%d, 9%.0s ago  %d+ calls$",
        draw(m).lines[2]:text())
      assert.matches("%ds in the past", draw(m).lines[3]:text())
      assert.has_text("Esc Now", draw(m).lines[24]:text())
      press(m, "{")
      assert.equal("top has kept nothing older", m.message)
      press(m, "}")
      assert.equal(sum(11, 20), calls(m, "twig"))
      -- a range stays as it is while more is recorded
      looks(look, 21, 22)
      assert.equal(sum(11, 20), calls(m, "twig"))
      press(m, "[")
      assert.equal(sum(16, 20), calls(m, "twig"))
      press(m, "]", "{")
      assert.equal(sum(2, 11), calls(m, "twig"))
      press(m, "}", "}")
      assert.equal(sum(13, 22), calls(m, "twig"))
      press(m, "}")
      assert.equal("start", m.history.period)
      assert.equal(sum(1, 22), calls(m, "twig"))
      press(m, "}")
      assert.equal("these are the latest figures; { shows earlier ones",
        m.message)
      press(m, "{", "esc")
      assert.equal(sum(1, 22), calls(m, "twig"))
      press(m, "w", "{", "w")
      assert.equal("window", m.history.period)
    end)
  end)

  it("holds in all views, and lines have its figures", function()
    watched(function(m, look)
      looks(look, 1, 20)
      press(m, "{")
      to(m, "leaf")
      press(m, "c")
      assert.equal(2 * sum(2, 11), calls(m, "leaf"))
      press(m, "t", "g")
      for _ = 1, 30 do press(m, "right", "down") end  -- whatever took longest
      local found
      for _, item in ipairs(m.view.list(m)) do
        if item.name == "twig" then found = item.of.calls end
      end
      assert.equal(sum(2, 11), found)
      press(m, "f")
      to(m, "leaf")
      press(m, "o")
      assert.matches(("^ +%d "):format(2 * sum(2, 11)), cursor(m))
    end, { mode = "line" })
  end)

  it("is a line of bars, for the mouse", function()
    watched(function(m, look)
      run(branch, 1)
      look(1)
      assert.has_no_text(" now", draw(m).lines[22]:text())
      looks(look, 2, 20)
      local line = draw(m).lines[22]:text()
      assert.matches(" now$", line)
      -- of the last second; the screen has a column for each
      press(m, "click 75 22")
      assert.equal(20, calls(m, "twig"))
      draw(m)
      press(m, "drag 73 23")
      assert.equal(sum(18, 20), calls(m, "twig"))
      local marked = 0
      draw(m)
      for _, piece in ipairs(draw(m).lines[22]) do
        if piece[2] == "cursor" then marked = marked + 1 end
      end
      assert.equal(3, marked)
      press(m, "click 1 1", "drag 60 22")
      assert.equal(sum(18, 20), calls(m, "twig"))
      -- a time before the first look
      draw(m)
      press(m, "click 30 22")
      assert.equal(2, calls(m, "twig"))
    end)
  end)

  it("can be seen on small screens, and is in no printed screen", function()
    watched(function(m, look)
      looks(look, 1, 20)
      press(m, "{")
      for _, size in ipairs { { 40, 10 }, { 40, 24 }, { 200, 60 } } do
        local screen = draw(m, size[1], size[2])
        assert.has_text(" ago", screen.lines[2]:text())
        assert.matches(" now$", screen.lines[size[2] - 2]:text())
        assert.matches("%S", screen.lines[5]:text())
      end
      press(m, "esc")
      assert.no_matches(" now$", draw(m, 40, 10).lines[8]:text())
      m.plain = true
      assert.has_no_text(" now\n", draw(m):text())
    end)
  end)

  it("is not there before the second look", function()
    watched(function(m, look)
      press(m, "{", "}", "esc")
      run(branch, 1)
      look()
      press(m, "{")
      assert.equal("there is no past yet: top has looked only once",
        m.message)
      assert.equal("start", m.history.period)
    end)
  end)

  it("ends when another recording begins", function()
    watched(function(m, look)
      looks(look, 1, 5)
      press(m, "w", "{")
      profiler.reset()
      look()
      assert.equal("window", m.history.period)
      run(branch, 3)
      look()
      assert.equal(3, calls(m, "twig"))
    end)
  end)

  it("has its bounds: old loads are kept far apart", function()
    watched(function(m, look)
      for i = 1, 1000 do
        if i % 100 == 0 then run(branch, 1) end
        look(1)
      end
      local points = m.history.past.points
      assert.is_true(#points <= 200, #points)
      assert.equal(999, m.history:lasted())
      -- each second of the last ten, and old ones
      for k = 0, 10 do assert.equal(1000 - k, points[#points - k].at) end
      for i = 2, #points do
        local gap = points[i].at - points[i - 1].at
        assert.is_true(gap <= 1 + (1000 - points[i - 1].at) / 5, gap)
      end
      for i = 1, #points - 1 do
        assert.is_nil(points[i].profile.functions)
      end
    end)
  end)
end)

describe("cprof top's keys", function()
  it("lead into a function, and back to where one was", function()
    watched(function(m, look)
      run(branch, 50)
      look()
      to(m, "twig")
      local before = cursor(m)
      press(m, "enter")
      assert.has_text("twig", cursor(m))
      press(m, "down", "enter")
      assert.has_text("leaf", cursor(m))
      press(m, "backspace")
      assert.has_text("leaf", cursor(m))
      press(m, "backspace")
      assert.equal("functions", m.view.name)
      assert.equal(before, cursor(m))
    end)
  end)

  it("expand and collapse the tree", function()
    watched(function(m, look)
      run(branch, 500)
      look()
      press(m, "t", "g")
      local function expand_all()
        press(m, "g")
        for _ = 1, 300 do press(m, "right", "down") end
      end
      expand_all()
      to(m, "branch")
      press(m, "left")
      assert.has_text("+ branch", cursor(m))
      assert.is_nil(line_of(m, "twig"))
      press(m, "enter")
      assert.has_text("- branch", cursor(m))
      assert.is_truthy(line_of(m, "+ twig"))
      press(m, "left", "e")
      assert.is_truthy(line_of(m, "spin"))
      press(m, "down", "left", "left")
      assert.has_text("branch", cursor(m))
    end)
  end)

  it("search, without regard to case, round the end", function()
    watched(function(m, look)
      run(branch, 5)
      run(fruit, 2)
      look()
      press(m, "g", "/", "T", "W", "I", "enter")
      local found = cursor(m)
      assert.has_text("twig", found)
      press(m, "n")
      assert.equal(found, cursor(m))
      press(m, "g", "/", "/", "^", "%", "a", "+", "i", "g", "/", "enter")
      assert.equal(found, cursor(m))
      press(m, "/", "/", "(", "/")
      assert.has_text("//(/", draw(m).lines[23]:text())
      press(m, "enter")
      assert.equal("'/(/' is not a Lua pattern: '(' without ')'", m.message)
      found = cursor(m)
      press(m, "/", "z", "z")
      assert.has_text("/zz", draw(m).lines[23]:text())
      press(m, "esc")
      assert.equal(found, cursor(m))
    end)
  end)

  it("filter functions, until the filter is empty", function()
    watched(function(m, look)
      run(branch, 5)
      run(fruit, 2)
      look()
      local function names()
        local out = {}
        for _, item in ipairs(m.view.list(m)) do out[#out + 1] = item.name end
        table.sort(out)
        return table.concat(out, " ")
      end
      local all = names()
      press(m, "t", "&", "T", "W")
      assert.equal("functions", m.view.name)
      assert.has_text("&TW", draw(m).lines[23]:text())
      assert.equal("twig", names())
      press(m, "i", "enter")
      assert.equal("twig", names())
      assert.has_text("only TWi", draw(m).lines[3]:text())
      press(m, "&", "x", "esc")
      assert.equal("twig", names())
      press(m, "&", "/", "(", "/", "enter")
      assert.equal("'/(/' is not a Lua pattern: '(' without ')'", m.message)
      press(m, "&", "/", "^", "t", "w", "/", "enter")
      assert.equal("twig", names())
      look()
      assert.equal("twig", names())
      press(m, "&", "enter")
      assert.equal(all, names())
    end)
  end)

  it("hide columns of figures, and show them again", function()
    watched(function(m, look)
      run(branch, 5)
      look()
      local before = draw(m).lines[4]:text()
      assert.has_text("calls", before)
      press(m, "5")
      assert.has_no_text("calls", draw(m).lines[4]:text())
      press(m, "5")
      assert.equal(before, draw(m).lines[4]:text())
    end)
  end)

  it("are also those of the mouse: views, orders, lines", function()
    watched(function(m, look)
      run(branch, 5)
      run(fruit, 2)
      look()
      press(m, "g")
      draw(m)
      press(m, "click 20 6")
      assert.equal(2, m.places.functions.at)
      local chosen = cursor(m)
      press(m, "wheel-up")
      assert.is_true(cursor(m) ~= chosen)
      press(m, "click 20 6", "click 20 6")
      assert.equal("callgraph", m.view.name)
      local heads = draw(m).lines[3]:text()
      press(m, ("click %d 3"):format(heads:find("Tree", 1, true)))
      assert.equal("tree", m.view.name)
      press(m, ("click %d 3"):format(heads:find("Functions", 1, true)))
      assert.equal("functions", m.view.name)
      local head = draw(m).lines[4]:text():gsub("▼", "v")
      press(m, ("click %d 4"):format(head:find("calls", 1, true)))
      assert.equal("calls", m.sort)
      press(m, ("click %d 4"):format(head:find("total", 1, true)))
      assert.equal("total", m.sort)
      press(m, ("click %d 4"):format(head:find("function", 1, true)))
      assert.equal("name", m.sort)
      press(m, "click 1 1", "click 1 24", "click 300 3")
      assert.equal("functions", m.view.name)
    end)
  end)

  it("keep the cursor on its function while the order changes", function()
    watched(function(m, look)
      run(branch, 50)
      run(fruit, 1)
      look()
      to(m, "fruit")
      local _, before = line_of(m, "fruit")
      for _ = 1, 80 do run(fruit, 1) end
      look()
      local _, after = line_of(m, "fruit")
      assert.is_true(after < before)
      assert.has_text("fruit", cursor(m))
    end)
  end)

  it("are all told by the help, and do something", function()
    local m = watched(function(_, look)
      run(branch, 5)
      look()
    end)
    local elsewhere = { quit = true, interrupt = true, repaint = true,
      suspend = true }
    for key, action in pairs(keys.actions) do
      local given = m:key(key)
      if m.prompt then m:key "esc" end
      assert.equal(elsewhere[action] and action or nil, given)
    end
    m:key "?"
    local told = {}
    for _, item in ipairs(m.view.list(m)) do
      told[#told + 1] = item[1]
      assert.is_true(format.width(item[1]) <= 80, item[1])
    end
    told = table.concat(told, "\n")
    for _, binding in ipairs(keys.bindings) do
      if binding[4] then
        assert.has_text(binding[4], told)
      end
    end
  end)

  it("are known by what terminals send", function()
    local function is(bytes, ...)
      local got, rest = keys.decode(bytes)
      assert.same({ ... }, got)
      return rest
    end
    is("jk", "j", "k")
    is("\27[A\27OB\27[5~\27[6~", "up", "down", "pageup", "pagedown")
    is("\27[1;5A\27[Z\t\r\127 ", "up", "shift-tab", "tab", "enter",
      "backspace", "space")
    is("\3\12ü", "ctrl-c", "ctrl-l", "ü")
    is("\27", "esc")
    is("\27[99;99X", "unknown")
    is("\27[<0;12;5M\27[<0;12;5mj", "click 12 5", "j")
    is("\27[<32;13;5M", "drag 13 5")
    is("\27[<64;1;1M\27[<65;1;1M\27[<2;1;1M", "wheel-up", "wheel-down")
    assert.equal("\27[<0;1", is("\27[<0;1"))
    assert.equal("\27[1", is "\27[1")
  end)
end)

describe("cprof top's source", function()
  it("has the hits of the period, and the function's text", function()
    watched(function(m, look)
      run(branch, 50)
      look()
      press(m, "r")
      run(branch, 7)
      look()
      to(m, "leaf")
      press(m, "o")
      assert.equal("source", m.view.name)
      local text = cursor(m)
      assert.has_text("local function leaf", text)
      assert.matches("^ +14 ", text)
      assert.has_text("hits", draw(m).lines[4]:text())
    end, { mode = "line" })
  end)

  it("is shown without figures where no lines were recorded", function()
    watched(function(m, look)
      run(branch, 5)
      look()
      to(m, "leaf")
      press(m, "o")
      assert.has_text("local function leaf", cursor(m))
      assert.has_text("no lines were recorded", draw(m).lines[23]:text())
      press(m, "backspace")
      to(m, "(host)")
      press(m, "o")
      assert.has_text("(host) is not a Lua function", draw(m).lines[23]:text())
    end)
  end)
end)

describe("cprof top", function()
  it("shows instructions where these are counted", function()
    local m = watched(function(_, look)
      run(branch, 50)
      look()
    end, { mode = "count" })
    assert.has_text("instr %", draw(m).lines[4]:text())
    assert.equal(50, calls(m, "twig"))
    assert.matches("%d+ instructions", draw(m, 100).lines[2]:text())
    m:key "o"
    assert.equal(24, #draw(m).lines)
  end)

  it("keeps large numbers of instructions in their columns", function()
    local m = watched(function(_, look)
      run(fruit, 3000)
      look()
    end, { mode = "count" })
    local text = line_of(m, "fruit", 80)
    assert.matches("^ *[%d,]+ +[%d.]+ +[%d.]+M +[%d.]+ +1 ", text)
  end)

  it("fits any screen", function()
    watched(function(m, look)
      local name = ("長い名前 "):rep(40)
      run(function()
        profiler.enter(name)
        branch(5)
        profiler.leave(name)
      end)
      look()
      for _, view in ipairs { "f", "t", "c", "o", "?" } do
        press(m, view)
        for _, size in ipairs { { 80, 24 }, { 200, 60 }, { 40, 10 },
          { 20, 7 }, { 10, 4 }, { 1, 1 } } do
          local screen = draw(m, size[1], size[2])
          assert.equal(size[2], #screen.lines)
          for _, line in ipairs(screen.lines) do
            local sum = 0
            for _, piece in ipairs(line:runs()) do
              sum = sum + format.width(piece[1])
            end
            assert.is_true(sum <= size[1], line:text())
          end
        end
      end
    end)
  end)

  it("has what there is to say of the whole, and of frames", function()
    local m = watched(function(_, look)
      run(frames, 9)
      look()
    end)
    local text = draw(m, 200).lines[2]:text()
    assert.matches("  frames of turn: p99 %S+, max %S+  ", text)
    assert.matches("  %d+ functions  %d+ nodes  mode call  pid %d", text)
  end)

  it("tells the keys of the past where there is room", function()
    local m = watched(function(_, look)
      run(branch, 5)
      look()
      run(branch, 5)
      look()
    end)
    local hints = draw(m, 140).lines[24]:text()
    assert.has_text("w Period  { } Past  [ ] Seconds", hints)
  end)

  it("has the least that is needed at 80 columns", function()
    local m = watched(function(_, look)
      run(branch, 5)
      look()
    end)
    local screen = draw(m)
    local last = screen.lines[24]:text()
    for _, hint in ipairs { "? Help", "q Quit", "Tab View", "Enter Callers",
      "/ Search", "s Sort" } do
      assert.has_text(hint, last)
    end
    assert.matches("running, %d+%.%ds$", screen.lines[1]:text())
    local meta = m.history:now().profile.meta
    -- of the wall time, as on the page
    assert.has_text(("overhead %s %%"):format(format.percent(meta.overhead_ns,
      meta.wall_ns)), screen.lines[2]:text())
    assert.has_text("since the start", screen.lines[3]:text())
  end)
end)

describe("top on a narrow screen", function()
  it("leaves out the folder of the program's interpreter", function()
    local m = model.new { history = history.new("start", 10), interval = 1,
      sort = "calls" }
    local folder = "/opt/a/folder/with/a/long/name/"
    m.title = folder .. "lua5.4 /srv/x.lua 9"
    m.status = { state = "waiting", text = "no sample" }
    for width, wanted in pairs { [80] = m.title, [50] = "lua5.4 /srv/x.lua 9",
      [40] = "lua5.4 /srv/x.lua…" } do
      assert.equal(wanted, draw(m, width).lines[1]:text():match(
        "^cprof top: (.-)  +no sample$"))
    end
  end)

  it("cuts a state that is too long", function()
    local m = model.new { history = history.new("start", 10), interval = 1,
      sort = "calls" }
    m.title = "x.lua"
    m.status = { state = "ended",
      text = "ended: the program's Lua states are gone: process 4711 ended" }
    for width, wanted in pairs {
      [80] = "cprof top: x.lua  " .. m.status.text,
      [40] = "cprof top:  ended: the program's Lua st…",
      [9] = "cprof to…",
    } do
      assert.equal(wanted, (draw(m, width).lines[1]:text():gsub("   +", "  ")))
    end
  end)

  it("leaves out figures before names, but not those it sorts by", function()
    watched(function(m, look)
      run(branch, 3)
      look()
      for _, width in ipairs { 40, 50, 60, 80 } do
        for _, by in ipairs { "self", "total", "calls" } do
          m.sort = by
          local lines = draw(m, width).lines
          local head = lines[4]:text()
          assert.matches("[▼*]" .. by, head)
          assert.has_text("function", head)
          local all = {}
          for i = 5, 8 do all[#all + 1] = lines[i]:text() end
          local text = table.concat(all, "\n")
          for _, name in ipairs { "leaf", "twig", "branch" } do
            assert.has_text(" " .. name, text)
          end
        end
      end
      m.sort = "self"
      assert.has_no_text("calls", draw(m, 40).lines[4]:text())
      assert.has_text("lately", draw(m, 80).lines[4]:text())
    end)
  end)
end)

describe("cprof top of samples", function()
  -- runs until there are n more samples
  local function sample(n, look)
    local m = look(0)
    local most = (m or 0) + n
    repeat run(branch, 100) until look() >= most
  end

  -- a model of samples, as `watched`, whose `look` gives their number
  local function watched_samples(body, memory)
    return watched(function(m, look)
      return body(m, function(seconds)
        look(seconds)
        return m.history:now().profile.samples
      end)
    end, { mode = "sample", rate = 10000, memory = memory })
  end

  it("has no column of samples beside other measures than time", function()
    local function title(m) return draw(m, 200).lines[4]:text() end
    watched_samples(function(m, look)
      sample(60, look)
      assert.has_text("samples", title(m))
      m.history:set_measure "alloc"
      m:refresh()
      assert.has_text(" alloc ", title(m))
      assert.has_no_text("samples", title(m))
      m.history:set_measure "wall"
      m:refresh()
      assert.has_text("samples", title(m))
    end, true)
  end)

  it("has the samples and the interval of shares, and no calls", function()
    local m = watched_samples(function(_, look) sample(60, look) end)
    local p = m.now.now.profile
    local head = draw(m, 200).lines
    assert.matches(("^%s samples? %%("):format(format.count(p.samples)),
      head[2]:text())
    assert.has_no_text("calls", head[4]:text())
    assert.has_text("samples", head[4]:text())
    local f
    for _, other in ipairs(p.functions) do
      if other.name == "spin" then f = other end
    end
    local text = line_of(m, "spin")
    local share, off, samples = text:match
      "^ *%S+ +([%d.]+) ±([%d.]+) +%S+ +[%d.]+ ±[%d.]+ +([%d,]+) "
    assert.is_truthy(share, text)
    assert.equal(format.count(f.self_samples), samples)
    assert.equal(("%.1f"):format(100 * sampled.interval(
      f.self_ns / p.program_ns, p.measure.samples)), off)
    assert.equal(format.percent(f.self_ns, p.program_ns), share)
    assert.has_text("±", draw(m, 80).lines[6]:text())
    to(m, "spin")
    press(m, "o")
    local titles = draw(m, 120).lines[4]:text()
    assert.matches("^ +self +self %% +callees +line ", titles)
    local hot = false
    for _, line in ipairs(draw(m, 120).lines) do
      hot = hot or line:text():find "^ *%S+ +[%d.]+ ±[%d.]+ .*x = x %+ i"
    end
    assert.is_truthy(hot)
  end)

  it("has each view, since the start and since a mark", function()
    watched_samples(function(m, look)
      sample(40, look)
      local before = look()
      local function views_of()
        for _, key in ipairs { "t", "e", "c", "o", "f" } do
          press(m, key)
          local screen = draw(m, 120, 40)
          assert.equal(40, #screen.lines)
        end
        press(m, "t")
        local own = 0
        for _, item in ipairs(m.view.list(m)) do
          assert.is_nil(item.of.calls)
          own = own + item.of.count
        end
        assert.is_true(own <= m.now.profile.samples)
        press(m, "c")
        assert.is_true(#m.view.list(m) > 0)
        press(m, "f")
      end
      views_of()
      press(m, "r")
      sample(40, look)
      assert.equal(look() - before, m.now.profile.samples)
      views_of()
      press(m, "s")
      local last = math.huge
      m.sort = "calls"
      for _, item in ipairs(m.view.list(m)) do
        assert.is_true(item.of.count <= last)
        last = item.of.count
      end
    end)
  end)

  it("begins anew when the program resets", function()
    watched_samples(function(m, look)
      sample(60, look)
      press(m, "r")
      profiler.reset()
      sample(5, look)
      assert.equal("start", m.history.period)
      assert.equal(m.now.now.profile.samples, m.now.profile.samples)
    end)
  end)
end)
