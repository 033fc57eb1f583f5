local _ENV = require("helper").env(_ENV)

local consumers = require "consumers"
local json = require "dkjson"

-- what a script for node finds in an export: rows, by their first field
local function sums(format, path)
  local output = consumers.run("node spec/support/sums.js %s '%s'", format,
    path)
  local rows = {}
  for line in output:gmatch "[^\n]+" do
    local row = assert(json.decode(line))
    rows[row[1]] = row
  end
  return rows, output
end

for format, what in pairs { chrome = "trace events",
  perfetto = "packets of Perfetto, as protoc reads them," } do
describe(what, function()
  it("nest, and add up to the figures of reports", function()
    local p = consumers.profile()
    local got = sums(format, consumers.export(p, format, "trace." .. format))
    -- nodes without time have no slice
    local calls = {}
    for _, node in ipairs(p.nodes) do
      local title = p.functions[node.func].title
      calls[title] = (calls[title] or 0) +
        (node.total_ns > 0 and node.calls or 0)
    end
    local seen = 0
    for title, row in pairs(consumers.rows(p)) do
      local text = consumers.written(title, "text")
      if row.func.kind ~= "root" and row.total > 0 then
        assert.same({ text, calls[title], row.self, row.total },
          got[text], text)
        seen = seen + 1
      end
    end
    assert.is_true(seen > 200)
  end)
end)
end

describe("JSON", function()
  it("has the figures of reports", function()
    local p = consumers.profile { callsites = true }
    local got = sums("json", consumers.export(p, "json", "cprof.encoding.json"))
    for _, f in ipairs(p.functions) do
      local self_ns, total_ns = f.self_ns, f.total_ns
      if f.id == p.overhead then self_ns, total_ns = 0, 0 end
      if f.kind == "root" then total_ns = p.measure.whole end
      assert.same({ f.id, f.calls, self_ns, total_ns,
        consumers.written(f.title, "text") }, got[f.id], f.title)
    end
  end)

  it("has the counts of mode count", function()
    local p = consumers.profile { mode = "count", lines = { "lexer" } }
    local path = consumers.export(p, "json", "cprof-count.json")
    local got, output = sums("json", path)
    for _, f in ipairs(p.functions) do
      assert.same({ f.id, f.calls, f.instructions,
        f.kind == "root" and p.measure.whole or f.total_instructions,
        consumers.written(f.title, "text") }, got[f.id], f.title)
    end
    for source, lines in pairs(p.lines) do
      for n, l in ipairs(lines) do
        if l.active then
          assert.has_text(json.encode { source, n, l.hits, l.instructions,
            true }, output, n)
        end
      end
    end
  end)

  it("has the lines of mode line", function()
    local p = consumers.profile { mode = "line", lines = { "lexer" } }
    local path = consumers.export(p, "json", "cprof-lines.json")
    local _, output = sums("json", path)
    local seen = 0
    for source, lines in pairs(p.lines) do
      for n, l in ipairs(lines) do
        if l.active or l.hits > 0 or l.calls > 0 then
          assert.has_text(json.encode { source, n, l.hits, l.self_ns, l.calls,
            l.total_ns, l.active, l.self_raw_ns, l.self_most_ns,
            l.total_most_ns, l.self_wait_ns, l.total_wait_ns }, output, n)
          seen = seen + 1
        end
      end
    end
    assert.is_true(seen > 100)
  end)
end)
