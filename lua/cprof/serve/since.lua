-- A profile with only what came since an older one of the same recording.

local bound = require "cprof.count.bound"
local core = require "cprof.core"
local lines = require "cprof.count.lines"

-- what of the meta data grows while recording goes on
local grows = { "wall_ns", "paused_ns", "preempted_ns", "waiting_ns",
  "overhead_ns", "clamped_ns",
  "interrupted", "clock_backwards", "clock_backwards_ns", "clock_jumps",
  "clock_jumps_ns", "instructions" }

local function meta_of(now, old)
  local out = setmetatable({}, { __index = now })
  for _, key in ipairs(grows) do
    if now[key] and old[key] then
      out[key] = math.max(now[key] - old[key], 0)
    end
  end
  return out
end

local function lines_of(now, old, most)
  local out = {}
  for key, list in pairs(now) do
    local before, to = old[key] or {}, {}
    for i, line in pairs(list) do
      to[i] = lines.since(line, before[i], most)
      to[i].active = line.active
    end
    out[key] = to
  end
  return out
end

---What came since `old`; nil: that is of another recording.
---@param p cprof.Profile
---@param old cprof.Profile
---@return cprof.Profile?
return function(p, old)
  local nodes = core.since(p.nodes, old.nodes)
  if not nodes then return nil end
  local out = { nodes = nodes, program_ns = core.program(nodes),
    meta = meta_of(p.meta, old.meta),
    samples = p.samples and p.samples - old.samples,
    time_samples = p.time_samples and p.time_samples - old.time_samples }
  local most = bound.most(out)
  for _, list in ipairs { "lines_of", "lines_by_row" } do
    out[list] = function() return lines_of(p[list](), old[list](), most) end
  end
  return setmetatable(out, { __index = p })
end
