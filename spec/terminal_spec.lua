local _ENV = require("helper").env(_ENV)

local command = require "command"

-- what a piece of code says with what the command has for terminals
local function said(code, on_terminal)
  local line = "env -u LC_ALL LANG=C.UTF-8 lua5.4 -e " .. command.quote(
    'local terminal = require "cprof.command.terminal" ' .. code)
  if on_terminal then
    line = command.on_terminal(line)
    if not line then return nil end
  end
  local out, err = command.shell(line)
  return on_terminal and out or err
end

describe("progress", function()
  local long = [[
    local progress = terminal.progress("loading x", true)
    progress()]]
  local slow = [[
    local progress = terminal.progress "exporting"
    progress "0 MB"
    local start = os.clock()
    while os.clock() - start < 0.4 do end
    progress "1 MB"
    progress "2 MB"
    progress()]]

  it("is shown on a terminal when work is long, and then gone", function()
    if not said("", true) then
      pending "no terminal can be had here"
      return
    end
    assert.equal("loading x\r\27[K", said(long, true))
    assert.equal("\r\27[Kexporting 1 MB\r\27[K", said(slow, true))
  end)

  it("is not shown elsewhere", function()
    assert.equal("", said(long))
    assert.equal("", said(slow))
  end)
end)

describe("a word for a shell", function()
  it("comes out as it went in", function()
    for _, word in ipairs { "plain", "a b", "it's", "$x `y` \"z\"", "*", "",
      "a\nb", "(anonymous) (a.lua:3)" } do
      local out = said(("io.stderr:write(terminal.quote(%q))"):format(word))
      assert.equal(word, (command.shell("printf %s " .. out)))
    end
  end)
end)
