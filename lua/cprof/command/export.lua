-- cprof export: a profile in another tool's format.

local core = require "cprof.core"
local export = require "cprof.export"
local format = require "cprof.text.format"
local measure = require "cprof.count.measure"
local recorded = require "cprof.count.lines"
local input = require "cprof.command.input"
local labelled = require "cprof.command.labelled"
local output = require "cprof.export.output"
local period = require "cprof.command.period"
local prune = require "cprof.export.prune"
local terminal = require "cprof.system.terminal"

local function formats()
  local names, lines = {}, { "Write a profile in another tool's format:" }
  for i, row in ipairs(export.formats) do
    names[i] = row.name
    lines[i + 1] = ("   %-10s %s"):format(row.name, row.description)
  end
  return names, table.concat(lines, "\n")
end

local names, description = formats()

local command = {
  name = "export",
  summary = "Write a profile in another tool's format.",
  description = description,
  example = "cprof export --format=speedscope -o run.json run.cprof",
}

-- the option that undoes what export decided
local undo = {
  min_percent = "--min-percent=0 keeps them",
  fold = "--no-fold keeps it",
  size = "a larger --min-percent, or --fold, makes it less",
}

---The option --min-percent of a format with this limit.
---@param limit integer
---@return cprof.CommandOption
function command.min_percent(limit)
  return { "--min-percent N", ("Add up nodes with less than N %% of the " ..
    'time as "(below N %%)". (default: 0, or the least that keeps the ' ..
    "file below %d MB)"):format(limit >> 20), of = prune.specs }
end

command.options = {
  input.file(),
  { "--format FORMAT", "A format listed above.", type = "string",
    values = names, needed = true },
  { "-o OUT", "Write to OUT. (default: standard output)", target = "output" },
  command.min_percent(export.limit),
  { "--fold", ("Fold recursion: a function that calls itself is one node; " ..
    "where it is called again further down its own path, its callees move " ..
    "to its caller. (default: if stacks are deeper than %d frames, or the " ..
    "file would be too large)")
    :format(export.depth), apart = { "fold" } },
  { "--no-fold", "Never fold recursion.", apart = { "fold" } },
  { "--measure", ("Export %s; for the formats folded, speedscope and " ..
    "firefox. (default: wall)"):format(measure.words()), of = prune.specs },
  { "--root FUNCTION", "Export only this function and what it calls." },
  period.options, labelled.option,
}

-- returns the writer for a target, which shows progress
local function writer(target)
  local progress = terminal.progress "exporting"
  local bytes = 0
  return function(produce)
    local ok, why = output.send(target, function(out)
      return produce(function(s)
        bytes = bytes + #s
        progress(format.bytes(bytes))
        out(s)
      end)
    end)
    progress()
    return ok, why
  end
end

local function check(parsed, row, fail)
  if parsed.measure and not row.measures then
    fail(("option '--measure' does not apply to format %s"):format(row.name))
  end
  if row.tree then return end
  for _, name in ipairs { "min_percent", "fold", "no_fold", "root" } do
    if parsed[name] then
      fail(("option '--%s' does not apply to format %s"):format(
        name:gsub("_", "-"), row.name))
    end
  end
end

-- `before`: those that matter before the file is written
local function say(notes, name, before)
  for _, note in ipairs(notes) do
    local more = note.decided and "; " .. undo[note.decided] or ""
    if before == (note.decided == "size") then
      terminal.say(("cprof %s: %s%s\n"):format(name, note.text, more))
    end
  end
end

---Writes a profile, and prints notes on what the export changes.
---@param profile cprof.Profile
---@param row cprof.Format
---@param target cprof.Writer
---@param o cprof.ExportOptions
---@param fail fun(message: string)
---@param before? cprof.Profile  to compare with
function command.write(profile, row, target, o, fail, before)
  if type(target) == "string" then input.protect(target, fail) end
  local produce, notes = export.prepare(profile, row, o, function(message)
    fail(input.worded(message))
  end, before)
  local name = row.name == "html" and "html" or "export"
  say(notes, name, true)
  local ok, why = writer(target)(produce)
  if ok and target == io.stdout then ok, why = io.stdout:flush() end
  if not ok then fail(why) end
  say(notes, name, false)
end

function command.call(parsed, fail)
  local row = export.format(parsed.format, 1)
  if parsed.output == "-" then parsed.output = nil end
  local target = parsed.output or io.stdout
  check(parsed, row, fail)
  if not parsed.output and row.binary and core.columns(1) then
    fail(row.name .. " output is binary: name a file with -o OUT")
  end
  local profile, named = input.load(parsed.file, fail)
  profile = labelled.of(period.of(profile, parsed, fail), parsed, fail)
  if row.lines and not profile.meta.labels and
     not recorded.recorded(profile) then
    fail(("%s needs lines, %s has none: record it with cprof run --lines")
      :format(row.name, named))
  end
  local unfit = export.unfit(profile, row)
  if unfit then fail(input.worded(unfit:format(row.name))) end
  local given = input.given(prune.specs, parsed)
  if parsed.no_fold then given.fold = false end
  command.write(profile, row, target, given, fail)
end

return command
