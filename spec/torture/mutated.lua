-- Files of profiles with a few bytes or bits changed: what is refused is
-- refused when it is loaded, and nothing that reads the rest ever raises.
--
--   lua mutated.lua FOLDER SEED COUNT

local export = require "cprof.export"
local merge = require "cprof.merge"
local profiler = require "cprof"

local folder, seed, count = arg[1], tonumber(arg[2]), tonumber(arg[3])
math.randomseed(seed)
io.stdout:setvbuf "line"

local function nothing() end
local function leaf(n) return ("x"):rep(n) end
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end

local function work()
  local _ <close> = profiler.zone("zone", 1)
  fib(8)
  assert(load("local function f(n)\n return n\nend\nreturn f(1)"))()
  pcall(error, "x")
  for i = 1, 5 do profiler.frame(i) leaf(i) end
  coroutine.wrap(function() fib(4) end)()
end

local ways <const> = {
  { mode = "call" }, { mode = "line" }, { mode = "count" },
  { mode = "trace", trace = nothing }, { recursion = "fold" },
  { callsites = true }, { memory = true },
  { mode = "line", memory = "live", memory_interval = 1 },
  { mode = "count", memory = "live", memory_interval = 1 },
  { mode = "sample", rate = 10000, memory = "live", memory_interval = 1 },
}

-- as recorded, and as saved
local function seeds()
  local out = {}
  for _, options in ipairs(ways) do
    options.file = folder .. "/seed.cprof"
    os.remove(options.file)
    profiler.start(options)
    work()
    profiler.stop()
    for i = 1, 2 do
      local file <close> = assert(io.open(options.file, "rb"))
      out[#out + 1] = file:read "a"
      if i == 1 then assert(profiler.snapshot():save(options.file)) end
    end
  end
  return out
end

-- most bytes are free room, where nothing would be noticed
local function place(s)
  local at
  repeat at = math.random(#s)
  until s:byte(at) ~= 0 or math.random(8) == 1
  return at
end

local function mutated(s)
  for _ = 1, math.random(4) do
    local at = place(s)
    local by = math.random(3)
    local old = s:byte(at)
    local new = by == 1 and old ~ 1 << math.random(0, 7) or
      by == 2 and math.random(0, 255) or ({ 0, 255, 127, 128 })[math.random(4)]
    s = s:sub(1, at - 1) .. string.char(new) .. s:sub(at + 1)
  end
  return s
end

local function read_all(p, other)
  for _, mode in ipairs { "total", "self", "callgraph", "tree", "file" } do
    assert(type(p:report { mode = mode }) == "string")
  end
  for _, row in ipairs(export.formats) do
    if not export.unfit(p, row) then
      p:export(row.name, nothing)
    end
  end
  merge.sum { p, other }
end

local tried, refused, raised = 0, 0, 0
local all = seeds()
local path = folder .. "/mutated.cprof"
local whole = {}
for i, s in ipairs(all) do
  local file <close> = assert(io.open(path, "wb"))
  file:write(s)
  file:close()
  whole[i] = assert(profiler.load(path))
  read_all(whole[i], whole[i])
end

for n = 1, count do
  local i = math.random(#all)
  local file = assert(io.open(path, "wb"))
  file:write(mutated(all[i]))
  assert(file:close())
  tried = tried + 1
  local called, p = pcall(profiler.load, path)
  if called and not p then refused = refused + 1
  else
    local ok, message = called, p
    if called then
      ok, message = xpcall(read_all, debug.traceback, p, whole[i])
    end
    if not ok then
      raised = raised + 1
      io.write(("seed %d, file %d: %s\n"):format(seed, n, message))
      os.rename(path, ("%s/raised-%d-%d.cprof"):format(folder, seed, n))
    end
  end
end
os.remove(path)
os.remove(folder .. "/seed.cprof")
print(("mutated files: %d tried, %d refused, %d raised"):format(tried, refused,
  raised))
os.exit(raised == 0)
