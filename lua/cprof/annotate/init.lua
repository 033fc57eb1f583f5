-- Annotated sources: functions or files with figures beside each line, or a
-- list of the hottest lines.

local files = require "cprof.annotate.files"
local functions = require "cprof.annotate.functions"
local hottest = require "cprof.annotate.hottest"
local header = require "cprof.report.header"
local in_c = require "cprof.annotate.in_c"
local lines = require "cprof.count.lines"
local measures = require "cprof.count.measure"
local nearest = require "cprof.text.nearest"
local options = require "cprof.text.options"
local page = require "cprof.report.page"

local annotate = {}

---@class cprof.AnnotateOptions
---@field heat? string        what makes a line hot: "time", "hits" or "total",
---    the time of its callees; a measure: sets `measure`, too
---@field measure? string     of all figures, as in reports
---@field relative? "file"|"project"   what the heat is relative to
---@field coverage? boolean   mark lines that never ran
---@field context? integer    lines shown around hot lines; others are folded
---@field min_percent? number smallest share of a line that counts as hot
---@field sort? "line"|"self"|"hits"   self, hits: the hottest lines of all
---@field expressions? boolean  shade the parts of lines, and show their counts
---    (mode "count") or shares (mode "sample")
---@field focus? string       only this function, by title or name
---@field ignore? string      without this function
---@field limit? integer      most functions or files, or lines with `sort`
---@field all? boolean        also functions that do not fit the screen
---@field format? "text"|"markdown"|"quickfix"   quickfix: the hottest lines,
---    for editors
---@field width? integer
---@field height? integer     rows of the screen
---@field color? "auto"|"always"|"never"
annotate.options = options.together(page.options, {
  heat = { type = "string", default = "time",
           values = measures.of_lines("time", "hits", "total") },
  measure = { type = "string", values = measures.of_lines() },
  relative = { type = "string", values = { "file", "project" } },
  coverage = { type = "boolean", default = false },
  expressions = { type = "boolean", default = false },
  context = { type = "integer", min = 0 },
  min_percent = { type = "number", min = 0, max = 100 },
  sort = { type = "string", values = { "line", "self", "hits" },
           default = "line" },
  focus = { type = "string" },
  ignore = { type = "string" },
  limit = { type = "integer", min = 1 },
  all = { type = "boolean", default = false },
  format = { type = "string", values = { "text", "markdown", "quickfix" },
             default = "text" },
})

local heat = {
  time = function(line, of_c) return line.self + of_c end,
  hits = function(line) return line.hits end,
  total = function(line) return line.total end,
}

---@class cprof.AnnotateView
---@field profile cprof.Profile
---@field options cprof.AnnotateOptions
---@field page cprof.Page
---@field whole integer       the time that is 100 %, in ns: the program's
---@field heat fun(line: cprof.Line): integer
---@field called table<cprof.Line, cprof.CalledByLine>  calls made from lines
---@field called_by? table<string, table<integer, cprof.CalledByLine>>  calls
---    by the title of the calling function and line, made at first use
---@field single boolean      whether the user named a source
---@field remaining? fun(f: cprof.Function): boolean  whether 'focus' and
---    'ignore' select a function
---@field passes fun(row: cprof.Row): boolean  whether to show a row
---@field texts table<string, table>  texts that were read, by source
---@field greatest? integer   heat of the hottest line of all
---@field marked? table<string, { spans?: table<integer, cprof.Span[]>,
---    greatest?: integer }>  parts of lines, by source, at first use
---@field most? integer       the highest count of a part of all sources
---@field unfolded? boolean   whether cold lines are shown, too

---Makes the view for showing lines on a page.
---@param profile cprof.Profile
---@param o cprof.AnnotateOptions
---@param on cprof.Page
---@return cprof.AnnotateView
function annotate.view(profile, o, on)
  local view = { profile = profile, options = o, page = on, texts = {},
    whole = profile.measure.whole, called = {},
    passes = function() return true end, single = false }
  local of = heat[o.heat] or heat.time
  view.heat = function(line) return of(line, in_c.ns(view, line)) end
  return view
end

-- restricts the view to the functions that 'focus' and 'ignore' select
local function restrict(view, level)
  local o, p = view.options, view.profile
  if not o.focus and not o.ignore then return end
  local only = o.focus and functions.named(p, o.focus, level + 1)
  local not_these = o.ignore and functions.named(p, o.ignore, level + 1) or {}
  view.remaining = function(f)
    return (not only or only[f.title] ~= nil) and not not_these[f.title]
  end
end

-- the file that the user means
local function file_of(list, wanted, level)
  local file, why = nearest.file(list, wanted)
  return file or error("annotate: " .. why, level + 1)
end

-- raises an error if none of the functions in focus has lines
local function check_focus(view, level)
  local any
  for _, f in ipairs(view.profile.functions) do
    if view.passes { func = f, title = f.title } then
      if functions.has_lines(view.profile, { func = f, title = f.title }) then
        return
      end
      any = f
    end
  end
  error(("annotate: no lines of %s were recorded%s"):format(any.title,
    any.source == "=?" and ": its code is stripped" or
    any.kind == "C" and ": it is a C function" or ""), level + 1)
end

local function show(view, source, level)
  local o = view.options
  local by_function = not o.coverage and not source
  if o.sort ~= "line" or o.format == "quickfix" then
    local list = files.all(view)
    hottest(view, source and { file_of(list, source, level + 1) } or list)
  elseif o.focus or by_function then
    local of = source and file_of(files.all(view), source, level + 1).source
    view.passes = function(row)
      return (not of or row.func.source == of) and
        (not view.remaining or view.remaining(row.func))
    end
    if o.focus then check_focus(view, level + 1) end
    functions.show(view)
  else
    local list = files.all(view)
    files.show(view, list, source and file_of(list, source, level + 1))
  end
end

---Are the parts of lines known?
---@param profile cprof.Profile
---@return boolean
function annotate.has_expressions(profile)
  return profile.meta.mode == "count" or
    profile.samples ~= nil and profile.meta.internals == "direct"
end

---The annotated source of a file, of a function, or of the hottest ones.
---@param profile cprof.Profile
---@param source string?
---@param given cprof.AnnotateOptions?
---@param level integer  of errors, as of error()
---@return string
function annotate.make(profile, source, given, level)
  if source ~= nil and type(source) ~= "string" then
    error(("annotate: the source must be a string, got a %s"):format(
      type(source)), level)
  end
  local o = options.check("annotate", annotate.options, given, level)
  if not lines.recorded(profile) then
    error("annotate: " .. (profile.meta.labels and lines.all_labels or
      "no lines were recorded; start with mode = " ..
      '"line", "count" or "sample"'), level)
  end
  if o.expressions and not annotate.has_expressions(profile) then
    error('annotate: option \'expressions\' needs a profile of mode ' ..
      '"count" or "sample"', level)
  end
  local measure = measures.choose("annotate", profile, o, "heat", level)
  if o.expressions and measure and measure.name ~= "time" then
    error(('annotate: option \'expressions\' must not be true with measure ' ..
      '= "%s": parts of lines do not have it'):format(o.measure), level)
  end
  profile = measures.profile(profile, measure)
  local view = annotate.view(profile, o, page.new(o, profile))
  view.single = source ~= nil
  if o.sort == "line" then header.unmatched(profile, view.page) end
  restrict(view, level)
  show(view, source, level)
  return view.page:text()
end

return annotate
