-- What the experiments share: running a program unprofiled and recorded,
-- in turn, and what a recording says with other costs than those measured.

local core = require "cprof.core"
local profiler = require "cprof"
local spin = require "accuracy_spin"

local trial = { ns_per_tick = spin.rate() }

-- numbers of profiles whose sums were checked, and that were wrong
trial.conserved, trial.lost = 0, 0

function trial.median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

---ns of processor time that a call of `f` takes unprofiled
function trial.time(f)
  collectgarbage()
  local before = os.clock()
  f()
  return (os.clock() - before) * 1e9
end

-- self times and the profiler's are the wall time, to the ns
local function conserve(p)
  local sum = 0
  for _, node in ipairs(p.nodes) do
    sum = sum + node.self_ns
    assert(node.self_ns >= 0)
  end
  trial.conserved = trial.conserved + 1
  if sum ~= p.meta.wall_ns - p.meta.paused_ns - p.meta.preempted_ns then
    trial.lost = trial.lost + 1
  end
end

---Records `f`. Profiles of the same recording: as it is, with no costs,
---and with twice those that were measured.
function trial.record(f, options)
  collectgarbage()
  profiler.start(options)
  f()
  profiler.stop()
  local out = { compensated = profiler.snapshot() }
  local costs, twice, none = out.compensated.meta.costs_ns, {}, {}
  for name, ns in pairs(costs) do
    twice[name], none[name] = ns * 2, 0
  end
  core.costs(twice)
  out.doubled = profiler.snapshot()
  core.costs(none)
  out.raw = profiler.snapshot()
  for _, p in pairs(out) do conserve(p) end
  return out
end

---The program's own time in a profile.
function trial.whole(p)
  return p.nodes[1].total_ns - p.meta.overhead_ns
end

---The record of a Lua function in a profile.
function trial.find(p, f)
  local info = debug.getinfo(f, "S")
  for _, fn in ipairs(p.functions) do
    if fn.source == info.source and fn.line == info.linedefined then
      return fn
    end
  end
end

function trial.named(p, name)
  for _, fn in ipairs(p.functions) do
    if fn.name == name then return fn end
  end
end

return trial
