-- Writes the pages that the specs open in a browser: lua5.4 pages.lua FOLDER

local profiler = require "cprof"
local core = require "cprof.core"
local coverage = require "cprof.report.coverage"
local join = require "cprof.profile.join"

local folder = assert(arg[1], "name a folder")

local function record(options, f)
  profiler.start(options)
  f()
  profiler.stop()
  return profiler.snapshot()
end

-- writes a page, and text reports to compare its figures with
local function write(name, p)
  assert(p:html(("%s/%s.html"):format(folder, name)))
  local file = assert(io.open(("%s/%s.txt"):format(folder, name), "w"))
  file:write(p:report { width = 1000, limit = 60 })
  file:close()
  file = assert(io.open(("%s/%s.tree.txt"):format(folder, name), "w"))
  file:write((p:report { mode = "tree", width = 1000, limit = 25,
    min_percent = 0 }))
  file:close()
end

-- a real program, as its command records it
-- luacheck checks its files `times` times, once unless given.
local function luacheck(name, options, times)
  local path = ("%s/%s.cprof"):format(folder, name)
  local files = (" /usr/share/lua/5.1/pl/[a-l]*.lua"):rep(times or 1)
  local command = ("%s lua/cprof/bin/cprof run %s --quiet -o '%s' -- " ..
    "/usr/bin/luacheck --no-cache%s " ..
    ">/dev/null 2>&1"):format(arg[-1], options, path, files)
  os.execute(command)
  return assert(profiler.load(path))
end

local function burn(n)
  local s = 0
  for i = 1, n do s = s + i % 7 end
  return s
end

-- frames, some of which are slow
local function game()
  local function update(n) for _ = 1, 5 do burn(n) end end
  local function draw(slow)
    local _ <close> = profiler.zone "draw"
    burn(2000)
    if slow then
      local _ <close> = profiler.zone "particles"
      burn(150000)
    end
  end
  -- a busy machine makes no frame slow by the clock of the CPU
  return record({ slow_frames = { budget_ms = 0.5 }, history = "full",
    clock = "cpu" }, function()
    for i = 1, 60 do
      update(300)
      draw(i % 20 == 0)
      profiler.frame()
    end
  end)
end

-- what is kept, and what the collector frees; a frame for each round
local function leak()
  local kept = {}
  local function remember(i) kept[#kept + 1] = ("%d,"):rep(40):format(
    table.unpack({ i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i,
      i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i })) end
  local function waste(n)
    local t = {}
    for i = 1, n do t[i] = { i } end
    return t
  end
  return record({ mode = "line", memory = "live", memory_interval = 1,
    gc = true, slow_frames = { budget_ms = 100 } }, function()
    for round = 1, 60 do
      for i = 1, 150 do remember(i) end
      waste(3000)
      if round % 20 == 0 then collectgarbage() end
      profiler.frame()
    end
  end)
end

-- lines that are wider than any window
local function long()
  local path = folder .. "/long.lua"
  local file = assert(io.open(path, "w"))
  file:write("local n = 0\nfor i = 1, 200000 do n = n + i end ",
    ("n = n + 1 "):rep(2000), "\nfor i = 1, 200000 do\n  n = n + i\nend\n")
  file:close()
  local chunk = assert(loadfile(path))
  return record({ mode = "line" }, function() chunk() end)
end

-- a program that waits longer than it computes
local function waits()
  local function compute() burn(200000) end
  local function wait()
    local pipe = assert(io.popen "sleep 0.05")
    pipe:read "a"
    pipe:close()
  end
  for _ = 1, 3 do
    compute()
    wait()
  end
end

local function coroutines()
  local function producer()
    for i = 1, 50 do
      burn(200)
      coroutine.yield(i)
    end
  end
  local function consumer()
    for i in coroutine.wrap(producer) do burn(i) end
  end
  return record({ mode = "line" }, function()
    for _ = 1, 5 do consumer() end
  end)
end

-- names that are markup elsewhere
local hostile = { "</script><img src=x onerror=hacked()>", "<b>bold</b>",
  "'\"&amp;&lt;", "line\nbreak\u{2028}and\u{2029}more", "bytes\xFF\xC3", "",
  "__proto__", "constructor", "javascript:hacked()", "{{DATA}}", "%d %s",
  ("long "):rep(200), "</style><script>hacked()</script>", "\u{202E}backwards" }

local function named()
  local functions = {}
  for i, name in ipairs(hostile) do
    functions[i] = assert(load(("local function f(n) -- %s\n" ..
      "for i = 1, 100 do n = n + i end return n end return f"):format(
      name:gsub("%c", " ")), "@" .. name .. "/</script>" .. i .. ".lua"))()
  end
  return record({ mode = "line" }, function()
    for i, name in ipairs(hostile) do
      local _ <close> = profiler.zone(name)
      functions[i](1)
    end
    load("local function within(n) for i = 1, n do n = n + i % 7 end end " ..
      "within(100000)", "=" .. ("chunk_"):rep(200))()
  end)
