-- Records a program that a program under cprof run --children has started:
-- LUA_INIT_5_4 runs this. Returns the function that goes on with what the
-- user's own variable says; nil: nothing is recorded. Whatever fails, the
-- program runs as without it, and the folder's file "missing" says why it has
-- no profile.

local root, c = ...

local folder = os.getenv "CPROF_CHILDREN"
if not folder or os.getenv "CPROF" == "0" then return end

-- Is it a command of cprof's?
local function is_ours()
  local script = type(arg) == "table" and arg[0]
  if type(script) ~= "string" or not script:find "cprof[%w_.]*$" then
    return false
  end
  local file = io.open(script, "rb")
  local text = file and file:read(4096)
  if file then file:close() end
  return text and text:find('require "cprof.command"', 1, true) ~= nil
end

if is_ours() then return end

local function record()
  local _ENV = require "cprof.sandbox.environment" () ---@type _G
  require "cprof.system.compiled".open()
  local children = require "cprof.recording.children"
  local core = require "cprof.core"
  local internal = require "cprof.sandbox.internal"
  local session = require "cprof.command.session"
  local variables = require "cprof.recording.variables"
  internal.add()
  local options = variables.options(variables.get "CPROF_CHILDREN_OPTIONS")
  -- a process that calls exec has several programs
  local name, number = "%p", 1
  local function path()
    return ("%s/%s.cprof"):format(folder, (name:gsub("%%p", core.process())))
  end
  local function taken()
    local file = io.open(path(), "rb")
    return file and file:close()
  end
  while taken() do
    number = number + 1
    name = "%p-" .. number
  end
  options.file = ("%s/%s.cprof"):format(folder, name)
  core.setenv("CPROF_PARENT", children.parent(folder))
  local ok, why = session.begin(options, function() end, path)
  children.adopt()
  if not ok then error(why, 0) end
  return session.enter
end

local path, cpath = package.path, package.cpath
package.path = ("%s?.lua;%s?/init.lua;%s"):format(root, root, path)
package.cpath = c .. ";" .. cpath
local ok, enter = pcall(record)
package.path, package.cpath = path, cpath
if ok then return enter end

local missing = io.open(folder .. "/missing", "ab")
if missing then
  local script = type(arg) == "table" and tostring(arg[0]) or "?"
  local line = ("%s: %s"):format(script, enter):gsub("\n", " ")
  missing:write(line, "\n")
  missing:close()
end
