-- The summary on standard error when a recorded program has ended.

local explained = require "cprof.count.rows"
local flat = require "cprof.report.flat"
local graph = require "cprof.count.graph"
local header = require "cprof.report.header"
local later = require "cprof.sandbox.later"
local name = require "cprof.source.name"
local order = require "cprof.text.order"
local page = require "cprof.report.page"
local recorded = require "cprof.count.lines"
local select_rows = require "cprof.report.select"
local terminal = require "cprof.system.terminal"

local allocations = later "cprof.count.allocations"
local listing = later "cprof.report.coverage"

local summary = {}

-- rows if standard error is not a terminal
local rows <const> = 40

-- the least and most hot lines to list
local fewest <const>, most <const> = 3, 10

-- the heats to list lines by
local function heats(profile)
  if not profile.meta.memory then return { "time" } end
  return allocations.tells_live(profile) and { "live", "alloc" } or
    { "alloc" }
end

-- Is this a function that ran, and that the user can look at? One that runs in
-- a range of time may have been called before the range.
local function ran(profile, row)
  return row.func.kind ~= "root" and (row.count > 0 or
    profile.meta.range ~= nil and row.self > 0 and
    not explained.explain(row.func.name))
end

-- what to look at first: the function with the most self time, or the most CPU
-- time if most of the time was waiting; by its name, or by its title if others
-- have the same name
local function hottest(profile)
  local first, named = nil, {}
  local list = graph.functions(profile)
  if header.waits(profile) then
    table.sort(list, order(function(row) return row.self_wait - row.self end,
      "title"))
  else select_rows.sort(list, "self")
  end
  for _, row in ipairs(list) do
    local f = row.func
    named[f.name] = (named[f.name] or 0) + 1
    if not first and ran(profile, row) then first = f end
  end
  if not first then return nil end
  return named[first.name] == 1 and first.name or first.title
end

