local _ENV = require("helper").env(_ENV)

local command = require "command"
local declare = require "cprof.command.declare"

-- options without a default: they select something, or ask for something more
local none = { ["--filter"] = true, ["--root"] = true, ["--focus"] = true,
  ["--ignore"] = true, ["--include"] = true, ["--exclude"] = true,
  ["--lines"] = true, ["--count"] = true, ["--coverage"] = true,
  ["--branch-coverage"] = true, ["--budget"] = true,
  ["--baseline"] = true,
  ["--since"] = true, ["--until"] = true, ["--range"] = true,
  ["--on-slow"] = true,
  ["--trace"] = true, ["-e"] = true, ["-m"] = true }

-- the options of a command that take a value, with the help of each
local function options(name)
  local parser = require "argparse"()
  declare.options(parser, require("cprof.command." .. name).options)
  local out = {}
  for _, option in ipairs(parser._options) do
    if option._maxargs > 0 and option._mincount == 0 then
      out[option._name] = option:_get_description()
    end
  end
  return out
end

local function commands()
  local out = {}
  local list = command.cprof "--help":match "\nCommands:\n(.-)\n\n"
  for name in ("\n" .. list):gmatch "\n   (%l+) " do out[#out + 1] = name end
  return out
end

describe("the help of each command", function()
  it("tells the default of each option that has one", function()
    local count = 0
    for _, name in ipairs(commands()) do
      for option, text in pairs(options(name)) do
        count = count + 1
        assert.equal(not none[option], text:find("default: ", 1, true) ~= nil,
          ("cprof %s %s: %s"):format(name, option, text))
      end
    end
    assert.is_true(count > 40, count)
  end)

  it("tells those that are in force", function(dir)
    local code = { "local f = {}" }
    for i = 1, 40 do
      code[#code + 1] = ("f[%d] = function() for i = 1, 3000 do end end")
        :format(i)
    end
    code[#code + 1] = "function all() for i = 1, 40 do f[i]() end end all()"
    local script = dir:file("x.lua", table.concat(code, "\n") .. "\n")
    local path, other = dir:file "x.cprof", dir:file "y.cprof"
    for _, file in ipairs { path, other } do
      command.must("run", "--quiet", "--lines", "-o", file, script)
    end
    -- commands, and an option of each to which an invalid word is given
    for words, but in pairs {
      [{ "report", path }] = "--limit",
      [{ "report", path, "--mode=self" }] = "--mode",
      [{ "tree", path }] = "--depth", [{ "callgraph", path }] = "",
      [{ "flame", path }] = "--depth",
      [{ "show", path, "all" }] = "", [{ "diff", path, other }] = "",
      -- with a limit, functions that do not fit on the screen are shown, too
      [{ "annotate", path }] = "--limit",
    } do
      local plain = command.must(table.unpack(words))
      local given, set = table.move(words, 1, #words, 1, {}), 0
      for option, text in pairs(options(words[1])) do
        local value = text:match "%(default: (%w+)[;)]" or
          text:match "elsewhere (%d+)"
        if value and option ~= but then
          given[#given + 1] = option .. "=" .. value
          set = set + 1
        end
      end
      assert.is_true(set >= 3, words[1])
      local out = command.must(table.unpack(given))
      assert.equal(plain, out, table.concat(given, " "))
    end
  end)
end)
