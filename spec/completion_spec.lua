local _ENV = require("helper").env(_ENV)

local command = require "command"

describe("cprof completion", function()
  local function script(shell)
    local out, err = command.must("completion", shell)
    assert.equal("", err)
    assert.has_text("annotate", out)
    assert.has_text("min-percent", out)
    assert.has_no_text("after-signal", out)
    return out
  end

  it("makes bash complete commands and options", function(dir)
    local path = dir:file("cprof.bash", script "bash")
    local function complete(words, at)
      return (command.shell(([[bash -c 'source %s
        COMP_WORDS=(%s) COMP_CWORD=%d
        COMP_LINE="%s" COMP_POINT=${#COMP_LINE}
        _cprof; echo "${COMPREPLY[@]}"']]):format(path, words, at, words)))
    end
    assert.equal("annotate\n", complete("cprof ann", 1))
    assert.has_text("--sort", complete("cprof diff --so", 2))
    assert.equal("reports report\n", complete("cprof help repor", 2))
    assert.equal("merge\n", complete("cprof help mer", 2))
    assert.equal("fish\n", complete("cprof completion f", 2))
  end)

  it("has scripts for zsh and fish", function()
    assert.has_text("#compdef cprof", script "zsh")
    assert.has_text("complete -c cprof", script "fish")
  end)

  it("knows the topics and commands of help, and the shells", function()
    local bash, zsh, fish = script "bash", script "zsh", script "fish"
    local words = table.concat(require "cprof.help".topics(), " ") .. " run "
    assert.matches("'help'%)\n[^\n]*\"" .. words, bash)
    assert.matches("'completion'%)\n[^\n]*\"bash zsh fish\"", bash)
    assert.matches('\n    help%).-": :%(' .. words, zsh)
    assert.matches('\n    completion%).-": :%(bash zsh fish%)', zsh)
    assert.matches("_seen_command help' %-xa '" .. words, fish)
    assert.has_text("_seen_command completion' -xa 'bash zsh fish'", fish)
  end)

  it("names the shells that it knows", function()
    local err = command.refused("completion", "tcsh")
    assert.has_text("'bash', 'zsh', 'fish'", err)
  end)
end)

describe("negative numbers", function()
  it("are values of options", function()
    local err = command.refused("report", "--limit", "-5", "x")
    assert.has_text("option '--limit' must be an integer of at least 1, got " ..
      "'-5'", err)
  end)
end)
