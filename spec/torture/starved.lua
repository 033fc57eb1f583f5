-- Memory that runs out at the n-th request of a session, once or from there
-- on: the program behaves as without, or has a memory error of its own; the
-- recording keeps what it has, and says why it ended; nothing leaks; and the
-- next recording is a whole one.
--
--   lua starved.lua FOLDER SEED SCALE
--
-- Each request of the recorder's own memory has its turn, in each mode, in
-- memory and in a file, and fails once or from there on; from a scale of 2
-- on, both. Of the requests of Lua there are as many as there is time for,
-- others with each seed; all of them from a scale of 150 on.

local host = require "spec_host"
local torture = require "torture"

local REQUESTS <const> = 100 -- of Lua's memory, of each way
local BOTH <const> = 2

-- What comes after 'arm' runs in a child for each request.
local recording <const> = [[
  local profiler = require "cprof"
  local torture = require "torture"
  local helper = require "helper"
  local options = OPTIONS
  local bare = torture.work()
  collectgarbage "incremental"
  arm()
  local started, refusal = pcall(profiler.start, options)
  local before = refused()
  local ok, result = pcall(torture.work)
  local during, hooked, repeated = refused()
  local p, unsaid = nil, nil
  if started then
    local called, snapshot = pcall(profiler.snapshot)
    if called then p = snapshot else unsaid = snapshot end
  end
  local reported, report = pcall(profiler.report)
  local stopped, unstopped = pcall(profiler.stop)
  local later = refused()
  disarm()
  pcall(profiler.stop)
  for _, text in pairs { refusal = refusal or nil, snapshot = unsaid or nil,
    report = not reported and report or nil,
    stop = not stopped and unstopped or nil } do
    if not tostring(text):find "memory" and
       not tostring(text):find "nothing was recorded" then
      error("no message about memory: " .. tostring(text), 0)
    end
  end
  local how = "refused"
  if started then
    p = profiler.snapshot()
    local ended = p.meta.ended
    assert(not ended or ended:find "memory", ended)
    if p.meta.unmatched == 0 then helper.check(p) end
    how = p.meta.unmatched > 0 and "unmatched" or ended and "ended" or
      later == 0 and "untouched" or "complete"
    assert(LUA or ended or during == before or repeated,
      "the recording does not say that it is incomplete")
    if options.file then
      local q, message = profiler.load(options.file)
      if q then helper.check(q)
      elseif not message:find "nothing was recorded" then error(message, 0)
      end
    end
  end
  -- if all requests fail from then on, the program's own ones do, too
  assert(not hooked or ok or LUA and not ONCE, "the hook raised: " ..
    tostring(result))
  assert(not ok or result == bare, result)
  if request() % 8 == 0 then
    profiler.start(options)
    assert(torture.work() == bare)
    profiler.stop()
    p = profiler.snapshot()
    assert(not p.meta.ended, p.meta.ended)
    helper.check(p)
  end
  return (ok and "fine " or "failed ") .. tostring(result) .. " " .. how
]]

local saving <const> = [[
  local profiler = require "cprof"
  local torture = require "torture"
  local helper = require "helper"
  profiler.start(OPTIONS)
  torture.work()
  profiler.stop()
  local p = profiler.snapshot()
  collectgarbage "incremental"
  arm()
  local called, saved, why = pcall(p.save, p, SAVED)
  local loads, q, reason = pcall(profiler.load, SAVED)
  local later = refused()
  disarm()
  if called and not saved then saved, called = why, false end
  assert(called or tostring(saved):find "memory", saved)
  assert(loads and q or tostring(q or reason):find "memory" or
    not called and tostring(reason):find "No such file", q or reason)
  if called then helper.check(assert(profiler.load(SAVED))) end
  helper.check(p)
  return "fine " .. (not called and "refused" or later == 0 and "untouched" or
    "complete")
]]

-- If a request of Lua's own fails, the metatable of the buffers of its
-- auxiliary library may stay incomplete; from then on, buffers raise this
-- error.
local LUAS_OWN <const> = "(C temporary)' got a non-closable value"

local function look(where, which, result, status, left)
  local own = which == "lua" and result:find(LUAS_OWN, 1, true)
  torture.tried(own and "with an error of Lua" or
    result:match "^f%a+ .-(%a+)$" or "wrong")
  if left ~= 0 then torture.fail("%s: %d bytes leaked", where, left) end
  if own then return end
  if status ~= 0 then
    torture.fail("%s: %s", where, result)
  elseif which == "cprof" and not result:find "^fine" then
    torture.fail("%s: the program met %s", where, result)
  elseif not result:find "^fine" and not result:find "memory" then
    torture.fail("%s: the program met %s", where, result)
  end
end

local file, saved = torture.path "starved.cprof", torture.path "saved.cprof"

-- requests from one of `from` on, in steps, and what is said of them
local function starve(name, text, which, once, from, asked, step, path)
  local what = ("%s, memory of %s%s"):format(name, which,
    once and ", once" or "")
  local list = host.starve(text, which, once, from, asked, step, path)
  for _, child in ipairs(list) do
    local where = ("%s, request %d of %d"):format(what, child.request, asked)
    local ended, lost, said = child.said:match "^(%d+) (%d+) (.*)$"
    if child.status ~= 0 or not ended then
      torture.tried "killed"
      torture.fail("%s: its process ended with %d", where, child.status)
    else look(where, which, said, tonumber(ended), tonumber(lost))
    end
  end
end

local function sessions(name, code, options)
  local path = code == saving and saved or file
  local turn = torture.seed + (options.file and 1 or 0)
  for _, which in ipairs { "cprof", "lua" } do
    local function text(once)
      return (code:gsub("%u%u%u+", { OPTIONS = torture.source(options),
        SAVED = ("%q"):format(saved), LUA = tostring(which == "lua"),
        ONCE = tostring(once) }))
    end
    os.remove(path)
    local result, status, asked, left = host.memory(text(true), which, -1)
    look(name .. ", all of it", which, result, status, left)
    for n, once in ipairs { false, true } do
      local step = math.max(1, math.ceil(BOTH / torture.scale))
      local from = (turn + n * step // 2) % step
      if which == "lua" then
        step = math.max(1, asked // torture.many(REQUESTS))
        from = torture.seed % step
      end
      starve(name, text(once), which, once, from, asked, step, path)
    end
  end
end

local ways = torture.ways()
for _, more in ipairs { { "include", { include = { "/./" } } },
  { "exclude", { exclude = { "nothing" } } },
  { "filtered lines", { mode = "line", lines = { "/./" } } },
  { "history", { history = "full", slow_frames = { budget_ms = 1e-6 } } },
  { "few nodes", { max_nodes = 16 } } } do
  ways[#ways + 1] = { name = more[1], options = more[2] }
end

for _, way in ipairs(ways) do
  local options = torture.options(way, { compensate = false })
  sessions(way.name, recording, options)
  sessions(way.name .. ", saved", saving, options)
  sessions(way.name .. " in a file", recording,
    torture.options(way, { compensate = false, file = file }))
end

os.remove(file)
os.remove(saved)
torture.done("starved", "sessions")
