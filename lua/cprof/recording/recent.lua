-- The flight recorder: with option `keep_last`, the last seconds of a recording
-- are written into a file when they are asked for.

local core = require "cprof.core"
local format = require "cprof.text.format"
local filename = require "cprof.system.filename"
local methods = require "cprof.sandbox.methods"
local name = require "cprof.source.name"
local profile = require "cprof.profile"
local range = require "cprof.profile.range"

local recent = {}

local stderr = io.stderr

local second <const> = 1e9

---@class cprof.Recent
---@field last number|string  seconds, or a size: how much of the recording is
---    kept
---@field file? string    the pattern of files that are not named
---@field budgets table<string, number>  seconds, by names of zones
---@field frame? number    seconds that a frame may take
---@field every number     seconds from one file to the next, at least
---@field written? number  ns since the recording began: the last such file
---@field failed? boolean  was it said that they cannot be written?
---@field snapshot? fun(): cprof.Profile

---Takes what is for this module out of the options of a start. Raises an error
---if options contradict each other.
---@param o table
---@param level integer  where the error is, as for error()
---@return cprof.Recent?
function recent.take(o, level)
  -- modes other than "sample" keep slow frames without files, too
  local frames = o.slow_frames and (o.mode == "sample" or o.file)
  local slow = o.on_slow or frames
  if not o.keep_last then
    if slow then
      error(("start: option '%s' needs option 'keep_last'%s"):format(
        o.on_slow and "on_slow" or "slow_frames", o.on_slow and "" or
        ' in mode "sample"'), level + 1)
    elseif o.live_file then
      error("start: option 'live_file' needs option 'keep_last'; without " ..
        "that, option 'file' records into a file", level + 1)
    end
    return nil
  end
  if slow and not o.file then
    error(("start: option '%s' needs option 'file', to name the files"):format(
      o.on_slow and "on_slow" or "slow_frames"), level + 1)
  elseif o.every then
    error("start: options 'keep_last' and 'every' cannot be combined: " ..
      "'keep_last' writes a file on request, 'every' all the time", level + 1)
  elseif o.file and not o.file:find "%%[tn]" then
    error(("start: with option 'keep_last', 'file' needs %%t or %%n in its " ..
      "name, got %q"):format(o.file), level + 1)
  end
  local kept = { last = o.keep_last, file = o.file and
    filename.absolute(o.file, core.cwd()), budgets = o.on_slow or {},
    every = o.dump_every, frame = frames and
    o.slow_frames.budget_ms / 1000 or nil }
  o.file = o.live_file
  return kept
end

