-- What of a profile is exported. One function may be the root. Recursion may
-- be folded: a function that is called again below itself calls nothing
-- there, its caller does, so that totals stay what they are. And nodes of
-- little time may be added up, as a callee "(below N %)" of their nearest
-- ancestor that has more. Self times and calls keep their sums.
--
-- Where no option decides, all is exported as far as the readers of a format
-- can show it. If they cannot, the nodes of least time are added up; but
-- before these have more than a little of it, recursion is folded.

local allocations = require "cprof.count.allocations"
local bound = require "cprof.count.bound"
local core = require "cprof.core"
local encode = require "cprof.export.encode"
local find = require "cprof.report.find"
local format = require "cprof.text.format"
local lines = require "cprof.count.lines"
local measured = require "cprof.count.measured"
local options = require "cprof.text.options"

local prune = {}

---@class cprof.ExportOptions
---@field min_percent? number  nodes with less of the time are added up;
---    default: as little as is needed for a file of common size
---@field fold? boolean        does recursion fold? default: where stacks are
---    deeper than the readers of the format can show
---@field root? string         only this function, and what it calls
---@field measure? "wall"|"cpu"|"wait"|"alloc"|"allocs"|"live"  what takes
---    the place of wall time: CPU time, time of waiting, bytes allocated,
---    allocations, or bytes in use
prune.specs = {
  measure = { type = "string", values = { "wall", "cpu", "wait", "alloc",
                                          "allocs", "live" } },
  min_percent = { type = "number", min = 0, max = 100 },
  fold = { type = "boolean" },
  root = { type = "string" },
}

-- percent of the time that nodes may have that are added up, all together
local little <const> = 1

