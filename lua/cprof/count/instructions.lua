-- Counters of instructions, in the format of the recorder: how often each ran
-- and where the function continued. See src/identity/line.h.

local lists = require "cprof.text.lists"

local byte_form <const> = "=I8I8I8I8I4i4"
local SIZE <const> = string.packsize(byte_form)

local pack, unpack = string.pack, string.unpack

local instructions = {}

-- the opcodes that matter here
local op = {
  LFALSESKIP = 6, LOADTRUE = 7, GETTABUP = 11, SETTABUP = 15,
  SETTABLE = 16, SETI = 17, SETFIELD = 18, NEWTABLE = 19, SELF = 20,
  MODK = 25, POWK = 26, DIVK = 27, IDIVK = 28, MOD = 37, POW = 38, DIV = 39,
  IDIV = 40, MMBIN = 46, MMBINI = 47, MMBINK = 48, LEN = 52, CONCAT = 53,
  CLOSE = 54, TBC = 55, JMP = 56, EQ = 57, TESTSET = 67, CALL = 68,
  TAILCALL = 69, RETURN = 70, RETURN0 = 71, RETURN1 = 72, VARARG = 80,
  FORLOOP = 73, FORPREP = 74, TFORPREP = 75, TFORCALL = 76, TFORLOOP = 77,
  SETLIST = 78, CLOSURE = 79,
}

-- Lua 5.5 has two more opcodes before the last two
local ops <const> = {
  ["Lua 5.4"] = setmetatable({ VARARGPREP = 81, EXTRAARG = 82 },
    { __index = op }),
  ["Lua 5.5"] = setmetatable({ VARARGPREP = 83, EXTRAARG = 84 },
    { __index = op }),
}

---The opcodes of a Lua version by name.
---@param version? string  in the form of _VERSION; default: the running Lua
---@return table<string, integer>?  nil: not known
function instructions.of(version) return ops[version or _VERSION] end

instructions.op = ops[_VERSION]

-- Is it a test, which a conditional jump follows?
local function is_test(code)
  local o = code & 0x7f
  return o >= op.EQ and o <= op.TESTSET
end
instructions.is_test = is_test

-- the offset of a jump from the next instruction
local function jump_of(code) return (code >> 7) - 0xffffff end
local function bx(code) return code >> 15 end

---@class cprof.Counted        lists by a function's instructions, from 1; at 0:
---    how the function was entered
---@field n integer            number of instructions
---@field count integer[]      events of each; `ran` tells how often it ran
---@field step integer[]       how often the event after it was at the next
---    instruction
---@field skip integer[]       how often that was at the second next one
---@field jump integer[]       how often that was at any other
---@field code integer[]
---@field line integer[]       0: not known
---@field op table<string, integer>  of the Lua that ran them

---@param counters string      as the recorder gives them
---@param version? string      the Lua that was recorded; default: this one
---@return cprof.Counted
function instructions.read(counters, version)
  local count, step, skip, jump, code, line = {}, {}, {}, {}, {}, {}
  local n = #counters // SIZE - 1
  for i = 0, n do
    count[i], step[i], skip[i], jump[i], code[i], line[i] =
      unpack(byte_form, counters, i * SIZE + 1)
  end
  return { n = n, count = count, step = step, skip = skip, jump = jump,
           code = code, line = line, op = ops[version or _VERSION] }
end

---The fields from a record, in the order of the string.
---@param c cprof.Counted
---@return string
function instructions.write(c)
  local out = {}
  for i = 0, c.n do
    out[i + 1] = pack(byte_form, c.count[i], c.step[i], c.skip[i], c.jump[i],
      c.code[i], c.line[i])
  end
  return table.concat(out)
end

---Adds up the counters of a function's instructions. These sums are limited in
---a file, see sum_instructions in src/profile/possible.c.
---@param counters string      as the recorder gives them
---@return integer counts
---@return integer moves       `step` and `jump` together
---@return integer most        the largest `skip`
function instructions.sums(counters)
  local counts, moves, most = 0, 0, 0
  for at = 1, #counters, SIZE do
    local count, step, skip, jump = unpack(byte_form, counters, at)
    counts, moves = counts + count, moves + step + jump
    most = math.max(most, skip)
  end
  return counts, moves, most
end

local allocated_form <const> = "=I8I8I8I8i8i8"
local ALLOCATED <const> = string.packsize(allocated_form)

---@class cprof.AllocatedAt      lists by a function's instructions, from 1
---@field n integer              number of instructions
---@field before_allocs integer[]  mode "sample": noticed before it ran
---@field before_bytes integer[]
---@field allocs integer[]       mode "sample": noticed while it called or
---    returned; other modes: all
---@field bytes integer[]
---@field before_live integer[]  bytes in use
---@field live integer[]

