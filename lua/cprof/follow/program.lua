-- A program that is started to be followed, in the way of cprof run.

local core = require "cprof.core"
local process = require "cprof.system.process"

local program = {}

---@class cprof.FollowedProgram
---@field pid integer
---@field path? string      the file with its output; nil: that is not kept
---@field status? integer   its exit status; nil: it runs
---@field private size integer    bytes in that file when `lines` were read
---@field private lines string[]  the last lines of its output
local Program = {}
Program.__index = Program

-- bytes of output that are shown, from its end
local most <const> = 200000

---Starts a program as cprof run does.
---@param words string[]   what follows `cprof run`
---@param output "kept"|"errors"|"shared"  its output goes to a file, to this
---    process's standard error, or to this process's outputs. If it is not
---    "shared", the program cannot read from the terminal.
---@return cprof.FollowedProgram?
---@return string? why
function program.start(words, output)
  local line = process.interpreter()
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

---Is the program still running?
---@return boolean
function Program:running()
  if not self.status then self.status = core.status(self.pid) end
  return self.status == nil
end

---The file that the program records into; nil: it has not begun to record.
---@return string?
function Program:recording()
  local path = process.mapped(self.pid)
  if path == false and self:running() then return nil end
  return path or process.recording(self.pid)
end

---The last lines of the program's output; {} if that is not kept.
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

---Writes the output that was kept to a file, and deletes it.
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
