-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local compare = require "cprof.profile.compare"
local core = require "cprof.core"
local helper = require "helper"
local profiler = require "cprof"

local ms <const> = 1000000

-- with a driven clock, only `pass` takes time
local pass <const> = driven.pass

local function record(f, options)
  options = options or {}
  options.tasks, options.under = true, options.under or "creator"
  local p = driven.parts(f, options)
  return p
end

-- The names on the call paths of a function, and the ms that it has there.
local function paths(p, name)
  local out = {}
  for _, node in ipairs(p.nodes) do
    if p.functions[node.func].name == name then
      local names, at = {}, node.id
      while at > 0 do
        local parent, func = core.node(p.nodes, at)
        local f = p.functions[func]
        if f.kind ~= "root" then table.insert(names, 1, f.name) end
        at = parent
      end
      -- what called the program
      while names[1] and names[1] ~= "program" and names[1] ~= "once" do
        table.remove(names, 1)
      end
      out[table.concat(names, " > ")] = { node.calls,
        node.total_ns // ms }
    end
  end
  return out
end

local function body()
  pass(1 * ms)
  coroutine.yield()
  pass(2 * ms)
end

for _, mode in ipairs { "call", "line" } do
  describe("coroutines under their creators, in mode " .. mode, function()
    local function spawn() return coroutine.create(body) end
    local function run(co)
      while coroutine.resume(co) and coroutine.status(co) ~= "dead" do
        pass(8 * ms)
      end
    end
    local function once() run(spawn()) end

    it("are below the function that made them", function()
      local p = record(once, { mode = mode })
      assert.same({ ["once > spawn > body"] = { 1, 3 } }, paths(p, "body"))
      assert.same({ ["once > spawn"] = { 1, 3 } }, paths(p, "spawn"))
      assert.same({ ["once > run"] = { 1, 8 } }, paths(p, "run"))
      assert.equal(3 * ms, helper.find(p, spawn).total_ns)
      assert.equal("creator", p.meta.options.under)
      p = record(once, { mode = mode, under = "resumer" })
      assert.is_nil(p.meta.options)
      assert.same({ ["once > run > coroutine.resume > body"] = { 1, 3 } },
        paths(p, "body"))
    end)

    it("are below it if they are made by coroutine.wrap, or in a zone",
      function()
      local function make()
        local _ <close> = profiler.zone "jobs"
        return coroutine.wrap(body)
      end
      local function wrapped()
        local f = make()
        f()
        f()
      end
      local p = record(function() wrapped() end, { mode = mode })
      local list = paths(p, "body")
      assert.same({ 1, 3 }, list[next(list)])
      local names = {}
      for _, f in ipairs(p.functions) do names[f.name] = f end
      assert.equal(3 * ms, names.jobs.total_ns)
      assert.equal(3 * ms, helper.find(p, make).total_ns)
    end)

    it("are below it if others resume them, and if they make others", function()
      local function inner() pass(4 * ms) end
      local function outer()
        local co = coroutine.create(inner)
        coroutine.yield(co)
        pass(1 * ms)
      end
      local function scheduler(list)
        while #list > 0 do
          local co = table.remove(list, 1)
          local _, other = coroutine.resume(co)
          if coroutine.status(co) ~= "dead" then list[#list + 1] = co end
          list[#list + 1] = other
        end
      end
      local function start_all()
        return { coroutine.create(outer), coroutine.create(outer) }
      end
      local function program()
        scheduler(start_all())
      end
      local p = record(program, { mode = mode })
      assert.same({ ["program > start_all > outer > inner"] = { 2, 8 } },
        paths(p, "inner"))
      assert.same({ ["program > scheduler"] = { 1, 0 } },
        paths(p, "scheduler"))
      assert.same({ ["program > start_all"] = { 1, 10 } },
        paths(p, "start_all"))
    end)

    it("have paths of a bounded length", function()
      local function link(n)
        pass(1 * ms)
        return n > 0 and coroutine.create(link), n - 1
      end
      local function program()
        local co, n = coroutine.create(link), 40
        while co do
          local _
          _, co, n = coroutine.resume(co, n)
        end
      end
      local p = record(program, { mode = mode })
      local deepest, calls = 0, 0
      for path, figures in pairs(paths(p, "link")) do
        deepest = math.max(deepest, select(2, path:gsub("link", "")))
        calls = calls + figures[1]
      end
      assert.same({ 17, 41 }, { deepest, calls })
      assert.equal(41 * ms, helper.find(p, link).total_ns)
    end)

    it("are below their resumers if nobody saw who made them", function()
      local co = spawn()
      local function program() run(co) end
      local p = record(program, { mode = mode })
      assert.same({ ["program > run > coroutine.resume > body"] = { 1, 3 } },
        paths(p, "body"))
    end)

    it("are below it after a reset, too", function()
      local function program()
        local co = spawn()
        coroutine.resume(co)
        profiler.reset()
        run(co)
        run(spawn())
      end
      local p = record(program, { mode = mode })
      local list = paths(p, "body")
      assert.same({ 1, 3 }, list["program > spawn > body"])
      assert.same({ 0, 2 }, list["program > run > coroutine.resume > body"])
    end)

    it("are below it if C functions and the coroutine's own are left out",
      function()
      local p = record(once, { mode = mode, c_functions = false })
      -- pass is a C function: its time is its caller's
      assert.same({ ["once > spawn > body"] = { 1, 3 } }, paths(p, "body"))
      p = record(once, { mode = mode, exclude = { "body" } })
      assert.equal(3 * ms, helper.find(p, spawn).total_ns)
    end)

    it("have their part in each frame", function()
      local p = record(function()
        local co = spawn()
        profiler.frame()
        coroutine.resume(co)
        profiler.frame()
        coroutine.resume(co)
        profiler.frame()
      end, { mode = mode, history = "full" })
      local function took(back)
        for _, row in ipairs(p.frames:at(back).rows) do
          if row.func.name == "spawn" then return row.total_ns // ms end
        end
      end
      assert.same({ 2, 1 }, { took(0), took(1) })
      local sum = 0
      for _, node in ipairs(p.frames:nodes(0)) do sum = sum + node.self_ns end
      assert.equal(p.frames:at(0).ns, sum)
    end)

    it("are below it whatever else is recorded", function()
      for _, options in ipairs { { distribution = true }, { memory = true },
          { callsites = true }, { gc = core.drives() or nil },
          { slow_frames = { budget_ms = 1 } } } do
        options.mode = mode
        local p = record(once, options)
        local list = paths(p, "body")
        assert.same({ 1, 3 }, list["once > spawn > body"])
      end
    end)

    it("fold where recursion does", function()
      local function again(n)
        if n > 0 then
          local co = coroutine.create(again)
          coroutine.resume(co, n - 1)
        end
        pass(1 * ms)
      end
      local p = record(function() again(5) end, { mode = mode,
        recursion = "fold" })
      local nodes = 0
      for _ in pairs(paths(p, "again")) do nodes = nodes + 1 end
      assert.equal(1, nodes)
      assert.equal(6 * ms, helper.find(p, again).total_ns)
    end)
  end)
end

describe("the option under", function()
  it("is told by reports and comparisons", function()
    local function program()
      local co = coroutine.create(body)
      coroutine.resume(co)
    end
    local a = record(program)
    local b = record(program, { under = "resumer" })
    assert.has_text("coroutines are below the functions that made them",
      a:report())
    assert.has_no_text("that made them", b:report())
    local notes = compare.notes(a.meta, b.meta, "be compared")
    assert.equal("one was recorded with under creator, the other with " ..
      "resumer: their call-tree nodes and totals cannot be compared, their " ..
      "calls and self times can", table.concat(notes, "; "))
  end)

  it("is kept in files, with what it shapes", function(dir)
    local script = dir:file("x.lua", [[
      local function body() coroutine.yield() end
      local function spawn() return coroutine.create(body) end
      local function program()
        local co = spawn()
        coroutine.resume(co)
        coroutine.resume(co)
      end
      program()]])
    command.must("run", "--under=creator", "-o",
      dir:file "x.cprof", script)
    local p = helper.check(assert(profiler.load(dir:file "x.cprof")))
    assert.equal(1, paths(p, "body")["program > spawn > body"][1])
    assert.equal("creator", p.meta.options.under)
    assert.is_true(p.meta.tasks)
    local err = command.refused("run", "--under=creator", "--sample", script)
    assert.has_text("--under=creator cannot be combined with --sample", err)
    err = command.refused("run", "--under=creator", "--both", script)
    assert.has_text("--both cannot be combined with --under=creator", err)
  end)

  it("needs tasks, and a mode that has them", function()
    local function why(options)
      local message = helper.failure(profiler.start, options)
      return message
    end
    assert.has_text('under = "creator" ' .. "needs tasks = true",
      why { under = "creator" })
    assert.has_text("option 'under'", why { under = "creator",
      mode = "sample" })
    assert.has_text("option 'under' must be", why { under = "maker" })
  end)
end)
