-- cprof check: a gate for CI, on figures that are the same in every run.
-- Times are not: they are told, but decide nothing.

local format = require "cprof.format"
local input = require "cprof.command.input"
local lines = require "cprof.lines"
local options = require "cprof.options"
local output = require "cprof.export.output"

local check = {
  name = "check",
  summary = "Hold a profile against a budget; status 1: over budget.",
  description = "Hold a profile against a budget: most calls, line hits " ..
    "and stack states, of all and of functions by title or name. The " ..
    "exit status is 1 when one of them is exceeded. Times are printed, " ..
    "but decide nothing.",
  example = "cprof check --budget budget.json run.cprof",
}

function check.define(parser)
  parser:argument("FILE", "A profile."):target "file"
  parser:option("--budget", "The budget, as --update writes it.")
    :argname "JSON":count "1"
  parser:flag("--update", "Write the profile's figures as the budget: " ..
    "those that it has, or all, when there is none yet.")
end

local version <const> = 1
local whole = { calls = true, hits = true, nodes = true }
local parts = { calls = true, hits = true }


local function hits_of(profile)
  local all, of = 0, {}
  for f, _, hits in lines.each(profile.counted) do
    all, of[f] = all + hits, (of[f] or 0) + hits
  end
  return all, of
end

---What a budget can be about.
---@param profile cprof.Profile
local function figures(profile)
  local by_line = profile.meta.mode == "line"
  local hits, of = hits_of(profile)
  local out = { calls = 0, nodes = #profile.nodes, hits = by_line and hits,
                self_ns = profile.program_ns, functions = {} }
  for i, f in ipairs(profile.functions) do
    out.calls = out.calls + f.calls
    if f.kind ~= "root" then
      for _, key in ipairs { f.title, f.name } do
        local sum = out.functions[key] or { calls = 0, self_ns = 0,
          hits = by_line and 0, title = f.title }
        out.functions[key] = sum
        if key == f.title or sum.last ~= i then
          sum.last = i
          sum.calls = sum.calls + f.calls
          sum.self_ns = sum.self_ns + f.self_ns
          sum.hits = by_line and sum.hits + (of[i] or 0)
        end
        if f.title == f.name then break end
      end
    end
  end
  return out
end


local function check_limits(what, limits, valid)
  if type(limits) ~= "table" then
    return ("%s must be an object"):format(what)
  end
  for key, value in pairs(limits) do
    if not valid[key] then
      return ("%s has no limit '%s'; there are: %s"):format(what,
        tostring(key), options.names(valid))
    elseif math.type(value) ~= "integer" or value < 0 then
      return ("%s: '%s' must be an integer from 0, got %s"):format(what, key,
        tostring(value))
    end
  end
end

local function invalid(budget)
  if type(budget) ~= "table" then return "it is no object" end
  if budget.version ~= version then
    return ("its version must be %d, got %s"):format(version,
      tostring(budget.version))
  end
  for key in pairs(budget) do
    if key ~= "version" and key ~= "limits" and key ~= "functions" then
      return ("it has no field '%s'; there are: functions, limits, version")
        :format(tostring(key))
    end
  end
  local why = budget.limits and check_limits("limits", budget.limits, whole)
  local some = budget.limits and next(budget.limits)
  if why then return why end
  if budget.functions and type(budget.functions) ~= "table" then
    return "functions must be an object"
  end
  for title, limits in pairs(budget.functions or {}) do
    why = check_limits(("function '%s'"):format(title), limits, parts)
    some = some or type(limits) == "table" and next(limits)
    if why then return why end
  end
  return not some and "it limits nothing" or nil
end

---@return table? budget, string? why, boolean? missing
local function read(path)
  local file, why = io.open(path, "rb")
  if not file then return nil, why, true end
  local text, message = file:read "a"
  file:close()
  if not text then return nil, ("%s: %s"):format(path, message) end
  local budget, _, wrong = require "cprof.json".decode(text, 1, nil)
  local what = wrong or invalid(budget)
  if what then return nil, ("%s is no budget: %s"):format(path, what) end
  return budget
end


