local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local trace = require "cprof.export.trace"
local export = require "cprof.export"
local kinds = require "kinds"
local recorded = require "cprof.count.lines".recorded

-- All that can be asked of a profile, of profiles of each kind: what is not
-- refused for a reason that is listed here works.

-- {======================================================
-- What is refused
-- =======================================================

local measures = { alloc = true, allocs = true, live = true, peak = true }

-- why an option cannot have this value for a profile; nil: it can
local function unmeasured(p, option, value)
  if (value == "cpu" or value == "wait") and not p.meta.waiting_ns then
    return ("option '%s' must not be \"%s\" for a profile without waiting " ..
      "times"):format(option, value)
  end
  if not measures[value] then return nil end
  local live = value == "live" or value == "peak"
  local lacks = not p.meta.memory and "allocations" or
    live and not p.meta.live_interval and "live blocks"
  return lacks and ("option '%s' must not be \"%s\" for a profile without %s;")
    :format(option, value, lacks)
end

local function unsorted(p, sort)
  return sort == "max" and not p.meta.distribution and
    "option 'sort' must not be \"max\" for a profile without durations" or nil
end

local function unknown(p, name, who)
  for _, f in ipairs(p.functions) do
    if f.name == name then return nil end
  end
  return ("%sno function '%s' was recorded; "):format(who, name)
end

local function reporting(p, o)
  for _, name in ipairs { "root", "depth" } do
    if o[name] and o.mode ~= "tree" and o.mode ~= "flame" then
      return ("report: option '%s' needs mode = \"tree\" or \"flame\""):format(
        name)
    end
  end
  return unsorted(p, o.sort) or unmeasured(p, "sort", o.sort) or
    unmeasured(p, "measure", o.measure) or o.root and
    unknown(p, o.root, "report: ")
end

local function annotating(p, o, source)
  if not recorded(p) then return "annotate: no lines were recorded" end
  if o.expressions and p.meta.mode ~= "count" and not (p.samples and
     p.meta.internals == "direct") then
    return "annotate: option 'expressions' needs a profile of mode"
  end
  local why = unmeasured(p, "heat", o.heat)
  if why then return why end
  if o.expressions and (measures[o.heat] or o.heat == "cpu" or
     o.heat == "wait") then
    return "annotate: option 'expressions' must not be true with measure = "
  end
  local named = o.focus or o.ignore
  why = named and unknown(p, named, "annotate: ")
  if why then return why end
  if source and not p.sources["@" .. source] then
    return "annotate: no lines of "
  end
  for _, f in ipairs(p.functions) do
    if f.name == o.focus and not p.sources[f.source] and not o.sort then
      return "annotate: no lines of fib"
    end
  end
end

local function exporting(p, row, o)
  local mode = p.meta.mode
  if row.branches and mode ~= "count" then
    return ("export: format %s needs a profile of mode \"count\""):format(
      row.name)
  elseif row.lines and (p.samples or not recorded(p)) then
    return ("export: format %s needs a profile of mode \"line\" or \"count\"")
      :format(row.name)
  elseif row.times and mode == "count" then
    return ("export: format %s needs times"):format(row.name)
  elseif not row.tree and next(o) then
    return "export: option '"
  elseif o.measure and not row.measures then
    return ("export: option 'measure' does not apply to format %s"):format(
      row.name)
  elseif (row.name == "chrome" or row.name == "perfetto") and
         trace.calls(p, o.fold) and (o.min_percent or 0) > 0 then
    return "export: option 'min_percent' does not apply to the calls of " ..
      "this recording"
  end
  local why = unmeasured(p, "measure", o.measure)
  if why then return why end
  return o.root and unknown(p, o.root, "export: option 'root': ")
end

-- }======================================================


