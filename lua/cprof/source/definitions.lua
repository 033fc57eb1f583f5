-- Names the functions of a source by their definitions: by the function
-- statement, the variable that is assigned, or the field of a table. A function
-- without such a name is named by its line, and by the function or table that
-- holds it: parse.<fn:775>.

local lexer = require "cprof.source.lexer"
local lists = require "cprof.text.lists"

local definitions = {}

---@class cprof.Definition
---@field line integer       linedefined of debug.getinfo
---@field last_line integer?  lastlinedefined; nil: the text ends before
---@field column integer
---@field name string
---@field anonymous boolean  whether it is named by its line
---@field mark string?       tells it from others of its name on that line

-- A reader goes through the tokens. Functions, blocks and brackets that are
-- open at the current token are on its stack of frames. A frame has
--   kind     "function", "block", "(", "[" or "{"
--   at       index of the token that opens it
--   outer    the frame around it
--   assigns  index of "=" of the current assignment or field; nil: none
--   commas   number of "," since that "="
--   items    "{": number of values without a key so far
--   name     function: its name
--   class    function: name of the table that `self` is
local Reader = {}
Reader.__index = Reader

-- Lua's limit of nesting, and of targets of one assignment
local deepest <const> = 200

-- A key as it follows the name of its table in a name: ".key", or in square
-- brackets. nil: it is computed.
local function index_of(kind, text)
  if kind == "string" then
    local plain = text:match "^[\"']([%a_][%w_]*)[\"']$"
    return plain and "." .. plain or "[" .. text .. "]"
  elseif kind == "name" or kind == "number" then
    return "[" .. text .. "]"
  end
end

-- The name of a field; without its ".", if the base is nil.
local function join(base, key)
  return base and base .. key or (key:gsub("^[.:]", ""))
end

-- The key whose "]" is at `at`, if it is one token, else nil; and the index of
-- its "[".
function Reader:key(at)
  local kind = self.kind
  local open, depth = at - 1, 1
  while open > 0 do
    if kind[open] == "]" then depth = depth + 1
    elseif kind[open] == "[" then depth = depth - 1 end
    if depth == 0 then break end
    open = open - 1
  end
  local single = open == at - 2
  return single and index_of(kind[at - 1], self.text[at - 1]) or nil, open
end

-- The name of a table that is indexed; nil: it is the table of globals.
function Reader:subject(name)
  if name == "_G" or name == "_ENV" then return nil end
  if name ~= "self" then return name end
  local frame = self.top
  while frame do
    if frame.class then return frame.class end
    frame = frame.outer
  end
  return self:around(self.top) or name
end

