-- How programs that listen and the command exchange messages: in small files
-- in a folder of the user, where nobody else can write.
--
--   PID.listen   the program, its signal, and a digit that changes with each
--                signal; the program holds the file, and maps it
--   PID.request  what the command asks the program to record
--   PID.stop     which recording it asks it to end; apart from that, as the
--                program may wait until there is another request
--   PID.answer   what the program records, or has recorded last
--   PID.refusal  why the program did not do what was asked

local core = require "cprof.core"

local rendezvous = {}

---Why this system cannot attach to programs; nil: it can.
rendezvous.unable = not core.signals and
  "attaching needs signals, which Windows does not have" or nil

local format, gmatch = string.format, string.gmatch
local sort, concat = table.sort, table.concat
local remove = os.remove

-- Nothing here calls a method, as programs may have changed those of strings.

-- The fields of a message as lines of text.
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

-- The fields of a message; nil: there is no text.
local function decode(text)
  if not text then return nil end
  local out = {}
  for key, value in gmatch(text, "([%w_]+)=([^\n]*)\n") do out[key] = value end
  return out
end

---@alias cprof.Meeting "listen"|"request"|"stop"|"answer"|"refusal"

---The path of a file.
---@param folder string
---@param pid integer  the program's
---@param what cprof.Meeting
---@return string
function rendezvous.path(folder, pid, what)
  return format("%s/%d.%s", folder, pid, what)
end

---@return table<string, string>? fields  nil: there is no such file
function rendezvous.read(folder, pid, what)
  return decode(core.private_read(rendezvous.path(folder, pid, what)))
end

---@return boolean? ok
---@return string? why
function rendezvous.write(folder, pid, what, fields)
  return core.private_write(rendezvous.path(folder, pid, what),
    encode(fields))
end

---@return boolean  true: this call has removed the file. If several processes
---    try, one of them succeeds
function rendezvous.remove(folder, pid, what)
  return remove(rendezvous.path(folder, pid, what)) ~= nil
end

---Makes the file of a program that listens, which exists as long as `held`.
---Adds the field `signals`: a digit that changes with each signal, or "-" where
---signals cannot be counted.
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
  for _, what in ipairs { "listen", "request", "stop", "answer",
                          "refusal" } do
    remove(rendezvous.path(folder, pid, what))
  end
end

return rendezvous
