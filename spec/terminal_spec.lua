local _ENV = require("helper").env(_ENV)

local command = require "command"

-- what a piece of code says with what the command has for terminals
local function said(code, on_terminal)
  local line = "env -u LC_ALL LANG=C.UTF-8 $SPEC_LUA -e " .. command.quote(
    'local terminal = require "cprof.system.terminal" ' .. code)
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
    local now = 0
    os.clock = function() return now end
    local progress = terminal.progress "exporting"
    progress "0 MB"
    now = 0.4
    progress "1 MB"
    progress "2 MB"
    progress()]]

  it("is shown on a terminal when work is long, and then gone", function()
    if not said("", true) then
      pending "no terminal can be had here"
      return
    end
    assert.equal("\r\27[Kloading x\r\27[K", said(long, true))
    assert.equal("\r\27[Kexporting 1 MB\r\27[K", said(slow, true))
  end)

  it("is not shown elsewhere", function()
    assert.equal("", said(long))
    assert.equal("", said(slow))
  end)
end)

describe("a command that reads big files", function()
  -- a profile's file with twice the size: zeros follow
  local dir = command.folder()
  local path = dir:file "big.cprof"
  setup(function()
    local _, err, status = command.cprof("run", "--quiet", "-o", path, "-e",
      "string.rep('x', 1)")
    assert(status == 0, err)
    assert(os.execute(("truncate -s 40000000 '%s'"):format(path)))
  end)
  teardown(function() os.execute("rm -r '" .. dir.path .. "'") end)

  local loading = "\r\27[Kloading " .. path .. "\r\27[K"

  it("shows what it does on a terminal, and leaves nothing there", function()
    local shown = {
      [{ "report", "--mode=self", path }] = loading,
      [{ "merge", "-o", dir:file "sum.cprof", path, path }] =
        loading .. loading .. "\r\27[Kmerging\r\27[K",
      [{ "export", "--format=csv", "-o", dir:file "x.csv", path }] = loading,
    }
    for words, wanted in pairs(shown) do
      local line = command.on_terminal(command.line(table.unpack(words)))
      if not line then
        pending "no terminal can be had here"
        return
      end
      local out, err, status = command.shell(line)
      assert.equal(0, status, err)
      assert.equal(wanted, out:sub(1, #wanted))
      if words[1] ~= "report" then assert.equal(wanted, out) end
      out, err = command.must(table.unpack(words))
      assert.has_no_text("\r", out .. err)
    end
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
