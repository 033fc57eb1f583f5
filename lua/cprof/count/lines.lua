-- The lines of a profile: the figures of each line of each source.

local bound = require "cprof.count.bound"
local core = require "cprof.core"
local figures = require "cprof.count.figures"
local group = require "cprof.count.group"
local instructions = require "cprof.sandbox.later" "cprof.count.instructions"
local methods = require "cprof.sandbox.methods"
local text = require "cprof.source.text"

local lines = {}

---The figures of a counted line, in order, by their names in cprof.LineFigures.
lines.fields = { "hits", "self", "self_raw", "allocs", "bytes", "live_bytes",
  "self_wait" }

local FIGURES <const> = #lines.fields
local WIDTH <const> = 2 + FIGURES  -- function, line, figures

local place = {}
for k, field in ipairs(lines.fields) do place[field] = 1 + k end

---Iterates over the counted lines: the index of each in the list, its function
---and its line. Its figures follow in the list, from index + 2 on.
---@param counted integer[]
---@return fun(): integer?, integer, integer
function lines.each(counted)
  local at = 1 - WIDTH
  return function()
    at = at + WIDTH
    if counted[at] then return at, counted[at], counted[at + 1] end
  end
end

---What to add to a line's index in the list to get that of one of its figures.
---@param field string
---@return integer
function lines.place(field) return place[field] end

---The counted lines of some functions.
---@param counted integer[]
---@param to table<integer, integer>  function -> its new number
---@return integer[]
function lines.of(counted, to)
  local out = {}
  for at, func in lines.each(counted) do
    if to[func] then
      local n = #out + 1
      table.move(counted, at, at + WIDTH - 1, n, out)
      out[n] = to[func]
    end
  end
  return out
end

