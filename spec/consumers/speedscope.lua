local _ENV = require("helper").env(_ENV)

local consumers = require "consumers"
local lists = require "cprof.text.lists"
local naming = require "cprof.source.name"

-- self and total time of functions, by the key that speedscope has for them
local function expected(p, key)
  return consumers.figures(p, key, "self_ns", "total_ns")
end

local function written(f) return consumers.written(f.name, "text") end

describe("speedscope, of mode count,", function()
  it("shows instructions", function()
    local p = consumers.profile { mode = "count" }
    local path = consumers.export(p, "speedscope", "counts.json")
    local got, whole = consumers.speedscope(path)
    assert.equal(p.meta.instructions, whole)
    local seen = 0
    for _, f in ipairs(p.functions) do
      if f.kind == "main" and f.total_instructions > 0 then
        local key = consumers.written(f.name, "text") .. "\0" ..
          naming.file(f)
        assert.same({ f.instructions, f.total_instructions }, got[key], key)
        seen = seen + 1
      end
    end
    assert.is_true(seen > 0)
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
    assert.matches("speedscope.json valid", output)
    -- with a wrong unit, the schema does not hold
    local broken = path:gsub("%.json$", "-broken.json")
    consumers.run("sed 's/\"nanoseconds\"/\"fortnights\"/' '%s' > '%s'",
      path, broken)
    assert.is_false(pcall(consumers.run, "'%s/.bin/ajv' validate " ..
      "--strict=false -s '%s' -d '%s'", consumers.npm, schema, broken))
  end)

  it("shows the figures of reports", function()
    local got, whole = consumers.speedscope(path)
    assert.equal(p.measure.whole, whole)
    local wanted = expected(p, function(f)
      return written(f) .. "\0" .. (naming.file(f) or "")
    end)
    for key, sum in pairs(wanted) do assert.same(sum, got[key], key) end
    assert.is_true(#lists.keys(wanted) > 200)
    assert.equal(#lists.keys(wanted), #lists.keys(got))
  end)

  it("shows them of a CPU profile", function()
    local frames, whole = consumers.speedscope(consumers.export(p,
      "cpuprofile", "run.cpuprofile"))
    assert.equal(p.measure.whole, whole)
    -- zones are in the files of the functions that opened them
    local got, zones = {}, {}
    local function shown(label)
      local name = consumers.written(label, "text")
      return name ~= "" and name or '""'
    end
    for _, f in ipairs(p.functions) do
      if f.kind == "zone" then zones[shown(f.name)] = true end
    end
    for frame, sum in pairs(frames) do
      local name = frame:match "^(.*)\0"
      local key = zones[name] and name .. "\0" or frame
      local old = got[key] or { 0, 0 }
      got[key] = { old[1] + sum[1], old[2] + sum[2] }
    end
    local function url(f)
      local file = naming.file(f) or ""
      return (file:sub(1, 1) == "/" and "file://" or "") .. file
    end
    -- names that several have in a file are titles
    local named = {}
    for _, f in ipairs(p.functions) do
      local key = f.name .. "\0" .. url(f)
      named[key] = (named[key] or 0) + 1
    end
    local wanted = expected(p, function(f)
      local label = named[f.name .. "\0" .. url(f)] > 1 and f.title or f.name
      return shown(label) .. "\0" .. url(f)
    end)
    for key, sum in pairs(wanted) do assert.same(sum, got[key], key) end
    assert.is_true(#lists.keys(wanted) > 200)
    assert.same(p.functions[1].self_ns, (got["(program)\0"] or { 0 })[1])
  end)

  it("shows them of folded stacks", function()
    local got, whole = consumers.speedscope(consumers.export(p, "folded",
      "folded.txt", { min_percent = 0 }))
    assert.equal(p.measure.whole, whole)
    local seen = 0
    for title, row in pairs(consumers.rows(p)) do
      local key = consumers.written(title, "line"):gsub(";", "\\059") .. "\0"
      if row.total > 0 and row.func.kind ~= "root" then
        assert.same({ row.self, row.total }, got[key], title)
        seen = seen + 1
      end
    end
    assert.is_true(seen > 200)
  end)

  it("reads what would be too deep for it", function()
    local deep = require "deep"(20000)
    for _, format in ipairs { "speedscope", "cpuprofile", "folded" } do
      local file = consumers.export(deep, format, "deep." .. format)
      local _, whole = consumers.speedscope(file)
      assert.equal(deep.measure.whole, whole)
    end
    -- without folding, speedscope cannot read it
    local unfolded = consumers.path "unfolded.speedscope"
    assert(deep:export("speedscope", unfolded,
      { fold = false, min_percent = 0 }))
    assert.is_false((pcall(consumers.speedscope, unfolded)))
  end)
end)
