-- cprof join: exact counts with the times of another run.

local core = require "cprof.core"
local input = require "cprof.command.input"
local join = require "cprof.profile.join"
local summary = require "cprof.command.summary"
local terminal = require "cprof.system.terminal"

local command = {
  name = "join",
  summary = "Join exact counts with the times of another run.",
  description = "Join the calls of one run with the times of another run " ..
    "of the same program: a sampled run, which is hardly slowed down. Times " ..
    "go to the same call path or, if the first run does not have it, to the " ..
    "function, in proportion to its calls. The report says what share of " ..
    "the times matched neither.",
  example = "cprof join counts.cprof samples.cprof",
  options = {
    { "COUNTS", "A profile with calls, of mode call, line or count." },
    { "TIMES", "A profile with times." },
    { "-o OUT", "A file for the joined profile. (default: none; a report is " ..
      "printed)", target = "output" },
    { "--force", "Join the profiles even if they do not seem to be of one " ..
      "program." },
    input.page,
  },
}

---Prints notes on what differs between the two recordings.
---@param counts cprof.Profile
---@param times cprof.Profile
---@param doubt? string  as of join.profiles
function command.say_notes(counts, times, doubt)
  local notes = join.notes(counts, times)
  notes[#notes + 1] = doubt
  for _, note in ipairs(notes) do
    terminal.say("note: " .. note .. "\n")
  end
end

function command.call(parsed, fail)
  for _, path in ipairs { parsed.counts, parsed.times } do
    if path == parsed.output and not core.special(path) then
      fail(("-o %s is one of the profiles to be joined: name another " ..
        "file"):format(path))
    end
  end
  local counts = input.load(parsed.counts, fail)
  local times = input.load(parsed.times, fail)
  local all, why = join.profiles(counts, times)
  if not all then fail(why) end
  if why and not parsed.force then fail(why .. "; --force joins them") end
  command.say_notes(counts, times, why)
  if parsed.output then
    local ok, message = all:save(parsed.output)
    if not ok then fail(message) end
  end
  input.print(input.ask(fail, all, "report", { format = parsed.format,
    width = parsed.width, color = parsed.color }), fail)
  local line = parsed.output and summary.next(all, parsed.output)
  if line then input.print(("\n%s\n"):format(line), fail) end
end

return command
