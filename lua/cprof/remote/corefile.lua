-- Core files: the memory of a program as it was, and its threads.

local core = require "cprof.core"
local files = require "cprof.system.files"
local started = require "cprof.remote.started"

local corefile = {}

---@class cprof.CoreFile
---@field memory userdata
---@field mappings cprof.Mapping[]  what there was in memory
---@field files cprof.Mapping[]     which files were mapped where
---@field threads { id: integer, stack: integer, registers: string }[]
---@field pid integer
---@field command string
---@field folder string?  in which it was started, as its environment says

local load <const>, note <const> = 1, 4
local prstatus <const>, prpsinfo <const>, vector <const> = 1, 3, 6
local mapped <const> = 0x46494c45
local core_type <const> = 4

-- where the registers are in the status of a thread; how many there are, and
-- which is the stack pointer, by machine
local registers <const> = 112
local count_of_registers <const> = { [62] = 27, [183] = 34 }
local stack_at <const> = { [62] = registers + 19 * 8,
  [183] = registers + 31 * 8 }

local segment <const> = "<I4I4I8I8I8I8I8I8"

-- most bytes of a file's notes, and most of its segments
local most_notes <const>, most_segments <const> = 1 << 26, 1 << 20

-- what a note says, by its type
local readers = {
  [prstatus] = function(out, desc)
    table.insert(out.threads, { id = (("<i4"):unpack(desc, 33)),
      stack = (("<i8"):unpack(desc, stack_at[out.machine] + 1)),
      registers = desc:sub(registers + 1,
        registers + 8 * count_of_registers[out.machine]) })
  end,
  [prpsinfo] = function(out, desc)
    out.pid = ("<i4"):unpack(desc, 25)
    out.command = ("z"):unpack(desc:sub(57, 136) .. "\0"):match "^(.-) *$"
  end,
  [vector] = function(out, desc) out.vector = desc end,
  [mapped] = function(out, desc)
    local count, page = ("<i8i8"):unpack(desc)
    local text = 17 + count * 24
    for i = 0, count - 1 do
      local from, to, offset = ("<i8i8i8"):unpack(desc, 17 + i * 24)
      local path
      path, text = ("z"):unpack(desc, text)
      table.insert(out.files, { from = from, to = to, how = "r--p",
        offset = offset * page, path = path })
    end
  end,
}

local function read_notes(out, notes)
  local at = 1
  while at + 12 <= #notes do
    local name, size, kind = ("<I4I4I4"):unpack(notes, at)
    at = at + 12 + (name + 3) // 4 * 4
    if readers[kind] then readers[kind](out, notes:sub(at, at + size - 1)) end
    at = at + (size + 3) // 4 * 4
  end
end

-- the number of segments, also where there are very many
local function count_of(file, header)
  local count = ("<I2"):unpack(header, 57)
  if count < 0xffff then return count end
  file:seek("set", (("<i8"):unpack(header, 41)))
  return (("<I4"):unpack(file:read(64), 45))
end

local function parse(file, out)
  local header = file:read(64)
  if header:sub(1, 6) ~= "\127ELF\2\1" or
     ("<I2"):unpack(header, 17) ~= core_type then
    error "not a core file of a 64-bit program"
  end
  out.machine = ("<I2"):unpack(header, 19)
  if not stack_at[out.machine] then error "a core file of another machine" end
  local length = file:seek "end"
  local left = length  -- of the file, for segments: they do not overlap
  local count, segments = count_of(file, header), {}
  if count > most_segments then error "damaged" end
  file:seek("set", (("<i8"):unpack(header, 33)))
  local table_ = file:read(count * segment:packsize())
  for i = 0, count - 1 do
    local kind, flags, offset, address, _, size =
      segment:unpack(table_, i * segment:packsize() + 1)
    if kind == load and offset >= 0 and size > 0 then
      -- a file may have been cut off, for example by ulimit
      size = math.max(0, math.min(size, length - offset))
      left = left - size
      if left < 0 then error "damaged" end
      table.insert(out.mappings, { from = address, to = address + size,
        how = flags & 6 == 6 and "rw-p" or "r--p", offset = 0, path = "" })
      for _, n in ipairs { address, address + size, offset } do
        segments[#segments + 1] = n
      end
    elseif kind == note and size <= most_notes then
      file:seek("set", offset)
      read_notes(out, file:read(size))
    end
  end
  return segments
end

-- Is the file that which was mapped here? Its first page, which has the number
-- of its build, is in most core files.
local function is_build(path, core_path, segments, m)
  local at
  for i = 1, #segments, 3 do
    if segments[i] <= m.from and m.from + 4096 <= segments[i + 1] then
      at = segments[i + 2] + m.from - segments[i]
    end
  end
  if not at then return true end
  local file <close> = files.open(path)
  local dumped <close> = files.open(core_path)
  if not file or not dumped or not dumped:seek("set", at) then return false end
  return file:read(4096) == dumped:read(4096)
end

-- What a core file leaves out, as programs' files have it: three numbers for
-- each part of a file, and its path. Of another build, a file is not read; nor
-- is one whose beginning was not mapped, which does not tell.
local function mapped_files(core_path, out, segments, exe)
  local parts, paths, known = {}, {}, {}
  local program = out.files[1] and out.files[1].path
  for _, m in ipairs(out.files) do
    local path = m.path == program and exe or m.path
    if m.offset == 0 and known[m.path] == nil then
      known[m.path] = is_build(path, core_path, segments, m)
    end
  end
  for _, m in ipairs(out.files) do
    local path = m.path == program and exe or m.path
    m.other = not known[m.path]
    if known[m.path] then
      for _, n in ipairs { m.from, m.to, m.offset } do
        parts[#parts + 1] = n
      end
      paths[#paths + 1] = path
    end
  end
  return parts, paths
end

---Opens a core file.
---@param path string
---@param exe string?  the program; default: the file where it was
---@return cprof.CoreFile?
---@return string? why
function corefile.open(path, exe)
  if not core.remote_core then
    return nil, "core files can be read only on Linux, x86-64 and aarch64"
  end
  if core.special(path) then return nil, path .. ": not a regular file" end
  local file, why = io.open(path, "rb")
  if not file then return nil, why end
  local out = { mappings = {}, files = {}, threads = {}, pid = 0,
    command = "?" }
  local ok, segments = pcall(parse, file, out)
  -- the system keeps only the first bytes of the command, and gdb less
  local known, command, folder = pcall(started.of, file, ok and segments or {},
    out.vector or "")
  file:close()
  if known then
    out.command, out.folder = command or out.command, folder
  end
  if not ok then
    local what = tostring(segments):match "(not a core file .*)$" or
      tostring(segments):match "(a core file of another machine)$"
    return nil, ("%s: %s"):format(path, what or "damaged")
  end
  out.memory, why = core.remote_core(path, segments,
    mapped_files(path, out, segments, exe))
  if not out.memory then return nil, ("%s: %s"):format(path, why) end
  return out
end

return corefile
