-- Names the C functions in which samples found the processor, by the symbol
-- tables of files.

local elf = require "cprof.source.elf"
local order = require "cprof.text.order"

local spots = {}

-- What a function's running time was spent in.
---@class cprof.Spent
---@field name string     of a function of C; or "kernel"
---@field ns integer
---@field source string?  the file of its source text, such as "lgc.c"; only of
---    a static function, whose name may be in several files
---@field unknown boolean?  `name` says why there is no function

-- text of the core -> the file that was read; collected if nobody uses it
local read = setmetatable({}, { __mode = "v" })

-- The ELF file for a text "ID PATH" of the core. If the file at the path is of
-- another build by now, it has no functions.
local function file_of(text)
  local file = read[text]
  if not file then
    local id, path = text:match "^(%S+) (.*)$"
    file = path and path:sub(1, 1) == "/" and elf.read(path) or elf.none()
    if (file.build or "-") ~= id then file = elf.none() end
    read[text] = file
  end
  return file
end

local special <const> = {
  ["=system"] = { name = "kernel" },
  ["=nowhere"] = { name = "unknown, in memory without a file",
    unknown = true },
  ["=more"] = { name = "unknown, as too many instructions ran to keep all",
    unknown = true },
}

-- A function's name, without what compilers add to its parts, and without the
-- marks of variants: the C library has one for each kind of processor.
local function plain(given)
  given = given:match "^[^.]+" or given
  return given:match "^__(%l+)_avx" or given:match "^__(%l+)_sse" or
    given:match "^__(%l+)_evex" or given:match "^__libc_(%l+)$" or given
end

---Describes the function at an address of a file, without the time spent in it.
---@param text string     as the core has it; or a key of `files`
---@param address integer
---@param files table<string, cprof.ElfFile>  those in use, by text
---@return cprof.Spent
function spots.find(text, address, files)
  if special[text] then return special[text] end
  files[text] = files[text] or file_of(text)
  local f = elf.find(files[text], address)
  if f then return { name = plain(f.name), source = f.source } end
  return { name = ("unknown, in %s, which has no symbol for it"):format(
    text:match "[^/ ]*$"), unknown = true }
end

---The files whose symbols are known. While somebody keeps this list, they are
---not read again.
---@return cprof.ElfFile[]
function spots.files()
  local out = {}
  for _, file in pairs(read) do out[#out + 1] = file end
  return out
end

---Adds lists of what time was spent in; either may be nil.
---@param a cprof.Spent[]?
---@param b cprof.Spent[]?
---@return cprof.Spent[]?
function spots.add(a, b)
  if not (a and b) then return a or b end
  local by, out = {}, {}
  for _, list in ipairs { a, b } do
    for _, spent in ipairs(list) do
      local key = spent.name .. "\0" .. (spent.source or "")
      local sum = by[key]
      if not sum then
        sum = { name = spent.name, ns = 0, source = spent.source,
          unknown = spent.unknown }
        by[key], out[#out + 1] = sum, sum
      end
      sum.ns = sum.ns + spent.ns
    end
  end
  table.sort(out, order("-ns", "name", function(s) return s.source or "" end))
  return out
end

---What the running time of a function was spent in; nil: that is not known.
---@param f cprof.Function
---@return cprof.Spent[]?
function spots.of(f)
  if f.spent or not f.spots then return f.spent end
  local list, files = {}, {}
  for i = 1, #f.spots, 3 do
    local text, address, ns = table.unpack(f.spots, i, i + 2)
    local found = spots.find(text, address, files)
    list[#list + 1] = { name = found.name, source = found.source,
      unknown = found.unknown, ns = ns }
  end
  f.spent, f.spots = spots.add(list, {}), nil
  return f.spent
end

---Sets what each function of a sum of profiles has spent its time in.
---@param profiles cprof.Profile[]
---@param maps integer[][]  by function of each: its index in `functions`
---@param functions table[]
function spots.sum(profiles, maps, functions)
  for _, f in ipairs(functions) do f.spots, f.spent = false, false end
  for i, p in ipairs(profiles) do
    for id, f in ipairs(p.functions) do
      local to = functions[maps[i][id]]
      to.spent = spots.add(to.spent or nil, spots.of(f)) or false
    end
  end
end

-- a name without the characters that separate fields and lines in `spots.text`
local function field(s) return (s:gsub("[\t\n]", " ")) end

---The lists of all functions as a text, for a file; nil: there are none.
---@param functions cprof.Function[]
---@return string?
function spots.text(functions)
  local out = {}
  for i, f in ipairs(functions) do
    for _, spent in ipairs(spots.of(f) or {}) do
      out[#out + 1] = ("%d\t%d\t%s\t%s\n"):format(i, spent.ns,
        spent.unknown and "?" or field(spent.source or "-"),
        field(spent.name))
    end
  end
  return out[1] and table.concat(out) or nil
end

---Gives functions the lists that `spots.text` has written.
---@param raw table[]
---@param text string?
function spots.know(raw, text)
  local by_id = {}
  for _, f in ipairs(raw) do by_id[f.key + 1] = f end
  for line in (text or ""):gmatch "[^\n]+" do
    local id, ns, source, given = line:match "^(%d+)\t(%d+)\t([^\t]+)\t(.+)$"
    local f = by_id[math.tointeger(tonumber(id))]
    ns = math.tointeger(tonumber(ns))
    if f and ns then
      f.spots, f.spent = nil, f.spent or {}
      table.insert(f.spent, { name = given, ns = ns,
        unknown = source == "?" or nil,
        source = source ~= "?" and source ~= "-" and source or nil })
    end
  end
end

return spots
