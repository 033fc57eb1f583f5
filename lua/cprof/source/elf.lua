-- ELF files: their functions, by the addresses that the linker gave them. A
-- file may have anything in it: what is damaged has no functions.

local files = require "cprof.system.files"
local gzip = require "cprof.encoding.gzip"

local elf = {}

---@class cprof.ElfFile
---@field segments cprof.ElfSegment[]
---@field functions cprof.ElfFunction[]  sorted by address
---@field at table<integer, cprof.ElfFunction>  those that begin at an address
---@field package room integer  bytes that names may still have

---@class cprof.ElfSegment
---@field offset integer
---@field address integer
---@field size integer
---@field code boolean

---@class cprof.ElfFunction
---@field address integer
---@field size integer
---@field name string
---@field source string?  of a function that is not known outside of its source:
---    that, as in "lgc.c"

-- types of sections, of symbols, of segments and of notes
local symtab <const>, dynsym <const>, note <const> = 2, 11, 7
local is_function <const> = { [2] = true, [10] = true }
local is_source <const> = 4
local load <const>, build_id <const> = 1, 3

local section <const>, segment <const>, symbol <const> =
  "<I4I4I8I8I8I8I4I4I8I8", "<I4I4I8I8I8I8I8I8", "<I4BBI2I8I8"

-- most bytes of a table, and of a note, and of a name
local most <const>, most_note <const>, most_name <const> =
  1 << 27, 1 << 12, 1 << 12

-- most bytes of names in a file; each name counts for `more` bytes in addition
local most_names <const>, more <const> = 1 << 28, 64

-- bytes of the file; what is after its end is left out
local function bytes(file, at, size)
  local left = file:seek "end" - at
  if at < 0 or left <= 0 or size <= 0 or size > most then return "" end
  file:seek("set", at)
  return file:read(math.min(size, left)) or ""
end

-- the fields of the records of a table
local function records(text, format)
  local size, at = format:packsize(), 1 - format:packsize()
  return function()
    at = at + size
    if at + size - 1 <= #text then return format:unpack(text, at) end
  end
end

local function text_at(strings, at)
  return strings:sub(at + 1, at + most_name):match "^[^\0]*"
end

-- A function's name, without what compilers add when they change what it takes,
-- and without its version.
local function named(strings, at)
  return (text_at(strings, at):gsub("%.constprop%.%d+", "")
    :gsub("%.isra%.%d+", ""):gsub("%.lto_priv%.%d+", ""):gsub("@.*", ""))
end

-- Adds the functions of a table of symbols. Those that are there stay.
local function add(out, symbols, strings)
  local source
  for word, info, _, index, value, size in records(symbols, symbol) do
    if info & 15 == is_source then
      -- of the local symbols that follow
      source = text_at(strings, word)
      out.room = out.room - #source
      if out.room < 0 then return end
      source = source ~= "" and source or nil
    elseif is_function[info & 15] and value ~= 0 and not out.at[value] then
      local name = named(strings, word)
      out.room = out.room - #name - more
      if out.room < 0 then return end
      if name ~= "" then
        out.at[value] = { address = value, size = size, name = name,
          source = info >> 4 == 0 and source or nil }
        -- an address that stands for a function of another file: it is a jump
        if index ~= 0 then table.insert(out.functions, out.at[value]) end
      end
    end
  end
end

local function read_segments(out, file, at, count)
  local text = bytes(file, at, count * segment:packsize())
  for kind, flags, offset, address, _, size in records(text, segment) do
    if kind == load then
      table.insert(out.segments, { offset = offset, address = address,
        size = size, code = flags & 1 == 1 })
    end
  end
end

local function read_sections(file, at, count)
  local out = {}
  local text = bytes(file, at, count * section:packsize())
  for word, kind, _, _, offset, size, link in records(text, section) do
    out[#out + 1] = { word = word, kind = kind, offset = offset, size = size,
      link = link }
  end
  return out
end

-- the number that tells builds of a file apart, in hexadecimal; nil: none
local function build_of(file, s)
  local text = bytes(file, s.offset, math.min(s.size, most_note))
  if #text < 16 then return nil end
  local name, size, kind = ("<I4I4I4"):unpack(text)
  if name ~= 4 or kind ~= build_id or text:sub(13, 16) ~= "GNU\0" then
    return nil
  end
  return (text:sub(17, 16 + size):gsub(".", function(c)
    return ("%02x"):format(c:byte())
  end))
end

