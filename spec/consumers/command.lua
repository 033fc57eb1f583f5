local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local command = require "command"
local consumers = require "consumers"

describe("a real program, killed in the middle", function()
  it("is the same to cprof show, cprof report and go tool pprof", function()
    local dir <close> = command.folder()
    local script = dir:file("x.lua", [[
      local luacheck = require "luacheck"
      local path = package.searchpath("pl.utils", package.path)
      for i = 1, 1000 do
        luacheck { path }
        if i == 3 then io.open("ready", "w"):close() end
      end]])
    local file = dir:file "x.cprof"
    local _, _, status = command.shell(("cd %s; %s & pid=$!; " ..
      "until [ -e ready ]; do sleep 0.05; done; kill -9 $pid; wait $pid")
      :format(dir.path, command.here("run", "-o", file, script)))
    assert.equal(137, status)
    local rows = consumers.rows(assert(profiler.load(file)))
    local named = {}
    for _, row in pairs(rows) do
      named[row.func.name] = not named[row.func.name] and row or false
    end
    local pb = dir:file "x.pb"
    local out, err = command.cprof("export", "--format=pprof", "-o", pb, file)
    assert.same({ "", "" }, { out, err })
    local top = consumers.run("go tool pprof -symbolize=none -top -unit=ns " ..
      "-sample_index=calls -nodefraction=0 -nodecount=100000 '%s'", pb)
    local report = command.cprof("report", "--min-percent=0",
      "--limit=10000", "--width=300", file)
    for _, name in ipairs { "Line:walk", "is_newline", "skip_token" } do
      local row = assert(named[name], name)
      local shown = command.cprof("show", file, name)
      local calls = consumers.integer(shown:match "([%d,]+) calls")
      assert.equal(row.calls, calls)
      assert.equal(row.calls, consumers.integer(report:match("([%d,]+)  " ..
        name:gsub("%p", "%%%0") .. " ")))
      local flat
      for line in top:gmatch "[^\n]+" do
        local n, title = line:match
          "^ *(%d+)%l* +%S+%% +%S+%% +%d+%l* +%S+%%  (.*)$"
        if title == row.title then flat = tonumber(n) end
      end
      assert.equal(row.calls, flat, name)
    end
  end)
end)
