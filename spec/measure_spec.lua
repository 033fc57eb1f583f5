-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"

local ms <const> = 1000000
-- ns of each gap that may count as the wrong kind of time
local noise <const> = 3000

local function compute() driven.pass(20 * ms) end
local function wait()
  driven.pass(0, 30 * ms)
  driven.pass(10 * ms)
end
local function program() compute() wait() end

local function recorded(mode)
  return driven.parts(program, { mode = mode })
end

local function saved(folder, p, name)
  local path = folder:file(name)
  assert(p:save(path))
  return path
end

describe("option measure", function()
  for _, mode in ipairs { "call", "line" } do
    it("tells CPU time from waiting time in every report, mode " .. mode,
      function()
        local p = recorded(mode)
        for _, kind in ipairs { "summary", "self", "tree", "callgraph",
          "file" } do
          local function text(measure)
            return p:report { mode = kind, measure = measure, width = 200,
              min_percent = 0 }
          end
          assert.equal(text(), text "wall")
          assert.has_text("clock monotonic", text())
          assert.has_text("self and total are CPU time", text "cpu")
          assert.has_text("30.0ms", text "cpu")
          assert.has_no_text("60.0ms  ", text "cpu")
          assert.has_text("self and total are waiting time", text "wait")
          -- the header is about the whole recording, whatever is measured
          for _, measure in ipairs { "wall", "cpu", "wait" } do
            assert.has_text("60.0ms wall: 30.0ms CPU, 30.0ms waiting",
              text(measure))
          end
        end
      end)
  end

  it("makes lines hot by what they computed or waited", function()
    local p = recorded "line"
    local waits = debug.getinfo(wait, "S").linedefined + 1
    local function heat(by)
      return p:annotate(nil, { heat = by, sort = "self", width = 200 })
    end
    local place = ("measure_spec.lua:%d"):format(waits)
    assert.has_text(place, heat "wait")
    assert.has_no_text(("measure_spec.lua:%d "):format(waits + 1), heat "wait")
    assert.has_text("20.0ms", heat "cpu")
    assert.has_text(" 3.00µs  spec/" .. place, heat "cpu")
  end)

  it("is what exports have in place of wall time, or beside it",
    function(folder)
      local p = recorded "call"
      local path = saved(folder, p, "e.cprof")
      local function weights(measure)
        local sum = 0
        local out = command.cprof("export", "--format=folded",
          "--measure=" .. measure, path)
        for n in out:gmatch " (%d+)\n" do sum = sum + tonumber(n) end
        return sum
      end
      assert.equal(60 * ms, weights "wall")
      assert.equal(30 * ms + noise, weights "cpu")
      assert.equal(30 * ms - noise, weights "wait")
      local out = command.cprof("export", "--format=callgrind", path)
      assert.has_text("\nevents: Time_ns Calls Waiting_ns\n", out)
      assert.matches(("\nsummary: %d %%d+ %d\n"):format(60 * ms,
        30 * ms - noise), out)
      out = command.cprof("export", "--format=speedscope", "--measure=cpu",
        path)
      assert.has_text(('"unit":"nanoseconds","startValue":0,' ..
        '"endValue":%d,'):format(30 * ms + noise), out)
    end)

  it("is refused where it is not known", function()
    local p = helper.record(function() end, { mode = "count" })
    for option, value in pairs { measure = "cpu", sort = "live" } do
      assert.has_error(function() p:report { [option] = value } end)
    end
    assert.has_error(function() p:report { measure = "wait" } end,
      'report: option \'measure\' must not be "wait" for a profile without ' ..
      "waiting times: it has mode count and clock " .. p.meta.clock ..
      "; waiting is measured by the wall clock, in modes call and line on " ..
      "Linux and macOS, in mode sample on Linux")
    assert.has_error(function()
      recorded "call":report { measure = "cpu", sort = "alloc" }
    end)
    local with = helper.record(function() end, { memory = true })
    assert.has_error(function()
      with:report { measure = "cpu", sort = "alloc" }
    end, 'report: option \'sort\' must not be "alloc" with measure = "cpu"')
  end)
end)

describe("cprof diff", function()
  local function again()
    return driven.parts(function()
      compute()
      driven.pass(0, 60 * ms)
      wait()
    end)
  end

  it("compares CPU time, unless it is asked for another measure",
    function(folder)
      local before = saved(folder, recorded "call", "b.cprof")
      local after = saved(folder, again(), "a.cprof")
      local out = command.cprof("diff", before, after)
      assert.has_text(", 60.0ms wall, 30.0ms CPU, ", out)
      assert.has_text(", 120ms wall, 30.0ms CPU, ", out)
      assert.matches("\nchange: [+-]?[%d.]+[nµ]*s ", out)
      assert.has_text("note: this compares CPU time; waiting changed more, " ..
        "by +60.0ms: --measure=wait or --measure=wall shows that\n",
        out:gsub("\n +", " "), out)
      out = command.cprof("diff", "--measure=wait", before, after)
      assert.has_text("\nchange: +60.0ms (+200.0 %)", out)
      out = command.cprof("diff", "--measure=wall", before, after)
      assert.has_text("\nchange: +60.0ms (+100.0 %)", out)
      assert.has_no_text("waiting changed", out)
    end)

  it("says when other programs had the processor so long that it matters",
    function(folder)
      local quiet = saved(folder, recorded "call", "q.cprof")
      local busy = saved(folder, driven.parts(function()
        program()
        driven.pass(ms, 0, 20 * ms)
      end), "l.cprof")
      local out = command.cprof("diff", quiet, busy)
      assert.has_text("note: other programs had the processor for 0 % of " ..
        "the time before and 25 % of the time after: changes of less than 5 " ..
        "% may be noise", out:gsub("%s+", " "), out)
      out = command.cprof("diff", quiet, quiet)
      assert.has_no_text("other programs", out)
      local unknown = saved(folder, helper.record(program, { clock = "cpu" }),
        "u.cprof")
      out = command.cprof("diff", unknown, busy)
      assert.has_text("had the processor for an unknown time before and 25 " ..
        "% of the time after", out:gsub("%s+", " "), out)
    end)
end)
