-- Records the program that requires it, when the environment asks for it:
--
--   CPROF=1 lua5.4 -lcprof.auto script.lua
--   CPROF_OPTIONS="mode=line,file=run-%p.cprof" lua5.4 -lcprof.auto …
--
-- Options are those of `start`, with commas between them; one without a
-- value is true, a list has its name several times, and a comma in a value
-- is written "\,". Without `file`, the report goes to standard error when
-- the program ends.

local _ENV = require "cprof.environment" () ---@type _G

local internal = require "cprof.internal"

internal.add()

local lists = { lines = true, include = true, exclude = true }
local literals = { ["true"] = true, ["false"] = false }

local function value_of(s)
  if literals[s] ~= nil then return literals[s] end
  return math.tointeger(tonumber(s)) or s
end

---@param s string
---@return table
local function parse(s)
  local out = {}
  s = s:gsub("\\,", "\0")
  for part in s:gmatch "[^,]+" do
    local item = part:gsub("%z", ","):match "^%s*(.-)%s*$"
    local name, value = item:match "^([^=]-)%s*=%s*(.*)$"
    name = name or item
    if lists[name] then
      out[name] = out[name] or {}
      table.insert(out[name], value or "")
    else
      out[name] = value == nil or value_of(value)
    end
  end
  return out
end

local function begin(given)
  local session = require "cprof.command.session"
  local summary = require "cprof.command.summary"
  local options = parse(given)
  return session.begin(options, function(profile, note)
    if not options.file then summary.say(profile, { note = note }) end
  end, function() return options.file end)
end

local wanted, given = os.getenv "CPROF", os.getenv "CPROF_OPTIONS"

if wanted ~= "0" and ((wanted or "") ~= "" or (given or "") ~= "") then
  -- the program runs all the same
  local ok, why = begin(given or "")
  if not ok then
    io.stderr:write(("cprof.auto: CPROF_OPTIONS: %s\n"):format(why))
  end
end

return true
