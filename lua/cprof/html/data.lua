-- What the page gets of a profile: a header as JSON, and trees as bytes.
--
-- The header's lists are columns, and functions, sources and trees are known by
-- their place in these, from 0. All figures of time are ns, or in the unit
-- `unit`. Samples take the place of calls, unless both are known.

local bound = require "cprof.count.bound"
local changes = require "cprof.html.changes"
local coverage = require "cprof.coverage"
local editor = require "cprof.html.editor"
local escape = require "cprof.encoding.escape"
local files = require "cprof.html.covered"
local format = require "cprof.text.format"
local framed = require "cprof.html.framed"
local graph = require "cprof.count.graph"
local header = require "cprof.report.header"
local in_c = require "cprof.annotate.in_c"
local lines = require "cprof.count.lines"
local memory = require "cprof.html.memory"
local moments = require "cprof.html.moments"
local name = require "cprof.source.name"
local nodes_of = require "cprof.profile.nodes"
local order = require "cprof.text.order"
local pack = require "cprof.html.pack"
local sampled = require "cprof.count.sampled"
local sources = require "cprof.annotate.source"
local text = require "cprof.source.text"
local sorted = require "cprof.text.lists"
local spent = require "cprof.html.spent"
local tasked = require "cprof.html.tasked"
local timed = require "cprof.html.timed"
local traced = require "cprof.html.traced"

local data = {}

local utf = escape.utf8

