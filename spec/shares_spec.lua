local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local data = require "cprof.html.data"
local helper = require "helper"
local host = require "spec_host"
local history = require "cprof.top.history"
local json = require "dkjson"
local measure = require "cprof.count.measure"
local merge = require "cprof.profile.merge"
local model = require "cprof.top.model"
local profiler = require "cprof"
local sampled = require "cprof.count.sampled"
local terminal = require "cprof.system.terminal"

local function busy(n)
  local x = 0
  for i = 1, n do x = x + i end
  return x
end
local function idle() end
local function often() for _ = 1, 5000 do idle() end end
local function deep(n) if n > 0 then deep(n - 1) idle() end end
local function work()
  busy(20000)
  often()
  for _ = 1, 100 do deep(20) end
  return ("x"):rep(2000)
end

-- A profile in which about nine tenths of what was measured in `idle` are
-- overhead, whatever the machine: only a bound is known of it.
local function rough(options)
  local p = helper.record(work, options)
  local low, high, f = 0, helper.find(p, idle).self_raw_ns, nil
  for _ = 1, 60 do
    local ns, costs = (low + high) / 2, {}
    for name in pairs(p.meta.costs_ns) do costs[name] = ns end
    core.costs(costs)
    p = profiler.snapshot()
    f = helper.find(p, idle)
    if f.self_ns * 10 > f.self_raw_ns then low = ns
    elseif f.self_ns * 20 < f.self_raw_ns then high = ns
    else break end
  end
  assert(f.self_ns > 0 and f.self_ns < f.self_most_ns)
  return p
end

local function folded() return rough { recursion = "fold" } end

local kinds = {
  { "call", rough },
  { "line", function() return rough { mode = "line" } end },
  { "folded", folded },
  { "merged", function() return merge.sum { folded(), folded() } end },
  { "loaded", function()
    local path <const> = os.tmpname()
    assert(rough { mode = "line" }:save(path))
    local p = assert(profiler.load(path))
    os.remove(path)
    return p
  end },
}

-- the figures of a function as reports print them: self, self %, total, total %
local function written(f, whole)
  local m = measure.new(measure.row "wall", whole)
  return { (m:amount(f.self_ns, f.self_most_ns)),
    m:share(f.self_ns, f.self_most_ns),
    (m:amount(f.total_ns, f.total_most_ns)),
    m:share(f.total_ns, f.total_most_ns) }
end

-- expected figures by title, which is what rows of reports stand for
local function expected(p)
  local out = {}
  for _, row in ipairs((p:sums(function(f) return f.title end))) do
    out[row.func.name] = written(row, p.program_ns)
  end
  return out
end

