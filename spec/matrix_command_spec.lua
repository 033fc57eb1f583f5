local _ENV = require("helper").env(_ENV)

local command = require "command"
local commands = require "torture_commands"
local export = require "cprof.export"
local history = require "cprof.top.history"
local keys = require "cprof.top.keys"
local kinds = require "kinds"
local model = require "cprof.top.model"

-- All commands on profiles of each kind, with each of their options: a command
-- works, or refuses with one of the messages in `refused`.

local refused <const> = {
  "^option '%-%-sort' must not be \"%l+\" for a profile without %l+",
  "^option '%-%-heat' must not be \"%l+\" for a profile without %l+",
  "^option '%-%-measure' must not be \"%l+\" for a profile without %l+",
  "^option '%-%-%l+' must not be \"%l+\" for a profile without waiting " ..
    "times: ",
  "^option '%-%-measure' does not apply to format %l+$",
  "^option '%-%-[%l-]+' does not apply to format %l+$",
  "^option '%-%-expressions' must not be true with measure = \"%l+\": parts ",
  "^option '%-%-root': no function 'fib' was recorded; ",
  "^no function '[%w.()]+' was recorded; ",
  "^no function matches %-%-filter '[%l ]+'; ",
  "^no lines of .+ were recorded",
  "^%g+ has no lines: record it with cprof run %-%-",
  "^%g+ has no expressions: record it with cprof run %-%-",
  "^%g+ has no coverage: record it with cprof run %-%-coverage$",
  "^%g+ has no branches to cover$", "^%g+ has no lines to cover$",
  '^no time axis: mode "%l+" does not record one; modes "call", "line" and ' ..
    '"sample" do$',
  "^no time axis: a sum of recordings has none$",
  "^no time axis was recorded$",
  "^1?[%d.]+s is not within the recording, which took [%d.]+[%aµ]+$",
  "^%g+ is a profile without [%l ]+; record with cprof run %-%-memory",
  "^%g+ is a profile without waiting times: ",
  "^%l+ needs lines, %g+ has none: record it with cprof run %-%-lines$",
  "^format %l+ needs a profile of mode \"%l+\"",
  "^format %l+ needs times, which mode \"count\" does not record; ",
  "^instructions and times cannot be compared: ",
  "^%-%-sort calls needs calls, or samples, in both profiles: ",
  "^mode %l+ and mode %l+ cannot be added up: ",
  "^clock %l+ and clock %l+ cannot be added up: ",
  "^profiles with and without tasks cannot be added up: ",
  "^profiles with and without live blocks cannot be added up: ",
  "^profiles with and without allocations cannot be added up: ",
  "^profiles with and without durations of calls cannot be added up: ",
  "^only %d+%.%d %% of the time of .*; %-%-force joins them$",
  "^the second profile has mode count, and no times$",
  "^the first profile has mode sample, and no calls$",
  "^%g+ has mode sample, which has no figures for a budget: ",
  "^the figures of %g+ are not exact: max_nodes was reached$",
}

local function documented(message)
  for _, pattern in ipairs(refused) do
    if message:find(pattern) then return not message:find "\n" end
  end
  return false
end

