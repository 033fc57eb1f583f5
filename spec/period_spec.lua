-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local merge = require "cprof.profile.merge"

-- else samples do not know the lines of calls
local direct = core.internals() == "direct"

local function spin(n)
  for _ = 1, n do local _ = {} end
end

local function usual() spin(100) end
local function rebuild() spin(200) end

-- the file of a program that does something else from 300 to 500 ms
local function stalled(dir)
  local path = dir:file "x.cprof"
  assert(driven.known(function()
    for _ = 1, 3 do usual() end
    rebuild()
    for _ = 1, 3 do usual() end
  end):save(path))
  return path
end

local function run(...)
  local out = command.must(...)
  return out
end

describe("a range of time", function()
  it("is what each command shows", function(dir)
    local path = stalled(dir)
    for _, words in ipairs { { "report" }, { "report", "--mode=total" },
      { "tree" }, { "callgraph" },
      direct and { "annotate", "--all" } or { "tree", "--sort=name" },
      { "export", "--format=folded" },
      { "export", "--format=json" } } do
      local all = table.move(words, 1, #words, 1, {})
      -- annotated sources have names where they are called, too
      local form = words[1] == "annotate" and "\n%s (" or "%s"
      all[#all + 1] = path
      local whole = run(table.unpack(all))
      assert.has_text(form:format "usual", whole, table.concat(words, " ") ..
        "\n" .. whole)
      all[#all], all[#all + 1], all[#all + 2], all[#all + 3], all[#all + 4] =
        "--from", "0.3s", "--to", "500ms", path
      local out = run(table.unpack(all))
      local what = table.concat(words, " ") .. "\n" .. out
      assert.has_no_text(form:format "usual", out, what)
      assert.has_text(form:format "rebuild", out, what)
    end
    local page = dir:file "page.html"
    run("html", "-o", page, "--from=300ms", "--to=0.5s", path)
    assert.matches("^<!doctype html>", command.read(page))
    assert.has_text("50.0ms total (50.0", run("show", "--from=0.25s",
      "--to=0.35s", path, "rebuild"))
  end)

  it("is in the head of a report, and in what it says comes next", function(dir)
    local path = stalled(dir)
    local out = run("report", "--from=0.3s", "--to=500ms", path)
    assert.has_text("\nrange: 0.300s to 0.500s of 0.800s\n200ms wall\n", out)
    local more = out:match "\nNext: cprof (.-)\n"
    assert.equal(("show --from 0.3s --to 0.5s %s spin"):format(path), more)
  end)

  it("is compared with another one, or with the whole", function(dir)
    local path = stalled(dir)
    local out = run("diff", "--range=0.3s..0.5s", "--against=0..200ms", path)
    assert.has_text("before: 0.000s to 0.200s: ", out)
    assert.matches("after: +0%.300s to 0%.500s: ", out)
    assert.has_text("compared: shares of time\n", out)
    assert.matches("\n +100%.0 +%- +%-100%.0 ±[^\n]+ usual ", out)
    assert.matches("\n +%- +100%.0 +%+100%.0 ±[^\n]+ rebuild ", out)
    out = run("diff", "--range=700ms..", path)
    assert.has_text("before: whole recording: ", out)
    assert.has_text("0.700s to 0.800s: ", out)
  end)

  it("must be one, and of a recording that knows when", function(dir)
    local path = stalled(dir)
    local called = dir:file "called.cprof"
    assert(helper.record(usual, { mode = "count" }):save(called))
    local sum = dir:file "sum.cprof"
    local p = require("cprof").load(path)
    assert(assert(merge.sum { p, p }):save(sum))
    local range = "a range of times since the recording began " ..
      "(1.2s..1.5s, 2m..)"
    for _, case in ipairs {
      { "--from' must be a time since the recording began (1.2s, 300ms, " ..
        "2m5s), got '12x'", "report", "--from=12x", path },
      { "12s is not within the recording, which took 800ms", "report",
        "--from=12", path },
      { ", got '1.2.3s'", "tree", "--to=1.2.3s", path },
      { ", got '3 s'", "annotate", "--to=3 s", path },
      { ", got '5d'", "export", "--format=json", "--from=5d", path },
      { "the range must end after it begins, got 0.5s to 0.3s", "report",
        "--from=0.5s", "--to=300ms", path },
      { "3600s is not within the recording, which took 800ms", "report",
        "--from=1h", path },
      { 'no time axis: mode "count" does not record one', "report",
        "--from=0", called },
      { "no time axis: a sum of recordings has none", "report",
        "--to=1s", sum },
      { "--from and --to need one profile", "report", "--to=1s", path, path },
      { "--range and --against need one profile", "diff", "--range=0..1s",
        path, path },
      { "--against needs --range", "diff", "--against=0..1s", path },
      { range .. ", got '1s'", "diff", "--range=1s", path },
      { range .. ", got '..'", "diff", "--range=..", path },
      { range .. ", got '1s..2x'", "diff", "--range=1s..2x", path },
    } do
      local out, err, status = command.cprof(table.unpack(case, 2))
      local what = table.concat(case, " ", 2) .. ": " .. err
      assert.equal(2, status, what)
      assert.equal("", out, what)
      assert.has_text(case[1], err, what)
    end
  end)
end)
