-- cprof labels: what was recorded under each label.

local counted = require "cprof.count.labels"
local format = require "cprof.text.format"
local input = require "cprof.command.input"
local labelled = require "cprof.command.labelled"
local lists = require "cprof.text.lists"
local measure = require "cprof.count.measure"
local page = require "cprof.report.page"
local period = require "cprof.command.period"
local report = require "cprof.report"
local shown = require "cprof.report.labels"

local labels = {
  name = "labels",
  summary = "Print what each label costs, such as each endpoint.",
  description = "Print a table for each key of the program's labels " ..
    "(cprof.label { endpoint = \"/login\" }). A row has one value of the " ..
    "key: how often it was set (with --sample: how many samples were under " ..
    "it), and the time spent under it. If labels are nested, the innermost " ..
    "value of a key counts, so the rows of a table add up to the whole " ..
    "recording.",
  usage = "cprof labels [options] [FILE] [KEY]",
  example = "cprof labels run.cprof endpoint",
  options = {
    input.file(),
    { "KEY?", "Only the table of this key." },
    { "--limit N", "Show at most N values of each key.", type = "integer",
      min = 1, default = 20 },
    { "--measure", ("Measure of total: %s. (default: wall)"):format(
      measure.words()), of = report.options },
    period.options, labelled.option, input.page,
  },
}

function labels.call(parsed, fail)
  local file, key = input.pair("labels", parsed.file, "KEY", parsed.key, fail)
  local profile = period.of(input.load(file, fail), parsed, fail)
  profile = labelled.of(profile, parsed, fail)
  local unknown = measure.unknown(profile, parsed.measure)
  if unknown then
    fail(input.worded(("option '--measure' must not be %s for a profile %s")
      :format(parsed.measure, unknown)))
  end
  profile = measure.profile(profile, measure.row(parsed.measure))
  local split = counted.split(profile)
  local keys = lists.keys(split)
  local why = not split[key or keys[1]] and counted.missing(profile, key or "")
  if why then fail(why) end
  local on = page.new(parsed, profile)
  for _, line in ipairs(format.part(profile.meta)) do on:line(line) end
  for _, each in ipairs(key and { key } or keys) do
    shown.table(on, profile, each, split[each], parsed.limit)
  end
  if profile.meta.truncated > 0 then
    on:gap()
    on:note("max_nodes was reached: the labels of %s are not known, so %s " ..
      "time counts as (no label) (--max-nodes raises the limit)",
      format.plural(profile.meta.truncated,
        profile.samples and "sample" or "call"),
      profile.meta.truncated == 1 and "its" or "their")
  end
  input.print(on:text(), fail)
end

return labels
