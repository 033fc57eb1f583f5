local _ENV = require("helper").env(_ENV)

local consumers = require "consumers"

-- rates as lcov and genhtml print them: { found, of } for lines, functions
local function rates(output)
  local function rate(what)
    local hit, found = output:match(what ..
      "%.*: [%d.]+%% %((%d+) of (%d+) %l+%)")
    return { tonumber(hit), tonumber(found) }
  end
  return rate "lines", rate "functions"
end

describe("lcov", function()
  local p = consumers.profile { mode = "line", lines = { "luacheck/" } }
  local path = consumers.export(p, "lcov", "lcov.info")

  -- "12 of 34 lines ran", from our own listing
  local function reported()
    local ran, active, files = 0, 0, 0
    for source in pairs(p.lines) do
      local listing = p:annotate(source, { coverage = true, width = 200 })
      local r, a = listing:match " ([%d,]+) of ([%d,]+) lines ran"
      ran = ran + consumers.integer(r)
      active = active + consumers.integer(a)
      files = files + 1
    end
    return ran, active, files
  end
  local ran, active, files = reported()

  it("--summary counts the lines that reports count", function()
    local lines, functions = rates(consumers.run("lcov --summary '%s'", path))
    assert.is_true(files > 10 and ran > 500 and ran < active)
    assert.same({ ran, active }, lines)
    local met = 0
    for _, f in ipairs(p.functions) do
      if p.lines[f.source] then met = met + 1 end
    end
    assert.equal(met, functions[1])
    assert.is_true(functions[2] > met)
  end)

  it("knows the functions that never ran", function()
    local source = p.sources["@" .. assert(package.searchpath(
      "luacheck.linter", package.path) or package.searchpath(
      "luacheck.lexer", package.path))]
    local file = assert(io.open(path))
    local info = file:read "a"
    file:close()
    local record = info:match("SF:" .. source.source:sub(2)
      :gsub("%p", "%%%0") .. "\n(.-)end_of_record")
    local _, words = ("\n" .. source.text):gsub("%f[%w_]function%f[^%w_]%s*" ..
      "[%w_.:]*%s*%(", "")
    -- functions of the text, and the main chunk
    assert.equal(words + 1, tonumber(record:match "FNF:(%d+)"))
    local _, hit = record:gsub("FNDA:[1-9]", "")
    assert.equal(hit, tonumber(record:match "FNH:(%d+)"))
    assert.has_text("FNDA:0,", record)
  end)

  it("genhtml makes pages with the same figures", function()
    local output = consumers.run("genhtml -o '%s' '%s'",
      path .. ".html", path)
    local lines = rates(output)
    assert.same({ ran, active }, lines)
    assert.has_no_text("warning", output:lower(), output)
  end)
end)
