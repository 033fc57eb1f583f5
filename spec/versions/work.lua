-- What smoke.lua records: each function does one thing, so often that the
-- exact figures are known.

local work = {}

-- calls of each function in one round, whatever the mode and machine
work.calls = {
  leaf = 100, fib = 177, hop = 51, fail = 80, yielder = 10, body = 2,
  closed = 5, make = 50,
}

local function leaf() end

local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end

local function hop(n)
  if n == 0 then return 0 end
  return hop(n - 1)
end

local function fail(n)
  if n == 0 then error "as it should" end
  fail(n - 1)
  return n
end

local function yielder() coroutine.yield() end

local function body(fails)
  for _ = 1, 5 do yielder() end
  if fails then error "in a coroutine" end
end

local function closed() end

local function make() return {} end

---The line, hits of it in one round.
work.line, work.hits = debug.getinfo(1, "l").currentline + 5, 100

function work.round()
  local kept = {}
  for _ = 1, 100 do
    leaf()
  end
  fib(10)
  hop(50)
  for _ = 1, 20 do pcall(fail, 3) end
  for _, fails in ipairs { false, true } do
    local co = coroutine.create(body)
    while coroutine.resume(co, fails) and
      coroutine.status(co) ~= "dead" do end
  end
  for _ = 1, 5 do
    local _ <close> = setmetatable({}, { __close = closed })
  end
  for i = 1, 50 do kept[i] = make() end
  return kept
end

local function burn()
  local n = 0
  for i = 1, 20000 do n = n + i % 7 end
  return n
end

---Burns processor time for this many seconds.
function work.spin(seconds)
  local ends = os.clock() + seconds
  repeat burn() until os.clock() > ends
end

return work
