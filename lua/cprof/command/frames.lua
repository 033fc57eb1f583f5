-- cprof frames: how long the frames of a game or server took.

local format = require "cprof.text.format"
local input = require "cprof.command.input"
local page = require "cprof.report.page"
local period = require "cprof.command.period"
local shown = require "cprof.report.frames"

local frames = {
  name = "frames",
  summary = "Print how long frames took, and what the slowest ones did.",
  description = "Print how long the frames of a game or server took, and " ..
    "which were the slowest. For the 16 slowest frames of each name, the " ..
    "functions that took longer than usual are shown. With --from and " ..
    "--to, all figures are those of the frames in this range. If some of " ..
    "their times are not kept, the figures are those of the whole " ..
    "recording, and a line says so. Times are without overhead and " ..
    "preempted time (other programs had the processor); in mode sample, " ..
    "they have both. \"at\" is the wall time from the start of the " ..
    "recording until the frame began, without pauses. The program must call " ..
    "cprof.frame at the end of each frame (see cprof help frames).",
  usage = "cprof frames [options] [FILE] [NAME]",
  example = "cprof frames run.cprof render",
  options = {
    input.file(),
    { "NAME?", "Show only frames with this name, as given to cprof.frame." },
    { "--limit N", "Show at most N frames of each name. (default: 30, or 5 " ..
      "where frames of several names are shown)", type = "integer", min = 1 },
    period.listing "frames", input.page,
  },
}

-- the frames with the name that is wanted
local function of_name(list, wanted, fail)
  local names = {}
  for _, one in ipairs(list) do
    if one.name == wanted then return { one } end
    names[#names + 1] = one.name and format.plain(one.name)
  end
  fail(("no frames are named %s%s"):format(format.plain(wanted), #names > 0 and
    "; these names are known: " .. table.concat(names, ", ") or ""))
end

function frames.call(parsed, fail)
  local file, wanted = input.pair("frames", parsed.file, "NAME", parsed.name,
    fail)
  local profile = input.load(file, fail)
  local list = shown.list(profile)
  if #list == 0 and profile.meta.range then
    fail("the profile is of a range of time, and has no list of frames" ..
      input.or_heatmap(profile, file))
  elseif #list == 0 then
    fail "no frames were recorded: the program does not call cprof.frame"
  end
  if wanted then list = of_name(list, wanted, fail) end
  local lists = period.lists(profile, parsed, fail)
  local view = { profile = profile, options = parsed,
    page = page.new(parsed, profile), period = period.told(parsed),
    lists = lists and function(frame)
      local from = frame.start_ns
      if not from then
        fail("it is not known when frames began: the profile is a sum of " ..
          "several")
      end
      return lists(from, from + frame.ns)
    end }
  shown.show(view, list)
  input.print(view.page:text(), fail)
end

return frames
