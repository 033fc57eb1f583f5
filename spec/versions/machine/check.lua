-- Checks cprof in the virtual machine, with programs that know nothing of it.
-- Prints how many checks passed, and which failed.

local profiler = require "cprof"

local passed, failed = 0, 0

local function check(what, ok, why)
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    print(("failed: %s: %s"):format(what, why))
  end
end

local function contents(path)
  local f <close> = assert(io.open(path))
  return f:read "a"
end

-- Starts a program in the background, and returns its process.
local function start(line)
  os.execute(line .. " & echo $! > /tmp/pid")
  return math.tointeger(tonumber(contents "/tmp/pid"))
end

-- Waits until a program is gone, or a zombie.
local function ended(process)
  repeat
    os.execute "sleep 1"
    local f <close> = io.open("/proc/" .. process .. "/stat")
  until not f or f:read "a":find "%) Z"
end

-- What the command prints.
local function cprof(line)
  os.execute("lua5.4 /cprof/lua/cprof/bin/cprof " .. line ..
    " > /tmp/out 2>&1")
  return contents "/tmp/out"
end

local function says(what, text, ...)
  for _, pattern in ipairs { ... } do
    check(what .. ": " .. pattern, text:find(pattern), text)
  end
end

-- `hot` does three quarters of the work: its share of samples must be within
-- six standard deviations, which chance exceeds once in 500 million checks.
local function divided(what, path)
  local p, why = profiler.load(path)
  local samples = { hot = 0, cool = 0 }
  for _, f in ipairs(p and p.functions or {}) do
    if samples[f.name] then samples[f.name] = f.self_samples end
  end
  local n = samples.hot + samples.cool
  check(what .. ": has samples", n > 0, why or n)
  local off = samples.hot / n - 0.75
  check(what .. ": three quarters are hot", math.abs(off) <
    6 * math.sqrt(0.75 * 0.25 / n), ("%d of %d"):format(samples.hot, n))
  os.remove(path)
  return p
end

-- What dump prints, once it has this text, or after many times.
local function dumped(line, text)
  local out
  for _ = 1, 50 do
    out = cprof("dump " .. line)
    if out:find(text) then break end
    os.execute "sleep 1"
  end
  return out
end

local busy = start "lua5.4 /busy.lua /tmp/go > /tmp/said"
says("dump", dumped("--locals " .. busy, "resumed by"), "main thread: normal",
  "%(main chunk%) +/busy%.lua:", "coroutine%.wrap function +%[C%]",
  "running, resumed by the main thread", "hot +/busy%.lua:[567] ",
  "n = 75000", "upvalue hot = function hot")

cprof("attach --seconds=25 --sample=100 -o /tmp/a.cprof " .. busy)
local p = divided("attach", "/tmp/a.cprof")
check("attach: it was stopped", p and p.meta.outside_stops > 0, "never")
check("attach: looks were good", p and p.meta.outside_dropped == 0,
  p and p.meta.outside_dropped)
cprof("attach --native --seconds=25 --sample=100 -o /tmp/n.cprof " .. busy)
p = divided("attach --native", "/tmp/n.cprof")
local natives, unknown = 0, nil
for _, f in ipairs(p and p.functions or {}) do
  if f.title:find "%(%[lua5%.4%]%)$" then natives = natives + 1 end
  if f.name:find "C callers not known" then unknown = f.total_samples end
end
check("attach --native: has C frames", natives >= 3, natives)
check("attach --native: knows their callers", not unknown, unknown)
says("attach --no-stop", cprof("attach --no-stop --seconds=3 --sample=50 " ..
  busy), "never stopped")

local waiting = start "lua5.4 /waiting.lua"
says("dump of a wait", dumped(waiting, "waits in read"), "not stopped",
  "waits in read of file %d+", "file:read +%[C%]",
  "waits +/waiting%.lua:2 ")
local text = cprof("attach --seconds=3 --sample=50 -o /tmp/w.cprof " ..
  waiting)
says("attach of a wait", text, "never stopped")
p = profiler.load "/tmp/w.cprof"
check("attach of a wait: it waited", p and p.meta.waiting_ns >
  0.9 * (p.meta.wall_ns - p.meta.paused_ns), text)
os.execute("kill " .. waiting)

os.execute("lua5.4 /cprof/lua/cprof/bin/cprof run --sample=100 " ..
  "-o /tmp/s.cprof /busy.lua /tmp/later > /dev/null & sleep 20; " ..
  "touch /tmp/later; wait")
divided("run --sample", "/tmp/s.cprof")

local listening = start "lua5.4 -l cprof.auto /busy.lua /tmp/go"
for _ = 1, 300 do
  if os.execute("ls /tmp/cprof-*/" .. listening .. ".listen > /tmp/found 2>&1")
  then break end
  os.execute "sleep 1"
end
cprof("attach --seconds=20 --sample=100 -o /tmp/l.cprof " .. listening)
p = divided("attach to one that listens", "/tmp/l.cprof")
check("attach to one that listens: it recorded itself",
  p and not p.meta.outside_stops, "from outside")

for _ = 1, 20 do
  cprof("attach --seconds=0.1 --sample=1000 -o /tmp/a.cprof " .. busy)
end

local crashed = start "lua5.4 /busy.lua"
os.execute("sleep 2; kill -SEGV " .. crashed)
ended(crashed)
says("dump of a core file", cprof "dump /tmp/core --exe /bin/lua5.4",
  "%(main chunk%) +/busy%.lua:")

io.open("/tmp/go", "w"):close()
ended(busy)
check("the program's sums are right", contents "/tmp/said" == "true\n",
  contents "/tmp/said")
print(("%d passed, %d failed"):format(passed, failed))
