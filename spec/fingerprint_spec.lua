local _ENV = require("helper").env(_ENV)

local edited = require "edited"
local helper = require "helper"
local profiler = require "cprof"

local own = [[
local up = 1
local function f(list, n)
  for i, v in ipairs(list) do
    if v > n then up = up + v else list[i] = function() return v .. "!" end end
  end
  return #list, up
end
f({ 1, 2, 3 }, 2)
]]

-- the function `f` of a text, as it was recorded
local function record(text)
  local p = helper.record(assert(load(text, "=text")))
  for _, f in ipairs(p.functions) do
    if f.source == "=text" and f.kind == "Lua" then return f end
  end
end

local function change(pattern, by)
  local text, n = own:gsub(pattern, by, 1)
  assert(n == 1, pattern)
  return text
end

describe("the fingerprint of a function", function()
  it("does not depend on lines and names", function()
    local f = record(own)
    assert.matches("^%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x$", f.fingerprint)
    for what, text in pairs {
      ["lines above"] = "\n\n" .. own,
      ["a variable above, in the next register"] = "local x = 1\n" .. own,
      ["one line"] = own:gsub("\n", " "),
      ["lines within"] = own:gsub("\n", "\n\n"),
      ["another name"] = own:gsub("%f[%w]f%(", "g("):gsub(" f ", " g "),
      ["other names of variables"] = own:gsub("list", "l"):gsub("up", "u"),
      ["nested"] = "do local z = 1; (function() " .. own .. " end)() end",
    } do
      local p = helper.record(assert(load(text, "=text")))
      local same
      for _, g in ipairs(p.functions) do
        same = same or g.fingerprint == f.fingerprint
      end
      assert.is_true(same, what)
    end
    local stripped = load(string.dump(load(own), true))
    local p = helper.record(stripped)
    local found
    for _, g in ipairs(p.functions) do
      found = found or g.fingerprint == f.fingerprint
    end
    assert.is_true(found)
  end)

  it("depends on all that its code does", function()
    local f, seen = record(own), {}
    for what, text in pairs {
      operator = change("up %+ v", "up - v"),
      constant = change('"!"', '"?"'),
      global = change("ipairs", "pairs"),
      parameter = change("list, n%)", "list, n, more)"),
      vararg = change("list, n%)", "list, n, ...)"),
      result = change("#list, up", "up, #list"),
      nested = change('v %.%. "!"', 'v .. v .. "!"'),
      upvalue = change("return v", "return up"),
    } do
      local print = record(text).fingerprint
      assert.not_equal(f.fingerprint, print, what)
      assert.is_nil(seen[print], what)
      seen[print] = what
    end
  end)

  it("is missing if there is too little code", function()
    for _, body in ipairs { "", "return", "return nil", "return 1" } do
      assert.equal("", record("local function f() " .. body ..
        " end f()").fingerprint)
    end
    for _, body in ipairs { "return 'x'", "return _VERSION", "f = f + 1" } do
      assert.not_equal("", record("local function f() " .. body ..
        " end pcall(f)").fingerprint)
    end
    local p = helper.record(function()
      local _ <close> = profiler.zone "zone"
      string.rep("x", 2)
    end)
    for _, f in ipairs(p.functions) do
      if f.kind ~= "Lua" and f.kind ~= "main" then
        assert.equal("", f.fingerprint)
      end
    end
  end)

  it("tells with the layout whether lines are the same, too", function()
    local f = record(own)
    assert.equal(f.layout, record("\n\n" .. own).layout)
    assert.equal(f.layout, record((own:gsub("up", "u"))).layout)
    assert.not_equal(f.layout, record((own:gsub("return #", "\n%0"))).layout)
    assert.not_equal(f.layout, record((own:gsub("#list", "#list + 1")))
      .layout)
    -- even of code that has no fingerprint
    assert.not_equal(record("local function f() return 1 end f()").layout,
      record("local function f()\nreturn 1 end f()").layout)
  end)

  it("is in files", function(dir)
    local function prints(p)
      local out = {}
      for i, f in ipairs(p.functions) do
        out[i] = { f.title, f.fingerprint, f.layout }
      end
      return out
    end
    local live = dir:file "live.cprof"
    local p = edited.run(dir, "x.lua", edited.text, { file = live })
    local expected = prints(p)
    assert.same(expected, prints(assert(profiler.load(live))))
    local saved = dir:file "saved.cprof"
    assert(p:save(saved))
    p = assert(profiler.load(saved))
    assert.same(expected, prints(p))
    assert(p:save(saved))
    assert.same(expected, prints(assert(profiler.load(saved))))
  end)
end)
