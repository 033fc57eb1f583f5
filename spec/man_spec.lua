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
  local out, err, status = command.cprof("help", "--man")
  assert.equal("", err)
  assert.equal(0, status)
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
      assert.is_truthy(words:find(("cprof %s %s"):format(name, help), 1, true),
        name .. ": " .. help)
      count = count + 1
    end
    assert.is_true(count > 15)
    assert.is_truthy(words:find(all:gsub("^Usage: ", ""):match "^[^\n]*", 1,
      true))
    assert.is_truthy(words:find("Exit statuses of commands:", 1, true))
  end)

  it("is in ASCII, whatever the locale, and roff knows what it says",
    function()
      local out = page()
      assert.is_nil(out:find "[\x80-\xff]")
      assert.equal(out, (command.shell("LC_ALL=C $SPEC_LUA " ..
        "lua/cprof/bin/cprof help --man")))
      if not os.execute "command -v groff >/dev/null" then return end
      local dir <close> = command.folder()
      local shown, err = command.shell(("groff -man -ww -Tutf8 '%s' 2>&1 " ..
        ">/dev/null"):format(dir:file("cprof.1", out)))
      assert.equal("", shown .. err)
    end)
end)
