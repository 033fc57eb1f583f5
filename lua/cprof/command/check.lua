-- cprof check: a gate for CI, on figures that are the same in every run. Times
-- are not the same: they are printed but not checked, except durations against
-- those of another run.

local allocations = require "cprof.count.allocations"
local budget = require "cprof.command.budget"
local compare = require "cprof.profile.compare"
local core = require "cprof.core"
local format = require "cprof.text.format"
local input = require "cprof.command.input"
local lines = require "cprof.count.lines"
local lists = require "cprof.text.lists"
local match = require "cprof.profile.match"
local totals = require "cprof.coverage.totals"
local output = require "cprof.export.output"
local rows = require "cprof.count.rows"
local slower = require "cprof.command.slower"

local check = {
  name = "check",
  summary = "Check a profile against a budget; status 1: over budget.",
  description = "Check a profile against a budget: limits of calls, line " ..
    "hits, allocations and call-tree nodes, in total and per function. " ..
    "Functions are given by name, by name and file, or by title; a title's " ..
    "line matters only if a file has several functions of that name, so " ..
    "edits above a function do no harm. The exit status is 1 if a limit is " ..
    "exceeded, or if a function with a limit is not in the profile, unless " ..
    'the budget says "optional": true for it, or the limit is 0. It is 2 if ' ..
    "none of the budget's functions is in the profile. --update brings a " ..
    "budget up to date. Times are printed but not checked, except durations " ..
    "of calls, with --baseline.",
  example = "cprof check --budget budget.json run.cprof",
  options = {
    input.file(),
    { "--budget JSON", "The budget, as --update writes it." },
    { "--update", "Write the profile's figures to the budget: those that it " ..
      "limits, or all figures if there is no budget yet." },
    { "--baseline FILE", "Compare durations of calls with this profile, " ..
      "recorded on the same machine. In the budget, p50, p90, p99 and max " ..
      "of a function are the largest ratios to the baseline that pass." },
    { "--coverage N", "Fail if less than N percent of the lines ran; for a " ..
      "profile that was recorded with cprof run --coverage.",
      type = "number", min = 0, max = 100 },
    { "--branch-coverage N", "Fail if less than N percent of the branches " ..
      "ran.", type = "number", min = 0, max = 100 },
  },
}


-- {======================================================
-- Figures that a budget can limit
-- =======================================================

---@class cprof.Figures
---@field calls integer
---@field hits integer|false   false: the profile has no lines
---@field allocs integer|false  false: allocations were not counted
---@field nodes integer?
---@field self integer

-- the number of nodes without those of the collector, which differ from run to
-- run
local function nodes_of(profile)
  local n = #profile.nodes
  for id = 1, n do
    local _, func = core.node(profile.nodes, id)
    if rows.collector(profile.functions[func]) then n = n - 1 end
  end
  return n
end

-- the figures of the whole profile, and a list of each function's
local function figures(profile)
  local by_line = lines.recorded(profile)
  local memory = profile.meta.memory
  local all, of = { calls = 0, hits = by_line and 0, self = 0,
                    allocs = memory and allocations.root(profile).total_allocs,
                    nodes = nodes_of(profile) }, {}
  for i, f in ipairs(profile.functions) do
    of[i] = { calls = f.calls, hits = by_line and 0,
              allocs = memory and f.self_allocs,
              self = f[profile.measure.own] }
    all.calls = all.calls + f.calls
  end
  local at_hits = lines.place "hits"
  for at, i in lines.each(by_line and profile.counted or {}) do
    local hits = profile.counted[at + at_hits]
    of[i].hits, all.hits = of[i].hits + hits, all.hits + hits
  end
  return all, of
end

local function sum(of, functions)
  local out = { calls = 0, hits = 0, allocs = 0, self = 0 }
  for _, i in ipairs(functions) do
    out.calls = out.calls + of[i].calls
    out.hits = of[i].hits and out.hits + of[i].hits
    out.allocs = of[i].allocs and out.allocs + of[i].allocs
    out.self = out.self + of[i].self
  end
  return out
end

-- }======================================================


