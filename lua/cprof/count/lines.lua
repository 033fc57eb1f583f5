-- The lines of a profile: the figures of each line of each source.

local bound = require "cprof.count.bound"
local core = require "cprof.core"
local instructions = require "cprof.count.instructions"
local methods = require "cprof.sandbox.methods"
local text = require "cprof.source.text"

local lines = {}

-- function, line, hits, ns, ns with overhead, allocations, bytes, bytes in
-- use, ns of waiting
local WIDTH <const> = 9

---Iterates over the counted lines: function, line, hits, ns, ns with overhead,
---allocations, bytes, bytes in use, ns of waiting.
---@param counted integer[]
---@return fun(): integer?, integer, integer, integer, integer, integer,
---    integer, integer, integer
function lines.each(counted)
  local at = 1 - WIDTH
  return function()
    at = at + WIDTH
    return counted[at], counted[at + 1], counted[at + 2], counted[at + 3],
      counted[at + 4], counted[at + 5], counted[at + 6],
      counted[at + 7], counted[at + 8]
  end
end

---Appends a line to the counted lines.
---@param counted integer[]
function lines.add(counted, func, line, hits, ns, raw, allocs, bytes, live,
                   wait)
  local n = #counted
  for i, figure in ipairs { func, line, hits, ns, raw, allocs or 0,
    bytes or 0, live or 0, wait or 0 } do
    counted[n + i] = figure
  end
end

