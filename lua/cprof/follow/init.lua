-- Follows a recording while it is made: reads the file that a program records
-- into. The program may have been started for this. Other programs are sampled
-- from outside.

local core = require "cprof.core"
local cprof = require "cprof"
local labelled = require "cprof.profile.labelled"

local follow = {}

---@class cprof.FollowStatus
---@field state "waiting"|"running"|"ended"|"killed"
---@field text? string
---@field why? string  why there may never be a sample

---@class cprof.Follower
---@field path? string      nil: the program has not begun to record
---@field program? cprof.FollowedProgram  nil: it was not started for this
---@field outside? cprof.Outside           what samples the program; nil: it
---    records itself
---@field profile? cprof.Profile          the one that was loaded last
---@field labels? cprof.WantedLabel[]      only what was recorded under these
---@field status cprof.FollowStatus
---@field final? boolean  whether `profile` was loaded after the recording's end
---@field lost? boolean   whether the program has ended, and its file is gone
---@field due number        when to look again, in core.seconds()
---@field private busy? number  in core.seconds(): no look before, as `share`
---    is used up until then
---@field private share number  of a processor that looks may take, 0 to 1
local Follower = {}
Follower.__index = Follower

-- seconds that a program has to end after the signal TERM
local patience <const> = 3

-- seconds between two looks until the program begins to record, or ends
local soon <const> = 0.05

---@param of { path: string?, program: cprof.FollowedProgram?,
---  outside: cprof.Outside?, share: number, labels: cprof.WantedLabel[]? }
---@return cprof.Follower
function follow.new(of)
  if of.outside then of.outside:begin() end
  return setmetatable({ path = of.path, program = of.program, due = 0,
    outside = of.outside, share = of.share, labels = of.labels,
    status = { state = "waiting", text = "nothing was recorded yet" } },
    Follower)
end

local by_itself <const> = "the program ended without stopping it"

-- an exit status as a state and a text
local function exit_text(status)
  if status >= 128 then return "killed", "killed by signal " .. status - 128 end
  return "ended", "ended" .. (status == 0 and "" or
    ", exit status " .. status)
end

-- The status of the program. `running`: did it run before the file was read?
local function status_of(self, meta, running)
  local program = self.program
  if program and not running then
    local state, text = exit_text(program.status)
    return { state = state, text = text }
  elseif not meta then
    return { state = "waiting", text = "nothing was recorded yet" }
  elseif meta.live then
    return { state = "running" }
  elseif meta.ended == by_itself or meta.ended == "a signal ended the program"
  then
    return { state = "killed" }
  elseif program then
    return { state = "running", text = "running, no longer recording" ..
      (meta.ended and ": " .. meta.ended or "") }
  end
  return { state = "ended", text = meta.ended and "ended: " .. meta.ended }
end

-- the status of the program if its file was removed or replaced
local function gone(self, running)
  local why, program = "the file cannot be read any more", self.program
  if not program or running then return { state = "ended", text = why } end
  local state, text = exit_text(program.status)
  return { state = state, text = text .. "; " .. why }
end

---Has the recording ended, as far as can be known?
---@return boolean
function Follower:settled()
  if self.outside then return self.outside.ended ~= nil end
  if self.lost then return true end
  local program, profile = self.program, self.profile
  if program and program:running() then return false end
  return profile ~= nil and not profile.meta.live and
    not core.islive(self.path)
end

-- are these profiles of the same recording?
local function same(a, b)
  return a.meta.pid == b.meta.pid and a.meta.started_at == b.meta.started_at
end

---Takes the samples that are due, if the program is sampled from outside.
---@return number at  when to call it again, in core.seconds(); math.huge: never
function Follower:sample()
  local outside = self.outside
  if not outside or outside.ended then return math.huge end
  local forbidden = outside:step(core.seconds())
  if forbidden then outside:finish(forbidden) end
  if outside.ended then self.due = 0 end
  return outside.ended and math.huge or outside.next
end

-- Makes a profile of the samples so far, as `load` does.
local function load_samples(self)
  local outside = self.outside
  if self.final then return nil end
  local figures = outside:figures()
  self.final = outside.ended ~= nil
  if figures.runs + figures.waits == 0 then
    local why = outside:why_none()
    self.status = { state = outside.ended and "ended" or "waiting", why = why,
      text = ("no sample was taken%s%s"):format(outside.ended and ": " ..
        outside.ended or " yet", why and ": " .. why or "") }
    return nil
  end
  self.profile = outside:profile()
  self.status = outside.ended and
    { state = "ended", text = "ended: " .. outside.ended } or
    { state = "running", text = "sampled from outside" }
  return self.profile, false
end

-- Loads the profile of all that was recorded.
local function load_all(self)
  if self.outside then return load_samples(self) end
  local program, before = self.program, self.profile
  local running = program ~= nil and program:running()
  if not self.path and program then self.path = program:recording() end
  if before and self.final and self:settled() then
    self.status = self.lost and gone(self, running) or
      status_of(self, before.meta, running)
    return nil
  end
  local profile = self.path and cprof.load(self.path)
  -- a recording that is about to begin has no figures yet
  if profile and profile.meta.live and profile.meta.wall_ns == 0 then
    profile = nil
  end
  if not profile then
    self.lost = before ~= nil and program ~= nil and not running
    self.final = self.final or self.lost
    self.status = before and self.path and gone(self, running) or
      status_of(self, nil, running)
    return nil
  end
  self.lost = false
  self.profile, self.final = profile, not running and not profile.meta.live
  self.status = status_of(self, profile.meta, running)
  return profile, before ~= nil and not same(before, profile)
end

---Loads the profile as it is now, and sets `status`. `anew`: is it of another
---recording than the last profile? nil: nothing is new, or it cannot be read.
---@return cprof.Profile? profile
---@return boolean? anew
function Follower:load()
  local profile, anew = load_all(self)
  if not profile or #(self.labels or {}) == 0 then return profile, anew end
  local part, why = labelled.profile(profile, self.labels)
  if not part then
    self.status = { state = self.status.state, text = why, why = why }
  end
  return part, anew
end

---Calls a function that looks at the recording. The next look is due after the
---interval, or later if this look took more than its share of a processor.
---@param interval number  seconds
---@param look fun()
function Follower:look(interval, look)
  local since, used = core.seconds(), os.clock()
  look()
  used = os.clock() - used
  self.due = since + (self.profile and interval or soon)
  self:spend(used)
end

---Makes the next look later, so that looks stay within their share.
---@param seconds number  of processor time that were spent
function Follower:spend(seconds)
  self.busy = math.max(self.busy or 0, core.seconds()) +
    seconds * (1 / self.share - 1)
  self.due = math.max(self.due, self.busy)
end

---Follows another run of the program.
---@param program cprof.FollowedProgram
function Follower:restart(program)
  self.program, self.path, self.final = program, nil, false
  self.lost = false
  self.status, self.due = status_of(self, nil, true), 0
end

---Waits for the program to end. If it does not, it gets the signals TERM and,
---some seconds later, KILL.
---@param seconds? number  before TERM; nil: the program has got TERM already
function Follower:settle(seconds)
  local ask = core.seconds() + (seconds or 0)
  local kill, asked = ask + patience, not seconds
  while self.program:running() do
    local now = core.seconds()
    if now > ask and not asked then
      asked = true
      self.program:signal "TERM"
    elseif now > kill then
      self.program:signal "KILL"
    end
    core.sleep(soon)
  end
end

return follow
