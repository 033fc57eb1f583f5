-- Makes profiles small enough for the readers of a format. One function may be
-- made the root. Recursion may be folded: a function that is called again below
-- itself has no callees there; they become its caller's, so totals stay the
-- same. Nodes of little time may be added up, as a callee "(below N %)" of
-- their nearest ancestor with more time. Self times and calls keep their sums.
--
-- If no option decides, everything is exported that the format's readers can
-- show. If they cannot show all, the nodes with the least time are added up; if
-- these would have more than `little` of the time, recursion is folded first.

local allocations = require "cprof.count.allocations"
local bound = require "cprof.count.bound"
local core = require "cprof.core"
local figures = require "cprof.count.figures"
local find = require "cprof.report.find"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local group = require "cprof.count.group"
local lines = require "cprof.count.lines"
local measures = require "cprof.count.measure"
local options = require "cprof.text.options"

local prune = {}

---@class cprof.ExportOptions
---@field min_percent? number  nodes with less of the time are added up;
---    default: the least that keeps the file within the format's limits
---@field fold? boolean        whether recursion is folded; default: if the file
---    would exceed the format's limits otherwise
---@field root? string         only this function, and what it calls
---@field measure? string      what takes the place of wall time, as in reports
prune.specs = {
  measure = { type = "string", values = measures.options() },
  min_percent = { type = "number", min = 0, max = 100 },
  fold = { type = "boolean" },
  root = { type = "string" },
}

-- If the nodes that are added up have more than this percentage of the time
-- together, recursion is folded first.
local little <const> = 1

