-- How long cprof attach stops a program that runs, by the depth of its stack,
-- with and without C frames.

local profiler = require "cprof"

local seconds <const> = tonumber(os.getenv "CPROF_SECONDS") or 2

local program <const> = [[
  local function work()
    local sum = 0
    for i = 1, 10000 do sum = sum + #tostring(i) end
    return sum
  end
  local function under(depth)
    if depth > 0 then return 1 + under(depth - 1) end
    while true do work() end
  end
  under(%d)]]

-- runs this shell command, and returns what it prints
local function shell(command)
  local pipe <close> = assert(io.popen(command))
  return pipe:read "a"
end

-- how often cprof attach stopped the program, and for how long
local function stops(depth, options)
  local path <const> = os.tmpname()
  local pid = shell(("$SPEC_LUA -e '%s' >/dev/null & echo $!"):format(
    program:format(depth)))
  local said = shell(("sleep 0.2; $SPEC_LUA lua/cprof/bin/cprof attach %s " ..
    "--seconds=%g -o %s %s 2>&1"):format(options, seconds, path, pid))
  os.execute("kill " .. pid)
  local meta = assert(profiler.load(path), said).meta
  os.remove(path)
  return { stops = meta.outside_stops, median = meta.outside_median_ns,
    worst = meta.outside_worst_ns }
end

local rows = {}
for _, options in ipairs { "", "--native" } do
  for _, depth in ipairs { 10, 1000, 10000 } do
    local row = stops(depth, options)
    row.name = ("%d frames%s"):format(depth, options ~= "" and
      ", C frames, too" or "")
    rows[#rows + 1] = row
  end
end
return rows
