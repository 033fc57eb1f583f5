local _ENV = require("helper").env(_ENV)

local command = require "command"
local compile = require "compile"
local helper = require "helper"
local releases = require "releases"

-- Runs on top of a deep recursion. Prints how many levels of Lua's stack were
-- visited in order to find functions.
local program = [[
  local profiler = require "cprof"
  local options = { mode = %q, recursion = %q }
  local depth = %d
  local function tell(what)
    local n = visited()
    if what then print(what, n) end
  end
  local acts = {}
  function acts.start()
    profiler.start(options)
    tell "start"
  end
  function acts.pause()
    profiler.pause()
    profiler.resume()
    tell "pause"
  end
  function acts.coroutine()
    coroutine.wrap(acts.pause)()
  end
  function acts.snapshot()
    for i = 1, 100 do profiler.snapshot() end
    tell "snapshot"
  end
  function acts.reset()
    profiler.reset()
    tell "reset"
  end
  function acts.rotation()
    profiler.stop()
    -- much longer than the walk that each new file takes
    options.file, options.every = argument .. "%%n", 0.5
    profiler.start(options)
    tell()
    local second
    repeat second = io.open(argument .. "2") until second
    second:close()
    tell "rotation"
    profiler.stop()
    options.file, options.every = nil, nil
  end
  -- as `cprof attach` does
  function acts.attach()
    assert(profiler.listen("USR2", options))
    os.execute "kill -USR2 $PPID"
    tell()
    repeat until profiler.running()
    tell "attach"
    profiler.stop()
  end
  -- calibrates, and loads what it needs
  profiler.start(options) profiler.stop()
  local function down(n)
    if n > 0 then return (down(n - 1)) end
    for _, act in ipairs { "start", "pause", "coroutine", "snapshot",
      "reset", "rotation", "attach" } do
      tell()
      acts[act]()
    end
  end
  down(depth)
  -- calls on the way back up have the right place, too
  local function up(n)
    if n == 0 then profiler.pause() return profiler.resume() end
    return (up(n - 1))
  end
  profiler.start(options)
  tell()
  up(depth)
  tell "up"
  profiler.stop()
  local calls = 0
  local p = profiler.snapshot()
  for _, f in ipairs(p.functions) do
    if f.name == "up" then calls = f.calls end
  end
  assert(calls == depth + 1, calls)
  assert(p.meta.unmatched == 0, p.meta.unmatched)
]]

local depth <const> = 100000

describe("a recursion of 100,000 levels", function()
  local folder, host
  local deep = releases.it(_ENV, releases.without_levels(depth) or
    helper.slow and "takes too long here" or nil)
  setup(function()
    folder = compile.folder()
    folder:compile(compile.compilers.c, folder.dir .. "/cprof.c", "cprof")
    folder:compile(compile.compilers.c, "spec/support/deep_host.c", "deep")
    host = folder:link("deep_host", "lua", { "deep", "cprof" },
      "-Wl,--wrap=lua_getstack")
  end)
  teardown(function() folder:remove() end)

  for _, way in ipairs { { "call", "auto" }, { "call", "fold" },
    { "line", "full" } } do
    deep(("is walked once, mode %s, recursion %s"):format(
      table.unpack(way)), function()
      command.write(folder.dir .. "/deep.lua", program:format(way[1], way[2],
        depth))
      for internals = 0, 1 do
        local output, ok = compile.shell(
          "cd %s && CPROF_INTERNALS=%d ./%s deep.lua %s/empty/file",
          folder.dir, internals, host, folder.dir)
        compile.shell("rm -f %s/empty/*", folder.dir)
        assert.is_true(ok, output)
        local told = 0
        for what, n in output:gmatch "(%l+)\t(%d+)\n" do
          n, told = tonumber(n), told + 1
          -- by public functions, no more than 5,000 levels at a time are
          -- looked for, each from the top
          local most = internals == 1 and 10 * depth or
            what == "up" and depth * 5000 or 3 * 5000 ^ 2
          assert.is_true(n <= most, ("%s: %d"):format(what, n))
        end
        assert.equal(8, told, output)
      end
    end)
  end
end)
