-- The end of a program's recording: where the recording is kept, and what is
-- written and printed when the program ends, also by a signal.

local core = require "cprof.core"
local cprof = require "cprof"
local environment = require "cprof.sandbox.environment" ()
local filename = require "cprof.system.filename"
local internal = require "cprof.sandbox.internal"
local later = require "cprof.sandbox.later"

local export = later "cprof.export"
local recent = later "cprof.recording.recent"
local process = later "cprof.system.process"
local processes = later "cprof.command.processes"
local recordings = later "cprof.system.recordings"
local summary = later "cprof.command.summary"
local terminal = later "cprof.system.terminal"
local traced = later "cprof.html.traced"

internal.add()

local ending = {}

-- a file name made from the script's name
local function default_name(script, format)
  local name = script:match "([^/]*)$":gsub("%.lua$", "")
  if not name:find "^[%w_.-]+$" then name = "cprof" end
  return ("%s-%s.%s"):format(name, os.date "%Y%m%d-%H%M%S",
    format or "cprof")
end

---@class cprof.Ending
---@field record? string      the file to record into; nil: memory
---@field keeps? { last: number|string }  with --keep-last
---@field live? string        with --keep-last, the file that has the recording
---    while it goes on; nil: memory
---@field pattern? string     the pattern of files with the last seconds
---@field recorded? string    the path by which this process finds that file
---@field unnamed boolean     whether the user gave no name for it
---@field lost? string        why there is no file to record into
---@field output? string      the name that the user gave, or a default
---@field folder? string      with --children, for all profiles
---@field deliver fun(profile: cprof.Profile, note: string?)
---@field kept fun(): string?  the file that has the recording
---@field watch fun()         from now on, cprof reports the file after a signal
---@field cancel fun()        nothing is recorded into the file

-- adds the calls of a trace to the profile, for a page
local function add_trace(profile, parsed, full)
  local path = parsed.trace or ""
  if parsed.format ~= "html" or not path:find "%.json$" then return end
  local why
  profile.trace, why = traced.read(full(path), nil,
    terminal.progress "reading")
  if why then terminal.say(("cprof run: %s\n"):format(why)) end
end

-- Puts a profile in place of a file that is still open in the program that
-- a signal ends: the program must not write into the new one.
local function replace(profile, path)
  local aside = path .. ".new"
  local ok, why = profile:save(aside)
  if ok then ok, why = core.rename(aside, path) end
  if not ok then os.remove(aside) end
  return ok, why
end

-- Saves the last seconds, and removes the file that had the recording while it
-- went on.
local function save(profile, path, plan)
  if path == plan.live then
    if plan.reason then return replace(profile, path) end
    return profile:save(path)
  end
  local ok, why = profile:save(path)
  if ok and plan.live then
    recordings.cancel(plan.live)
    os.remove(plan.live)
  end
  return ok, why
end

-- The last seconds of a profile, which are written into the plan's file.
local function last_seconds(profile, parsed, plan, full)
  for _, budget in ipairs(parsed.on_slow) do
    if not recent.watches(profile, budget[1]) then
      terminal.say(("cprof run: --on-slow %s: %s\n"):format(
        terminal.quote(budget[1]), profile.samples and
        "no zone of this name was sampled, and functions have budgets only " ..
        "without --sample" or "no function, zone or frame of this name ran"))
    end
  end
  local q, why = recent.cut(plan.keeps, profile, plan.reason or
    "the program ended")
  if q and plan.record then
    local to = filename.expand(plan.recorded, full ".")
    local ok, message = save(q, full(to), plan)
    if ok then
      plan.recorded = to
      if not plan.unnamed then plan.output = to end
    else
      filename.drop(plan.recorded, full(to))
      plan.record, plan.output, why = nil, nil, message
    end
  end
  if why then terminal.say(("cprof run: %s\n"):format(why)) end
  return q or profile
end

-- Returns the function that reports the profile. `full` makes paths absolute:
-- the program may have changed its folder.
local function deliver(parsed, plan, full)
  return function(profile, note)
    terminal.choose(parsed.ascii)
    core.tidy()
    if parsed.keep_last then
      profile = last_seconds(profile, parsed, plan, full)
    end
    if plan.folder then
      return processes.say(profile, plan.folder, parsed, note)
    end
    local kept = plan.output
    if parsed.format then
      add_trace(profile, parsed, full)
      local ok, why = profile:export(parsed.format, full(plan.output))
      if why then
        terminal.say(("cprof run: %s\n"):format(why))
        filename.drop(parsed.output, full(plan.output))
      end
      kept = ok and kept or nil
    end
    if plan.record then recordings.finish(full(plan.recorded)) end
    note = note or parsed.strayed
    if parsed.quiet then
      -- patterns that matched nothing: the user probably meant something else
      for line in (profile.meta.unmatched_patterns or ""):gmatch "[^\n]+" do
        terminal.say(("cprof run: %s\n"):format(line))
      end
    else
      summary.say(profile, { kept = kept, format = parsed.format,
        last = plan.unnamed and plan.record ~= nil, note = note,
        lost = plan.unnamed and not plan.record and not kept and plan.lost,
        coverage = #parsed.coverage > 0,
        width = parsed.width, color = parsed.color })
    end
  end
