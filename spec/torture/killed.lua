-- Programs that record into a file and are killed at any moment: the file
-- then loads, its sums hold, and it has what the program did until then.
--
--   lua killed.lua FOLDER SEED SCALE

local helper = require "helper"
local host = require "spec_host"
local profiler = require "cprof"
local torture = require "torture"

local KILLS <const> = 1500
local BATCH <const> = 10
local LONGEST <const> = 8000 -- µs until it is killed, mostly

local file = torture.path "killed.cprof"

local function work() torture.work(false) end

local SEPARATOR <const> = "\n"

-- Calls by path, from 'work' on: names and lines of calls.
local function shape(p)
  local paths, out = {}, {}
  for _, node in ipairs(p.nodes) do
    local name = p.functions[node.func].title
    local under = paths[node.parent]
    if under then
      paths[node.id] = ("%s%s%s@%d"):format(under, SEPARATOR, name,
        node.call_line)
      -- where recursion folds, one path may have several nodes
      out[paths[node.id]] = (out[paths[node.id]] or 0) + (node.calls or 0)
    elseif name:find "^work " then paths[node.id] = ""
    end
    -- how often it collects differs from run to run
    if name:find "garbage collector" then out[paths[node.id] or ""] = nil end
  end
  return out
end

-- titles of functions
local function titles(p)
  local out = {}
  for _, f in ipairs(p.functions) do out[f.title] = 1 end
  return out
end

-- What one call of 'work' records in a program that is not killed. Which
-- functions get samples is luck, so for samples only the titles are compared.
local function whole(way)
  local sampled = way.options.mode == "sample"
  profiler.start(sampled and {} or way.options)
  work()
  profiler.stop()
  local p = profiler.snapshot()
  return sampled and titles(p) or shape(p)
end

-- Has the tree 'least' to 'most' times the calls that one call of 'work' has
-- ('once')? Returns what is wrong; nil: nothing.
local function compare(p, once, least, most)
  local got = p.samples and {} or shape(p)
  for path, calls in pairs(got) do
    if not once[path] then return "it has " .. path end
    if calls > once[path] * most then
      return ("%s: %d calls, at most %d"):format(path, calls,
        once[path] * most)
    end
  end
  for path, calls in pairs(p.samples and {} or once) do
    if (got[path] or 0) < calls * least then
      return ("%s: %d calls, at least %d"):format(path, got[path] or 0,
        calls * least)
    end
  end
  for _, f in ipairs(p.samples and p.functions or {}) do
    if f.source:find "support/torture.lua" and not once[f.title] then
      return "it has " .. f.title
    end
  end
end

-- announces what will have been done by the time of the next announcement
local function runs(way)
  return function(announce)
    profiler.start(torture.options(way, { file = file }))
    announce(0)
    for i = 1, math.huge do
      announce(i * BATCH)
      for _ = 1, BATCH do work() end
    end
  end
end

local function begins(way)
  return function(announce)
    announce(0)
    runs(way)(function() end)
  end
end

local function resets(way)
  return function(announce)
    profiler.start(torture.options(way, { file = file }))
    announce(0)
    while true do
      work()
      profiler.reset()
    end
  end
end

local function restarts(way)
  return function(announce)
    announce(0)
    while true do
      profiler.start(torture.options(way, { file = file }))
      work()
      profiler.stop()
    end
  end
end

local early = { "nothing was recorded in it yet", "No such file",
  "not a profile", "its program was killed during a reset" }

local function is_early(why)
  for _, text in ipairs(early) do
    if why:find(text, 1, true) then return true end
  end
  return false
end

local scenes = {
  { "running", runs, exact = true }, { "running", runs, exact = true },
  { "beginning", begins }, { "reset", resets }, { "restarted", restarts },
}

local function look(p, once, done, most, exact)
  helper.check(p)
  if not exact then done, most = 0, math.maxinteger // 1000000 end
  local why = compare(p, once, done, most)
  if why then error(why, 0) end
  p:report()
end

local ways, once = torture.ways(), {}
for i, way in ipairs(ways) do
  once[i] = whole(way)
  assert(next(once[i]), way.name)
end

for n = 1, torture.many(KILLS) do
  local w, scene = math.random(#ways), scenes[math.random(#scenes)]
  local us = math.random(math.random(20) == 1 and 20 * LONGEST or LONGEST)
  if not scene.exact then us = us // 4 end
  os.remove(file)
  local done, most, status = host.kill(scene[2](ways[w]), us)
  torture.tried()
  local where = ("%d (%s, %s, after %d µs)"):format(n, ways[w].name,
    scene[1], us)
  local p, why = profiler.load(file)
  if status ~= 9 then
    torture.fail("%s: it ended with %d", where, status)
  elseif p then
    torture.count "read"
    local ok, message = pcall(look, p, once[w], done, most, scene.exact)
    if not ok then
      os.rename(file, torture.path(("killed-%d-%d.cprof")
        :format(torture.seed, n)))
      torture.fail("%s: %s", where, message)
    end
  elseif scene.exact or not is_early(why) then
    torture.fail("%s: %s", where, why)
  else
    torture.count "too early"
  end
end

os.remove(file)
torture.done("killed", "programs")
