-- The fields of a profile's meta: what becomes of each where profiles are added
-- up, joined, or subtracted, and which ones a file has as strings.

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
  { "peak_bytes", sum = true }, { "garbage_bytes", sum = true },
  { "memory_samples", sum = true },
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
  { "axis_lost" }, { "worth_running", from = "times" },
  { "worth_waiting", from = "times" },
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

-- each option is a string in a file, whose key begins with this
local option <const> = "option."

-- The other fields that are strings in a file: texts, and whole numbers. Of
-- `rate` and `samples`, the mode decides what they are.
local texts <const> = { "program", "folder", "lua_version", "lua_release",
  "cprof_version", "rate", "samples", "unmatched_patterns", "joined", "range",
  "labels", "reason" }
local numbers <const> = { "runs", "process", "parent", "garbage_bytes",
  "range_from_ns", "worth_running", "worth_waiting", "outside_dropped",
  "outside_stops", "outside_median_ns", "outside_worst_ns", "outside_late",
  "outside_missed_ns", "outside_states", "outside_waits" }

---The integer that a number or a string stands for; nil: it stands for none, is
---below 0, or is so large that sums of it might overflow.
---@param value any
---@return integer?
function meta.count(value)
  local n = math.tointeger(tonumber(value))
  return n and n >= 0 and n < 1 << 53 and n or nil
end

---The strings by which a file describes a profile, by key.
---@param of table  the profile's meta
---@return table<string, string>
function meta.strings(of)
  local out = {}
  for _, list in ipairs { texts, numbers } do
    for _, key in ipairs(list) do
      out[key] = of[key] and tostring(of[key])
    end
  end
  for key, value in pairs(of.options or {}) do out[option .. key] = value end
  return out
end

-- the options among a file's strings
local function options_of(strings)
  local out = {}
  for key, value in pairs(strings) do
    if key:sub(1, #option) == option then out[key:sub(#option + 1)] = value end
  end
  return next(out) and out or nil
end

---Sets the fields that are strings in a file.
---@param to table  the profile's meta
---@param strings table<string, string>
function meta.read(to, strings)
  for _, key in ipairs(texts) do to[key] = strings[key] or to[key] end
  for _, key in ipairs(numbers) do
    to[key] = meta.count(strings[key] or to[key])
  end
  to.options = options_of(strings)
end

return meta
