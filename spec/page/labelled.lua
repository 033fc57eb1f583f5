-- Writes pages of a program with labels. Its clock is driven, so its times are
-- the same in every run: lua5.4 labelled.lua FOLDER

-- must be loaded before cprof
local driven = require "driven"

local folder = assert(arg[1], "name a folder")
local ms <const> = 1000000

local profiler = require "cprof"

local function program(pass)
  local function shared(n) pass(n) end
  local function handle(endpoint, user, n)
    local _ <close> = profiler.label { endpoint = endpoint, user = user }
    shared(n)
  end
  handle("/login", "a \"b\", c", 10)
  handle("/login", "ann", 20)
  handle("/search", "ann", 30)
  pass(40)
end

local function samples(n) for _ = 1, n do local _ = {} end end

local exact = driven.parts(function()
  program(function(n) driven.pass(n * ms) end)
end, { c_functions = false })
assert(exact:html(folder .. "/labelled.html"))
local sampled = driven.sample(function() program(samples) end)
assert(sampled:html(folder .. "/labelled-samples.html"))
