-- make bench-check: are the ratios of a bench worse than those that are kept?
--
--   check.lua KEPT NOW
--
-- Both are JSON files that the bench has written. Lists the workloads, and ends
-- with 1 if any is worse by more than the noise of the two runs, and by more
-- than a fiftieth.

local json = require "dkjson"

local SURE <const> = 2  -- times the noise of the difference
local LEAST <const> = 0.02

local function read(path)
  local file <close> = assert(io.open(path))
  local all = assert(json.decode(file:read "a")).ratios
  local by = {}
  for _, row in ipairs(all) do by[row.mode .. ", " .. row.workload] = row end
  return all, by
end

local _, kept = read(arg[1])
local now = read(arg[2])
local worse = 0
print(("%-32s %6s %6s %6s"):format("ratio", "before", "now", "noise"))
for _, row in ipairs(now) do
  local name = row.mode .. ", " .. row.workload
  local before = kept[name]
  local noise = before and (before.noise ^ 2 + row.noise ^ 2) ^ 0.5
  local lost = before and row.ratio - before.ratio >
    math.max(SURE * noise, LEAST * before.ratio)
  if lost then worse = worse + 1 end
  print(("%-32s %6s %6.2f %6s%s"):format(name,
    before and ("%.2f"):format(before.ratio) or "-", row.ratio,
    before and ("%.2f"):format(noise) or "-", lost and "  worse" or ""))
end
print(("%d of %d worse"):format(worse, #now))
os.exit(worse == 0)
