-- Writes the page of a program with slow calls and coroutines, in which only
-- what is said takes time, and what commands print of it: lua5.4 tails.lua
-- FOLDER

-- must be loaded before cprof
local driven = require "driven"

local folder = assert(arg[1], "name a folder")
local ms <const> = 1000000

local function append(n) driven.pass(n * ms // 10) end

local function read() driven.pass(ms, 8 * ms) end

local function handle(i)
  append(i == 37 and 200 or i % 5 + 1)
  if i == 12 then read() end
  if i == 20 then driven.pass(ms, 0, 30 * ms) end
end

local function hog()
  local function crunch() driven.pass(70 * ms, 5 * ms) end
  while true do
    crunch()
    coroutine.yield()
  end
end

local function polite()
  while true do
    driven.pass(ms)
    coroutine.yield()
  end
end

local function failing() error "x" end

local profiler = require "cprof"
local p = driven.parts(function()
  for i = 1, 50 do handle(i) end
  profiler.frame()
  coroutine.wrap(function() handle(37) end)()
  profiler.frame()
  local list = { coroutine.create(polite), coroutine.create(hog),
    coroutine.create(polite) }
  for _ = 1, 3 do
    for _, co in ipairs(list) do coroutine.resume(co) end
  end
  coroutine.resume(coroutine.create(failing))
end, { distribution = true, tasks = true })

local path = folder .. "/tails.cprof"
assert(p:html(folder .. "/tails.html"))
assert(p:save(path))

-- Prints what a command says of a profile.
local function print_of(name, command, file, wanted)
  assert(os.execute(("%s lua/cprof/bin/cprof %s --width=1000 --limit=50 " ..
    "'%s' %s >'%s/tails.%s.txt'"):format(arg[-1], command, file, wanted or "",
    folder, name)))
end

for name, command in pairs { slow = "slow", tasks = "tasks",
  handle = "show", append = "show" } do
  print_of(name, command, path, command == "show" and name)
end

-- what samples know of coroutines
local function work(n) for _ = 1, n do local _ = {} end end
local function inner() work(5) end
local function outer()
  work(2)
  coroutine.wrap(inner)()
end
local sampled = driven.known(function()
  work(10)
  coroutine.wrap(outer)()
end)
path = folder .. "/tails-sampled.cprof"
assert(sampled:html(folder .. "/tails-sampled.html"))
assert(sampled:save(path))
print_of("sampled", "tasks", path)
print_of("range", "tasks --from=0.011 --to=0.016", path)
