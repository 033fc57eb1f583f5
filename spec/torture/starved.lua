-- Memory that runs out at the n-th request of a session, for every n, or as
-- many of them as there is time for: the program behaves as without, or has
-- a memory error of its own; the recording keeps what it has, and says why
-- it ended; nothing leaks.
--
--   lua starved.lua FOLDER SEED SCALE

local host = require "spec_host"
local torture = require "torture"

local REQUESTS <const> = 80 -- of each way and memory

local code <const> = [[
  local profiler = require "cprof"
  local torture = require "torture"
  local options = OPTIONS
  collectgarbage "incremental"
  arm()
  local started, refused = pcall(profiler.start, options)
  local ok, why = pcall(torture.work)
  local p, unsaid = nil, nil
  if started then
    local called, snapshot = pcall(profiler.snapshot)
    if called then p = snapshot else unsaid = snapshot end
  end
  local reported, report = pcall(profiler.report)
  local stopped, unstopped = pcall(profiler.stop)
  disarm()
  pcall(profiler.stop)
  local out = {}
  for _, text in ipairs { refused, unsaid or nil, not reported and report,
    not stopped and unstopped } do
    if text and not tostring(text):find "memory" and
       not tostring(text):find "nothing" then
      error("no message about memory: " .. tostring(text), 0)
    end
  end
  if started then
    p = profiler.snapshot()
    assert(not p.meta.ended or p.meta.ended == "out of memory" or
      p.meta.ended:find "memory", p.meta.ended)
    if p.meta.unmatched == 0 then require "helper".check(p) end
    out[1] = p.meta.ended and "ended" or "complete"
    if options.file then
      local q, message = profiler.load(options.file)
      if not q and not message:find "nothing was recorded" then
        error(message, 0)
      end
    end
  else out[1] = "refused"
  end
  return (ok and "fine " or "failed ") .. tostring(why) .. " " .. out[1]
]]

-- Where a request of its own fails, Lua keeps the metatable of the buffers
-- of its library half-made: from there on, these raise this.
local LUAS_OWN <const> = "(C temporary)' got a non-closable value"

local function look(where, which, result, status, left)
  local own = which == "lua" and result:find(LUAS_OWN, 1, true)
  torture.tried(own and "with an error of Lua" or result:match "%a+$")
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

local file = torture.path "starved.cprof"

for _, way in ipairs(torture.ways()) do
  for _, more in ipairs { { compensate = false },
    { compensate = false, file = file } } do
    local options = torture.source(torture.options(way, more))
    local text = code:gsub("OPTIONS", (options:gsub("%%", "%%%%")))
    for _, which in ipairs { "cprof", "lua" } do
      local what = ("%s%s, memory of %s"):format(way.name,
        more.file and " in a file" or "", which)
      os.remove(file)
      local result, status, asked, left = host.memory(text, which, -1)
      look(what .. ", all of it", which, result, status, left)
      -- each of them has its turn, from seed to seed
      local step = math.max(1, asked // torture.many(REQUESTS))
      for n = torture.seed % step, asked, step do
        os.remove(file)
        result, status, _, left = host.memory(text, which, n)
        look(("%s, request %d of %d"):format(what, n, asked), which, result,
          status, left)
      end
    end
  end
end

os.remove(file)
torture.done("starved", "sessions")
