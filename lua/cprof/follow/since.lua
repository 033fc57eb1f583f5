-- A profile with only what was recorded after an older one of its recording.

local core = require "cprof.core"
local fields = require "cprof.profile.meta"
local lines = require "cprof.count.lines"
local measure = require "cprof.count.measure"

local function meta_of(now, old)
  local out = setmetatable({}, { __index = now })
  for _, key in ipairs(fields.all "grows") do
    if now[key] and old[key] then
      out[key] = math.max(now[key] - old[key], 0)
    end
  end
  return out
end

---What was recorded after `old`; nil: `old` is of another recording.
---@param p cprof.Profile
---@param old cprof.Profile
---@return cprof.Profile?
return function(p, old)
  local nodes = core.since(p.nodes, old.nodes)
  if not nodes then return nil end
  local function less(field) return p[field] and p[field] - old[field] end
  local out = setmetatable({ nodes = nodes, meta = meta_of(p.meta, old.meta),
    samples = less "samples", time_samples = less "time_samples",
    wait_samples = less "wait_samples" }, { __index = p })
  out.measure = measure.base(out)
  local sources = {}
  for _, source in pairs(p.sources) do sources[#sources + 1] = source end
  lines.attach(out, lines.less(p.counted, old.counted,
    p.meta.mode == "line"), sources)
  return out
end
