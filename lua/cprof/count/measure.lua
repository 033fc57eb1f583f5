-- Measures: what the figures of a profile are. Each is a row here: its names,
-- where its figures are, and how they are written. A profile has one measure,
-- `p.measure`; a copy of it can have another.

local core = require "cprof.core"
local format = require "cprof.text.format"
local lines = require "cprof.count.lines"

local sampled = require "cprof.sandbox.later" "cprof.count.sampled"

local measure = {}

---@class cprof.Measure
---@field name string     for the code, and the page's data
---@field figure string   what core.measured calls its figures in nodes;
---    default: its name
---@field option? string  its name in options; nil: none chooses it
---@field unit "ns"|"instructions"|"count"|"bytes"
---@field is string       what self and total are, as in "bytes allocated"
---@field noun string     the word after a figure, as in "5 ms CPU"
---@field column string   the title of a column of its self figures
---@field asks string     what its figures tell, as in "where the time went"
---@field idle string     a sentence for sources of which no line has a figure
---@field own string      the field of functions for self
---@field all string      the field of functions for total
---@field line? string    the field of lines for self; nil: they have none
---@field less? string    a field of lines whose figure is subtracted
---@field near? string    where lines have no figures: the measure that they
---    show instead
---@field pprof? string[] type and unit of its values in pprof
---@field event? string   its name in Callgrind's format
---@field page? { title: string, hint: string, heading: string, of: string,
---    line: string? }  words of the page; `line`: the hint of a line's figure
---@field unknown fun(meta: cprof.Meta): string?  why a profile does not have
---    it, as the end of a message; nil: it has
---@field whole integer     100 %
---@field samples? integer  from which shares are estimated; nil: exact shares
local Measure = {}
Measure.__index = Measure


