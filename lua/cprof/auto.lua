-- Records the program that requires it, as the environment says: at once, or
-- when a signal comes:
--
--   lua5.4 -lcprof.auto script.lua           and then: cprof attach PID
--   CPROF=1 lua5.4 -lcprof.auto script.lua
--   CPROF_OPTIONS="mode=line,file=run-%p.cprof" lua5.4 -lcprof.auto …
--   CPROF_SIGNAL=USR1 CPROF_OPTIONS=mode=line lua5.4 -lcprof.auto …
--
-- CPROF_OPTIONS are options of `start`, separated by commas. An option without
-- a value is true. A list repeats its name. A comma in a value is written
-- "\,". Without `file`, the report is written to standard error when the
-- program ends.

local _ENV = require "cprof.sandbox.environment" () ---@type _G

local internal = require "cprof.sandbox.internal"
local later = require "cprof.sandbox.later"
local variables = require "cprof.recording.variables"

internal.add()

local function begin(given)
  local session = require "cprof.command.session"
  local summary = later "cprof.command.summary"
  local options = variables.options(given)
  local ok, why = session.begin(options, function(profile, note)
    if not options.file then summary.say(profile, { note = note }) end
  end, function() return options.file end)
  if not ok then return ok, why end
  return session.enter(function() return true end)
end

local wanted, signal = variables.get "CPROF", variables.get "CPROF_SIGNAL"
local given = variables.get "CPROF_OPTIONS"

-- a failure is only a message: the program runs anyway
local function say(what, ok, why)
  if not ok then
    io.stderr:write(("cprof.auto: %s: %s\n"):format(what, why))
  end
end

if wanted == "0" then
  return true
elseif signal == nil and (wanted or given) then
  say("CPROF_OPTIONS", begin(given or ""))
else
  local ok, why = require "cprof".listen()
  say("cannot listen", ok ~= nil, why)
end

return true