-- {======================================================
-- Options of a recording that its figures depend on
-- =======================================================

local function settings_of(profile)
  local out = { mode = profile.meta.mode }
  for key, value in pairs(profile.meta.options or {}) do out[key] = value end
  out.memory = profile.meta.memory and "true" or nil
  out.gc = profile.meta.gc and "true" or nil
  return out
end

-- A line that names other differences in mode and options; nil: there are
-- none, or the budget does not say how it was made.
local function other_options(old, new)
  if not old.mode then return nil end
  local from, to = {}, {}
  for _, key in ipairs { "mode", "memory", "gc" } do
    local a, b = old[key] or "false", new[key] or "false"
    if a ~= b then
      from[#from + 1], to[#to + 1] = key .. " " .. a, key .. " " .. b
    end
  end
  return #from > 0 and ("the budget was recorded with %s, the profile with %s")
    :format(table.concat(from, ", "), table.concat(to, ", ")) or nil
end

-- do calls from different lines have nodes of their own?
local function by_line(settings)
  return settings.mode == "line" or settings.callsites == "true"
end

-- Why the numbers of nodes of a budget and a profile cannot be compared; nil:
-- they can, or the budget does not say how it was recorded.
local function other_nodes(old, new)
  if old.mode and by_line(old) ~= by_line(new) then
    local function name(settings)
      return "mode " .. settings.mode .. (settings.callsites == "true" and
        " with callsites" or "")
    end
    return ("the budget was recorded in %s, the profile in %s: their " ..
      "call-tree nodes cannot be compared"):format(name(old), name(new))
  end
end

-- }======================================================


-- {======================================================
-- Which functions an entry is about
-- =======================================================

-- name and file of a function, which edits elsewhere do not change
local function key_of(f)
  return ("%s (%s)"):format(f.name, match.place(f))
end

-- the function that a title in a budget described
local function parse(title, entry)
  local given, place, line = title:match "^(.*) %((.*):(%d+)%)$"
  if not given then given, place = title:match "^(.*) %((.*)%)$" end
  if not given or place == "[C]" then return nil end
  local is_main = place == "main chunk"
  return { kind = is_main and "main" or "Lua", name = given,
    source = "@" .. (is_main and given or place),
    line = tonumber(line) or 0, last_line = tonumber(line) or 0,
    fingerprint = entry.code or "" }
end

-- The indices of functions, by key. A budget may give a function by any of its
-- keys: its name, its title, or its name and file.
local function index(profile)
  local out = {}
  local function add(key, i)
    out[key] = out[key] or {}
    if out[key][#out[key]] ~= i then table.insert(out[key], i) end
  end
  for i, f in ipairs(profile.functions) do
    if f.kind ~= "root" then
      add(f.name, i)
      if f.kind ~= "Lua" then add(f.title, i)
      elseif select(2, match.name(f)) then add(key_of(f), i) end
    end
  end
  return out
end

-- The functions of each entry: those with its name, or name and file; else the
-- one that its title described.
local function find(profile, entries)
  local known, found, taken = index(profile), {}, {}
  for key in pairs(entries) do
    found[key] = known[key]
    if found[key] and key:find(" (", 1, true) then
      for _, i in ipairs(found[key]) do taken[i] = true end
    end
  end
  local titles, old, new, groups, of = {}, {}, {}, {}, {}
  for _, key in ipairs(lists.keys(entries)) do
    local f = not found[key] and parse(key, entries[key])
    if f then titles[#titles + 1], old[#old + 1] = key, f end
  end
  for i, f in ipairs(profile.functions) do
    if not taken[i] and (f.kind == "Lua" or f.kind == "main") then
      local key = f.kind .. f.title
      if not of[key] then
        new[#new + 1], groups[#new + 1], of[key] = f, {}, #new + 1
      end
      table.insert(groups[of[key]], i)
    end
  end
  for i, k in pairs((match.functions(old, new, true))) do
    found[titles[i]] = groups[k]
  end
  return found
end

-- may the function be missing?
local function is_optional(entry)
  for _, key in ipairs(budget.limited(entry)) do
    if entry[key] > 0 then return entry.optional or false end
  end
  return #budget.ratios(entry) == 0 or entry.optional or false
end

-- }======================================================


-- {======================================================
-- Bringing up to date
-- =======================================================

-- the key of a function in a budget, without its line if that is enough, and
-- the hash of its code, by which it is found under another name
local function entry_key(profile, known, functions)
  local f = profile.functions[functions[1]]
  if f.kind ~= "Lua" then return f.title end
  local key = key_of(f)
  local enough = known[key] and #known[key] == #functions
  return enough and key or f.title, f.fingerprint ~= "" and f.fingerprint or
    nil
end

local function renew(limits, got)
  local out = {}
  for _, key in ipairs(budget.limited(limits)) do
    out[key] = got[key] or nil
  end
  return out
end

-- the figures that the budget limits, and a list of entries without a function
local function renewed(known, profile)
  local all, of = figures(profile)
  local out = { options = settings_of(profile), functions = {},
                limits = renew(known.limits, all) }
  local found, names = find(profile, known.functions), index(profile)
  local lost = {}
  for _, key in ipairs(lists.keys(known.functions)) do
    local entry, functions = known.functions[key], found[key]
    if functions then
      local given, code = entry_key(profile, names, functions)
      -- a name alone may mean several functions
      if names[key] then given, code = key, given == key and code or nil end
      local new = renew(entry, sum(of, functions))
      new.optional, new.code = entry.optional, code
      for _, ratio in ipairs(budget.ratios(entry)) do
        new[ratio] = entry[ratio]
      end
      out.functions[given] = new
    elseif is_optional(entry) then out.functions[key] = entry
    else lost[#lost + 1] = key end
  end
  return out, lost
end

-- all figures of Lua functions
local function first(profile)
  local all, of = figures(profile)
  local out = { options = settings_of(profile), functions = {},
                limits = { calls = all.calls, hits = all.hits or nil,
                           allocs = all.allocs or nil, nodes = all.nodes } }
  local names, by_key = index(profile), {}
  for i, f in ipairs(profile.functions) do
    if f.kind == "Lua" and f.calls > 0 then
      lists.add(by_key, f.title, i)
    end
  end
  for _, functions in pairs(by_key) do
    local key, code = entry_key(profile, names, functions)
    local got = sum(of, functions)
    out.functions[key] = { calls = got.calls, hits = got.hits or nil,
                           allocs = got.allocs or nil, code = code }
  end
  return out
end

local function update(parsed, profile, named, fail)
  local known, why, missing = budget.read(parsed.budget)
  if not known and not missing then fail(why) end
  local new, lost
  if known then new, lost = renewed(known, profile)
  else new, lost = first(profile), {} end
  local text = budget.encode(new)
  local ok, message = output.send(parsed.budget, function(out) out(text) end)
  if not ok then fail(message) end
  local out = {}
  for i, key in ipairs(lost) do
    out[i] = ("removed: %s is not in %s\n"):format(format.plain(key),
      named)
  end
  input.print(table.concat(out), fail)
end

-- }======================================================


-- {======================================================
-- Checking
-- =======================================================

local units = { calls = "calls", hits = "line hits", nodes = "call-tree nodes",
                allocs = "allocations" }

local function add(report, ...)
  report.out[#report.out + 1] = string.format(...)
end

local function hold_entry(report, what, limits, got, is_part)
  for _, key in ipairs(budget.limited(limits)) do
    local limit = limits[key]
    report.checked = report.checked + 1
    if got[key] > limit then
      report.over = report.over + 1
      add(report, "over budget: %s: %s %s, at most %s (+%s)%s", what,
        format.count(got[key]), units[key], format.count(limit),
        format.count(got[key] - limit),
        is_part and ("; %s self"):format(report.measure:in_words(got.self))
        or "")
    end
  end
end

local function hold_missing(report, key, entry)
  local plain = format.plain(key)
  if not is_optional(entry) then
    report.missing = report.missing + 1
    add(report, "not found: %s: its limits were not checked", plain)
  elseif entry.optional then
    add(report, "note: %s was not found; it is optional", plain)
  else
    hold_entry(report, plain, entry, { calls = 0, hits = 0, allocs = 0 })
    add(report, "note: %s was not called", plain)
  end
end

-- the title of the function, or the entry's key if it means several
local function shown(profile, key, functions)
  local title = profile.functions[functions[1]].title
  for _, i in ipairs(functions) do
    if profile.functions[i].title ~= title then return key end
  end
  return title
end

-- adds a note if a function was found under another name or in another file
local function tell_found(report, profile, key, functions)
  local old, f = parse(key, {}), profile.functions[functions[1]]
  if not old or f.kind ~= "Lua" then return end
  local from, to = match.place(old), match.place(f)
  if match.name(old) ~= match.name(f) then
    add(report, "note: %s is now %s", format.plain(key),
      format.plain(f.title))
  elseif from ~= to and not report.moved[from] then
    report.moved[from] = true
    add(report, "note: %s is now %s", format.plain(from), format.plain(to))
  end
end

local function hold(profile, limits)
  local all, of = figures(profile)
  local report = { out = {}, over = 0, checked = 0, missing = 0, found = 0,
                   moved = {}, measure = profile.measure }
  local old, new = limits.options or {}, settings_of(profile)
  report.other = limits.limits.nodes and other_nodes(old, new)
  if report.other then add(report, "note: %s", report.other) end
  local others = other_options(old, new)
  if others then add(report, "note: %s", others) end
  for _, note in ipairs(compare.notes({ options = old }, { options = new },
    "be compared", function(setting)
      return not setting.option or setting.name == "callsites" and old.mode
    end)) do
    if limits.options then add(report, "note: %s", note) end
  end
  hold_entry(report, "all", { calls = limits.limits.calls,
    hits = limits.limits.hits, allocs = limits.limits.allocs,
    nodes = not report.other and limits.limits.nodes or nil }, all)
  local found = find(profile, limits.functions)
  for _, key in ipairs(lists.keys(limits.functions)) do
    local entry = limits.functions[key]
    if found[key] then
      report.found = report.found + 1
      tell_found(report, profile, key, found[key])
      hold_entry(report, format.plain(shown(profile, key, found[key])), entry,
        sum(of, found[key]), true)
    else
      hold_missing(report, key, entry)
    end
  end
  return report
end

-- Adds to the report how durations have changed from those of the baseline, if
-- the budget limits them.
local function hold_durations(report, profile, named, limits, parsed, fail)
  if not slower.limited(limits.functions) then return end
  if not parsed.baseline then
    fail "the budget limits durations: name a profile with --baseline"
  end
  local baseline, other = input.load(parsed.baseline, fail)
  for _, p in ipairs { { profile, named }, { baseline, other } } do
    if not p[1].meta.distribution then
      fail(("%s has no durations of calls: record it with cprof run " ..
        "--distribution"):format(p[2]))
    end
  end
  local held = slower.hold(profile, baseline, limits.functions, find)
  table.move(held.out, 1, #held.out, #report.out + 1, report.out)
  for _, key in ipairs { "checked", "over", "missing" } do
    report[key] = report[key] + held[key]
  end
end

-- does the budget limit this figure anywhere?
local function limits_anywhere(limits, what)
  if limits.limits[what] then return true end
  for _, entry in pairs(limits.functions) do
    if entry[what] then return true end
  end
  return false
end

-- checks the coverage against its limits; returns the exit status
local function check_coverage(parsed, profile, named, fail)
  if not profile.meta.instructions then
    fail(("%s has no coverage: record it with cprof run --coverage")
      :format(named))
  end
  local sums, out, status = totals.sum(totals.files(profile)), {}, 0
  for _, what in ipairs { { "lines", parsed.coverage },
                          { "branches", parsed.branch_coverage } } do
    local total, least = sums[what[1]], what[2]
    if least and total.of == 0 then
      fail(("%s has no %s to cover"):format(named, what[1]))
    elseif least then
      local under = total.hit * 100 < least * total.of
      if under then status = 1 end
      -- rounded down: a figure under the limit must not look equal to it
      out[#out + 1] = ("%scoverage of %s: %.1f %% (%s of %s), at least %g %%")
        :format(under and "too low: " or "", what[1],
        total.hit * 1000 // total.of / 10, format.count(total.hit),
        format.count(total.of), least)
    end
  end
  input.print(table.concat(out, "\n") .. "\n", fail)
  return status
end

function check.call(parsed, fail)
  local covers = parsed.coverage or parsed.branch_coverage
  if not parsed.budget and (parsed.update or not covers) then
    fail "option '--budget' or '--coverage' is needed"
  end
  local profile, named = input.load(parsed.file, fail)
  if profile.samples then
    fail(("%s has mode sample, which has no figures for a budget: " ..
      "record it without --sample"):format(named))
  end
  local why = compare.inexact(profile.meta)
  if why then
    fail(("the figures of %s are not exact: %s"):format(named, why))
  end
  local status = covers and check_coverage(parsed, profile, named, fail) or 0
  if not parsed.budget then return status end
  if parsed.update then return update(parsed, profile, named, fail) end
  local limits, message = budget.read(parsed.budget)
  if not limits then fail(message) end
  if limits_anywhere(limits, "allocs") and not profile.meta.memory then
    fail(("the budget has allocations, %s has none: record it with " ..
      "cprof run --memory"):format(named))
  end
  if limits_anywhere(limits, "hits") and not lines.recorded(profile) then
    fail(("the budget has line hits, %s has none: record it with " ..
      "cprof run --lines"):format(named))
  end
  local report = hold(profile, limits)
  hold_durations(report, profile, named, limits, parsed, fail)
  if report.checked == 0 and report.other then fail(report.other) end
  if report.found == 0 and report.missing > 0 or report.checked == 0 then
    fail(("none of the functions of %s is in %s, so there is nothing to " ..
      "check"):format(parsed.budget, named))
  end
  add(report, "%d of %d figures over budget%s; %s", report.over,
    report.checked, report.missing > 0 and (", %s not found")
      :format(format.plural(report.missing, "function")) or "",
    profile.meta.wall_ns and format.time(profile.meta.wall_ns) .. " wall" or
      report.measure:in_words(profile.meta.instructions))
  input.print(table.concat(report.out, "\n") .. "\n", fail)
  return (report.over > 0 or report.missing > 0) and 1 or status
end

-- }======================================================


return check
