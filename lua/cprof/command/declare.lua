-- The arguments and options of commands, as data, and their declaration to
-- argparse.

local lists = require "cprof.text.lists"
local options = require "cprof.text.options"

---@class cprof.CommandOption: cprof.OptionSpec
---@field [1] string   "--limit N": an option and its value; "--sample[=RATE]":
---    the value may be left out; "--quiet": a flag; "FILE": an argument, with
---    ?, * or + where it need not be a single one
---@field [2] string   what it does
---@field of? table<string, cprof.OptionSpec>  options of a library function, of
---    which it is one
---@field read? fun(word: string): any?, string?  its value; nil, and what it
---    must be, if that is not `must`: the word is not valid
---@field must? string    what the value must be
---@field target? string  its name in the parsed options, if that is another
---@field many? boolean   whether it may be given several times
---@field needed? boolean
---@field hidden? boolean  whether --help leaves it out
---@field apart? string[] groups of options that cannot be combined

local declare = {}

local function converter(row, spec, label, may_be_empty)
  if not row.read and not spec then return nil end
  return function(word)
    if word == "" and may_be_empty then return word end
    local value, must
    if row.read then value, must = row.read(word)
    else value, must = options.read(spec, word) end
    if value ~= nil then return value end
    return nil, ("%s must be %s, got '%s'"):format(label, must or row.must,
      word)
  end
end

local function add_argument(parser, row)
  local name, many = row[1]:match "^(%u+)([?*+]?)$"
  parser:argument { name = name, description = row[2],
    target = row.target or name:lower(), choices = row.values,
    args = many ~= "" and many or nil, convert = converter(row, nil, name) }
end

-- The name of an option's flag, what follows it, and what its value must be;
-- without the latter two, it has no value.
local function parts(row)
  local flag, value = row[1]:match "^(%-[%-%l]+) ?(.*)$"
  local spec = row.of and row.of[flag:sub(3):gsub("-", "_")] or
    row.type and row
  if spec and spec.type == "boolean" then spec = nil end
  return flag, value ~= "" and value or nil, spec or nil
end

local function add_option(parser, row)
  local flag, value, spec = parts(row)
  if not value and not spec then return parser:flag(flag, row[2]) end
  local default = spec and spec.default or row.default
  return parser:option { name = flag, description = row[2], argname = value,
    target = row.target, hidden = row.hidden,
    default = default and tostring(default),
    count = row.many and "*" or row.needed and "1" or nil,
    choices = spec and spec.values,
    convert = not (spec and spec.values) and converter(row, spec,
      ("option '%s'"):format(flag), row[1]:find "%[=") or nil }
end

-- Visits rows, also those in lists of rows.
local function each(rows, visit)
  for _, row in ipairs(rows) do
    if type(row[1]) == "table" then each(row, visit) else visit(row) end
  end
end

---Declares rows, and lists of rows, to a parser.
---@param parser table
---@param rows (cprof.CommandOption|cprof.CommandOption[])[]
function declare.options(parser, rows)
  local groups = {}
  each(rows, function(row)
    if not row[1]:find "^%-" then return add_argument(parser, row) end
    local option = add_option(parser, row)
    if row.target == "output" then option:hidden_name "--output" end
    for _, group in ipairs(row.apart or {}) do
      lists.add(groups, group, option)
    end
  end)
  for _, group in pairs(groups) do parser:mutex(table.unpack(group)) end
end

---The set of all options.
---@param rows (cprof.CommandOption|cprof.CommandOption[])[]
---@return table<string, true>
function declare.flags(rows)
  local out = {}
  each(rows, function(row)
    if row[1]:find "^%-" then out[(parts(row))] = true end
  end)
  return out
end

---The options that have a value: true, if it may be left out; else false.
---@param rows (cprof.CommandOption|cprof.CommandOption[])[]
---@return table<string, boolean>
function declare.valued(rows)
  local out = {}
  each(rows, function(row)
    if not row[1]:find "^%-" then return end
    local flag, value, spec = parts(row)
    if value or spec then out[flag] = row[1]:find "%[=" ~= nil end
  end)
  return out
end

return declare
