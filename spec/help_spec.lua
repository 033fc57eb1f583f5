local _ENV = require("helper").env(_ENV)

local command = require "command"
local help = require "cprof.help"

describe("cprof help", function()
  it("shows no marks of Markdown", function()
    for _, name in ipairs { "sampling", "recording" } do
      local out = command.cprof("help", name)
      assert.has_no_text("**", out, name)
      assert.no_matches("%*%u%l+%.%*", out, name)
    end
  end)

  it("names all topics and commands", function()
    local out, err = command.must "help"
    assert.equal("", err)
    for _, name in ipairs(help.topics()) do
      assert.matches("\n   " .. name .. " +%S", out, name)
    end
    assert.matches("\n   calibrate +Print", out)
  end)

  it("prints each topic, within the width of a terminal", function()
    for _, name in ipairs(help.topics()) do
      local out, err = command.must("help", name)
      assert.equal("", err)
      assert.is_true(#out > 300, name)
      assert.has_no_text("`", out, name)
      for line in out:gmatch "[^\n]+" do
        local code = line:find "^    %S" ~= nil
        assert.is_true(code or utf8.len(line) <= 80, name .. ": " .. line)
      end
    end
  end)

  it("shows tables as terms with what they mean", function()
    local out = command.cprof("help", "recording")
    assert.has_text("\n  clock  (\"wall\")\n      \"cpu\": the CPU time", out)
    assert.has_no_text("|-", out)
  end)

  it("shows the headings of tables whose terms have none", function()
    local out = command.cprof("help", "sampling")
    assert.matches("\n      task%-clock: %d+; thread: %d+; wall: %d+\n", out)
  end)

  it("prints the help of a command", function()
    for _, name in ipairs { "show", "help", "run" } do
      assert.equal((command.cprof(name, "--help")),
        (command.cprof("help", name)))
    end
  end)

  it("says what top does to a program after so many screens", function()
    local out = command.cprof("top", "--help"):gsub("%s+", " ")
    assert.has_text("--screens N Exit after N screens; a program that top " ..
      "started is then ended by SIGTERM.", out)
  end)

  it("names each mode whose pages have sources", function()
    local out = command.cprof("help", "page"):gsub("%s+", " ")
    assert.has_text('Source mode "line", "sample" or "count"', out)
  end)

  it("names what there is when there is no such topic", function()
    local err = command.refused("help", "reprots")
    local _, near = command.cprof("help", "allocation")
    assert.has_text("unknown topic 'allocation', but it is in: memory, ", near)
    assert.has_text("unknown topic 'reprots'; valid topics: library", err)
  end)

  it("shows what its program with a leak prints", function(dir)
    local text = help.topic "memory".text
    local path = dir:file("server.lua", text:match "```lua\n(.-)```")
    local out
    for line in text:gmatch "\n%$ cprof ([^\n]+)" do
      local words = {}
      for word in line:gmatch "%g+" do
        words[#words + 1] = word == "server.lua" and path or word
      end
      out = command.cprof(table.unpack(words))
    end
    -- the sizes of blocks depend on the release of Lua, and on pointers
    local sized <const> = _VERSION == "Lua 5.4" and string.packsize "T" == 8
    for _, name in ipairs { "new_session", "handle" } do
      local row <const> = "\n *([%d.]+ %u?B) .-( [%d,]+ +[%d,]+  " .. name ..
        "  )%g*server.lua:%d+\n"
      local size, counted = text:match(row)
      local now, same = out:match(row)
      assert.equal(counted, same)
      if sized then assert.equal(size, now) end
    end
  end)

  it("explains what headers and columns say", function()
    for topic, terms in pairs {
      reports = { "Lua collects in steps", "in C" },
      sampling = { "in 95 of 100 recordings" },
      exports = { "in modes \"line\" and \"sample\" by line" },
      check = { "none of the budget's functions" },
      run = { "Record as %-%-count does" },
    } do
      local out = command.cprof("help", topic):gsub("%s+", " ")
      for _, term in ipairs(terms) do
        assert.matches(term, out, topic .. ": " .. term)
      end
    end
  end)

  it("knows zones", function()
    local out, err = command.must("help", "zones")
    assert.equal("", err)
    for _, term in ipairs { 'profiler.enter "', 'profiler.leave "',
      "<close> = profiler.zone", "profiler.wrap", "CPROF_BEGIN" } do
      assert.has_text(term, out)
    end
  end)

  it("is the page of the folder", function()
    -- make reference writes it
    assert.equal(help.reference(), command.read "lua/cprof/README.md")
  end)
end)
