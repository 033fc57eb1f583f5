-- The sources of a profile as pages get them, with the versions of the feed
-- that have changed them.

local data = require "cprof.html.data"
local in_c = require "cprof.annotate.in_c"
local json = require "cprof.encoding.json"
local lines = require "cprof.count.lines"
local lists = require "cprof.text.lists"
local memory = require "cprof.html.memory"
local text = require "cprof.source.text"

local sources = {}

---@class cprof.ServedSource
---@field about table     what data.source returns: all but figures and parts
---@field about_at integer  the version that changed it last
---@field parts table     what data.parts adds: parts of lines, branches
---@field parts_text string  `parts` as JSON, to find changes
---@field parts_at integer  the version that changed them last
---@field lines table<integer, table<integer, integer[]>>  { number of a row ->
---    { line -> what data.line returns, then its figures in other measures;
---    `at` is the version that changed it last } }
---@field private seen any[]  see seen_of

---@class cprof.ServedSources
---@field list cprof.ServedSource[]
---@field number table<string, integer>  name in the profile -> number, from 0
---@field private measures cprof.Measure[]  other measures that lines have
---@field private estimates table<integer, boolean>  by place in a line's
---    figures: is it an estimate, which may change where nothing was recorded?
local Sources = {}
Sources.__index = Sources

---@param measures cprof.Measure[]  other measures that lines have
---@return cprof.ServedSources
function sources.new(measures)
  local estimates = {}
  for i, field in ipairs(data.line_fields) do
    estimates[i] = field ~= "hits" and field ~= "calls"
  end
  for i, row in ipairs(measures) do
    estimates[#data.line_fields + i] = row:timed()
  end
  return setmetatable({ list = {}, number = {}, measures = measures,
    estimates = estimates }, Sources)
end

-- the fields of a source that show whether it has changed
local function seen_of(source)
  return { source.active, source.text or false, source.changed,
    source.mixed }
end

-- Are two lists equal, apart from the indexes that are true in `except`?
local function same(a, b, except)
  for i = 1, #a do
    if a[i] ~= b[i] and not (except and except[i]) then return false end
  end
  return true
end

-- the figures of a line in all measures
local function figures_of(self, key, n, line, rows)
  local out = data.line(line, (rows.c[key] or {})[n])
  for _, row in ipairs(self.measures) do
    out[#out + 1] = rows.others[row.name](key, n, line)
  end
  return out
end

-- Stores the lines of a row whose figures have changed. Has any changed?
local function add_lines(self, to, key, rows, version, exact)
  local changed = false
  for n, line in pairs(rows.lines[key] or {}) do
    local old = to[n]
    local now = (old or data.has_figures(line)) and
      figures_of(self, key, n, line, rows)
    if now and not (old and same(now, old, not exact and self.estimates)) then
      now.at, to[n], changed = version, now, true
    end
  end
  return changed
end

-- Stores the parts of a source's lines, if they have changed.
local function add_parts(of, p, key, version)
  local parts = {}
  data.parts(p, key, parts)
  local now = next(parts) and json.encode(parts) or ""
  if now ~= of.parts_text then
    of.parts, of.parts_text, of.parts_at = parts, now, version
  end
end

-- Stores what has changed in a source. Has anything changed?
local function add(self, p, key, list, rows, version, exact, sampled)
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
    changed = add_lines(self, of.lines[row.number], row.key, rows, version,
      exact or sampled[row.number]) or changed
  end
  if changed then add_parts(of, p, key, version) end
  return changed
end

---Adds a profile that was loaded. Has anything changed?
---@param p cprof.Profile
---@param number table<string, integer>  title of a row -> its number
---@param version integer  the one that gets the changes
---@param exact boolean    whether a change of estimates alone counts
---@param sampled table<integer, boolean>  by number of a row: does it have new
---    samples? Then such a change counts in its lines
---@return boolean
function Sources:add(p, number, version, exact, sampled)
  if not lines.recorded(p) then return false end
  local all, changed = p.lines_of(), false
  local rows = data.rows_of(p, number)
  rows.lines, rows.c = p.lines_by_row(), in_c.times(p, lines.row)
  rows.others = memory.lines(p, self.measures)
  for _, key in ipairs(lists.keys(all)) do
    changed = add(self, p, key, all[key], rows, version, exact, sampled) or
      changed
  end
  text.forget()
  return changed
end

---What has changed after a version: sources as { number, changed fields }, and
---a flat list of lines: number of the source, line, number of the row, figures,
---and those in other measures.
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
        if line.at > version then
          local at = #figures
          figures[at + 1], figures[at + 2], figures[at + 3] = i - 1, n, row
          table.move(line, 1, #line, at + 4, figures)
        end
      end
    end
  end
  return list, figures
end

return sources
