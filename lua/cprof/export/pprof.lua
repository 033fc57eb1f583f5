-- The pprof format: profile.proto, compressed if lua-zlib is there; readers
-- accept both. The parts of the file may be in any order, so each is written
-- as soon as it is met. In mode "line", the self time of a function is on its
-- lines, and its calls are on the line where it begins. In mode "sample", the
-- samples are on the lines, in proportion to the times there. Samples have the
-- labels that were set when they were recorded.

local core = require "cprof.core"
local encode = require "cprof.export.encode"
local escape = require "cprof.encoding.escape"
local gzip = require "cprof.encoding.gzip"
local labels = require "cprof.count.labels"
local lists = require "cprof.text.lists"
local measure = require "cprof.count.measure"
local name = require "cprof.source.name"
local protobuf = require "cprof.encoding.protobuf"
local spread = require "cprof.export.spread"

local pprof = {}

---@param f cprof.Function
---@param lines integer
---@return cprof.FormatSize
function pprof.size(f, lines)
  local keys = f.labels and lists.keys(f.labels) or {}
  return { node = 2 + 10 * #keys, copies = lines + 1,
    once = #f.title + #f.name + 40 }
end

local bytes, varint = protobuf.bytes, protobuf.varint

-- Readers take 0 for a field that is not there.
local function integer(field, n)
  return n == 0 and "" or protobuf.number(field, n)
end

-- Returns a function for the number of a string; it writes strings that are
-- new.
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

-- what a pprof file has of each node, after calls or samples
local function measures_of(p)
  local out = { p.measure }
  for _, row in ipairs(measure.others(p)) do
    if row.pprof then out[#out + 1] = row end
  end
  return out
end

local function header(p, measures, out, id)
  local function kind(what, unit)
    return integer(1, id(what)) .. integer(2, id(unit))
  end
  out(bytes(1, kind(p.samples and "samples" or "calls", "count")))
  for _, row in ipairs(measures) do
    out(bytes(1, kind(row.pprof[1], row.pprof[2])))
  end
  -- the mapping says that functions, files and lines have names, so readers
  -- look for no binary
  out(bytes(3, integer(1, 1) .. integer(7, 1) .. integer(8, 1) ..
    integer(9, 1)))
  out(integer(9, p.meta.started_at * 1000000000))
  out(integer(10, p.meta.wall_ns or 0))
  local own = p.measure.pprof
  out(bytes(11, kind(own[1], own[2])) .. integer(12, 1))
  for _, comment in ipairs(encode.comments(p)) do
    out(integer(13, id(comment)))
  end
  out(integer(13, id(encode.program(p))))
  out(integer(14, id(own[1])))
end

-- Writes a function, under its title. pprof removes parentheses from a name
-- that it takes for C++, unless the system name (field 3) is another one.
local function define(number, f, file, out, id)
  local title = f.title ~= "" and f.title or '""'
  out(bytes(5, integer(1, number) .. integer(2, id(title)) ..
    integer(3, id(f.name ~= title and f.name or "")) ..
    integer(4, id(file)) .. integer(5, name.first_line(f))))
end

-- Returns a function for the number of a function. A zone is in the file of
-- `owner`, the function that opened it, and has a number for each such file.
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

-- Returns a function for the packed id of a location: a line of a function. The
-- line of a zone is in the file of `owner`, the function that opened it. Line 0
-- is the one where the function begins.
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

-- Returns a function for the labels of a node: { of = keys and values,
-- written = labels of its samples }, given those of the node above, and its
-- function.
-- All values are text: pprof takes numbers for sizes, and leaves out 0.
local function labelling(p, id)
  local function written(of)
    local out = {}
    for i, key in ipairs(lists.keys(of)) do
      out[i] = bytes(3, integer(1, id(key)) ..
        integer(2, id(labels.text(of[key]))))
    end
    return table.concat(out)
  end
  return function(above, func)
    local own = p.functions[func].labels
    if not own then return above end
    if not above[func] then
      local of = {}
      for key, value in pairs(above.of) do of[key] = value end
      for key, value in pairs(own) do of[key] = value end
      above[func] = { of = of, written = written(of) }
    end
    return above[func]
  end
end

-- the stack of the current node: functions and their locations, by depth
local function stacks(p, out, id)
  local location, labelled = locations(p, out, id), labelling(p, id)
  local labels_at = { [-1] = { of = {}, written = "" } }
  -- packed locations; the index is -depth, so that the leaf comes first
  local packed, func_at, owner_at = {}, {}, {}
  local stack = {}

  -- Sets the line of a frame. If it is a zone, the function that opened it,
  -- and the zones between them, are on this line, too.
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
    labels_at[depth] = labelled(labels_at[depth - 1], func)
    return owner_at[depth]
  end

  function stack.sample(depth, calls, figures)
    -- the root is in no other stack than its own
    local path = table.concat(packed, "", -depth, depth > 0 and -1 or 0)
    local values = { varint(calls) }
    for i, n in ipairs(figures) do values[i + 1] = varint(n) end
    out(bytes(2, bytes(1, path) .. bytes(2, table.concat(values)) ..
      labels_at[depth].written))
  end

  return stack
end

-- functions that divide a node's figures by line, by measure; see spread.new
local function spreads(p, measures)
  local out = {}
  for k, row in ipairs(measures) do
    out[k] = spread.new(k == 1 and p or measure.profile(p, row))
  end
  return out
end

local function any_of(figures)
  for _, n in ipairs(figures) do
    if n > 0 then return true end
  end
  return false
end

-- Divides a node's figures by line: a list of { line, figures }, and the
-- figures that are on no line.
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

-- The number of a node's samples that are on no line, then of those on each
-- line. What rounding has left over is added to the line with the largest
-- figure.
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
  local measures = measures_of(p)
  header(p, measures, out, id)
  local stack, by = stacks(p, out, id), spreads(p, measures)
  for _, depth, func, line, calls, own, _, raw, allocs, space, blocks, live,
    wait in core.walk(p.nodes) do
    local owner = stack.enter(depth, func, line)
    local all = { cpu = own - wait, wait = wait, allocs = allocs,
      bytes = space, blocks = blocks, live = live }
    local figures = { own }
    for k = 2, #measures do
      figures[k] = math.max(all[measures[k].figure], 0)
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
