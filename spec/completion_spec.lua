local _ENV = require("helper").env(_ENV)

local command = require "command"

describe("cprof completion", function()
  local function script(shell)
    local out, err, status = command.cprof("completion", shell)
    assert.equal("", err)
    assert.equal(0, status)
    assert.is_truthy(out:find("annotate", 1, true))
    assert.is_truthy(out:find("min-percent", 1, true))
    assert.is_nil(out:find("after-signal", 1, true))
    return out
  end

  it("makes bash complete commands and options", function()
    local dir <close> = command.folder()
    local path = dir:file("cprof.bash", script "bash")
    local function complete(words, at)
      return (command.shell(([[bash -c 'source %s
        COMP_WORDS=(%s) COMP_CWORD=%d
        COMP_LINE="%s" COMP_POINT=${#COMP_LINE}
        _cprof; echo "${COMPREPLY[@]}"']]):format(path, words, at, words)))
    end
    assert.equal("annotate\n", complete("cprof ann", 1))
    assert.is_truthy(complete("cprof diff --so", 2):find("--sort", 1, true))
    assert.equal("reports report\n", complete("cprof help repor", 2))
    assert.equal("merge\n", complete("cprof help mer", 2))
    assert.equal("fish\n", complete("cprof completion f", 2))
  end)

  it("has scripts for zsh and fish", function()
    assert.is_truthy(script "zsh":find("#compdef cprof", 1, true))
    assert.is_truthy(script "fish":find("complete -c cprof", 1, true))
  end)

  it("knows the topics and commands of help, and the shells", function()
    local bash, zsh, fish = script "bash", script "zsh", script "fish"
    local words = table.concat(require "cprof.help".topics(), " ") .. " run "
    assert.is_truthy(bash:find("'help'%)\n[^\n]*\"" .. words))
    assert.is_truthy(bash:find("'completion'%)\n[^\n]*\"bash zsh fish\""))
    assert.is_truthy(zsh:find('\n    help%).-": :%(' .. words))
    assert.is_truthy(zsh:find('\n    completion%).-": :%(bash zsh fish%)'))
    assert.is_truthy(fish:find("_seen_command help' %-xa '" .. words))
    assert.is_truthy(fish:find(
      "_seen_command completion' -xa 'bash zsh fish'", 1, true))
  end)

  it("names the shells that it knows", function()
    local _, err, status = command.cprof("completion", "tcsh")
    assert.equal(2, status)
    assert.is_truthy(err:find("'bash', 'zsh', 'fish'", 1, true), err)
  end)
end)

describe("negative numbers", function()
  it("are values of options", function()
    local _, err, status = command.cprof("report", "--limit", "-5", "x")
    assert.equal(2, status)
    assert.is_truthy(err:find("option '--limit' must be an integer of at " ..
      "least 1, got '-5'", 1, true), err)
  end)
end)
