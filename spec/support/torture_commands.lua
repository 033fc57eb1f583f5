-- Commands of cprof, called in this process. What they would end it with is
-- returned, and what they print is dropped.

local argparse = require "argparse"
local declare = require "cprof.command.declare"
local terminal = require "cprof.system.terminal"

local commands = {}

local nowhere = assert(io.open("/dev/null", "w"))
local ending = {}

local function fail(message)
  ending.message = message
  error(ending, 0)
end

local function call(words)
  local command = require("cprof.command." .. words[1])
  local root = argparse "cprof"
  root:command_target "command"
  -- help would end the program
  declare.options(root:add_help(false):command(words[1]):add_help(false),
    command.options)
  function root.error(_, message) fail(message) end
  command.call(root:parse(words), fail, function() end, {})
end

local function traceback(why)
  return why == ending and why or debug.traceback(why)
end

---Runs a command, with its options.
---@param words string[]
---@return boolean ok
---@return string? why  what it says, or a traceback
---@return boolean refused  is it what the command says?
function commands.run(words)
  local out, err, say = io.stdout, io.stderr, terminal.say
  io.stdout, io.stderr = nowhere, nowhere -- luacheck: ignore
  terminal.say = function() end
  local ok, why = xpcall(call, traceback, words)
  io.stdout, io.stderr, terminal.say = out, err, say -- luacheck: ignore
  if ok then return true, nil, false end
  if why == ending then return false, ending.message, true end
  return false, why, false
end

return commands
