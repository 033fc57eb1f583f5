-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local helper = require "helper"
local command = require "command"
local compare = require "cprof.profile.compare"
local edited = require "edited"

local before, after, more, steady, gone = edited.program()

-- the rows of a diff: function -> the words in its row before the name
local function rows(out)
  local of = {}
  for line in (out:match "\n\n(.*)$"):gmatch "[^\n]+" do
    local words, name, what = line:match "^(.-) +(%S+) +%S+:%d+ *(.-)$"
    if name then
      of[name] = {}
      for word in words:gmatch "%S+" do table.insert(of[name], word) end
      of[name].what = what
      of[#of + 1] = name
    end
  end
  return of
end

-- The profile of `f`, where only readings of the clock take time.
local function record(f, options)
  return driven.record(100, f, options)
end

-- A part of the time is overhead, which is taken out unless an option says
-- not to.
local function compensated(f, options)
  return driven.compensate(1000, 200, f, options)
end

local function diff(dir, a, b, ...)
  local one, two = dir:file "a.cprof", dir:file "b.cprof"
  assert(a:save(one))
  assert(b:save(two))
  return command.cprof("diff", one, two, "--width=5000", ...)
end

describe("cprof diff", function()
  it('says "1 call", not "1 calls"', function(dir)
    local p = record(gone, { c_functions = false })
    local out = diff(dir, p, p)
    local n, what = out:match ", ([%d,]+) (calls?), mode call"
    assert.equal(n == "1" and "call" or "calls", what)
    assert.equal("1", n)
  end)

  it("has each function before and after, what changed most first",
    function(dir)
      local pass = driven.pass
      local function same() pass(1000) end
      local function often() pass(1000) end
      local function old() pass(3000) end
      local function fresh() pass(2000) end
      local function passing(f)
        return driven.parts(f, { exclude = { ".pass " } })
      end
      local a = passing(function()
        for _ = 1, 10 do same() often() end
        old()
      end)
      local b = passing(function()
        for _ = 1, 10 do same() end
        for _ = 1, 2500 do often() end
        fresh()
      end)
      local out, err, status = diff(dir, a, b)
      assert.equal("", err)
      assert.equal(0, status)
      local of = rows(out)
      assert.same({ "10", "2,500", "10.0µs", "2.50ms", "10.0µs", "2.50ms",
        "+2.49ms" }, table.move(of.often, 1, 7, 1, {}))
      assert.same({ "1", "-", "3.00µs", "-", "3.00µs", "-", "-3.00µs" },
        table.move(of.old, 1, 7, 1, {}))
      assert.equal("removed", of.old.what)
      assert.same({ "-", "1", "-", "2.00µs", "-", "2.00µs", "+2.00µs" },
        table.move(of.fresh, 1, 7, 1, {}))
      assert.equal("added", of.fresh.what)
      assert.same({ "often", "old", "fresh" }, { of[1], of[2], of[3] })
      -- a function whose figures did not change has no row
      assert.is_nil(of.same)
    end)

  it("sorts, filters and limits", function(dir)
    local a, b = record(before), record(after)
    local of = rows((diff(dir, a, b, "--sort=calls")))
    assert.equal("more", of[1])
    of = rows((diff(dir, a, b, "--sort=name", "--filter=/^[gm]o.+ %(/")))
    assert.same({ "gone", "more" }, { of[1], of[2] })
    local out = diff(dir, a, b, "--limit=1")
    assert.equal(1, #rows(out))
    -- a note on bounds may follow
    assert.matches("\n… %d+ more functions, [+-]%S+ self\n", out)
  end)

  it("finds nothing between a profile and itself", function(dir)
    local p = record(before)
    assert.matches("\n\nno function differs\n$", (diff(dir, p, p)))
  end)

  it("has the change of the share of the time, in points", function(dir)
    local a, b = record(before), record(after)
    local function share(p)
      return helper.find(p, more).self_ns / p.program_ns * 100
    end
    local out = diff(dir, a, b)
    local change = share(b) - share(a)
    local text = ("%+.1f"):format(change)
    assert.equal(tonumber(text) == 0 and "0.0" or text, rows(out).more[8])
    local calls = 0
    for i, p in ipairs { b, a } do
      for _, f in ipairs(p.functions) do
        calls = calls + (i == 1 and f.calls or -f.calls)
      end
    end
    local told = (out:gsub(",", "")):match "\nchange: ([^\n]+)\n"
    -- what is called, and what calls it
    assert.has_text(("+%d calls 2 functions added " ..
      "2 functions removed"):format(calls), told)
    assert.matches("^%S+ %([+-]?%d+%.%d %%%) ", told)
  end)

  it("explains each of its columns", function(dir)
    local out = diff(dir, record(before), record(after))
    local help = command.cprof("help", "comparing")
    for title in out:match "\n\n([^\n]+)":gmatch "%S+" do
      assert.is_truthy(title == "function" or title == "defined" or
        help:find("%f[%w]" .. title .. "%f[%W]"), title)
    end
  end)

  it("names its files in full", function(dir)
    local long = "a-folder-of-a-name-so-long-that-it-fills-a-line/x.cprof"
    assert(os.execute("mkdir " .. dir.path .. "/" .. long:match "^[^/]+"))
    local path = dir.path .. "/" .. long
    assert(record(before):save(path))
    local out = command.cprof("diff", path, path, "--width=60")
    for _, side in ipairs { "before", "after" } do
      assert.has_text(side .. ": " .. path .. ":", out:gsub("\n *", " "), out)
    end
  end)

  it("leaves out what there is no room for", function(dir)
    local a, b = record(before), record(after)
    local heads, narrow = {}, nil
    for _, width in ipairs { 200, 100, 80, 70 } do
      local out = diff(dir, a, b, "--width=" .. width)
      local head = out:match "\n\n([^\n]+)"
      narrow = head
      heads[width] = head:gsub("%s+", " "):gsub("^ ", "")
      for line in out:match "\n\n(.*)$":gmatch "[^\n]+" do
        assert.is_true(utf8.len(line) <= width, line)
      end
      for _, name in ipairs { "more", "steady", "fresh", "gone" } do
        assert.is_truthy(name == "steady" or
          out:find("%s" .. name .. "%s"), out)
      end
    end
    assert.equal("calls now total now self now change points function " ..
      "defined status", heads[200])
    assert.equal("calls now self now change points function defined status",
      heads[100])
    assert.matches("^ *self now  +change ", narrow)
  end)

  it("finds functions again in a program that was edited", function()
    for _, case in ipairs(edited.edits()) do
      local what, text = table.unpack(case)
      local dir <close> = command.folder()
      local a = edited.run(dir, "x.lua", edited.text)
      local b = edited.run(dir, "x.lua", text)
      local out, err, status = diff(dir, a, b, "--filter=x.lua")
      assert.same({ "", 0 }, { err, status })
      -- several functions on one line share one row
      if what ~= "on one line" then
        assert.is_nil(out:find "added\n" or out:find "removed\n", what .. out)
        assert.has_text(", 0 calls\n", out)
      end
    end
  end)

  it("says where a function was, and what it was called", function(dir)
    local text = "local function f() return 1 end %s\n" ..
      "local function g() return #'x' .. #'y' end g()\n"
    -- a function that did not change at all has no row
    local a = edited.run(dir, "x.lua", text:format "f()")
    text = text:format "f() f()"
    local function was(b, name)
      local out = diff(dir, a, b, "--filter=/[xy].lua/", "--width=500")
      return (out:match("  " .. name .. " +%S+ *([^\n]*)\n")
        :gsub(dir.path .. "/", "")), out
    end
    local b = edited.run(dir, "x.lua", "\n\n" .. text)
    local place, out = was(b, "f")
    assert.equal("was at line 1", place)
    assert.has_text(dir.path .. "/x.lua:3", out)
    b = edited.run(dir, "x.lua", text)
    assert.equal("", (was(b, "f")))
    local again = text .. "g()\n"
    b = edited.run(dir, "x.lua", "\n" .. again:gsub("%f[%w]g%(", "named("))
    assert.equal("was g at line 2", (was(b, "named")))
    b = edited.run(dir, "new/x.lua", text)
    assert.equal("was at x.lua:1", (was(b, "f")))
    b = edited.run(dir, "y.lua", again)
    assert.equal("was at x.lua:2", (was(b, "g")))
    -- the old name is found, too
    out = diff(dir, a, edited.run(dir, "x.lua",
      (again:gsub("%f[%w]g%(", "named("))), "--filter=/^g /")
    assert.has_text(" named ", out)
  end)

  it("warns of what cannot be compared", function(dir)
    local p = helper.record(before)
    local out, _, status = diff(dir, p, helper.record(before,
      { mode = "line", clock = "cpu" }))
    assert.equal(0, status)
    assert.has_text("note: one was recorded with mode call, the other with " ..
      "line: their times cannot be compared", out)
    assert.has_text("note: one was recorded with clock " .. p.meta.clock ..
      ", the other with cpu", out)
  end)

  it("warns of what options leave out", function(dir)
    local p = compensated(before)
    for _, case in ipairs {
      { { callsites = true }, "one was recorded with callsites false, the " ..
        "other with true: their call-tree nodes cannot be compared, their " ..
        "functions can" },
      { { recursion = "fold" }, "recursion full, the other with fold: " ..
        "their call-tree nodes cannot be compared" },
      { { include = { "/^spec/" } }, 'include none, ' ..
        'the other with "/^spec/": ' ..
        "their calls and times cannot be compared, because callers are " ..
        "charged for functions that one omits" },
      { { exclude = { "more", "x" } },
        'exclude none, the other with "more", "x": their calls and times' },
      { { c_functions = false }, "c_functions true, the other with false: " ..
        "their calls and times" },
      { { compensate = false }, "overhead excluded, the other with " ..
        "included: their times cannot be compared, their calls can" },
      { { max_nodes = 16 }, "the counts of " .. dir:file "b.cprof" ..
        " are not exact: max_nodes was reached" },
    } do
      local out, _, status = diff(dir, p, compensated(before, case[1]))
      assert.equal(0, status)
      assert.matches("\nnote: [^\n]*" .. case[2]:gsub("%p", "%%%0"), out)
      local _, notes = out:gsub("\nnote: ", "")
      assert.equal(1, notes, out)
    end
    local line = compensated(before, { mode = "line" })
    local out = diff(dir, line, compensated(before, { mode = "line",
      lines = { "x" } }))
    assert.has_text('\nnote: one was recorded with lines all, the other ' ..
      'with "x": their lines cannot be compared', out)
    p.meta.runs = 3
    out = diff(dir, p, compensated(before))
    assert.has_text("\nnote: one has 3 runs, the other 1 run: their figures " ..
      "cannot be compared\n", out)
    out = diff(dir, line, line)
    assert.has_no_text("note:", out)
  end)

  it("compares the times of calls and samples, and no more", function(dir)
    local function work() for _ = 1, 400 do more() steady() end end
    local p, q = helper.record(work), helper.record(work, { mode = "sample" })
    for _, pair in ipairs { { p, q }, { q, p } } do
      local out, err, status = diff(dir, pair[1], pair[2])
      assert.equal(0, status, err)
      assert.has_text("\ncompared: self and total times\n", out)
      assert.matches("\n *total +now +self +now +change +points ", out)
      assert.has_text("their calls cannot be compared, their times can", out)
      assert.has_no_text("times cannot be compared, their calls", out)
      out, err, status = diff(dir, pair[1], pair[2], "--sort=calls")
      assert.equal("", out)
      assert.equal(2, status)
      assert.has_text("--sort calls needs calls, or samples, in both", err)
    end
  end)

  it("marks what samples cannot tell from no change", function(dir)
    -- each new table is where a sample is taken
    local function one() local _ = {} end
    local function other() local _ = {} end
    local function sampled(of_one, of_other)
      return driven.known(function()
        for _ = 1, of_one do one() end
        for _ = 1, of_other do other() end
      end)
    end
    local p, q = sampled(150, 150), sampled(270, 30)
    local of = rows((diff(dir, p, q)))
    assert.has_no_text("~", of.one[8])
    assert.equal("-", of.other[8]:sub(1, 1))
    -- functions that may not have changed come last
    local marked = false
    for _, name in ipairs(of) do
      local unsure = of[name][7]:find "^~" and of[name][8]:find "^~"
      assert.is_true(not marked or unsure ~= nil or of[name][7] == "0")
      marked = marked or unsure ~= nil
    end
    local out = diff(dir, p, p)
    assert.has_no_text("~", out)
    out = diff(dir, sampled(155, 145), p)
    of = rows(out)
    for _, name in ipairs { "one", "other" } do
      local far, off = of[name][8]:match "[%d.]+", of[name][9]:match "[%d.]+"
      assert.is_true(tonumber(far) <= tonumber(off))
      assert.matches("^~", of[name][8], out)
    end
    -- a function that no sample has met need not be new
    assert.no_matches("%snew\n", out)
    assert.no_matches("%sgone\n", out)
  end)

  it("does not warn of clocks that measure the same", function()
    local function notes(a, b)
      return #compare.notes({ clock = a }, { clock = b }, "be compared")
    end
    assert.equal(0, notes("tsc", "monotonic"))
    assert.equal(1, notes("tsc", "cpu"))
    assert.equal(1, notes("host", "monotonic"))
  end)
end)
