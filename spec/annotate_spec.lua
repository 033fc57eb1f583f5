-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local command = require "command"
local helper = require "helper"
local format = require "cprof.text.format"

local write <const> = command.write

-- a program in two files, and its profile
local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

local ai, util = dir .. "/ai.lua", dir .. "/util.lua"
write(util, [[
local util = {}
function util.spin(n)
  local s = 0
  for i = 1, n do s = s + i end
  return s
end
return util
]])
write(ai, [[
local util = ...
local ai = {}

-- finds a path
local function path(goal)
  local found = util.spin(goal)
  return found
end

function ai.step(n)
  for i = 1, n do
    local p = path(i * 1000)
    if not p then
      return nil
    end
  end
end

function ai.unused()
  return 1
end

return ai
]])

local p = driven.compensate(1000, 100, function()
  local step = assert(loadfile(ai))(dofile(util)).step
  step(20)
end, { mode = "line", lines = { "ai.lua", "util.lua" } })

-- the time that counts as 100 %
local whole = p.nodes[1].total_ns - p.meta.overhead_ns

teardown(function() os.execute("rm -r " .. dir) end)

local function annotate(source, more)
  local o = { color = "never" }
  for key, value in pairs(more or {}) do o[key] = value end
  return p:annotate(source, o)
end

local titles = { "hits", "self", "self %", "calls", "callees", "per call" }

