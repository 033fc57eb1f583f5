-- Names of C functions in another process: the symbols of the files that it
-- has mapped.

local core = require "cprof.core"
local process = require "cprof.remote.process"

local symbols = {}

-- types of sections, of symbols, and of segments in ELF files
local symtab <const>, dynsym <const> = 2, 11
local is_function <const> = { [2] = true, [10] = true }
local load <const> = 1

local section <const>, segment <const>, symbol <const> =
  "<I4I4I8I8I8I8I4I4I8I8", "<I4I4I8I8I8I8I8I8", "<I4BBI2I8I8"

-- calls `visit` with the fields of each record of a table in the file
local function each(elf, format, at, count, visit)
  local size = format:packsize()
  for i = 0, count - 1 do visit(format:unpack(elf, at + i * size + 1)) end
end

-- Adds the functions of a table of symbols. Names of the first table stay.
local function add(elf, names, at, size, strings)
  each(elf, symbol, at, size // symbol:packsize(),
    function(word, info, _, index, value)
      if is_function[info & 15] and index ~= 0 and not names[value] then
        names[value] = ("z"):unpack(elf, strings + word + 1)
      end
    end)
end

-- names by address, and the segments that are loaded
local function parse(elf)
  local file = { names = {}, segments = {} }
  if elf:sub(1, 6) ~= "\127ELF\2\1" then return file end
  local segments, sections = ("<I8I8"):unpack(elf, 33)
  local _, count, _, many = ("<I2I2I2I2"):unpack(elf, 55)
  each(elf, segment, segments, count,
    function(kind, _, offset, address, _, size)
      if kind == load then
        table.insert(file.segments, { offset = offset, address = address,
          size = size })
      end
    end)
  local tables, offsets = {}, {}
  each(elf, section, sections, many,
    function(_, kind, _, _, offset, size, link)
      offsets[#offsets + 1] = offset
      if kind == symtab or kind == dynsym then
        table.insert(tables, { kind = kind, at = offset, size = size,
          link = link })
      end
    end)
  table.sort(tables, function(a, b) return a.kind < b.kind end)
  for _, t in ipairs(tables) do
    add(elf, file.names, t.at, t.size, offsets[t.link + 1])
  end
  return file
end

-- a file of the process; what is damaged has no symbols
local function open(pid, path)
  local elf = pid and core.readfile(("/proc/%d/root%s"):format(pid, path)) or
    core.readfile(path)
  local ok, file = pcall(parse, elf or "")
  return ok and file or { names = {}, segments = {} }
end

-- the address that the linker gave to what is at this offset of the file
local function linked(file, offset)
  for _, s in ipairs(file.segments) do
    if offset >= s.offset and offset < s.offset + s.size then
      return offset - s.offset + s.address
    end
  end
  return offset
end

---A function that says where code is: "/lib/a.so: symbol", or
---"/lib/a.so+0x1a30"; "": it is in no file.
---@param pid integer?  nil: it has ended
---@param mappings cprof.Mapping[]
---@param files? table<string, string>  files to read in place of others
---@return fun(address: integer): string
function symbols.finder(pid, mappings, files)
  local instead = files or {}
  files = {}
  return function(address)
    local m = process.mapping(mappings, address)
    if not m or m.path:sub(1, 1) ~= "/" then return "" end
    files[m.path] = files[m.path] or
      open(pid, instead[m.path] or m.path)
    local at = linked(files[m.path], address - m.from + m.offset)
    local given = files[m.path].names[at]
    return given and ("%s: %s"):format(m.path, given) or
      ("%s+0x%x"):format(m.path, at)
  end
end

return symbols
