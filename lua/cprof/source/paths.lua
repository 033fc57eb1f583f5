-- Finds functions and their paths: in tables of loaded modules, among methods
-- of C libraries' objects, and by calling the functions that return them.

local core = require "cprof.core"
local environment = require "cprof.sandbox.environment" ()

local paths = {}

local libraries = {}
for library in ("coroutine debug io math os package string table utf8")
  :gmatch "%a+" do
  libraries[library] = true
end

-- The rank of a path; the lowest is best. Prefers string.rep to an alias of it,
-- a global to a module's copy, and a method to an equal metamethod.
local function rank(path)
  if path:find "%f[%w_]__" then return 3 end
  local module = path:match "^(.-)[.:]"
  if not module then return 1 end
  return libraries[module] and 0 or 2
end

-- Is a path better than another one? `old` is nil: there is no other.
local function better(new, old)
  if not old then return true end
  local a, b = rank(new), rank(old)
  if a ~= b then return a < b end
  if #new ~= #old then return #new < #old end
  return new < old
end

-- Notes that a function is found at a path, if that is its best one.
local function add(found, path, f)
  if better(path, found[f]) then found[f] = path end
end

-- Adds the functions in a table, and in the tables in it, to this depth.
local function collect(found, prefix, t, depth)
  for key, value in next, t do
    if type(key) == "string" then
      if type(value) == "function" then
        add(found, prefix .. key, value)
      elseif type(value) == "table" and depth > 1 and
             not rawequal(value, package.loaded) then
        collect(found, prefix .. key .. ".", value, depth - 1)
      end
    end
  end
end

-- C functions that are in no table: each of these returns one. It fails if the
-- host has not opened its library.
local makers = {
  ["ipairs iterator"] = function() return (ipairs {}) end,
  ["string.gmatch iterator"] = function() return string.gmatch("", "") end,
  ["utf8.codes iterator"] = function() return (utf8.codes "") end,
  ["io.lines iterator"] = function() return (io.stdout:lines()) end,
  ["coroutine.wrap function"] = function() return coroutine.wrap(print) end,
}

-- Adds C functions that are in no table of a module.
local function collect_made(found)
  for path, make in pairs(makers) do
    local ok, f = pcall(make)
    if ok and type(f) == "function" then add(found, path, f) end
  end
  for hook, f in pairs(core.hooks) do add(found, "debug." .. hook, f) end
  for i, searcher in next, package.searchers or {} do
    if type(searcher) == "function" then
      add(found, ("package.searchers[%d]"):format(i), searcher)
    end
  end
end

---What users call the objects that have a metatable of this name: "file" for
---"FILE*", "tcp" for "tcp{client}".
---@param metatable string
---@return string
function paths.receiver(metatable)
  local kind = metatable:gsub("%s*%*$", ""):gsub("%s+metatable$", "")
    :gsub("^([%w_.]+)%b{}$", "%1")
  return kind:find "%l" and kind or kind:lower()
end

---The name of a method with what users call its object in place of the name of
---the metatable: "file:read" for "FILE*:read".
---@param given string
---@return string
function paths.method(given)
  local metatable, method = given:match "^(.+):([^:]+)$"
  return metatable and paths.receiver(metatable) .. ":" .. method or given
end

-- Adds functions of Lua's libraries that the program has removed or replaced
-- there.
local function collect_standard(found)
  local standard = {}
  collect(standard, "", environment, 2)
  for f, path in next, standard do
    if not found[f] then add(found, path, f) end
  end
end

-- Adds methods and metamethods of the objects of C libraries.
local function collect_methods(found)
  local registry = debug and debug.getregistry and debug.getregistry() or {}
  for key, value in next, registry do
    if type(key) == "string" and type(value) == "table" and
       rawget(value, "__name") == key then
      local prefix = paths.receiver(key) .. ":"
      local methods = rawget(value, "__index")
      if type(methods) == "table" then
        collect(found, prefix, methods, 1)
      end
      collect(found, prefix, value, 1)
    end
  end
end

---The functions that can be found, each with its best path.
---@param without? string  a pattern: modules whose names match are left out
---@return table<function, string>
function paths.all(without)
  local found = {}
  for module, value in next, package.loaded do
    if module == "_G" then collect(found, "", value, 2)
    elseif type(module) == "string" and
           not (without and module:find(without)) then
      if type(value) == "table" then collect(found, module .. ".", value, 2)
      else collect(found, "", { [module] = value }, 1)
      end
    end
  end
  collect_standard(found)
  collect_made(found)
  collect_methods(found)
  return found
end

-- C strings end before the first zero byte.
local function c_string(s) return (s:gsub("\0.*", "")) end

---The functions that can be found in tables at present, with their paths, as
---the core writes them into a file. Functions of cprof's own modules are left
---out: they are not recorded, and are as many as all others.
---@return string
function paths.packed()
  local out = {}
  for f, path in pairs(paths.all "^cprof%.") do
    local info, address = debug.getinfo(f, "S"), core.address(f)
    out[#out + 1] = ("=i8i4i4zz"):pack(address or 0, info.linedefined,
      info.lastlinedefined, address and "" or c_string(info.source),
      c_string(path))
  end
  return table.concat(out)
end

---@class cprof.PathIndex  paths by keys that identify functions
---@field path table<any, string>  the best path
---@field shared table<any, boolean>  true: closures of one definition are found
---    in several places, so no path is the name of all
local Index = {}
Index.__index = Index

---Makes an empty index.
---@return cprof.PathIndex
function paths.index()
  return setmetatable({ path = {}, shared = {} }, Index)
end

---Adds a function that is found at a path.
---@param key any
---@param path string
---@param is_c boolean?
function Index:add(key, path, is_c)
  local old = self.path[key]
  if old and not is_c then self.shared[key] = true end
  if better(path, old) then self.path[key] = path end
end

return paths
