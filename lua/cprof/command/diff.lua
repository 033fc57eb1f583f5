-- cprof diff: what became of each function from one profile to another.

local format = require "cprof.format"
local input = require "cprof.command.input"
local name = require "cprof.name"
local select = require "cprof.report.select"

local diff = {
  name = "diff",
  summary = "Print what changed from one profile to another.",
  example = "cprof diff before.cprof after.cprof",
}

local orders = { "self", "total", "calls", "name" }

function diff.define(parser)
  parser:argument("BEFORE", "A profile."):target "before"
  parser:argument("AFTER", "Another one."):target "after"
  parser:option("--sort", "By the change of what."):choices(orders)
    :default "self"
  parser:option("--limit", "Most functions."):argname "N"
    :convert(input.integer("--limit", 1)):default "30"
  parser:option("--filter", "Lua pattern on title or source.")
    :argname "PATTERN":convert(input.pattern "--filter")
  input.looks(parser)
end

local nothing = { calls = 0, self_ns = 0, total_ns = 0 }

local function rows_of(profile)
  local rows = profile:sums(function(f) return f.title end)
  local by_title = {}
  for _, row in ipairs(rows) do
    if row.func.kind ~= "root" then by_title[row.title] = row end
  end
  return by_title
end

-- { title, func, before, after }, for each function of either
local function pairs_of(before, after)
  local a, b, out = rows_of(before), rows_of(after), {}
  for title, row in pairs(a) do
    out[#out + 1] = { title = title, func = row.func, before = row,
                      after = b[title] or nothing }
  end
  for title, row in pairs(b) do
    if not a[title] then
      out[#out + 1] = { title = title, func = row.func, before = nothing,
                        after = row }
    end
  end
  return out
end

local function change(entry, field)
  return entry.after[field] - entry.before[field]
end

local function sort(entries, by)
  local field = by == "calls" and "calls" or by .. "_ns"
  table.sort(entries, function(x, y)
    if by ~= "name" then
      local a, b = math.abs(change(x, field)), math.abs(change(y, field))
      if a ~= b then return a > b end
    end
    return x.title < y.title
  end)
end

local columns = {
  { title = "calls" }, { title = "now" },
  { title = "total" }, { title = "now" },
  { title = "self" }, { title = "now" }, { title = "change" },
  { title = "", left = true },
  { title = "function", left = true, least = 16 },
  { title = "defined", left = true, least = 12, cut = format.cutpath },
}

local function signed(ns)
  return ns == 0 and "0" or (ns > 0 and "+" or "-") ..
    format.time(math.abs(ns))
end

local function cell(view, entry)
  local before, after = entry.before, entry.after
  local ns = change(entry, "self_ns")
  local what = before == nothing and "new" or after == nothing and "gone" or ""
  local function figure(side, text)
    return side == nothing and "-" or text
  end
  local hot = format.heat(math.abs(ns), view.whole)
  return {
    figure(before, format.count(before.calls)),
    { figure(after, format.count(after.calls)),
      before.calls ~= after.calls and "bold" or nil },
    figure(before, format.time(before.total_ns)),
    figure(after, format.time(after.total_ns)),
    figure(before, format.time(before.self_ns)),
    figure(after, format.time(after.self_ns)),
    { signed(ns), hot },
    { what, "bold" },
    format.plain(entry.func.name),
    { format.plain(name.where(entry.func)), "dim" },
  }
end

local function head(view, path, profile)
  local meta = profile.meta
  local facts = (", %s wall, %s calls, mode %s, clock %s"):format(
    format.time(meta.wall_ns), format.count(select.calls(profile)), meta.mode,
    meta.clock)
  local what = ("%s: %s"):format(path,
    format.plain(meta.program or "(embedded)"))
  view.out[#view.out + 1] = format.cut(what,
    math.max(view.width - format.width(facts), 20)) .. facts
end

-- what cannot be compared
local function notes(view, before, after)
  local a, b = before.meta, after.meta
  for _, what in ipairs { "mode", "clock" } do
    if a[what] ~= b[what] then
      view.out[#view.out + 1] = ("note: one was recorded with %s %s, the " ..
        "other with %s: their times cannot be compared, their calls can")
        :format(what, a[what], b[what])
    end
  end
end

local function differs(entry)
  return entry.before == nothing or entry.after == nothing or
    change(entry, "calls") ~= 0 or change(entry, "self_ns") ~= 0 or
    change(entry, "total_ns") ~= 0
end

local function passes(entry, filter)
  return not filter or entry.title:find(filter) or
    entry.func.source:find(filter)
end

local function table_of(view, entries, parsed)
  local cells, more, more_ns = {}, 0, 0
  for _, entry in ipairs(entries) do
    if differs(entry) and passes(entry, parsed.filter) then
      if #cells < parsed.limit then
        cells[#cells + 1] = cell(view, entry)
      else
        more, more_ns = more + 1, more_ns + change(entry, "self_ns")
      end
    end
  end
  if #cells == 0 then
    view.out[#view.out + 1] = "no function differs"
    return
  end
  local lines = format.table(columns, cells, view.width, view.paint)
  table.move(lines, 1, #lines, #view.out + 1, view.out)
  if more > 0 then
    view.out[#view.out + 1] = view.paint("dim", ("… %s more function%s, " ..
      "%s self"):format(format.count(more), more == 1 and "" or "s",
      signed(more_ns)))
  end
end

function diff.call(parsed, fail)
  local before = input.load(parsed.before, fail)
  local after = input.load(parsed.after, fail)
  local view = {
    out = {}, width = parsed.width or format.columns(),
    paint = format.paint(format.wants_color(parsed.color or "auto")),
    whole = math.max(before.program_ns, after.program_ns),
  }
  head(view, "before: " .. parsed.before, before)
  head(view, "after:  " .. parsed.after, after)
  notes(view, before, after)
  view.out[#view.out + 1] = ""
  local entries = pairs_of(before, after)
  sort(entries, parsed.sort)
  table_of(view, entries, parsed)
  input.print(table.concat(view.out, "\n") .. "\n", fail)
end

return diff
