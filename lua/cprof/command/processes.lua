-- The processes of a program that was run with its children: a tree, and the
-- sum of their profiles.

local core = require "cprof.core"
local cprof = require "cprof"
local format = require "cprof.text.format"
local lists = require "cprof.text.lists"
local merge = require "cprof.profile.merge"
local order = require "cprof.text.order"
local summary = require "cprof.command.summary"
local terminal = require "cprof.system.terminal"

local processes = {}

-- Processes in the order in which they began. One that calls exec keeps its
-- number, and its further files have longer names.
local earlier <const> = order("meta.started_at",
  function(entry) return #entry.path end, "path")

-- the ID of the process that started this one
local function parent_of(meta)
  -- a forked child has what its parent's recording began with
  return meta.process ~= meta.pid and meta.process or meta.parent
end

-- The last process of that number that began before this one, else any.
local function find_parent(list, at)
  local number, found = parent_of(list[at].meta), nil
  if not number then return nil end
  for i, entry in ipairs(list) do
    if entry.meta.pid == number and i ~= at and
       (i < at or not found and number ~= list[at].meta.pid) then
      found = entry
    end
  end
  return found
end

local function time(ns) return format.time(ns) end

-- CPU time, where it is known
local function cpu(meta)
  if meta.clock == "cpu" then return time(meta.wall_ns) end
  if not meta.waiting_ns or meta.preempted_unknown then return "" end
  return time(math.max(0, meta.wall_ns - meta.waiting_ns -
    (meta.preempted_ns or 0)))
end

local function state(meta)
  if meta.live then return "  (still runs)" end
  return meta.ended and ("  (%s)"):format(meta.ended) or ""
end

---Do these profiles tell which process started which?
---@param list cprof.Profile[]
---@return boolean
function processes.related(list)
  for _, p in ipairs(list) do
    if p.meta.parent or p.meta.process and p.meta.process ~= p.meta.pid then
      return true
    end
  end
  return false
end

---The tree of processes, one a line.
---@param list cprof.Profile[]
---@param paths string[]  of their files
---@return string
function processes.tree(list, paths)
  local all, under, tops = {}, {}, {}
  for i, p in ipairs(list) do all[i] = { meta = p.meta, path = paths[i] } end
  table.sort(all, earlier)
  for i, entry in ipairs(all) do
    local parent = find_parent(all, i)
    if parent then lists.add(under, parent, entry)
    else tops[#tops + 1] = entry
    end
  end
  local out, seen = {}, {}
  local function add(entry, depth)
    if seen[entry] then return end
    seen[entry] = true
    local meta = entry.meta
    out[#out + 1] = ("%9d %11s %11s  %s%s  %s%s"):format(meta.pid,
      meta.clock == "cpu" and "" or time(meta.wall_ns), cpu(meta),
      ("  "):rep(depth), format.program(meta), entry.path:match "[^/]*$",
      state(meta))
    for _, child in ipairs(under[entry] or {}) do add(child, depth + 1) end
  end
  for _, entry in ipairs(tops) do add(entry, 0) end
  -- the system reuses numbers of processes, so parents could form a circle
  for _, entry in ipairs(all) do add(entry, 0) end
  table.insert(out, 1, ("%9s %11s %11s  %s"):format("process", "wall", "cpu",
    "program, file"))
  return table.concat(out, "\n") .. "\n"
end

-- The profiles in a folder, their paths, and messages about files that cannot
-- be read. The profile `own` is not read from its file again.
local function load(folder, own)
  local list, paths, missing = {}, {}, {}
  local names = core.filenames(folder) or {}
  table.sort(names)
  for _, name in ipairs(names) do
    local path = folder .. "/" .. name
    local mine = name == ("%d.cprof"):format(own.meta.pid)
    if name:find "%.cprof$" then
      local p, why = own, nil
      if not mine then p, why = cprof.load(path) end
      if p then list[#list + 1], paths[#paths + 1] = p, path
      else missing[#missing + 1] = why
      end
    end
  end
  for line in (core.readfile(folder .. "/missing") or ""):gmatch "[^\n]+" do
    missing[#missing + 1] = line
  end
  return list, paths, missing
end

---Prints the tree of processes and the summary of their sum to standard error.
---@param own cprof.Profile  of the program itself
---@param folder string      with the profiles
---@param parsed table       options of the command
---@param note? string
function processes.say(own, folder, parsed, note)
  if parsed.quiet then return end
  local list, paths, missing = load(folder, own)
  if #list > 1 then
    terminal.say("\n" .. processes.tree(list, paths))
  end
  for _, why in ipairs(missing) do
    terminal.say(("note: a process is missing: %s\n"):format(why))
  end
  local all, why = own, nil
  if #list > 1 then all, why = merge.sum(list) end
  if not all then
    terminal.say(("note: this is the program without its children: %s\n")
      :format(why))
  end
  summary.say(all or own, { note = note, coverage = #parsed.coverage > 0,
    width = parsed.width, color = parsed.color })
  terminal.say(("\nNext: cprof report %s\n"):format(terminal.quote(folder)))
end

return processes
