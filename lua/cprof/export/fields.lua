-- The fields of functions, nodes and lines in exports that have all of them.

local fields = {}

local function joined(...)
  local out = {}
  for _, list in ipairs { ... } do
    for word in list:gmatch "%g+" do out[#out + 1] = word end
  end
  return out
end

-- The fields of functions, of nodes and of lines: those of all profiles; those
-- of profiles with times, with instructions, and with samples; and those that
-- follow if durations of calls, allocations, or live blocks were counted.
local lists <const> = {
  functions = { all = "id name title kind source line last_line",
    time = "calls self_ns self_raw_ns total_ns max_depth self_most_ns " ..
      "total_most_ns self_wait_ns total_wait_ns",
    instructions = "calls instructions total_instructions max_depth",
    samples = "self_samples total_samples self_ns total_ns",
    distribution = "timed_calls max_ns p50_ns p90_ns p99_ns",
    memory = "self_allocs self_bytes total_allocs total_bytes",
    live = "live_bytes total_live_bytes live_blocks total_live_blocks " ..
      "peak_bytes total_peak_bytes" },
  nodes = { all = "parent func call_line",
    time = "calls self_ns total_ns self_raw_ns self_wait_ns total_wait_ns",
    instructions = "calls instructions total_instructions",
    samples = "self_samples self_ns total_ns total_samples",
    memory = "self_allocs self_bytes", live = "live_blocks live_bytes" },
  lines = { all = "line hits",
    time = "self_ns calls total_ns active self_raw_ns self_most_ns " ..
      "total_most_ns self_wait_ns total_wait_ns",
    instructions = "instructions active",
    samples = "self_ns calls total_ns active self_raw_ns",
    memory = "allocs bytes", live = "live_bytes" },
}

---The names of the fields of functions, nodes or lines; and how many of them
---are not about allocations.
---@param p cprof.Profile
---@param what "functions"|"nodes"|"lines"
---@return string[]
---@return integer
function fields.of(p, what)
  local of = lists[what]
  local own = of[p.samples and "samples" or p.measure.name]
  return joined(of.all, own, p.meta.distribution and of.distribution or "",
    p.meta.memory and of.memory or "",
    p.meta.live_interval and of.live or ""), #joined(of.all, own)
end

return fields
