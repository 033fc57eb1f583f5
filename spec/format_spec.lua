local _ENV = require("helper").env(_ENV)

local format = require "cprof.format"

describe("figures", function()
  it("of time have three digits and a unit", function()
    for ns, s in pairs {
      [0] = "0ns", [7] = "7ns", [999] = "999ns", [1000] = "1.00µs",
      [1234] = "1.23µs", [12345] = "12.3µs", [123456] = "123µs",
      [999499] = "999µs", [999500] = "1.00ms", [9994999] = "9.99ms",
      [9995000] = "10.0ms", [45000000] = "45.0ms", [999499999] = "999ms",
      [999500000] = "1.00s", [11200000000] = "11.2s",
      [1234000000000] = "1234s",
    } do
      assert.equal(s, format.time(ns))
    end
  end)

  it("of counts have their thousands apart", function()
    for n, s in pairs { [0] = "0", [999] = "999", [1000] = "1,000",
      [1234567] = "1,234,567", [-1234] = "-1,234", [100000] = "100,000",
      [math.maxinteger] = "9,223,372,036,854,775,807" } do
      assert.equal(s, format.count(n))
    end
  end)

  it("of shares have one decimal", function()
    assert.equal("33.3", format.percent(1, 3))
    assert.equal("100.0", format.percent(5, 5))
    assert.equal("0.0", format.percent(0, 0))
  end)
end)

describe("columns", function()
  it("are as wide as they look", function()
    assert.equal(5, format.width "876µs")
    assert.equal(3, format.width "\27[31mred\27[0m")
    assert.equal(2, format.width "\xff\xfe")
  end)

  it("are cut in the middle when too wide", function()
    assert.equal("short", format.cut("short", 5))
    assert.equal("/usr…le.lua:7", format.cut("/usr/share/lua/file.lua:7", 13))
    assert.equal("…", format.cut("long", 1))
    assert.equal("ä…öü", format.cut("äaaaaaöü", 4))
    assert.equal("\xff…\xfe\xfd", format.cut("\xffaaaa\xfe\xfd", 4))
  end)

  it("are cut between folders when they are paths", function()
    local path = "/usr/share/lua/5.1/luacheck/lexer.lua:98"
    for width, s in pairs {
      [40] = path, [39] = "/usr/…/lua/5.1/luacheck/lexer.lua:98",
      [36] = "/usr/…/lua/5.1/luacheck/lexer.lua:98",
      [35] = "/usr/…/5.1/luacheck/lexer.lua:98",
      [31] = "/usr/…/luacheck/lexer.lua:98", [20] = "/usr/…/lexer.lua:98",
      [19] = "/usr/…/lexer.lua:98", [18] = "…/lexer.lua:98",
      [12] = "/us…ua:98" and format.cut(path, 12),
    } do
      assert.equal(s, format.cutpath(path, width))
    end
    assert.equal("no…path", format.cutpath("nothing of a path", 7))
  end)

  it("are aligned, and fit the width", function()
    local columns = { { title = "n" },
      { title = "what", left = true, least = 6 },
      { title = "where", left = true, least = 8 } }
    local rows = { { "1.0µs", "a", "here" },
      { "10", "long name of it",
        { "/a/very/long/path/to/a/file.lua", "dim" } } }
    local plain = format.table(columns, rows, 200, format.paint(false))
    assert.same({
      "    n  what             where",
      "1.0µs  a                here",
      "   10  long name of it  /a/very/long/path/to/a/file.lua" }, plain)
    for width = 25, 60 do
      for _, line in ipairs(format.table(columns, rows, width,
        format.paint(true))) do
        assert.is_true(format.width(line) <= width)
      end
    end
  end)

  it("are not spoiled by control characters", function()
    assert.equal("a\\10b\\27[31m", format.plain "a\nb\27[31m")
  end)
end)