-- {======================================================
-- The rows
-- =======================================================

local function without(meta, kind)
  return not meta.memory and "without allocations; record with start " ..
    ("{ memory = %s }"):format(kind) or nil
end

local function no_allocations(meta) return without(meta, "true") end

local function no_live_blocks(meta)
  return without(meta, '"live"') or not meta.live_interval and
    "without live blocks; record with start { memory = \"live\" }" or nil
end

local function no_waiting(meta)
  return not meta.waiting_ns and ("without waiting times: it has mode %s " ..
    "and clock %s; waiting is measured by the wall clock, in modes call and " ..
    "line on Linux and macOS, in mode sample on Linux"):format(
    meta.mode, meta.clock) or nil
end

local function always_known() return nil end

---All measures. A profile is recorded with one of the first two.
---@type cprof.Measure[]
measure.rows = {
  { name = "time", option = "wall", unit = "ns", is = "time", noun = "wall",
    column = "self", own = "self_ns", all = "total_ns", line = "self",
    asks = "where the time went", idle = "no line took any time",
    pprof = { "time", "nanoseconds" }, event = "Time_ns",
    unknown = always_known },
  { name = "instructions", unit = "instructions", is = "instructions",
    noun = "instructions", column = "instr", own = "instructions",
    all = "total_instructions", line = "self",
    asks = "where instructions ran", idle = "no line ran",
    pprof = { "instructions", "count" }, event = "Ir",
    unknown = always_known },
  { name = "cpu", option = "cpu", unit = "ns", is = "CPU time",
    noun = "CPU", column = "CPU", line = "self", less = "self_wait",
    asks = "where the time went", idle = "no line took any time",
    pprof = { "cpu", "nanoseconds" }, unknown = no_waiting,
    page = { title = "CPU", heading = "Where the program computes",
      hint = "Time that the program spent computing, without waiting",
      line = "CPU time on the line, and in C functions called from it",
      of = "of the CPU time" } },
  { name = "wait", option = "wait", unit = "ns", is = "waiting time",
    noun = "waiting", column = "waiting", own = "self_wait_ns",
    all = "total_wait_ns", line = "self_wait",
    asks = "where the time went", idle = "no line waited",
    pprof = { "wait", "nanoseconds" }, event = "Waiting_ns",
    unknown = no_waiting,
    page = { title = "Waiting", heading = "Where the program waits",
      hint = "Time that the program spent sleeping, reading or polling",
      line = "Waiting on the line, and in C functions called from it",
      of = "of the waiting time" } },
  { name = "bytes", option = "alloc", unit = "bytes", is = "bytes allocated",
    noun = "allocated", column = "alloc", own = "self_bytes",
    all = "total_bytes", line = "bytes", asks = "what allocated",
    idle = "no line is known to have allocated anything",
    pprof = { "alloc_space", "bytes" }, event = "Bytes",
    unknown = no_allocations,
    page = { title = "Allocated", heading = "Where bytes are allocated",
      hint = "Bytes allocated, whether they are still in use or not",
      line = "Bytes allocated on the line, and in C functions that it is " ..
        "known to call",
      of = "of the bytes" } },
  { name = "allocs", option = "allocs", unit = "count", is = "allocations",
    noun = "allocations", column = "allocs", own = "self_allocs",
    all = "total_allocs", line = "allocs", asks = "what allocated",
    idle = "no line is known to have allocated anything",
    pprof = { "alloc_objects", "count" }, event = "Allocations",
    unknown = no_allocations,
    page = { title = "Allocations", heading = "Where allocations are made",
      hint = "Number of blocks that were allocated or grew",
      line = "Allocations on the line, and in C functions that it is known " ..
        "to call",
      of = "of the allocations" } },
  { name = "live", option = "live", unit = "bytes", is = "bytes in use",
    noun = "in use", column = "in use", own = "live_bytes",
    all = "total_live_bytes", line = "live_bytes", asks = "what is in use",
    idle = "no line is known to hold memory in use",
    pprof = { "inuse_space", "bytes" }, unknown = no_live_blocks,
    page = { title = "In use",
      heading = "Where memory in use was allocated",
      hint = "Allocated bytes that were in use when recording ended",
      line = "Allocated bytes that were still in use at the end",
      of = "of the memory in use" } },
  { name = "blocks", unit = "count", is = "blocks in use",
    noun = "blocks in use", column = "blocks", own = "live_blocks",
    all = "total_live_blocks", asks = "what is in use",
    idle = "lines have no figures of blocks",
    pprof = { "inuse_objects", "count" }, unknown = no_live_blocks },
  { name = "peak", option = "peak", unit = "bytes",
    is = "bytes in use at the peak", noun = "in use at the peak",
    column = "at peak", own = "peak_bytes", all = "total_peak_bytes",
    near = "live",
    asks = "what was in use", idle = "lines have no figures for the peak",
    unknown = no_live_blocks,
    page = { title = "At peak",
      heading = "Where memory in use at the peak was allocated",
      hint = "Bytes in use when memory use was at its peak",
      of = "of the memory in use at the peak" } },
}

local by_name, by_option = {}, {}

---Registers a row with the fields of cprof.Measure.
---@param row table
---@return cprof.Measure
function measure.know(row)
  row.__index, row.figure = row, row.figure or row.name
  by_name[row.name] = setmetatable(row, Measure)
  if row.option then by_option[row.option] = row end
  return row
end

for _, row in ipairs(measure.rows) do measure.know(row) end

---The names of measures in options.
---@param ... string  other names, which come first
---@return string[]
function measure.options(...)
  local out = { ... }
  for _, row in ipairs(measure.rows) do out[#out + 1] = row.option end
  return out
end

---The names in options of the measures that lines have.
---@param ... string  other names, which come first
---@return string[]
function measure.of_lines(...)
  local out = { ... }
  for _, row in ipairs(measure.rows) do
    if row.line then out[#out + 1] = row.option end
  end
  return out
end

---What the measures in options are, in words.
---@param field? string  only measures that have this field
---@return string
function measure.words(field)
  local out = {}
  for _, row in ipairs(measure.rows) do
    if row.option and (not field or row[field]) then
      out[#out + 1] = row.name == "time" and "wall time" or row.is
    end
  end
  return table.concat(out, ", ", 1, #out - 1) .. ", or " .. out[#out]
end

---A measure by its name in options; nil: there is none.
---@param option string?
---@return cprof.Measure?
function measure.row(option) return by_option[option] end

---A measure by its name.
---@param name string
---@return cprof.Measure
function measure.named(name) return by_name[name] end

-- }======================================================


-- {======================================================
-- The measure of a profile
-- =======================================================

---@param row cprof.Measure
---@param whole integer
---@param samples? integer
---@return cprof.Measure
function measure.new(row, whole, samples)
  return setmetatable({ whole = whole, samples = samples },
    by_name[row.name])
end

-- The effective number of a profile's samples: of all, and of those that found
-- the program waiting.
local function worth_of(p)
  local function part(worth) return math.min((worth or 1000) / 1000, 1) end
  return sampled.worth(p.time_samples, p.wait_samples,
    part(p.meta.worth_running), part(p.meta.worth_waiting))
end

---The number of samples to assume for the time of a profile, if `waits` of its
---`n` samples are about waiting; see `sampled.both`.
---@param p cprof.Profile
---@param n number
---@param waits number
---@param whole integer  its time, in ns
---@return integer
function measure.both(p, n, waits, whole)
  return sampled.both(n, waits, (p.meta.waiting_ns or 0) / math.max(whole, 1))
end

---The measure of a profile as it was recorded: times by its clock, or
---instructions.
---@param p cprof.Profile
---@return cprof.Measure
function measure.base(p)
  local whole, samples = core.program(p.nodes), nil
  if p.time_samples then
    local n, waits = worth_of(p)
    samples = waits and measure.both(p, n, waits, whole) or math.floor(n)
  end
  return measure.new(by_name[p.meta.mode == "count" and "instructions" or
    "time"], whole, samples)
end

---Why a profile lacks a measure, as the end of a message; nil: it has it.
---@param p cprof.Profile
---@param option string?
---@return string?
function measure.unknown(p, option)
  local row = by_option[option]
  return row and row.unknown(p.meta)
end

---The measure that options choose; nil: none. It is in the option `measure`, or
---in the option `by`. In the latter case, it moves to `measure`; "sort" is then
---"self", and "heat" nil. Raises an error where both options contradict each
---other, or the profile.
---@param who string      the function that has the options
---@param p cprof.Profile
---@param o table
---@param by string       "sort" or "heat"
---@param level integer   of the error, as of error()
---@return cprof.Measure?
function measure.choose(who, p, o, by, level)
  local function wrong(option, why)
    error(('%s: option \'%s\' must not be "%s" %s'):format(who, option,
      o[option], why), level + 2)
  end
  for _, option in ipairs { by, "measure" } do
    local unknown = measure.unknown(p, o[option])
    if unknown then wrong(option, "for a profile " .. unknown) end
  end
  if by_option[o[by]] then
    if o.measure and o.measure ~= o[by] then
      wrong(by, ('with measure = "%s"'):format(o.measure))
    end
    -- sorting by a measure sorts by its self figures
    o.measure, o[by] = o[by], by == "sort" and "self" or nil
  end
  return by_option[o.measure]
end

---The measures that a profile has beside its own.
---@param p cprof.Profile
---@return cprof.Measure[]
function measure.others(p)
  local out, waits = {}, (p.meta.waiting_ns or 0) > 0
  for i = 3, #measure.rows do
    local row = measure.rows[i]
    if not row.unknown(p.meta) and (waits or row.unknown ~= no_waiting) then
      out[#out + 1] = row
    end
  end
  return out
end

---How many samples there would be if all had been taken at the last interval,
---which is the longest. The margin of error follows from this number, since
---samples at shorter intervals stand for less.
---@param meta cprof.Meta
---@param bytes integer  that were allocated
---@return integer
function measure.taken(meta, bytes)
  local each = math.max(meta.memory_interval, 1)
  return math.min(meta.memory_samples, math.max(bytes // each, 1))
end

-- from how many samples the figures of a measure are; nil: they are exact
local function samples_of(p, row, whole)
  local each = p.meta.live_interval
  if row.unit ~= "ns" then
    if row.name == "bytes" or row.name == "allocs" then
      return p.samples and p.meta.memory_interval and
        measure.taken(p.meta, core.program(core.measured(p.nodes, "bytes")))
    end
    -- a sample stands for the interval, or for a larger block
    return row.unit == "bytes" and each ~= 1 and math.max(whole // each, 1) or
      nil
  elseif not p.time_samples then return nil
  end
  local n, waits = worth_of(p)
  if waits then
    return math.floor(row.name == "wait" and waits or n - waits)
  end
  return math.floor(n * (whole / math.max(p.measure.whole, 1)))
end

-- The copies of each profile with other measures. They are weak, since each
-- has a copy of the call tree, which may be large.
local known = setmetatable({}, { __mode = "k" })
local in_use <const> = { __mode = "v" }

---A copy of a profile with another measure; or the profile itself, where that
---is its own.
---@param p cprof.Profile
---@param row cprof.Measure?
---@return cprof.Profile
function measure.profile(p, row)
  if not row or row.name == "time" then return p end
  known[p] = known[p] or setmetatable({}, in_use)
  if known[p][row.name] then return known[p][row.name] end
  local nodes = core.measured(p.nodes, row.figure)
  local whole = core.program(nodes)
  local samples = samples_of(p, row, whole)
  local times = row.unit == "ns" and samples
  local out = setmetatable({ nodes = nodes, recorded = p,
    measure = measure.new(row, whole, samples),
    samples = p.samples and (times or p.meta.memory_samples),
    time_samples = times or p.time_samples }, { __index = p })
  local sources = {}
  for _, source in pairs(p.sources) do sources[#sources + 1] = source end
  lines.attach(out, lines.measured(p.counted, row.line, row.less), sources)
  known[p][row.name] = out
  return out
end

---The recorded time with overhead, but without pauses and without the time
---when other programs had the processor.
---@param meta cprof.Meta
---@return integer ns
function measure.recorded(meta)
  return meta.wall_ns - meta.paused_ns - meta.preempted_ns
end

-- }======================================================


-- {======================================================
-- Figures
--
-- A time of which only an upper bound is known is written as that: `<12ms`,
-- and its share is that of the bound: `<3.4`.
-- =======================================================

---Are these times?
---@return boolean
function Measure:timed() return self.unit == "ns" end

local writers <const> = { ns = format.time, bytes = format.bytes }

---A figure as text, and whether that is a bound.
---@param n integer     the estimate
---@param most? integer its upper bound; nil: the estimate is good
---@return string text, boolean bounded
function Measure:amount(n, most)
  local write = writers[self.unit] or format.count
  if self.unit ~= "ns" or not most or most <= n then return write(n), false end
  return "<" .. write(most), true
end

---A figure for a sentence. Instructions are called so, as they have no unit.
---@param n integer
---@param most? integer
---@return string text, boolean bounded
function Measure:in_words(n, most)
  local text, bounded = self:amount(n, most)
  return text .. (self.unit == "instructions" and " instructions" or ""),
    bounded
end

---The margin of error of a share, at 95 %; nil: the share is exact.
---@param n integer
---@param whole? integer  100 %
---@return number?  0 to 1
function Measure:off(n, whole)
  return self.samples and
    sampled.interval(n / math.max(whole or self.whole, 1), self.samples)
end

---A share in percent, with its margin of error if it comes from samples; "-"
---if there are too few of them. The whole is 100 %, even if only its bound is
---known.
---@param n integer      the estimate
---@param most? integer  its upper bound; nil: the estimate is good
---@return string
function Measure:share(n, most)
  if self.samples and self.samples < sampled.few then return "-" end
  if most and most > n and n < self.whole then
    -- not "<0.0": no share is less than 0
    return "<" .. format.percent(math.max(math.min(most, self.whole),
      self.whole / 1000), self.whole)
  end
  local off, text = self:off(n), format.percent(n, self.whole)
  return off and ("%s ±%.1f"):format(text, 100 * off) or text
end

---The figure of a line.
---@param line cprof.LineFigures
---@return integer
function Measure:of_line(line)
  return line[self.line] - (self.less and line[self.less] or 0)
end

-- }======================================================

return measure
