-- What the page knows of a profile: a header as JSON, and trees as bytes.
--
-- The header's lists are columns, and functions, sources and trees are known
-- by their place in these, from 0. All figures of time are ns, or whatever
-- `unit` says. Where there are samples and these are not joined with calls,
-- they stand in their place.

local bound = require "cprof.bound"
local changes = require "cprof.html.changes"
local coverage = require "cprof.coverage"
local encode = require "cprof.export.encode"
local framed = require "cprof.html.framed"
local header = require "cprof.report.header"
local in_c = require "cprof.annotate.in_c"
local lines = require "cprof.lines"
local memory = require "cprof.html.memory"
local name = require "cprof.name"
local pack = require "cprof.html.pack"
local sampled = require "cprof.sampled"
local select_rows = require "cprof.report.select"
local sources = require "cprof.annotate.source"
local text = require "cprof.text"
local traced = require "cprof.html.traced"

local data = {}

local utf = encode.utf8

---What the head of a report warns of, in its words.
---@param p cprof.Profile
---@return string[]
function data.notes(p)
  local out = {}
  local function note(_, s, ...)
    out[#out + 1] = utf(select("#", ...) > 0 and s:format(...) or s)
  end
  local function nothing() end
  header.show { profile = p,
    page = { title = nothing, line = nothing, note = note } }
  return out
end

local shown = { "mode", "clock", "wall_ns", "paused_ns", "overhead_ns",
  "started_at", "runs", "lua_version", "cprof_version", "instructions" }

---@param p cprof.Profile
---@return table
function data.meta(p)
  local out = { program = encode.program(p) }
  for _, key in ipairs(shown) do out[key] = p.meta[key] end
  return out
end

---How many samples, and what they can tell.
---@param p cprof.Profile
---@return table?
function data.samples(p)
  local n = p.time_samples
  return n and { n = n, rate = header.rate(p), asked = p.meta.rate,
    least = sampled.least(n), told = header.certainty(p),
    joined = not p.samples or nil }
end

-- Characters that turn the direction of what follows are seen as codes: a
-- name must not change how others are read.
local turning = { "\xE2\x80[\x8E\x8F\xAA-\xAE]", "\xE2\x81[\xA6-\xA9]" }

-- a name on one line, in which all is seen
local function plain(s)
  s = encode.line(s)
  for _, characters in ipairs(turning) do
    s = s:gsub(characters, function(c)
      return ("\\u{%X}"):format(utf8.codepoint(c))
    end)
  end
  return s
end

---The fields of a function in the page, in order.
data.fields = { "title", "name", "place", "kind", "source", "line", "last",
  "calls", "self", "total", "depth", "samples" }

---A function's fields.
---@param row cprof.Row
---@param source_of table<string, integer>  numbers of sources
---@return any[]
function data.row(row, source_of)
  local f = row.func
  return { plain(row.title), plain(f.name), plain(f.place or ""), f.kind,
    source_of[f.source] or -1, encode.first(f), f.last_line,
    row.calls or row.self_samples, row.self_ns, row.total_ns, row.max_depth,
    row.total_samples }
end

-- rows as columns; `source_of` gives the number of a source
local function columns_of(rows, source_of)
  local out = { most = {} }
  for _, field in ipairs(data.fields) do out[field] = {} end
  for i, row in ipairs(rows) do
    local values = data.row(row, source_of)
    for k, field in ipairs(data.fields) do out[field][i] = values[k] end
    -- what is only known to be less than a figure
    if row.self_bounded or row.total_bounded then
      out.most[#out.most + 1] = { i - 1, row.self_bounded and row.self_most or
        -1, row.total_bounded and row.total_most or -1 }
    end
  end
  return out
end

-- by line: its number, hits, self, calls, total, what C functions called
-- there took; times that are only known to be less than a figure; what
-- `allocated` gives
local function figures_of(p, key, list, allocated, c)
  local counts = p.meta.mode == "count"
  local out = { n = {}, hits = {}, self = {}, calls = {}, total = {},
    inC = {}, most = {} }
  for what in pairs(allocated) do out[what] = {} end
  for number, line in ipairs(list) do
    if line.hits > 0 or line.self_ns > 0 or line.calls > 0 or
       line.total_ns > 0 or line.bytes > 0 then
      local i = #out.n + 1
      out.n[i], out.hits[i], out.self[i] = number, line.hits, line.self_ns
      out.calls[i], out.total[i] = line.calls, line.total_ns
      out.inC[i] = c[number] or 0
      for what, of in pairs(allocated) do
        out[what][i] = of(key, number, line)
      end
      local most, bounded = bound.of(line.self_ns, line.self_raw_ns)
      if bounded and not counts then
        out.most[#out.most + 1] = { i - 1, most }
      end
    end
  end
  return out
end

local function active_of(list)
  local out = {}
  for i, line in ipairs(list) do out[i] = line.active and "1" or "0" end
  return table.concat(out)
end

local function branches_of(list)
  local out = {}
  for i, b in ipairs(list) do
    local x, y = b.ways[1], b.ways[2]
    out[i] = { b.line, b.column, b.kind, x.name, x.count, y.name, y.count }
  end
  return out
end

-- Columns are bytes in a profile. In the page they are units of UTF-16.
local function unit(line, column)
  local before = line and line:sub(1, column - 1)
  if not before or not before:find "[\x80-\xFF]" then return column end
  local units = 1
  for _, code in utf8.codes(utf(before)) do
    units = units + (code > 0xFFFF and 2 or 1)
  end
  return units
end

local function expressions_of(list, content)
  local out = {}
  for _, e in ipairs(list) do
    local n = #out
    out[n + 1], out[n + 2] = e.line, unit(content[e.line], e.column)
    out[n + 3] = e.last_line
    out[n + 4] = unit(content[e.last_line], e.last_column)
    out[n + 5] = e.count
  end
  return out
end

---A source without its figures.
---@param p cprof.Profile
---@param key string  as the profile names it
---@param list cprof.Line[]
---@return table
function data.source(p, key, list)
  local content, note = sources.text(p, key)
  local out = { place = plain(name.place(key, p.meta.folder)),
    active = active_of(list),
    note = note and utf(note), text = {} }
  for i, line in ipairs(content) do out.text[i] = utf(line) end
  return out
end

---What is known of the parts of a source's lines is added.
---@param p cprof.Profile
---@param key string
---@param out table
function data.parts(p, key, out)
  local covered = coverage.of(p, key)
  if covered and covered.expressions then
    out.expressions = expressions_of(covered.expressions,
      (sources.text(p, key)))
    out.branches = covered.branches and branches_of(covered.branches)
  elseif covered then
    out.unmapped = covered.note
  end
end

local function source_of(p, key, list, allocated, c)
  local out = data.source(p, key, list)
  out.lines = figures_of(p, key, list, allocated, c)
  data.parts(p, key, out)
  return out
end

local function sources_of(p)
  local keys, out, number = {}, {}, {}
  if not lines.recorded(p) then return out, number end
  local all, allocated, c = p.lines_of(), memory.lines(p), in_c.times(p)
  for key in pairs(all) do keys[#keys + 1] = key end
  table.sort(keys)
  for i, key in ipairs(keys) do
    out[i], number[key] = source_of(p, key, all[key], allocated,
      c[key] or {}), i - 1
  end
  text.forget()
  return out, number
end

---What units figures are in.
---@param p cprof.Profile
---@return "ns"|"instructions"
function data.unit(p)
  return p.meta.mode == "count" and "instructions" or "ns"
end

-- by function of a profile, the number of its row
local function numbers(p, rows, more)
  local of, out = {}, {}
  for i, row in ipairs(rows) do of[row.title] = i - 1 end
  for i, f in ipairs(p.functions) do
    -- the profiler itself is in no tree
    out[i] = i == p.overhead and -1 or of[f.title] or more(f)
  end
  return out
end

-- a row for what a tree has and rows do not: nodes that are added up
local function appended(rows, known)
  return function(f)
    if not known[f.title] then
      rows[#rows + 1] = { title = f.title, func = f, calls = 0, self_ns = 0,
        total_ns = 0, max_depth = 0 }
      known[f.title] = #rows - 1
    end
    return known[f.title]
  end
end

-- The row of a function of a trace, by title. A trace has a function's first
-- name, the profile its best: so the place counts where only one is there.
local function finder(rows, more)
  local by_title, by_place = {}, {}
  for i, row in ipairs(rows) do
    local title = plain(row.title)
    local place = title:match " (%(.+:%d+%))$"
    by_title[title] = i - 1
    if place then by_place[place] = not by_place[place] and i - 1 or -1 end
  end
  return function(title)
    local n = by_title[title] or by_place[title:match " (%(.+:%d+%))$"]
    if not n or n < 0 then
      n = more { title = title, name = title:gsub(" %b()$", ""), kind = "Lua",
        source = "", line = 0, last_line = 0 }
    end
    by_title[title] = n
    return n
  end
end

-- the calls of a trace; functions that the profile does not know get rows
local function trace_of(p, rows, more, trees)
  if not p.trace then return nil end
  local find = finder(rows, more)
  return traced.of(p.trace, find "(root)", find, trees)
end

---The header and the trees of a page.
---@param p cprof.Profile         what is shown: small nodes may be added up
---@param whole cprof.Profile     as it was recorded
---@param before? cprof.Profile   what it is compared with
---@return table header, { n: integer, columns: string[] }[] trees
function data.of(p, whole, before)
  -- of a part of the tree, the figures are those of the part
  local from = p.program_ns == whole.program_ns and whole or p
  local rows = select_rows.functions(from)
  local listed, number = sources_of(whole)
  local more = appended(rows, {})
  local index = numbers(p, rows, more)
  local notes = data.notes(whole)
  for _, note in ipairs(p.notes or {}) do notes[#notes + 1] = utf(note.text) end
  local trees = { pack.tree(p.nodes, index, whole.samples ~= nil,
    memory.measures(whole)) }
  local out = {
    version = 1, unit = data.unit(whole), meta = data.meta(whole),
    notes = notes, whole = p.program_ns, sources = listed,
    samples = data.samples(whole), memory = memory.of(whole),
    collector = memory.collector(whole), heap = memory.heap(whole),
    frames = whole.frames and
      framed.of(whole, numbers(whole, rows, more), trees),
  }
  out.trace = trace_of(whole, rows, more, trees)
  out.before = before and changes.of(before, whole, rows, trees)
  out.functions = columns_of(rows, number)
  out.functions.memory = memory.functions(from, rows)
  return out, trees
end

return data
