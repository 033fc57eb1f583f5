-- Compares how profiles were recorded, and says which of their figures agree
-- and which do not.

local format = require "cprof.text.format"

local compare = {}

-- Gets a field of a profile's meta.
local function field(name, default)
  return function(meta) return tostring(meta[name] or default) end
end

-- Gets an option with which a profile was recorded.
local function option(name, default)
  return function(meta) return (meta.options or {})[name] or default end
end

-- clocks with names that differ from what they measure
local measured = { tsc = "wall", monotonic = "wall" }

---The kind of time that a profile's clock measures, the same for clocks whose
---times may be compared.
---@param meta cprof.Meta
---@return string
function compare.clock(meta) return measured[meta.clock] or meta.clock end

local recorded_with <const> = "one was recorded with %s %s, the other with %s"
local calls <const> = "their calls can"
local callers <const> = "because callers are charged for functions that one " ..
  "omits"

local function sampled(meta) return meta.mode == "sample" end

local function one_is_sampled(a, b) return sampled(a) or sampled(b) end

---@class cprof.Setting       of a recording; profiles may differ in it
---@field name string
---@field get fun(meta: cprof.Meta): string
---@field what string         figures that do not agree if the settings differ
---@field rest string?        says which figures agree, or why these do not
---@field form string?        the message, in place of `recorded_with`; it does
---    not have the name
---@field option boolean?     whether it is an option that counts depend on
---@field when? fun(a: cprof.Meta, b: cprof.Meta): boolean  whether a
---    difference matters for these two; nil: it always does

---@type cprof.Setting[]
local settings = {
  { name = "mode", get = field "mode", what = "times", rest = calls,
    when = function(a, b) return not one_is_sampled(a, b) end },
  { name = "mode", get = field "mode", what = "calls",
    rest = "their times can", when = one_is_sampled },
  { name = "times", what = "times of short functions",
    rest = "those of others can",
    form = "times of one are from %s, those of the other from %s",
    get = function(meta)
      return (sampled(meta) or meta.samples) and "samples" or "measured calls"
    end },
  { name = "clock", get = field "clock", what = "times", rest = calls },
  { name = "overhead", what = "times", rest = calls,
    get = function(meta)
      return meta.uncompensated and "included" or "excluded"
    end },
  { name = "runs", what = "figures", form = "one has %s, the other %s",
    get = function(meta)
      return format.plural(meta.runs or 1, "run")
    end },
  { name = "include", get = option("include", "none"), option = true,
    what = "calls and times", rest = callers },
  { name = "exclude", get = option("exclude", "none"), option = true,
    what = "calls and times", rest = callers },
  { name = "c_functions", get = option("c_functions", "true"),
    option = true, what = "calls and times", rest = callers },
  { name = "lines", get = option("lines", "all"), option = true,
    what = "lines", rest = "except those of sources that both have" },
  { name = "callsites", get = option("callsites", "false"), option = true,
    what = "call-tree nodes", rest = "their functions can" },
  { name = "under", get = option("under", "resumer"), option = true,
    what = "call-tree nodes and totals", rest = "their calls and self times " ..
      "can" },
  { name = "recursion", get = option("recursion", "full"), option = true,
    what = "call-tree nodes", rest = "their functions can" },
}

-- Do two profiles differ in this setting, and does it matter?
local function differ(setting, a, b)
  if setting.when and not setting.when(a, b) then return false end
  if setting.name == "clock" then
    return compare.clock(a) ~= compare.clock(b)
  end
  -- each mode treats overhead in its own way, which needs no note
  if setting.name == "overhead" and a.mode ~= b.mode then return false end
  return setting.get(a) ~= setting.get(b)
end

---Notes on what does not agree in two profiles, a line each.
---@param a cprof.Meta
---@param b cprof.Meta
---@param cannot string       what these figures cannot: "be compared"
---@param skip? fun(setting: cprof.Setting): boolean  those that get no note
---@return string[]
function compare.notes(a, b, cannot, skip)
  local out = {}
  for _, setting in ipairs(settings) do
    if not (skip and skip(setting)) and differ(setting, a, b) then
      local x, y = setting.get(a), setting.get(b)
      local message = setting.form and setting.form:format(x, y) or
        recorded_with:format(setting.name, x, y)
      out[#out + 1] = ("%s: their %s cannot %s%s"):format(message,
        setting.what, cannot, setting.rest and ", " .. setting.rest or "")
    end
  end
  return out
end

-- the program of a profile, without its arguments
local function program(meta)
  return (meta.program or "(embedded)"):match "^%S*"
end

---A note that two profiles are of different programs; nil: they are of one
---program, by its name without the folder.
---@param a cprof.Meta
---@param b cprof.Meta
---@return string?
function compare.programs(a, b)
  local old, new = program(a), program(b)
  if old:match "[^/]*$" == new:match "[^/]*$" then return nil end
  return ("the profiles are of different programs: %s and %s"):format(
    format.plain(old), format.plain(new))
end

---Why the counts of a profile are not exact; nil: they are.
---@param meta cprof.Meta
---@return string?
function compare.inexact(meta)
  return meta.truncated > 0 and "max_nodes was reached" or
    meta.hook_lost and "the program set a debug hook of its own" or
    meta.ended and "recording ended early: " .. meta.ended or
    meta.unmatched > 0 and "events did not match the call stack" or nil
end

return compare
