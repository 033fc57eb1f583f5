-- cprof completion: scripts for shells, to complete commands and options.

local help = require "cprof.help"
local input = require "cprof.command.input"

local completion = {
  name = "completion",
  summary = "Print a completion script for bash, zsh or fish.",
  description = "Print a completion script. bash: source it, or save it " ..
    "as ~/.local/share/bash-completion/completions/cprof. zsh: save it as " ..
    "_cprof in a folder of $fpath. fish: save it as " ..
    "~/.config/fish/completions/cprof.fish.",
  example = "cprof completion bash",
  options = { { "SHELL", "bash, zsh or fish.",
    values = { "bash", "zsh", "fish" } } },
}

-- By shell: adds the words that a command's argument can be to a script of
-- argparse, which only knows those of options.
local complete = {}

function complete.bash(script, name, words)
  return (script:gsub('\n    case "%$cmd" in\n', ([[%%0        '%s')
            COMPREPLY=($(compgen -W "%s" -- "$cur"))
            ;;
]]):format(name, words), 1))
end

function complete.zsh(script, name, words)
  return (script:gsub("(\n    " .. name .. "%).-)\": :_files\"",
    ("%%1\": :(%s)\""):format(words), 1))
end

function complete.fish(script, name, words)
  return ("%scomplete -c cprof -n '__fish_cprof_seen_command %s' -xa '%s'\n")
    :format(script, name, words)
end

function completion.call(parsed, fail, parser, commands)
  local root, shell = parser(), parsed.shell
  local script = root["get_" .. shell .. "_complete"](root)
  script = complete[shell](script, "help", table.concat(help.topics(), " ") ..
    " " .. table.concat(commands, " "))
  -- argparse's script for zsh already has them
  if shell ~= "zsh" then
    script = complete[shell](script, "completion", "bash zsh fish")
  end
  input.print(script, fail)
end

return completion
