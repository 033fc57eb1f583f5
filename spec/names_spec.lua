local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local name = require "cprof.name"

-- names of the functions that `f` calls, in the order of the calls
local function names(f)
  local out = {}
  for line in helper.shape(f):gmatch "[^\n]+" do
    if line:sub(1, 1) ~= " " then out[#out + 1] = line:match "^(.-) %d+$" end
  end
  return out
end

describe("the name of a function", function()
  it("is what its definition says", function()
    local Account = { sub = {} }
    function Account:deposit() end
    function Account.open() end
    function Account.sub.deep() end
    Account.field = function() end
    Account["quoted"] = function() end
    Account["function"] = function() end
    local t = { key = function() end }
    local function plain() end
    local assigned = function() end
    assert.same({ "Account:deposit", "Account.open", "Account.sub.deep",
      "Account.field", "quoted", "function", "key", "plain", "assigned" },
      names(function()
        Account:deposit() Account.open() Account.sub.deep() Account.field()
        Account.quoted() Account["function"]() t.key() plain() assigned()
      end))
  end)

  it("is the name at the first call where the definition has none", function()
    local fs = { (function() return 1 end) }
    local given = fs[1]
    local function apply(f)
      local r = f(2)
      return r
    end
    assert.same({ "given" }, names(function() given() end))
    local tree = helper.shape(function()
      apply(function() end)
    end)
    assert.equal("apply 1\n  f 1", tree)
  end)

  it("is (anonymous) where nobody has one", function()
    assert.same({ "(anonymous)" }, names(function()
      (function() return 1 end)()
    end))
  end)

  it("is the path under package.loaded for the libraries", function()
    assert.same({ "string.rep", "table.insert", "math.floor", "type",
      "string.upper", "coroutine.isyieldable" }, names(function()
        local s = "x"
        string.rep("x", 1) table.insert({}, 1) math.floor(1.5) type(1)
        s:upper() coroutine.isyieldable()
      end))
  end)

  it("is the path of a module for its functions", function()
    local module = {}
    function module.exported() end
    local function private() end
    module.alias = private
    package.loaded["cprof.spec.module"] = module
    local got = names(function() module.exported() module.alias() end)
    package.loaded["cprof.spec.module"] = nil
    assert.same({ "cprof.spec.module.exported", "cprof.spec.module.alias" },
      got)
  end)

  it("is the module's for methods of its objects, too", function()
    assert.same({ "FILE*:seek" }, names(function() io.stdout:seek() end))
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

  it("of a metamethod without a definition's name is the event's", function()
    local handlers = { (function() return 1 end) }
    local t = setmetatable({}, { __index = handlers[1] })
    assert.same({ "__index" }, names(function() return t.x end))
  end)

  it("of iterators tells whose they are", function()
    local p = helper.record(function()
      for _ in ipairs { 1 } do end
      for _ in pairs { 1 } do end
      for _ in ("x"):gmatch "x" do end
    end)
    assert.is_truthy(helper.named(p, "ipairs iterator"))
    assert.is_truthy(helper.named(p, "next"))
    assert.is_truthy(helper.named(p, "string.gmatch iterator"))
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

  it("have paths relative to the current folder", function()
    local pwd = os.getenv "PWD"
    assert.equal("a/b.lua", name.place("@" .. pwd .. "/a/b.lua"))
    assert.equal("a/b.lua", name.place "@./a/b.lua")
    assert.equal("/else/where.lua", name.place "@/else/where.lua")
    assert.equal(pwd .. "x/a.lua", name.place("@" .. pwd .. "x/a.lua"))
  end)
end)
