-- Does cprof work on this machine? Needs nothing but cprof: records in each
-- mode, in memory and into a file, and makes of it all that can be made.
--
--   smoke.lua FOLDER [OTHER]
--
-- Its files stay in FOLDER, with what is the same on all machines: exact
-- figures, and sums of the exports. OTHER is such a folder of another
-- machine: figures are compared, and its files read, or refused where they
-- must be. Prints how many checks passed, which failed, and what this
-- machine does not have.

local export = require "cprof.export"
local merge = require "cprof.profile.merge"
local profiler = require "cprof"
local work = require "work"

local folder, other = arg[1], arg[2]

local passed, failed = 0, 0
local figures, sums = {}, {} -- lines

local function say(...) io.write(table.concat { ... }, "\n") end

local function check(what, ok, why)
  if ok then passed = passed + 1
  else
    failed = failed + 1
    say("failed: ", what, ": ", tostring(why))
  end
  return ok
end

local function try(what, f, ...)
  local result = table.pack(pcall(f, ...))
  check(what, result[1] and result[2], result[1] and result[3] or result[2])
  return result[1] and result[2]
end

local function equal(what, expected, is)
  check(what, expected == is, ("%s, not %s"):format(is, expected))
end


-- figures

-- the functions of the program, with its figures added up by name
local function by_name(p, field)
  local out = {}
  for _, f in ipairs(p.functions) do
    out[f.name] = (out[f.name] or 0) + (f[field] or 0)
  end
  return out
end

local function own(p)
  return p.meta.mode == "count" and "instructions" or "self_ns"
end

local function sum_of(p)
  local sum = 0
  for _, f in ipairs(p.functions) do sum = sum + f[own(p)] end
  return sum
end

-- checks what holds for a profile of any mode
local function sound(what, p)
  local m = p.meta
  if m.mode == "sample" then
    local samples, whole = by_name(p, "self_samples"), 0
    for _, n in pairs(samples) do whole = whole + n end
    equal(what .. ": samples", p.samples, whole)
    -- a busy machine may take the processor away anywhere
    check(what .. ": samples of burn", (samples.burn or 0) > 20,
      ("%s of %d"):format(samples.burn, whole))
  else
    local calls = by_name(p, "calls")
    for name, n in pairs(work.calls) do
      equal(what .. ": calls of " .. name, n, calls[name])
    end
  end
  if m.mode == "count" then
    equal(what .. ": instructions", m.instructions, sum_of(p))
    equal(what .. ": instructions of leaf", work.calls.leaf,
      by_name(p, "instructions").leaf)
  else
    equal(what .. ": times", m.wall_ns - m.paused_ns - m.preempted_ns,
      sum_of(p))
  end
  if m.mode == "line" or m.mode == "count" then
    local hits
    for source, lines in pairs(p.lines) do
      if source:find "work%.lua" then hits = lines[work.line].hits end
    end
    equal(what .. ": hits", work.hits, hits)
  end
  if m.memory then
    local allocs, bytes = by_name(p, "self_allocs"), by_name(p, "self_bytes")
    local least = m.mode == "sample" and 0 or work.calls.make
    if m.mode ~= "sample" then
      equal(what .. ": allocations of make", work.calls.make, allocs.make)
    end
    check(what .. ": bytes of make", bytes.make > least * 8, bytes.make)
  end
  equal(what .. ": events that are unmatched", 0, m.unmatched)
  equal(what .. ": ended", nil, m.ended)
end

