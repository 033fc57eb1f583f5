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
  { "starved" }, { "mutated", "mutated", bounded }, { "crowds" },
  { "sanitized", "mutated", sanitized, 0.2 },
  { "poisoned", "starved", sanitized, 0.05 },
  { "overwritten" }, { "mistrusted", "overwritten", sanitized, 0.05 },
  { "killed" }, { "disk" }, { "clock" }, { "threads" },
}

local wanted = {}
for i = 4, #arg do wanted[arg[i]] = true end

local function quote(s) return "'" .. s:gsub("'", "'\\''") .. "'" end

-- each part says here that it has ended, and how
local ends = folder .. "/ends"
os.remove(ends)
assert(os.execute("mkfifo " .. quote(ends)))
local ended = assert(io.open(ends, "r+"))

local running = {}

local function start(part)
  local name, file, before, share = table.unpack(part)
  local own = folder .. "/" .. name
  local line = ("%s$SPEC_LUA spec/torture/%s.lua %s %s %s"):format(
    before or "", file or name, quote(own), seed,
    tonumber(scale) * (share or 1))
  os.execute(("mkdir -p %s; ( { %s; } >%s.txt 2>&1; echo %s $? >%s ) &")
    :format(quote(own), line, quote(own), name, quote(ends)))
  running[name] = os.time()
end

local todo = {}
for _, part in ipairs(parts) do
  if not next(wanted) or wanted[part[1]] then todo[#todo + 1] = part end
end

local tried, failed, known, broken = 0, 0, 0, 0

local function finish()
  local name, status = ended:read "l":match "^(%S+) (%d+)$"
  local last = ""
  for line in io.lines(folder .. "/" .. name .. ".txt") do
    if last ~= "" then print(last) end
    last = line
  end
  local said = last:match "^%w+, seed %d+: (.*)$"
  local seconds = os.time() - running[name]
  running[name] = nil
  print(("%s: %s (%d s)"):format(name, said or last, seconds))
  known = known + 1
  tried = tried + (said and tonumber(said:match "^(%d+)") or 0)
  failed = failed + (said and tonumber(said:match "(%d+) failed$") or 0)
  if status ~= "0" then
    broken = broken + 1
    if not said then print(("%s: ended with %s"):format(name, status)) end
  end
end

io.stdout:setvbuf "line"
for i, part in ipairs(todo) do
  if i > LANES then finish() end
  start(part)
end
while next(running) do finish() end
os.remove(ends)
print(("torture, seed %s, scale %s: %d parts, %d tried, %d failed%s"):format(
  seed, scale, known, tried, failed, broken > 0 and
  (", in %d parts"):format(broken) or ""))
os.exit(broken == 0)
