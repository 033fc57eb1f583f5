-- Profiles that have another measure instead of their times. Each measure is
-- a row here.

local core = require "cprof.core"
local lines = require "cprof.count.lines"

local measured = {}

local function without_allocations(meta, kind)
  return not meta.memory and "without allocations; record with start " ..
    ("{ memory = %s }"):format(kind) or nil
end

local function no_allocations(meta)
  return without_allocations(meta, "true")
end

local function no_live_blocks(meta)
  return without_allocations(meta, '"live"') or not meta.live_interval and
    "without live blocks; record with start { memory = \"live\" }" or nil
end

local function no_waiting(meta)
  return not meta.waiting_ns and ("that does not tell waiting from " ..
    "computing: it has mode %s and clock %s; on Linux and macOS, modes " ..
    "call and line do with the wall clock, on Linux mode sample, too"):format(
    meta.mode, meta.clock) or nil
end

-- a row's `of` that reads self and total from these fields
local function fields(own, all)
  return function(f) return f[own], f[own], f[all] end
end

---@class cprof.Measured
---@field option string  its name in options
---@field name string    its name in core.measured, and in `meta.measure`
---@field unit "ns"|"bytes"|"count"
---@field is string      what self and total are, in words
---@field unknown fun(meta: cprof.Meta): string?  why a profile does not have
---    it, as the end of a message
---@field of fun(f: cprof.Function): integer, integer, integer  self, self
---    with overhead, total
---@field line fun(ns: integer, raw: integer, allocs: integer, bytes: integer,
---    live: integer, wait: integer): integer, integer  self, and with overhead

---@type cprof.Measured[]
measured.rows = {
  { option = "cpu", name = "cpu", unit = "ns",
    is = "CPU time",
    unknown = no_waiting,
    of = function(f)
      local own = f.self_ns - f.self_wait_ns
      -- samples have no overhead in their times
      return own, f.self_raw_ns and f.self_raw_ns - f.self_wait_ns or own,
        f.total_ns - f.total_wait_ns
    end,
    line = function(ns, raw, _, _, _, wait) return ns - wait, raw - wait end },
  { option = "wait", name = "wait", unit = "ns",
    is = "waiting time",
    unknown = no_waiting,
    of = fields("self_wait_ns", "total_wait_ns"),
    line = function(_, _, _, _, _, wait) return wait, wait end },
  { option = "alloc", name = "bytes", unit = "bytes",
    is = "bytes allocated",
    unknown = no_allocations, of = fields("self_bytes", "total_bytes"),
    line = function(_, _, _, bytes) return bytes, bytes end },
  { option = "allocs", name = "allocs", unit = "count",
    is = "allocations",
    unknown = no_allocations, of = fields("self_allocs", "total_allocs"),
    line = function(_, _, allocs) return allocs, allocs end },
  { option = "live", name = "live", unit = "bytes",
    is = "bytes in use",
    unknown = no_live_blocks, of = fields("live_bytes", "total_live_bytes"),
    line = function(_, _, _, _, live) return live, live end },
  { name = "blocks", unit = "count",
    is = "blocks in use",
    unknown = no_live_blocks,
    of = fields("live_blocks", "total_live_blocks"),
    line = function() return 0, 0 end },
  -- lines have no figures for the peak
  { option = "peak", name = "peak", unit = "bytes",
    is = "bytes in use at the peak",
    unknown = no_live_blocks, of = fields("peak_bytes", "total_peak_bytes"),
    line = function() return 0, 0 end },
}

local by_option, by_name = {}, {}
for _, row in ipairs(measured.rows) do
  by_name[row.name] = row
  if row.option then by_option[row.option] = row end
end

---The names of measures in options.
---@return string[]
function measured.options()
  local out = { "wall" }
  for _, row in ipairs(measured.rows) do out[#out + 1] = row.option end
  return out
end

---A measure by its name in options; nil: wall time, or no such measure.
---@param option string?
---@return cprof.Measured?
function measured.row(option) return by_option[option] end

---A measure by its name.
---@param name string
---@return cprof.Measured
function measured.name(name) return by_name[name] end

---The measure of a profile; nil: times by its clock, or instructions.
---@param meta cprof.Meta
---@return cprof.Measured?
function measured.of(meta) return by_name[meta.measure] end

---Does a profile have times, of any kind?
---@param meta cprof.Meta
---@return boolean
function measured.times(meta)
  local row = measured.of(meta)
  return not row and meta.mode ~= "count" or row ~= nil and row.unit == "ns"
end

---Why a profile lacks a measure, as the end of a message; nil: it has it.
---@param profile cprof.Profile
---@param option string?
---@return string?
function measured.unknown(profile, option)
  local row = by_option[option]
  return row and row.unknown(profile.meta)
end

local function lines_of(profile, row)
  local out = {}
  for func, line, hits, ns, raw, allocs, bytes, live, wait in
    lines.each(profile.counted) do
    local own, own_raw = row.line(ns, raw, allocs, bytes, live, wait)
    lines.add(out, func, line, hits, own, own_raw, allocs, bytes, live)
  end
  return out
end

local function function_of(f, row)
  local out = {}
  for key, value in pairs(f) do out[key] = value end
  out.self_ns, out.self_raw_ns, out.total_ns = row.of(f)
  out.self_wait_ns, out.total_wait_ns = nil, nil
  return out
end

-- The measured copies of each profile. They are weak, since each has a copy of
-- the call tree, which may be large.
local known = setmetatable({}, { __mode = "k" })
local in_use <const> = { __mode = "v" }

-- how many of the samples are about the measure
local function samples_of(profile, what, program_ns)
  local n, waits = profile.time_samples, profile.wait_samples
  if not n then return nil end
  if waits then
    return math.floor(what == "wait" and waits or n - waits)
  end
  return math.floor(n * (program_ns / math.max(profile.program_ns, 1)))
end

---A copy of the profile with another measure instead of times; `meta.measure`
---names it.
---@param profile cprof.Profile
---@param what string  a row's name
---@return cprof.Profile
function measured.profile(profile, what)
  local row = by_name[what]
  known[profile] = known[profile] or setmetatable({}, in_use)
  if known[profile][what] then return known[profile][what] end
  local nodes = core.measured(profile.nodes, what)
  local functions, sources = {}, {}
  for i, f in ipairs(profile.functions) do
    functions[i] = function_of(f, row)
  end
  for _, source in pairs(profile.sources) do sources[#sources + 1] = source end
  local meta = setmetatable({ measure = what }, { __index = profile.meta })
  local program_ns = core.program(nodes)
  local times = samples_of(profile, what, program_ns)
  local out = setmetatable({ nodes = nodes, functions = functions,
    meta = meta, heap = profile.heap, overhead = profile.overhead,
    program_ns = program_ns,
    samples = profile.samples and
      (row.unit == "ns" and times or profile.meta.memory_samples),
    time_samples = row.unit == "ns" and times or profile.time_samples,
  }, getmetatable(profile))
  lines.attach(out, lines_of(profile, row), sources)
  known[profile][what] = out
  return out
end

return measured