-- {======================================================
-- Asking
-- =======================================================

-- all combinations of the values of options; `false` leaves one out
local function combinations(values, from, chosen, out)
  out, chosen, from = out or {}, chosen or {}, from or 1
  local option = values[from]
  if not option then
    local copy = {}
    for name, value in pairs(chosen) do copy[name] = value end
    out[#out + 1] = copy
    return out
  end
  for _, value in ipairs(option[2]) do
    chosen[option[1]] = value or nil
    combinations(values, from + 1, chosen, out)
  end
  chosen[option[1]] = nil
  return out
end

local function shown(o)
  local out = {}
  for name, value in pairs(o) do
    out[#out + 1] = name .. "=" .. tostring(value)
  end
  table.sort(out)
  return table.concat(out, " ")
end

-- does the result of `f` agree with what is expected?
local function ask(failed, what, expected, f, ...)
  local where
  local result = table.pack(xpcall(f, function(why)
    where = debug.traceback("", 2):match "\n%s*([^\n]*/cprof/[^\n]*)"
    return why
  end, ...))
  local text = tostring(result[2])
  local as_expected = not result[1] and expected and
    text:find(expected, 1, true) and not text:find("\n", 1, true)
  if not as_expected and where then text = text .. "; " .. where end
  if not as_expected and (expected or not result[1]) then
    failed[#failed + 1] = ("%s: %s, expected %s"):format(what,
      result[1] and "worked" or text, expected or "to work")
  end
  return result[1] and result[2]
end

local function none(failed)
  assert.equal("", table.concat(failed, "\n", 1, math.min(#failed, 5)))
end

-- what every text must be
local function check_text(failed, what, text)
  if not text then return end
  for _, strange in ipairs { "%f[%w]nan%f[%W]", "%f[%w]inf%f[%W]",
    "%f[%w]nil%f[%W]", "table: 0x", "function: 0x" } do
    if text:find(strange) then
      failed[#failed + 1] = ("%s has %s:\n%s"):format(what, strange, text)
    end
  end
end

local function each(list, f)
  for _, kind in ipairs(list) do
    it("of kind " .. kind.name, function()
      local failed = {}
      f(kind.p, failed)
      none(failed)
    end)
  end
end

-- }======================================================


local all_sorts = { false, "self", "total", "calls", "name", "max", "alloc",
  "allocs", "live", "peak" }
local modes = { "summary", "self", "total", "callgraph", "tree", "flame",
  "file", "frames" }
local here = assert(package.searchpath("kinds", package.path))

local reports = combinations { { "mode", modes }, { "sort", all_sorts } }
for _, mode in ipairs(modes) do
  table.move({ { mode = mode, measure = "cpu" },
    { mode = mode, measure = "wait", sort = "total" },
    { mode = mode, measure = "live", sort = "calls" },
    { mode = mode, format = "markdown" },
    { mode = mode, filter = "e" },
    { mode = mode, filter = "/^e/", sort = "calls" } }, 1, 6, #reports + 1,
    reports)
end
for _, more in ipairs { { mode = "tree", root = "kinds.program" },
  { mode = "tree", depth = 1, filter = "fib" }, { root = "fib" },
  { depth = 2 }, { min_percent = 0, color = "always" },
  { min_percent = 100 }, { min_percent = 5.5, mode = "tree" },
  { limit = 1 }, { width = 40 }, { width = 40, mode = "file" },
  { width = 40, mode = "callgraph" }, { height = 10 },
  { filter = "no function is called so" } } do
  reports[#reports + 1] = more
end

local annotations = combinations {
  { "heat", { false, "hits", "total", "cpu", "wait", "alloc", "allocs",
                      "live" } },
  { "sort", { false, "self", "hits" } },
}
for _, more in ipairs(combinations { { "heat", { false, "alloc" } },
  { "sort", { false, "self" } }, { "coverage", { false, true } },
  { "expressions", { true } } }) do
  annotations[#annotations + 1] = more
end
for _, more in ipairs { { relative = "file" }, { relative = "project" },
  { context = 0 }, { context = 3 }, { min_percent = 0 },
  { min_percent = 100 }, { focus = "fib" }, { ignore = "fib" },
  { limit = 1 }, { all = true }, { width = 40 }, { height = 10 },
  { color = "always" }, { format = "markdown" }, { format = "quickfix" },
  { focus = "fib", sort = "self" }, { coverage = true } } do
  annotations[#annotations + 1] = more
end

local percents <const> = { false, 0, 5, 100 }
local prunings = combinations { { "min_percent", percents },
  { "fold", { false, true } }, { "measure", { false, "alloc" } } }
for _, more in ipairs { { fold = false }, { root = "fib" },
  { root = "nosuch" }, { measure = "wall" } } do
  prunings[#prunings + 1] = more
end

-- options of formats that can show allocations
local measured = combinations { { "min_percent", percents },
  { "measure", { "allocs", "live", "cpu", "wait" } } }

-- few combinations for pages, which take long to write
local of_page = combinations { { "min_percent", { false, 5 } },
  { "measure", { false, "alloc" } } }

local function prunings_of(row)
  if row.name == "html" then return of_page end
  if not row.measures then return prunings end
  local all = table.move(prunings, 1, #prunings, 1, {})
  return table.move(measured, 1, #measured, #all + 1, all)
end

describe("the report of a profile", function()
  each(kinds.all(), function(p, failed)
    for _, o in ipairs(reports) do
      o.color = o.color or "never"
      local what = "report " .. shown(o)
      check_text(failed, what, ask(failed, what, reporting(p, o),
        p.report, p, o))
    end
  end)
end)

describe("the annotated source of a profile", function()
  each(kinds.unlike(), function(p, failed)
    for _, o in ipairs(annotations) do
      for _, source in ipairs { false, here } do
        local what = ("annotate %s %s"):format(source, shown(o))
        ask(failed, what, annotating(p, o, source), p.annotate, p,
          source or nil, o)
      end
    end
  end)
end)

describe("the export of a profile", function()
  each(kinds.unlike(), function(p, failed)
    for _, row in ipairs(export.formats) do
      for _, o in ipairs(prunings_of(row)) do
        local what = ("export %s %s"):format(row.name, shown(o))
        local pieces = {}
        ask(failed, what, exporting(p, row, o), p.export, p, row.name,
          function(s) pieces[#pieces + 1] = s end, o)
      end
    end
  end)
end)

-- the results of every control of a view, in each of its modes
local function control(view)
  for _, mode in ipairs { "self", "total", "callgraph", "tree" } do
    view:mode(mode)
    for _, which in ipairs { 0, 1, 2, "all" } do
      view:average(which)
      for _, how in ipairs { "spread", "merged" } do
        view:recursion(how)
        view:lines()
        view:lines(3)
        view:titles()
        view:move(1)
        view:expand()
        view:lines()
        view:collapse()
        view:parent()
        view:mode(mode)
      end
    end
    view:cursor(2)
    view:select()
    view:lines()
    view:mode(mode)
    view:frame(1)
    view:lines()
    view:at_frame(0)
    view:slow(0)
    view:lines()
    view:at_slow(0)
    view:at_frame(0)
  end
  view:graph()
  view:series()
end

describe("the view of a profile", function()
  each(kinds.all(), function(p, failed)
    local untimed = (p.meta.mode == "count" or p.meta.mode == "sample") and
      ('view: mode "%s" has no '):format(p.meta.mode)
    local view = ask(failed, "view", untimed, profiler.view, p)
    if view then ask(failed, "controls", nil, control, view) end
  end)
end)

describe("the sums of a profile", function()
  each(kinds.unlike(), function(p, failed)
    for _, by_line in ipairs { false, true } do
      for name, group in pairs { all = function() return "all" end,
        title = function(f) return f.title end,
        source = function(f) return f.source end } do
        ask(failed, "sums by " .. name, nil, p.sums, p, group, by_line)
      end
    end
  end)
end)

describe("a profile that is saved", function()
  each(kinds.all(), function(p, failed)
    local path = os.tmpname()
    ask(failed, "save", nil, function() assert(p:save(path)) end)
    local again = ask(failed, "load", nil, function()
      return assert(profiler.load(path))
    end)
    os.remove(path)
    if not again then return end
    local o = { color = "never", width = 100, mode = "callgraph" }
    assert.equal(p:report(o), again:report(o))
  end)
end)
