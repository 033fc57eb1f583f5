-- pprof: profile.proto, compressed where it can be; its readers accept both.
-- What refers to something may come before it, so all is written as it is
-- met. In mode "line", a function's own time is on its lines, and its calls
-- are where it begins. Samples are on the lines, as their times are.

local core = require "cprof.core"
local encode = require "cprof.export.encode"
local escape = require "cprof.encoding.escape"
local gzip = require "cprof.encoding.gzip"
local measured = require "cprof.count.measured"
local name = require "cprof.source.name"
local spread = require "cprof.export.spread"

local pprof = {}

---@param f cprof.Function
---@param lines integer
---@return cprof.FormatSize
function pprof.size(f, lines)
  return { node = 2, copies = lines + 1, once = #f.title + #f.name + 40 }
end

local char = string.char

local function varint(n)
  if n < 0x80 then return char(n) end
  if n < 0x4000 then return char(n & 0x7F | 0x80, n >> 7) end
  return char(n & 0x7F | 0x80, n >> 7 & 0x7F | 0x80) .. varint(n >> 14)
end

local function integer(field, n)
  return n == 0 and "" or varint(field << 3) .. varint(n)
end

local function bytes(field, s)
  return varint(field << 3 | 2) .. varint(#s) .. s
end

-- strings by number; those that are new are written
local function strings(out)
  local ids, count = {}, 0
  local function id(s)
    if not ids[s] then
      ids[s], count = count, count + 1
      out(bytes(6, escape.utf8(s)))
    end
    return ids[s]
  end
  id ""
  return id
end

-- has a profile times of waiting?
local function waited(p) return (p.meta.waiting_ns or 0) > 0 end

local function header(p, out, id)
  local counts = encode.counts(p)
  local main = id(counts and "instructions" or "time")
  local unit = integer(1, main) ..
    integer(2, id(counts and "count" or "nanoseconds"))
  out(bytes(1, integer(1, id(p.samples and "samples" or "calls")) ..
    integer(2, id "count")))
  out(bytes(1, unit))
  if waited(p) then
    out(bytes(1, integer(1, id "cpu") .. integer(2, id "nanoseconds")))
    out(bytes(1, integer(1, id "wait") .. integer(2, id "nanoseconds")))
  end
  if p.meta.memory then
    out(bytes(1, integer(1, id "alloc_objects") .. integer(2, id "count")))
    out(bytes(1, integer(1, id "alloc_space") .. integer(2, id "bytes")))
  end
  if p.meta.live_interval then
    out(bytes(1, integer(1, id "inuse_objects") .. integer(2, id "count")))
    out(bytes(1, integer(1, id "inuse_space") .. integer(2, id "bytes")))
  end
  -- there are names for all: they need not be looked for elsewhere
  out(bytes(3, integer(1, 1) .. integer(7, 1) .. integer(8, 1) ..
    integer(9, 1)))
  out(integer(9, p.meta.started_at * 1000000000))
  out(integer(10, p.meta.wall_ns or 0))
  out(bytes(11, unit) .. integer(12, 1))
  for _, comment in ipairs(encode.comments(p)) do
    out(integer(13, id(comment)))
  end
  out(integer(13, id(encode.program(p))))
  out(integer(14, main))
end

-- Functions go by their titles. Names that look like C++ would lose their
-- parentheses, unless the system knows them by other names.
local function define(number, f, file, out, id)
  local title = f.title ~= "" and f.title or '""'
  out(bytes(5, integer(1, number) .. integer(2, id(title)) ..
    integer(3, id(f.name ~= title and f.name or "")) ..
    integer(4, id(file)) .. integer(5, name.first_line(f))))
end

-- Functions by number. A zone is in the file of the function that has
-- opened it, and may be so in several.
local function functions(p, out, id)
  local known, count = {}, 0
  return function(func, owner)
    local f = p.functions[func]
    local file = name.file(p.functions[owner]) or ""
    local key = f.kind == "zone" and func .. file or func
    if not known[key] then
      count = count + 1
      known[key] = count
      define(count, f, file, out, id)
    end
    return known[key]
  end
end

-- The packed id of the place where a function is: a line of the function
-- that has opened it, if it is a zone; without one, where it begins.
local function locations(p, out, id)
  local number = functions(p, out, id)
  local known, count = {}, 0
  return function(func, line, owner)
    if line == 0 then line = name.first_line(p.functions[func]) end
    local of = number(func, owner)
    local key = of << 32 | line
    if not known[key] then
      count = count + 1
      known[key] = varint(count)
      out(bytes(4, integer(1, count) .. integer(2, 1) ..
        bytes(4, integer(1, of) .. integer(2, line))))
    end
    return known[key]
  end
end

-- the stack of a node, by depth
local function stacks(p, out, id)
  local location = locations(p, out, id)
  -- packed locations by depth below 0, so that the leaf comes first
  local packed, func_at, owner_at = {}, {}, {}
  local stack = {}

  -- zones are where the function is that has opened them
  function stack.set_line(depth, line)
    local owner = depth
    while owner > 0 and owner_at[owner] ~= func_at[owner] do
      owner = owner - 1
    end
    for d = owner, depth do
      packed[-d] = location(func_at[d], line, owner_at[d])
    end
  end

  function stack.enter(depth, func, call_line)
    local zone = p.functions[func].kind == "zone" and depth > 0
    func_at[depth] = func
    owner_at[depth] = zone and owner_at[depth - 1] or func
    if depth > 0 then stack.set_line(depth - 1, call_line) end
    packed[-depth] = location(func, 0, owner_at[depth])
    return owner_at[depth]
  end

  function stack.sample(depth, calls, figures)
    -- the root only stands for itself
    local path = table.concat(packed, "", -depth, depth > 0 and -1 or 0)
    local values = { varint(calls) }
    for i, n in ipairs(figures) do values[i + 1] = varint(n) end
    out(bytes(2, bytes(1, path) .. bytes(2, table.concat(values))))
  end

  return stack
end

-- what a node has beside its calls, and how that is on its lines
local function spreads(p)
  local out = { spread.new(p) }
  local function add(...)
    for _, what in ipairs { ... } do
      out[#out + 1] = spread.new(measured.profile(p, what))
    end
  end
  if waited(p) then add("cpu", "wait") end
  if p.meta.memory then add("allocs", "bytes") end
  if p.meta.live_interval then add("blocks", "live") end
  return out
end

local function any_of(figures)
  for _, n in ipairs(figures) do
    if n > 0 then return true end
  end
  return false
end

-- divides a node's figures: { line, figures } of each line, and the rest
local function divided(by, owner, figures)
  local list, at, rest = {}, {}, {}
  for k, share_of in ipairs(by) do
    local lines, shares, left = share_of(owner, figures[k])
    rest[k] = left or figures[k]
    for i, n in ipairs(lines or {}) do
      if (shares[i] or 0) > 0 then
        if not at[n] then
          at[n] = { n, {} }
          for other = 1, #by do at[n][2][other] = 0 end
          list[#list + 1] = at[n]
        end
        at[n][2][k] = shares[i]
      end
    end
  end
  return list, rest
end

-- The samples of a node on its lines, and the rest of them. What was rounded
-- goes to the line that has most.
local function sampled(list, figures, rest, samples)
  for k, left in ipairs(rest) do
    local most
    for _, at in ipairs(list) do
      if not most or at[2][k] > most[k] then most = at[2] end
    end
    if most and most[k] > 0 and spread.rounded(left, figures[k]) then
      most[k], rest[k] = most[k] + left, 0
    end
  end
  local times = { rest[1] }
  for i, at in ipairs(list) do times[i + 1] = at[2][1] end
  return spread.samples(samples, times)
end

---@param p cprof.Profile
---@param write fun(s: string)
function pprof.write(p, write)
  local out = gzip.writer(write)
  local id = strings(out)
  header(p, out, id)
  local stack, by = stacks(p, out, id), spreads(p)
  local waits, allocates = waited(p), p.meta.memory
  for _, depth, func, line, calls, ns, _, raw, allocs, space, blocks, live,
    wait in core.walk(p.nodes) do
    local owner = stack.enter(depth, func, line)
    local figures = { ns }
    if waits then table.move({ ns - wait, wait }, 1, 2, 2, figures) end
    if allocates then
      table.move({ allocs, space, math.max(blocks, 0), math.max(live, 0) }, 1,
        4, #figures + 1, figures)
    end
    local lines, rest = divided(by, owner, figures)
    local samples = p.samples and sampled(lines, figures, rest, raw)
    if samples then calls = samples[1] end
    if calls > 0 or any_of(rest) then stack.sample(depth, calls, rest) end
    for i, at in ipairs(lines) do
      stack.set_line(depth, at[1])
      stack.sample(depth, samples and samples[i + 1] or 0, at[2])
    end
  end
  out()
end

return pprof
