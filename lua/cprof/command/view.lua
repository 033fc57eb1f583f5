-- The commands that print a report: they differ by its mode.

local input = require "cprof.command.input"
local report = require "cprof.report"

local view = {}

---Declares what all of them take.
---@param parser table
---@param limit string  its default, in words
---@param sort string   its default, in words
function view.define(parser, limit, sort)
  input.profile(parser)
  parser:option("--limit", ("Most rows. (default: %s)"):format(limit))
    :argname "N":convert(input.integer("--limit", 1))
  parser:option("--min-percent", "Least share of the time of a row. " ..
    "(default: 1; 0 with --sort or --filter)"):argname "N"
    :convert(input.percent "--min-percent")
  parser:option("--sort", ("By what; alloc, allocs, live, peak: figures " ..
    "are bytes allocated, allocations, bytes in use, or in use at the peak, " ..
    "in the place of times. (default: %s)"):format(sort))
    :choices { "self", "total", "calls", "name", "alloc", "allocs", "live",
               "peak" }
  parser:option("--filter", "Lua pattern on title or source.")
    :argname "PATTERN":convert(input.pattern "--filter")
  input.page(parser)
end

---Prints the report in that mode.
---@param mode string
---@param parsed table
---@param fail fun(message: string)
---@return cprof.Profile
function view.print(mode, parsed, fail)
  local profile = input.load(parsed.file, fail)
  local nothing = report.nothing(profile, parsed.filter)
  if nothing then fail((nothing:gsub("filter", "--filter", 1))) end
  input.print(input.ask(fail, profile, "report", {
    mode = mode, limit = parsed.limit, min_percent = parsed.min_percent,
    sort = parsed.sort, filter = parsed.filter, root = parsed.root,
    depth = parsed.depth, format = parsed.format, width = parsed.width,
    height = parsed.height, color = parsed.color,
  }), fail)
  return profile
end

return view