end

-- about a million nodes
local function million()
  local list, seed = {}, 42
  local function random(n)
    seed = seed * 1103515245 + 12345 & 0x7fffffff
    return (seed >> 8) % n + 1
  end
  for i = 1, 300 do
    list[i] = assert(load(([[
      local list, random = ...
      local function work_%d(depth)
        for i = 1, %d do end
        if depth == 0 then return end
        for i = 1, 3 do list[random(#list)](depth - 1) end
      end
      return work_%d]]):format(i, i, i), ("@work%d.lua"):format(i % 20)))(
      list, random)
  end
  return record({ recursion = "full", max_nodes = 1100000 }, function()
    for _ = 1, 35 do list[random(#list)](9) end
  end)
end

-- first: in a small heap, collections are short
write("leak", leak())
local lined = luacheck("luacheck", "--lines")
write("luacheck", lined)
-- as much work as every page about samples needs, however few a second a
-- busy machine grants
local called = luacheck("called", "", 10)
write("called", called)
local sampled = luacheck("sampled", "--sample=2000", 10)
write("sampled", sampled)
write("joined", assert(join.profiles(called, sampled)))
write("game", game())
write("memory", luacheck("memory", "--memory=live"))
write("coroutines", coroutines())
write("long", long())
write("waits", record({ mode = "line" }, waits))
write("hostile", named())
local large = million()
print(("million: %d nodes"):format(#large.nodes))
write("million", large)
if core.internals() == "direct" then
  local counted = luacheck("count", "--coverage")
  write("count", counted)
  local file = assert(io.open(folder .. "/count.coverage.txt", "w"))
  file:write((assert(coverage.make(counted, { width = 1000 }))))
  file:close()
end

-- A program before or after an edit. In `other`, the edit changes a loop
-- without calls, so its time has no overhead.
local function edited(name, text)
  local chunk = assert(load(text, "@edited.lua"))
  local path = ("%s/%s.cprof"):format(folder, name)
  assert(record({ clock = "cpu" }, function() chunk(burn) end):save(path))
  return path
end

local before = edited("before", [[
  local burn = ...
  local function old() burn(50000) end
  local function both() burn(50000) end
  local function other()
    for _ = 1, 100 do burn(10) end
    for _ = 1, 500000 do end
  end
  old() both() other()]])
local after = edited("after", [[
  local burn = ...
  local function both() burn(200000) end
  local function other()
    for _ = 1, 100 do burn(10) end
    for _ = 1, 5000000 do end
  end
  local function fresh() for _ = 1, 3 do burn(90000) end end
  both() other() fresh()]])
assert(os.execute(("%s lua/cprof/bin/cprof html -o '%s/diff.html' --diff " ..
  "'%s' '%s' 2>&1"):format(arg[-1], folder, before, after)))

-- the same two, each as a page, of which one is dropped on the other
for _, name in ipairs { "before", "after" } do
  assert(assert(profiler.load(("%s/%s.cprof"):format(folder, name))):html(
    ("%s/%s.html"):format(folder, name)))
end

-- a trace of two coroutines and the garbage collector, for the calls on a time
-- axis
local path = folder .. "/trace.lua"
local file = assert(io.open(path, "w"))
file:write [[
  local function leaf(n) local s = 0 for i = 1, n do s = s + i end end
  local function work(n) for i = 1, n do leaf(i * 10) end end
  local co = coroutine.wrap(function()
    for i = 1, 20 do work(i) coroutine.yield() end
  end)
  local function garbage() local t for i = 1, 9000 do t = { i, { i } } end end
  for i = 1, 20 do work(50) co() garbage() end]]
file:close()
assert(os.execute(("%s lua/cprof/bin/cprof run --quiet --gc -o " ..
  "'%s/trace.cprof' '--trace=%s/trace.json' '%s' && " ..
  "%s lua/cprof/bin/cprof html -o " ..
  "'%s/trace.html' '--trace=%s/trace.json' '%s/trace.cprof' 2>&1"):format(
  arg[-1], folder, folder, path, arg[-1], folder, folder, folder)))

-- a page with links to an editor
assert(os.execute(("%s lua/cprof/bin/cprof run --quiet --lines -o " ..
  "'%s/editor.cprof' '%s' && %s lua/cprof/bin/cprof html --editor=vscode -o " ..
  "'%s/editor.html' '%s/editor.cprof' 2>&1"):format(
  arg[-1], folder, path, arg[-1], folder, folder)))

-- two runs of one program, of which one is sampled
assert(os.execute(("%s lua/cprof/bin/cprof html -o '%s/sampled-diff.html' " ..
  "--diff '%s/called.cprof' '%s/sampled.cprof' 2>&1"):format(arg[-1], folder,
  folder, folder)))
