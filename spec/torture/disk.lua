-- Files that cannot be written: a full disk, a limit on their size, a folder
-- that is read-only, a file that is replaced, cut or removed while a program
-- records into it, and two programs that write one file. The program goes on
-- and keeps its exit status, and what happened is said.
--
--   lua disk.lua FOLDER SEED SCALE

local command = require "command"
local profiler = require "cprof"
local torture = require "torture"

local ROUNDS <const> = 1

-- records itself into the file it is given, does this and that, and says how
-- its recording ended; its own results are those on its first line
local code <const> = [[
  local profiler = require "cprof"
  local torture = require "torture"
  local sum = 0
  local options = OPTIONS
  options[options.keep_last and "live_file" or "file"] = arg[1]
  local started, why = pcall(profiler.start, options)
  local function many(from, upto)
    for i = from, upto do
      local text = ("local function f%d(n)\n return n\nend\nreturn f%d(1)\n")
        :format(i, i)
      sum = sum + assert(load(text .. ("-- some more\n"):rep(100)))()
      if i % 50 == 0 then torture.work(false) end
    end
  end
  many(1, 500)
  MEANWHILE
  many(501, 1000)
  if started then profiler.stop() end
  print(sum)
  if not started then print(why) os.exit(7) end
  local p = profiler.snapshot()
  local helper = require "helper"
  helper.check(p)
  assert(#p:report() > 0)
  print(p.meta.ended or "complete")
  os.exit(7, true)
]]

local script = torture.path "disk.lua"

local function write_script(way, meanwhile)
  local text = code:gsub("%u%u%u+", { OPTIONS = torture.source(way.options),
    MEANWHILE = meanwhile or "" })
  torture.write(script, text)
end

-- What the program says, and the file afterwards; `expected`: how it ends.
local function try(name, way, line, expected, file)
  torture.tried(name)
  name = ("%s (%s)"):format(name, way.name)
  local out, err, status = command.shell(line)
  local result, said = out:match "^(%d+)\n(.-)\n*$"
  if status ~= 7 or result ~= "1000" then
    return torture.fail("%s: exit status %s, %q, %s", name, status, out, err)
  end
  -- a recording of few samples may fit on the disk
  local small = way.name == "sample" and said == "complete"
  if not said:find(expected, 1, true) and not small then
    return torture.fail("%s: it says %q, not %q", name, said, expected)
  end
  if not file then return end
  local p, why = profiler.load(file)
  if not p then return torture.fail("%s: %s", name, why) end
  local sound, what = pcall(require "helper".check, p)
  if not sound then torture.fail("%s: %s", name, what) end
end

local file = torture.path "disk.cprof"
local mount = torture.path "mounted"

-- something is mounted while these words run; nil: nothing can be
local function mounted(kind, words)
  return ("unshare -rm sh -c %s"):format(command.quote(
    ("mount -t tmpfs -o %s tmpfs %s && %s"):format(kind,
      command.quote(mount), words)))
end

local run = "$SPEC_LUA " .. command.quote(script)

os.execute("mkdir -p " .. command.quote(mount))
local mounts = os.execute(mounted("size=100k", "true") .. " 2>/dev/null")
if not mounts then
  io.stdout:write("disk: nothing can be mounted here, so no full disk\n")
end

local function full(way)
  if not mounts then return end
  write_script(way, "")
  try("full disks", way, mounted("size=700k",
    ("%s %s/x.cprof"):format(run, mount)), "no space left for the file")
end

local function limited(way)
  write_script(way)
  os.remove(file)
  try("sizes", way, ("ulimit -f 1000; %s %s"):format(run, file),
    "the file has reached the process's size limit", file)
end

local function read_only(way)
  if not mounts then return end
  write_script(way)
  try("read-only folders", way, mounted("ro",
    ("%s %s/x.cprof"):format(run, mount)), "Read-only file system")
end

local other = torture.path "other.cprof"

local meddlings = {
  { "replaced", 'assert(os.rename("OTHER", arg[1]))', "complete" },
  { "removed", "assert(os.remove(arg[1]))", "complete" },
  { "cut", 'assert(os.execute("truncate -s 5000 " .. arg[1]))',
    "another program truncated the file" },
  { "emptied", 'assert(io.open(arg[1], "wb")):close()',
    "another program truncated the file" },
}

local function meddled(way)
  for _, kind in ipairs(meddlings) do
    os.remove(file)
    profiler.start { file = other }
    torture.work()
    profiler.stop()
    local before = torture.read(other)
    write_script(way, (kind[2]:gsub("OTHER", other)))
    try(kind[1], way, ("%s %s"):format(run, file), kind[3])
    if kind[1] == "replaced" and torture.read(file) ~= before then
      torture.fail "replaced: what replaced it was written to"
    end
  end
end

-- the second one has no file, the first one never knows
local function doubled(way)
  write_script(way, ([[
    local words = arg[2] or %s
    local pipe = words ~= "" and io.popen(words .. " 2>&1")
    local text = pipe and pipe:read "a" or ""
    local _, _, status = false, false, 7
    if pipe then _, _, status = pipe:close() end
    assert(text == "" or text:find "writes to it" and
      text:find "^1000\n", text)
    assert(status == 7, status)
  ]]):format(("%q"):format(("%s %s ''"):format(run, file))))
  os.remove(file)
  try("two writers", way, ("%s %s"):format(run, file), "complete", file)
end

-- as the command says it
local function commanded()
  write_script({ options = {} })
  torture.write(script, "print 'alive' os.exit(7)")
  torture.write(other, "text")
  local cases = {
    { "no folder", "run -o " .. mount .. "/none/x.cprof", "No such file" },
    { "a folder", "run -o " .. mount, "" },
    { "text", "run -o " .. other, "exists and is not a profile" },
  }
  for _, case in ipairs(cases) do
    torture.tried "commands"
    local out, err, status = command.shell(("$SPEC_LUA lua/cprof/bin/cprof " ..
      "%s %s"):format(case[2], script))
    if status ~= 2 or out ~= "" or not err:find(case[3], 1, true) or
       select(2, err:gsub("\n", "")) ~= 1 then
      torture.fail("run, %s: %s %q %q", case[1], status, out, err)
    end
  end
  if not mounts then return end
  torture.tried "commands"
  local out, err, status = command.shell(mounted("ro", ("env CPROF=1 " ..
    "CPROF_OPTIONS=file=%s/x.cprof $SPEC_LUA -lcprof.auto %s"):format(mount,
    script)))
  if status ~= 7 or out ~= "alive\n" or not err:find "Read%-only" then
    torture.fail("cprof.auto: %s %q %q", status, out, err)
  end
end

for _ = 1, torture.many(ROUNDS) do
  for _, way in ipairs(torture.ways()) do
    full(way)
    limited(way)
    read_only(way)
    meddled(way)
    doubled(way)
  end
  commanded()
end

for _, path in ipairs { script, file, other } do os.remove(path) end
os.execute("rmdir " .. command.quote(mount))
torture.done("disk", "programs")
