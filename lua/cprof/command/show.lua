-- cprof show: all about one function.

local annotate = require "cprof.annotate"
local find = require "cprof.find"
local format = require "cprof.format"
local input = require "cprof.command.input"
local name = require "cprof.name"

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
  local row, why = find.row(rows, parsed["function"])
  if not row then fail(why) end
  local view = {
    profile = profile, row = row, out = {},
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
