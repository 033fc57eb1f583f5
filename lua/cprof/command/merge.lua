-- cprof merge: the sum of profiles, as a profile.

local input = require "cprof.command.input"
local merge = require "cprof.merge"
local terminal = require "cprof.command.terminal"

local command = {
  name = "merge",
  summary = "Add up profiles of many runs, or of many machines.",
  example = "cprof merge -o all.cprof monday.cprof tuesday.cprof",
}

function command.define(parser)
  parser:argument("FILE", "Profiles, of the same mode and clock.")
    :target "files":args "+"
  parser:option("-o", "The file for the sum."):argname "OUT"
    :count "1":target "output":hidden_name "--output"
end

function command.call(parsed, fail)
  local profiles = {}
  local progress = terminal.progress "merging"
  for i, path in ipairs(parsed.files) do
    progress(("%d of %d"):format(i, #parsed.files))
    profiles[i] = input.load(path, fail)
  end
  local all, why = merge.sum(profiles)
  progress()
  if not all then fail(why) end
  local ok, message = all:save(parsed.output)
  if not ok then fail(message) end
end

return command
