-- Names of C functions in another process: the symbols of the files that it
-- has mapped.

local elf = require "cprof.source.elf"
local process = require "cprof.remote.process"
local spots = require "cprof.count.spots"

local symbols = {}

---@class cprof.Symbols
---@field private pid integer?
---@field private mappings cprof.Mapping[]
local Symbols = {}
Symbols.__index = Symbols

-- The file that is mapped at an address, its functions, and the address as its
-- linker gave it. nil: no file is mapped there.
local function where(self, address)
  local m = process.mapping(self.mappings, address)
  if not m or m.path:sub(1, 1) ~= "/" then return nil end
  local file = self.files[m.path]
  if not file then
    if m.other then file = elf.none()
    elseif self.pid and m.path:find " %(deleted%)$" then
      -- another file may have its name now
      file = elf.read(("/proc/%d/map_files/%x-%x"):format(self.pid, m.from,
        m.to))
    else
      file = elf.read(self.instead[m.path] or m.path,
        self.pid and ("/proc/%d/root"):format(self.pid))
    end
    self.files[m.path] = file
  end
  return m.path, file, elf.linked(file, address - m.from + m.offset)
end

---Sets what the process has mapped now.
---@param mappings cprof.Mapping[]
function Symbols:map(mappings) self.mappings = mappings end

-- A place in memory without a file, as in "[vdso]+0x123".
local function without_file(self, address)
  local m = process.mapping(self.mappings, address)
  if not m then return "" end
  return ("%s+0x%x"):format(m.path ~= "" and m.path or "[anon]",
    address - m.from)
end

---Where a function is that begins here: "/lib/a.so: symbol", or
---"/lib/a.so+0x1a30"; in memory without a file "[vdso]+0x123", or
---"[anon]+0x123"; "": nothing is mapped there.
---@param address integer
---@return string
function Symbols:place(address)
  local path, file, at = where(self, address)
  if not path then return without_file(self, address) end
  local f = file.at[at]
  return f and ("%s: %s"):format(path, f.name) or ("%s+0x%x"):format(path, at)
end

---The function that has code: its file, its name, and where it begins. nil:
---these are not known.
---@param address integer
---@return string? path
---@return string? name
---@return integer? start
function Symbols:find(address)
  local path, file, at = where(self, address)
  local f = path and elf.find(file, at)
  if not f then return path end
  return path, f.name, address - (at - f.address)
end

---Describes the C function at an address, without the time spent in it.
---@param address integer  1: the thread was in a system call
---@return cprof.Spent
function Symbols:spent(address)
  local path, _, at = where(self, address)
  return spots.find(address == 1 and "=system" or path or "=nowhere", at or 0,
    self.files)
end

---Does a mapping of a file have code?
---@param m cprof.Mapping
---@return boolean
function Symbols:has_code(m)
  local _, file = where(self, m.from)
  for _, s in ipairs(file and file.segments or {}) do
    if s.code and s.offset < m.offset + (m.to - m.from) and
       m.offset < s.offset + s.size then
      return true
    end
  end
  return false
end

---Where the function with this name begins, in the file that has an address.
---nil: it has none with this name.
---@param address integer
---@param given string
---@return integer?
function Symbols:named(address, given)
  local _, file, at = where(self, address)
  for _, f in ipairs(file and file.functions or {}) do
    if f.name == given then return address + (f.address - at) end
  end
end

---The symbols of the files that a process has mapped.
---@param pid integer?  nil: it has ended
---@param mappings cprof.Mapping[]
---@param instead? table<string, string>  files to read in place of others
---@return cprof.Symbols
function symbols.open(pid, mappings, instead)
  return setmetatable({ pid = pid, mappings = mappings, files = {},
    instead = instead or {} }, Symbols)
end

return symbols
