-- The fields of a profile's meta: what becomes of each where profiles are added
-- up, joined, or subtracted.

local meta = {}

---@class cprof.MetaField
---@field [1] string      its name
---@field sum? boolean    whether it is added up over runs
---@field grows? boolean  whether it grows while recording goes on
---@field time? boolean   whether it is about times; mode "count" has none
---@field from? "times"|"counts"  which of two joined profiles it is from
---@field shared? boolean whether a sum takes it from the first profile

---@type cprof.MetaField[]
meta.fields = {
  { "wall_ns", sum = true, grows = true, time = true, from = "times" },
  { "paused_ns", sum = true, grows = true, time = true, from = "times" },
  { "preempted_ns", sum = true, grows = true, time = true, from = "times" },
  { "waiting_ns", sum = true, grows = true, time = true, from = "times" },
  { "overhead_ns", sum = true, grows = true, time = true, from = "times" },
  { "clamped_ns", sum = true, grows = true, time = true, from = "times" },
  { "clock_backwards", sum = true, grows = true, time = true,
    from = "times" },
  { "clock_backwards_ns", sum = true, grows = true, time = true,
    from = "times" },
  { "clock_jumps", sum = true, grows = true, time = true, from = "times" },
  { "clock_jumps_ns", sum = true, grows = true, time = true,
    from = "times" },
  { "signals", sum = true, grows = true, from = "times" },
  { "interrupted", sum = true, grows = true, from = "times" },
  { "instructions", sum = true, grows = true },
  { "events", sum = true, from = "counts" },
  { "unmatched", sum = true, from = "counts" },
  { "truncated", sum = true, from = "counts" },
  { "gc_steps", sum = true }, { "gc_cycles", sum = true },
  { "peak_bytes", sum = true }, { "memory_samples", sum = true },
  { "preempted_unknown", time = true, from = "times" },
  { "uncompensated", time = true, from = "times" },
  { "costs_ns", time = true, from = "times" },
  { "since_last_event_ns", time = true },
  { "since_last_event_waiting_ns", time = true },
  { "clock", shared = true, from = "times" },
  { "internals", shared = true, from = "times" },
  { "timer", shared = true, from = "times" },
  { "started_at", from = "times" }, { "rate", from = "times" },
  { "mode", shared = true }, { "memory", shared = true },
  { "distribution", shared = true, from = "counts" },
  { "tasks", shared = true, from = "counts" },
  { "gc", shared = true }, { "live_interval", shared = true },
  { "memory_interval", shared = true },
  { "program", shared = true, from = "counts" },
  { "lua_version", shared = true, from = "counts" },
  { "lua_release", shared = true, from = "counts" },
  { "cprof_version", shared = true, from = "counts" },
  { "pid", shared = true, from = "counts" },
  { "process", from = "counts" }, { "parent", from = "counts" },
  { "folder", from = "counts" }, { "folded", from = "counts" },
  { "fold_at", from = "counts" }, { "hook_lost", from = "counts" },
  { "ended", from = "counts" }, { "options", from = "counts" },
}

---The names of the fields that have something, such as a `sum`.
---@param what string
---@param value? any  default: true
---@return string[]
function meta.all(what, value)
  local out = {}
  for _, field in ipairs(meta.fields) do
    if field[what] == (value or true) then out[#out + 1] = field[1] end
  end
  return out
end

return meta
