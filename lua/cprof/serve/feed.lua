-- What pages are told of a recording. Each load that has anything new is a
-- version, and a page gets what changed since the one that it has.

local base64 = require "cprof.encoding.base64"
local bound = require "cprof.count.bound"
local core = require "cprof.core"
local data = require "cprof.html.data"
local json = require "cprof.encoding.json"
local pack = require "cprof.html.pack"
local select_rows = require "cprof.report.select"
local since = require "cprof.serve.since"
local sources = require "cprof.serve.sources"

local feed = {}

---@class cprof.Feed
---@field epoch string     another one: nothing of what pages have is kept
---@field version integer
---@field status cprof.FollowStatus
---@field private profile? cprof.Profile  what was loaded last
---@field private base? cprof.Profile     figures are since that
---@field private shown? cprof.Profile    with these figures
---@field private exact? userdata    nodes at the last load that had all
---@field private told table<integer, integer>  by node that pages were told
---    of since then: its self time
---@field private loads integer
---@field private nodes_at integer[]  by node: the version of its figures
---@field private recent integer[]    nodes that changed last
---@field private rows any[][]        by number from 1: fields and version
---@field private index integer[]     function -> its number from 0
---@field private messages table<integer, string>  by version of the page
local Feed = {}
Feed.__index = Feed

local epochs = 0

-- Estimates of overhead get better while recording goes on. Where nothing
-- else is new, pages are told them in one of so many loads.
local coarse <const> = 10

