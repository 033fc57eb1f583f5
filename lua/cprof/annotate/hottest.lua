-- The hottest lines of all sources, as a list.

local core = require "cprof.core"
local filename = require "cprof.system.filename"
local format = require "cprof.text.format"
local in_c = require "cprof.annotate.in_c"
local name = require "cprof.source.name"
local order = require "cprof.text.order"
local source = require "cprof.annotate.source"

-- Most bytes that are shown of a source line if no width is set: a line of
-- minified code may have millions.
local LONGEST <const> = 400

local function columns(profile)
  return {
    { title = "hits", optional = true, rank = 1 },
    { title = profile.measure.column },
    { title = "in C", optional = true, rank = 2 },
    { title = "%" },
    { title = "calls", optional = true, rank = 3 },
    { title = "callees", optional = true, rank = 4 },
    { title = "where", left = true, least = 18, cut = format.cutpath,
      code = true },
    { title = "", left = true, least = 24, cut = format.cutend, code = true },
  }
end

-- all lines with hits or time, hottest first
local function sorted(view, files)
  local all = {}
  local by_hits = view.options.sort == "hits"
  for _, file in ipairs(files) do
    for number, line in ipairs(file.lines) do
      local of_c = in_c.ns(view, line)
      local ns = line.self + of_c
      -- lines with only a bound have a small estimate, and come last
      if by_hits and line.hits > 0 or
         not by_hits and line.self_most + of_c > 0 then
        all[#all + 1] = { file = file, number = number, line = line,
          value = by_hits and line.hits or ns, ns = ns, in_c = of_c,
          most = line.self_most + of_c }
      end
    end
  end
  table.sort(all, order("-value", "file.source", "number"))
  return all
end

-- the beginning of a source line
local function text_of(content)
  return source.printable((source.cut(content:match "^%s*(.*)$", LONGEST)))
end

local function row_of(view, entry, content, hottest)
  local line, page = entry.line, view.page
  return {
    view.profile.samples and "" or format.count(line.hits),
    page:time(line.self, line.self_most),
    entry.in_c > 0 and page:time(entry.in_c) or "-",
    { page:share(entry.ns, entry.most), format.heat(entry.ns, hottest) },
    line.calls > 0 and format.count(line.calls) or "-",
    line.total_most > 0 and
      page:time(line.total, line.total_most) or "-",
    { ("%s:%d"):format(format.plain(entry.file.place), entry.number),
      "dim", page:link(entry.file.source, entry.number) },
    text_of(content),
  }
end

-- FILE:LINE: TEXT, the path from the current folder: editors go to such lines
local function quickfix_of(view, entry, content)
  local line, page = entry.line, view.page
  local path = filename.absolute(entry.file.source:sub(2),
    view.profile.meta.folder)
  return ("%s:%d: %s %%, %s %s%s%s: %s"):format(
    format.plain(name.place("@" .. path, core.cwd())), entry.number,
    page:share(entry.ns, entry.most), page:time(line.self, line.self_most),
    view.profile.measure.column,
    entry.in_c > 0 and (" + %s in C"):format(page:time(entry.in_c)) or "",
    line.hits > 0 and not view.profile.samples and
      ", " .. format.plural(line.hits, "hit") or "", text_of(content))
end

-- Calls `show` with the lines that the options select, and their texts, until
-- it has returned true for as many lines as the option 'limit' allows.
local function each_hot(view, all, show)
  local o, contents, n = view.options, {}, 0
  for _, entry in ipairs(all) do
    local of = entry.file.source
    if n == (o.limit or 20) or
       o.min_percent and entry.ns * 100 < o.min_percent * view.whole then
      return
    end
    contents[of] = contents[of] or source.text(view.profile, of)
    if show(entry, contents[of][entry.number] or "") then n = n + 1 end
  end
end

-- Lists lines for editors, without those that are in no file.
local function show_quickfix(view, all)
  local out = {}
  each_hot(view, all, function(entry, content)
    if entry.file.source:sub(1, 1) ~= "@" then return false end
    out[#out + 1] = quickfix_of(view, entry, content)
    return true
  end)
  view.page:verbatim(out)
end

---@param view cprof.AnnotateView
---@param files cprof.File[]
return function(view, files)
  local page = view.page
  local all = sorted(view, files)
  if view.options.format == "quickfix" then return show_quickfix(view, all) end
  local rows, rest, hottest = {}, 0, 0
  for _, entry in ipairs(all) do
    hottest = math.max(hottest, entry.ns)
  end
  each_hot(view, all, function(entry, content)
    rows[#rows + 1] = row_of(view, entry, content, hottest)
    return true
  end)
  for i = #rows + 1, #all do rest = rest + all[i].ns end
  if #all == 0 then
    return page:line(page.measure.idle)
  end
  page:table(columns(view.profile), rows)
  if #all > #rows then
    page:rest(("… %s, %s %%"):format(
      format.plural(#all - #rows, "more line"),
      format.percent(rest, view.whole)))
  end
  page:explain()
end