---The line that suggests the next command, which shows the function that
---matters most; nil: no function was called.
---@param profile cprof.Profile
---@param file? string  the file of the profile; nil: it is the last recording
---@param more? string[]  options of the command
---@return string?
function summary.next(profile, file, more)
  local given, meta = hottest(profile), profile.meta
  if not given then return nil end
  local words = { "Next: cprof show" }
  if meta.memory and next(profile.sources) then
    given = nil
    words[1] = "Next: cprof annotate --heat " .. heats(profile)[1]
  end
  table.move(more or {}, 1, #(more or {}), #words + 1, words)
  if file then words[#words + 1] = terminal.quote(file) end
  if given then words[#words + 1] = terminal.quote(given) end
  return table.concat(words, " ")
end

---@class cprof.Summary
---@field kept? string     the file of the recording
---@field format? string   its format, if that is not a profile
---@field last? boolean    whether it is kept as the last recording
---@field lost? string     why it is kept nowhere
---@field note? string
---@field coverage? boolean  show which lines ran, not which took most time
---@field width? integer
---@field color? string

---The last lines: where the recording is, and the next command; nil: there are
---none.
---@param profile cprof.Profile
---@param facts cprof.Summary
---@return string?
function summary.ending(profile, facts)
  local out = { facts.lost and ("The recording is not kept: %s.\n-o FILE " ..
    "keeps it."):format(facts.lost) or nil }
  if facts.kept and facts.format then
    out[1] = ("Written to %s, as %s"):format(terminal.quote(facts.kept),
      facts.format)
  end
  if facts.last then
    out[#out + 1] = summary.next(profile)
  elseif facts.kept and not facts.format then
    out[#out + 1] = summary.next(profile, facts.kept)
  end
  return out[1] and table.concat(out, "\n")
end

-- lists of the hottest lines by each heat, and the number of rows that they
-- take; nothing if no lines were recorded, or no samples that tell of them
local function lines(profile, looks, count)
  if not recorded.recorded(profile) or not next(profile.sources) or
     not profile.meta.memory and not header.known(profile) then
    return nil, 0
  end
  local lists = {}
  for _, heat in ipairs(heats(profile)) do
    local list = profile:annotate(nil, { sort = "self", heat = heat,
      limit = count, width = looks.width, color = looks.color })
    -- a list with only a title has no lines
    if list:find "\n." then lists[#lists + 1] = list end
  end
  if #lists == 0 then return nil, 0 end
  -- each list has a title, a last line, and a gap before it
  return table.concat(lists, "\n"), #lists * (count + 3)
end

-- the number of files in the program's folder, and of files elsewhere, which
-- probably belong to libraries
local function whose(profile)
  local own, others = 0, 0
  for source in pairs(profile.sources) do
    local place = source:sub(1, 1) == "@" and
      name.place(source, profile.meta.folder)
    if place and place:sub(1, 1) == "/" then others = others + 1
    elseif place then own = own + 1
    end
  end
  return own, others
end

-- the coverage of each file, and the command that shows what did not run
local function coverage_of(profile, facts, looks)
  local text, files = listing.make(profile, looks)
  local out = { "\n", text }
  local own, others = whose(profile)
  if own > 0 and others > 0 and not (profile.meta.options or {}).lines then
    out[#out + 1] = ("note: %d of %d files are outside this folder; " ..
      "--coverage=PATTERN selects files\n"):format(others, own + others)
  end
  if facts.note then out[#out + 1] = ("note: %s\n"):format(facts.note) end
  if facts.kept and facts.format then
    out[#out + 1] = ("\nWritten to %s, as %s\n"):format(
      terminal.quote(facts.kept), facts.format)
  end
  if files > 0 and (facts.last or facts.kept and not facts.format) then
    out[#out + 1] = ("\nNext: cprof coverage --missing%s\n"):format(
      facts.last and "" or " " .. terminal.quote(facts.kept))
  end
  terminal.say(table.concat(out))
end

-- the functions with the most time
local function by_time(profile, looks, count)
  local on = page.new(looks, profile)
  flat.show({ profile = profile, options = {}, page = on,
    whole = profile.measure.whole }, "self", count)
  if on.measure.samples then on:line(header.certainty(profile)) end
  on:explain()
  return on:text()
end

---The report on one screen, and the hottest lines if lines were recorded. If
---allocations were recorded, both are by allocations, and functions by time
---come last. On a small screen, the report takes room for both of its tables,
---even if what follows it does not fit. With allocations, its header is longer.
---@param profile cprof.Profile
---@param looks { width?: integer, color?: string }
---@param height? integer  of the screen
---@return string
function summary.text(profile, looks, height)
  height = height or rows
  local count = math.max(fewest, math.min(height // 5, most))
  local listed, taken = lines(profile, looks, count)
  local sort = profile.meta.memory and heats(profile)[1] or nil
  if sort then taken = taken + count + 3 end
  local parts = { profile:report { width = looks.width, color = looks.color,
    sort = sort, height = math.max(sort and 30 or 20, height - taken) } }
  parts[2] = listed
  parts[#parts + 1] = sort and by_time(profile, looks, count)
  return table.concat(parts, "\n")
end

---The summary on one screen, and where the rest is.
---@param profile cprof.Profile
---@param facts cprof.Summary
function summary.say(profile, facts)
  local looks = {
    color = terminal.color(io.stderr, facts.color or "auto"),
    width = facts.width or terminal.width(io.stderr),
  }
  local height = terminal.rows(io.stderr) or rows
  if facts.coverage then return coverage_of(profile, facts, looks) end
  if facts.note then height = height - 1 end
  local out = { "\n", summary.text(profile, looks, height) }
  if facts.note then out[#out + 1] = ("note: %s\n"):format(facts.note) end
  local last = summary.ending(profile, facts)
  if last then out[#out + 1] = ("\n%s\n"):format(last) end
  terminal.say(table.concat(out))
end

return summary
