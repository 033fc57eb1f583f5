-- Runs a file of Lua's own test suite while it is recorded, and checks what
-- was recorded: lua suite.lua FILE [NAME=VALUE...], options of start.
-- Without options, nothing is recorded. With "finalizer", nothing is recorded
-- either, but an object's finalizer makes a new object of its kind, again and
-- again. Writes a line with "suite: well", or what is wrong.

local file = arg[1]
local finalizer = arg[2] == "finalizer"
local bare = #arg == 1 or finalizer
local exit, write, pcall, error = os.exit, io.write, pcall, error
local dofile, tostring, type = dofile, tostring, type
local profiler = not bare and require "cprof" or nil
local helper = not bare and require "helper" or nil
local merge = not bare and require "cprof.profile.merge" or nil

local values <const> = { ["true"] = true, ["false"] = false }
local options = {}
for i = bare and #arg + 1 or 2, #arg do
  local name, value = arg[i]:match "^(%w+)=(.*)$"
  if name == "include" or name == "exclude" then value = { value }
  elseif name == "trace" then
    value = function() end
  elseif values[value] ~= nil then value = values[value]
  end
  options[name] = value
end
_ENV.arg = { [0] = file }

local function check()
  local p = profiler.snapshot()
  local unmatched = p.meta.unmatched
  p.meta.unmatched = 0
  helper.check(p)
  local text = p:report()
  if type(text) ~= "string" then error "no report" end
  if unmatched > 0 then error(unmatched .. " events unmatched") end
  if p.meta.ended then error("ended: " .. tostring(p.meta.ended)) end
  if options.file then
    local loaded = helper.check(profiler.load(options.file))
    merge.sum { loaded, loaded }
  end
end

if finalizer then
  local metatable, setmetatable = {}, setmetatable
  function metatable.__gc() setmetatable({}, metatable) end
  metatable.__gc()
end
if not bare then
  -- Lua makes the metatable of large buffers now: with cprof's own keys, the
  -- registry would grow for it just where gc.lua allows 1 KB.
  local _ = ("x"):rep(1 << 16)
  local started, why = pcall(profiler.start, options)
  if not started then
    write("\nsuite: refused: ", why, "\n")
    exit(1, true)
  end
end
local ok, message = pcall(dofile, file)
if not bare then
  local stopped, why = pcall(profiler.stop)
  if ok and not stopped then ok, message = false, "stop: " .. tostring(why) end
end
if ok and not bare then
  ok, message = pcall(check)
end
write("\nsuite: ", ok and "well" or tostring(message), "\n")
exit(ok and 0 or 1, true)