end

-- the command line that reports the recording after a signal
local function relay(parsed, plan, full)
  local out = process.interpreter()
  for _, word in ipairs { "run", "--after-signal=" .. full(plan.live or
    plan.recorded) } do
    out[#out + 1] = word
  end
  local given = { output = plan.output, format = parsed.format,
    width = parsed.width, color = parsed.color, children = plan.folder,
    ["keep-last"] = parsed.keep_last }
  for name, value in pairs(given) do
    out[#out + 1] = ("--%s=%s"):format(name, value)
  end
  if #parsed.coverage > 0 then out[#out + 1] = "--coverage=" end
  for _, name in ipairs { "quiet", "ascii" } do
    if parsed[name] then out[#out + 1] = "--" .. name end
  end
  return out
end

local function absolute()
  local here = core.cwd() or "."
  return function(path) return filename.absolute(path, here) end, here
end

-- keeps the modules that the end needs, since cprof's files may be gone by then
local function keep_modules(format)
  environment.keep "cprof.command.ending"
  if not format then return end
  environment.keep(export.format(format, 1).module)
  if format == "html" then require "cprof.html.assets".keep() end
end

-- Makes the folder for the profiles of a program and its children. It may not
-- have others.
local function family_folder(path, fail)
  local made, why = core.makefolder(path)
  local names = made and core.filenames(path)
  if not names then
    fail(("--children: cannot make the folder %s: %s"):format(path, why or
      "a file has that name"))
  end
  for _, name in ipairs(names) do
    if name:find "%.cprof$" then
      fail(("--children: %s has profiles already: name a new folder")
        :format(path))
    end
  end
  return path
end

-- Plans where the last seconds are kept, and written at the end.
local function keep(plan, parsed, full)
  local output = not plan.unnamed and plan.record
  plan.keeps = { last = parsed.keep_last }
  plan.pattern = output and output:find "%%[tn]" and output or nil
  if plan.pattern then
    recordings.cancel(full(plan.recorded))
    plan.live = recordings.begin()
  else
    plan.live = plan.recorded and full(plan.recorded)
  end
end

---@param parsed table     options of the command
---@param script string    what runs
---@param fail fun(message: string)
---@return cprof.Ending
function ending.plan(parsed, script, fail)
  local full, here = absolute()
  local output = parsed.output
  if output == "" then output = default_name(script, parsed.format) end
  local plan = { output = output }
  local claimed  -- the file that was created to have its name
  if parsed.children then
    local folder = parsed.children
    if folder == "" then folder = default_name(script, "children") end
    plan.folder = family_folder(full(folder), fail)
    plan.record = plan.folder .. "/%p.cprof"
    plan.recorded = ("%s/%d.cprof"):format(plan.folder, core.process())
  elseif output and not parsed.format then
    -- files with the last seconds are named when they are written
    plan.record = parsed.keep_last and output or filename.expand(output, here)
    plan.output = filename.of_process(plan.record)
    plan.recorded = plan.output
    claimed = not parsed.keep_last and plan.output or nil
    recordings.begin(full(plan.output))
  else
    if output then
      plan.output = filename.of_process(filename.expand(output, here))
      claimed = plan.output
    end
    plan.unnamed = true
    plan.record, plan.lost = recordings.begin()
    plan.recorded = plan.record
  end
  if parsed.keep_last then keep(plan, parsed, full) end
  function plan.cancel()
    core.onkill(nil)
    local path = plan.live or plan.recorded
    if path then recordings.cancel(full(path)) end
    if claimed then filename.drop(output, full(claimed)) end
  end
  plan.deliver = deliver(parsed, plan, full)
  keep_modules(parsed.format)
  function plan.kept()
    if parsed.keep_last then return plan.live end
    return plan.record and full(plan.recorded)
  end
  function plan.watch()
    if core.executable() and plan.kept() then
      core.onkill(relay(parsed, plan, full), here)
    end
  end
  return plan
end

local by_signal <const> = "a signal ended the program"

---Reports the recording of a process that a signal kills, and ends its file.
function ending.after_signal(parsed, fail)
  local path = parsed.after_signal
  core.until_now(path, by_signal)
  local profile, why = cprof.load(path)
  if not profile then fail(why) end
  local plan = { output = parsed.output, record = path, recorded = path,
    folder = parsed.children, reason = by_signal,
    unnamed = not parsed.output or parsed.format ~= nil }
  if parsed.keep_last then
    plan.keeps, plan.live = { last = parsed.keep_last }, path
    if not plan.unnamed then plan.recorded = parsed.output end
  end
  -- also if the file's end could not be written
  profile.meta.live = false
  profile.meta.ended = profile.meta.ended or by_signal
  deliver(parsed, plan, absolute())(profile)
end

return ending
