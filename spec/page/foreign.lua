-- Writes profiles in other tools' formats, with the text report of what they
-- were made of: lua5.4 foreign.lua FOLDER

local profiler = require "cprof"

local folder = assert(arg[1], "name a folder")

local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end

local function strings(n)
  local t = {}
  for i = 1, n do t[i] = ("%d;"):format(i) end
  return table.concat(t)
end

local function work()
  for _ = 1, 20 do strings(2000) end
  fib(15)
  local _ <close> = profiler.zone "zone; with a semicolon"
  table.sort({ 3, 1, 2 })
  coroutine.wrap(function() fib(10) end)()
end

-- The formats have no overhead, so no figure may be a bound.
local function record(name, options, f)
  options.compensate = false
  profiler.start(options)
  f()
  profiler.stop()
  local p = profiler.snapshot()
  local path = ("%s/%s"):format(folder, name)
  local file = assert(io.open(path .. ".txt", "w"))
  file:write((p:report { width = 1000, limit = 1000,
    min_percent = 0 }))
  file:close()
  assert(p:html(path .. ".html"))
  for _, format in ipairs { "folded", "pprof", "cpuprofile" } do
    assert(p:export(format, path .. "." .. format))
  end
end

record("foreign", { memory = true }, work)
record("foreign-samples", { mode = "sample" }, function()
  local limit = os.clock() + 30
  repeat work() until profiler.snapshot().time_samples > 100 or
    os.clock() > limit
end)
