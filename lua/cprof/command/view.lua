-- The commands that print a report: they differ by its mode.

local input = require "cprof.command.input"

---@param parser table
local function define(parser)
  parser:argument("FILE", "A profile."):target "file"
  parser:option("--limit", "Most rows."):argname "N"
    :convert(input.integer("--limit", 1))
  parser:option("--min-percent", "Least share of the time of a row.")
    :argname "N":convert(input.percent "--min-percent")
  parser:option("--sort", "By what.")
    :choices { "self", "total", "calls", "name" }
  parser:option("--filter", "Lua pattern on title or source.")
    :argname "PATTERN":convert(input.pattern "--filter")
  input.looks(parser)
end

---@param name string
---@param mode string     of the report, unless --mode tells another
---@param facts table     summary and example
---@param modes? string[]  what --mode can be
---@return cprof.Command
return function(name, mode, facts, modes)
  return {
    name = name, summary = facts.summary, example = facts.example,
    define = function(parser)
      define(parser)
      if modes then
        parser:option("--mode", "What is shown."):choices(modes)
      end
    end,
    call = function(parsed, fail)
      local profile = input.load(parsed.file, fail)
      input.print(input.ask(fail, profile, "report", {
        mode = parsed.mode or mode, limit = parsed.limit,
        min_percent = parsed.min_percent, sort = parsed.sort,
        filter = parsed.filter, width = parsed.width, color = parsed.color,
      }), fail)
    end,
  }
end
