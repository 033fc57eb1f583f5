-- Tables of source lines with figures beside each line.

local expressions = require "cprof.annotate.expressions"
local format = require "cprof.text.format"
local in_c = require "cprof.annotate.in_c"
local tables = require "cprof.text.tables"

local listing = {}

local never_ran <const> = "  ← never ran"

-- cuts a line whose parts have colours
local function cut_painted(s, width)
  local out, left = {}, width - 1
  for part, code in (s .. "\27[0m"):gmatch "([^\27]*)(\27%[[%d;]*m)" do
    local plain, n = part, utf8.len(part) or #part
    if n > left then
      plain = plain:sub(1, (utf8.offset(plain, left + 1) or left + 1) - 1)
    end
    out[#out + 1] = plain .. code
    left = math.max(left - n, 0)
  end
  return table.concat(out) .. "…"
end

-- cuts the text of a line, but keeps the note that it never ran
local function cut(s, width)
  if format.width(s) <= width then return s end
  if s:find("\27", 1, true) then return cut_painted(s, width) end
  local text = s:sub(-#never_ran) == never_ran and s:sub(1, -#never_ran - 1)
  if not text then return format.cutend(s, width) end
  local room = width - format.width(never_ran)
  if room < 2 then return format.cutend(never_ran, width) end
  return format.cutend(text, room) .. never_ran
end

local columns <const> = {
  { title = "hits", optional = true, spare = true },
  { title = "self", optional = true },
  { title = "in C", optional = true, spare = true },
  { title = "self %", optional = true, rank = 2 },
  { title = "alloc", optional = true },
  { title = "allocs", optional = true, rank = 1 },
  { title = "calls", optional = true, rank = 3 },
  { title = "callees", optional = true, rank = 4 },
  { title = "per call", optional = true, rank = 5 },
  { title = "line" },
  { title = "", left = true, tight = 10, cut = cut },
}

local IN_C <const>, SHARE <const>, SOURCE <const> = 3, 4, 11

-- a row with only a line number and a text
local function text_row(number, text)
  local row = { number, text }
  for _ = 1, #columns - 2 do table.insert(row, 1, "") end
  return row
end

---@class cprof.ListedLine
---@field number integer
---@field content string
---@field figures cprof.Line?
---@field never boolean      whether it could have run, but did not
---@field spans? cprof.Span[]  its parts, if these are shown
---@field greatest? integer   the highest count of a part, of all lines

---The row of a line.
---@param view cprof.AnnotateView
---@param line cprof.ListedLine
---@param greatest integer  the heat of the hottest line
function listing.row(view, line, greatest)
  local figures, page = line.figures, view.page
  local number = { tostring(line.number), "dim" }
  if line.never then
    local row = text_row(number, { line.content .. never_ran, "dim" })
    row[1] = { "0", "dim" }
    for _, i in ipairs { 2, 4, 7, 8, 9 } do row[i] = { "-", "dim" } end
    return row
  elseif not figures or figures.hits == 0 and figures.calls == 0 and
         figures.self_raw == 0 and figures.total == 0 and
         figures.allocs == 0 then
    return text_row(number, line.content)
  end
  local style = format.heat(view.heat(figures), greatest)
  local function cell(there, s) return { there and s or "-", style } end
  local own, total = figures.self, figures.total
  local spent, called = figures.self_most > 0, figures.calls > 0
  local of_c, by_line = in_c.ns(view, figures), view.called[figures]
  -- a time per call is only useful if all calls are of one function
  local alike = called and not (by_line and by_line.callees > 1)
  local p = view.profile
  local allocated = p.meta.memory and not p.recorded
  return {
    p.samples and "" or { format.count(figures.hits), style },
    cell(spent, page:time(own, figures.self_most)),
    of_c > 0 and { page:time(of_c), style } or "",
    cell(spent or of_c > 0,
      page:share(own + of_c, figures.self_most + of_c)),
    allocated and cell(figures.bytes > 0, format.bytes(figures.bytes)) or "",
    allocated and cell(figures.allocs > 0, format.count(figures.allocs)) or "",
    cell(called, format.count(figures.calls)),
    cell(figures.total_most > 0,
      page:time(total, figures.total_most)),
    cell(alike, alike and page:time(total // figures.calls,
      figures.total_most // figures.calls)),
    number,
    line.spans and expressions.painted(line.content, line.spans,
      line.greatest, page.paint) or { line.content, style },
  }
end

local shares_note <const> = "below a line: the share of the time that its " ..
  "parts took, in %"
local counts_note <const> = "below a line: how often its parts ran"

-- appends the marks below a line
local function marks(view, rows, line)
  local text = line.spans and expressions.marks(line.spans, line.share)
  if text then
    view.page:footnote(line.share and shares_note or counts_note)
    rows[#rows + 1] = text_row("", { text, "dim" })
  end
end

---The row that replaces lines that are not shown.
---@param view cprof.AnnotateView
---@param count integer
---@param ns integer
function listing.fold(view, count, ns)
  return text_row("", { ("… %s, %s %%"):format(
    format.plural(count, "line"), format.percent(ns, view.whole)), "dim" })
end

-- the width that a name may take before its place gets any; and the width below
-- which a place is left out, not cut
local long_name <const>, short_place <const> = 24, 8

-- The facts of a block, in half of the width at most. The last ones are left
-- out first; the share stays longest.
local function facts_of(block, width)
  local all = block.facts
  local first, last = 1, #all
  local function text() return table.concat(all, ", ", first, last) end
  while first < last and format.width(text()) > width // 2 do
    if last > all.share then last = last - 1 else first = first + 1 end
  end
  return text()
end

local function title(page, block)
  local width = page.width == math.huge and 100 or page.width
  local facts = facts_of(block, page.width)
  local room = page.width == math.huge and page.width or
    width - format.width(facts) - 2
  local name, place = block.title, block.place
  local function linked(text)
    return block.link and format.linked(text, block.link) or text
  end
  if place then
    name = format.cutname(name,
      math.max(room // 2, room - #place - 3, math.min(room, long_name)))
    local rest = room - format.width(name) - 3
    if rest >= short_place or rest >= #place then
      name = ("%s (%s)"):format(name, linked(format.cutpath(place, rest)))
    end
  else
    name = linked(format.cutpath(name, room))
  end
  return page.paint("bold", name) ..
    (" "):rep(math.max(width - format.width(name) - format.width(facts), 2)) ..
    facts
end

---@class cprof.ListedBlock
---@field title? string   a name, or a place
---@field place? string   if the title is a name: where that is
---@field link? string    the address of the place
---@field facts? { [integer]: string, share: integer }  figures in words; which
---    of them is the share
---@field note? string
---@field rows table[]
---@field last? string   a text below the rows

---@param page cprof.Page
---@param blocks cprof.ListedBlock[]
---@param paint cprof.Paint
local function lines_of(page, blocks, paint)
  local rows = {}
  for _, block in ipairs(blocks) do
    table.move(block.rows, 1, #block.rows, #rows + 1, rows)
  end
  local of_c = false
  for _, row in ipairs(rows) do of_c = of_c or row[IN_C] ~= "" end
  for _, row in ipairs(rows) do
    if of_c and row[IN_C] == "" and row[SHARE] ~= "" then
      row[IN_C] = { "-", row[SHARE][2] }
    end
  end
  local all = {}
  for i, column in ipairs(columns) do
    local own = column.title:gsub("^self", page.measure.column)
    -- with a column for C, the share is of self and in C together
    all[i] = setmetatable({ title = i == SHARE and of_c and "%" or own,
      -- columns with a rank leave the source half of the width
      least = i == SOURCE and page.width // 2 or nil }, { __index = column })
  end
  return tables.lines(all, rows, page.width, paint)
end

-- shows each block as a table of its own, for Markdown
local function show_apart(page, blocks)
  for _, block in ipairs(blocks) do
    if block.title then
      page:title("", block.title .. (block.place and
        (" (%s)"):format(block.place) or ""))
    end
    if block.facts then page:line(table.concat(block.facts, ", ")) end
    if block.note then page:note(block.note) end
    page:verbatim(lines_of(page, { block }, page.paint))
    page:rest(block.last)
  end
end

---Shows blocks of lines with aligned columns.
---@param page cprof.Page
---@param blocks cprof.ListedBlock[]
function listing.show(page, blocks)
  if page.markdown then return show_apart(page, blocks) end
  local lines, at = lines_of(page, blocks, page.paint), 1
  for i, block in ipairs(blocks) do
    if i > 1 then page:gap() end
    if block.title then page:verbatim { title(page, block) } end
    if block.note then page:note(block.note) end
    if i == 1 then page:verbatim { lines[1] } end
    page:verbatim(table.move(lines, at + 1, at + #block.rows, 1, {}))
    at = at + #block.rows
    page:rest(block.last)
  end
end

---The rows of a range of lines: one for each line to show, and one for each
---run of other lines.
---@param view cprof.AnnotateView
---@param from integer
---@param to integer
---@param line_at fun(number: integer): cprof.ListedLine?
---@param shown fun(number: integer): boolean
---@param greatest integer
---@return table[]
function listing.rows(view, from, to, line_at, shown, greatest)
  local rows, folded, ns, last = {}, 0, 0, nil
  local function fold()
    -- a single line takes no more room than the row that would replace it
    if folded == 1 then
      rows[#rows + 1] = listing.row(view, last, greatest)
      marks(view, rows, last)
    elseif folded > 1 then rows[#rows + 1] = listing.fold(view, folded, ns)
    end
    folded, ns = 0, 0
  end
  for number = from, to do
    local line = line_at(number)
    if line and shown(number) then
      fold()
      rows[#rows + 1] = listing.row(view, line, greatest)
      marks(view, rows, line)
    elseif line then
      folded, last = folded + 1, line
      local figures = line.figures
      ns = ns + (figures and figures.self + in_c.ns(view, figures) or 0)
    end
  end
  fold()
  return rows
end

---Also marks the lines around marked lines.
---@param marked table<integer, true>
---@param context integer
---@return table<integer, true>
function listing.around(marked, context)
  local out = {}
  for number in pairs(marked) do
    for i = number - context, number + context do out[i] = true end
  end
  return out
end

return listing
