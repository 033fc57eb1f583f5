-- Programs that are read from outside while they run.

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local outside = require "cprof.remote.outside"
local process = require "cprof.remote.process"
local remote = require "cprof.remote"
require "cprof.export.methods"  -- else only profiles of cprof.load have them

local watched = {}

-- Why this system does not let a user read another program; nil: it does.
function watched.forbidden()
  local pipe <close> = io.popen "sleep 60 >/dev/null & echo $!"
  local pid = pipe:read "n"
  local _, err = command.cprof("dump", tostring(pid))
  os.execute("kill " .. pid)
  return err:match "^cprof dump: the system does not let .*$"
end

-- May other programs be read? If not, a spec named `does`, of `what`, is
-- pending, and says why.
function watched.possible(env, what, does)
  local refusal = watched.forbidden()
  if not refusal then return true end
  env.describe(what, function()
    env.it(does, function() env.pending(refusal) end)
  end)
  return false
end

-- seconds after which what is waited for is taken never to come
watched.hangs = 300

-- Waits until `test` gives a true value, and returns that. `what` says what it
-- is, where it never comes.
function watched.wait(test, what)
  local deadline = core.seconds() + watched.hangs
  repeat
    local it = test()
    if it then return it end
    core.sleep(0.005)
  until core.seconds() > deadline
  error(what .. ": it never came", 2)
end

local function there(path)
  local file <close> = io.open(path)
  return file ~= nil
end

-- Waits until a program has made a file.
function watched.made(pid, path)
  watched.wait(function()
    if there(path) then return true end
    watched.alive(pid)
  end, path)
end

local Program = {}
Program.__index = Program

-- Starts a program, whose standard input is a pipe of this one.
function watched.start(dir, line)
  os.remove(dir.path .. "/pid")  -- of one before
  local pipe = io.popen(("cd '%s' && echo $$ >pid. && mv pid. pid && " ..
    "exec %s >out 2>err"):format(dir.path, line), "w")
  pipe:setvbuf "no"
  local pid = watched.wait(function()
    local file <close> = io.open(dir.path .. "/pid")
    return file and file:read "n"
  end, "a process ID")
  return setmetatable({ pid = pid, pipe = pipe, dir = dir }, Program)
end

function watched.run(dir, code)
  dir:file("program.lua", code)
  return watched.start(dir, "$SPEC_LUA program.lua")
end

-- Raises an error if a program has ended.
function watched.alive(pid)
  local file <close> = io.open(("/proc/%d/stat"):format(pid))
  assert(file and not file:read "a":find "%) Z ", "the program has ended")
end

-- Reads the process until `test` is true of what was read, and returns that.
-- `locals`: with variables.
function watched.await(pid, test, locals)
  return watched.wait(function()
    local found = remote.read(pid, locals)
    if found and test(found) then return found end
    watched.alive(pid)
  end, "what a program runs")
end

---Options of samples that are read from outside.
---@param given? table  other than the usual ones
---@return cprof.OutsideOptions
function watched.options(given)
  local out = { rate = 1000, seconds = 300, clock = "wall", stop = true }
  for key, value in pairs(given or {}) do out[key] = value end
  return out
end

---A profile of so many samples that are read from outside, or of those until
---`enough` is true of it; and the figures of these.
---@param pid integer
---@param count integer
---@param given? table  options
---@param enough? fun(p: cprof.Profile): boolean?
function watched.record(pid, count, given, enough)
  local program = assert(outside.open(pid, watched.options(given)))
  local ok, why = pcall(program.record, program, function()
    local figures = core.outside_figures(program.samples)
    if figures.runs + figures.waits + figures.left >= count and
       (not enough or enough(program:profile())) then
      error "enough"
    end
  end)
  assert(not ok and tostring(why):find "enough", why)
  local p = helper.check(program:profile())
  return p, core.outside_figures(program.samples)
end

function watched.waits_for_input(found)
  return (found.states[1].waits or ""):find "^read of file 0"
end

-- If a program kept changing while it was read, it was stopped at last,
-- though it has come to wait meanwhile.
function watched.waits_undisturbed(found)
  return watched.waits_for_input(found) and not found.stopped
end

-- What the program says of its nth step, once it waits there.
function Program:said(n)
  local path = ("%s/stack.%d"):format(self.dir.path, n)
  watched.made(self.pid, path)
  return command.read(path)
end

function Program:go() self.pipe:write "\n" end

-- Lets the program end. Returns how it ended.
function Program:close()
  local _, how, status = self.pipe:close()
  self.pipe = nil
  return how, status
end

-- What it has written.
function Program:output()
  return command.read(self.dir.path .. "/out") ..
    command.read(self.dir.path .. "/err")
end

-- Ends the program if it still runs, as where a spec has failed.
function Program:__close()
  if self.pipe then os.execute("kill -9 " .. self.pid) end
end

-- Writes the core file of a process that waits, as the system would. `vector`:
-- with the numbers for its loader.
function watched.write_core(pid, path, vector)
  local function note(kind, desc)
    return ("<I4I4I4z"):pack(5, #desc, kind, "CORE") .. "\0\0\0" .. desc ..
      ("\0"):rep(-#desc % 4)
  end
  local function of(name) return ("/proc/%d/%s"):format(pid, name) end
  local machine = command.read(of "exe"):sub(19, 20)
  local stack = tonumber(command.read(of "syscall"):match " 0x(%x+) 0x%x+%s*$",
    16)
  local at = ("<I2"):unpack(machine) == 62 and 112 + 19 * 8 or 112 + 31 * 8
  local status = ("\0"):rep(32) .. ("<i4"):pack(pid) .. ("\0"):rep(at - 36) ..
    ("<i8"):pack(stack) .. ("\0"):rep(100)
  local info = ("\0"):rep(24) .. ("<i4"):pack(pid) .. ("\0"):rep(28) ..
    "the command  " .. ("\0"):rep(67)
  local parts, files, paths = {}, {}, {}
  local memory = io.open(of "mem", "rb")
  for _, m in ipairs(process.mappings(pid)) do
    if m.path:sub(1, 1) == "/" then
      files[#files + 1] = ("<i8i8i8"):pack(m.from, m.to, m.offset // 4096)
      paths[#paths + 1] = m.path .. "\0"
    end
    if m.how == "rw-p" then
      memory:seek("set", m.from)
      parts[#parts + 1] = { at = m.from, bytes = memory:read(m.to - m.from) }
    end
  end
  memory:close()
  local notes = note(1, status) .. note(3, info) ..
    (vector and note(6, command.read(of "auxv")) or "") .. note(0x46494c45,
    ("<i8i8"):pack(#files, 4096) .. table.concat(files) .. table.concat(paths))
  local segment = "<I4I4I8I8I8I8I8I8"
  local offset = 64 + (#parts + 1) * 56
  local out = { "\127ELF\2\1\1" .. ("\0"):rep(9) .. ("<I2"):pack(4) ..
    machine .. ("<I4I8I8I8I4I2I2I2I2I2I2"):pack(1, 0, 64, 0, 0, 64, 56,
      #parts + 1, 0, 0, 0),
    segment:pack(4, 0, offset, 0, 0, #notes, 0, 4) }
  offset = offset + #notes
  for _, part in ipairs(parts) do
    local size = #part.bytes
    out[#out + 1] = segment:pack(1, 6, offset, part.at, 0, size, size, 4096)
    offset = offset + size
  end
  out[#out + 1] = notes
  for _, part in ipairs(parts) do out[#out + 1] = part.bytes end
  local text = table.concat(out)
  command.write(path, text)
  return text
end

return watched
