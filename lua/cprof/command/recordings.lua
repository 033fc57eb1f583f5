-- What was recorded last, and before that: commands take these where no
-- file is given. Text files of a folder of the user's hold the paths, that
-- of the recording that is being made, too. What got no name lies there.

local core = require "cprof.core"
local internal = require "cprof.internal"

internal.add()

local recordings = {}

local open, rename, remove = io.open, core.rename, os.remove
local match, length, part = string.match, string.len, string.sub

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

-- the path in a text file
local function get(name)
  local file = open(path_of(name) or "", "rb")
  if not file then return nil end
  local path = file:read "a"
  file:close()
  return path and match(path, "^(.+)\n$")
end

-- whole at any time, for others that read it
local function set(name, path)
  local new = path_of(name .. "." .. core.process())
  local file = open(new, "wb")
  if not file then return nil end
  file:write(path, "\n")
  return file:close() and rename(new, path_of(name))
end

-- the recording that was begun last, if it has not become the last one yet
local function current()
  return exists(get "current")
end

-- is it one that got no name?
local function is_unnamed(path)
  local start = path_of ""
  return part(path, 1, length(start)) == start and
    match(part(path, length(start) + 1), "^%d+%.cprof$") ~= nil
end

local function keep(path)
  local last = get "last"
  if path == last then return end
  local dropped = get "previous"
  if last then set("previous", last) end
  set("last", path)
  if dropped and dropped ~= path and dropped ~= last and
     is_unnamed(dropped) then
    remove(dropped)
  end
end

-- a process may have the number of one that was before it
local function new_name()
  local last, previous = get "last", get "previous"
  local number = core.process()
  local path = path_of(number .. ".cprof")
  while path == last or path == previous do
    number = number .. "0"
    path = path_of(number .. ".cprof")
  end
  return path
end

---Where to record what got no name; what got one is remembered.
---@param named? string  its path, from the root
---@return string? path  nil: in memory
function recordings.begin(named)
  if not path_of "" or named and core.special(named) then return named end
  local left = current()
  if left and not core.islive(left) then keep(left) end  -- it was killed
  local path = named or new_name()
  return set("current", path) and path or named
end

---Nothing was recorded there.
---@param path string  as of begin
function recordings.cancel(path)
  if path_of "" and get "current" == path then
    remove(path_of "current")
  end
end

---The recording has ended: it is the last one now.
---@param path string  as of begin
function recordings.finish(path)
  -- first what a program with a root of its own does not have
  if core.special(path) or not exists(path) or not path_of "" then return end
  local mine = get "current" == path
  keep(path)
  if mine then remove(path_of "current") end
end

---@return string? path  of the recording that was begun last
function recordings.last()
  return current() or get "last"
end

---Where a process may have recorded what got no name, the newest first:
---see new_name.
---@param pid integer
---@return string[] paths
function recordings.unnamed(pid)
  local out = {}
  if not path_of "" then return out end
  for i, zeros in ipairs { "00", "0", "" } do
    out[i] = path_of(pid .. zeros .. ".cprof")
  end
  return out
end

---@return string? path  of the one before that
function recordings.previous()
  local now, last = current(), get "last"
  if now and now ~= last then return last end
  return get "previous"
end

return recordings
