-- The messages to pages about a recording. Each load that finds something new
-- is a version. A page gets what has changed since the version that it has.

local base64 = require "cprof.encoding.base64"
local bound = require "cprof.count.bound"
local core = require "cprof.core"
local data = require "cprof.html.data"
local framed = require "cprof.html.framed"
local graph = require "cprof.count.graph"
local json = require "cprof.encoding.json"
local kept = require "cprof.serve.kept"
local measure = require "cprof.count.measure"
local memory = require "cprof.html.memory"
local order = require "cprof.text.order"
local pack = require "cprof.html.pack"
local since = require "cprof.follow.since"
local sources = require "cprof.serve.sources"
local spent = require "cprof.html.spent"
local spots = require "cprof.count.spots"
local tasks = require "cprof.serve.tasks"

local feed = {}

---@class cprof.Feed
---@field epoch string     when it changes, pages drop all that they have
---@field version integer
---@field status cprof.FollowStatus
---@field private profile? cprof.Profile  the one that was loaded last
---@field private base? cprof.Profile     the recording when figures were reset;
---    nil: they begin with the recording
---@field private shown? cprof.Profile    `profile` less the figures of `base`
---@field private exact? userdata    nodes at the last exact load, see coarse
---@field private measures cprof.Measure[]  that nodes have besides their own
---@field private lined cprof.Measure[]     those of them that lines have
---@field private measured table<string, userdata>  by name of such a measure:
---    the nodes of `shown` in it
---@field private kept cprof.Served         what else is sent to pages
---@field private sent table<integer, integer>  { node -> self time }: nodes
---    that were sent to pages at later loads
---@field private loads integer       since the epoch began
---@field private nodes_at integer[]  by node: the version that changed it last
---@field private recent integer[]    the nodes that the last version changed
---@field private rows any[][]        by row number + 1: the row's fields; `at`
---    is the version that changed it last
---@field private number integer[]    by id of a row's first function: the row's
---    number, from 0
---@field private counts table<integer, integer>  by number of a row: its
---    samples at the last load
---@field private index integer[]     function -> its row's number; -1: overhead
---@field private symbols? cprof.ElfFile[]  so that they are not read again
---@field private messages table<integer, string>  by version that a page has
local Feed = {}
Feed.__index = Feed

local epochs = 0

-- Estimates of overhead change in each load, even where nothing was recorded.
-- Changes in estimates alone are sent to pages in one of this many loads.
local coarse <const> = 10

