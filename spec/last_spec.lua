local _ENV = require("helper").env(_ENV)

local command = require "command"
local helper = require "helper"
local mostly = require "mostly"

local once = [[
local function leaf() return #string.rep("x", 100) end
for _ = 1, 10 do leaf() end
]]
local twice = once:gsub("10", "20")

-- a pattern for when a recording began: with the date if that was before
-- midnight
local when <const> = "[%d-]* ?%d%d:%d%d:%d%d"

describe("commands without a file", function()
  -- cprof with a folder for recordings of its own
  local function within(dir)
    return function(...)
      return command.cprof_with("export SPEC_TMPDIR=" .. dir.path .. ";", "",
        ...)
    end
  end

  -- such a cprof, and the path of a program that it has recorded
  local function recorded(dir)
    local cprof, script = within(dir), dir:file("a.lua", once)
    cprof("run", script)
    return cprof, script
  end

  -- the path of the list of recordings
  local function log_in(dir)
    return (command.shell("ls " .. dir.path .. "/*/recordings")):sub(1, -2)
  end

  it("read what was recorded last", function(dir)
    local cprof = within(dir)
    local script = dir:file("script.lua", mostly)
    local _, err, status = cprof("run", "--lines", script)
    assert.equal(0, status, err)
    assert.matches("\nNext: cprof show %S+\n", err)
    for _, words in ipairs { { "report" }, { "tree" }, { "flame" },
      { "callgraph" },
      { "show", "leaf" }, { "annotate" }, { "annotate", script },
      { "export", "--format=folded" } } do
      local out
      out, err, status = cprof(table.unpack(words))
      -- output that does not begin with the program's name has a note with it
      local told = err:match("^note: this is the last recording, of " ..
        "(%S+), begun at " .. when .. "\n$")
      local headed = out:find("cprof: ", 1, true) == 1
      if headed then assert.equal("", err) else assert.equal(script, told) end
      assert.equal(0, status)
      assert.has_text("leaf", out)
    end
  end)

  it("compare it with the one before", function(dir)
    local cprof = within(dir)
    cprof("run", dir:file("script.lua", once))
    local out, err, status = cprof "diff"
    assert.equal("", out)
    assert.equal(2, status)
    assert.has_text("there is no recording before the last one", err)
    cprof("run", dir:file("script.lua", twice))
    out, err, status = cprof "diff"
    assert.equal(0, status, err)
    assert.has_text("before: " .. dir:file "script.lua", out)
    assert.matches("after: +" .. dir:file "script.lua", out)
    assert.matches("\n *10 +20 +[^\n]* leaf ", out)
    assert.has_no_text("two programs", out)
    -- one file: it is compared with the last recording
    cprof("run", "-o", dir:file "other.cprof", dir:file("script.lua", once))
    cprof("run", dir:file("script.lua", twice))
    out = cprof("diff", dir:file "other.cprof")
    assert.matches("\n *10 +20 +[^\n]* leaf ", out)
    assert.has_no_text("with itself", out)
  end)

  it("say if a recording is compared with itself", function(dir)
    local cprof, path = within(dir), dir:file "a.cprof"
    cprof("run", "-o", path, dir:file("a.lua", once))
    local out = cprof("diff", path)
    assert.has_text("\nnote: this compares a recording with itself: " ..
      "name AFTER, or record again\n", out)
    assert.matches("\nno function differs\n$", out)
    out = cprof("diff", path, path)
    assert.has_text("\nnote: this compares a recording with itself: " ..
      "name another file\n", out)
  end)

  it("read what was recorded with -o, too", function(dir)
    local cprof = within(dir)
    cprof("run", dir:file("a.lua", once))
    cprof("run", "-o", dir:file "b.cprof", dir:file("b.lua", once))
    local out, err = cprof "report"
    assert.has_text("b.lua", out, out .. err)
    out = cprof "diff"
    assert.matches("before: [^\n]*a%.lua", out)
    assert.matches("after: [^\n]*b%.lua", out)
    assert.has_text("note: the profiles are of different programs: " ..
      dir:file "a.lua" .. " and " .. dir:file "b.lua", out)
    -- again to the same path: the one before stays
    cprof("run", "-o", dir:file "b.cprof", dir:file("b.lua", twice))
    out = cprof "diff"
    assert.matches("before: [^\n]*a%.lua", out)
    assert.matches("after: [^\n]*b%.lua", out)
    assert.matches("after: [^\n]* 41 calls", out)
  end)

  it("say that what was recorded last is gone", function(dir)
    local cprof = within(dir)
    local path = dir:file "b.cprof"
    cprof("run", "-o", path, dir:file("b.lua", once))
    os.remove(path)
    local out, err, status = cprof "report"
    assert.equal("", out)
    assert.equal(2, status)
    assert.equal("cprof report: the last recording cannot be read: " .. path ..
      ": No such file or directory; record again, or name a file\n", err)
    cprof("run", dir:file "b.lua")
    err, status = select(2, cprof "diff")
    assert.equal(2, status)
    assert.equal("cprof diff: the previous recording cannot be read: " ..
      path .. ": No such file or directory; record again, or name a file\n",
      err)
  end)

  it("say that nothing is kept in a folder that others can use", function(dir)
    local cprof = within(dir)
    cprof("run", dir:file("script.lua", once))
    os.execute(("chmod 755 '%s'/cprof-*"):format(dir.path))
    cprof("run", dir.path .. "/script.lua")
    for _, name in ipairs { "report", "top" } do
      local _, err, status = cprof(name)
      assert.equal(2, status)
      assert.matches("recordings without a name are not kept, as " ..
        dir.path .. "/cprof%-%d+ is not a folder that only you can use", err)
    end
  end)

  it("keep nothing in XDG_RUNTIME_DIR if others can write there", function(dir)
    local out, err, status = command.shell(("cd %s; mkdir -m 777 all; " ..
      "chmod 777 all; XDG_RUNTIME_DIR=$PWD/all TMPDIR=$PWD %s run --quiet " ..
      "%s; ls all; ls -d cprof-*"):format(command.quote(dir.path),
      "$SPEC_LUA $OLDPWD/lua/cprof/bin/cprof", dir:file("x.lua", once)))
    assert.matches("^cprof%-%d+\n$", out, err)
    assert.equal(0, status, err)
  end)

  it("say why there is no folder for recordings", function(dir)
    local cprof = within { path = dir:file("file", "") }
    local reason = "the folder " .. dir.path .. "/file/cprof%-%d+ cannot be " ..
      "made: Not a directory"
    local script = dir:file("script.lua", once)
    assert.matches("The recording is not kept: " .. reason .. "%.\n%-o FILE " ..
      "keeps it%.", (select(2, cprof("run", script))))
    assert.matches("recordings without a name are not kept, as " .. reason ..
      "; record with %-o FILE", (select(2, cprof "report")))
    assert.matches("the recording cannot be kept: " .. reason ..
      "; name a file with %-o FILE",
      (select(2, cprof("run", "--both", script))))
  end)

  it("do not read what could not be recorded", function(dir)
    local cprof = within(dir)
    cprof("run", dir:file("a.lua", once))
    local _, _, status = cprof("run", "-o", dir:file("b", "precious"),
      dir:file("b.lua", once))
    assert.equal(2, status)
    local out, err = cprof "report"
    assert.has_text("a.lua", out, err)
  end)

  it("keep no recordings but these two, and those that have a name",
    function(dir)
      local cprof = within(dir)
      local script = dir:file("a.lua", once)
      cprof("run", "-o", dir:file "1.cprof", script)
      for _ = 1, 4 do cprof("run", script) end
      assert.equal("2\n", (command.shell("cd " .. command.quote(dir.path) ..
        "; ls cprof-* | grep -c '^[0-9]*.cprof$'")))
      assert.is_truthy(command.read(dir:file "1.cprof"))
      cprof("run", "-o", dir:file "1.cprof", script)
      cprof("run", "-o", dir:file "2.cprof", script)
      assert.equal("recordings \n", (command.shell("cd " ..
        command.quote(dir.path) .. "; ls cprof-* | " ..
        "grep -v -e ^costs -e ^modules | tr '\\n' ' '; echo")))
    end)

  -- a folder below, with a program of that name; and cprof there, on no
  -- terminal, or on one of its own
  local function at(dir, name)
    local q = command.quote
    command.shell(("mkdir -p %s"):format(q(dir:file(name))))
    dir:file(name .. "/" .. name .. ".lua", once)
    local function line_of(...)
      return ("cd %s; export SPEC_TMPDIR=%s; %s"):format(q(dir:file(name)),
        q(dir.path), command.here(...))
    end
    return {
      cprof = function(...)
        return command.shell("setsid -w sh -c " .. q(line_of(...)))
      end,
      line = line_of,
    }
  end

  it("read the one of this folder, else the user's, with a note", function(dir)
    if command.shell "setsid -w echo yes" ~= "yes\n" then
      pending "there is no setsid here"
      return
    end
    local a, b, c = at(dir, "a"), at(dir, "b"), at(dir, "c")
    a.cprof("run", "--quiet", "a.lua")
    for _ = 1, 3 do b.cprof("run", "--quiet", "b.lua") end
    for name, folder in pairs { ["a.lua"] = a, ["b.lua"] = b } do
      local _, err = folder.cprof("show", "leaf")
      assert.matches("note: this is the last recording, of " .. name ..
        ", begun at " .. when .. "\n", err)
      local out
      out, err = folder.cprof "report"
      assert.has_text("cprof: " .. name .. "\n", out)
      assert.equal("", err)
    end
    local note = "note: this is the last recording, of %S*b%.lua, begun at " ..
      when .. " in %S+/b; there is none from this folder or terminal\n"
    for _, words in ipairs { { "report" }, { "show", "leaf" },
      { "export", "--format=folded" } } do
      local out, err = c.cprof(table.unpack(words))
      assert.has_text("leaf", out, err)
      assert.matches("^" .. note .. "$", err)
    end
    -- b has an earlier recording in its folder, a has none
    local out, err = b.cprof "diff"
    assert.matches("before: b%.lua.-after: b%.lua", out, out .. err)
    err = select(2, a.cprof "diff")
    assert.has_text("there is no recording before", err)
  end)

  it("read that of this terminal in another folder", function(dir)
    local a, b = at(dir, "a"), at(dir, "b")
    local line = command.on_terminal(a.line("run", "--quiet", "a.lua") ..
      "; setsid -w sh -c " .. command.quote(b.line("run", "--quiet",
      "b.lua")) .. "; " .. at(dir, "c").line "report")
    if not line then
      pending "no terminal can be had here"
      return
    end
    local out = command.shell(line)
    assert.matches("cprof: %S*a%.lua", out)
    assert.has_no_text("the last recording", out)
  end)

  it("name the recording in messages", function(dir)
    local cprof, script = recorded(dir)
    for _, case in ipairs { { "report", "--filter=nowhere" },
      { "report", "--sort=alloc" }, { "show", "nowhere" }, { "coverage" },
      { "annotate" }, { "export", "--format=lcov" },
      { "diff", "--sort=alloc" } } do
      local out, err, status = cprof(table.unpack(case))
      assert.equal("", out)
      assert.equal(2, status)
      if case[1] ~= "diff" then
        assert.is_truthy(err:find("the last recording (" .. script .. ")", 1,
          true) or err:find("this is the last recording, of " .. script, 1,
          true), err)
      end
    end
    cprof("run", script)
    local err = select(2, cprof("diff", "--sort=alloc"))
    assert.has_text("the previous recording (" .. script .. ") is a profile " ..
      "without allocations", err)
  end)

  it("keep what is recorded at the same time", function(dir)
    local cprof = within(dir)
    local script = dir:file("a.lua", once)
    command.shell(("export SPEC_TMPDIR=%s; for i in 1 2 3 4 5 6; do %s & " ..
      "done; wait"):format(dir.path, command.line("run", "--quiet", script)))
    local out, err = cprof "report"
    assert.has_text("a.lua", out, err)
    cprof("run", script)
    -- two are kept, of which commands know
    assert.equal("2\n", (command.shell("cd " .. command.quote(dir.path) ..
      "; ls cprof-* | grep -c '^[0-9]*.cprof$'")))
  end)

  it("forget what is long ago, and do not let their list grow", function(dir)
    local cprof, script = recorded(dir)
    local list = log_in(dir)
    local file <close> = assert(io.open(list, "ab"))
    for i = 1, 800 do
      file:write(("=\0%d\0/nowhere\0/nowhere/%d.cprof\0\n"):format(i, i))
    end
    file:write "=\0half"
    file:close()
    cprof("run", script)
    local text = command.read(list)
    assert.is_true(#text < 2000, #text)
    local out = cprof "report"
    assert.has_text(script, out)
  end)

  it("remove what killed processes have left in the folder", function(dir)
    local cprof, script = recorded(dir)
    local here = command.shell(("ls -d %s/cprof-*"):format(dir.path)):sub(1, -2)
    local function made(name)
      assert(io.open(here .. "/" .. name, "wb")):close()
      return name
    end
    local stays = { made "costs.7", made "other.cprof", made "1.listen",
      made(("recordings.%d"):format(require "cprof.core".process())) }
    local dead = command.shell "sh -c 'echo $$'":match "%d+"
    for _, name in ipairs { "12345678.cprof", "12345678.cprof.new",
      ("1.cprof.%d-0x12.tmp"):format(dead), "other.cprof." .. dead .. ".tmp",
      "recordings." .. dead, "modules." .. dead, "costs.7." .. dead } do
      made(name)
    end
    cprof("run", script)
    local out = {}
    for name in command.shell("ls " .. here):gmatch "%S+" do
      local own = name == "recordings" or name == "costs.0" or
        name == "modules"
      if not own then out[#out + 1] = name:gsub("^%d+%.cprof$", "(kept)") end
    end
    stays[#stays + 1], stays[#stays + 2] = "(kept)", "(kept)"
    table.sort(out)
    table.sort(stays)
    assert.same(stays, out)
  end)

  it("have a list that loses no recording while it is replaced", function(dir)
    local _, script = recorded(dir)
    local list = log_in(dir)
    -- another process adds a record after the list was read, before it is
    -- replaced
    local out = helper.run_in("export TMPDIR=" .. dir.path .. ";", ([[
      local core = require "cprof.core"
      local rename, path = core.rename, %q
      local function add(text)
        local file <close> = io.open(path, "ab")
        file:write(text)
      end
      core.rename = function(...)
        add "+\0000\0/there\0/there/late.cprof\0\n"
        return rename(...)
      end
      for i = 1, 800 do
        add(("=\0%%d\0/nowhere\0/nowhere/%%d.cprof\0\n"):format(i, i))
      end
      local recordings = require "cprof.system.recordings"
      local named = recordings.begin(%q)
      recordings.finish(named)
      print(#io.open(path):read "a" < 2000)]]):format(list, script))
    assert.equal("true\n", out)
    assert.has_text("/there/late.cprof", command.read(list))
  end)

  it("find that of a process where another one has ended since", function(dir)
    local cprof = within(dir)
    cprof("run", dir:file("a.lua", once))
    local pid = command.shell("cd " .. command.quote(dir.path) ..
      "; ls cprof-*"):match "(%d+)%.cprof"
    cprof("run", dir:file("b.lua", "local function other() end other()"))
    local out, err, status = cprof("top", "--screens=1", pid)
    assert.equal(0, status, err)
    assert.has_text("leaf", out)
  end)

  it("say if there is no recording", function(dir)
    local cprof = within(dir)
    for _, words in ipairs { { "report" }, { "show", "leaf" }, { "diff" },
      { "annotate", "x.lua" } } do
      local out, err, status = cprof(table.unpack(words))
      assert.equal("", out)
      assert.equal(2, status)
      assert.is_truthy(err:find("cprof run", 1, true) or
        err:find("record again", 1, true), err)
    end
  end)

  it("tell a file from a function", function(dir)
    local cprof = within(dir)
    cprof("run", "-o", dir:file "x.cprof", dir:file("script.lua", once))
    local _, err, status = cprof("show", dir:file "x.cprof")
    assert.equal(2, status)
    assert.has_text("missing argument 'FUNCTION'", err)
    _, err, status = cprof("report", dir:file "nowhere.cprof")
    assert.equal(2, status)
    assert.has_text("nowhere.cprof", err)
  end)
end)
