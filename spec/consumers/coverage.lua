local _ENV = require("helper").env(_ENV)

local consumers = require "consumers"
local core = require "cprof.core"
local totals = require "cprof.coverage.totals"

if core.internals() ~= "direct" then return end

local p = consumers.profile { mode = "count", lines = { "luacheck/" } }
local sums = totals.sum(totals.files(p))

describe("branches in lcov tracefiles", function()
  local path = consumers.export(p, "lcov", "branches.info")

  -- { of, found } as lcov and genhtml print them
  local function rate(output, what)
    local hit, found = output:match(what ..
      "%.*: [%d.]+%% %((%d+) of (%d+) %l+%)")
    return { hit = tonumber(hit), of = tonumber(found) }
  end

  it("are counted by lcov as cprof counts them", function()
    local output = consumers.run(
      "lcov --rc lcov_branch_coverage=1 --rc branch_coverage=1 " ..
      "--summary '%s'", path)
    for _, what in ipairs { "lines", "functions", "branches" } do
      assert.same(sums[what], rate(output, what), what)
    end
    assert.is_true(sums.branches.of > 1000)
    assert.is_true(sums.branches.hit < sums.branches.of)
  end)

  it("are shown by genhtml", function()
    local output = consumers.run("genhtml --branch-coverage -o '%s' '%s'",
      path .. ".html", path)
    assert.same(sums.branches, rate(output, "branches"))
    assert.has_no_text("warning", output:lower(), output)
  end)
end)

describe("Cobertura's XML", function()
  it("is valid", function()
    local path = consumers.export(p, "cobertura", "cobertura.xml")
    consumers.run("xmllint --nonet --noout --dtdvalid " ..
      "spec/support/coverage-04.dtd '%s' 2>&1", path)
    local lines = consumers.run("xmllint --nonet --xpath " ..
      "'count(//class/lines/line)' '%s' 2>/dev/null", path)
    assert.equal(sums.lines.of, tonumber(lines))
    local hit = consumers.run("xmllint --nonet --xpath " ..
      "'count(//class/lines/line[@hits>0])' '%s' 2>/dev/null", path)
    assert.equal(sums.lines.hit, tonumber(hit))
  end)
end)

describe("luacov.stats.out", function()
  it("has the form that LuaCov reads", function()
    local path = consumers.export(p, "luacov", "luacov.stats.out")
    local file, found = assert(io.open(path)), 0
    -- as luacov.stats reads it
    while true do
      local last = file:read "n"
      if not last then break end
      assert.equal(":", file:read(1))
      local name = file:read "l"
      local lines = p.lines["@" .. name]
      for i = 1, last do
        local hits = file:read "n"
        assert.equal(lines[i] and lines[i].hits or 0, hits)
      end
      assert.equal(" ", file:read(1))
      assert.equal("\n", file:read(1))
      found = found + 1
    end
    file:close()
    assert.is_true(found > 5)
    local luacov, stats = pcall(require, "luacov.stats")
    if luacov then
      local loaded = stats.load(path)
      for name, of in pairs(loaded) do
        for i = 1, of.max do
          assert.equal(p.lines["@" .. name][i].hits, of[i] or 0)
        end
      end
    end
  end)
end)