-- The name of the target of an assignment whose last token is at `at`, and the
-- index of its first token. A name of nil: it has a computed key.
function Reader:target(at)
  local kind, text = self.kind, self.text
  local keys, computed = {}, false
  if kind[at] == ">" then at = at - 3 end  -- <const>, <close>
  while kind[at] == "]" or kind[at] == "name" and kind[at - 1] == "." do
    if kind[at] == "]" then
      local key, open = self:key(at)
      keys[#keys + 1], computed = key, computed or not key
      at = open - 1
    else
      keys[#keys + 1] = "." .. text[at]
      at = at - 2
    end
  end
  if computed then return nil, at end
  local name = kind[at] == "name" and text[at] or nil
  if name and #keys > 0 then name = self:subject(name) end
  for i = #keys, 1, -1 do name = join(name, keys[i]) end
  return name, at
end

-- The name of the target that gets the value after `commas` commas; `assigns`
-- is the index of "=".
function Reader:assigned(assigns, commas)
  local names, n, at = {}, 0, assigns
  repeat
    if n > deepest then return nil end
    n = n + 1
    names[n], at = self:target(at - 1)
    at = at - 1
  until self.kind[at] ~= ","
  return names[n - commas]
end

-- The name of the table whose constructor `frame` is; nil: it has none.
function Reader:path(frame)
  return self:named(frame.at, frame.outer)
end

-- The name of the current field of the table constructor `frame`.
function Reader:item(frame)
  local assigns, path = frame.assigns, self:path(frame)
  if not assigns then
    return path and ("%s[%d]"):format(path, frame.items + 1)
  end
  local last = assigns - 1
  local key = self.kind[last] == "]" and self:key(last) or
    self.kind[last] == "name" and "." .. self.text[last]
  return key and join(path or self:around(frame.outer), key) or nil
end

-- operators whose last operand may be the value that is assigned
local chained = { ["or"] = true, ["and"] = true }

-- tokens before the value of a field
local begins_item = { ["="] = true, ["{"] = true, [","] = true, [";"] = true }

-- The name of the value that begins at `at` in `frame`: that of its target or
-- field; nil: it has none.
function Reader:named(at, frame)
  if #self.frames > deepest then return nil end
  local before = self.kind[at - 1]
  if frame.kind == "{" then
    if begins_item[before] or chained[before] then return self:item(frame) end
  elseif frame.kind == "(" then
    -- setmetatable returns its first argument, so that has the call's name
    local opens = frame.at
    if at == opens + 1 and self.text[opens - 1] == "setmetatable" then
      return self:named(opens - 1, frame.outer)
    end
  elseif frame.assigns and (before == "=" or before == "," or
         chained[before]) then
    return self:assigned(frame.assigns, frame.commas)
  end
end

-- The name of the innermost function, field or table with a name around the
-- current token in `frame`; nil: there is none.
function Reader:around(frame)
  while frame and #self.frames <= deepest do
    local name
    if frame.kind == "{" then name = self:item(frame) or self:path(frame)
    else name = frame.name end
    if name then return name end
    frame = frame.outer
  end
end

-- Opens a frame.
function Reader:push(kind, at)
  local frame = { kind = kind, at = at, outer = self.top, commas = 0,
                  items = 0 }
  self.frames[#self.frames + 1], self.top = frame, frame
  return frame
end

-- Closes the innermost frame and returns it; nil: only the outermost is open.
function Reader:pop()
  local frame = self.top
  if not frame.outer then return nil end
  self.frames[#self.frames] = nil
  self.top = frame.outer
  return frame
end

-- Closes the innermost function or block and returns it, and also the brackets
-- that were left open in it.
function Reader:pop_block()
  local frame
  repeat frame = self:pop()
  until not frame or frame.kind == "function" or frame.kind == "block"
  return frame
end

-- Opens a function whose keyword is at `at`.
function Reader:open(at, line, name, class)
  local definition = { line = line or self.line[at], name = name,
                       column = self.column[at] }
  if not name then definition.holder = self:around(self.top) end
  self.out[#self.out + 1] = definition
  local frame = self:push("function", at)
  frame.definition, frame.name, frame.class = definition, name, class
end

-- The name in a function statement whose keyword is at `at`, and the name of
-- the table of which it is a field.
function Reader:stated(at)
  local kind, text = self.kind, self.text
  local name, class = text[at + 1], nil
  for i = at + 2, self.n, 2 do
    if kind[i] ~= "." and kind[i] ~= ":" then break end
    if i == at + 2 then class = self:subject(name) else class = name end
    name = join(class, text[i] .. (text[i + 1] or ""))
  end
  return name, class
end

-- what to do at a token, by its kind
local handlers = {}

handlers["function"] = function(self, at)
  if self.kind[at + 1] ~= "name" then
    local name = self:named(at, self.top)
    self:open(at, self.line[at + 1], name, name and name:match "^(.+)%.")
  elseif self.kind[at - 1] == "local" then
    self:open(at, self.line[at + 2], self.text[at + 1])
  else
    self:open(at, self.line[at], self:stated(at))
  end
end

handlers["end"] = function(self, at)
  local frame = self:pop_block()
  if frame and frame.definition then
    frame.definition.last_line = self.line[at]
  end
end

handlers["until"] = function(self)
  self:pop_block()
  self.top.assigns = nil
end

for word in ("do if repeat"):gmatch "%a+" do
  handlers[word] = function(self, at)
    self.top.assigns = nil
    self:push("block", at)
  end
end

for word in ("return local for while then else elseif"):gmatch "%a+" do
  handlers[word] = function(self) self.top.assigns = nil end
end

handlers["="] = function(self, at)
  self.top.assigns, self.top.commas = at, 0
end

handlers[","] = function(self)
  local frame = self.top
  frame.commas = frame.commas + 1
  if frame.kind ~= "{" then return end
  if not frame.assigns then frame.items = frame.items + 1 end
  frame.assigns = nil
end

handlers[";"] = function(self)
  if self.top.kind == "{" then handlers[","](self) end
  self.top.assigns = nil
end

for open, close in pairs { ["("] = ")", ["["] = "]", ["{"] = "}" } do
  handlers[open] = function(self, at) self:push(open, at) end
  handlers[close] = function(self)
    if self.top.kind == open then self:pop() end
  end
end

-- Names the functions that have no name. Functions of one line and one name are
-- told apart by columns.
local function name_all(list)
  local on = {}
  local function key(d) return ("%d:%s"):format(d.line, d.name or "") end
  for _, d in ipairs(list) do on[key(d)] = (on[key(d)] or 0) + 1 end
  for _, d in ipairs(list) do
    local single = on[key(d)] == 1
    local here = ("<fn:%d%s>"):format(d.line,
      single and "" or ":" .. d.column)
    d.anonymous = not d.name
    if d.anonymous then d.name = join(d.holder, "." .. here)
    elseif not single then d.mark = " " .. here end
  end
end

---The functions that a text defines, in its order.
---@param s string
---@return cprof.Definition[]
function definitions.read(s)
  local tokens = lexer.tokens(s)
  local self = setmetatable({ n = tokens.n, kind = tokens.kind,
    text = tokens.text, line = tokens.line, column = tokens.column,
    frames = {}, out = {} }, Reader)
  self:push("function", 0)
  local kind = tokens.kind
  for at = 1, tokens.n do
    local handler = handlers[kind[at]]
    if handler then handler(self, at) end
  end
  name_all(self.out)
  return self.out
end

local function lines(line, last_line)
  return line << 32 | last_line
end

---The definitions in a text by their lines, for `definitions.find`.
---@param s string
---@return table<integer, cprof.Definition[]>
function definitions.index(s)
  local by_lines = {}
  for _, d in ipairs(definitions.read(s)) do
    if d.last_line then
      local key = lines(d.line, d.last_line)
      lists.add(by_lines, key, d)
    end
  end
  return by_lines
end

---The definition of the function on these lines. If there are several, `nth`
---is its number; without it, they must have one name.
---@param index table<integer, cprof.Definition[]>
---@param line integer
---@param last_line integer
---@param nth integer?  nil: not known
---@return cprof.Definition?  nil: there is none, or several fit
function definitions.find(index, line, last_line, nth)
  local list = index[lines(line, last_line)]
  if not list then return nil end
  if #list == 1 or nth then return list[nth or 1] end
  for _, d in ipairs(list) do
    if d.name ~= list[1].name then return nil end
  end
  return list[1]
end

return definitions