-- Thresholds in percent: round numbers, as similar profiles must not differ in
-- their thresholds.
local steps = { 0 }
for exponent = -7, 1 do
  for _, digit in ipairs { 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 } do
    steps[#steps + 1] = digit * 10.0 ^ exponent
  end
end
-- needed for deep chains of calls, in which all nodes have most of the time
for _, percent in ipairs { 90, 95, 98, 99, 99.5, 99.9, 100 } do
  steps[#steps + 1] = percent
end

local function percent_text(percent)
  return (("%.10f"):format(percent):gsub("%.?0*$", ""))
end

-- the function that stands for nodes below a threshold
local function below(percent)
  local title = ("(below %s %%)"):format(percent_text(percent))
  return { name = title, title = title, kind = "internal", source = "",
           line = 0, last_line = 0, max_depth = 1 }
end

-- the time of the tree without profiler overhead
local function whole_ns(tree)
  local _, _, _, _, _, total = core.node(tree.nodes, 1)
  local node = core.overhead(tree.nodes)
  local _, _, _, _, overhead = core.node(tree.nodes, node)
  return total - overhead
end

local function least_ns(tree, percent)
  return math.ceil(percent * tree.whole / 100)
end

-- The size of the exported tree with a threshold: bytes, the number of nodes
-- above the deepest one, and the time of the nodes that are added up.
local function weigh(tree, percent)
  local bytes, _, deepest, below_ns = core.weigh(tree.nodes,
    least_ns(tree, percent), tree.functions, tree.bytes, tree.copies,
    tree.once)
  return { bytes = bytes, deepest = deepest, below_ns = below_ns }
end

-- the smallest threshold that leaves at most `limit` bytes, and stacks of at
-- most `depth` frames
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

-- Sets, by function, how many bytes the function and its nodes take.
local function measure(tree, p, module)
  local count, self = {}, lines.place "self"
  for at, func in lines.each(p.counted) do
    if p.counted[at + self] > 0 then count[func] = (count[func] or 0) + 1 end
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

-- Files that are larger than this are announced: they are as large only if
-- options ask for that.
local large <const> = 1 << 30

-- Rebuilds the tree: with only what `roots` call, unless that is nil, and with
-- recursion folded if tree.fold is true.
local function rebuild(tree, p, roots)
  local zones = tree.fold and {}
  for i, f in ipairs(p.functions) do
    if zones then zones[i] = f.kind == "zone" end
  end
  tree.nodes = core.foldpaths(tree.nodes, #p.functions, roots, zones or nil)
  tree.whole = whole_ns(tree)
end

-- why recursion must be folded; nil: it need not be
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
  return ("the file could reach %s otherwise"):format(
    format.bytes(size.bytes))
end

-- Decides what no option decides: the threshold, and whether recursion folds.
local function decide(tree, p, row, module)
  tree.percent = tree.given or 0
  measure(tree, p, module)
  local limit = row.limit or math.huge
  local depth = tree.fold ~= false and row.depth or math.huge
  tree.percent = tree.given or threshold(tree, limit, depth)
  tree.reason = reason(tree, row)
  if tree.reason then
    tree.fold = true
    rebuild(tree, p)
    tree.percent = tree.given or threshold(tree, limit, math.huge)
  end
end

-- the functions of the new tree, with their figures in it, and the sum of those
-- that were added up
local function functions_of(p, nodes, map, percent)
  local each, out, sum = {}, {}, 0
  for i = 1, #map do each[i] = p.functions[map[i]] or below(percent) end
  local rows = graph.sums(nodes, group.by(each, group.itself),
    p.samples ~= nil)
  graph.finish(rows, {}, bound.most(p))
  for i, row in ipairs(rows) do
    local f = figures.of_function(row, p)
    for key, value in pairs(each[i]) do
      if f[key] == nil then f[key] = value end
    end
    f.id, out[i] = i, f
    if not p.functions[map[i]] then sum = sum + row.self end
  end
  return out, sum
end

-- notes on what the export changes; see cprof.ExportNote
local function notes_of(p, tree, cut, sum)
  local out, bytes = {}, weigh(tree, tree.percent).bytes
  local what = p.measure.is
  local function note(decided, text, ...)
    out[#out + 1] = { decided = decided, text = text:format(...) }
  end
  if bytes > large then
    note("size", "about %s will be written", format.bytes(bytes))
  end
  if tree.root then
    note(nil, "only %s and what it calls, %s %% of the %s",
      format.plain(tree.root.title),
      format.percent(tree.whole, p.measure.whole), what)
  end
  if tree.fold then
    note(tree.reason and "fold", "recursion is folded%s",
      tree.reason and ": " .. tree.reason or "")
  end
  if cut > 0 then
    note(not tree.given and "min_percent" or nil,
      '%s of %s nodes have less than %s %% of the %s each and are ' ..
      'added up as "%s", %s %% in all', format.count(cut),
      format.count(#tree.nodes), percent_text(tree.percent), what,
      below(tree.percent).title, format.percent(sum, tree.whole))
  end
  return out
end

-- Returns a list that tells for each function whether it is part of the root,
-- and the root's row; or nil and a message: there is no such function.
local function root_of(p, wanted)
  local row, why = find(graph.functions(p), wanted)
  if not row then return nil, why end
  local roots = {}
  for i, f in ipairs(p.functions) do roots[i] = f.title == row.title end
  return roots, row
end

---Checks options. Raises an error if one is wrong.
---@param row cprof.Format
---@param given any
---@param level integer  where the error is, as for error()
---@return cprof.ExportOptions
function prune.options(row, given, level)
  local o = options.check("export", prune.specs, given, level + 1)
  local any = next(o)
  if any and not row.tree then
    error(("export: option '%s' does not apply to format %s"):format(any,
      row.name), level + 1)
  elseif o.measure and not row.measures then
    error(("export: option 'measure' does not apply to format %s"):format(
      row.name), level + 1)
  end
  return o
end

---@class cprof.ExportNote  a difference between the export and the recording
---@field text string
---@field decided? string  the option that prevents it; nil: an option caused
---    it; "size": options caused it, and it matters before the file is written

-- Why an option cannot be applied to calls that are shown one by one; nil: no
-- option asks for another tree.
local function refusal(o, row)
  local name = (o.min_percent or 0) > 0 and "min_percent" or
    o.fold and "fold" or o.root and "root"
  return name and ("option '%s' does not apply to the calls of this " ..
    "recording, which format %s shows one by one; a range of time makes the " ..
    "file smaller"):format(name, row.name)
end

---The profile as it is to be written, with `notes` on what the export changes;
---`origin`: function -> the recording's, if it has it; `reshaped`: whether its
---tree has other paths than the recording. nil and a message: an option is
---wrong.
---@param p cprof.Profile
---@param row cprof.Format
---@param module table        the format's
---@param o cprof.ExportOptions
---@return cprof.Profile?, string?
function prune.profile(p, row, module, o)
  local unknown = measures.unknown(p, o.measure)
  if unknown then
    return nil, ("option 'measure' must not be \"%s\" for a profile %s")
      :format(o.measure, unknown)
  end
  local single = module.calls and
    module.calls(p, o.root ~= nil or o.fold == true)
  local why = single and refusal(o, row)
  if why then return nil, why end
  p = measures.profile(p, measures.row(o.measure))
  local tree = { nodes = p.nodes, fold = o.fold,
    given = o.min_percent or single and 0 or nil }
  if single and not p.samples then tree.fold = false end
  local roots
  if o.root then
    roots, tree.root = root_of(p, o.root)
    if not roots then return nil, "option 'root': " .. tree.root end
  end
  tree.whole = whole_ns(tree)
  if roots or tree.fold then rebuild(tree, p, roots) end
  decide(tree, p, row, module)
  local nodes, map, cut = core.cut(tree.nodes, least_ns(tree, tree.percent),
    #p.functions)
  local functions, sum = functions_of(p, nodes, map, tree.percent)
  local _, overhead = core.overhead(nodes)
  if p.meta.memory then allocations.attach(functions, nodes, p.meta) end
  local to = {}
  for i, old in ipairs(map) do to[old] = i end
  return setmetatable({
    nodes = nodes, functions = functions, overhead = overhead,
    measure = measures.new(p.measure, tree.whole, p.measure.samples),
    program_ns = p.program_ns and tree.whole,
    counted = lines.of(p.counted, to),
    origin = map, reshaped = roots ~= nil or tree.fold == true,
    notes = notes_of(p, tree, cut, sum),
  }, { __index = p })
end

return prune
