-- cprof show: all about one function.

local annotate = require "cprof.annotate"
local format = require "cprof.format"
local input = require "cprof.command.input"
local name = require "cprof.name"
local explained = require "cprof.rows"

local show = {
  name = "show",
  summary = "Print a function's callers, callees and lines.",
  example = "cprof show run.cprof parser.parse",
}

function show.define(parser)
  parser:argument("FILE", "A profile."):target "file"
  parser:argument("FUNCTION", "Its name or title, as reports show it.")
    :target "function"
  input.looks(parser)
end

-- rows that the name can mean: those that have it; else, which have it
-- somewhere
local function matching(rows, wanted)
  local function all(passes)
    local out = {}
    for _, row in ipairs(rows) do
      if passes(row) then out[#out + 1] = row end
    end
    return #out > 0 and out or nil
  end
  local lower = wanted:lower()
  return all(function(row) return row.title == wanted end) or
    all(function(row) return row.func.name == wanted end) or
    {}, all(function(row)
      return row.func.kind ~= "root" and
        row.title:lower():find(lower, 1, true)
    end) or {}
end

-- how many letters must change to make one word of the other
local function distance(a, b)
  local above = {}
  for j = 0, #b do above[j] = j end
  for i = 1, #a do
    local row = { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j) and 0 or 1
      row[j] = math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + same)
    end
    above = row
  end
  return above[#b]
end

local function similar(rows, wanted)
  local out = {}
  for _, row in ipairs(rows) do
    local given = row.func.name
    if #given < 100 and #wanted < 100 and row.func.kind ~= "root" then
      local far = distance(given:lower(), wanted:lower())
      if far <= (#wanted + 1) // 2 then
        out[#out + 1] = { row = row, far = far }
      end
    end
  end
  table.sort(out, function(a, b)
    if a.far ~= b.far then return a.far < b.far end
    return a.row.title < b.row.title
  end)
  local best = {}
  for i = 1, math.min(#out, 3) do best[i] = out[i].row end
  return best
end

local function titles(rows)
  local out = {}
  for i, row in ipairs(rows) do
    if i > 8 then
      out[i] = ("and %d more"):format(#rows - 8)
      break
    end
    out[i] = format.plain(row.title)
  end
  return table.concat(out, ", ")
end

local function find(rows, wanted, fail)
  local exact, near = matching(rows, wanted)
  if #exact == 1 then return exact[1] end
  if #exact > 1 then
    fail(("'%s' is the name of several: %s"):format(wanted, titles(exact)))
  elseif #near == 1 then
    return near[1]
  end
  if #near == 0 then near = similar(rows, wanted) end
  fail(("no function '%s' was recorded%s"):format(wanted,
    #near > 0 and "; there are: " .. titles(near) or ""))
end

local columns = {
  { title = "total" }, { title = "%" }, { title = "calls" },
  { title = "function", left = true, least = 20 },
  { title = "defined", left = true, least = 18, cut = format.cutpath },
}

local function bytotal(a, b)
  if a[2] ~= b[2] then return a[2] > b[2] end
  if a[3] ~= b[3] then return a[3] > b[3] end
  return a[1].title < b[1].title
end

-- a table of { row, ns, calls }, as shares of the function's own total
local function neighbours(view, title, list)
  if #list == 0 then return end
  table.sort(list, bytotal)
  local rows = {}
  for i, entry in ipairs(list) do
    local f = entry[1].func
    rows[i] = {
      format.time(entry[2]),
      { format.percent(entry[2], view.row.total_ns),
        format.heat(entry[2], view.row.total_ns) },
      entry.label and "" or format.count(entry[3]),
      format.plain(entry.label or f.name),
      { entry.label and "" or format.plain(name.where(f)), "dim" },
    }
  end
  view.out[#view.out + 1] = ""
  view.out[#view.out + 1] = view.paint("bold", title)
  local lines = format.table(columns, rows, view.width, view.paint)
  table.move(lines, 1, #lines, #view.out + 1, view.out)
end

local function head(view)
  local row, whole = view.row, view.profile.program_ns
  view.out[1] = view.paint("bold", format.plain(row.title))
  view.out[2] = ("%s total (%s %%), %s self (%s %%), %s call%s%s"):format(
    format.time(row.total_ns), format.percent(row.total_ns, whole),
    format.time(row.self_ns), format.percent(row.self_ns, whole),
    format.count(row.calls), row.calls == 1 and "" or "s",
    row.max_depth > 1 and (", %d deep"):format(row.max_depth) or "")
  for _, line in ipairs(explained.explain(row.func.name, view.width)) do
    view.out[#view.out + 1] = view.paint("dim", line)
  end
end

local function around(view, edges)
  local callers, callees = {}, {}
  for _, edge in ipairs(edges) do
    if edge.callee == view.row then
      table.insert(callers, { edge.caller, edge.total_in_ns, edge.calls })
    end
    if edge.caller == view.row and edge.callee ~= view.row then
      table.insert(callees, { edge.callee, edge.total_out_ns, edge.calls })
    end
  end
  if #callees > 0 then
    table.insert(callees, { view.row, view.row.self_ns, 0, label = "(itself)" })
  end
  neighbours(view, "called by", callers)
  neighbours(view, "calls", callees)
end

local function lines(view)
  local f = view.row.func
  local text
  if f.kind ~= "Lua" and f.kind ~= "main" then return end
  view.out[#view.out + 1] = ""
  if view.profile.meta.mode ~= "line" then
    text = "no lines were recorded; to have them: cprof run --lines"
  elseif not view.profile.sources[f.source] then
    text = "no lines of this source were recorded"
  else
    local range = f.kind == "Lua" and { f.line, f.last_line } or nil
    text = annotate.make(view.profile, f.source, {
      focus = f.title, width = view.given, color = view.color,
    }, 2, range):gsub("\n$", "")
  end
  view.out[#view.out + 1] = text
end

function show.call(parsed, fail)
  local profile = input.load(parsed.file, fail)
  local rows, edges = profile:sums(function(f) return f.title end)
  local view = {
    profile = profile, row = find(rows, parsed["function"], fail), out = {},
    width = parsed.width or format.columns(), given = parsed.width,
    color = parsed.color,
    paint = format.paint(format.wants_color(parsed.color or "auto")),
  }
  head(view)
  around(view, edges)
  lines(view)
  input.print(table.concat(view.out, "\n") .. "\n", fail)
end

return show
