-- A page: the text of a report or a listing, for a terminal or as Markdown.

local core = require "cprof.core"
local later = require "cprof.sandbox.later"

local format = later "cprof.text.format"
local link = later "cprof.source.link"
local markdown = later "cprof.text.markdown"
local tables = later "cprof.text.tables"

local page = {}

local at_most <const> = "< is an upper bound: most of the measured time is " ..
  "overhead"

local earlier <const> = "earlier: the call began before the range, and " ..
  "went on in it"

-- the width of sentences if the page has no width
local usual <const> = 100

---@class cprof.Page
---@field width integer    math.huge: nothing is cut
---@field paint cprof.Paint
---@field markdown boolean  whether it is Markdown
---@field clicked? boolean   is it for a browser, which has no options?
---@field measure cprof.Measure  of its figures
---@field private range boolean   are its figures those of a range of time?
---@field private links boolean   are places links to files?
---@field private folder? string   where the program's relative paths begin
---@field private out string[]
---@field private notes string[]  explanations of what was shown
local Page = {}
Page.__index = Page

---The options of all functions that make pages.
---@type table<string, cprof.OptionSpec>
page.options = {
  format = { type = "string", values = { "text", "markdown" },
             default = "text" },
  width = { type = "width" },
  height = { type = "integer", min = 10 },
  color = { type = "string", values = { "auto", "always", "never" },
            default = "auto" },
  hyperlinks = { type = "string", values = { "auto", "always", "never" },
                 default = "auto" },
}

-- Are links wanted? auto: on a terminal that is known to open them.
local function wants_links(choice)
  if choice ~= "auto" then return choice == "always" end
  return core.columns(1) ~= nil and link.opened()
end

---@param o { format?: "text"|"markdown", width?: integer,
---  color?: "auto"|"always"|"never", hyperlinks?: "auto"|"always"|"never" }
---@param profile cprof.Profile  that the figures come from
---@return cprof.Page
function page.new(o, profile)
  local md = o.format == "markdown"
  return setmetatable({
    width = o.width or md and math.huge or format.columns(),
    markdown = md, out = {}, notes = {}, measure = profile.measure,
    range = profile.meta.range ~= nil,
    paint = format.paint(not md and format.wants_color(o.color or "auto")),
    links = not md and wants_links(o.hyperlinks or "never"),
    folder = profile.meta.folder,
  }, Page)
end

local function add(self, line) self.out[#self.out + 1] = line end

---The address of a place in a source, for a cell; nil: it is not to be a link.
---@param source string  as Lua has it
---@param line integer
---@return string?
function Page:link(source, line)
  return self.links and link.address(source, line, self.folder) or nil
end

---The number of lines so far.
---@return integer
function Page:height() return #self.out end

---Adds an empty line, except at the beginning and after another one.
function Page:gap()
  if #self.out > 0 and self.out[#self.out] ~= "" then add(self, "") end
end

---Adds a title.
---@param what string  in words
---@param of? string   a name or a place
function Page:title(what, of)
  if self.markdown then
    self:gap()
    add(self, "### " .. what .. (of and markdown.code(of) or ""))
    add(self, "")
  else
    add(self, self.paint("bold", format.cut(what .. (of or ""), self.width)))
  end
end

---Adds a subtitle.
---@param what string
function Page:subtitle(what)
  if self.markdown then
    add(self, "**" .. what .. "**")
  else
    add(self, self.paint("bold", what))
  end
end

---@param text string
function Page:line(text)
  if self.markdown then
    add(self, "- " .. markdown.escape(text))
    return
  end
  local width = self.width < math.huge and self.width or usual
  for _, line in ipairs(format.wrap(text, width)) do add(self, line) end
end

---@param text string
function Page:note(text, ...)
  if select("#", ...) > 0 then text = text:format(...) end
  self:line("note: " .. text)
end

---Adds a dimmed line, such as what was left out.
---@param text string?
function Page:rest(text)
  if not text then return end
  if self.markdown then
    self:gap()
    add(self, markdown.escape(text))
  else
    for _, line in ipairs(self.width < math.huge and
      format.wrap(text, self.width) or { text }) do
      add(self, self.paint("dim", line))
    end
  end
end

---@param columns cprof.Column[]
---@param rows table[]
function Page:table(columns, rows)
  local lines = self.markdown and markdown.table(columns, rows) or
    tables.lines(columns, rows, self.width, self.paint)
  if self.markdown then self:gap() end
  table.move(lines, 1, #lines, #self.out + 1, self.out)
end

---Adds preformatted lines, such as a tree or a source.
---@param lines string[]
function Page:verbatim(lines)
  if self.markdown then self:gap() end
  if self.markdown then add(self, "```") end
  table.move(lines, 1, #lines, #self.out + 1, self.out)
  if self.markdown then add(self, "```") end
end

---Adds a table that stays preformatted in Markdown, so that columns align.
---@param columns cprof.Column[]
---@param rows table[]
function Page:listing(columns, rows)
  self:verbatim(tables.lines(columns, rows, self.width, self.paint))
end

---A figure as text.
---@param n integer
---@param most? integer  its upper bound, see bound
---@return string
function Page:time(n, most)
  local text, bounded = self.measure:amount(n, most)
  if bounded then self:footnote(at_most) end
  return text
end

---A figure with its unit, for a sentence.
---@param n integer
---@param most? integer
---@return string
function Page:in_words(n, most)
  local text, bounded = self.measure:in_words(n, most)
  if bounded then self:footnote(at_most) end
  return text
end

---A share in percent, as text.
---@param n integer
---@param most? integer
---@return string
function Page:share(n, most) return self.measure:share(n, most) end

---A number of calls; "" if calls were not counted. In a range of time, 0 calls
---are shown as "earlier": what ran there was called before it.
---@param n? integer
---@return string
function Page:calls(n)
  if n ~= 0 or not self.range then return format.calls(n) end
  self:footnote(earlier)
  return "earlier"
end

---A number of calls, for a sentence.
---@param n integer
---@return string
function Page:called(n)
  return n == 0 and self.range and "called earlier" or
    format.plural(n, "call")
end

---Adds an explanation for `explain`, once.
---@param note string
function Page:footnote(note)
  for _, known in ipairs(self.notes) do
    if known == note then return end
  end
  table.insert(self.notes, note)
end

---Adds the explanations that the figures shown need.
function Page:explain()
  local notes = self.notes
  self.notes = {}
  for _, note in ipairs(notes) do
    self:rest(note)
  end
end

---@return string
function Page:text()
  return table.concat(self.out, "\n") .. "\n"
end

return page
