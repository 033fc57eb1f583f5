-- K: a busy machine. A program of known make-up runs on one processor, alone
-- there, and then beside programs that never wait, so that it has a quarter
-- of the processor: its shares and its CPU time should not change.

local busy = {}

local rounds <const> = tonumber(os.getenv "CPROF_ROUNDS") or 7
local others <const> = 3

-- how the program is recorded
local ways = {
  { name = "call", options = '{ mode = "call" }' },
  { name = "line", options = '{ mode = "line" }' },
  { name = "memory", options = '{ mode = "call", memory = true }' },
  { name = "frames", options = "{ slow_frames = { budget_ms = 1 } }",
    turn = "part(i) profiler.frame()" },
  { name = "coroutines", options = '{ mode = "call" }',
    turn = "coroutine.wrap(part)(i)" },
  -- more turns, so that there are enough samples
  { name = "sample", options = '{ mode = "sample" }', turns = 3000 },
}

-- For their time, calls have the most events, lines fewer, and C functions the
-- fewest.
local program <const> = [[
  local profiler = require "cprof"
  local function leaf(x) return x + 1 end
  local function calls(n)
    local x = 0
    for _ = 1, n do x = leaf(x) end
    return x
  end
  local function loop(n)
    local x = 0
    for i = 1, n do
      x = x + i %% 7
    end
    return x
  end
  local function in_c(n)
    local s = ("cprof "):rep(400)
    for _ = 1, n do s:reverse() end
  end
  local function wait()
    local p = io.popen "sleep 0.002"
    p:read "a"
    p:close()
  end
  local function part(i)
    calls(9000)
    loop(12000)
    in_c(300)
    if i %% 20 == 0 then wait() end
  end
  profiler.start(%s)
  for i = 1, %d do %s end
  profiler.stop()
  local p = profiler.snapshot()
  local meta, wanted = p.meta, { calls = calls, loop = loop, in_c = in_c }
  local out, cpu = {}, p.program_ns - meta.waiting_ns
  for name, f in pairs(wanted) do
    local at = debug.getinfo(f, "S").linedefined
    for _, row in ipairs(p.functions) do
      if row.line == at and row.kind == "Lua" then
        out[#out + 1] = ("%%s %%.3f"):format(name,
          (row.total_ns - row.total_wait_ns) / cpu * 100)
      end
    end
  end
  print(("cpu %%d\nwall %%d\npreempted %%d\nwaiting %%d\n%%s"):format(cpu,
    meta.wall_ns, meta.preempted_ns, meta.waiting_ns,
    table.concat(out, "\n")))
]]

local script = os.tmpname()

local function run(processor)
  local pipe = assert(io.popen(("taskset -c %d %s '%s'"):format(processor,
    arg[-1], script)))
  local out = {}
  for name, value in pipe:read "a":gmatch "([%w_]+) ([%d.]+)" do
    out[name] = tonumber(value)
  end
  assert(pipe:close(), "the program of experiment K failed")
  return out
end

---Starts programs that never wait, on that processor. Returns what ends them.
---@param processor integer
---@return fun()
function busy.neighbours(processor)
  local pipe = assert(io.popen(([[
    for i in $(seq %d); do
      taskset -c %d sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $!
    done]]):format(others, processor)))
  local ids = pipe:read("a"):gsub("\n", " ")
  pipe:close()
  return function() os.execute("kill " .. ids .. " 2>/dev/null") end
end

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

local function medians(runs)
  local lists, out = {}, {}
  for _, figures in ipairs(runs) do
    for name, n in pairs(figures) do
      lists[name] = lists[name] or {}
      table.insert(lists[name], n)
    end
  end
  for name, list in pairs(lists) do out[name] = median(list) end
  return out
end

---The functions of the program whose shares are known.
busy.parts = { "calls", "loop", "in_c" }

---Rows: name; `quiet` and `loaded`, with cpu, wall, preempted and waiting in
---ns, and shares in percent.
function busy.rows()
  local processor = 0
  local rows = {}
  for _, way in ipairs(ways) do
    local file = assert(io.open(script, "w"))
    file:write(program:format(way.options, way.turns or 100,
      way.turn or "part(i)"))
    file:close()
    local quiet, loaded = {}, {}
    for round = 1, rounds do
      quiet[round] = run(processor)
      local done = busy.neighbours(processor)
      loaded[round] = run(processor)
      done()
    end
    rows[#rows + 1] = { name = way.name, quiet = medians(quiet),
      loaded = medians(loaded) }
  end
  os.remove(script)
  return rows
end

return busy
