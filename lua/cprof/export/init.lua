-- Exports: profiles in the formats of other tools. One file and one row
-- here make a format.

local later = require "cprof.sandbox.later"
local options = require "cprof.text.options"

local lines = later "cprof.count.lines"
local output = later "cprof.export.output"
local prune = later "cprof.export.prune"

local export = {}

-- Files of other tools are no larger than this, about, and stacks in them
-- are no deeper, unless options say otherwise: Perfetto drops slices below
-- 512 others, flame graphs are no longer legible far earlier, and browsers
-- get slow.
export.limit, export.depth = 20000000, 500

local limit <const>, depth <const> = export.limit, export.depth

---@class cprof.Format
---@field name string
---@field module string       has write(profile, out, whole), where `whole` is
---    the profile before nodes were added up, and size(f, lines) of a
---    function that has time on so many lines
---@field description string
---@field lines? boolean       is it about lines, not about times?
---@field times? boolean       can nothing but times be its figures?
---@field json? boolean        is it written with the JSON library?
---@field branches? boolean    and about branches, too?
---@field tree boolean        are there nodes, or figures that are made of them?
---@field measures? boolean   can it be about allocations?
---@field limit? integer      bytes, about
---@field depth? integer      frames

---@class cprof.FormatSize    what is written, in bytes, about
---@field node? integer       of each node
---@field copies? integer     times that it is, with its path each time
---@field once? integer       of a function

---@type cprof.Format[]
export.formats = {
  { name = "folded", module = "cprof.export.folded", tree = true,
    measures = true,
    limit = limit, depth = depth,
    description = "folded stacks, for flame graphs" },
  { name = "speedscope", module = "cprof.export.speedscope", tree = true,
    measures = true, json = true,
    limit = limit, depth = depth, description = "speedscope" },
  { name = "chrome", module = "cprof.export.chrome", tree = true,
    times = true, json = true,
    limit = limit, depth = depth,
    description = "trace events, for Perfetto and chrome://tracing" },
  { name = "cpuprofile", module = "cprof.export.cpuprofile", tree = true,
    times = true, json = true,
    limit = limit, depth = depth,
    description = "for VS Code, Chrome's DevTools and speedscope" },
  { name = "pprof", module = "cprof.export.pprof", tree = true,
    limit = limit, depth = depth,
    description = "profile.proto, for go tool pprof, Pyroscope, Parca" },
  { name = "callgrind", module = "cprof.export.callgrind", tree = true,
    limit = limit,
    description = "for KCachegrind and callgrind_annotate" },
  { name = "lcov", module = "cprof.export.lcov", lines = true, tree = false,
    description = "coverage, for lcov and genhtml" },
  { name = "cobertura", module = "cprof.export.cobertura", lines = true,
    branches = true, tree = false,
    description = "coverage, as Cobertura's XML" },
  { name = "luacov", module = "cprof.export.luacov", lines = true,
    tree = false, description = "coverage, as luacov.stats.out" },
  { name = "json", module = "cprof.export.json", tree = true, json = true,
    limit = limit,
    description = "the whole profile as JSON" },
  { name = "csv", module = "cprof.export.csv", tree = true, limit = limit,
    description = "functions and their figures, for spreadsheets" },
  { name = "html", module = "cprof.html", tree = true, json = true,
    limit = 12000000, description = "a page to look at in a browser" },
}

local function names(passes)
  local out = {}
  for _, row in ipairs(export.formats) do
    if not passes or passes(row) then out[#out + 1] = row.name end
  end
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

---Why a profile cannot be written in a format, with a %s for its name; nil:
---it can.
---@param profile cprof.Profile
---@param row cprof.Format
---@return string?
function export.unfit(profile, row)
  local mode = profile.meta.mode
  if row.branches and mode ~= "count" then
    return ('format %%s needs a profile of mode "count", this one has mode ' ..
      '"%s"; record with start { mode = "count" }'):format(mode)
  elseif row.lines and (profile.samples or not lines.recorded(profile)) then
    return ('format %%s needs a profile of mode "line" or "count", this one ' ..
      'has mode "%s"; record with start { mode = "line" }'):format(mode)
  elseif row.times and mode == "count" then
    return 'format %s is about times, which mode "count" has not; ' ..
      "formats without times: " ..
      names(function(other) return not other.times end)
  end
end

---A function that writes a profile: it calls out(s) with one piece after
---the other. And notes on what is not as it was recorded.
---@param profile cprof.Profile
---@param row cprof.Format
---@param o cprof.ExportOptions     that are valid
---@param fail fun(message: string) called with what is wrong; must not return
---@param before? cprof.Profile     a format that compares: with what
---@return fun(out: fun(s: string)) produce
---@return cprof.ExportNote[] notes
function export.prepare(profile, row, o, fail, before)
  local found, module = pcall(require, row.module)
  if not found then fail(("format %s: %s"):format(row.name, module)) end
  if not row.tree then
    return function(out) module.write(profile, out) end, {}
  end
  local pruned, why = prune.profile(profile, row, module, o)
  if not pruned then fail(why) end
  local earlier = before and prune.profile(before, row, module, {
    min_percent = o.min_percent })
  return function(out)
    module.write(pruned, out, profile, earlier)
  end, pruned.notes
end

local function texts(notes)
  local out = {}
  for i, note in ipairs(notes) do out[i] = note.text end
  return table.concat(out, "; ")
end

---Writes a profile. What is wrong with the call raises an error; what goes
---wrong outside gives nil and a message. For a writer of the program's, it
---gives the pieces, which the caller has to write.
---@param profile cprof.Profile
---@param wanted string       name of a format
---@param target cprof.Writer
---@param o? cprof.ExportOptions
---@param level integer       of errors, as of error()
---@return true? ok
---@return string? message    what went wrong; with true: what is not as it
---    was recorded, if anything
---@return (fun(...: any): string?, true?, string?)? pieces  see output.pieces
function export.write(profile, wanted, target, o, level)
  local row = export.format(wanted, level + 1)
  if not output.valid(target) then
    error(("export: the target must be a path, a function or something " ..
      "with a method 'write', got %s"):format(options.shown(target)), level)
  end
  local unfit = export.unfit(profile, row)
  if unfit then error(("export: " .. unfit):format(row.name), level) end
  o = prune.options(row, o, level)
  local produce, notes = export.prepare(profile, row, o, function(message)
    error("export: " .. message, level + 2)
  end)
  local noted = #notes > 0 and texts(notes) or nil
  if output.foreign(target) then
    return true, noted, output.pieces(produce)
  end
  local ok, why = output.send(target, produce)
  if not ok then return nil, why end
  return true, noted
end

return export
