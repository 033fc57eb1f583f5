-- Where programs that listen and the command meet: a folder of the user's,
-- with small files that nobody else can write.
--
--   PID.listen   the program, and its signal; it holds the file
--   PID.request  what the command asks of it
--   PID.answer   what it records, or recorded last
--   PID.refusal  why it did not

local core = require "cprof.core"

local rendezvous = {}

---Why no program can be attached to here.
rendezvous.unable = not core.signals and
  "attaching needs signals, which Windows does not have" or nil

local format, gmatch, match = string.format, string.gmatch, string.match
local sort, concat = table.sort, table.concat
local remove = os.remove

-- nothing here calls a method: programs may have changed those of strings

-- fields as lines of text
local function encode(fields)
  local keys, out = {}, {}
  for key in next, fields do keys[#keys + 1] = key end
  sort(keys)
  for i, key in ipairs(keys) do
    out[i] = format("%s=%s\n", key,
      (string.gsub(tostring(fields[key]), "[\r\n]", " ")))
  end
  return concat(out)
end

local function decode(text)
  if not text then return nil end
  local out = {}
  for key, value in gmatch(text, "([%w_]+)=([^\n]*)\n") do out[key] = value end
  return out
end

---@alias cprof.Meeting "listen"|"request"|"answer"|"refusal"

---@param folder string
---@param pid integer
---@param what cprof.Meeting
---@return string
function rendezvous.path(folder, pid, what)
  return format("%s/%d.%s", folder, pid, what)
end

---@return table<string, string>?
function rendezvous.read(folder, pid, what)
  return decode(core.private_read(rendezvous.path(folder, pid, what)))
end

---@return boolean? ok
---@return string? why
function rendezvous.write(folder, pid, what, fields)
  return core.private_write(rendezvous.path(folder, pid, what),
    encode(fields))
end

---@return boolean  was it there? Of several that remove it, one hears so
function rendezvous.remove(folder, pid, what)
  return remove(rendezvous.path(folder, pid, what)) ~= nil
end

---The file of a program that listens, for as long as this lives.
---@return userdata? held
---@return string? why
function rendezvous.hold(folder, pid, fields)
  return core.hold(rendezvous.path(folder, pid, "listen"), encode(fields))
end

---Removes all files of a program.
function rendezvous.clear(folder, pid)
  for _, what in ipairs { "listen", "request", "answer", "refusal" } do
    remove(rendezvous.path(folder, pid, what))
  end
end

---@class cprof.Listening
---@field pid integer
---@field folder string
---@field script string
---@field signal string
---@field answer table<string, string>   what it records, or recorded last
---@field refusal table<string, string>  why it did not

-- What a process has left, or does. Programs that have been replaced by
-- another one do not listen, and must not get the signal. One in another
-- namespace holds its file by another number.
local function look(folder, pid)
  local holder = core.holder(rendezvous.path(folder, pid, "listen"))
  if not holder then rendezvous.clear(folder, pid) end
  local fields = rendezvous.read(folder, pid, "listen")
  if holder ~= pid or not fields then return nil end
  return { pid = pid, folder = folder, script = fields.script or "",
    signal = fields.signal or "",
    answer = rendezvous.read(folder, pid, "answer") or {},
    refusal = rendezvous.read(folder, pid, "refusal") or {} }
end

---The programs of this user that listen, by process. What others have left
---is removed.
---@return cprof.Listening[]
function rendezvous.programs()
  local out, seen = {}, {}
  for _, folder in ipairs(core.folders()) do
    for _, name in ipairs(core.filenames(folder) or {}) do
      local pid = math.tointeger(match(name, "^(%d+)%.[alr][a-z]+$"))
      local key = pid and folder .. pid
      if key and not seen[key] then
        seen[key] = true
        local program = look(folder, pid)
        if program and not seen[pid] then
          seen[pid] = true
          out[#out + 1] = program
        end
      end
    end
  end
  sort(out, function(a, b) return a.pid < b.pid end)
  return out
end

return rendezvous
