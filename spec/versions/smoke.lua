-- Does cprof work on this machine? Needs nothing but cprof: records in each
-- mode, in memory and into a file, and makes of it all that can be made.
-- Prints how many checks passed, and which failed.

local export = require "cprof.export"
local merge = require "cprof.merge"
local profiler = require "cprof"

local passed, failed = 0, 0

local function check(what, ok, why)
  if ok then passed = passed + 1
  else
    failed = failed + 1
    io.write("failed: ", what, ": ", tostring(why), "\n")
  end
end

local function try(what, f, ...)
  local result = table.pack(pcall(f, ...))
  check(what, result[1] and result[2], result[1] and result[3] or result[2])
  return result[1] and result[2]
end

local function leaf() end
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end

local function work()
  for _ = 1, 100 do leaf() end
  fib(10)
  pcall(error, "x")
  local co = coroutine.wrap(function()
    for _ = 1, 10 do coroutine.yield() end
  end)
  for _ = 1, 10 do co() end
end

-- calls are exact, and self times add up to the whole
local function sound(what, p)
  local own = p.meta.mode == "count" and "self" or "self_ns"
  local sum, calls = 0, {}
  for _, f in ipairs(p.functions) do
    calls[f.name] = (calls[f.name] or 0) + f.calls
    sum = sum + (f[own] or 0)
  end
  check(what .. ": calls of leaf", calls.leaf == 100, calls.leaf)
  check(what .. ": calls of fib", calls.fib == 177, calls.fib)
  if p.meta.mode ~= "count" then
    local wall = p.meta.wall_ns - p.meta.paused_ns
    check(what .. ": times", sum == wall, ("%d of %d"):format(sum, wall))
  end
  check(what .. ": events", p.meta.unmatched == 0, p.meta.unmatched)
end

local function read(what, p)
  for _, mode in ipairs { "total", "self", "callgraph", "tree", "file" } do
    try(what .. ": report " .. mode, p.report, p, { mode = mode })
  end
  for _, row in ipairs(export.formats) do
    if not export.unfit(p, row) then
      local size = 0
      try(what .. ": " .. row.name, function()
        p:export(row.name, function(s) size = size + #s end)
        return size > 0
      end)
    end
  end
  try(what .. ": merge", function()
    local sum = assert(merge.sum { p, p })
    return #sum.nodes == #p.nodes
  end)
end

local function nothing() end

local ways <const> = {
  { "call", {} }, { "line", { mode = "line" } },
  { "count", { mode = "count" } },
  { "trace", { mode = "trace", trace = nothing } },
  { "fold", { recursion = "fold" } }, { "call sites", { callsites = true } },
  { "filter", { exclude = { "nothing" } } },
}

local path = os.tmpname()
for _, way in ipairs(ways) do
  local what, options = way[1], way[2]
  for _, file in ipairs { false, path } do
    os.remove(path)
    options.file = file or nil
    local name = file and what .. " into a file" or what
    local ok, why = pcall(profiler.start, options)
    if not ok and what == "count" and why:find "direct" or
       why and tostring(why):find 'mode "count" needs' then
      io.write("not here: ", tostring(why), "\n")
    else
      check(name .. ": start", ok, why)
      work()
      profiler.stop()
      local p = try(name .. ": snapshot", profiler.snapshot)
      if p then
        sound(name, p)
        if file then
          p = try(name .. ": load", profiler.load, path)
          if p then
            sound(name .. ", loaded", p)
            read(name, p)
          end
        else
          try(name .. ": save", p.save, p, path)
          try(name .. ": load saved", profiler.load, path)
          read(name, p)
        end
      end
    end
  end
end
os.remove(path)

io.write(("%d passed, %d failed\n"):format(passed, failed))
os.exit(failed == 0)
