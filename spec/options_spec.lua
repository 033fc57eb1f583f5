local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"

local function leaf() end
local function other() leaf() end

describe("the options of start", function()
  after_each(function() profiler.stop() end)

  -- what is given, and what the error must say
  local wrong = {
    { { colour = true }, "start: unknown option \"colour\"; valid options: " ..
      "c_functions, callsites, clock, compensate, distribution, " ..
       "dump_every, every, exclude, file, gc, history, include, keep, " ..
       "keep_last, lines, live_file, max_nodes, memory, memory_interval, " ..
       "mode, on_slow, rate, " ..
       "recursion, slow_frames, tasks, timer, trace, under" },
    { { 1 }, "start: unknown option 1 (a number); valid options: " },
    { { clock = "sundial" },
      'start: option \'clock\' must be one of "wall", "cpu", got "sundial"' },
    { { clock = 1 },
      'start: option \'clock\' must be one of "wall", "cpu", ' ..
      "got 1 (a number)" },
    { { recursion = "none" },
      "start: option 'recursion' must be one of \"auto\", " ..
        "\"full\", \"fold\"" },
    { { callsites = 1 },
      "start: option 'callsites' must be true or false, got 1 (a number)" },
    { { c_functions = "no" },
      "start: option 'c_functions' must be true or false, got \"no\"" },
    { { max_nodes = 1.5 }, "start: option 'max_nodes' must be an integer" },
    { { max_nodes = 1 },
      "start: option 'max_nodes' must be an integer from 16" },
    { { include = "x" },
      "start: option 'include' must be a list of strings, or of Lua " ..
        "patterns between slashes, got \"x\"" },
    { { include = { 1 } },
      "start: option 'include' must be a list of strings, or of Lua " },
    { { exclude = { "/(/" } },
      "start: option 'exclude' must be a list of strings, or of Lua " ..
      "patterns between slashes; in \"/(/\", '(' without ')', got " },
  }

  it("are checked, and errors say what is valid", function()
    for _, case in ipairs(wrong) do
      local message = helper.failure(profiler.start, case[1])
      assert.has_text(case[2], message)
      assert.is_false(profiler.running())
    end
    local message = helper.failure(profiler.start, "fast")
    assert.equal('start: options must be a table, got "fast"', message)
  end)

  it("take floats that are integers", function()
    for _, o in ipairs { { max_nodes = 1e6 }, { history = 2e2 },
      { slow_frames = { budget_ms = 1, keep = 4.0 } },
      { mode = "sample", rate = 1e2 } } do
      profiler.start(o)
      assert.is_true(profiler.stop())
    end
    local p = helper.record(other, { mode = "sample", rate = 1e2 })
    assert.equal("integer", math.type(p.meta.rate))
  end)

  it("are blamed on the caller", function()
    local message = helper.failure(function()
      profiler.start { nonsense = 1 }
    end)
    assert.matches("^spec/options_spec.lua:%d+: start: ", message)
  end)

  it("exclude functions, whose time is their callers'", function()
    local function work() other() leaf() end
    local tree, p = helper.shape(work, { exclude = { "/^other /" } })
    assert.equal("leaf 2", tree)
    assert.is_nil(helper.find(p, other))
  end)

  it("exclude sources", function()
    local chunk = load("local f = ... f()", "@lib/chunk.lua")
    local function work() chunk(leaf) other() end
    local tree = helper.shape(work, { exclude = { "/^lib//" } })
    assert.equal("leaf 1\nother 1\n  leaf 1", tree)
  end)

  it("include some functions only", function()
    local function work() other() string.rep("x", 2) leaf() end
    local p = helper.record(work, { include = { "/^leaf /", "/^work /" } })
    assert.equal("leaf 2", helper.tree(p, work))
    for _, f in ipairs(p.functions) do
      assert.is_true(f.name == "leaf" or f.name == "work" or
        f.kind == "root" or f.kind == "internal", f.title)
    end
  end)

  it("exclude from what is included", function()
    local function work() other() end
    local p = helper.record(work,
      { include = { "options_spec" }, exclude = { "/^other /" } })
    assert.equal("leaf 1", helper.tree(p, work))
  end)

  it("exclude C functions by their path", function()
    local function work() string.rep("x", 2) string.upper "x" end
    local p = helper.record(work, { exclude = { "/^string%.rep/" } })
    assert.equal("string.upper 1", helper.tree(p, work))
  end)

  it("leave errors, coroutines and tail calls exact", function()
    local function bad() error "x" end
    local function hop() return other() end
    local function body() coroutine.yield() other() end
    local function work()
      pcall(bad)
      hop()
      local co = coroutine.wrap(body)
      co() co()
    end
    local p = helper.record(work,
      { exclude = { "/^pcall/", "/^hop /", "/^body /", "/^coroutine/" } })
    assert.equal("bad 1\n  error 1\nother 2\n  leaf 2", helper.tree(p, work))
  end)

  it("say what clock there is", function()
    local p = helper.record(leaf)
    assert.is_true(p.meta.clock == "tsc" or p.meta.clock == "monotonic")
    assert.equal("cpu", helper.record(leaf, { clock = "cpu" }).meta.clock)
  end)

  it("are in the profile, where they shape it, and in files", function(dir)
    local path = dir:file "x"
    local given = { callsites = true, include = { "^spec", 'a "b"' },
      c_functions = false, recursion = "fold", file = path, history = 3 }
    local expected = { callsites = "true", include = '"^spec", "a \"b\""',
                       c_functions = "false", recursion = "fold" }
    local p = helper.record(other, given)
    assert.same(expected, p.meta.options)
    local loaded = assert(profiler.load(path))
    assert.same(expected, loaded.meta.options)
    assert(loaded:save(path))
    assert.same(expected, profiler.load(path).meta.options)
    -- in any export, too
    local json = helper.exported(helper.record(other,
      { exclude = { "\xff\xe9" } }), "json")
    local decode = require "cprof.encoding.json".decode
    assert.same({ exclude = '"\\255\\233"' }, decode(json).meta.options)
    -- options with their default values are not listed
    p = helper.record(other, { callsites = false, mode = "line" })
    assert.is_nil(p.meta.options)
    assert.same({ lines = '"x"' }, helper.record(other,
      { mode = "line", lines = { "x" } }).meta.options)
  end)
end)
