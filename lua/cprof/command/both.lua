-- cprof run --both: runs the program twice, once for its calls and once for its
-- times, and joins the profiles.

local core = require "cprof.core"
local command = require "cprof.command.join"
local cprof = require "cprof"
local filename = require "cprof.system.filename"
local folders = require "cprof.system.folders"
local join = require "cprof.profile.join"
local process = require "cprof.system.process"
local recordings = require "cprof.system.recordings"
local summary = require "cprof.command.summary"
local terminal = require "cprof.system.terminal"

local both = {}

-- options for the joined profile, and how many words their values take
local own = { ["--both"] = 0, ["--quiet"] = 0, ["--ascii"] = 0, ["-o"] = 1,
  ["--output"] = 1 }

-- options for the first run only
local counting = { ["--lines"] = 0, ["--count"] = 0, ["--callsites"] = 0,
  ["--distribution"] = 0, ["--tasks"] = 0 }

-- options for the second run only
local sampling = { ["--sample"] = 0, ["--timer"] = 1 }

-- the words of the options of one run: without `own` options, and without those
-- in `skip`
local function pick(options, skip)
  local out, i = {}, 1
  while i <= #options do
    local name = options[i]:match "^(%-%-?[%a-]+)" or options[i]
    local attached = options[i]:find "^%-o."
    local values = own[name] or skip[name]
    if values and not attached then
      i = i + (options[i]:find "=" and 0 or values)
    elseif not attached then
      out[#out + 1] = options[i]
    end
    i = i + 1
  end
  return out
end

-- is it the exit status of a process that a signal ended?
local function killed(status) return status > 128 and status < 160 end

-- a unique file name for one of the runs
local function temporary(which)
  local folder = folders.own()
  return folder and ("%s/%d.%s"):format(folder, core.process(), which) or
    os.tmpname()
end

-- runs cprof in a new process and waits for its end
local function record(options, more, file, program)
  local line = {}
  for _, list in ipairs { (process.interpreter()), { "run", "--quiet",
    "--output=" .. file }, more, options, program } do
    for _, word in ipairs(list) do
      line[#line + 1] = terminal.quote(word)
    end
  end
  local _, how, status = os.execute(table.concat(line, " "))
  return how == "signal" and 128 + status or status
end

-- The profile of a run. A run that did not even begin has already said why.
local function load(path, which, status, fail)
  local profile, why = cprof.load(path)
  os.remove(path)
  if not profile and status ~= 0 then os.exit(status, true) end
  if not profile then fail(("the %s run recorded nothing: %s"):format(which,
    why)) end
  return profile
end

---@param parsed table
---@param words string[]    of the command, from 0
---@param options string[]  those before the program, as `run.split` has them
---@param at integer        the first word that is the program's
---@param fail fun(message: string)
function both.run(parsed, words, options, at, fail)
  if not core.signals then
    fail("--both is not possible on Windows: record twice, once with " ..
      "--sample, and use cprof join")
  elseif not core.executable() then
    fail "--both: the path of the Lua interpreter is unknown on this system"
  end
  if parsed.format or parsed.html or parsed.trace or #parsed.coverage > 0 then
    fail("--both cannot be combined with --format, --html, --trace or " ..
      "--coverage")
  elseif parsed.keep_last then
    fail "--both cannot be combined with --keep-last"
  elseif parsed.memory or parsed.gc then
    fail "--both cannot be combined with --memory or --gc"
  elseif parsed.under == "creator" then
    fail "--both cannot be combined with --under=creator"
  elseif parsed.children then
    fail "--both cannot be combined with --children"
  end
  if not (parsed.e or parsed.m or words[at]) then
    fail "name a script, -e code or -m module"
  end
  local program = table.move(words, at, #words, 1, {})
  if words[at - 1] == "--" then table.insert(program, 1, "--") end
  local to = parsed.output ~= "" and parsed.output or nil
  local unnamed = not to
  if unnamed then
    to = recordings.must_begin("name a file with -o FILE", fail)
  end
  local first, second = temporary "first", temporary "second"
  local timing = parsed.sample and {} or { "--sample" }
  local input = io.stdin:seek()  -- nil: a pipe or a terminal
  local status = record(pick(options, sampling), {}, first, program)
  local counts = load(first, "first", status, fail)
  local all = counts
  if killed(status) then
    terminal.say("note: the first run was interrupted, so there was no " ..
      "second run\n")
  else
    if input then io.stdin:seek("set", input) end
    local again = record(pick(options, counting), timing, second,
      program)
    local times = load(second, "second", again, fail)
    local sum, why = join.profiles(counts, times)
    if not sum then fail(why) end
    command.say_notes(counts, times, why)
    all = sum
  end
  core.tidy()
  local given = to
  if not unnamed then to = filename.of_process(filename.expand(to)) end
  local ok, message = all:save(to)
  if not ok then
    filename.drop(given, to)
    fail(message)
  end
  recordings.finish(filename.absolute(to, core.cwd() or "."))
  if not parsed.quiet then
    summary.say(all, { kept = to, last = unnamed, width = parsed.width,
      color = parsed.color })
  end
  os.exit(status, true)
end

return both
