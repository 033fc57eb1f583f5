local _ENV = require("helper").env(_ENV)

local command = require "command"
local format = require "cprof.text.format"
local helper = require "helper"
local releases = require "releases"

local function leaf() end
local function other() end

describe("max_nodes", function()
  it("bounds the nodes; functions keep their calls and self times",
    function()
      local function deep(n) if n > 0 then deep(n - 1) end leaf() other() end
      local function work() deep(200) end
      local p = helper.record(work, { max_nodes = 100 })
      assert.is_true(#p.nodes <= 100 + #p.functions)
      local f = helper.find(p, deep)
      assert.equal(201, f.calls)
      assert.is_true(f.max_depth > 20)
      assert.equal(201, helper.find(p, leaf).calls)
      assert.equal(201, helper.find(p, other).calls)
      assert.is_true(p.meta.truncated > 0)
      local rest = helper.named(p, "(beyond max_nodes)")
      assert.equal("internal", rest.kind)
      assert.equal(0, rest.calls)
      local calls = 0
      for _, node in ipairs(p.nodes) do
        if p.nodes[node.parent] and
           p.nodes[node.parent].func == rest.id then
          calls = calls + node.calls
        end
      end
      assert.equal(calls, p.meta.truncated)
      assert.matches("note: max_nodes was reached: the callers of %d+ calls " ..
        "are not known", p:report())
    end)

  it("holds the lines of functions without debug information, too",
    function()
      local output, ok = helper.run [[
        local profiler = require "cprof"
        local function code(i)
          local s = ("local t = %d\nfor i = 1, 9 do\nt = t + i\nend\n" ..
            "return t"):format(i)
          return string.dump(assert(load(s)), true)
        end
        profiler.start { mode = "line", max_nodes = 16 }
        local sum = 0
        for i = 1, 60 do
          sum = sum + load(code(i))()
        end
        profiler.stop()
        print(sum, profiler.snapshot().meta.truncated > 0)]]
      assert.equal("4530\ttrue\n", output)
      assert.is_true(ok)
    end)

  it("has a node for each function beyond, whoever calls it", function()
    local output = helper.run [[
      local helper = require "helper"
      local fs = {}
      for i = 1, 20 do
        fs[i] = load(("local function f() return %d end return f")
          :format(i))()
      end
      local function x() for _, f in ipairs(fs) do f() end end
      local function y() for _, f in ipairs(fs) do f() end end
      local p = helper.record(function() for _ = 1, 3 do x() y() end end,
        { max_nodes = 40 })
      local least = math.huge
      for _, f in ipairs(fs) do
        least = math.min(least, helper.find(p, f).calls)
      end
      print(least, p.meta.truncated > 0, #p.nodes <= 40 + #p.functions)]]
    assert.equal("6\ttrue\ttrue\n", output)
  end)

  it("is in files, also of killed programs", function(dir)
    local path = dir:file "x.cprof"
    local function deep(n) if n > 0 then deep(n - 1) end leaf() end
    local p = helper.record(function() deep(200) end,
      { max_nodes = 100, file = path })
    local q = assert(require "cprof".load(path))
    assert.equal(p.meta.truncated, q.meta.truncated)
    assert.equal(p.meta.folded, q.meta.folded)
    assert.equal(p.meta.fold_at, q.meta.fold_at)
  end)

  it("is not said to be reached when it was not", function()
    local p = helper.record(leaf, { max_nodes = 1000 })
    assert.equal(0, p.meta.truncated)
    assert.is_nil(helper.named(p, "(beyond max_nodes)"))
  end)

  it("frees its nodes on reset", function()
    local profiler = require "cprof"
    local function deep(n) if n > 0 then deep(n - 1) end end
    local p = helper.record(function()
      deep(200)
      profiler.reset()
      leaf()
    end, { max_nodes = 100 })
    assert.equal(0, p.meta.truncated)
    assert.equal(1, helper.find(p, leaf).calls)
  end)

  it("bounds zones without number", function()
    local profiler = require "cprof"
    local n = helper.many(20000)
    local p = helper.record(function()
      for i = 1, n do
        profiler.enter("request", i)
        profiler.leave "request"
      end
    end, { max_nodes = 100 })
    assert.is_true(#p.nodes <= 202)
    assert.is_true(#p.functions <= 102)
  end)
end)

describe("recursion", function()
  local n = 60
  -- each level calls the next by two ways: 2^depth nodes
  local function a(depth)
    if depth > 0 then
      a(depth - 1)
      leaf()
    end
  end
  local b
  local function both(depth)
    if depth > 0 then
      b(depth - 1)
      both(depth - 1)
    end
  end
  function b(depth) both(depth) end

  it("is folded from 100,000 nodes on, unless told otherwise", function()
    if helper.slow then return end
    local p = helper.record(function() both(17) end)
    assert.equal(100000, p.meta.fold_at)
    assert.is_true(p.meta.folded)
    assert.is_true(#p.nodes < 100100)
    assert.has_text("\nnote: recursion is folded beyond 100,000 call-tree " ..
      "nodes (--recursion=full keeps it)\n", p:report())
    local full = helper.record(function() both(17) end,
      { recursion = "full" })
    assert.is_false(full.meta.folded)
    assert.is_true(#full.nodes > 200000)
    for _, f in ipairs { both, b } do
      assert.equal(helper.find(full, f).calls, helper.find(p, f).calls)
    end
  end)

  local deep_enough = releases.it(_ENV, releases.without_levels(120000))
  deep_enough("is at least so deep where it was folded while recording",
    function()
    if helper.slow then return end
    local dir <close> = command.folder()
    local function deep(level) if level > 0 then deep(level - 1) end end
    local p = helper.record(function() deep(120000) end)
    local f = helper.find(p, deep)
    assert.is_true(f.max_depth > 90000 and f.max_depth < 100000)
    local depth = "≥" .. format.count(f.max_depth)
    local path = dir:file "x.cprof"
    assert(p:save(path))
    assert.has_text("120,001 calls, " .. depth .. " deep\n",
      command.cprof("show", path, "deep"))
    for _, mode in ipairs { "summary", "tree" } do
      local s = p:report { mode = mode, width = 100, min_percent = 0 }
      assert.matches("deep ×" .. depth .. "%f[ \n]", s)
    end
    for _, recursion in ipairs { "full", "fold" } do
      p = helper.record(function() deep(1200) end, { recursion = recursion })
      assert(p:save(path))
      assert.has_text("calls, 1,201 deep\n", command.cprof("show", path,
        "deep"))
    end
  end)

  -- 100,000 nodes
  local function many()
    local leaves = {}
    for i = 1, 320 do
      leaves[i] = load(("\n"):rep(i) .. "return function() end")()
    end
    for i = 1, 320 do
      load(("\n"):rep(i) .. "for _, f in ipairs(...) do f() end")(leaves)
    end
  end

  it("is folded into one of the nearest 64 nodes from there on", function()
    local around
    local function first(again) if again then around(false) end end
    for between, nodes in pairs { [63] = 1, [64] = 2 } do
      around = first
      for i = 1, between do
        around = load(("\n"):rep(i) .. "local f = ... " ..
          "return function(x) f(x) return x end")(around)
      end
      local p = helper.record(function() many() first(true) end)
      local id, found = helper.find(p, first).id, 0
      for _, node in ipairs(p.nodes) do
        if node.func == id then found = found + 1 end
      end
      assert.equal(nodes, found)
    end
  end)

  it("is not said to be folded where 100,000 nodes have none", function(dir)
    local sum = require "cprof.profile.merge".sum
    local function again(depth) if depth > 0 then again(depth - 1) end end
    local function saved(p)
      local path = dir:file "x.cprof"
      assert(p:save(path))
      return assert(require "cprof".load(path))
    end
    local function check(folded, p)
      assert.is_true(#p.nodes > 100000)
      assert.equal(folded, p.meta.folded)
      local note = p:report():find "recursion is folded"
      assert.equal(folded, note ~= nil)
    end
    local live = dir:file "live.cprof"
    local plain = helper.record(many, { file = live })
    local deeper = helper.record(function() many() again(3) end)
    for _, p in ipairs { plain, saved(plain), saved(saved(plain)),
      assert(require "cprof".load(live)),
      assert(sum { plain, saved(plain) }) } do
      check(false, p)
    end
    for _, p in ipairs { deeper, saved(deeper),
      assert(sum { deeper, plain }) } do
      check(true, p)
    end
  end)

  it("keeps all its nodes where there are fewer", function()
    local p = helper.record(function() a(n) end)
    assert.is_false(p.meta.folded)
    assert.has_no_text("folded", p:report())
    assert.equal(n + 1, helper.find(p, a).max_depth)
  end)
end)

describe("folded recursion", function()
  local function fib(n) if n < 2 then return n end
    return fib(n - 1) + fib(n - 2) end

  it("makes one node of all levels", function()
    local function work() fib(10) leaf() end
    local tree, p = helper.shape(work, { recursion = "fold" })
    assert.equal("fib 177\nleaf 1", tree)
    local f = helper.find(p, fib)
    assert.equal(10, f.max_depth)
    assert.equal(f.total_ns, f.self_ns)
    assert.is_true(f.total_ns <= helper.find(p, work).total_ns)
  end)

  it("folds mutual recursion, too", function()
    local a, b, c
    function a(n) if n > 0 then b(n - 1) end leaf() end
    function b(n) if n > 0 then c(n - 1) a(n - 1) end end
    function c(n) if n > 0 then a(n - 1) end end
    local function work() a(7) end
    local full = helper.record(work)
    local tree, p = helper.shape(work, { recursion = "fold" })
    assert.equal(helper.dedent(([[
      a %d
        b %d
          c %d
        leaf %d]]):format(helper.find(full, a).calls,
          helper.find(full, b).calls, helper.find(full, c).calls,
          helper.find(full, leaf).calls)), tree)
    for _, f in ipairs { a, b, c, leaf } do
      assert.equal(helper.find(full, f).max_depth,
        helper.find(p, f).max_depth)
    end
  end)

  it("keeps apart what is no recursion", function()
    local function x() leaf() end
    local function y() leaf() x() end
    local function work() x() y() end
    assert.equal((helper.shape(work)),
      (helper.shape(work, { recursion = "fold" })))
  end)

  it("survives errors, tail calls and coroutines", function()
    local function down(n)
      if n == 0 then error "x" end
      down(n - 1)
    end
    local function hop(n) if n > 0 then return hop(n - 1) end end
    local function body(n)
      if n > 0 then body(n - 1) else coroutine.yield() end
    end
    local function work()
      -- coroutine.resume in place of pcall, which is on the path already
      for _ = 1, 3 do coroutine.resume(coroutine.create(down), 5) end
      hop(10)
      local co = coroutine.wrap(body)
      co(4) leaf() co()
    end
    local tree, p = helper.shape(work, { recursion = "fold" })
    assert.equal(helper.dedent [[
      coroutine.create 3
      coroutine.resume 3
        down 18
          error 3
      hop 11
      coroutine.wrap 1
      coroutine.wrap function 2
        body 5
          coroutine.yield 1
      leaf 1]], tree)
    assert.equal(6, helper.find(p, down).max_depth)
    assert.equal(5, helper.find(p, body).max_depth)
    assert.equal(1, helper.find(p, hop).max_depth)
  end)
end)
