-- A clock that steps back, over and over: no time is negative, sums hold,
-- the report tells of it, and nothing waits for the time that it lost.
--
--   lua clock.lua FOLDER SEED SCALE
--
-- The program runs under a library that makes the clocks do so.

local command = require "command"
local helper = require "helper"
local profiler = require "cprof"
local torture = require "torture"

local ROUNDS <const> = 20
local SECONDS <const> = 120 -- for a program, also on a busy machine

if os.getenv "STEPPING_SEED" then
  local way = torture.ways()[tonumber(arg[4])]
  local file = torture.path "clock.cprof"
  os.remove(file)
  local options = torture.options(way, { clock = arg[5] ~= "" and arg[5] or
    way.options.clock, file = arg[6] ~= "" and file or nil })
  profiler.start(options)
  for _ = 1, 200 do torture.work() end
  profiler.stop()
  local p = profiler.snapshot()
  if options.file or options.live_file then p = assert(profiler.load(file)) end
  helper.check(p)
  local meta = p.meta
  if meta.mode ~= "count" then
    assert(meta.wall_ns >= 0 and meta.paused_ns >= 0)
  end
  local told = p:report():find("note: the clock ran backwards", 1, true)
  local back = (meta.clock_backwards or 0) > 0
  assert(back == (told ~= nil), "the report says otherwise")
  assert(not back or meta.clock_backwards_ns > 0)
  for _, point in ipairs(p.heap or {}) do assert(point.ns >= 0) end
  print(meta.clock, back and "back" or "steady")
  os.exit(0, true)
end

local shim = torture.path "stepping.so"
assert(os.execute(("cc -O1 -shared -fPIC -o %s spec/torture/stepping.c")
  :format(shim)))

local ways = torture.ways()
for n = 1, torture.many(ROUNDS) do
  for w, way in ipairs(ways) do
    local cpu = n % 2 == 0 and way.options.mode ~= "sample" and
      way.options.mode ~= "count"
    local into = n % 3 == 0
    local line = ("STEPPING_SEED=%d timeout %d env LD_PRELOAD=%s $SPEC_LUA " ..
      "spec/torture/clock.lua %s %d 1 %d '%s' '%s'"):format(
      torture.seed * 1000 + n, SECONDS, command.quote(shim), torture.folder,
      torture.seed, w, cpu and "cpu" or "", into and "file" or "")
    local out, err, status = command.shell(line)
    torture.tried(out:match "back" or out:match "steady")
    if status ~= 0 then
      torture.fail("%s%s%s, seed %d: %s %s", way.name, cpu and ", cpu" or "",
        into and ", into a file" or "", torture.seed * 1000 + n, status, err)
    end
  end
end
os.remove(shim)
os.remove(torture.path "clock.cprof")
torture.done("clock", "programs")
