-- cprof heatmap: when the program was busy, and what stands out.

local cells = require "cprof.profile.cells"
local files = require "cprof.system.files"
local find = require "cprof.report.find"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local input = require "cprof.command.input"
local labelled = require "cprof.command.labelled"
local page = require "cprof.report.page"
local period = require "cprof.command.period"
local picture = require "cprof.report.heatmap"
local range = require "cprof.profile.range"
local terminal = require "cprof.system.terminal"

local heatmap = {
  name = "heatmap",
  summary = "Print when the program was busy, and what stands out.",
  description = "Print a recording as a picture. Time runs " ..
    "down each column, and goes on in the next; the more CPU time a cell " ..
    "has, the darker it is. Letters mark stretches of time that stand out: " ..
    "a function took most of the stretch, but little of the whole " ..
    "recording, or the CPU time is higher than usual. Other commands show " ..
    "what ran there, with --from and --to. The page of cprof html has the " ..
    "heatmap, too, and shows any range in all its views.",
  usage = "cprof heatmap [options] [FILE] [FUNCTION]",
  example = "cprof heatmap --from 2m --to 2m30s run.cprof",
  options = {
    input.file "A profile that was recorded in mode call, line or sample",
    { "FUNCTION?", "Show the total time of this function, not the CPU " ..
      "time." },
    { "--limit N", "List the N causes that stand out most, in " ..
      "chronological order. Stretches with the same function have one cause.",
      type = "integer", min = 1, default = 5 },
    period.options, labelled.option, input.page, input.links,
  },
}

local function head(on, profile, from, to, whole)
  on:title("cprof: ", format.program(profile.meta))
  local wall = profile.meta.wall_ns
  on:line(("%s, %s"):format(whole and "all of " .. format.time(wall) or
    ("%s to %s of %s"):format(range.ends(from, to, wall)), profile.samples and
      format.plural(profile.samples, "sample") or
      "mode " .. profile.meta.mode))
end

function heatmap.call(parsed, fail)
  local script = not parsed["function"] and parsed.file
  if script and files.is_script(script) then
    local quoted = terminal.quote(script)
    fail(("%s: not a profile; cprof run %s records it"):format(quoted, quoted))
  end
  local file, wanted = input.pair("heatmap", parsed.file, "FUNCTION",
    parsed["function"], fail)
  local profile = input.load(file, fail, nil, true)
  local from, to = period.bounds(profile, parsed, fail)
  local label = labelled.nodes(profile, parsed, fail)
  local row, why
  if wanted then
    row, why = find((graph.functions(profile)), wanted)
    if not row then fail(why) end
  end
  local on = page.new(parsed, profile)
  head(on, profile, from, to, not period.given(parsed))
  local most = picture.show(on, profile, from, to, parsed.limit, row, label)
  if most and not on.markdown then
    on:gap()
    local words = labelled.words(parsed)
    table.insert(words, 1, cells.words(most))
    on:line(("Next: cprof report %s%s"):format(table.concat(words, " "),
      file and file ~= "-" and " " .. terminal.quote(file) or ""))
  end
  input.print(on:text(), fail)
end

return heatmap