---Adds up the lines of several profiles whose functions are joined.
---@param maps integer[][]    for each profile: function -> joined function
---@param shifts table<integer, integer>[]  for each profile: how many lines a
---    function has moved
---@return function add   add(i, ...): adds a line of profile i, as lines.each
---    gives it
---@return fun(): integer[] list  the sorted sums, for lines.each
function lines.sums(maps, shifts)
  local sums, keys = {}, {}
  local function add(i, func, line, ...)
    local moved = line + (shifts[i][func] or 0)
    local key = maps[i][func] << 32 | (moved > 0 and moved or line)
    local sum = sums[key]
    if not sum then
      sum = { 0, 0, 0, 0, 0, 0, 0 }
      keys[#keys + 1], sums[key] = key, sum
    end
    for k, figure in ipairs { ... } do sum[k] = sum[k] + figure end
  end
  return add, function()
    table.sort(keys)
    local out = {}
    for _, key in ipairs(keys) do
      lines.add(out, key >> 32, key & 0xffffffff, table.unpack(sums[key]))
    end
    return out
  end
end

---@class cprof.Line
---@field instructions? integer  mode "count": how many ran on the line; there
---    are no times then
---@field hits integer      how often the program reached the line
---@field self_ns integer   time on the line, without what it calls
---@field self_raw_ns integer  self_ns with overhead
---@field calls integer     calls made from the line
---@field total_ns integer  time in these calls; recursion counted once
---@field total_raw_ns integer  total_ns with overhead
---@field self_wait_ns integer   the part of self_ns that is waiting
---@field total_wait_ns integer  the part of total_ns that is waiting
---@field self_most_ns integer   upper bound of self_ns, see cprof.Function
---@field total_most_ns integer  upper bound of total_ns
---@field allocs integer    allocations on the line, without callees; 0 if not
---    counted
---@field bytes integer     bytes of these allocations
---@field live_bytes integer  the part of these bytes that is in use
---@field active boolean    is there code on the line that can run?

---@class cprof.Source
---@field source string
---@field active string     a byte per line: 1 where there is code
---@field text? string      as it was when cprof first read it
---@field changed boolean   is the text not the code that ran?
---@field mixed boolean     do several chunks have this name?

-- Is it a line that only ends a block or has a label? Such a line does not
-- count as one that can run, although Lua puts an instruction there: the one
-- that makes a local function, or the jump at the end of a loop.
local function bare(line)
  line = line:gsub("%-%-.*", "")
  return line:find "^%s*end[%s%)%]},;]*$" or
    line:find "^%s*::%s*[%w_]+%s*::%s*$"
end

local function new(active)
  return { hits = 0, self_ns = 0, self_raw_ns = 0, calls = 0, total_ns = 0,
           total_raw_ns = 0, self_wait_ns = 0, total_wait_ns = 0,
           self_most_ns = 0, total_most_ns = 0, allocs = 0,
           bytes = 0, live_bytes = 0, active = active }
end

-- sets the upper bounds of a line's times
local function limit(line, most)
  line.self_most_ns = bound.of(line.self_ns, line.self_raw_ns, most)
  line.total_most_ns = bound.of(line.total_ns, line.total_raw_ns, most)
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
  for func, at, hits, ns, raw, allocs, bytes, live, wait in
    lines.each(counted) do
    if keys[func] ~= 0 then
      local line = get(keys[func], at)
      line.hits = line.hits + hits
      line.self_ns = line.self_ns + ns
      line.self_raw_ns = line.self_raw_ns + raw
      line.live_bytes = line.live_bytes + live
      line.self_wait_ns = line.self_wait_ns + wait
      line.allocs, line.bytes = line.allocs + allocs, line.bytes + bytes
    end
  end
  local sites = core.sites(p.nodes, zones, keys)
  for i = 1, #sites, 6 do
    local line = get(sites[i], sites[i + 1], true)
    if line then
      line.calls, line.total_ns = sites[i + 2], sites[i + 3]
      line.total_raw_ns, line.total_wait_ns = sites[i + 4], sites[i + 5]
    end
  end
end

-- In a sum of several profiles, a call may come from a line of another text.
-- Calls from lines this far behind the end of a source are dropped, since the
-- lines up to there would take memory.
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
  local out, list, keys, ids = {}, {}, {}, {}
  for i, f in ipairs(p.functions) do
    local name = key_of(f)
    if not ids[name] then
      list[#list + 1] = name
      ids[name] = #list
    end
    keys[i] = ids[name]
  end
  sum(p, counted, keys, function(key, at)
    local own = out[list[key]] or {}
    out[list[key]] = own
    own[at] = own[at] or new(true)
    return own[at]
  end)
  return limit_all(out, bound.most(p))
end

-- which lines ran, of each source
local function ran(p, counted)
  local out = {}
  for func, at, hits in lines.each(counted) do
    local source = p.functions[func].source
    out[source] = out[source] or {}
    out[source][at] = out[source][at] or hits > 0
  end
  return out
end

-- a function that calls `make` at its first call and keeps the result
local function once(make)
  local made
  return function()
    if made == nil then
      local _ <close> = methods.borrow()
      made = make()
    end
    return made
  end
end

-- the lines with instructions instead of times
local function counted_only(all)
  local out = {}
  for source, list in pairs(all) do
    local to = {}
    for n, line in ipairs(list) do
      to[n] = { hits = line.hits, instructions = line.self_ns,
                active = line.active, allocs = line.allocs,
                bytes = line.bytes, live_bytes = line.live_bytes }
    end
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
  local shown = (p.meta.mode ~= "count" or p.meta.measure) and whole or
    once(function() return counted_only(whole()) end)
  p.lines = setmetatable({}, {
    __index = function(_, source) return shown()[source] end,
    __pairs = function() return next, shown(), nil end,
  })
  p.lines_of = function(passes)
    if not passes then return whole() end
    local _ <close> = methods.borrow()
    return collect(p, counted, sources, passes)
  end
  p.lines_by_title = once(function()
    return by(p, counted, function(f) return f.title end)
  end)
  p.lines_by_row = once(function() return by(p, counted, lines.row) end)
  p.lines_ran = once(function() return ran(p, counted) end)
end

---Does a profile have lines?
---@param p cprof.Profile
---@return boolean
function lines.recorded(p)
  return p.meta.mode == "line" or p.meta.mode == "count" or
    p.samples ~= nil
end

---The lines of a source on which there is code that can run.
---@param source cprof.Source
---@param content string[]
---@return table<integer, boolean>
function lines.active(source, content)
  local out = {}
  for n = 1, #source.active do
    out[n] = source.active:byte(n) == 1 and not bare(content[n] or "")
  end
  return out
end

local grow = { "hits", "self_ns", "self_raw_ns", "calls", "total_ns",
  "total_raw_ns", "self_wait_ns", "total_wait_ns" }

---The growth of a line's figures since an older profile of the recording.
---@param now cprof.Line
---@param before cprof.Line?
---@param most? integer  see bound.of
---@param what? "wall"|"cpu"|"wait"  what its times are
---@return cprof.Line
function lines.since(now, before, most, what)
  local out = {}
  for _, field in ipairs(grow) do
    out[field] = math.max(now[field] - (before and before[field] or 0), 0)
  end
  if what == "cpu" or what == "wait" then
    for _, kind in ipairs { "self", "total" } do
      local wait = out[kind .. "_wait_ns"]
      for _, ns in ipairs { kind .. "_ns", kind .. "_raw_ns" } do
        out[ns] = what == "wait" and wait or math.max(out[ns] - wait, 0)
      end
    end
  end
  limit(out, most)
  return out
end

return lines
