-- cprof merge: adds up profiles into one.

local core = require "cprof.core"
local input = require "cprof.command.input"
local range = require "cprof.command.range"
local name = require "cprof.source.name"
local terminal = require "cprof.system.terminal"

local command = {
  name = "merge",
  summary = "Add up profiles of many runs, or of many machines.",
  description = "Add up profiles of many runs, or of many machines, even " ..
    "if the program was edited in between. Code that an edit moved is added " ..
    "up at its place in the newest profile. Lines of code that an edit " ..
    "changed are kept apart, as an older text of their source.",
  example = "cprof merge -o all.cprof monday.cprof tuesday.cprof",
  options = {
    { "FILE+", "Profiles, of the same mode and clock, or folders with them.",
      target = "files" },
    { "-o OUT", "The file for the sum.", needed = true, target = "output" },
    range.options,
  },
}

function command.call(parsed, fail)
  local files = range.files(parsed.files, fail)
  for _, path in ipairs(files) do
    if name.straight(path) == name.straight(parsed.output) and
       not core.special(path) then
      fail(("-o %s is one of the profiles to be added up: name another " ..
        "file"):format(parsed.output))
    end
  end
  local profiles, paths = range.profiles(files, parsed.since, parsed["until"],
    fail)
  local progress = terminal.progress("merging", input.long(files))
  local all = range.sum(profiles, paths, function(why)
    progress()
    fail(why)
  end)
  local ok, message = all:save(parsed.output)
  progress()
  range.say_notes(profiles)
  if not ok then fail(message) end
end

return command
