-- A profile with only what was recorded under some labels.

local core = require "cprof.core"
local labels = require "cprof.sandbox.later" "cprof.count.labels"
local methods = require "cprof.sandbox.methods"
local profile = require "cprof.profile"
local range = require "cprof.profile.range"

local labelled = {}

-- fields of meta that are known only of the whole recording
local unknown <const> = { "events", "timer", "signals", "interrupted",
  "gc_steps", "gc_cycles", "gc_longest_ns", "peak_bytes", "garbage_bytes",
  "since_last_event_ns", "since_last_event_waiting_ns" }

---@class cprof.WantedLabel
---@field [1] string  key
---@field [2] string  value, as text

-- for each node, whether it is under all these labels
local function kept(p, wanted)
  local out = {}
  for i = 1, #p.nodes do out[i] = true end
  for _, pair in ipairs(wanted) do
    for i, value in ipairs(labels.nodes(p, pair[1])) do
      out[i] = out[i] and value == pair[2]
    end
  end
  return out
end

local function meta_of(p, nodes)
  local out = {}
  for key, value in pairs(p.meta) do out[key] = value end
  for _, key in ipairs(unknown) do out[key] = nil end
  local _, _, _, _, _, wall = core.node(nodes, 1)
  local _, _, _, _, overhead = core.node(nodes, (core.overhead(nodes)))
  out.distribution, out.tasks, out.gc = false, false, false
  if p.meta.mode ~= "count" then
    out.paused_ns, out.preempted_ns = 0, 0
    out.wall_ns, out.overhead_ns = wall, overhead
  end
  if out.samples then
    out.samples = math.floor(out.samples *
      ((wall - overhead) / math.max(p.measure.whole, 1)))
  end
  return out
end

-- For each function, the counters of its instructions under labels, by the time
-- axis of samples; nil: there is none, or it does not have all samples.
local function counters_of(p, wanted)
  local part = range.origin(p)
  local of = part and part.of or p
  local axis = profile.axis(of)
  if not axis or not of.samples or
     not part and p.meta.axis_begins_ns then
    return nil
  end
  local each, out = {}, {}
  for i, f in ipairs(of.functions) do each[i] = f.counters or false end
  local all = core.counters(axis, of.nodes, kept(of, wanted), each,
    part and part.from, part and part.to)
  for i = 1, #p.functions do
    out[i] = all[part and part.functions[i] or i]
  end
  return out
end

---Labels as a text.
---@param wanted cprof.WantedLabel[]
---@return string
function labelled.text(wanted)
  local words = {}
  for i, pair in ipairs(wanted) do words[i] = pair[1] .. "=" .. pair[2] end
  return table.concat(words, ", ")
end

---For each node, whether it is under all of these labels, and the labels as a
---text. nil and a message: there is no such label.
---@param p cprof.Profile
---@param wanted cprof.WantedLabel[]
---@return boolean[]?
---@return string
function labelled.nodes(p, wanted)
  for _, pair in ipairs(wanted) do
    local why = labels.missing(p, pair[1], pair[2])
    if why then return nil, why end
  end
  return kept(p, wanted), labelled.text(wanted)
end

---The profile of what was recorded under all of these labels. nil and a
---message: there is nothing.
---@param p cprof.Profile
---@param wanted cprof.WantedLabel[]
---@return cprof.Profile?, string?
function labelled.profile(p, wanted)
  local keep, told = labelled.nodes(p, wanted)
  if not keep then return nil, told end
  local nodes, map = core.keep(p.nodes, keep, #p.functions)
  local all, counters = counters_of(p, wanted), {}
  for i, id in ipairs(map) do counters[i] = all and all[id] end
  local meta = meta_of(p, nodes)
  meta.labels = told
  local q = profile.new(function(f) return f.name, f.title end, nodes,
    profile.records(p, map, counters), meta, {},
    all and profile.sources(p) or {})
  local root = q.functions[nodes[1].func]
  if root[q.measure.all] == 0 and #map <= 2 then
    return nil, "nothing was recorded under " .. told
  end
  meta.labels = ("%s (%s of %s)"):format(told,
    q.measure:in_words(q.measure.whole), p.measure:in_words(p.measure.whole))
  meta.waiting_ns = meta.waiting_ns and root.total_wait_ns
  meta.peak_bytes = root.total_peak_bytes
  return q
end

---The profile of what was recorded under all of these labels: a table of keys
---and values. nil and a message: there is nothing.
---@param wanted table<string, string|number|boolean>
---@return cprof.Profile?, string?
function profile.methods:labelled(wanted)
  local _ <close> = methods.shield()
  if type(wanted) ~= "table" then
    error("labelled: a table of keys and values is needed, got a " ..
      type(wanted), 2)
  end
  local list = {}
  for key, value in pairs(wanted) do
    local kind = type(value)
    if type(key) ~= "string" then
      error("labelled: a key must be a string, got a " .. type(key), 2)
    elseif kind ~= "string" and kind ~= "number" and kind ~= "boolean" then
      error(("labelled: the value of '%s' must be a string, a number or a " ..
        "boolean, got a %s"):format(key, kind), 2)
    end
    list[#list + 1] = { key, labels.text(value) }
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return labelled.profile(self, list)
end

return labelled
