-- Writes the page of a sampled program that stalls, and reports of ranges of
-- its time, which have the same figures: lua5.4 stall.lua FOLDER. A sample is a
-- millisecond, whatever the machine does.

-- must be loaded before cprof
local driven = require "driven"

local folder = assert(arg[1], "name a folder")

local function work(n)
  for _ = 1, n do local _ = {} end
end

-- each 20 ms: 2 of work, then a wait in C
local function handle() work(2) end

local function compact()
  for _ = 1, 40 do
    work(4)
    string.rep("x", 10)
    work(1)
  end
end

local function serve()
  for i = 0, 199 do
    if i == 70 or i == 150 then compact()
    else
      handle()
      driven.wait(18)
    end
  end
end

local p = driven.known(serve)
assert(p:html(folder .. "/stall.html"))

local function write(name, text)
  local file = assert(io.open(("%s/%s.txt"):format(folder, name), "w"))
  file:write(text)
  file:close()
end

local function write_all(name, q)
  write(name, q:report { width = 1000, limit = 60 })
  write(name .. ".tree", q:report { mode = "tree", width = 1000, limit = 25,
    min_percent = 0 })
  write(name .. ".lines", q:annotate(nil, { width = 1000, limit = 60 }))
end

for name, range in pairs { [""] = {}, [".stall"] = { 1.4, 1.6 },
  [".odd"] = { 1.3031, 1.5017 }, [".end"] = { 4 } } do
  write_all("stall" .. name, assert(p:range(range[1], range[2])))
end

-- what a range has more or less of than another one
assert(p:save(folder .. "/stall.cprof"))
assert(os.execute(("%s lua/cprof/bin/cprof diff --width=1000 " ..
  "--range 1.4s..1.6s --against 0s..1.4s '%s/stall.cprof' " ..
  ">'%s/stall.diff.txt'"):format(arg[-1], folder, folder)))

-- an exact recording, by the clock of the machine
local profiler = require "cprof"
profiler.start { mode = "line" }
repeat
  for _ = 1, 10 do handle() end
  compact()
until profiler.snapshot().meta.wall_ns > 100e6
profiler.stop()
local exact = profiler.snapshot()
assert(exact:html(folder .. "/exact.html"))
write_all("exact.odd", assert(exact:range(0.0203, 0.0717)))

-- the last seconds of a recording with each call, by the clock of the machine
profiler.start { keep_last = 1000 }
for _ = 1, 20 do handle() end
compact()
profiler.dump_recent(folder .. "/kept.cprof")
profiler.stop()
assert(assert(profiler.load(folder .. "/kept.cprof")):html(folder ..
  "/kept.html"))

-- a page without a time axis
profiler.start { mode = "count" }
handle()
profiler.stop()
assert(profiler.snapshot():html(folder .. "/counted.html"))

-- a page with the size of the heap over time, by the clock of the machine
local function keep()
  local kept = {}
  for i = 1, 3000 do kept[i % 300] = ("x"):rep(2000 + i) end
  return kept
end
local q
profiler.start { mode = "sample", memory = true }
repeat
  keep()
  q = profiler.snapshot()
until q.samples > 100 and #q.heap > 5
profiler.stop()
assert(profiler.snapshot():html(folder .. "/stall-memory.html"))
