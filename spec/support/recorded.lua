-- Waits until a folder has so many recordings: COMPLETE ones, and LIVE ones
-- that go on, each with more than ten calls of `work`, or fifty samples, or
-- with "any" calls.
-- Usage: recorded.lua COMPLETE LIVE [any]

local core = require "cprof.core"
local profiler = require "cprof"

local function counts(p)
  if arg[3] == "any" then return true end
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

repeat
  core.sleep(0.02)
  local complete, live = found()
until complete == tonumber(arg[1]) and live == tonumber(arg[2])
