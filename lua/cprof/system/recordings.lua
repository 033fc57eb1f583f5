-- Knows the last recordings. A command that is given no file takes one of
-- these: of the current folder or terminal, if there is one. A log in a folder
-- of the user says which recordings have begun or ended, and where. Several
-- processes may record at once, so they only append to the log. Recordings for
-- which the user gave no name are in that folder, too.

local core = require "cprof.core"
local folders = require "cprof.system.folders"
local internal = require "cprof.sandbox.internal"

internal.add()

local recordings = {}

local open, rename, remove = io.open, core.rename, os.remove
local match, gmatch, format = string.match, string.gmatch, string.format
local length, part, find = string.len, string.sub, string.find
local tointeger = math.tointeger
local insert, take_out = table.insert, table.remove

-- most recordings to know: of each folder on each terminal, and in all
local few <const>, most <const> = 2, 16

-- a log of more bytes is rewritten, without what was forgotten
local long <const> = 16384

-- kinds of records in the log
local begun <const>, ended <const> = "+", "="
local canceled <const>, forgotten <const> = "-", "x"

---@class cprof.Recording
---@field path string
---@field folder string    the current one when it was begun; "": not known
---@field terminal string  the terminal on which it was begun; "0": none
---@field begun boolean    true: it has not ended yet

local folder

-- The path of a file in the user's folder; or nil, and the reason why there is
-- no folder that only this user can write to.
local function path_of(name)
  local why
  if not folder then folder, why = folders.own() end
  return folder and folder .. "/" .. name, why
end

-- The path, if the file can be opened.
local function exists(path)
  local file = path and open(path, "rb")
  return file and file:close() and path
end

-- Removes the recordings of a path from a list: those that have not ended, if
-- `are_begun`, else those that have. Returns the last one; nil: there is none.
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

-- Changes a list as a record of the log says. A recording that ends keeps the
-- folder and terminal where it was begun, and becomes the last in the list.
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

-- The recordings that the log has, the oldest first; its text; and, if `stays`,
-- its open file.
local function read(stays)
  local list = {}
  local file = open(path_of "recordings" or "", "rb")
  local text = file and file:read "a"
  if file and not stays then file:close() end
  for kind, terminal, place, path in gmatch(text or "",
    "([-+=x])\0(%d+)\0([^\0]*)\0([^\0]*)\0\n") do
    apply(list, kind, { path = path, folder = place, terminal = terminal,
      begun = false })
  end
  return list, text or "", file
end

-- A record of the log.
local function record_of(kind, entry)
  return format("%s\0%s\0%s\0%s\0\n", kind, entry.terminal, entry.folder,
    entry.path)
end

-- Appends a text to the log, in one write, as other processes write there, too.
-- Returns nil and the reason if that fails.
local function append(text)
  local file, why = open(path_of "recordings", "ab")
  if not file then return nil, why end
  file:setvbuf "no"
  local written, failure = file:write(text)
  local closed, fault = file:close()
  return written and closed, failure or fault
end

-- Adds a record to the log. If another process has just replaced the log, the
-- record may have gone to the old one, so it is looked for.
local function note(kind, entry)
  local text = record_of(kind, entry)
  local ok, why = append(text)
  if not ok then return nil, why end
  local _, log = read()
  return find(log, text, 1, true) and true or append(text)
end

-- Replaces the log by one that has only these recordings, and what other
-- processes have added to the old one since it was read. `old`: its open file.
local function rewrite(list, old)
  local new = path_of("recordings." .. core.process())
  local file = open(new, "wb")
  if not file then return end
  for _, entry in ipairs(list) do
    file:write(record_of(entry.begun and begun or ended, entry))
  end
  if not core.signals then old:close() end  -- Windows replaces no open file
  if not file:close() or not rename(new, path_of "recordings") or
     not core.signals then
    return
  end
  old:seek "cur"  -- its end may have moved
  local more = old:read "a"
  if more ~= "" then append(more) end
end

-- An entry for `path`, with the folder and terminal of this process.
local function here(path)
  return { path = path, folder = core.cwd() or "",
    terminal = format("%d", core.terminal() or 0) }
end

-- Was a recording begun in this folder, or on this terminal?
local function is_near(entry, place)
  return entry.folder == place.folder and entry.folder ~= "" or
    entry.terminal == place.terminal and entry.terminal ~= "0"
end

