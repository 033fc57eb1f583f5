-- Files of profiles that were damaged: what is refused is refused when it is
-- loaded, and nothing that reads the rest raises, crashes, or takes memory
-- or time without bounds. Each file that loads is read in a few ways, which
-- take turns; some are read in all ways.
--
--   lua mutated.lua FOLDER SEED SCALE
--
-- A scale of 200 makes ten million files.

local blocks = require "blocks"
local commands = require "torture_commands"
local data = require "cprof.html.data"
local export = require "cprof.export"
local host = require "spec_host"
local join = require "cprof.profile.join"
local merge = require "cprof.profile.merge"
local profiler = require "cprof"
local torture = require "torture"

local path, other_path = torture.path "mutated.cprof",
  torture.path "whole.cprof"
local saved = torture.path "saved.cprof"

local FILES <const> = 50000
local WAYS <const> = 3 -- for each file
local ALL <const> = 1000 -- one file in 1000 is read in all ways
local PAGES <const> = 20 -- a page takes long: it is made in one of 20 turns
local SECONDS <const> = 10 -- for one file
local KILOBYTES <const> = 400000

local function nothing() end

-- files as recorded, and as saved
local function seeds()
  local out, file = {}, torture.path "seed.cprof"
  for _, way in ipairs(torture.ways()) do
    os.remove(file)
    profiler.start(torture.options(way, { file = file }))
    torture.work()
    profiler.stop()
    out[#out + 1] = { name = way.name, text = torture.read(file) }
    assert(profiler.snapshot():save(file))
    out[#out + 1] = { name = way.name, text = torture.read(file) }
  end
  os.remove(file)
  return out
end

local all = seeds()


-- {======================================================
-- Damage: see src/file/format.h
-- =======================================================

local HEADER <const> = ("<I4"):unpack(all[1].text, 17)
local FIRST <const>, UNIT <const> = 4096, 64
local JOURNAL <const> = 3

-- by kind of block: bytes of an item
local sizes = { 64, 32, 1, 8, 8, 40, 48, 96 }

-- the used parts of a file, as lists of their beginning, length, and room
local function parts(s)
  local out = { { 0, HEADER } }
  for _, block in ipairs(blocks.all(s)) do
    local at, kind, used = block.at - 1 - UNIT, block.kind, block.used
    local size = kind == JOURNAL and used or
      used * (sizes[kind] or 1) -- chunks have 0
    if size == 0 then size = 4096 end
    out[#out + 1] = { at, math.min(UNIT + size, block.bytes, #s - at),
      block.bytes }
  end
  return out
end

-- most bytes are free room, where nothing would be noticed
local function place(s, size)
  local list = parts(s)
  local at
  for _ = 1, 20 do
    local part = list[math.random(#list)]
    at = part[1] + math.random(0, part[2] // size - 1) * size
    if s:byte(at + 1) ~= 0 or math.random(8) == 1 then break end
  end
  return math.max(0, math.min(at, #s - size))
end

local put <const> = blocks.with

local function bit(s)
  local at = place(s, 1)
  return put(s, at, string.char(s:byte(at + 1) ~ 1 << math.random(0, 7)))
end

local bytes <const> = { 0, 255, 127, 128 }

local function byte(s)
  return put(s, place(s, 1), string.char(math.random(2) == 1 and
    math.random(0, 255) or bytes[math.random(#bytes)]))
end

local odd <const> = { 0, 1, -1, math.maxinteger, math.mininteger, 1 << 62,
  1 << 61, -(1 << 61), 1 << 53, 1 << 40, 1 << 32, 0xffffffff, 0x7fffffff,
  -(1 << 31) }

local function number(s)
  local form = math.random(2) == 1 and "<I4" or "<i8"
  local size = form == "<I4" and 4 or 8
  local at, n = place(s, size), odd[math.random(#odd)]
  local which = math.random(4)
  local old = (form):unpack(s, at + 1)
  if which == 1 then n = old + math.random(-2, 2)
  elseif which == 2 then n = (form):unpack(s, place(s, size) + 1)
  end
  return put(s, at, ("<i8"):pack(n):sub(1, size))
end

local function span(s)
  local size = math.random(200)
  local from = place(s, 1)
  return put(s, math.min(place(s, 1), #s - size),
    s:sub(from + 1, math.min(from + size, #s)))
end

local function cut(s)
  return s:sub(1, place(s, 1))
end

-- the file with its length put right in the header
local function resized(s)
  s = s:sub(1, #s // UNIT * UNIT)
  return #s < HEADER and s or put(s, 52, ("<I4"):pack(#s // UNIT))
end

local function spliced(s, other)
  local at, from = place(s, 1), place(other, 1)
  if math.random(2) == 1 then from = at end
  return resized(s:sub(1, at) .. other:sub(from + 1))
end

-- replaces a block by one of another file, or inserts that before it
local function block(s, other)
  local mine, theirs = parts(s), parts(other)
  local a, b = mine[math.random(2, #mine)], theirs[math.random(2, #theirs)]
  local new = other:sub(b[1] + 1, b[1] + b[3])
  local upto = a[1] + math.random(0, 1) * a[3]
  return resized(s:sub(1, a[1]) .. new .. s:sub(upto + 1))
end

-- offsets of fields of the header that say how the file was recorded: mode,
-- clock, counted, foldat, given, direct
local choices <const> = { 36, 40, 56, 60, 64, 68 }

-- a header that may not fit the rest of the file
local function header(s)
  local at = choices[math.random(#choices)]
  if math.random(2) == 1 then at = math.random(8, HEADER // 4 - 1) * 4 end
  local flags <const> = { 0, 1, 2, 3, 4, 5, 1000, 0xffffffff }
  return put(s, at, ("<I4"):pack(flags[math.random(#flags)]))
end

-- fields of `meta`; a file has some of them as strings
local fields <const> = { "mode", "clock", "internals", "wall_ns", "paused_ns",
  "overhead_ns", "clamped_ns", "costs_ns", "uncompensated", "started_at",
  "pid", "runs", "memory", "live_interval", "memory_interval",
  "memory_samples", "peak_bytes", "gc", "gc_steps", "gc_longest_ns",
  "allocator_lost", "live", "since_last_event_ns", "events", "unmatched",
  "truncated", "folded", "fold_at", "clock_backwards_ns", "hook_lost",
  "ended", "program", "folder", "options", "option.include",
  "option.c_functions", "unmatched_patterns", "lua_version", "lua_release",
  "cprof_version", "heap", "rate", "samples", "joined", "instructions",
  "measure", "strings" }

local values <const> = { "", "x", "0", "1", "-1", "1.5", "nan", "1e308",
  "9223372036854775807", "true", "false", "count", "sample", "call", "tsc",
  "Lua 5.4", "Lua 9.9", "5.4.4", "0 1 2 3", "\0\27[31m\xff\n%s%d",
  ("x"):rep(300) }

-- the file with one more string at the end of its last journal
local function told(s)
  local last
  for _, part in ipairs(parts(s)) do
    if part[1] >= FIRST and ("<I4"):unpack(s, part[1] + 1) == JOURNAL then
      last = part
    end
  end
  if not last then return s end
  local key = fields[math.random(#fields)]
  local text = ("<I4I4"):pack(#key, 0) .. key .. values[math.random(#values)]
  local used = ("<I4"):unpack(s, last[1] + 13)
  local record = ("<I4I4"):pack(7, #text) .. text .. ("\0"):rep(-#text % 8)
  local at = last[1] + UNIT + used
  if used % 8 ~= 0 or at + #record > last[1] + last[3] then return s end
  return put(put(s, at, record), last[1] + 12, ("<I4"):pack(used + #record))
end

local kinds = {
  { "headers", header, 2 }, { "headers", header, 1 }, { "told", told, 4 },
  { "bits", bit, 4 }, { "bytes", byte, 4 }, { "numbers", number, 3 },
  { "numbers", number, 3 }, { "numbers", number, 3 }, { "spans", span, 2 },
  { "cut", cut, 1 }, { "spliced", spliced, 1 }, { "blocks", block, 2 },
}

local function mutated(s, other)
  local kind = kinds[math.random(#kinds)]
  for _ = 1, math.random(kind[3]) do
    local text = kind[2](s, other)
    if #text < UNIT then break end
    s = text
  end
  -- half of them get a valid checksum
  return math.random(2) == 1 and host.sealed(s) or s, kind[1]
end

-- }======================================================


-- {======================================================
-- All that reads a profile
-- =======================================================

-- Does a reason make sense to users, or is it an error of cprof itself?
local function clear(why)
  return why == nil or type(why) == "string" and not why:find "attempt to" and
    not why:find "%.lua:%d+:" and not why:find "table: 0x"
end

local function loads(file)
  local p, why = profiler.load(file)
  assert(p or clear(why), why)
  return p
end

-- functions that read a profile, and are given another one, too
local readers = {}

local function reader(f) readers[#readers + 1] = f end

for _, mode in ipairs { "total", "self", "callgraph", "tree", "file" } do
  reader(function(p)
    assert(type(p:report { mode = mode, color = "always" }) == "string")
  end)
end

for _, row in ipairs(export.formats) do
  local turns = row.name == "html" and PAGES or 1
  reader(function(p)
    if math.random(turns) == 1 and not export.unfit(p, row) then
      p:export(row.name, nothing)
    end
  end)
end

reader(function(p) data.of(p, p) end)

reader(function(p)
  if not next(p.lines) then return end
  local _, why = pcall(p.annotate, p)
  assert(clear(why), why)
  for source in pairs(p.lines) do p:annotate(source) end
end)

-- how high a line's number may be depends on the size of the file
reader(function(p)
  assert(p:save(saved))
  loads(saved)
end)

-- profiles that are made of two are read, too
local function made(make, use)
  reader(function(p, other)
    local sum, why = make(p, other)
    assert(clear(why), why)
    if sum then use(sum) end
  end)
end

local function sum(p, other) return merge.sum { p, other } end

for _, make in ipairs { sum, join.profiles } do
  made(make, function(p) p:report() end)
  made(make, function(p) p:report { mode = "tree" } end)
  made(make, function(p) p:export("json", nothing) end)
end
made(sum, function(p)
  assert(p:save(saved))
  loads(saved)
end)
made(join.profiles, function(p) data.of(p, p) end)

-- sums of figures that are as large as they may be
made(function(p) return merge.sum { p, p, p } end, function(p)
  p:report { mode = "callgraph" }
  assert(p:save(saved))
  assert(loads(saved))
end)

local lines = {
  "report FILE", "report --sort alloc FILE", "report --sort live FILE",
  "tree FILE", "callgraph FILE", "show FILE fib", "show FILE zone",
  "annotate FILE", "annotate --expressions FILE", "coverage FILE",
  "diff FILE OTHER", "diff OTHER FILE", "diff --sort alloc FILE OTHER",
  "diff --sort calls OTHER FILE", "diff --sort live FILE OTHER",
  "join --force FILE OTHER", "join --force OTHER FILE",
  "merge -o SAVED FILE OTHER", "merge -o SAVED OTHER FILE",
  "check --budget BUDGET FILE", "check --budget BUDGET --update FILE",
}

local files = { FILE = path, OTHER = other_path, SAVED = saved,
                BUDGET = torture.path "budget.json" }

for _, line in ipairs(lines) do
  local words = {}
  for word in line:gmatch "%S+" do words[#words + 1] = files[word] or word end
  reader(function()
    local ok, why = commands.run(words)
    if not ok then assert(clear(why), why) end
  end)
end

local function read_all(p, other)
  for _, read in ipairs(readers) do read(p, other) end
end

local turn = 0

local function read_some(p, other, n)
  if n % ALL == 0 then
    torture.count("readings", #readers)
    return read_all(p, other)
  end
  torture.count("readings", WAYS)
  for _ = 1, WAYS do
    turn = turn % #readers + 1
    readers[turn](p, other)
  end
end

-- most memory that this process had so far, in KB
local function peak()
  local file = io.open "/proc/self/status"
  local text = file and file:read "a" or ""
  if file then file:close() end
  return tonumber(text:match "VmHWM:%s*(%d+)") or 0
end

-- }======================================================


local whole = {}
for i, seed in ipairs(all) do
  torture.write(path, seed.text)
  torture.write(other_path, seed.text)
  whole[i] = assert(profiler.load(path))
  read_all(whole[i], whole[i])
end

local function try(n)
  local i = math.random(#all)
  local k = math.random(2) == 1 and i or math.random(#all)
  local text, kind = mutated(all[i].text, all[k].text)
  torture.write(path, text)
  torture.write(other_path, all[k].text)
  torture.tried()
  local before, since = peak(), os.clock()
  local called, p, why = pcall(profiler.load, path)
  if called and not p and clear(why) then
    torture.count "refused"
  else
    torture.count "read"
    local ok, message = called and p ~= nil, why or p
    if ok then
      ok, message = xpcall(read_some, debug.traceback, p, whole[k], n)
    end
    local took, grown = os.clock() - since, peak() - before
    if ok and took > SECONDS then
      ok, message = false, ("took %.1f s"):format(took)
    elseif ok and grown > KILOBYTES then
      ok, message = false, ("took %d MB"):format(grown // 1000)
    end
    if not ok then
      local kept = torture.path(("raised-%d-%d.cprof"):format(torture.seed,
        n))
      torture.write(kept, text)
      torture.fail("file %d (%s, %s, as %s): %s", n, all[i].name, kind, kept,
        message)
    end
  end
end

for n = 1, torture.many(FILES) do try(n) end
for _, file in pairs(files) do os.remove(file) end
torture.done("mutated", "files")
