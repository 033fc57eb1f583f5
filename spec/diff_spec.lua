local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"
local command = require "command"

local function steady() end
local function more() for _ = 1, 1000 do end end
local function gone() end
local function fresh() end

local function before()
  for _ = 1, 10 do steady() more() end
  gone()
end

local function after()
  for _ = 1, 10 do steady() end
  for _ = 1, 2500 do more() end
  fresh()
end

-- rows of the table: name -> the words before it
local function rows(out)
  local of = {}
  for line in (out:match "\n\n(.*)$"):gmatch "[^\n]+" do
    local words, name, what = line:match "^(.-) +(%S+) +%S+:%d+ *(.-)$"
    if name then
      of[name] = {}
      for word in words:gmatch "%S+" do table.insert(of[name], word) end
      of[name].what = what
      of[#of + 1] = name
    end
  end
  return of
end

local function diff(dir, a, b, ...)
  local one, two = dir:file "a.cprof", dir:file "b.cprof"
  assert(a:save(one))
  assert(b:save(two))
  return command.cprof("diff", one, two, "--width=160", ...)
end

describe("cprof diff", function()
  it("has each function before and after, what changed most first",
    function()
      local dir <close> = command.folder()
      local out, err, status = diff(dir, helper.record(before),
        helper.record(after))
      assert.equal("", err)
      assert.equal(0, status)
      local of = rows(out)
      assert.equal("more", of[1], out)
      assert.equal("10", of.more[1])
      assert.equal("2,500", of.more[2])
      assert.equal("+", of.more[7]:sub(1, 1))
      -- unless it took exactly the same time
      local same = of.steady or { "10", "10" }
      assert.same({ "10", "10" }, { same[1], same[2] })
      assert.same({ "1", "-", "-", "gone" }, { of.gone[1], of.gone[2],
        of.gone[4], of.gone.what })
      assert.same({ "-", "1", "-", "new" }, { of.fresh[1], of.fresh[2],
        of.fresh[3], of.fresh.what })
    end)

  it("sorts, filters and limits", function()
    local dir <close> = command.folder()
    local a, b = helper.record(before), helper.record(after)
    local of = rows((diff(dir, a, b, "--sort=calls")))
    assert.equal("more", of[1])
    of = rows((diff(dir, a, b, "--sort=name", "--filter=^[gm]o.+ %(")))
    assert.same({ "gone", "more" }, { of[1], of[2] })
    local out = diff(dir, a, b, "--limit=1")
    assert.equal(1, #rows(out))
    assert.is_truthy(out:find "\n… %d+ more functions, [+-]%S+ self\n$", out)
  end)

  it("finds nothing between a profile and itself", function()
    local dir <close> = command.folder()
    local p = helper.record(before)
    assert.is_truthy((diff(dir, p, p)):find "\n\nno function differs\n$")
  end)

  it("warns of what cannot be compared", function()
    local dir <close> = command.folder()
    local p = helper.record(before)
    local out, _, status = diff(dir, p, helper.record(before,
      { mode = "line", clock = "cpu" }))
    assert.equal(0, status)
    assert.is_truthy(out:find("note: one was recorded with mode call, the " ..
      "other with line: their times cannot be compared", 1, true), out)
    assert.is_truthy(out:find("note: one was recorded with clock " ..
      p.meta.clock .. ", the other with cpu", 1, true), out)
  end)
end)

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

  it("adds up states by their functions, and lines", function()
    local dir <close> = command.folder()
    local files, sum = {}, {}
    local hits = {}
    local here = debug.getinfo(1, "S").source
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
      hits[i] = p.lines[here][line].hits
    end
    local to = dir:file "sum.cprof"
    local out, err, status = command.cprof("merge", "-o", to,
      table.unpack(files))
    assert.same({ "", "", 0 }, { out, err, status })
    local p = assert(profiler.load(to))
    helper.check(p)
    assert.same(sum, paths(p))
    assert.equal(3, p.meta.runs)
    assert.equal(hits[1] + hits[2] + hits[3], p.lines[here][line].hits)
    assert.equal(30, helper.find(p, steady).calls)
    assert.is_truthy(p:report():find("\n3 runs, ", 1, true))
    assert.is_truthy(p:annotate(here):find("local function more", 1, true))
    -- sums can be added up again
    local again = dir:file "again.cprof"
    err = select(2, command.cprof("merge", "-o", again, to, files[1]))
    assert.equal("", err)
    p = assert(profiler.load(again))
    assert.equal(4, p.meta.runs)
    assert.equal(40, helper.find(p, steady).calls)
    helper.check(p)
  end)

  it("makes of one profile the same", function()
    local dir <close> = command.folder()
    local p = helper.record(before, { callsites = true })
    local from, to = dir:file "a.cprof", dir:file "b.cprof"
    assert(p:save(from))
    local _, err = command.cprof("merge", "-o", to, from)
    assert.equal("", err)
    assert.same(paths(p), paths(assert(profiler.load(to))))
    assert.equal(#p.nodes, #profiler.load(to).nodes)
  end)

  it("does with many states", function()
    local dir <close> = command.folder()
    local n = helper.many(20000)
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

  it("keeps what cannot be written over", function()
    local dir <close> = command.folder()
    local from = dir:file "a.cprof"
    assert(helper.record(before):save(from))
    local other = dir:file("other", "no profile")
    local _, err, status = command.cprof("merge", "-o", other, from)
    assert.equal(2, status, err)
    assert.equal("no profile", command.read(other))
  end)
end)
