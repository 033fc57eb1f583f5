-- cprof export: a profile in another tool's format.

local core = require "cprof.core"
local export = require "cprof.export"
local recorded = require "cprof.count.lines"
local input = require "cprof.command.input"
local output = require "cprof.export.output"
local prune = require "cprof.export.prune"
local terminal = require "cprof.system.terminal"

local command = {
  name = "export",
  summary = "Write a profile in another tool's format.",
  example = "cprof export --format=speedscope -o run.json run.cprof",
}

local function formats()
  local names, lines = {}, { "Write a profile in another tool's format:" }
  for i, format in ipairs(export.formats) do
    names[i] = format.name
    lines[i + 1] = ("   %-10s %s"):format(format.name, format.description)
  end
  return names, table.concat(lines, "\n")
end

local names, description = formats()
command.description = description

-- the option that undoes what export decided
local undo = {
  min_percent = "--min-percent=0 keeps them",
  fold = "--no-fold keeps it",
}

function command.define(parser)
  input.profile(parser)
  parser:option("--format", "A format listed above."):argname "FORMAT"
    :choices(names):count "1"
  parser:option("-o", "Write to OUT. (default: standard output)")
    :argname "OUT":target "output":hidden_name "--output"
  input.option(parser, prune.specs, "min_percent", ("Add up nodes with " ..
    'less of the time, as "(below N %%)". (default: 0, or as little as ' ..
    "makes no more than %d MB)"):format(export.limit // 1000000))
  parser:mutex(
    parser:flag("--fold", ("Fold recursion: a function that is called again " ..
      "below itself has no callees there, its caller has them. (default: " ..
      "if stacks are deeper than %d frames, or the file would be too large)")
      :format(export.depth)),
    parser:flag("--no-fold", "Never fold recursion."))
  input.option(parser, prune.specs, "measure", "Export CPU time, waiting " ..
    "time, bytes allocated, allocations, or bytes in use instead of wall " ..
    "time; only for the formats folded and speedscope. (default: wall)")
  input.option(parser, prune.specs, "root",
    "Export only this function and what it calls.", "FUNCTION")
end

-- returns the writer for a target, which shows progress
local function writer(target)
  local progress = terminal.progress "exporting"
  local bytes = 0
  return function(produce)
    local ok, why = output.send(target, function(out)
      return produce(function(s)
        bytes = bytes + #s
        progress(("%.1f MB"):format(bytes / 1e6))
        out(s)
      end)
    end)
    progress()
    return ok, why
  end
end

local function check(parsed, row, fail)
  if parsed.measure and not row.measures then
    fail(("option '--measure' is not for format %s"):format(row.name))
  end
  if row.tree then return end
  for _, name in ipairs { "min_percent", "fold", "no_fold", "root" } do
    if parsed[name] then
      fail(("option '--%s' is not for format %s"):format(
        name:gsub("_", "-"), row.name))
    end
  end
end

local function say(notes, name)
  for _, note in ipairs(notes) do
    local more = note.decided and "; " .. undo[note.decided] or ""
    terminal.say(("cprof %s: %s%s\n"):format(name, note.text, more))
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
  local produce, notes = export.prepare(profile, row, o, function(message)
    fail(input.worded(message))
  end, before)
  local ok, why = writer(target)(produce)
  if ok and target == io.stdout then ok, why = io.stdout:flush() end
  if not ok then fail(why) end
  say(notes, row.name == "html" and "html" or "export")
end

function command.call(parsed, fail)
  local row = export.format(parsed.format, 1)
  if parsed.output == "-" then parsed.output = nil end
  local target = parsed.output or io.stdout
  check(parsed, row, fail)
  if not parsed.output and row.name == "pprof" and core.columns(1) then
    fail "pprof output is binary: name a file with -o OUT"
  end
  local profile, named = input.load(parsed.file, fail)
  if row.lines and not recorded.recorded(profile) then
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
