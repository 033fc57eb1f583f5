local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local host = require "spec_host"
local name = require "cprof.source.name"
local paths = require "cprof.source.paths"

-- names of the functions that `f` calls, in the order of the calls
local function names(f)
  local out = {}
  for line in helper.shape(f):gmatch "[^\n]+" do
    if line:sub(1, 1) ~= " " then out[#out + 1] = line:match "^(.-) %d+$" end
  end
  return out
end

-- names of Lua functions that were loaded from strings, in alphabetical
-- order
local function loaded_names(p)
  local out = {}
  for _, f in ipairs(p.functions) do
    if f.kind == "Lua" and f.source:sub(1, 1) ~= "@" then
      out[#out + 1] = f.name
    end
  end
  table.sort(out)
  return table.concat(out, " ")
end

local quiet, exported = host.nameless()

describe("the name of a function", function()
  it("is what its definition says", function()
    local Account = { sub = {} }
    function Account:deposit() end
    function Account.open() end
    function Account.sub.deep() end
    Account.field = function() end
    Account["quoted"] = function() end
    Account["function"] = function() end
    local t = { key = function() end, ["if"] = function() end,
                ["+"] = function() end, function() end }
    local function plain() end
    local assigned = function() end
    assert.same({ "Account:deposit", "Account.open", "Account.sub.deep",
      "Account.field", "Account.quoted", "Account.function", "t.key", "t.if",
      't["+"]', "t[1]", "plain", "assigned" },
      names(function()
        Account:deposit() Account.open() Account.sub.deep() Account.field()
        Account.quoted() Account["function"]() t.key() t["if"]() t["+"]()
        t[1]() plain() assigned()
      end))
  end)

  it("is where it is, with what holds it, if the definition has none",
    function()
      local function apply(f)
        local r = f(2)
        return r
      end
      local function holder()
        apply(function() end)
      end
      local line = debug.getinfo(holder, "S").linedefined + 1
      assert.equal(("holder 1\n  apply 1\n    holder.<fn:%d> 1"):format(line),
        (helper.shape(function() holder() end)))
      assert.same({ ("<fn:%d>"):format(line + 6) }, names(function()
        (function() return 1 end)()
      end))
    end)

  it("tells apart those of one line", function()
    local chunk = load("local t = { a = function() end, b = function() end " ..
      "} t.a() t.b() t.b() local function f(g) g() end f(function() end) " ..
      "f(function() end) do local function f() end f() end")
    local p = helper.record(chunk)
    assert.equal("<fn:1:102> <fn:1:120> f <fn:1:145> f <fn:1:78> t.a t.b",
      loaded_names(p))
    assert.equal(2, helper.named(p, "t.b").calls)
    assert.equal(2, helper.named(p, "f <fn:1:78>").calls)
  end)

  it("is the name at the first call where there is no text", function()
    local first, second = load(
      "return function() end, function() end", "=no text")()
    local tree = helper.shape(function()
      first()
      pcall(second)
    end)
    assert.equal("first 1\npcall 1\n  <fn:1> 1", tree)
  end)

  it("is the path under package.loaded for the libraries", function()
    assert.same({ "string.rep", "table.insert", "math.floor", "type",
      "string.upper", "coroutine.isyieldable" }, names(function()
        local s = "x"
        string.rep("x", 1) table.insert({}, 1) math.floor(1.5) type(1)
        s:upper() coroutine.isyieldable()
      end))
  end)

  it("prefers the library to an alias", function()
    rawset(_G, "cprof_spec_rep", string.rep)
    local got = names(function() string.rep("x", 1) end)
    rawset(_G, "cprof_spec_rep", nil)
    assert.same({ "string.rep" }, got)
  end)

  it("is that of the metamethod", function()
    local t = setmetatable({}, {
      __index = function() end,
      __newindex = function() end,
      __call = function() end,
      __eq = function() return true end,
      __concat = function() end,
      __lt = function() end,
      __unm = function() end,
      __len = function() end,
    })
    local u = setmetatable({}, getmetatable(t))
    local got = names(function()
      local _ = t.x
      t.x = 1
      t()
      _ = t == u
      _ = t .. "x"
      _ = t < u
      _ = -t
      _ = #t
    end)
    assert.same({ "__index", "__newindex", "__call", "__eq", "__concat",
      "__lt", "__unm", "__len" }, got)
  end)

  it("of iterators tells whose they are", function()
    local p = helper.record(function()
      for _ in ipairs { 1 } do end
      for _ in pairs { 1 } do end
      for _ in ("x"):gmatch "x" do end
      for _ in utf8.codes "x" do end
      for _ in io.lines "/dev/null" do end
    end)
    for _, given in ipairs { "ipairs iterator", "next",
      "string.gmatch iterator", "utf8.codes iterator",
      "io.lines iterator" } do
      assert.is_truthy(helper.named(p, given), given)
    end
  end)

  it("of what nothing refers to is found though the collector runs",
    function()
      debug.sethook(function() collectgarbage() end, "", 1000)
      local found = paths.all()
      debug.sethook()
      local shown = {}
      for _, path in pairs(found) do shown[path] = true end
      for _, given in ipairs { "coroutine.wrap function",
        "string.gmatch iterator", "io.lines iterator" } do
        assert.is_true(shown[given], given)
      end
    end)

  it("of the main chunk is the script", function()
    local output = helper.run [[
      local profiler = require "cprof"
      profiler.start()
      profiler.stop()
      for _, f in ipairs(profiler.snapshot().functions) do
        if f.kind == "main" then print(f.name, f.title, arg[0]) end
      end]]
    local n, title, script = output:match "^(.-)\t(.-)\t(.-)\n"
    assert.equal(script, n)
    assert.equal(script .. " (main chunk)", title)
  end)

  it("of a chunk from a string is its beginning", function()
    local chunk = load "return 1 + 1"
    assert.same({ '[string "return 1 + 1"]' }, names(function() chunk() end))
  end)
end)

-- the names of functions after `use` was called with the modules' values
local function of_modules(modules, use)
  local loaded = {}
  local p = helper.record(function()
    for given, text in pairs(modules) do
      package.loaded[given] = load(text)()
      loaded[given] = package.loaded[given]
    end
    use(loaded)
  end)
  for given in pairs(modules) do package.loaded[given] = nil end
  return loaded_names(p)
end

describe("the functions of one table", function()
  it("have the name of its definitions", function()
    assert.equal("Shape.factor Shape.grow Shape.new Shape.seen Shape:area",
      of_modules({ ["spec.shape"] = [[
        local Shape = {}
        Shape.__index = Shape
        function Shape.new() return setmetatable({}, Shape) end
        function Shape:area() self:factor() end
        Shape.factor = function(self)
          self.seen = function() end
          self.seen()
        end
        local function grow() end
        Shape.grow = grow
        return Shape]] }, function(loaded)
          local shape = loaded["spec.shape"].new()
          shape:area()
          shape.grow()
        end))
  end)

  it("have the path of the module where it ends in that name", function()
    assert.equal("spec.geo.area spec.geo.side spec.geo:hide",
      of_modules({ ["spec.geo"] = [[
        local geo = {}
        function geo.area() end
        function geo:hide() end
        local function side() end
        geo.side = side
        return geo]] }, function(loaded)
          local geo = loaded["spec.geo"]
          geo.area() geo:hide() geo.side()
        end))
  end)

  it("have the path of the module where the name tells nothing", function()
    for _, given in ipairs { "M", "_M", "exports", "mod", "c", "self" } do
      assert.equal("spec.circle.new spec.circle.on.click spec.circle:area",
        of_modules({ ["spec.circle"] = ([[
          local M = { on = {} }
          function M.new() end
          function M:area() end
          M.on.click = function() end
          return M]]):gsub("M", given) }, function(loaded)
            local circle = loaded["spec.circle"]
            circle.new() circle:area() circle.on.click()
          end))
    end
    -- several modules call their table `stage`: then modules name functions
    assert.equal("spec.one.run spec.two.run", of_modules({
      ["spec.one"] = "local stage = {} function stage.run() end return stage",
      ["spec.two"] = "local stage = {} stage.run = function() end return stage",
    }, function(loaded)
      loaded["spec.one"].run() loaded["spec.two"].run()
    end))
  end)

  it("have one name also where others add to it", function()
    assert.equal("spec.base.f spec.base.g spec.base.h", of_modules({
      ["spec.base"] = "local M = {} function M.f() end M.g = function() end " ..
        "return M",
    }, function(loaded)
      load [[
        local Base = ...
        function Base.h() end
        Base.f() Base.g() Base.h()]](loaded["spec.base"])
    end))
  end)

  it("have those of the definition where closures of one are in several " ..
    "places", function()
      assert.equal("make make.get", of_modules({ ["spec.many"] = [[
        local function make() return { get = function() end } end
        return { first = make(), second = make() }]] }, function(loaded)
          loaded["spec.many"].first.get() loaded["spec.many"].second.get()
        end))
    end)

  it("have the path where a table that is returned defines them", function()
    assert.equal("spec.plain.f spec.plain.other", of_modules({
      ["spec.plain"] = [[
        local function own() end
        return { f = function() end, other = own }]] }, function(loaded)
          loaded["spec.plain"].f() loaded["spec.plain"].other()
        end))
  end)
end)

describe("the name of a C function", function()
  it("is that of its object's kind for methods", function()
    assert.same({ "file:seek" }, names(function() io.stdout:seek() end))
    assert.equal("file", paths.receiver "FILE*")
    assert.equal("tcp", paths.receiver "tcp{client}")
    assert.equal("directory", paths.receiver "directory metatable")
    assert.equal("Proxy", paths.receiver "Proxy")
    assert.equal("lpeg-pattern", paths.receiver "lpeg-pattern")
    for given, shown in pairs { ["FILE*:read"] = "file:read",
      ["tcp{client}:accept"] = "tcp:accept", ["string.rep"] = "string.rep",
      ["zlib:inflate stream:__gc"] = "zlib:inflate stream:__gc" } do
      assert.equal(shown, paths.method(given))
    end
  end)

  it("is the method's, not that of the metamethod that is the same",
    function()
      local registry, f = debug.getregistry(), quiet
      registry["spec{kind}"] = { __name = "spec{kind}", __gc = f,
        __index = { close_it = f } }
      local got = names(function() f() end)
      registry["spec{kind}"] = nil
      assert.same({ "spec:close_it" }, got)
    end)

  it("is the field, the variable or the method by which it was called",
    function()
      local t = { field = quiet, other = exported }
      assert.same({ "field" }, names(function() t.field() end))
      assert.same({ "other" }, names(function() t:other() end))
      assert.same({ "exported" }, names(function() exported() end))
    end)

  it("is its symbol or its place in the library, if nothing holds it",
    function()
      local f, g = quiet, exported
      local got = names(function()
        local own, symbol = f, g
        own()
        symbol()
      end)
      assert.matches("^spec_host%.so%+0x%x+$", got[1])
      assert.equal("spec_host.so: spec_host_exported", got[2])
    end)

  it("has the library where the kind of call alone is known", function()
    local t = setmetatable({}, { __index = quiet })
    assert.same({ "spec_host.so: __index" }, names(function()
      return t.x
    end))
    assert.same({ "spec_host.so: for iterator" }, names(function()
      for _ in quiet do end
    end))
  end)

  it("is a number where nothing at all is known", function()
    assert.equal("(C function 7)", name.of { kind = "C", id = 7, called = "",
      how = "", code = "" })
  end)

  it("is that of the path after the program has forgotten the module's copy",
    function()
      local p = helper.record(function()
        local own = quiet
        own()
        package.loaded["spec.c"] = { echo = own }
      end)
      package.loaded["spec.c"] = nil
      assert.is_truthy(helper.named(p, "spec.c.echo"))
    end)
end)

-- Each of these raises an error. debug.getinfo names a message handler after
-- the operation that failed.
local failures = {
  function(x) x() end,
  function(x) x.y() end,
  function(x) x.y = 1 end,
  function(x) return x .. "" end,
  function(x) return x + 1 end,
  function(x) return {} < 1, x end,
  function(x) return #x end,
  function(x) for _ = 1, x do end end,
  function() error "e" end,
  function() error() end,
  function() assert(false) end,
  function() ("x"):rep() end,
  function() table.sort({ 1, 2 }, function() error "e" end) end,
  function() return setmetatable({}, { __index = error }).x end,
  function() return setmetatable({}, { __index = function(x) x() end }).x end,
  function() local _ <close> = setmetatable({}, { __close = error }) end,
  function() coroutine.wrap(error)() end,
  function() require "spec.no such module" end,
}

describe("a message handler", function()
  it("in C has a name of its own, whatever has failed", function()
    for i, fails in ipairs(failures) do
      local p, ok = helper.record(function()
        local handler = quiet
        return xpcall(fails, handler)
      end)
      assert.is_false(ok)
      assert.equal(1, helper.named(p, "message handler").calls, i)
    end
  end)

  it("in C is known also if it was called by itself before", function()
    local p = helper.record(function()
      local t = { handle = quiet }
      t.handle()
      xpcall(error, quiet)
    end)
    assert.equal(2, helper.named(p, "handle").calls)
  end)

  it("in Lua has the name of its definition", function()
    local function handler() end
    for i, fails in ipairs(failures) do
      local p = helper.record(function()
        xpcall(fails, handler)
        xpcall(fails, function() end)
      end)
      local line = debug.getinfo(1, "l").currentline - 2
      assert.equal(1, helper.named(p, "handler").calls, i)
      assert.equal(1, helper.named(p, ("<fn:%d>"):format(line)).calls, i)
    end
  end)

  it("without any text has the name of one", function()
    local handler = load("return function() end", "=no text")()
    local p = helper.record(function()
      xpcall(function(x) return x + 1 end, (handler))
    end)
    assert.is_truthy(helper.named(p, "message handler"))
  end)

  it("of the interpreter has the name of one", function()
    local folder <close> = require "command".folder()
    for i, code in ipairs { "local x x()", "x.y = 1", "error 'e'",
      "assert(false)", "('x'):rep()" } do
      local path = folder:file(i .. ".cprof")
      local _, _, status = require "command".cprof("run", "-o", path, "-e",
        code)
      assert.equal(1, status)
      local p = assert(require "cprof".load(path))
      assert.equal(1, helper.named(p, "message handler").calls, code)
    end
  end)
end)

describe("titles", function()
  it("have the name, the file and the line", function()
    local function titled() end
    local p = helper.record(function() titled() end)
    local fn = helper.find(p, titled)
    assert.equal(("titled (spec/names_spec.lua:%d)"):format(fn.line),
      fn.title)
    assert.equal("type ([C])", helper.named(helper.record(function()
      type(1) end), "type").title)
  end)

  it("have paths relative to the folder of the program", function()
    for source, place in pairs {
      ["@/home/me/a/b.lua"] = "a/b.lua", ["@a/b.lua"] = "a/b.lua",
      ["@./a/b.lua"] = "a/b.lua", ["@.//teal.lua"] = "teal.lua",
      ["@././/./teal.lua"] = "teal.lua", ["@a//b/./c.lua"] = "a/b/c.lua",
      ["@/home/me//./x.lua"] = "x.lua", ["@/home/mex/a.lua"] =
      "/home/mex/a.lua", ["@/else/where.lua"] = "/else/where.lua",
      ["@../x.lua"] = "../x.lua", ["@.hidden.lua"] = ".hidden.lua",
      ["=./x"] = "./x",
      -- a host may leave out the "@"; code never begins so
      ["/home/me/a.lua"] = "a.lua", ["/a\nb"] = '[string "/a"]',
    } do
      assert.equal(place, name.place(source, "/home/me"))
    end
    assert.equal("/home/me/x.lua", name.place("@/home/me/x.lua", "/"))
    local pwd = os.getenv "PWD"
    assert.equal("a/b.lua", name.place("@" .. pwd .. "/a/b.lua"))
    assert.equal(pwd .. "x/a.lua", name.place("@" .. pwd .. "x/a.lua"))
  end)
end)
