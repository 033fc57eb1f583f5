-- What cprof does itself, whoever asks for it, is not in the recording, and
-- runs without the program's debug hook.

local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"

local path = os.tmpname()
teardown(function() os.remove(path) end)

local function leaf() return 1 end
local function work() for _ = 1, 5 do leaf() end end

-- what a program may ask of a profile, of any mode
local asked = {
  annotate = function(p)
    return p.meta.mode == "call" or p:annotate(nil, { color = "never" })
  end,
  export = function(p) return p:export("json", function() end) end,
  html = function(p) return p:html(path) end,
  load = function(p)
    p:save(path)
    return profiler.load(path)
  end,
  of_lines = function(p) return p.lines["@spec/outside_spec.lua"] end,
  of_branches = function(p) return p.branches and p.branches["@x"] end,
  of_nodes = function(p) return #p.nodes, p.nodes[1] end,
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

describe("what cprof does", function()
  for _, options in ipairs { { mode = "call" }, { mode = "line" },
    { mode = "count" }, { mode = "call", memory = true } } do
    it("is not recorded: mode " .. options.mode ..
      (options.memory and " with memory" or ""), function()
      for name, ask in pairs(asked) do
        local function once(p) return ask(p) end
        local function nothing() end
        local with, without = recorded(options, once),
          recorded(options, nothing)
        -- the functions of this file that ask
        for _, list in ipairs { with, without } do
          for i = #list, 1, -1 do
            if list[i]:find "once" or list[i]:find "nothing" or
               list[i]:find("asked." .. name, 1, true) then
              table.remove(list, i)
            end
          end
        end
        assert.same(without, with, name)
      end
    end)
  end

  it("is not recorded in coroutines, and after errors", function()
    local function ask(p)
      coroutine.wrap(function() p:report() end)()
      pcall(p.report, p, { mode = "no such" })
      pcall(p.export, p, "json", function() error "mine" end)
    end
    for _, title in ipairs(recorded({ mode = "call" }, ask)) do
      assert.is_nil(title:find "lua/cprof", title)
    end
    assert.is_false(profiler.running())
  end)

  it("goes on recording after it, also where a writer yields", function()
    profiler.start()
    local p = profiler.snapshot()
    local co = coroutine.wrap(function()
      p:export("json", function() coroutine.yield() end)
      return "done"
    end)
    for _ = 1, 1000 do if co() == "done" then break end end
    assert.is_true(profiler.running())
    work()
    profiler.stop()
    local calls
    for _, f in ipairs(profiler.snapshot().functions) do
      if f.name == "leaf" then calls = f.calls end
    end
    assert.equal(5, calls)
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

  -- the hook sees the functions of this file, and of Lua, alone
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
          -- until the hook is away, and once it is back: so it is for
          -- each function that the program's own is asked about
          local most = 60 + (name == "sums" and 20 * #p.functions or 0)
          assert.is_true(check("", 1, function() ask(p) end) < most, name)
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

  -- calls f within cprof's own code, as a finalizer or a signal does
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

  it("counts on where a callback has raised an error", function()
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
