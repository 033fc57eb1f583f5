local _ENV = require("helper").env(_ENV)

local host = require "spec_host"

local work = [[
  local zones = require "spec_zones"
  function update(ns)
    local function leaf() zones.pass(ns) end
    zones.nested(leaf, leaf)
  end
  return "loaded"]]

describe("the C API", function()
  local S
  before_each(function()
    S = host.state()
    S:run [[require "spec_zones".clock(true)]]
    assert.equal("loaded", S:run(work))
  end)
  after_each(function() S:close() end)

  local function figures(name)
    return S:run(([[
      local p = require "cprof".snapshot()
      for _, f in ipairs(p.functions) do
        if f.name == %q then
          return ("%%d %%d %%d"):format(f.calls, f.self_ns, f.total_ns)
        end
      end]]):format(name))
  end

  it("starts and stops, and says whether there was anything to do",
    function()
      assert.equal(0, S:control "stop")
      assert.equal(0, S:control "pause")
      assert.equal(0, S:control "resume")
      assert.equal(0, S:control "reset")
      assert.equal(0, S:control "frame")
      assert.equal(0, S:control "running")
      assert.equal(0, (S:start()))
      assert.equal(1, S:control "running")
      S:run "update(10)"
      assert.equal(1, S:control "frame")
      assert.equal(1, S:control "pause")
      assert.equal(0, S:control "pause")
      assert.equal(0, S:control "running")
      S:run "update(1000)"
      assert.equal(1, S:control "resume")
      assert.equal(0, S:control "resume")
      S:run "update(100)"
      assert.equal(1, S:control "stop")
      assert.equal(0, S:control "stop")
      assert.equal("2 0 220", figures "outer")
      assert.equal(1, S:control "reset")
      assert.equal("nil", figures "outer")
    end)

  it("says what is wrong with a start, and raises nothing", function()
    local status, message = S:start { mode = "fast" }
    assert.equal(2, status)
    assert.truthy(message:find('option \'mode\' must be one of "call", ', 1,
      true), message)
    assert.equal(0, S:control "running")
    assert.equal(0, (S:start {}))
    status, message = S:start {}
    assert.equal(2, status)
    assert.truthy(message:find("already running", 1, true))
    status, message = S:start { include = "(" }
    assert.equal(2, status)
    assert.truthy(message:find("include", 1, true), message)
  end)

  it("gives all options of start to Lua", function()
    for _, case in ipairs {
      { { include = "leaf" }, "nil" }, { { exclude = "leaf" }, "1 0 20" },
      { { recursion = "fold", callsites = 1, max_nodes = 100, history = -1,
          slow_ms = 1, slow_keep = 3 }, "1 0 20" },
      { { mode = "line", lines = "nothing" }, "1 0 20" },
      { { fold_c = 1 }, "1 20 20" }, { { clock = "wall" }, "1 0 20" },
    } do
      local status, message = S:start(case[1])
      assert.equal(0, status, message)
      S:run "update(10)"
      S:control "stop"
      assert.equal(case[2] == "1 20 20" and "1 0 20" or case[2],
        case[2] == "nil" and "nil" or figures "outer")
    end
  end)

  it("starts without a trace of itself in the profile", function()
    S:start()
    S:run "update(10)"
    S:control "stop"
    local names = S:run [[
      local out = {}
      for _, f in ipairs(require "cprof".snapshot().functions) do
        if f.kind == "C" then out[#out + 1] = f.name end
      end
      table.sort(out)
      return table.concat(out, " ")]]
    assert.equal("spec_zones.nested spec_zones.pass", names)
  end)

  it("writes reports, also while recording, and says why it cannot",
    function()
      local status, message = S:report()
      assert.equal(2, status)
      assert.truthy(message:find("nothing was recorded", 1, true), message)
      S:start { mode = "line" }
      S:run "update(1000000)"
      local text = S:report { mode = "self", width = 80, color = "never" }
      assert.truthy(text:find("2.00ms", 1, true), text)
      assert.is_nil(text:find("api", 1, true))
      assert.equal(1, S:control "running")
      assert.truthy(S:report({ limit = 1 }):find("more functions", 1, true))
      assert.is_nil(S:report({ limit = -1 }):find("more functions", 1, true))
      status, message = S:report { mode = "sideways" }
      assert.equal(2, status)
      assert.truthy(message:find("sideways", 1, true), message)
      status, message = S:report({}, nil, true)
      assert.equal(2, status)
      assert.truthy(message:find("writer", 1, true), message)
      text = S:report({ width = 100 }, work)
      assert.truthy(text:find("zones.nested(leaf, leaf)", 1, true), text)
      status, message = S:report({}, "nowhere.lua")
      assert.equal(2, status)
      assert.truthy(message:find("nowhere.lua", 1, true), message)
      assert.equal(1, S:control "running")
    end)

  it("has the view's lines and graph", function()
    local text, status = S:view("self", 0, 0)
    assert.equal(2, status)
    assert.truthy(text:find("nothing was recorded", 1, true), text)
    S:start()
    for i = 1, 3 do
      S:run(("update(%d)"):format(i * 1000000))
      S:control "frame"
    end
    text, status = S:view("self", 0, 0)
    assert.equal(0, status, text)
    assert.truthy(text:find("graph\n1 2000000\n2 4000000\n3 6000000\n", 1,
      true), text)
    assert.truthy(text:find("\n[ +]leaf 0 6 2\n"), text)
    text, status = S:view("total", 2, 3)
    assert.equal(0, status)
    assert.equal(3, select(2, text:gsub("graph.*", ""):gsub("\n", "")))
    assert.truthy(text:find("\n>", 1, true), text)
    text, status = S:view("upside down", 0, 0)
    assert.equal(2, status)
    assert.truthy(text:find("upside down", 1, true))
  end)

  it("may use a clock and an allocator of the host only between recordings",
    function()
      S:start()
      assert.equal("false", S:run [[
        return require "spec_zones".clock(false)]])
      S:control "stop"
      assert.equal("true", S:run [[
        return require "spec_zones".clock(false)]])
      S:start()
      S:control "stop"
      assert.not_equal("host", S:run [[
        return require "cprof".snapshot().meta.clock]])
    end)

  it("is valid C99 and C++, and can be compiled out", function()
    local uses = [[
      #include "cprof.h"
      CPROF_DECLARE(away); CPROF_DEFINE(here);
      int use (lua_State *L); int use (lua_State *L) {
        if (cprof_open(L) != LUA_OK || cprof_start(L, NULL) != LUA_OK)
          return 1;
        CPROF_REGION(L, here) {
          CPROF_BEGIN(L, here) { CPROF_REGION(L, here) {
            cprof_frame(L, 1);
          } CPROF_END(L) } CPROF_END(L)
        } CPROF_END(L)
        %s
        cprof_pause(L); cprof_resume(L); cprof_reset(L); cprof_stop(L);
        return cprof_running(L) + cprof_attach(L) + (cprof_current() == L) +
          cprof_report(L, NULL, NULL, NULL) +
          cprof_annotate(L, NULL, NULL, NULL, NULL) +
          cprof_setalloc(L, NULL, NULL) + cprof_setclock(L, NULL, NULL);
      } int main (void) { return 0; }
]]
    local path = os.tmpname()
    for _, compiler in ipairs { "gcc -std=c99 -x c", "clang -std=c99 -x c",
      "g++ -std=c++11 -x c++", "g++ -std=c++17 -x c++",
      "clang++ -std=c++17 -x c++" } do
      local file = io.open(path, "w")
      file:write((uses:format(compiler:find "%+%+" and
        "{ CPROF_SCOPE(L, scope); CPROF_SCOPE(L, other); }" or "")))
      file:close()
      for enabled = 0, 1 do
        local command = ("%s -Wall -Wextra -Wpedantic -Wshadow -Werror " ..
          "-Isrc -I/usr/include/lua5.4 -DCPROF_ENABLED=%d %s %s 2>&1")
          :format(compiler, enabled, enabled == 0 and
            "-o /dev/null" or "-fsyntax-only", path)
        local pipe = io.popen(command)
        local output = pipe:read "a"
        -- without cprof, nothing is there to be linked but Lua
        assert.is_true(pipe:close() or false, command .. "\n" .. output)
      end
    end
    os.remove(path)
  end)
end)
