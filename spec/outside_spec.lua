-- What cprof does itself, whoever asks for it, is not in the recording, and
-- runs without the program's debug hook.

local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local core = require "cprof.core"
local profiler = require "cprof"

-- where it is known how far Lua has counted
local direct = core.internals() == "direct"
local it_direct = direct and it or function() end

local path = os.tmpname()
teardown(function() os.remove(path) end)

local function leaf() return 1 end
local function work() for _ = 1, 5 do leaf() end end

local pieces  -- that an export has written
local function write_piece() pieces = pieces + 1 end

-- what a program may ask of a profile, of any mode
local asked = {
  annotate = function(p)
    return p.meta.mode == "call" or p:annotate(nil, { color = "never" })
  end,
  export = function(p) return p:export("json", write_piece) end,
  html = function(p) return p:html(path) end,
  load = function(p)
    p:save(path)
    return profiler.load(path)
  end,
  of_lines = function(p) return p.lines["@spec/outside_spec.lua"] end,
  of_branches = function(p) return p.branches and p.branches["@x"] end,
  of_nodes = function(p) return #p.nodes, p.nodes[1] end,
  of_running = function() return profiler.running() end,
  report = function(p) return p:report() end,
  report_now = function() return profiler.report() end,
  sums = function(p) return p:sums(function(f) return f.title end) end,
  view = function(p)
    if p.meta.mode ~= "call" and p.meta.mode ~= "line" then return end
    local view = profiler.view(p)
    return view:lines(), view:titles()
  end,
}

