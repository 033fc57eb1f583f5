-- L: cprof attach. A program that knows its own shares is sampled from outside,
-- quiet and beside programs that never wait, and records itself with samples.
-- A quarter of its work is short, and comes after waits.

local command = require "command"
local compile = require "compile"
local core = require "cprof.core"
local profiler = require "cprof"
local sampled = require "cprof.count.sampled"

local rounds <const> = math.max(1,
  (tonumber(os.getenv "CPROF_ROUNDS") or 12) // 4)
local seconds <const>, others <const> = 5, 2

-- A program that prints the share of its short work, in %, by its own clock.
local program <const> = [[
  local clock, turns = os.clock, tonumber(arg[1])
  local function work(n)
    local x = 1
    for i = 1, n do x = (x * 5 + i) % 65537 end
    return x
  end
  local function long(n) return (work(n)) end
  local function short(n) return (work(n)) end
  package.cpath = "./?.so"
  local sleep = require "waiting".nanosleep
  local took = { 0, 0 }
  local function time(i, f, n)
    local before = clock()
    f(n)
    took[i] = took[i] + clock() - before
  end
  local n = 100000
  local before = clock()
  work(n)
  n = n * 0.001 / (clock() - before) // 1 | 0  -- a millisecond
  while turns > 0 do
    turns = turns - 1
    time(1, long, n * 30)
    for _ = 1, 10 do
      sleep(5)
      time(2, short, n)
    end
    local stop = io.open "stop"
    if stop then break end
  end
  local out = io.open("truth", "w")
  out:write(100 * took[2] / (took[1] + took[2]))
  out:close()
]]

local ways <const> = { "quiet", "busy", "records itself" }

-- the share of the short work in %, how far it may be off, and the share of
-- what no look has seen
local function shares(path)
  local p = assert(profiler.load(path))
  local short, unseen, both, samples = 0, 0, 0, 0
  for _, f in ipairs(p.functions) do
    local cpu = f.total_ns - f.total_wait_ns
    if f.name == "short" then short = short + cpu end
    if f.name:find "^%(not seen" then unseen = unseen + cpu end
    if f.name == "short" or f.name == "long" or f.name:find "^%(not seen" then
      both, samples = both + cpu, samples + f.total_samples
    end
  end
  return 100 * short / both, 100 * sampled.interval(short / both, samples),
    100 * unseen / both
end

local function run(how)
  local dir <close> = command.folder()
  dir:file("program.lua", program)
  compile.must("gcc -std=c99 -O1 -shared -fPIC -I$SPEC_INCLUDE -o " ..
    "%s/waiting.so spec/support/waiting.c -lpthread", dir.path)
  local beside = how == "busy" and ([[
    for i in $(seq %d); do (while :; do :; done) & others="$others $!"; done
    ]]):format(others) or ""
  local lines = how == "records itself"
    and command.here("run", "--sample", "-o", "x.cprof", "--",
      "program.lua", "60")
    or "$SPEC_LUA program.lua 1000000 & pid=$!; sleep 0.5; " ..
      command.here("attach", "--seconds", tostring(seconds), "-o",
        "x.cprof") .. " $pid; touch stop; wait $pid"
  local _, err = command.bounded(("cd '%s'; others=; %s\n{ %s; } >/dev/null" ..
    "\n[ -z \"$others\" ] || kill $others"):format(dir.path, beside, lines))
  local truth = tonumber((command.read(dir.path .. "/truth")))
  assert(truth, err)
  local got, margin, unseen = shares(dir.path .. "/x.cprof")
  return { truth = truth, got = got, margin = margin, unseen = unseen }
end

---By way of recording: the share of short work in each round.
---@return { name: string, truth: number, got: number, margin: number,
---    unseen: number }[]
return function()
  local out = {}
  if not core.outside then return out end
  for _, how in ipairs(ways) do
    for _ = 1, rounds do
      local row = run(how)
      row.name = how
      out[#out + 1] = row
    end
  end
  return out
end
