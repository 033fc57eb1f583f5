-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local helper = require "helper"
local command = require "command"

local names = { "run", "report", "annotate", "tree", "flame", "callgraph",
  "show", "slow", "tasks", "frames", "heatmap", "diff", "merge", "html",
  "export", "check", "calibrate" }

-- makes n tables: with a driven clock, each new table takes some time
local function leaf(n) for _ = 1, n do local _ = {} end end
local function work() for i = 1, 50 do leaf(i) end end

-- A profile of this file's functions, in a file. Unless `options` choose a
-- mode, the clock is driven: it advances by `ns` at each new table.
local function saved(dir, name, options, ns)
  local p = options and options.mode ~= "line" and helper.record(work, options)
    or driven.tables(ns or 1000000, work, options)
  local path = dir:file(name)
  assert(p:save(path))
  return path, profiler.load(path)
end

describe("the cprof command", function()
  it("prints help without arguments, and for --help", function()
    local out, err = command.must()
    assert.equal("", err)
    assert.equal(out, (command.cprof "--help"))
    for _, name in ipairs(names) do
      assert.has_text("\n   " .. name .. " ", out, name)
    end
    assert.equal("cprof " .. profiler._VERSION, (command.cprof "--version")
      :match "^[^\n]*")
  end)

  it("has help with an example for each command, which is valid", function()
    for _, name in ipairs(names) do
      local out, err = command.must(name, "--help")
      assert.equal("", err)
      local example = out:match "\nExample:\n   (cprof [^\n]*)\n$"
      assert.is_truthy(example, name .. " has an example")
      assert.has_text("cprof " .. name, example)
      for line in out:gmatch "[^\n]+" do
        assert.is_true(utf8.len(line) <= 79, line)
      end
      -- the example of a command only lacks its files; calibrate needs none
      if name == "calibrate" then break end
      local _, why = command.shell((example:gsub("^cprof",
        "$SPEC_LUA lua/cprof/bin/cprof"):gsub(" %S+(%.%w+)", " /nowhere/x%1")))
      assert.has_text("/nowhere/x", why)
      assert.has_no_text("option", why)
    end
  end)

  it("prints what the library does", function(dir)
    local path, p = saved(dir, "x.cprof", { mode = "line" })
    local here = debug.getinfo(1, "S").source
    local next = ("\nNext: cprof show %s leaf\n"):format(path)
    for _, case in ipairs {
      { p:report { width = 90 } .. next, "report" },
      { p:report { width = 90, mode = "self", limit = 3, sort = "calls" },
        "report", "--mode", "self", "--limit=3", "--sort", "calls" },
      { p:report { width = 90, mode = "file" }, "report", "--mode=file" },
      { p:report { width = 90, filter = "leaf", color = "always" } .. next,
        "report", "--filter=leaf", "--color=always" },
      { p:report { width = 90, mode = "tree", min_percent = 0 },
        "tree", "--min-percent=0" },
      { p:report { width = 90, mode = "callgraph" }, "callgraph" },
      { p:report { width = 90, mode = "tree", root = "work", depth = 1,
                   min_percent = 0 },
        "tree", "--min-percent=0", "--root=work", "--depth=1" },
      { p:report { width = 90, mode = "flame", filter = "leaf",
                   color = "always" },
        "flame", "--filter=leaf", "--color=always" },
      { p:report { width = 90, format = "markdown" },
        "report", "--format=markdown" },
      { p:annotate(nil, { width = 90 }), "annotate" },
      { p:annotate(nil, { width = 90, format = "markdown" }),
        "annotate", "--format=markdown" },
      { p:annotate(here, { width = 90, focus = "leaf", context = 1,
                           heat = "hits", coverage = true }),
        "annotate", here, "--focus=leaf", "--context=1", "--heat=hits",
        "--coverage" },
      { p:annotate(nil, { width = 90, sort = "hits", limit = 2 }),
        "annotate", "--sort=hits", "--limit=2" },
    } do
      local words = { case[2], path, table.unpack(case, 3) }
      words[#words + 1] = "--width=90"
      local out, err = command.must(table.unpack(words))
      assert.equal("", err)
      assert.equal(case[1], out)
    end
  end)

  it("says in one line what is wrong, and ends with status 2", function(dir)
    local call = saved(dir, "call.cprof")
    local line = saved(dir, "line.cprof", { mode = "line" })
    local cpu = saved(dir, "cpu.cprof", { clock = "cpu" })
    local sample = saved(dir, "sample.cprof", { mode = "sample" })
    local text = dir:file("text", "no profile")
    local out = dir:file "out"
    local cases = {
      { "cprof: unknown command 'frobnicate'", "frobnicate" },
      { "cprof: unknown command 'reprot' (did you mean 'report'?); see ",
        "reprot" },
      { ("cprof: unknown command '%s': it is a profile, which cprof report " ..
          "%s shows; see "):format(call, call), call },
      { ("cprof: unknown command '%s': it is a file, which cprof run %s " ..
          "runs and records; see "):format(text, text), text },
      { ("cprof run: %s is a profile, not a program: cprof report %s shows " ..
          "it\n"):format(call, call), "run", call },
      { "cprof: unknown option '--frob'", "--frob" },
      { "cprof report: unknown option '--frob'", "report", "--frob", call },
      { "cprof report: option '--limit' must be an integer of at least 1, " ..
        "got 'x'",
        "report", "--limit", "x", call },
      { "'--min-percent' must be a number from 0 to 100, got '101'",
        "tree", "--min-percent=101", call },
      { "argument for option '--sort' must be one of", "report",
        "--sort=size", call },
      { "'--filter' must be a string, or a Lua pattern between slashes " ..
        "('(' without ')'), got '/(/'", "report", "--filter=/(/", call },
      { "'--width' must be an integer of at least 40", "report", "--width=3",
        call },
      { "cprof report: /nowhere/x: No such file", "report", "/nowhere/x" },
      { "cprof report: " .. text .. ": ", "report", text },
      { "cprof tree: " .. dir.path, "tree", dir.path },
      { "call.cprof has no lines: record it with cprof run --lines",
        "annotate", call },
      { "call.cprof has no coverage: record it with cprof run --coverage\n",
        "coverage", call },
      { "cprof show: FILE comes before FUNCTION: cprof show " .. call ..
        " leaf\n", "show", "leaf", call },
      { "cprof annotate: FILE comes before SOURCE: cprof annotate " .. line ..
        " 'x y.lua'\n", "annotate", "x y.lua", line },
      { "cprof coverage: FILE comes before SOURCE: cprof coverage " .. call ..
        " x.lua\n", "coverage", "x.lua", call },
      { "no lines of \"x.c\" were recorded; there are: ", "annotate", line,
        "x.c" },
      { "cprof show: no function 'laef' was recorded; there are: leaf (",
        "show", call, "laef" },
      { "no function 'qqqqqqqq' was recorded; the hottest are: ", "show", call,
        "qqqqqqqq" },
      { "no function matches --filter 'laef'; there are: leaf (", "report",
        "--filter=laef", call },
      { "no function matches --filter 'laef'; there are: leaf (", "tree",
        "--filter=laef", call },
      { "no function matches --filter 'laef'; there are: leaf (", "diff",
        "--filter=laef", call, call },
      { "no function 'laef' was recorded; there are: leaf (", "tree",
        "--root=laef", call },
      { "no function 'laef' was recorded; there are: leaf (", "annotate",
        "--focus=laef", line },
      { "(cprof tree is a command)", "report",
        "--mode=tree", call },
      { "option '--mode' must be one of summary, self, total, file, got 'x'",
        "report", "--mode=x", call },
      { "missing argument 'FUNCTION'", "show", call },
      { "cprof export: missing option '--format'", "export", call },
      { "must be one of", "export", "--format=png", call },
      { "cprof export: cannot write /nowhere/x: No such file", "export",
        "--format=csv", "-o", "/nowhere/x", call },
      { "lcov needs lines, ", "export",
        "--format=lcov", "-o", out, call },
      { "cprof merge: missing option '-o'", "merge", call },
      { "cprof merge: /nowhere/x", "merge", "-o", "/nowhere/x", call },
      { "cprof merge: /nowhere/x", "merge", "-o", out, call, "/nowhere/x" },
      { ("mode call and mode line cannot be added up: %s, %s"):format(call,
        line), "merge", "-o", out, call, call, line },
      { "and clock cpu cannot be added up", "merge", "-o", out, call, cpu },
      { "cprof run: name a script, -e code or -m module", "run" },
      { "cprof run: unknown option '--frob'", "run", "--frob", "x.lua" },
      { "name a script", "run", "-o" },
      { "cprof run: /nowhere/x", "run", "-o", "/nowhere/x", "-e", "" },
      { "cannot write /nowhere/x: No such file", "run", "--format=csv", "-o",
        "/nowhere/x", "-e", "" },
      { "--format needs a file: -o FILE", "run", "--format=csv", "-e", "" },
      { "--format=lcov needs --lines", "run", "--format=lcov", "-o", out,
        "-e", "" },
      { "'--include' must be a string, or a Lua pattern between slashes " ..
        "(ends with '%'), got '/%/'", "run", "--include=/%/",
        "-e", "" },
      { "only one of --lines, --count or --coverage, --sample, and --trace",
        "run",
        "--lines", "--trace", "-e", "" },
      { "--sample records lines, too: leave out --lines", "run", "--sample",
        "--lines", "-e", "" },
      { "cprof run: --timer needs --sample\n", "run", "--timer=thread",
        "-e", "" },
      { "--timer cannot be combined with --clock=cpu", "run", "--sample",
        "--timer=thread", "--clock=cpu", "-e", "" },
      { "--gc cannot be combined with --sample", "run", "--sample=100",
        "--gc", "-e", "" },
      { "cprof run: --gc cannot be combined with --count\n", "run",
        "--gc", "--count", "-e", "" },
      { "record with cprof run --memory\n", "annotate", "--heat=alloc",
        line },
      { "record with cprof run --memory=live\n", "report", "--sort=live",
        call },
      { "record with cprof run --memory\n", "export", "--format=folded",
        "--measure=alloc", call },
      { "record with cprof run --lines\n", "export", "--format=lcov",
        sample },
      { "record with cprof run --coverage\n", "export",
        "--format=cobertura", sample },
      { "--both cannot be combined with --memory or --gc", "run", "--both",
        "--memory=live", "-e", "" },
      { "module 'no.such' not found", "run", "-m", "no.such" },
      { "'--clock' must be one of", "run", "--clock=sun", "-e", "" },
    }
    for _, case in ipairs(cases) do
      local shown, err, status = command.cprof(table.unpack(case, 2))
      local what = table.concat(case, " ", 2) .. ": " .. err
      assert.equal(2, status, what)
      assert.equal("", shown, what)
      assert.matches("^cprof[%l ]*: [^\n]+\n$", err, what)
      assert.has_text(case[1], err, what)
    end
    local left = command.shell("ls " .. dir.path)
    assert.equal("call.cprof\ncpu.cprof\nline.cprof\nsample.cprof\ntext\n",
      left)
  end)

  it("reads a profile from standard input", function(dir)
    local path, p = saved(dir, "x.cprof", { mode = "line" })
    for _, case in ipairs {
      -- standard input: no file that a next command could name
      { p:report { width = 90 }, "report", "-", "--width=90" },
      { p:annotate(nil, { width = 90 }), "annotate", "-", "--width=90" },
    } do
      local out, err, status = command.cprof_with("", "<" .. path,
        table.unpack(case, 2))
      assert.equal("", err)
      assert.equal(0, status)
      assert.equal(case[1], out)
    end
    for _, text in ipairs { "", "no profile" } do
      local file = dir:file("text", text)
      local out, err, status = command.cprof_with("", "<" .. file, "report",
        "-")
      assert.same({ "", 2 }, { out, status })
      assert.matches("^cprof report: standard input: [^\n]+\n$", err)
    end
  end)

  it("does not write over profiles and programs", function(dir)
    local path = saved(dir, "x.cprof")
    local script = dir:file("x.lua", "return 1")
    for name, what in pairs { [path] = "a profile",
      [script] = "a Lua source" } do
      for _, words in ipairs { { "html", path },
        { "export", "--format=csv", path } } do
        words[#words + 1], words[#words + 2] = "-o", name
        local out, err, status = command.cprof(table.unpack(words))
        assert.same({ "", 2 }, { out, status })
        assert.equal(("cprof %s: -o %s exists and is %s: name another " ..
          "file\n"):format(words[1], name, what), err)
      end
    end
    assert(profiler.load(path))
    assert.equal("return 1", command.read(script))
  end)

  it("says if its output cannot be written", function(dir)
    local path = saved(dir, "x.cprof")
    for _, words in ipairs { { "report", path },
      { "export", "--format=json", path } } do
      local _, err, status = command.cprof_with("", ">/dev/full",
        table.unpack(words))
      assert.equal(2, status, err)
      assert.matches("^cprof %l+: .*No space left", err)
    end
  end)

  it("shows a recording that goes on, with a note", function(dir)
    local path = dir:file "x.cprof"
    profiler.start { file = path, compensate = false }
    work()
    local out, err = command.cprof("report", "--min-percent=0",
      "--limit=1000", path)
    profiler.stop()
    assert.matches("\nnote: still being recorded; the last event was %S+ " ..
      "ago[;\n]", out, out .. err)
    assert.has_text(" 50  leaf ", out)
    assert.has_no_text("still being recorded", command.cprof("report", path))
  end)

  it("says what is missing when there is no argparse", function()
    local _, err, status = command.cprof_with(
      "LUA_PATH=\"$PWD/lua/?.lua;$PWD/lua/?/init.lua\"", "", "report", "x")
    assert.equal(2, status)
    assert.equal("cprof: the library argparse is missing: install " ..
      "Debian's lua-argparse or the rock argparse\n", err)
  end)

  it("says which commands take folders", function(dir)
    saved(dir, "x.cprof")
    for _, name in ipairs { "tree", "annotate", "check", "html" } do
      local words = { name, dir.path }
      if name == "check" then
        words = { name, "--budget", dir:file("b.json", "{}"), dir.path }
      end
      local err = command.refused(table.unpack(words))
      assert.equal(("cprof %s: %s is a folder: name a file in it, or give " ..
        "the folder to report, diff or merge\n"):format(name, dir.path), err)
    end
    assert.equal(0, select(3, command.cprof("report", dir.path)))
  end)

  it("says that there is no JSON before the program runs", function(dir)
    local argparse = assert(package.searchpath("argparse", package.path))
    dir:file("argparse.lua", command.read(argparse))
    local out, err, status = command.cprof_with(("LUA_PATH=\"$PWD/lua/?.lua;" ..
      "$PWD/lua/?/init.lua;%s/?.lua\""):format(dir.path), "", "run",
      "--format=speedscope", "-o", dir:file "out", "-e", "print 'ran'")
    assert.equal(2, status)
    assert.equal("", out)
    assert.equal("cprof run: --format=speedscope: JSON needs the library " ..
      "dkjson, which is missing: install Debian's lua-dkjson or the rock " ..
      "dkjson\n", err)
  end)

  it("has plain characters where the locale is not UTF-8", function(dir)
    local path, p = saved(dir, "x.cprof", nil, 500)
    local function narrow(s)
      return (s:gsub("… (%d)", "... %1"):gsub("…", "*"):gsub("µ", "u")
        :gsub("→", ">"))
    end
    local report = ("%s\nNext: cprof show %s leaf\n"):format(
      p:report { width = 60, limit = 2 }, path)
    assert.has_text("µ", report)
    for _, case in ipairs { { "LC_ALL=C", {} }, { "", { "--ascii" } },
      { "LC_ALL= LC_CTYPE= LANG=de_DE.ISO-8859-1", {} } } do
      local out = command.cprof_with("env", "", "--version")
      assert.is_truthy(out)
      out = command.shell(("%s $SPEC_LUA lua/cprof/bin/cprof report " ..
        "--width=60 --limit=2 %s %s"):format(case[1], path,
        table.concat(case[2])))
      assert.equal(narrow(report), out)
      assert.no_matches("[\x80-\xff]", out)
    end
    -- valid UTF-8 stays as it is
    assert.equal(report, (command.cprof("report", "--width=60", "--limit=2",
      path)))
  end)

  it("has colours and the width of a terminal on one only", function(dir)
    local path, p = saved(dir, "x.cprof")
    assert.has_no_text("\27", command.cprof("report", path))
    -- script gives a terminal; 'stty' its width
    local function on_terminal(set)
      local line = ("stty cols 77; %s $SPEC_LUA lua/cprof/bin/cprof report %s")
        :format(set, path)
      local there = command.on_terminal(line)
      return there and (command.shell(there):gsub("\r", ""))
    end
    if not command.on_terminal "" then
      pending "no terminal can be had here"
      return
    end
    local utf8 = "env -u NO_COLOR -u LC_ALL LANG=C.UTF-8"
    local next = ("\nNext: cprof show %s leaf\n"):format(path)
    assert.equal(p:report { width = 77, color = "always" } .. next,
      on_terminal(utf8))
    assert.equal(p:report { width = 77, color = "never" } .. next,
      on_terminal(utf8 .. " NO_COLOR=1"))
  end)

  it("exports to standard output, also for -o -", function(dir)
    local path = saved(dir, "one.cprof")
    local plain = command.cprof("export", "--format=csv", path)
    assert.is_true(#plain > 100)
    assert.equal(plain, (command.cprof("export", "--format=csv", path, "-o",
      "-")))
    assert.is_nil(io.open "-")
  end)

  it("prints what recording costs", function()
    for _, options in ipairs { {}, { "--lines", "--clock=cpu" } } do
      local out = command.must("calibrate", table.unpack(options))
      local count, header, rows = 0, out:match "^([^\n]*)\n(.*)$"
      assert.equal("      ns  per", header)
      for line in rows:gmatch "[^\n]+" do
        count = count + 1
        assert.matches("^ *%-?%d+%.%d  %l", line)
      end
      local known = 0
      for name in pairs(assert(profiler.calibrate())) do
        -- costs of lines are measured only with --lines
        if options[1] or not (name == "line" or name == "step" or
           name == "instruction" or name == "least") then
          known = known + 1
        end
      end
      assert.equal(known, count)
    end
  end)
end)
