-- M: calls of C functions of Lua's libraries. What a recording takes out for
-- each is compared with what the recording has added, on one processor, alone
-- and beside programs that never wait.

local busy = require "busy"
local trial = require "trial"

local turns <const>, rounds <const> = 50000, 9
local text <const> = ("abcdefghij"):rep(100)

-- loops with one call each
local bodies <const> = {
  "x = abs(1 - i)", "x = byte(S, i & 511)", "x = char(i & 127)",
  "x = concat(T, ',')", "x = find(S, 'j', 1, true)", "x = floor(i / 3)",
  "x = getmetatable(S)", "x = insert(U, 1, nil)", "x = len(S)", "x = next(T)",
  "x = rawget(T, 2)", "x = rawlen(T)", "x = rep('ab', 10)",
  "x = select('#', i, i)", "x = sub(S, i & 511, 512)", "x = tointeger(i)",
  "x = tostring(i)", "x = type(i)", "x = unpack(T)",
}

local function loops()
  local names = { S = text, T = { 1, 2, 3 }, U = {} }
  for _, library in ipairs { table, math, string, _G } do
    for name, f in pairs(library) do names[name] = names[name] or f end
  end
  local out = {}
  for i, body in ipairs(bodies) do
    local free, called = {}, body:match "= (%w+)"
    for name in pairs(names) do
      if body:find("%f[%w]" .. name .. "%f[%W]") then
        free[#free + 1] = name
      end
    end
    free = table.concat(free, ", ")
    out[i] = { name = called, run = load(("local %s = %s\n" ..
      "return function(n) local x = 1 for i = 1, n do %s end end"):format(free,
      free, body), "=" .. called, "t", names)() }
  end
  return out
end

local function recorded(p, name)
  for _, f in ipairs(p.functions) do
    if f.source == "=" .. name and f.kind == "Lua" then return f.total_ns end
  end
end

local calls = {}

---Rows: name and, by way of compensating, how many ns of overhead are left in
---the time of a call; below 0: how many too many were taken out.
function calls.measured()
  local list, errors = loops(), {}
  local function all()
    for _, one in ipairs(list) do one.run(turns) end
  end
  for i in ipairs(list) do
    errors[i] = { raw = {}, compensated = {}, doubled = {} }
  end
  all()
  for round = 1, rounds do
    local alone = {}
    for i, one in ipairs(list) do
      alone[i] = trial.time(function() one.run(turns) end)
    end
    for how, p in pairs(trial.record(all)) do
      for i, one in ipairs(list) do
        errors[i][how][round] = (recorded(p, one.name) - alone[i]) / turns
      end
    end
  end
  for i, one in ipairs(list) do
    for how, of in pairs(errors[i]) do errors[i][how] = trial.median(of) end
    errors[i].name = one.name
  end
  return errors
end

---Prints the rows, for `rows`.
function calls.tell()
  for _, row in ipairs(calls.measured()) do
    print(("%s %.3f %.3f %.3f"):format(row.name, row.raw, row.compensated,
      row.doubled))
  end
end

local function told(processor)
  local pipe = assert(io.popen(("taskset -c %d %s -e '%s'"):format(processor,
    arg[-1], 'require "calls".tell()')))
  local out = {}
  for name, raw, compensated, doubled in
      pipe:read "a":gmatch "(%w+) (%S+) (%S+) (%S+)\n" do
    out[#out + 1] = { name = name, raw = tonumber(raw),
      compensated = tonumber(compensated), doubled = tonumber(doubled) }
  end
  assert(pipe:close(), "the program of experiment M failed")
  return out
end

---Rows as in `measured`: of a processor of its own, and of a busy one.
function calls.rows()
  local processor <const> = 0
  local quiet = told(processor)
  local done = busy.neighbours(processor)
  local loaded = told(processor)
  done()
  return quiet, loaded
end

return calls
