-- pprof: profile.proto, not compressed, which its readers accept. What
-- refers to something may come before it, so all is written as it is met.

local core = require "cprof.core"
local encode = require "cprof.export.encode"

local pprof = {}

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
      out(bytes(6, encode.utf8(s)))
    end
    return ids[s]
  end
  id ""
  return id
end

local function header(p, out, id)
  local time = id "time"
  local ns = integer(1, time) .. integer(2, id "nanoseconds")
  out(bytes(1, integer(1, id "calls") .. integer(2, id "count")))
  out(bytes(1, ns))
  -- there are names for all: they need not be looked for elsewhere
  out(bytes(3, integer(1, 1) .. integer(7, 1) .. integer(8, 1) ..
    integer(9, 1)))
  out(integer(9, p.meta.started_at * 1000000000))
  out(integer(10, p.meta.wall_ns))
  out(bytes(11, ns) .. integer(12, 1))
  out(integer(13, id(("cprof %s, mode %s, clock %s"):format(
    p.meta.cprof_version, p.meta.mode, p.meta.clock))))
  out(integer(13, id(encode.program(p))))
  out(integer(14, time))
end

-- Functions go by their titles. Names that look like C++ would lose their
-- parentheses, unless the system knows them by other names.
local function define(f, out, id)
  local title = f.title ~= "" and f.title or '""'
  out(bytes(5, integer(1, f.id) .. integer(2, id(title)) ..
    integer(3, id(f.name ~= title and f.name or "")) ..
    integer(4, id(encode.file(f) or "")) ..
    integer(5, encode.first(f))))
end

-- the packed id of the place where a function is: the line of a call,
-- or where it begins
local function locations(p, out, id)
  local known, count = {}, 0
  return function(func, line)
    local f = p.functions[func]
    if f.kind == "zone" then line = 0
    elseif line == 0 then line = encode.first(f) end
    local key = func << 32 | line
    local packed = known[key]
    if packed then return packed end
    count = count + 1
    packed = varint(count)
    known[key] = packed
    if not known[-func] then
      known[-func] = true
      define(f, out, id)
    end
    out(bytes(4, integer(1, count) .. integer(2, 1) ..
      bytes(4, integer(1, func) .. integer(2, line))))
    return packed
  end
end

---@param p cprof.Profile
---@param out fun(s: string)
function pprof.write(p, out)
  local id = strings(out)
  header(p, out, id)
  local location = locations(p, out, id)
  -- by depth below 0, so that the leaf comes first
  local path, func_at = {}, {}
  for _, depth, func, line, calls, self_ns in core.walk(p.nodes) do
    path[-depth], func_at[depth] = location(func, 0), func
    if depth > 0 then
      path[1 - depth] = location(func_at[depth - 1], line)
    end
    if calls > 0 or self_ns > 0 then
      -- the root only stands for itself
      local stack = table.concat(path, "", -depth, depth > 0 and -1 or 0)
      out(bytes(2, bytes(1, stack) ..
        bytes(2, varint(calls) .. varint(self_ns))))
    end
  end
end

return pprof
