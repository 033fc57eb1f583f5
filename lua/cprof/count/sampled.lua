-- Samples: the margin of error of shares, and the instructions that a sample
-- counts for.

local core = require "cprof.core"
local instructions = require "cprof.count.instructions"
local lists = require "cprof.text.lists"

local op = instructions.of "Lua 5.4"

local sampled = {}

-- {======================================================
-- Intervals
-- =======================================================

local z <const> = 1.96 -- 95 %

---How far a share estimated from `n` samples may be from the true one, with
---95 % confidence: the farther end of Wilson's interval.
---@param share number  0 to 1
---@param n integer
---@return number
function sampled.interval(share, n)
  if n < 1 then return 1 end
  share = math.max(0, math.min(share, 1))
  local whole = 1 + z * z / n
  local middle = (share + z * z / (2 * n)) / whole
  return math.abs(middle - share) + z / whole *
    math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
end

---The number of samples that found the program waiting.
---@param rows cprof.Row[]
---@return number
function sampled.waits(rows)
  local n = 0
  for _, row in ipairs(rows) do
    if row.self > 0 then n = n + row.count * (row.self_wait / row.self) end
  end
  return n
end

---Sets what samples from `from` to `to`, in ns, are worth, by the time axis.
---@param meta cprof.Meta
---@param axis userdata
---@param from? number
---@param to? number
function sampled.weigh(meta, axis, from, to)
  local running, waiting = core.axis_worth(axis, from or 0, to or math.huge)
  meta.worth_running = running < 1000 and running or nil
  meta.worth_waiting = waiting < 1000 and waiting or nil
end

---The effective number of `n` samples, and of those `waits` among them that
---found the program waiting. `running` and `waiting` are what one sample of
---each kind is worth, 0 to 1. If `waits` is nil, the lower of the two holds for
---all.
---@param n integer
---@param waits number?
---@param running number
---@param waiting number
---@return number all
---@return number? waits
function sampled.worth(n, waits, running, waiting)
  if not waits then return n * math.min(running, waiting) end
  local lost = waits * (1 - waiting)
  return n - (n - waits) * (1 - running) - lost, waits - lost
end

---The number of samples to assume for shares of wall time, if `waits` of `n`
---samples are about waiting and the others about CPU time. The two may be
---sampled at different rates: this assumes the lower rate for both. A range
---may end within a wait, before its sample: such time is known all the same,
---so a part that has time counts as one sample at least.
---@param n number
---@param waits number
---@param share number  the share of waiting in the time, 0 to 1
---@return integer
function sampled.both(n, waits, share)
  local least = n
  local runs = n - waits
  if share > 0 then least = math.min(least, math.max(waits, 1) / share) end
  if share < 1 then least = math.min(least, math.max(runs, 1) / (1 - share)) end
  return math.floor(least)
end

---With fewer samples, no shares are shown.
sampled.few = 4

---The share below which a function may well have no sample: one in 20
---functions with this share has none.
---@param n integer
---@return number
function sampled.least(n) return math.min(3 / math.max(n, 1), 1) end

-- }======================================================


