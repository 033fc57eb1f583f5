local _ENV = require("helper").env(_ENV)

local command = require "command"
local edited = require "edited"
local helper = require "helper"
local match = require "cprof.profile.match"
local profile = require "cprof.profile"
local profiler = require "cprof"
local releases = require "releases"

local before, after, more, steady = edited.program()
local there = debug.getinfo(more, "S").source

-- ways to record in
local ways = {
  call = {}, line = { mode = "line" }, callsites = { callsites = true },
  fold = { recursion = "fold" }, full = { max_nodes = 16 },
  raw = { compensate = false, mode = "line" },
}

-- the sum of profiles, added up by the command
local function merge(dir, ...)
  local words = { "merge", "-o", dir:file "sum.cprof" }
  for i, p in ipairs { ... } do
    local path = dir:file(("part%d.cprof"):format(i))
    assert(p:save(path))
    words[#words + 1] = path
  end
  local out, err, status = command.cprof(table.unpack(words))
  assert.same({ "", 0 }, { out, status })
  return assert(profiler.load(words[3])), err
end

local function recursive(n)
  if n > 0 then recursive(n - 1) more() end
end

local function busy()
  before()
  recursive(5)
  local _ <close> = profiler.zone "zone"
  after()
  pcall(string.rep, "x", 3)
  coroutine.wrap(function() coroutine.yield() end)()
end

-- what a profile says of each function, by title
local function sums(p, out)
  out = out or {}
  for _, f in ipairs(p.functions) do
    local sum = out[f.kind .. f.title] or { calls = 0, self = 0, raw = 0 }
    out[f.kind .. f.title] = sum
    sum.calls, sum.self = sum.calls + f.calls, sum.self + f.self_ns
    sum.raw = sum.raw + f.self_raw_ns
  end
  return out
end

-- what a profile says of each line, by source and number
local function line_sums(p, out)
  out = out or {}
  for source, lines in pairs(p.lines) do
    for n, line in ipairs(lines) do
      local key = ("%s:%d"):format(source, n)
      local sum = out[key] or { 0, 0, 0, 0, 0 }
      out[key] = { sum[1] + line.hits, sum[2] + line.self_ns,
        sum[3] + line.self_raw_ns, sum[4] + line.calls,
        sum[5] + line.total_ns }
    end
  end
  return out
end

describe("cprof merge", function()
  -- calls by path of titles
  local function paths(p)
    local path, out = {}, {}
    for i, node in ipairs(p.nodes) do
      path[i] = (path[node.parent] or "") .. ";" ..
        p.functions[node.func].title
      local sum = out[path[i]] or { 0, 0 }
      out[path[i]] = { sum[1] + node.calls, sum[2] + node.self_ns }
    end
    return out
  end

  it("adds up states by their functions, and lines", function(dir)
    local files, sum = {}, {}
    local hits = {}
    local line = debug.getinfo(more, "S").linedefined
    for i, f in ipairs { before, after, before } do
      local p = helper.record(f, { mode = "line" })
      files[i] = dir:file(i .. ".cprof")
      assert(p:save(files[i]))
      for path, figures in pairs(paths(p)) do
        sum[path] = sum[path] or { 0, 0 }
        sum[path][1] = sum[path][1] + figures[1]
        sum[path][2] = sum[path][2] + figures[2]
      end
      hits[i] = p.lines[there][line].hits
    end
    local to = dir:file "sum.cprof"
    local out, err, status = command.cprof("merge", "-o", to,
      table.unpack(files))
    assert.same({ "", "", 0 }, { out, err, status })
    local p = helper.check(assert(profiler.load(to)))
    assert.same(sum, paths(p))
    assert.equal(3, p.meta.runs)
    assert.equal(hits[1] + hits[2] + hits[3], p.lines[there][line].hits)
    assert.equal(30, helper.find(p, steady).calls)
    assert.has_text("\n3 runs, ", p:report())
    assert.has_text("local function more", p:annotate(there))
    -- sums can be added up again
    local again = dir:file "again.cprof"
    err = select(2, command.cprof("merge", "-o", again, to, files[1]))
    assert.equal("", err)
    p = assert(profiler.load(again))
    assert.equal(4, p.meta.runs)
    assert.equal(40, helper.find(p, steady).calls)
    helper.check(p)
  end)

  it("says that what is in use is a sum over runs", function(folder)
    local p = helper.record(busy, { memory = "live", memory_interval = 1 })
    local sum = merge(folder, p, p)
    local text = sum:report { width = 1000 }
    assert.matches("\nstill in use, added up over 2 runs: [^\n]+ at the " ..
      "peaks\n", text)
    assert.has_text("\nstill in use: ", p:report())
  end)

  it("adds up blocks in use whose samples were differently far apart",
    function()
      local kept
      local function make(n) for i = 1, n do kept[i] = { i } end end
      local function record(n, options)
        kept, options.memory = {}, "live"
        local p = helper.record(function() make(n) end, options)
        assert.equal(n, #kept)
        return p
      end
      for _, mode in ipairs { "call", "sample" } do
        local parts = { record(2000, { mode = mode }),
          record(50000, { mode = mode }),
          record(2000, { mode = mode, memory_interval = 1 }) }
        local coarse, bytes, peak = parts[2].meta.live_interval, 0, 0
        assert.is_true(coarse > parts[1].meta.live_interval)
        for _, p in ipairs(parts) do
          bytes = bytes + helper.find(p, make).live_bytes
          peak = peak + p.meta.peak_bytes
        end
        for first = 1, 3 do
          local folder <close> = command.folder()
          local sum = merge(folder, parts[first], parts[first % 3 + 1],
            parts[(first + 1) % 3 + 1])
          helper.check(sum)
          assert.equal(coarse, sum.meta.live_interval)
          assert.equal(mode == "sample" and coarse or nil,
            sum.meta.memory_interval)
          assert.equal(bytes, helper.find(sum, make).live_bytes)
          assert.equal(peak, sum.meta.peak_bytes)
          assert.matches("still in use, added up over 3 runs: [^\n]+ ±%d+ " ..
            "%% in ", sum:report { width = 1000 })
        end
      end
    end)

  it("makes an equal profile of one", function()
    for what, options in pairs(ways) do
      local dir <close> = command.folder()
      local p = helper.record(busy, options)
      local q = merge(dir, p)
      local p1 = assert(profiler.load(dir:file "part1.cprof"))
      assert.same(p1.functions, q.functions, what)
      local marks = profile.marks(p)
      assert.same(marks, profile.marks(q), what)
      table.sort(marks)
      assert.is_true(marks[#marks] > 0 or what == "full")
      assert.same(sums(p), sums(q), what)
      assert.same(line_sums(p), line_sums(q), what)
      assert.equal(#p.nodes, #q.nodes, what)
      for i, node in ipairs(p.nodes) do assert.same(node, q.nodes[i], what) end
      for _, mode in ipairs { "total", "self", "tree", "callgraph", "file" } do
        local o = { mode = mode, min_percent = 0, limit = 10000, width = 200 }
        assert.equal(p:report(o), (q:report(o):gsub("\n1 run, ", "\n")), what)
      end
      if p.meta.mode == "line" then
        assert.equal(p:annotate(), q:annotate(), what)
      end
      p1.meta.runs = 1
      assert.same(p1.meta, q.meta, what)
    end
  end)

  it("adds up all that is known of functions and lines", function()
    for what, options in pairs(ways) do
      local dir <close> = command.folder()
      local p, q = helper.record(busy, options), helper.record(busy, options)
      local sum = merge(dir, p, q)
      assert.same(sums(q, sums(p)), sums(sum), what)
      assert.same(line_sums(q, line_sums(p)), line_sums(sum), what)
      for _, key in ipairs { "wall_ns", "overhead_ns", "clamped_ns",
        "truncated", "events" } do
        assert.equal(p.meta[key] + q.meta[key], sum.meta[key], what)
      end
      assert.equal(p.meta.uncompensated, sum.meta.uncompensated)
      -- a sum merges with a third profile
      local r = helper.record(busy, options)
      local three, again = sums(r, sums(sum)), merge(dir, sum, r)
      assert.same(three, sums(again), what)
      assert.same(line_sums(r, line_sums(sum)), line_sums(again), what)
      assert.equal(3, again.meta.runs)
      again = merge(dir, r, sum)
      assert.same(three, sums(again), what)
    end
  end)

  it("takes overhead out of those whose overhead is known", function(dir)
    local p, q = helper.record(busy, { mode = "line" }),
      helper.record(busy, { mode = "line", compensate = false })
    local sum, err = merge(dir, p, q)
    assert.equal("note: one was recorded with overhead excluded, the " ..
      "other with included: their times cannot be added up, their calls " ..
      "can\n", err)
    assert.same(sums(q, sums(p)), sums(sum))
    assert.same(line_sums(q, line_sums(p)), line_sums(sum))
    assert.equal(p.meta.overhead_ns + q.meta.overhead_ns,
      sum.meta.overhead_ns)
    assert.equal("compensate = false, in 1 of 2 runs",
      sum.meta.uncompensated)
  end)

  it("says what was not recorded in the same way", function(dir)
    local sum, err = merge(dir, helper.record(before),
      helper.record(before, { callsites = true, exclude = { "steady" } }),
      helper.record(before, { callsites = true, exclude = { "steady" } }))
    assert.equal("note: one was recorded with exclude none, the other with " ..
      "\"steady\": their calls and times cannot be added up, because " ..
      "callers are charged for functions that one omits\n" ..
      "note: one was recorded with callsites false, the other with true: " ..
      "their call-tree nodes cannot be added up, their functions can\n", err)
    assert.same({ exclude = "(different in some runs)",
      callsites = "(different in some runs)" }, sum.meta.options)
    sum, err = merge(dir, helper.record(before, { include = { ".lua" } }),
      helper.record(before, { include = { ".lua" } }))
    assert.equal("", err)
    assert.same({ include = '".lua"' }, sum.meta.options)
  end)

  it("does with many states", function(dir)
    local n = helper.many(math.min(20000, releases.levels - 100))
    local function deep(i) if i > 0 then deep(i - 1) steady() end end
    local p = helper.record(function() deep(n) end)
    local from, to = dir:file "a.cprof", dir:file "b.cprof"
    assert(p:save(from))
    local _, err = command.cprof("merge", "-o", to, from, from)
    assert.equal("", err)
    local q = assert(profiler.load(to))
    assert.equal(#p.nodes, #q.nodes)
    assert.equal(2 * n, helper.find(q, steady).calls)
    helper.check(q)
  end)

  it("do not replace what they add up", function(dir)
    local path = dir:file "a.cprof"
    assert(helper.record(function() end):save(path))
    local text = command.read(path)
    for _, name in ipairs { path, (path:gsub("/a.cprof", "/./a.cprof")) } do
      local out, err, status = command.cprof("merge", "-o", name, path, path)
      assert.same({ "", 2 }, { out, status })
      assert.equal(("cprof merge: -o %s is one of the profiles to be added " ..
        "up: name another file\n"):format(name), err)
    end
    assert.equal(text, command.read(path))
  end)

  it("does not replace files that are not profiles", function(dir)
    local from = dir:file "a.cprof"
    assert(helper.record(before):save(from))
    local other = dir:file("other", "no profile")
    command.refused("merge", "-o", other, from)
    assert.equal("no profile", command.read(other))
  end)
end)

-- the sources of a sum, by what their places end in
local function source(p, ending)
  for key in pairs(p.sources) do
    if key:sub(-#ending) == ending then return p.lines[key], key end
  end
end

local function hits(p)
  local n = 0
  for key in pairs(p.sources) do
    for _, line in ipairs(p.lines[key]) do n = n + line.hits end
  end
  return n
end

describe("a sum of what is known in part", function()
  local merged = require "cprof.profile.merge"

  it("is refused where only one profile has waiting times", function()
    local known, unknown = helper.record(before), helper.record(before)
    known.meta.waiting_ns, unknown.meta.waiting_ns = 0, nil
    local sum, why, which = merged.sum { known, unknown }
    assert.is_nil(sum)
    assert.equal("profiles with and without waiting times cannot be added up",
      why)
    assert.equal(2, which)
  end)

  it("says that preemption is unknown if it is in any of them", function()
    local one, other = helper.record(before), helper.record(before)
    one.meta.waiting_ns, other.meta.waiting_ns = 0, 0
    other.meta.preempted_unknown = true
    local sum = assert(merged.sum { one, other })
    assert.is_true(sum.meta.preempted_unknown)
    assert.has_text("that time counts as waiting", sum:report())
  end)

  it("has a depth that is a lower bound if one of them has", function()
    local first = helper.record(busy, { recursion = "fold" })
    local later = helper.record(busy, { recursion = "auto" })
    later.meta.folded = true
    assert.is_true(first.meta.folded)
    for _, list in ipairs { { first, later }, { later, first } } do
      local sum = assert(merged.sum(list))
      assert.equal(100000, sum.meta.fold_at)
      assert.is_true(sum.meta.folded)
    end
  end)
end)

describe("the sum of profiles of a program that was edited", function()
  it("has each function once, where it is now", function()
    for _, case in ipairs(edited.edits()) do
      local what, text = table.unpack(case)
      for way, options in pairs(ways) do
        local dir <close> = command.folder()
        local p = edited.run(dir, "x.lua", edited.text, options)
        local q = edited.run(dir, "x.lua", text, options)
        local sum, told = merge(dir, p, q), what .. " " .. way
        helper.check(sum)
        local to = match.functions(p.functions, q.functions)
        local expected, of = sums(q), sums(sum)
        for i, f in ipairs(p.functions) do
          local g = expected[q.functions[to[i]].kind ..
            q.functions[to[i]].title]
          g.calls, g.self = g.calls + f.calls, g.self + f.self_ns
          g.raw = g.raw + f.self_raw_ns
        end
        assert.same(expected, of, told)
        assert.equal(hits(p) + hits(q), hits(sum), told)
      end
    end
  end)

  it("adds up lines where they are now, if the code is the same", function(dir)
    local options = { mode = "line" }
    local p = edited.run(dir, "x.lua", edited.text, options)
    local q = edited.run(dir, "x.lua", "\n\n" .. edited.text
      :gsub("#list %+ total", "#list + total + 1"), options)
    local sum = merge(dir, p, q)
    local from, old = source(p, "x.lua"), source(sum, "(older text)")
    local to, new = source(q, "x.lua"), source(sum, "x.lua")
    -- within 'first' and 'third'
    for _, n in ipairs { 3, 9, 10 } do
      for _, field in ipairs { "hits", "self_ns", "self_raw_ns", "calls",
        "total_ns" } do
        assert.equal(from[n][field] + to[n + 2][field], new[n + 2][field],
          n .. field)
      end
      assert.is_true(from[n].hits > 0)
      assert.equal(0, old[n].hits)
      assert.is_false(old[n].active)
    end
    -- the edit changed 'second' and the main chunk: their lines are kept apart
    for _, n in ipairs { 6, 13, 14 } do
      assert.equal(to[n + 2].hits, new[n + 2].hits)
      assert.equal(from[n].hits, old[n].hits)
      assert.is_true(old[n].active)
    end
    local text = sum:annotate(select(2, source(sum, "(older text)")))
    assert.has_text("return #list + total\n", text)
    assert.has_no_text("note:", text)
    -- a third profile of either text is added to the source with that text
    local again = merge(dir, sum, p, q)
    assert.equal(from[6].hits * 2,
      source(again, "(older text)")[6].hits)
    assert.equal(to[8].hits * 2, source(again, "x.lua")[8].hits)
    assert.equal((from[3].hits + to[5].hits) * 2,
      source(again, "x.lua")[5].hits)
    -- a profile with a third text makes another source of an older text
    local r = edited.run(dir, "x.lua", "\n" .. edited.text, options)
    again = merge(dir, sum, r)
    assert.equal(from[3].hits + to[5].hits + source(r, "x.lua")[4].hits,
      source(again, "x.lua")[4].hits)
    assert.is_truthy(source(again, "(older text)"))
    assert.is_truthy(source(again, "(older text 2)"))
    assert.equal(hits(sum) + hits(r), hits(again))
  end)

  it("adds up calls by the lines that they are made from now", function()
    for _, options in ipairs { { callsites = true }, { mode = "line" } } do
      local dir <close> = command.folder()
      local text = "local function g() end\nlocal function f()\n  g()\n" ..
        "  do local z <close> = require 'cprof'.zone 'z'; g() end\n" ..
        "  g()\nend\n"
      local p = edited.run(dir, "x.lua", text .. "f()", options)
      local q = edited.run(dir, "x.lua", "\n\n" .. text .. "f()", options)
      local sum, called = merge(dir, p, q), {}
      for _, node in ipairs(sum.nodes) do
        if sum.functions[node.func].name == "g" then
          local known = called[node.call_line] or 0
          called[node.call_line] = known + node.calls
        end
      end
      assert.same({ [5] = 2, [6] = 2, [7] = 2 }, called)
    end
  end)

  it("knows a file that was moved", function(dir)
    local options = { mode = "line" }
    local p = edited.run(dir, "old/x.lua", edited.text, options)
    local q = edited.run(dir, "new/x.lua", "\n" .. edited.text, options)
    local sum = merge(dir, p, q)
    local _, key = source(sum, "new/x.lua")
    assert.is_nil(source(sum, "old/x.lua"))
    assert.equal(2 * source(p, "x.lua")[3].hits, sum.lines[key][4].hits)
    -- equal texts at different places are one source
    local same = edited.run(dir, "other/x.lua", edited.text, options)
    sum = merge(dir, p, same)
    assert.equal(2 * source(p, "x.lua")[13].hits,
      source(sum, "other/x.lua")[13].hits)
    assert.is_nil(source(sum, "text)"))
  end)

  it("has the newest profile's names, in whichever order", function(dir)
    local p = edited.run(dir, "x.lua", edited.text)
    local q = edited.run(dir, "x.lua", "\n" .. edited.text)
    p.meta.started_at = p.meta.started_at + 100
    for _, sum in ipairs { merge(dir, p, q), (merge(dir, q, p)) } do
      local at = edited.named(sum, dir.path .. "/x.lua")
      assert.equal(2, sum.functions[at.first].line)
      assert.equal(10, sum.functions[at.first].calls)
    end
  end)
end)
