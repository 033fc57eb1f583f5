-- Exports: profiles in the formats of other tools. One file and one row
-- here make a format.

local options = require "cprof.options"
local output = require "cprof.export.output"

local export = {}

---@class cprof.Format
---@field name string
---@field module string       has write(profile, out)
---@field description string
---@field mode? string        the only mode of profiles that it can hold

---@type cprof.Format[]
export.formats = {
  { name = "folded", module = "cprof.export.folded",
    description = "folded stacks, for flame graphs" },
  { name = "speedscope", module = "cprof.export.speedscope",
    description = "speedscope" },
  { name = "chrome", module = "cprof.export.chrome",
    description = "trace events, for Perfetto and chrome://tracing" },
  { name = "pprof", module = "cprof.export.pprof",
    description = "profile.proto, for go tool pprof, Pyroscope, Parca" },
  { name = "callgrind", module = "cprof.export.callgrind",
    description = "for KCachegrind and callgrind_annotate" },
  { name = "lcov", module = "cprof.export.lcov", mode = "line",
    description = "coverage, for lcov and genhtml" },
  { name = "json", module = "cprof.export.json",
    description = "the whole profile as JSON" },
  { name = "csv", module = "cprof.export.csv",
    description = "functions and their figures, for spreadsheets" },
}

local function names()
  local out = {}
  for i, row in ipairs(export.formats) do out[i] = row.name end
  return table.concat(out, ", ")
end

---The row of a format. Raises an error that names the valid ones.
---@param wanted any
---@param level integer  of the error, as of error()
---@return cprof.Format
function export.format(wanted, level)
  for _, row in ipairs(export.formats) do
    if row.name == wanted then return row end
  end
  error(("export: unknown format %s; valid formats: %s"):format(
    options.shown(wanted), names()), level)
end

---Writes a profile. What is wrong with the call raises an error; what goes
---wrong outside gives nil and a message.
---@param profile cprof.Profile
---@param wanted string       name of a format
---@param target cprof.Writer
---@param level integer       of errors, as of error()
---@return true? ok
---@return string? message
function export.write(profile, wanted, target, level)
  local row = export.format(wanted, level + 1)
  if not output.valid(target) then
    error(("export: the target must be a path, a function or something " ..
      "with a method 'write', got %s"):format(options.shown(target)), level)
  end
  if row.mode and profile.meta.mode ~= row.mode then
    error(('export: format %s needs a profile of mode "%s", this one has ' ..
      'mode "%s"; record with start { mode = "%s" }'):format(row.name,
      row.mode, profile.meta.mode, row.mode), level)
  end
  local found, module = pcall(require, row.module)
  if not found then
    error(("export: format %s: %s"):format(row.name, module), level)
  end
  return output.send(target, function(out) module.write(profile, out) end)
end

return export
