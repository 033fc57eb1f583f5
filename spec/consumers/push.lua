local _ENV = require("helper").env(_ENV)

local consumers = require "consumers"
local command = require "command"

local q = command.quote

-- the profile in what a server got
local function received(dir, kind)
  local body = command.read(dir:file "box/1.body")
  if kind == "parca" then
    local json = require "dkjson".decode(body)
    return require "mime".unb64(json.series[1].samples[1].rawProfile)
  end
  local _, at = body:find('name="profile".-\r\n\r\n')
  return body:sub(at + 1, body:find("\r\n--cprof-", at, true) - 1)
end

describe("go tool pprof", function()
  it("reads what cprof push has sent", function()
    local p = consumers.profile()
    for _, kind in ipairs { "pyroscope", "parca" } do
      local dir <close> = command.folder()
      assert(p:save(dir:file "x.cprof"))
      os.execute("mkdir " .. q(dir:file "box"))
      local _, err = command.shell(([[
        $SPEC_LUA spec/support/sink.lua %s/box 200 & server=$!
        for i in $(seq 2400); do [ -s %s/box/port ] || sleep 0.05; done
        %s push --url http://127.0.0.1:$(cat %s/box/port) --format %s \
          --name app %s/x.cprof
        kill $server]]):format(q(dir.path), q(dir.path), command.here(),
        q(dir.path), kind, q(dir.path)))
      assert.equal("", err)
      local path = dir:file("got.pb.gz", received(dir, kind))
      local out = consumers.run("go tool pprof -symbolize=none -top " ..
        "-unit=ns -sample_index=time '%s'", path)
      assert.has_text("Total samples = " .. p.measure.whole .. "ns", out,
        out:sub(1, 500))
    end
  end)
end)