-- Adds to `out` what is missing there: segments, tables of functions, and where
-- a separate debug file may be.
local function parse(file, out)
  local header = bytes(file, 0, 64)
  if header:sub(1, 6) ~= "\127ELF\2\1" then return end
  local segments, sections = ("<i8i8"):unpack(header, 33)
  local _, count, _, many, names = ("<I2I2I2I2I2"):unpack(header, 55)
  read_segments(out, file, segments, count)
  local list, tables = read_sections(file, sections, many), {}
  local titles = list[names + 1]
  titles = titles and bytes(file, titles.offset, titles.size) or ""
  for _, s in ipairs(list) do
    local title = text_at(titles, s.word)
    if s.kind == symtab or s.kind == dynsym then
      tables[s.kind] = tables[s.kind] or s
    elseif s.kind == note then out.build = out.build or build_of(file, s)
    elseif title == ".gnu_debuglink" then
      local text = bytes(file, s.offset, math.min(s.size, most_note))
      local link = text:match "^([^\0/]+)\0"
      if link and #text >= (#link + 4) // 4 * 4 + 4 then
        out.link, out.sum = link, ("<I4"):unpack(text, (#link + 4) // 4 * 4 + 1)
      end
    end
  end
  out.whole = tables[symtab] ~= nil
  for _, kind in ipairs { symtab, dynsym } do  -- a file has one of each
    local t = tables[kind]
    local strings = t and list[t.link + 1]
    if strings then
      add(out, bytes(file, t.offset, t.size),
        bytes(file, strings.offset, strings.size))
    end
  end
end

local function sorted(out)
  table.sort(out.functions, function(a, b)
    return math.ult(a.address, b.address)
  end)
  return out
end

---What is known of a file that cannot be read.
---@param room integer?  bytes that all names may have
---@return cprof.ElfFile
function elf.none(room)
  return { segments = {}, functions = {}, at = {}, room = room or most_names }
end

-- one file; nil: it cannot be read
local function open(path, room)
  local file = files.open(path)
  if not file then return nil end
  local out = elf.none(room)
  local ok = pcall(parse, file, out)
  if not ok then out = elf.none() end
  file:close()
  return out
end

local function has_sum(path, sum)
  local file <close> = files.open(path)
  return file and gzip.sum(bytes(file, 0, most)) == sum
end

-- Adds the functions of the separate file that belongs to this build.
local function add_separate(out, root, path)
  local places = {}
  if out.build and #out.build > 2 then
    places[1] = ("/usr/lib/debug/.build-id/%s/%s.debug"):format(
      out.build:sub(1, 2), out.build:sub(3))
  end
  if out.link then
    local folder = path:match "^(.*)/" or "."
    for _, between in ipairs { "/", "/.debug/" } do
      places[#places + 1] = folder .. between .. out.link
    end
    places[#places + 1] = ("/usr/lib/debug%s/%s"):format(folder, out.link)
  end
  for _, place in ipairs(places) do
    local other = open(root .. place)
    if other and #other.functions > 0 and (out.build and
       out.build == other.build or not out.build and
       has_sum(root .. place, out.sum)) then
      for _, f in ipairs(other.functions) do
        if not out.at[f.address] then
          out.at[f.address] = f
          table.insert(out.functions, f)
        end
      end
      return
    end
  end
end

---The functions of a file, also of the separate file that it was stripped to.
---@param path string
---@param root? string  folder that has all files, such as "/proc/1/root"
---@param room? integer  bytes that all names may have: of more, the first ones
---    are read; default: 2^28
---@return cprof.ElfFile
function elf.read(path, root, room)
  local out = open((root or "") .. path, room) or elf.none()
  if not out.whole then add_separate(out, root or "", path) end
  return sorted(out)
end

---The function that has an address in it; nil: none is known.
---@param file cprof.ElfFile
---@param address integer
---@return cprof.ElfFunction?
function elf.find(file, address)
  local from, to = 1, #file.functions
  while from <= to do
    local middle = (from + to) // 2
    if math.ult(address, file.functions[middle].address) then to = middle - 1
    else from = middle + 1
    end
  end
  local f = file.functions[to]
  return f and (address == f.address or
    math.ult(address - f.address, f.size)) and f or nil
end

---The address that the linker gave to what is at this offset of the file.
---@param file cprof.ElfFile
---@param offset integer
---@return integer
function elf.linked(file, offset)
  for _, s in ipairs(file.segments) do
    if offset >= s.offset and offset < s.offset + s.size then
      return offset - s.offset + s.address
    end
  end
  return offset
end

return elf
