-- Names that people recognise: what a function is called in the source,
-- in the library that it belongs to, or by whoever called it first.

local core = require "cprof.core"
local text = require "cprof.text"

local name = {}

-- a C function that nobody has a name for
name.nameless = "(C function)"

---@class cprof.Named
---@field kind string       "Lua", "C", "main", "zone", "root"
---@field source string
---@field line integer
---@field last_line integer
---@field called string     the name at the first call, or ""
---@field how string        what kind of name that is, as of debug.getinfo

local here = os.getenv "PWD"

---A source as people write it: a path relative to the current folder, a
---name, or the beginning of the code.
---@param source string
---@return string
function name.place(source)
  local first, rest = source:sub(1, 1), source:sub(2)
  if first == "@" then
    if here and rest:sub(1, #here + 1) == here .. "/" then
      rest = rest:sub(#here + 2)
    end
    return (rest:gsub("^%./", ""))
  elseif first == "=" then
    return rest
  end
  local line = source:match "^%s*([^\r\n]*)"
  if #line > 40 then line = line:sub(1, 37) .. "..." end
  return ('[string "%s"]'):format(line)
end

-- what stands before the word 'function' and gives it a name
local before = {
  "([%a_][%w_%.]*)%s*=%s*$",         -- a.b = function
  "%[%s*[\"']([^\"']+)[\"']%s*%]%s*=%s*$", -- ["b"] = function
}

-- the name that the definition on this line has; nil where there is none,
-- or more than one definition
local function defined(line)
  local at, count = nil, 0
  for start in line:gmatch "()%f[%w_]function%f[^%w_]" do
    if not line:find("^[\"']", start - 1) then at, count = start, count + 1 end
  end
  if count ~= 1 then return nil end
  local given = line:match("^function%s+([%a_][%w_%.:]*)", at)
  if given then return given end
  for _, pattern in ipairs(before) do
    given = line:sub(1, at - 1):match(pattern)
    if given then return given end
  end
end

local function definition(f)
  local lines = text.lines(f.source)
  local line = lines and lines[f.line]
  return line and defined(line)
end

local function called(f)
  if f.called == "" or f.called == "?" then return nil end
  if f.how == "metamethod" then return "__" .. f.called end
  return f.called
end

---@param f cprof.Named
---@param path string?  where it was found under package.loaded
---@return string
function name.of(f, path)
  if f.kind == "main" then return name.place(f.source) end
  if f.kind == "C" then return path or called(f) or name.nameless end
  if f.kind ~= "Lua" then return f.called end
  local own = definition(f)
  if own and own:find(":", 1, true) then return own end
  return path or own or called(f) or "(anonymous)"
end

---Where a function is defined: file and line.
---@param f cprof.Named
---@return string
function name.where(f)
  if f.kind == "C" then return "[C]" end
  if f.kind == "main" then return "main chunk" end
  if f.kind ~= "Lua" then return "" end
  return ("%s:%d"):format(name.place(f.source), f.line)
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

local libraries = {}
for library in ("coroutine debug io math os package string table utf8")
  :gmatch "%a+" do
  libraries[library] = true
end

-- string.rep before an alias of it, a global before a module's copy
local function rank(path)
  local module = path:match "^(.-)[.:]"
  if not module then return 1 end
  return libraries[module] and 0 or 2
end

local function better(new, old)
  if not old then return true end
  local a, b = rank(new), rank(old)
  if a ~= b then return a < b end
  if #new ~= #old then return #new < #old end
  return new < old
end

local function add(paths, path, f)
  if better(path, paths[f]) then paths[f] = path end
end

local function collect(paths, prefix, t, depth)
  for key, value in next, t do
    if type(key) == "string" then
      if type(value) == "function" then
        add(paths, prefix .. key, value)
      elseif type(value) == "table" and depth > 1 and
             value ~= package.loaded then
        collect(paths, prefix .. key .. ".", value, depth - 1)
      end
    end
  end
end

-- C functions that stand in no table, but are known by who makes them
local function collect_made(paths)
  add(paths, "ipairs iterator", (ipairs {}))
  add(paths, "string.gmatch iterator", (string.gmatch("", "")))
  add(paths, "coroutine.wrap function", coroutine.wrap(print))
  for hook, f in pairs(core.hooks) do add(paths, "debug." .. hook, f) end
  for i, searcher in ipairs(package.searchers or {}) do
    if type(searcher) == "function" then
      add(paths, ("package.searchers[%d]"):format(i), searcher)
    end
  end
end

---The functions that can be reached under package.loaded, and among the
---methods of the registry's metatables, each with its best path.
---@return table<function, string>
function name.paths()
  local paths = setmetatable({}, { __mode = "k" })
  for module, value in next, package.loaded do
    if module == "_G" then collect(paths, "", value, 2)
    elseif type(value) == "table" then
      collect(paths, tostring(module) .. ".", value, 2)
    else
      collect(paths, "", { [module] = value }, 1)
    end
  end
  collect_made(paths)
  local registry = debug and debug.getregistry and debug.getregistry() or {}
  for key, value in next, registry do
    local methods = type(key) == "string" and type(value) == "table" and
      rawget(value, "__name") == key and rawget(value, "__index")
    if type(methods) == "table" then
      collect(paths, key .. ":", methods, 1)
    end
  end
  return paths
end

return name