-- thresholds in percent, round, so that similar profiles have the same
local steps = { 0 }
for exponent = -7, 1 do
  for _, digit in ipairs { 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 } do
    steps[#steps + 1] = digit * 10.0 ^ exponent
  end
end
-- in a chain of calls, all have most of the time
for _, percent in ipairs { 90, 95, 98, 99, 99.5, 99.9, 100 } do
  steps[#steps + 1] = percent
end

local function percent_text(percent)
  return (("%.10f"):format(percent):gsub("%.?0*$", ""))
end

-- the function of nodes that are added up
local function below(percent)
  local title = ("(below %s %%)"):format(percent_text(percent))
  return { name = title, title = title, kind = "internal", source = "",
           line = 0, last_line = 0, max_depth = 1 }
end

local function whole_ns(tree)
  local _, _, _, _, _, total = core.node(tree.nodes, 1)
  local node = core.overhead(tree.nodes)
  local _, _, _, _, overhead = core.node(tree.nodes, node)
  return total - overhead
end

local function least_ns(tree, percent)
  return math.ceil(percent * tree.whole / 100)
end

-- what is left with a threshold
local function weigh(tree, percent)
  local bytes, _, deepest, below_ns = core.weigh(tree.nodes,
    least_ns(tree, percent), tree.functions, tree.bytes, tree.copies,
    tree.once)
  return { bytes = bytes, deepest = deepest, below_ns = below_ns }
end

-- the smallest threshold that leaves no more than 'limit' bytes, and stacks
-- that are no deeper than 'depth'
local function threshold(tree, limit, depth)
  local low, high = 1, #steps
  while low < high do
    local middle = (low + high) // 2
    local size = weigh(tree, steps[middle])
    if size.bytes <= limit and size.deepest <= depth then high = middle
    else low = middle + 1 end
  end
  return steps[low]
end

-- what a format is written in, by function
local function measure(tree, p, module)
  local count = {}
  for func, _, _, ns in lines.each(p.counted) do
    if ns > 0 then count[func] = (count[func] or 0) + 1 end
  end
  local list = table.move(p.functions, 1, #p.functions, 1, {})
  list[#list + 1] = below(little)
  tree.functions, tree.bytes, tree.once = #p.functions, {}, {}
  for i, f in ipairs(list) do
    local size = module.size(f, count[i] or 0)
    tree.bytes[i], tree.once[i] = size.node or 0, size.once or 0
    if size.copies then
      tree.copies = tree.copies or {}
      tree.copies[i] = size.copies
    end
  end
end

local function folded(tree, p, roots)
  local zones = tree.fold and {}
  for i, f in ipairs(p.functions) do
    if zones then zones[i] = f.kind == "zone" end
  end
  tree.nodes = core.foldpaths(tree.nodes, #p.functions, roots, zones or nil)
  tree.whole = whole_ns(tree)
end

-- why recursion must be folded, if it must
local function reason(tree, row)
  if tree.fold ~= nil or not row.depth then return nil end
  local size = weigh(tree, tree.percent)
  if size.deepest <= row.depth and
     (tree.given or size.below_ns * 100 <= little * tree.whole) then
    return nil
  end
  size = weigh(tree, tree.given or 0)
  if size.deepest > row.depth then
    return ("stacks are up to %s frames deep"):format(
      format.count(size.deepest))
  end
  return ("the file could have up to %s MB otherwise"):format(
    format.count(size.bytes // 1000000))
end

-- what no option says
local function decide(tree, p, row, module)
  tree.percent = tree.given or 0
  measure(tree, p, module)
  local limit = row.limit or math.huge
  local depth = tree.fold ~= false and row.depth or math.huge
  tree.percent = tree.given or threshold(tree, limit, depth)
  tree.reason = reason(tree, row)
  if tree.reason then
    tree.fold = true
    folded(tree, p)
    tree.percent = tree.given or threshold(tree, limit, math.huge)
  end
end

-- the functions of the new tree, with its figures
local function functions_of(p, nodes, map, percent)
  local each, out, most = {}, {}, bound.most(p)
  for i = 1, #map do each[i] = i end
  for i, row in ipairs((core.sum(nodes, each, #map))) do
    local f, old = { id = i }, p.functions[map[i]] or below(percent)
    for key, value in pairs(old) do f[key] = f[key] or value end
    if encode.counts(p) then
      f.calls = row.calls
      f.instructions, f.total_instructions = row.self_ns, row.total_ns
    elseif p.samples then
      f.self_ns, f.total_ns = row.self_ns, row.total_ns
      f.self_samples, f.total_samples = row.self_raw_ns, row.total_raw_ns
    else
      bound.set(row, most)
      for key, value in pairs(row) do f[key] = value end
    end
    f.max_depth = old.max_depth
    out[i] = f
  end
  return out
end

local function counted_of(p, map)
  local new, out = {}, {}
  for i, old in ipairs(map) do new[old] = i end
  for func, line, hits, ns, raw, allocs, bytes, live, wait in
    lines.each(p.counted) do
    if new[func] then
      lines.add(out, new[func], line, hits, ns, raw, allocs, bytes, live,
        wait)
    end
  end
  return out
end

-- what is not as it was recorded; 'decided' is the option that would keep it
local function notes_of(p, tree, cut, functions)
  local out = {}
  local what = encode.figures(p)
  local function note(decided, text, ...)
    out[#out + 1] = { decided = decided, text = text:format(...) }
  end
  if tree.root then
    note(nil, "only %s and what it calls, %s %% of the %s",
      format.plain(tree.root.title),
      format.percent(tree.whole, p.program_ns), what)
  end
  if tree.fold then
    note(tree.reason and "fold", "recursion is folded%s",
      tree.reason and ": " .. tree.reason or "")
  end
  if cut > 0 then
    local title, ns = below(tree.percent).title, 0
    for _, f in ipairs(functions) do
      if f.title == title then ns = ns + (f.self_ns or f.instructions) end
    end
    note(not tree.given and "min_percent" or nil,
      '%s of %s nodes have less than %s %% of the %s each and are ' ..
      'added up as "%s", %s %% in all', format.count(cut),
      format.count(#tree.nodes), percent_text(tree.percent), what,
      title, format.percent(ns, tree.whole))
  end
  return out
end

-- the functions that make up the root, or why there is none
local function root_of(p, wanted)
  local row, why = find((p:sums(function(f) return f.title end)), wanted)
  if not row then return nil, why end
  local roots = {}
  for i, f in ipairs(p.functions) do roots[i] = f.title == row.title end
  return roots, row
end

---Checks options. Raises an error where they are wrong.
---@param row cprof.Format
---@param given any
---@param level integer  of the error, as of error()
---@return cprof.ExportOptions
function prune.options(row, given, level)
  local o = options.check("export", prune.specs, given, level + 1)
  local any = next(o)
  if any and not row.tree then
    error(("export: option '%s' is not for format %s"):format(any, row.name),
      level + 1)
  elseif o.measure and not row.measures then
    error(("export: option 'measure' is not for format %s"):format(row.name),
      level + 1)
  end
  return o
end

---@class cprof.ExportNote
---@field text string
---@field decided? string  option that was not given, and would keep it

---The profile that is to be written, with `notes` on what is not as it was
---recorded. nil, and what is wrong with an option.
---@param p cprof.Profile
---@param row cprof.Format
---@param module table        the format's
---@param o cprof.ExportOptions
---@return cprof.Profile?, string?
function prune.profile(p, row, module, o)
  local of = measured.row(o.measure)
  local unknown = measured.unknown(p, o.measure)
  if unknown then
    return nil, ("option 'measure' must not be \"%s\" for a profile %s")
      :format(o.measure, unknown)
  end
  if of then p = measured.profile(p, of.name) end
  local tree = { nodes = p.nodes, fold = o.fold, given = o.min_percent }
  local roots
  if o.root then
    roots, tree.root = root_of(p, o.root)
    if not roots then return nil, "option 'root': " .. tree.root end
  end
  tree.whole = whole_ns(tree)
  if roots or tree.fold then folded(tree, p, roots) end
  decide(tree, p, row, module)
  local nodes, map, cut = core.cut(tree.nodes, least_ns(tree, tree.percent),
    #p.functions)
  local functions = functions_of(p, nodes, map, tree.percent)
  local _, overhead = core.overhead(nodes)
  if p.meta.memory then
    allocations.attach(functions, nodes, p.meta.live_interval ~= nil)
  end
  local out = {
    nodes = nodes, functions = functions, overhead = overhead,
    program_ns = tree.whole, counted = counted_of(p, map),
    notes = notes_of(p, tree, cut, functions),
  }
  for key, value in pairs(p) do
    if out[key] == nil then out[key] = value end
  end
  return setmetatable(out, getmetatable(p))
end

return prune
