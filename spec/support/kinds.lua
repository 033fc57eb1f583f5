-- Small profiles of each kind that there is, recorded once.

local profiler = require "cprof"
local join = require "cprof.profile.join"
local merge = require "cprof.profile.merge"

local kinds = {}

-- {======================================================
-- The program
-- =======================================================

local function leaf(n) return ("x"):rep(n % 7) end

local function sorted(n)
  local list = {}
  for i = 1, n do list[i] = { key = leaf(i), of = i * 7919 % n } end
  table.sort(list, function(a, b) return a.of < b.of end)
  return list
end

local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function ends(n)
  if n > 0 then return ends(n - 1) end
  return leaf(n)
end

local function resumed()
  for i = 1, 3 do coroutine.yield(leaf(i)) end
end

local function fails() error "expected" end

local function never(x) return x or fib(1) end

kinds.kept = {}

function kinds.program()
  for i = 1, 3 do
    kinds.kept[i] = sorted(20)
    local _ <close> = profiler.zone "sorting"
    sorted(10)
    profiler.frame()
  end
  fib(6)
  ends(4)
  local next_one = coroutine.wrap(resumed)
  for _ = 1, 3 do next_one() end
  pcall(fails)
  return never
end

-- }======================================================


-- {======================================================
-- Recording it
-- =======================================================

-- samples that are enough to have several rows
local enough <const> = 20

-- samples by processor time are few
local function sample(options)
  local least = options.clock == "cpu" and 1 or enough
  repeat kinds.program() until profiler.snapshot().samples >= least
end

local function record(options)
  profiler.start(options)
  if options.mode == "sample" then sample(options) else kinds.program() end
  profiler.stop()
  return profiler.snapshot()
end

local function nothing(options)
  profiler.start(options)
  profiler.stop()
  return profiler.snapshot()
end

local function silent() end

-- true: it differs from an earlier one only in its figures
---@type { [1]: string, [2]: cprof.StartOptions, [3]: true? }[]
local recorded <const> = {
  { "call", { mode = "call" } },
  { "callsites", { callsites = true }, true },
  { "folded", { recursion = "fold" } },
  { "truncated", { max_nodes = 16 } },
  { "without C", { c_functions = false }, true },
  { "included", { include = { "sorted" } }, true },
  { "excluded", { exclude = { "leaf" } }, true },
  { "nothing included", { include = { "nosuch" } } },
  { "uncompensated", { compensate = false }, true },
  { "processor", { clock = "cpu" }, true },
  { "all frames", { history = "full" }, true },
  { "slow frames", { slow_frames = { budget_ms = 0.001 } }, true },
  { "call, distribution", { distribution = true } },
  { "call, tasks", { tasks = true } },
  { "call, memory", { memory = true } },
  { "call, live", { memory = "live", memory_interval = 1 } },
  { "call, few live", { memory = "live" } },
  { "trace", { mode = "trace", trace = silent } },
  { "trace, memory", { mode = "trace", trace = silent,
    memory = true }, true },
  { "line", { mode = "line" } },
  { "line, some", { mode = "line", lines = { "kinds" } }, true },
  { "line, distribution", { mode = "line", distribution = true }, true },
  { "line, tasks", { mode = "line", tasks = true }, true },
  { "line, none", { mode = "line", lines = { "nosuch" } } },
  { "line, memory", { mode = "line", memory = true } },
  { "line, live", { mode = "line", memory = "live", memory_interval = 1 } },
}

local counted <const> = {
  { "count", { mode = "count" } },
  { "count, none", { mode = "count", lines = { "nosuch" } } },
  { "count, memory", { mode = "count", memory = true } },
  { "count, live", { mode = "count", memory = "live",
    memory_interval = 1 } },
}

local sampled <const> = {
  { "sample", { mode = "sample", rate = 10000 } },
  { "sample, processor", { mode = "sample", rate = 10000,
    clock = "cpu" }, true },
  { "sample, memory", { mode = "sample", rate = 10000, memory = true,
    memory_interval = 1000 } },
  { "sample, live", { mode = "sample", rate = 10000, memory = "live",
    memory_interval = 1000 } },
}

local collected <const> = {
  { "call, gc", { gc = true } },
  { "trace, gc", { mode = "trace", trace = silent, gc = true }, true },
  { "line, all", { mode = "line", gc = true, memory = "live",
    memory_interval = 1 } },
}

-- }======================================================


local core = require "cprof.core"

---@class cprof.spec.Kind
---@field name string
---@field p cprof.Profile
---@field path? string
---@field alike? true

---All kinds of profiles that this machine can record.
---@return cprof.spec.Kind[]
function kinds.all()
  if kinds.list then return kinds.list end
  local list, by = {}, {}
  local function add(name, p, alike)
    list[#list + 1] = { name = name, p = assert(p, name), alike = alike }
    by[name] = p
  end
  local function add_each(rows)
    for _, row in ipairs(rows) do add(row[1], record(row[2]), row[3]) end
  end
  add_each(recorded)
  if core.internals() == "direct" then add_each(counted) end
  if core.drives() then add_each(collected) end
  if core.signals then
    add_each(sampled)
    add("call and samples", join.profiles(by.call, by.sample))
    add("lines and samples", join.profiles(by.line, by.sample))
    add("two of samples", merge.sum { by.sample, by.sample })
    add("no sample", nothing { mode = "sample", rate = 1 })
  end
  add("call and lines", join.profiles(by.call, by.line))
  add("two of lines", merge.sum { by["line, memory"], by["line, memory"] })
  add("nothing", nothing {})
  add("no line", nothing { mode = "line", memory = "live" })
  if by.count then add("no count", nothing { mode = "count" }) end
  kinds.list = list
  return list
end

---The kinds that differ in more than their figures.
---@return cprof.spec.Kind[]
function kinds.unlike()
  local list = {}
  for _, kind in ipairs(kinds.all()) do
    if not kind.alike then list[#list + 1] = kind end
  end
  return list
end

---The kinds of `kinds.unlike`, saved as files of a folder.
---@param dir string
---@return cprof.spec.Kind[]
function kinds.files(dir)
  local list = {}
  for i, kind in ipairs(kinds.unlike()) do
    local path = ("%s/%d.cprof"):format(dir, i)
    assert(kind.p:save(path))
    list[i] = { name = kind.name, path = path,
                p = assert(profiler.load(path)) }
  end
  return list
end

return kinds
