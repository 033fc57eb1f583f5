-- The flight recorder: with option `keep_last`, the last seconds of a recording
-- are written into a file when they are asked for.

local core = require "cprof.core"
local filename = require "cprof.system.filename"
local profile = require "cprof.profile"
local range = require "cprof.profile.range"

local recent = {}

local second <const> = 1e9

---@class cprof.Recent
---@field seconds number  how much of the recording is kept
---@field file? string    the pattern of files that are not named

---Takes what is for this module out of the options of a start. Raises an error
---if options contradict each other.
---@param o table
---@param level integer  where the error is, as for error()
---@return cprof.Recent?
function recent.take(o, level)
  if not o.keep_last then return nil end
  if o.every then
    error("start: options 'keep_last' and 'every' cannot be combined: one " ..
      "writes a file when it is asked for, the other all the time", level + 1)
  elseif o.file and not o.file:find "%%[tn]" then
    error(("start: with option 'keep_last', 'file' needs %%t or %%n in its " ..
      "name, got %q"):format(o.file), level + 1)
  end
  local kept = { seconds = o.keep_last, file = o.file and
    filename.absolute(o.file, core.cwd()) }
  o.file = nil
  return kept
end

---Raises an error if the arguments of `dump_recent` are not valid.
---@param kept? cprof.Recent  of the last recording
---@param path any
---@param reason any
---@param level integer       where the error is, as for error()
function recent.check(kept, path, reason, level)
  if not kept then
    error('dump_recent: nothing was recorded with option \'keep_last\'; ' ..
      'call start { mode = "sample", keep_last = SECONDS } first', level + 1)
  elseif path == nil and not kept.file then
    error("dump_recent: name a file, or give start the option 'file'",
      level + 1)
  elseif path ~= nil and (type(path) ~= "string" or path == "") then
    error("dump_recent: the path must be a string, got " ..
      (path == "" and "an empty one" or "a " .. type(path)), level + 1)
  elseif reason ~= nil and type(reason) ~= "string" then
    error("dump_recent: the reason must be a string, got a " .. type(reason),
      level + 1)
  end
end

---Writes the last seconds of a profile into a file.
---@param kept cprof.Recent
---@param p cprof.Profile
---@param path? string    nil: by the pattern of the recording
---@param reason? string  for the header of reports
---@return string? path   of the file; nil: it cannot be written
---@return string? why
function recent.write(kept, p, path, reason)
  local from = p.meta.wall_ns - (kept.seconds * second // 1 | 0)
  local q, why = range.last(p, math.max(from, (range.bounds(p)), 0))
  if not q then return nil, why end
  q.meta.reason = reason
  local to = filename.expand(path or kept.file --[[@as string]])
  to = to:gsub("%%p", tostring(core.process()))
  local ok, message = profile.save(q, to)
  if not ok then return nil, message end
  return to
end

return recent
