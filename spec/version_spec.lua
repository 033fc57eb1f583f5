local _ENV = require("helper").env(_ENV)

local command = require "command"
local compile = require "compile"
local helper = require "helper"
local interpreter = require "interpreter"

local version = command.read "src/cprof.h":match
  '\n#define CPROF_VERSION%s+"(%d+%.%d+%.%d+)"\n'

local function rockspec(name)
  local out = {}
  assert(loadfile(("rockspec/cprof-%s-1.rockspec"):format(name), "t", out))()
  return out
end

describe("the version", function()
  it("stands in cprof.h, and is what cprof says", function()
    assert.is_truthy(version)
    assert.equal("cprof " .. version,
      (command.cprof "--version"):match "^[^\n]*")
    assert.equal(version, require "cprof.core".version)
    local p = helper.record(function() end)
    assert.equal(version, p.meta.cprof_version)
  end)

  it("is the newest of the changes", function()
    assert.equal(version, command.read "CHANGELOG.md":match "\n## (%S+)\n")
  end)

  it("has a rockspec, which differs from that of the checkout in nothing else",
    function()
      local release, development = rockspec(version), rockspec "dev"
      assert.equal(version .. "-1", release.version)
      assert.equal("v" .. version, release.source.tag)
      release.version, release.source.tag = development.version, nil
      assert.same(development, release)
    end)
end)

describe("a build for another minor version of Lua", function()
  it("says so, in one line, when it is loaded", function()
    local folder = compile.folder()
    -- the headers of one that never was, but for the numbers
    local other = interpreter.version == "5.4" and 3 or 9
    compile.must("cd %s && mkdir cprof && cp -r $SPEC_INCLUDE other && " ..
      "sed -i -E '/VERSION_(MINOR|NUM)/s/\\b([\"50]*)[45](\"?)$/\\1%d\\2/' " ..
      "other/lua.h && gcc -std=c99 -shared -fPIC -Iother -o cprof/core.so " ..
      "cprof.c -lm -lpthread -ldl", folder.dir, other)
    local _, err, status = command.shell(("cd %s && LUA_CPATH='./?.so' " ..
      "$SPEC_LUA -e 'require \"cprof.core\"'"):format(folder.dir))
    folder:remove()
    assert.equal(1, status)
    assert.has_text(("cprof was built for Lua 5.%d, and this is " ..
      "Lua %s; build it for that\n"):format(other, interpreter.version), err)
  end)
end)

describe("a build for a Lua with numbers of 32 bits", function()
  it("fails, and says why", function()
    local folder = compile.folder()
    compile.must("cd %s && cp -r $SPEC_INCLUDE small && sed -i -E " ..
      "'s,^(/\\* )?#define LUA_32BITS.*,#define LUA_32BITS 1,' " ..
      "small/luaconf.h",
      folder.dir)
    local output, ok = compile.shell("cd %s && gcc -std=c99 -fsyntax-only " ..
      "-Ismall cprof.c", folder.dir)
    folder:remove()
    assert.is_nil(ok)
    assert.has_text("cprof needs a Lua with 64-bit numbers: LUA_32BITS has " ..
      "no room for ns", output)
  end)
end)

describe("make rockspec", function()
  it("writes the rockspecs as they are, and leaves older ones alone",
    function(dir)
      local _, why, status = command.shell(("cp -r Makefile src lua " ..
        "rockspec '%s' && cd '%s' && rm rockspec/cprof-%s-1.rockspec && " ..
        "echo old > rockspec/cprof-0.9.0-1.rockspec && " ..
        "sed -i '/src.base.memory/d' rockspec/cprof-dev-1.rockspec && " ..
        "env -u MAKEFLAGS make -s rockspec"):format(dir.path, dir.path,
        version))
      assert.equal(0, status, why)
      for _, name in ipairs { version, "dev" } do
        local path = ("rockspec/cprof-%s-1.rockspec"):format(name)
        assert.equal(command.read(path), command.read(dir:file(path)))
      end
      assert.equal("old\n",
        command.read(dir:file "rockspec/cprof-0.9.0-1.rockspec"))
    end)
end)
