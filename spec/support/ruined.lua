-- A program that loads cprof, ruins what arg[1] says, and then records itself
-- in each way, and asks for all that there is to ask:
--
--   ruined.lua HARM FOLDER
--
-- Prints a line for each way: its name, and "good" with the formats that it
-- was exported in, or what went wrong.

local profiler = require "cprof"
local drives = require "cprof.core".drives()

-- the globals of this program itself, which it does not ruin
local _ENV <const> = {
  G = _G, next = next, pcall = pcall, error = error, type = type,
  coroutine = { wrap = coroutine.wrap, yield = coroutine.yield },
  getmetatable = debug.getmetatable, setmetatable = debug.setmetatable,
  settable = setmetatable, rawset = rawset, loaded = package.loaded,
  load = load, write = io.write, flush = io.flush, stdout = io.stdout,
  concat = table.concat, format = string.format, find = string.find,
  clock = os.clock, how = arg[1], folder = arg[2],
  running = coroutine.running,
}

local function fail() error("the program's own", 0) end

local function every_field(t)
  for key in next, t do t[key] = nil end
end

-- raises an error whatever is asked of it
local function hostile()
  local out = {}
  for _, event in next, { "__index", "__newindex", "__call", "__pairs",
    "__len", "__eq", "__lt", "__le", "__concat", "__tostring", "__unm",
    "__add", "__sub", "__mul", "__div", "__mod", "__idiv", "__pow",
    "__close", "__band", "__bor", "__shl", "__shr", "__bxor", "__bnot" } do
    out[event] = fail
  end
  out.__name, out.__metatable = "ruined", "ruined"
  return out
end

local harm = {}

function harm.nothing() end

function harm.globals()
  for _, library in next, { G.coroutine, G.debug, G.io, G.math, G.os,
    G.package, G.string, G.table, G.utf8 } do
    every_field(library)
  end
  every_field(loaded)
  every_field(G)
end

-- there, but none of them does what it should
function harm.functions()
  for _, library in next, { G, G.coroutine, G.debug, G.io, G.math, G.os,
    G.package, G.string, G.table, G.utf8 } do
    for key, value in next, library do
      if type(value) == "function" then library[key] = fail end
    end
  end
end

function harm.types()
  local values = { "", 0, true, fail, running(), n = 0 }
  for _, value in next, values do setmetatable(value, hostile()) end
  setmetatable(nil, hostile())
end

function harm.strings()
  setmetatable("", nil)
end

function harm.files()
  local metatable = getmetatable(stdout)
  every_field(metatable.__index)
  for event in next, metatable do
    if event ~= "__name" and event ~= "__gc" then metatable[event] = nil end
  end
end

function harm.tables()
  for _, t in next, { G, loaded, G.string, G.table, G.package, G.debug,
    G.package.searchers, G.package.preload, G.math, G.io, G.os, G.arg } do
    settable(t, hostile())
  end
  rawset(loaded, settable({}, hostile()), 1)
  for _, name in next, { "mine", "other" } do
    local module = settable({ f = function() end }, hostile())
    rawset(loaded, name, module)
    rawset(G, name, module)
  end
end

function harm.everything()
  harm.files()
  harm.globals()
  harm.types()
  settable(G, hostile())
  settable(loaded, hostile())
end

-- 100 calls of leaf, new functions, coroutines, garbage, an error
local function leaf(n)
  local t = {}
  for i = 1, n do t[i] = { i } end
  return t
end

local function work()
  for i = 1, 50 do leaf(i * 10) end
  coroutine.wrap(function()
    for i = 1, 50 do
      leaf(i)
      coroutine.yield()
    end
  end)()
  load("local function new() return 1 end return new()", "=new")()
  pcall(fail)
  profiler.enter("part", 1)
  profiler.leave("part", 1)
  do local _ <close> = profiler.zone("other", 2) end
  profiler.wrap("wrapped", leaf)(1)
  profiler.frame()
end

local function rest()
  coroutine.wrap(function() for i = 1, 49 do leaf(i) end end)()
end

-- the calls of `leaf`, or its samples
local function calls(p)
  for _, f in next, p.functions do
    if find(f.name, "leaf", 1, true) and f.kind == "Lua" then
      return f.calls or f.total_samples
    end
  end
end

-- computes until `leaf` was sampled: on a busy machine, that may take long
local function sampled()
  local until_then, tries = clock() + 0.1, 0
  repeat
    repeat leaf(100) until clock() > until_then
    until_then, tries = clock() + 0.02, tries + 1
  until (calls(profiler.snapshot()) or 0) > 0 or tries == 1000
  for _ = 1, 3 do leaf(1) end  -- the last file may be a new one
end

local function file(name) return folder .. "/" .. name end

