-- What is said on standard error when a recorded program has ended.

local terminal = require "cprof.command.terminal"

local summary = {}

local rows <const> = 10

-- what to look at first: the Lua function with most time of its own, by
-- its name, unless others have it, too
local function hottest(profile)
  local most, named = nil, {}
  for _, row in ipairs(profile:sums(function(f) return f.title end)) do
    local f = row.func
    named[f.name] = (named[f.name] or 0) + 1
    if f.kind == "Lua" and (not most or row.self_ns > most.self_ns) then
      most = row
    end
  end
  if not most then return nil end
  local name = most.func.name
  return named[name] == 1 and name or most.title
end

---@class cprof.Summary
---@field kept? string     the file that has it
---@field format? string   as what, if not as a profile
---@field again? string    the command that keeps it, when no file has it
---@field note? string

local function where(profile, facts)
  local kept = facts.kept and terminal.quote(facts.kept)
  if kept and facts.format then
    return ("written to %s, as %s"):format(kept, facts.format)
  elseif kept then
    local name = hottest(profile)
    return ("kept in %s; next: cprof %s %s%s"):format(kept,
      name and "show" or "report", kept,
      name and " " .. terminal.quote(name) or "")
  end
  return facts.again and "not kept; to keep it: " .. facts.again
end

---The report's first rows, and where the rest is.
---@param profile cprof.Profile
---@param facts cprof.Summary
function summary.say(profile, facts)
  local out = { "\n" .. profile:report {
    limit = rows, color = terminal.color(io.stderr, "auto"),
    width = math.max(40, terminal.columns(io.stderr) or 100),
  } }
  if facts.note then out[#out + 1] = ("note: %s\n"):format(facts.note) end
  local last = where(profile, facts)
  if last then out[#out + 1] = ("\n%s\n"):format(last) end
  terminal.say(table.concat(out))
end

return summary
