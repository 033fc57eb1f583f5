-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local exports = require "exports"
local helper = require "helper"
local json = require "dkjson"
local perfetto = require "perfetto"
local profiler = require "cprof"
local steady = require "steady"

local function read(p, options)
  return perfetto((exports.text(p, "perfetto", options)))
end

-- the tracks of a trace of each format, with their slices: name, ns, duration
local function of_perfetto(p)
  local out, d = {}, read(p)
  for _, s in ipairs(d.slices) do
    local name = d.tracks[s.track]
    out[name] = out[name] or {}
    table.insert(out[name], { s.name, s.from, s.to - s.from })
  end
  return out
end

local function of_chrome(p)
  local out, names, open = {}, {}, {}
  local function put(tid, name, from)
    local of = names[tid]
    out[of] = out[of] or {}
    local slice = { name, from }
    table.insert(out[of], slice)
    return slice
  end
  local function ns(n) return math.floor(n * 1000 + 0.5) end
  for _, e in ipairs(json.decode((exports.text(p, "chrome"))).traceEvents) do
    if e.name == "thread_name" then names[e.tid] = e.args.name
    elseif e.ph == "X" then
      put(e.tid, e.name, ns(e.ts))[3] = ns(e.dur)
    elseif e.ph == "B" then
      open[#open + 1] = put(e.tid, e.name, ns(e.ts))
    elseif e.ph == "E" then
      local slice = table.remove(open)
      assert.equal(slice[1], e.name)
      slice[3] = ns(e.ts) - slice[2]
    end
  end
  assert.equal(0, #open)
  return out
end

-- frames of two names, slow calls, and calls below others
local game <const> = [[
  local cprof = require "cprof"
  local function update(us) pass(us) end
  local function draw(us) pass(us) end
  for i = 1, 10 do
    update(i == 5 and 5000 or 100)
    draw(10)
    cprof.frame()
    if i % 2 == 0 then cprof.frame "second" end
  end
]]

describe("an export as Perfetto's packets", function()
  it("has the calls that the recording knows, when they were", function()
    local p = steady.record([[
      local function a() pass(10) end
      local function b() pass(5) a() return a() end
      b()
      a() ]], "keep_last = 10")
    local d, calls = read(p), {}
    assert.is_true(d.whole)
    for _, s in ipairs(d.slices) do
      if s.name:find "^[ab] " then
        calls[#calls + 1] = { s.name:sub(1, 1), s.from, s.to, s.track,
          s.category }
      end
    end
    assert.same({ { "b", 0, 15000, 1, "Lua" }, { "a", 5000, 15000, 1, "Lua" },
      { "a", 15000, 25000, 1, "Lua" }, { "a", 25000, 35000, 1, "Lua" } },
      calls)
    assert.equal("Lua", d.tracks[1])
    assert.has_text("mode call", d.about["comment 1"])
  end)

  it("has frames and slow calls on tracks of their own", function()
    local p = steady.record(game, "keep_last = 10, distribution = true")
    local got = of_perfetto(p)
    assert.equal(10, #got.frames)
    -- the first call begins the first one
    assert.equal(4, #got["frames: second"])
    assert.same({ "frame", 440000, 5010000 }, got.frames[5])
    assert.same({ { "update", 440000, 5000000 } }, got["slow calls"])
    local d, args = read(p), nil
    for _, s in ipairs(d.slices) do
      if s.category == "slow call" then args = s.args end
    end
    assert.same({ "update (game.lua:2)", 5000000 }, { args["function"],
      args.took_ns })
  end)

  it("has when the thread waited, others ran, and recording paused",
    function()
      local p = driven.parts(function()
        driven.pass(1000)
        driven.pass(1000, 500000)
        driven.pass(1000, 0, 700000)
        profiler.pause()
        driven.pass(300000)
        profiler.resume()
        driven.pass(1000)
      end, { keep_last = 10, memory = true })
      local d, got = read(p), {}
      for _, s in ipairs(d.slices) do
        if s.track > 1 then got[s.name] = s.to - s.from end
      end
      for name, wanted in pairs { wait = 500000, preempted = 700000,
        paused = 300000 } do
        assert.is_true(math.abs(got[name] - wanted) < 5000, got[name])
      end
      assert.is_true(#d.counters >= 1)
      for i, c in ipairs(d.counters) do
        assert.same({ "heap", p.heap[i].ns, p.heap[i].bytes },
          { d.tracks[c[1]], c[2], c[3] })
      end
    end)

  it("has the slices of chrome's format", function()
    local function f(n) return n > 0 and f(n - 1) + #("x"):rep(3) or 0 end
    local function work()
      for i = 1, 30 do
        f(i % 5)
        profiler.frame()
        pcall(error, "x")
        coroutine.wrap(f)(2)
      end
    end
    local dir = helper.record(work, { keep_last = 10, distribution = true,
      memory = true })
    for _, p in ipairs { dir, assert(dir:range(0)),
      assert(dir:range(0, dir.meta.wall_ns / 2e9)),
      helper.record(work, { callsites = true }),
      helper.record(work, { mode = "sample" }),
      assert(steady.record(game, "keep_last = 10, distribution = true")
        :range(0.0001, 0.003)) } do
      local wanted = of_chrome(p)
      assert.is_truthy(next(wanted))
      assert.same(wanted, of_perfetto(p))
    end
  end)

  it("has the calls that samples found, when they found them", function()
    local function f(n) for _ = 1, n do local _ = {} end end
    local function g(n)
      f(n)
      f(n)
      for _ = 1, 4 do f(n) end
    end
    local p = driven.known(function()
      f(3)
      g(2)
    end)
    local d, found = read(p), {}
    for _, s in ipairs(d.slices) do
      if s.name:find "^[fg] " then
        found[#found + 1] = { s.name:sub(1, 1), s.from // 1000000,
          s.to // 1000000 }
      end
    end
    assert.equal("Lua, by samples", d.tracks[1])
    -- the two calls of f in g are told apart by their lines, those in the
    -- loop are not
    assert.same({ { "f", 0, 3 }, { "g", 3, 15 }, { "f", 3, 5 }, { "f", 5, 7 },
      { "f", 7, 15 } }, found)
  end)

  it("has waits that samples tell later as slices of the function that waits",
    function()
      local p, list = driven.sleeper(10, 1)
      local d = driven.told(p, list, function() return read(p) end)
      local sums, ends, tracks = { handle = 0, sleep = 0 }, {}, {}
      for _, s in ipairs(d.slices) do
        local name = s.name:match "^%a+"
        if sums[name] then sums[name] = sums[name] + (s.to - s.from) / 1e6 end
        if name == "handle" then ends[#ends + 1] = s.to / 1e6 end
        if s.track > 1 then
          local last = tracks[#tracks]
          assert.is_true(not last or last.to <= s.from)
          tracks[#tracks + 1] = s
        end
      end
      assert.same({ handle = 20, sleep = 751 }, sums)
      for i, at in ipairs(ends) do assert.equal(82 * i + 1, at) end
      assert.equal(20, #tracks)
      assert.same({ "Lua, by samples", "not recorded", "waits" },
        table.move(d.tracks, 1, #d.tracks, 1, {}))
    end)

  it("has no slice where samples do not tell what ran", function()
    local function f() for _ = 1, 2 do local _ = {} end end
    local function g() f() f() end
    local p = driven.known(g)
    local list = { { 1, 1, "f" }, { 2.5, 1, "f" }, { 30, 1, "f" },
      -- these came late, close together
      { 30.25, 1, "f" }, { 30.5, 1, "f" }, { 40, 2, nil, false },
      { 45, 1, "f" } }
    local found = {}
    for _, s in ipairs(driven.told(p, list, function()
      return read(p)
    end).slices) do
      if s.name:find "^g " then
        found[#found + 1] = { s.from / 1e6, s.to / 1e6 }
      end
    end
    assert.same({ { 0, 2.5 }, { 28, 32 }, { 43, 45 } }, found)
  end)

  it("has samples that came late, close together, within the recording",
    function()
      local function f() for _ = 1, 2 do local _ = {} end end
      local function g() for _ = 1, 2 do local _ = {} end end
      local p = driven.known(function()
        f()
        g()
      end)
      local list = { lasts = 5 }
      for i = 1, 40 do
        list[i] = { 1 + i / 100, i > 30 and 0.1 or 1,
          i % 2 == 1 and "f" or "g" }
      end
      local function each(seen)
        local last = 0
        for _, s in ipairs(driven.told(p, list, function()
          return read(p)
        end).slices) do
          if s.name:find "^[fg] " then
            assert.is_true(s.from >= last and s.to > s.from)
            last, seen = s.to, seen + 1
          end
        end
        return last, seen
      end
      assert.same({ 5000000, 5 }, { each(0) })
      list.lasts = 1000
      local last, seen = each(0)
      assert.equal(40, seen)
      -- five samples late, and little more
      assert.is_true(last < 10000000, last)
    end)

  it("adds up the calls of nodes where their times are not known", function()
    local p = steady.record(game, "")
    local d = read(p)
    assert.same({ "all calls, added up" }, { d.tracks[1] })
    local sums = {}
    for _, s in ipairs(d.slices) do
      sums[s.name] = { s.to - s.from, s.args.calls, s.args.self_ns }
    end
    assert.same({ { 5900000, 10, 5900000 }, { 100000, 10, 100000 } },
      { sums["update (game.lua:2)"], sums["draw (game.lua:3)"] })
  end)

  it("can be read as far as it was written", function()
    local p = steady.record(game, "keep_last = 10")
    local s = exports.text(p, "perfetto")
    local all, last = perfetto(s).slices, 0
    for size = 200, #s, 97 do
      local d = perfetto(s:sub(1, size), true)
      assert.is_true(#d.slices >= last)
      last = #d.slices
      for i, slice in ipairs(d.slices) do
        assert.equal(all[i].name, slice.name)
        assert.equal(all[i].from, slice.from)
      end
    end
    assert.is_true(last > #all - 5)
  end)

  it("is written piece by piece", function()
    local p = steady.record([[
      local function f() pass(1) end
      for _ = 1, 20000 do f() end]], "keep_last = 10")
    local most, pieces = 0, 0
    assert(p:export("perfetto", function(s)
      most, pieces = math.max(most, #s), pieces + 1
    end))
    assert.is_true(most < 70000 and pieces > 10, most .. " " .. pieces)
  end)
end)
