local _ENV = require("helper").env(_ENV)

local format = require "cprof.text.format"
local tables = require "cprof.text.tables"

describe("columns of a table", function()
  it("are left out where all of their cells are empty", function()
    local columns = { { title = "n" }, { title = "calls", optional = true },
      { title = "line", optional = true } }
    assert.same({ "n  line", "1     7", "2" }, tables.lines(columns,
      { { "1", "-", "7" }, { "2", { "", "dim" }, "" } }, 80,
      format.paint(false)))
  end)

  it("are aligned, and fit the width", function()
    local columns = { { title = "n" },
      { title = "what", left = true, least = 6 },
      { title = "where", left = true, least = 8 } }
    local rows = { { "1.0µs", "a", "here" },
      { "10", "long name of it",
        { "/a/very/long/path/to/a/file.lua", "dim" } } }
    local plain = tables.lines(columns, rows, 200, format.paint(false))
    assert.same({
      "    n  what             where",
      "1.0µs  a                here",
      "   10  long name of it  /a/very/long/path/to/a/file.lua" }, plain)
    for width = 25, 60 do
      for _, line in ipairs(tables.lines(columns, rows, width,
        format.paint(true))) do
        assert.is_true(format.width(line) <= width)
      end
    end
  end)

  it("with figures are left out before names are cut", function()
    local columns = { { title = "self" }, { title = "calls", rank = 1 },
      { title = "total", rank = 2 },
      { title = "name", left = true, least = 8 } }
    local rows = { { "12ms", "1,234", "56ms", "lexer.lex_all" } }
    local function at(width)
      return tables.lines(columns, rows, width, format.paint(false))
    end
    for width, expected in pairs {
      [200] = "12ms  1,234   56ms  lexer.lex_all",
      [28] = "12ms  1,234   56ms  le…x_all",
      [27] = "12ms  1,234  lexer.lex_all",
      [20] = "12ms  lexer.lex_all",
      [12] = "12ms  le…x_all" } do
      assert.equal(expected, at(width)[2], width)
    end
  end)

  it("may be a megabyte wide", function()
    local wide = ("x"):rep(1 << 20)
    local lines = tables.lines({ { title = "name", left = true },
      { title = "note", left = true } },
      { { wide, "a" }, { "short", "" }, { "b", "c" } }, math.huge,
      format.paint(false))
    assert.equal("short", lines[3])
    assert.equal(#wide + 3, #lines[2])
    assert.equal(#wide + 3, #lines[4])
  end)
end)
