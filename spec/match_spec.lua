local _ENV = require("helper").env(_ENV)

local command = require "command"
local edited = require "edited"
local helper = require "helper"
local match = require "cprof.profile.match"

-- The pairs of functions of two profiles: title -> title, and how the pair was
-- found. Checks that no function is in two pairs.
local function pairs_of(a, b)
  local to, by = match.functions(a.functions, b.functions)
  local out, how, seen = {}, {}, {}
  for i, j in pairs(to) do
    assert.is_nil(seen[j])
    seen[j] = true
    out[a.functions[i].title] = b.functions[j].title
    how[a.functions[i].title] = by[i]
  end
  return out, how
end

local function places(dir, out)
  local short = {}
  for from, to in pairs(out) do
    if from:find(dir.path, 1, true) then
      local name = from:gsub(dir.path .. "/", "", 1)
      short[name] = to:gsub(dir.path .. "/", "", 1)
    end
  end
  return short
end

-- how the functions of one text are found in another, by name and line
local function edit(before, after, from, to)
  local dir <close> = command.folder()
  local a = edited.run(dir, from or "x.lua", before)
  os.remove(dir:file(from or "x.lua"))
  local b = edited.run(dir, to or from or "x.lua", after)
  local out, how = pairs_of(a, b)
  return places(dir, out), places(dir, how), out
end

-- pairs of lines: those of functions, without the main chunk, that match after
-- an edit
local function lines_of(before, after)
  local dir <close> = command.folder()
  local a = edited.run(dir, "x.lua", before)
  local b = edited.run(dir, "x.lua", after)
  local out = {}
  for i, j in pairs((match.functions(a.functions, b.functions))) do
    local f = a.functions[i]
    if f.kind == "Lua" and f.source == "@" .. dir.path .. "/x.lua" then
      out[f.line] = b.functions[j].line
    end
  end
  return out
end

