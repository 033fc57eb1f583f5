-- Names in other people's formats. What a format cannot hold becomes what
-- it is in a Lua string: a backslash and three digits.

local format = require "cprof.text.format"
local name = require "cprof.source.name"

local encode = {}

-- no methods: traces come from within the hook, where strings may have none
local byte, gsub, sub = string.byte, string.gsub, string.sub
local formatted = string.format

local function code(c) return formatted("\\%03d", byte(c)) end

---Valid UTF-8: bytes that are none of it become \ddd.
---@param s string
---@return string
function encode.utf8(s)
  if utf8.len(s) then return s end
  local out, from = {}, 1
  while from <= #s do
    local n, bad = utf8.len(s, from)
    if n then break end
    out[#out + 1] = sub(s, from, bad - 1) .. code(sub(s, bad, bad))
    from = bad + 1
  end
  return table.concat(out) .. sub(s, from)
end

---Something that stands on one line: control characters become \ddd, too.
---It is never empty and never begins with a space.
---@param s string
---@param also? string  a pattern: other characters that have a meaning
---@return string
function encode.line(s, also)
  if s == "" then return '""' end
  s = gsub(gsub(encode.utf8(s), "%c", code), "^ ", code)
  return also and (gsub(s, also, code)) or s
end

---The file that a function stands in, as it was given when it was loaded;
---nil when it stands in none.
---@param f cprof.Function
---@return string?
function encode.file(f)
  if f.kind ~= "Lua" and f.kind ~= "main" then return nil end
  return f.source:match "^@(.+)$" or name.place(f.source)
end

---The line that a function begins in; 0 when it has none.
---@param f cprof.Function
---@return integer
function encode.first(f)
  return f.kind == "main" and 1 or math.max(f.line, 0)
end

---The program that was profiled, on one line.
---@param p cprof.Profile
---@return string
function encode.program(p)
  return encode.utf8(format.plain(p.meta.program or "(embedded)"))
end

local measures = { bytes = "bytes allocated", allocs = "allocations",
                   live = "bytes in use" }

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
  return measures[p.meta.measure] or
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
  if meta.measure then
    out[2] = "not times, but " .. measures[meta.measure]
  elseif not encode.counts(p) and meta.overhead_ns > 0 then
    out[2] = ("profiler overhead, excluded: %d ns"):format(meta.overhead_ns)
  end
  for _, note in ipairs(p.notes) do
    out[#out + 1] = encode.utf8(note.text)
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
