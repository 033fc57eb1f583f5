-- Continuous recordings: after so many seconds, the file is complete, and
-- another one is begun.

local core = require "cprof.core"
local filename = require "cprof.system.filename"
local internal = require "cprof.sandbox.internal"
local methods = require "cprof.sandbox.methods"
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

---Removes all files but the newest ones, once recording has begun.
---@param o cprof.StartOptions
---@param given table
function rotation.keep_newest(o, given)
  if not o.keep then return end
  local file = string.gsub(given.whole, "%%p", tostring(pid))
  if files[#files] ~= file then files[#files + 1] = file end
  while #files > o.keep do remove(table.remove(files, 1)) end
end

local function name_file(o, given)
  given.file = next_file(o)
  given.whole = filename.absolute(given.file, here)
  given.paths = profile.paths()
end

local function end_file(o, given)
  local _ <close> = methods.borrow()
  core.stop()
  name_file(o, given)
  given.file = given.whole
end

local function begun(o, given, ok, why)
  local _ <close> = methods.borrow()
  if ok then rotation.keep_newest(o, given)
  else stderr:write(("cprof: recording ended: %s\n"):format(why))
  end
end

-- Called within a hook, after an event. As for any start, recording begins
-- between entries, with the program's hook in place.
local function elapsed(o, given)
  end_file(o, given)
  begun(o, given, core.start(given))
end

---Before recording begins.
---@param o cprof.StartOptions  all of them
---@param given table           the options, as the core wants them
function rotation.prepare(o, given)
  files, pid, here = {}, core.process(), core.cwd()
  if o.every then given.elapsed = function() elapsed(o, given) end end
  if o.file then name_file(o, given) end
end

return rotation
