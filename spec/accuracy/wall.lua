-- C: what is left of the wall time, against that of the program alone.

local trial = require "trial"
local workloads = require "workloads"

---Rows: name and, of each way to look at it, the ratio.
return function(mode)
  local rows = {}
  for _, w in ipairs(workloads) do
    local options = { mode = mode }
    for key, value in pairs(w.options or {}) do options[key] = value end
    local alone, ratios = {}, {}
    local got = { raw = {}, compensated = {}, doubled = {} }
    for round = 1, w.rounds and 5 or 15 do
      alone[round] = trial.time(w.run)
      for how, p in pairs(trial.record(w.run, options)) do
        got[how][round] = trial.whole(p)
      end
    end
    for how, list in pairs(got) do
      ratios[how] = trial.least(list) / trial.least(alone)
    end
    ratios.name = w.name
    rows[#rows + 1] = ratios
  end
  return rows
end
