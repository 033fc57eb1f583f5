-- The calls of a recording, one by one, from its time axis: in recordings with
-- option `keep_last`, it has each event; in mode "sample", it has what each
-- sample found. Coroutines are below the function that resumes them. A resumed
-- coroutine enters its functions again.

local axes = require "cprof.profile.axis"
local core = require "cprof.core"
local profile = require "cprof.profile"
local range = require "cprof.profile.range"

local calls = {}

---@class cprof.CallsOf
---@field of cprof.Profile  the recording
---@field from number       ns since it began
---@field to number

---Where the calls of a profile are; nil: they are not known.
---@param p cprof.Profile
---@param most? integer  samples stand for calls if there are at most so many:
---    a call then lasts as long as samples, one after the other, found it, and
---    these stand for
---@return cprof.CallsOf?
function calls.of(p, most)
  local origin = range.origin(p)
  local of = origin and origin.of or p
  local axis = profile.axis(of)
  if not axis or axes.sliced(axis) then return nil end
  if of.samples and
     select(2, core.axis_column(axis, "passed")) > (most or 0) then
    return nil
  end
  -- samples that came close together may end late
  local ends = of.samples and of.meta.wall_ns or math.huge
  return { of = of, from = origin and origin.from or 0,
    to = math.min(origin and origin.to or ends, ends) }
end

-- The nodes that run, from the root's callees on; `at` has the place of each.
local function new_path(nodes, enter, leave)
  local path, at, parent_of, func_of = {}, {}, {}, {}
  local function known(node)
    if not func_of[node] then
      parent_of[node], func_of[node] = core.node(nodes, node)
    end
  end
  local self = {}
  local function cut(size, now)
    for i = #path, size + 1, -1 do
      leave(func_of[path[i]], now)
      at[path[i]], path[i] = nil, nil
    end
  end
  -- `node` runs from `now` on; `called`: it was called just then
  function self.go(node, called, now)
    local new, top = {}, node
    if called then
      known(node)
      new[1], top = node, parent_of[node]
    end
    while top > 1 and not at[top] do
      known(top)
      new[#new + 1], top = top, parent_of[top]
    end
    cut(at[top] or 0, now)
    for i = #new, 1, -1 do
      path[#path + 1] = new[i]
      at[new[i]] = #path
      enter(func_of[new[i]], now)
    end
  end
  function self.finish(now) cut(0, now) end
  return self
end

-- The calls that samples found. In gaps between samples, and where nothing was
-- recorded, no function runs.
local function of_samples(known, enter, leave)
  local axis, nodes = profile.axis(known.of), known.of.nodes
  local own = core.overhead(nodes)
  local places, path = core.axis_places(axis), new_path(nodes, enter, leave)
  local last = known.from
  for begins, ends, _, place in axes.spans(axis) do
    local from, to = math.max(begins, known.from), math.min(ends, known.to)
    if from < to then
      if place == 0 or from - last >= 1 then path.finish(last) end
      local node = place > 0 and places[place * 2 - 1]
      if node and node ~= own then path.go(node, false, from) end
      last = to
    end
  end
  path.finish(last)
end

---Tells of all calls: `enter` and `leave` get a function of the recording, and
---the time in ns since it began. What runs at the beginning is entered there,
---and what runs at the end is left there.
---@param known cprof.CallsOf
---@param enter fun(func: integer, at: number)
---@param leave fun(func: integer, at: number)
function calls.each(known, enter, leave)
  if known.of.samples then return of_samples(known, enter, leave) end
  local axis, nodes = profile.axis(known.of), known.of.nodes
  local own = core.overhead(nodes)
  local places, path = core.axis_places(axis), new_path(nodes, enter, leave)
  local last, first = core.axis_begins(axis), true
  for ends, ns, place, _, count in axes.each(axis) do
    local from = first and math.max(ends - ns, last) or last
    if ends > known.from and from < known.to then
      local node = place > 0 and places[place * 2 - 1]
      if node and node ~= own then
        path.go(node, count > 0, math.max(from, known.from))
      end
      first = false
    end
    last = ends
  end
  path.finish(math.min(last, known.to))
end

return calls