-- titles and calls of what was recorded while `f` asked something
local function recorded(options, f)
  profiler.start(options)
  work()
  f(profiler.snapshot())
  work()
  profiler.stop()
  local out = {}
  for _, g in ipairs(profiler.snapshot().functions) do
    if g.calls > 0 then out[#out + 1] = g.title .. " " .. g.calls end
  end
  table.sort(out)
  return out
end

-- figures of one function of this file
local function figures(p, title)
  for _, f in ipairs(p.functions) do
    if f.name == title then return f end
  end
end

describe("what cprof does", function()
  for _, options in ipairs { { mode = "call" }, { mode = "line" },
    { mode = "count" }, { mode = "call", memory = true } } do
    local where = options.mode == "count" and it_direct or it
    where("is not recorded: mode " .. options.mode ..
      (options.memory and " with memory" or ""), function()
      pieces = 0
      for name, ask in pairs(asked) do
        local function once(p) return ask(p) end
        local function nothing() end
        local with, without = recorded(options, once),
          recorded(options, nothing)
        -- the functions of this file that ask
        for _, list in ipairs { with, without } do
          for i = #list, 1, -1 do
            local title = list[i]
            if title:find "once" or title:find "write_piece" or
               title:find "nothing" or
               title:find("asked." .. name, 1, true) then
              table.remove(list, i)
            end
          end
        end
        assert.same(without, with, name)
      end
    end)
  end

  it("allocates nothing for the function that asks", function()
    pieces = 0
    for name, ask in pairs(asked) do
      if name ~= "sums" then
        profiler.start { mode = "call", memory = true }
        local p = profiler.snapshot()
        local function before() ask(p) end
        local function asking() ask(p) end
        -- A collection frees parts of Lua's stack. Lua allocates them again
        -- for a call, before that is known to be a call of cprof.
        collectgarbage "stop"
        before()
        asking()
        collectgarbage "restart"
        profiler.stop()
        local f = figures(profiler.snapshot(), "asking")
        assert.equal(0, f.total_allocs, name)
      end
    end
  end)

  it("takes no samples, and has no nodes in trees of samples", function()
    pieces = 0
    profiler.start { mode = "sample", rate = 10000 }
    work()
    for _ = 1, 3 do
      for _, ask in pairs(asked) do ask(profiler.snapshot()) end
    end
    profiler.stop()
    for _, f in ipairs(profiler.snapshot().functions) do
      assert.has_no_text("cprof/", f.source)
    end
  end)

  it("is not recorded in coroutines, and after errors", function()
    local function ask(p)
      coroutine.wrap(function() p:report() end)()
      pcall(p.report, p, { mode = "no such" })
      pcall(p.export, p, "json", function() error "mine" end)
    end
    for _, title in ipairs(recorded({ mode = "call" }, ask)) do
      assert.has_no_text("lua/cprof", title)
    end
    assert.is_false(profiler.running())
  end)

  -- starts an export in a coroutine whose writer yields
  local function exporting()
    local p = profiler.snapshot()
    local co = coroutine.create(function()
      local running
      p:export("json", function()
        running = coroutine.running()
        coroutine.yield()
      end)
      return running
    end)
    assert.is_true(coroutine.resume(co))
    return co
  end

  it("goes on recording while a writer has yielded", function()
    profiler.start()
    local co = exporting()
    assert.is_true(profiler.running())
    work()
    local ok, running
    repeat ok, running = coroutine.resume(co) until running
    assert.is_true(ok)
    assert.equal(co, running)
    work()
    profiler.stop()
    assert.equal(10, figures(profiler.snapshot(), "leaf").calls)
  end)

  it("goes on recording when a writer is dropped, closed, or fails",
    function()
      profiler.start()
      exporting()  -- and dropped
      work()
      assert.is_true(coroutine.close(exporting()))
      work()
      local p = profiler.snapshot()
      local why = helper.failure(p.export, p, "json",
        function() error("x", 0) end)
      assert.equal("x", why)
      work()
      profiler.stop()
      assert.equal(15, figures(profiler.snapshot(), "leaf").calls)
    end)

  it("is not the program's writer, nor its groups, which are recorded",
    function()
      local written, groups = 0, 0
      local function writing() written = written + 1 end
      local function grouping(f)
        groups = groups + 1
        return f.title
      end
      profiler.start()
      work()
      local p = profiler.snapshot()
      p:export("json", writing)
      p:export("json", { write = writing })
      p:sums(grouping)
      profiler.stop()
      local after = profiler.snapshot()
      assert.is_true(written >= 2)
      assert.equal(written, figures(after, "writing").calls)
      assert.equal(#p.functions - 1, groups)
      assert.equal(groups, figures(after, "grouping").calls)
    end)

  it("is what a file of the library's is written", function()
    profiler.start()
    local p = profiler.snapshot()
    local file <close> = assert(io.open(path, "w"))
    p:export("json", file)
    profiler.stop()
    for _, f in ipairs(profiler.snapshot().functions) do
      assert.has_no_text("write", f.title)
    end
  end)
end)

describe("a pause of the program's", function()
  it("lasts, whatever asked for it", function()
    profiler.start()
    work()
    local p = profiler.snapshot()
    p:sums(function(f)
      profiler.stop()
      profiler.start()
      profiler.pause()
      return f.title
    end)
    assert.is_false(profiler.running())
    profiler.stop()
  end)

  it("is not that of a coroutine that was dropped", function()
    profiler.start()
    work()
    local p = profiler.snapshot()
    do
      local co = coroutine.create(function()
        p:export("json", coroutine.yield)
      end)
      assert(coroutine.resume(co))
    end
    collectgarbage()
    collectgarbage()
    assert.is_true(profiler.running())
    profiler.stop()
  end)
end)

describe("a program's hook", function()
  after_each(function() profiler.stop() end)

  local seen
  local function hook() seen[#seen + 1] = debug.getinfo(2, "S").source end

  -- the hook sees only functions of this file and of Lua, none of cprof
  local function check(mask, count, f)
    local before = { debug.gethook() }
    seen = {}
    debug.sethook(hook, mask, count)
    f()
    local there, with, every = debug.gethook()
    debug.sethook(table.unpack(before))
    assert.equal(hook, there)
    assert.equal(mask, with)
    assert.equal(count, every)
    local inside = 0
    for _, source in ipairs(seen) do
      if source:find("cprof/", 1, true) then inside = inside + 1 end
    end
    return inside
  end

  for _, recording in ipairs { false, true } do
    it("sees nothing of cprof" .. (recording and ", while recording" or ""),
      function()
        profiler.start()
        work()
        if not recording then profiler.stop() end
        local p = profiler.snapshot()
        for name, ask in pairs(asked) do
          pieces = 0
          local seen_of_it = check("", 1, function() ask(p) end)
          -- a few instructions run before the hook is removed and after it is
          -- set again: at the start, at the end, and around each call of the
          -- program's functions
          local calls = name == "sums" and #p.functions or pieces
          local most = 60 + 40 * calls
          assert.is_true(seen_of_it < most, name .. " " .. seen_of_it)
        end
        profiler.stop()
      end)
  end

  it("that raises errors does not break what cprof writes", function()
    profiler.start()
    work()
    profiler.stop()
    local p, out = profiler.snapshot(), {}
    local expected = {}
    p:export("json", function(s) expected[#expected + 1] = s end)
    debug.sethook(function() error "too long" end, "", 100000)
    local ok, why = pcall(p.export, p, "json",
      function(s) out[#out + 1] = s end)
    debug.sethook()
    assert.is_true(ok, why)
    assert.equal(table.concat(expected), table.concat(out))
  end)

  -- Raises an error in cprof's own code where the hook is not removed yet: in a
  -- few instructions around calls of the program's functions.
  local function late()
    local info = debug.getinfo(2, "Sn")
    if info.source:find("cprof/", 1, true) then error "too late" end
  end

  it("that raises errors does not break a start", function()
    local failed = 0
    for count = 1, 400 do
      debug.sethook(late, "", count)
      local ok = pcall(profiler.start)
      debug.sethook()
      if not ok then failed = failed + 1 end
      profiler.stop()
    end
    -- only errors in its first or last instructions make it fail
    assert.is_true(failed < 40, failed)
  end)

  it_direct("does not count what a filter or a trace does", function()
    local code = "local a " .. ("a = 1\n"):rep(3000)
    local function places()
      local f, at = assert(load(code, "@elsewhere.lua")), {}
      debug.sethook(function(event)
        if event == "count" then
          at[#at + 1] = debug.getinfo(2, "l").currentline
        end
      end, "l", 500)
      f()
      debug.sethook()
      return table.concat(at, " ")
    end
    local bare = places()
    for _, options in ipairs { { mode = "line", lines = { "outside_spec" } },
      { mode = "line", lines = { "elsewhere" } }, { exclude = { "elsewhere" } },
      { mode = "trace", trace = function() end } } do
      profiler.start(options)
      local hooked = places()
      profiler.stop()
      assert.equal(bare, hooked, next(options))
    end
  end)

  it_direct("of a coroutine counts on where it was", function()
    local function left(f)
      local n = 0
      return coroutine.wrap(function()
        debug.sethook(function() n = n + 1 end, "", 1000)
        f()
        local first = n
        local i = 0
        repeat i = i + 1 until n > first
        return first, i
      end)()
    end
    profiler.start()
    work()
    profiler.stop()
    local p = profiler.snapshot()
    local none, bare = left(function() end)
    local some, asked_first = left(function() p:report() end)
    assert.equal(0, none)
    assert.equal(0, some)
    -- the difference: instructions around the entry, 4 for each round
    assert.is_true(bare - asked_first >= 0 and bare - asked_first < 40)
  end)

  it("is there while a writer of the program's runs", function()
    profiler.start()
    work()
    profiler.stop()
    local p, inside = profiler.snapshot(), nil
    local function write() inside = debug.gethook() end
    debug.sethook(hook, "", 1000000)
    seen = {}
    p:export("json", write)
    local after = debug.gethook()
    debug.sethook()
    assert.equal(hook, inside)
    assert.equal(hook, after)
  end)

  -- calls f while cprof's own code runs, as a finalizer or a signal would
  local function within(p, f)
    local there, called = debug.gethook(), false
    for _ = 1, 1000 do
      setmetatable({}, { __gc = function()
        if not called and debug.gethook() ~= there then
          called = true
          f()
        end
      end })
      p:report()
      if called then break end
    end
    assert.is_true(called)
  end

  it("is shared with a recording that begins within cprof", function()
    profiler.start()
    work()
    profiler.stop()
    local p, calls = profiler.snapshot(), 0
    local function count() calls = calls + 1 end
    debug.sethook(count, "c")
    within(p, profiler.start)
    calls = 0
    work()
    assert.is_true(calls >= 5, calls)
    profiler.stop()
    local there = debug.gethook()
    debug.sethook()
    assert.equal(count, there)
  end)

  it_direct("counts on where a callback has raised an error", function()
    profiler.start()
    work()
    profiler.stop()
    local p, events = profiler.snapshot(), 0
    local function burn()
      local x = 0
      for i = 1, 45000 do x = x + i end
      error "mine"
    end
    debug.sethook(function() events = events + 1 end, "", 100000)
    for _ = 1, 20 do pcall(p.sums, p, burn) end
    debug.sethook()
    assert.is_true(events >= 15, events)
  end)

  it("that is set within cprof begins to count", function()
    profiler.start()
    work()
    profiler.stop()
    local p, events = profiler.snapshot(), 0
    debug.sethook(function() end, "", 10000000)
    within(p, function()
      debug.sethook(function() events = events + 1 end, "", 10)
    end)
    for _ = 1, 100 do leaf() end
    debug.sethook()
    assert.is_true(events > 20, events)
  end)

  it("that is set when recording starts is the recording's to share",
    function()
      seen = {}
      debug.sethook(hook, "c")
      profiler.start()
      work()
      profiler.report()
      work()
      profiler.stop()
      local there = debug.gethook()
      debug.sethook()
      assert.equal(hook, there)
      local own = 0
      for _, source in ipairs(seen) do
        if source == "@spec/outside_spec.lua" then own = own + 1 end
      end
      assert.is_true(own >= 12, own)
    end)
end)
