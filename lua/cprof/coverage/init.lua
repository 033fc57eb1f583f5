-- What ran and what did not in each source of a profile of mode "count":
-- expressions, branches, functions.

local branches = require "cprof.coverage.branches"
local defined = require "cprof.coverage.defined"
local expressions = require "cprof.coverage.expressions"
local group = require "cprof.count.group"
local instructions = require "cprof.count.instructions"
local methods = require "cprof.sandbox.methods"
local sampled = require "cprof.count.sampled"
local tokenmap = require "cprof.coverage.tokenmap"

local coverage = {}

---@class cprof.Covered         the coverage of a source
---@field source string
---@field expressions? cprof.Expression[]  nil: only lines are known, see note
---@field branches? cprof.Branch[]  nil: only lines are known, or a sampled
---    profile
---@field note? string          why only lines are known
---@field functions { line: integer, label: string, calls: integer }[]

---@class cprof.Sums            counts by instruction of a prototype
---@field ran integer[]
---@field jumped integer[]       how often a test took its jump
---@field stayed integer[]       how often a test did not take its jump

local function zeros(p)
  local out = {}
  for i = 1, #p.code do out[i] = 0 end
  return out
end

-- counters that start at 0
local function blank(p)
  return { ran = zeros(p), jumped = zeros(p), stayed = zeros(p) }
end

local function add(to, c)
  local ran = instructions.ran(c)
  for i = 1, c.n do
    to.ran[i] = to.ran[i] + ran[i]
    if instructions.is_test(c.code[i]) then
      local jumped, stayed = instructions.decided(c, i)
      to.jumped[i] = to.jumped[i] + (jumped or 0)
      to.stayed[i] = to.stayed[i] + stayed
    end
  end
end

local function add_times(to, c)
  for i, ns in ipairs(sampled.times(c, true)) do to[i] = to[i] + ns end
end

-- Adds up the functions of a source by prototype: counts or, in sampled
-- profiles, the time of each instruction. nil: the text does not belong to all
-- of these functions.
local function sums(p, source, map)
  local new, add_to = blank, add
  if p.samples then new, add_to = zeros, add_times end
  local out = {}
  for _, mapped in ipairs(map.prototypes) do out[mapped] = new(mapped) end
  for _, f in ipairs(group.of_source(p.functions, source)) do
    if f.counters then
      local c = instructions.read(f.counters)
      local mapped = tokenmap.find(map, f, c.code)
      if not mapped then return nil end
      add_to(out[mapped], c)
    end
  end
  return out
end

-- why the tokens of a source are not known; nil: they are
local function unmapped(source)
  if source.mixed then
    return "several chunks have this name: only lines are known"
  elseif source.changed then
    return "the text differs from the code that ran: only lines are known"
  elseif not source.text then
    return "the text was not found: only lines are known"
  end
end

-- why code that another Lua version ran is not known; nil: it was this version.
-- This Lua would compile the text to other code.
local function elsewhere(version)
  if version and version ~= _VERSION then
    return ("the code ran in %s, and this is %s: only lines are known"):format(
      version, _VERSION)
  end
end

local function covered(p, key)
  local source = p.sources[key]
  local out = { source = key, functions = defined.functions(p, source) }
  out.note = elsewhere(p.meta.lua_version) or unmapped(source)
  if out.note then return out end
  local map, why = tokenmap.new(source.text)
  if not map then
    out.note = why .. ": only lines are known"
    return out
  end
  local counted = sums(p, key, map)
  if not counted then
    out.note = "other code ran under this name, too: only lines are known"
    return out
  end
  if p.samples then
    out.expressions = expressions.times(map, counted)
    return out
  end
  out.expressions = expressions.of(map, counted)
  out.branches = branches.of(map, counted)
  return out
end

local known = setmetatable({}, { __mode = "k" })

---The coverage of a source; nil: its instructions were not counted.
---@param p cprof.Profile
---@param source string
---@return cprof.Covered?
function coverage.of(p, source)
  if p.meta.mode ~= "count" and not p.samples or
     not p.sources[source] then
    return nil
  end
  local all = known[p] or {}
  known[p] = all
  all[source] = all[source] or covered(p, source)
  return all[source]
end

-- the expressions or branches of all sources that have some
local function all_of(p, what)
  local _ <close> = methods.shield()
  local out = {}
  for source in pairs(p.sources) do
    local of = coverage.of(p, source)
    out[source] = of and of[what]
  end
  return out
end

---Gives a profile `expressions` and `branches`, by source.
---@param p cprof.Profile
function coverage.attach(p)
  for _, what in ipairs { "expressions", "branches" } do
    p[what] = setmetatable({}, {
      __index = function(_, source)
        local _ <close> = methods.shield()
        local of = coverage.of(p, source)
        return of and of[what]
      end,
      __pairs = function() return next, all_of(p, what), nil end,
    })
  end
end

return coverage
