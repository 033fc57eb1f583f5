-- What exports say of a profile, and how they name its functions.

local escape = require "cprof.encoding.escape"
local format = require "cprof.text.format"
local measured = require "cprof.count.measured"

local encode = {}

---The program that was profiled, on one line.
---@param p cprof.Profile
---@return string
function encode.program(p)
  return escape.utf8(format.program(p.meta))
end

---Are there instructions in the place of times?
---@param p cprof.Profile
---@return boolean
function encode.counts(p)
  return p.meta.mode == "count" and not p.meta.measure
end

---What figures are, in words.
---@param p cprof.Profile
---@return string
function encode.figures(p)
  local measure = measured.of(p.meta)
  return measure and measure.is or
    (p.meta.mode == "count" and "instructions" or "time")
end

---What there is to say of an export, beside its figures.
---@param p cprof.Profile
---@return string[]
function encode.comments(p)
  local meta = p.meta
  local out = { ("cprof %s, mode %s, %s"):format(meta.cprof_version,
    meta.mode, encode.counts(p) and "counts of Lua instructions, no times" or
    "clock " .. meta.clock) }
  local measure = measured.of(meta)
  if measure then
    out[2] = (measure.unit == "ns" and "of that, " or "not times, but ") ..
      measure.is
  elseif not encode.counts(p) and meta.overhead_ns > 0 then
    out[2] = ("profiler overhead, excluded: %d ns"):format(meta.overhead_ns)
  end
  for _, note in ipairs(p.notes) do
    out[#out + 1] = escape.utf8(note.text)
  end
  return out
end

---Names that are given once in a file; titles where they are not. They
---become field `label` of the rows.
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