-- what is the same on every machine, of the program's functions
local function add_figures(way, p)
  local lines = {}
  for _, f in ipairs(p.functions) do
    if f.kind == "Lua" and (f.source or ""):find "work%.lua" then
      lines[#lines + 1] = ("%s: %s:%d-%d %d calls, %d instructions"):format(
        way, f.name, f.line, f.last_line, f.calls, f.instructions or 0)
    end
  end
  for source, rows in pairs(p.lines or {}) do
    for line, row in pairs(source:find "work%.lua" and rows or {}) do
      lines[#lines + 1] = ("%s: line %d, %d hits"):format(way, line, row.hits)
    end
  end
  table.sort(lines)
  table.move(lines, 1, #lines, #figures + 1, figures)
end


-- exports

-- A hash of all that is written (FNV-1a), without the names of machine
-- instructions, which only a machine with the program's files knows.
local function export_sum(p, format)
  local out, sum = {}, 0xcbf29ce484222325
  assert(p:export(format, function(s)
    out[#out + 1] = s
    return true
  end))
  local text = table.concat(out):gsub('"within":%b[]', "")
  assert(text ~= "", "nothing was written")
  for i = 1, #text do sum = (sum ~ text:byte(i)) * 0x100000001b3 end
  return ("%x"):format(sum)
end

local function read(what, p)
  for _, mode in ipairs { "total", "self", "callgraph", "tree", "file" } do
    try(what .. ": report " .. mode, p.report, p, { mode = mode })
  end
  local out = {}
  for _, row in ipairs(export.formats) do
    if not export.unfit(p, row) then
      out[row.name] = try(what .. ": " .. row.name, export_sum, p, row.name)
    end
  end
  try(what .. ": merge", function()
    local sum = assert(merge.sum { p, p })
    return #sum.nodes == #p.nodes
  end)
  return out
end


-- recordings

local function nothing() end

local ways <const> = {
  { "call", {} }, { "line", { mode = "line" } },
  { "count", { mode = "count" } },
  { "trace", { mode = "trace", trace = nothing } },
  { "fold", { recursion = "fold" } }, { "callsites", { callsites = true } },
  { "filter", { exclude = { "nothing" } } },
  { "cpu", { clock = "cpu" } },
  { "memory", { memory = true } },
  { "live", { memory = "live", memory_interval = 1, mode = "line" } },
  { "gc", { gc = true } },
  { "sample", { mode = "sample", rate = 1000 } },
}

-- what start says where this machine cannot do it
local missing <const> = {
  "needs to read Lua's own structures, which is not possible here",
}

local function begin(name, options)
  local ok, why = pcall(profiler.start, options)
  for _, text in ipairs(missing) do
    if not ok and why:find(text, 1, true) then
      say("not here: ", name, ": ", (why:gsub("^start: ", "")))
      return false
    end
  end
  return check(name .. ": start", ok, why)
end

-- Burns until there are enough samples. Where a machine is emulated, samples
-- cost so much that there are few of them in a second.
local function burn_long()
  local tries = 0
  repeat
    work.spin(0.5)
    tries = tries + 1
    local samples = by_name(profiler.snapshot(), "self_samples").burn or 0
  until samples > 20 or tries == 40
end

local function record(name, options)
  if not begin(name, options) then return nil end
  if options.mode == "sample" then burn_long() else work.round() end
  if options.clock == "cpu" then work.spin(0.1) end -- it may tick rarely
  if options.file then
    local p = try(name .. ": load while recording", profiler.load,
      options.file)
    check(name .. ": is live", p and p.meta.live, "it is not")
  end
  profiler.stop()
  local p = try(name .. ": snapshot", profiler.snapshot)
  if p then sound(name, p) end
  return p
end

local function in_memory(way, options)
  local p = record(way, options)
  if not p then return end
  local path = folder .. "/saved.cprof"
  local exact = options.mode ~= "sample" and options.clock ~= "cpu"
  if exact then add_figures(way, p) end
  try(way .. ": save", p.save, p, path)
  local saved = try(way .. ": load saved", profiler.load, path)
  if saved then sound(way .. ", saved", saved) end
  read(way, p)
  os.remove(path)
end

local function into_file(way, options)
  local path = ("%s/%s.cprof"):format(folder, way)
  local name = way .. ", file"
  options.file = path
  os.remove(path)
  if not record(name, options) then return end
  local p = try(name .. ": load", profiler.load, path)
  if not p then return end
  sound(name .. ", loaded", p)
  for format, sum in pairs(read(name, p)) do
    if format ~= "html" then -- keys in the page are in any order
      sums[#sums + 1] = ("%s %s %s"):format(way, format, sum)
    end
  end
end

-- a trace function is called once for each call
local function traced()
  local told = {}
  profiler.start { mode = "trace", trace = function(event, _, title)
    local name = title:match "^%w+"
    told[event .. " " .. name] = (told[event .. " " .. name] or 0) + 1
  end }
  work.round()
  profiler.stop()
  for name, n in pairs(work.calls) do
    equal("trace: enter " .. name, n, told["enter " .. name])
    equal("trace: leave " .. name, n, told["leave " .. name])
  end
end

-- two writers would ruin a file
local function taken()
  local path = folder .. "/taken.cprof"
  local p = try("taken: load", profiler.load, folder .. "/call.cprof")
  profiler.start { file = path }
  local ok, why = p:save(path)
  check("taken: save", not ok and why:find "writes to it", why)
  profiler.stop()
  os.remove(path)
end


-- other machines

local function machine()
  return ("%s-endian, %d bit"):format(
    string.pack("=I2", 1) == "\1\0" and "little" or "big",
    string.packsize "T" * 8)
end

local function write(name, lines)
  local file <close> = assert(io.open(folder .. "/" .. name, "wb"))
  table.sort(lines)
  file:write(machine(), "\n", table.concat(lines, "\n"), "\n")
end

local function read_lines(name)
  local out = {}
  for line in io.lines(other .. "/" .. name) do out[#out + 1] = line end
  return table.remove(out, 1), out
end

-- Figures that only one of them has are of a mode that the other has not.
local function compare_figures()
  local _, theirs = read_lines "figures"
  local ours, has = {}, {}
  for _, line in ipairs(figures) do
    ours[line], has[line:match "^%w+"] = true, true
  end
  local compared = 0
  for _, line in ipairs(theirs) do
    if has[line:match "^%w+"] then
      check("figures of " .. other, ours[line], line)
      compared = compared + 1
    end
  end
  check("figures of " .. other, compared > 50, compared)
end

local function refused(path, expected)
  local p, why = profiler.load(path)
  check(path .. ": refused", not p and why:find(expected, 1, true),
    p and "it was read" or why)
end

local function compare_files()
  local is, theirs = read_lines "sums"
  local expected = is:match "^%a+" ~= machine():match "^%a+" and
    "written on a machine with another byte order"
  local seen = {}
  for _, line in ipairs(theirs) do
    local way, format, sum = line:match "(%S+) (%S+) (%S+)"
    local path = ("%s/%s.cprof"):format(other, way)
    if not expected then
      local p = seen[way] or try(path .. ": load", profiler.load, path)
      seen[way] = p
      equal(("%s: %s"):format(path, format), sum,
        p and export_sum(p, format))
    elseif not seen[way] then
      seen[way] = true
      refused(path, expected)
    end
  end
end

if folder ~= "-" then
  for _, way in ipairs(ways) do
    in_memory(way[1], way[2])
    into_file(way[1], way[2])
  end
  traced()
  taken()
  write("figures", figures)
  write("sums", sums)
end
if other then
  if folder ~= "-" then compare_figures() end
  compare_files()
end

say(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
