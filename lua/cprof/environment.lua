-- The globals of cprof's own modules: copies of the standard library, made
-- when cprof is loaded, and a 'require' that loads modules with them. What a
-- program does to its globals, its libraries or package.path later on does
-- not matter to cprof.

local core = require "cprof.core"

-- A host may have opened only some; what a program does to them later on is
-- no matter.
for _, name in next, { "coroutine", "debug", "io", "math", "os", "package",
  "string", "table", "utf8" } do
  if type(rawget(_G, name)) ~= "table" then
    error("cprof needs Lua's library '" .. name .. "': open it (luaopen_" ..
      name .. " or luaL_openlibs), and take it away after cprof was loaded",
      0)
  end
end

local require, loadfile, next, error = require, loadfile, next, error
local rawget, rawset = rawget, rawset
local open, close = io.open, io.close
local loaded, preload = package.loaded, {}
local search, searched = package.searchpath, package.path
for name, loader in next, package.preload do
  if type(name) == "string" then preload[name] = loader end
end

local names = "assert collectgarbage dofile error getmetatable ipairs load " ..
  "loadfile next pairs pcall print rawequal rawget rawlen rawset require " ..
  "select setmetatable tonumber tostring type warn xpcall _VERSION arg " ..
  "coroutine debug io math os package string table utf8"

local function copy(t)
  local out = {}
  for key, value in next, t do out[key] = value end
  return out
end

local environment, own = {}, { ["cprof.core"] = core }
-- of other libraries, what a command has needed only at its start is garbage
local others = setmetatable({}, { __mode = "v" })
for name in names:gmatch "%S+" do
  local value = rawget(_G, name)
  local library = type(value) == "table" and name ~= "arg"
  environment[name] = library and copy(value) or value
  own[name] = library and environment[name] or nil
end

-- the program's, where a module means these
environment._G = _G

-- the folder with all modules, from whichever folder the program is in later
local _, file = ...
local root = file and file:match "^(.*)cprof[/\\]environment%.lua$"
local anywhere = package.config:sub(1, 1) == "\\" and "^%a?:?[/\\]" or "^/"
if root and not root:find(anywhere) then
  root = (core.cwd() or ".") .. "/" .. root
end

local gsub, find = string.gsub, string.find

local function path_of(name)
  if not find(name, "^cprof[.%w_]*$") then
    return searched and search(name, searched)
  elseif not root then
    return nil
  end
  local path = root .. gsub(name, "%.", "/")
  for _, suffix in next, { ".lua", "/init.lua" } do
    local there, why, number = open(path .. suffix, "rb")
    if there then
      close(there)
      return path .. suffix
    elseif number ~= 2 then  -- it is there
      error("cannot load " .. name .. ": " .. why, 0)
    end
  end
end

local function load_module(name)
  if preload[name] then
    return preload[name](name, ":preload:", environment)
  end
  local path = path_of(name)
  if not path and root and find(name, "^cprof") then
    error("cannot load " .. name .. ": it is not in " .. root .. " any " ..
      "more, as where a program has changed its root", 0)
  elseif not path then return require(name) end
  local chunk, why = loadfile(path, nil, environment)
  if not chunk then error(why, 0) end
  return chunk(name, path)
end

---@param name string
---@return any
function environment.require(name)
  local module = own[name]
  if module == nil then module = others[name] end
  if module == nil then module = rawget(loaded, name) end
  if module == nil then
    module = load_module(name)
    if module == nil then module = true end
    -- of libraries, the program may load one that has its own globals
    if find(name, "^cprof") and rawget(loaded, name) == nil then
      rawset(loaded, name, module)
    end
  end
  local kept = find(name, "^cprof") and own or others
  kept[name] = module
  return module
end

environment.require "cprof.internal".add()

-- The table itself must not be among the loaded modules, where Lua looks for
-- the names of functions in tracebacks.
return function() return environment end
