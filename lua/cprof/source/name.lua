-- Names functions so that people recognise them: by the source, by the library
-- that they belong to, or by the code that called them first.

local classes = require "cprof.source.classes"
local core = require "cprof.core"
local filename = require "cprof.system.filename"
local text = require "cprof.source.text"

local definitions = require "cprof.sandbox.later" "cprof.source.definitions"

local name = {}

---The name of functions that only the host has called.
name.host = "(host)"

---@class cprof.Named
---@field kind string       "Lua", "C", "main", "zone", "root"
---@field source string
---@field place string?     of Lua functions: the source as people write it
---@field line integer
---@field last_line integer
---@field nth integer?      its number among the functions on these lines
---@field called string     the name at the first call; "": none
---@field how string        `namewhat` of debug.getinfo for that name
---@field code string?      C: where its code is, if no good name is known
---@field id integer?

-- the current folder when recording of this process's program began
local here

---Sets the folder that paths are relative to where no other one is given.
---@param folder string?  default: the current one
---@return string? folder
function name.begin(folder)
  here = folder or core.cwd()
  return here
end

---A path without "//" and "/./", and without "./" at its start.
---@param path string
---@return string
function name.straight(path)
  local out, n = (path:gsub("//+", "/"))
  repeat out, n = out:gsub("/%./", "/") until n == 0
  return (out:gsub("^%.[/\\]", ""))
end

---Loads all modules that names need, so that none is loaded during recording.
function name.prepare()
  definitions = require "cprof.source.definitions"
end

---A source as people write it: a path relative to the folder in which
---recording began, a name, or the beginning of the code.
---@param source string  as debug.getinfo has it
---@param folder string?  the program's; default: that of `name.begin`
---@return string
function name.place(source, folder)
  local rest = filename.of_source(source)
  if rest then
    folder = folder or here or name.begin()
    rest = name.straight(rest)
    if folder and #folder > 1 and rest:sub(1, #folder) == folder and
       rest:find("^[/\\]", #folder + 1) then
      rest = rest:sub(#folder + 2)
    end
    return rest
  elseif source:sub(1, 1) == "=" then
    return source:sub(2)
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

---The source of a function, with a file's path as the program loaded it; nil:
---it has none, for example because it is a C function.
---@param f cprof.Function
---@return string?
function name.file(f)
  if f.kind ~= "Lua" and f.kind ~= "main" then return nil end
  return filename.of_source(f.source) or name.place(f.source)
end

---The line on which a function begins; 0: it has none.
---@param f cprof.Function
---@return integer
function name.first_line(f)
  return f.kind == "main" and 1 or math.max(f.line, 0)
end

-- Patterns of lines that certainly tell the name of the function that they
-- define. Reading all of a source takes longer.
local sure = {
  "^%s*function%s+([%a_][%w_.:]*)%s*%(",
  "^%s*local%s+function%s+([%a_][%w_]*)%s*%(",
  "^%s*local%s+([%a_][%w_]*)%s*=%s*function%s*%(",
  "^%s*([%a_][%w_]*%.[%w_.]+)%s*=%s*function%s*%(",
}

-- names that do not tell which table they are
local relative = { self = true, _G = true, _ENV = true }

-- The name of the function that is defined on line `at`; nil: the line alone
-- does not tell.
local function name_on_line(lines, at)
  local line = lines[at]
  local first = line and line:find("function", 1, true)
  if not first or line:find("function", first + 8, true) then return nil end
  for _, pattern in ipairs(sure) do
    local given = line:match(pattern)
    if given then
      -- after a comma, this may be one of several values that are assigned
      local several = at > 1 and lines[at - 1]:find ",%s*$"
      return not several and not relative[given:match "^[%w_]+"] and given
        or nil
    end
  end
end

-- The definition of a function, with its name; nil: there is no text, or the
-- definition cannot be told.
local function definition(f)
  local lines = text.lines(f.source)
  if not lines then return nil end
  local given = name_on_line(lines, f.line)
  if given then return { name = given } end
  local index = text.once(f.source, definitions.index)
  return definitions.find(index, f.line, f.last_line, f.nth)
end

-- The name of a function at its first call; nil: it had none.
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

-- A path with the name of its table that all functions of the table have.
function Naming:spelled(path)
  local base, between, key = classes.split(path)
  return base and self.classes:of_path(base) .. between .. key or path
end

-- The name of a Lua function: by its definition, its path, or its first call.
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

-- kinds of names that identify a C function well; others, such as a local
-- variable's, only say how one call names it
local known = { global = true, field = true, method = true, upvalue = true }

-- A library's path below a folder of package.cpath, as socket/core.so; else its
-- file name.
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

-- Names a C function by its library, and by its symbol, metamethod or address
-- there.
local function name_in_library(f)
  local file, symbol = f.code:match "^(.*): (.-)$"
  if file then return ("%s: %s"):format(library(file), symbol) end
  local offset
  file, offset = f.code:match "^(.*)(%+0x%x+)$"
  if not file then return f.code end
  if f.how == "metamethod" or f.how == "for iterator" then
    return ("%s: %s"):format(library(file), called(f))
  end
  return library(file) .. offset
end

-- The name of a C function. `calls`: how often it was called; nil: not known.
function Naming:name_c(f, calls)
  local path, given = self.path(f), called(f)
  if path then return path end
  if f.module then return f.code:match ": (.-)$" or name_in_library(f) end
  if f.how == "message handler" or given and known[f.how] then return given end
  -- no call was seen: it ran before recording began, called by the host
  if calls == 0 and not given then return name.host end
  if (f.code or "") ~= "" then return name_in_library(f) end
  return given or f.id and ("(C function %d)"):format(f.id) or "(C function)"
end

-- }======================================================


---A function that names the functions of a list. Functions of one table get one
---name for it.
---@param list cprof.Named[]
---@param path fun(f: cprof.Named): string?, boolean?  where a function is
---    found; and true if several closures of its definition are found, so that
---    the path is not the name of all
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

---The name of a single function.
---@param f cprof.Named
---@param path string?  where it is found
---@return string
function name.of(f, path)
  return name.namer({ f }, function() return path end)(f)
end

---A name, followed by the metamethods as which the function was called, such as
---"plus (__add)".
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
  if f.kind == "C" then
    return ("[%s]"):format(f.module or f.title and name.module(f) or "C")
  end
  if f.kind == "main" then return "main chunk" end
  if f.kind ~= "Lua" then return "" end
  return ("%s:%d"):format(f.place or name.place(f.source), f.line)
end

---The file of a C function that Lua did not call, as its title says it; nil: it
---is another function.
---@param f cprof.Function
---@return string?
function name.module(f)
  local module = f.kind == "C" and f.title:match " %(%[([^%]]*)%]%)$"
  return module and module ~= "C" and module or nil
end

---The file of a C frame that has no name in it; nil: it has one, or is in
---memory without a file, which has no symbols.
---@param f cprof.Function
---@return string?
function name.unnamed(f)
  local module = name.module(f)
  return module and f.name:find "%+0x%x+$" and f.name:sub(1, 1) ~= "[" and
    module or nil
end

---The title of a function, by which reports tell functions apart.
---@param f cprof.Named
---@param given string  the function's name
---@return string
function name.title(f, given)
  local where = name.where(f)
  if where == "" then return given end
  return ("%s (%s)"):format(given, where)
end

return name
