-- Selects profiles by time, from files, folders and patterns, such as those of
-- continuous recordings.

local core = require "cprof.core"
local compare = require "cprof.profile.compare"
local format = require "cprof.text.format"
local input = require "cprof.command.input"
local merge = require "cprof.profile.merge"
local terminal = require "cprof.system.terminal"

local range = {}


-- {======================================================
-- Times
-- =======================================================

local units = { s = 1, m = 60, h = 3600, d = 86400 }

-- days from 1970 to a date in the Gregorian calendar
local function days(year, month, day)
  if month <= 2 then year, month = year - 1, month + 12 end
  return 365 * year + year // 4 - year // 100 + year // 400 +
    (153 * (month - 3) + 2) // 5 + day - 719469
end

local function seconds(year, month, day, hour, minute, second)
  local n = math.tointeger
  year, month, day = n(year), n(month), n(day)
  hour, minute, second = n(hour) or 0, n(minute) or 0, n(second) or 0
  if month < 1 or month > 12 or day < 1 or day > 31 or hour > 24 or
     minute > 59 or second > 60 then
    return nil
  end
  return days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second
end

local stamps = {
  "^(%d%d%d%d)(%d%d)(%d%d)T(%d%d)(%d%d)(%d%d)Z?$",
  "^(%d%d%d%d)%-(%d%d)%-(%d%d)[T ](%d%d):(%d%d):(%d%d)Z?$",
  "^(%d%d%d%d)%-(%d%d)%-(%d%d)[T ](%d%d):(%d%d)Z?$",
  "^(%d%d%d%d)%-(%d%d)%-(%d%d)$",
}

---Seconds since 1970 of a time stamp, or of an age such as 10m.
---@param s string
---@return number?
function range.moment(s)
  local age, unit = s:match "^(%d+%.?%d*)([smhd])$"
  if age then return os.time() - tonumber(age) * units[unit] end
  for _, pattern in ipairs(stamps) do
    if s:find(pattern) then return seconds(s:match(pattern)) end
  end
end

local moment <const> = "an age (30s, 10m, 2h, 1d) or a time in UTC " ..
  "(2026-11-22T06:51:08Z, 20261122T065108Z)"

-- }======================================================


---The options --since and --until.
---@type cprof.CommandOption[]
range.options = {
  { "--since WHEN", "Use only recordings that began at this time or later: " ..
    "an age (30s, 10m, 2h, 1d), or a time in UTC (2026-11-22T06:51:08Z).",
    read = range.moment, must = moment },
  { "--until WHEN", "Use only recordings that began before this time.",
    read = range.moment, must = moment },
}


-- {======================================================
-- Files
-- =======================================================

-- the Lua pattern for a shell's pattern of a file name
local function pattern_of(glob)
  return "^" .. glob:gsub("[%^%$%(%)%%%.%[%]%+%-]", "%%%0")
    :gsub("%*", ".*"):gsub("%?", ".") .. "$"
end

local function matching(folder, pattern, found)
  local names = core.filenames(folder) or {}
  table.sort(names)
  local prefix = folder == "." and "" or folder:gsub("/*$", "/")
  for _, name in ipairs(names) do
    if name:find(pattern) then found[#found + 1] = prefix .. name end
  end
end

-- Does it exist, and is it a folder?
local function is_folder(path)
  return core.special(path) and core.filenames(path) ~= nil
end

local function exists(path)
  local file = io.open(path, "rb")
  return file and file:close()
end

-- the files that a word on the command line means
local function expand(word, fail)
  local found = {}
  if is_folder(word) then
    matching(word, "%.cprof$", found)
    if #found == 0 then fail(("%s has no *.cprof file"):format(word)) end
  elseif word:find "[%*%?]" and not exists(word) then
    local folder, name = word:match "^(.*)/([^/]*)$"
    matching(folder == "" and "/" or folder or ".", pattern_of(name or word),
      found)
    if #found == 0 then fail(("no file matches %s"):format(word)) end
  else
    found[1] = word
  end
  return found
end

---The files that words on the command line mean.
---@param words string[]
---@param fail fun(message: string)
---@return string[]
function range.files(words, fail)
  local out = {}
  for _, word in ipairs(words) do
    local found = expand(word, fail)
    table.move(found, 1, #found, #out + 1, out)
  end
  return out
end

---Do these words mean a single profile, without a span of time?
function range.single(words, parsed)
  return #words <= 1 and not parsed.since and not parsed["until"] and
    not (words[1] and (is_folder(words[1]) or words[1]:find "[%*%?]"))
end

local function within(at, since, before)
  return (not since or at >= since) and (not before or at < before)
end

-- does the time in a file's name show that it is not within the span?
local function outside(path, since, before)
  local stamp = path:match "[^/]*$":match "%d%d%d%d%d%d%d%dT%d%d%d%d%d%dZ"
  local at = stamp and range.moment(stamp)
  -- a recording begins a moment after its file is named
  return at and (before and at >= before or since and at < since - 60)
end

-- }======================================================


---The profiles that began within a span. Fails if there is none.
---@param files string[]
---@param since number?
---@param before number?
---@param fail fun(message: string)
---@return cprof.Profile[] profiles
---@return string[] paths
function range.profiles(files, since, before, fail)
  local out, paths = {}, {}
  local progress = terminal.progress "loading"
  for i, path in ipairs(files) do
    progress(("%d of %d"):format(i, #files))
    if not outside(path, since, before) then
      local p = input.load(path, fail)
      if within(p.meta.started_at, since, before) then
        out[#out + 1], paths[#out + 1] = p, path
      end
    end
  end
  progress()
  if #out == 0 then
    local function told(at, otherwise)
      return at and os.date("!%Y-%m-%dT%H:%M:%SZ", at // 1) or otherwise
    end
    fail(("none of %s began between %s and %s"):format(
      format.plural(#files, "recording"), told(since, "the beginning"),
      told(before, "now")))
  end
  return out, paths
end

---Prints notes on profiles whose settings differ from those of the first.
---@param profiles cprof.Profile[]
function range.say_notes(profiles)
  local told = {}
  for i = 2, #profiles do
    for _, note in ipairs(compare.notes(profiles[1].meta, profiles[i].meta,
      "be added up", function(setting) return setting.name == "runs" end)) do
      if not told[note] then terminal.say("note: " .. note .. "\n") end
      told[note] = true
    end
  end
end

---The sum of profiles.
---@param profiles cprof.Profile[]
---@param paths string[]   of their files
---@param fail fun(message: string)
---@return cprof.Profile
function range.sum(profiles, paths, fail)
  local all, why, which = merge.sum(profiles)
  if not all then
    fail(("%s: %s, %s"):format(why, paths[1], paths[which]))
  end
  return all
end

---The profile that words on the command line mean: a file, or the sum of
---several within --since and --until; and its name for messages.
---@param words string[]
---@param parsed table
---@param fail fun(message: string)
---@return cprof.Profile, string
---@return cprof.Profile[], string[]  what it adds up, and the paths
function range.load(words, parsed, fail)
  local files = range.files(words, fail)
  local list, paths = range.profiles(files, parsed.since, parsed["until"],
    fail)
  local all = #list == 1 and list[1] or range.sum(list, paths, fail)
  range.say_notes(list)
  return all, ("%s (%s)"):format(table.concat(words, " "),
    format.plural(#list, "recording")), list, paths
end

return range
