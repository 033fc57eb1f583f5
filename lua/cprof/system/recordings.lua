-- What was recorded last, and before that: commands take these where no
-- file is given, those of this folder or this terminal first. A log in a
-- folder of the user's says what has begun and what has ended, where; it is
-- appended to, for several processes record at once. What got no name lies
-- there, too.

local core = require "cprof.core"
local internal = require "cprof.sandbox.internal"

internal.add()

local recordings = {}

local open, rename, remove = io.open, core.rename, os.remove
local match, gmatch, format = string.match, string.gmatch, string.format
local length, part = string.len, string.sub
local insert, take_out = table.insert, table.remove

-- recordings that are known of each folder on each terminal, and in all
local few <const>, most <const> = 2, 16

-- bytes of the log from which on what is forgotten is taken out of it
local long <const> = 16384

-- what becomes of a recording, in the log
local begun <const>, ended <const> = "+", "="
local canceled <const>, forgotten <const> = "-", "x"

---@class cprof.Recording
---@field path string
---@field folder string    in which it was begun; "": not known
---@field terminal string  on which; "0": on none
---@field begun boolean    has it not ended yet?

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

-- Takes those of a path out of a list, that are recorded still or not.
-- The last one of them; nil: there was none.
local function take(list, path, are_begun)
  local taken
  for i = #list, 1, -1 do
    if list[i].path == path and list[i].begun == are_begun then
      taken = taken or list[i]
      take_out(list, i)
    end
  end
  return taken
end

-- Changes a list as a record of the log says. A recording that ends is in
-- the place where it was begun, but later than others.
local function apply(list, kind, entry)
  local path = entry.path
  local of = kind ~= forgotten and take(list, path, true)
  if kind == begun then
    entry.begun = true
    insert(list, entry)
  elseif kind == ended then
    of = of or entry
    of.begun = false
    take(list, path, false)
    insert(list, of)
  elseif kind == forgotten then
    take(list, path, false)
  end
end

-- what the log has, the oldest first, and how long it is
local function read()
  local list = {}
  local file = open(path_of "recordings" or "", "rb")
  local text = file and file:read "a"
  if file then file:close() end
  for kind, terminal, place, path in gmatch(text or "",
    "([-+=x])\0(%d+)\0([^\0]*)\0([^\0]*)\0\n") do
    apply(list, kind, { path = path, folder = place, terminal = terminal,
      begun = false })
  end
  return list, text and length(text) or 0
end

local function record_of(kind, entry)
  return format("%s\0%s\0%s\0%s\0\n", kind, entry.terminal, entry.folder,
    entry.path)
end

-- whole at once, for others write there, too
local function note(kind, entry)
  local file = open(path_of "recordings", "ab")
  if not file then return nil end
  file:setvbuf "full"
  file:write(record_of(kind, entry))
  return file:close()
end

local function rewrite(list)
  local new = path_of("recordings." .. core.process())
  local file = open(new, "wb")
  if not file then return end
  for _, entry in ipairs(list) do
    file:write(record_of(entry.begun and begun or ended, entry))
  end
  if file:close() then rename(new, path_of "recordings") end
end

-- where this process is
local function here(path)
  return { path = path, folder = core.cwd() or "",
    terminal = format("%d", core.terminal() or 0) }
end

local function is_near(entry, place)
  return entry.folder == place.folder and entry.folder ~= "" or
    entry.terminal == place.terminal and entry.terminal ~= "0"
end

-- is it one that got no name?
local function is_unnamed(path)
  local start = path_of ""
  return part(path, 1, length(start)) == start and
    match(part(path, length(start) + 1), "^%d+%.cprof$") ~= nil
end

-- Forgets all but the last ones, and what is recorded now. One that is
-- about to end looks as one that was killed.
local function forget()
  local list, bytes = read()
  local kept, known = {}, {}
  for i = #list, 1, -1 do
    local entry = list[i]
    local place = entry.terminal .. " " .. entry.folder
    known[place] = (known[place] or 0) + 1
    if (entry.begun or known[place] <= few) and #kept < most or
       entry.begun and core.islive(entry.path) then
      insert(kept, 1, entry)
    else
      note(entry.begun and canceled or forgotten, entry)
      if is_unnamed(entry.path) then remove(entry.path) end
    end
  end
  if bytes > long then rewrite(kept) end
end

-- a process may have the number of one that was before it
local function new_name()
  local taken, number = {}, core.process()
  for _, entry in ipairs(read()) do taken[entry.path] = true end
  local path = path_of(number .. ".cprof")
  while taken[path] do
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
  local path = named or new_name()
  return note(begun, here(path)) and path or named
end

---Nothing was recorded there.
---@param path string  as of begin
function recordings.cancel(path)
  if path_of "" then note(canceled, here(path)) end
end

---The recording has ended: it is the last one now.
---@param path string  as of begin
function recordings.finish(path)
  -- first what a program with a root of its own does not have
  if core.special(path) or not exists(path) or not path_of "" then return end
  if note(ended, here(path)) then forget() end
end

---All that are known, the one that was begun or has ended last first. What
---has begun may have no file yet.
---@return cprof.Recording[]
function recordings.all()
  local out = {}
  if not path_of "" then return out end
  for _, entry in ipairs(read()) do
    if not entry.begun or exists(entry.path) then insert(out, 1, entry) end
  end
  return out
end

-- Those of this folder or terminal; all, where there are none. And are
-- they of here?
local function nearest()
  local all, near, place = recordings.all(), {}, here()
  for _, entry in ipairs(all) do
    if is_near(entry, place) then insert(near, entry) end
  end
  if #near > 0 then return near, true end
  return all, false
end

---@return string? path  of the recording that was begun or has ended last
---@return string? elsewhere  the folder in which it was begun, if neither
---    that nor the terminal is the one of this process
function recordings.last()
  local list, near = nearest()
  if not list[1] then return nil end
  return list[1].path, not near and list[1].folder or nil
end

---@return string? path  of the one before that
---@return string? elsewhere  as of last
function recordings.previous()
  local list, near = nearest()
  for _, entry in ipairs(list) do
    if entry.path ~= list[1].path then
      return entry.path, not near and entry.folder or nil
    end
  end
end

return recordings
