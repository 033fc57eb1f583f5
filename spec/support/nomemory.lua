-- Programs whose requests for memory fail.

local assert = require "luassert"
local helper = require "helper"
local host = require "spec_host"

local nomemory = {}

---Runs code in states of their own, in each of which another request of Lua's
---or of cprof's fails, between `arm()` and `disarm()`. The code may end for
---this reason, but must leave nothing behind.
---@param code string
---@param runs? integer  how many of the requests are tried, about; 100
function nomemory.harmless(code, runs)
  for _, which in ipairs { "lua", "cprof" } do
    local _, _, asked = host.memory(code, which, -1)
    local step = math.max(1, asked // (helper.slow and 10 or runs or 100))
    for n = 0, asked, step do
      local result, status, _, left = host.memory(code, which, n)
      assert.is_true(status == 0 or
        result:find "not enough memory" ~= nil, result)
      assert.equal(0, left, n)
    end
  end
end

---Records code so, from the start of the recording on.
---@param options string  of start, as in a table
---@param code string
function nomemory.recorded(options, code)
  nomemory.harmless(([[
    local profiler = require "cprof"
    arm()
    pcall(profiler.start, { %s })
    local ok, why = pcall(function() %s end)
    disarm()
    profiler.stop()
    return ok and "fine" or why]]):format(options, code))
end

return nomemory
