-- Threads with a state each, recorded in all modes, under a compiler that
-- finds races.
--
--   lua threads.lua FOLDER SEED SCALE

local command = require "command"
local torture = require "torture"

local ROUNDS <const> = 2

local dir = torture.folder
local host = torture.path "threads"

local function must(line)
  local out, err, status = command.shell(line)
  if status ~= 0 then error(("%s\n%s%s"):format(line, out, err), 0) end
end

must(("make -s amalgamation B=%s"):format(command.quote(dir)))
must(("cc -std=c99 -O1 -g -fsanitize=thread -pthread -I$SPEC_INCLUDE -I%s " ..
  "-o %s %s/cprof.c spec/support/threads_host.c $SPEC_LINK -lm -ldl -lrt")
  :format(dir, host, dir))

local function chunk(options)
  return ("require 'cprof'.start(%s)"):format(torture.source(options))
end

local function run(name, starting)
  torture.tried()
  local out, err, status = command.shell(("env -u LUA_PATH -u LUA_CPATH " ..
    "TSAN_OPTIONS=halt_on_error=1 timeout 300 %s %s"):format(host,
    starting and command.quote(starting) or ""))
  if status ~= 0 or out ~= "done\n" or err ~= "" then
    torture.fail("%s: %s %s%s", name, status, out, err:sub(1, 4000))
  end
end

local file <const> = "/threads-' .. thread .. '.cprof"

for _ = 1, torture.many(ROUNDS) do
  run "the C API"
  for _, way in ipairs(torture.ways()) do
    run(way.name, chunk(way.options))
    run(way.name .. " in a file", (chunk(torture.options(way,
      { file = "FILE" })):gsub('"FILE"', ("'%s%s'"):format(dir, file))))
  end
end
for i = 0, 1 do os.remove(("%s/threads-%d.cprof"):format(dir, i)) end
os.remove(host)
torture.done("threads", "processes")