local told = 0
local ways = {
  { "call", { mode = "call" } },
  { "line", { mode = "line" } },
  { "lines of some", { mode = "line", lines = { "ruined", "new" } } },
  { "trace", { mode = "trace", trace = file "trace.txt" } },
  { "trace events", { mode = "trace", trace = file "trace.json" } },
  { "trace packets", { mode = "trace", trace = file "trace.pftrace" } },
  { "trace function", { mode = "trace", gc = drives,
    trace = function() told = told + 1 end } },
  { "count", { mode = "count" } },
  { "sample", { mode = "sample" }, sampled },
  { "memory sample", { mode = "sample", memory = true }, sampled },
  { "memory", { memory = true, mode = "line" } },
  { "live", { memory = "live" } },
  { "live blocks", { memory = "live", memory_interval = 1 } },
  { "gc", { gc = drives } },
  { "frames", { history = "full",
    slow_frames = { budget_ms = 1e-6, keep = 2 } } },
  { "callsites", { callsites = true } },
  { "fold", { recursion = "fold" } },
  { "include", { include = { "leaf" } } },
  { "exclude", { exclude = { "outsider", "yield" } } },
  { "cpu", { clock = "cpu", c_functions = false } },
  { "file", { file = file "run-%p.cprof", mode = "line" } },
  { "files", { file = file "run-%n.cprof", every = 0.02, keep = 2 },
    sampled },
}

local formats = { "pprof", "callgrind", "speedscope", "folded", "csv",
  "json", "chrome", "perfetto", "cpuprofile", "lcov", "cobertura", "luacov",
  "html" }

local function title(f) return f.title end

-- Arguments for each method there is: one that is new has to be known here.
local of_profiles = {
  report = { {}, { { mode = "callgraph" } }, { { mode = "tree" } } },
  annotate = {}, export = { { "csv", function() end } },
  save = { { file "saved.cprof" } }, html = { { file "out.html" } },
  sums = { { title } }, within = { { "f" } }, range = { {}, { 0, 1e9 } },
  labelled = { { { endpoint = "/login" } } },
}
local of_frames = {
  at = { { 0 } }, averages = { { "all" } }, nodes = { { 0 } },
  average_nodes = { { "all" } }, series = { { {} } }, zeros = { {} },
  percentiles = { {} }, slowest = { { 1 } }, summary = { {} },
  times = { {} },
}
local of_views = {
  lines = { {}, { 5 } }, titles = { {} },
  mode = { {}, { "self" }, { "callgraph" }, { "total" } },
  move = { { 1 } }, cursor = { { 1 } }, select = { {} }, parent = { {} },
  frame = { { 0 } }, at_frame = { {} }, slow = { { 0 } }, at_slow = { {} },
  average = { {} }, recursion = { {} }, expand = { {} }, collapse = { {} },
  graph = { {} }, series = { {} }, attribute = {},
}

local function ask_all(object, arguments)
  for name, method in next, getmetatable(object).__index do
    if type(method) == "function" then
      local all = arguments[name] or error("no arguments of " .. name, 0)
      for _, a in next, all do method(object, a[1], a[2]) end
    end
  end
end

-- Calls all methods of a profile. Returns the formats in which it was exported.
local function ask(p)
  local written = ""
  for _, format in next, formats do
    -- some formats refuse some profiles
    if pcall(p.export, p, format, folder .. "/out." .. format) then
      written = written .. " " .. format
    end
  end
  ask_all(p, of_profiles)
  if next(p.counted) then p:annotate() end
  if p.frames then ask_all(p.frames, of_frames) end
  for source in next, p.sources do
    local _ = p.lines[source]
    _ = p.expressions and p.expressions[source]
    _ = p.branches and p.branches[source]
  end
  for _, value in next, p do
    if type(value) == "function" then value() end
  end
  if p.meta.mode ~= "count" and p.meta.mode ~= "sample" then
    ask_all(profiler.view(p), of_views)
  end
  return written
end

local function once(options, run)
  profiler.start(options)
  local state = profiler.running()
  if run then run() else
    work()
    profiler.pause()
    profiler.resume()
    rest()
  end
  profiler.report()
  -- in recordings with several files, the last file may have begun only now
  if run then work() end
  profiler.stop()
  local p = profiler.snapshot()
  local written = ask(p)
  if next(p.counted) then profiler.annotate() end
  local saved = file "saved.cprof"
  if not p:save(saved) then error("not saved", 0) end
  local loaded, why = profiler.load(saved)
  if not loaded then error(why, 0) end
  ask(loaded)
  profiler.reset()
  return calls(p), calls(loaded), state, p.meta.ended, written
end

harm[how]()
local lines = {}
for i = 1, #ways do
  local way = ways[i]
  local ok, found, same, state, ended, written =
    pcall(once, way[2], way[3])
  if not ok then pcall(profiler.stop) end
  -- the clock decides what the last one of several files has
  local fine = not ended and state and (way[1] == "files" or
    way[3] and (found or 0) ~= 0 or found == 101 and same == 101)
  if ok then found = fine and "good" .. written or ended or "wrong" end
  lines[i] = way[1] .. ": " .. found
  flush(stdout)
end
setmetatable("", nil)
write(concat(lines, "\n"), "\n")
if told == 0 then write "nothing was told\n" end
