-- The patterns that choose what is recorded, and which of them matched.

local internal = require "cprof.sandbox.internal"
local name = require "cprof.source.name"
local nearest = require "cprof.sandbox.later" "cprof.text.nearest"
local patterns = require "cprof.text.patterns"

---@class cprof.Choice
---@field lines? cprof.Pattern[]
---@field include? cprof.Pattern[]
---@field exclude? cprof.Pattern[]
---@field private matched table<cprof.Pattern, true>
---@field private sources string[]  that were asked about
---@field private titles string[]   and functions
local Choice = {}
Choice.__index = Choice

local choice = {}

-- names that are kept to tell them
local most_names <const> = 1000

local function compiled(list)
  if not list then return nil end
  local out = {}
  for i, text in ipairs(list) do out[i] = assert(patterns.new(text)) end
  return out
end

---@param o cprof.StartOptions  that are valid
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

-- does one of them match? All are tried, to know which never do.
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

---Tells which sources have their lines recorded; nil: all. It is called
---once for each source.
---@return (fun(source: string): boolean)?
function Choice:line_filter()
  if not self.lines then return nil end
  return function(source)
    local place = name.place(source)
    keep(self.sources, place)
    return matches(self, "lines", source, place)
  end
end

---Tells which functions are recorded; nil: all. It is called once for each
---function, at its first call.
---@param title_of fun(raw: table, f: function?): string
---@return (fun(raw: table, f: function?): boolean)?
function Choice:function_filter(title_of)
  if not self.include and not self.exclude then return nil end
  return function(raw, f)
    local source, title = raw.source, title_of(raw, f)
    local place = name.place(source)
    if not (internal.has(source) or title:find "^cprof[./]") then
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

---A line for each pattern that has matched nothing so far; nil: there is
---none.
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
