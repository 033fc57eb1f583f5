-- Continuous recordings: after so many seconds, the file is complete, and
-- another one is begun.

local core = require "cprof.core"
local filename = require "cprof.filename"
local internal = require "cprof.internal"
local methods = require "cprof.methods"
local profile = require "cprof.profile"

internal.add()

local rotation = {}

local stderr, remove = io.stderr, os.remove

-- Files that this process has begun; a child of it has none yet.
local files, pid = {}, nil

-- the folder in which recording began: the program may be in another by now
local here

---Raises an error where options do not go together.
---@param o table
---@param level integer  of the error, as of error()
function rotation.check(o, level)
  if o.keep and not o.every then
    error("start: option 'keep' needs option 'every'", level + 1)
  elseif o.every and not o.file then
    error("start: option 'every' needs option 'file'", level + 1)
  elseif o.every and not o.file:find "%%[tn]" then
    error(("start: option 'every' needs a file with %%t or %%n in its name, " ..
      "got %q"):format(o.file), level + 1)
  end
end

-- the name without the time and the number, which are known when it begins
local function next_file(o)
  if pid ~= core.process() then files, pid = {}, core.process() end
  return filename.expand(o.file)
end

local function keep_newest(o, file)
  if not o.keep then return end
  file = string.gsub(file, "%%p", tostring(pid))
  if files[#files] ~= file then files[#files + 1] = file end
  while #files > o.keep do remove(table.remove(files, 1)) end
end

local function begin(o, given, again)
  if o.file then
    given.file = next_file(o)
    given.whole = filename.absolute(given.file, here)
    given.paths = profile.paths()
  end
  if again then given.file = given.whole end
  local ok, why = core.start(given)
  if ok and given.file then keep_newest(o, given.whole) end
  return ok, why
end

-- Called within a hook, after an event.
local function elapsed(o, given)
  local _ <close> = methods.borrow(true)
  core.stop()
  local ok, why = begin(o, given, true)
  if not ok then
    stderr:write(("cprof: recording ended: %s\n"):format(why))
  end
end

---Begins to record.
---@param o cprof.StartOptions  all of them
---@param given table           the same for the core
---@return boolean? ok
---@return string? why
function rotation.start(o, given)
  files, pid, here = {}, core.process(), core.cwd()
  if o.every then given.elapsed = function() elapsed(o, given) end end
  return begin(o, given)
end

return rotation
