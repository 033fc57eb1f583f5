local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local command = require "command"
local helper = require "helper"
local name = require "cprof.source.name"
local patterns = require "cprof.text.patterns"

local function matches(text, s) return patterns.new(text):matches(s) end

describe("a text that chooses", function()
  it("is a part of what it chooses, as it stands", function()
    assert.is_true(matches("my-game", "lib/my-game/main.lua"))
    assert.is_false(matches("my-game", "lib/mygame/main.lua"))
    assert.is_true(matches("a.b", "a.b"))
    assert.is_false(matches("a.b", "axb"))
    assert.is_true(matches("x[", "t.x[1]"))
    assert.is_true(matches("%", "100 %"))
    assert.is_false(matches("^a", "a"))
    assert.is_true(matches("/usr", "/usr/share"))
    for _, text in ipairs { "", "/", "//" } do
      assert.is_true(matches(text, "a//b"))
    end
  end)

  it("is a Lua pattern between slashes", function()
    assert.is_true(matches("/^src/.*%.lua$/", "src/a/b.lua"))
    assert.is_false(matches("/^src/.*%.lua$/", "lib/src/b.lua"))
    assert.is_true(matches("/%a+ %(/", "main (x.lua:1)"))
  end)

  it("may be a path between slashes", function()
    assert.is_true(matches("/usr/share/", "usr/share/lua"))
    assert.is_true(matches("/my-game/", "my-game/main.lua"))
    assert.is_true(matches("/c++/", "lib/c++/main.lua"))
  end)

  it("chooses sources by the path that reports show, and by all of it",
    function()
      local here = os.getenv "PWD"
      local own = "@" .. here .. "/src/main.lua"
      local function passes(text, source, title)
        return patterns.new(text):passes(source, name.place(source), title)
      end
      assert.is_true(passes("/^src/", own))
      assert.is_true(passes(here, own))
      assert.is_true(passes("/^/.*main%.lua$/", own))
      assert.is_false(passes("main (", own))
      assert.is_true(passes("main (", own, "main (src/main.lua:1)"))
      assert.is_true(passes("chunk", "=chunk"))
      assert.is_false(passes("=chunk", "=chunk"))
    end)

  it("is refused where Lua would refuse it, whatever it is matched with",
    function()
      local pieces = { "a", "b", "%", "[", "]", "^", "$", "(", ")", "-", "*",
        "+", "?", ".", "%a", "%b", "%f", "%1", "%2", "[%", "[^", "()" }
      local subjects = { "", "a", "ab", "aabb", "a]b", "(a)", "%a1[", "ba" }
      local seed = 1
      local function random(n)
        seed = seed * 1103515245 + 12345 & 0x7fffffff
        return (seed >> 16) % n + 1
      end
      local valid, refused = 0, 0
      for _ = 1, 20000 do
        local text = {}
        for i = 1, random(6) do text[i] = pieces[random(#pieces)] end
        local pattern = table.concat(text)
        local known, why = patterns.new("/" .. pattern .. "/")
        for _, s in ipairs(subjects) do
          local ok, message = pcall(string.find, s, pattern)
          if known then assert(ok, pattern .. ": " .. tostring(message)) end
        end
        if known then valid = valid + 1 else refused = refused + 1 end
        assert(known or type(why) == "string")
      end
      assert.is_true(valid > 5000 and refused > 5000)
    end)

  it("is never too complex for what it is matched with", function()
    local long = ("a"):rep(1000)
    for _, item in ipairs { "a?", "a*", "a-", "()", "(a)", ".-a" } do
      for n = 1, 400 do
        local known = patterns.new("/" .. item:rep(n) .. "/")
        if known then assert.is_true(known:matches(long)) end
      end
    end
    assert.is_nil(patterns.new("/" .. ("a?"):rep(400) .. "/"))
  end)
end)

describe("a pattern that is not valid", function()
  it("is an error before the program runs", function()
    for _, option in ipairs { "--include=/x[/", "--exclude=/(/",
      "--lines=/%/", "--count=/)/", "--coverage=/%f/" } do
      local err = command.refused("run", option, "-e", "print 'ran'")
      assert.matches("^cprof run: option '%-%-%l+' must be a string, or a " ..
        "Lua pattern between slashes %([^\n]+%), got '/.*/'; [^\n]+\n$", err)
    end
  end)

  it("is one of the library's options", function()
    for _, option in ipairs { "include", "exclude", "lines" } do
      local why = helper.failure(profiler.start, { mode = "line",
        [option] = { "x[", "/x[/" } })
      assert.has_text("start: option '" .. option .. "' must be a list of " ..
        "strings, or of Lua patterns between slashes; in \"/x[/\", missing " ..
        "']', got { \"x[\", \"/x[/\" }", why)
    end
    local p = helper.record(function() end)
    assert.has_error(function() p:report { filter = "/x[/" } end,
      "report: option 'filter' must be a string, or a Lua pattern between " ..
      "slashes (missing ']'), got \"/x[/\"")
  end)
end)

describe("cprof run --include", function()
  local program = [[
local game = {}
function game.step() return #("x"):rep(3) end
for _ = 1, 5 do game.step() end
]]

  it("takes the name of a folder with a - in it", function(dir)
    os.execute("mkdir " .. dir:file "my-game")
    local script = dir:file("my-game/main.lua", program)
    for _, text in ipairs { "my-game", "/my-game/", "/my%-game/",
      dir.path .. "/my-game/" } do
      local path = dir:file "x.cprof"
      local _, err = command.cprof("run", "--include=" .. text, "-o", path,
        script)
      assert.has_no_text("string.rep", err)
      local out = command.cprof("report", "--min-percent=0", path)
      assert.matches("\n[^\n]* 5  game%.step ", out)
      assert.has_no_text("string.rep", out)
    end
  end)

  it("says what matched nothing, with --quiet, too", function(dir)
    local script = dir:file("main.lua", program)
    local note = "note: no function matches include 'my-gmae'; there are: "
    local _, err = command.cprof("run", "--include", "my-gmae", script)
    assert.has_text(note, err)
    _, err = command.cprof("run", "--quiet", "--include", "my-gmae", script)
    assert.matches("^cprof run: no function matches include 'my%-gmae'; " ..
      "there are: [^\n]*\n$", err)
    -- the interpreter's own functions have no names in a stripped program
    assert.has_no_text("+0x", err)
    _, err = command.cprof("run", "--quiet", "--include", "game.step", script)
    assert.equal("", err)
  end)

  it("chooses what report --filter does", function(dir)
    local script, file = dir:file("main.lua", program), dir:file "x.cprof"
    command.cprof("run", "-o", file, script)
    for text, count in pairs { ["game."] = 1, ["/^game%./"] = 1,
      ["ame.step"] = 1, ["/^ame/"] = 0, ["main.lua"] = 2, ["[C]"] = 2 } do
      local out = command.cprof("report", "--mode=self", "--filter=" .. text,
        "--min-percent=0", file)
      local rows = select(2, out:gsub("\n *[<%d][^\n]* %d+  %g+ ", ""))
      assert.equal(count, rows, text .. "\n" .. out)
    end
  end)
end)
