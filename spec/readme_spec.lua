local _ENV = require("helper").env(_ENV)

local command = require "command"

local read = command.read
local readme = read "README.md"

-- a line without what differs from run to run: times, also of waiting and of
-- being preempted, which may be none, shares, times of the day, after midnight
-- with the date, the number of comparisons of a sort, and the blanks of columns
local function plain(line)
  return (line:gsub("%d+%-%d%d%-%d%d (%d%d:)", "%1")
    :gsub("%d%d:%d%d:%d%d", "CLOCK")
    :gsub("[+-]?%f[%d<][<%d.]+[nµm]*s%f[%W]", "TIME")
    :gsub(", TIME waiting", ""):gsub(", TIME preempted", "")
    :gsub("[+-]?[%d.]+%s*%%", "SHARE"):gsub("%d%d,%d%d%d calls", "CALLS")
    :gsub("[+-]%d,%d+ calls", "CALLS"):gsub("%s+[+-]?[%d.]+%f[%s]",
      function(n) return n:find "%." and " SHARE" or n end)
    :gsub("%s+", " "):gsub("^ ", "")
    -- a column for waiting, if there was any
    :gsub(" waiting calls", " calls"):gsub("SHARE TIME (%d)", "SHARE %1")
    :gsub("SHARE %- (%d)", "SHARE %1"))
end

-- the blocks of commands, as { command, lines... }
local function sessions()
  local out = {}
  for block in readme:gmatch "```\n(%$.-)```" do
    for line in block:gmatch "[^\n]+" do
      if line:sub(1, 1) == "$" then out[#out + 1] = { line:sub(3) }
      else table.insert(out[#out], line) end
    end
  end
  return out
end

describe("the README", function()
  it("is short", function()
    local _, lines = readme:gsub("\n", "\n")
    assert.is_true(lines < 180, lines)
  end)

  it("shows a session as it is", function(dir)
    local script = "spec/demo/words.lua"
    local text = read(script)
    local edited, edits = text:gsub(
      "table%.insert%(list, 1, word:lower%(%)%)",
      readme:match "to `(list[^`]*)`")
    assert.equal(1, edits)
    os.execute(("mkdir -p %s/spec/demo && ln -s $PWD/src %s/src"):format(
      dir.path, dir.path))
    dir:file(script, text)
    local seen = 0
    local blocks = sessions()
    assert.equal(4, #blocks)
    for i, session in ipairs(blocks) do
      if i == 3 then dir:file(script, edited) end
      -- on a busy machine, another function may have changed most
      local words = session[1]:gsub("^cprof", ""):gsub("%-%-limit 1$",
        "--limit 40")
      local out, err, status = command.shell(([[
        export SPEC_TMPDIR=%s; here=$PWD; cd %s
        %s 2>&1]]):format(dir.path, dir.path, command.line():gsub(
        "lua/cprof/bin", "$here/%0") .. words))
      assert.equal(0, status, out .. err)
      local there = {}
      for line in out:gmatch "[^\n]+" do there[plain(line)] = true end
      for at = 2, #session do
        local line = plain(session[at])
        -- rows of little time come and go, and so do columns of a diff
        if line:find "%S  +removed$" then
          assert.matches("\n" .. session[at]:match "^[%d,]+" ..
            " +%-.* table%.insert .* removed\n", out)
        elseif line:find "→" then
          assert.matches("hottest path.-words.-table%.insert", out)
        elseif line:find "table.insert" or line:find "words.lua" or
           line:find "^%l+ %d+$" or line:find "^self" or
           line:find "^total" then
          seen = seen + 1
          assert.is_true(there[line], line .. "\n is not in:\n" .. out)
        end
      end
    end
    assert.is_true(seen > 13, seen)
  end)

  it("names commands, options, targets and files that exist", function()
    local help = command.cprof "--help"
    local count = 0
    for name in readme:gmatch "[`%$] ?cprof (%l+)" do
      count = count + 1
      assert.has_text("\n   " .. name .. " ", help, name)
    end
    for line in readme:gmatch "[^\n]+" do
      local name = line:match "`cprof (%l+)"
      for option in (name and line or ""):gmatch "%-%-[%l-]+" do
        count = count + 1
        assert.has_text(option, command.cprof(name, "--help"))
      end
    end
    local makefile = read "Makefile"
    for target in readme:gmatch "make (%l[%l-]+)" do
      count = count + 1
      assert.is_truthy(makefile:find("\n" .. target .. ":", 1, true) or
        target == "rockspec", target)
    end
    for path in readme:gmatch "%]%(([%w_./]+)%)" do
      count = count + 1
      assert.is_truthy(io.open(path), path)
    end
    assert.is_true(count > 30, count)
  end)

  it("has all commands", function()
    local help = command.cprof "--help":match "\nCommands:\n(.-)\n\n"
    for name in ("\n" .. help):gmatch "\n   (%l+) " do
      assert.has_text("`cprof " .. name, readme, name)
    end
  end)

  it("has C code with names of the header", function()
    local header, count = read "src/cprof.h", 0
    for code in readme:gmatch "```c\n(.-)```" do
      for name in code:gmatch "[cC][pP][rR][oO][fF]_[%w_]+" do
        count = count + 1
        assert.matches("%f[%w_]" .. name .. "%f[^%w_]", header, name)
      end
    end
    assert.is_true(count >= 6)
  end)
end)

describe("the page on cost", function()
  it("quotes the table that make bench prints", function()
    local page = read "spec/bench/README.md"
    local quoted = page:match "```\n(workload.-)```"
    local names = {}
    for line in quoted:gmatch "[^\n]+" do
      names[#names + 1] = line:match "^(.-)  "
    end
    assert.equal("workload", names[1])
    for i, w in ipairs(require "workloads") do
      assert.equal(w.name, names[i + 1])
    end
  end)
end)
