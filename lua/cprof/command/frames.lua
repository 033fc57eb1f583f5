-- cprof frames: how long the frames of a game or server took.

local format = require "cprof.text.format"
local input = require "cprof.command.input"
local page = require "cprof.report.page"
local shown = require "cprof.report.frames"

local frames = {
  name = "frames",
  summary = "Print how long frames took, and what the slowest ones did.",
  description = "Print how long the frames of a game or server took: all of " ..
    "them are counted. Below are the slowest ones, and the functions that " ..
    "took longer in them than usual, of which the 16 slowest of each name " ..
    "keep account. The program must call cprof.frame at the end of each " ..
    "frame (see cprof help frames).",
  usage = "cprof frames [options] [FILE] [NAME]",
  example = "cprof frames run.cprof render",
  options = {
    input.file(),
    { "NAME?", "Only frames of this name, as given to cprof.frame." },
    { "--limit N", "Show at most N frames of each name (default: 5; with " ..
      "NAME, or without names, 30).", type = "integer", min = 1 },
    input.page,
  },
}

-- the frames with the name that is wanted
local function of_name(list, wanted, fail)
  local names = {}
  for _, one in ipairs(list) do
    if one.name == wanted then return { one } end
    names[#names + 1] = one.name and format.plain(one.name)
  end
  fail(("no frames are named %s%s"):format(format.plain(wanted),
    #names > 0 and "; there are " .. table.concat(names, ", ") or ""))
end

function frames.call(parsed, fail)
  local file, wanted = input.pair("frames", parsed.file, "NAME", parsed.name,
    fail)
  local profile = input.load(file, fail)
  local list = shown.list(profile)
  if #list == 0 then
    fail "no frames were recorded: the program does not call cprof.frame"
  end
  if wanted then list = of_name(list, wanted, fail) end
  local view = { profile = profile, options = parsed,
    page = page.new(parsed, profile) }
  shown.show(view, list)
  input.print(view.page:text(), fail)
end

return frames
