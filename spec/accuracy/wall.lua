-- C: the wall time without overhead, against that of the unprofiled program.

local trial = require "trial"

---Rows: name and, by way of compensating, the ratio; how long the program takes
---for each event, and what is left of an event's cost, in ns.
return function(programs, mode)
  local rows = {}
  for _, w in ipairs(programs) do
    local options = { mode = mode }
    for key, value in pairs(w.options or {}) do options[key] = value end
    local alone, ratios, events = {}, {}, nil
    local got = { raw = {}, compensated = {}, doubled = {} }
    for round = 1, w.rounds and 5 or 21 do
      alone[round] = trial.time(w.run)
      for how, p in pairs(trial.record(w.run, options)) do
        got[how][round] = trial.whole(p) / alone[round]
        events = p.meta.events
      end
    end
    for how, list in pairs(got) do ratios[how] = trial.median(list) end
    ratios.name = w.name
    ratios.event = trial.median(alone) / events
    ratios.left = ratios.event * (ratios.compensated - 1)
    rows[#rows + 1] = ratios
  end
  return rows
end
