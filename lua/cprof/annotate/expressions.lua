-- Shows counts of the parts of a line: as shades, and as marks below the line.

local format = require "cprof.text.format"
local source = require "cprof.annotate.source"

local expressions = {}

---@class cprof.Span          a range of columns of a shown line, from 1
---@field from integer
---@field to integer
---@field count integer

-- the spans of each line; neighbours with the same count are merged
local function spans_of(list, content)
  local out, number, line, size, columns = {}, nil, nil, nil, nil
  local function shown_at(byte) return columns and columns[byte] or byte end
  for _, e in ipairs(list) do
    if e.line ~= number then
      number, line = e.line, content[e.line]
      if line then line, size = source.cut(line) end
      columns = line and source.columns(line)
    end
    if line and e.column <= size then
      local spans = out[e.line] or {}
      out[e.line] = spans
      local last = e.last_line == e.line and e.last_column <= size and
        e.last_column or #line
      local from, to = shown_at(e.column), shown_at(last + 1) - 1
      local before = spans[#spans]
      if before and before.count == e.count then before.to = to
      else spans[#spans + 1] = { from = from, to = to, count = e.count } end
    end
  end
  return out
end

-- puts `text` at a column if there is room for it and a space on each side
local function put(cells, at, text)
  for i = math.max(at - 1, 1), at + #text do
    if cells[i] then return false end
  end
  for i = 1, #text do cells[at + i - 1] = text:sub(i, i) end
  return true
end

-- puts `text` after the mark that ends at a column, and a space
local function put_behind(cells, at, text)
  local own = cells[at]
  cells[at] = nil
  put(cells, at + 2, text)
  cells[at] = own
end

---The marks below a line whose parts have different counts; nil: none needed.
---@param spans cprof.Span[]
---@param share? fun(count: integer): string?  for samples: the share in %
---@return string?
function expressions.marks(spans, share)
  local alike, last = true, 0
  for _, span in ipairs(spans) do
    alike = alike and span.count == spans[1].count
  end
  if alike then return nil end
  local cells = {}
  -- parts that never ran are always marked
  for _, span in ipairs(spans) do
    if span.count == 0 then
      for i = span.from, span.to do cells[i] = "^" end
    end
  end
  for _, span in ipairs(spans) do
    if span.count == 0 then put_behind(cells, span.to, "never") end
  end
  for _, span in ipairs(spans) do
    local text = not share and format.count(span.count) or
      share and share(span.count)
    if span.count > 0 and text then put(cells, span.from, text) end
  end
  for i in pairs(cells) do last = math.max(last, i) end
  if last == 0 then return nil end
  for i = 1, last do cells[i] = cells[i] or " " end
  return table.concat(cells)
end

---A line whose parts are shaded by their counts.
---@param shown string
---@param spans cprof.Span[]
---@param greatest integer
---@param paint cprof.Paint
---@return string
function expressions.painted(shown, spans, greatest, paint)
  local out, at, byte = {}, 1, 1
  local function piece(to, style)
    if to < at or byte > #shown then return end
    local behind = utf8.offset(shown, to + 2 - at, byte) or #shown + 1
    out[#out + 1] = paint(style, shown:sub(byte, behind - 1))
    at, byte = to + 1, behind
  end
  for _, span in ipairs(spans) do
    piece(span.from - 1, nil)
    piece(span.to, span.count == 0 and "never" or
      format.heat(span.count, greatest))
  end
  piece((utf8.len(shown) or #shown), nil)
  return table.concat(out)
end

-- the highest count
local function hottest(list)
  local most = 0
  for _, e in ipairs(list) do most = math.max(most, e.count) end
  return most
end

-- the spans of a source's lines and its highest count, which are made once
local function marked(view, of, content)
  view.marked = view.marked or {}
  local known = view.marked[of]
  if not known then
    local list = view.profile.expressions[of]
    known = list and { spans = spans_of(list, content),
                       greatest = hottest(list) } or {}
    view.marked[of] = known
  end
  return known
end

-- the highest count in all sources
local function greatest_of(view)
  if not view.most then
    view.most = 0
    for _, list in pairs(view.profile.expressions) do
      view.most = math.max(view.most, hottest(list))
    end
  end
  return view.most
end

---Returns a function that adds to lines of a source the `spans` of their parts
---and the `greatest` count. It changes nothing if parts were not requested or
---are not known.
---@param view cprof.AnnotateView
---@param of string            a source
---@param content string[]     its lines
---@return fun(line: cprof.ListedLine): cprof.ListedLine
function expressions.marker(view, of, content)
  local known = view.options.expressions and marked(view, of, content) or {}
  if not known.spans then return function(line) return line end end
  local spans, greatest = known.spans, known.greatest
  if view.options.relative == "project" then greatest = greatest_of(view) end
  local function share(count)
    local percent = format.percent(count, view.whole)
    return percent ~= "0.0" and percent or nil
  end
  return function(line)
    if view.profile.samples then line.share = share end
    if not line.never then
      line.spans, line.greatest = spans[line.number], greatest
    end
    return line
  end
end

return expressions
