-- The processed format of Firefox's profiler, version 57, which later versions
-- read, too. With a time axis, there is one thread, with samples and markers.
-- Without, samples do not say when something ran: they follow one another in
-- the order of the call tree, in a thread of their own, and markers, which do
-- say it, are in another one.

local encode = require "cprof.export.encode"
local format = require "cprof.text.format"
local markers = require "cprof.export.markers"
local profile = require "cprof.profile"
local range = require "cprof.profile.range"
local samples = require "cprof.export.samples"
local trace = require "cprof.export.trace"
local stacks = require "cprof.export.stacks"
local text = require "cprof.encoding.quote"

local firefox = {}

local version <const>, gecko <const> = 57, 32

---@param f cprof.Function
---@param lines integer
---@return cprof.FormatSize
function firefox.size(f, lines)
  return { node = 60, once = #f.name + 100 + 60 * lines }
end

-- {======================================================
-- Numbers
-- =======================================================

-- ns as ms, exact to a nanosecond
local function ms(ns)
  local n = ns // 1 | 0
  return ("%d.%06d"):format(n // 1000000, n % 1000000)
end

-- figures of a measure as Firefox's profiler shows them
local weights <const> = { ns = "tracing-ms", bytes = "bytes" }

local function weight(p)
  if p.measure.unit == "ns" then return ms end
  return function(n) return ("%d"):format(n) end
end

-- Returns a function for times of samples, which are figures of the measure if
-- there is no time axis. If the measure is not time, all figures together last
-- one second.
local function clock(p, timed)
  if timed or p.measure.unit == "ns" then return ms end
  local whole = math.max(p.measure.whole, 1)
  return function(n) return ("%.6f"):format(n / whole * 1000) end
end

-- }======================================================


-- {======================================================
-- Threads
-- =======================================================

local function list(values, shown, out)
  out "["
  for i, value in ipairs(values) do
    out(i > 1 and "," .. shown(value) or shown(value))
  end
  out "]"
end

-- In the format, the CPU time of a sample is that since the sample before.
local function write_samples(p, s, timed, out)
  local at, amount = clock(p, timed), weight(p)
  out '"samples":{"time":'
  list(s.start, at, out)
  out ',\n"stack":'
  list(s.stack, function(i) return i and tostring(i) or "null" end, out)
  out ',\n"weight":'
  list(s.amount, amount, out)
  if timed and p.meta.waiting_ns then
    out ',\n"threadCPUDelta":'
    list(s.ran, function(ns) return ("%.3f"):format(ns / 1000) end, out)
  end
  out((',\n"weightType":"%s","length":%d},\n'):format(
    weights[p.measure.unit] or "samples", #s.start))
end

local function marker_data(m)
  local out = { ('{"type":"%s"'):format(m.kind) }
  for _, kind in ipairs(markers.kinds) do
    for _, field in ipairs(kind[1] == m.kind and kind[3] or {}) do
      local n = m.data[field[1]]
      if n then
        out[#out + 1] = ('"%s":%s'):format(field[1],
          field[3] == "duration" and ms(n) or ("%d"):format(n))
      end
    end
  end
  if m.stack then
    out[#out + 1] = ('"cause":{"stack":%d}'):format(m.stack)
  end
  return table.concat(out, ",") .. "}"
end

local interval <const> = "1"

local function write_markers(all, strings, out)
  local list_of = {}
  for i, m in ipairs(all) do
    list_of[i] = { marker_data(m), stacks.string(strings, m.name), ms(m.from),
      ms(m.to), interval, m.category }
  end
  out '"markers":'
  stacks.columns({ "data", "name", "startTime", "endTime", "phase",
    "category" }, list_of, out)
end

local thread <const> = '{"processType":"default","processName":%s,' ..
  '"processStartupTime":0,"processShutdownTime":null,"registerTime":0,' ..
  '"unregisterTime":null,"pausedRanges":[],"isMainThread":%s,"name":"%s",' ..
  '"pid":"%d","tid":%d,\n'

---@class cprof.Thread
---@field name string
---@field stacks cprof.Stacks
---@field samples cprof.Samples
---@field markers cprof.Marker[]

local function write_thread(p, number, t, strings, timed, out)
  local pid = p.meta.pid or 1
  out(thread:format(text(encode.program(p)), number == 1, t.name, pid,
    pid + number - 1))
  write_samples(p, t.samples, timed, out)
  write_markers(t.markers, strings, out)
  out ",\n"
  t.stacks:write(out)
  out "}"
end

-- }======================================================


-- {======================================================
-- The whole
-- =======================================================

local function schema()
  local out = {}
  for i, kind in ipairs(markers.kinds) do
    local fields = {}
    for k, f in ipairs(kind[3]) do
      fields[k] = ('{"key":"%s","label":"%s","format":"%s"}'):format(f[1],
        f[2], f[3])
    end
    out[i] = ('{"name":"%s","display":["marker-chart","marker-table",' ..
      '"timeline-overview"],"tooltipLabel":"{marker.name}","tableLabel":' ..
      '"{marker.name}","chartLabel":"{marker.name}","description":"%s",' ..
      '"fields":[%s]}'):format(kind[1], kind[2], table.concat(fields, ","))
  end
  return "[" .. table.concat(out, ",\n") .. "]"
end

local function extra(p)
  local out = {}
  for i, comment in ipairs(encode.comments(p)) do
    out[i] = ('{"label":"%d","format":"string","value":%s}'):format(i,
      text(comment))
  end
  return ('[{"label":"Recording","entries":[%s]}]'):format(
    table.concat(out, ","))
end

-- From when to when something is shown, as JSON.
local function period(p, origin, threads, at)
  local s = threads[1].samples.start
  local last = at(s[#s])
  local heap = p.heap and p.heap[#p.heap].ns or 0
  local wall = not origin and math.max(p.meta.wall_ns or 0, heap) or 0
  if tonumber(last) < wall / 1000000 then last = ms(wall) end
  return ('"profilingStartTime":%s,"profilingEndTime":%s'):format(
    ms(origin and origin.from or 0), last)
end

local function write_meta(p, mean, threads, shows, out)
  local shown = {}
  for i = 1, #threads do shown[i] = i - 1 end
  out(('{"meta":{"version":%d,"preprocessedProfileVersion":%d,"interval":%s,' ..
    '"startTime":%d000,"processType":0,"product":%s,"importedFrom":' ..
    '%s,"stackwalk":0,"debug":false,"symbolicated":true,' ..
    '"sourceCodeIsNotOnSearchfox":true,"usesOnlyOneStackType":false,' ..
    '"keepProfileThreadOrder":true,"initialVisibleThreads":[%s],' ..
    '"initialSelectedThreads":[0],"sampleUnits":{"time":"ms","eventDelay":' ..
    '"ms","threadCPUDelta":"µs"},%s,\n'):format(gecko, version, ms(mean),
    p.meta.started_at, text(encode.program(p)),
    text("cprof " .. p.meta.cprof_version), table.concat(shown, ","), shows))
  out('"categories":' .. stacks.categories() .. ',\n"markerSchema":' ..
    schema() .. ',\n"extra":' .. extra(p) .. "},\n")
end

-- the size of the heap over time
local function write_heap(p, out)
  local times, counts, last = {}, {}, 0
  for i, point in ipairs(p.heap or {}) do
    times[i], counts[i] = ms(point.ns), tostring(point.bytes - last)
    last = point.bytes
  end
  out '"counters":['
  if #times > 0 then
    out(('{"name":"heap","category":"Memory","description":"Size of the ' ..
      'heap","pid":"%d","mainThreadIndex":0,"samples":{"time":[%s],' ..
      '"count":[%s],"length":%d}}'):format(p.meta.pid or 1,
      table.concat(times, ","), table.concat(counts, ","), #times))
  end
  out "],\n"
end

-- why a profile with a time axis is shown without it; nil: it is not
local function untimed(p, whole)
  local origin = range.origin(whole)
  local of = origin and origin.of or whole
  if not of.samples or not profile.axis(of) then return nil end
  return p.recorded and "they are known for the recorded measure only" or
    "the call tree has other paths than the recording"
end

local function note(p, s, why)
  if s.slot > 0 then
    p.notes[#p.notes + 1] = { text = ("the samples of each %s are added up " ..
      "by call path, so that there are at most %s"):format(
      format.time(s.slot // 1 | 0), format.count(samples.most)) }
  elseif why then
    p.notes[#p.notes + 1] = { text = "samples are added up by call path, " ..
      "without their times: " .. why }
  end
end

-- The threads; and the samples, if they have times.
local function threads_of(p, whole, strings)
  local paths, s = samples.paths(p, whole), stacks.new(p, strings)
  local timed = paths and samples.by_time(p, paths, s)
  note(p, timed or { slot = 0 }, not timed and untimed(p, whole) or nil)
  local origin = range.origin(whole)
  local main = { name = timed and "Lua" or trace.title(p), stacks = s,
    markers = {}, samples = timed or samples.of_nodes(p, s) }
  local other = timed and main or { name = "when", markers = {},
    stacks = stacks.new(p, strings),
    samples = samples.none() }
  other.markers = markers.of(origin and origin.of or whole, timed,
    function(node)
      local id = paths and paths.node[node]
      return id and other.stacks:stack(id, 0)
    end, stacks.category, origin and origin.from or 0,
    origin and origin.to or math.huge)
  if timed or #other.markers == 0 then return { main }, timed end
  return { main, other }, nil
end

---Prepares a profile: adds notes to `p.notes` and returns a function that
---writes it.
---@param p cprof.Profile
---@param whole cprof.Profile  before nodes were added up
---@return fun(out: fun(s: string))
function firefox.prepared(p, whole)
  local strings = stacks.strings()
  local threads, timed = threads_of(p, whole, strings)
  return function(out)
    write_meta(p, timed and timed.mean or 1000000, threads,
      period(p, range.origin(whole), threads, clock(p, timed)), out)
    out '"libs":[],"pages":[],\n'
    write_heap(p, out)
    out '"threads":['
    for i, t in ipairs(threads) do
      if i > 1 then out ",\n" end
      write_thread(p, i, t, strings, timed, out)
    end
    out '],\n"shared":{"stringArray":[\n'
    out(table.concat(strings.list, ",\n"))
    out "\n]}}\n"
  end
end

---@param p cprof.Profile
---@param out fun(s: string)
---@param whole cprof.Profile
function firefox.write(p, out, whole) firefox.prepared(p, whole)(out) end

-- }======================================================

return firefox
