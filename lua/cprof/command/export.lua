-- cprof export: a profile in another tool's format.

local core = require "cprof.core"
local export = require "cprof.export"
local input = require "cprof.command.input"
local output = require "cprof.export.output"
local terminal = require "cprof.command.terminal"

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

function command.define(parser)
  parser:argument("FILE", "A profile."):target "file"
  parser:option("--format", "One of those above."):argname "FORMAT"
    :choices(names):count "1"
  parser:option("-o", "Where to; standard output.")
    :argname "OUT":target "output":hidden_name "--output"
end

-- where it is written to, and how far that has come
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

function command.call(parsed, fail)
  local format = export.format(parsed.format, 1)
  local target = parsed.output or io.stdout
  if not parsed.output and format.name == "pprof" and core.columns(1) then
    fail "pprof is no text: name a file, with -o OUT"
  end
  local profile = input.load(parsed.file, fail)
  if format.mode and profile.meta.mode ~= format.mode then
    fail(("%s needs lines, %s has none: record it with cprof run --lines")
      :format(format.name, parsed.file))
  end
  local found, module = pcall(require, format.module)
  if not found then fail(module) end
  local ok, why = writer(target)(function(out)
    module.write(profile, out)
  end)
  if ok and target == io.stdout then ok, why = io.stdout:flush() end
  if not ok then fail(why) end
end

return command