-- all figures of Lua functions, or those that the budget has
local function renewed(known, profile, all)
  local out = { version = version, limits = {}, functions = {} }
  for key in pairs(known and (known.limits or {}) or whole) do
    out.limits[key] = all[key] or nil
  end
  if known then
    for title, limits in pairs(known.functions or {}) do
      local sum = all.functions[title] or { calls = 0, hits = 0 }
      out.functions[title] = {}
      for key in pairs(limits) do
        out.functions[title][key] = sum[key] or nil
      end
    end
  else
    for _, f in ipairs(profile.functions) do
      local sum = all.functions[f.title]
      if f.kind == "Lua" and f.calls > 0 then
        out.functions[f.title] = { calls = sum.calls, hits = sum.hits or nil }
      end
    end
  end
  return out
end

-- JSON as people edit it: a line for each function, in order
local function encode(budget)
  local json = require "cprof.json"
  local function limits(t)
    local out = {}
    for key, value in pairs(t) do
      out[#out + 1] = ("%s: %d"):format(json.quotestring(key), value)
    end
    table.sort(out)
    return "{ " .. table.concat(out, ", ") .. " }"
  end
  local rows = {}
  for title, t in pairs(budget.functions) do
    rows[#rows + 1] = ("    %s: %s"):format(json.quotestring(title),
      limits(t))
  end
  table.sort(rows)
  return ([[{
  "version": %d,
  "limits": %s,
  "functions": {
%s
  }
}
]]):format(version, limits(budget.limits), table.concat(rows, ",\n"))
end

local function update(parsed, profile, fail)
  local known, why, missing = read(parsed.budget)
  if not known and not missing then fail(why) end
  local text = encode(renewed(known, profile, figures(profile)))
  local ok, message = output.send(parsed.budget, function(out) out(text) end)
  if not ok then fail(message) end
end


local units = { calls = "calls", hits = "line hits", nodes = "stack states" }

local function compare(report, what, limits, got)
  for _, key in ipairs { "calls", "hits", "nodes" } do
    local limit = limits[key]
    if limit then
      report.checked = report.checked + 1
      if got[key] > limit then
        report.over = report.over + 1
        report.out[#report.out + 1] = ("over budget: %s: %s %s, at most " ..
          "%s (+%s)%s"):format(what, format.count(got[key]),
          units[key], format.count(limit), format.count(got[key] - limit),
          got.title and ("; %s self"):format(format.time(got.self_ns)) or "")
      end
    end
  end
end

local function needs_lines(budget)
  if budget.limits and budget.limits.hits then return true end
  for _, limits in pairs(budget.functions or {}) do
    if limits.hits then return true end
  end
  return false
end

local function hold(profile, budget)
  local all = figures(profile)
  local report = { out = {}, over = 0, checked = 0, absent = {} }
  compare(report, "all", budget.limits or {}, all)
  local titles = {}
  for title in pairs(budget.functions or {}) do titles[#titles + 1] = title end
  table.sort(titles)
  for _, title in ipairs(titles) do
    local got = all.functions[title]
    if not got then report.absent[#report.absent + 1] = title end
    compare(report, format.plain(title), budget.functions[title],
      got or { calls = 0, hits = 0, self_ns = 0 })
  end
  return report
end

local function unsound(meta)
  return meta.truncated > 0 and "max_nodes was reached" or
    meta.hook_lost and "the program set a debug hook of its own" or
    meta.ended and "recording ended early: " .. meta.ended or
    meta.unmatched > 0 and "events could not be placed"
end

function check.call(parsed, fail)
  local profile = input.load(parsed.file, fail)
  local why = unsound(profile.meta)
  if why then
    fail(("the figures of %s are not exact: %s"):format(parsed.file, why))
  end
  if parsed.update then return update(parsed, profile, fail) end
  local budget, message = read(parsed.budget)
  if not budget then fail(message) end
  if needs_lines(budget) and profile.meta.mode ~= "line" then
    fail(("the budget has line hits, %s has none: record it with " ..
      "cprof run --lines"):format(parsed.file))
  end
  local report = hold(profile, budget)
  for _, title in ipairs(report.absent) do
    report.out[#report.out + 1] = ("note: %s was not called"):format(title)
  end
  report.out[#report.out + 1] = ("%d of %d figures over budget; %s wall")
    :format(report.over, report.checked, format.time(profile.meta.wall_ns))
  input.print(table.concat(report.out, "\n") .. "\n", fail)
  return report.over > 0 and 1 or 0
end


return check
