-- What the parts of make torture share. Each is a program of its own:
--
--   lua PART.lua FOLDER SEED SCALE
--
-- which says in one line what it has tried, and ends with 1 if it failed.

local core = require "cprof.core"
local profiler = require "cprof"

local torture = {}

-- nil in states that a test makes itself
local given <const> = arg or {}

torture.folder = given[1] or os.getenv "CPROF_BUILD"
torture.seed = math.tointeger(tonumber(given[2])) or 1
torture.scale = tonumber(given[3]) or 1

io.stdout:setvbuf "line"
math.randomseed(torture.seed)

local say = io.stdout

---`n` times the scale.
---@param n number
---@return integer
function torture.many(n)
  return math.max(1, math.ceil(n * torture.scale))
end

---@param name string
---@return string
function torture.path(name) return torture.folder .. "/" .. name end

---@param path string
---@return string
function torture.read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

---@param path string
---@param text string
function torture.write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(text))
end

-- {======================================================
-- What is counted, and said
-- =======================================================

local tried, failed, counts = 0, 0, {}

---One more was tried; with `what`, counted as that, too.
---@param what? string
function torture.tried(what)
  tried = tried + 1
  if what then torture.count(what) end
end

---@param what string
---@param n? integer
function torture.count(what, n)
  if not counts[what] then
    counts[what] = 0
    counts[#counts + 1] = what
  end
  counts[what] = counts[what] + (n or 1)
end

local most <const> = 20 -- failures that are printed

---@param form string
---@param ... any
function torture.fail(form, ...)
  failed = failed + 1
  if failed <= most then
    say:write(("failed: " .. form):format(...), "\n")
  end
end

---The line at the end; ends the program.
---@param name string
---@param what string  what was tried
function torture.done(name, what)
  local out = {}
  for i, key in ipairs(counts) do
    out[i] = ("%d %s"):format(counts[key], key)
  end
  table.insert(out, 1, ("%d %s tried"):format(tried, what))
  out[#out + 1] = ("%d failed"):format(failed)
  say:write(("%s, seed %d: %s\n"):format(name, torture.seed,
    table.concat(out, ", ")))
  os.exit(failed == 0, true)
end

-- }======================================================


-- {======================================================
-- A program that does a bit of everything, and ways to record it
-- =======================================================

local function leaf(n) return ("x"):rep(n) end
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local function down(n) if n == 0 then return leaf(3) end return down(n - 1) end

local closing = { __close = function() leaf(2) end }

---Runs code of all kinds. Returns the same result each time.
---@param frames? boolean
---@return string
function torture.work(frames)
  local _ <close> = profiler.zone("zone", 1)
  local out = { fib(8) }
  out[2] = assert(load("local function f(n)\n return n\nend\nreturn f(1)"))()
  out[3] = select(2, pcall(error, "x"))
  out[4] = down(3)
  for i = 1, 5 do
    if frames ~= false then profiler.frame(i) end
    out[4 + i] = leaf(i)
  end
  for key, value in pairs { a = 1, b = 2 } do
    if key == "a" and value > 0 or value == 3 then leaf(value) end
  end
  out[10] = coroutine.wrap(function()
    local _ <close> = setmetatable({}, closing)
    fib(4)
    coroutine.yield(7)
  end)()
  do local _ <close> = setmetatable({}, closing) end
  return table.concat(out, " ")
end

---Ways to record: a name, and the options of `start`.
---@return { name: string, options: table }[]
function torture.ways()
  local function nothing() end
  local out = {
    { "call", {} }, { "line", { mode = "line" } },
    { "trace", { mode = "trace", trace = nothing } },
    { "fold", { recursion = "fold" } }, { "callsites", { callsites = true } },
    { "cpu", { clock = "cpu" } }, { "memory", { memory = true } },
    { "live", { mode = "line", memory = "live", memory_interval = 1 } },
    { "sample", { mode = "sample", rate = 10000 } },
    { "live samples", { mode = "sample", rate = 10000, memory = "live",
      memory_interval = 1 } },
    { "kept", { keep_last = "128KB" } },
  }
  if core.internals() == "direct" then
    out[#out + 1] = { "count", { mode = "count" } }
    out[#out + 1] = { "live count", { mode = "count", memory = "live",
      memory_interval = 1 } }
  end
  if core.drives() then out[#out + 1] = { "gc", { gc = true } } end
  for i, way in ipairs(out) do
    out[i] = { name = way[1], options = way[2] }
  end
  return out
end

---The options of a way, with others. A `file` is written while it records.
---@param way { options: table }
---@param more table
---@return table
function torture.options(way, more)
  local out = {}
  for key, value in pairs(way.options) do out[key] = value end
  for key, value in pairs(more) do out[key] = value end
  if out.keep_last then out.live_file, out.file = out.file, nil end
  return out
end

---Options, and what is in them, as a program writes them.
---@param value any
---@return string
function torture.source(value)
  if type(value) == "function" then return "function() end" end
  if type(value) ~= "table" then return ("%q"):format(value) end
  local out = {}
  for key, item in pairs(value) do
    out[#out + 1] = ("[%q] = %s"):format(key, torture.source(item))
  end
  return "{ " .. table.concat(out, ", ") .. " }"
end

-- }======================================================

return torture
