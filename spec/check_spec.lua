local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local command = require "command"
local edited = require "edited"
local json = require "cprof.encoding.json"
local profiler = require "cprof"

local here = debug.getinfo(1, "S").short_src

local function leaf() end
local function work(n) for _ = 1, n do leaf() end end

local title = ("leaf (%s:%d)"):format(here,
  debug.getinfo(leaf, "S").linedefined)
local key = ("leaf (%s)"):format(here)

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
  it("is content with what --update has written", function(dir)
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
      assert.equal(10, written.functions[key].calls)
      assert.equal(mode == "line" and 10 or nil, written.functions[key].hits)
      out, err, status = check(budget, path)
      assert.equal("", err)
      assert.equal(0, status, out)
      assert.matches("^0 of %d+ figures over budget", out)
    end
  end)

  it("fails with status 1 when a figure is over budget, by how much",
    function(dir)
      local budget = dir:file "budget.json"
      check(budget, "--update", (save(dir, "a.cprof", 10)))
      local out, err, status = check(budget, (save(dir, "b.cprof", 12)))
      assert.equal("", err)
      assert.equal(1, status)
      assert.has_text("over budget: " .. title .. ": 12 calls, at most 10 " ..
        "(+2); ", out)
      assert.matches("over budget: all: %d+ calls, at most %d+ %(%+2%)", out)
      -- fewer calls than in the budget pass
      assert.equal(0, (select(3, check(budget, (save(dir, "c.cprof", 9))))))
    end)

  it("knows functions by title and by name, and the whole", function(dir)
    local path, p = save(dir, "a.cprof", 10, { mode = "line" })
    local function status(budget)
      return (select(3, check(dir:file("budget.json", json.encode(budget)),
        path)))
    end
    for _, name in ipairs { "leaf", title, key } do
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
    -- a function that must not be called need not be in the profile
    local out, _, done = check(dir:file("budget.json",
      '{"version": 1, "functions": {"no_more": {"calls": 0}}}'), path)
    assert.has_text("note: no_more was not called", out)
    assert.equal(0, done)
  end)

  it("renews only what the budget has", function(dir)
    local budget = dir:file("budget.json", '{"version": 1, ' ..
      '"functions": {"leaf": {"calls": 1}}}')
    local _, err = check(budget, "--update", (save(dir, "a.cprof", 10)))
    assert.equal("", err)
    assert.same({ leaf = { calls = 10 } },
      json.decode(command.read(budget)).functions)
    assert.is_nil(next(json.decode(command.read(budget)).limits))
  end)

  it("fails with status 2 when the budget is none", function(dir)
    local path = save(dir, "a.cprof", 10)
    local cases = {
      { "{", "is not a valid budget: " },
      { "[1, 2", "is not a valid budget: " },
      { "3", "expected a JSON object" },
      { ("["):rep(300000), "its objects or lists are nested too deeply" },
      { ('{"version":'):rep(300000),
        "its objects or lists are nested too deeply" },
      { '{"version": [1]}',
        "its version must be 1, got an object or a list" },
      { '{"version": 1, "limits": {"calls": {}}}',
        "'calls' must be an integer of at least 0, got an object or a list" },
      { "{}", "its version must be 1, got nil" },
      { '{"version": 2}', "its version must be 1, got 2" },
      { '{"version": 1}', "it has no limits" },
      { '{"version": 1, "functions": {"f": {}}}', "it has no limits" },
      { '{"version": 1, "limit": {}}', "unknown field 'limit'" },
      { '{"version": 1, "limits": {"time": 3}}',
        "limits: unknown limit 'time'; valid limits: allocs, calls, hits, " ..
          "nodes" },
      { '{"version": 1, "limits": {"calls": -1}}',
        "limits: 'calls' must be an integer of at least 0, got -1" },
      { '{"version": 1, "functions": {"f": {"calls": "3"}}}',
        "function 'f': 'calls' must be an integer of at least 0, got 3" },
      { '{"version": 1, "functions": {"f": 3}}',
        "function 'f' must be an object" },
      { '{"version": 1, "functions": {"f": {"optional": true}}}',
        "it has no limits" },
      { '{"version": 1, "functions": {"f": {"calls": 1, "optional": 1}}}',
        "function 'f': 'optional' must be true or false, got 1" },
      { '{"version": 1, "limits": {"calls": 3}, "options": {"a": 1}}',
        "options: 'a' must be a string" },
      { '{"version": 1, "functions": {"f": {"times": 1}}}',
        "function 'f': unknown limit 'times'; valid limits: allocs, calls, " ..
          "code, hits, max, optional, p50, p90, p99" },
      { '{"version": 1, "limits": {"hits": 3}}',
        "the budget has line hits" },
    }
    for _, case in ipairs(cases) do
      local budget = dir:file("budget.json", case[1])
      local out, err, status = check(budget, path)
      assert.equal(2, status, case[1] .. err)
      assert.equal("", out)
      assert.matches("^cprof check: [^\n]+\n$", err)
      assert.has_text(case[2], err)
    end
    local _, err, status = check("/nowhere.json", path)
    assert.equal(2, status)
    assert.equal("cprof check: /nowhere.json: No such file or directory\n",
      err)
    _, err, status = check(dir.path, path)
    assert.equal(2, status, err)
    assert.equal(2, (select(3, check("/nowhere/b.json", "--update", path))))
  end)

  it("does not trust figures that are not exact", function(dir)
    local path = dir:file "a.cprof"
    assert(helper.record(function()
      for i = 1, 50 do load("", "=c" .. i)() end
    end, { max_nodes = 16 }):save(path))
    local _, err, status = check(dir:file("b.json",
      '{"version": 1, "limits": {"nodes": 100}}'), path)
    assert.equal(2, status)
    assert.has_text("not exact: max_nodes was reached", err)
  end)

  it("fails with status 1 when a function that has a limit is not there",
    function(dir)
      local path = save(dir, "a.cprof", 10)
      local function run(entry)
        return check(dir:file("budget.json", json.encode { version = 1,
          functions = { leaf = { calls = 10 }, nowhere = entry } }), path)
      end
      local out, err, status = run { calls = 3 }
      assert.same({ "", 1 }, { err, status })
      assert.matches("^not found: nowhere: its limits were not checked\n" ..
        "0 of 1 figures over budget, 1 function not found; ", out)
      out, err, status = run { calls = 3, optional = true }
      assert.same({ "", 0 }, { err, status })
      assert.matches("^note: nowhere was not found; it is optional\n" ..
        "0 of 1 figures over budget; ", out)
    end)

  it("fails with status 2 when there is nothing to check", function(dir)
    local path = save(dir, "a.cprof", 10)
    for _, entries in ipairs {
      { nowhere = { calls = 1 } },
      { nowhere = { calls = 1 }, ["f (y.lua:3)"] = { calls = 9 } },
      { nowhere = { calls = 1, optional = true } },
    } do
      local budget = dir:file("budget.json", json.encode { version = 1,
        functions = entries })
      local out, err, status = check(budget, path)
      assert.same({ "", 2 }, { out, status })
      assert.equal(("cprof check: none of the functions of %s is in %s, so " ..
        "there is nothing to check\n"):format(budget, path), err)
    end
    -- limits of the whole do not make up for functions that are missing
    local _, _, status = check(dir:file("budget.json", json.encode {
      version = 1, limits = { calls = 1000 },
      functions = { nowhere = { calls = 1 } } }), path)
    assert.equal(2, status)
  end)

  it("warns of a profile that was recorded in another way", function(dir)
    local budget = dir:file "budget.json"
    local path = save(dir, "a.cprof", 10, { exclude = { "qq" } })
    check(budget, "--update", path)
    assert.same({ exclude = '"qq"', mode = "call" },
      json.decode(command.read(budget)).options)
    local out, _, status = check(budget, (save(dir, "b.cprof", 9)))
    assert.matches('^note: one was recorded with exclude "qq", ' ..
      "the other with none: their calls and times cannot be compared", out)
    assert.equal(0, status)
    out = check(budget, (save(dir, "c.cprof", 9, { exclude = { "qq" } })))
    assert.has_no_text("note:", out)
  end)

  it("does not compare nodes that lines tell apart with those they do not",
    function(dir)
      local budget = dir:file "budget.json"
      local script = dir:file("x.lua", "local function leaf() end\n" ..
        "leaf()\nleaf()\n")
      local ways = {
        { "call", {} }, { "line", { "--lines" } },
        { "call with callsites", { "--callsites" } },
      }
      for i, way in ipairs(ways) do
        local words = { "run", "--quiet", "-o", dir:file(i .. ".cprof"),
          table.unpack(way[2]) }
        words[#words + 1] = script
        command.cprof(table.unpack(words))
      end
      for _, case in ipairs { { 1, 2 }, { 1, 3 }, { 3, 1 } } do
        os.remove(budget)
        local from, to = ways[case[1]][1], ways[case[2]][1]
        check(budget, "--update", dir:file(case[1] .. ".cprof"))
        local path = dir:file(case[2] .. ".cprof")
        local note = ("the budget was recorded in mode %s, the profile in " ..
          "mode %s: their call-tree nodes cannot be compared\n"):format(from,
          to)
        local out, err, status = check(budget, path)
        assert.same({ "", 0 }, { err, status }, out)
        assert.equal("note: " .. note, (out:match "^[^\n]*\n"))
        assert.has_text("0 of 2 figures over budget", out)
        -- the budget has no other figures
        local nodes = json.decode(command.read(budget))
        nodes.functions, nodes.limits.calls = nil, nil
        dir:file("budget.json", json.encode(nodes))
        out, err, status = check(budget, path)
        assert.same({ "", "cprof check: " .. note, 2 }, { out, err, status })
      end
      os.remove(budget)
      check(budget, "--update", dir:file "3.cprof")
      local out, _, status = check(budget, dir:file "2.cprof")
      assert.equal(0, status)
      assert.equal("note: the budget was recorded with mode call, the " ..
        "profile with mode line\n", out:match "^(note: [^\n]*\n)[^n]")
      assert.has_text("0 of 3 figures", out)
    end)

  it("holds with the collector's steps, and names the options that differ",
    function(dir)
      local budget = dir:file "budget.json"
      local script = dir:file("x.lua", "local function leaf() end\n" ..
        "for i = 1, 20000 do local t = { i } if i % 1000 == 0 then leaf() " ..
        "end end\n")
      local plain, memory = dir:file "1.cprof", dir:file "2.cprof"
      command.cprof("run", "--quiet", "--lines", "-o", plain, script)
      command.cprof("run", "--quiet", "--memory", "-o", memory, script)
      check(budget, "--update", plain)
      local driven = assert(profiler.load(memory)).meta.gc
      local out, err, status = check(budget, memory)
      assert.same({ "", 0 }, { err, status }, out)
      assert.equal("note: the budget was recorded with memory false" ..
        (driven and ", gc false" or "") .. ", the profile with memory true" ..
        (driven and ", gc true" or "") .. "\n", out:match "^[^\n]*\n")
      assert.no_matches("note:.*note:", out)
      -- calls, hits and nodes of all; calls and hits of leaf
      assert.has_text("\n0 of 5 figures over budget", out)
    end)

  it("calls nodes what they are called elsewhere", function(dir)
    local budget = dir:file("budget.json",
      [[{ "version": 1, "limits": { "nodes": 1 } }]])
    local out, _, status = check(budget, (save(dir, "a.cprof", 10)))
    assert.equal(1, status)
    assert.matches("over budget: all: %d+ call%-tree nodes, at most 1 ", out)
  end)
end)

