-- Joins the functions and the sources of several profiles into one list of
-- each. A function that an edit has moved is still one function. If its code
-- was changed, its lines must not be added up: then it has several records
-- with one title, and what belongs to an older text has a source of its own.

local lists = require "cprof.text.lists"
local match = require "cprof.profile.match"
local name = require "cprof.source.name"
local order = require "cprof.text.order"
local profile = require "cprof.profile"
local text = require "cprof.source.text"

---@class cprof.Joined
---@field functions table[]       records, as profile.new takes them
---@field sources cprof.Source[]
---@field groups table[]          lists of the records that have one title
---@field titles table<string, integer>  by kind and title: number of the
---    profile that was the first to have it
---@field profiles integer        number of profiles that were added
---@field folder string?          the first profile's, and that of the sum
---@field texts table<string, cprof.Source[]>  sources by place, newest first
---@field by_key table<string, cprof.Source>  sources by their names
local Joined = {}
Joined.__index = Joined

local joined = {}

---@return cprof.Joined
function joined.new()
  return setmetatable({ functions = {}, sources = {}, groups = {},
    titles = {}, profiles = 0, texts = {}, by_key = {} }, Joined)
end

local function key_of(f) return f.kind .. "\0" .. f.title end

-- The functions of a profile, without older versions of functions that are
-- listed already; and for each function of the profile, its index in that list.
local function distinct(functions)
  local out, of, known = {}, {}, {}
  for i, f in ipairs(functions) do
    local key = key_of(f)
    local first = known[key]
    if first and out[first].source ~= f.source then of[i] = first
    else
      out[#out + 1] = f
      of[i], known[key] = #out, first or #out
    end
  end
  return out, of
end


-- {======================================================
-- Sources
-- =======================================================

-- The number of lines of a source.
local function length(source)
  return math.max(#source.active,
    source.text and #text.split(source.text) or 0)
end

-- The lines with code in `a` or in `b`. A byte of such a string stands for a
-- line; "\0": it has no code.
local function either(a, b)
  if a == b then return a end
  local out = {}
  for i = 1, math.max(#a, #b) do
    out[i] = string.char((a:byte(i) or 0) | (b:byte(i) or 0))
  end
  return table.concat(out)
end

-- The lines with code that is in none of these functions.
local function without(active, functions)
  if #functions == 0 then return active end
  local out = {}
  for i = 1, #active do out[i] = active:sub(i, i) end
  for _, f in ipairs(functions) do
    for i = f.line + 1, math.min(f.last_line, #out) do out[i] = "\0" end
  end
  return table.concat(out)
end

-- what is known of a source while its profile is added
---@class cprof.Joining
---@field source cprof.Source
---@field key string         its name in the sum
---@field place string
---@field known cprof.Source?  the source of the sum that has an equal text
---@field moved table[]      functions whose lines go to another source
---@field needed boolean     whether the sum must have it, if `known` is nil

-- The name of a source in the sum, whose paths are relative to one folder.
function Joined:own(p, key)
  local folder = p.meta.folder
  if folder == self.folder or key:sub(1, 1) ~= "@" then return key end
  return "@" .. name.place(key, folder)
end

-- Finds for each source of a profile the one in the sum. `places`: places in
-- the sum, by those of the profile, of files that were moved.
---@return table<string, cprof.Joining>
function Joined:begin(p, places)
  local out, new = {}, {}
  for _, key in ipairs(lists.keys(p.sources)) do
    local source = p.sources[key]
    local place = match.place { source = key,
      place = name.place(key, p.meta.folder) }
    place = places[place] or place
    local at = { source = source, place = place, moved = {},
                 key = self:own(p, key) }
    for _, known in ipairs(self.texts[place] or {}) do
      if known.text == source.text then at.known = at.known or known end
    end
    if at.known then at.key = at.known.source
    elseif not self.texts[place] then at.needed = true
    else
      new[place] = (new[place] or 0) + 1
      at.key = match.older(place, #self.texts[place] + new[place] - 1)
    end
    out[key] = at
  end
  return out
end

-- Adds the sources of a profile, after its functions.
function Joined:finish(joining)
  for _, key in ipairs(lists.keys(joining)) do
    local at = joining[key]
    local active = without(at.source.active, at.moved)
    local known = at.known
    if known then
      known.changed = known.changed or at.source.changed
      known.mixed = known.mixed or at.source.mixed
      known.active = either(known.active, active)
    elseif at.needed then
      local new = { source = at.key, active = active, text = at.source.text,
                    changed = at.source.changed, mixed = at.source.mixed }
      local texts = self.texts[at.place] or {}
      self.texts[at.place], texts[#texts + 1] = texts, new
      self.by_key[at.key], self.sources[#self.sources + 1] = new, new
    end
  end
  table.sort(self.sources, order "source")
end

-- }======================================================


-- {======================================================
-- Functions
-- =======================================================

-- Can lines of `f` be added to those of a record, after moving all of them by
-- the same number of lines?
function Joined:same_lines(record, f)
  if record.source == f.source and record.line == f.line and
     record.last_line == f.last_line and record.layout == f.layout then
    return true
  end
  local source = self.by_key[record.source]
  return f.layout ~= 0 and record.layout == f.layout and
    source and record.last_line <= length(source)
end

-- The record of a group that stands for `f`; nil: none does. `lines`: its
-- source, if that has lines. A record is used for one function of a profile.
function Joined:find(group, f, lines, used)
  local free
  for _, record in ipairs(group) do
    if not used[record] then
      if lines then
        if self:same_lines(record, f) then return record end
      elseif record.layout == f.layout then return record
      else free = free or record end
    end
  end
  return free
end

-- Adds a record for `f` to its group. A group gets a title that no other group
-- of earlier profiles has.
function Joined:add_record(group, f, marks, source)
  local first, title = group[1], f.title
  local function taken()
    local by = self.titles[f.kind .. "\0" .. title]
    return by and by ~= self.profiles
  end
  while not first and taken() do title = title .. " (older)" end
  local record = setmetatable({
    id = #self.functions + 1, marks = marks, source = source,
    name = first and first.name, title = first and first.title or title,
  }, { __index = f })
  self.titles[key_of(record)] = self.titles[key_of(record)] or self.profiles
  self.functions[record.id], group[#group + 1] = record, record
  return record
end

-- Notes that a function has a record of its own in a source. If `other`, a
-- record of an equal text, has different code there, several chunks have that
-- text's name: then the source is mixed.
local function need(at, other)
  at.needed = true
  if at.known and other and other.source == at.key and
     (not at.source.text or at.source.changed) then
    at.known.mixed = true
  end
end

---Adds the functions and sources of a profile. The newest profile must be
---added first.
---@param p cprof.Profile
---@return integer[] map  for each function of `p`, its id in the sum
---@return (integer|false)[] shift  how far its lines have moved there; false:
---    it is a zone, which has lines of the function that opened it
function Joined:add(p)
  local functions, of = distinct(p.functions)
  local known = {}
  if self.profiles == 0 then self.folder = p.meta.folder end
  self.profiles = self.profiles + 1
  for i, group in ipairs(self.groups) do known[i] = group[1] end
  local to, _, places = match.functions(known, functions)
  local group_of = {}
  for i, j in pairs(to) do group_of[j] = self.groups[i] end
  local joining = self:begin(p, places)
  local marks, used, map, shift = profile.marks(p), {}, {}, {}
  for i, f in ipairs(p.functions) do
    local group = group_of[of[i]]
    if not group then
      group = {}
      group_of[of[i]], self.groups[#self.groups + 1] = group, group
    end
    local at = joining[f.source]
    local record = self:find(group, f, at, used)
    if not record then
      if at then need(at, group[1]) end
      record = self:add_record(group, f, marks[i], at and at.key or
        self:own(p, f.source))
    elseif at and record.source ~= at.key then
      at.moved[#at.moved + 1] = f
    end
    used[record], map[i] = true, record.id
    shift[i] = record.layout == f.layout and record.line - f.line or 0
    -- lines of a zone are those of the function that opened it
    if f.kind == "zone" then shift[i] = false end
  end
  self:finish(joining)
  return map, shift
end

-- }======================================================

return joined
