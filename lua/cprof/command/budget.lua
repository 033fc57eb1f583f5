-- Budgets, as files: JSON, version 1.
--
--   version    1
--   limits     of the whole profile: calls, hits, nodes, allocs
--   functions  by name, name and file, or title: calls, hits and allocs
--              (allocations, without those of callees); "optional": true
--              if the function may be missing; "code": a hash of its
--              code, by which it is found under another name; p50, p90,
--              p99 and max: the largest ratios of these durations to
--              those of another run
--   options    options and mode of the recording, as strings

local lists = require "cprof.text.lists"
local options = require "cprof.text.options"
local order = require "cprof.text.order"

local budget = {}

local version <const> = 1

local fields = { version = true, limits = true, functions = true,
                 options = true }

local function is_count(value)
  return math.type(value) == "integer" and value >= 0 or
    nil, "an integer of at least 0"
end

local function is_ratio(value)
  return type(value) == "number" and value > 0 and value < math.huge or
    nil, "a number above 0"
end

local function is_flag(value)
  return type(value) == "boolean" or nil, "true or false"
end

local function is_text(value)
  return type(value) == "string" or nil, "a string"
end

local function shown(value)
  return type(value) == "table" and "an object or a list" or tostring(value)
end

local whole = { calls = is_count, hits = is_count, nodes = is_count,
                allocs = is_count }
local parts = { calls = is_count, hits = is_count, allocs = is_count,
                p50 = is_ratio, p90 = is_ratio, p99 = is_ratio,
                max = is_ratio, optional = is_flag, code = is_text }

-- the items of `keys` that an entry has as keys, in their order
local function keys_in(entry, keys)
  local out = {}
  for _, key in ipairs(keys) do
    if entry[key] then out[#out + 1] = key end
  end
  return out
end

---The figures that an entry limits, in order.
---@param entry table
---@return string[]
function budget.limited(entry)
  return keys_in(entry, { "calls", "hits", "nodes", "allocs" })
end

---The durations that an entry limits, in order.
---@param entry table
---@return string[]
function budget.ratios(entry)
  return keys_in(entry, { "p50", "p90", "p99", "max" })
end

local function wrong_entry(what, entry, valid)
  if type(entry) ~= "table" then
    return ("%s must be an object"):format(what)
  end
  for key, value in pairs(entry) do
    if not valid[key] then
      return ("%s: unknown limit '%s'; valid limits: %s"):format(what,
        tostring(key), options.names(valid))
    end
    local ok, must = valid[key](value)
    if not ok then
      return ("%s: '%s' must be %s, got %s"):format(what, key, must,
        shown(value))
    end
  end
end

local function wrong_part(what, part, check)
  if part ~= nil and type(part) ~= "table" then
    return what .. " must be an object"
  end
  for key, value in pairs(part or {}) do
    if type(key) ~= "string" then return what .. " must be an object" end
    local why = check(key, value)
    if why then return why end
  end
end

local function wrong(b)
  if type(b) ~= "table" then return "expected a JSON object" end
  if b.version ~= version then
    return ("its version must be %d, got %s"):format(version,
      shown(b.version))
  end
  for key in pairs(b) do
    if not fields[key] then
      return ("unknown field '%s'; valid fields: %s"):format(tostring(key),
        options.names(fields))
    end
  end
  local some = false
  local why = b.limits and wrong_entry("limits", b.limits, whole) or
    wrong_part("functions", b.functions, function(title, entry)
      local what = ("function '%s'"):format(title)
      local message = wrong_entry(what, entry, parts)
      some = some or not message and
        #budget.limited(entry) + #budget.ratios(entry) > 0
      return message
    end) or
    wrong_part("options", b.options, function(name, value)
      return not is_text(value) and
        ("options: '%s' must be a string"):format(name)
    end)
  if why then return why end
  some = some or b.limits and #budget.limited(b.limits) > 0
  return not some and "it has no limits" or nil
end

-- the value of a JSON text; nil and why: it is not valid
local function decode(text)
  local json = require "cprof.encoding.json"
  local called, b, _, why = pcall(json.decode, text, 1, nil)
  if called then return b, why end
  if not tostring(b):find("stack overflow", 1, true) then error(b, 0) end
  return nil, "its objects or lists are nested too deeply"
end

---The budget in a file; `missing`: there is none.
---@param path string
---@return table? budget, string? why, boolean? missing
function budget.read(path)
  local file, why = io.open(path, "rb")
  if not file then return nil, why, true end
  local text, message = file:read "a"
  file:close()
  if not text then return nil, ("%s: %s"):format(path, message) end
  local b, bad = decode(text)
  local what = bad or wrong(b)
  if what then
    return nil, ("%s is not a valid budget: %s"):format(path, what)
  end
  b.limits, b.functions = b.limits or {}, b.functions or {}
  return b
end

local ranks <const> = { calls = 1, hits = 2, nodes = 3, allocs = 4, p50 = 5,
                        p90 = 6, p99 = 7, max = 8, optional = 9, code = 10 }

---A budget as people edit it: a line for each function.
---@param b table
---@return string
function budget.encode(b)
  local json = require "cprof.encoding.json"
  local function entry(t)
    local keys, out = lists.keys(t), {}
    table.sort(keys, order(function(key) return ranks[key] or 11 end,
      function(key) return key end))
    for i, key in ipairs(keys) do
      local value = t[key]
      out[i] = ("%s: %s"):format(json.quotestring(key),
        type(value) == "string" and json.quotestring(value) or
        tostring(value))
    end
    return #out > 0 and "{ " .. table.concat(out, ", ") .. " }" or "{}"
  end
  local rows = {}
  for title, t in pairs(b.functions) do
    rows[#rows + 1] = ("    %s: %s"):format(json.quotestring(title), entry(t))
  end
  table.sort(rows)
  return ([[{
  "version": %d,
  "options": %s,
  "limits": %s,
  "functions": {
%s
  }
}
]]):format(version, entry(b.options), entry(b.limits),
    table.concat(rows, ",\n"))
end

return budget
