-- The source with figures beside each line.

local core = require "cprof.core"
local format = require "cprof.format"
local name = require "cprof.name"
local options = require "cprof.options"
local text = require "cprof.text"

local annotate = {}

---@class cprof.AnnotateOptions
---@field heat? "time"|"hits"|"total"  what makes a line hot
---@field relative? "file"|"project"   hot in comparison with what
---@field coverage? boolean   mark what never ran
---@field context? integer    lines around those that are shown; others fold
---@field min_percent? number least share of a line that is shown
---@field sort? "line"|"self"|"hits"   self, hits: the hottest lines of all
---@field focus? string       only lines of functions with this title
---@field ignore? string      not those
---@field limit? integer      most files, or lines when sorted
---@field width? integer
---@field color? "auto"|"always"|"never"
local annotate_options = {
  heat = { type = "string", values = { "time", "hits", "total" },
           default = "time" },
  relative = { type = "string", values = { "file", "project" },
               default = "file" },
  coverage = { type = "boolean", default = false },
  context = { type = "integer", min = 0 },
  min_percent = { type = "number", min = 0, max = 100 },
  sort = { type = "string", values = { "line", "self", "hits" },
           default = "line" },
  focus = { type = "string" },
  ignore = { type = "string" },
  limit = { type = "integer", min = 1, default = 20 },
  width = { type = "integer", min = 40 },
  color = { type = "string", values = { "auto", "always", "never" },
            default = "auto" },
}

local heat_field = { time = "self_ns", hits = "hits", total = "total_ns" }

-- what remains when 'focus' and 'ignore' have had their say
local function remaining(o)
  if not o.focus and not o.ignore then return nil end
  return function(f)
    local named = f.title == o.focus or f.name == o.focus
    local ignored = f.title == o.ignore or f.name == o.ignore
    return (not o.focus or named) and not ignored
  end
end

---@class cprof.File
---@field source string
---@field place string       as people write it
---@field lines cprof.Line[]
---@field self_ns integer
---@field hits integer
---@field ran integer        lines that ran
---@field active integer     lines that could
---@field hottest integer    of its lines, in the figure that is heat

local function summarize(source, lines, field)
  local file = { source = source, place = name.place(source), lines = lines,
                 self_ns = 0, hits = 0, ran = 0, active = 0, hottest = 0 }
  for _, line in ipairs(lines) do
    file.self_ns = file.self_ns + line.self_ns
    file.hits = file.hits + line.hits
    if line.active then
      file.active = file.active + 1
      if line.hits > 0 then file.ran = file.ran + 1 end
    end
    file.hottest = math.max(file.hottest, line[field])
  end
  return file
end

