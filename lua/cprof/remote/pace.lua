-- When a program that is read from outside is looked at: at random moments, as
-- often as requested, unless stops cost it too much. A look that comes late
-- does not count: cprof had no processor until then, and often gets one just as
-- the program stops computing, so short work would be missed.

---@class cprof.Pace
---@field next number      when the next look is due, in seconds
---@field private began number
---@field private rate integer
---@field private random fun(): number
---@field private mean number    seconds from one look to the next, on average
---@field private early number   seconds that a fifth of the looks are not late
---@field private looks integer
---@field private stops integer
---@field private stopped number  seconds of all stops
---@field private typical number? seconds of a stop, usually
local Pace = {}
Pace.__index = Pace

local pace = {}

-- The largest shares of its time for which the program is stopped: if all stops
-- had the usual length; and with their real lengths, which may be far longer,
-- as others have cprof's processor. The latter share may be used up for this
-- many seconds ahead.
local share <const>, highest <const>, ahead <const> = 0.02, 0.05, 1

-- The first stop counts as at most this many seconds: alone, it does not tell
-- whether it took long by chance.
local first <const> = 0.0001

-- A look counts if it is at most this many seconds late, or this many times as
-- late as the least late fifth of all looks.
local tolerance <const>, times <const> = 0.0001, 3

---@param rate integer  looks a second that are asked for
---@param now number    in seconds, of any clock
---@param random (fun(): number)?  from 0 to 1, without 1
---@return cprof.Pace
function pace.new(rate, now, random)
  return setmetatable({ next = now, began = now, rate = rate,
    random = random or math.random, mean = 1 / rate,
    early = tolerance / times, looks = 0, stops = 0, stopped = 0 }, Pace)
end

---Sets when the next look is due. It does not depend on earlier looks, so looks
---are never in step with the program.
---@param now number
function Pace:plan(now)
  local allowed = self.began + self.stopped / highest - ahead
  self.next = math.max(now, allowed) -
    math.log(1 - self.random()) * self.mean
end

---By how many seconds a look may be late and still count.
---@return number
function Pace:late() return math.max(tolerance, self.early * times) end

---Counts a look at one state.
---@param late number     by how many seconds it came late
---@param stopped number  for how many seconds the program was stopped
---@param states integer  how many are looked at
function Pace:looked(late, stopped, states)
  self.looks = self.looks + 1
  -- 4 steps down for each up: so it stays where a fifth of them are below
  self.early = self.early * (late > self.early and 1.05 or 1.05 ^ -4)
  if stopped > 0 then
    local typical = self.typical or math.min(stopped, first)
    self.stops, self.stopped = self.stops + 1, self.stopped + stopped
    self.typical = typical * (stopped > typical and 1.05 or 0.95)
    self.mean = math.max(1 / self.rate,
      self.typical * self.stops / self.looks / share * states)
  end
end

---The average time between two looks, in seconds.
---@return number
function Pace:between() return self.mean end

return pace
