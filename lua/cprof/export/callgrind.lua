-- Callgrind: functions as in reports, with the calls between them by line.
-- In modes "line" and "sample" a function's own time stands on its lines, with
-- its samples, else where it begins. Recursion counts once: the calls of a
-- function add up to its total, and those that it makes of itself, at any
-- depth, cost nothing.

local allocations = require "cprof.count.allocations"
local encode = require "cprof.export.encode"
local escape = require "cprof.encoding.escape"
local lines = require "cprof.count.lines"
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

-- what there is beside times and calls
local function more_of(p)
  return p.meta.memory and { "allocs", "bytes" } or {}
end

-- gives rows, and edges, what was allocated
local function allocated(p, rows, edges)
  for _, what in ipairs(more_of(p)) do
    local own, total = allocations.measured(p, what):sums(
      function(f) return f.title end, true)
    for i, row in ipairs(rows) do row[what] = own[i].self_ns end
    for i, edge in ipairs(edges) do edge[what] = total[i].total_in_ns end
  end
end

-- { line, ns, allocations, bytes } of each row, where lines are known and
-- what they have is the row's own: that of zones is not told from their
-- function's
local function own_lines(p, rows)
  local by_title = {}
  for _, row in ipairs(rows) do by_title[row.title] = row end
  for func, line, _, ns, _, allocs, bytes in lines.each(p.counted) do
    local row = by_title[p.functions[func].title]
    if ns > 0 or allocs > 0 then
      row.own = row.own or {}
      table.insert(row.own, { line, ns, allocs, bytes })
      row.known = row.known or { 0, 0, 0 }
      for k, n in ipairs { ns, allocs, bytes } do
        row.known[k] = row.known[k] + n
      end
    end
  end
  for _, row in ipairs(rows) do
    local known = row.known
    if known and (known[1] > row.self_ns or
       row.bytes and (known[2] > row.allocs or known[3] > row.bytes)) then
      row.own, row.known = nil, nil
    end
  end
end

-- what was rounded goes to the line that has most; `known` to all lines
local function give_rounded(row)
  local own, known = row.own, row.known
  for k, all in ipairs { row.self_ns, row.allocs or 0, row.bytes or 0 } do
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

-- what was allocated, as it stands behind other figures
local function tail(allocs, bytes)
  return bytes and (" %d %d"):format(allocs, bytes) or ""
end

local function header(p, out, calls)
  out "# callgrind format\nversion: 1\n"
  out(("creator: cprof %s\n"):format(p.meta.cprof_version))
  out(("cmd: %s\n"):format(encode.program(p)))
  for _, comment in ipairs(encode.comments(p)) do
    out(("desc: %s\n"):format(escape.line(comment)))
  end
  out "positions: line\n"
  if encode.counts(p) then out "event: Ir : Lua instructions\n" end
  out(("events: %s %s%s\n"):format(encode.counts(p) and "Ir" or "Time_ns",
    p.samples and "Samples" or "Calls",
    p.meta.memory and " Allocations Bytes" or ""))
  out(("summary: %d %d%s\n"):format(p.program_ns, calls,
    p.meta.memory and (" %d %d"):format(allocations.root(p).total_allocs,
      allocations.root(p).total_bytes) or ""))
end

local function write_row(row, out, file, label)
  local first = name.first_line(row.func)
  out(("\nfl=%s\n"):format(file(file_of(row.func))))
  out(("fn=%s\n"):format(label(row.label)))
  local sampled = row.self_samples and row.own
  if sampled then give_rounded(row) end
  local known = row.known or { 0, 0, 0 }
  out(("%d %d %d%s\n"):format(first, row.self_ns - known[1],
    sampled and samples_of(row) or row.calls or row.self_samples, row.bytes and
      tail(row.allocs - known[2], row.bytes - known[3]) or ""))
  for _, own in ipairs(row.own or {}) do
    out(("%d %d %d%s\n"):format(own[1], own[2], own.samples or 0,
      row.bytes and tail(own[3], own[4]) or ""))
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
      tail(edge.allocs, edge.bytes)))
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
  allocated(p, rows, edges)
  own_lines(p, rows)
  header(p, out, calls)
  -- one name may be that of a file and of a function
  local file, label = compressor(), compressor()
  for _, row in ipairs(rows) do write_row(row, out, file, label) end
end

return callgrind
