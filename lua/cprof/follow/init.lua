-- A recording that is looked at while it is made: in a file, by a program
-- that may have been started to be watched.

local core = require "cprof.core"
local cprof = require "cprof"

local follow = {}

---@class cprof.FollowStatus
---@field state "waiting"|"running"|"ended"|"killed"
---@field text? string

---@class cprof.Follower
---@field path? string      nil: the program has not begun to record
---@field program? cprof.FollowedProgram  that was started
---@field profile? cprof.Profile          that was loaded last
---@field status cprof.FollowStatus
---@field final? boolean    was it loaded after its end?
---@field due number        when to look again, as core.seconds tells
---@field private busy? number  until then, the share is used up
---@field private share number  of a processor's time that looking may take
local Follower = {}
Follower.__index = Follower

-- seconds that a program has to end after it was asked to
local patience <const> = 3

-- seconds between two looks for what has not begun yet
local soon <const> = 0.05

---@param of { path: string?, program: cprof.FollowedProgram?, share: number }
---@return cprof.Follower
function follow.new(of)
  return setmetatable({ path = of.path, program = of.program, due = 0,
    share = of.share, status = { state = "waiting",
      text = "nothing was recorded yet" } }, Follower)
end

local by_itself <const> = "the program ended without stopping it"

local function exit_text(status)
  if status >= 128 then return "killed", "killed by signal " .. status - 128 end
  return "ended", "ended" .. (status == 0 and "" or
    ", exit status " .. status)
end

-- how the program fared before its figures were read
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
  end
  return { state = "ended", text = meta.ended and "ended: " .. meta.ended }
end

-- how the program fared, where its file was removed or replaced
local function gone(self, running)
  local why, program = "the file cannot be read any more", self.program
  if not program or running then return { state = "ended", text = why } end
  local state, text = exit_text(program.status)
  return { state = state, text = text .. "; " .. why }
end

---Is there nothing new to be expected, as far as can be known?
---@return boolean
function Follower:settled()
  local program, profile = self.program, self.profile
  if program and program:running() then return false end
  return profile ~= nil and not profile.meta.live and
    not core.islive(self.path)
end

local function same(a, b)
  return a.meta.pid == b.meta.pid and a.meta.started_at == b.meta.started_at
end

---Loads what there is now: the profile, and is it another recording than
---the one before? nil: there is nothing new, or it cannot be read.
---@return cprof.Profile? profile
---@return boolean? anew
function Follower:load()
  local program, before = self.program, self.profile
  local running = program ~= nil and program:running()
  if not self.path and program then self.path = program:recording() end
  if before and self.final and self:settled() then
    self.status = status_of(self, before.meta, running)
    return nil
  end
  local profile = self.path and cprof.load(self.path)
  if not profile then
    self.status = before and self.path and gone(self, running) or
      status_of(self, nil, running)
    return nil
  end
  self.profile, self.final = profile, not running and not profile.meta.live
  self.status = status_of(self, profile.meta, running)
  return profile, before ~= nil and not same(before, profile)
end

---Calls a function that looks at the recording. What that takes of a
---processor makes the next look later than the interval says.
---@param interval number  seconds
---@param look fun()
function Follower:look(interval, look)
  local since, used = core.seconds(), os.clock()
  look()
  used = os.clock() - used
  self.due = since + (self.profile and interval or soon)
  self:spend(used)
end

---What took so many seconds of a processor makes the next look later.
---@param seconds number
function Follower:spend(seconds)
  self.busy = math.max(self.busy or 0, core.seconds()) +
    seconds * (1 / self.share - 1)
  self.due = math.max(self.due, self.busy)
end

---Another run of a program begins.
---@param program cprof.FollowedProgram
function Follower:restart(program)
  self.program, self.path, self.final = program, nil, false
  self.status, self.due = status_of(self, nil, true), 0
end

---Waits for the program to end; after some time, it is made to.
---@param seconds? number  that it has before it is asked once more
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
