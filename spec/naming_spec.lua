local _ENV = require("helper").env(_ENV)

local core = require "cprof.core"
local definitions = require "cprof.source.definitions"
local helper = require "helper"
local luafiles = require "luafiles"

-- the names of the functions that a text defines, in order
local function names(s)
  local out = {}
  for i, d in ipairs(definitions.read(s)) do
    out[i] = d.name .. (d.mark or "")
  end
  return table.concat(out, " ")
end

describe("definitions", function()
  it("are those that Lua compiles, with their lines, in order", function()
    local count = 0
    luafiles.each(function(path, text, chunk)
      local lines, found = core.defined(chunk), {}
      for _, d in ipairs(definitions.read(text)) do
        found[#found + 1] = d.line
        found[#found + 1] = d.last_line
      end
      assert(table.concat(lines, " ", 3) == table.concat(found, " "), path)
      count = count + #found // 2
    end)
    assert.is_true(count > (helper.slow and 100 or 3000))
  end)

  it("have the lines of Lua however they are written", function()
    local s = "local function\nf\n(\n) end\nlocal g = function\n(a)\nend\n" ..
      "function t\n.a\n:b(\n) end return function\n\n() end"
    local lines, found = core.defined(assert(load(s))), {}
    for _, d in ipairs(definitions.read(s)) do
      found[#found + 1], found[#found + 2] = d.line, d.last_line
    end
    assert.same({ table.unpack(lines, 3) }, found)
  end)

  it("are called by their statements", function()
    assert.equal("f g a.b.c a.b:d", names [[
      local function f() end
      function g() end
      function a.b.c() end
      function a.b:d() end]])
  end)

  it("are called by what they are assigned to", function()
    assert.equal('x y c a.b a.c a["d e"] a[1] a[k] a.if', names [[
      local x = function() end
      y = function() end
      local c <const> = function() end
      a.b = function() end
      a["c"] = function() end
      a["d e"] = function() end
      a[1] = function() end
      a[k] = function() end
      a['if'] = function() end]])
    assert.equal("a b.c d", names [[
      local n, a, o = 1, function() end
      b.c, n, d = function() return 1, 2 end, (1), function() end]])
    assert.equal("a.b a.c a.c", names [[
      a.b = a.b or function() end
      a.c = x and function() end
        or function() end]])
    assert.equal("f g.h", names "function _G.f() end _ENV.g.h = function() end")
  end)

  it("are called by the field of their table", function()
    assert.equal('t.a t.b t["c d"] t[1] t.e.f t[2].g t[1][1]', names [[
      local t = {
        a = function() end; ["b"] = function() end,
        ["c d"] = function() end,
        function() end,
        e = { x = 1, f = function() end },
        { g = function() end },
        [1] = { function() end },
      }]])
    assert.equal("m.t.a m.u.b", names [[
      m.t = { a = function() end }
      m.u = m.u or { b = function() end }]])
    assert.equal("c.x __index c.y", names [[
      local c = setmetatable({ x = function() end },
        { __index = function() end })
      c.y = function() end]])
  end)

  it("are called by the function that makes their table, or by the field " ..
    "alone", function()
      assert.equal("new new.a new.b.c x y", names [[
        function new()
          return { a = function() end, b = { c = function() end } }
        end
        return { x = function() end }, class { y = function() end }]])
    end)

  it("are called by their line, where nothing names them", function()
    assert.equal("<fn:1> f f.<fn:3> f.g f.<fn:5> t.a.<fn:7> <fn:8> <fn:9>",
      names [[
      sort(t, function() end)
      local function f()
        map(function()
          return { g = function() end }
            , function() end
        end) end
      local t = { a = wrap(function() end),
        [x()] = 1 } do (function() end)() end
      return function() end]])
    assert.equal("f t.<fn:2> t[1].<fn:3>", names [[
      local function f() return x end
      local t = { [f()] = function() end,
        call(function() end) }]])
  end)

  it("of one line are told apart by their columns", function()
    assert.equal("<fn:1:3> <fn:1:19> <fn:2>",
      names "f(function() end, function() end)\nf(function() end)")
    assert.equal("a <fn:1:7> b a <fn:1:53> a", names(
      "local function a() end local b = function() end a = function() end " ..
      "\na = function() end"))
  end)

  it("in methods call self by its class", function()
    assert.equal("Shape:init Shape.on Shape.sub.off make make.get", names [[
      function Shape:init()
        self.on = function() end
        if x then self.sub.off = function() end end
      end
      local function make()
        local self = {}
        function self.get() end
      end]])
  end)

  it("are found by their lines, and by their number among these", function()
    local index = definitions.index(
      "local a, b = function() end, function() end\n" ..
      "local c = function()\nend x = function() end")
    assert.equal("a", definitions.find(index, 1, 1, 1).name)
    assert.equal("b", definitions.find(index, 1, 1, 2).name)
    assert.is_nil(definitions.find(index, 1, 1))
    assert.equal("c", definitions.find(index, 2, 3).name)
    assert.equal("x", definitions.find(index, 3, 3).name)
    assert.is_nil(definitions.find(index, 2, 2))
  end)

  it("are read from any text", function()
    local pieces = { "function", "end", "local", "f", ".", ":", "(", ")", "{",
      "}", "[", "]", "=", ",", ";", "'a'", "1", "or", "setmetatable", "self",
      "if", "do", "repeat", "until", "return", ">", "\n", "'" }
    math.randomseed(1)
    for _ = 1, helper.many(20000) do
      local s = {}
      for i = 1, math.random(30) do s[i] = pieces[math.random(#pieces)] end
      definitions.index(table.concat(s, " "))
    end
    definitions.index(("{"):rep(300000) .. "function() end")
    definitions.index(("x = {"):rep(100000) .. "function() end")
    definitions.index(("setmetatable("):rep(100000) .. "function() end")
  end)
end)
