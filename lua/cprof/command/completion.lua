-- cprof completion: what a shell needs to complete commands and options.

local input = require "cprof.command.input"

local completion = {
  name = "completion",
  summary = "Print a completion script for bash, zsh or fish.",
  description = "Print a completion script. bash: source it, or save it " ..
    "as ~/.local/share/bash-completion/completions/cprof. zsh: save it as " ..
    "_cprof in a folder of $fpath. fish: save it as " ..
    "~/.config/fish/completions/cprof.fish.",
  example = "cprof completion bash",
}

function completion.define(parser)
  parser:argument("SHELL", "bash, zsh or fish."):target "shell"
    :choices { "bash", "zsh", "fish" }
end

function completion.call(parsed, fail, parser)
  local root = parser()
  input.print(root["get_" .. parsed.shell .. "_complete"](root), fail)
end

return completion