-- runs a command; what it does wrong is added to `failed`
local function run(failed, ...)
  local ok, why, said = commands.run { ... }
  if not ok and not (said and documented(why)) then
    failed[#failed + 1] = table.concat({ ... }, " ") .. ": " .. why
  end
  return ok
end

local function none(failed)
  assert.equal("", table.concat(failed, "\n", 1, math.min(#failed, 5)))
end

local dir, files

setup(function()
  dir = command.folder()
  files = kinds.files(dir.path)
end)

teardown(function() getmetatable(dir).__close() end)

-- one profile of each kind
local few <const> = { call = true, ["line, memory"] = true, count = true,
  sample = true, ["call, live"] = true, ["call and samples"] = true,
  ["two of lines"] = true, ["no line"] = true }

local function others()
  local out = {}
  for _, kind in ipairs(files) do
    out[#out + 1] = few[kind.name] and kind.path or nil
  end
  return out
end

local function each(f)
  for i, kind in ipairs(kinds.unlike()) do
    it("of kind " .. kind.name, function()
      local failed = {}
      f(failed, files[i].path, files[i].p)
      none(failed)
    end)
  end
end

local sorts <const> = { "self", "total", "calls", "name", "alloc", "allocs",
  "live", "peak" }

describe("the commands that print a profile", function()
  each(function(failed, path)
    for _, sort in ipairs(sorts) do
      run(failed, "report", "--sort=" .. sort, path)
      run(failed, "report", "--mode=file", "--sort=" .. sort, path)
      run(failed, "tree", "--sort=" .. sort, path)
      run(failed, "callgraph", "--sort=" .. sort, path)
    end
    for _, name in ipairs { "report", "tree", "callgraph" } do
      for _, option in ipairs { "--min-percent=0", "--min-percent=100",
        "--limit=1", "--filter=e", "--filter=no such", "--width=40",
        "--color=always", "--format=markdown", "--measure=cpu",
        "--measure=wait", "--measure=peak" } do
        run(failed, name, option, path)
      end
    end
    run(failed, "tree", "--root=fib", "--depth=2", path)
    for _, name in ipairs { "fib", "sorted", "kinds.program", "(root)",
      "(host)", "sorting", "string.rep", "table.sort" } do
      run(failed, "show", path, name)
      run(failed, "show", "--limit=1", "--format=markdown", path, name)
    end
    for _, heat in ipairs { "time", "hits", "total", "cpu", "wait", "alloc",
      "allocs", "live" } do
      run(failed, "annotate", "--heat=" .. heat, path)
      run(failed, "annotate", "--heat=" .. heat, "--sort=self", path)
      run(failed, "annotate", "--heat=" .. heat, path, "kinds.lua")
      run(failed, "annotate", "--heat=" .. heat, "--expressions", path)
    end
    for _, option in ipairs { "--sort=hits", "--coverage", "--expressions",
      "--focus=fib", "--ignore=fib", "--all", "--relative=project",
      "--context=2", "--min-percent=0", "--limit=1", "--height=10",
      "--format=markdown", "--width=40" } do
      run(failed, "annotate", option, path)
    end
    for _, name in ipairs { "heatmap", "report", "tree", "callgraph",
      "annotate" } do
      run(failed, name, path)
      run(failed, name, "--from=1us", "--to=1h", "--width=40", path)
      run(failed, name, "--from=1h", "--format=markdown", path)
    end
    for _, name in ipairs { "fib", "(root)", "(host)" } do
      run(failed, "heatmap", "--limit=1", "--color=always", path, name)
    end
    run(failed, "coverage", path)
    run(failed, "coverage", "--missing", path)
    run(failed, "coverage", "--format=markdown", path, "kinds.lua")
  end)
end)

describe("the commands that write a profile", function()
  each(function(failed, path)
    local out = dir:file "out"
    for _, row in ipairs(export.formats) do
      local format = "--format=" .. row.name
      for _, options in ipairs { {}, { "--min-percent=5", "--fold" },
        { "--no-fold" }, { "--root=fib" }, { "--measure=live" },
        { "--measure=wait" },
        { "--measure=alloc", "--min-percent=5" } } do
        if row.name ~= "html" then
          run(failed, "export", format, "-o", out, path,
            table.unpack(options))
        end
      end
    end
    run(failed, "html", "-o", out, path)
    run(failed, "html", "-o", out, "--from=1us", path)
    run(failed, "html", "--diff=" .. files[1].path, "-o", out,
      "--min-percent=5", path)
  end)
end)

describe("cprof check", function()
  each(function(failed, path)
    local budget = dir:file "budget.json"
    os.remove(budget)
    if run(failed, "check", "--budget", budget, "--update", path) and
       io.open(budget) then
      run(failed, "check", "--budget", budget, "--update", path)
      for _, other in ipairs(others()) do
        local ok, why, said = commands.run { "check", "--budget", budget,
          other }
        if not ok and not (said and (documented(why) or
           why:find "^none of the functions of %g+ is in %g+, so " or
           why:find "^the budget has " or
           why:find "^the budget was recorded in ")) then
          failed[#failed + 1] = why
        end
      end
    end
    run(failed, "check", "--coverage=1", path)
    run(failed, "check", "--branch-coverage=1", path)
  end)
end)

describe("the commands that take two profiles", function()
  each(function(failed, path)
    local out = dir:file "both.cprof"
    run(failed, "diff", "--range=0..1us", "--against=1us..", path)
    for _, other in ipairs(others()) do
      run(failed, "diff", path, other)
      run(failed, "merge", "-o", out, path, other)
      run(failed, "join", path, other)
      run(failed, "diff", "--sort=calls", path, other)
    end
    for _, sort in ipairs { "total", "calls", "name", "alloc", "allocs",
      "live" } do
      run(failed, "diff", "--sort=" .. sort, path, path)
      run(failed, "diff", "--sort=" .. sort, path, files[1].path)
    end
    for _, option in ipairs { "--limit=1", "--filter=e", "--filter=no such",
      "--width=40", "--color=always", "--format=markdown" } do
      run(failed, "diff", option, files[1].path, path)
    end
  end)
end)

-- every key of cprof top, except those that end it
local function typed()
  local out = {}
  for _, binding in ipairs(keys.bindings) do
    local action = binding[2]
    for key in binding[1]:gmatch "%g+" do
      if action ~= "quit" and action ~= "interrupt" and action ~= "suspend"
      then
        out[#out + 1] = key
      end
    end
  end
  return out
end

describe("the screen of cprof top", function()
  each(function(failed, _, p)
    for _, period in ipairs { "start", "window" } do
      local seen = history.new(period, 10)
      seen:add(p, 0)
      seen:add(p, 1)
      for _, view in ipairs { "f", "t", "c", "o" } do
        local m = model.new { history = seen, interval = 1, title = "it" }
        m:refresh()
        m:key(view)
        for _, key in ipairs(typed()) do
          local ok, why = xpcall(function()
            m:key(key)
            if key == "/" then
              for _, c in ipairs { "f", "i", "enter" } do m:key(c) end
            end
            m:draw(80, 24)
          end, debug.traceback)
          if not ok then
            failed[#failed + 1] = ("%s, %s: %s"):format(view, key, why)
          end
        end
      end
    end
  end)
end)
