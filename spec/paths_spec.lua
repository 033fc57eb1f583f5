local _ENV = require("helper").env(_ENV)

local command = require "command"
local profiler = require "cprof"

local program = [[
package.path = "./?.lua;.//lib/?.lua"
require "near"()
require "far"()
]]
local module = [[
local function called() return #("x"):rep(9) end
return function() return called() end
]]

-- a program with modules, in a folder
local function write(dir)
  os.execute("mkdir -p " .. dir:file "lib")
  dir:file("main.lua", program)
  dir:file("near.lua", module)
  dir:file("lib/far.lua", module)
end

-- runs cprof in a folder, after a line of a shell
local function within(folder, before, ...)
  return command.shell(("cd '%s'; %s %s"):format(folder, before,
    command.here(...)))
end

-- titles of the program's own functions
local function titles(path)
  local out = {}
  for _, f in ipairs(assert(profiler.load(path)).functions) do
    if f.kind == "Lua" or f.kind == "main" then
      out[#out + 1] = f.title
    end
  end
  table.sort(out)
  return out
end

local expected <const> = { "called (lib/far.lua:1)",
  "called (near.lua:1)", "far (lib/far.lua:2)", "lib/far.lua (main chunk)",
  "main.lua (main chunk)", "near (near.lua:2)", "near.lua (main chunk)" }

describe("paths", function()
  it("are relative to the program's folder, however it is called", function(dir)
    write(dir)
    local link <close> = command.folder()
    os.execute(("ln -s '%s' '%s/link'"):format(dir.path, link.path))
    for i, case in ipairs {
      { dir.path, "", "main.lua" }, { dir.path, "", "./main.lua" },
      { dir.path, "", dir:file "main.lua" },
      { dir.path, "unset PWD;", dir:file "main.lua" },
      { dir.path, "export PWD=/nowhere;", dir:file "main.lua" },
      { dir.path, "export PWD=/tmp;", dir:file "main.lua" },
      { link:file "link", "", link:file "link/main.lua" },
      { link:file "link", "", "main.lua" },
    } do
      local path = dir:file(i .. ".cprof")
      local folder, before, script = table.unpack(case)
      local _, err, status = within(folder, before, "run", "-o", path, script)
      assert.equal(0, status, err)
      local all = within(folder, before, "report", "--mode=self",
        "--min-percent=0", path)
      assert.matches("  main%.lua +main chunk\n", all)
      assert.no_matches("  /[^ \n]*%.lua", err)
      assert.same(expected, titles(path))
    end
  end)

  it("are equal wherever they are looked at", function(dir)
    write(dir)
    local path = dir:file "x.cprof"
    within(dir.path, "", "run", "--quiet", "--lines", "-o", path,
      dir:file "main.lua")
    local outputs = {}
    for _, folder in ipairs { dir.path, "/", "/tmp" } do
      local all = {}
      for _, words in ipairs { { "report" }, { "tree" }, { "callgraph" },
        { "report", "--mode=file" }, { "annotate" },
        { "annotate", "--sort=self" }, { "show", path, "called (near" },
        { "export", "--format=callgrind" }, { "export", "--format=json" },
        { "html", "-o", "-" } } do
        if words[2] ~= path then words[#words + 1] = path end
        local out, err, status = within(folder, "", table.unpack(words))
        assert.equal(0, status, err)
        assert.equal("", err)
        all[#all + 1] = out
        if words[1] ~= "export" and words[1] ~= "html" then
          assert.has_no_text(dir.path, out:gsub("[^\n]*cprof: [^\n]*",
            ""):gsub("Next: [^\n]*", ""), out)
        end
      end
      outputs[#outputs + 1] = all
    end
    assert.same(outputs[1], outputs[2])
    assert.same(outputs[1], outputs[3])
  end)

  it("are read where the program was", function(dir)
    local other <close> = command.folder()
    write(dir)
    local path, lines = dir:file "x.cprof", dir:file "lines.cprof"
    within(dir.path, "", "run", "--quiet", "-o", path, "-e",
      "require('near')() os.execute('kill -9 $PPID')")
    within(dir.path, "", "run", "--quiet", "--lines", "-o", lines, "-e",
      "require('near')()")
    -- a file of the same name with other functions
    other:file("near.lua", (module:gsub("called", "wrong")))
    local out, err = within(other.path, "", "report", "--mode=self",
      "--min-percent=0", path)
    assert.matches(" called +near%.lua:1\n", out, out .. err)
    out = within(other.path, "", "annotate", lines, "near.lua")
    assert.has_no_text("has changed since", out)
    assert.has_text("local function called", out)
  end)

  it("of two checkouts are those of one program", function(one)
    local two <close> = command.folder()
    for _, dir in ipairs { one, two } do
      write(dir)
      within(dir.path, "", "run", "--quiet", "--lines", "-o",
        dir:file "x.cprof", dir:file "main.lua")
    end
    two:file("near.lua", module .. "\n\n")
    local sum = two:file "sum.cprof"
    local out, err = command.must("merge", "-o", sum,
      one:file "x.cprof", two:file "x.cprof")
    assert.equal("", out .. err)
    assert.same(expected, titles(sum))
    for _, f in ipairs(profiler.load(sum).functions) do
      if f.name == "called" then assert.equal(2, f.calls) end
    end
    out = command.cprof("report", "--mode=file", "--min-percent=0", sum)
    assert.matches("\n[^\n]*  near%.lua\n", out)
    assert.has_no_text(one.path, out)
    assert.has_no_text(two.path, out:gsub("cprof: [^\n]*", ""))
    out = command.cprof("diff", one:file "x.cprof", two:file "x.cprof")
    assert.has_no_text(" new\n", out)
  end)
end)