---@param text string            as the recorder gives it
---@return cprof.AllocatedAt
function instructions.allocated(text)
  local ba, bb, a, b, bl, l = {}, {}, {}, {}, {}, {}
  local n = #text // ALLOCATED - 1
  for i = 0, n do
    ba[i], bb[i], a[i], b[i], bl[i], l[i] =
      unpack(allocated_form, text, i * ALLOCATED + 1)
  end
  return { n = n, before_allocs = ba, before_bytes = bb, allocs = a,
           bytes = b, before_live = bl, live = l }
end

---Adds up the allocations of two functions with the same code.
---@param a string
---@param b string
---@return string
function instructions.add_allocated(a, b)
  if #a ~= #b then return a end
  local out = {}
  for at = 1, #a, ALLOCATED do
    local x, y = { unpack(allocated_form, a, at) },
      { unpack(allocated_form, b, at) }
    for k = 1, 6 do x[k] = x[k] + y[k] end
    out[#out + 1] = pack(allocated_form, table.unpack(x, 1, 6))
  end
  return table.concat(out)
end

---The target of instruction `i` if that is neither the next instruction nor
---the one after it. Damaged code may end between an instruction and its
---argument.
---@param code integer[]
---@param i integer
---@return integer?
function instructions.target(code, i)
  local c, behind = code[i], code[i + 1]
  local o = c & 0x7f
  if is_test(c) then return behind and i + 2 + jump_of(behind)
  elseif o == op.JMP then return i + 1 + jump_of(c)
  elseif o == op.FORLOOP or o == op.TFORLOOP then return i + 1 - bx(c)
  elseif o == op.FORPREP then return i + 2 + bx(c)
  elseif o == op.TFORPREP then return i + 3 + bx(c)
  elseif o == op.TFORCALL then return behind and i + 2 - bx(behind)
  end
end

---The final target of a jump to an instruction: Lua shortcuts jumps to jumps.
---@param code integer[]
---@param i integer
---@return integer
function instructions.destination(code, i)
  for _ = 1, 100 do  -- as many as Lua looks at
    if not code[i] or code[i] & 0x7f ~= op.JMP then break end
    i = instructions.target(code, i)
  end
  return i
end

---The instructions of a function that can be reached.
---@param code integer[]
---@return table<integer, boolean>
function instructions.reachable(code)
  local seen, todo = {}, { 1 }
  while #todo > 0 do
    local i = table.remove(todo)
    if i and code[i] and not seen[i] then
      seen[i] = true
      local o = code[i] & 0x7f
      local to = instructions.target(code, i)
      if is_test(code[i]) then
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

---How often each instruction ran, including those without events because the
---previous instruction does their work.
---@param c cprof.Counted
---@return integer[]
function instructions.ran(c)
  local out = table.move(c.count, 1, c.n, 1, {})
  for i = 1, c.n do
    local code = c.code[i]
    local o = code & 0x7f
    if is_test(code) then
      out[i + 1] = instructions.decided(c, i) or c.count[i + 1]
    elseif o == op.TFORPREP then
      local call = i + 1 + bx(code)
      if call <= c.n then
        out[call] = out[call] + c.count[i]
        -- if an iterator yields, the instructions after it have events, too
        out[call + 1] = c.skip[call] + c.jump[call] + c.step[call] +
          c.step[i] + c.jump[i]
      end
    elseif o == c.op.VARARGPREP then
      out[i] = c.step[0] + c.skip[0]
    end
  end
  return out
end

---How often a test took its jump, and how often it did not; nil: not known,
---since both ways lead to the same instruction.
---@param c cprof.Counted
---@param i integer
---@return integer? jumped, integer stayed
function instructions.decided(c, i)
  if instructions.target(c.code, i) == i + 2 then return nil, 0 end
  return c.jump[i] + c.step[i], c.skip[i]
end

-- calls visit(from, to, times) for each step that a hook can see
local function each_step(c, visit)
  for i = 1, c.n do
    -- TFORPREP jumps to the iterator's call at the end of the loop
    local from = c.code[i] & 0x7f == op.TFORPREP and i + 1 + bx(c.code[i]) or i
    if c.step[i] > 0 and i < c.n then visit(from, i + 1, c.step[i]) end
    if c.skip[i] > 0 and i + 1 < c.n then visit(from, i + 2, c.skip[i]) end
    local to = c.jump[i] > 0 and instructions.target(c.code, i)
    if to and to >= 1 and to <= c.n then visit(from, to, c.jump[i]) end
  end
end

---How often each line was reached, in the sense of Lua's line hook: from
---another line, or by a backward jump.
---@param c cprof.Counted
---@return table<integer, integer>
function instructions.hits(c)
  local line, out = c.line, {}
  local function come(i, times)
    if times > 0 and line[i] and line[i] > 0 then
      out[line[i]] = (out[line[i]] or 0) + times
    end
  end
  come(1, c.step[0])
  come(2, c.skip[0])
  each_step(c, function(from, to, times)
    if to <= from or line[from] ~= line[to] then come(to, times) end
  end)
  return out
end

---Appends the lines of a function, in the form of `lines.each`.
---@param out integer[]
---@param func integer
---@param line integer[]       of each instruction
---@param hits table<integer, integer>  of lines
---@param figures integer[][]  of each instruction: ns or instructions,
---    allocations, bytes, bytes in use; nil: none
function instructions.add_lines(out, func, line, hits, figures)
  local sums, order = {}, {}
  for i = 1, #line do
    local at = line[i]
    for k = 1, 4 do
      local n = figures[k] and figures[k][i] or 0
      if at > 0 and n ~= 0 then
        if not sums[at] then
          order[#order + 1] = at
          sums[at] = { 0, 0, 0, 0 }
        end
        sums[at][k] = sums[at][k] + n
      end
    end
  end
  table.sort(order)
  for _, at in ipairs(order) do
    local n, sum = #out, sums[at]
    out[n + 1], out[n + 2], out[n + 3] = func, at, hits[at] or 0
    out[n + 4], out[n + 5] = sum[1], sum[1]
    out[n + 6], out[n + 7], out[n + 8] = sum[2], sum[3], sum[4]
    out[n + 9] = 0  -- ns of waiting
  end
end

---The lines of functions, in the form of `lines.each`, with instructions
---instead of times.
---@param raw { counters?: string, allocated_at?: string }[]
---@return integer[]
function instructions.lines(raw)
  local out = {}
  for func, f in ipairs(raw) do
    if f.counters then
      local c = instructions.read(f.counters)
      local a = f.allocated_at and instructions.allocated(f.allocated_at) or {}
      instructions.add_lines(out, func, c.line, instructions.hits(c),
        { c.count, a.allocs, a.bytes, a.live })
    end
  end
  return out
end

local function is_plain_jump(c, i)
  return c.code[i] & 0x7f == op.JMP and not (i > 1 and is_test(c.code[i - 1]))
end

-- The jumps of each line that consists of jumps of which none ran. Unreachable
-- instructions are ignored: Lua 5.5 leaves one after a jump.
local function only_jumps(c, ran)
  local out, other = {}, {}
  local live
  for i = 1, c.n do
    local line = c.line[i]
    if line == 0 or ran[i] > 0 then other[line] = true
    elseif is_plain_jump(c, i) then
      lists.add(out, line, i)
    else
      live = live or instructions.reachable(c.code)
      if live[i] then other[line] = true end
    end
  end
  for line in pairs(other) do out[line] = nil end
  return out
end

-- the targets of jumps that ran: target -> first jump to it
local function reached(c, ran)
  local from = {}
  for i = c.n, 1, -1 do
    if c.code[i] & 0x7f == op.JMP and ran[i] > 0 then
      from[instructions.target(c.code, i)] = i
    end
  end
  return from
end

---Lines that may have run although none of their instructions did: `break` and
---`goto` are single jumps, and Lua redirects jumps to them to their target.
---@param c cprof.Counted
---@return table<integer, true>
function instructions.bypassed(c)
  local ran, out = instructions.ran(c), {}
  local from = reached(c, ran)
  for line, jumps in pairs(only_jumps(c, ran)) do
    for _, i in ipairs(jumps) do
      local jump = from[instructions.target(c.code, i)]
      if jump and jump < i then out[line] = true end
    end
  end
  return out
end

---Adds up the counters of two functions with the same code; the lines are
---those of `a`.
---@param a string
---@param b string
---@return string
---@return boolean added  false: the code differs, and the result is `a`
function instructions.add(a, b)
  if #a ~= #b then return a, false end
  local x, y = instructions.read(a), instructions.read(b)
  for i = 0, x.n do
    if x.code[i] ~= y.code[i] then return a, false end
  end
  for _, key in ipairs { "count", "step", "skip", "jump" } do
    for i = 0, x.n do
      x[key][i] = math.min(x[key][i] + y[key][i], math.maxinteger // 2)
    end
  end
  return instructions.write(x), true
end

return instructions
