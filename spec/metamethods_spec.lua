-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local merge = require "cprof.profile.merge"
local profiler = require "cprof"

local function plus(a) return a.n end
local function less(a, b) return a.n < b.n end
local function getter(_, key) return key end
local function close() end
local meta = { __add = plus, __sub = plus, __lt = less, __index = getter,
               __close = close, __concat = function() return "" end }
local function new(n) return setmetatable({ n = n }, meta) end
local a, b = new(1), new(2)

local function adds() return a + b end
local function both() return a + b, a - b end
local function plain() return (plus(a)) end
local function mixed() return (plus(a)), a + b end
local function others()
  local _ <close> = a
  return a < b, a.other, a .. b
end
-- Lua names the message handler after the operation that failed: __add
local function fails() return xpcall(function() return {} + 1 end, plus) end

local function work()
  adds() both() plain() mixed() others() fails()
  coroutine.wrap(adds)()
end

-- what functions were called as, of all nodes below a function
local function called(p, caller)
  local id, out = helper.find(p, caller).id, {}
  for _, node in ipairs(p.nodes) do
    if node.parent > 0 and p.nodes[node.parent].func == id then
      out[#out + 1] = ("%s %s"):format(p.functions[node.func].name,
        node.metamethod)
    end
  end
  return table.concat(out, ", ")
end

-- Lua 5.4.0 does not tell "<" from "<=", which may call __lt as well
local named
local ordered = setmetatable({}, { __lt = function()
  named = debug.getinfo(1, "n").name
end })
local _ = ordered < ordered
local less_is = named == "order" and "nil" or "__lt"
local less_label = named == "order" and "less" or "less %(__lt%)"

local function check(p)
  assert.equal("plus __add, plus __add", called(p, adds))
  assert.equal("plus nil", called(p, plain))
  assert.equal("less " .. less_is .. ", getter __index, " ..
    "meta.__concat __concat, close __close", called(p, others))
  assert.has_no_text("__", called(p, fails))
end

describe("a metamethod with a name of its own", function()
  for _, mode in ipairs { "call", "line", "count" } do
    for _, recursion in ipairs { "full", "fold" } do
      it("says which one it is, " .. mode .. ", " .. recursion, function()
        if mode == "count" and require "cprof.core".internals() ~= "direct" then
          pending "Lua's own structures are not read here"
        end
        check(helper.record(work, { mode = mode, recursion = recursion }))
      end)
    end
  end

  it("is marked in files, in sums and in what ran at the start",
    function(folder)
      local live = folder:file "live.cprof"
      local p = helper.record(work, { file = live })
      check(p)
      check(assert(profiler.load(live)))
      assert(p:save(folder:file "saved.cprof"))
      check(assert(profiler.load(folder:file "saved.cprof")))
      check(merge.sum { p, assert(profiler.load(live)) })
      local within
      meta.__mul = function()
        profiler.start()
        profiler.stop()
        within = profiler.snapshot()
      end
      local _ = a * b
      for _, node in ipairs(within.nodes) do
        local f = within.functions[node.func]
        if f.line == debug.getinfo(meta.__mul, "S").linedefined then
          assert.equal("__mul", node.metamethod)
          within = nil
        end
      end
      assert.is_nil(within)
    end)

  it("is marked in mode sample", function()
    -- each new table is where a sample is taken
    meta.__div = function() return {} end
    local p = driven.sample(function()
      for _ = 1, 20 do local _ = a / b end
    end)
    local samples = 0
    for _, node in ipairs(p.nodes) do
      if p.functions[node.func].name == "meta.__div" then
        assert.equal("__div", node.metamethod)
        samples = samples + node.self_samples
      end
    end
    assert.equal(20, samples)
  end)

  it("is marked in show, tree and call graph",
    function(folder)
      local p = helper.record(work)
      local tree = p:report { mode = "tree", limit = 100, width = 200,
        min_percent = 0 }
      assert.matches("\n[^\n]* plus %(__add%) +spec/", tree)
      assert.matches("\n[^\n]* plus +spec/", tree)
      -- one node, although it was called in two ways
      assert.matches("\n[^\n]* " .. less_label .. " +spec/", tree)
      assert.matches("\n[^\n]* meta%.__concat +spec/", tree)
      local graph = p:report { mode = "callgraph", limit = 100, width = 200,
        min_percent = 0 }
      assert.matches("\n[^\n]*%d  adds +spec/[^\n]*\n[^\n]* plus %(__add%) " ..
        "+spec/", graph)
      assert.has_no_text("meta.__concat (", tree)
      assert.matches("\n[^\n]*%d  plain +spec/[^\n]*\n[^\n]* plus +spec/",
        graph)
      assert.matches("\n[^\n]*%d  plus %(also __add%) +spec/", graph)
      local file = folder:file "p.cprof"
      assert(p:save(file))
      local shown = command.cprof("show", file, "getter")
      assert.matches("^getter %(__index%) %(spec/[^\n]*\n", shown)
      shown = command.cprof("show", file, "others")
      assert.matches("\n[^\n]*  " .. less_label .. " ", shown)
    end)

  it("is the first call of a node, where both are in one function", function()
    local p = helper.record(mixed)
    assert.equal("plus nil", called(p, mixed))
    p = helper.record(both, { mode = "line" })
    assert.equal("plus __add", called(p, both))
  end)
end)
