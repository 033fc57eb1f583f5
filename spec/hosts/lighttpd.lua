local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local profiler = require "cprof"
local server = require "server"

local configuration = [[
server.modules = ( "mod_magnet" )
server.document-root = "%s"
server.port = %d
server.bind = "127.0.0.1"
server.errorlog = "%s/errors"
magnet.attract-raw-url-to = ( "%s" )
]]

-- mod_magnet runs the chunk for each request, in one state
local begin = [[
local profiler = require "cprof"
if not profiler.running() then profiler.start { %s } end
]]

local answer = [[
lighty.content = { page(100) }
lighty.header["Content-Type"] = "text/plain"
return 200
]]

local function start(dir, options)
  local app = dir:file("app.lua", begin:format(options) .. server.page ..
    answer)
  return server.start(dir, function(port)
    local path = dir:file("lighttpd.conf", configuration:format(dir.path,
      port, dir.path, app))
    return ("exec lighttpd -D -f '%s'"):format(path)
  end)
end

local function expect(p, calls)
  helper.check(p)
  assert.equal(calls, helper.named(p, "page").calls)
  assert.equal(100 * calls, helper.named(p, "string.format").calls)
end

describe("lighttpd with mod_magnet", function()
  for _, mode in ipairs { "call", "line" } do
    it("is recorded into a file, and seen meanwhile: " .. mode,
      function()
        local dir <close> = command.folder()
        local file = dir.path .. "/run.cprof"
        local host <close> = start(dir,
          ('file = "%s", mode = "%s"'):format(file, mode))
        host:wait()
        host:begin(200)
        host:finish()
        expect(profiler.load(file), 201)
        host:begin(20000)
        local seen, deadline = { 201 }, os.time() + 300
        repeat
          local p = assert(profiler.load(file))
          assert.is_true(p.meta.live)
          seen[#seen + 1] = helper.named(p, "page").calls
          assert.is_true(seen[#seen] >= seen[#seen - 1])
        until #seen > 50 and seen[#seen] > 201 or os.time() > deadline
        assert.is_true(seen[#seen] > 201 and seen[#seen] <= 20201)
        local out = command.cprof("report", "--filter=page", file)
        assert.has_text("still being recorded", out)
        assert.has_text("  page  ", out)
        host:finish()
        host:stop()
        local p = assert(profiler.load(file))
        expect(p, 20201)
        assert.is_falsy(p.meta.live)
        server.ran("lighttpd", "lighttpd -v", p)
      end)
  end
end)
