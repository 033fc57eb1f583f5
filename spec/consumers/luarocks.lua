local _ENV = require("helper").env(_ENV)

local helper = require "helper"

local function shell(command)
  local pipe = io.popen(command .. " 2>&1")
  local output = pipe:read "a"
  return pipe:close(), output
end

local version = require "cprof.core".version

-- versions of the rockspecs
local rockspecs = {
  ["of a release"] = version,
  ["of the checkout"] = "dev",
}

-- where luarocks does not look for the command's libraries by itself
local libraries = "/usr/share/lua/5.4/?.lua;/usr/share/lua/5.1/?.lua"

local function works(tree)
  local ok, output = shell(("env -u LUA_PATH -u LUA_CPATH " ..
    "LUA_PATH='%s;;' '%s/bin/cprof' run -e 'print(1)'"):format(libraries,
    tree))
  assert.is_true(ok, output)
  assert.matches("^1\n\ncprof: ", output)
end

for which, name in pairs(rockspecs) do
  describe("a rock " .. which, function()
    -- a copy of the checkout, as a git repository that the rockspecs name
    local dir = os.tmpname()
    os.remove(dir)
    local ok, output = shell(("mkdir '%s' && cp -r src lua rockspec " ..
      "LICENSE '%s' && cd '%s' && git init -q && git add . && " ..
      "git -c user.name=x -c user.email=x@y commit -q -m x && " ..
      "git tag v%s && cp -r rockspec as_released && " ..
      "sed -i 's|git+https://[^\"]*|git+file://%s|' rockspec/*.rockspec")
      :format(dir, dir, dir, version, dir))
    assert(ok, output)
    teardown(function() os.execute(("rm -rf '%s'"):format(dir)) end)

    local function rocks(tree, format, ...)
      local done, said = shell(("cd '%s' && luarocks --lua-version=5.4 " ..
        "--tree='%s' %s"):format(dir, dir .. "/" .. tree,
        format:format(...)))
      assert.is_true(done, said)
    end

    it("is made of the sources that lie there", function()
      rocks("made", "make --deps-mode=none as_released/cprof-%s-1.rockspec",
        name)
      works(dir .. "/made")
    end)

    it("of sources is packed, installs, and works", function()
      rocks("tree", "pack rockspec/cprof-%s-1.rockspec", name)
      rocks("tree", "install --deps-mode=none cprof-%s-1.src.rock", name)
      works(dir .. "/tree")
    end)

    it("of binaries installs elsewhere, and works", function()
      rocks("tree", "pack cprof")
      rocks("other", "install --deps-mode=none cprof-%s-1.*64.rock", name)
      works(dir .. "/other")
      assert.equal("1\n", (helper.run([[
        package.path = arg[1] .. "/share/lua/5.4/?.lua;" ..
          arg[1] .. "/share/lua/5.4/?/init.lua"
        package.cpath = arg[1] .. "/lib/lua/5.4/?.so"
        local profiler = require "cprof"
        profiler.start()
        math.abs(1)
        profiler.stop()
        assert(#require "cprof.html.assets".read "main.js" > 100)
        for _, f in ipairs(profiler.snapshot().functions) do
          if f.name == "math.abs" then print(f.calls) end
        end]], dir .. "/other")))
    end)
  end)
end
