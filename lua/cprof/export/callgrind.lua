-- Callgrind: functions as in reports, with the calls between them by line.
-- In modes "line" and "sample" a function's own time stands on its lines, with
-- its samples, else where it begins. Recursion counts once: the calls of a
-- function add up to its total, and those that it makes of itself, at any
-- depth, cost nothing.

local encode = require "cprof.export.encode"
local escape = require "cprof.encoding.escape"
local lines = require "cprof.count.lines"
local measured = require "cprof.count.measured"
local name = require "cprof.source.name"
local spread = require "cprof.export.spread"

local callgrind = {}

-- ids for names: (1) name the first time, then (1)
local function compressor()
  local ids, count = {}, 0
  return function(s)
    if ids[s] then return ids[s] end
    count = count + 1
    ids[s] = ("(%d)"):format(count)
    return ids[s] .. " " .. escape.line(s)
  end
end

-- callgrind_annotate takes the folder where it runs off the files of
-- functions, but not of those that they call: so it must not be there
local function file_of(f)
  return f.place or "???"
end

-- what there is beside times and calls: the measure, and its event's name
local function more_of(p)
  local out = {}
  local function add(what, event) out[#out + 1] = { what, event } end
  if (p.meta.waiting_ns or 0) > 0 then add("wait", "Waiting_ns") end
  if p.meta.memory then
    add("allocs", "Allocations")
    add("bytes", "Bytes")
  end
  return out
end

-- gives rows, and edges, these figures; returns those of the program
local function add_more(p, more, rows, edges)
  local whole = {}
  for _, row in ipairs(rows) do row.more = {} end
  for _, edge in ipairs(edges) do edge.more = {} end
  for k, what in ipairs(more) do
    local of = measured.profile(p, what[1])
    local own, total = of:sums(function(f) return f.title end, true)
    for i, row in ipairs(rows) do row.more[k] = own[i].self_ns end
    for i, edge in ipairs(edges) do edge.more[k] = total[i].total_in_ns end
    whole[k] = of.program_ns
  end
  return whole
end

-- { line, ns, and what there is beside } of each row, where lines are known
-- and what they have is the row's own: that of zones is not told from their
-- function's
local function own_lines(p, more, rows)
  local by_title = {}
  for _, row in ipairs(rows) do by_title[row.title] = row end
  local wanted = {}
  for k, what in ipairs(more) do wanted[k] = measured.name(what[1]).line end
  for func, line, _, ns, raw, allocs, bytes, live, wait in
    lines.each(p.counted) do
    local row, own = by_title[p.functions[func].title], { line, ns }
    local any = ns > 0
    for k, of in ipairs(wanted) do
      own[k + 2] = of(ns, raw, allocs, bytes, live, wait)
      any = any or own[k + 2] > 0
    end
    if any then
      row.own, row.known = row.own or {}, row.known or {}
      table.insert(row.own, own)
      for k = 1, #more + 1 do
        row.known[k] = (row.known[k] or 0) + own[k + 1]
      end
    end
  end
  for _, row in ipairs(rows) do
    local over = row.known and row.known[1] > row.self_ns
    for k, n in ipairs(row.more) do
      over = over or row.known and row.known[k + 1] > n
    end
    if over then row.own, row.known = nil, nil end
  end
end

-- what was rounded goes to the line that has most; `known` to all lines
local function give_rounded(row)
  local own, known = row.own, row.known
  for k, all in ipairs { row.self_ns, table.unpack(row.more) } do
    local left, most = all - known[k], own[1]
    for _, line in ipairs(own) do
      if line[k + 1] > most[k + 1] then most = line end
    end
    if spread.rounded(left, all) then
      most[k + 1], known[k] = most[k + 1] + left, known[k] + left
    end
  end
end

-- samples of each line; and of what is on none
local function samples_of(row)
  local times = { row.self_ns - row.known[1] }
  for i, own in ipairs(row.own) do times[i + 1] = own[2] end
  local counts = spread.samples(row.self_samples, times)
  for i, own in ipairs(row.own) do own.samples = counts[i + 1] end
  return counts[1]
end

-- figures of `list`, as they stand behind others, less those that are known
local function tail(list, known)
  local out = {}
  for k, n in ipairs(list) do
    out[k] = (" %d"):format(n - (known and known[k + 1] or 0))
  end
  return table.concat(out)
end

local function header(p, out, calls, more, whole)
  out "# callgrind format\nversion: 1\n"
  out(("creator: cprof %s\n"):format(p.meta.cprof_version))
  out(("cmd: %s\n"):format(encode.program(p)))
  for _, comment in ipairs(encode.comments(p)) do
    out(("desc: %s\n"):format(escape.line(comment)))
  end
  out "positions: line\n"
  if encode.counts(p) then out "event: Ir : Lua instructions\n" end
  local names = {}
  for k, what in ipairs(more) do names[k] = " " .. what[2] end
  out(("events: %s %s%s\n"):format(encode.counts(p) and "Ir" or "Time_ns",
    p.samples and "Samples" or "Calls", table.concat(names)))
  out(("summary: %d %d%s\n"):format(p.program_ns, calls, tail(whole)))
end

local function write_row(row, out, file, label)
  local first = name.first_line(row.func)
  out(("\nfl=%s\n"):format(file(file_of(row.func))))
  out(("fn=%s\n"):format(label(row.label)))
  local sampled = row.self_samples and row.own
  if sampled then give_rounded(row) end
  out(("%d %d %d%s\n"):format(first,
    row.self_ns - (row.known and row.known[1] or 0),
    sampled and samples_of(row) or row.calls or row.self_samples,
    tail(row.more, row.known)))
  for _, own in ipairs(row.own or {}) do
    out(("%d %d %d%s\n"):format(own[1], own[2], own.samples or 0,
      tail(table.move(own, 3, #own, 1, {}))))
  end
  for _, edge in ipairs(row.edges or {}) do
    -- a zone's calls are in the lines of another function's file
    local line = row.func.kind == "zone" and 0 or edge.line
    out(("cfl=%s\n"):format(file(file_of(edge.callee.func))))
    out(("cfn=%s\n"):format(label(edge.callee.label)))
    -- what ran when recording began was called, too, if not counted
    out(("calls=%d %d\n"):format(math.max(edge.calls or 1, 1),
      name.first_line(edge.callee.func)))
    out(("%d %d %d%s\n"):format(line > 0 and line or first,
      edge.total_in_ns,
      edge.calls and edge.calls_in or edge.total_in_samples,
      tail(edge.more)))
  end
end

---@param f cprof.Function
---@return cprof.FormatSize
function callgrind.size(f) return { once = #f.title + 120 } end

---@param p cprof.Profile
---@param out fun(s: string)
function callgrind.write(p, out)
  local rows, edges = p:sums(function(f) return f.title end, true)
  local calls = 0
  for _, row in ipairs(rows) do
    calls = calls + (row.calls or row.self_samples)
  end
  for _, edge in ipairs(edges) do
    local from = edge.caller
    from.edges = from.edges or {}
    from.edges[#from.edges + 1] = edge
  end
  encode.label(rows, file_of)
  local more = more_of(p)
  local whole = add_more(p, more, rows, edges)
  own_lines(p, more, rows)
  header(p, out, calls, more, whole)
  -- one name may be that of a file and of a function
  local file, label = compressor(), compressor()
  for _, row in ipairs(rows) do write_row(row, out, file, label) end
end

return callgrind
