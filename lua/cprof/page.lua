-- A page: what a report or a listing says, for a terminal or as Markdown.

local format = require "cprof.format"
local markdown = require "cprof.markdown"
local sampled = require "cprof.sampled"

local page = {}

local at_most <const> = "< at most: most of what was measured there is " ..
  "profiler overhead"

---@class cprof.Page
---@field width integer    math.huge: lines are not cut
---@field paint cprof.Paint
---@field markdown boolean  is it Markdown?
---@field unit "ns"|"instructions"|"count"|"bytes"  of what is measured
---@field counts boolean   are there instructions in the place of times?
---@field samples integer?  that shares are known from
---@field private out string[]
---@field private notes string[]  what is to be explained of what was shown
local Page = {}
Page.__index = Page

---@param o { format?: "text"|"markdown", width?: integer,
---  color?: "auto"|"always"|"never", unit?: string,
---  samples?: integer }
---@return cprof.Page
function page.new(o)
  local md = o.format == "markdown"
  return setmetatable({
    width = o.width or md and math.huge or format.columns(),
    markdown = md, unit = o.unit or "ns", out = {}, notes = {},
    counts = o.unit == "instructions", samples = o.samples,
    paint = format.paint(not md and format.wants_color(o.color or "auto")),
  }, Page)
end

local function add(self, line) self.out[#self.out + 1] = line end

---How many lines there are.
---@return integer
function Page:height() return #self.out end

---An empty line, except at the beginning and after another.
function Page:gap()
  if #self.out > 0 and self.out[#self.out] ~= "" then add(self, "") end
end

---What follows is about this.
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

---What a part of that is about.
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
  for _, line in ipairs(format.wrap(text, self.width)) do add(self, line) end
end

---@param text string
function Page:note(text, ...)
  if select("#", ...) > 0 then text = text:format(...) end
  self:line("note: " .. text)
end

---What does not matter as much as the rest.
---@param text string?
function Page:rest(text)
  if not text then return end
  if self.markdown then
    self:gap()
    add(self, markdown.escape(text))
  else
    add(self, self.paint("dim", text))
  end
end

---@param columns cprof.Column[]
---@param rows table[]
function Page:table(columns, rows)
  local lines = self.markdown and markdown.table(columns, rows) or
    format.table(columns, rows, self.width, self.paint)
  if self.markdown then self:gap() end
  table.move(lines, 1, #lines, #self.out + 1, self.out)
end

---Lines as they are: a tree, a source.
---@param lines string[]
function Page:verbatim(lines)
  if self.markdown then self:gap() end
  if self.markdown then add(self, "```") end
  table.move(lines, 1, #lines, #self.out + 1, self.out)
  if self.markdown then add(self, "```") end
end

---A table whose columns are to stay below each other.
---@param columns cprof.Column[]
---@param rows table[]
function Page:listing(columns, rows)
  self:verbatim(format.table(columns, rows, self.width, self.paint))
end

local units = { allocs = "count", blocks = "count", bytes = "bytes",
                live = "bytes", peak = "bytes" }

---The unit of what a profile measures.
---@param p cprof.Profile
---@return "ns"|"instructions"|"count"|"bytes"
function page.unit(p)
  return units[p.meta.measure] or
    (p.meta.mode == "count" and "instructions" or "ns")
end

---The samples that shares are known from; nil: they are not from samples.
---@param p cprof.Profile
---@return integer?
function page.samples(p)
  local measure = p.meta.measure
  if not measure then return p.time_samples end
  return measure == "bytes" and p.samples or nil
end

---A time, or what is in its place, as it is printed; see bound.
---@param most integer
---@param bounded boolean
---@return string
function Page:time(most, bounded)
  if self.counts or self.unit == "count" then return format.count(most) end
  if self.unit == "bytes" then return format.bytes(most) end
  if not bounded then return format.time(most) end
  self:footnote(at_most)
  return "<" .. format.time(most)
end

---The same in a sentence, with its unit.
---@param most integer
---@param bounded boolean
---@return string
function Page:told(most, bounded)
  return self:time(most, bounded) .. (self.counts and " instructions" or "")
end

---A share as it is printed.
---@param most integer
---@param bounded boolean
---@param whole integer
---@return string
function Page:share(most, bounded, whole)
  if self.samples then
    local off = sampled.interval(most / math.max(whole, 1), self.samples)
    return ("%s ±%.1f"):format(format.percent(most, whole), 100 * off)
  end
  if not bounded then return format.percent(most, whole) end
  local percent = format.percent(math.min(most, whole), whole)
  return "<" .. (percent == "0.0" and "0.1" or percent)
end

---What `explain` is to say, once.
---@param note string
function Page:footnote(note)
  for _, known in ipairs(self.notes) do
    if known == note then return end
  end
  table.insert(self.notes, note)
end

---Explains what was shown, as far as that is needed.
function Page:explain()
  local notes = self.notes
  self.notes = {}
  for _, note in ipairs(notes) do self:rest(note) end
end

---@return string
function Page:text()
  return table.concat(self.out, "\n") .. "\n"
end

return page
