-- Makes the inputs that make fuzz begins with, of files that the recorder
-- has written: lua5.4 seeds.lua FOLDER NODES_SHIFT

local paths = require "cprof.source.paths"
local profiler = require "cprof"

local folder, shift = arg[1], tonumber(arg[2])
local blocks = 4096

local function read(path)
  local file = assert(io.open(path, "rb"))
  local s = file:read "a"
  file:close()
  return s
end

-- by kind of block: bytes for each node, if the block has an item per node
local of_nodes <const> = { 64, nil, nil, 8, nil, nil, 48 }

-- cuts blocks into chunks as small as those of the fuzzer
local function recut(kind, block, out, owner, nodes)
  local size = of_nodes[kind] << shift
  for at = 65, #block, size do
    if owner << shift >= nodes then break end
    out[#out + 1] = ("<I4I4I4I4"):pack(kind, owner, 1 + size // 64, 0) ..
      ("\0"):rep(48) .. block:sub(at, at + size - 1)
    owner = owner + 1
  end
  return owner
end

-- the first times of frames, as small as their chunks are in the fuzzer
local frame_marks <const> = 16

local function first_marks(block)
  local size = 32 << shift
  return ("<I4I4I4I4"):pack(frame_marks, 0, 1 + size // 64, 0) ..
    block:sub(17, 64 + size)
end

-- see src/file/format.h
local function convert(s)
  local header_size = ("<I4"):unpack(s, 17)
  local out, at, owners = { "\0" .. s:sub(1, header_size) }, blocks + 1, {}
  local nodes, units = ("<I4I4"):unpack(s, 49)
  while at <= units * 64 do
    local kind, _, count, used = ("<I4I4I4I4"):unpack(s, at)
    local block = s:sub(at, at + count * 64 - 1)
    if of_nodes[kind] then
      owners[kind] = recut(kind, block, out, owners[kind] or 0, nodes)
    elseif kind == frame_marks then out[#out + 1] = first_marks(block)
    elseif kind == 3 then -- without the room after the records
      local kept = 1 + (used + 63) // 64
      out[#out + 1] = ("<I4I4I4I4"):pack(kind, 0, kept, used) ..
        block:sub(17, kept * 64)
    else out[#out + 1] = block end
    at = at + count * 64
  end
  assert(at == units * 64 + 1 and #out > 1, "the format is another one")
  return table.concat(out)
end

local function seed(name, path)
  local file = assert(io.open(folder .. "/" .. name, "wb"))
  file:write(convert(read(path)))
  file:close()
end

local path = os.tmpname()
os.remove(path)

local function record(name, options, f)
  options.file = path
  profiler.start(options)
  f()
  seed(name .. "_live", path)
  profiler.stop()
  seed(name, path)
  assert(profiler.snapshot():save(path))
  seed(name .. "_saved", path)
  os.remove(path)
end

local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end

local function work()
  local _ <close> = profiler.zone("zone", 1)
  fib(6)
  local text = "local function f(n) return n end\nreturn f(1)\n"
  assert(load(text, "=chunk"))()
  assert(load(text))()
  pcall(error, "x")
  coroutine.wrap(function() fib(3) end)()
end

-- few of them, so that inputs are small
paths.all = function()
  return { [work] = "work", [pcall] = "pcall", [error] = "error" }
end

record("calls", {}, work)
record("lines", { mode = "line", lines = { "string", "chunk" } }, work)
if require "cprof.core".internals() == "direct" then
  record("counted", { mode = "count", lines = { "string", "chunk" } }, work)
end
record("memory", { memory = true, c_functions = false }, work)
record("live", { mode = "line", memory = "live", memory_interval = 1,
  c_functions = false, lines = { "string" } }, work)
record("sampled", { mode = "sample", rate = 10000 }, function()
  local till = os.clock() + 0.01
  while os.clock() < till do work() end
end)
record("folded", { recursion = "fold", callsites = true, clock = "cpu" },
  work)
record("cut", { max_nodes = 16 }, function() fib(25) end)
record("tasks", { tasks = true }, function()
  for i = 1, 2 do
    local resume = coroutine.wrap(function() coroutine.yield(fib(i)) end)
    resume()
    if i == 2 then resume() end
  end
end)
record("frames", {}, function()
  for i = 1, 3 do
    fib(i)
    profiler.frame()
    if i < 3 then profiler.frame "loop" end
  end
end)
record("durations", { distribution = true }, work)
record("empty", { c_functions = false }, function() end)

-- a record whose size is 0 when it is rounded up in 32 bits, after all others
local META <const> = 7

for _, size in ipairs { 0xffffffff, 0xfffffff9 } do
  local file <close> = assert(io.open(folder .. "/empty", "rb"))
  local s = file:read "a"
  local at = 1 + ("<I4"):unpack(s, 18)
  while ("<I4"):unpack(s, at + 1) ~= 3 do
    at = at + ("<I4"):unpack(s, at + 9) * 64
  end
  local used = ("<I4"):unpack(s, at + 13)
  local out <close> = assert(io.open(("%s/wrapped_%x"):format(folder, size),
    "wb"))
  out:write(s:sub(1, at + 12), ("<I4"):pack(used + 8),
    s:sub(at + 17, at + 64 + used), ("<I4I4"):pack(META, size),
    s:sub(at + 64 + used + 9))
end
