-- The lines of a profile: what was counted for each line of each source.

local core = require "cprof.core"
local text = require "cprof.text"

local lines = {}

-- function, line, hits, ns, ns with overhead
local WIDTH <const> = 5

---What was counted, in turn: function, line, hits, ns, ns with overhead.
---@param counted integer[]
---@return fun(): integer?, integer, integer, integer, integer
function lines.each(counted)
  local at = 1 - WIDTH
  return function()
    at = at + WIDTH
    return counted[at], counted[at + 1], counted[at + 2], counted[at + 3],
      counted[at + 4]
  end
end

---Adds a line to those that were counted.
---@param counted integer[]
function lines.add(counted, func, line, hits, ns, raw)
  local n = #counted
  for i, figure in ipairs { func, line, hits, ns, raw } do
    counted[n + i] = figure
  end
end

---@class cprof.Line
---@field hits integer      times that the machine came to this line
---@field self_ns integer   time on the line, without what it calls
---@field self_raw_ns integer  the same with what recording has cost
---@field calls integer     calls that were made from it
---@field total_ns integer  time in these calls; recursion counted once
---@field active boolean    is there code on the line that can run?

---@class cprof.Source
---@field source string
---@field active string     a byte per line: 1 where there is code
---@field text? string      as it was when it was first met
---@field changed boolean   the text is not what ran
---@field mixed boolean     several chunks have this name

-- a line that only ends a block is none that could run, though Lua gives
-- it the instruction that makes a local function
local function bare(line)
  return line:find "^%s*end[%s%)%]},;]*$" or
    line:find "^%s*end[%s%)%]},;]*%-%-"
end

local function new(active)
  return { hits = 0, self_ns = 0, self_raw_ns = 0, calls = 0, total_ns = 0,
           active = active }
end

---The lines of all sources.
---@param p cprof.Profile
---@param counted integer[]  see lines.each
---@param sources cprof.Source[]
---@param passes? fun(f: cprof.Function): boolean  only those of these
---@return table<string, cprof.Line[]>
local function collect(p, counted, sources, passes)
  local out, keys, zones, number = {}, {}, {}, {}
  for i, source in ipairs(sources) do
    local list = {}
    local content = source.text and text.split(source.text) or {}
    for n = 1, #source.active do
      list[n] = new(source.active:byte(n) == 1 and not bare(content[n] or ""))
    end
    out[source.source] = list
    number[source.source] = i
  end
  for i, f in ipairs(p.functions) do
    zones[i] = f.kind == "zone"
    keys[i] = (not passes or passes(f)) and number[f.source] or 0
  end
  if passes then
    -- code on other lines is not theirs, nor is what defines them
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
  local function get(key, line)
    local list = out[sources[key].source]
    for n = #list + 1, line do list[n] = new(false) end
    return list[line]
  end
  for func, at, hits, ns, raw in lines.each(counted) do
    local key = keys[func]
    if key ~= 0 then
      local line = get(key, at)
      line.hits = line.hits + hits
      line.self_ns = line.self_ns + ns
      line.self_raw_ns = line.self_raw_ns + raw
    end
  end
  local sites = core.sites(p.nodes, zones, keys)
  for i = 1, #sites, 4 do
    local line = get(sites[i], sites[i + 1])
    line.calls, line.total_ns = sites[i + 2], sites[i + 3]
  end
  return out
end

---What a profile knows of lines. It is put together when it is asked for.
---@param p cprof.Profile
---@param counted integer[]  see lines.each
---@param sources cprof.Source[]
function lines.attach(p, counted, sources)
  p.sources, p.counted = {}, counted
  for _, source in ipairs(sources) do p.sources[source.source] = source end
  -- what it was before it was put together
  local all
  local function whole()
    all = all or collect(p, counted, sources)
    return all
  end
  p.lines = setmetatable({}, {
    __index = function(_, source) return whole()[source] end,
    __pairs = function() return next, whole(), nil end,
  })
  p.lines_of = function(passes)
    return passes and collect(p, counted, sources, passes) or whole()
  end
end

return lines
