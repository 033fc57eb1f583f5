local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local command = require "command"
local json = require "cprof.json"

local here = debug.getinfo(1, "S").short_src

local function leaf() end
local function work(n) for _ = 1, n do leaf() end end

local title = ("leaf (%s:%d)"):format(here,
  debug.getinfo(leaf, "S").linedefined)

local function save(dir, name, n, options)
  local p = helper.record(function() work(n) end, options)
  local path = dir:file(name)
  assert(p:save(path))
  return path, p
end

local function check(budget, ...)
  return command.cprof("check", "--budget", budget, ...)
end

describe("cprof check", function()
  it("is content with what --update has written", function()
    local dir <close> = command.folder()
    for _, mode in ipairs { "call", "line" } do
      local path, p = save(dir, mode .. ".cprof", 10, { mode = mode })
      local budget = dir:file(mode .. ".json")
      local out, err, status = check(budget, "--update", path)
      assert.same({ "", "", 0 }, { out, err, status })
      local written = json.decode(command.read(budget))
      local calls = 0
      for _, f in ipairs(p.functions) do calls = calls + f.calls end
      assert.equal(calls, written.limits.calls)
      assert.equal(#p.nodes, written.limits.nodes)
      assert.equal(10, written.functions[title].calls)
      assert.equal(mode == "line" and 10 or nil,
        written.functions[title].hits)
      out, err, status = check(budget, path)
      assert.equal("", err)
      assert.equal(0, status, out)
      assert.is_truthy(out:find "^0 of %d+ figures over budget")
    end
  end)

  it("fails with status 1 when a figure is over budget, by how much",
    function()
      local dir <close> = command.folder()
      local budget = dir:file "budget.json"
      check(budget, "--update", (save(dir, "a.cprof", 10)))
      local out, err, status = check(budget, (save(dir, "b.cprof", 12)))
      assert.equal("", err)
      assert.equal(1, status)
      assert.is_truthy(out:find("over budget: " .. title ..
        ": 12 calls, at most 10 (+2); ", 1, true), out)
      assert.is_truthy(out:find "over budget: all: %d+ calls, at most %d+ " ..
        "%(%+2%)", out)
      -- less is not more
      assert.equal(0, (select(3, check(budget, (save(dir, "c.cprof", 9))))))
    end)

  it("knows functions by title and by name, and the whole", function()
    local dir <close> = command.folder()
    local path, p = save(dir, "a.cprof", 10, { mode = "line" })
    local function status(budget)
      return (select(3, check(dir:file("budget.json", json.encode(budget)),
        path)))
    end
    for _, name in ipairs { "leaf", title } do
      assert.equal(0, status { version = 1,
        functions = { [name] = { calls = 10, hits = 10 } } })
      assert.equal(1, status { version = 1,
        functions = { [name] = { calls = 9 } } })
      assert.equal(1, status { version = 1,
        functions = { [name] = { hits = 9 } } })
    end
    assert.equal(0, status { version = 1, limits = { nodes = #p.nodes } })
    assert.equal(1, status { version = 1,
      limits = { nodes = #p.nodes - 1 } })
    assert.equal(1, status { version = 1, limits = { hits = 10 } })
    local out = check(dir:file("budget.json",
      '{"version": 1, "functions": {"no_more": {"calls": 0}}}'), path)
    assert.is_truthy(out:find("note: no_more was not called", 1, true))
  end)

  it("renews only what the budget has", function()
    local dir <close> = command.folder()
    local budget = dir:file("budget.json", '{"version": 1, ' ..
      '"functions": {"leaf": {"calls": 1}}}')
    local _, err = check(budget, "--update", (save(dir, "a.cprof", 10)))
    assert.equal("", err)
    assert.same({ leaf = { calls = 10 } },
      json.decode(command.read(budget)).functions)
    assert.is_nil(next(json.decode(command.read(budget)).limits))
  end)

  it("fails with status 2 when the budget is none", function()
    local dir <close> = command.folder()
    local path = save(dir, "a.cprof", 10)
    local cases = {
      { "{", "is no budget: " },
      { "[1, 2", "is no budget: " },
      { "3", "it is no object" },
      { "{}", "its version must be 1, got nil" },
      { '{"version": 2}', "its version must be 1, got 2" },
      { '{"version": 1}', "it limits nothing" },
      { '{"version": 1, "functions": {"f": {}}}', "it limits nothing" },
      { '{"version": 1, "limit": {}}', "it has no field 'limit'" },
      { '{"version": 1, "limits": {"time": 3}}',
        "limits has no limit 'time'; there are: calls, hits, nodes" },
      { '{"version": 1, "limits": {"calls": -1}}',
        "limits: 'calls' must be an integer from 0, got -1" },
      { '{"version": 1, "functions": {"f": {"calls": "3"}}}',
        "function 'f': 'calls' must be an integer from 0, got 3" },
      { '{"version": 1, "functions": {"f": 3}}',
        "function 'f' must be an object" },
      { '{"version": 1, "limits": {"hits": 3}}',
        "the budget has line hits" },
    }
    for _, case in ipairs(cases) do
      local budget = dir:file("budget.json", case[1])
      local out, err, status = check(budget, path)
      assert.equal(2, status, case[1] .. err)
      assert.equal("", out)
      assert.is_truthy(err:find("^cprof check: [^\n]+\n$"), err)
      assert.is_truthy(err:find(case[2], 1, true), err)
    end
    local _, err, status = check("/nowhere.json", path)
    assert.equal(2, status)
    assert.equal("cprof check: /nowhere.json: No such file or directory\n",
      err)
    _, err, status = check(dir.path, path)
    assert.equal(2, status, err)
    assert.equal(2, (select(3, check("/nowhere/b.json", "--update", path))))
  end)

  it("does not trust figures that are not exact", function()
    local dir <close> = command.folder()
    local path = dir:file "a.cprof"
    assert(helper.record(function()
      for i = 1, 50 do load("", "=c" .. i)() end
    end, { max_nodes = 16 }):save(path))
    local _, err, status = check(dir:file("b.json",
      '{"version": 1, "limits": {"nodes": 100}}'), path)
    assert.equal(2, status)
    assert.is_truthy(err:find("not exact: max_nodes was reached", 1, true))
  end)
end)
