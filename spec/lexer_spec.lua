local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local lexer = require "cprof.source.lexer"
local luafiles = require "luafiles"
local undump = require "undump"

-- kinds and texts, as one line
local function tokens(s)
  local t, out = lexer.tokens(s), {}
  for i = 1, t.n do
    out[i] = t.kind[i] == t.text[i] and t.text[i] or
      ("%s:%s"):format(t.kind[i], t.text[i])
  end
  return table.concat(out, " ")
end

-- the tokens, each at its line and column, and nothing else
local function placed(t)
  local out, line, column = {}, 1, 1
  for i = 1, t.n do
    if line < t.line[i] then
      out[#out + 1] = ("\n"):rep(t.line[i] - line)
      column = 1
    end
    assert(t.line[i] >= line and t.column[i] >= column, "tokens overlap")
    out[#out + 1] = (" "):rep(t.column[i] - column) .. t.text[i]
    line, column = lexer.last(t, i)
    column = column + 1
  end
  return table.concat(out)
end

describe("the lexer", function()
  it("reads what Lua reads, in all files that are here", function()
    local count = luafiles.each(function(path, text, chunk)
      local t = lexer.tokens(text)
      local rows = table.concat(t.text, "\n", 1, t.n)
      local again = assert(load(rows, "=rows"), path)
      assert(undump.code(chunk) == undump.code(again), path)
    end)
    assert.is_true(count > (helper.slow and 10 or 300))
  end)

  it("knows where the tokens are", function()
    luafiles.each(function(path, text, chunk)
      local again = assert(load(placed(lexer.tokens(text)), "@" .. path))
      assert(string.dump(chunk) == string.dump(again), path)
    end)
  end)

  it("tells kinds", function()
    assert.equal("local name:x = number:1 .. string:'a' ... // / => > >= " ..
      ":: : # name:end_ end",
      (tokens "local x = 1 .. 'a' ... // / => > >= :: : # end_ end"
        :gsub("= >", "=>")))
    assert.equal("number:0x.8p-3 number:3e+2 + number:1 .. number:.5 - " ..
      "number:0xe + number:1", tokens "0x.8p-3 3e+2 + 1 .. .5 - 0xe+1")
    assert.equal("[ [ name:x ] ] string:[[x]] string:[==[]]]==] [ =",
      tokens "[ [x] ] [[x]] [==[]]]==] [=")
  end)

  it("drops comments, the first line with # and a byte order mark", function()
    assert.equal("name:a name:b - name:c",
      tokens "a --[==[ x ]] \n ]==] b - c -- rest")
    assert.equal("name:a", tokens "\xEF\xBB\xBF#!/usr/bin/lua\na")
    assert.equal("", tokens "#!/usr/bin/lua")
    assert.equal(2, lexer.tokens("#!x\na").line[1])
  end)

  it("knows strings of several lines", function()
    local t = lexer.tokens "a = 'x\\\ny\\z  \n\n  z' .. [[\n\n]] b"
    assert.same({ 1, 1, 1, 4, 4, 6 }, t.line)
    assert.same({ 1, 3, 5, 6, 9, 4 }, t.column)
    assert.same({ 4, 4 }, { lexer.last(t, 3) })
    assert.same({ 6, 2 }, { lexer.last(t, 5) })
    assert.same({ 6, 4 }, { lexer.last(t, 6) })
  end)

  it("counts lines as Lua does, whatever ends them", function()
    for _, e in ipairs { "\n", "\r", "\r\n", "\n\r" } do
      local s = ("a %s%sb [[%s]] '\\%s' c"):gsub("%%s", e)
      assert.same({ 1, 3, 3, 4, 5 }, lexer.tokens(s).line)
    end
    assert.same({ 1, 3, 5 }, lexer.tokens("a\r\n\rb\n\nc").line)
  end)

  it("takes any bytes", function()
    assert.equal("junk:'x name:y", tokens "'x\ny")
    assert.equal('junk:"x\\', tokens '"x\\')
    assert.equal("junk:[[x ]", tokens "[[x ]")
    assert.equal("name:a", tokens "a --[[x ]")
    assert.equal("name:a junk:! junk:\xFF junk:\0 name:b", tokens "a!\xFF\0b")
    assert.equal("number:1x name:yz number:0x", tokens "1xyz 0x")
    local pieces = { "'", '"', "[[", "]]", "[=", "\\", "\n", "\r", "--", "--[[",
      "0x", "1e", "+", ".", "a", " ", "\0", "\xFF", "=", "~", "#", "\\z" }
    math.randomseed(1)
    for _ = 1, helper.many(20000) do
      local s = {}
      for i = 1, math.random(12) do s[i] = pieces[math.random(#pieces)] end
      s = table.concat(s)
      local t = lexer.tokens(s)
      -- each token is in the text, in this order
      local at = 1
      for i = 1, t.n do
        local first, last = s:find(t.text[i], at, true)
        assert(first and #t.text[i] > 0, s)
        at = last + 1
      end
    end
  end)
end)
