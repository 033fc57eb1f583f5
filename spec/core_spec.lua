local _ENV = require("helper").env(_ENV)

local helper = require "helper"

-- functions that are slow, or act on the whole process
local program = [[
  local core, helper = require "cprof.core", require "helper"
  local profiler = require "cprof"
  local seed, folder = tonumber(arg[1]), arg[2]
  math.randomseed(seed)
  for _, name in ipairs { "calibrate", "claim", "onkill", "interruptible",
    "makefolder", "ending", "listen", "alarm", "hold", "private_write",
    "signal", "sleep", "spawn", "console_open", "console_suspend",
    "tidy", "unfinished" } do
    core[name] = nil
  end
  core.hooks, core.version = nil, nil
  profiler.start { history = "full" }
  local function leaf() end
  for _ = 1, 4 do leaf() profiler.frame() end
  profiler.stop()
  local nodes, _, _, lines, _, histories = core.snapshot()
  local history = histories[1]
  for name, f in pairs(getmetatable(history).__index) do
    core["history " .. name] = function(...) return f(history, ...) end
  end
  local values = { nodes, nodes, 1, 2, 99, 1.5, "x",
    folder .. "/x", true, false, lines, {}, { 1, 1, 1, 1, 1 }, { {}, {} },
    { nodes, 1 }, print, function() return 1 end, io.stdout, history,
    histories }
  local names = {}
  for name in pairs(core) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    for i = 1, 300 do
      local args = { n = math.random(0, 8) }
      for k = 1, args.n do args[k] = values[math.random(0, #values)] end
      if i % 2 == 0 then args[1] = nodes end
      pcall(core[name], table.unpack(args, 1, args.n))
    end
  end
  core.stop()
  io.write "good"
]]

describe("the core", function()
  it("refuses arguments that it cannot take", function(dir)
    for seed = 1, helper.slow and 1 or 3 do
      local out, _, how, status = helper.run(program, seed, dir.path)
      assert.same({ "good", "exit", 0 }, { out, how, status })
    end
  end)
end)
