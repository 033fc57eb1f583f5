-- Labels: keys with values, such as endpoint=/login, under which a part of the
-- call tree was recorded. A label is a zone whose name is the set of its keys
-- and values: {endpoint=/login, user=guest}. A node is under the labels of all
-- zones on its path; of several values of a key, the innermost one counts.

local core = require "cprof.core"
local figures = require "cprof.count.figures"
local lists = require "cprof.text.lists"
local nearest = require "cprof.text.nearest"
local order = require "cprof.text.order"

local labels = {}

-- These patterns avoid character classes, whose meaning depends on the locale:
-- the program may set it.
local key_pattern <const> = "^([A-Za-z0-9_.-]+)=()"
local word_pattern <const> = '^([^\0-\32\127,={}"\\]+)()'

-- The value at a place in a name, and the place after it; nil: there is none.
-- A string is in quotes where its text alone would be something else.
local function read_value(name, at)
  if name:sub(at, at) ~= '"' then
    local word, after = name:match(word_pattern, at)
    if word == "true" or word == "false" then return word == "true", after end
    return tonumber(word) or word, after
  end
  local stop = at + 1
  repeat
    local from = name:find('["\\]', stop)
    if not from then return nil end
    stop = from + 2
  until name:sub(from, from) == '"'
  stop = stop - 1
  return (name:sub(at + 1, stop - 2):gsub("\\(.)", "%1")), stop
end

---The labels that the name of a zone has; nil: it is not a set of labels.
---@param name string
---@return table<string, string|number|boolean>?
function labels.read(name)
  local out, at = {}, 2
  if name:sub(1, 1) ~= "{" then return nil end
  repeat
    local key, after = name:match(key_pattern, at)
    if not key or out[key] ~= nil then return nil end
    out[key], at = read_value(name, after)
    if out[key] == nil then return nil end
    local more = name:sub(at, at + 1) == ", "
    if more then at = at + 2 end
  until not more
  return name:sub(at) == "}" and out or nil
end

---A value as text, as users write it after KEY=. No metamethod that the program
---may have given numbers or booleans is called.
---@param value string|number|boolean
---@return string
function labels.text(value)
  if value == true then return "true" end
  return value and value .. "" or "false"
end

---The values of each key, as text, in the order of the functions.
---@param p cprof.Profile
---@return table<string, string[]>
function labels.known(p)
  local out, seen = {}, {}
  for _, f in ipairs(p.functions) do
    for key, value in pairs(f.labels or {}) do
      local text = labels.text(value)
      out[key], seen[key] = out[key] or {}, seen[key] or {}
      if not seen[key][text] then
        seen[key][text] = true
        table.insert(out[key], text)
      end
    end
  end
  return out
end

---Why a profile does not have a label; nil: it has it.
---@param p cprof.Profile
---@param key string
---@param value? string  as text; nil: any
---@return string?
function labels.missing(p, key, value)
  local known = labels.known(p)
  if not next(known) then return "no labels were recorded"
  elseif not known[key] then
    return ("no label has the key '%s'%s"):format(key,
      nearest.list(key, lists.keys(known)))
  end
  for _, text in ipairs(known[key]) do
    if not value or text == value then return nil end
  end
  return ("no label has %s=%s%s"):format(key, value,
    nearest.list(value, known[key]))
end

---For each node, the value of a key that it is under, as text; false: none.
---@param p cprof.Profile
---@param key string
---@return (string|false)[]
function labels.nodes(p, key)
  local of, out = {}, { [0] = false }
  for i, f in ipairs(p.functions) do
    local value
    if f.labels then value = f.labels[key] end
    if value ~= nil then of[i] = labels.text(value) end
  end
  for i = 1, #p.nodes do
    local parent, func = core.node(p.nodes, i)
    out[i] = of[func] or out[parent]
  end
  return out
end

---@class cprof.LabelRow   what was recorded under a value of a key
---@field value? string    nil: under none
---@field count integer    how often such a label began; in mode "sample", the
---    samples under it
---@field total integer    of the profile's measure; adds up to all of it
---@field total_wait integer  the part of total that is waiting

local by_total <const> = order("-total", function(row)
  return row.value or ""
end)

-- The rows of all keys, by key and value (false: none). The figures of a label
-- are subtracted from the row of the value around it.
local function rows_of(p)
  local rows, current, samples = {}, {}, p.samples ~= nil
  local _, _, _, _, _, _, _, all_samples, _, _, _, _, _, _, all_waits =
    core.node(p.nodes, 1)
  local function row_of(key, value)
    local of = rows[key]
    if not of then
      of = { [false] = { count = samples and all_samples or 0,
        total = p.measure.whole, total_wait = all_waits } }
      rows[key] = of
    end
    of[value] = of[value] or { value = value, count = 0, total = 0,
      total_wait = 0 }
    return of[value]
  end
  -- labels on the path to the current node, with the values around them
  local open = {}
  local function leave(depth)
    local last = open[#open]
    while last and last.depth >= depth do
      for key, value in pairs(last.around) do current[key] = value end
      open[#open] = nil
      last = open[#open]
    end
  end
  local function enter(id, depth, own)
    local _, _, _, count, _, total, _, sampled, _, _, _, _, _, _, wait =
      core.node(p.nodes, id)
    local around = {}
    for key, value in pairs(own) do
      value = labels.text(value)
      around[key] = current[key] or false
      local row, outer = row_of(key, value), row_of(key, around[key])
      row.count = row.count + (samples and sampled or count)
      if samples then outer.count = outer.count - sampled end
      row.total, outer.total = row.total + total, outer.total - total
      row.total_wait, outer.total_wait = row.total_wait + wait,
        outer.total_wait - wait
      current[key] = value
    end
    open[#open + 1] = { depth = depth, around = around }
  end
  for id, depth, func in core.walk(p.nodes) do
    local own = p.functions[func].labels
    leave(depth)
    if own then enter(id, depth, own) end
  end
  return rows
end

-- the rows of a key, the one with the largest total first, and at the end the
-- one for what was recorded under no value
local function sorted(of)
  local out = {}
  for value, row in pairs(of) do
    if value then out[#out + 1] = row end
  end
  table.sort(out, by_total)
  out[#out + 1] = of[false]
  return out
end

---What was recorded under each value, by key: the row with the largest total
---first, and at the end one for what was recorded under none.
---@param p cprof.Profile
---@return table<string, cprof.LabelRow[]>
function labels.split(p)
  local out = {}
  for key, of in pairs(rows_of(p)) do out[key] = sorted(of) end
  return out
end

---@class cprof.Label        a key, and what was recorded under its values
---@field key string
---@field values cprof.LabelValue[]  the largest total first; at the end, what
---    was recorded without this key

---@class cprof.LabelValue
---@field value? string      as text; nil: under none
---@field calls? integer    how often such a label began; not in mode "sample"
---@field samples? integer   mode "sample": samples under it
---@field total_ns? integer  not in mode "count"; of all values together, the
---    profile's program_ns
---@field total_wait_ns? integer  the part of total_ns that is waiting
---@field total_instructions? integer  mode "count"

---All labels of a profile, by key.
---@param p cprof.Profile
---@return cprof.Label[]
function labels.list(p)
  local out = {}
  for key, rows in pairs(labels.split(p)) do
    local values = {}
    for i, row in ipairs(rows) do
      local of = figures.published(row, p)
      of.self_samples, of.samples = nil, of.self_samples
      values[i] = of
    end
    out[#out + 1] = { key = key, values = values }
  end
  table.sort(out, order "key")
  return out
end

return labels
