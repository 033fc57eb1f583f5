local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local profiler = require "cprof"

if core.internals() ~= "direct" then return end

local script = [[
local function sign(n)
  if n > 0 then return 1
  elseif n < 0 then
    return -1
  end
  return 0
end
local function unused()
  return nil
end
print(sign(3), sign(0) or "none")
]]

describe("cprof run --coverage", function()
  local dir, path, file, output, report

  setup(function()
    dir = command.folder()
    path, file = dir:file("a.lua", script), dir:file "a.cprof"
    output, report = command.must("run", "--coverage", "-o", file, path)
  end)

  teardown(function() os.execute(("rm -r '%s'"):format(dir.path)) end)

  it("ends with what ran, and leaves the program's output alone", function()
    assert.equal("1\t0\n", output)
    assert.matches("4 of 6 +66%.6 +4 of 6 +66%.6 +2 of 3 +66%.6 +%S*a%.lua " ..
      "+4, 9", report)
    assert.has_text("Next: cprof coverage --missing", report)
  end)

  it("counts files that match alone", function()
    local other = dir:file "b.cprof"
    local _, err = command.must("run", "--coverage=nothing", "-o", other, path)
    assert.has_text("note: none of the selected sources ran", err)
    assert.has_text("'nothing'; there are: ", err)
    assert.has_no_text("Next:", err)
  end)

  it("goes with cprof coverage, which tells what did not run", function()
    local out = command.must("coverage", "--missing", file)
    for _, line in ipairs { "lines 4, 9 never ran",
      "line 3: 'elseif' was never true",
      "line 8: function unused was never called",
      "line 11: 'or' never evaluated its right side" } do
      assert.has_text("\n" .. line .. "\n", out, line .. out)
    end
    assert.has_no_text("line 2:", out)
  end)

  it("says how to choose where libraries are in the table", function()
    local uses = "lua/cprof/coverage/../source/lexer.lua"
    local main = dir:file("uses.lua", "dofile '" .. uses .. "'\n")
    local function said(option)
      return select(2, command.cprof("run", option, "-o",
        dir:file "uses.cprof", main))
    end
    assert.has_text("note: 1 of 2 files are outside this folder; " ..
      "--coverage=PATTERN selects files\n", said("--coverage"))
    assert.has_no_text("outside", said("--coverage=lua"))
    assert.has_no_text("outside", (select(2, command.cprof("run", "--coverage",
      "-o", dir:file "own.cprof", path))))
  end)

  it('says "1 line", not "1 lines"', function()
    local one = dir:file("one.lua", "local a = ...\nif a then\n  a = 1\nend\n")
    local other = dir:file "one.cprof"
    command.cprof("run", "--coverage", "-o", other, one)
    local out = command.cprof("coverage", other, "one.lua")
    assert.has_text("\nline 3 never ran\n", out)
  end)

  it("knows no line that has a label alone", function()
    local path_of = dir:file("goto.lua", [[
for i = 1, 3 do
  if i % 2 then goto continue end
  print(i)
  ::continue:: -- it goes on
end
]])
    local other = dir:file "goto.cprof"
    command.cprof("run", "--coverage", "-o", other, path_of)
    local out = command.cprof("coverage", other, "goto.lua")
    assert.has_text("\nline 3 never ran\n", out)
  end)

  it("says what was left out, and has no files of it", function()
    local part = dir:file("part.lua", "return 1\n")
    local main = dir:file("main.lua", ("dofile %q\n"):format(part))
    local _, err = command.cprof("run", "--coverage", "--exclude=main.lua",
      "-o", dir:file "left.cprof", main)
    assert.has_text('note: without "main.lua"; their instructions ' ..
      "are not counted", err)
    assert.has_text("part.lua", err)
    assert.no_matches("main.lua +1", err)
    assert.has_no_text(" 0.0 ", err)
  end)

  it("names files by the end of their paths, and says which there are",
    function()
      local out = command.cprof("coverage", file, "a.lua")
      assert.has_text("lines 4, 9 never ran", out)
      local err = command.refused("coverage", file, "b.lua")
      assert.has_text('no lines of "b.lua" were recorded; there are: ' .. path,
        err)
    end)

  it("keeps the paths rather than the lines where there is little room",
    function()
      local out = command.cprof("coverage", "--width=80", file)
      assert.matches("%S+a%.lua\n", out)
      assert.has_no_text("missing lines", out)
    end)

  it("goes with cprof check, which knows a least share", function()
    local out, err, status = command.cprof("check", "--coverage", "66.5", file)
    assert.equal("", err)
    assert.equal(0, status, out)
    out, err, status = command.cprof("check", "--coverage", "60",
      "--branch-coverage", "67", file)
    assert.equal(1, status)
    assert.has_text("too low: coverage of branches: 66.6 % (4 of 6), at " ..
      "least 67 %", out)
    assert.equal("", err)
    err = command.refused("check", file)
    assert.has_text("--coverage", err)
  end)

  it("refuses what it cannot have", function()
    local plain = dir:file "plain.cprof"
    assert.equal(0, (select(3, command.cprof("run", "--quiet", "-o", plain,
      path))))
    for _, words in ipairs { { "coverage", plain },
      { "check", "--coverage", "1", plain },
      { "annotate", "--expressions", plain },
      { "diff", plain, file }, { "merge", "-o", dir:file "m", plain, file },
      { "export", "--format=cobertura", plain },
      { "export", "--format=chrome", file },
      { "coverage", file, "elsewhere.lua" },
      { "run", "--coverage", "--lines", path },
      { "run", "--coverage", "--format=chrome", "-o", dir:file "x", path } } do
      local err = command.refused(table.unpack(words))
      assert.equal(1, select(2, err:gsub("\n", "")), err)
    end
  end)

  it("is compared with another run by instructions", function()
    local out = command.must("diff", file, file)
    assert.has_text("instructions", out)
  end)

  it("shows the parts of lines", function()
    local out = command.must("annotate", "--expressions", file, path)
    assert.matches('print%(sign%(3%), sign%(0%) or "none"%)\n' ..
      " +1 +%^%^%^%^%^%^ never", out)
    assert.has_text("\nbelow a line: how often its parts ran\n", out)
    assert.matches(" instructions,[^\n]*\n *hits +instr", out)
    out = command.cprof("show", file, "sign")
    assert.has_text("if n > 0 then return 1\n", out)
    local p = assert(profiler.load(file))
    assert.has_error(function() profiler.view(p) end,
      'view: mode "count" has no times to view')
    local painted = p:annotate("@" .. path, { expressions = true,
      color = "always", width = 60 })
    assert.has_text("\27[4;31m", painted)
    for line in painted:gmatch "[^\n]+" do
      assert.is_true(utf8.len((line:gsub("\27%[[%d;]*m", ""))) <= 60, line)
    end
  end)
end)
