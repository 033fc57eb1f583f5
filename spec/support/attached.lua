-- Runs the command `cprof attach` with a clock that advances only while the
-- command sleeps.
-- Usage: attached.lua CODE ARGUMENT...
-- CODE is called in each sleep with the seconds that have passed, after
-- programs had a moment to run. It has the functions of `known`.

local core = require "cprof.core"
local folders = require "cprof.system.folders"
local rendezvous = require "cprof.system.rendezvous"

local known = setmetatable({}, { __index = _G })
local look = assert(load(table.remove(arg, 1), "=look", "t", known))
local folder = folders.own()
local pid = math.tointeger(tonumber(arg[#arg]))
local now, sleep = 0, core.sleep

---The message in a file of the program.
---@param what cprof.Meeting
---@return table
function known.message(what)
  return rendezvous.read(folder, pid, what) or {}
end

---Waits until `test` returns a true value.
---@param test fun(): any
function known.wait(test)
  local deadline = os.time() + 300
  while not test() do
    assert(os.time() < deadline, "what is waited for never came")
    sleep(0.005)
  end
end

---Advances the clock.
---@param seconds number
function known.skip(seconds) now = now + seconds end

function core.seconds() return now end

function core.sleep(seconds)
  known.skip(seconds)
  sleep(0.002)
  look(now)
end

require "cprof.command" { "attach", table.unpack(arg) }
