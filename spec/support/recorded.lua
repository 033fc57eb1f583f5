-- Waits until a folder has COMPLETE recordings that are complete, and LIVE ones
-- that go on, each with more than ten calls of `work`, or fifty samples, or
-- with "any" calls.
-- It gives up when the program has ended, and after five minutes.
-- Usage: recorded.lua PID COMPLETE LIVE [any]

local core = require "cprof.core"
local profiler = require "cprof"

local function counts(p)
  if arg[4] == "any" then return true end
  for _, f in ipairs(p.functions) do
    if f.name == "work" then
      return (f.calls or 0) > 10 or (f.total_samples or 0) > 50
    end
  end
  return false
end

local function found()
  local complete, live = 0, 0
  local pipe <close> = io.popen "ls"
  for name in pipe:lines() do
    local p = name:find "%.cprof$" and profiler.load(name)
    if p and counts(p) then
      if p.meta.live then live = live + 1 else complete = complete + 1 end
    end
  end
  return complete, live
end

-- Has the program ended, though nobody may have asked for its status yet?
local function ended()
  local pid = math.tointeger(tonumber(arg[1]))
  local state = core.readfile(("/proc/%d/stat"):format(pid))
  return not core.owner(pid) or state and state:find "%) Z "
end

local function give_up(why)
  io.stderr:write("recorded: ", why, "\n")
  os.exit(1)
end

local over, deadline = false, core.seconds() + 300
while true do
  local complete, live = found()
  if complete == tonumber(arg[2]) and live == tonumber(arg[3]) then return end
  if over then give_up "the program has ended" end
  if core.seconds() > deadline then give_up "these recordings never came" end
  over = ended()
  core.sleep(0.02)
end
