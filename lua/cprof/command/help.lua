-- cprof help: the reference, offline.

local format = require "cprof.text.format"
local help = require "cprof.help"
local input = require "cprof.command.input"
local render = require "cprof.help.render"
local terminal = require "cprof.system.terminal"

local function topics()
  local lines = { "Topics:" }
  for _, name in ipairs(help.topics()) do
    lines[#lines + 1] = ("   %-12s %s"):format(name,
      (help.topic(name).summary:gsub("`", "")))
  end
  return table.concat(lines, "\n")
end

local command = {
  name = "help",
  summary = "Print the reference, by topic.",
  description = "Print the reference, by topic, or the help of a " ..
    "command.\n\n" .. topics(),
  example = "cprof help reports",
  options = {
    { "TOPIC?", "A topic listed above, or a command." },
    { "--man", "Print the help of all commands as a manual page, cprof.1." },
  },
}

function command.call(parsed, fail, parser, commands)
  if parsed.man then
    return input.print(require "cprof.command.man" (parser, commands), fail)
  end
  local topic = parsed.topic and help.topic(parsed.topic)
  if topic then
    local paint = format.paint(format.wants_color "auto")
    local width = math.min(terminal.width(io.stdout), 80)
    input.print(render(topic, width, paint), fail)
  elseif parsed.topic then
    local command_parser = parser(parsed.topic)
    if not command_parser then
      local about = table.concat(help.about(parsed.topic), ", ")
      fail(("unknown topic '%s'%s; valid topics: %s, and commands"):format(
        parsed.topic, about == "" and "" or ", but it is in: " .. about,
        table.concat(help.topics(), ", ")))
    end
    input.print(command_parser:get_help() .. "\n", fail)
  else
    input.print(parser():get_help() .. "\n" .. topics() .. "\n", fail)
  end
end

return command
