-- Allocations: what functions allocated, and how much of it is in use.

local core = require "cprof.core"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local measure = require "cprof.count.measure"
local order = require "cprof.text.order"

local allocations = {}

---The kinds of allocated objects, in the order in which they are shown.
allocations.kinds = { "table", "string", "closure", "userdata", "thread",
  "other" }

---The name of a kind in reports.
---@param kind string
---@return string
function allocations.label(kind)
  return kind == "other" and "contents (table slots, stacks, code)" or kind
end

---Adds up allocations by kind.
---@param sum table<string, { allocs: integer, bytes: integer }>?
---@param more table<string, { allocs: integer, bytes: integer }>?
---@return table<string, { allocs: integer, bytes: integer }>?
function allocations.add(sum, more)
  if not more then return sum end
  local out = {}
  for _, kind in ipairs(allocations.kinds) do
    local a, b = (sum or {})[kind], more[kind]
    if a or b then
      out[kind] = { allocs = (a and a.allocs or 0) + (b and b.allocs or 0),
                    bytes = (a and a.bytes or 0) + (b and b.bytes or 0) }
    end
  end
  return out
end

---Sets the allocations of a profile's functions.
---@param functions cprof.Function[]
---@param nodes userdata
---@param meta cprof.Meta
function allocations.attach(functions, nodes, meta)
  local each = {}
  for i = 1, #functions do each[i] = i end
  for _, row in ipairs(measure.rows) do
    if row.unit ~= "ns" and row.unit ~= "instructions" and
       not row.unknown(meta) then
      local rows = core.sum(core.measured(nodes, row.figure), each, #functions)
      for i, f in ipairs(functions) do
        f[row.own], f[row.all] = rows[i].self, rows[i].total
      end
    end
  end
end

---The root function, whose totals are those of the whole profile.
---@param profile cprof.Profile
---@return cprof.Function
function allocations.root(profile)
  return profile.functions[profile.nodes[1].func]
end

---The sum of all allocations.
---@param profile cprof.Profile
---@return { allocs: integer, bytes: integer, kinds: table }
function allocations.sum(profile)
  local root, kinds = allocations.root(profile), nil
  for _, f in ipairs(profile.functions) do
    kinds = allocations.add(kinds, f.allocated)
  end
  return { allocs = root.total_allocs, bytes = root.total_bytes,
           kinds = kinds or {} }
end

-- an amount in words
local function amount(bytes, allocs, sure)
  return ("%s%s in %s"):format(format.bytes(bytes), sure or "",
    format.plural(allocs, "allocation"))
end

-- the margin of error of a sum from `n` samples, at 95 %: " ±12 %"
local function interval(n)
  return (" ±%.0f %%"):format(math.min(2 / math.sqrt(math.max(n, 1)), 1) * 100)
end

-- shares of kinds, largest first: ": string 93.1 %, table 6.9 %"
local function shares(kinds, bytes)
  local list, parts = {}, {}
  for _, kind in ipairs(allocations.kinds) do
    if kinds[kind] then
      list[#list + 1] = { name = allocations.label(kind),
        bytes = kinds[kind].bytes }
    end
  end
  table.sort(list, order "-bytes")
  for i, kind in ipairs(list) do
    parts[i] = ("%s %s %%"):format(kind.name,
      format.percent(kind.bytes, bytes))
  end
  return #parts > 0 and ": " .. table.concat(parts, ", ") or ""
end

---The sum of all allocations, in words.
---@param profile cprof.Profile
---@return string
function allocations.headline(profile)
  local sum, meta = allocations.sum(profile), profile.meta
  local n = meta.memory_interval and meta.memory_samples
  return amount(sum.bytes, sum.allocs,
      n and n > 0 and interval(measure.taken(meta, sum.bytes))) ..
    shares(sum.kinds, sum.bytes) ..
    (n and ("; estimated from %s, at least one per %s of allocation"):format(
      format.plural(n, "sample"),
      format.bytes(meta.memory_interval)) or "")
end

-- memory in use is only known if the allocations are worth at least this many
-- samples
local few <const> = 4

---Are there enough samples to know how much memory is in use?
---@param profile cprof.Profile
---@return boolean
function allocations.tells_live(profile)
  local each = profile.meta.live_interval
  return each ~= nil and (each == 1 or
    allocations.root(profile).total_bytes >= few * each)
end

---The bytes in use, and those at the peak. Estimates are at most what is known
---of the heap, and of what was allocated. Only where live blocks were recorded.
---@param profile cprof.Profile
---@return integer live, integer peak
function allocations.live(profile)
  local meta, root, points = profile.meta, allocations.root(profile),
    profile.heap
  local live, peak = math.max(root.total_live_bytes, 0), meta.peak_bytes
  if meta.live_interval == 1 then return live, peak end
  local last, most = root.total_bytes, root.total_bytes
  if points then
    local highest = 0
    for _, point in ipairs(points) do
      highest = math.max(highest, point.bytes)
    end
    last, most = math.min(last, points[#points].bytes),
      math.min(most, highest)
  end
  return math.min(live, last), math.min(peak, most)
end

---The memory in use, in words; nil: not recorded.
---@param profile cprof.Profile
---@return string?
function allocations.in_use(profile)
  local meta, root = profile.meta, allocations.root(profile)
  if not meta.live_interval then return nil end
  if not allocations.tells_live(profile) then
    return ("still in use: not known, too few samples at one per %s; " ..
      "--memory=all (memory_interval = 1) counts every block"):format(
      format.bytes(meta.live_interval))
  end
  local estimated, garbage = meta.live_interval > 1, meta.garbage_bytes or 0
  local live, peak = allocations.live(profile)
  local function told(n)
    -- a sample stands for the interval, or for a larger block
    return format.bytes(n) .. (estimated and n > 0 and
      interval(n / meta.live_interval) or "")
  end
  return ("still in use%s: %s in %s%s; %s at the peak%s%s"):format(
    meta.runs and meta.runs > 1 and (", added up over %s runs"):format(
      format.count(meta.runs)) or "",
    told(live), format.plural(root.total_live_blocks, "block"),
    garbage > 0 and (", not counting about %s of garbage"):format(
      format.bytes(garbage)) or "",
    told(peak), meta.runs and meta.runs > 1 and "s" or "",
    estimated and not meta.memory_interval and
      ("; estimated from samples, one per %s of allocation"):format(
        format.bytes(meta.live_interval)) or "")
end

-- the total of all functions with this title, by a measure
local function total_of(profile, option, title)
  local measured = measure.profile(profile.recorded or profile,
    measure.row(option))
  for _, row in ipairs((graph.functions(measured))) do
    if row.title == title then return row.total end
  end
  return 0
end

---The allocations of functions with this title, in words; nil: not counted.
---@param profile cprof.Profile
---@param title string
---@return string?
function allocations.sentence(profile, title)
  if not profile.meta.memory then return nil end
  local bytes, allocs, kinds, live = 0, 0, nil, 0
  for _, f in ipairs(profile.functions) do
    if f.title == title then
      bytes, allocs = bytes + f.self_bytes, allocs + f.self_allocs
      kinds = allocations.add(kinds, f.allocated)
      live = live + (f.live_bytes or 0)
    end
  end
  return ("allocated: %s self%s; %s total%s"):format(amount(bytes, allocs),
    shares(kinds or {}, bytes),
    format.bytes(total_of(profile, "alloc", title)),
    profile.meta.live_interval and
      ("; in use: %s self, %s total"):format(format.bytes(math.max(live, 0)),
        format.bytes(math.max(total_of(profile, "live", title), 0))) or "")
end

return allocations
