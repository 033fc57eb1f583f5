local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local luafiles = require "luafiles"
local merge = require "cprof.profile.merge"
local profiler = require "cprof"
local tokenmap = require "cprof.coverage.tokenmap"

describe("token maps", function()
  it("exist for all Lua files that are here", function()
    local count = luafiles.each(function(path, text)
      local map, why = tokenmap.new(text)
      assert(map, path .. ": " .. tostring(why))
      for _, p in ipairs(map.prototypes) do
        assert(#p.token == #p.code, path)
        -- the line of a token is the one that Lua knows, except for operators
        -- and calls, which begin earlier
        for _, token in ipairs(p.token) do
          assert(map.tokens.line[token] or map.tokens.n == 0, path)
        end
      end
    end)
    assert.is_true(count > (helper.slow and 10 or 400), count)
    io.write(("  %d Lua files have the same code with every token on a " ..
      "line of its own\n"):format(count))
  end)
end)

if core.internals() ~= "direct" then return end

-- the profile of a chunk that is run once, by mode count
local function run(code, name)
  name = name or code
  local chunk = assert(load(code, name))
  local p = helper.record(function() pcall(chunk) end, { mode = "count" })
  return p, name
end

-- "kind ways" of each branch
local function branches(p, source)
  local out = {}
  for i, b in ipairs(p.branches[source]) do
    out[i] = ("%d:%d %s %s=%d %s=%d"):format(b.line, b.column, b.kind,
      b.ways[1].name, b.ways[1].count, b.ways[2].name, b.ways[2].count)
  end
  return out
end

-- how often what is written at a place ran; nil: there is no code
local function count_of(p, code, what, nth)
  local at = 0
  for _ = 1, nth or 1 do at = assert(code:find(what, at + 1, true)) end
  local before = code:sub(1, at - 1)
  local _, line = before:gsub("\n", "")
  local column = #before:match "[^\n]*$" + 1
  for _, e in ipairs(p.expressions[code]) do
    if e.line == line + 1 and e.column == column then return e.count end
  end
end

describe("expressions", function()
  it("have the count of their own instructions", function()
    local code = [[
local function one(x) return x end
local function never() return one(7) end
local t = {}
for i = 1, 10 do
  t[i] = one(i) > 3 and one(-i) or one("left" .. i)
end
for k, v in pairs(t) do t[k] = v end
local x = 2 * 3 + #t
return x]]
    local p = run(code, code)
    assert.equal(10, count_of(p, code, "one(i)"))
    assert.equal(7, count_of(p, code, "one(-i)"))
    assert.equal(3, count_of(p, code, 'one("left"'))
    assert.equal(0, count_of(p, code, "one(7)"))
    assert.equal(1, count_of(p, code, "#t"))
    -- the compiler has computed 2 * 3
    assert.is_nil(count_of(p, code, "* 3"))
  end)

  -- the texts of all expressions that ran n times
  local function texts(code, n)
    local out, lines = {}, {}
    for line in code:gmatch "[^\n]*" do lines[#lines + 1] = line end
    for _, e in ipairs(run(code).expressions[code]) do
      if e.count == n and e.line == e.last_line then
        out[#out + 1] = lines[e.line]:sub(e.column, e.last_column)
      end
    end
    return out
  end

  it("have the count of their value, not of what is done with it", function()
    local code = [[
local t, up = {}, nil
local function f(a, b)
  x = a and b or y
  t.k = a or 5
  up = a or "up"
  t[1], z = a or 6, a and t or z
  return a and -1 or b
end
f(1, 2) f(nil, 2) f(nil, 3)]]
    local p = run(code, code)
    assert.equal(2, count_of(p, code, "y\n"))
    assert.equal(1, count_of(p, code, "b or y"))
    assert.equal(2, count_of(p, code, "5"))
    assert.equal(2, count_of(p, code, '"up"'))
    assert.equal(2, count_of(p, code, "6"))
    assert.equal(2, count_of(p, code, "z\n"))
    assert.equal(2, count_of(p, code, "b\nend"))
  end)

  it("begin where a function or a table begins", function()
    local code = "for i = 1, 3 do\n" ..
      "  local t = { a = { b = function(x) return x end } }\nend"
    assert.same({ "for", "{", "{", "function" }, texts(code, 3))
  end)

  it("have the brackets that close behind them", function()
    assert.same({ "{}" }, texts("local a = ... or 1\na = a or {}", 0))
    assert.same({ "error", '("bad"))' },
      texts('local a = ...\nif a then error(("bad")) end', 0))
    -- brackets are left out if their count differs from that of their contents
    local code = "local a = 1\nprint(a or 2)"
    assert.same({ "2" }, texts(code, 0))
  end)

  it("end where their last line ends", function()
    local code = "local a = type\nreturn a [[long\nstring]]\n"
    local p = run(code, code)
    local list = p.expressions[code]
    local found
    for _, e in ipairs(list) do
      if e.last_line > e.line then found = e end
    end
    assert.same({ line = 2, column = 10, last_line = 3, last_column = 8,
                  count = 1 }, found)
  end)
end)

describe("lines of a jump that Lua leads others past", function()
  it("are not among those that never ran", function()
    local code = [[
while true do
  if not _G then
    print "failed"
  end
  break
end
for i = 1, 3 do
  if i > 5 then
    print "failed"
  end
  goto continue
  ::continue::
end
while true do
  if _G then break end
  print "failed"
  break
end]]
    local p, source = run(code)
    local never = {}
    for n, line in ipairs(p.lines[source]) do
      if line.active and line.hits == 0 then never[#never + 1] = n end
    end
    assert.same({ 3, 9, 16 }, never)
  end)
end)

describe("branches", function()
  it("are told by what decides", function()
    local code = [[
local n, seen = 0, 0
for i = 1, 10 do
  if i > 3 and (i ~= 5 or n) then n = n + 1
  elseif i == 2 then n = 0 end
  local b = i < 5
  local c = b and i or not b
end
while n > 2 do n = n - 1 end
repeat n = n + 1 until n == 5 or n > 50
if n then end]]
    local p, source = run(code)
    assert.same({
      "3:3 if true=7 false=3",
      "3:12 and right=7 left=3",
      "3:24 or right=1 left=6",
      "4:3 elseif true=1 false=2",
      "5:15 comparison false=6 true=4",
      "6:15 and right=4 left=6",
      "6:21 or right=6 left=4",
      "8:1 while body=5 end=1",
      "9:18 until end=1 again=2",
      "9:31 or right=2 left=1",
    }, branches(p, source))
  end)

  it("are true where what is meant is", function()
    local p, source = run [[
local n = 0
for i = 1, 10 do
  if i > 4 and n >= 0 then break end
  n = i
end
while true do
  if n == 0 then
    break
  elseif n > 50 then break
  else n = n - 1 end
end
while true do
  if n < 0 then n = 0 break end
  n = n - 1
end
for i = 1, 3 do
  if i > 2 or n > 5 then goto next end
  n = n + 1
  ::next::
end
while n < 99 do
  n = n + 1
  if n > 5 then break end
end
for i = 1, 4 do
  local last = i == 3
  if last then break end
end
for i = 1, 4 do
  local odd = i % 2
  if odd == 1 and i then goto skip end
  n = 0
  ::skip::
end]]
    assert.same({
      "3:3 if true=1 false=4",
      "3:12 and right=1 left=4",
      "7:3 if true=1 false=4",
      "9:3 elseif true=0 false=4",
      "13:3 if true=1 false=1",
      "17:3 if true=1 false=2",
      "17:12 or right=2 left=1",
      "21:1 while body=4 end=0",
      "23:3 if true=1 false=3",
      "26:18 comparison false=2 true=1",
      "27:3 if true=1 false=2",
      "31:3 if true=2 false=2",
      "31:15 and right=2 left=2",
    }, branches(p, source))
  end)

  it("that nobody can tell are none", function()
    local p, source = run "local a = ... if a then end"
    assert.same({}, branches(p, source))
  end)

  it("add up to what was decided, errors and yields apart", function()
    local p, source = run [[
      local lazy = setmetatable({}, { __lt = function()
        return coroutine.yield() end })
      local co = coroutine.wrap(function()
        local n
        for _ = 1, 3 do
          if lazy < lazy then n = 1 else n = 2 end
        end
        return lazy < 3 and lazy < nil
      end)
      co() co(true) co(false) co(true)
      pcall(function() if lazy.x < 1 then error() end end)]]
    assert.same({
      "6:11 if true=2 false=1",
      "8:25 and right=0 left=0",
      "8:34 comparison false=0 true=0",
      "11:24 if true=0 false=0",
    }, branches(p, source))
  end)

  it("are those of several runs, and of saved profiles", function(dir)
    local path = dir:file "x"
    local code = "local x = ... for i = 1, 4 do x = i < 2 and x or i end"
    local p, source = run(code)
    assert(p:save(path))
    local again = assert(profiler.load(path))
    assert.same(branches(p, source), branches(again, source))
    assert.same(p.expressions[source], again.expressions[source])
    for _, what in ipairs { "expressions", "branches" } do
      local listed = {}
      for key, list in pairs(again[what]) do
        assert.is_truthy(again.lines[key], key)
        listed[key] = list
      end
      assert.equal(again[what][source], assert(listed[source]))
      for key in pairs(again.lines) do
        assert.equal(again[what][key], listed[key])
      end
    end
    local sum = assert(merge.sum { p, again })
    for i, b in ipairs(sum.branches[source]) do
      assert.equal(2 * p.branches[source][i].ways[1].count, b.ways[1].count)
    end
  end)

  it("tell functions apart that share their lines", function()
    local p, source = run("local a, b = function(x) return x and 1 end, " ..
      "function(x) return x and 2 end a(1) b() b(1)")
    assert.same({ "1:35 and right=1 left=0", "1:67 and right=1 left=1" },
      branches(p, source))
  end)
end)

describe("a text that is not what ran", function()
  it("has lines alone, with a note", function()
    local coverage = require "cprof.coverage"
    local path = os.tmpname()
    command.write(path, "local a = ...\nif a then print(a) end\n")
    local chunk = assert(loadfile(path))
    command.write(path, "-- another\nlocal a = ...\n" ..
      "if not a then return end\nprint(a)\n")
    local p = helper.record(chunk, { mode = "count" })
    os.remove(path)
    assert.is_nil(p.expressions["@" .. path])
    assert.is_nil(p.branches["@" .. path])
    assert.has_text("only lines are known", coverage.of(p, "@" .. path).note)
    assert.equal(1, p.lines["@" .. path][2].hits)
    local stripped = load(string.dump(assert(load "return 1 + ..."), true))
    p = helper.record(function() pcall(stripped, 2) end, { mode = "count" })
    assert.is_nil(p.expressions["=?"])
  end)
end)
