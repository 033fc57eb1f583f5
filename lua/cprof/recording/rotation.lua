-- Continuous recordings: after the seconds of option `every`, the file is
-- complete, and recording goes on in another one.

local core = require "cprof.core"
local filename = require "cprof.system.filename"
local internal = require "cprof.sandbox.internal"
local methods = require "cprof.sandbox.methods"
local paths = require "cprof.sandbox.later" "cprof.source.paths"

internal.add()

local rotation = {}

local stderr, remove = io.stderr, os.remove

-- the files of this process, `pid`, from the oldest that is kept to the next;
-- a child has its own
local files, pid = {}, nil

-- the current folder when recording began; the program may change it
local here

---Raises an error if options contradict each other.
---@param o table
---@param level integer  where the error is, as for error()
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

-- The name of the next file. %t and %n are replaced: the time and the number
-- are known now.
local function next_file(o)
  if pid ~= core.process() then files, pid = {}, core.process() end
  return filename.expand(o.file, here)
end

-- Removes all files but the newest ones.
local function keep_newest(o)
  while o.keep and #files > o.keep do remove(table.remove(files, 1)) end
end

-- Sets the next file in the options for the core, and the names of functions
-- that it gets.
local function name_file(o, given)
  given.file = next_file(o)
  given.whole = filename.absolute(given.file, here)
  given.paths = paths.packed()
  if o.keep then
    files[#files + 1] = string.gsub(given.whole, "%%p", tostring(pid))
  end
end

-- Ends the recording into the present file, and names the next one.
local function end_file(o, given)
  local _ <close> = methods.shield()
  core.stop()
  name_file(o, given)
  given.file = given.whole
end

-- To be called with the results of `core.start` for the next file.
local function after_start(o, ok, why)
  local _ <close> = methods.shield()
  if ok then keep_newest(o)
  else stderr:write(("cprof: recording ended: %s\n"):format(why))
  end
end

-- Called within a hook, after an event, when a file's time is over. Recording
-- must begin outside of any `methods.shield`, with the program's hook in place.
local function elapsed(o, given)
  end_file(o, given)
  after_start(o, core.start(given))
end

---To be called before recording begins. Adds what the core needs for files.
---@param o cprof.StartOptions  all options
---@param given table           the options, as the core wants them
function rotation.prepare(o, given)
  files, pid, here = {}, core.process(), core.cwd()
  if o.every then given.elapsed = function() elapsed(o, given) end end
  if o.file then name_file(o, given) end
end

return rotation
