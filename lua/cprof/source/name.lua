-- Names that people recognise: what a function is called in the source,
-- in the library that it belongs to, or by whoever called it first.

local classes = require "cprof.source.classes"
local core = require "cprof.core"
local text = require "cprof.source.text"

local definitions = require "cprof.sandbox.later" "cprof.source.definitions"

local name = {}

---What only the host calls.
name.host = "(host)"

---@class cprof.Named
---@field kind string       "Lua", "C", "main", "zone", "root"
---@field source string
---@field place string?     of Lua functions: the source as people write it
---@field line integer
---@field last_line integer
---@field nth integer?      of the functions that are defined on these lines
---@field called string     the name at the first call, or ""
---@field how string        what kind of name that is, as of debug.getinfo
---@field code string?      C: where its code is, if no good name is known
---@field id integer?

-- the folder in which the program of this process began to be recorded
local here

---From now on, paths are relative to this folder, unless another one is
---named.
---@param folder string?  default: the current one
---@return string?
function name.begin(folder)
  here = folder or core.cwd()
  return here
end

-- a path without steps that lead nowhere
local function straight(path)
  local out, n = (path:gsub("//+", "/"))
  repeat out, n = out:gsub("/%./", "/") until n == 0
  return (out:gsub("^%.[/\\]", ""))
end

---From now on, to name something loads no modules.
function name.prepare()
  definitions = require "cprof.source.definitions"
end

