-- The head of a report: what ran, and what the reader must know before
-- trusting the figures.

local bound = require "cprof.count.bound"
local core = require "cprof.core"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local heap = require "cprof.count.heap"
local later = require "cprof.sandbox.later"
local lines = require "cprof.count.lines"
local measures = require "cprof.count.measure"
local name = require "cprof.source.name"
local profiles = require "cprof.profile"
local rows = require "cprof.count.rows"
local select = require "cprof.report.select"

local allocations = later "cprof.count.allocations"
local release = later "cprof.recording.release"
local sampled = later "cprof.count.sampled"
local within = later "cprof.count.within"

local header = {}

local plural = format.plural

-- the number of functions without lines, because their code is stripped
local function stripped(profile)
  local n = 0
  for _, f in ipairs(profile.functions) do
    if f.source == "=?" and f.kind ~= "zone" then n = n + 1 end
  end
  return n
end

-- ns of overhead that need no note
local too_short <const> = 100000

-- what makes small times more exact, by mode
local more_exact = {
  line = "; mode call, or fewer lines (--lines=PATTERN), is more exact",
  call = "; --sample gives true shares of small functions",
}

-- notes on what makes the times uncertain
local function uncertain(profile, page)
  local meta = profile.meta
  if not meta.wall_ns then return end
  if meta.uncompensated and meta.uncompensated ~= "compensate = false" then
    page:note("overhead per event is included in the times: %s",
      meta.uncompensated)
  end
  local fault = meta.mode == "line" and release.line_fault(meta.lua_release)
  if fault then page:note("%s", fault) end
  local recorded, advice = measures.recorded(meta), more_exact[meta.mode] or ""
  if meta.overhead_ns * 5 > recorded * 3 and
     meta.overhead_ns > too_short then
    page:note("recording took %s, more than the program itself; this " ..
      "estimate may be off by a quarter, and so the sum of all times by %s%s",
      format.time(meta.overhead_ns), format.time(meta.overhead_ns // 4),
      advice)
    advice = ""
  end
  local whole = (profile.recorded or profile).measure.whole
  if meta.clamped_ns * 100 > whole and meta.overhead_ns > too_short then
    page:note("the overhead estimate exceeds the measured time by %s, so " ..
      "small times are rough%s", format.time(meta.clamped_ns), advice)
  end
  if meta.preempted_unknown then
    page:note("this system does not say when other programs had the " ..
      "processor; that time counts as waiting")
  end
  if meta.clock_backwards_ns > 1000 then
    page:note("the clock ran backwards %s, by %s in all; that time is " ..
      "missing", plural(meta.clock_backwards, "time"),
      format.time(meta.clock_backwards_ns))
  end
  if meta.clock_jumps > 0 then
    page:note("the processor's and the system's clocks diverged %s, by %s " ..
      "in all; times are from the %s clock", plural(meta.clock_jumps, "time"),
      format.time(meta.clock_jumps_ns), meta.clock == "tsc" and
      "processor's" or "system's")
  end
end

-- ns without an event that deserve a note
local quiet <const> = 10000000

-- Notes that recording goes on, or why it has ended. What the program did after
-- the last event, computing or waiting, is known only from a file whose program
-- was ended by a signal.
local function state(meta, page)
  local since = meta.since_last_event_ns
  local event = meta.mode == "sample" and "sample" or "event"
  local long = meta.wall_ns and since and since > quiet
  local counts = long and not meta.since_last_event_waiting_ns and
    "; that time counts as CPU time, even if the program waited" or ""
  if meta.live and not since then
    page:note "still being recorded"
  elseif meta.live then
    page:note("still being recorded; the last %s was %s ago%s", event,
      format.time(since), counts)
  end
  if meta.ended and long and not meta.live then
    page:note("recording ended early: %s, %s after the last %s%s", meta.ended,
      format.time(since), event, counts)
  elseif meta.ended then
    page:note("recording ended early: %s", meta.ended)
  end
end

-- notes on what was not recorded
local function gaps(profile, page)
  local meta = profile.meta
  state(meta, page)
  if meta.allocator_lost then
    page:note("another allocator replaced cprof's; what it allocated is not " ..
      "counted")
  end
  if meta.hook_lost then
    page:note "another debug hook replaced cprof's; see (not recorded)"
  end
  if (meta.interrupted or 0) > 0 then
    page:note("the sampling signal interrupted %s (EINTR)%s",
      plural(meta.interrupted, "system call"), meta.timer == "wall" and
        '; timer = "thread" (--timer=thread) avoids nearly all of that' or "")
  end
  if meta.axis_lost then
    page:note("ranges of time are not known: there were too many call-tree " ..
      "nodes, or there was too little memory")
  end
  if meta.axis_begins_ns then
    page:note("ranges of time begin at %s: the times of earlier %s were " ..
      "dropped", format.time(meta.axis_begins_ns), meta.mode == "sample" and
      "samples" or "calls")
  end
  -- where the range begins with the recording, both count from its beginning
  if (meta.range_from_ns or 0) > 0 and profiles.axis(profile) then
    page:note "--from, --to and heatmaps count from the beginning of this range"
  end
  if meta.unmatched > 0 then
    page:note("%s could not be matched with a function on the stack",
      plural(meta.unmatched, "event"))
  end
end

-- notes on what the call tree lacks
local function tree_gaps(profile, page)
  local meta = profile.meta
  if meta.truncated > 0 then
    page:note("max_nodes was reached: the callers of %s are not known " ..
      "(a higher --max-nodes keeps them)", plural(meta.truncated, "call"))
  end
  if meta.folded and meta.fold_at > 0 then
    page:note("recursion is folded beyond %s call-tree nodes " ..
      "(--recursion=full keeps it)", format.count(meta.fold_at))
  end
end

-- notes on what options excluded
local function choice(profile, page)
  local meta = profile.meta
  local given, without = meta.options or {}, {}
  local counts = meta.instructions ~= nil
  if given.include then
    page:note("only functions that match %s; %s", given.include,
      counts and "instructions of others are not counted" or
      "time and overhead of others are charged to their callers")
  end
  if given.under == "creator" then
    page:note "coroutines are below the functions that made them"
  end
  if given.c_functions == "false" then without[1] = "C functions" end
  without[#without + 1] = given.exclude
  if #without > 0 then
    page:note("without %s%s", table.concat(without, ", "), given.include and
      "" or counts and "; their instructions are not counted" or
      "; their time and overhead are charged to their callers")
  end
  local n = lines.recorded(profile) and stripped(profile) or 0
  if n > 0 then
    page:note("%s no lines: the code is stripped",
      plural(n, "function has", "functions have"))
  end
end

---The time of the garbage collector, in ns.
---@param profile cprof.Profile
---@return integer
function header.collector_ns(profile)
  local ns = 0
  for _, f in ipairs(profile.functions) do
    if rows.collector(f) then ns = ns + f.self_ns end
  end
  return ns
end

-- prints the time of the garbage collector
local function collector(profile, page)
  local meta, ns = profile.meta, header.collector_ns(profile)
  page:line(("garbage collector: %s, %s %% of the time, in %s and %s; " ..
    "the longest took %s"):format(format.time(ns),
    format.percent(ns, profile.measure.whole),
    plural(meta.gc_cycles, "collection"),
    plural(meta.gc_steps, "step"), format.time(meta.gc_longest_ns)))
end

---Prints notes on patterns that matched nothing. They come first, since they
---explain what may be missing from all that follows.
---@param profile cprof.Profile
---@param page cprof.Page
function header.unmatched(profile, page)
  for line in (profile.meta.unmatched_patterns or ""):gmatch "[^\n]+" do
    page:note(line)
  end
end

---Prints notes on what was not recorded, for any report.
---@param profile cprof.Profile
---@param page cprof.Page
function header.notes(profile, page)
  header.unmatched(profile, page)
  gaps(profile, page)
  choice(profile, page)
end

---The average number of samples a second, up to the last one.
---@param profile cprof.Profile  with times from samples
---@return number
function header.rate(profile)
  local ns = measures.recorded(profile.meta)
  for _, f in ipairs(profile.functions) do
    if rows.waiting(f) then ns = ns - f.self_ns end
  end
  return ns > 0 and profile.time_samples / ns * 1e9 or 0
end

-- the average number of functions on the stack
local function depth(profile)
  local sum = 0
  if not profile.samples or not profile.nodes then return 0 end
  for _, level, _, _, _, _, _, samples in core.walk(profile.nodes) do
    sum = sum + level * samples
  end
  return sum // math.max(profile.samples, 1)
end

local deep <const> = 100

-- Why there are far fewer samples than requested: if samples are slow, cprof
-- lowers the rate to limit the overhead. "" if that is not so, or if there
-- are too few samples to tell.
local function slowed(profile, rate)
  local meta, n = profile.meta, profile.time_samples
  local dear = meta.rate and rate * 2 < meta.rate and n > 20 and
    meta.overhead_ns * 250 > measures.recorded(meta)
  if not dear then return "" end
  local level = depth(profile)
  return (" (each took %s%s)"):format(format.time(meta.overhead_ns // n),
    level >= deep and (", with %s functions on the stack"):format(
      format.count(level)) or "")
end

---Was most of the time waiting, and is waiting part of the figures? What waits,
---such as the event loop of a server, then comes before all that works.
---@param profile cprof.Profile
---@return boolean
function header.waits(profile)
  return profile.measure.name == "time" and
    2 * (profile.meta.waiting_ns or 0) > profile.measure.whole
end

---Is it known where time went? It may be known without samples: in a range that
---lies within a wait or a call of a C function, whose sample comes later.
---@param profile cprof.Profile
---@return boolean
function header.known(profile)
  if profile.measure.samples ~= 0 then return true end
  if not profile.meta.range then return false end
  for _, row in ipairs((graph.functions(profile))) do
    if row.func.kind ~= "root" and row.self > 0 then return true end
  end
  return false
end

-- How many samples a report is from, if they are few. Samples of waiting tell
-- nothing about CPU time, and the other way round, so the reader learns which
-- there are few of.
local function few(profile, n)
  local all, of = profile.recorded or profile, profile.measure
  local waits = all.wait_samples
  if waits and of:timed() and all.samples > n then
    waits = math.floor(waits + 0.5)
    local waiting = of.name == "wait" or
      of.name == "time" and 2 * waits < all.samples
    local found = waiting and waits or all.samples - waits
    local even = of.name == "time" and measures.both(all, all.samples, waits,
      all.measure.whole) or found
    if even >= sampled.few and
       (all.meta.worth_running or all.meta.worth_waiting) then
      return ("%s, of which a few stand for most of the time"):format(
        plural(all.samples, "sample"))
    end
    return ("%s of %s found the program %s"):format(found == 0 and "none" or
      format.count(found), plural(all.samples, "sample"),
      waiting and "waiting" or "computing")
  end
  return n == 0 and "no samples" or plural(n, "sample")
end

---A sentence on the rate and the margin of error of samples.
---@param profile cprof.Profile  with figures from samples
---@return string
function header.certainty(profile)
  local asked, n = profile.meta.rate, profile.measure.samples
  if n < sampled.few then
    local what = profile.measure.asks
    if n == 0 and header.known(profile) then
      return "no samples in this range; its figures are from the first " ..
        "sample after it"
    end
    local now = profile.meta.live and core.outside and
      ("; cprof dump %d shows what runs now"):format(profile.meta.pid) or ""
    return (n == 0 and "%s: %s is not known%s" or
      "%s: too few to tell %s%s"):format(few(profile, n), what, now)
  end
  local told = ""
  if profile.measure:timed() then
    local recorded = profile.recorded or profile
    local rate = header.rate(recorded)
    told = ("%s%.0f samples a second%s%s; "):format(profile.samples and "" or
      ("times from %s, "):format(plural(recorded.time_samples, "sample")), rate,
      asked and (" of %s"):format(format.count(asked)) or "",
      slowed(recorded, rate))
  end
  return ("%s± is the margin of error at 95 %%; rows whose intervals " ..
    "overlap may be in any order; functions below %g %% may be missing"):format(
    told, tonumber(("%.2g"):format(100 * sampled.least(n))))
end

-- The wall or CPU time and its parts, which add up to it, but where only a
-- bound of CPU time is known.
local function times(profile)
  local meta = profile.meta
  local parts = {}
  local function add(ns, what, most)
    most = most or ns
    if most > 0 then
      parts[#parts + 1] = ("%s%s %s"):format(most > ns and "<" or "",
        format.time(most), what)
    end
  end
  if meta.waiting_ns then
    local cpu = profile.measure.whole - meta.waiting_ns
    add(cpu, "CPU", bound.of(cpu, cpu + meta.overhead_ns))
    add(meta.waiting_ns, "waiting")
  end
  add(meta.preempted_ns, "preempted (excluded)")
  add(meta.overhead_ns, "profiler overhead (excluded)")
  -- a program that is never stopped can be sampled only while it waits
  add(meta.paused_ns, meta.outside_stops and "not sampled (excluded)" or
    "paused (not recorded)")
  local all = format.time(meta.wall_ns) ..
    (meta.clock == "cpu" and " CPU" or " wall")
  return #parts == 0 and all or all .. ": " .. table.concat(parts, ", ")
end

-- what triggered the samples, and how often the program was interrupted
local function asked_by(meta)
  if meta.mode ~= "sample" or not meta.timer then return "" end
  return (" (timer: %s, %s)"):format(meta.timer,
    plural(meta.signals, "signal"))
end

-- the file whose C functions without a name were found most; nil: all have one
local function unnamed(profile)
  local found, best = {}, nil
  for _, f in ipairs(profile.functions) do
    local module = name.unnamed(f)
    if module then
      found[module] = (found[module] or 0) + f.self_samples
      if not best or found[module] > found[best] then best = module end
    end
  end
  return best
end

-- a line about samples that were read from outside
local function outside(profile, page)
  local meta = profile.meta
  local dropped, stops = meta.outside_dropped, meta.outside_stops
  local good = (profile.recorded or profile).samples +
    (meta.outside_waits or 0)
  local parts = { ("sampled from outside: %s %% of %s gave a valid stack"
    ):format(format.percent(good, good + dropped),
    plural(good + dropped, "look")) }
  if stops > 0 then
    parts[2] = ("the program was stopped %s, for %s (median), %s at most"
      ):format(plural(stops, "time"), format.time(meta.outside_median_ns),
      format.time(meta.outside_worst_ns))
  else parts[2] = "the program was never stopped"
  end
  if meta.outside_states > 1 then
    parts[3] = ("times of %d Lua states, added up"):format(meta.outside_states)
  end
  page:line(table.concat(parts, "; "))
  local late = meta.outside_late or 0
  if late > (good + dropped + late) / 10 then
    page:note("left out: %s that came too late, as other programs had the " ..
      "processor that cprof needed", plural(late, "more look"))
  end
  if (meta.outside_missed_ns or 0) > 0 then
    page:note("short work between looks was missed, up to %s of it, which " ..
      "is in the row (not seen between looks): any function may have run " ..
      "for that much longer", format.time(meta.outside_missed_ns))
  end
  local module = unnamed(profile)
  if module then page:note("%s", within.unnamed(module)) end
  if (meta.outside_waits or 0) > 0 then
    page:note("left out: %s that found the program waiting; --clock=wall " ..
      "counts them", plural(meta.outside_waits, "look"))
  end
  if stops == 0 and dropped > 0 then
    page:note("the program was not stopped, so only waiting was sampled: " ..
      "the time in which it ran is missing")
  end
end

-- the size of the heap over time
local function heap_line(points, page)
  local _, _, most = heap.sparkline(points, 1)
  local words = "heap: %s up to " .. format.bytes(most)
  -- notes for the page of a browser have no width
  local width = page.width or math.huge
  local bars = heap.sparkline(points,
    math.min(width - format.width(words) + 2, 40))
  page:line(words:format(bars))
end

---@param view cprof.ReportView
function header.show(view)
  local profile, page, meta = view.profile, view.page, view.profile.meta
  local recorded, measure = profile.recorded or profile, profile.measure
  local facts = {
    profile.samples and plural(profile.samples, "sample") or
      plural(select.calls(profile), "call"),
    plural(select.distinct(profile), "function"),
    ("mode %s"):format(meta.mode) .. asked_by(meta),
    measure.name ~= "time" and "self and total are " .. measure.is or
      ("clock %s"):format(meta.clock),
  }
  if meta.instructions then
    table.insert(facts, 1, plural(meta.instructions, "instruction"))
  end
  if meta.runs then
    table.insert(facts, 1, plural(meta.runs, "run"))
  end
  page:title("cprof: ", format.program(meta))
  header.unmatched(profile, page)
  for _, line in ipairs(format.part(meta)) do page:line(line) end
  if meta.wall_ns then page:line(times(recorded)) end
  page:line(table.concat(facts, ", "))
  if meta.memory then
    page:line("allocated: " .. allocations.headline(profile))
    local in_use = allocations.in_use(profile)
    if in_use then page:line(in_use) end
    if profile.heap and #profile.heap > 1 then
      heap_line(profile.heap, page)
    end
  end
  if meta.gc then collector(recorded, page) end
  if measure.samples then
    page:line(header.certainty(profile))
  end
  if meta.outside_dropped and profile.samples then outside(profile, page) end
  if header.waits(profile) then
    page:note("most of the time was waiting: %s", page.clicked and
      "choose CPU, above, to leave it out" or
      "--measure=cpu sorts by CPU time")
  end
  if meta.joined then page:note(meta.joined) end
  gaps(profile, page)
  tree_gaps(profile, page)
  choice(profile, page)
  uncertain(profile, page)
end

return header
