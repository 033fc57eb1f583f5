-- cprof html: a profile as a page to look at in a browser.

local core = require "cprof.core"
local editor = require "cprof.html.editor"
local export = require "cprof.export"
local exporting = require "cprof.command.export"
local files = require "cprof.system.files"
local input = require "cprof.command.input"
local labelled = require "cprof.command.labelled"
local format = require "cprof.text.format"
local period = require "cprof.command.period"
local prune = require "cprof.export.prune"
local terminal = require "cprof.system.terminal"
local traced = require "cprof.html.traced"

local html = {
  name = "html",
  summary = "Write a profile as a page to look at in a browser.",
  description = "Write a profile as one HTML file, which needs no network: " ..
    "functions, flame graph, call graph, sources, frames, memory, and what " ..
    "changed.",
  example = "cprof html -o page.html run.cprof",
  options = {
    input.file(),
    { "-o PAGE", "Write to PAGE; -: standard output. (default: the name of " ..
      "FILE with .html, in this folder)", target = "output" },
    { "--diff BEFORE", "Show what changed since this profile. (default: " ..
      "none)" },
    { "--trace FILE", "Add the calls of a trace, which cprof run " ..
      "--trace=FILE.json wrote, on a time axis." },
    { "--editor EDITOR", ("Link functions and lines to an editor: %s, or an " ..
      "address such as 'myeditor://{file}:{line}'. The page then has the " ..
      "paths of the files. (default: no links)"):format(editor.names()) },
    exporting.min_percent(export.format("html", 1).limit),
    { "--root FUNCTION", "Show only this function and what it calls." },
    period.options, labelled.option,
  },
}

local mark <const> = '<meta name="generator" content="cprof"'

-- The default name of a page. Fails if a file with this name exists that is not
-- a cprof page.
local function default_name(file, fail)
  local name = file and file ~= "-" and file:match "([^/]+)$" or "cprof"
  name = name:gsub("%.cprof$", "") .. ".html"
  local start = files.start(name, 1000)
  if start and not start:find(mark, 1, true) then
    fail(("%s exists and is not a cprof page: name another with -o")
      :format(name))
  end
  return name
end

-- reads a trace, and says how many of its calls are left out
local function trace(profile, path, fail)
  local read, why = traced.read(path, nil, terminal.progress "reading")
  if not read then fail(why) end
  profile.trace = read
  if read.shown < read.calls then
    terminal.say(("cprof html: %s of %s calls of the trace are left out; " ..
      "each took less than %s\n"):format(
      format.count(read.calls - read.shown), format.count(read.calls),
      format.time(read.least)))
  end
end

function html.call(parsed, fail)
  local row = export.format("html", 1)
  local target = parsed.output or default_name(parsed.file, fail)
  local before = parsed.diff and input.load(parsed.diff, fail)
  local profile = labelled.of(period.of(input.load(parsed.file, fail), parsed,
    fail), parsed, fail)
  if parsed.editor then
    local why
    profile.editor, why = editor.template(parsed.editor)
    if why then fail("option '--editor': " .. why) end
  end
  if parsed.trace then trace(profile, parsed.trace, fail) end
  exporting.write(profile, row, target ~= "-" and target or io.stdout,
    input.given(prune.specs, parsed), fail, before)
  if target ~= "-" and not core.special(target) then
    terminal.say(("cprof html: %s, %s; open it in a browser\n"):format(
      terminal.quote(target), format.bytes(files.size(target))))
  end
end

return html
