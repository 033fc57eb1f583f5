-- cprof help: what a command does, and what rows of reports mean.

local format = require "cprof.format"
local rows = require "cprof.rows"

local help = {
  name = "help",
  summary = "Explain a command, or a row of a report.",
  usage = "cprof help [COMMAND | rows | ROW]",
  example = "cprof help '(root)'",
}

function help.define(parser)
  parser:argument("TOPIC", "A command; 'rows', for the names that are in " ..
    "no source; or one of these."):target "topic":args "?"
end

local indent <const> = "  "

local function entry(out, name, width)
  out[#out + 1] = name
  for _, line in ipairs(rows.explain(name, width - #indent)) do
    out[#out + 1] = indent .. line
  end
end

function help.call(parsed, fail)
  local topic, out = parsed.topic, {}
  local width = math.min(format.columns(), 79)
  if topic == "rows" then
    for _, row in ipairs(rows.list) do entry(out, row.name, width) end
  elseif #rows.explain(topic, width) > 0 then
    entry(out, topic, width)
  else
    fail(("no topic '%s'; there are the commands, 'rows', and names such " ..
      "as (root)"):format(topic))
  end
  print(table.concat(out, "\n"))
end

return help