describe("a budget of a program that was edited", function()
  local function record(dir, name, text, to)
    local path = dir:file(to)
    assert(edited.run(dir, name, text):save(path))
    return path
  end

  -- as budgets were written before, with a line in each title
  local function titles(p)
    local out = {}
    for _, f in ipairs(p.functions) do
      if f.kind == "Lua" and f.calls > 0 then
        local entry = out[f.title] or { calls = 0 }
        out[f.title] = { calls = entry.calls + f.calls }
      end
    end
    return { version = 1, functions = out }
  end

  -- all edits but those after which several functions share a title
  local function edits()
    local out = {}
    for _, case in ipairs(edited.edits()) do
      if case[1] ~= "on one line" then out[#out + 1] = case end
    end
    return out
  end

  it("still holds for each function", function()
    for _, case in ipairs(edits()) do
      local what, text = table.unpack(case)
      local dir <close> = command.folder()
      local budget = dir:file "budget.json"
      check(budget, "--update", record(dir, "x.lua", edited.text, "a.cprof"))
      local written = json.decode(command.read(budget))
      assert.equal(5, written.functions[("second (%s)"):format(
        dir:file "x.lua")].calls)
      local path = record(dir, "x.lua", text, "b.cprof")
      local out, err, status = check(budget, path)
      assert.same({ "", 0 }, { err, status }, what .. out)
      assert.has_no_text("not found", out, what .. out)
      -- each limit is checked: lower ones fail
      for name, entry in pairs(written.functions) do
        if entry.calls > 0 and name:find("x.lua", 1, true) then
          entry.calls = entry.calls - 1
          local said, _, how = check(dir:file("less.json",
            json.encode(written)), path)
          assert.equal(1, how, what .. name .. said)
          assert.equal(1, select(2, said:gsub("over budget: ", "")),
            what .. name .. said)
          entry.calls = entry.calls + 1
        end
      end
    end
  end)

  it("still holds when its keys are titles", function()
    for _, case in ipairs(edits()) do
      local what, text = table.unpack(case)
      local dir <close> = command.folder()
      local old = titles(edited.run(dir, "x.lua", edited.text))
      local budget = dir:file("budget.json", json.encode(old))
      local path = record(dir, "x.lua", text, "b.cprof")
      local out, err, status = check(budget, path)
      if what == "rename" then
        -- its name is all that it can be recognized by
        assert.equal(1, status, out)
        assert.equal(1, select(2, out:gsub("not found: ", "")), out)
      else
        assert.same({ "", 0 }, { err, status }, what .. out)
        assert.has_no_text("not found", out, what .. out)
        check(budget, "--update", path)
        assert.is_truthy(json.decode(command.read(budget))
          .functions[("second (%s)"):format(dir:file "x.lua")], what)
      end
    end
  end)

  it("says what it has found under another name", function(dir)
    local budget = dir:file "budget.json"
    check(budget, "--update", record(dir, "x.lua", edited.text, "a.cprof"))
    local out, _, status = check(budget, record(dir, "new/x.lua",
      (edited.text:gsub("%f[%w]second%f[%W]", "renamed")), "b.cprof"))
    assert.equal(0, status, out)
    out = out:gsub(dir.path .. "/", "")
    assert.has_text("note: second (x.lua) is now renamed (new/x.lua:5)\n", out)
    assert.equal(1, select(2, out:gsub("note: x.lua is now new/x.lua\n",
      "")), out)
  end)

  it("is brought up to date by --update", function(dir)
    local place = dir:file "x.lua"
    local budget = dir:file("budget.json", json.encode { version = 1,
      functions = {
        second = { calls = 1, optional = true },
        [("first (%s:2)"):format(place)] = { calls = 1 },
        ["nowhere (x.lua:1)"] = { calls = 1 },
        maybe = { calls = 7, optional = true },
        never = { calls = 0 },
      } })
    local path = record(dir, "x.lua", "\n\n" .. edited.text, "a.cprof")
    local out, err, status = check(budget, "--update", path)
    assert.same({ ("removed: nowhere (x.lua:1) is not in %s\n"):format(path),
      "", 0 }, { out, err, status })
    local written = json.decode(command.read(budget)).functions
    local first = ("first (%s)"):format(place)
    assert.equal(5, written[first].calls)
    assert.is_truthy(written[first].code)
    written[first] = nil
    assert.same({ second = { calls = 5, optional = true },
      maybe = { calls = 7, optional = true }, never = { calls = 0 } },
      written)
  end)
end)
