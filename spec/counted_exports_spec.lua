local _ENV = require("helper").env(_ENV)

local core = require "cprof.core"
local export = require "cprof.export"
local helper = require "helper"
local json = require "dkjson"
local pprof = require "pprof"

if core.internals() ~= "direct" then return end

local code = [[
local function pick(n) return n > 2 and "large" or "small" end
local function all()
  for i = 1, 5 do pick(i) end
end
all()
local never = function() return 1 end]]

describe("an export of mode count", function()
  local p

  setup(function()
    local chunk = assert(load(code, "@/nowhere/counted.lua"))
    p = helper.record(chunk, { mode = "count" })
  end)

  local function text(format, options)
    local out = {}
    assert(p:export(format, function(s) out[#out + 1] = s end, options))
    return table.concat(out)
  end

  -- the instructions of its lines, by line
  local function by_line()
    local out = {}
    for n, line in ipairs(p.lines["@/nowhere/counted.lua"]) do
      if line.instructions > 0 then out[n] = line.instructions end
    end
    return out
  end

  it("is refused where it could only have times", function()
    for _, format in ipairs { "chrome", "perfetto", "cpuprofile" } do
      local why = helper.failure(text, format)
      assert.has_text("export: format " .. format .. " needs " ..
        'times, which mode "count" does not record; formats that need no ' ..
        "times: folded, speedscope, firefox, pprof, callgrind, lcov,", why)
    end
  end)

  it("is made in all other formats", function()
    for _, row in ipairs(export.formats) do
      if not row.times then assert.is_true(#text(row.name) > 20, row.name) end
    end
  end)

  it("has the event Ir for callgrind, by line", function()
    local out = text "callgrind"
    assert.has_text("\nevents: Ir Calls\n", out)
    assert.has_text("\nsummary: " .. p.meta.instructions .. " ", out)
    local got, name, in_file = {}, nil, false
    for line in out:gmatch "[^\n]+" do
      local id, path = line:match "^c?fl=(%(%d+%)) ?(.*)$"
      if path == "/nowhere/counted.lua" then name = id end
      if id and line:sub(1, 1) == "f" then in_file = id == name end
      local calls = line:find "^calls="
      local at, n = line:match "^(%d+) (%d+) "
      if calls then in_file = in_file and "skip"
      elseif at and in_file == "skip" then in_file = true
      elseif at and in_file and n ~= "0" then
        at = tonumber(at)
        got[at] = (got[at] or 0) + tonumber(n)
      end
    end
    assert.same(by_line(), got)
  end)

  it("has instructions as pprof's type", function()
    local plain = text "pprof"
    if plain:sub(1, 2) == "\x1f\x8b" then
      plain = require("zlib").inflate()(plain)
    end
    local sum = 0
    for _, sample in ipairs(pprof(plain).samples) do
      sum = sum + sample.ns
    end
    assert.equal(p.meta.instructions, sum)
    assert.has_text("instructions", plain)
    assert.has_no_text("nanoseconds", plain)
  end)

  it("adds up in folded stacks", function()
    local sum = 0
    for n in text("folded"):gmatch " (%d+)\n" do sum = sum + n end
    assert.equal(p.meta.instructions, sum)
  end)

  it("has lines, expressions and branches as JSON", function()
    local out = assert(json.decode(text "json"))
    local source = "@/nowhere/counted.lua"
    assert.equal(p.meta.instructions, out.instructions)
    assert.is_nil(out.program_ns)
    local got = {}
    for _, line in ipairs(out.lines[source]) do
      if line[3] > 0 then got[line[1]] = line[3] end
    end
    assert.same(by_line(), got)
    -- without the text, only lines are known
    assert.same({}, out.sources[source])
    local chunk = assert(load(code, code))
    p = helper.record(chunk, { mode = "count" })
    out = assert(json.decode(text "json"))
    local known = out.sources[code]
    assert.same({ "kind", "line", "column", "reached", "way", "count",
      "other_way", "other_count" }, out.branch_fields)
    assert.same({ { "and", 1, 37, true, "right", 3, "left", 2 },
      { "or", 1, 49, true, "right", 2, "left", 3 } }, known.branches)
    assert.equal(#p.expressions[code], #known.expressions)
  end)

  it("says what share of the instructions a root has", function()
    local _, note = p:export("folded", function() end, { root = "pick" })
    assert.matches("only pick .*, %d+%.%d %% of the instructions$", note)
  end)
end)