describe("functions of two profiles", function()
  it("are all found again after any edit", function()
    for _, case in ipairs(edited.edits()) do
      local what, text = table.unpack(case)
      local dir <close> = command.folder()
      local a = edited.run(dir, "x.lua", edited.text)
      local b = edited.run(dir, "x.lua", text)
      local to = match.functions(a.functions, b.functions)
      local count = 0
      for i, f in ipairs(a.functions) do
        local other = b.functions[to[i]]
        local told = what .. ": " .. f.title
        assert.is_truthy(other, told)
        if f.source == "@" .. dir.path .. "/x.lua" then
          count = count + 1
          assert.equal(what == "rename" and f.name == "second" and
            "renamed" or match.name(f), (match.name(other)), told)
          assert.equal(f.calls, other.calls, told)
          if what ~= "change" and f.kind ~= "main" then
            assert.equal(f.fingerprint, other.fingerprint, told)
          end
        end
      end
      -- pairs: the main chunk, four named functions, and three without a name
      assert.equal(8, count)
    end
  end)

  it("are the same by name, wherever they are", function()
    local out, how = edit("local function f() return 1 end f()",
      "\n\nlocal function f(x) return x and 2 end f()")
    assert.same({ ["x.lua (main chunk)"] = "x.lua (main chunk)",
                  ["f (x.lua:1)"] = "f (x.lua:3)" }, out)
    assert.equal("name", how["f (x.lua:1)"])
  end)

  it("are the same by their code when they have another name", function()
    local out, how = edit("local function old(a) return a * 3 + 1 end old(1)",
      "\nlocal function new(a) return a * 3 + 1 end new(1)")
    assert.equal("new (x.lua:2)", out["old (x.lua:1)"])
    assert.equal("code", how["old (x.lua:1)"])
  end)

  it("are not the same by a line, or by no code at all", function()
    assert.is_nil(edit("local function old(a) return a * 3 + 1 end old(1)",
      "local function new(a) return a .. a end new(1)")["old (x.lua:1)"])
    assert.is_nil(edit("local function old() end old()",
      "local function new() end new()")["old (x.lua:1)"])
  end)

  it("are the same by whatever way leads to them", function()
    local function functions(...)
      local list = {}
      for i, given in ipairs { ... } do
        list[i] = { kind = "Lua", name = given, source = "@x.lua", line = i,
                    last_line = i, fingerprint = "" }
      end
      return list
    end
    assert.same({ 3, 1, [4] = 2 }, (match.functions(
      functions("old.mod.f", "mod.A:get", "B:get", "M.g"),
      functions("A:get", "g", "new.mod.f", "C:get"))))
  end)

  it("are those of a file that was moved", function()
    local text = "local function f(x) return x end f(1)\n"
    local out = edit(text, "\n" .. text, "a/x.lua", "b/c/x.lua")
    assert.same({ ["a/x.lua (main chunk)"] = "b/c/x.lua (main chunk)",
                  ["f (a/x.lua:1)"] = "f (b/c/x.lua:2)" }, out)
    -- a file that was renamed is recognized by most of its functions
    local more = "local function g(x) return x * 2 + 1 end g(1)\n" ..
      "local function h(x) return x .. x .. 1 end h(1)\n"
    out = edit(text .. more,
      more .. "local function f(x) return -x end f(1)", "x.lua", "y.lua")
    assert.same({ ["x.lua (main chunk)"] = "y.lua (main chunk)",
                  ["f (x.lua:1)"] = "f (y.lua:3)",
                  ["g (x.lua:2)"] = "g (y.lua:1)",
                  ["h (x.lua:3)"] = "h (y.lua:2)" }, out)
  end)

  it("are those of the file that is most like it in its path", function()
    local function functions(...)
      local list = {}
      for _, path in ipairs { ... } do
        list[#list + 1] = { kind = "Lua", name = "f", source = "@" .. path,
                            line = 1, last_line = 2, fingerprint = "" }
      end
      return list
    end
    local function found(a, b)
      return (match.functions(functions(table.unpack(a)),
        functions(table.unpack(b))))
    end
    assert.same({ 2, 1 }, found({ "/old/a/x.lua", "/old/b/x.lua" },
      { "/new/b/x.lua", "/new/a/x.lua" }))
    -- any of the two could be meant
    assert.same({}, found({ "/old/x.lua" }, { "/a/x.lua", "/b/x.lua" }))
    -- an init.lua has no name of its own
    assert.same({}, found({ "/a/init.lua" }, { "/b/init.lua" }))
    assert.same({ 1 }, found({ "/old/a/init.lua" }, { "/new/a/init.lua" }))
  end)

  it("without a name are known by the function around them", function()
    local a = "local function a()\n local t = {}\n" ..
      " t[1] = function() return 1 end\n t[1]()\nend\n"
    local b = a:gsub("function a", "function b")
    local after = (b .. a .. "a() b()"):gsub("return 1", "return 2")
    assert.same({ [1] = 6, [3] = 8, [6] = 1, [8] = 3 },
      lines_of(a .. b .. "a() b()", after))
  end)

  it("without a name are those of a function that was renamed", function()
    local function functions(given, line)
      local function f(called, from, to, code)
        return { kind = "Lua", name = called, source = "@x.lua",
                 line = line + from, last_line = line + to,
                 fingerprint = code }
      end
      return { f(given, 1, 9, "0123"), f(given .. ".<fn:" .. line + 2 .. ">",
        2, 3, ""), f(given .. ".<fn:" .. line + 4 .. ">", 4, 5, "") }
    end
    assert.same({ 1, 2, 3 }, (match.functions(functions("old", 0),
      functions("new", 100))))
  end)

  it("without a name are known by their order and code", function()
    local text = "local t = {}\nt[1] = function() return 1 end\n" ..
      "t[2] = function() return 1 end\n" ..
      "t[3] = function() return _VERSION end\n" ..
      "t[1]() t[2]() t[3]()"
    -- functions with equal code keep their order; the one that was last is now
    -- first
    assert.same({ [2] = 3, [3] = 4, [4] = 2 }, lines_of(text,
      "local t = {}\nt[3] = function() return _VERSION end\n" ..
      "t[1] = function() return 1 end\nt[2] = function() return 1 end\n" ..
      "t[1]() t[2]() t[3]()"))
    -- where a function is new, the nearest lines decide
    assert.same({ [2] = 3, [3] = 4, [4] = 5 }, lines_of(text, "\n" .. text ..
      "\n\n\nt[4] = function() return 4 end t[4]()"))
  end)

  it("with one name are known by what is around them, then by order",
    function()
      local function define(which)
        return ("local function %s()\n local function f() return #'%s' " ..
          "end\n f()\nend\n"):format(which, which)
      end
      local calls = "a() b()"
      assert.same({ [1] = 5, [2] = 6, [5] = 1, [6] = 2 },
        lines_of(define "a" .. define "b" .. calls, (define "b" ..
          define "a" .. calls):gsub("return #", "return 1 + #")))
      local two = "do local function f() return 1 end f() end\n" ..
        "do local function f() return 2 end f() end\n"
      assert.same({ [1] = 4, [2] = 5 }, lines_of(two, "\n\n\n" ..
        two:gsub("return ", "return 1 +")))
    end)

  it("in C and zones are known by their names", function()
    local profiler = require "cprof"
    local function work(zone)
      return function()
        local _ <close> = profiler.zone(zone)
        string.rep("x", 3)
        table.concat {}
      end
    end
    local a = helper.record(work "here")
    local b = helper.record(work "there")
    local out = pairs_of(a, b)
    assert.equal("string.rep ([C])", out["string.rep ([C])"])
    assert.equal("table.concat ([C])", out["table.concat ([C])"])
    assert.is_nil(out.here)
    assert.equal("here", pairs_of(a, helper.record(work "here")).here)
  end)

  it("are all the same in a profile and itself", function()
    local p = helper.record(function() require "luacheck" {} end)
    local to = match.functions(p.functions, p.functions)
    for i in ipairs(p.functions) do assert.equal(i, to[i]) end
  end)

  it("are known without the lines and addresses in their names", function()
    local kinds = {
      { "Lua", "f <fn:3:20>", "f", true },
      { "Lua", "parse.<fn:7>", "parse.<fn>", false },
      { "Lua", "parse.<fn:7:10>.step", "parse.<fn>.step", false },
      { "C", "lfs.so+0x1a30", "lfs.so+", false },
      { "C", "(C function 7)", "(C function)", false },
      { "C", "lfs.so: lfs_dir", "lfs.so: lfs_dir", true },
    }
    for _, k in ipairs(kinds) do
      assert.same({ k[3], k[4] }, { match.name { kind = k[1], name = k[2] } })
    end
  end)

  it("are found however many there are without a name", function()
    local function many(n)
      local list = {}
      for i = 1, n do
        list[i] = { kind = "Lua", name = ("<fn:%d>"):format(i),
                    source = "@x.lua", line = i, last_line = i,
                    fingerprint = "" }
      end
      return list
    end
    for _, some in ipairs { false, true } do
      local to = match.functions(many(2000), many(2500), some)
      assert.same({ 1, 2000 }, { to[1], to[2000] })
    end
  end)
end)
