-- Recordings that got no name lie in a folder of the user's: the one that
-- is being made, the last one and the one before it. Commands take these
-- where no file is given.

local core = require "cprof.core"
local internal = require "cprof.internal"

internal.add()

local recordings = {}

local open, rename, remove = io.open, os.rename, os.remove

local folder

-- nil: there is no folder that only this user can write to
local function path_of(name)
  folder = folder or core.folder()
  return folder and folder .. "/" .. name
end

local function exists(path)
  local file = path and open(path, "rb")
  return file and file:close() and path
end

-- the recording that was begun last, if it has not become the last one yet
local function current()
  local file = open(path_of "current" or "", "r")
  if not file then return nil end
  local path = file:read "l"
  file:close()
  return exists(path)
end

local function keep(path)
  local last = path_of "last.cprof"
  rename(last, path_of "previous.cprof")
  rename(path, last)
end

---Where to record what got no name.
---@return string? path  nil: in memory
function recordings.begin()
  if not path_of "" then return nil end
  local left = current()
  if left and not core.islive(left) then keep(left) end  -- it was killed
  local path = path_of(core.process() .. ".cprof")
  local file = open(path_of "current", "w")
  if not file then return nil end
  file:write(path, "\n")
  file:close()
  return path
end

---The recording has ended: it is the last one now.
---@param path string  as of begin
function recordings.finish(path)
  if not exists(path) then return end
  local mine = current() == path
  keep(path)
  if mine then remove(path_of "current") end
end

---@return string? path  of the recording that was begun last
function recordings.last()
  return current() or exists(path_of "last.cprof")
end

---@return string? path  of the one before that
function recordings.previous()
  return exists(path_of(current() and "last.cprof" or "previous.cprof"))
end

return recordings
