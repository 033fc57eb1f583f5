-- Programs that are edited between two recordings.

local helper = require "helper"

local edited = {}

local function steady() end
local function more() for _ = 1, 1000 do end end
local function gone() end
local function fresh() end

local function before()
  for _ = 1, 10 do steady() more() end
  gone()
end

local function after()
  for _ = 1, 10 do steady() end
  for _ = 1, 2500 do more() end
  fresh()
end

---A program before and after an edit, and functions of it. They are not in a
---table, which would give them other names.
function edited.program() return before, after, more, steady, gone end

---The profile of a program: its text is written to a file, which then runs.
function edited.run(dir, name, text, options)
  local folder = name:match "^(.*)/"
  if folder then
    assert(os.execute(("mkdir -p '%s/%s'"):format(dir.path, folder)))
  end
  local path = dir:file(name, text)
  return (helper.record(function() dofile(path) end, options))
end

---The functions of a file that ran, by their names.
function edited.named(p, path)
  local out = {}
  for i, f in ipairs(p.functions) do
    if f.source == "@" .. path then
      out[f.kind == "main" and "main" or f.name] = i
    end
  end
  return out
end

edited.text = [[
local total = 0
local function first(n)
  for i = 1, n do total = total + i end
end
local function second(list)
  return #list + total
end
local function third(list)
  table.sort(list, function(a, b) return a > b end)
  return list[1] * 2
end
local function each(f) return f(3) + 1 end
for i = 1, 5 do
  first(i)
  second { i }
  third { i, i + 1, i + 2 }
  each(function(x) return x * 2 end)
  each(function(x) return x * 2 end)
end
]]

---Edits that people make to a text: { what was done, the new text }, ...
function edited.edits()
  local text = edited.text
  local function change(pattern, by)
    local new, n = text:gsub(pattern, by)
    assert(n > 0 and new ~= text, pattern)
    return new
  end
  local second = text:match "local function second.-\nend\n"
  local third = text:match "local function third.-\nend\n"
  return {
    { "insert", "-- a comment\n\nlocal more = 1\n" .. text },
    { "insert between", change("local function second", "\n\n%0") },
    { "insert within", change("  return #list", "  -- why\n%0") },
    { "change", change("#list %+ total", "#list + total + 1") },
    { "move", change("local function second.-\nend\n", "")
      :gsub("for i = 1, 5", function(s) return second .. s end) },
    { "reorder", change("local function second.-\nend\n", third)
      :gsub("(.*)local function third.-\nend\n", "%1" ..
        second:gsub("%%", "%%%%")) },
    { "rename", change("%f[%w]second%f[%W]", "renamed") },
    { "on one line", change("\n", " ") },
  }
end

return edited