---A source as people write it: a path relative to the folder in which the
---program began to be recorded, a name, or the beginning of the code.
---@param source string
---@param folder string?  of the program; default: this one
---@return string
function name.place(source, folder)
  local first, rest = source:sub(1, 1), source:sub(2)
  if first == "@" then
    folder = folder or here or name.begin()
    rest = straight(rest)
    if folder and #folder > 1 and rest:sub(1, #folder) == folder and
       rest:find("^[/\\]", #folder + 1) then
      rest = rest:sub(#folder + 2)
    end
    return rest
  elseif first == "=" then
    return rest
  end
  local line = source:match "^%s*([^\r\n]*)"
  if #line > 40 then line = line:sub(1, 37) .. "..." end
  return ('[string "%s"]'):format(line)
end

---Sets the places of functions.
---@param list cprof.Named[]
---@param folder string?  of the program
function name.set_places(list, folder)
  for _, f in ipairs(list) do
    local stands = f.kind == "Lua" or f.kind == "main"
    f.place = stands and name.place(f.source, folder) or nil
  end
end

---The file that a function stands in, as it was given when it was loaded;
---nil when it stands in none.
---@param f cprof.Function
---@return string?
function name.file(f)
  if f.kind ~= "Lua" and f.kind ~= "main" then return nil end
  return f.source:match "^@(.+)$" or name.place(f.source)
end

---The line that a function begins in; 0 when it has none.
---@param f cprof.Function
---@return integer
function name.first_line(f)
  return f.kind == "main" and 1 or math.max(f.line, 0)
end

-- Definitions that their line names for sure: reading all of the source
-- takes longer.
local sure = {
  "^%s*function%s+([%a_][%w_.:]*)%s*%(",
  "^%s*local%s+function%s+([%a_][%w_]*)%s*%(",
  "^%s*local%s+([%a_][%w_]*)%s*=%s*function%s*%(",
  "^%s*([%a_][%w_]*%.[%w_.]+)%s*=%s*function%s*%(",
}

-- bases that stand for something else
local relative = { self = true, _G = true, _ENV = true }

local function quick(lines, at)
  local line = lines[at]
  local first = line and line:find("function", 1, true)
  if not first or line:find("function", first + 8, true) then return nil end
  for _, pattern in ipairs(sure) do
    local given = line:match(pattern)
    if given then
      -- of several values that are assigned, it may be another one's
      local several = at > 1 and lines[at - 1]:find ",%s*$"
      return not several and not relative[given:match "^[%w_]+"] and given
        or nil
    end
  end
end

-- what the definition calls a function
local function definition(f)
  local lines = text.lines(f.source)
  if not lines then return nil end
  local given = quick(lines, f.line)
  if given then return { name = given } end
  local index = text.once(f.source, definitions.index)
  return definitions.find(index, f.line, f.last_line, f.nth)
end

local function called(f)
  if f.called == "" or f.called == "?" then return nil end
  if f.how == "metamethod" then return "__" .. f.called end
  return f.called
end

-- {======================================================
-- Lua functions
-- =======================================================

local Naming = {}
Naming.__index = Naming

-- a path, with the table's name as all its functions have it
function Naming:spelled(path)
  local base, between, key = classes.split(path)
  return base and self.classes:of_path(base) .. between .. key or path
end

function Naming:name_lua(f)
  local own = self.own[f]
  local path, shared = self.path(f)
  if not own then
    return path and self:spelled(path) or called(f) or
      ("<fn:%d>"):format(f.line)
  end
  if shared then path = nil end
  local base, between, key = classes.split(own.name)
  local class = base and self.classes:of_base(f.source, base)
  if path and (own.anonymous or not class or
     class == base and classes.throwaway(base)) then
    return self:spelled(path)
  end
  return (class and class .. between .. key or own.name) .. (own.mark or "")
end

-- }======================================================


-- {======================================================
-- C functions
-- =======================================================

-- names by which a function is known, and not only called
local known = { global = true, field = true, method = true, upvalue = true }

-- a library as 'require' knows it: socket/core.so; else its file's name
local function library(file)
  local best
  for template in (package and package.cpath or ""):gmatch "[^;]+" do
    local before, after = template:match "^([^?]*)%?([^?]*)$"
    if before and #file > #before + #after and after ~= "" and
       file:sub(1, #before) == before and file:sub(-#after) == after then
      local rest = file:sub(#before + 1)
      if not best or #rest < #best then best = rest end
    end
  end
  return best or file:match "[^/]*$"
end

-- where the code of a C function is, with what it is called there
local function placed(f)
  local file, symbol = f.code:match "^(.*): (.-)$"
  if file then return ("%s: %s"):format(library(file), symbol) end
  local offset
  file, offset = f.code:match "^(.*)(%+0x%x+)$"
  if f.how == "metamethod" or f.how == "for iterator" then
    return ("%s: %s"):format(library(file), called(f))
  end
  return library(file) .. offset
end

function Naming:name_c(f, calls)
  local path, given = self.path(f), called(f)
  if path then return path end
  if f.how == "message handler" or given and known[f.how] then return given end
  -- what was there before recording began is the host's
  if calls == 0 and not given then return name.host end
  if (f.code or "") ~= "" then return placed(f) end
  return given or f.id and ("(C function %d)"):format(f.id) or "(C function)"
end

-- }======================================================


---Names of functions that are to agree with each other.
---@param list cprof.Named[]
---@param path fun(f: cprof.Named): string?, boolean?  where a function is
---    found, and whether that is one of several closures' place
---@return fun(f: cprof.Named, calls: integer?): string
function name.namer(list, path)
  local self = setmetatable({ path = path, own = {} }, Naming)
  local met = {}
  for _, f in ipairs(list) do
    local own = f.kind == "Lua" and definition(f)
    if own then
      self.own[f] = own
      local found, shared = path(f)
      if found and not shared and not own.anonymous then
        met[#met + 1] = { source = f.source, name = own.name, path = found }
      end
    end
  end
  self.classes = classes.new(met)
  return function(f, calls)
    if f.kind == "main" then return f.place or name.place(f.source) end
    if f.kind == "C" then return self:name_c(f, calls) end
    if f.kind ~= "Lua" then return f.called end
    return self:name_lua(f)
  end
end

---@param f cprof.Named
---@param path string?  where it is found
---@return string
function name.of(f, path)
  return name.namer({ f }, function() return path end)(f)
end

---A name with what its calls were, beside those by that name: plus (__add).
---@param given string       the function's name
---@param metamethod string?  "__add", "__eq, __lt", "also __add"; nil: none
---@return string
function name.called(given, metamethod)
  local one = metamethod and metamethod:match "^a?l?s?o? ?(__%l+)$"
  if not metamethod or one and given:sub(-#one) == one then return given end
  return ("%s (%s)"):format(given, metamethod)
end

---Where a function is defined: file and line.
---@param f cprof.Named
---@return string
function name.where(f)
  if f.kind == "C" then return "[C]" end
  if f.kind == "main" then return "main chunk" end
  if f.kind ~= "Lua" then return "" end
  return ("%s:%d"):format(f.place or name.place(f.source), f.line)
end

---What reports tell functions apart by.
---@param f cprof.Named
---@param given string  the function's name
---@return string
function name.title(f, given)
  local where = name.where(f)
  if where == "" then return given end
  return ("%s (%s)"):format(given, where)
end

return name
