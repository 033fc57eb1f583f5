-- How much of a program's running time no sample from outside stands for. Where
-- others, or the program itself, have cprof's processor, short work is over
-- before it can be looked at. The system counts for how long the program ran,
-- so the amount is known.

local unseen = {}

-- A difference counts if it is this many times as large as chance explains, and
-- at least this share of what ran.
local times <const>, least <const> = 2, 0.01

---The share of the program's running time that no sample stands for, 0 to 1.
---Samples come at random times, so they find it running for as large a part of
---the time as it runs.
---@param looks { runs: integer, all: integer, ran: number, whole: number }  how
---    many looks found it running, or running or waiting; and the time that
---    these stand for
---@param cpu number      for how long it ran
---@param waiting number  for how long it waited
---@return number
function unseen.share(looks, cpu, waiting)
  if looks.runs == 0 or cpu <= 0 or waiting <= 0 then return 0 end
  local part = cpu / (cpu + waiting)
  local seen = looks.ran / looks.whole
  local share = 1 - seen / part
  local chance = math.sqrt(part * (1 - part) / looks.all) / part
  return share > times * chance and share > least and share or 0
end

return unseen
