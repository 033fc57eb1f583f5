-- The call tree in reports: functions with the same title are merged, and
-- recursion is one node with its depth. There may be a million nodes, so they
-- are made one by one when they are asked for.

local bound = require "cprof.count.bound"
local core = require "cprof.core"
local format = require "cprof.text.format"
local group = require "cprof.count.group"
local name = require "cprof.source.name"
local order = require "cprof.text.order"

local folded = {}

---@class cprof.FoldedNode
---@field id integer
---@field func cprof.Function
---@field line integer       of the call; 0: not recorded
---@field count integer
---@field calls integer?     nil in sampled profiles
---@field self integer
---@field total integer
---@field self_raw integer
---@field total_raw integer
---@field self_most integer  see bound
---@field total_most integer
---@field depth integer      the deepest recursion
---@field label string       name, metamethod and depth

---@class cprof.Folded
---@field count integer      nodes that were called or took time
---@field private nodes cprof.Node[]
---@field private callees userdata
---@field private funcs cprof.Function[]
---@field private meta cprof.Meta
---@field most integer?      see bound.most
local Folded = {}
Folded.__index = Folded

-- Functions that share nodes: those with the same title. The C functions of a
-- file that has no names for them are one group, too, so that frames of theirs
-- that call each other share a row.
local function grouped(profile, base)
  return group.by(profile.functions, function(f)
    local file = f.title ~= base and name.unnamed(f)
    return file and "\0" .. file or f.title
  end, profile.overhead)
end

-- values of `native`, as core.fold takes them
local alone <const>, neighbors <const>, by_lua <const> = 1, 2, 3

---@param profile cprof.Profile
---@param base? string  a title: only what this function calls
---@return cprof.Folded
function folded.new(profile, base)
  local groups = grouped(profile, base)
  local native
  for i, f in ipairs(groups.first) do
    local file = f.title ~= base and name.unnamed(f)
    if f.kind == "C" or name.module(f) then
      native = native or {}
      native[i] = not name.module(f) and by_lua or file and neighbors or alone
    end
    if file then
      groups.first[i] = setmetatable({ unnamed = file }, { __index = f })
    end
  end
  local nodes = core.fold(profile.nodes, groups.of, #groups.keys,
    groups.ids[base], native)
  local callees, count = core.callees(nodes)
  return setmetatable({ nodes = nodes, callees = callees, count = count,
    funcs = groups.first, meta = profile.meta,
    sampled = profile.samples ~= nil, ranged = profile.meta.range ~= nil,
    most = bound.most(profile) }, Folded)
end

-- such as "fact ×150", "plus (__add)" and "lua5.4 (7 unnamed frames)"
local function label(func, metamethod, depth, meta)
  if func.unnamed then
    return depth < 2 and func.unnamed .. " (unnamed frame)" or
      ("%s (%s unnamed frames)"):format(func.unnamed, bound.depth(depth,
      meta))
  end
  local shown = name.called(format.plain(func.name), metamethod)
  if depth < 2 then return shown end
  return ("%s ×%s"):format(shown, bound.depth(depth, meta))
end

---@param id integer
---@return cprof.FoldedNode
function Folded:node(id)
  local _, func, line, calls, own, total, raw, total_raw, depth, _, _, _, _,
    _, _, called = core.node(self.nodes, id)
  local sampled = self.sampled
  return bound.set({ id = id, func = self.funcs[func], line = line,
    count = sampled and raw or calls, calls = not sampled and calls or nil,
    self = own, total = total, self_raw = sampled and own or raw,
    total_raw = sampled and total or total_raw, depth = depth,
    label = label(self.funcs[func], called, depth, self.meta) }, self.most)
end

---The callees of a node that may have taken `least` or more, by total time.
---@param id integer
---@param least number
---@return cprof.FoldedNode[]
function Folded:children(id, least)
  local list, out = core.children(self.nodes, self.callees, id), {}
  for i = 1, #list, 4 do
    local _, _, _, _, _, total, _, total_raw = core.node(self.nodes, list[i])
    if bound.of(total, self.sampled and total or total_raw, self.most) >=
       least then
      out[#out + 1] = self:node(list[i])
    end
  end
  table.sort(out, order("-total", "id"))
  return out
end

---The node where the tree begins to be of interest: nodes that ran before the
---start and only lead there are skipped.
---@return integer id, integer above  the number of skipped nodes
function Folded:trunk()
  local id, above = 1, 0
  while true do
    local list = core.children(self.nodes, self.callees, id)
    if #list ~= 4 then return id, above end
    local _, func, _, calls, own = core.node(self.nodes, list[1])
    local ran = calls
    -- A node ran if it was called. Samples know no calls, and a range lacks the
    -- calls that began before it: there, all nodes ran but those of the host
    -- without self time.
    if self.sampled or self.ranged then
      ran = self.funcs[func].name == name.host and own or 1
    end
    if ran > 0 then return id, above end
    id, above = list[1], above + 1
  end
end

---Two sets: the nodes that pass a filter, and these with the nodes that lead
---to them.
---@param passes fun(f: cprof.Function): boolean
---@return table<integer, true> matched, table<integer, true> kept
function Folded:filtered(passes)
  local matched, kept, by = {}, {}, {}
  for i, f in ipairs(self.funcs) do by[i] = passes(f) end
  for node, _, func in core.walk(self.nodes) do
    if by[func] then
      local id = node
      matched[id] = true
      while id ~= 0 and not kept[id] do
        kept[id] = true
        id = core.node(self.nodes, id)
      end
    end
  end
  return matched, kept
end

return folded
