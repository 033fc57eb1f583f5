local _ENV = require("helper").env(_ENV)

local format = require "cprof.text.format"
local tables = require "cprof.text.tables"

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

  it("stay with their units where a text is wrapped", function()
    for width = 12, 40 do
      for _, line in ipairs(format.wrap("other 50.7 %, string 49.3 %; one " ..
        "per 512 KB of it, 7 B", width)) do
        assert.is_nil(line:find "^%s*%%" or line:find "^%s*K?B%f[%W]", line)
      end
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

  it("are as wide as wide characters and marks take them", function()
    for s, width in pairs {
      ["解析"] = 4, ["ファイル.lua:1"] = 14, ["한글"] = 4, ["Ａ"] = 2,
      ["𠀀"] = 2, ["e\u{301}t\u{e9}"] = 3, ["→…µ×≥"] = 5, ["ﾌ"] = 1,
      ["😀"] = 2, ["\27[1m解\27[0m"] = 2, ["Ж"] = 1, ["か\u{3099}"] = 2,
    } do
      assert.equal(width, format.width(s), s)
    end
    assert.equal("解析  ", format.left("解析", 6))
    local rows = tables.lines({ { title = "function", left = true },
      { title = "n" } }, { { "解析", "1" }, { "e\u{301}", "2" },
      { "parse", "3" } }, math.huge, format.paint(false))
    for i = 2, 4 do assert.equal(11, format.width(rows[i])) end
  end)

  it("are never cut to more than the width, nor within a character",
    function()
      local s = "解析器のファイルe\u{301}読込"
      for _, cut in ipairs { "cut", "cutend", "cutstart", "cutname",
        "cutindent" } do
        for width = 1, format.width(s) do
          local short = format[cut](s, width)
          assert.is_true(format.width(short) <= width, short)
          assert.is_true(format.width(short) >= width - 1, short)
          assert.has_no_text("…\u{301}", short)
        end
        assert.equal(s, format[cut](s, format.width(s)))
      end
      assert.equal("解…e\u{301}読込", format.cut(s, 9))
      assert.equal("…読", format.cutstart("aae\u{301}読", 3))
      assert.equal("e\u{301}…", format.cutend("e\u{301}bc", 2))
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
      -- if the file's name is cut, its line number stays
      [12] = "…exer.lua:98",
    } do
      assert.equal(s, format.cutpath(path, width))
    end
    assert.equal("no…path", format.cutpath("nothing of a path", 7))
  end)

  it("are cut between modules when they are names", function()
    local name = "  luacheck.stages.resolve_locals.run"
    for width, s in pairs { [36] = name, [35] = "  …stages.resolve_locals.run",
      [22] = "  …resolve_locals.run", [20] = "  …run",
    } do
      assert.equal(s, format.cutname(name, width))
    end
    assert.equal("R…orts", format.cutname("Runner_add_reports", 6))
    assert.equal("/usr/…/main.lua",
      format.cutname("/usr/share/lua/main.lua", 15))
  end)

  it("are cut between calls when they are chains of these", function()
    local chain = "  main → require → a.b.run → parse"
    assert.equal(chain, format.cutchain(chain, 34))
    assert.equal("  main → … → a.b.run → parse",
      format.cutchain(chain, 33))
    assert.equal("  main → … → parse", format.cutchain(chain, 27))
    assert.equal("  … → parse", format.cutchain(chain, 17))
    assert.equal("…parse", format.cutchain(chain, 6))
    for width = 1, 40 do
      assert.is_true(format.width(format.cutchain(chain, width)) <= width)
    end
  end)

  it("lose their indentation before the name", function()
    assert.equal("      name", format.cutindent("      name", 10))
    assert.equal("   …name", format.cutindent("      name", 8))
    assert.equal("…name", format.cutindent("      name", 5))
    assert.equal("…aame", format.cutindent("   naaaame", 5))
  end)

  it("are not spoiled by control characters", function()
    assert.equal("a\\10b\\27[31m", format.plain "a\nb\27[31m")
  end)
end)

describe("the lines of a text", function()
  it("are no longer than the width", function()
    assert.same({ "one two" }, format.wrap("one two", 7))
    assert.same({ "one", "  two" }, format.wrap("one two", 6))
    assert.same({ "note: a", "  longer", "  one" },
      format.wrap("note: a longer one", 8))
  end)
end)

describe("a shade of heat", function()
  it("is hotter for more, in eight steps that halve", function()
    for step = 0, 7 do
      local style = format.heat(2560 >> step, 4096)
      assert.equal("heat" .. 8 - step, style)
    end
    assert.equal("heat8", format.heat(501, 1000))
    assert.equal("heat8", format.heat(7, 7))
    assert.is_nil(format.heat(1, 1000))
    assert.is_nil(format.heat(0, 1000))
    assert.is_nil(format.heat(0, 0))
  end)

  it("is one of 256 colours where the terminal has them, else of 16",
    function()
      local function codes(term, colorterm)
        local code = 'local f = require "cprof.text.format" ' ..
          'local p = f.paint(true) for i = 1, 8 do ' ..
          'io.write((p("heat" .. i, "x"):gsub("\\27", "")), " ") end'
        local pipe = io.popen(("env TERM=%s COLORTERM=%s $SPEC_LUA -e '%s'")
          :format(term, colorterm, code))
        local out, shades, count = pipe:read "a", {}, 0
        pipe:close()
        for shade in out:gmatch "%[([%d;]*)m" do
          if shade ~= "0" and not shades[shade] then
            shades[shade], count = true, count + 1
          end
        end
        return out:find("38;5;", 1, true) ~= nil, count
      end
      assert.same({ true, 8 }, { codes("xterm-256color", "") })
      assert.same({ true, 8 }, { codes("xterm", "truecolor") })
      assert.same({ false, 8 }, { codes("xterm", "") })
      assert.same({ false, 8 }, { codes("linux", "''") })
    end)
end)
