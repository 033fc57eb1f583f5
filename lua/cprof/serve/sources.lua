-- The sources of a profile as pages know them, and since when: what changed
-- of them from one load to the next.

local data = require "cprof.html.data"
local in_c = require "cprof.annotate.in_c"
local json = require "cprof.encoding.json"
local lines = require "cprof.count.lines"
local text = require "cprof.source.text"

local sources = {}

---@class cprof.ServedSource
---@field about table     all but figures and parts of lines
---@field about_at integer  the version that has it as it is
---@field parts table     parts of lines, branches
---@field parts_at integer
---@field lines table<integer, table<integer, integer[]>>  by number of the
---    row and line: what data.line gives, and the version
---@field private seen string[]

---@class cprof.ServedSources
---@field list cprof.ServedSource[]
---@field number table<string, integer>  by the profile's name, from 0
local Sources = {}
Sources.__index = Sources

---@return cprof.ServedSources
function sources.new()
  return setmetatable({ list = {}, number = {} }, Sources)
end

-- what tells whether a source is as it was
local function seen_of(source)
  return { source.active, source.text or false, source.changed,
    source.mixed }
end

local function same(a, b, except)
  for i = 1, #a do
    if a[i] ~= b[i] and not (except and except[i]) then return false end
  end
  return true
end

-- what pages are told, and where the version is
local told <const> = #data.line_fields
local at_version <const> = told + 1

-- estimates, which may differ though nothing happened
local estimates = {}
for i, field in ipairs(data.line_fields) do
  estimates[i] = field ~= "hits" and field ~= "calls"
end

-- Are any figures of the lines of a row others than before?
local function add_lines(to, list, c, version, exact)
  local changed = false
  for n, line in pairs(list) do
    local old = to[n]
    local now = (old or data.any(line)) and data.line(line, c[n])
    if now and not (old and same(now, old, not exact and estimates)) then
      now[at_version], to[n], changed = version, now, true
    end
  end
  return changed
end

local function add_parts(of, p, key, version)
  local parts = {}
  data.parts(p, key, parts)
  local now = next(parts) and json.encode(parts) or ""
  if now ~= of.parts_text then
    of.parts, of.parts_text, of.parts_at = parts, now, version
  end
end

local function add(self, p, key, list, rows, version, exact)
  if not self.number[key] then
    self.number[key] = #self.list
    self.list[#self.list + 1] = { seen = {}, lines = {}, parts = {},
      parts_text = "", parts_at = 0 }
  end
  local of = self.list[self.number[key] + 1]
  local seen = seen_of(p.sources[key] or {})
  local changed = not of.about or not same(seen, of.seen)
  if changed then
    of.about, of.seen = data.source(p, key, list), seen
    of.about_at = version
  end
  for _, row in ipairs(rows[key] or {}) do
    of.lines[row.number] = of.lines[row.number] or {}
    changed = add_lines(of.lines[row.number], rows.lines[row.key] or {},
      rows.c[row.key] or {}, version, exact) or changed
  end
  if changed then add_parts(of, p, key, version) end
  return changed
end

---Adds what was loaded. Is anything other than before?
---@param p cprof.Profile
---@param number table<string, integer>  of rows, by title
---@param version integer  of what changes
---@param exact boolean    estimates, too, where nothing happened
---@return boolean
function Sources:add(p, number, version, exact)
  if not lines.recorded(p) then return false end
  local all, keys, changed = p.lines_of(), {}, false
  local rows = data.rows_of(p, number)
  rows.lines, rows.c = p.lines_by_row(), in_c.times(p, lines.row)
  for key in pairs(all) do keys[#keys + 1] = key end
  table.sort(keys)
  for _, key in ipairs(keys) do
    changed = add(self, p, key, all[key], rows, version, exact) or changed
  end
  text.forget()
  return changed
end

---What changed since a version: sources as { number, fields }, and lines as
---figures in turn: source, line, row, and what data.line gives.
---@param version integer
---@return table[] list
---@return integer[] figures
function Sources:since(version)
  local list, figures = {}, {}
  for i, of in ipairs(self.list) do
    local changes = {}
    if of.about_at > version then
      for key, value in pairs(of.about) do changes[key] = value end
    end
    if of.parts_at > version then changes.parts = of.parts end
    if next(changes) then list[#list + 1] = { i - 1, changes } end
    for row, own in pairs(of.lines) do
      for n, line in pairs(own) do
        if line[at_version] > version then
          local at = #figures
          figures[at + 1], figures[at + 2], figures[at + 3] = i - 1, n, row
          table.move(line, 1, told, at + 4, figures)
        end
      end
    end
  end
  return list, figures
end

return sources