-- the text in these columns of a terminal
local function part(line, from, to)
  local out, at = {}, 0
  for _, c in utf8.codes(line) do
    at = at + 1
    if at >= from and at <= to then out[#out + 1] = utf8.char(c) end
  end
  return (table.concat(out):gsub("^ +", ""):gsub(" +$", ""))
end

-- where the columns end, by their titles
local function columns_of(s)
  for line in s:gmatch "[^\n]+" do
    if line:find "^ *line$" or line:find "  line$" then
      local ends = { line = #line }
      for _, title in ipairs(titles) do
        local _, to = (" " .. line):find(" " .. title:gsub("%p", "%%%0") ..
          "  ")
        ends[title] = to and to - 3
      end
      return ends
    end
  end
end

-- the cells of the line with this number, by the number of their title
local function cells(s, number)
  local ends = columns_of(s)
  for line in s:gmatch "[^\n]+" do
    if utf8.len(line) and part(line, ends.line - 3, ends.line) ==
       tostring(number) then
      local out = { content = part(line, ends.line + 3, math.huge) }
      local from = 1
      for i, title in ipairs(titles) do
        if ends[title] then
          local cell = part(line, from, ends[title])
          out[i] = cell ~= "" and cell or nil
          from = ends[title] + 1
        end
      end
      return out
    end
  end
end

-- are all numbers of lines in one column, and how many are there?
local function aligned(s)
  local column, number = nil, 0
  for line in s:gsub("^[^\n]*\n[^\n]*\n", ""):gmatch "[^\n]+" do
    local left = line:match("^(.* " .. number + 1 .. ")  ") or
      line:match("^(.* " .. number + 1 .. ")$")
    if left then
      number = number + 1
      column = column or format.width(left)
      if format.width(left) ~= column then return false, line end
    end
  end
  return true, number
end

describe("annotated source", function()
  it("has the figures of the profile beside each line", function()
    local s = annotate(ai)
    local lines = p.lines["@" .. ai]
    local line = lines[12]
    local most = require "cprof.count.bound".most(p)
    local function shown(kind, divisor)
      return helper.shown(line[kind .. "_ns"], line[kind .. "_raw_ns"],
        divisor, most)
    end
    assert.same({ "20", shown "self", format.percent(line.self_ns, whole),
      "20", shown "total", shown("total", 20),
      content = "local p = path(i * 1000)" }, cells(s, 12))
    assert.has_text("  12      local p = path(i * 1000)\n", s)
    assert.equal("21", cells(s, 11)[1])
    assert.equal("-", cells(s, 7)[4])
  end)

  it("begins with the file, its share of the time and its coverage",
    function()
      local head = annotate(ai):match "^[^\n]*"
      local self_ns = 0
      for _, line in ipairs(p.lines["@" .. ai]) do
        self_ns = self_ns + line.self_ns
      end
      assert.equal(ai, head:match "^%S+")
      assert.equal(("%s %% of %s, 10 of 12 lines ran"):format(
        format.percent(self_ns, whole),
        format.time(whole)), head:match "  (%S.*)$")
    end)

  it("shows every line, in columns that are aligned", function()
    local s = annotate(ai, { width = 200 })
    assert.same({ true, 23 }, { aligned(s) })
    assert.is_nil(next(table.move(cells(s, 4), 1, 6, 1, {})))
    assert.equal("-- finds a path", cells(s, 4).content)
  end)

  it("marks what never ran, and counts it on request", function()
    local s = annotate(ai)
    assert.matches("return nil +← never ran", cells(s, 14).content)
    assert.matches("return 1 +← never ran", cells(s, 20).content)
    assert.has_no_text("never ran", cells(s, 12).content)
    assert.has_no_text("lines never ran", s)
    assert.has_text("\n2 of 12 lines never ran\n", annotate(ai,
      { coverage = true }))
  end)

  it("lists a line by the time of the C functions that it calls, too",
    function(folder)
      local f = dofile(folder:file("late.lua", [[
return function(sleep)
  local x = 0
  for i = 1, 10 do sleep(i * 100000) end
  for i = 1, 100 do x = x + i end
  return x
end
]]))
      local profile = driven.record(1000, function() f(driven.sleep) end,
        { mode = "line", callsites = true })
      local s = profile:annotate(nil, { sort = "self", width = 120 })
      local first = s:match "in C[^\n]*\n([^\n]*)"
      assert.has_text("late.lua:3 ", first, s)
    end)

  it("does not mark the first line of a function, which is code of another",
    function(folder)
      local f = dofile(folder:file("late.lua",
        "local t = {}\nfunction t.f(...)\n  return 1\nend\nreturn t.f\n"))
      local profile = helper.record(function() f() end, { mode = "line" })
      local s = profile:annotate(nil, { focus = "t.f", width = 100 })
      assert.matches("%f[%S]2  function t.f", s)
      assert.has_no_text("never ran", s)
    end)

  it("folds cold stretches on request", function()
    local s = annotate(util, { context = 0, min_percent = 20 })
    assert.is_truthy(cells(s, 4))
    assert.is_nil(cells(s, 3))
    assert.matches("\n +… 3 lines, %d+%.%d %%\n", s)
    assert.has_text("… 2 lines", annotate(util, { context = 1,
      min_percent = 20 }))
    local covered = annotate(ai, { context = 0, min_percent = 100,
      coverage = true })
    assert.is_truthy(cells(covered, 14))
    assert.is_nil(cells(covered, 12))
  end)

  it("is of the hottest functions without a source", function()
    local s = annotate()
    local heads = {}
    for name in ("\n" .. s):gmatch "\n([%w_.]+) %([^\n]* self, " do
      heads[#heads + 1] = name
    end
    assert.same({ "util.spin" }, heads)
    -- these functions have nine tenths of the time
    assert.matches("^util%.spin %([^ ]+util%.lua:2%) +%S+ self, ", s)
    assert.equal("210,000", cells(s, 4)[1])
    assert.is_nil(cells(s, 7), "its lines alone")
    local rest = s:match "\n… (%d+) more functions, %d+%.%d %% self %(%-%-all%)"
    assert.is_truthy(rest, s)
    s = annotate(nil, { all = true })
    for _, name in ipairs { "util.spin", "path", "ai.step" } do
      assert.is_truthy(s:find("\n" .. name .. " (", 1, true) or
        s:find("^" .. name), name)
    end
    assert.has_no_text("more function", s)
    assert.matches("\n… %d+ functions without lines, %S+ %% self\n", s)
  end)

  it("shows the functions that fit the screen, and one at least", function()
    local function work()
      local step = assert(loadfile(ai))(dofile(util)).step
      step(10)
      local function other(n)
        local s = 0
        for i = 1, n do s = s + i end
        return s
      end
      for i = 1, 10 do other(i * 1000) end
    end
    local options = { mode = "line", lines = { "ai.lua", "util.lua",
      "_spec" } }
    local q
    local function shown(height)
      local s = q:annotate(nil, { height = height, color = "never" })
      local _, count = s:gsub(" self[^,\n]*, %S+ %%, ", "")
      local _, lines = s:gsub("\n", "")
      return count, lines
    end
    q = driven.record(1000, work, options)
    assert.equal(1, (shown(10)))
    local count, lines = shown(24)
    assert.is_true(count > 1 and lines < 24)
    assert.is_true(shown(1000) >= count)
    -- with a limit, functions with little time are shown, too
    local s = q:annotate(nil, { height = 10, limit = 3 })
    assert.equal(3, select(2, s:gsub(" self[^,\n]*, %S+ %%, ", "")))
  end)

  it("is of the hottest files when it is about coverage", function()
    local s = annotate(nil, { coverage = true })
    assert.is_true(s:find(util, 1, true) < (s:find(ai, 1, true) or math.huge))
    s = annotate(nil, { coverage = true, limit = 1 })
    assert.has_no_text(ai, s)
    assert.matches("\n… 1 more file, %d+%.%d %%\n", s)
  end)

  it("can be a list of the hottest lines of one file", function()
    local s = p:annotate(ai, { sort = "hits", limit = 100 })
    assert.has_text(ai .. ":7 ", s)
    assert.has_no_text(util, s)
    assert.has_error(function() p:annotate("x.lua", { sort = "self" }) end,
      "annotate: no lines of \"x.lua\" were recorded; there are: " .. ai ..
      ", " .. util)
  end)

  it("can be a list of the hottest lines of all files", function()
    local s = annotate(nil, { sort = "self", limit = 3 })
    local first = s:match "\n([^\n]+)"
    assert.has_text(util .. ":4", first, s)
    assert.has_text("for i = 1, n do s = s + i end", first)
    assert.matches("\n… %d+ more lines, %d+%.%d %%\n", s)
    local hits = {}
    for line in annotate(nil, { sort = "hits", limit = 100 })
      :gmatch "[^\n]+" do
      hits[#hits + 1] = tonumber((line:match "^ *([%d,]+) " or "")
        :gsub(",", ""), 10)
    end
    assert.is_true(#hits > 10)
    for i = 2, #hits do assert.is_true(hits[i] <= hits[i - 1]) end
    assert.equal(210000, hits[1])
  end)

  it("can be a list for editors, with paths from the current folder", function()
    local list = annotate(nil, { format = "quickfix", limit = 3 })
    local first = list:match "^[^\n]+"
    assert.matches("^" .. util:gsub("%p", "%%%0") .. ":4: %d+%.%d %%, %S+ " ..
      "self, 210,%d+ hits: for i = 1, n do ", first, list)
    local _, n = list:gsub("[^\n]+:%d+: [^\n]+\n", "")
    assert.equal(3, n)
    local c = driven.record(1000, function() return ("x"):rep(100000) end,
      { mode = "line" })
    list = c:annotate(nil, { format = "quickfix" })
    assert.matches(":%d+: [%d.]+ %%, %S+ self %+ %S+ in C, 1 hit: ", list)
    local path = dir .. "/quickfix.cprof"
    assert(p:save(path))
    local out = command.shell(("cd %s; %s --format=quickfix %s"):format(dir,
      command.here "annotate", path))
    assert.equal("util.lua:4: ", out:sub(1, 12))
  end)

  it("shows the beginning of a line of minified code in that list", function()
    local file = dir .. "/min.lua"
    write(file, "  local s = '" .. ("é"):rep(100000) .. "' return #s\n")
    local q = helper.record(function() dofile(file) end,
      { mode = "line", lines = { "min.lua" } })
    for line in q:annotate(nil, { sort = "self" }):gmatch "[^\n]+" do
      assert.is_true(#line < 1000, #line)
    end
    assert.matches("min%.lua:1 +local s = 'éé[é]+…\n", q:annotate(nil,
      { sort = "self" }))
  end)

  it("shades by time, hits or total, of the file or the project", function()
    local hottest = format.paint(true)("heat8", "x"):match "%[([%d;]*)m"
    local function style(s, number)
      for line in s:gmatch "[^\n]+" do
        local left = line:match("^(.*)\27%[2m *" .. number .. "\27")
        if left then return left:match "^\27%[([%d;]+)m" or "" end
      end
    end
    local function shade(source, number, more)
      local o = { color = "always" }
      for key, value in pairs(more or {}) do o[key] = value end
      return style(p:annotate(source, o), number)
    end
    assert.equal(hottest, shade(util, 4))
    assert.equal("", shade(util, 3))
    assert.equal(hottest, shade(ai, 12, { heat = "total" }))
    assert.equal(hottest, shade(ai, 11, { heat = "hits" }))
    -- its hottest line takes next to nothing, compared with the other file's
    assert.equal("", shade(ai, 12, { relative = "project" }))
  end)

  it("can focus on a function, which is then alone", function()
    for _, s in ipairs { annotate(ai, { focus = "path" }),
      annotate(nil, { focus = ("path (%s:5)"):format(ai) }) } do
      assert.equal("20", cells(s, 6)[1])
      assert.is_nil(cells(s, 12), s)
      assert.is_nil(cells(s, 9))
      assert.matches("^path %(.-ai.lua:5%) .* self, %S+ %%, 20 calls\n", s)
      -- shares are of the program's time, as in other reports
      assert.equal(format.percent(p.lines["@" .. ai][6].self_ns, whole),
        (cells(s, 6)[3]:gsub("<", "")))
    end
  end)

  it("can ignore a function, whose lines do not count as never run", function()
    local s = annotate(nil, { ignore = "util.spin", sort = "self" })
    assert.has_no_text(util .. ":4", s)
    assert.has_text(ai .. ":12", s)
    assert.equal(s, annotate(nil, { sort = "self",
      ignore = ("util.spin (%s:2)"):format(util) }))
    s = annotate(ai, { ignore = "path" })
    for _, number in ipairs { 6, 7 } do
      assert.same({ content = cells(s, number).content }, cells(s, number))
      assert.has_no_text("never", cells(s, number).content)
    end
    assert.has_text("never ran", cells(s, 20).content)
    assert.has_text("10 of 12 lines ran", s)
    assert.has_no_text("never", annotate(util, { ignore = "util.spin" }))
  end)

  it("says which function could be meant, and why one has no lines",
    function()
      for _, case in ipairs {
        { { focus = "pth" }, "annotate: no function 'pth' was recorded; " ..
          "there are: path (" },
        { { ignore = "nosuch" }, "annotate: no function 'nosuch'" },
        { { focus = "dofile" }, "annotate: no lines of dofile ([C]) were " ..
          "recorded: it is a C function" },
      } do
        local message = helper.failure(p.annotate, p, nil, case[1])
        assert.has_text(case[2], message)
      end
    end)

  it("drops columns, so that the source has half of the width",
    function()
      local function titles_at(width)
        local out = {}
        for title in pairs(columns_of(annotate(ai, { width = width }))) do
          out[#out + 1] = title
        end
        table.sort(out)
        return table.concat(out, ", ")
      end
      assert.equal("callees, calls, hits, line, per call, self, self %",
        titles_at(120))
      assert.equal("callees, calls, hits, line, self, self %", titles_at(78))
      assert.equal("calls, hits, line, self, self %", titles_at(68))
      local path = dir .. "/wide.lua"
      write(path, "local function f(n) for _ = 1, n do end end\n" ..
        "for i = 1, 2000 do f(i) end -- " .. ("long "):rep(50) .. "\n")
      local q = helper.record(function() dofile(path) end, { mode = "line" })
      for _, width in ipairs { 60, 80, 100 } do
        local s = q:annotate(path, { width = width, color = "never" })
        local ends = columns_of(s)
        assert.is_true(width - ends.line - 2 >= width // 2, s)
        assert.equal(width - ends.line - 2,
          format.width(cells(s, 2).content))
      end
      -- its lines call nothing
      assert.is_nil(columns_of(annotate(util, { width = 200 })).calls)
    end)

  it("counts a call once, though it ends in tail calls", function()
    local path = dir .. "/tail.lua"
    write(path, [[
local function leaf() return 1 end
local function middle() return leaf() end
local function top()
  for _ = 1, 10 do
    local x = middle()
  end
end
top()
]])
    for _, q in ipairs { helper.record(function() dofile(path) end,
      { mode = "line" }) } do
      assert(q:save(dir .. "/tail.cprof"))
      for _, r in ipairs { q, assert(profiler.load(dir .. "/tail.cprof")) } do
        local line = r.lines["@" .. path][5]
        assert.equal(10, line.hits)
        assert.equal(10, line.calls)
        assert.equal("10", cells(r:annotate(path, { color = "never" }),
          5)[4])
      end
    end
  end)

  it("has colours only on request, and never instead of figures", function()
    local plain = annotate(ai)
    assert.has_no_text("\27", plain)
    local coloured = p:annotate(ai, { color = "always" })
    assert.has_text(format.paint(true)("heat8", "  20"), coloured)
    assert.equal(plain, (coloured:gsub("\27%[[%d;]*m", "")
      :gsub(" +\n", "\n")))
  end)

  it("is what profiler.annotate gives, also while recording", function()
    profiler.start { mode = "line" }
    dofile(util).spin(10)
    local s = profiler.annotate(util)
    profiler.stop()
    assert.equal("10", cells(s, 4)[1])
    assert.has_text("for i = 1, n", profiler.annotate(util))
  end)

  it("fits the width", function()
    for _, width in ipairs { 80, 100, 120 } do
      for _, source in ipairs { ai, util } do
        for line in annotate(source, { width = width }):gmatch "[^\n]+" do
          assert.is_true(format.width(line) <= width, line)
        end
      end
    end
  end)

  it("finds a source by the end of its path, if only one ends so",
    function()
      local there <close> = require "command".folder()
      assert(os.execute(("mkdir %s/a %s/b"):format(there.path, there.path)))
      local loaded = {}
      for i, path in ipairs { "a/x.lua", "b/x.lua", "b/only.lua" } do
        loaded[i] = assert(loadfile(there:file(path, "local x = 1 return x")))
      end
      local q = helper.record(function()
        for _, f in ipairs(loaded) do f() end
      end, { mode = "line" })
      local only = q:annotate(there:file "b/only.lua")
      assert.equal(only, q:annotate "only.lua")
      assert.equal(only, q:annotate "b/only.lua")
      assert.equal(q:annotate(there:file "a/x.lua"), q:annotate "a/x.lua")
      for given, why in pairs {
        ["x.lua"] = 'annotate: several paths end in "x.lua": ' ..
          there:file "a/x.lua" .. ", " .. there:file "b/x.lua",
        ["nly.lua"] = 'annotate: no lines of "nly.lua" were recorded',
      } do
        local message = helper.failure(q.annotate, q, given)
        assert.has_text(why, message)
      end
    end)

  it("checks what it is given", function()
    for _, case in ipairs {
      { 1, nil, "annotate: the source must be a string, got a number" },
      { "nosuch.lua", nil, 'annotate: no lines of "nosuch.lua" were ' ..
        "recorded; there are: " },
      { ai, { heat = "x" }, "annotate: option 'heat' must be one of " ..
        '"time", "hits", "total", "wall", "cpu", "wait", "alloc", ' ..
        '"allocs", "live", got "x"' },
      { ai, { shade = 1 }, 'annotate: unknown option "shade"; valid ' ..
        "options: all, color, context, coverage, expressions, focus, " ..
        "format, heat, height, hyperlinks, ignore, limit, measure, " ..
        "min_percent, relative, sort, width" },
    } do
      local message = helper.failure(p.annotate, p, case[1], case[2])
      assert.has_text(case[3], message)
    end
    local calls = helper.record(function() end)
    local message = helper.failure(calls.annotate, calls)
    assert.has_text('start with mode = "line"', message)
  end)
end)

describe("the text that is shown", function()
  local function of(content, change, name)
    local path = dir .. "/" .. (name or "text.lua")
    write(path, content)
    local q = helper.record(function() dofile(path) end, { mode = "line" })
    if change then change(path) end
    return q:annotate(path, { color = "never" }), q, path
  end

  it("is the text that ran, also when the file changes", function()
    local s = of("local x = 'old'\nreturn x\n", function(path)
      write(path, "local y = 'new'\nreturn y\n")
    end)
    assert.has_text("local x = 'old'", s)
    assert.has_text("note: the file has changed since; this is the text " ..
      "that ran", s)
    assert.has_no_text("note:", of "local x = 1\n")
  end)

  it("is kept when the file is removed", function()
    local s = of("local x = 'gone'\n", os.remove)
    assert.has_text("local x = 'gone'", s)
    assert.has_no_text("note:", s)
  end)

  it("is said not to be what ran where it was changed before", function()
    local path = dir .. "/before.lua"
    write(path, "return function() return 1 end\n")
    local f = dofile(path)
    write(path, "\n\nreturn function() return 2 end\n")
    local q = helper.record(function() f() end, { mode = "line" })
    local s = q:annotate(path, { color = "never" })
    assert.has_text("note: ", s)
    assert.equal(1, q.lines["@" .. path][1].hits)
  end)

  it("is that of chunks from strings", function()
    local chunk = load "local s = 0\nfor i = 1, 10 do\ns = s + i\nend\nreturn s"
    local q = helper.record(function() chunk() end, { mode = "line" })
    local s = q:annotate("local s = 0\nfor i = 1, 10 do\ns = s + i\nend\n" ..
      "return s", { color = "never" })
    assert.has_text("  s = s + i", s)
    assert.matches("^%[string \"local s = 0\"%] ", s)
  end)

  it("is missing, with a note, for chunks that have only a name", function()
    local chunk = load("local x = 1\nreturn x", "=named")
    local q = helper.record(function() chunk() end, { mode = "line" })
    local s = q:annotate("named", { color = "never" })
    assert.has_text("note: no text: the chunk has a name, but no file", s)
    assert.equal("1", cells(s, 2)[1])
  end)

  it("is missing, with a note, for files that cannot be read", function()
    local chunk = load("local x = 1\nreturn x", "@/nosuch/file.lua")
    local q = helper.record(function() chunk() end, { mode = "line" })
    assert.has_text("note: no text: /nosuch/file.lua: No such file or " ..
      "directory", q:annotate("/nosuch/file.lua"))
  end)

  it("has its columns aligned with CR LF, tabs, UTF-8 and bytes", function()
    local s = of("\xEF\xBB\xBFlocal a = 1\r\nif a then\r\n" ..
      "\ta = 'ä…'\tb = 2\r\nend\r\nlocal c = '\xff\x1b[31m'\r\n")
    assert.has_no_text("\r", s)
    assert.has_no_text("\27", s)
    assert.has_text("  3          a = 'ä…'        b = 2\n", s)
    assert.same({ true, 5 }, { aligned(s) })
  end)

  it("has the lines that Lua counts, whichever way they end", function()
    local shown
    for _, e in ipairs { "\n", "\r", "\r\n", "\n\r" } do
      local s, q, path = of(table.concat({ "local function f(n)",
        "  return n + 1", "end", "", "for i = 1, 3 do f(i) end", "" }, e))
      assert.equal(3, q.lines["@" .. path][2].hits)
      assert.matches("\n +3 [^\n]+ 2    return n %+ 1\n", s)
      assert.has_text(" 5  for i = 1, 3 do f(i) end\n", s)
      assert.has_no_text("\r", s)
      local _, count = s:gsub("\n", "")
      shown = shown or count
      assert.equal(shown, count)
      -- the definition is found, too
      assert.has_text(" f  ", q:report { min_percent = 0 })
    end
  end)

  it("may begin with a line for the shell", function()
    local s, q, path = of "#!/usr/bin/lua\nlocal x = 1\n"
    assert.has_no_text("note:", s)
    assert.equal(1, q.lines["@" .. path][2].hits)
    assert.is_false(q.lines["@" .. path][1].active)
  end)
end)

describe("columns of a line", function()
  it("are where its characters are shown", function()
    local source = require "cprof.annotate.source"
    local pieces = { "a", "\t", " ", "é", "日", "\u{1F600}", "e\u{301}", "\1",
      "\xff", "\r", "x = 1 " }
    local seed = 7
    local function draw(n)
      seed = (seed * 1103515245 + 12345) & 0x7fffffff
      return (seed >> 16) % n + 1
    end
    for length = 0, 200 do
      local parts = {}
      for i = 1, length % 20 do parts[i] = pieces[draw(#pieces)] end
      local line = table.concat(parts)
      local columns = source.columns(line)
      local valid = utf8.len(line) ~= nil
      for at = 1, #line + 1 do
        local before = line:sub(1, at - 1)
        local begins = not valid or at > #line or line:byte(at) & 0xc0 ~= 0x80
        -- after a line of invalid UTF-8 is cut, what is left may be valid
        if begins and valid == (utf8.len(before) ~= nil) then
          local shown = source.printable(before)
          assert.equal(format.width(shown) + 1, columns and columns[at] or at)
        end
      end
    end
  end)
end)
