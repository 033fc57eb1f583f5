-- The globals of cprof's own modules: copies of the standard library, made
-- when cprof is loaded, and a `require` that loads modules with these globals.
-- So the program may later change its globals, its libraries or package.path
-- without any effect on cprof.

local core = require "cprof.core"

-- A host may have opened only some of the libraries that cprof needs.
for _, name in next, { "coroutine", "debug", "io", "math", "os", "package",
  "string", "table", "utf8" } do
  if type(rawget(_G, name)) ~= "table" then
    error("cprof needs Lua's library '" .. name .. "': open it (luaopen_" ..
      name .. " or luaL_openlibs); a program may remove it once cprof is " ..
      "loaded", 0)
  end
end

local require, load, loadfile, next, error, type =
  require, load, loadfile, next, error, type
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

-- `own`: loaded modules of cprof, and copies of standard libraries
local environment, own = {}, { ["cprof.core"] = core }
-- other loaded modules; collected when nothing else refers to them
local others = setmetatable({}, { __mode = "v" })
for name in names:gmatch "%S+" do
  local value = rawget(_G, name)
  local library = type(value) == "table" and name ~= "arg"
  environment[name] = library and copy(value) or value
  own[name] = library and environment[name] or nil
end

-- the program's globals: a module of cprof that means these says _G
environment._G = _G

---Reads a module's file. Returns its text; or code that was compiled from it,
---see cprof.system.compiled, and the names of the modules that it needs. With a
---name, code is kept under it, and true is returned in its place. nil: there is
---no such file.
---@type fun(path: string, name: string?): (string|true)?, string?
environment.read = core.readfile

-- the working directory when the program loaded cprof
environment.folder = core.cwd()

-- the folder with all modules, as an absolute path: the program may change its
-- current folder
local _, file = ...
local root = file and file:match "^(.*)cprof[/\\]sandbox[/\\]environment%.lua$"
local anywhere = package.config:sub(1, 1) == "\\" and "^%a?:?[/\\]" or "^/"
if root and not root:find(anywhere) then
  root = (environment.folder or ".") .. "/" .. root
end

local find, match, gmatch, gsub, sub =
  string.find, string.match, string.gmatch, string.gsub, string.sub

-- The path of a module that is written in Lua; nil: there is none.
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
    elseif number ~= 2 then  -- not ENOENT: the file exists
      error("cannot load " .. name .. ": " .. why, 0)
    end
  end
end

-- The path of a module that is written in Lua, and what environment.read
-- returns for its file, with the name `kept`; nil: there is none. Nearly all
-- modules are in a file of their name. It is tried first, because a search
-- would open it twice.
local function text_of(name, kept)
  local read = environment.read
  local path = root and find(name, "^cprof[.%w_]*$") and
    root .. gsub(name, "%.", "/") .. ".lua"
  local text, needs
  if path then text, needs = read(path, kept) end
  if text then return path, text, needs end
  path = path_of(name)
  if path then text, needs = read(path, kept) end
  return path, text, needs
end

-- A module's chunk, from a kept text, kept code, or a file, and its path; nil:
-- there is no such file.
local function chunk_of(name)
  local kept = core.kept_text(name)
  local path, text
  if kept then
    local zero = find(kept, "\0", 1, true)
    path, text = sub(kept, 1, zero - 1), sub(kept, zero + 1)
  elseif environment.read ~= core.readfile then
    local needs
    path, text, needs = text_of(name)
    -- this is source, not code: loadfile reads it, and skips a #! line
    if not needs then text = nil end
  else
    path = path_of(name)
  end
  if not path then return nil end
  local chunk, why
  if text then chunk, why = load(text, "@" .. path, nil, environment)
  else chunk, why = loadfile(path, nil, environment)
  end
  if not chunk then error(why, 0) end
  return chunk, path
end

-- Loads a module with cprof's globals. One that has no Lua file is left to the
-- program's `require`.
local function load_module(name)
  if preload[name] then
    return preload[name](name, ":preload:", environment)
  end
  local chunk, path = chunk_of(name)
  if chunk then return chunk(name, path) end
  if root and find(name, "^cprof") then
    error("cannot load " .. name .. ": it is no longer in " .. root ..
      "; the program may have called chroot", 0)
  end
  return require(name)
end

---The names of modules that a module needs, with a space after each. They
---follow one of two words in its text: a search for plain words is fast.
---@param text string
---@return string
function environment.needs(text)
  local needs = ""
  for _, word in next, { "require", "later" } do
    local from, to = find(text, word, 1, true)
    while from do
      local other = match(text, '^"?[ (,]+"([%w_.]+)"', to + 1)
      if other then needs = needs .. other .. " " end
      from, to = find(text, word, to + 1, true)
    end
  end
  return needs
end

-- Keeps the text or code of a module, and of those that it needs.
local function keep(name, seen)
  if seen[name] or preload[name] or core.has_text(name) then return end
  seen[name] = true
  local path, text, needs = text_of(name, name)
  if not text then return end
  if text ~= true then core.keep_text(name, path .. "\0", text) end
  for other in gmatch(needs or environment.needs(text), "%S+") do
    keep(other, seen)
  end
end

---Keeps the texts of modules, and of all modules that they need, so that they
---can be loaded even if the program removes their files or calls chroot.
---@param ... string
function environment.keep(...)
  local seen = {}
  for _, name in next, { ... } do keep(name, seen) end
end

-- The table itself must not be among the loaded modules, where Lua looks for
-- the names of functions in tracebacks.
local function get() return environment end
own["cprof.sandbox.environment"] = get
rawset(loaded, "cprof.sandbox.environment", get)

-- Are the loaded modules those of this copy of cprof? A state may have several
-- copies.
local function are_ours()
  return rawget(loaded, "cprof.sandbox.environment") == get
end

-- A module that the program has loaded; nil: none, or another copy's.
local function loaded_already(name)
  if find(name, "^cprof") and not are_ours() then return nil end
  return rawget(loaded, name)
end

-- modules that the program itself may hold, or that cannot be loaded twice
local lasting <const> = { cprof = true, ["cprof.core"] = true,
  ["cprof.sandbox.environment"] = true }

---Unloads all modules of cprof but the lasting ones. The next collection
---frees those that nothing refers to.
function environment.unload()
  for name, module in next, copy(own) do
    if find(name, "^cprof") and not lasting[name] then
      own[name], others[name] = nil, module
    end
  end
  for name in next, are_ours() and copy(loaded) or {} do
    if type(name) == "string" and find(name, "^cprof%.") and
       not lasting[name] then
      rawset(loaded, name, nil)
    end
  end
end

---Loads a module with cprof's globals, or returns the loaded one.
---@param name string
---@return any
function environment.require(name)
  local module = own[name]
  if module ~= nil then return module end
  module = others[name]
  if module == nil then module = loaded_already(name) end
  if module == nil then
    module = load_module(name)
    if module == nil then module = true end
    -- Other libraries are not entered in package.loaded, so that the program
    -- can load them with its own globals.
    if find(name, "^cprof") and are_ours() and
       rawget(loaded, name) == nil then
      rawset(loaded, name, module)
    end
  end
  local kept = find(name, "^cprof") and own or others
  kept[name] = module
  return module
end

environment.require "cprof.sandbox.internal".add()

return get