-- The tables of a text, as rows by title of the column. Columns are divided
-- by two spaces at least.
local function tables(text, first)
  local out, titles = {}, nil
  for line in text:gmatch "[^\n]+" do
    local words = {}
    for word in (line .. "  "):gmatch "%s*(.-)%s%s+" do
      words[#words + 1] = word
    end
    if words[1] == first then titles = words
    elseif titles and #words >= #titles - 1 then
      local row = {}
      for i, title in ipairs(titles) do row[title] = words[i] end
      out[#out + 1] = row
    end
  end
  return out
end

local wide <const> = { min_percent = 0, limit = 1000, width = 200,
  color = "never" }

local function report(p, mode)
  local o = { mode = mode }
  for key, value in pairs(wide) do o[key] = value end
  return p:report(o)
end

-- how many rows were right
local function agree(rows, all, columns)
  local seen = 0
  for _, row in ipairs(rows) do
    local of = all[row["function"]]
    if of then
      local got, want = {}, {}
      for i, title in pairs(columns) do
        got[i], want[i] = row[title], of[i]
      end
      assert.same(want, got, row["function"])
      seen = seen + 1
    end
  end
  return seen
end

local function sum(rows, title)
  local all = 0
  for _, row in ipairs(rows) do
    -- rows with only a bound do not count in the sum
    all = all + (tonumber((row[title] or ""):match "^[%d.]+") or 0)
  end
  -- each is rounded
  return all - 0.05 * #rows
end

local function shares(...)
  return { "self", "self %", "total", "total %" }, ...
end

for _, kind in ipairs(kinds) do
  describe("a profile that is rough, " .. kind[1] .. ",", function()
    local p = kind[2]()
    local all, f = expected(p), helper.named(p, "idle")

    it("has functions that are known to be below a bound", function()
      assert.matches("^<", all.idle[1])
      assert.matches("^<", all.idle[2])
      assert.equal(helper.shown(f.self_ns, f.self_raw_ns, nil,
        f.self_most_ns), all.idle[1])
    end)

    it("has one figure for a function in all reports", function()
      for _, mode in ipairs { "self", "total" } do
        local rows = tables(report(p, mode), mode)
        assert.is_true(agree(rows, all, (shares())) > 5)
        assert.is_true(sum(rows, "self %") <= 100)
      end
      local rows = tables(report(p, "callgraph"), "total")
      assert.is_true(agree(rows, { idle = nil }, {}) == 0)
      local own = {}
      for _, row in ipairs(rows) do
        -- those of callers and callees are indented
        if not row["function"]:find "^%s" then own[#own + 1] = row end
      end
      assert.is_true(#own > 5)
      rows = tables(report(p, "file"), "self")
      for _, row in ipairs(rows) do
        row["function"] = (row["file and functions"] or ""):match "^%s*(.-)$"
      end
      assert.is_true(agree(rows, all, (shares())) > 5)
    end)

    it("has it in the tree, where a function has one node", function()
      local nodes = {}
      for _, node in ipairs(p.nodes) do
        local name = p.functions[node.func].name
        nodes[name] = (nodes[name] or 0) + 1
      end
      local rows, seen = tables(report(p, "tree"), "total"), 0
      for _, row in ipairs(rows) do
        local of = nodes[row["function"]] == 1 and all[row["function"]]
        if of then
          assert.same({ of[1], of[3], of[4] },
            { row.self, row.total, row["total %"] })
          seen = seen + 1
        end
      end
      assert.is_true(seen > 2)
    end)

    it("has it in what cprof show and cprof diff say", function(dir)
      local path = dir:file "x.cprof"
      assert(p:save(path))
      for _, name in ipairs { "idle", "busy" } do
        local of = all[name]
        local out, err = command.cprof("show", path, name, "--width=200")
        assert.equal("", err)
        assert.has_text(("%s total (%s %%), %s self (%s %%)"):format(of[3],
          of[4], of[1], of[2]), out)
      end
      local out = command.cprof("diff", path, path, "--width=200")
      assert.has_text("no function differs", out)
    end)

    it("has it in cprof top", function()
      local ascii = terminal.ascii
      terminal.ascii = false
      local m = model.new { history = history.new("start", 10),
        interval = 1, sort = "self" }
      m.history:add(p, 1)
      m:refresh()
      local last, own, seen = math.huge, 0, 0
      for i, line in ipairs(m:draw(200, 60).lines) do
        local self, share, total, total_share, name = line:text():match(
          "^ *(%S+) +(%S+) +(%S+) +(%S+) .- ([%w_.]+) +[%w_./%[%]]+[:%d]* *$")
        local of = i > 4 and all[name or ""]
        if of then
          local none = of[1] == "0ns"
          assert.same({ none and "-" or of[1], none and "-" or of[2], of[3],
            of[4] }, { self, share, total, total_share }, name)
          seen = seen + 1
          -- a bound exceeds the estimate by which rows are ordered
          share = tonumber(share) or share == "-" and 0
          assert.is_true(not share or share <= last)
          own, last = own + (share or 0), share or last
        end
      end
      terminal.ascii = ascii
      assert.is_true(seen > 3)
      assert.is_true(own - 0.05 * seen <= 100)
    end)

    it("has it in the view, as plain figures", function()
      local view = profiler.view(p)
      view:mode "self"
      local last = math.huge
      for _, line in ipairs(view:lines()) do
        assert.is_true(line.values[1] <= last)
        last = line.values[1]
        if line.name == "idle" then
          assert.equal(f.self_ns / 1e6, line.values[1])
          assert.equal(f.self_most_ns / 1e6, line.most[1])
          assert.equal(f.total_most_ns / 1e6, line.most[2])
          assert.same({ true, true, true }, line.shown)
        end
      end
    end)

    it("has both in exports", function()
      local of = json.decode((helper.exported(p, "json")))
      local own = 0
      for i, g in ipairs(of.functions) do
        own = own + g.self_ns
        -- the export's row for overhead has no time
        if g.kind ~= "root" and i ~= p.overhead then
          assert.equal(p.functions[i].self_most_ns, g.self_most_ns)
          assert.equal(p.functions[i].total_most_ns, g.total_most_ns)
        end
      end
      assert.equal(p.program_ns, own)
      local rows = {}
      for line in helper.exported(p, "csv"):gmatch "[^\r\n]+" do
        rows[#rows + 1] = line
      end
      assert.has_text(",self_most_ns,total_most_ns,", rows[1])
      for _, line in ipairs(rows) do
        if line:find('"idle"', 1, true) then
          assert.has_text((",%d,%d,"):format(f.self_most_ns, f.total_most_ns),
            line)
        end
      end
    end)

    it("has both on the page", function()
      local header = data.of(p, p)
      local of = header.functions
      for i, name in ipairs(of.name) do
        if name == "idle" then
          assert.same({ f.self_ns, f.self_raw_ns - f.self_ns },
            { of.self[i], of.cost[i] })
        end
      end
    end)

    if p.meta.mode ~= "line" then return end

    it("has it beside its lines, whose shares add up", function()
      local o = { all = true, width = 200, color = "never" }
      local text = p:annotate(nil, o)
      assert.matches(("idle %%(.- +%s self, %s %%%%, "):format(all.idle[1],
        all.idle[2]:gsub("%.", "%%.")), text)
      o = { sort = "self", limit = 1000, width = 200, color = "never" }
      local rows = tables(p:annotate(nil, o), "hits")
      assert.is_true(#rows > 5)
      assert.is_true(sum(rows, "%") <= 100)
      local m = p.measure
      for _, row in ipairs(rows) do
        local file, number = row.where:match "^(.-):(%d+)$"
        if file == "spec/shares_spec.lua" then
          local line = p.lines["@" .. file][math.tointeger(tonumber(number))]
          assert.equal((m:amount(line.self_ns, line.self_most_ns)), row.self)
          if row["in C"] == "-" then
            assert.equal(m:share(line.self_ns, line.self_most_ns), row["%"])
          end
        end
      end
    end)
  end)
end

describe("the smallest share that samples can tell", function()
  it("is the same on the page as in the report", function()
    profiler.start { mode = "sample" }
    local since = os.clock()
    repeat
      host.poll(1)
      busy(20000)
    until os.clock() - since > 0.1
    profiler.stop()
    local p = profiler.snapshot()
    local shown = data.samples(p)
    if p.measure.samples < sampled.few then return end
    local told = p:report { width = 1000 }:match "functions below ([%d.]+) %%"
    assert.equal(tonumber(told), tonumber(("%.2g"):format(100 * shown.least)))
    assert.is_true(p.measure.samples <= p.samples)
  end)
end)
