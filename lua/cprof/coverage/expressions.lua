-- The parts of a source that have counts: tokens with instructions, and how
-- often these ran.

local instructions = require "cprof.count.instructions"
local lexer = require "cprof.source.lexer"

local expressions = {}

local op = instructions.op

---@class cprof.Expression
---@field line integer
---@field column integer        in bytes, from 1
---@field last_line integer
---@field last_column integer
---@field count integer         how often its instructions ran; of samples: ns

-- tokens whose instructions only jump to others
local structure = { ["end"] = true, ["else"] = true, ["elseif"] = true }

local follows_operand = {}
for kind in ("and or then do ) ] } , ;"):gmatch "%S+" do
  follows_operand[kind] = true
end

-- Does an instruction do what is written at its token?
local function counts_for_token(code, i)
  local o = code[i] & 0x7f
  -- every function ends with an implicit return
  if i == #code or i > 1 and instructions.is_test(code[i - 1]) then
    return false
  end
  return o ~= op.EXTRAARG and o ~= op.SETLIST and o ~= op.VARARGPREP and
    not (o >= op.MMBIN and o <= op.MMBINK) and o ~= op.LFALSESKIP and
    not (o == op.LOADTRUE and i > 1 and
      code[i - 1] & 0x7f == op.LFALSESKIP)
end

local opens, closes = {}, {}
for kind in ("function if do repeat ( [ {"):gmatch "%S+" do
  opens[kind] = true
end
for kind in ("end until ) ] }"):gmatch "%S+" do closes[kind] = true end

-- The extents of functions and brackets: last token -> first token, and first
-- token -> last token.
local function extents(tokens)
  local begins, ends, open = {}, {}, {}
  for i = 1, tokens.n do
    local kind = tokens.kind[i]
    if opens[kind] then open[#open + 1] = i
    elseif closes[kind] then
      local opened = table.remove(open)
      if kind ~= "end" and kind ~= "until" or
         tokens.kind[opened] == "function" then
        begins[i] = opened
        if opened then ends[opened] = i end
      end
    end
  end
  return begins, ends
end

-- Returns a function alike(n, from, to): do all tokens in this range that have
-- counts have the count `n`?
local function comparer(count, n)
  -- the first token from each on with a count, and the first one after that
  -- with another count
  local counted, other = { [n + 1] = n + 1 }, { [n + 1] = n + 1 }
  for i = n, 1, -1 do
    local next_one = counted[i + 1]
    counted[i], other[i] = next_one, other[i + 1]
    if count[i] then
      counted[i] = i
      if count[next_one] ~= count[i] then other[i] = next_one end
    end
  end
  return function(of, from, to)
    local first = counted[from]
    return first > to or count[first] == of and other[first] > to
  end
end

-- The last token of the part that begins with `token`. Brackets that begin at
-- the token or just after it belong to the part if all within them has the
-- same count.
local function last_of(token, count, begins, ends, alike)
  local n, last = count[token], ends[token]
  if not last or not alike(n, token, last) then last = token end
  while begins[last + 1] and not count[last + 1] and
        alike(n, begins[last + 1], last) do
    last = last + 1
  end
  return last
end

local arguments = { ["("] = true, ["{"] = true, string = true }

-- The token that shows an instruction. Lua's line table puts the making of a
-- function at its end, and that of a table before its beginning; later
-- releases put a call at the beginning of its arguments.
local function stands_at(tokens, begins, p, i)
  local o, token = p.code[i] & 0x7f, p.token[i]
  if o == op.CLOSURE then return begins[token] or token
  elseif (o == op.CALL or o == op.TAILCALL) and
         arguments[tokens.kind[token]] then
    return begins[token - 1] or token - 1
  elseif o == op.NEWTABLE and tokens.kind[token + 1] == "{" then
    return token + 1
  end
  return token
end

-- the parts of a source, from the counts of its tokens
local function parts(map, count, begins, ends)
  for token = 2, map.tokens.n do
    -- this token's instruction tests or stores the operand before it
    if follows_operand[map.tokens.kind[token]] then
      local operand = begins[token - 1] or token - 1
      count[operand] = count[operand] or count[token]
      count[token] = nil
    end
  end
  local out, alike = {}, comparer(count, map.tokens.n)
  for token = 1, map.tokens.n do
    if count[token] then
      local last_line, last_column = lexer.last(map.tokens,
        last_of(token, count, begins, ends, alike))
      out[#out + 1] = { line = map.tokens.line[token],
        column = map.tokens.column[token], last_line = last_line,
        last_column = last_column, count = count[token] }
    end
  end
  return out
end

---Parts of lines by the time of their instructions, in ns.
---@param map cprof.TokenMap
---@param times table<cprof.MappedPrototype, integer[]>
---@return cprof.Expression[]
function expressions.times(map, times)
  local count, place = {}, {}
  local begins, ends = extents(map.tokens)
  for token = 2, map.tokens.n do
    if follows_operand[map.tokens.kind[token]] then
      place[token] = begins[token - 1] or token - 1
    end
  end
  for _, p in ipairs(map.prototypes) do
    for i, ns in ipairs(times[p]) do
      local token = ns > 0 and p.token[i] and
        stands_at(map.tokens, begins, p, i)
      token = place[token] or token
      if token then count[token] = (count[token] or 0) + ns end
    end
  end
  return parts(map, count, begins, ends)
end

---@param map cprof.TokenMap
---@param counted table<cprof.MappedPrototype, cprof.Sums>
---@return cprof.Expression[]
function expressions.of(map, counted)
  local count = {}
  local begins, ends = extents(map.tokens)
  for _, p in ipairs(map.prototypes) do
    local live = instructions.reachable(p.code)
    for i = 1, #p.code do
      local token = p.token[i] and stands_at(map.tokens, begins, p, i)
      local ran = counted[p].ran[i]
      if (live[i] or ran > 0) and token and
         not structure[map.tokens.kind[token]] and
         counts_for_token(p.code, i) then
        -- the code after the test there uses its value
        count[token] = count[token] or ran
      end
    end
  end
  return parts(map, count, begins, ends)
end

return expressions
