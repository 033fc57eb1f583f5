local _ENV = require("helper").env(_ENV)

local command = require "command"
local mostly = require "mostly"

-- a recording of a script in a folder whose name must be escaped in addresses
local function recorded(dir)
  local folder = dir.path .. "/a b#é"
  assert(os.execute(("mkdir '%s'"):format(folder)))
  local path = folder .. "/script.lua"
  command.write(path, mostly)
  local profile = dir.path .. "/x.cprof"
  command.must("run", "--quiet", "--lines", "-o", profile, path)
  return profile, folder:gsub(" ", "%%20"):gsub("#", "%%23"):gsub("é",
    "%%C3%%A9") .. "/script.lua"
end

-- what a command prints, with the environment of a terminal
local function printed(environment, ...)
  local out, err, status = command.cprof_with("unset TERM_PROGRAM; " ..
    environment, "", ...)
  assert.equal(0, status, err)
  return out
end

describe("links in reports", function()
  it("lead from places to files", function(dir)
    local profile, path = recorded(dir)
    for _, words in ipairs { { "report" }, { "tree" }, { "callgraph" },
      { "annotate", "--sort=self" }, { "annotate" },
      { "annotate", "script.lua" }, { "show", "leaf" } } do
      local name, option = words[1], words[2]
      local out = printed("", name, "--hyperlinks=always", profile, option)
      assert.has_text("\27]8;;file://" .. path .. "\27\\", out)
      -- without them, the text is as it always is
      local bare = out:gsub("\27%]8;;[^\27]*\27\\", "")
      assert.equal(printed("", name, profile, option), bare)
      assert.has_no_text("\27", bare)
    end
  end)

  it("lead to lines in terminals of VS Code", function(dir)
    local profile, path = recorded(dir)
    local out = printed("export TERM_PROGRAM=vscode;", "report",
      "--hyperlinks=always", profile)
    assert.has_text("\27]8;;vscode://file" .. path .. ":1\27\\", out)
  end)

  it("are not in files and pipes, nor in Markdown", function(dir)
    local profile = recorded(dir)
    assert.has_no_text("\27]8", printed("export WT_SESSION=1;", "report",
      profile))
    assert.has_no_text("\27]8", printed("", "report", "--hyperlinks=always",
      "--format=markdown", profile))
  end)

  it("are cut and padded as the text alone", function(dir)
    local profile = recorded(dir)
    local out = printed("", "report", "--mode=self", "--width=60",
      "--hyperlinks=always", profile)
    for line in out:gsub("\27%]8;;[^\27]*\27\\", ""):gmatch "[^\n]+" do
      assert.is_true(utf8.len(line) <= 60, line)
    end
  end)
end)
