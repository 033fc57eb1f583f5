-- Callgrind: functions as in reports, with the calls between them by line.
-- In mode "line" a function's own time stands on its lines, else where it
-- begins. Recursion counts once: the calls of a function add up to its
-- total, and those that it makes of itself, at any depth, cost nothing.

local encode = require "cprof.export.encode"
local lines = require "cprof.lines"
local name = require "cprof.name"

local callgrind = {}

-- ids for names: (1) name the first time, then (1)
local function compressor()
  local ids, count = {}, 0
  return function(s)
    if ids[s] then return ids[s] end
    count = count + 1
    ids[s] = ("(%d)"):format(count)
    return ids[s] .. " " .. encode.line(s)
  end
end

-- callgrind_annotate takes the folder where it runs off the files of
-- functions, but not of those that they call: so it must not be there
local function file_of(f)
  return encode.file(f) and name.place(f.source) or "???"
end

-- { line, ns, ... } of each row, where lines are known and what they have
-- is the row's own time: that of zones is not told from their function's
local function own_lines(p, rows)
  local by_title = {}
  for _, row in ipairs(rows) do by_title[row.title] = row end
  for func, line, _, ns in lines.each(p.counted) do
    local row = by_title[p.functions[func].title]
    if ns > 0 then
      row.own, row.known = row.own or {}, (row.known or 0) + ns
      table.insert(row.own, line)
      table.insert(row.own, ns)
    end
  end
  for _, row in ipairs(rows) do
    if row.own and row.known > row.self_ns then
      row.own, row.known = nil, nil
    end
  end
end

local function header(p, out, calls)
  out "# callgrind format\nversion: 1\n"
  out(("creator: cprof %s\n"):format(p.meta.cprof_version))
  out(("cmd: %s\n"):format(encode.program(p)))
  for _, comment in ipairs(encode.comments(p)) do
    out(("desc: %s\n"):format(encode.line(comment)))
  end
  out "positions: line\n"
  if encode.counts(p) then out "event: Ir : Lua instructions\n" end
  out(("events: %s Calls\n"):format(encode.counts(p) and "Ir" or "Time_ns"))
  out(("summary: %d %d\n"):format(p.program_ns, calls))
end

local function write_row(row, out, file, label)
  local first = encode.first(row.func)
  out(("\nfl=%s\n"):format(file(file_of(row.func))))
  out(("fn=%s\n"):format(label(row.label)))
  out(("%d %d %d\n"):format(first, row.self_ns - (row.known or 0),
    row.calls))
  for i = 1, #(row.own or ""), 2 do
    out(("%d %d 0\n"):format(row.own[i], row.own[i + 1]))
  end
  for _, edge in ipairs(row.edges or {}) do
    -- a zone's calls are in the lines of another function's file
    local line = row.func.kind == "zone" and 0 or edge.line
    out(("cfl=%s\n"):format(file(file_of(edge.callee.func))))
    out(("cfn=%s\n"):format(label(edge.callee.label)))
    -- what ran when recording began was called, too, if not counted
    out(("calls=%d %d\n"):format(math.max(edge.calls, 1),
      encode.first(edge.callee.func)))
    out(("%d %d %d\n"):format(line > 0 and line or first, edge.total_in_ns,
      edge.calls_in))
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
  for _, row in ipairs(rows) do calls = calls + row.calls end
  for _, edge in ipairs(edges) do
    local from = edge.caller
    from.edges = from.edges or {}
    from.edges[#from.edges + 1] = edge
  end
  encode.label(rows, file_of)
  own_lines(p, rows)
  header(p, out, calls)
  -- one name may be that of a file and of a function
  local file, label = compressor(), compressor()
  for _, row in ipairs(rows) do write_row(row, out, file, label) end
end

return callgrind