---The counted lines with another figure in place of self.
---@param counted integer[]
---@param field? string  nil: there are no figures
---@param less? string   a field that is subtracted
---@return integer[]
function lines.measured(counted, field, less)
  local out, self, raw = table.move(counted, 1, #counted, 1, {}), place.self,
    place.self_raw
  local from, minus = place[field], place[less]
  for at in lines.each(counted) do
    local sub = minus and counted[at + minus] or 0
    local figure = from and counted[at + from] or 0
    out[at + self] = figure - sub
    out[at + raw] = (from == self and counted[at + raw] or figure) - sub
    out[at + place.self_wait] = 0
  end
  return out
end

---Adds up the lines of several profiles whose functions are joined.
---@param parts { counted: integer[], map: integer[],
---    shift: table<integer, integer>, only: table<string, true>? }[]  of each
---    profile: its lines; by function, the joined function, and by how many
---    lines it has moved; and which figures to add (nil: all)
---@return integer[]  the sorted sums, for lines.each
function lines.sums(parts)
  local sums, keys, out = {}, {}, {}
  for _, part in ipairs(parts) do
    local counted = part.counted
    for at, func, line in lines.each(counted) do
      local moved = line + (part.shift[func] or 0)
      local key = part.map[func] << 32 | (moved > 0 and moved or line)
      local sum = sums[key]
      if not sum then
        sum = { 0, 0, 0, 0, 0, 0, 0 }
        keys[#keys + 1], sums[key] = key, sum
      end
      for k, field in ipairs(lines.fields) do
        if not part.only or part.only[field] then
          sum[k] = sum[k] + counted[at + 1 + k]
        end
      end
    end
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    local n = #out
    out[n + 1], out[n + 2] = key >> 32, key & 0xffffffff
    table.move(sums[key], 1, FIGURES, n + 3, out)
  end
  return out
end

---@class cprof.LineFigures  a line with figures of the profile's measure
---@field hits integer      how often the program reached the line
---@field self integer      of the line, without what it calls
---@field self_raw integer  self with overhead
---@field self_most integer upper bound of self, see bound
---@field self_wait integer the part of self that is waiting
---@field calls integer     calls made from the line
---@field total integer     of these calls; recursion counted once
---@field total_raw integer
---@field total_most integer
---@field total_wait integer
---@field allocs integer    allocations on the line, without callees; 0 if not
---    counted
---@field bytes integer     bytes of these allocations
---@field live_bytes integer  the part of these bytes that is in use
---@field active boolean    whether the line has code that can run

---@class cprof.Line        a line as programs see it: each figure under a name
---    that says what it is
---@field instructions? integer  mode "count", which has no times: how many ran
---    on the line
---@field total_instructions? integer  mode "count": those in calls
---@field hits integer
---@field self_ns integer
---@field self_raw_ns integer
---@field calls integer
---@field total_ns integer
---@field total_raw_ns integer
---@field self_wait_ns integer
---@field total_wait_ns integer
---@field self_most_ns integer
---@field total_most_ns integer
---@field allocs integer
---@field bytes integer
---@field live_bytes integer
---@field active boolean

---@class cprof.Source
---@field source string
---@field active string     a byte per line: 1 where there is code
---@field text? string      as it was when cprof first read it
---@field changed boolean   whether the text differs from the code that ran
---@field mixed boolean     whether several chunks have this name

-- Is it a line that only ends a block or has a label? Such a line does not
-- count as one that can run, although Lua puts an instruction there: the one
-- that makes a local function, or the jump at the end of a loop.
local function only_ends_block(line)
  line = line:gsub("%-%-.*", "")
  return line:find "^%s*end[%s%)%]},;]*$" or
    line:find "^%s*::%s*[%w_]+%s*::%s*$"
end

local function new(active)
  return { hits = 0, self = 0, self_raw = 0, self_most = 0, self_wait = 0,
           calls = 0, total = 0, total_raw = 0, total_most = 0,
           total_wait = 0, allocs = 0, bytes = 0, live_bytes = 0,
           active = active }
end

-- sets the upper bounds of a line's figures
local function limit(line, most)
  line.self_most = bound.of(line.self, line.self_raw, most)
  line.total_most = bound.of(line.total, line.total_raw, most)
  return line
end

local function limit_all(lists, most)
  for _, list in pairs(lists) do
    for _, line in pairs(list) do limit(line, most) end
  end
  return lists
end

-- Adds up counted lines and calls. keys: for each function, a key, or 0 to
-- skip it. get(key, number, calls) returns the line to add to; for calls, it
-- may return nil.
local function sum(p, counted, keys, get)
  local zones = {}
  for i, f in ipairs(p.functions) do zones[i] = f.kind == "zone" end
  for at, func, number in lines.each(counted) do
    if keys[func] ~= 0 then
      local line = get(keys[func], number)
      for k, field in ipairs(lines.fields) do
        line[field] = line[field] + counted[at + 1 + k]
      end
    end
  end
  local sites = core.sites(p.nodes, zones, keys)
  for i = 1, #sites, 6 do
    local line = get(sites[i], sites[i + 1], true)
    if line then
      line.calls, line.total = sites[i + 2], sites[i + 3]
      line.total_raw, line.total_wait = sites[i + 4], sites[i + 5]
    end
  end
end

-- In a sum of several profiles, sources may differ: a call may come from a line
-- that the shown source does not have. Calls from lines this far after its end
-- are dropped, since all lines up to there would take memory.
local far <const> = 100000

-- Marks bypassed lines as not active: it is unknown whether they ran.
local function leave_out(p, lists)
  for _, f in ipairs(p.functions) do
    local list = f.counters and lists[f.source] or {}
    local bypassed = #list > 0 and instructions.bypassed(
      instructions.read(f.counters, p.meta.lua_version)) or {}
    for n in pairs(bypassed) do
      if list[n] and list[n].hits == 0 then list[n].active = false end
    end
  end
end

---The lines of all sources.
---@param p cprof.Profile
---@param counted integer[]  see lines.each
---@param sources cprof.Source[]
---@param passes? fun(f: cprof.Function): boolean  only functions that pass
---@return table<string, cprof.Line[]>
local function collect(p, counted, sources, passes)
  local out, keys, number = {}, {}, {}
  for i, source in ipairs(sources) do
    local list = {}
    local content = source.text and text.split(source.text) or {}
    for n, active in ipairs(lines.active(source, content)) do
      list[n] = new(active)
    end
    out[source.source] = list
    number[source.source] = i
  end
  for i, f in ipairs(p.functions) do
    keys[i] = (not passes or passes(f)) and number[f.source] or 0
  end
  if passes then
    -- only lines within the functions can run; a function's first line belongs
    -- to the code around it
    local theirs = {}
    for i, f in ipairs(p.functions) do
      local list = keys[i] ~= 0 and out[f.source] or {}
      local from = f.last_line > f.line and f.line + 1 or f.line
      local to = f.kind == "main" and #list or f.last_line
      for n = math.max(from, 1), math.min(to, #list) do
        theirs[list[n]] = true
      end
    end
    for _, list in pairs(out) do
      for _, line in ipairs(list) do
        line.active = line.active and theirs[line] or false
      end
    end
  end
  local function get(key, line, calls)
    local list = out[sources[key].source]
    if calls and line > #list + far then return nil end
    for n = #list + 1, line do list[n] = new(false) end
    return list[line]
  end
  sum(p, counted, keys, get)
  if p.meta.mode == "count" then leave_out(p, out) end
  return limit_all(out, bound.most(p))
end

-- the lines of functions with the same key, as { line -> figures }
local function by(p, counted, key_of)
  local out, groups = {}, group.by(p.functions, key_of)
  sum(p, counted, groups.of, function(id, at)
    local key = groups.keys[id]
    local own = out[key] or {}
    out[key] = own
    own[at] = own[at] or new(true)
    return own[at]
  end)
  return limit_all(out, bound.most(p))
end

-- which lines ran, of each source
local function ran(p, counted)
  local out = {}
  for at, func, line in lines.each(counted) do
    local source = p.functions[func].source
    out[source] = out[source] or {}
    out[source][line] = out[source][line] or counted[at + place.hits] > 0
  end
  return out
end

-- a function that calls `make` at its first call and keeps the result
local function once(make)
  local made
  return function()
    if made == nil then
      local _ <close> = methods.shield()
      made = make()
    end
    return made
  end
end

-- the lines as programs see them
local function published(all, p)
  local out = {}
  for source, list in pairs(all) do
    local to = {}
    for n, line in ipairs(list) do to[n] = figures.published(line, p) end
    out[source] = to
  end
  return out
end

---A key for the rows of reports that keeps sources apart.
---@param f cprof.Function
---@return string
function lines.row(f) return f.source .. "\0" .. f.title end

---Gives a profile its lines, which are collected at first use.
---@param p cprof.Profile
---@param counted integer[]  see lines.each
---@param sources cprof.Source[]
function lines.attach(p, counted, sources)
  p.sources, p.counted = {}, counted
  for _, source in ipairs(sources) do p.sources[source.source] = source end
  local whole = once(function() return collect(p, counted, sources) end)
  local shown = once(function() return published(whole(), p) end)
  p.lines = setmetatable({}, {
    __index = function(_, source) return shown()[source] end,
    __pairs = function() return next, shown(), nil end,
  })
  p.lines_of = function(passes)
    if not passes then return whole() end
    local _ <close> = methods.shield()
    return collect(p, counted, sources, passes)
  end
  p.lines_by_title = once(function()
    return by(p, counted, function(f) return f.title end)
  end)
  p.lines_by_row = once(function() return by(p, counted, lines.row) end)
  p.lines_ran = once(function() return ran(p, counted) end)
end

---Does a profile have lines? A part under labels has none, unless it is of
---samples that have times: lines are recorded for all labels together.
---@param p cprof.Profile
---@return boolean
function lines.recorded(p)
  if p.meta.labels then return p.samples and next(p.sources) ~= nil end
  return p.meta.mode == "line" or p.meta.mode == "count" or p.samples ~= nil
end

---The sentence that says why a part under labels has no lines.
lines.all_labels =
  "lines are recorded for all labels together, not for each one"

---The lines of a source on which there is code that can run.
---@param source cprof.Source
---@param content string[]
---@return table<integer, boolean>
function lines.active(source, content)
  local out = {}
  for n = 1, #source.active do
    out[n] = source.active:byte(n) == 1 and
      not only_ends_block(content[n] or "")
  end
  return out
end

---The growth of counted lines since an older profile of the recording. A line
---that did not run meanwhile has none, even if the estimates of overhead and
---the rounding of the two profiles differ.
---@param now integer[]
---@param old integer[]
---@param timed? boolean  do lines have hits and times?
---@return integer[]
function lines.less(now, old, timed)
  local out, of = table.move(now, 1, #now, 1, {}), {}
  local hits, raw = place.hits, place.self_raw
  for at, func, line in lines.each(old) do of[func << 32 | line] = at end
  for at, func, line in lines.each(now) do
    local before = of[func << 32 | line]
    for k = 1, before and FIGURES or 0 do
      out[at + 1 + k] = math.max(now[at + 1 + k] - old[before + 1 + k], 0)
    end
    -- bytes in use are those at the end of the range, not a difference
    out[at + place.live_bytes] = now[at + place.live_bytes]
    if before and timed and out[at + hits] == 0 and out[at + raw] <= 1 then
      out[at + raw], out[at + place.self] = 0, 0
    end
  end
  return out
end

return lines
