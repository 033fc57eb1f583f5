-- Where programs that listen and the command meet: a folder of the user's,
-- with small files that nobody else can write.
--
--   PID.listen   the program, its signal, and a digit that changes with each
--                one; the program holds the file, and maps it
--   PID.request  what the command asks of it
--   PID.answer   what it records, or recorded last
--   PID.refusal  why it did not

local core = require "cprof.core"

local rendezvous = {}

---Why no program can be attached to here.
rendezvous.unable = not core.signals and
  "attaching needs signals, which Windows does not have" or nil

local format, gmatch = string.format, string.gmatch
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

---The file of a program that listens, for as long as this lives. Its field
---`signals` becomes a digit where signals can be counted.
---@return userdata? held
---@return string? why
function rendezvous.hold(folder, pid, fields)
  fields.signals = "-"
  local text = encode(fields)
  local _, digit = string.find(text, "\nsignals=-", 1, true)
  return core.hold(rendezvous.path(folder, pid, "listen"), text, digit - 1)
end

---Removes all files of a program.
function rendezvous.clear(folder, pid)
  for _, what in ipairs { "listen", "request", "answer", "refusal" } do
    remove(rendezvous.path(folder, pid, what))
  end
end

return rendezvous
