-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local feed = require "cprof.serve.feed"
local follow = require "cprof.follow"
local helper = require "helper"
local join = require "cprof.profile.join"
local merge = require "cprof.profile.merge"
local pprof = require "pprof"
local profiler = require "cprof"

local ms <const> = 1000000

local function leaf() end

-- what was recorded under each value of a key: value, times, ms
local function split(p, key)
  for _, label in ipairs(p.labels or {}) do
    if label.key == key then
      local out = {}
      for i, of in ipairs(label.values) do
        out[i] = ("%s %d %g"):format(of.value or "(no label)", of.calls,
          of.total_ns / ms)
      end
      return table.concat(out, "; ")
    end
  end
end

-- a server: 2 requests of /login (1 + 3 ms, and 2 + 3 ms in a function that
-- both endpoints call), 1 of /search (2 + 3 ms), and 4 ms of others
local function shared() driven.pass(3 * ms) end
local function login(n) driven.pass(n * ms) shared() end
local function search() driven.pass(2 * ms) shared() end
local function handle(path, user, n)
  local _ <close> = profiler.label { endpoint = path, user = user }
  if path == "/login" then login(n) else search() end
end
local function server()
  handle("/login", "ann", 1)
  handle("/login", "bob", 2)
  handle("/search", "ann")
  driven.pass(4 * ms)
end

describe("a live view", function()
  it("has what was recorded under a label", function(dir)
    local path = dir:file "x.cprof"
    assert(driven.parts(server, { c_functions = false }):save(path))
    local out = command.must("top", "--once", "--label",
      "endpoint=/login", path)
    assert.has_text("under endpoint=/login", out)
    assert.matches("\n +3.00ms +33.3 +9.00ms +100.0 +2 .* login", out)
    assert.has_no_text("search", out)
    local why = command.refused("top", "--once", "--label",
      "endpoint=/nothing", path)
    assert.has_text("cprof top: no label has endpoint=/nothing", why)
  end)

  it("grows, and keeps its nodes, while more is recorded", function(dir)
    local path = dir:file "x.cprof"
    local follower = follow.new { path = path, share = 1,
      labels = { { "endpoint", "/login" } } }
    local before, counts, pages, epochs = nil, {}, feed.new "x", {}
    driven.parts(function()
      handle("/search", "ann")
      assert.is_nil(follower:load())
      assert.has_text("no label has", follower.status.text)
      for i = 1, 3 do
        handle("/login", "user" .. i, i)
        handle("/search", "user" .. i)
        local p = follower:load()
        helper.check(p)
        assert.is_truthy(not before or core.since(p.nodes, before.nodes))
        before, counts[i] = p, helper.named(p, "shared").calls
        pages:add(p)
        epochs[i] = pages.epoch
      end
    end, { file = path })
    assert.same({ 1, 2, 3 }, counts)
    -- pages need not drop what they have
    assert.equal(epochs[1], epochs[3])
  end)
end)

