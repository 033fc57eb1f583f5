-- What ran and what did not, of each source that a profile of mode count
-- has: expressions, branches, functions.

local defined = require "cprof.coverage.defined"
local instructions = require "cprof.instructions"
local sampled = require "cprof.sampled"
local lexer = require "cprof.lexer"
local tests = require "cprof.coverage.tests"
local tokenmap = require "cprof.coverage.tokenmap"

local coverage = {}

local op = instructions.op

---@class cprof.Expression
---@field line integer
---@field column integer        in bytes, from 1
---@field last_line integer
---@field last_column integer
---@field count integer         times that its instructions ran

---@class cprof.Branch
---@field kind string           "if", "elseif", "while", "until", "and", "or",
---    "comparison"
---@field line integer          where it is
---@field column integer
---@field ways { name: string, count: integer, never: string }[]  two of them
---@field reached boolean       was it decided at all?

---@class cprof.Covered         what is known of a source
---@field source string
---@field expressions? cprof.Expression[]  nil: only lines are known ...
---@field branches? cprof.Branch[]
---@field note? string          ... and why
---@field functions { line: integer, label: string, calls: integer }[]

-- which instructions can run at all
local function reachable(p)
  local seen, todo, code = {}, { 1 }, p.code
  while #todo > 0 do
    local i = table.remove(todo)
    if i and i <= #code and not seen[i] then
      seen[i] = true
      local o = code[i] & 0x7f
      local to = instructions.target(code, i)
      if instructions.is_test(code[i]) then
        seen[i + 1] = true
        todo[#todo + 1], todo[#todo + 2] = i + 2, to
      elseif o == op.JMP then todo[#todo + 1] = to
      elseif o == op.TFORPREP then todo[#todo + 1] = to - 2
      elseif o == op.TFORCALL then todo[#todo + 1] = i + 1
      elseif o == op.LFALSESKIP then todo[#todo + 1] = i + 2
      elseif o ~= op.TAILCALL and (o < op.RETURN or o > op.RETURN1) then
        todo[#todo + 1], todo[#todo + 2] = i + 1, to
      end
    end
  end
  return seen
end

-- counters of a prototype, to be added to
local function blank(p)
  local zeros = {}
  for i = 1, #p.code do zeros[i] = 0 end
  return { ran = zeros, jumped = table.move(zeros, 1, #zeros, 1, {}),
           stayed = table.move(zeros, 1, #zeros, 1, {}) }
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

-- adds up the functions of a source by prototype; nil: the text is not
-- that of all of them
local function sums(p, source, map)
  local out = {}
  for _, mapped in ipairs(map.prototypes) do out[mapped] = blank(mapped) end
  for _, f in ipairs(p.functions) do
    if f.source == source and f.counters then
      local c = instructions.read(f.counters)
      local mapped = tokenmap.find(map, f, c.code)
      if not mapped then return nil end
      add(out[mapped], c)
    end
  end
  return out
end

-- the time of each instruction, by prototype; nil: likewise
local function times(p, source, map)
  local out = {}
  for _, mapped in ipairs(map.prototypes) do
    out[mapped] = {}
    for i = 1, #mapped.code do out[mapped][i] = 0 end
  end
  for _, f in ipairs(p.functions) do
    if f.source == source and f.counters then
      local c = instructions.read(f.counters)
      local mapped = tokenmap.find(map, f, c.code)
      if not mapped then return nil end
      for i, ns in ipairs(sampled.times(c, true)) do
        out[mapped][i] = out[mapped][i] + ns
      end
    end
  end
  return out
end

-- tokens whose instructions only lead on to others
local structure = { ["end"] = true, ["else"] = true, ["elseif"] = true }

local follows_operand = {}
for kind in ("and or then do ) ] } , ;"):gmatch "%S+" do
  follows_operand[kind] = true
end

-- Does an instruction stand for what is written at its token?
local function counts_for_token(code, i)
  local o = code[i] & 0x7f
  -- every function ends with a return that nobody wrote
  if i == #code or i > 1 and instructions.is_test(code[i - 1]) then
    return false
  end
  return o ~= op.EXTRAARG and o ~= op.SETLIST and o ~= op.VARARGPREP and
    not (o >= op.MMBIN and o <= op.MMBINK) and o ~= op.LFALSESKIP and
    not (o == op.LOADTRUE and i > 1 and
      code[i - 1] & 0x7f == op.LFALSESKIP)
end

-- tokens by what they have, as a list
local function tokens_of(map, count)
  for token = 2, map.tokens.n do
    -- it tests, or puts into place, the operand before it
    if count[token] and follows_operand[map.tokens.kind[token]] then
      count[token - 1] = count[token - 1] or count[token]
      count[token] = nil
    end
  end
  local out = {}
  for token = 1, map.tokens.n do
    if count[token] then
      local last_line, last_column = lexer.last(map.tokens, token)
      out[#out + 1] = { line = map.tokens.line[token],
        column = map.tokens.column[token], last_line = last_line,
        last_column = last_column, count = count[token] }
    end
  end
  return out
end

-- the time of each token, in ns
local function sampled_of(map, ns)
  local count = {}
  for _, p in ipairs(map.prototypes) do
    for i = 1, #p.code do
      local token = p.token[i]
      if token and ns[p][i] > 0 then
        count[token] = (count[token] or 0) + ns[p][i]
      end
    end
  end
  return tokens_of(map, count)
end

local function expressions_of(map, counted)
  local count = {}
  for _, p in ipairs(map.prototypes) do
    local live = reachable(p)
    for i = 1, #p.code do
      local token = p.token[i]
      local ran = counted[p].ran[i]
      if (live[i] or ran > 0) and token and
         not structure[map.tokens.kind[token]] and
         counts_for_token(p.code, i) then
        count[token] = math.max(count[token] or 0, ran)
      end
    end
  end
  return tokens_of(map, count)
end

-- the tests of a prototype that can be reached and told
local function tests_of(p, tell)
  local out, live = {}, reachable(p)
  for i = 1, #p.code do
    local to = live[i] and instructions.is_test(p.code[i]) and
      instructions.target(p.code, i)
    if to and to ~= i + 2 then
      local kind, token = tell(p.code, i, p.token[i])
      out[#out + 1] = { at = i, to = to, kind = kind, token = token,
                        place = p.token[i] }
    end
  end
  return out
end

-- is the test `other`, which comes before, a part of what `test` decides?
local function is_part(map, other, test)
  if test.kind == "comparison" then return false
  elseif test.kind == "and" or test.kind == "or" then
    return other.place < test.token and
      tests.left_of(map.tokens, other.place, test.token)
  end
  return other.place > test.token
end

-- How often it went each way. A part of a condition that decides it jumps to
-- where the whole would have gone.
local function decided(map, own, list, n)
  local test = list[n]
  local stayed, jumped = own.stayed[test.at], own.jumped[test.at]
  for k = n - 1, 1, -1 do
    local other = list[k]
    local stays = other.to == test.at + 2
    if (stays or other.to == test.to) and is_part(map, other, test) then
      if stays then stayed = stayed + own.jumped[other.at]
      else jumped = jumped + own.jumped[other.at]
      end
    end
  end
  return stayed, jumped
end

local function branches_of(map, counted)
  local out, tell = {}, tests.teller(map.tokens)
  for _, p in ipairs(map.prototypes) do
    local list = tests_of(p, tell)
    for n, test in ipairs(list) do
      local kind = tests.kinds[test.kind]
      local stayed, jumped = decided(map, counted[p], list, n)
      out[#out + 1] = { kind = test.kind, order = #out,
        line = map.tokens.line[test.token],
        column = map.tokens.column[test.token],
        reached = jumped + stayed > 0, ways = {
          { name = kind.stayed, count = stayed, never = kind.never.stayed },
          { name = kind.jumped, count = jumped, never = kind.never.jumped },
        } }
    end
  end
  table.sort(out, function(a, b)
    if a.line ~= b.line then return a.line < b.line end
    if a.column ~= b.column then return a.column < b.column end
    return a.order < b.order
  end)
  for _, branch in ipairs(out) do branch.order = nil end
  return out
end

-- why the tokens of a source cannot be told
local function unmapped(source)
  if source.mixed then
    return "several chunks have this name: lines alone are known"
  elseif source.changed then
    return "the text is not what ran: lines alone are known"
  elseif not source.text then
    return "there is no text: lines alone are known"
  end
end

local function covered(p, key)
  local source = p.sources[key]
  local out = { source = key, functions = defined.functions(p, source) }
  out.note = unmapped(source)
  if out.note then return out end
  local map, why = tokenmap.new(source.text)
  if not map then
    out.note = why .. ": lines alone are known"
    return out
  end
  local counted = (p.samples and times or sums)(p, key, map)
  if not counted then
    out.note = "the text is not all that ran: lines alone are known"
    return out
  end
  if p.samples then
    out.expressions = sampled_of(map, counted)
    return out
  end
  out.expressions = expressions_of(map, counted)
  out.branches = branches_of(map, counted)
  return out
end

local known = setmetatable({}, { __mode = "k" })

---What is known of a source; nil: its instructions were not counted.
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

---Gives a profile `expressions` and `branches`, by source.
---@param p cprof.Profile
function coverage.attach(p)
  for _, what in ipairs { "expressions", "branches" } do
    p[what] = setmetatable({}, {
      __index = function(_, source)
        local of = coverage.of(p, source)
        return of and of[what]
      end,
    })
  end
end

return coverage
