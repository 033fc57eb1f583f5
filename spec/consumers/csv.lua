local _ENV = require("helper").env(_ENV)

local consumers = require "consumers"
local json = require "dkjson"

-- RFC 4180, and nothing but UTF-8
local program = [[
import csv, json, sys
with open(sys.argv[1], encoding="utf-8", newline="") as f:
    for row in csv.DictReader(f, strict=True):
        print(json.dumps(row))]]

describe("CSV", function()
  it("is what Python reads", function()
    local p = consumers.profile()
    local path = consumers.export(p, "csv", "cprof.csv")
    local output = consumers.run("python3 -c '%s' '%s'", program, path)
    local i, self_ns = 0, 0
    for line in output:gmatch "[^\n]+" do
      local row = assert(json.decode(line))
      i = i + 1
      -- profiler overhead is a row of the profile, but not of the export
      if i == p.overhead then i = i + 1 end
      self_ns = self_ns + tonumber(row.self_ns)
      local count = 0
      local f = {}
      for key, value in pairs(p.functions[i]) do f[key] = value end
      -- fields for cprof alone
      f.fingerprint, f.layout, f.nth, f.place = nil, nil, nil, nil
      if f.kind == "root" then
        f.total_ns, f.total_most_ns = p.measure.whole, p.measure.whole
      end
      for key, value in pairs(f) do
        local expected = key == "title" and
          consumers.written(value, "text") or key == "name" and
          consumers.written(value, "text") or tostring(value)
        assert.equal(expected, row[key], key)
        row[key], count = nil, count + 1
      end
      assert.equal(16, count)
      assert.is_nil(next(row))
    end
    assert.equal(#p.functions, i)
    assert.equal(p.measure.whole, self_ns)
  end)

  it("has instructions in place of times", function()
    local p = consumers.profile { mode = "count" }
    local path = consumers.export(p, "csv", "cprof-count.csv")
    local output = consumers.run("python3 -c '%s' '%s'", program, path)
    local sum = 0
    for line in output:gmatch "[^\n]+" do
      local row = assert(json.decode(line))
      assert.is_nil(row.self_ns)
      sum = sum + tonumber(row.instructions)
    end
    assert.equal(p.meta.instructions, sum)
  end)
end)
