-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local core = require "cprof.core"
local helper = require "helper"
local page = require "page"
local stalled = require "stalled"
local steady = require "steady"

local direct = core.internals() == "direct"

local stalls, spin, usual, stall = stalled()

local function data(p, options)
  local out = {}
  assert(p:html(function(s) out[#out + 1] = s end, options))
  return page.data(table.concat(out))
end

-- the row of the function of a place, and its name
local function named(header, trees, place)
  local node = trees[header.axis.places + 1].node[place]
  local f = trees[1].func[node + 1] + 1
  return header.functions.name[f], f
end

describe("the time axis of a page", function()
  it("has when each sample came, and where", function()
    local p = driven.known(stalls)
    local header, trees = data(p)
    local axis = header.axis
    assert.same({ 0, 800000000, 1000000, 1000000 / 32 },
      { axis.begins, axis.wall, axis.mean, axis.unit })
    local samples, at, wrong = trees[axis.samples + 1], 0, 0
    assert.equal(p.samples, samples.n)
    for i = 1, samples.n do
      at = at + samples.passed[i] * axis.step
      assert.equal(i * 1000000, at // 1 | 0)
      assert.same({ 0, 1, 0 }, { samples.above[i], samples.samples[i],
        samples.place[i] & 1 })
      local node = trees[axis.places + 1].node[samples.place[i] >> 1]
      -- callers come before what they call
      local depth, level = {}, -1
      for k = 1, node + 1 do
        level = level + 1 - trees[1].levels[k]
        depth[level] = k
      end
      local caller = header.functions.name[trees[1].func[depth[level - 1]] + 1]
      local want = i > 300 and i <= 500 and "stall" or "usual"
      if caller ~= want then wrong = wrong + 1 end
      assert.equal("spin", (named(header, trees, samples.place[i] >> 1)))
    end
    assert.equal(0, wrong)
  end)

  it("divides samples among lines as annotated sources do", function()
    local p = driven.known(stalls)
    local header, trees = data(p)
    local axis, own = header.axis, {}
    local spots, places = trees[axis.spots + 1], trees[axis.places + 1]
    for i = 1, places.n do
      for k = 1, spots.n do
        if spots.spot[k] == places.spot[i] then
          own[spots.line[k]] = (own[spots.line[k]] or 0) + spots.part[k]
        end
      end
    end
    local line = helper.find(p, spin).line + 1
    assert.equal(line, next(own))
    assert.is_nil(next(own, line))
    assert.equal(1000000000 * places.n, own[line])
    if direct then assert.is_true(places.n >= 2) end
  end)

  it("names what stands out", function()
    local p = driven.known(function()
      for _ = 1, 10 do usual() end
      stall()
      for _ = 1, 10 do usual() end
    end)
    local header = data(p)
    local s = assert(header.axis.stretches[1])
    assert.same({ 1000000000, 1200000000, 1 }, { s[1], s[2], s[3] })
    assert.equal("stall", header.functions.name[s[4] + 1])
  end)

  it("names all that repeats", function()
    local p = driven.known(function()
      for _ = 1, 12 do
        for _ = 1, 20 do usual() end
        stall()
      end
    end)
    local axis = data(p).axis
    assert.equal(12, #axis.stretches)
    assert.equal(0, axis.left)
    for _, s in ipairs(axis.stretches) do
      assert.equal(axis.stretches[1][4], s[4])
    end
  end)

  it("goes with nodes that are added up", function()
    local p = driven.known(function()
      for _ = 1, 10 do usual() end
      spin(3)
    end)
    local header, trees = data(p, { min_percent = 1 })
    local axis, sums = header.axis, {}
    local samples = trees[axis.samples + 1]
    for i = 1, samples.n do
      local name = named(header, trees, samples.place[i] >> 1)
      sums[name] = (sums[name] or 0) + 1
    end
    assert.same({ spin = 1000, ["(below 1 %)"] = 3 }, sums)
    assert.is_nil(data(p, { root = "usual" }).axis)
  end)

  it("is only in pages of recordings that have one", function()
    local p = driven.known(stalls)
    assert.is_nil(data(assert(p:range(0.1, 0.5))).axis)
    assert.is_nil(data(helper.record(usual, { mode = "count" })).axis)
  end)

  it("has, in exact modes, what nodes and lines have of slices", function()
    local p = steady.record([[
      local function usual() pass(10000) end
      local function stall() pass(200000) end
      for _ = 1, 100 do usual() end
      stall()
      for _ = 1, 100 do usual() end
    ]], 'mode = "line"')
    local header, trees = data(p)
    local axis = header.axis
    assert.same({ 0, 2200000000, 0, 20000000 },
      { axis.begins, axis.wall, axis.mean, axis.slice })
    local samples, places = trees[axis.samples + 1], trees[axis.places + 1]
    local nodes, lines, at = {}, {}, 0
    for i = 1, samples.n do
      at = at + samples.passed[i]
      local place, ns = samples.place[i] >> 1, samples.above[i] >> 1
      if place > 0 and places.kind[place] == 2 then
        local line = places.line[place]
        lines[line] = (lines[line] or 0) + ns
      elseif place > 0 and places.kind[place] == 0 then
        local name = named(header, trees, place)
        nodes[name] = (nodes[name] or 0) + ns
      end
    end
    assert.equal(2200000000, at)
    assert.equal(2000000000, nodes.usual)
    assert.equal(200000000, nodes.stall)
    assert.equal(2000000000, lines[1])
    assert.equal(200000000, lines[2])
    assert.equal("stall", header.functions.name[axis.stretches[1][4] + 1])
    assert.same({ 1000000000, 1200000000 },
      { axis.stretches[1][1], axis.stretches[1][2] })
  end)
end)
