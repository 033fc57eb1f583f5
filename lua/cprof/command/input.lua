-- Profiles that commands read, and text that they print.

local core = require "cprof.core"
local cprof = require "cprof"
local terminal = require "cprof.command.terminal"

local input = {}

-- bytes that are loaded in no time
local short <const> = 32000000

local function size(path)
  local file = not core.special(path) and io.open(path, "rb")
  if not file then return 0 end
  local bytes = file:seek "end" or 0
  file:close()
  return bytes
end

---@param path string
---@param fail fun(message: string)
---@return cprof.Profile
function input.load(path, fail)
  local progress = terminal.progress("loading " .. path, size(path) > short)
  local profile, why = cprof.load(path)
  progress()
  if not profile then fail(why) end
  return profile
end

---Calls a method of a profile; what is wrong with its options is said as
---it is of those of the command.
---@param fail fun(message: string)
---@return any
function input.ask(fail, profile, method, ...)
  local ok, result, why = pcall(profile[method], profile, ...)
  if ok then return result, why end
  local message = type(result) == "string" and
    result:match("^" .. method .. ": (.*)$") or
    tostring(result):match("^[^\n]-:%d+: " .. method .. ": (.*)$")
  if not message then error(result, 0) end
  fail((message:gsub("option '([%w_]+)'", function(name)
    return "option '--" .. name:gsub("_", "-") .. "'"
  end)))
end

---@param text string
---@param fail fun(message: string)
function input.print(text, fail)
  local ok, why = io.stdout:write(terminal.encode(text))
  if ok then ok, why = io.stdout:flush() end
  if not ok then fail("cannot write standard output: " .. why) end
end

---An option's value as an integer from `least`.
---@param name string
---@param least integer
---@return fun(s: string): integer?, string?
function input.integer(name, least)
  return function(s)
    local n = math.tointeger(tonumber(s))
    if n and n >= least then return n end
    return nil, ("option '%s' must be an integer from %d, got '%s'"):format(
      name, least, s)
  end
end

---@param name string
---@return fun(s: string): number?, string?
function input.percent(name)
  return function(s)
    local n = tonumber(s)
    if n and n >= 0 and n <= 100 then return n end
    return nil, ("option '%s' must be a number from 0 to 100, got '%s'")
      :format(name, s)
  end
end

---@param name string
---@return fun(s: string): string?, string?
function input.pattern(name)
  return function(s)
    local ok, why = pcall(string.find, "", s)
    if ok then return s end
    return nil, ("option '%s' must be a Lua pattern, got '%s': %s"):format(
      name, s, why:gsub("^.-:%d+: ", ""))
  end
end

---Declares --width and --color.
function input.looks(parser)
  parser:option("--width", "Columns; those of the terminal."):argname "N"
    :convert(input.integer("--width", 40))
  parser:option("--color", "auto, always, never; auto heeds NO_COLOR.")
    :choices { "auto", "always", "never" }
end

return input
