-- A range of time within a recording, as the options --from and --to.

local range = require "cprof.sandbox.later" "cprof.profile.range"

local period = {}

local units <const> = { us = 1e3, ms = 1e6, s = 1e9, m = 60e9, h = 3600e9 }

local must <const> = "a time since the recording began (1.2s, 300ms, 2m5s)"

---A time as ns; nil: it is not a time. A mere number is in seconds.
---@param word string
---@return integer?
function period.read(word)
  if word:match "^%d*%.?%d+$" then word = word .. "s" end
  local ns, rest = 0.0, word
  repeat
    local number, unit, more = rest:match "^(%d*%.?%d+)(%l+)(.*)$"
    if not number or not units[unit] then return nil end
    ns, rest = ns + tonumber(number) * units[unit], more
  until rest == ""
  return (math.min(ns, 1e18) + 0.5) // 1 | 0
end

---@class cprof.Period
---@field [1]? integer  ns; nil: from the beginning
---@field [2]? integer  ns; nil: until the end

---A range A..B as two times; nil: it is not a range.
---@param word string
---@return cprof.Period?
function period.both(word)
  local a, b = word:match "^(.*)%.%.(.*)$"
  if not a or a == "" and b == "" then return nil end
  local from, to = period.read(a), period.read(b)
  if a ~= "" and not from or b ~= "" and not to then return nil end
  return { from, to }
end

period.must_both = "a range of times since the recording began " ..
  "(1.2s..1.5s, 2m..)"

---The options --from and --to.
---@type cprof.CommandOption[]
period.options = {
  { "--from TIME", "Use only what ran from this time on: 1.2s, 300ms, 2m " ..
    "since the recording began. (default: the beginning)",
    read = period.read, must = must },
  { "--to TIME", "Use only what ran until this time. (default: the end)",
    read = period.read, must = must },
}

---The options --from and --to of a command that lists things with times.
---@param what string  what it lists, such as "calls"
---@return cprof.CommandOption[]
function period.listing(what)
  return {
    { "--from TIME", ("List only %s that ended after this time: 1.2s, " ..
      "300ms, 2m since the recording began. (default: the beginning)")
      :format(what), read = period.read, must = must },
    { "--to TIME", ("List only %s that began before this time. (default: " ..
      "the end)"):format(what), read = period.read, must = must },
  }
end

---A function that tells whether an event is in the chosen range, by the times
---at which it began and ended, in ns; nil: no range was chosen.
---@param profile cprof.Profile
---@param parsed table
---@param fail fun(message: string)
---@return nil|fun(from: number, to: number): boolean
function period.lists(profile, parsed, fail)
  if not period.given(parsed) then return nil end
  local from, to = parsed.from or -1, parsed.to or math.huge
  if from >= to then fail(range.backwards(from, to)) end
  if from >= profile.meta.wall_ns then
    fail(range.beyond(from, profile.meta.wall_ns))
  end
  return function(begin, ended) return ended > from and begin < to end
end

---The chosen range in words: from 1s to 2s; nil: no range was chosen.
---@param parsed table
---@return string?
function period.told(parsed)
  local from, to = parsed.from, parsed.to
  if from and to then
    return ("from %s to %s"):format(range.time(from), range.time(to))
  end
  return from and ("from %s on"):format(range.time(from)) or
    to and "until " .. range.time(to) or nil
end

---Were these options given?
---@param parsed table
---@return boolean
function period.given(parsed)
  return parsed.from ~= nil or parsed.to ~= nil
end

---The range that options ask for, in ns.
---@param profile cprof.Profile
---@param parsed table
---@param fail fun(message: string)
---@return integer from
---@return integer to
function period.bounds(profile, parsed, fail)
  local from, to = range.limits(profile, parsed.from, parsed.to)
  if not from then fail(to) end
  return from --[[@as integer]], to --[[@as integer]]
end

---The range of a profile; or the profile, if no range is given.
---@param profile cprof.Profile
---@param from? integer  ns
---@param to? integer    ns
---@param fail fun(message: string)
---@return cprof.Profile
function period.cut(profile, from, to, fail)
  if not from and not to then return profile end
  local part, why = range.profile(profile, from, to)
  if not part then fail(why) end
  return part --[[@as cprof.Profile]]
end

---The range that options ask for.
---@param profile cprof.Profile
---@param parsed table
---@param fail fun(message: string)
---@return cprof.Profile
function period.of(profile, parsed, fail)
  return period.cut(profile, parsed.from, parsed.to, fail)
end

---The options as words for another command.
---@param parsed table
---@return string[]
function period.words(parsed)
  local out = {}
  for _, name in ipairs { "from", "to" } do
    if parsed[name] then
      out[#out + 1] = ("--%s %s"):format(name, range.time(parsed[name]))
    end
  end
  return out
end

return period
