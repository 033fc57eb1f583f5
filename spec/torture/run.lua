-- All parts of make torture, two at a time, and what became of them.
--
--   lua run.lua FOLDER SEED SCALE [PART ...]

local folder, seed, scale = arg[1], arg[2], arg[3]

local LANES <const> = 2

local sanitized <const> = "env LD_PRELOAD=\"$(cc -print-file-name=" ..
  "libasan.so):$(cc -print-file-name=libubsan.so)\" ASAN_OPTIONS=" ..
  "detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=3000 " ..
  "CPROF_SANITIZE=1 LUA_CPATH=\"$TORTURE_ASAN/?.so;;\" "

-- addresses, so that what takes more and more memory fails
local bounded <const> = "ulimit -v 8000000; "

-- the longest come first
local parts = {
  { "mutated", "mutated", bounded }, { "crowds" },
  { "sanitized", "mutated", sanitized, 0.2 },
  { "starved" }, { "killed" }, { "disk" }, { "clock" }, { "threads" },
}

local wanted = {}
for i = 4, #arg do wanted[arg[i]] = true end

local function quote(s) return "'" .. s:gsub("'", "'\\''") .. "'" end

local function start(part)
  local name, file, before, share = table.unpack(part)
  local own = folder .. "/" .. name
  local line = ("mkdir -p %s && %s$SPEC_LUA spec/torture/%s.lua %s %s %s 2>&1")
    :format(quote(own), before or "", file or name, quote(own), seed,
      tonumber(scale) * (share or 1))
  return { name = name, pipe = assert(io.popen(line)), since = os.time() }
end

local todo, running = {}, {}
for _, part in ipairs(parts) do
  if not next(wanted) or wanted[part[1]] then todo[#todo + 1] = part end
end

local tried, failed, known, broken = 0, 0, 0, 0

local function finish(job)
  local last = ""
  for line in job.pipe:lines() do
    if last ~= "" then print(last) end
    last = line
  end
  local ok, how, status = job.pipe:close()
  local said = last:match "^%w+, seed %d+: (.*)$"
  local seconds = os.time() - job.since
  print(("%s: %s (%d s)"):format(job.name, said or last, seconds))
  known = known + 1
  tried = tried + (said and tonumber(said:match "^(%d+)") or 0)
  failed = failed + (said and tonumber(said:match "(%d+) failed$") or 0)
  if not ok then
    broken = broken + 1
    if not said then
      print(("%s: ended with %s %d"):format(job.name, how, status))
    end
  end
end

io.stdout:setvbuf "line"
local next_part = 1
while next_part <= #todo or #running > 0 do
  while #running < LANES and next_part <= #todo do
    running[#running + 1] = start(todo[next_part])
    next_part = next_part + 1
  end
  finish(table.remove(running, 1))
end
print(("torture, seed %s, scale %s: %d parts, %d tried, %d failed%s"):format(
  seed, scale, known, tried, failed, broken > 0 and
  (", in %d parts"):format(broken) or ""))
os.exit(broken == 0)
