-- H: mode "line": half of the time in C, half in a loop of Lua; and lines
-- of Lua whose weights are known.

local spin = require "accuracy_spin"
local trial = require "trial"

local turns, length = 400, 60

-- what lines of programs do: numbers, tables, strings
local function loop()
  local list, text, x = {}, "", 1
  for i = 1, length do
    x = (x * 5 + i) % 65537
    list[i % 16 + 1] = { number = x, before = list[i % 7 + 1] and i }
    text = "line " .. i .. ": " .. x
    if #text > 10 and list[1] then x = x + list[1].number % 3 end
  end
  return text
end

local ticks

local function lua() for _ = 1, turns do loop() end end

local function both()
  for _ = 1, turns do
    loop()
    spin.spin(ticks)
  end
end

local lines = {}

---Share of the C function: true, as recorded and compensated, in percent.
function lines.share()
  local own = {}
  for round = 1, 9 do own[round] = trial.time(lua) end
  ticks = math.floor(trial.median(own) / turns / trial.ns_per_tick)
  local truth, got = {}, { raw = {}, compensated = {}, doubled = {} }
  for round = 1, 15 do
    spin.spun()
    local alone = trial.time(both)
    truth[round] = spin.spun() * trial.ns_per_tick / alone * 100
    for how, p in pairs(trial.record(both, { mode = "line" })) do
      got[how][round] = trial.named(p, "accuracy_spin.spin").self_ns /
        trial.whole(p) * 100
    end
  end
  local out = { truth = trial.median(truth) }
  for how, list in pairs(got) do out[how] = trial.median(list) end
  return out
end

-- a loop of these lines, or of one of them alone, at the same place
local function weighted(texts, which)
  local code = { "return function(n) local x, t = 0, { 1, 2, 3, 4, 5 } " ..
    "for i = 1, n do" }
  for line, text in ipairs(texts) do
    code[#code + 1] = (which == nil or which == line) and text or ""
  end
  code[#code + 1] = "end return x end"
  return assert(load(table.concat(code, "\n"), "=weighted"))()
end

---Lines that do the same 5, 10, 20 and 40 times.
---@param statement string
---@return string[]
function lines.repeated(statement)
  local texts = {}
  for line, count in ipairs { 5, 10, 20, 40 } do
    texts[line] = statement:rep(count)
  end
  return texts
end

---Lines whose instructions take different times.
lines.mixed = { ("x = { i } "):rep(4), ("x = i * 3 + i "):rep(30),
  ("x = t[1] t[2] = i "):rep(15), ("x = i % 7 "):rep(10), "x = 'a' .. i ",
  "x = i " }

---Of each line: its true share of all of them, and those reported.
function lines.weights(texts)
  local all, empty = weighted(texts), weighted(texts, 0)
  local single, out = {}, {}
  for line in ipairs(texts) do
    single[line] = weighted(texts, line)
    out[line] = { truth = {}, raw = {}, compensated = {}, doubled = {} }
  end
  local function time(f) return trial.time(function() f(1000) end) end
  local function note(how, round, of)
    local sum = 0
    for line in ipairs(texts) do sum = sum + of[line] end
    for line in ipairs(texts) do
      out[line][how][round] = sum > 0 and of[line] / sum * 100 or 0
    end
  end
  for round = 1, 15 do
    local of, none = {}, time(empty)
    for line, f in ipairs(single) do of[line] = time(f) - none end
    note("truth", round, of)
    local got = trial.record(function() all(1000) end, { mode = "line" })
    for how, p in pairs(got) do
      for line in ipairs(texts) do
        of[line] = p.lines["=weighted"][line + 1].self_ns
      end
      note(how, round, of)
    end
  end
  for line in ipairs(texts) do
    for how, list in pairs(out[line]) do out[line][how] = trial.median(list) end
  end
  return out
end

return lines
