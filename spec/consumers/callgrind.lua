local _ENV = require("helper").env(_ENV)

local consumers = require "consumers"
local name = require "cprof.source.name"
local text = require "cprof.source.text"

-- { time, calls } by file:function, and the totals
local function annotate(path, options)
  -- without the event for waiting, which only some recordings have
  local file <close> = assert(io.open(path))
  local time, calls = file:read("a"):match "\nevents: (%S+) (%S+)"
  local output = consumers.run("callgrind_annotate --auto=no " ..
    "--threshold=100 --show=%s,%s %s '%s'", time, calls, options, path)
  assert.has_no_text("WARNING", output, output:match "[^\n]*WARNING[^\n]*")
  local rows, totals, count = {}, nil, 0
  for line in output:gmatch "[^\n]+" do
    local ns, n, what = line:match
      "^ *([%d,]+) %([ %d.]+%%%) +([%d,]+) *%b()  (.+)$"
    if not ns then
      ns, n, what = line:match
        "^ *([%d,]+) %([ %d.]+%%%) +([%d,]+) +(.+)$"
    end
    if what == "PROGRAM TOTALS" then
      totals = { consumers.integer(ns), consumers.integer(n) }
    elseif what then
      what = what:gsub(" %[%]$", "")
      assert.is_nil(rows[what], what)
      count = count + 1
      rows[what] = { consumers.integer(ns), consumers.integer(n) }
    end
  end
  return rows, totals, count
end

-- a row of the output, by name or by title
local function find(rows, row)
  local f = row.func
  local file = (f.kind == "Lua" or f.kind == "main") and
    name.place(f.source) or "???"
  local label = consumers.written(f.name, "line")
  return rows[file .. ":" .. row.title] or rows[file .. ":" .. label]
end

local function check(p)
  local path = consumers.export(p, "callgrind", "callgrind.out")
  local rows, totals, count = annotate(path, "--inclusive=no")
  local calls, own = 0, 0
  for title, row in pairs(consumers.rows(p)) do
    calls = calls + row.calls
    if row.self > 0 then
      own = own + 1
      local found = find(rows, row)
      assert.is_truthy(found, title)
      assert.same({ row.self, row.calls }, found, title)
    end
  end
  assert.is_true(own > (p.meta.mode == "count" and 20 or 200), own)
  assert.equal(own, count)
  assert.same({ p.measure.whole, calls }, totals)
  rows = annotate(path, "--inclusive=yes")
  for title, row in pairs(consumers.rows(p)) do
    if row.total > 0 then
      local found = find(rows, row)
      assert.is_truthy(found, title)
      assert.equal(row.total, found[1], title)
    end
  end
end

describe("callgrind_annotate", function()
  it("shows the figures of reports", function()
    check(consumers.profile())
  end)

  it("shows them when calls are told apart by line", function()
    check(consumers.profile { callsites = true })
  end)

  it("shows the figures of mode count", function()
    check(consumers.profile { mode = "count", callsites = true })
  end)

  it("shows what was allocated", function()
    local p = consumers.profile { memory = true }
    local path = consumers.export(p, "callgrind", "callgrind.out")
    local output = consumers.run("callgrind_annotate --auto=no " ..
      "--threshold=100 --sort=Bytes --show=Allocations,Bytes '%s'", path)
    local rows, seen = {}, 0
    for line in output:gmatch "[^\n]+" do
      local allocs, bytes, what = line:match
        "^ *([%d,]+) %([ %d.]+%%%) +([%d,]+) %([ %d.]+%%%)  (.+)$"
      if what then
        what = what:gsub(" %[%]$", "")
        rows[what] = { consumers.integer(allocs), consumers.integer(bytes) }
      end
    end
    for title, f in pairs(consumers.rows(p)) do
      local own, of = {}, { "allocs", "bytes" }
      for i, what in ipairs(of) do
        own[i] = consumers.measured(p, what)[title].self
      end
      if own[1] > 0 then
        assert.same(own, find(rows, f), title)
        seen = seen + 1
      end
    end
    assert.is_true(seen > 50, seen)
  end)

  local function check_lines(options, event, figure_of)
    local p = consumers.profile(options)
    check(p)
    local path = consumers.export(p, "callgrind", "callgrind.out")
    local source
    for key in pairs(p.lines) do source = key end
    local output = consumers.run("callgrind_annotate --threshold=100 " ..
      "--show=%s '%s' '%s'", event, path, source:sub(2))
    local shown = {}
    for line in output:gmatch "[^\n]+" do
      local figure, code = line:match "^ *([%d,]+) %b()  (.*)$"
      if figure then
        shown[code] = shown[code] or {}
        table.insert(shown[code], consumers.integer(figure))
      end
    end
    local first, seen = {}, 0
    for _, f in ipairs(p.functions) do
      if f.source == source then first[f.line] = true end
    end
    local lines = text.split(p.sources[source].text)
    for n, line in ipairs(p.lines[source]) do
      -- figures of a function that have no line are on its first line
      if line[figure_of] > 0 and not first[n] then
        local figures = table.concat(shown[lines[n]] or {}, " ")
        assert.has_text(" " .. line[figure_of] .. " ", " " .. figures .. " ",
          n .. ": " .. figures)
        seen = seen + 1
      end
    end
    assert.is_true(seen > 20, seen)
  end

  it("shows the lines of mode line", function()
    check_lines({ mode = "line", lines = { "linearize" } }, "Time_ns",
      "self_ns")
  end)

  it("shows the instructions of lines of mode count", function()
    check_lines({ mode = "count", lines = { "linearize" } }, "Ir",
      "instructions")
  end)
end)