-- all files, those that took longest first
local function files_of(profile, o)
  local list, field = {}, heat_field[o.heat]
  for source, lines in pairs(profile.lines_of(remaining(o))) do
    list[#list + 1] = summarize(source, lines, field)
  end
  table.sort(list, function(a, b)
    if a.self_ns ~= b.self_ns then return a.self_ns > b.self_ns end
    return a.source < b.source
  end)
  return list
end

-- the file that the caller means
local function find(files, wanted)
  for _, file in ipairs(files) do
    if file.source == wanted or file.place == wanted or
       file.source == "@" .. wanted then
      return file
    end
  end
end

-- the hottest files, until they cover nine tenths of the time
local function hottest(files, whole, limit)
  local out, sum = {}, 0
  for _, file in ipairs(files) do
    if #out >= limit or sum >= whole * 0.9 then break end
    out[#out + 1] = file
    sum = sum + file.self_ns
  end
  return out
end

-- tabs as spaces, and nothing that spoils the columns
local function printable(line)
  local column, out = 0, {}
  line = line:gsub("\r$", "")
  local valid = utf8.len(line) ~= nil
  for c in line:gmatch(valid and utf8.charpattern or ".") do
    if c == "\t" then
      local n = 8 - column % 8
      out[#out + 1] = (" "):rep(n)
      column = column + n
    else
      out[#out + 1] = not valid and c:byte() > 127 and "?" or format.plain(c)
      column = column + format.width(out[#out])
    end
  end
  return table.concat(out)
end

---The text of a file: its lines, and what is to be said of it.
---@return string[] lines, string? note
local function source_text(profile, file)
  local source = profile.sources[file.source]
  if source.mixed then
    return source.text and text.split(source.text) or {},
      "several chunks have this name; figures are sums over them"
  elseif source.changed then
    return text.split(source.text),
      "the text was not what ran when it was first met"
  elseif source.text then
    local now = file.source:sub(1, 1) == "@" and
      core.readfile(file.source:sub(2))
    local same = not now or now == source.text
    return text.split(source.text),
      not same and "the file has changed since; this is the text that ran"
        or nil
  elseif file.source:sub(1, 1) == "@" then
    local _, why = core.readfile(file.source:sub(2))
    return {}, "no text: " .. (why or "it could not be read when it was met")
  end
  return {}, "no text: the chunk has a name, but no file"
end

local columns = {
  { title = "hits" }, { title = "self" }, { title = "%" },
  { title = "calls" }, { title = "total" }, { title = "per call" },
  { title = "line" },
  { title = "", left = true, least = 10, cut = format.cutend },
  { title = "", left = true },
}

local never_ran = "← never ran"

local function figure(n, shown)
  return n > 0 and shown(n) or "-"
end

-- the cells of a line; it is shaded by how hot it is
local function cells(view, file, number, content)
  local o = view.options
  local line = file.lines[number]
  if not line then
    return { "", "", "", "", "", "", tostring(number), content, "" }
  end
  local against = o.relative == "project" and view.hottest or file.hottest
  local value = line[heat_field[o.heat]]
  local style
  if against > 0 and value > 0 then
    style = value >= against * 0.5 and "red" or
      value >= against * 0.1 and "yellow" or nil
  end
  local blank = not line.active and line.hits == 0 and line.calls == 0
  local never = line.active and line.hits == 0 and line.self_ns == 0
  if never then style = "dim" end
  local dash = blank and "" or "-"
  local function cell(n, shown)
    return { n > 0 and shown(n) or dash, style }
  end
  return {
    { blank and "" or format.count(line.hits), style },
    cell(line.self_ns, format.time),
    cell(line.self_ns, function(n) return format.percent(n, view.whole) end),
    cell(line.calls, format.count),
    cell(line.total_ns, format.time),
    { line.calls > 0 and format.time(line.total_ns // line.calls) or dash,
      style },
    { tostring(number), "dim" },
    { content, style },
    { never and never_ran or "", style },
  }
end

-- which lines are shown: the hot ones, and those around them
local function shown_lines(view, file, count)
  local o, range = view.options, view.range
  if range then
    local shown = {}
    for i = range[1], range[2] do shown[i] = true end
    return shown
  end
  local least = o.min_percent
  if not o.context and not least then return nil end
  least = least or (view.single and 0.1 or 1)
  local context, shown = o.context or 0, {}
  for number, line in ipairs(file.lines) do
    local hot = line.self_ns * 100 >= least * view.whole and
      line.self_ns > 0 or
      o.coverage and line.active and line.hits == 0
    if hot then
      for i = math.max(1, number - context),
          math.min(count, number + context) do
        shown[i] = true
      end
    end
  end
  return shown
end

local function head(view, file)
  local facts = ("%s %% of %s, %d of %d lines ran"):format(
    format.percent(file.self_ns, view.whole), format.time(view.whole),
    file.ran, file.active)
  local width = view.width == math.huge and 100 or view.width
  local place = format.cutpath(format.plain(file.place),
    width - format.width(facts) - 2)
  return view.paint("bold", place) ..
    (" "):rep(width - format.width(place) - format.width(facts)) .. facts
end

-- the annotated text of one file
local function file_lines(view, file)
  local content, note = source_text(view.profile, file)
  local count = math.max(#content, #file.lines)
  local shown = shown_lines(view, file, count)
  local out = { head(view, file) }
  if note then out[#out + 1] = "note: " .. note end
  local rows, folded, folded_ns = {}, 0, 0
  local function fold()
    if folded == 0 then return end
    rows[#rows + 1] = { "", "", "", "", "", "", "", {
      ("… %s line%s, %s %%"):format(format.count(folded),
        folded == 1 and "" or "s",
        format.percent(folded_ns, view.whole)), "dim" }, "" }
    folded, folded_ns = 0, 0
  end
  for number = 1, count do
    local line = file.lines[number]
    if shown and not shown[number] then
      folded = folded + 1
      folded_ns = folded_ns + (line and line.self_ns or 0)
    elseif #content > 0 or line and (line.active or line.hits > 0) then
      fold()
      rows[#rows + 1] = cells(view, file, number,
        printable(content[number] or ""))
    end
  end
  fold()
  table.move(format.table(columns, rows, view.width, view.paint), 1,
    #rows + 1, #out + 1, out)
  if view.options.coverage and file.active > 0 then
    out[#out + 1] = ("%d of %d lines never ran"):format(
      file.active - file.ran, file.active)
  end
  return out
end

local list_columns = {
  { title = "hits" }, { title = "self" }, { title = "%" },
  { title = "calls" }, { title = "total" },
  { title = "where", left = true, least = 16, cut = format.cutpath },
  { title = "", left = true, least = 10, cut = format.cutend },
}

-- the hottest lines of all files
local function hottest_lines(view, files)
  local o = view.options
  local field = o.sort == "hits" and "hits" or "self_ns"
  local all = {}
  for _, file in ipairs(files) do
    for number, line in ipairs(file.lines) do
      if line[field] > 0 then
        all[#all + 1] = { file = file, number = number, line = line }
      end
    end
  end
  table.sort(all, function(a, b)
    if a.line[field] ~= b.line[field] then
      return a.line[field] > b.line[field]
    end
    if a.file ~= b.file then return a.file.source < b.file.source end
    return a.number < b.number
  end)
  local rows, contents = {}, {}
  local rest_ns = 0
  for i, entry in ipairs(all) do
    local line, file = entry.line, entry.file
    local enough = not o.min_percent or
      line.self_ns * 100 >= o.min_percent * view.whole
    if #rows < o.limit and enough and #rows == i - 1 then
      contents[file] = contents[file] or source_text(view.profile, file)
      rows[i] = {
        format.count(line.hits),
        { format.time(line.self_ns), format.heat(line.self_ns, view.whole) },
        format.percent(line.self_ns, view.whole),
        figure(line.calls, format.count), figure(line.total_ns, format.time),
        { ("%s:%d"):format(format.plain(file.place), entry.number), "dim" },
        printable((contents[file][entry.number] or ""):gsub("^%s+", "")),
      }
    else
      rest_ns = rest_ns + line.self_ns
    end
  end
  local out = format.table(list_columns, rows, view.width, view.paint)
  if #all > #rows then
    out[#out + 1] = view.paint("dim", ("… %s more lines, %s %%"):format(
      format.count(#all - #rows), format.percent(rest_ns, view.whole)))
  end
  return out
end

local function sum(files)
  local ns, most = 0, 0
  for _, file in ipairs(files) do
    ns = ns + file.self_ns
    most = math.max(most, file.hottest)
  end
  return ns, most
end

-- for an error: what could have been meant
local function names(files)
  local out = {}
  for i, file in ipairs(files) do
    if i > 10 then
      out[i] = "…"
      break
    end
    out[i] = file.place
  end
  return #out > 0 and table.concat(out, ", ") or "none"
end

---The annotated source, or the hottest sources.
---@param profile cprof.Profile
---@param source string?
---@param given cprof.AnnotateOptions?
---@param level integer  of errors, as of error()
---@param range integer[]?  first and last line: no others are shown
---@return string
function annotate.make(profile, source, given, level, range)
  if source ~= nil and type(source) ~= "string" then
    error(("annotate: the source must be a string, got a %s"):format(
      type(source)), level)
  end
  local o = options.check("annotate", annotate_options, given, level)
  if profile.meta.mode ~= "line" then
    error('annotate: no lines were recorded; start with mode = "line"', level)
  end
  local files = files_of(profile, o)
  local view = { profile = profile, options = o, single = source ~= nil,
                 range = range,
                 paint = format.paint(format.wants_color(o.color)),
                 width = o.width or core.columns() or math.huge }
  view.whole, view.hottest = sum(files)
  -- without focus or ignore, lines are shares of all that was recorded
  if not remaining(o) then
    view.whole = profile.program_ns
  end
  local selected
  if source then
    local file = find(files, source)
    if not file then
      error(("annotate: no lines of %q were recorded; there are: %s"):format(
        source, names(files)), level)
    end
    selected = { file }
  else
    local covered = sum(files)
    selected = o.sort == "line" and hottest(files, covered, o.limit) or files
    if o.sort == "line" and not o.context and not o.min_percent then
      o.context = 2
    end
  end
  local out = {}
  if o.sort ~= "line" then
    out = hottest_lines(view, selected)
  else
    for i, file in ipairs(selected) do
      if i > 1 then out[#out + 1] = "" end
      local lines = file_lines(view, file)
      table.move(lines, 1, #lines, #out + 1, out)
    end
    if not source and #files > #selected then
      local rest = 0
      for i = #selected + 1, #files do rest = rest + files[i].self_ns end
      out[#out + 1] = ""
      out[#out + 1] = view.paint("dim", ("… %d more file%s, %s %%"):format(
        #files - #selected, #files - #selected == 1 and "" or "s",
        format.percent(rest, view.whole)))
    end
  end
  return table.concat(out, "\n") .. "\n"
end

return annotate
