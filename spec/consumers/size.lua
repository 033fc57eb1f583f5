local _ENV = require("helper").env(_ENV)

local command = require "command"
local consumers = require "consumers"
local deep = require "deep"
local export = require "cprof.export"
local json = require "dkjson"
local manystates = require "manystates"
local page = require "page"

-- Exports p in each format. Returns, by format, the path, the size and the
-- processor time; and the processor time of all formats, and its mean.
local function exports(p)
  local paths, sizes, times, all, count = {}, {}, {}, 0, 0
  for _, row in ipairs(export.formats) do
    if row.tree then
      local path = consumers.path("size." .. row.name)
      local from = os.clock()
      assert(p:export(row.name, path))
      times[row.name] = os.clock() - from
      all, count = all + times[row.name], count + 1
      local file <close> = assert(io.open(path))
      paths[row.name], sizes[row.name] = path, file:seek "end"
    end
  end
  return paths, sizes, times, all, all / count
end

local function summed(format, path)
  local ns = 0
  for line in consumers.run("node spec/support/sums.js %s '%s'", format, path)
    :gmatch "[^\n]+" do
    local row = json.decode(line)
    -- rows of lines are not rows of functions
    if format ~= "json" or math.type(row[1]) then ns = ns + row[3] end
  end
  return math.tointeger(ns)
end

local function of_speedscope(path)
  local _, whole = consumers.speedscope(path)
  return whole
end

-- all time that the readers of a format find in a file
local whole = {
  folded = of_speedscope,
  speedscope = of_speedscope,
  cpuprofile = of_speedscope,
  chrome = function(path) return summed("chrome", path) end,
  perfetto = function(path) return summed("perfetto", path) end,
  json = function(path) return summed("json", path) end,
  firefox = function(path)
    local sum = 0
    for _, f in ipairs(consumers.firefox(path).threads[1].functions) do
      sum = sum + math.floor(f[3] * 1e6 + 0.5)
    end
    return sum
  end,
  pprof = function(path)
    return consumers.integer(consumers.run("go tool pprof -symbolize=none " ..
      "-top -unit=ns -sample_index=time '%s'", path):match
      "Total samples = (%d+)ns")
  end,
  callgrind = function(path)
    return consumers.integer(consumers.run("callgrind_annotate --auto=no " ..
      "--threshold=100 '%s'", path):match "\n *([%d,]+) [^\n]*PROGRAM TOTALS")
  end,
  csv = function(path)
    return consumers.integer(consumers.run("python3 -c 'import csv, sys; " ..
      'print(sum(int(r["self_ns"]) for r in csv.DictReader(' ..
      "open(sys.argv[1], newline=\"\"))))' '%s'", path):match "%d+")
  end,
}

function whole.html(path)
  local _, trees = page.data(command.read(path))
  local sum = 0
  for _, self in ipairs(trees[1].self) do sum = sum + self end
  return sum
end

describe("a profile of a million nodes", function()
  local n <const> = 1000000
  local _, _, _, _, mean = exports(manystates(n // 10, { mode = "line" }))
  local p = manystates(n, { mode = "line" })
  local paths, sizes, times, all = exports(p)

  it("has them", function() assert.is_true(#p.nodes >= n) end)

  for _, row in ipairs(export.formats) do
    if row.tree then
      it("is less than 25 MB as " .. row.name .. ", and all there", function()
        assert.is_true(sizes[row.name] > 100)
        assert.is_true(sizes[row.name] < 25000000, sizes[row.name])
        assert.equal(p.measure.whole, whole[row.name](paths[row.name]))
      end)

      it("takes time as " .. row.name .. " in proportion", function()
        -- 'mean' is of a tenth of the nodes
        assert.is_true(times[row.name] < 50 * mean,
          times[row.name] .. " and " .. mean)
      end)
    end
  end

  it("takes more time than stacks of a hundred thousand frames", function()
    local stacks = deep(100000)
    local _, _, _, of_deep = exports(stacks)
    assert.is_true(of_deep < all, of_deep .. " and " .. all)
    local from = os.clock()
    assert(stacks:range(0, stacks.meta.wall_ns / 2e9))
    local of_range = os.clock() - from
    assert.is_true(of_range < all, of_range .. " and " .. all)
  end)
end)
