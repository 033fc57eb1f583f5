-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local in_c = require "cprof.annotate.in_c"
local releases = require "releases"

-- else samples do not know the lines of calls
local direct = core.internals() == "direct"
local known = releases.it(_ENV, releases.without_internals())

local leak <const> = [[
local cache = {}
local function remember(i)
  cache[i] = string.rep("x", 4096 + i)
  return #cache
end
local function idle(i)
  return { i }
end
return function()
  for i = 1, 1000 do
    remember(i)
    idle(i)
  end
end
]]

-- a program with a sample at each new table, and samples in calls of `wait`
local waiting <const> = [[
local wait, t = require "driven".wait, {}
local function fill(n)
  for i = 1, n do t[i] = {} end
end
return function()
  fill(10)
  for _ = 1, 10 do
    wait(20)
  end
end
]]

local function profile_of(text, options)
  local folder <close> = command.folder()
  return helper.record(dofile(folder:file("code.lua", text)), options)
end

-- what is left of the line of a listing that has this number and text
local function figures(s, number, content)
  for line in s:gmatch "[^\n]+" do
    local left, right = line:match("^(.-) +" .. number .. "   *(%a.*)$")
    if right and right:find(content, 1, true) == 1 then return left end
  end
  return ""
end

describe("a line whose figures are all in C", function()
  for _, heat in ipairs { "alloc", "live" } do
    it("is the hottest by bytes, " .. heat .. ", sampled or not", function()
      for _, mode in ipairs { "line", direct and "sample" or nil } do
        local p = profile_of(leak, { mode = mode, memory = "live",
          memory_interval = mode == "sample" and 16384 or 1 })
        local s = p:annotate(nil, { heat = heat, width = 120 })
        local head = s:match "^[^\n]*"
        assert.has_text("remember (", head, s)
        assert.matches(" self %+ %d%.%d+ MB in C, %d+%.%d ", head, s)
        assert.matches("\n[^\n]* in C +%%", s)
        assert.has_text(" MB", figures(s, 3, "cache"), s)
        -- bytes of a line are not counted as "without lines", too
        assert.has_no_text("without lines, 9", s)
        s = p:annotate("code.lua", { heat = heat, width = 120 })
        assert.matches("%d%.%d+ MB +%d+%.%d", figures(s, 3, "cache"), s)
      end
    end)
  end

  known("has its share and its total, sampled, and is shaded", function()
    local folder <close> = command.folder()
    local p = driven.sample(dofile(folder:file("code.lua", waiting)))
    local s = p:annotate("code.lua", { width = 120, color = "always" })
    local line = s:match "\n([^\n]*wait%([^\n]*)"
    assert.matches("^\27%[[%d;]*m", line)
    s = p:annotate("code.lua", { width = 120 })
    assert.matches("95%.2 ±%d+%.%d +200ms$", figures(s, 8, "wait"), s)
    -- functions rank by it, too
    local first = p:annotate(nil, { width = 120 })
    assert.has_text("code.lua:5", first:match "^[^\n]*", first)
  end)

  it("is of those that it calls, and of those that these call", function()
    local p = profile_of([[
return function()
  for _ = 1, 50 do
    pcall(string.rep, "x", 10000)
    string.rep("y", 10000)
  end
end
]], { mode = "line", callsites = true, compensate = false })
    local times, source
    for of, lines in pairs(in_c.times(p)) do
      if of:find "code%.lua$" then times, source = lines, of end
    end
    local own, below, count = 0, {}, 0
    for _, node in ipairs(p.nodes) do
      local caller = node.parent > 0 and p.functions[p.nodes[node.parent].func]
      below[node.id] = below[node.parent] or
        node.call_line == 3 and caller.source == source
      if below[node.id] then own, count = own + node.self_ns, count + 1 end
    end
    assert.equal(2, count)
    assert.equal(own, times[3])
  end)

  it("has no time per call where it calls several functions", function()
    local p = profile_of([[
local function f() return 1 end
local function g() return 2 end
return function()
  for _ = 1, 5 do
    f(g())
    f()
  end
end
]], { mode = "line", memory = true, compensate = false })
    local s = p:annotate("code.lua", { width = 140 })
    assert.matches(" 10 +%S+ +%-$", figures(s, 5, "f("), s)
    assert.matches(" 5 +%S+ +%d%S+$", figures(s, 6, "f("), s)
  end)
end)
