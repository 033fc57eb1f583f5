-- The Callgrind format: functions as in reports, with the calls between them
-- by line. In modes "line" and "sample", the self time and the samples of a
-- function are on its lines; in other modes, on the line where it begins.
-- Recursion counts once: the costs of all calls to a function add up to its
-- total, and recursive calls cost nothing.

local encode = require "cprof.export.encode"
local escape = require "cprof.encoding.escape"
local graph = require "cprof.count.graph"
local group = require "cprof.count.group"
local lines = require "cprof.count.lines"
local lists = require "cprof.text.lists"
local measure = require "cprof.count.measure"
local name = require "cprof.source.name"
local spread = require "cprof.export.spread"

local callgrind = {}

-- Returns a function that compresses names: a name is written as "(1) name"
-- the first time, and as "(1)" after that.
local function compressor()
  local ids, count = {}, 0
  return function(s)
    if ids[s] then return ids[s] end
    count = count + 1
    ids[s] = ("(%d)"):format(count)
    return ids[s] .. " " .. escape.line(s)
  end
end

-- The path of a function as reports show it. callgrind_annotate removes its
-- working directory from the paths of callers, but not from those of callees,
-- so the paths must not contain that directory.
local function file_of(f)
  return f.place or "???"
end

-- the measures that are exported beside the profile's own
local function more_of(p)
  local out = {}
  for _, row in ipairs(measure.others(p)) do
    if row.event then out[#out + 1] = row end
  end
  return out
end

-- Sets `more` of rows and edges: their figures for these measures, in order.
-- Returns the figures of the whole program.
local function add_more(p, more, rows, edges)
  local whole = {}
  for _, row in ipairs(rows) do row.more = {} end
  for _, edge in ipairs(edges) do edge.more = {} end
  for k, what in ipairs(more) do
    local of = measure.profile(p, what)
    local own, total = graph.of(of, group.title, true)
    for i, row in ipairs(rows) do row.more[k] = own[i].self end
    for i, edge in ipairs(edges) do edge.more[k] = total[i].total_in end
    whole[k] = of.measure.whole
  end
  return whole
end

-- Sets `own` of each row, a list of { line, self, other measures' figures },
-- and `known`, the sums over these lines. Both are nil if no line is known.
-- They are also nil if a sum exceeds the row's own figure, because the lines of
-- a function include those of its zones.
local function own_lines(p, more, rows)
  local by_title, counted = {}, p.counted
  for _, row in ipairs(rows) do by_title[row.title] = row end
  local places = { lines.place "self" }
  for k, what in ipairs(more) do places[k + 1] = lines.place(what.line) end
  for at, func, line in lines.each(counted) do
    local row, own, any = by_title[p.functions[func].title], { line }, false
    for k, place in ipairs(places) do
      own[k + 1] = counted[at + place]
      any = any or own[k + 1] > 0
    end
    if any then
      lists.add(row, "own", own)
      row.known = row.known or {}
      for k = 1, #places do
        row.known[k] = (row.known[k] or 0) + own[k + 1]
      end
    end
  end
  for _, row in ipairs(rows) do
    local over = row.known and row.known[1] > row.self
    for k, n in ipairs(row.more) do
      over = over or row.known and row.known[k + 1] > n
    end
    if over then row.own, row.known = nil, nil end
  end
end

-- Adds to the line with the largest figure what rounding has left over, so
-- that the lines add up to the row's own figures. `known` grows with them.
local function give_rounded(row)
  local own, known = row.own, row.known
  for k, all in ipairs { row.self, table.unpack(row.more) } do
    local left, most = all - known[k], own[1]
    for _, line in ipairs(own) do
      if line[k + 1] > most[k + 1] then most = line end
    end
    if spread.rounded(left, all) then
      most[k + 1], known[k] = most[k + 1] + left, known[k] + left
    end
  end
end

-- Sets `samples` of each line; returns the samples that are on no line.
local function samples_of(row)
  local times = { row.self - row.known[1] }
  for i, own in ipairs(row.own) do times[i + 1] = own[2] end
  local counts = spread.samples(row.count, times)
  for i, own in ipairs(row.own) do own.samples = counts[i + 1] end
  return counts[1]
end

-- The figures of `list` as the end of a line of the file, less the figures of
-- the row's lines: these are `known`, from index 2 on; nil: no lines are known.
local function tail(list, known)
  local out = {}
  for k, n in ipairs(list) do
    out[k] = (" %d"):format(n - (known and known[k + 1] or 0))
  end
  return table.concat(out)
end

local function header(p, out, count, more, whole)
  out "# callgrind format\nversion: 1\n"
  out(("creator: cprof %s\n"):format(p.meta.cprof_version))
  out(("cmd: %s\n"):format(encode.program(p)))
  for _, comment in ipairs(encode.comments(p)) do
    out(("desc: %s\n"):format(escape.line(comment)))
  end
  out "positions: line\n"
  if p.measure.event == "Ir" then out "event: Ir : Lua instructions\n" end
  local names = {}
  for k, what in ipairs(more) do names[k] = " " .. what.event end
  out(("events: %s %s%s\n"):format(p.measure.event,
    p.samples and "Samples" or "Calls", table.concat(names)))
  out(("summary: %d %d%s\n"):format(p.measure.whole, count, tail(whole)))
end

local function write_row(row, out, file, label)
  local first = name.first_line(row.func)
  out(("\nfl=%s\n"):format(file(file_of(row.func))))
  out(("fn=%s\n"):format(label(row.label)))
  local sampled = not row.calls and row.own
  if sampled then give_rounded(row) end
  out(("%d %d %d%s\n"):format(first,
    row.self - (row.known and row.known[1] or 0),
    sampled and samples_of(row) or row.count,
    tail(row.more, row.known)))
  for _, own in ipairs(row.own or {}) do
    out(("%d %d %d%s\n"):format(own[1], own[2], own.samples or 0,
      tail(table.move(own, 3, #own, 1, {}))))
  end
  for _, edge in ipairs(row.edges or {}) do
    -- the calls of a zone are on lines of the function that opened it, which
    -- may be in another file
    local line = row.func.kind == "zone" and 0 or edge.line
    out(("cfl=%s\n"):format(file(file_of(edge.callee.func))))
    out(("cfn=%s\n"):format(label(edge.callee.label)))
    -- the calls of functions that ran before recording began are not counted,
    -- but each was called at least once
    out(("calls=%d %d\n"):format(math.max(edge.calls or 1, 1),
      name.first_line(edge.callee.func)))
    out(("%d %d %d%s\n"):format(line > 0 and line or first,
      edge.total_in,
      edge.calls and edge.calls_in or edge.total_in_count,
      tail(edge.more)))
  end
end

---@param f cprof.Function
---@return cprof.FormatSize
function callgrind.size(f) return { once = #f.title + 120 } end

---@param p cprof.Profile
---@param out fun(s: string)
function callgrind.write(p, out)
  local rows, edges = graph.of(p, group.title, true)
  local count = 0
  for _, row in ipairs(rows) do count = count + row.count end
  for _, edge in ipairs(edges) do lists.add(edge.caller, "edges", edge) end
  encode.label(rows, file_of)
  local more = more_of(p)
  local whole = add_more(p, more, rows, edges)
  own_lines(p, more, rows)
  header(p, out, count, more, whole)
  -- files and functions have ids of their own: a name may be used for both
  local file, label = compressor(), compressor()
  for _, row in ipairs(rows) do write_row(row, out, file, label) end
end

return callgrind