---What the head of a report warns of, in its words.
---@param p cprof.Profile
---@return string[]
function data.notes(p)
  local out = {}
  local function note(_, s, ...)
    out[#out + 1] = utf(select("#", ...) > 0 and s:format(...) or s)
  end
  local function nothing() end
  for _, line in ipairs(format.part(p.meta)) do note(nil, line) end
  header.show { profile = p,
    page = { title = nothing, line = nothing, note = note,
      width = math.huge, clicked = true } }
  return out
end

local shown = { "mode", "clock", "wall_ns", "paused_ns", "overhead_ns",
  "waiting_ns", "preempted_ns", "labels",
  "started_at", "runs", "lua_version", "cprof_version", "instructions" }

---@param p cprof.Profile
---@return table
function data.meta(p)
  local out = { program = escape.utf8(format.program(p.meta)) }
  for _, key in ipairs(shown) do out[key] = p.meta[key] end
  return out
end

---How many samples, and what they can tell.
---@param p cprof.Profile
---@return table?
function data.samples(p)
  local n = p.time_samples
  return n and { n = n, sure = p.measure.samples,
    rate = header.rate(p), asked = p.meta.rate,
    least = sampled.least(p.measure.samples), told = header.certainty(p),
    joined = not p.samples or nil }
end

-- Characters that turn the direction of what follows are shown as codes: a name
-- must not change how others are read.
local turning = { "\xE2\x80[\x8E\x8F\xAA-\xAE]", "\xE2\x81[\xA6-\xA9]" }

---A name on one line, in which no character is invisible.
---@param s string
---@return string
function data.plain(s)
  s = escape.line(s)
  for _, characters in ipairs(turning) do
    s = s:gsub(characters, function(c)
      return ("\\u{%X}"):format(utf8.codepoint(c))
    end)
  end
  return s
end

local plain <const> = data.plain

---The fields of a function in the page, in order; the last are the overhead
---that was taken out of `self` and of `total`.
data.fields = { "title", "name", "place", "kind", "source", "line", "last",
  "calls", "self", "total", "depth", "samples", "cost", "totalCost" }

-- the overhead that a figure had
local function cost(n, raw) return math.max(raw - n, 0) end

---A function's fields.
---@param row cprof.Row
---@param source_of table<string, integer>  numbers of sources
---@return any[]
function data.row(row, source_of)
  local f = row.func
  return { plain(row.title), plain(f.name), f.place and plain(f.place) or "",
    name.module(f) and "native" or f.kind, source_of[f.source] or -1,
    name.first_line(f), f.last_line,
    row.count, row.self, row.total, row.max_depth, row.total_count or 0,
    cost(row.self, row.self_raw), cost(row.total, row.total_raw) }
end

-- rows as columns; `source_of` gives the number of a source
local function columns_of(rows, source_of)
  local out = {}
  for _, field in ipairs(data.fields) do out[field] = {} end
  for i, row in ipairs(rows) do
    local values = data.row(row, source_of)
    for k, field in ipairs(data.fields) do out[field][i] = values[k] end
  end
  return out
end

---The fields of a line of a function, in order; the last is overhead in
---`total`, the one before that in `self`.
data.line_fields = { "hits", "self", "calls", "total", "inC", "cost",
  "totalCost" }

---@param line cprof.Line
---@param c integer?  what C functions took that it called
---@return integer[]
function data.line(line, c)
  return { line.hits, line.self, line.calls, line.total, math.max(c or 0, 0),
    cost(line.self, line.self_raw), cost(line.total, line.total_raw) }
end

---Does a line have any figures?
---@param line cprof.Line
---@return boolean
function data.has_figures(line)
  return line.hits > 0 or line.self > 0 or line.calls > 0 or
    line.total > 0 or line.bytes > 0
end

---The functions of each source: the key under which `lines` has the figures of
---a function's lines, and the function's number in the page.
---@param p cprof.Profile
---@param number table<string, integer>  title -> number
---@return table<string, { key: string, number: integer }[]>
function data.rows_of(p, number)
  local out, seen = {}, {}
  for _, f in ipairs(p.functions) do
    local key = lines.row(f)
    if not seen[key] and number[f.title] then
      seen[key], out[f.source] = true, out[f.source] or {}
      table.insert(out[f.source], { key = key, number = number[f.title] })
    end
  end
  return out
end

-- the figures of a source's lines, as columns: line, row, figures, and what
-- `others` returns for other measures
local function figures_of(rows, by_row, others, c)
  local list, out = {}, { n = {}, f = {} }
  for _, row in ipairs(rows) do
    for n, line in pairs(by_row[row.key] or {}) do
      if data.has_figures(line) then
        list[#list + 1] = { n = n, row = row, line = line }
      end
    end
  end
  table.sort(list, order("n", "row.number"))
  for _, field in ipairs(data.line_fields) do out[field] = {} end
  for what in pairs(others) do out[what] = {} end
  for i, e in ipairs(list) do
    local key = e.row.key
    out.n[i], out.f[i] = e.n, e.row.number
    for k, value in ipairs(data.line(e.line, (c[key] or {})[e.n])) do
      out[data.line_fields[k]][i] = value
    end
    for what, of in pairs(others) do out[what][i] = of(key, e.n, e.line) end
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

-- Maps bytes of a line to columns of the page, which are units of UTF-16, from
-- 1: the first byte of each character, and the line's end. nil: bytes are
-- columns.
local function units_of(line)
  if not line:find "[\x80-\xFF]" then return nil end
  local out, unit, from = {}, 1, 1
  repeat
    -- bytes that are not UTF-8 are shown as codes
    local _, bad = utf8.len(line, from)
    for at, c in line:gmatch("()(" .. utf8.charpattern .. ")", from) do
      if bad and at >= bad then break end
      out[at] = unit
      unit = unit + (utf8.codepoint(c) > 0xFFFF and 2 or 1)
    end
    if bad then
      out[bad] = unit
      unit, from = unit + #utf(line:sub(bad, bad)), bad + 1
    end
  until not bad or from > #line
  out[#line + 1] = unit
  return out
end

-- Columns are bytes in a profile. In the page they are units of UTF-16.
local function expressions_of(list, content)
  local out, units = {}, {}
  local function unit(line, column)
    if units[line] == nil then
      units[line] = content[line] and units_of(content[line]) or false
    end
    return units[line] and units[line][column] or column
  end
  for _, e in ipairs(list) do
    local n = #out
    out[n + 1], out[n + 2] = e.line, unit(e.line, e.column)
    out[n + 3], out[n + 4] = e.last_line, unit(e.last_line, e.last_column)
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

---Adds what is known of the parts of a source's lines.
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

local function sources_of(p, rows)
  local out, number, titles = {}, {}, {}
  if not lines.recorded(p) then return out, number end
  for i, row in ipairs(rows) do titles[row.title] = i - 1 end
  local all, others = p.lines_of(), memory.lines(p, memory.measures(p))
  local of, by_row = data.rows_of(p, titles), p.lines_by_row()
  local c = in_c.times(p, lines.row)
  for i, key in ipairs(sorted.keys(all)) do
    out[i], number[key] = data.source(p, key, all[key]), i - 1
    out[i].lines = figures_of(of[key] or {}, by_row, others, c)
    data.parts(p, key, out[i])
  end
  text.forget()
  return out, number
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

-- Returns a function that appends a row for a function of the tree, unless it
-- has one. Only the function that stands for nodes that were added up has none.
local function appended(rows, known)
  return function(f)
    if not known[f.title] then
      rows[#rows + 1] = graph.empty(f)
      known[f.title] = #rows - 1
    end
    return known[f.title]
  end
end

-- Finds the row of a function of a trace, by its title. The trace may have an
-- earlier name of the function. Then the place decides, if only one row has it.
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
  local trace = p.trace or traced.recorded(p)
  if not trace then return nil end
  local find = finder(rows, more)
  return traced.of(trace, find "(root)", find, trees)
end

---The header and the trees of a page.
---@param p cprof.Profile         what is shown: small nodes may be added up
---@param whole cprof.Profile     as it was recorded
---@param before? cprof.Profile   what it is compared with
---@return table header, { n: integer, columns: string[] }[] trees
function data.of(p, whole, before)
  -- if only a part of the tree is shown, its figures, not the whole's
  local from = p.measure.whole == whole.measure.whole and whole or p
  local rows = graph.functions(from)
  -- before rows of other nodes are added
  local measured = table.move(rows, 1, #rows, 1, {})
  local listed, number = sources_of(whole, rows)
  local more = appended(rows, {})
  local index = numbers(p, rows, more)
  local notes = data.notes(whole)
  for _, note in ipairs(p.notes or {}) do notes[#notes + 1] = utf(note.text) end
  local measures, names = memory.measures(whole), {}
  for i, row in ipairs(measures) do names[i] = row.name end
  local trees = { pack.tree(p.nodes, index, whole.samples ~= nil, measures) }
  local out = {
    version = 1, unit = whole.measure.unit, meta = data.meta(whole),
    notes = notes, whole = p.measure.whole, most = bound.most(whole),
    sources = listed,
    samples = data.samples(whole), memory = memory.of(whole),
    measures = names, words = memory.words(measures),
    taken = memory.taken(whole, measures),
    collector = memory.collector(whole), heap = memory.heap(whole),
    coverage = files.of(whole, number),
    frames = whole.frames and
      framed.of(whole, numbers(whole, rows, more), trees),
  }
  if whole.meta.distribution or whole.tasks then
    local all = numbers(whole, rows, more)
    local nodes = nodes_of(p, whole, index, all)
    out.timed = timed.of(measured, whole, nodes)
    out.tasks = tasked.of(whole, all, nodes, plain)
  end
  out.spent = spent.of(measured, whole, plain)
  out.trace = trace_of(whole, rows, more, trees)
  out.axis = moments.of(p, whole, index, numbers(whole, rows, more), trees)
  out.before = before and changes.of(before, whole, rows, trees)
  out.editor = whole.editor and
    editor.of(whole.editor, rows, whole.meta.folder, plain)
  out.functions = columns_of(rows, number)
  out.functions.memory = memory.functions(from, rows)
  return out, trees
end

return data