-- Is it a recording for which the user gave no name?
local function is_unnamed(path)
  local start = path_of ""
  return part(path, 1, length(start)) == start and
    match(part(path, length(start) + 1), "^%d+%.cprof$") ~= nil
end

-- Removes those of these files that killed processes have left in the folder:
-- recordings that the log does not have, and files that are not complete.
local function sweep(names, list)
  local known = {}
  for _, entry in ipairs(list) do known[entry.path] = true end
  for _, name in ipairs(names) do
    local path, unnamed = path_of(name), match(name, "^%d+%.cprof")
    local process = match(name, "%.(%d+)[^.]*%.tmp$") or
      match(name, "^recordings%.(%d+)$") or
      match(name, "^modules%.(%d+)$") or
      match(name, "^costs%.%d+%.(%d+)$")
    local of = unnamed and path_of(unnamed)
    if of and not known[of] and not core.islive(of) or
       process and core.signals and not core.owner(tointeger(process)) then
      remove(path)
    end
  end
end

-- Forgets all recordings but the last ones and those that are recorded now.
-- One that is about to end looks like one whose process was killed.
local function forget()
  -- read before the log: a recording is in the log before it has a file
  local names = core.filenames(path_of "") or {}
  local list, log, file = read(true)
  local kept, known, grown = {}, {}, length(log) > long
  sweep(names, list)
  for i = #list, 1, -1 do
    local entry = list[i]
    local place = entry.terminal .. " " .. entry.folder
    known[place] = (known[place] or 0) + 1
    if (entry.begun or known[place] <= few) and #kept < most or
       entry.begun and core.islive(entry.path) then
      insert(kept, 1, entry)
    else
      if not grown then note(entry.begun and canceled or forgotten, entry) end
      if is_unnamed(entry.path) then remove(entry.path) end
    end
  end
  if grown then rewrite(kept, file) end
  if file and io.type(file) == "file" then file:close() end
end

-- A path for a recording without a name. An earlier process may have had this
-- one's number, so zeros are added until the name is new.
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

---Notes that a recording begins, and returns where to record.
---@param named? string  the absolute path that the user gave; nil: none
---@return string? path  nil: in memory, as there is no folder for it
---@return string? why   there is none
function recordings.begin(named)
  local there, why = path_of ""
  if not there or named and core.special(named) then return named, why end
  local path = named or new_name()
  local noted, failure = note(begun, here(path))
  return noted and path or named, failure
end

---Notes that a recording without a name begins, which has to go to a file.
---@param advice string  for the message, if no file can be had: what to do then
---@param fail fun(message: string)
---@return string path
function recordings.must_begin(advice, fail)
  local path, why = recordings.begin()
  return path or fail(format("the recording cannot be kept: %s; %s", why,
    advice)) --[[@as string]]
end

---Notes that nothing was recorded after all.
---@param path string  from `begin`
function recordings.cancel(path)
  if path_of "" then note(canceled, here(path)) end
end

---Notes that a recording has ended, so it is the last one now.
---@param path string  from `begin`
function recordings.finish(path)
  -- after chroot, neither the file nor the folder may exist
  if core.special(path) or not exists(path) or not path_of "" then return end
  if note(ended, here(path)) then forget() end
end

---All known recordings, the one that was begun or has ended last first. One
---that has just begun, without a file so far, is left out.
---@return cprof.Recording[]
function recordings.all()
  local out = {}
  if not path_of "" then return out end
  for _, entry in ipairs(read()) do
    if not entry.begun or exists(entry.path) then insert(out, 1, entry) end
  end
  return out
end

-- The recordings of this folder or terminal, and true; or, if there are none,
-- all recordings, and false.
local function nearest()
  local all, near, place = recordings.all(), {}, here()
  for _, entry in ipairs(all) do
    if is_near(entry, place) then insert(near, entry) end
  end
  if #near > 0 then return near, true end
  return all, false
end

---The recording that was begun or has ended last.
---@return string? path
---@return string? elsewhere  the folder in which it was begun, if neither
---    that nor the terminal is this process's
function recordings.last()
  local list, near = nearest()
  if not list[1] then return nil end
  return list[1].path, not near and list[1].folder or nil
end

---The recording before `recordings.last`, in another file.
---@return string? path
---@return string? elsewhere  see `recordings.last`
function recordings.previous()
  local list, near = nearest()
  for _, entry in ipairs(list) do
    if entry.path ~= list[1].path then
      return entry.path, not near and entry.folder or nil
    end
  end
end

return recordings
