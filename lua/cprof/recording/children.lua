-- Makes the Lua programs that this one starts record themselves, by variables
-- of the environment, which also pass through shells and make.

local core = require "cprof.core"
local filename = require "cprof.system.filename"

local children = {}

local _, path = ...

-- Each release of Lua has a variable of its own, which goes before LUA_INIT. So
-- programs of other releases, and LuaJIT, see nothing.
local name <const> = "LUA_INIT_" .. _VERSION:match "%d.*$":gsub("%.", "_")

-- how our text begins
local mark <const> = "--[[cprof run --children]]"

-- Code that makes f what the user's variable says; nil: nothing. If no other
-- variable is set, that is LUA_INIT.
local general <const> = [[
local init, f = os.getenv "LUA_INIT"
if init and init:sub(1, 1) == "@" then f = assert(loadfile(init:sub(2)))
elseif init then f = assert(load(init, "=LUA_INIT")) end]]

-- Tail calls, so that nothing of this is recorded.
local call <const> = [[

if enter then return enter(f) elseif f then return f() end]]

-- the code that loads the user's own variable and calls what it says
local function own()
  local value = os.getenv(name)
  if not value then return general .. call end
  -- our own text is there already, as cprof run --children was started within a
  -- program that cprof run --children records
  if value:sub(1, #mark) == mark then return value:match "\n(.*)$" end
  if value:sub(1, 1) == "@" then
    return ("local f = assert(loadfile(%q))%s"):format(value:sub(2), call)
  end
  return ("local f = assert(load(%q, %q))%s"):format(value, "=" .. name, call)
end

---Prepares the environment for children.
---@param folder string  absolute: the folder for their profiles
---@param options string   of their recordings, as variables.text has them
function children.prepare(folder, options)
  local here = core.cwd() or "."
  local root = filename.absolute(path, here):match "^(.*)cprof[/\\]"
  local c = package.searchpath("cprof.core", package.cpath)
  local init = ("%s local enter pcall(function() local f = loadfile(%q) " ..
    "enter = f and f(%q, %q) end)\n%s"):format(mark,
    root .. "cprof/command/child.lua", root,
    filename.absolute(c or "", here), own())
  core.setenv(name, init)
  core.setenv("CPROF_CHILDREN", folder)
  core.setenv("CPROF_CHILDREN_OPTIONS", options)
  core.setenv("CPROF_PARENT", nil)
end

---From now on, programs that are started are children of this process.
function children.adopt() core.setenv("CPROF_PARENT", core.process()) end

-- the parent of a process; nil: not known
local function parent(pid)
  local stat = core.readfile(("/proc/%d/stat"):format(pid))
  return math.tointeger(stat and stat:match "^.*%) %S (%d+)")
end

---The recorded process that has started this one, directly or by others.
---@param folder string  with the profiles
---@return string?
function children.parent(folder)
  local told = os.getenv "CPROF_PARENT"
  local pid = parent(core.process())
  for _ = 1, 64 do
    if not pid or pid < 2 or tostring(pid) == told then break end
    local file = io.open(("%s/%d.cprof"):format(folder, pid), "rb")
    if file then
      file:close()
      return tostring(pid)
    end
    pid = parent(pid)
  end
  return told
end

return children