describe("labels", function()
  after_each(function() profiler.stop() end)

  it("are zones with the name of their set, in order", function()
    local function work()
      do
        local _ <close> = profiler.label { user = "ann", endpoint = "/login" }
        leaf()
      end
      do
        local _ <close> = profiler.label { endpoint = "/login", user = "ann" }
        leaf()
      end
      leaf()
    end
    local tree, p = helper.shape(work)
    assert.equal(helper.dedent [[
      {endpoint=/login, user=ann} 2
        leaf 2
      leaf 1]], tree)
    local label = helper.named(p, "{endpoint=/login, user=ann}")
    assert.equal("zone", label.kind)
    assert.same({ endpoint = "/login", user = "ann" }, label.labels)
  end)

  it("have strings, numbers and booleans as values", function()
    local given = { a = "text", b = 200, c = 0.5, d = true, e = false,
      f = "404", g = "true", h = "", i = 'a "b" \\, c={1}', j = "ä\n\0x",
      ["k.l-m_N"] = -3, o = "0x10", p = "nan", q = "\xC3\xA0\xFF" }
    local p = helper.record(function()
      local _ <close> = profiler.label(given)
    end)
    local name = '{a=text, b=200, c=0.5, d=true, e=false, f="404", ' ..
      'g="true", h="", i="a \\"b\\" \\\\, c={1}", j="ä\n\0x", ' ..
      'k.l-m_N=-3, o="0x10", p=nan, q=\xC3\xA0\xFF}'
    assert.same(given, helper.named(p, name).labels)
  end)

  it("are read where a locale writes numbers with a comma", function(dir)
    local source = dir:file("source", helper.dedent [[
      escape_char /
      LC_NUMERIC
      decimal_point "<U002C>"
      thousands_sep ""
      grouping -1
      END LC_NUMERIC
    ]])
    command.shell(("localedef -c -f ANSI_X3.4-1968 -i %s %s"):format(source,
      dir:file "comma"))
    local out = command.shell(("LOCPATH=%s $SPEC_LUA -e '%s'"):format(
      dir:file "", [[
      if not os.setlocale("comma", "numeric") then return print "none" end
      local profiler = require "cprof"
      profiler.start()
      do local _ <close> = profiler.label { ratio = 1.5 } end
      profiler.stop()
      print(profiler.snapshot().labels[1].key, 1.5)]]))
    if out == "none\n" then pending "no locale can be made here" end
    assert.equal("ratio\t1,5\n", out)
  end)

  it("are read of zones whose names have their form, also in C", function()
    local p = helper.record(function()
      for _, name in ipairs { "{a=1}", "{b=x, a=2}", "{}", "{a}", "{a=}",
        "{a=1,b=2}", "{a=1", "{a=1, a=2}", '{a="x}', "{a=1} ", "a=1",
        '{a="\\"}', "{a=1, }" } do
        profiler.enter(name)
        profiler.leave(name)
      end
    end)
    assert.same({ a = 1 }, helper.named(p, "{a=1}").labels)
    assert.same({ a = 2, b = "x" }, helper.named(p, "{b=x, a=2}").labels)
    local labels = 0
    for _, f in ipairs(p.functions) do
      if f.labels then labels = labels + 1 end
    end
    assert.equal(2, labels)
  end)

  it("must be tables of keys and such values", function()
    local function wrong(message, ...)
      local before = table.pack(pcall(profiler.label, ...))
      profiler.start()
      local recorded = table.pack(pcall(profiler.label, ...))
      profiler.stop()
      assert.same({ false, "label: " .. message, n = 2 }, before)
      assert.same(before, recorded)
    end
    wrong('a table is needed, as in label { endpoint = "/login" }, got a ' ..
      "string", "x")
    wrong('a table is needed, as in label { endpoint = "/login" }, got nil',
      nil)
    wrong('a key must be a string, as in label { endpoint = "/login" }, ' ..
      "got a number", { "/login" })
    wrong("the key 'a b' must consist of letters, digits, '_', '.' and '-'",
      { ["a b"] = 1 })
    wrong("the key '' must consist of letters, digits, '_', '.' and '-'",
      { [""] = 1 })
    wrong("the value of 'user' must be a string, a number or a boolean, " ..
      "got a table", { user = {} })
    local many = {}
    for i = 1, 33 do many["k" .. i] = i end
    wrong("the table has more than 32 keys", many)
  end)

  it("do nothing without keys, and while nothing is recorded", function()
    assert.is_nil(profiler.label { a = 1 })
    do local _ <close> = profiler.label { a = 1 } end
    local function work()
      local _ <close> = profiler.label {}
      leaf()
    end
    assert.equal("leaf 1", (helper.shape(work)))
    local late = profiler.label { a = 1 }
    local p = helper.record(function()
      local _ <close> = late
      leaf()
    end)
    assert.is_nil(p.labels)
  end)

  it("say what was recorded under each value", function()
    local p = driven.parts(server, { c_functions = false })
    assert.equal("/login 2 9; /search 1 5; (no label) 0 4",
      split(p, "endpoint"))
    assert.equal("ann 2 9; bob 1 5; (no label) 0 4", split(p, "user"))
    assert.equal(2, #p.labels)
  end)

  it("are one value if their texts are equal", function()
    local p = driven.parts(function()
      for _, value in ipairs { true, "true", "true" } do
        local _ <close> = profiler.label { a = value }
        driven.pass(ms)
      end
    end)
    assert.equal("true 3 3; (no label) 0 0", split(p, "a"))
    assert.equal("true 3 3; (no label) 0 0", split(p:labelled { a = true },
      "a"))
    assert.equal(1, helper.named(p, "{a=true}").calls)
    assert.equal(2, helper.named(p, '{a="true"}').calls)
  end)

  it("within labels: the innermost value of a key counts", function()
    local p = driven.parts(function()
      local _ <close> = profiler.label { a = 1, b = "x" }
      driven.pass(1 * ms)
      do
        local _ <close> = profiler.label { a = 2 }
        driven.pass(2 * ms)
        local _ <close> = profiler.label { a = 1, c = true }
        driven.pass(4 * ms)
      end
      driven.pass(8 * ms)
    end, { c_functions = false })
    assert.equal("1 2 13; 2 1 2; (no label) 0 0", split(p, "a"))
    assert.equal("x 1 15; (no label) 0 0", split(p, "b"))
    assert.equal("(no label) 0 11; true 1 4",
      split(p, "c"):gsub("^(.*); (.*)$", "%2; %1"))
  end)

  it("stay with their coroutines", function()
    local function request(path, n)
      local _ <close> = profiler.label { endpoint = path }
      for _ = 1, 3 do
        driven.pass(n * ms)
        leaf()
        coroutine.yield()
      end
    end
    local p = driven.parts(function()
      local all = { coroutine.wrap(request), coroutine.wrap(request) }
      for i = 1, 4 do
        all[1]("/a", 1)
        driven.pass(100 * ms)
        all[2]("/b", i == 1 and 10)
      end
    end, { c_functions = false })
    assert.equal("/b 1 30; /a 1 3; (no label) 0 400", split(p, "endpoint"))
    local a = assert(p:labelled { endpoint = "/a" })
    assert.equal(3, helper.find(a, leaf).calls)
  end)

  it("end when an error leaves their block", function()
    local function fails()
      local _ <close> = profiler.label { a = 1 }
      local _ <close> = profiler.label { b = 2 }
      driven.pass(ms)
      error "x"
    end
    local p = driven.parts(function()
      pcall(fails)
      driven.pass(2 * ms)
      local co = coroutine.create(fails)
      coroutine.resume(co)
      coroutine.close(co)
      driven.pass(4 * ms)
    end, { c_functions = false })
    assert.equal("1 2 2; (no label) 0 6", split(p, "a"):gsub(
      "^(%(.*); (1.*)$", "%2; %1"))
    assert.equal("2 2 2; (no label) 0 0", split(p:labelled { b = 2 }, "b"))
  end)

  it("without <close> end with their function", function()
    local function forgets()
      profiler.label { a = 1 }
      driven.pass(ms)
    end
    local p = driven.parts(function()
      forgets()
      driven.pass(2 * ms)
    end, { c_functions = false })
    assert.equal("1 1 1; (no label) 0 2", split(p, "a"))
  end)

  it("may be recursive", function()
    local function down(n)
      local _ <close> = profiler.label { depth = n }
      driven.pass(n * ms)
      if n > 0 then down(n - 1) end
    end
    local p = driven.parts(function() down(3) down(2) end,
      { c_functions = false })
    assert.equal("2 2 4; 3 1 3; 1 2 2; 0 2 0; (no label) 0 0",
      split(p, "depth"))
    local two = helper.check(assert(p:labelled { depth = 2 }))
    assert.equal(4 * ms, helper.find(two, down).total_ns)
    assert.equal(0 * ms, helper.find(two, down).self_ns)
  end)

  it("may begin before a recording, and end after it", function()
    local p
    do
      local _ <close> = profiler.label { a = 0 }
      p = driven.parts(function()
        local _ <close> = profiler.label { a = 1 }
        driven.pass(ms)
        profiler.stop()
        leaf()
      end, { c_functions = false })
    end
    helper.check(p)
    assert.equal("1 1 1; (no label) 0 0", split(p, "a"))
  end)

  it("are counted alike in every run, and in every mode", function()
    local function work()
      for i = 1, 10 do
        local _ <close> = profiler.label { kind = i % 3, odd = i % 2 == 1 }
        for _ = 1, i do leaf() end
      end
    end
    local function counts(options)
      local p, out = helper.record(work, options), {}
      helper.check(p)
      for _, pair in ipairs { { kind = 0 }, { kind = 1, odd = true } } do
        local q = helper.check(assert(p:labelled(pair)))
        out[#out + 1] = helper.find(q, leaf).calls
        out[#out + 1] = q.meta.instructions
      end
      return out
    end
    assert.same({ 3 + 6 + 9, 1 + 7 }, counts())
    for _, mode in ipairs { "call", "line" } do
      assert.same({ 18, 8 }, counts { mode = mode }, mode)
    end
    if core.internals() ~= "direct" then return end
    local counted = counts { mode = "count" }
    assert.same({ 18, 8 }, { counted[1], counted[3] })
    assert.same(counted, counts { mode = "count" })
  end)

  it("are bounded by max_nodes", function()
    local p = helper.record(function()
      for i = 1, 1000 do
        local _ <close> = profiler.label { id = i }
        leaf()
      end
    end, { max_nodes = 100 })
    assert.is_true(#p.functions <= 100 and #p.nodes <= 200)
    assert.is_true(p.meta.truncated > 0)
  end)

  it("are in files, sums and joined profiles", function(dir)
    local file = dir:file "a.cprof"
    local p = driven.parts(server, { c_functions = false, file = file })
    local saved = dir:file "b.cprof"
    assert.is_true(p:save(saved))
    for _, path in ipairs { file, saved } do
      local q = assert(profiler.load(path))
      assert.same(p.labels, q.labels)
      local part = assert(q:labelled { endpoint = "/login" })
      assert.is_true(part:save(saved .. "2"))
      local again = assert(profiler.load(saved .. "2"))
      assert.same(part.labels, again.labels)
      assert.equal(part:report(), again:report())
    end
    local sum = assert(merge.sum { p, assert(profiler.load(file)) })
    assert.equal("/login 4 18; /search 2 10; (no label) 0 8",
      split(sum, "endpoint"))
    local joined = assert(join.profiles(p, assert(profiler.load(file))))
    assert.equal("/login 2 9; /search 1 5; (no label) 0 4",
      split(joined, "endpoint"))
  end)

  it("are in live files", function(dir)
    local file = dir:file "live.cprof"
    profiler.start { file = file }
    local _ <close> = profiler.label { a = "x" }
    leaf()
    local p = assert(profiler.load(file))
    profiler.stop()
    assert.equal("x", p.labels[1].values[1].value)
    assert.equal(1, p.labels[1].values[1].calls)
  end)
end)

if core.internals() == "direct" then
  -- n samples, each of a millisecond
  local function samples(n) for _ = 1, n do local _ = {} end end
  local function busy(n) samples(n) end

  -- tables of labels, made once: a new table is a sample
  local tables = {}
  local function open(key, value)
    local name = ("%s=%s"):format(key, value)
    tables[name] = tables[name] or { [key] = value }
    return tables[name]
  end

  -- the call tree below a function, with samples
  local function tree(p, f)
    local out, top = {}, nil
    for id, depth, func in core.walk(p.nodes) do
      if func == helper.find(p, f).id then top = depth
      elseif top and depth > top then
        out[#out + 1] = ("%s%s %d"):format(("  "):rep(depth - top - 1),
          p.functions[func].name, p.nodes[id].total_samples)
      end
    end
    return table.concat(out, "\n")
  end

  -- the samples and ms under each value of a key
  local function sampled(p, key)
    local out = {}
    for i, of in ipairs(p.labels[1].values) do
      assert.equal(key, p.labels[1].key)
      out[i] = ("%s %d %g"):format(of.value or "(no label)", of.samples,
        of.total_ns / ms)
    end
    return table.concat(out, "; ")
  end

  describe("labels of samples", function()
    after_each(function() profiler.stop() end)

    it("stand where they were opened, and divide the samples", function()
      local function serve(path, n)
        busy(1)
        do
          local _ <close> = profiler.label(open("endpoint", path))
          busy(n)
          samples(2)
        end
        busy(3)
      end
      local function work() serve("/a", 4) serve("/b", 5) end
      local p = driven.known(work)
      assert.equal(helper.dedent [[
        serve 21
          busy 2
            samples 2
          {endpoint=/a} 6
            busy 4
              samples 4
            samples 2
          busy 6
            samples 6
          {endpoint=/b} 7
            busy 5
              samples 5
            samples 2]], tree(p, work))
      assert.equal("/b 7 7; /a 6 6; (no label) 8 8", sampled(p, "endpoint"))
    end)

    it("change no sum of samples", function()
      local function work(label)
        local _ <close> = label and profiler.label(open("a", 1)) or nil
        busy(7)
        samples(5)
      end
      local without = driven.known(function() work() end)
      local with = driven.known(function() work(true) end)
      assert.same({ 12, 12 }, { without.samples, with.samples })
      for _, f in ipairs { work, busy } do
        assert.equal(helper.find(without, f).total_samples,
          helper.find(with, f).total_samples)
      end
      local f = helper.find(with, work)
      for n = f.line, f.last_line do
        local a, b = without.lines[f.source][n], with.lines[f.source][n]
        assert.same({ a.self_ns, a.total_ns }, { b.self_ns, b.total_ns }, n)
      end
    end)

    it("end with the call that opened them, however it ends", function()
      local function request(value, fails)
        if value then profiler.label(open("a", value)) end
        samples(1)
        if fails then error "x" end
        return 1
      end
      local function inner() samples(3) end
      local function tail()
        profiler.label(open("a", "tail"))
        samples(1)
        return inner()
      end
      local p = driven.known(function()
        for i = 1, 3 do
          request("r" .. i)
          request()
          pcall(request, "e" .. i, true)
          pcall(request, nil, true)
          tail()
        end
      end)
      assert.equal("tail 3 3; e1 1 1; e2 1 1; e3 1 1; r1 1 1; r2 1 1; " ..
        "r3 1 1; (no label) 15 15", sampled(p, "a"))
    end)

    it("belong to their coroutine, and to those that it resumes", function()
      local function body(value)
        local _ <close> = profiler.label(open("a", value))
        samples(2)
        coroutine.yield()
        samples(3)
      end
      local function work()
        local one, two = coroutine.create(body), coroutine.create(body)
        coroutine.resume(one, "one")
        samples(1)
        coroutine.resume(two, "two")
        local _ <close> = profiler.label(open("b", "b"))
        coroutine.resume(one)
        samples(4)
        coroutine.resume(two)
      end
      local p = driven.known(work)
      local split_of = {}
      for _, label in ipairs(p.labels) do
        for _, of in ipairs(label.values) do
          split_of[label.key .. "=" .. (of.value or "none")] = of.samples
        end
      end
      assert.same({ ["a=one"] = 5, ["a=two"] = 5, ["b=b"] = 10,
        ["a=none"] = p.samples - 10, ["b=none"] = p.samples - 10 }, split_of)
    end)

    it("are gone with a coroutine that is closed or collected", function()
      local function body()
        profiler.label { a = 1 }
        coroutine.yield()
      end
      local function plain() samples(1) coroutine.yield() end
      local p = driven.known(function()
        for _ = 1, 200 do
          local co = coroutine.create(body)
          coroutine.resume(co)
          coroutine.close(co)
          coroutine.resume(coroutine.create(body))
          coroutine.resume(coroutine.create(plain))
        end
      end)
      assert.equal(0, helper.named(p, "{a=1}") and
        helper.named(p, "{a=1}").total_samples or 0)
    end)

    it("stay open while recording pauses, and over a reset", function()
      driven.start {}
      local p
      do
        local _ <close> = profiler.label { a = 1 }
        busy(1)
        profiler.pause()
        local _ <close> = profiler.label { a = 2 }
        busy(5)
        profiler.resume()
        busy(2)
        profiler.reset()
        busy(3)
      end
      busy(1)
      p = driven.stop()
      assert.matches("^2 3 ", (sampled(p, "a")))
    end)

    it("are in files, ranges and sums", function(dir)
      local function serve(value, n)
        local _ <close> = profiler.label(open("a", value))
        busy(n)
        samples(n)
      end
      local file = dir:file "a.cprof"
      local p = driven.sample(function()
        serve("x", 20)
        serve("y", 30)
      end, { file = file })
      local saved = dir:file "b.cprof"
      assert(p:save(saved))
      for _, path in ipairs { file, saved } do
        local q = helper.check(assert(profiler.load(path)))
        assert.same(p.labels, q.labels)
        assert.same(p.lines, q.lines)
      end
      local part = helper.check(assert(p:labelled { a = "y" }))
      local y = p.labels[1].values[1]
      assert.same({ y.samples, y.total_ns }, { part.samples, part.program_ns })
      local half = helper.check(assert(p:range(0, 0.02)))
      assert.is_nil(half:labelled { a = "y" })
      local all = assert(p:range(0))
      for n, line in ipairs(p.lines[helper.find(p, serve).source]) do
        local other = all.lines[helper.find(p, serve).source][n]
        assert.is_true(math.abs(line.self_ns - other.self_ns) < 0.1 * ms, n)
      end
      local sum = assert(merge.sum { p, assert(profiler.load(file)) })
      assert.equal(2 * y.samples, sum.labels[1].values[1].samples)
    end)

    it("have lines of their own, of the whole recording and of ranges",
      function()
      local function serve(value, n)
        local _ <close> = profiler.label(open("a", value))
        for _ = 1, n do local _ = {} end
        for _ = 1, 10 do local _ = {} end
        samples(5)
      end
      local p = driven.known(function()
        serve("x", 20)
        serve("y", 30)
        serve("x", 7)
      end)
      local f = helper.find(p, serve)
      local function times(q)
        local list = q.lines[f.source]
        local out = { list[f.line + 2].self_ns, list[f.line + 3].self_ns }
        for i, ns in ipairs(out) do out[i] = math.floor(ns / ms + 0.5) end
        return out
      end
      assert.same({ 57, 30 }, times(p))
      local x, y = p:labelled { a = "x" }, p:labelled { a = "y" }
      helper.check(x)
      assert.same({ 27, 20 }, times(x))
      assert.same({ 30, 10 }, times(y))
      assert.matches("30.0ms +66.7 ", y:annotate())
      assert.matches("0ns self %+ 40.0ms in zones, 88.9", y:annotate())
      local half = p:range(0, 0.05)
      assert.same({ 20, 10 }, times(assert(half:labelled { a = "x" })))
      local dir <close> = command.folder()
      local file = dir:file "x.cprof"
      assert(y:save(file))
      assert.same({ 30, 10 }, times(assert(profiler.load(file))))
      assert(p:save(file))
      local out = command.cprof("annotate", "--label", "a=y", file)
      assert.matches("30.0ms +66.7 ", out)
    end)

    it("are closed by their names, as other zones", function()
      local why
      local inside = profiler.wrap("wrapped", busy)
      local function mistaken()
        profiler.enter "other"
        profiler.leave "outer"
      end
      local p = driven.known(function()
        profiler.enter "outer"
        profiler.enter("inner", 1)
        samples(2)
        profiler.leave "inner"
        samples(3)
        why = select(2, pcall(mistaken))
        profiler.leave "outer"
        profiler.leave "outer"  -- may have been entered before the recording
        inside(4)
      end)
      assert.matches("leave 'outer': the innermost open zone is 'other'$", why)
      assert.equal(5, helper.named(p, "outer").total_samples)
      assert.equal(2, helper.named(p, "inner(1)").total_samples)
      assert.equal(4, helper.named(p, "wrapped").total_samples)
    end)

    it("are also opened by C code", function()
      local path = assert(package.searchpath("spec_host", package.cpath))
      local zones = assert(package.loadlib(path, "luaopen_spec_zones"))()
      local function outer() samples(1) end
      local function inner() samples(2) end
      local function fails() samples(3) error "x" end
      local function work()
        zones.nested(inner, outer)
        pcall(zones.raise, fails)
        zones.named(inner, "{a=1}", "{a=2}")
        outer()
      end
      local p = driven.known(work)
      assert.equal(helper.dedent [[
        nested 3
          outer 3
            inner 2
              inner 2
                samples 2
            outer 1
              samples 1
        pcall 3
          raise 3
            outer 3
              lost 3
                fails 3
                  samples 3
        named 4
          {a=1} 2
            inner 2
              samples 2
          {a=2} 2
            inner 2
              samples 2
        outer 1
          samples 1]], (tree(p, work):gsub("spec_host%.so%+0x%x+", "raise")))
    end)

    it("of C code leave alone hooks of earlier recordings", function()
      local path = assert(package.searchpath("spec_host", package.cpath))
      local zones = assert(package.loadlib(path, "luaopen_spec_zones"))()
      profiler.start()
      local co = coroutine.create(print)  -- has the hook, and no stack yet
      profiler.stop()
      local function work()
        zones.other(co, function() samples(3) end)
        samples(2)
      end
      local p = driven.known(work)
      assert.equal(5, helper.find(p, work).total_samples)
      assert.equal(5, helper.find(p, samples).self_samples)
    end)

    it("are as deep as the recursion that opened them", function()
      local function down(n)
        local _ <close> = profiler.label(open("n", n))
        samples(1)
        if n > 1 then down(n - 1) end
      end
      -- Lua 5.4.0 allows 190 levels
      local p = driven.known(function() down(100) samples(1) end)
      assert.equal(101, p.samples)
      assert.equal("(no label) 1 1", sampled(p, "n"):match "%(.*$")
    end)

    it("are printed as a table and below a report", function(dir)
      local file = dir:file "run.cprof"
      local function serve(value, n)
        local _ <close> = profiler.label(open("a", value))
        samples(n)
      end
      assert(driven.known(function()
        serve("x", 20) serve("y", 30) samples(50)
      end):save(file))
      assert.equal([[
 total    total %  samples  a
30.0ms  30.0 ±9.6       30  y
20.0ms  20.0 ±8.9       20  x
50.0ms  50.0 ±9.6       50  (no label)
]], (command.cprof("labels", file)))
      assert.equal([[
range: 0.010s to 0.030s of 0.100s

 total     total %  samples  a
10.0ms  50.0 ±20.1       10  x
10.0ms  50.0 ±20.1       10  y
]], (command.cprof("labels", "--from=10ms", "--to=30ms", file)))
      local out = command.cprof("tree", "--label", "a=y", file)
      assert.has_text("\nlabel: a=y (30.0ms of 100ms)\n", out)
      assert.has_text("\n30 samples, ", out)
      out = command.cprof("heatmap", "--label", "a=y", "--width=1000", file)
      assert.has_text("CPU time under a=y: . none", out)
      -- cells of 20 ms: 20 ms of x, 30 ms of y, which stand out, others
      assert.matches("\n +0ms %.%.%.%.\n +AAAA\n +%+%+%+%+\n +%.%.%.%.\n", out)
      assert.has_text("cprof report --from 0.02s --to 0.04s --label a=y", out)
      local _, err = command.cprof("heatmap", "--label", "a=z", file)
      assert.equal("cprof heatmap: --label: no label has a=z; there are: " ..
        "x, y\n", err)
    end)
  end)
end

describe("what was recorded under labels", function()
  local p
  setup(function() p = driven.parts(server, { c_functions = false }) end)

  it("has the figures of these calls alone", function()
    local q = helper.check(assert(p:labelled { endpoint = "/login" }))
    local of = helper.find(q, shared)
    assert.same({ 2, 6 * ms }, { of.calls, of.self_ns })
    assert.same({ 2, 9 * ms }, { helper.find(q, login).calls,
      helper.find(q, login).total_ns })
    assert.same({ 0, 9 * ms }, { helper.find(q, handle).calls,
      helper.find(q, handle).total_ns })
    assert.is_nil(helper.find(q, search))
    assert.same({ 9 * ms, 9 * ms }, { q.program_ns, q.meta.wall_ns })
    assert.equal("/login 2 9; (no label) 0 0", split(q, "endpoint"))
  end)

  it("is that under all of them", function()
    local q = assert(p:labelled { endpoint = "/login", user = "bob" })
    helper.check(q)
    assert.equal(5 * ms, q.program_ns)
    local once = assert(p:labelled { user = "bob" })
    assert.equal(5 * ms,
      assert(once:labelled { endpoint = "/login" }).program_ns)
    assert.same({ nil, "nothing was recorded under endpoint=/search, " ..
      "user=bob" }, { p:labelled { endpoint = "/search", user = "bob" } })
  end)

  it("can be the whole", function()
    assert.equal(p.program_ns, assert(p:labelled {}).program_ns)
  end)

  it("is said in the header", function()
    local text = p:labelled { user = "bob" }:report()
    assert.has_text("\nlabel: user=bob (5.00ms of 18.0ms)\n" ..
      "5.00ms wall: 5.00ms CPU\n3 calls, ", text)
  end)

  it("must have been recorded", function()
    assert.same({ nil, "no label has endpoint=/logon; there are: /login, " ..
      "/search" }, { p:labelled { endpoint = "/logon" } })
    assert.same({ nil, "no label has the key 'endpont'; there are: " ..
      "endpoint, user" }, { p:labelled { endpont = "/login" } })
    assert.same({ nil, "no labels were recorded" },
      { helper.record(leaf):labelled { endpoint = "/login" } })
  end)

  it("is asked for by keys and values", function()
    assert.has_error(function() p:labelled "x" end,
      "labelled: a table of keys and values is needed, got a string")
    assert.has_error(function() p:labelled { "x" } end,
      "labelled: a key must be a string, got a number")
    assert.has_error(function() p:labelled { a = {} } end,
      "labelled: the value of 'a' must be a string, a number or a boolean, " ..
      "got a table")
  end)

  it("has no lines, which are recorded for all labels together", function()
    local q = assert(driven.parts(server, { mode = "line" }):labelled
      { endpoint = "/login" })
    helper.check(q)
    assert.has_error(function() q:annotate() end,
      "annotate: lines are recorded for all labels together, not for each one")
    assert.has_error(function() q:export("lcov", os.tmpname()) end,
      "export: format lcov needs lines: lines are recorded for all labels " ..
      "together, not for each one")
  end)

  local function allocate(n)
    local _ <close> = profiler.label { n = n }
    for _ = 1, n do local _ = {} end
  end

  it("is said on its page, also why it has no lines", function()
    local q = helper.record(function() allocate(3) allocate(5) end,
      { mode = "line" })
    local data = require "cprof.html.data"
    local part = assert(q:labelled { n = 3 })
    assert.equal("label: " .. part.meta.labels, data.notes(part)[1])
    assert.equal(part.meta.labels, data.meta(part).labels)
    assert.is_nil(data.meta(q).labels)
  end)

  it("has allocations", function()
    local q = helper.record(function() allocate(3) allocate(500) end,
      { memory = true })
    local few, many = assert(q:labelled { n = 3 }),
      assert(q:labelled { n = 500 })
    assert.equal(497, many.functions[1].total_allocs -
      few.functions[1].total_allocs)
  end)

  it("has the overhead of these calls", function()
    local function work(n)
      local _ <close> = profiler.label { n = n }
      for _ = 1, n do leaf() end
    end
    local q = helper.record(function() work(100) work(300) end)
    local sum = 0
    for _, n in ipairs { 100, 300 } do
      local part = helper.check(assert(q:labelled { n = n }))
      sum = sum + part.meta.overhead_ns
    end
    assert.is_true(sum > 0 and sum <= q.meta.overhead_ns)
  end)

  it("shows no functions of cprof in a recording", function()
    local recorded = helper.record(function()
      local _ = p:labelled { user = "bob" }
    end)
    for _, f in ipairs(recorded.functions) do
      assert.has_no_text("lua/cprof", f.source, f.title)
    end
  end)
end)

describe("the command, of labels,", function()
  local dir, file
  setup(function()
    dir = command.folder()
    file = dir:file "run.cprof"
    assert(driven.parts(server, { c_functions = false }):save(file))
  end)
  teardown(function() getmetatable(dir).__close(dir) end)

  it("prints what each value took", function()
    assert.equal([[
 total  total %  times    mean  endpoint
9.00ms     50.0      2  4.50ms  /login
5.00ms     27.8      1  5.00ms  /search
4.00ms     22.2                 (no label)

 total  total %  times    mean  user
9.00ms     50.0      2  4.50ms  ann
5.00ms     27.8      1  5.00ms  bob
4.00ms     22.2                 (no label)
]], (command.cprof("labels", file)))
    assert.equal([[
label: endpoint=/login (9.00ms of 18.0ms)

 total  total %  times    mean  user
5.00ms     55.6      1  5.00ms  bob
4.00ms     44.4      1  4.00ms  ann
]], (command.cprof("labels", "--label", "endpoint=/login", file, "user")))
    local out = command.cprof("labels", "--limit=1", file, "endpoint")
    assert.has_text("\n… 1 more value, 27.8 %\n", out)
  end)

  it("limits reports, functions and exports to labels", function()
    local under = "label: endpoint=/login, user=bob (5.00ms of 18.0ms)\n"
    for _, name in ipairs { "report", "tree", "callgraph", "flame" } do
      local out = command.cprof(name, "--label", "endpoint=/login",
        "--label=user=bob", file)
      assert.has_text("\n" .. under, out)
    end
    local out = command.cprof("report", "--label", "user=bob", file)
    assert.has_text("\nNext: cprof show --label user=bob ", out)
    out = command.cprof("show", "--label", "user=bob", file, "login")
    assert.has_text("\nlabel: user=bob (5.00ms of 18.0ms)\n" ..
      "5.00ms total (100.0 %), 2.00ms self (40.0 %), 1 call\n", out)
    assert.has_text("lines are recorded for all labels together", out)
    out = command.cprof("export", "--format=folded", "--label", "user=bob",
      file)
    assert.matches("login [^;]*;shared [^;]* 3000000\n", out)
    assert.has_no_text("search", out)
  end)

  it("prints the shares of each key's values below a report", function()
    assert.has_text("\n\nendpoint: /login 50.0 %, /search 27.8 %, (no " ..
      "label) 22.2 %\nuser: ann 50.0 %, bob 27.8 %, (no label) 22.2 %\n",
      command.cprof("report", file))
    local out = command.cprof("report", "--label", "endpoint=/login", file)
    assert.has_text("\n\nuser: bob 55.6 %, ann 44.4 %\n", out)
    assert.has_no_text("\nendpoint: ", out)
    local many = dir:file "many.cprof"
    assert(driven.parts(function()
      for i = 1, 7 do
        for _, key in ipairs { "a", "b", "c", "d" } do
          local _ <close> = profiler.label { [key] = i }
          driven.pass(i * ms)
        end
      end
    end, { c_functions = false }):save(many))
    out = command.cprof("report", many)
    assert.has_text("\na: 7 6.2 %, 6 5.4 %, 5 4.5 %, 4 3.6 %, 3 more, (no " ..
      "label) 75.0 %\nb: ", out)
    assert.has_text("\nc: ", out)
    assert.has_no_text("\nd: ", out)
  end)

  it("compares what is under labels", function()
    local other = dir:file "faster.cprof"
    assert(driven.parts(function() handle("/login", "ann", 1) end,
      { c_functions = false }):save(other))
    local out = command.cprof("diff", "--label", "endpoint=/login", file,
      other, "--width=300")
    assert.has_text("clock monotonic, label endpoint=/login (9.00ms of " ..
      "18.0ms)\n", out)
    assert.has_text("change: -5.00ms (-55.6 %), -3 calls", out)
    local _, err = command.cprof("diff", "--label", "endpoint=/search", file,
      other)
    assert.equal("cprof diff: " .. other .. ": --label: no label has " ..
      "endpoint=/search; there are: /login\n", err)
  end)

  it("names what there is", function()
    local function fails(message, ...)
      local _, err, status = command.cprof(...)
      assert.same({ ("cprof %s: %s\n"):format((...), message), 2 },
        { err, status })
    end
    fails("--label: no label has endpoint=/x; there are: /login, /search",
      "report", "--label", "endpoint=/x", file)
    fails("--label: no label has the key 'x'; there are: user, endpoint",
      "tree", "--label", "x=1", file)
    fails("option '--label' must be KEY=VALUE (endpoint=/login), got 'x'; " ..
      "see cprof show --help", "show", "--label", "x", file, "login")
    fails("no label has the key 'x'; there are: user, endpoint", "labels",
      file, "x")
    fails("format lcov needs lines: lines are recorded for all labels " ..
      "together, not for each one",
      "export", "--format=lcov", "--label", "user=bob", file)
    local other = dir:file "other.cprof"
    assert(helper.record(leaf):save(other))
    fails("no labels were recorded", "labels", other)
  end)

  it("writes them into pprof and JSON", function()
    local _, err, status = command.cprof("export", "--format=pprof", "-o",
      dir:file "out.pb", file)
    assert.same({ "", 0 }, { err, status })
    local sums = {}
    local data = command.read(dir:file "out.pb")
    if data:sub(1, 2) == "\x1f\x8b" then
      data = command.shell("gzip -dc " .. dir:file "out.pb")
    end
    for _, sample in ipairs(pprof(data).samples) do
      local key = ("%s %s"):format(sample.labels.endpoint, sample.labels.user)
      sums[key] = (sums[key] or 0) + sample.ns
    end
    assert.same({ ["/login ann"] = 4 * ms, ["/login bob"] = 5 * ms,
      ["/search ann"] = 5 * ms, ["nil nil"] = 4 * ms }, sums)
    local out = command.cprof("export", "--format=json", file)
    assert.has_text('"labels":{"endpoint":"/login","user":"bob"}', out)
    assert.is_truthy(out:find('\n"labels":[{"key":"endpoint","values":[' ..
      '{"calls":2,"total_ns":9000000,"total_wait_ns":0,' ..
      '"value":"/login"},', 1, true), out)
  end)
end)
