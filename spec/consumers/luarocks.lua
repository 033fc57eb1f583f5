local _ENV = require("helper").env(_ENV)

local helper = require "helper"

local function shell(command)
  local pipe = io.popen(command .. " 2>&1")
  local output = pipe:read "a"
  return pipe:close(), output
end

local rocks = "cd '%s' && luarocks --lua-version=5.4 --tree='%s/tree' "

describe("a rock that luarocks packs", function()
  -- the checkout as a repository, and its rockspec as that of a release
  local dir = os.tmpname()
  os.remove(dir)
  local ok, output = shell(("mkdir '%s' && cp -r src lua rockspec LICENSE " ..
    "'%s' && cd '%s' && git init -q && git add . && " ..
    "git -c user.name=x -c user.email=x@y commit -q -m x && " ..
    "sed -i 's|git+https://[^\"]*|git+file://%s|' rockspec/*-dev-1.rockspec")
    :format(dir, dir, dir, dir))
  assert(ok, output)
  teardown(function() os.execute(("rm -r '%s'"):format(dir)) end)

  it("of sources installs, and works", function()
    ok, output = shell((rocks .. "pack rockspec/cprof-dev-1.rockspec")
      :format(dir, dir))
    assert.is_true(ok, output)
    ok, output = shell((rocks .. "install --deps-mode=none " ..
      "cprof-dev-1.src.rock"):format(dir, dir))
    assert.is_true(ok, output)
    ok, output = shell(("env -u LUA_PATH -u LUA_CPATH LUA_PATH='%s;;' " ..
      "'%s/tree/bin/cprof' run -e 'print(1)'"):format(
      "/usr/share/lua/5.4/?.lua;/usr/share/lua/5.1/?.lua", dir))
    assert.is_true(ok, output)
    assert.is_truthy(output:find "^1\n\ncprof: ", output)
  end)

  it("of binaries installs elsewhere, and works", function()
    ok, output = shell((rocks .. "pack cprof"):format(dir, dir))
    assert.is_true(ok, output)
    ok, output = shell(("cd '%s' && luarocks --lua-version=5.4 " ..
      "--tree='%s/other' install --deps-mode=none cprof-dev-1.*64.rock")
      :format(dir, dir))
    assert.is_true(ok, output)
    assert.equal("1\n", (helper.run([[
      package.path = arg[1] .. "/share/lua/5.4/?.lua;" ..
        arg[1] .. "/share/lua/5.4/?/init.lua"
      package.cpath = arg[1] .. "/lib/lua/5.4/?.so"
      local profiler = require "cprof"
      profiler.start()
      math.abs(1)
      profiler.stop()
      for _, f in ipairs(profiler.snapshot().functions) do
        if f.name == "math.abs" then print(f.calls) end
      end]], dir .. "/other")))
  end)
end)
