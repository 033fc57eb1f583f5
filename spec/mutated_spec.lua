local _ENV = require("helper").env(_ENV)

local blocks = require "blocks"
local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local host = require "spec_host"
local instructions = require "cprof.count.instructions"
local merge = require "cprof.profile.merge"
local profiler = require "cprof"

-- a recorded file as a string
local function recorded(dir, options)
  options = options or {}
  options.file = dir:file "x.cprof"
  helper.record(function() end, options)
  return command.read(options.file)
end

local block, put = blocks.find, blocks.put

describe("a damaged file", function()
  it("is refused if exports rely on what it lacks", function(dir)
    local s = recorded(dir)
    blocks.refused(dir, put(s, 37, ("I4"):pack(99)), "mode")
    blocks.refused(dir, put(s, 41, ("I4"):pack(99)), "clock")
    blocks.refused(dir, put(s, 121, ("i8"):pack(-1)), "time of the start")
  end)

  it("is refused where a line that has only allocated has no number",
    function(dir)
      local s = recorded(dir, { mode = "line", memory = true })
      local first, used = block(s, blocks.lines)
      -- the first line: no hits, no time, number -7; it has one allocation
      s = put(s, first, ("I8I8i4"):pack(0, 0, -7))
      s = put(s, first + used * 32, ("I8"):pack(1))
      blocks.refused(dir, s, "number of a line")
    end)

  it("is refused where a function has lines that is not in Lua", function(dir)
    local modes = { line = blocks.lines }
    if core.internals() == "direct" then modes.count = blocks.instructions end
    for mode, kind in pairs(modes) do
      local s = recorded(dir, { mode = mode })
      -- the function that the block belongs to becomes that of overhead
      s = put(s, block(s, kind) - 64 + 4, ("I4"):pack(1))
      blocks.refused(dir, s, "function of ")
    end
  end)

  it("is refused where overhead is a function that was called", function(dir)
    local s = recorded(dir)
    local at = block(s, blocks.nodes) + 2 * 64 + 24
    blocks.refused(dir, put(s, at, ("I4"):pack(1)), "overhead")
  end)

  it("is refused where blocks are in use and none were counted", function(dir)
    local s = recorded(dir, { memory = "live", memory_interval = 7 })
    -- memory, allocator_lost, gc, waits, distribution, live: see FormatHeader
    local live = s:find(("I4I8"):pack(0, 7), 1, true)
    assert.is_true(live and live < 4096)
    local at = live - 4 * 4
    assert.equal(("I4I4I4"):pack(1, 0, 0), s:sub(at, at + 11))
    blocks.refused(dir, put(s, at, ("I4"):pack(0)), "memory")
  end)

  it("has no figures in words", function(dir)
    local path = dir:file "x.cprof"
    local modes = { "call", "sample" }
    if core.internals() == "direct" then modes[3] = "count" end
    for _, mode in ipairs(modes) do
      local p = helper.record(function() end, { mode = mode, file = path })
      local program = p.meta.program
      local s = command.read(path)
      local form = ("I4I4"):pack(7, 0) .. "%s%s"
      local at = s:find(form:format("program", program), 1, true)
      -- a number in place of the program's name, for fields that are numbers
      local digits = ("12"):rep(#program):sub(1, 2)
      digits = ("0"):rep(#program - #digits) .. digits
      for _, key in ipairs { "wall_ns", "measure",
        mode ~= "call" and "samples" or nil } do
        local loaded = assert(profiler.load(dir:file("y.cprof",
          put(s, at, form:format(key, digits)))))
        assert.equal(p.meta[key], loaded.meta[key])
        assert.is_string(loaded:report())
      end
    end
  end)

  it("cannot be added up where sums would exceed what figures are",
    function(dir)
      local path = dir:file "x.cprof"
      assert(helper.record(function() end, { memory = true }):save(path))
      local s = command.read(path)
      -- calls of a node: see Node in src/count/node.h
      local at = block(s, blocks.nodes) + 2 * 64
      s = put(s, at, ("I8"):pack(math.maxinteger // 2 - 99))
      local p = assert(profiler.load(dir:file("y.cprof", s)))
      local sum, why, which = merge.sum { p, p }
      assert.is_nil(sum)
      assert.has_text("exceed 4611686018427387903", why)
      assert.equal(2, which)
      assert(assert(merge.sum { p }):save(path))
      assert(profiler.load(path))
    end)

  it("cannot be added up where sums of instructions would exceed that",
    function()
      if core.internals() ~= "direct" then return end
      local p = helper.record(function() end, { mode = "count" })
      local f = p.functions[1]
      for _, other in ipairs(p.functions) do
        if other.counters then f = other end
      end
      local c = instructions.read(assert(f.counters))
      c.step[c.n] = math.maxinteger // 2 - 99
      f.counters = instructions.write(c)
      local sum, why, which = merge.sum { p, p }
      assert.is_nil(sum)
      assert.has_text("exceed 4611686018427387903", why)
      assert.equal(2, which)
    end)

  it("is refused where a line calls the overhead", function(dir)
    local s = recorded(dir)
    local at = block(s, blocks.nodes) + 64 + 28
    blocks.refused(dir, put(s, at, ("I4"):pack(7)),
      "function of the first nodes")
  end)

  it("is refused where a C function is at no place", function(dir)
    local path = dir:file "x.cprof"
    local first, second = host.nameless()
    -- C functions that are only in local variables have no names when recording
    -- ends, so they are named by their place
    helper.record(function() first() second() end, { file = path })
    assert(profiler.load(path))
    local s, count = command.read(path):gsub("%.so%+0x(%x)", ".so+0y%1")
    assert.is_true(count > 0)
    s = host.sealed(s)
    blocks.refused(dir, s, "place of a C function")
  end)

  it("has a root that is the root of a sum, whatever it is called",
    function(dir)
      local s = recorded(dir)
      local text = "(root)"
      local name = s:find(text, 1, true) and text or
        helper.record(function() end).functions[1].name
      local renamed, count = s:gsub((name:gsub("%p", "%%%0")),
        ("x"):rep(#name), 1)
      assert.equal(1, count)
      local a = assert(profiler.load(dir:file("a.cprof", s)))
      local b = assert(profiler.load(dir:file("b.cprof", host.sealed(renamed))))
      local sum = assert(merge.sum { a, b })
      helper.check(a)
      assert.equal(a.nodes[1].total_ns + b.nodes[1].total_ns,
        sum.nodes[1].total_ns)
    end)

  it("is refused where samples of instructions stand for too much",
    function(dir)
      local path = dir:file "x.cprof"
      local function work()
        local till, x = os.clock() + 0.02, 0
        while os.clock() < till do
          for i = 1, 10000 do x = x + i end
        end
      end
      local p
      repeat p = helper.record(work, { mode = "sample", file = path })
      until p.samples > 1
      local s = command.read(path)
      if core.internals() ~= "direct" then return end
      -- see Instruction in src/identity/line.h
      local at, first = block(s, blocks.instructions), block(s, blocks.nodes)
      s = put(s, at + 8, ("I8"):pack(1 << 60))
      for id = 0, #p.nodes - 1 do -- see Node in src/count/node.h
        if id ~= 1 then s = put(s, first + id * 64 + 8, ("I8"):pack(1)) end
      end
      blocks.refused(dir, s, "samples")
    end)

  it("takes no memory for lines that no source has", function(dir)
    local function leaf() end
    local function work() leaf() end
    local path = dir:file "x.cprof"
    local p = helper.record(work, { callsites = true, file = path })
    local s, id = command.read(path), nil
    for _, node in ipairs(p.nodes) do
      if node.func == helper.find(p, leaf).id then id = node.id - 1 end
    end
    -- a Node, see src/count/node.h
    s = put(s, block(s, blocks.nodes) + id * 64 + 28, ("I4"):pack(2000000))
    local counts = assert(profiler.load(dir:file("y.cprof", s)))
    helper.record(work, { mode = "line", file = path })
    local times = assert(profiler.load(path))
    local all = assert(require "cprof.profile.join".profiles(counts, times))
    assert.is_true(#all.lines[debug.getinfo(1, "S").source] < 200000)
  end)

  it("may have code that ends in the middle of two instructions", function(dir)
    if core.internals() ~= "direct" then return end
    local path = dir:file "x.cprof"
    for _, options in ipairs { { mode = "count" },
      { mode = "sample", rate = 10000, memory = "live",
        memory_interval = 1 } } do
      options.file = path
      helper.record(function()
        for i = 1, 10000 do path = (path .. i):sub(1, -1 - #tostring(i)) end
      end, options)
      -- a test, and the ends of a generic 'for', with nothing after them
      for _, op in ipairs { 67, 76, 75 } do
        local s = command.read(path)
        for _, b in ipairs(blocks.all(s, blocks.instructions)) do
          if b.used > 0 then
            s = blocks.with(s, b.at - 1 + (b.used - 1) * 40 + 32,
              ("I4"):pack(op | 0x1fff << 15))
          end
        end
        s = host.sealed(s)
        local p = assert(profiler.load(dir:file("y.cprof", s)))
        assert.is_string(p:report())
        assert.is_string(p:annotate(debug.getinfo(1, "S").source))
        if not p.samples then p:export("lcov", function() end) end
      end
    end
  end)

  it("is refused, or read without an error", function(dir)
    local out, err, status = command.shell(("$SPEC_LUA " ..
      "spec/torture/mutated.lua %s 1 %g"):format(dir.path,
      helper.many(500) / 50000))
    assert.equal(0, status, out .. err)
    assert.matches("^mutated, seed 1: %d+ files tried", out)
    assert.matches(", 0 failed\n$", out)
  end)
end)

describe("a profile that is not sound", function()
  it("leaves the columns of other profiles as they are", function()
    local function columns(p)
      return helper.exported(p, "csv"):match "^[^\r]*"
    end
    local p = helper.record(function() end)
    local before = columns(p)
    p.meta.live_interval = 1
    pcall(columns, p)
    p.meta.live_interval = nil
    assert.equal(before, columns(p))
  end)

  it("may have a source that has changed, and no text of it", function()
    local p = helper.record(assert(load("return 1", "=x")), { mode = "line" })
    p.sources["=x"].changed, p.sources["=x"].text = true, nil
    assert.has_text("no text", p:annotate("=x"))
  end)
end)

describe("text that others write", function()
  it("is a budget only where its functions have names", function(dir)
    local budget = dir:file("b.json", '{"version":1,"limits":{"calls":1},' ..
      '"functions":[{"calls":1}]}')
    local b, why = require "cprof.command.budget".read(budget)
    assert.is_nil(b)
    assert.has_text("functions must be an object", why)
  end)

  it("is refused, or read without an error", function(dir)
    local out, err, status = command.shell(("$SPEC_LUA " ..
      "spec/fuzz/texts.lua %s %d 1"):format(dir.path, helper.many(200)))
    assert.equal(0, status, out .. err)
    assert.matches(", 0 failed\n$", out)
  end)
end)