-- All that was told before is of no use any more.
local function begin(self)
  epochs = epochs + 1
  self.epoch = ("%x.%d"):format(core.seconds() * 1e6 // 1 | 0, epochs)
  self.version, self.messages = 1, {}
  self.shown, self.nodes_at, self.recent, self.told = nil, {}, {}, {}
  self.rows, self.number, self.index = {}, {}, {}
  self.sources = sources.new()
end

---@param title string  what is followed
---@param runs? boolean  can the program be run again?
---@return cprof.Feed
function feed.new(title, runs)
  local self = setmetatable({ title = title, runs = runs,
    status = { state = "waiting" } }, Feed)
  begin(self)
  return self
end

-- estimates, which may differ though nothing happened
local estimates = {}
for i, field in ipairs(data.fields) do
  estimates[i] = field == "self" or field == "total" or field == "cost" or
    field == "totalCost"
end

local function same(a, b, exact)
  for i = 1, #b do
    if a[i] ~= b[i] and (exact or not estimates[i]) then return false end
  end
  return true
end

-- numbers of the rows of all functions, and by title; nil: some function is
-- now part of another row
local function index_of(self, p, rows)
  local of, out = {}, {}
  for _, row in ipairs(rows) do
    local id = row.func.id
    if not self.number[id] then
      self.count = (next(self.number) and self.count or 0) + 1
      self.number[id] = self.count - 1
    end
    of[row.title] = self.number[id]
  end
  for i, f in ipairs(p.functions) do
    out[i] = i == p.overhead and -1 or of[f.title]
    if self.index[i] and self.index[i] ~= out[i] then return nil end
  end
  return out, of
end

local function add_rows(self, rows, exact)
  local changed = false
  for _, row in ipairs(rows) do
    local values = data.row(row, self.sources.number)
    local at = self.number[row.func.id] + 1
    if not (self.rows[at] and same(self.rows[at], values, exact)) then
      values.at = self.version + 1
      self.rows[at], changed = values, true
    end
  end
  return changed
end

-- Adds nodes that were told other figures since the last load that had all,
-- and now have the figures of that load again.
local function add_told(self, p, list)
  local n = #list
  for _, id in ipairs(list) do self.told[id] = nil end
  for id, told in pairs(self.told) do
    local _, _, _, _, self_ns = core.node(p.nodes, id)
    if self_ns ~= told then list[#list + 1] = id end
  end
  if #list > n then table.sort(list) end
  self.told = {}
end

-- the nodes that changed
local function add_nodes(self, p, exact)
  local before = self.shown and (exact and self.exact or self.shown.nodes)
  local list = {}
  for id, _, _, _, self_ns in core.changes(p.nodes, before, exact) do
    list[#list + 1] = id
    if not exact then self.told[id] = self_ns end
  end
  if exact then add_told(self, p, list) end
  for _, id in ipairs(list) do self.nodes_at[id] = self.version + 1 end
  return list
end

-- the next version, and the nodes that it has changed
local function step(self, nodes)
  self.version, self.messages, self.recent = self.version + 1, {}, nodes
end

local function by_id(a, b) return a.func.id < b.func.id end

-- Adds a profile; false: nothing of what pages have is of use any more.
local function add(self, p, final)
  local before = self.shown
  self.loads = before and self.loads + 1 or 0
  local exact = final or self.loads % coarse == 0 or p.meta.mode == "count"
  if before and not core.since(p.nodes, before.nodes) then return false end
  local rows = select_rows.functions(p, true)
  table.sort(rows, by_id)
  local index, by_title = index_of(self, p, rows)
  if not index then return false end
  self.index = index
  local changed = self.sources:add(p, by_title, self.version + 1, exact)
  changed = add_rows(self, rows, exact) or changed
  local nodes = add_nodes(self, p, exact)
  self.shown = p
  if exact then self.exact = p.nodes end
  if changed or #nodes > 0 then step(self, nodes) end
  return true
end

---Adds what was loaded.
---@param profile cprof.Profile
---@param anew? boolean   it is another recording
---@param final? boolean  nothing more is expected
function Feed:add(profile, anew, final)
  if anew then self.base = nil end
  local p = self.base and since(profile, self.base) or profile
  if self.base and p == profile then self.base, anew = nil, true end
  if anew then begin(self) end
  if not add(self, p, final) then
    begin(self)
    add(self, p, final)
  end
  self.profile = profile
end

---How the program fares.
---@param status cprof.FollowStatus
function Feed:set_status(status)
  local old = self.status
  if old.state == status.state and old.text == status.text then return end
  self.status = status
  step(self, {})
end

---From here on, figures begin at 0.
function Feed:reset()
  if not self.profile then return end
  self.base = self.profile
  begin(self)
  self:add(self.profile)
end

-- Nodes as bytes: how far the id of each is from the one before, how far
-- its caller is before it, its function, calls or samples, self, overhead
-- that was in it, line of the call. Overhead itself, which is the second
-- node, is none of them.
local function nodes_of(self, ids)
  local put, get, last = {}, {}, -1
  for i = 1, 7 do put[i], get[i] = pack.column() end
  local nodes, sampled = self.shown.nodes, self.shown.samples ~= nil
  local function place(id) return id == 1 and 0 or id - 2 end
  for _, id in ipairs(ids) do
    local parent, func, line, calls, self_ns, _, raw = core.node(nodes, id)
    local at = place(id)
    put[1](at - last)
    put[2](parent == 0 and 0 or at - place(parent))
    put[3](self.index[func])
    put[4](sampled and raw or calls)
    put[5](self_ns > 0 and self_ns or 0)
    put[6](not sampled and raw > self_ns and raw - self_ns or 0)
    put[7](line)
    last = at
  end
  local sizes = { #ids }
  for i = 1, #put do
    get[i] = get[i]()
    sizes[i + 1] = #get[i]
  end
  return { sizes = sizes, bytes = base64.encode(table.concat(get)) }
end

local function ids_since(self, version)
  if version > 0 and version == self.version - 1 then return self.recent end
  local out = {}
  for id = 1, #self.shown.nodes do
    local at = self.nodes_at[id]
    if at and at > version then out[#out + 1] = id end
  end
  return out
end

local function rows_since(self, version)
  local out = {}
  for i, row in ipairs(self.rows) do
    if row.at > version then
      local to = table.move(row, 1, #row, 2, { i - 1 })
      out[#out + 1] = to
    end
  end
  return out
end

-- Pages tell by themselves that recording goes on.
local function notes_of(p)
  return data.notes(setmetatable({ meta = setmetatable({ live = false },
    { __index = p.meta }) }, { __index = p }))
end

local function content(self, version)
  local p = self.shown
  local list, figures = self.sources:since(version)
  return {
    unit = data.unit(p), meta = data.meta(p), notes = notes_of(p),
    whole = p.program_ns, most = bound.most(p),
    samples = data.samples(p),
    nodes = nodes_of(self, ids_since(self, version)),
    functions = rows_since(self, version), sources = list, lines = figures,
  }
end

---What a page is to be told that has a version, as JSON; nil: it has all.
---@param epoch? string
---@param version? integer
---@return string? message
---@return boolean? whole  is it all, as for a page that is new?
function Feed:message(epoch, version)
  local from = epoch == self.epoch and version or 0
  if from == self.version then return nil end
  if from < 0 or from > self.version then from = 0 end
  if not self.messages[from] then
    self.messages[from] = json.encode {
      epoch = self.epoch, version = self.version, from = from,
      title = self.title, status = self.status, runs = self.runs or false,
      since_reset = self.base ~= nil,
      content = self.shown and content(self, from) or nil,
    }
  end
  return self.messages[from], from == 0
end

return feed
