-- The command line: finds the command and parses its options. A command is a
-- file here and a row of the list.

local _ENV = require "cprof.sandbox.environment" () ---@type _G

local later = require "cprof.sandbox.later"

local compiled = later "cprof.system.compiled"
local declare = later "cprof.command.declare"
local files = later "cprof.system.files"
local terminal = later "cprof.system.terminal"

---@class cprof.Command
---@field name string
---@field summary string
---@field description? string
---@field usage? string
---@field example string       a command line, for --help
---@field takes_program? boolean  whether a program may follow "--"
---@field options (cprof.CommandOption|cprof.CommandOption[])[]
---@field internal? cprof.CommandOption[]  options that only cprof itself gives
---@field call? fun(parsed: table, fail: fun(message: string),
---    parser: fun(name: string?): table?, commands: string[])
---    parser: that of a command, or of all

local list = { "run", "attach", "dump", "top", "serve", "report", "annotate",
  "tree", "flame", "callgraph", "show", "slow", "tasks", "labels", "frames",
  "heatmap", "coverage", "diff", "merge", "join", "html", "export", "push",
  "check", "calibrate", "completion", "help" }

local function command_named(name)
  return require("cprof.command." .. name) ---@type cprof.Command
end

-- returns a function that prints a message in one line and exits
local function fail_as(who)
  return function(message)
    io.stderr:write(terminal.encode(("%s: %s\n"):format(who, message)))
    os.exit(2, true)
  end
end

local function parser_library()
  local found, argparse = pcall(require, "argparse")
  if found then return argparse end
  if not tostring(argparse):find("module 'argparse' not found", 1, true) then
    error(argparse, 0)
  end
  fail_as "cprof" ("the library argparse is missing: install Debian's " ..
    "lua-argparse or the rock argparse")
end

-- adapts help to the terminal's encoding, and writes --option[=VALUE] without a
-- space
local function adapt_help(parser)
  local help = parser.get_help
  function parser:get_help()
    return terminal.encode((help(self):gsub("(%-%-%a+) (%[=[^%]]*%])",
      "%1%2 ")))
  end
end

-- The end of a message about an unknown command that is the name of a file: the
-- command that shows this file. "": there is no file of that name.
local function meant(message)
  local word = message:match "^unknown command '(.*)'$"
  local first = word and files.start(word, 6)
  if not first then return "" end
  return (files.is_profile(word) and
    ": it is a profile, which cprof report %s shows" or
    ": it is a file, which cprof run %s runs and records")
    :format(terminal.quote(word))
end

---@param names string[]  of the commands that the parser has
---@param internal? boolean  with the options that only cprof itself gives
---@return table root, table last  the parsers
local function make_parser(names, internal)
  local root = parser_library()("cprof",
    "Finds out where the time of Lua programs goes.")
  root:command_target "command"
  root:help_max_width(79)
  root:usage_max_width(79)
  root:require_command(false)
  root:epilog("cprof COMMAND --help lists options, with an example; " ..
    "cprof help TOPIC prints the reference.")
  root:flag("--version", "Print the version."):action(function()
    local core = require "cprof.core"
    print("cprof " .. core.version)
    print("internals: " .. core.internals())
    os.exit(0, true)
  end)
  local last
  for _, name in ipairs(names) do
    local command = command_named(name)
    local parser = root:command(name, command.description or command.summary)
    parser:summary(command.summary)
    if command.usage then
      parser:usage("Usage: " .. command.usage)
    end
    parser:epilog("Example:\n   " .. command.example)
    declare.options(parser, command.options)
    if internal then declare.options(parser, command.internal or {}) end
    adapt_help(parser)
    parser:flag("--ascii", "Print ASCII characters only.")
    last = parser
  end
  -- called with the parser of the command
  function root.error(parser, message)
    local name = parser:_get_fullname()
    message = message:gsub("\nDid you mean (.*%?)$", " (did you mean %1)")
      :gsub("\n", "; ")
    message = message .. meant(message)
    fail_as(name)(("%s; see %s --help"):format(message, name))
  end
  return root, last
end

local function known(wanted)
  for _, name in ipairs(list) do
    if name == wanted then return true end
  end
  return false
end

-- the set of loaded modules
local function loaded()
  local names = {}
  for name in pairs(package.loaded) do names[name] = true end
  return names
end

-- Returns a function that unloads other modules: a program that is run finds
-- only cprof's own modules loaded, so that it loads its own argparse.
local function forget(before)
  return function()
    for name in pairs(package.loaded) do
      if not before[name] and name ~= "cprof" and
         not tostring(name):find "^cprof%." then
        package.loaded[name] = nil
      end
    end
  end
end

-- the parser of a command, or of all; nil: there is no such command
local function parser_of(name)
  if not name then return (make_parser(list)) end
  return known(name) and select(2, make_parser { name }) or nil
end

local function call(command, parsed)
  require "cprof.core".tidy()
  local fail = fail_as("cprof " .. command.name)
  local ok, why = xpcall(command.call, function(message)
    if message == "not enough memory" then return message end
    return debug.traceback(message)
  end, parsed, fail, parser_of, list)
  if ok then os.exit(why or 0, true) end
  if tostring(why):find "interrupted!" then os.exit(130, true) end
  io.stderr:write("cprof ", command.name, ": ", tostring(why), "\n")
  os.exit(3, true)
end

-- turns "--limit -5" into "--limit=-5": a negative number is not an option
local function join_negative(words)
  local out = {}
  for _, word in ipairs(words) do
    local last = out[#out]
    if word:find "^%-%.?%d" and last and last:find "^%-%-[%a-]+$" then
      out[#out] = last .. "=" .. word
    else
      out[#out + 1] = word
    end
  end
  return out
end

-- turns "--sample" into "--sample=": the next word is not its value
local function close_optional(words, options)
  local out, valued = {}, declare.valued(options)
  for i, word in ipairs(words) do
    out[i] = valued[word] and word .. "=" or word
  end
  return out
end

-- splits words into those of the command and the program: what follows "--",
-- or a script with its arguments
local function split_program(words)
  local command = known(words[1]) and command_named(words[1])
  if not command or not command.takes_program then return words, nil end
  for i, word in ipairs(words) do
    local divides = word == "--"
    if divides or files.is_script(word) then
      return table.move(words, 1, i - 1, 1, {}),
        table.move(words, divides and i + 1 or i, #words, 1, {})
    end
  end
  return words, nil
end

---@param words string[]  in the form of the interpreter's `arg`
return function(words)
  if words[1] == "run" then compiled.open() end
  local before = loaded()
  local root = make_parser(known(words[1]) and { words[1] } or list, true)
  if words[1] == "run" then
    local run = command_named "run"
    local at, options = run.split(words, 2)
    local parsed = root:parse { "run", table.unpack(join_negative(options)) }
    terminal.choose(parsed.ascii)
    return run.run(parsed, words, at, fail_as "cprof run", forget(before),
      options)
  end
  local own, program = split_program(words)
  if known(words[1]) then
    own = close_optional(own, command_named(words[1]).options)
  end
  local parsed = root:parse(join_negative(own))
  parsed.program = program
  if not parsed.command then
    print(root:get_help())
    os.exit(0, true)
  end
  terminal.choose(parsed.ascii)
  call(command_named(parsed.command), parsed)
end
