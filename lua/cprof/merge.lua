-- Sums of profiles: of many runs, or of many machines. Functions with the
-- same title are one, and so are the states that they lead to.

local core = require "cprof.core"
local lines = require "cprof.lines"
local name = require "cprof.name"
local profile = require "cprof.profile"

local merge = {}

-- the functions of all, and for each profile which of these are its own
local function functions_of(profiles)
  local all, maps, ids = {}, {}, {}
  for i, p in ipairs(profiles) do
    maps[i] = {}
    for j, f in ipairs(p.functions) do
      local key = f.kind .. "\0" .. f.title
      if not ids[key] then
        ids[key] = #all + 1
        all[ids[key]] = setmetatable({ id = ids[key] }, { __index = f })
      end
      maps[i][j] = ids[key]
    end
  end
  return all, maps
end

-- those that were counted in all, those of a function together
local function lines_of(profiles, maps)
  local sums, keys = {}, {}
  for i, p in ipairs(profiles) do
    for func, line, hits, ns, raw in lines.each(p.counted) do
      local key = maps[i][func] << 32 | line
      local sum = sums[key]
      if not sum then
        sum = { 0, 0, 0 }
        keys[#keys + 1], sums[key] = key, sum
      end
      sum[1], sum[2], sum[3] = sum[1] + hits, sum[2] + ns, sum[3] + raw
    end
  end
  table.sort(keys)
  local out = {}
  for _, key in ipairs(keys) do
    lines.add(out, key >> 32, key & 0xffffffff, table.unpack(sums[key]))
  end
  return out
end

-- where there is code in either
local function either(a, b)
  if a == b then return a end
  local out = {}
  for i = 1, math.max(#a, #b) do
    out[i] = string.char((a:byte(i) or 0) | (b:byte(i) or 0))
  end
  return table.concat(out)
end

local function join(known, source)
  known.text = known.text or source.text
  known.changed = known.changed or source.changed
  -- not the same code: what stands on a line is not of one text
  known.mixed = known.mixed or source.mixed or
    source.text ~= nil and source.text ~= known.text
  known.active = either(known.active, source.active)
end

local function sources_of(profiles)
  local out, by_place = {}, {}
  for _, p in ipairs(profiles) do
    for key, source in pairs(p.sources) do
      local place = name.place(key)
      if by_place[place] then
        join(by_place[place], source)
      else
        by_place[place] = { source = key, active = source.active,
          text = source.text, changed = source.changed,
          mixed = source.mixed }
        out[#out + 1] = by_place[place]
      end
    end
  end
  table.sort(out, function(a, b) return a.source < b.source end)
  return out
end

local summed = { "wall_ns", "paused_ns", "overhead_ns", "clamped_ns",
  "events", "unmatched", "truncated", "clock_backwards",
  "clock_backwards_ns" }

local function meta_of(profiles)
  local first = profiles[1].meta
  local out = { runs = 0, pid = first.pid, hook_lost = false }
  for _, key in ipairs { "mode", "clock", "internals", "program",
    "lua_version", "cprof_version" } do
    out[key] = first[key]
  end
  for _, p in ipairs(profiles) do
    local meta = p.meta
    out.runs = out.runs + (meta.runs or 1)
    for _, key in ipairs(summed) do
      if meta[key] then out[key] = (out[key] or 0) + meta[key] end
    end
    out.started_at = math.min(out.started_at or math.maxinteger,
      meta.started_at)
    out.hook_lost = out.hook_lost or meta.hook_lost
    out.ended = out.ended or meta.ended
    out.uncompensated = out.uncompensated or meta.uncompensated
    if meta.program ~= first.program then out.program = "several programs" end
  end
  return out
end

---The sum of profiles. Gives nil and a message where there can be none.
---@param profiles cprof.Profile[]
---@return cprof.Profile?, string?
function merge.sum(profiles)
  local first = profiles[1].meta
  for _, p in ipairs(profiles) do
    for _, key in ipairs { "mode", "clock" } do
      if p.meta[key] ~= first[key] then
        return nil, ("%s %s and %s %s cannot be added up"):format(key,
          first[key], key, p.meta[key])
      end
    end
  end
  local functions, maps = functions_of(profiles)
  local nodes = {}
  for i, p in ipairs(profiles) do nodes[i] = p.nodes end
  return profile.new(function(f) return f.name, f.title end,
    core.merge(nodes, maps), functions, meta_of(profiles),
    lines_of(profiles, maps), sources_of(profiles))
end

return merge
