-- Lets a spec drive time, and the samples that come with it, so that figures
-- are exact. This is for the copy of cprof in the library of hosts. To be
-- loaded before all else.

local path = assert(package.searchpath("spec_host", package.cpath))
local open = assert(package.loadlib(path, "luaopen_cprof_core"))
assert(not package.loaded["cprof.core"], "cprof was loaded before")
package.loaded["cprof.core"] = open "cprof.core"

local axes = require "cprof.profile.axis"
local core = require "cprof.core"
local profile = require "cprof.profile"
local profiler = require "cprof"
local ticks = assert(package.loadlib(path, "luaopen_spec_ticks"))()

local driven = {}

---@type fun(ns?: integer)  a reading of the processor's clock takes `ns`
driven.cpu = ticks.cpu
---@type fun(n: integer)   n ticks come during this call
driven.wait = ticks.wait
---@type fun(ns: integer)  time passes, with the ticks that are due
driven.sleep = ticks.sleep
---@type fun()             the program takes the signal
driven.lose = ticks.lose
---@type fun(mask: integer, count: integer)  a tick, and another hook
driven.tear = ticks.tear
---@type fun(number: integer)  this signal comes when the hook of the next
---sample has begun
driven.raise = ticks.raise

---@type fun(ran: integer, waited?: integer, preempted?: integer,
---  uncounted?: boolean)  within `driven.parts`: lets ns of each kind pass;
---`uncounted`: the system does not tell yet that others had the processor
driven.pass = ticks.pass
---@type fun(n: integer, ns: integer)  before the clock is read for the nth
---time from now, other programs have the processor for `ns`
driven.rob = ticks.rob

---Records a call of `f`, in which only `driven.pass` takes time.
---@param f function
---@param options? table
---@param unknown? boolean  is it unknown when others had the processor?
---@return cprof.Profile
function driven.parts(f, options, unknown)
  options = options or {}
  options.compensate = false
  ticks.parts(true, not unknown)
  profiler.start(options)
  local ok, why = pcall(f)
  profiler.stop()
  local p = profiler.snapshot()
  ticks.parts(false)
  if not ok then error(why, 0) end
  return require "helper".check(p)
end

---Records a call of `f`, where each reading of the clock takes `ns`.
---@param ns integer
---@param f function
---@param options? table
---@return cprof.Profile
function driven.record(ns, f, options)
  assert(ticks.clock(ns))
  profiler.start(options)
  local ok, why = pcall(f)
  profiler.stop()
  local p = profiler.snapshot()
  assert(ticks.clock())
  if not ok then error(why, 0) end
  return p
end

---Records a call of `f`, in which each new table takes `ns`, each reading of
---the clock a thousandth of it, and nothing else takes time.
---@param ns integer
---@param f function
---@param options? table
---@return cprof.Profile
---@return any result  of `f`
function driven.tables(ns, f, options)
  assert(ticks.drive(true, ns))
  driven.cpu(ns // 1000)
  profiler.start(options)
  ticks.tables(true)
  local ok, result = pcall(f)
  ticks.tables(false)
  profiler.stop()
  local p = profiler.snapshot()
  assert(ticks.drive(false))
  if not ok then error(result, 0) end
  return p, result
end

---Lets the profiler measure what recording with these options costs, where
---each reading of the clock takes `ns`.
---@param ns integer
---@param options table
function driven.calibrate(ns, options)
  options.clock = "cpu"
  driven.cpu(ns)
  -- the median of five counts, also of those that had another clock
  for _ = 1, 5 do profiler.calibrate(options) end
end

---`driven.tables`, where the profiler believes that a reading takes `less`: so
---there is overhead, and there is time that is left.
---@param ns integer
---@param less integer
---@param f function
---@param options? table
---@return cprof.Profile
function driven.compensate(ns, less, f, options)
  options = options or {}
  driven.calibrate(less, options)
  profiler.start(options)
  driven.cpu(ns)
  local ok, why = pcall(f)
  driven.cpu(less)
  profiler.stop()
  local p = profiler.snapshot()
  driven.cpu()
  if not ok then error(why, 0) end
  return p
end

---Begins to sample. At each new table a millisecond goes by, and a tick
---comes; or `apart` ns, and a tick comes when one is due.
---@param options table  of start
---@param apart? integer
function driven.start(options, apart)
  options.mode = "sample"
  assert(ticks.drive(true, apart or 1000000, apart))
  profiler.start(options)
  ticks.tables(true)
end

---@return cprof.Profile
function driven.stop()
  ticks.tables(false)
  profiler.stop()
  local p = profiler.snapshot()
  assert(ticks.drive(false))
  return require "helper".check(p)
end

---The profile of a call of `f`.
---@param f function
---@param options? table
---@param apart? integer
---@return cprof.Profile
function driven.sample(f, options, apart)
  driven.start(options or {}, apart)
  local ok, why = pcall(f)
  local p = driven.stop()
  if not ok then error(why, 0) end
  return p
end

---The profile of a second call of `f`: by then all functions are known, so
---that nothing but their tables takes time.
---@param f function
---@param options? table
---@return cprof.Profile
function driven.known(f, options)
  driven.start(options or {})
  f()
  profiler.reset()
  f()
  return driven.stop()
end

---The profile of a program that sleeps and works, and samples of it, for
---`driven.told`: a watching thread tells of waits when the next sample of work
---comes. There are `n` samples of work, which stand for 2 ms each. Between two
---of them, the program sleeps four times for 20 ms, and then works for 0.5 ms.
---@param n integer
---@param late? number  ms after that time, when these samples come
---@return cprof.Profile p
---@return table[] list
function driven.sleeper(n, late)
  local function handle() for _ = 1, 2 do local _ = {} end end
  local function sleep() for _ = 1, 2 do local _ = {} end end
  local p = driven.known(function()
    handle()
    sleep()
  end)
  local list = {}
  for i = 1, n do
    local at = 82 * i + (late or 0)
    list[#list + 1] = { at, 5, nil, true }
    list[#list + 1] = { at, i % 2 == 0 and 70 or 80, "sleep", true }
    list[#list + 1] = { at, 2, "handle" }
  end
  return p, list
end

---Calls `f` while time axes have other samples.
---@param p cprof.Profile
---@param list table[]  each: when it was taken, and what it stands for, in ms;
---    the name of the function, nil: not recorded; whether it waits. The
---    recording ends when the last one was taken, or after `list.lasts` ms
---@param f fun(): any
---@return any result  of `f`
function driven.told(p, list, f)
  local places, of = core.axis_places(profile.axis(p)), {}
  for i = 1, #places, 2 do
    local _, func = core.node(p.nodes, places[i])
    of[func and p.functions[func].name or ""] = i // 2 + 1
  end
  local each, wall = axes.each, p.meta.wall_ns
  p.meta.wall_ns = (list.lasts or list[#list][1]) * 1000000 // 1 | 0
  axes.each = function()
    local at = 0
    return function()
      at = at + 1
      local s = list[at]
      if not s then return nil, 0, 0, false, 0 end
      return s[1] * 1e6, s[2] * 1e6, s[3] and assert(of[s[3]]) or 0,
        s[4] or false, 1
    end
  end
  local ok, result = pcall(f)
  axes.each, p.meta.wall_ns = each, wall
  return assert(ok and result, result)
end

return driven