-- {======================================================
-- Instructions
--
-- Lua checks for a hook only after instructions that may have set one: calls,
-- taken jumps, and those that may always run a metamethod. So a sample is
-- seen after a stretch of instructions and may be about any of them. They
-- share it, weighted by the time that each usually takes.
-- =======================================================

-- Lua checks for a hook after these, and after VARARGPREP
local looks = {
  [op.JMP] = true, [op.CALL] = true, [op.FORLOOP] = true,
  [op.TFORCALL] = true, [op.TFORLOOP] = true,
  [op.EQ] = true, [op.LEN] = true, [op.CONCAT] = true, [op.CLOSE] = true,
  [op.TBC] = true, [op.VARARG] = true,
}

-- these never continue at the next instruction
local leaves = {
  [op.TAILCALL] = true, [op.RETURN] = true, [op.RETURN0] = true,
  [op.RETURN1] = true, [op.LFALSESKIP] = true,
}

-- how long instructions take relative to a move; EXTRAARG, which is part of
-- another instruction, takes nothing
local weights = {
  [op.MMBIN] = 0, [op.MMBINI] = 0, [op.MMBINK] = 0,
  [op.NEWTABLE] = 12, [op.CONCAT] = 16, [op.CLOSURE] = 12, [op.CALL] = 6,
  [op.TFORCALL] = 6, [op.SETLIST] = 4, [op.POW] = 6, [op.POWK] = 6,
  [op.MOD] = 3, [op.MODK] = 3, [op.IDIV] = 3, [op.IDIVK] = 3, [op.DIV] = 2,
  [op.DIVK] = 2,
}
-- instructions that access tables
for o = op.GETTABUP, op.SELF do weights[o] = weights[o] or 2 end

local function weight(c, i)
  local o = c.code[i] & 0x7f
  return o == c.op.EXTRAARG and 0 or weights[o] or 1
end

local function looks_after(c, i)
  local o = c.code[i] & 0x7f
  return looks[o] or o == c.op.VARARGPREP
end

local function is_metamethod(code)
  local o = code & 0x7f
  return o >= op.MMBIN and o <= op.MMBINK
end

-- the jumps in a function's code: target -> sources, and the set of targets of
-- backward jumps
local function flow(c)
  local from, back = {}, {}
  for i = 1, c.n do
    local code = c.code[i]
    local o = code & 0x7f
    local to = instructions.target(c.code, i)
    if o == op.JMP and i > 1 and instructions.is_test(c.code[i - 1]) then
      to = nil  -- the jump counts as the test's
    end
    if o == op.FORPREP or o == op.TFORPREP then to = nil end
    if to and to >= 1 and to <= c.n then
      lists.add(from, to, i)
      if to <= i then back[to] = true end
    end
  end
  return from, back
end

-- the instruction that runs before `i` if `i` is not reached by a jump
local function before(c, i)
  i = i - 1
  while i >= 1 and is_metamethod(c.code[i]) do i = i - 1 end
  if i < 1 then return nil end
  local o = c.code[i] & 0x7f
  if o == op.JMP then
    -- a jump after a test is not taken here
    return i > 1 and instructions.is_test(c.code[i - 1]) and i - 1 or nil
  end
  return not leaves[o] and i or nil
end

-- For each instruction: the one before it in the stretch that it ends (0: it
-- begins that stretch), and the weight of the stretch.
local function stretches(c, back, weigh)
  local previous, whole = {}, { [0] = 0 }
  for i = 1, c.n do
    local last = not back[i] and before(c, i) or 0
    if last > 0 and looks_after(c, last) then last = 0 end
    previous[i] = last
    whole[i] = weigh(c, i) + whole[last]
  end
  return previous, whole
end

-- n * part // whole, without an overflow on the way
local function share(n, part, whole)
  return n // whole * part + n % whole * part // whole
end

-- The stretches that end before a sample seen at `i`, by their last
-- instructions; and the single instruction that the sample may be about instead
-- of a stretch (nil: there is none).
local function seen_at(c, i, from)
  local ends, alone = {}, nil
  table.move(from[i] or {}, 1, #(from[i] or {}), 1, ends)
  local last = before(c, i)
  if last and (#ends == 0 or looks_after(c, last)) then
    local o = c.code[last] & 0x7f
    -- Lua checks before a call, too
    if o == op.CALL or o == op.TFORCALL then alone = last
    else ends[#ends + 1] = last
    end
  elseif #ends == 0 then alone = i
  end
  return ends, alone
end

-- Divides the `ns` of a sample by weight: among the stretches that end with
-- `ends`, and the instruction `alone`, see `seen_at`. Stretches have their
-- weights in `whole`, and get their parts in `of`; the instruction has the
-- weight `own`, and gets its part in `to`.
local function note(of, to, ns, ends, alone, whole, own)
  local all, left = alone and own or 0, ns
  for _, i in ipairs(ends) do all = all + whole[i] end
  for _, i in ipairs(ends) do
    local part = all > 0 and share(ns, whole[i], all) or 0
    of[i], left = of[i] + part, left - part
  end
  if alone then to[alone] = to[alone] + left
  else of[ends[1]] = of[ends[1]] + left
  end
end

-- Divides what was added to stretches among their instructions, by weight, and
-- adds it to these. Each instruction takes its part of what has come to it,
-- and leaves the rest to the one before it: so it is looked at once, however
-- many stretches it is in.
local function divide(c, of, to, previous, whole, weigh)
  for i = c.n, 1, -1 do
    local ns, last = of[i], previous[i]
    if ns ~= 0 then
      local part = ns
      if last > 0 and whole[i] > 0 then
        part = share(ns, weigh(c, i), whole[i])
        of[last] = of[last] + ns - part
      end
      to[i] = to[i] + part
    end
  end
end

local function zeros(n)
  local out = {}
  for i = 1, n do out[i] = 0 end
  return out
end

-- Divides figures noticed before instructions (`before_it`) and while they
-- called or returned (`within`) among instructions. `direct`: were the
-- instructions of samples known? Otherwise, only their lines were.
local function spread(c, direct, before_it, within, weigh)
  if not direct then return table.move(within, 1, c.n, 1, {}) end
  local out, of, previous, whole = zeros(c.n), nil, nil, nil
  for i = 1, c.n do
    local seen, own = before_it[i], within[i]
    if (seen > 0 or own > 0) and not of then
      if not c.from then c.from, c.back = flow(c) end
      of = zeros(c.n)
      previous, whole = stretches(c, c.back, weigh)
    end
    if seen > 0 then
      local ends, alone = seen_at(c, i, c.from)
      note(of, out, seen, ends, alone, whole, alone and weigh(c, alone))
    end
    if own > 0 then of[i] = of[i] + own end
  end
  if of then divide(c, of, out, previous, whole, weigh) end
  return out
end

---How a sample that found an instruction is divided among lines.
---@param c cprof.Counted
---@param direct boolean   whether instructions were known, not only lines
---@param i integer        the instruction
---@param within boolean   was it noticed while the instruction ran, not before?
---@param whole integer
---@return table<integer, integer>  line -> its part of `whole`
function sampled.parts(c, direct, i, within, whole)
  local none, one, out = zeros(c.n), zeros(c.n), {}
  one[i] = whole
  local parts = spread(c, direct, within and none or one,
    within and one or none, weight)
  for at = 1, c.n do
    local line = c.line[at]
    if parts[at] ~= 0 and line > 0 then
      out[line] = (out[line] or 0) + parts[at]
    end
  end
  return out
end

---The time of each instruction, in ns.
---@param c cprof.Counted
---@param direct boolean  whether instructions were known, not only lines
---@return integer[]
function sampled.times(c, direct)
  return spread(c, direct, c.step, c.jump, weight)
end

-- how likely instructions allocate, relative to a call
local allocates = {
  [op.NEWTABLE] = 16, [op.CONCAT] = 16, [op.CLOSURE] = 16, [op.SETLIST] = 8,
  [op.SETTABUP] = 2, [op.SETTABLE] = 2, [op.SETI] = 2, [op.SETFIELD] = 2,
  [op.VARARG] = 1, [op.CALL] = 1, [op.TFORCALL] = 1,
}

local function weight_allocated(c, i)
  return allocates[c.code[i] & 0x7f] or 0
end

-- the figures of each instruction: allocations, bytes, bytes in use
local function allocated(c, text, direct)
  if not text then return nil end
  local a = instructions.allocated(text)
  local function of(before_it, within)
    return spread(c, direct, before_it, within, weight_allocated)
  end
  return of(a.before_allocs, a.allocs), of(a.before_bytes, a.bytes),
    of(a.before_live, a.live)
end

---The lines of functions, in the form of `lines.each`, without hits.
---@param raw { counters?: string, allocated_at?: string }[]
---@param direct boolean
---@param version? string  see instructions.read
---@return integer[]
function sampled.lines(raw, direct, version)
  local out = {}
  for func, f in ipairs(raw) do
    if f.counters then
      local c = instructions.read(f.counters, version)
      instructions.add_lines(out, func, c.line, {},
        { sampled.times(c, direct), allocated(c, f.allocated_at, direct) })
    end
  end
  return out
end

-- }======================================================

return sampled
