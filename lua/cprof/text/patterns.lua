-- The texts with which users select functions and sources: a part of a name or
-- of a path, or a Lua pattern between slashes.

-- functions instead of methods: the program may have removed string methods
local find, match, sub = string.find, string.match, string.sub
local format = string.format

local patterns = {}

-- {======================================================
-- Faults of patterns, which Lua itself only finds while matching
-- =======================================================

-- limits for captures, as in Lua, and for items that may make Lua backtrack
local most_captures <const>, most_choices <const> = 32, 150

-- the index after a set that begins before i with '['
local function set_end(p, i)
  if sub(p, i, i) == "^" then i = i + 1 end
  repeat
    if i > #p then return nil end
    i = i + (sub(p, i, i) == "%" and 2 or 1)
  until sub(p, i, i) == "]"
  return i + 1
end

-- Readers of what follows a '%': they return the index after it, or nil and
-- the fault.
local escaped = {}

function escaped.b(p, i)
  if i + 2 > #p then return nil, "missing arguments to '%b'" end
  return i + 3
end

function escaped.f(p, i)
  if sub(p, i + 1, i + 1) ~= "[" then
    return nil, "missing '[' after '%f'"
  end
  return i + 1
end

local function back_reference(p, i, captures)
  local n = tonumber(sub(p, i, i))
  if not captures[n] or captures[n] == "open" then
    return nil, format("invalid capture index %%%d", n)
  end
  return i + 1
end

local function open_capture(p, i, captures)
  if #captures == most_captures then return nil, "too many captures" end
  local position = sub(p, i + 1, i + 1) == ")"
  captures[#captures + 1] = position and "closed" or "open"
  return i + (position and 2 or 1)
end

local function close_capture(_, i, captures)
  for n = #captures, 1, -1 do
    if captures[n] == "open" then
      captures[n] = "closed"
      return i + 1
    end
  end
  return nil, "')' without '('"
end

local reads = { ["("] = open_capture, [")"] = close_capture }

reads["["] = function(p, i)
  local after = set_end(p, i + 1)
  return after, not after and "missing ']'" or nil
end

reads["%"] = function(p, i, captures)
  local c = sub(p, i + 1, i + 1)
  if c == "" then return nil, "ends with '%'" end
  if find(c, "%d") then return back_reference(p, i + 1, captures) end
  if escaped[c] then return escaped[c](p, i + 1) end
  return i + 2
end

-- why a pattern is not valid; nil: it is valid
local function fault(p)
  local i, captures, choices = 1, {}, 0
  while i <= #p do
    local c, why = sub(p, i, i), nil
    if find(c, "[*+?()-]") then choices = choices + 1 end
    if reads[c] then i, why = reads[c](p, i, captures) else i = i + 1 end
    if not i then return why end
  end
  for _, state in ipairs(captures) do
    if state == "open" then return "'(' without ')'" end
  end
  return choices > most_choices and "too complex" or nil
end

-- }======================================================


---@class cprof.Pattern
---@field text string      as the user gave it
---@field private plain string      matches as a part of a text
---@field private pattern? string   matches as a Lua pattern, too
local Pattern = {}
Pattern.__index = Pattern

---The pattern that a text means; nil and why: it is not valid.
---@param text string
---@return cprof.Pattern?
---@return string?
function patterns.new(text)
  local pattern = match(text, "^/(.+)/$")
  local why = pattern and fault(pattern)
  if why then return nil, why end
  return setmetatable({ text = text, plain = pattern or text,
    pattern = pattern }, Pattern)
end

---Does it match? A text between slashes may also be meant as a path, so it
---matches literally, too.
---@param s string
---@return boolean
function Pattern:matches(s)
  return find(s, self.plain, 1, true) ~= nil or
    self.pattern ~= nil and find(s, self.pattern) ~= nil
end

---Does it match a function's title, or the path of a source, either as people
---write it (place) or as it was loaded (source)?
---@param source string
---@param place string
---@param title? string
---@return boolean
function Pattern:passes(source, place, title)
  local path = match(source, "^@(.*)")
  return title ~= nil and self:matches(title) or self:matches(place) or
    path ~= nil and self:matches(path)
end

---The text without pattern items, to suggest names for it.
---@return string
function Pattern:word()
  if not self.pattern then return self.plain end
  local word = string.gsub(self.pattern, "%%%w", "")
  return (string.gsub(word, "[%%%^%$%*%+%?%[%]%(%)]", ""))
end

return patterns
