-- Very many coroutines, closures and chunks, made and dropped, in each
-- mode, in memory and into a file: memory is bounded by distinct stack states
-- and lines of sources, never by how many calls there were.
--
--   lua crowds.lua FOLDER SEED SCALE

local command = require "command"
local helper = require "helper"
local profiler = require "cprof"
local torture = require "torture"

-- more than without recording: the recorder itself, and the profile in Lua
local MEGABYTES <const> = 40

local crowds = {
  { "coroutines", 1000000 }, { "closures", 10000000 }, { "chunks", 100000 },
}

local make = {}

function make.coroutines(n)
  for i = 1, n do
    coroutine.wrap(function() coroutine.yield(i) end)()
  end
end

function make.closures(n)
  for i = 1, n do
    local f = function() return i end
    f()
  end
end

-- loads n chunks, which have a hundred different texts
function make.chunks(n)
  for i = 1, n do
    local text = ("local function f%d(n)\n return n\nend\nreturn f%d(1)")
      :format(i % 100, i % 100)
    assert(load(text))()
  end
end

local function peak()
  local file <close> = assert(io.open("/proc/self/status"))
  return tonumber(file:read "a":match "VmHWM:%s*(%d+)") // 1000
end

-- in a process of its own
if arg[4] then
  local crowd, n = make[arg[4]], tonumber(arg[5])
  local way = torture.ways()[tonumber(arg[6])]
  local file = arg[7] and torture.path(arg[7])
  if way then profiler.start(torture.options(way, { file = file })) end
  crowd(n)
  if way then
    profiler.stop()
    local p = file and assert(profiler.load(file)) or profiler.snapshot()
    assert(not p.meta.ended, p.meta.ended)
    helper.check(p)
    local f = helper.find(p, crowd)
    assert(p.samples or f, "it is not there")
    if not p.samples then
      local calls = 0
      for _, other in ipairs(p.functions) do
        if other.source == f.source and other.line > f.line and
           other.last_line < f.last_line or other.kind == "main" and
           other.source:find "^local function f" then
          calls = calls + other.calls
        end
      end
      assert(calls == n, ("%d calls of %d"):format(calls, n))
    end
    p:report()
    if file then os.remove(file) end
  end
  print(peak())
  os.exit(0, true)
end

local function run(...)
  local words = {}
  for i, word in ipairs { ... } do words[i] = command.quote(tostring(word)) end
  local out, err, status = command.shell(("$SPEC_LUA " ..
    "spec/torture/crowds.lua %s %d 1 %s"):format(command.quote(torture.folder),
    torture.seed, table.concat(words, " ")))
  return status == 0 and tonumber(out), out .. err
end

local most = 0

for _, crowd in ipairs(crowds) do
  local name, n = crowd[1], torture.many(crowd[2])
  local bare = assert(run(name, n, 0))
  for i, way in ipairs(torture.ways()) do
    for _, file in ipairs { false, "crowds.cprof" } do
      torture.tried()
      torture.count(name, n)
      local took, why = run(name, n, i, file or nil)
      local where = ("%d %s, %s%s"):format(n, name, way.name,
        file and " in a file" or "")
      if not took then torture.fail("%s: %s", where, why)
      else
        most = math.max(most, took - bare)
        if took - bare > MEGABYTES then
          torture.fail("%s: %d MB, %d MB without recording", where, took, bare)
        end
      end
    end
  end
end
torture.count(("MB of %d at most for recording"):format(MEGABYTES), most)
torture.done("crowds", "crowds")
