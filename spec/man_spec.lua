local _ENV = require("helper").env(_ENV)

local command = require "command"

local characters = { aq = "'", ga = "`", ha = "^", ti = "~", dq = '"' }

-- the words of a manual page, without what is for roff
local function words_of(page)
  return (page:gsub("\n%.%u%u? ?", "\n"):gsub("\n%.%l+", "\n")
    :gsub("\\%[u(%x+)%]", function(code)
      return utf8.char(tonumber(code, 16))
    end):gsub("\\%((%l%l)", characters)
    :gsub("\\([e&-])", { e = "\\", ["&"] = "", ["-"] = "-" })
    :gsub("%s+", " "))
end

local function page()
  local out, err = command.must("help", "--man")
  assert.equal("", err)
  return out
end

describe("the manual page", function()
  it("has all that --help prints, of each command", function()
    local words = words_of(page())
    local all = command.cprof("--help")
    local count = 0
    for name in all:match "\nCommands:\n(.-)\n\n":gmatch "\n?   (%l+) " do
      local help = command.cprof(name, "--help"):gsub("^Usage: ", "")
        :gsub("%s+", " ")
      assert.has_text(("cprof %s %s"):format(name, help), words, name .. ": " ..
        help)
      count = count + 1
    end
    assert.is_true(count > 15)
    assert.has_text(all:gsub("^Usage: ", ""):match "^[^\n]*", words)
    assert.has_text("Exit statuses of commands:", words)
  end)

  it("is in ASCII, whatever the locale, and roff knows what it says",
    function(dir)
      local out = page()
      assert.no_matches("[\x80-\xff]", out)
      assert.equal(out, (command.shell("LC_ALL=C $SPEC_LUA " ..
        "lua/cprof/bin/cprof help --man")))
      if not os.execute "command -v groff >/dev/null" then return end
      local shown, err = command.shell(("groff -man -ww -Tutf8 '%s' 2>&1 " ..
        ">/dev/null"):format(dir:file("cprof.1", out)))
      assert.equal("", shown .. err)
    end)
end)
