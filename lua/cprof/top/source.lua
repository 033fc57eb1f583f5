-- The view of a source: its text, with figures beside each line if lines were
-- recorded.

local columns = require "cprof.top.columns"
local core = require "cprof.core"
local format = require "cprof.text.format"
local lines = require "cprof.count.lines"
local source = require "cprof.annotate.source"
local text = require "cprof.source.text"

---@class cprof.TopLine
---@field number integer
---@field content string
---@field figures? cprof.Line  figures of the period
---@field own boolean          whether it is one of the function's lines
---@field greatest integer     heat of the function's hottest line, in ns

-- The text of a source as it ran; if lines are not recorded, as it is now.
local function text_of(profile, of)
  if profile.sources[of] then return source.text(profile, of) end
  local now = of:sub(1, 1) == "@" and core.readfile(of:sub(2))
  if not now then return source.text(profile, of) end
  return text.split(now), nil
end

-- the text of the source that is shown, which is read once
local function content_of(m, of)
  local profile = m.now.profile
  local cached = m.text
  if cached and cached.of == of and (not lines.recorded(profile) or
     cached.known) then
    return cached.content, cached.note
  end
  local content, note = text_of(profile, of)
  m.text = { of = of, content = content, note = note,
    known = profile.sources[of] ~= nil }
  return content, note
end

-- why a function has no source; nil: it has one
local function none(f)
  return f.kind ~= "Lua" and f.kind ~= "main" and
    ("%s is not a Lua function, so it has no source"):format(f.name) or nil
end

local function list(m)
  local row = m.zone and m.now.figures:find(m.zone) or
    m.now.figures:largest()
  local f = row and row.func
  m.note, m.shown = nil, f
  if not f then return {} end
  m.note = none(f)
  if m.note then return {} end
  local content, note = content_of(m, f.source)
  m.note = not lines.recorded(m.now.profile) and
    "no lines were recorded: record with --lines to see figures here" or note
  local now = lines.recorded(m.now.profile) and
    m.now.profile.lines_of()[f.source] or {}
  local out, greatest = {}, 0
  for number = 1, math.max(#content, #now) do
    local own = f.kind == "main" or
      number >= f.line and number <= f.last_line
    local figures = now[number]
    if own and figures then greatest = math.max(greatest, figures.self) end
    out[number] = { number = number, figures = figures, own = own,
      content = source.printable(content[number] or "") }
  end
  for _, line in ipairs(out) do line.greatest = greatest end
  return out
end

local titles <const> = { { "hits", 9 }, { "self", 8 }, { "self %", 7 },
  { "calls", 9 }, { "callees", 8 } }

-- samples have neither hits nor calls
local sampled_titles <const> = { { "self", 8 }, { "self %", 11 },
  { "callees", 8 } }

local function titles_of(m) return m.sampled and sampled_titles or titles end

local function head(m, line)
  line.style = "head"
  if lines.recorded(m.now.profile) then
    for _, title in ipairs(titles_of(m)) do
      line:add(format.right(columns.titled(title[1], m),
        title[2] + (line.width > 0 and 1 or 0)))
    end
  end
  line:add(format.right("line", 7) .. "  ")
  if m.shown then line:add(format.plain(m.shown.title)) end
end

local function cells(m, figures)
  if not figures or figures.hits == 0 and figures.self == 0 and
     (figures.total == 0 or not m.sampled) then
    return { "", "", "", "", "" }
  end
  local own = columns.amount(figures.self, figures.self_most, m)
  local share = columns.share(figures.self, figures.self_most, m)
  local total = columns.amount(figures.total, figures.total_most, m)
  if m.sampled then return { own, share, total } end
  return { columns.count(figures.hits), own, share,
    figures.calls == 0 and "-" or columns.count(figures.calls), total }
end

local function draw(m, line, item)
  local figures = item.figures
  local style = figures and format.heat(figures.self, item.greatest)
  if lines.recorded(m.now.profile) then
    local given = cells(m, figures)
    for i, title in ipairs(titles_of(m)) do
      line:add(format.right(given[i], title[2] + (i > 1 and 1 or 0)), style)
    end
  end
  line:add(format.right(tostring(item.number), 7) ..
    (item.own and m.shown.kind ~= "main" and
     " |" or "  "), "dim")
  line:add(item.content, style or not item.own and "dim" or nil)
end

---@type cprof.TopView
return {
  name = "source", title = "Source", list = list, head = head, draw = draw,
  text = function(item) return item.content end,
  key = function(item) return tostring(item.number) end,
  zone = nil, none = none,
}
