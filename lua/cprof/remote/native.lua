-- C frames of another process's threads, between the calls of Lua that they
-- run.

local core = require "cprof.core"
local lists = require "cprof.text.lists"

local native = {}

---@class cprof.NativeFrame
---@field name string     of its function, or "lib.so+0x1a30"
---@field module string?  the file's path, or of memory without one "[vdso]" or
---    "[anon]"; nil: nothing is mapped there
---@field start integer   where the function begins
---@field interpreter boolean  does it run Lua's instructions?
---@field calls boolean   does it call C functions for the interpreter? As far
---    as its name says
---@field lost boolean  are its callers not known, since a frame pointer leads
---    nowhere if its function has not made it?

---@class cprof.NativeReader
---@field stacks userdata
local Reader = {}
Reader.__index = Reader

-- marks of a call, as in src/remote/join.h
local c <const>, fresh <const>, last <const>, main <const> = 1, 2, 4, 8

-- the function of Lua that runs instructions; those that call C functions for
-- it; and functions of which any file with Lua in it has one
local interpreter <const> = "luaV_execute"
local calling <const> = { luaD_precall = true, precallC = true,
  luaD_call = true, luaD_callnoyield = true, ccall = true }
local of_lua <const> = { "lua_newstate", "lua_callk", "lua_pcallk" }

-- Where the file of a mapping begins in memory; 0: nowhere.
local function base_of(mappings, m)
  local base = 0
  for _, other in ipairs(mappings) do
    if other.path == m.path and other.offset == 0 and other.from <= m.from then
      base = other.from
    end
  end
  return base
end

local no_pointer <const> =
  "its function has no unwind tables and no frame pointer"

-- the name of a function without what compilers add to its parts
local function whole(given) return given and given:match "^[^.]*" end

---Looks where the process has code now. Of a core file, its files say so.
---@param mappings cprof.Mapping[]
---@param core_file boolean?
function Reader:map(mappings, core_file)
  local list = {}
  self.mappings = mappings
  self.symbols:map(mappings)
  for _, m in ipairs(mappings) do
    if m.how:find("x", 1, true) and m.path ~= "[vsyscall]" or
       core_file and self.symbols:has_code(m) then
      list[#list + 1], list[#list + 2] = m.from, m.to
      list[#list + 1] = m.path ~= "" and base_of(mappings, m) or 0
    end
  end
  core.native_modules(self.stacks, list)
end

-- Finds the interpreter of a file that has no name for it.
local function search(self, path)
  for _, m in ipairs(self.mappings) do
    if m.path == path and not m.how:find("x", 1, true) then
      local at = core.native_interpreter(self.stacks, self.memory, m.from,
        m.to)
      if at ~= 0 then return at end
    end
  end
end

-- the beginning of a file's interpreter, if only its table tells
local function unnamed(self, path, address)
  if self.searched[path] == nil then
    local symbols = self.symbols
    local has = path == self.program
    for _, given in ipairs(of_lua) do
      has = has or symbols:named(address, given)
    end
    self.searched[path] = has and not symbols:named(address, interpreter) and
      search(self, path) or false
  end
  return self.searched[path]
end

---The function that is at an address.
---@param pc integer
---@param start integer  where it begins; 0: not known
---@return cprof.NativeFrame
function Reader:frame(pc, start)
  local path, given, begins = self.symbols:find(pc)
  local f = { name = given, module = path, start = start,
    interpreter = whole(given) == interpreter,
    calls = calling[whole(given)] or false }
  if path and not f.interpreter and start ~= 0 then
    f.interpreter = unnamed(self, path, pc) == start
  end
  if start == 0 then
    f.start = begins or pc
    f.lost = begins and not core.native_framed(self.memory, begins)
  end
  if given and whole(given) ~= given then
    -- a part that was moved away from the rest
    f.start = self.symbols:named(pc, whole(given)) or f.start
  end
  if not given then
    local place = self.symbols:place(f.start):match "[^/]*$"
    f.name = place ~= "" and place or ("0x%x"):format(f.start)
    f.module = path or place:match "^(.*)%+0x%x+$"
  end
  return f
end

---@class cprof.NativeStack
---@field raw integer[]?  nil: it cannot be read
---@field ended string?   why there are more frames

---Reads the C stack of a thread.
---@param thread integer|string  that is stopped, or registers of a core file
---@return cprof.NativeStack
function Reader:walk(thread)
  local raw, ended = core.native_walk(self.stacks, self.memory, thread)
  return { raw = raw, ended = ended }
end

---The frames of a stack, innermost first. Sets `stack.ended` to the reason if
---their callers are not known.
---@param stack cprof.NativeStack
---@return cprof.NativeFrame[]
function Reader:frames(stack)
  local raw, out = stack.raw, {}
  for i = 1, #raw, 2 do
    local f = self:frame(raw[i], raw[i + 1])
    out[#out + 1] = f
    if f.lost then
      stack.ended = no_pointer
      break
    end
  end
  return out
end

---A reader of the C stacks of a process.
---@param memory userdata
---@param symbols cprof.Symbols
---@param mappings cprof.Mapping[]
---@param core_file boolean?  are these of a core file?
---@return cprof.NativeReader
function native.open(memory, symbols, mappings, core_file)
  local self = setmetatable({ memory = memory, symbols = symbols,
    stacks = core.native(), searched = {} }, Reader)
  self:map(mappings, core_file)
  self.program = mappings[1] and mappings[1].path
  return self
end

-- The calls of threads as the core wants them, and the frame of each. What is
-- left out of a deep stack ends it.
local function flat(chain)
  local calls, of = {}, {}
  for _, raw in ipairs(chain) do
    for i = 1, raw.top do
      local f = raw.frames[i]
      of[#of + 1] = { thread = raw, frame = f }
      calls[#calls + 1] = f.c and f.code or 0
      calls[#calls + 1] = (f.c and c or f.fresh and fresh or 0) |
        (i == raw.depth and last or 0) | (raw.main and main or 0)
    end
    if raw.top < raw.depth then return calls, of, false end
  end
  return calls, of, true
end

---Adds C frames to the calls of threads, each of which was resumed by the next
---one; false if they do not fit together.
---@param chain table[]  as core.remote_thread describes them
---@param frames cprof.NativeFrame[]
---@param ended string?
---@return boolean
function native.join(chain, frames, ended)
  local calls, of, all = flat(chain)
  local starts = {}
  for i, f in ipairs(frames) do
    starts[2 * i - 1] = f.start
    starts[2 * i] = f.interpreter and 1 or f.calls and 2 or 0
  end
  local joined = core.native_join(starts, calls, all and not ended)
  if not joined then return false end
  local by, waiting, thread = {}, {}, nil
  for i = 1, #joined, 2 do
    local call, frame = of[joined[i]], frames[joined[i + 1]]
    if call then
      thread = call.thread
      for _, f in ipairs(waiting) do lists.add(by, thread, f) end
      waiting = {}
      lists.add(by, thread, call.frame)
    else
      waiting[#waiting + 1] = frame and { native = frame } or
        { unknown = ended or "Lua calls were left out" }
    end
  end
  for _, f in ipairs(waiting) do lists.add(by, thread or chain[1], f) end
  for _, raw in ipairs(chain) do
    local list = by[raw]
    if list then
      local had = 0
      for _, f in ipairs(list) do
        if not f.native and not f.unknown then had = had + 1 end
      end
      table.move(raw.frames, had + 1, #raw.frames, #list + 1, list)
      raw.frames = list
    end
  end
  return true
end

return native