-- Does a title belong to this name? In the title of a zone, arguments may
-- follow the name. In the title of a function, its place follows.
local function is_called(title, named)
  return title:sub(1, #named) == named and
    (#title == #named or title:find("^ ?%(", #named + 1) ~= nil)
end

-- The seconds that a zone or function may take; nil: no limit.
local function budget_of(kept, title)
  if kept.budgets[title] then return kept.budgets[title] end
  for named, budget in pairs(kept.budgets) do
    if is_called(title, named) then return budget end
  end
end

---Is there a function, a zone or a frame that a budget of this name is for? In
---mode "sample", functions have none, and zones may not be in the profile.
---@param p cprof.Profile
---@param named string
---@return boolean
function recent.watches(p, named)
  local only_function = false
  for _, f in ipairs(p.functions) do
    if is_called(f.title, named) then
      if f.kind == "zone" or not p.samples then return true end
      only_function = true
    end
  end
  for _, loop in ipairs(p.loops or {}) do
    if loop.name == named then return true end
  end
  return p.samples ~= nil and not only_function
end

-- Writes the last seconds. Says once that this fails.
local function save(kept, reason)
  local path, why = recent.write(kept, kept.snapshot(), nil, reason)
  if path or kept.failed then return end
  kept.failed = true
  stderr:write(("cprof: the last seconds cannot be written: %s\n"):format(
    why))
end

-- Was a file written by itself a short time ago?
local function is_early(kept, now)
  return kept.written and now - kept.written < kept.every * second
end

-- Writes the last seconds, `now` ns after the recording began, unless a file
-- was written by itself a short time ago.
local function write(kept, now, reason)
  if is_early(kept, now) then return end
  kept.written = now
  save(kept, reason)
end

-- Time in which others had the processor is named if it is at least this share
-- of `took`, since a trace shows it as time of the call.
local notable <const> = 0.01

-- A zone, function or frame took `took` ns and ended at `now`, in ns since the
-- recording began. `title`: nil for a frame without a name. `preempted`: the
-- ns, not part of `took`, in which other programs had the processor.
local function ended(kept, title, took, now, frame, preempted)
  local budget = title and budget_of(kept, title) or frame and kept.frame
  if not budget or took <= budget * second then return end
  local without = preempted and preempted >= took * notable and
    (", not counting %s in which other programs had the processor"):format(
    format.time(preempted)) or ""
  write(kept, now, ("%s took %s, over its budget of %s%s"):format(frame and
    (title and "a frame of " .. title or "a frame") or title,
    format.time(took), format.time(budget * second), without))
end

---Writes the last seconds of a recording that goes on, because a signal asked
---for them. Nothing happens if the recording has no file.
---@param kept cprof.Recent
---@param reason string
function recent.asked(kept, reason)
  if kept.file then save(kept, reason) end
end

---Would an error have the last seconds written now? Not if nothing is being
---recorded, if the recording has no file, or if one was just written.
---@param kept cprof.Recent
---@return boolean
function recent.writes(kept)
  local now = kept.file and core.slow_now()
  return now and not is_early(kept, now) or false
end

---Writes the last seconds because of an error, see `recent.writes`.
---@param kept cprof.Recent
---@param message string  its text, whose metamethod may have stopped recording
function recent.failed(kept, message)
  local now = core.slow_now()
  if now then write(kept, now, "error: " .. message:match "^[^\n]*") end
end

-- The title of a function, as reports have it; `known` has those that were
-- asked for before.
local function title_of(known, raw, folder)
  local key = ("%s:%s:%d:%d:%d"):format(raw.source, raw.kind, raw.line,
    raw.last_line, raw.key)
  if not known[key] then
    local names = profile.names(folder)
    known[key] = name.title(raw, name.of(raw))
    for i = 1, #names, 3 do
      if names[i] == raw.key then known[key] = names[i + 2] end
    end
  end
  return known[key]
end

-- Calls of functions or zones took long.
local function calls_ended(kept, known, folder)
  local calls = core.slow_calls()
  for i = 1, #calls, 4 do
    ended(kept, title_of(known, calls[i], folder), calls[i + 1], calls[i + 2],
      false, calls[i + 3])
  end
end

---Adds to the options for the core what it needs to tell of zones and frames
---that are slow.
---@param kept cprof.Recent
---@param given table
---@param folder? string|false  the current one, in other modes than "sample":
---    there, calls of functions and zones have budgets alike
function recent.prepare(kept, given, folder)
  local least
  for _, budget in pairs(kept.budgets) do
    least = math.min(least or budget, budget)
  end
  if not least and not kept.frame then return end
  given.slow_zone, given.slow_frame = least, kept.frame
  if folder and least then
    given.slow_zone, given.slow_call = nil, least
    given.slow_frame = math.min(least, kept.frame or least)
    local known = {}
    given.elapsed = function()
      local _ <close> = methods.shield()
      calls_ended(kept, known, folder)
    end
  end
  given.slow = function(title, took, now, frame)
    local _ <close> = methods.shield()
    ended(kept, title, took, now, frame)
  end
end

---Raises an error if the arguments of `dump_recent` are not valid.
---@param kept? cprof.Recent  of the last recording
---@param path any
---@param reason any
---@param level integer       where the error is, as for error()
function recent.check(kept, path, reason, level)
  if not kept then
    error('dump_recent: nothing was recorded with option \'keep_last\'; ' ..
      "call start { keep_last = 10 } first", level + 1)
  elseif path == nil and not kept.file then
    error("dump_recent: name a file, or give start the option 'file'",
      level + 1)
  elseif path ~= nil and (type(path) ~= "string" or path == "") then
    error("dump_recent: the path must be a string, got " ..
      (path == "" and "an empty one" or "a " .. type(path)), level + 1)
  elseif reason ~= nil and type(reason) ~= "string" then
    error("dump_recent: the reason must be a string, got a " .. type(reason),
      level + 1)
  end
end

---The last seconds of a profile; nil and a message: there are none.
---@param kept cprof.Recent
---@param p cprof.Profile
---@param reason? string  for the header of reports
---@return cprof.Profile?
---@return string? why
function recent.cut(kept, p, reason)
  local wanted = type(kept.last) == "number" and kept.last * second // 1 | 0
  local from = wanted and math.max(p.meta.wall_ns - wanted, 0) or 0
  local first = range.bounds(p)
  local q, why = range.last(p, math.max(from, first))
  if not q then return nil, why end
  if wanted and first > from then
    q.meta.range = ("%s; the rest of the last %s did not fit into memory")
      :format(q.meta.range, format.time(wanted))
  end
  q.meta.reason = reason
  return q
end

---Writes the last seconds of a profile into a file.
---@param kept cprof.Recent
---@param p cprof.Profile
---@param path? string    nil: by the pattern of the recording
---@param reason? string  for the header of reports
---@return string? path   of the file; nil: it cannot be written
---@return string? why
function recent.write(kept, p, path, reason)
  local q, why = recent.cut(kept, p, reason)
  if not q then return nil, why end
  local pattern = path or kept.file --[[@as string]]
  local to = filename.of_process(filename.expand(pattern))
  local ok, message = profile.save(q, to)
  if ok then return to end
  filename.drop(pattern, to)
  return nil, message
end

return recent
