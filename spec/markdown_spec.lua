local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local markdown = require "cprof.text.markdown"
local profiler = require "cprof"
local steady = require "steady"

local function leaf(n) for _ = 1, n do end end
local function work() for i = 1, 50 do leaf(i * 100) end end

-- the profile of a program like this, by a clock of its own
local function recorded(dir, turns, mode)
  local path = dir:file("x.lua", [[
    local turns, pass = ...
    local function leaf(n) for _ = 1, n do pass(1) end end
    local function work() for i = 1, 5 do leaf(i) end end
    for _ = 1, turns do work() end]])
  return steady.record(("assert(loadfile %q)(%d, pass)"):format(path, turns),
    ("mode = %q"):format(mode)), path
end

-- the tables of a text, each as { titles, rows of cells }
local function tables(s)
  local out, current = {}, nil
  for line in s:gmatch "([^\n]*)\n" do
    if line:sub(1, 2) == "| " then
      local cells = {}
      for cell in line:sub(2):gsub("\\|", "\1"):gmatch " (.-) |" do
        cells[#cells + 1] = (cell:gsub("\1", "|"))
      end
      if not current then
        current = {}
        out[#out + 1] = current
      end
      current[#current + 1] = cells
    else
      current = nil
    end
  end
  return out
end

describe("Markdown", function()
  it("is tables whose rows have the same cells", function()
    local p = helper.record(work, { callsites = true })
    for _, mode in ipairs { "summary", "self", "total", "file" } do
      local s = p:report { mode = mode, format = "markdown",
        color = "always", min_percent = 0 }
      assert.matches("^### cprof: `[^\n]*`\n\n%- [^\n]* wall: ", s)
      assert.has_no_text("\27", s)
      local all = tables(s)
      assert.equal(1, #all, s)
      for _, row in ipairs(all[1]) do
        assert.equal(#all[1][1], #row, s)
      end
      -- a rule below the titles, and an empty line before them
      for _, cell in ipairs(all[1][2]) do
        assert.is_truthy(cell == "--:" or cell == ":--", cell)
      end
      assert.has_text("\n\n| ", s)
      assert.has_text("`leaf`", s)
    end
  end)

  it("has trees and sources as they are, in fences", function(dir)
    local p, here = recorded(dir, 1, "line")
    for _, s in ipairs { p:report { format = "markdown" },
      p:report { mode = "tree", format = "markdown" },
      p:report { mode = "callgraph", format = "markdown" },
      p:annotate(nil, { format = "markdown" }),
      p:annotate("@" .. here, { format = "markdown" }) } do
      local _, fences = s:gsub("%f[^\n\0]```\n", "")
      assert.is_true(fences > 0 and fences % 2 == 0, s)
      assert.is_truthy(s:match "\n```\n.-\n```\n":find("leaf", 1, true) or
        s:find("for _ = 1, n do pass(1) end", 1, true), s)
    end
    -- no line is cut for a terminal
    local text = "a comment that is long: " .. ("long "):rep(50) .. "end"
    local path = dir:file("y.lua",
      ("for _ = 1, 1000 do end -- %s\n"):format(text))
    p = helper.record(assert(loadfile(path)), { mode = "line" })
    local s = p:annotate("@" .. path, { format = "markdown" })
    assert.has_text(text, s)
  end)

  it("is what commands print, also for a function and for differences",
    function(dir)
      local path = dir:file "x.cprof"
      assert(recorded(dir, 1, "line"):save(path))
      local p = assert(profiler.load(path))
      assert.equal(p:report { format = "markdown" },
        (command.cprof("report", "--format=markdown", path)))
      local out = command.cprof("show", "--format=markdown", path, "leaf")
      assert.matches("^### `leaf %([^\n]*%)`\n\n%- [^\n]* calls\n", out)
      assert.has_text("\n**called by**\n\n| total |", out)
      assert.equal("`work`", tables(out)[1][3][4])
      out = command.cprof("diff", "--format=markdown", path, path)
      assert.matches("^### cprof diff\n\n%- before: ", out)
      assert.has_text("\n- no function differs\n", out)
      local other = dir:file "y.cprof"
      assert(recorded(dir, 2, "call"):save(other))
      out = command.cprof("diff", "--format=markdown", path, other)
      local all = tables(out)
      assert.equal(1, #all)
      for _, row in ipairs(all[1]) do assert.equal(10, #row, out) end
      assert.has_text("\n- note: one was recorded with mode line", out)
    end)

  it("does not take names for markup", function()
    assert.equal("\\*a\\_b\\* \\<c\\> \\| \\`d\\`",
      markdown.escape "*a_b* <c> | `d`")
    assert.equal("`a_b`", markdown.code "a_b")
    assert.equal("`` a`b ``", markdown.code "a`b")
    local f = load("local function f() end f()", "=a|b")
    local p = helper.record(f)
    local all = tables(p:report { mode = "self", format = "markdown",
      min_percent = 0, limit = 1000 })
    local found
    for _, row in ipairs(all[1]) do
      found = found or row[#row] == "`a|b:1`"
      assert.equal(7, #row)
    end
    assert.is_true(found)
  end)
end)
