-- Programs whose times are known: the clock is the host's, and goes on only
-- when the program passes time.

local host = require "spec_host"
local profiler = require "cprof"

local steady = {}

local frame = [==[
  local profiler, zones = require "cprof", require "spec_zones"
  zones.clock(true)
  local pass = zones.pass
  local env = setmetatable({ pass = function(us) pass(us * 1000) end },
    { __index = _G })
  local chunk = assert(load([===[%s]===], "=game.lua", "t", env))
  local function options() return { %s } end
  local given = options()
  given.exclude = table.move({ ".pass ", "/^pass /" }, 1, 2,
    #(given.exclude or {}) + 1, given.exclude or {})
  profiler.start(given)
  chunk()
  profiler.stop()
  local p = profiler.snapshot()
  %s
]==]

---A program that passes time, with recursion.
steady.game = [[
local function fact(n)
  pass(10)
  if n > 0 then return n * fact(n - 1) end
  return 1
end
local function draw()
  pass(400)
  fact(9)
end
local function sound() pass(200) end
local function frame()
  draw()
  draw() sound()
end
for i = 1, 3 do frame() end
]]

---Records a program, which passes time, in µs, by `pass`. Returns what `code`
---returns for its profile `p`.
---@param program string
---@param options string  of start, as in a table
---@param code string
function steady.run(program, options, code)
  local S = host.state()
  local result = S:run(frame:format(program, options, code))
  S:close()
  return result
end

---The profile of a program, by way of a file.
---@param program string
---@param options string  of start, as in a table
---@return cprof.Profile
function steady.record(program, options)
  local path = os.tmpname()
  steady.run(program, options, ("assert(p:save %q)"):format(path))
  local p = assert(profiler.load(path))
  os.remove(path)
  return p
end

---The report of a program, without its head.
---@param program string
---@param options string  of start
---@param given string    of report
---@return string
function steady.report(program, options, given)
  local s = steady.run(program, options, ("return (p:report { %s })"):format(
    given))
  return (s:gsub("^.-\n\n", ""))
end

return steady
