-- Reports: a header, then the content of the mode. A mode is a file and a row
-- here.

local flat = require "cprof.report.flat"
local graph = require "cprof.count.graph"
local header = require "cprof.report.header"
local later = require "cprof.sandbox.later"
local measures = require "cprof.count.measure"
local options = require "cprof.text.options"
local page = require "cprof.report.page"
local select = require "cprof.report.select"

local find = later "cprof.report.find"
local frames = later "cprof.report.frames"
local labels = later "cprof.report.labels"
local nearest = later "cprof.text.nearest"
local tasks = later "cprof.report.tasks"

-- the most tasks in a summary
local few_tasks <const> = 5

local report = {}

local modes = {
  summary = require "cprof.report.summary",
  self = flat.mode,
  total = flat.mode,
  callgraph = later "cprof.report.callgraph",
  tree = later "cprof.report.tree",
  flame = later "cprof.report.flame",
  file = later "cprof.report.file",
  frames = function(view) frames.report(view) end,
}

---@class cprof.ReportOptions
---@field mode? "summary"|"self"|"total"|"callgraph"|"tree"|"flame"|"file"
---    |"frames"
---@field limit? integer        most functions (tree: lines)
---@field min_percent? number   of the time, in the mode's own figure
---@field measure? "wall"|"cpu"|"wait"|"alloc"|"allocs"|"live"|"peak"  of self
---    and total: wall time without overhead and preemption; its part that is
---    CPU time, or waiting time; bytes allocated, allocations, bytes in use, or
---    bytes in use at the peak
---@field sort? string          "self", "total", "calls", "max" (the longest
---    call), "name"; or a measure: sorts by self of that measure
---@field filter? string        part of a title or path, or a Lua pattern
---    between slashes
---@field root? string          modes "tree", "flame": only what this function
---    calls
---@field depth? integer        modes "tree" and "flame": most levels
---@field format? "text"|"markdown"
---@field width? integer        columns; math.huge: no limit
---@field height? integer       mode "summary": rows of the screen
---@field color? "auto"|"always"|"never"
report.options = options.together(page.options, {
  mode = { type = "string", default = "summary",
           values = { "summary", "self", "total", "callgraph", "tree",
                      "flame", "file", "frames" } },
  limit = { type = "integer", min = 1 },
  measure = { type = "string", values = measures.options() },
  min_percent = { type = "number", min = 0, max = 100 },
  sort = { type = "string", values = measures.options("self", "total",
    "calls", "max", "name") },
  filter = { type = "pattern" },
  root = { type = "string" },
  depth = { type = "integer", min = 1 },
})

---@class cprof.ReportView      the input of a mode
---@field profile cprof.Profile  with the measure that is shown
---@field options cprof.ReportOptions
---@field page cprof.Page
---@field whole integer         the figure that is 100 %: the program's

-- the title of the function that `root` means; nil: the whole tree
local function base_of(profile, wanted, level)
  local row, why = find(graph.functions(profile), wanted)
  if not row then error("report: " .. why, level + 1) end
  return row.func.kind ~= "root" and row.title or nil
end

local function check(profile, given, level)
  local o = options.check("report", report.options, given, level + 1)
  for _, option in ipairs { "root", "depth" } do
    if o[option] and o.mode ~= "tree" and o.mode ~= "flame" then
      error(("report: option '%s' needs mode = \"tree\" or \"flame\""):format(
        option),
        level + 1)
    end
  end
  if o.sort == "max" and not profile.meta.distribution then
    error('report: option \'sort\' must not be "max" for a profile without ' ..
      "durations of calls; record with start { distribution = true }",
      level + 1)
  end
  local measure = measures.choose("report", profile, o, "sort", level + 1)
  if o.root then o.root = base_of(profile, o.root, level + 1) end
  return o, measure
end

---Why a report with this filter has nothing to show; nil: there is something.
---@param profile cprof.Profile
---@param filter cprof.Pattern?
---@return string?
function report.nothing(profile, filter)
  if not filter then return nil end
  local titles = {}
  for _, row in ipairs(graph.functions(profile)) do
    if select.passes(row, filter) then return nil end
    titles[#titles + 1] = row.title
  end
  return ("no function matches filter '%s'%s"):format(filter.text,
    nearest.list(filter:word(), titles))
end

---@param profile cprof.Profile
---@param given cprof.ReportOptions?
---@param level integer  of errors in the options, as of error()
---@return string
function report.make(profile, given, level)
  local o, measure = check(profile, given, level)
  local of_tasks = not o.filter and profile.meta.tasks and profile.tasks
  profile = measures.profile(profile, measure)
  local view = { profile = profile, options = o,
    whole = profile.measure.whole, page = page.new(o, profile) }
  header.show(view)
  -- the header says that no time is known; there is nothing else to show
  if o.mode ~= "frames" and not header.known(profile) then
    return view.page:text()
  end
  view.page:gap()
  local why = report.nothing(profile, o.filter)
  if why then view.page:line(why)
  else modes[o.mode](view) end
  if of_tasks and o.mode == "summary" then
    tasks.table(view.page, profile, of_tasks, few_tasks)
  end
  if not o.filter and o.mode == "summary" then
    if profile.labels then labels.lines(view.page, profile) end
    if profile.loops then frames.line(view.page, profile) end
  end
  return view.page:text()
end

return report
