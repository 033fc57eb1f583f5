-- A program that is started to be watched, as cprof run starts it.

local core = require "cprof.core"
local process = require "cprof.system.process"

local program = {}

---@class cprof.FollowedProgram
---@field pid integer
---@field path? string      of what it writes, if that is kept
---@field status? integer   its exit status; nil: it runs
---@field private size integer
---@field private lines string[]
local Program = {}
Program.__index = Program

-- bytes of what was written last that are shown
local most <const> = 200000

-- how this process was started, up to the command's own name
local function interpreter()
  local first, out = 0, { core.executable() or arg[0] }
  while arg[first - 1] do first = first - 1 end
  if not core.executable() then out[1] = arg[first] end
  for i = first + 1, 0 do out[#out + 1] = arg[i] end
  return out
end

---Starts a program as cprof run does. Where that does not share its input
---and outputs with this process, its input is this process's, unless that is
---the terminal, and what it writes is kept for later, or goes to standard
---error.
---@param words string[]   what follows `cprof run`
---@param output "kept"|"errors"|"shared"
---@return cprof.FollowedProgram?
---@return string? why
function program.start(words, output)
  local line = interpreter()
  line[#line + 1] = "run"
  for _, word in ipairs(words) do line[#line + 1] = word end
  local path = output == "kept" and os.tmpname() or nil
  local shared = output == "shared"
  local pid, why = core.spawn(line, not shared and core.columns(0) and
    "/dev/null" or nil, shared or path)
  if not pid then return nil, ("cannot start %s: %s"):format(line[1], why) end
  return setmetatable({ pid = pid, path = path, size = 0, lines = {} },
    Program)
end

---Does it still run?
---@return boolean
function Program:running()
  if not self.status then self.status = core.status(self.pid) end
  return self.status == nil
end

---The file that it records into; nil: not yet.
---@return string?
function Program:recording()
  local path = process.mapped(self.pid)
  if path == false and self:running() then return nil end
  return path or process.recording(self.pid)
end

---The last lines of what it has written.
---@return string[]
function Program:output()
  local file = self.path and io.open(self.path, "rb")
  if not file then return self.lines end
  local size = file:seek "end" or 0
  if size ~= self.size then
    file:seek("set", math.max(size - most, 0))
    local text = file:read "a"
    if size > most then text = text:gsub("^[^\n]*\n", "") end
    self.size, self.lines = size, {}
    for line in text:gmatch "([^\n]*)\n?" do
      self.lines[#self.lines + 1] = line
    end
    if self.lines[#self.lines] == "" then self.lines[#self.lines] = nil end
  end
  file:close()
  return self.lines
end

---@param name "INT"|"TERM"|"KILL"
function Program:signal(name)
  if self:running() then core.signal_child(self.pid, name) end
end

---Writes what it has written, and forgets it.
---@param to file*
function Program:replay(to)
  local file = self.path and io.open(self.path, "rb")
  if not file then return end
  repeat
    local block = file:read(65536)
    if block then to:write(block) end
  until not block
  to:flush()
  file:close()
  os.remove(self.path)
end

return program