-- Begins an epoch: pages will drop all that they have.
local function begin(self)
  epochs = epochs + 1
  self.epoch = ("%x.%d"):format(core.seconds() * 1e6 // 1 | 0, epochs)
  self.version, self.messages = 1, {}
  self.shown, self.nodes_at, self.recent, self.sent = nil, {}, {}, {}
  self.rows, self.number, self.index = {}, {}, {}
  self.measures, self.lined, self.measured, self.counts = {}, {}, {}, {}
  self.kept, self.sources = kept.new(), sources.new {}
end

---@param title string   the name of what is followed
---@param runs? boolean  whether pages can ask to run the program again
---@return cprof.Feed
function feed.new(title, runs)
  local self = setmetatable({ title = title, runs = runs,
    status = { state = "waiting" } }, Feed)
  begin(self)
  return self
end

-- which fields are estimates, which may change where nothing was recorded
local estimates = {}
for i, field in ipairs(data.fields) do
  estimates[i] = field == "self" or field == "total" or field == "cost" or
    field == "totalCost"
end

-- Do two rows have equal fields? Without `exact`, estimates are not compared.
local function same(a, b, exact)
  for i = 1, #b do
    if a[i] ~= b[i] and (exact or not estimates[i]) then return false end
  end
  return true
end

-- The numbers of rows by function, and by title; nil: a function has moved to
-- another row.
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

-- Which rows have new samples, by number. A line that calls C functions has new
-- estimates then, but no samples of its own.
local function newly_sampled(self, p, rows)
  local out = {}
  for _, row in ipairs(p.samples and rows or {}) do
    local number = self.number[row.func.id]
    out[number] = self.counts[number] ~= row.total_count
    self.counts[number] = row.total_count
  end
  return out
end

-- Stores the rows whose fields have changed. Has any changed?
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

-- Adds to `list` the nodes whose figures are again those of the last exact
-- load, after other figures of them were sent to pages in between.
local function add_reverted(self, p, list)
  local n = #list
  for _, id in ipairs(list) do self.sent[id] = nil end
  for id, sent in pairs(self.sent) do
    local _, _, _, _, own = core.node(p.nodes, id)
    if own ~= sent then list[#list + 1] = id end
  end
  if #list > n then table.sort(list) end
  self.sent = {}
end

-- Adds to `list` the nodes that have changed in measures other than times:
-- blocks are freed while other functions run.
local function add_measured(self, p, list)
  local seen, n = {}, #list
  for _, id in ipairs(list) do seen[id] = true end
  for _, row in ipairs(self.measures) do
    local nodes = measure.profile(p, row).nodes
    if not row:timed() then
      for id in core.changes(nodes, self.measured[row.name], true) do
        if not seen[id] then seen[id], list[#list + 1] = true, id end
      end
    end
    self.measured[row.name] = nodes
  end
  if #list > n then table.sort(list) end
end

-- Returns the nodes whose figures have changed. Their version is the next one.
local function add_nodes(self, p, exact)
  local before = self.shown and (exact and self.exact or self.shown.nodes)
  local list = {}
  for id, _, _, _, own in core.changes(p.nodes, before, exact) do
    list[#list + 1] = id
    if not exact then self.sent[id] = own end
  end
  if exact then add_reverted(self, p, list) end
  add_measured(self, p, list)
  for _, id in ipairs(list) do self.nodes_at[id] = self.version + 1 end
  return list
end

-- The measures that are sent to pages besides the profile's own. CPU time
-- follows from time and waiting. After a reset, it is not known what was
-- allocated since then.
local function measures_of(self, p)
  local out = {}
  for _, row in ipairs(memory.possible(p)) do
    if row.name ~= "cpu" and (row:timed() or not self.base) then
      out[#out + 1] = row
    end
  end
  return out
end

-- Does this epoch have other measures than a profile?
local function differs(self, list)
  for i = 1, math.max(#list, #self.measures) do
    if list[i] ~= self.measures[i] then return true end
  end
  return false
end

-- Stores what is neither a node nor a function nor a source. Has it changed?
local function add_others(self, p)
  local version = self.version + 1
  local changed = self.kept:set("words", memory.words(memory.possible(p)),
    version)
  if self.base then return changed end
  changed = self.kept:set("memory", memory.of(p), version) or changed
  changed = self.kept:set("collector", memory.collector(p), version) or changed
  changed = self.kept:set("heap", memory.heap(p), version) or changed
  return tasks.add(self.kept, p, self.index, version) or changed
end

-- Stores what the own time of functions with new samples was spent in. After a
-- reset, nothing is stored, since this is known only from the beginning of the
-- recording. Has anything changed?
local function add_spent(self, p, rows, sampled)
  local of, entries = {}, {}
  for _, row in ipairs(self.base and {} or rows) do
    if sampled[self.number[row.func.id]] then of[#of + 1] = row end
  end
  local found = spent.of(of, p, data.plain) or { f = {} }
  for i, f in ipairs(found.f) do
    local number = self.number[of[f + 1].func.id]
    entries[i] = { number, { f = number, what = found.what[i],
      ns = found.ns[i] } }
  end
  self.symbols = spots.files()
  return self.kept:add("spent", entries, self.version + 1)
end

-- Begins the next version. `nodes` are those that it has changed.
local function step(self, nodes)
  self.version, self.messages, self.recent = self.version + 1, {}, nodes
end

-- Adds a profile; false: it needs a new epoch, as it is of another recording or
-- has its functions in other rows.
local function add(self, p, final)
  local before = self.shown
  self.loads = before and self.loads + 1 or 0
  local exact = final or self.loads % coarse == 0 or not p.measure:timed()
  if before and not core.since(p.nodes, before.nodes) then return false end
  local measures = measures_of(self, p)
  if before and differs(self, measures) then return false end
  if not before then
    self.measures, self.lined = measures, {}
    for _, row in ipairs(measures) do
      if row.line then self.lined[#self.lined + 1] = row end
    end
    self.sources = sources.new(self.lined)
  end
  local rows = graph.functions(p, true)
  table.sort(rows, order "func.id")
  local index, by_title = index_of(self, p, rows)
  if not index then return false end
  self.index = index
  local sampled = newly_sampled(self, p, rows)
  local changed = self.sources:add(p, by_title, self.version + 1, exact,
    sampled)
  changed = add_spent(self, p, rows, sampled) or changed
  changed = add_rows(self, rows, exact) or changed
  local nodes = add_nodes(self, p, exact)
  changed = add_others(self, p) or changed
  self.shown = p
  if exact then self.exact = p.nodes end
  if changed or #nodes > 0 then step(self, nodes) end
  return true
end

---Adds a profile that was loaded.
---@param profile cprof.Profile
---@param anew? boolean   whether another recording has begun
---@param final? boolean  whether the recording has ended
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

---Sets the status of the program. A new status is a version of its own.
---@param status cprof.FollowStatus
function Feed:set_status(status)
  local old = self.status
  if old.state == status.state and old.text == status.text then return end
  self.status = status
  step(self, {})
end

---Makes all figures begin at 0 now.
function Feed:reset()
  if not self.profile then return end
  self.base = self.profile
  begin(self)
  self:add(self.profile)
end

-- columns of nodes in any message
local usual <const> = 7

-- Nodes as columns of bytes: the distance of the id from that of the node
-- before, the distance of the caller's id, the number of the row, calls or
-- samples, self time, overhead in it, the line of the call, and what it has in
-- each other measure. Pages count ids from 0, and without the node of profiler
-- overhead, which is the second.
local function nodes_of(self, ids)
  local put, get, last = {}, {}, -1
  for i = 1, usual + #self.measures do put[i], get[i] = pack.column() end
  local nodes, sampled = self.shown.nodes, self.shown.samples ~= nil
  local function place(id) return id == 1 and 0 or id - 2 end
  for _, id in ipairs(ids) do
    local parent, func, line, calls, own, _, raw = core.node(nodes, id)
    local at = place(id)
    put[1](at - last)
    put[2](parent == 0 and 0 or at - place(parent))
    put[3](self.index[func])
    put[4](sampled and raw or calls)
    put[5](own > 0 and own or 0)
    put[6](not sampled and raw > own and raw - own or 0)
    put[7](line)
    for i, row in ipairs(self.measures) do
      local _, _, _, _, n = core.node(self.measured[row.name], id)
      put[usual + i](n > 0 and n or 0)
    end
    last = at
  end
  local sizes = { #ids }
  for i = 1, #put do
    get[i] = get[i]()
    sizes[i + 1] = #get[i]
  end
  return { sizes = sizes, bytes = base64.encode(table.concat(get)) }
end

-- the nodes that have changed after a version, in order
local function ids_since(self, version)
  if version > 0 and version == self.version - 1 then return self.recent end
  local out = {}
  for id = 1, #self.shown.nodes do
    local at = self.nodes_at[id]
    if at and at > version then out[#out + 1] = id end
  end
  return out
end

-- the rows that have changed after a version: { { number, field, ... }, ... }
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

-- The notes in the head of reports, but not that recording goes on: pages show
-- this by themselves.
local function notes_of(p)
  return data.notes(setmetatable({ meta = setmetatable({ live = false },
    { __index = p.meta }) }, { __index = p }))
end

-- The frames by name, for a page; nil: there are none, or all figures began at
-- 0 again, and it is not known which frames came later.
local function frames_of(self)
  local p = self.profile
  if not p or not p.frames or self.base then return nil end
  return framed.of(p, self.index)
end

local function names_of(list)
  local out = {}
  for i, row in ipairs(list) do out[i] = row.name end
  return out
end

-- Which measures nodes and lines have, and from how many samples figures are.
local function measures_sent(self)
  local p = self.shown
  local estimated = p.time_samples or p.meta.live_interval
  return { names = names_of(self.measures), lines = names_of(self.lined),
    taken = estimated and memory.taken(p, memory.possible(p)) or nil }
end

local function content(self, version)
  local p = self.shown
  local list, figures = self.sources:since(version)
  local values, lists = self.kept:since(version)
  return {
    measures = measures_sent(self), words = values.words,
    memory = values.memory, collector = values.collector, heap = values.heap,
    tasks = p.tasks and not self.base and { exact = p.meta.tasks or nil,
      list = lists.tasks, pauses = lists.pauses,
      slices = values.slices } or nil,
    unit = p.measure.unit, meta = data.meta(p), notes = notes_of(p),
    whole = p.measure.whole, most = bound.most(p),
    samples = data.samples(p),
    nodes = nodes_of(self, ids_since(self, version)),
    functions = rows_since(self, version), sources = list, lines = figures,
    frames = frames_of(self), spent = lists.spent,
  }
end

---The message to a page, as JSON; nil: the page has everything.
---@param epoch? string     that the page has; nil: the page is new
---@param version? integer  that the page has
---@return string? message
---@return boolean? whole  whether it has everything, as for a new page
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
