-- The patterns of options that choose what is recorded. Notes which of them
-- have matched.

local internal = require "cprof.sandbox.internal"
local name = require "cprof.source.name"
local nearest = require "cprof.sandbox.later" "cprof.text.nearest"
local patterns = require "cprof.text.patterns"

---@class cprof.Choice
---@field lines? cprof.Pattern[]
---@field include? cprof.Pattern[]
---@field exclude? cprof.Pattern[]
---@field private matched table<cprof.Pattern, true>
---@field private sources string[]  sources that `lines` was matched with
---@field private titles string[]   titles of functions that `include` and
---    `exclude` were matched with
local Choice = {}
Choice.__index = Choice

local choice = {}

-- most names that are kept, to suggest some where a pattern has no match
local most_names <const> = 1000

-- The patterns of a list of texts; nil: there is no list.
local function compiled(list)
  if not list then return nil end
  local out = {}
  for i, text in ipairs(list) do out[i] = assert(patterns.new(text)) end
  return out
end

---@param o cprof.StartOptions  valid ones
---@return cprof.Choice
function choice.new(o)
  return setmetatable({ lines = compiled(o.lines),
    include = compiled(o.include), exclude = compiled(o.exclude),
    matched = {}, sources = {}, titles = {} }, Choice)
end

---Is anything chosen?
---@return boolean
function Choice:any()
  return (self.lines or self.include or self.exclude) ~= nil
end

-- Does a pattern of this kind match? Tries all, to know which never do.
local function matches(self, kind, source, place, title)
  local any = false
  for _, pattern in ipairs(self[kind]) do
    if pattern:passes(source, place, title) then
      self.matched[pattern], any = true, true
    end
  end
  return any
end

local function keep(names, new)
  if #names < most_names then names[#names + 1] = new end
end

---A function that tells if lines of a source are recorded; nil: those of all
---sources are. It must be called once for each source.
---@return (fun(source: string): boolean)?
function Choice:line_filter()
  if not self.lines then return nil end
  return function(source)
    local place = name.place(source)
    keep(self.sources, place)
    return matches(self, "lines", source, place)
  end
end

---A function that tells if a function is recorded; nil: all are. It must be
---called once for each function, at its first call.
---@param title_of fun(raw: table, f: function?): string
---@return (fun(raw: table, f: function?): boolean)?
function Choice:function_filter(title_of)
  if not self.include and not self.exclude then return nil end
  return function(raw, f)
    local source, title = raw.source, title_of(raw, f)
    local place = name.place(source)
    -- nobody would choose a C function by its address
    if not (internal.has(source) or title:find "^cprof[./]" or
       title:find "%+0x%x+ %(%[C%]%)$") then
      keep(self.titles, title)
    end
    if self.exclude and matches(self, "exclude", source, place, title) then
      return false
    end
    return not self.include or matches(self, "include", source, place, title)
  end
end

local kinds = { { "lines", "source", "sources" },
  { "include", "function", "titles" }, { "exclude", "function", "titles" } }

---A line for each pattern that has matched nothing so far; nil: all have
---matched, or had nothing to match with.
---@return string?
function Choice:unmatched()
  local out = {}
  for _, kind in ipairs(kinds) do
    local option, what, names = kind[1], kind[2], self[kind[3]]
    for _, pattern in ipairs(self[option] or {}) do
      if not self.matched[pattern] and #names > 0 then
        out[#out + 1] = ("no %s matches %s '%s'%s"):format(what, option,
          pattern.text, nearest.list(pattern:word(), names))
      end
    end
  end
  return #out > 0 and table.concat(out, "\n") or nil
end

return choice
