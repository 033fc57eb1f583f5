-- Programs that listen for cprof attach, and reasons why one does not answer.

local core = require "cprof.core"
local folders = require "cprof.system.folders"
local order = require "cprof.text.order"
local rendezvous = require "cprof.system.rendezvous"

local listeners = {}

---@class cprof.Listening
---@field pid integer
---@field folder string
---@field file integer    the process whose file counts its signals: itself, or
---    the process that it was forked from
---@field script string
---@field signal string   its number
---@field name string     of the signal, without "SIG"
---@field answer table<string, string>   what it records, or recorded last
---@field refusal table<string, string>  why it did not

-- names of signals, by number as text
local names = {}
local all = { "URG", "USR1", "USR2", "PROF", "WINCH", "IO" }
for _, name in ipairs(all) do
  names[tostring(core.signalnumber(name))] = name
end

-- Finds the listener's file in which a process counts signals: its own, or that
-- of the process that it was forked from. Reads the process's mappings, which
-- also works if it has closed its files.
local function counted(pid)
  local maps = core.readfile(("/proc/%d/maps"):format(pid))
  if not maps then return nil end
  for line in maps:gmatch "[^\n]+" do
    local folder, of = line:match " (/.*)/(%d+)%.listen$"
    if not folder then
      folder, of = line:match " (/.*)/(%d+)%.listen %(deleted%)$"
    end
    for _, path in ipairs(folder and folders.all() or {}) do
      if path == folder then return folder, math.tointeger(of) end
    end
  end
end

-- the status of a process or a thread, with its signal masks
local function status(path)
  local text = core.readfile(path .. "/status")
  return text and function(name, number)
    local mask = text:match("\n" .. name .. ":%s*(%x+)\n")
    return mask and tonumber(mask, 16) >> (number - 1) & 1 == 1
  end, text
end

local function caught(pid, number)
  local has = status("/proc/" .. pid)
  return has and has("SigCgt", number)
end

local function program(folder, pid, file, fields)
  return { pid = pid, folder = folder, file = file,
    script = fields.script or "", signal = fields.signal or "",
    name = names[fields.signal] or "?",
    answer = rendezvous.read(folder, pid, "answer") or {},
    refusal = rendezvous.read(folder, pid, "refusal") or {} }
end

local function holds(folder, pid)
  local holder = core.holder(rendezvous.path(folder, pid, "listen"))
  if holder then return holder == pid, true end
  local there, of = counted(pid)
  return there == folder and of == pid, false
end

-- The listener with this process id, or nil; removes files that a process left.
-- A process that now runs another program does not listen, and must not get
-- the signal. One in another namespace holds its file by another number.
local function look(folder, pid)
  local listens, held = holds(folder, pid)
  if not listens and not held then rendezvous.clear(folder, pid) end
  local fields = listens and rendezvous.read(folder, pid, "listen")
  return fields and program(folder, pid, pid, fields) or nil
end

---The programs of this user that listen, by process id. Removes files of
---processes that have ended.
---@return cprof.Listening[]
function listeners.all()
  local out, seen = {}, {}
  for _, folder in ipairs(folders.all()) do
    for _, name in ipairs(core.filenames(folder) or {}) do
      local pid = math.tointeger(name:match "^(%d+)%.[alr][a-z]+$")
      local key = pid and folder .. pid
      if key and not seen[key] then
        seen[key] = true
        local found = look(folder, pid)
        if found and not seen[pid] then
          seen[pid] = true
          out[#out + 1] = found
        end
      end
    end
  end
  table.sort(out, order "pid")
  return out
end

-- A forked child: the process that began to listen may have ended, but the
-- child still catches the signal.
local function child(pid)
  local folder, of = counted(pid)
  if not folder then return nil end
  local fields = rendezvous.read(folder, of, "listen") or {}
  for _, name in ipairs(all) do
    local number = core.signalnumber(name)
    fields.signal = fields.signal or caught(pid, number) and
      tostring(number) or nil
  end
  return fields.signal and program(folder, pid, of, fields) or nil
end

---The listener with this process id; nil: the process does not listen.
---@param pid integer
---@return cprof.Listening?
function listeners.find(pid)
  for _, found in ipairs(listeners.all()) do
    if found.pid == pid then return found end
  end
  return child(pid)
end

---@param found cprof.Listening
---@return boolean  whether it still runs, and listens
function listeners.lives(found)
  if not core.owner(found.pid) then return false end
  if found.file == found.pid and holds(found.folder, found.pid) then
    return true
  end
  local folder, of = counted(found.pid)
  return folder == found.folder and of == found.file
end

---The count of its signals, as a digit; nil: they are not counted.
---@param found cprof.Listening
---@return string?
function listeners.signals(found)
  local fields = rendezvous.read(found.folder, found.file, "listen")
  return fields and fields.signals and fields.signals:match "^%d$"
end

-- Does the signal wait to be handled, and if so, does the process block it?
-- Nil: it is not known.
local function pending(pid, number)
  local has = status("/proc/" .. pid)
  if not has then return nil end
  local shared, blocked = has("ShdPnd", number), true
  for _, task in ipairs(core.filenames(("/proc/%d/task"):format(pid)) or {}) do
    local of_task = status(("/proc/%d/task/%s"):format(pid, task))
    local blocks = of_task and of_task("SigBlk", number)
    if of_task and of_task("SigPnd", number) then return true, blocks end
    -- any thread that does not block it may get it
    blocked = blocked and blocks ~= false
  end
  return shared, blocked
end

---@class cprof.Asked  the last signal that was sent to a program
---@field at number       when it was sent, in seconds
---@field count string?   the count of the program's signals before
---@field what "request"|"stop"  the file that says what it is for

---Sends the program's signal.
---@param found cprof.Listening
---@param asked cprof.Asked  gets the fields
---@return boolean? ok
---@return string? why
function listeners.ask(found, asked)
  asked.at, asked.count = core.seconds(), listeners.signals(found)
  return core.signal(found.pid, math.tointeger(found.signal))
end

---Has the program got the signal? Nil: it is not known.
---@param found cprof.Listening
---@param asked cprof.Asked
---@return boolean?
function listeners.got(found, asked)
  local now = listeners.signals(found)
  if not now or not asked.count then return nil end
  return now ~= asked.count
end

---Why a program does not answer a signal. Nil: it has taken the request, and
---will answer.
---@param found cprof.Listening
---@param asked cprof.Asked
---@param patience number  seconds in which a signal that is not pending counts
---    as one that comes to cprof
---@return "stopped"|"blocked"|"starved"|"waits"|"taken"|"unknown"|nil
function listeners.silence(found, asked, patience)
  local number = math.tointeger(found.signal)
  local _, text = status("/proc/" .. found.pid)
  if text and text:find "\nState:%s*[Tt] " then return "stopped" end
  local is_pending, blocks = pending(found.pid, number)
  if is_pending then return blocks and "blocked" or "starved" end
  if not rendezvous.read(found.folder, found.pid, asked.what) then
    return nil
  end
  local got = listeners.got(found, asked)
  if got == nil then return "unknown" end
  if got or core.seconds() - asked.at <= patience then return "waits" end
  return is_pending == false and "taken" or "unknown"
end

---Does a process listen, as far as is known?
---@param pid integer
---@return boolean
function listeners.listens(pid)
  return not rendezvous.unable and listeners.find(pid) ~= nil
end

return listeners
