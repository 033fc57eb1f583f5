local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local profiler = require "cprof"
local server = require "server"

local configuration = [[
run_as_root = true
data_path = "DIR"
plugin_paths = { "DIR" }
modules_enabled = { "http", "squares" }
modules_disabled = { "s2s", "c2s", "posix", "offline", "tls" }
c2s_ports, s2s_ports, https_ports = {}, {}, {}
http_ports = { PORT }
http_interfaces = { "127.0.0.1" }
log = { info = "DIR/log" }
VirtualHost "localhost"
]]

local module = [[
module:depends "http"
]] .. server.page .. [[
module:provides("http", { route = { GET = function()
  return page(100)
end } })
]]

-- the interpreter that Debian's prosody has in its first line
local function start(dir, variables)
  dir:file("mod_squares.lua", module)
  return server.start(dir, function(port)
    local text = configuration:gsub("DIR", dir.path):gsub("PORT", port)
    local path = dir:file("prosody.cfg.lua", text)
    return ("%s exec $SPEC_LUA -lcprof.auto /usr/bin/prosody " ..
      "--config '%s' -F"):format(variables, path)
  end)
end

describe("prosody", function()
  for _, mode in ipairs { "call", "line" } do
    it("is recorded from its start, in mode " .. mode, function()
      local dir <close> = command.folder()
      local file = dir.path .. "/run.cprof"
      local options = ("CPROF_OPTIONS=mode=%s,file='%s'"):format(mode, file)
      local host <close> = start(dir, options)
      host:wait()
      host:begin(500)
      host:finish()
      local p = helper.check(assert(profiler.load(file)))
      assert.is_true(p.meta.live)
      assert.equal(501, helper.named(p, "page").calls)
      host:stop()
      p = assert(profiler.load(file))
      helper.check(p)
      assert.is_falsy(p.meta.live)
      local out = command.cprof("report", "--filter=page", file)
      assert.matches(" 501  page +", out)
      server.ran("prosody", "dpkg-query -W prosody", p)
    end)
  end

  it("is sampled by cprof attach while it serves", function()
    local dir <close> = command.folder()
    local file = dir.path .. "/run.cprof"
    local host <close> = start(dir, "")
    host:wait()
    host:begin(20000)
    local _, err, status = command.cprof("attach", "--seconds=1",
      "-o", file, tostring(host.pid))
    assert.equal(0, status, err)
    host:finish()
    local p = helper.check(assert(profiler.load(file)))
    assert.is_true(helper.named(p, "page") ~= nil)
  end)
end)
