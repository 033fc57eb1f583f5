-- Exports: profiles in the formats of other tools. A format is a module and a
-- row of `export.formats`.

local later = require "cprof.sandbox.later"
local options = require "cprof.text.options"

local lines = later "cprof.count.lines"
local output = later "cprof.export.output"
local prune = later "cprof.export.prune"

local export = {}

-- Default limits of what other tools get: bytes of a file, about, and frames of
-- a stack. Perfetto drops slices below 512 others, flame graphs get illegible
-- far earlier, and large files make browsers slow.
export.limit, export.depth = 20 << 20, 500

local limit <const>, depth <const> = export.limit, export.depth

---@class cprof.Format
---@field name string
---@field module string       has write(profile, out, whole, before), where
---    `whole` is the profile before nodes were added up, and `before` the one
---    that it is compared with, if any. With `tree`, it also has size(f, lines)
---    for a function with time on `lines` lines; and it may have
---    prepared(profile, whole), which returns a function that writes, and adds
---    to `profile.notes`; and calls(whole, reshaped), which tells whether calls
---    are shown one by one: then there are no nodes to add up.
---@field description string
---@field lines? boolean       whether it shows hits of lines, without times
---@field times? boolean       whether its figures must be times
---@field binary? boolean      whether its output is not text
---@field json? boolean        whether it needs the JSON library
---@field branches? boolean    whether it also shows branches
---@field tree boolean        whether it shows nodes, or sums over nodes
---@field measures? boolean   whether it can show a measure other than wall time
---@field limit? integer      bytes of a file, about
---@field depth? integer      frames of a stack

---@class cprof.FormatSize    sizes in a file, about
---@field node? integer       bytes of each node of the function
---@field copies? integer     how many times each node is written, each time
---    with its whole path; nil: once, without its path
---@field once? integer       bytes of the function itself

---@type cprof.Format[]
export.formats = {
  { name = "folded", module = "cprof.export.folded", tree = true,
    measures = true,
    limit = limit, depth = depth,
    description = "folded stacks, for flame graphs" },
  { name = "speedscope", module = "cprof.export.speedscope", tree = true,
    measures = true, json = true,
    limit = limit, depth = depth, description = "speedscope" },
  { name = "firefox", module = "cprof.export.firefox", tree = true,
    measures = true, json = true,
    limit = limit, depth = depth,
    description = "for profiler.firefox.com, with times of samples" },
  { name = "chrome", module = "cprof.export.chrome", tree = true,
    times = true, json = true,
    limit = limit, depth = depth,
    description = "trace events, for Perfetto and chrome://tracing" },
  { name = "perfetto", module = "cprof.export.perfetto", tree = true,
    times = true, binary = true,
    limit = limit, depth = depth,
    description = "trace packets, for Perfetto" },
  { name = "cpuprofile", module = "cprof.export.cpuprofile", tree = true,
    times = true, json = true,
    limit = limit, depth = depth,
    description = "for VS Code, Chrome's DevTools and speedscope" },
  { name = "pprof", module = "cprof.export.pprof", tree = true,
    binary = true,
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
    limit = 12 << 20, description = "a page to look at in a browser" },
}

local function names(passes)
  local out = {}
  for _, row in ipairs(export.formats) do
    if not passes or passes(row) then out[#out + 1] = row.name end
  end
  return table.concat(out, ", ")
end

---The row of a format, by name. Raises an error that lists the valid names.
---@param wanted any
---@param level integer  where the error is, as for error()
---@return cprof.Format
function export.format(wanted, level)
  for _, row in ipairs(export.formats) do
    if row.name == wanted then return row end
  end
  error(("export: unknown format %s; valid formats: %s"):format(
    options.shown(wanted), names()), level)
end

---Why a profile cannot be written in a format, with a %s for the format's name;
---nil: it can be written.
---@param profile cprof.Profile
---@param row cprof.Format
---@return string?
function export.unfit(profile, row)
  local mode = profile.meta.mode
  if row.branches and mode ~= "count" then
    return ('format %%s needs a profile of mode "count", this one has mode ' ..
      '"%s"; record with start { mode = "count" }'):format(mode)
  elseif row.lines and profile.meta.labels and not profile.samples then
    return "format %s needs lines: " .. lines.all_labels
  elseif row.lines and (profile.samples or not lines.recorded(profile)) then
    return ('format %%s needs a profile of mode "line" or "count", this one ' ..
      'has mode "%s"; record with start { mode = "line" }'):format(mode)
  elseif row.times and mode == "count" then
    return 'format %s needs times, which mode "count" does not record; ' ..
      "formats that need no times: " ..
      names(function(other) return not other.times end)
  end
end

---Returns a function that writes a profile, by calls of out(s) with one piece
---after the other, and notes on what the export changes.
---@param profile cprof.Profile
---@param row cprof.Format
---@param o cprof.ExportOptions     valid options
---@param fail fun(message: string) called with what is wrong; must not return
---@param before? cprof.Profile     what it is compared with, if the format can
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
  if module.prepared then
    return module.prepared(pruned, profile), pruned.notes
  end
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

---Writes a profile. A wrong call raises an error; a failure to write returns
---nil and a message. If the target is a writer of the program's own, nothing is
---written yet: the caller has to write the pieces that the third result gives.
---@param profile cprof.Profile
---@param wanted string       name of a format
---@param target cprof.Writer
---@param o? cprof.ExportOptions
---@param level integer       where errors are, as for error()
---@return true? ok
---@return string? message    with nil: why it failed; with true: what the
---    export changes, or nil if nothing
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
