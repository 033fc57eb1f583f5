-- Files that another program writes over while a program records into them:
-- with another profile, with text, or with a few bytes anywhere. The program
-- goes on, its profile is sound, and says why it ended.
--
--   lua overwritten.lua FOLDER SEED SCALE

local command = require "command"
local helper = require "helper"
local profiler = require "cprof"
local torture = require "torture"

-- for each way of recording: how often a few bytes are overwritten
local ROUNDS <const> = 300

local reason <const> = "the file was overwritten by another program"

local file, other = torture.path "live.cprof", torture.path "other.cprof"
local text = torture.path "text.txt"
local bare = torture.work()


-- {======================================================
-- Ways to write over a file
-- =======================================================

local function shell(line)
  return function()
    assert(os.execute("unset LD_PRELOAD; " .. line:gsub("%u%u+", {
      FILE = command.quote(file), OTHER = command.quote(other),
      TEXT = command.quote(text) })))
  end
end

local HEADER <const>, FIRST <const>, UNIT <const> = 736, 4096, 64

-- where there is something: the header, and most of each block
local function parts(f, size)
  local out, at = { { 0, HEADER } }, FIRST
  while at < size do
    f:seek("set", at)
    local _, _, units = ("I4I4I4I4"):unpack(f:read(16) or ("\0"):rep(16))
    if units == 0 then break end
    out[#out + 1] = { at, math.min(UNIT + 4000, units * UNIT) }
    at = at + units * UNIT
  end
  return out
end

local odd <const> = { 0, 1, 2, 3, -1, math.maxinteger, 1 << 62, 1 << 32,
  0x7fffffff, 0xffffffff, 1 << 16, 100 }

local function number()
  local n = math.random(3) == 1 and math.random(0) or odd[math.random(#odd)]
  return ("<i8"):pack(n):sub(1, math.random(2) * 4)
end

local function noise()
  local bytes = {}
  for i = 1, math.random(300) do bytes[i] = math.random(0, 255) end
  return string.char(table.unpack(bytes))
end

local function scattered(pick)
  return function()
    local f <close> = assert(io.open(file, "r+b"))
    local list = parts(f, f:seek "end")
    for _ = 1, math.random(10) do
      local part = list[math.random(#list)]
      f:seek("set", part[1] + math.random(0, part[2] // 4 - 1) * 4)
      assert(f:write(pick()))
    end
  end
end

-- Name, damage, expected reason. Where only a few bytes change, they may be
-- unused, or counters whose values cannot be checked: then no reason is
-- expected.
local kinds = {
  { "another profile", shell "cat OTHER >FILE", reason },
  { "a copied profile", shell "cp OTHER FILE", reason },
  { "text", shell "cat TEXT >FILE", reason },
  { "text over a part", shell "dd if=TEXT of=FILE conv=notrunc 2>/dev/null",
    reason },
  { "numbers", scattered(number), nil },
  { "noise", scattered(noise), nil },
}

-- }======================================================


local function nothing() end

local function read(p)
  if p.meta.unmatched == 0 then helper.check(p) end
  for _, mode in ipairs { "total", "callgraph", "tree" } do
    assert(type(p:report { mode = mode }) == "string")
  end
  p:export("json", nothing)
  p:export("csv", nothing)
  if next(p.lines) then p:annotate() end
end

local count = 0

-- more functions, nodes and coroutines than before
local function work()
  assert(torture.work() == bare)
  for _ = 1, 20 do
    count = count + 1
    local source = ("local function f%d(n)\n if n > 0 then\n  " ..
      "f%d(n - 1)\n end\nend\nreturn f%d(...)\n"):format(count, count, count)
    assert(load(source, "=" .. count % 500))(count % 7)
  end
  coroutine.wrap(function() assert(torture.work() == bare) end)()
end

-- what a program may do with a recording
local acts = {
  function() read(profiler.snapshot()) end,
  function() profiler.pause() work() profiler.resume() end,
  function() pcall(profiler.reset) end,
  nothing, nothing,
}

local function ended(p, kind)
  local why = p.meta.ended
  if why ~= reason and (kind[3] or why) then
    error(("%s: it says %q"):format(kind[1], why), 0)
  end
  torture.count(why and "noticed" or "unnoticed")
end

local function round(way, kind)
  os.remove(file)
  profiler.start(torture.options(way, { file = file, compensate = false }))
  work()
  kind[2]()
  work()
  acts[math.random(#acts)]()
  work()
  profiler.stop()
  local p = profiler.snapshot()
  read(p)
  ended(p, kind)
  p = profiler.load(file)
  if p then read(p) end
end

local function try(way, kind)
  torture.tried(kind[1])
  local ok, why = xpcall(round, debug.traceback, way, kind)
  if ok then return end
  profiler.stop()
  torture.fail("%s (%s): %s", kind[1], way.name, why)
end

profiler.start { file = other, compensate = false }
for _ = 1, 30 do work() end
profiler.stop()
torture.write(text, ("this is not a profile\n"):rep(20000))

local ways = torture.ways()
ways[#ways + 1] = { name = "frames", options = { history = 5 } }

for _, way in ipairs(ways) do
  for i, kind in ipairs(kinds) do
    for _ = 1, i <= 4 and 1 or torture.many(ROUNDS) do try(way, kind) end
  end
end

for _, path in ipairs { file, other, text } do os.remove(path) end
torture.done("overwritten", "recordings")
