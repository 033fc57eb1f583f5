-- Options of functions: their specifications, checks and error messages.

local lists = require "cprof.text.lists"
local patterns = require "cprof.text.patterns"

local options = {}

---@class cprof.OptionSpec
---@field type string          the name of one of the `checks` below
---@field values? string[]     the valid values of a string
---@field min? number
---@field max? number
---@field above? number        a number must be greater than this
---@field least? string        the smallest size that may be given
---@field most? string         the largest one
---@field default? any
---@field shapes? boolean  whether figures depend on it; profiles then record it
---@field modes? string[]      of `start`: the modes in which it can be given

local function quoted(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = ('"%s"'):format(v) end
  return table.concat(out, ", ")
end

-- a list of strings as a message shows it; nil: not a list of strings
local function shown_list(list)
  local out, n = {}, 0
  for _ in next, list do n = n + 1 end
  for i = 1, n do
    local text = rawget(list, i)
    if type(text) ~= "string" then return nil end
    out[i] = ("%q"):format(text)
  end
  return n > 0 and "{ " .. table.concat(out, ", ") .. " }" or nil
end

---A value as text for an error message, without addresses.
---@param value any
---@return string
function options.shown(value)
  local kind = type(value)
  if kind == "string" then return ("%q"):format(value) end
  if kind == "nil" then return "nil" end
  if kind == "number" or kind == "boolean" then
    return ("%s (a %s)"):format(tostring(value), kind)
  end
  return kind == "table" and shown_list(value) or "a " .. kind
end

---The names of options as a list for an error message.
---@param set table<string, any>
---@return string
function options.names(set)
  return table.concat(lists.keys(set), ", ")
end

---The integer value of a number, which may be a float such as 1e6.
---@param value any
---@return integer?
function options.integer(value)
  return type(value) == "number" and math.tointeger(value) or nil
end

local integer <const> = options.integer

-- Each check returns what the value must be, or nil if it is valid, and the
-- value to use if that differs.
local checks = {}

function checks.boolean(value)
  if type(value) ~= "boolean" then return "true or false" end
end

function checks.string(value, spec)
  local must = spec.values and "one of " .. quoted(spec.values) or "a string"
  if type(value) ~= "string" then return must end
  if not spec.values then return end
  for _, v in ipairs(spec.values) do
    if v == value then return end
  end
  return must
end

local function range(what, spec)
  if spec.above then
    return ("%s above %s%s"):format(what, spec.above, spec.max and
      (" and at most %.0f"):format(spec.max) or "")
  end
  if not spec.max then
    return spec.min and ("%s of at least %s"):format(what, spec.min) or what
  end
  return ("%s%s to %s"):format(what, spec.min and (" from %s"):format(spec.min)
    or "", spec.max)
end

local function outside(value, spec)
  return spec.min and value < spec.min or spec.max and value > spec.max or
    spec.above and value <= spec.above or value == math.huge
end

function checks.integer(value, spec)
  if not integer(value) or outside(value, spec) then
    return range("an integer", spec)
  end
  return nil, integer(value)
end

function checks.number(value, spec)
  if type(value) ~= "number" or value ~= value or outside(value, spec) then
    return range("a number", spec)
  end
end

local sizes <const> = { KB = 1 << 10, MB = 1 << 20, GB = 1 << 30 }

---The bytes that a size stands for, such as "16MB"; nil: it is not a size.
---@param text string
---@return integer?
function options.bytes(text)
  local n, unit = text:match "^(%d*%.?%d+) ?([KMG]B)$"
  return n and tonumber(n) * sizes[unit] // 1 | 0
end

-- seconds as a number, or a size
function checks.kept(value, spec)
  local bytes = type(value) == "string" and options.bytes(value)
  if bytes and bytes >= options.bytes(spec.least) and
     bytes <= options.bytes(spec.most) or
     type(value) == "number" and not checks.number(value, spec) then
    return nil
  end
  return ('%s, or a size from "%s" to "%s"'):format(
    range("a number of seconds", spec), spec.least, spec.most)
end

function checks.patterns(value)
  local must = "a list of strings, or of Lua patterns between slashes"
  if type(value) ~= "table" then return must end
  for key, text in pairs(value) do
    if not integer(key) or type(text) ~= "string" then return must end
    local pattern, why = patterns.new(text)
    if not pattern then
      return ("%s; in %q, %s"):format(must, text, why)
    end
  end
end

---The options that shape a profile, as text; nil: all have their defaults.
---@param specs table<string, cprof.OptionSpec>
---@param given table<string, any>
---@return table<string, string>?
function options.shape(specs, given)
  local out = {}
  for name, spec in pairs(specs) do
    local value = given[name]
    if spec.shapes and value ~= spec.default then
      local text = type(value) == "table" and quoted(value) or tostring(value)
      -- patterns may have any bytes
      out[name] = utf8.len(text) and text or
        text:gsub("[\x80-\xff]", function(c) return "\\" .. c:byte() end)
    end
  end
  return next(out) and out or nil
end

-- "full", or a number of frames
function checks.history(value)
  if value == "full" then return end
  local n = integer(value)
  if not n or n < 1 or n > 100000 then
    return '"full" or an integer from 1 to 100000'
  end
  return nil, n
end

function checks.slow_frames(value)
  local must = "a table { budget_ms = a number above 0, " ..
    "keep = an integer of at least 1 }"
  if type(value) ~= "table" then return must end
  for key in pairs(value) do
    if key ~= "budget_ms" and key ~= "keep" then return must end
  end
  local keep = integer(value.keep == nil and 1 or value.keep)
  local budget = value.budget_ms
  if type(budget) ~= "number" or budget ~= budget or budget <= 0 or
     not keep or keep < 1 then
    return must
  end
  return nil, { budget_ms = budget, keep = value.keep and keep }
end

-- seconds, by name
function checks.budgets(value)
  local must = "a table { [name] = seconds, a number above 0 }"
  if type(value) ~= "table" or next(value) == nil then return must end
  local out = {}
  for key, seconds in pairs(value) do
    if type(key) ~= "string" or type(seconds) ~= "number" or
       seconds ~= seconds or seconds <= 0 then
      return must
    end
    out[key] = seconds
  end
  return nil, out
end

-- columns
function checks.width(value)
  local n = integer(value)
  if value ~= math.huge and not (n and n >= 40) then
    return "an integer of at least 40, or math.huge"
  end
  return nil, n
end

function checks.memory(value)
  if type(value) ~= "boolean" and value ~= "live" then
    return 'true, false or "live"'
  end
end

function checks.path(value)
  if type(value) ~= "string" or value == "" then return "a path" end
end

-- a path of a file to write, or a function to call
function checks.trace(value)
  if type(value) ~= "function" and checks.path(value) then
    return "a path or a function"
  end
end

function checks.pattern(value)
  local must = "a string, or a Lua pattern between slashes"
  if type(value) ~= "string" then return must end
  local pattern, why = patterns.new(value)
  return not pattern and ("%s (%s)"):format(must, why) or nil, pattern
end

local numbers = { integer = true, number = true, kept = true }

---The value of a word on a command line; nil and what it must be: it is not
---valid.
---@param spec cprof.OptionSpec
---@param word string
---@return any
---@return string? must
function options.read(spec, word)
  local value = numbers[spec.type] and tonumber(word) or word
  local must, meant = checks[spec.type](value, spec)
  if must then return nil, must end
  return numbers[spec.type] and meant or value
end

---Merges several tables of options.
---@param ... table<string, cprof.OptionSpec>
---@return table<string, cprof.OptionSpec>
function options.together(...)
  local out = {}
  for _, specs in ipairs { ... } do
    for name, spec in pairs(specs) do out[name] = spec end
  end
  return out
end

---The values of all options, given or default. For an option that is not
---valid, raises an error with its name and what is valid.
---@param who string                    the name of the called function
---@param specs table<string, cprof.OptionSpec>
---@param given table?
---@param level integer                 of the error, as of error()
---@return table<string, any>
function options.check(who, specs, given, level)
  if given ~= nil and type(given) ~= "table" then
    error(("%s: options must be a table, got %s"):format(who,
      options.shown(given)), level + 1)
  end
  local out = {}
  for name, value in pairs(given or {}) do
    local spec = specs[name]
    if not spec then
      error(("%s: unknown option %s; valid options: %s"):format(who,
        options.shown(name), options.names(specs)), level + 1)
    end
    local must, meant = checks[spec.type](value, spec)
    if must then
      error(("%s: option '%s' must be %s, got %s"):format(who, name, must,
        options.shown(value)), level + 1)
    end
    if meant ~= nil then out[name] = meant else out[name] = value end
  end
  for name, spec in pairs(specs) do
    if out[name] == nil then out[name] = spec.default end
  end
  return out
end

return options
