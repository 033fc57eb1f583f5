local _ENV = require("helper").env(_ENV)

local command = require "command"
local profiler = require "cprof"

-- what another program does to FILE
local harm = {
  ["a larger profile"] = "cat LARGE >FILE",
  ["a smaller profile"] = "cp SMALL FILE",
  ["noise from the first block on"] =
    "dd if=NOISE of=FILE bs=4096 seek=1 conv=notrunc 2>/dev/null",
  ["noise everywhere"] = "dd if=NOISE of=FILE conv=notrunc 2>/dev/null",
  ["ones in the first block"] =
    "dd if=ONES of=FILE bs=4096 seek=1 conv=notrunc 2>/dev/null",
  ["noise instead"] = "cat NOISE >FILE",
}

-- Writes over its file at different moments, and says what became of it.
local program = [[
local core = require "cprof.core"
local helper = require "helper"
local profiler = require "cprof"
local torture = require "torture"
local file, line, name = arg[1], arg[2], arg[3]

local function work(n)
  for i = 1, n do
    profiler.frame(i % 3 == 0 and "loop" or nil)
    assert(load(("local function f(n) if n > 0 then return 1 + f(n - 1) " ..
      "end return 0 end return f(%d)"):format(i % 5), "=" .. i % 50))()
  end
  torture.work()
  return coroutine.wrap(torture.work)()
end

local bare = work(1)

local acts = {
  stop = function() end,
  look = function() assert(profiler.report()) end,
  reset = function() pcall(profiler.reset) end,
  pause = function() profiler.pause() work(3) profiler.resume() end,
}

local function recorded(way, act)
  os.remove(file)
  profiler.start(torture.options(way, { file = file }))
  work(100)
  assert(os.execute(line))
  assert(work(100) == bare)
  acts[act]()
  assert(work(500) == bare)
  profiler.stop()
  local p = helper.check(profiler.snapshot())
  local why = p.meta.ended
  assert(p:report())
  profiler.start()
  work(1)
  profiler.stop()
  assert(profiler.snapshot().meta.ended == nil)
  return why
end

for _, way in ipairs(torture.ways()) do
  if way.name == name then
    for act in pairs(acts) do
      io.write(act, ": ", tostring(recorded(way, act)), "\n")
    end
  end
end
]]

local function names()
  local out = {}
  for _, way in ipairs(require "torture".ways()) do out[#out + 1] = way.name end
  return out
end

local function profile(path, n)
  profiler.start { file = path }
  for i = 1, n do
    assert(load(("local function f%d() end f%d()"):format(i, i), "=" .. i))()
  end
  profiler.stop()
end

-- bytes that are the same each time
local function noise(size)
  local out, x = {}, 1
  for i = 1, size // 8 do
    x = x * 6364136223846793005 + 1442695040888963407
    out[i] = ("i8"):pack(x)
  end
  return table.concat(out)
end

-- the words in 'harm', as files in a folder
local function words(dir)
  local out = {
    FILE = dir:file "live.cprof",
    LARGE = dir:file "large.cprof", SMALL = dir:file "small.cprof",
    NOISE = dir:file("noise", noise(1 << 20)),
    ONES = dir:file("ones", ("\1\0\0\0"):rep(1 << 18)),
  }
  profile(out.LARGE, 3000)
  profile(out.SMALL, 1)
  return out
end

-- a program that hangs is ended
local function run(script, file, line, name)
  return command.shell(("timeout 600 $SPEC_LUA %s %s %s %s"):format(script,
    file, command.quote(line), command.quote(name)))
end

-- While samples come that should find the nodes of earlier ones, all nodes have
-- another function; afterwards, they have the right one again.
local moment = [[
local blocks = require "blocks"
local profiler = require "cprof"
local file, text = arg[1], ("x"):rep(100000)

local function bytes()
  local f <close> = assert(io.open(file, "rb"))
  return f:read "a"
end

local function work(s, nodes)
  local f <close> = assert(io.open(file, "r+b"))
  for _ = 1, 5000 do text:upper() end
  for i = 1, #nodes do
    f:seek("set", nodes[i] + 24)
    f:write "\255\255\255\127"
  end
  f:flush()
  for _ = 1, 5000 do text:upper() end
  for i = 1, #nodes do
    f:seek("set", nodes[i] + 24)
    f:write((s:sub(nodes[i] + 25, nodes[i] + 28)))
  end
end

profiler.start { mode = "sample", file = file }
local s, nodes = "", {}
for _ = 1, 2 do  -- from one line, so the nodes are the same
  work(s, nodes)
  s = bytes()
  nodes = blocks.records(s, blocks.nodes, blocks.node)
end
profiler.stop()
local p = profiler.snapshot()
require "helper".check(p)
print(p.meta.ended)
]]

describe("a file that another program writes over", function()
  it("does not tell which functions samples have found", function(dir)
    local out, err, status = command.shell(("timeout 600 $SPEC_LUA %s %s")
      :format(dir:file("program.lua", moment), dir:file "live.cprof"))
    assert.equal("", err)
    assert.equal("nil\n", out)
    assert.equal(0, status)
  end)

  for _, name in ipairs(names()) do
    it("leaves the program alone: " .. name, function(dir)
      local script, files = dir:file("program.lua", program), words(dir)
      for what, line in pairs(harm) do
        local out, err, status = run(script, files.FILE,
          (line:gsub("%u%u+", files)), name)
        assert.equal(0, status, what .. ": " .. err)
        for act, why in out:gmatch "(%w+): ([^\n]+)" do
          assert.equal("the file was overwritten by another program", why,
            ("%s, %s"):format(what, act))
        end
        assert.equal(4, select(2, out:gsub("\n", "")), out)
      end
    end)
  end
end)
