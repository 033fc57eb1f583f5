local _ENV = require("helper").env(_ENV)

local consumers = require "consumers"
local json = require "dkjson"

-- what node makes of an export: rows, by what comes first in them
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

describe("trace events", function()
  it("nest, and add up to the figures of reports", function()
    local p = consumers.profile()
    local got = sums("chrome", consumers.export(p, "chrome", "chrome.json"))
    local seen = 0
    for title, row in pairs(consumers.rows(p)) do
      local text = consumers.written(title, "text")
      if row.func.kind ~= "root" then
        assert.same({ text, row.calls, row.self_ns, row.total_ns },
          got[text], text)
        seen = seen + 1
      end
    end
    assert.is_true(seen > 200)
  end)
end)

describe("speedscope", function()
  local p = consumers.profile()
  local path = consumers.export(p, "speedscope", "speedscope.json")

  it("says that its schema holds", function()
    local schema = consumers.npm ..
      "/speedscope/dist/release/file-format-schema.json"
    local output = consumers.run("'%s/.bin/ajv' validate --strict=false " ..
      "-s '%s' -d '%s'", consumers.npm, schema, path)
    assert.is_truthy(output:find "speedscope.json valid", output)
    -- and would say if it did not
    local broken = path:gsub("%.json$", "-broken.json")
    consumers.run("sed 's/\"nanoseconds\"/\"fortnights\"/' '%s' > '%s'",
      path, broken)
    assert.is_false(pcall(consumers.run, "'%s/.bin/ajv' validate " ..
      "--strict=false -s '%s' -d '%s'", consumers.npm, schema, broken))
  end)

  it("has stacks that add up to the figures of reports", function()
    local got = sums("speedscope", path)
    for _, f in ipairs(p.functions) do
      if f.kind ~= "root" then
        assert.same({ f.id - 1, consumers.written(f.name, "text"),
          f.self_ns, f.total_ns }, got[f.id - 1], f.title)
      end
    end
  end)
end)

describe("JSON", function()
  it("has the figures of reports", function()
    local p = consumers.profile { callsites = true }
    local got = sums("json", consumers.export(p, "json", "cprof.json"))
    for _, f in ipairs(p.functions) do
      assert.same({ f.id, f.calls, f.self_ns, f.total_ns,
        consumers.written(f.title, "text") }, got[f.id], f.title)
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
          assert.is_truthy(output:find(json.encode { source, n, l.hits,
            l.self_ns, l.calls, l.total_ns, l.active, l.self_raw_ns }, 1, true),
            n)
          seen = seen + 1
        end
      end
    end
    assert.is_true(seen > 100)
  end)
end)
