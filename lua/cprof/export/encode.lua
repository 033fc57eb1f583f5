-- What exports say about a profile, and how they name its functions.

local escape = require "cprof.encoding.escape"
local format = require "cprof.text.format"
local lists = require "cprof.text.lists"

local encode = {}

---The program that was profiled, on one line.
---@param p cprof.Profile
---@return string
function encode.program(p)
  return escape.utf8(format.program(p.meta))
end

---What an export says beside its figures, one string each: the recording, the
---measure, the excluded overhead, the part of a recording, and the profile's
---notes.
---@param p cprof.Profile
---@return string[]
function encode.comments(p)
  local meta = p.meta
  local out = { ("cprof %s, mode %s, %s"):format(meta.cprof_version,
    meta.mode, p.measure.unit == "instructions" and
    "counts of Lua instructions, no times" or "clock " .. meta.clock) }
  if p.recorded then
    out[2] = "figures are " .. p.measure.is ..
      (p.measure:timed() and "" or ", not times")
  elseif p.measure:timed() and meta.overhead_ns > 0 then
    out[2] = ("profiler overhead, excluded: %d ns"):format(meta.overhead_ns)
  end
  for _, line in ipairs(format.part(meta)) do
    out[#out + 1] = escape.utf8(line)
  end
  for _, note in ipairs(p.notes) do
    out[#out + 1] = escape.utf8(note.text)
  end
  return out
end

---The sources that are files, in order.
---@param p cprof.Profile
---@return string[]
function encode.files(p)
  local out = {}
  for _, source in ipairs(lists.keys(p.sources)) do
    if source:sub(1, 1) == "@" then out[#out + 1] = source end
  end
  return out
end

---Sets `label` of each row: its name, or its title if another row of the same
---file has that name.
---@param rows { func: cprof.Function, title: string }[]
---@param file fun(f: cprof.Function): string
function encode.label(rows, file)
  local first = {}
  for _, row in ipairs(rows) do
    local key = file(row.func) .. "\0" .. row.func.name
    local other = first[key]
    if other then
      other.label, row.label = other.title, row.title
    else
      first[key], row.label = row, row.func.name
    end
  end
end

return encode
