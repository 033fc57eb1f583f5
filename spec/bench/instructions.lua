-- make instructions: how many instructions of the processor the recorder runs
-- for an event, as callgrind counts them:
--
--   instructions.lua run
--     To be run under callgrind, with --dump-before=bench_mark: each call of
--     `hooks.part` ends a part of its output. Every second part is of a
--     workload that was run once already. Prints a line for each workload:
--     mode, name, events.
--   instructions.lua check RUN OUT HELD MACHINE
--     RUN is what that printed, OUT the name of callgrind's output. Prints the
--     instructions for each event beside those that the file HELD has, with the
--     share of events that left the fast path, and ends with an error if a
--     workload takes more than a tenth more. MACHINE says what the figures
--     depend on: the processor, the compiler and Lua. Figures of another
--     machine are not compared.
--   instructions.lua keep RUN OUT HELD MACHINE
--     Writes HELD anew.

-- More instructions than this count as worse. Addresses, and thus what caches
-- hold, change from run to run.
local MORE <const> = 1.1

-- kept: mode call that keeps the last events
local modes <const> = { "call", "kept", "line", "count" }
-- the workloads for modes with more events
local some <const> = {
  ["flat calls"] = true, ["tail calls"] = true, ["coroutine switches"] = true,
}

local function run()
  local hooks = require "bench_hooks"
  local profiler = require "cprof"
  local workloads = require "workloads"

  -- the events of one of the two runs that were recorded
  local function events()
    local p, n = profiler.snapshot(), 0
    for _, node in ipairs(p.nodes) do n = n + 2 * node.calls end
    for _, file in pairs(p.lines or {}) do
      for _, line in ipairs(file) do n = n + (line.hits or 0) end
    end
    return n // 2
  end

  local function count(mode, w)
    collectgarbage()
    collectgarbage "stop"
    -- option gc would make the collector's steps come at other moments
    profiler.start { mode = mode == "kept" and "call" or mode, gc = false,
      keep_last = mode == "kept" and 10 or nil }
    w.run()
    hooks.part()
    w.run()
    hooks.part()
    profiler.stop()
    collectgarbage "restart"
    print(("%s\t%s\t%d"):format(mode, w.name, events()))
  end

  for _, mode in ipairs(modes) do
    for _, w in ipairs(workloads) do
      local fits = mode == "call" or some[w.name]
      if fits and not w.rounds then count(mode, w) end
    end
  end
end

-- Each event that leaves the fast path calls one of these.
local slow <const> = {
  hook_slow = true, hook_anycall = true, hook_popany = true,
  hook_otherline = true, hook_otherinstruction = true,
}

-- What comes with time, and not with events, is not counted: how often it comes
-- depends on how busy the machine is. These are looks at the thread's clock and
-- slices of the time axis. The names of their functions begin like this.
local timely <const> = {
  gap = true, axis = true, slice = true, slices = true, slicing = true,
  platform = true, clock = true, index = true, chunks = true, hot = true,
}

-- The instructions within cprof's own library, in one part of the output, and
-- how many events have left the fast path, but for those that came late. A line
-- after "calls=" has the instructions of the callee, which are counted there.
local function own(path)
  local objects, names, object, callee = {}, {}, nil, false
  local caller, called = nil, nil
  local fast, aside, left, late = 0, 0, 0, 0
  for line in io.lines(path) do
    local kind, id, name = line:match "^(c?%l+)=(%(%d+%)) ?(.*)$"
    local list = (kind == "ob" or kind == "cob") and objects
      or (kind == "fn" or kind == "cfn") and names
    if list then
      if name ~= "" then list[id] = name end
      if kind == "ob" then object = objects[id]
      elseif kind == "fn" then caller = names[id]
      elseif kind == "cfn" then called = names[id] end
    elseif line:find "^calls=" then
      callee = true
      local n = math.tointeger(line:match "%d+")
      if slow[called] and not slow[caller] then left = left + n end
      if called == "hot_gap" then late = late + n end
    elseif line:find "^[%d+*-]" then
      local n = math.tointeger(line:match "%d+$")
      if callee or not (object and object:find "/core%.so$") then n = 0 end
      if slow[caller] then aside = aside + n
      elseif not timely[caller:match "^%l*"] then fast = fast + n end
      callee = false
    end
  end
  local kept = left > late and (left - late) / left or 0
  return fast + aside * kept, left * kept
end

local function rows_of(said, out)
  local rows, part = {}, 0
  for line in io.lines(said) do
    local mode, name, events = line:match "^(%l+)\t([^\t]+)\t(%d+)$"
    if mode then
      part = part + 2
      local sum, left = own(("%s.%d"):format(out, part))
      rows[#rows + 1] = { key = mode .. ", " .. name, each = sum / events,
        slow = left / events * 100 }
    end
  end
  return assert(rows[1] and rows, "no workload was run: see " .. said)
end

-- the figures of the file, by key, and the machine that they are of
local function held_in(path)
  local file, held, machine = io.open(path), {}, nil
  for line in file and file:lines() or function() end do
    machine = machine or line
    local key, each = line:match "^(%l+, .*)\t(%S+)$"
    if key then held[key] = tonumber(each) end
  end
  if file then file:close() end
  return held, machine
end

local function keep(rows, path, machine)
  local file = assert(io.open(path, "w"))
  file:write(machine, "\n")
  for _, row in ipairs(rows) do
    file:write(("%s\t%.1f\n"):format(row.key, row.each))
  end
  file:close()
end

local function check(rows, path, machine)
  local held, of = held_in(path)
  local more = 0
  print(("%-30s %7s %7s %7s"):format("instructions for each event", "slow %",
    "now", "before"))
  for _, row in ipairs(rows) do
    local before = held[row.key]
    local lost = of == machine and
      (not before or row.each > before * MORE + 0.05)
    if lost then more = more + 1 end
    print(("%-30s %7.2f %7.1f %7s%s"):format(row.key, row.slow, row.each,
      before and ("%.1f"):format(before) or "-", lost and "  more" or ""))
  end
  if of ~= machine then
    print(("not compared: before is of %s, this is %s"):format(of, machine))
  end
  if more > 0 then
    print(("%d of %d workloads take more instructions than %s allows\n" ..
      "If that is worth it: make instructions-keep"):format(more, #rows, path))
    os.exit(1)
  end
end

local what, said, out, path, machine = table.unpack(arg)
if what == "run" then run()
else
  local act = what == "keep" and keep or check
  act(rows_of(said, out), path, machine)
end
